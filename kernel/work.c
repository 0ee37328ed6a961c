// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items: queued without memory.
 *
 *	state		queue		cancel		wait
 *	idle		accepted	false		the last result
 *	delayed, due	-EALREADY	true, ends	waits
 *	waiting		-EALREADY	true, ends	waits
 *	pending		-EALREADY	true, ends	waits, or runs it
 *	running		accepted again	false, flagged	waits
 *	again, rearmed	-EALREADY	true, flagged,	waits for both runs
 *					one run is left
 *	dropped		accepted	false		waits
 *	skipped		-ECANCELED	false		waits
 *
 * While a caller of ants_work_cancel_sync() waits for a running item,
 * -ECANCELED takes the place of "accepted". In any state but idle, queueing on
 * another pool is refused with -EALREADY. A released pool refuses with
 * -ESHUTDOWN what is accepted above.
 */
#include <linux/export.h>

#include "internal.h"

void ants_work_init(struct ants_work *work, ants_work_fn_t fn,
		    unsigned int flags)
{
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK))
		ants_object_init(work);
	memset(work, 0, sizeof(*work));
	work->fn = fn;
	work->flags = flags & ANTS_WORK_KINDS;
	work->result = -EINVAL;
}
EXPORT_SYMBOL_GPL(ants_work_init);

/* Queue a work item that is in @pool already. */
static int queue_again(struct ants_pool *pool, struct ants_work *work)
{
	int err = ants_work_may_run_again(pool, work);

	if (err)
		return err;
	if (work->state == ANTS_WORK_DROPPED)
		ants_delayed_revive(pool, ants_to_delayed(work), jiffies);
	else
		ants_work_again(pool, work);
	return 0;
}

/* Accept @work, which was in no pool a moment ago. */
static int work_enter(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, struct ants_todo *todo)
{
	if (ants_work_claim(pool, work))
		return -EALREADY;
	work->group = group;
	ants_work_pend(pool, work, todo);
	return 0;
}

/*
 * As submit_accept() in submit.c: while callers wait the pool has no room, so a
 * newcomer cannot overtake them.
 */
static int work_accept(struct ants_pool *pool, struct ants_work *work,
		       struct ants_group *group, struct ants_todo *todo)
{
	struct ants_pool *other = READ_ONCE(work->pool);
	int err;

	if (unlikely(other)) {
		if (other != pool || group)
			return -EALREADY;
		return queue_again(pool, work);
	}
	if (!ants_can_admit(pool))
		return ants_closed_error(pool) ?: -EAGAIN;
	err = work_enter(pool, work, group, todo);
	if (!err)
		ants_wake_for_caller(pool, todo);
	return err;
}

int ants_queue_work(struct ants_pool *pool, struct ants_work *work)
{
	struct ants_todo todo __uninitialized;
	int err;

	if (unlikely(!ants_work_is_valid(work)))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	err = work_accept(pool, work, NULL, &todo);
	if (unlikely(err))
		ants_refused(pool, ants_work_run, work, err);
	ants_unlock_any(pool, &todo);
	return err;
}
EXPORT_SYMBOL_GPL(ants_queue_work);

/*
 * Enqueue the caller as a waiter. If the item belongs to a group, the group
 * must wait for this caller as well.
 */
static int queue_enrol(struct ants_pool *pool, struct ants_waiter *waiter,
		       struct ants_group *group, bool nested,
		       struct ants_todo *todo)
{
	struct ants_work *work = waiter->work;
	int err;

	if (ants_work_claim(pool, work))
		return -EALREADY;
	err = ants_wait_enrol(pool, waiter, nested);
	if (err) {
		ants_work_unclaim(work);
		return err;
	}
	work->slot.data = waiter;
	work->group = group;
	if (group)
		ants_group_enter(group, work);
	ants_work_move(work, ANTS_WORK_WAITING);
	ants_work_offer(work, todo);
	return 0;
}

/* The pool is full. The lock is held on entry and dropped here. */
static int queue_wait(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, unsigned long timeout,
		      struct ants_todo *todo)
	__releases(&pool->lock)
{
	bool nested = timeout >= MAX_SCHEDULE_TIMEOUT && ants_in_pool(pool);
	struct ants_waiter waiter = { .work = work, .prio = work->prio };
	int err = -ETIMEDOUT;

	if (timeout)
		err = queue_enrol(pool, &waiter, group, nested, todo);
	if (err)
		ants_refused(pool, ants_work_run, work, err);
	ants_unlock(pool, todo);
	return err ?: ants_wait(pool, &waiter, timeout);
}

static int check_group(const struct ants_group *group,
		       const struct ants_work *work)
{
	if (!group)
		return 0;
	/*
	 * The item may be in a group of another pool, under the lock of that
	 * one.
	 */
	if (READ_ONCE(work->group_stamp) == group->stamp)
		return -EALREADY;
	return group->sealed ? -ESHUTDOWN : group->cancelled ? -ECANCELED : 0;
}

/*
 * Submit a work item, of @group if not NULL; wait for room. A task of the pool
 * does not wait without a limit, but runs the item itself.
 */
int ants_work_queue(struct ants_pool *pool, struct ants_work *work,
		    struct ants_group *group, unsigned long timeout)
{
	struct ants_wake_batch batch;
	struct ants_todo todo;
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	if (unlikely(!ants_work_is_valid(work)))
		return -EINVAL;
	if (group && READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	if (timeout && !(group && READ_ONCE(pool->flags) & ANTS_NONBLOCKING))
		ants_wait_touch(pool);
	/* May wake a task that joins the group, and a worker. */
	ants_lock_batch(pool, &todo, &batch);
	err = check_group(group, work) ?: work_accept(pool, work, group, &todo);
	if (err == -EAGAIN && !(group && pool->flags & ANTS_NONBLOCKING)) {
		if (timeout < MAX_SCHEDULE_TIMEOUT ||
		    !ants_join_may_run(pool, work))
			return queue_wait(pool, work, group, timeout, &todo);
		err = work_enter(pool, work, group, &todo);
		if (!err)
			ants_join_at_once(pool, work, &todo);
	}
	if (err)
		ants_refused(pool, ants_work_run, work, err);
	ants_unlock(pool, &todo);
	return err;
}

int ants_queue_work_timeout(struct ants_pool *pool, struct ants_work *work,
			    unsigned long timeout)
{
	might_sleep();
	return ants_work_queue(pool, work, NULL, timeout);
}
EXPORT_SYMBOL_GPL(ants_queue_work_timeout);

/*
 * An item that is ANTS_WORK_LATE is detached here, or by a caller that has cancelled
 * it since a worker has taken it.
 */
bool ants_work_begin(void)
{
	struct ants_worker *w = ants_this_worker();
	bool ret;

	raw_spin_lock(&w->pool->lock);
	ret = ants_work_detach(w);
	raw_spin_unlock(&w->pool->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_work_begin);
