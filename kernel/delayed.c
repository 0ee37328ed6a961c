// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delayed work items: a timer queues them. From ants_queue_delayed_work() until
 * it is pending or has ended, such an item is in one of two lists of its pool:
 * in pool->delayed.list while its timer is armed or its timer function is about to
 * run, and in pool->delayed.due when its time has come and the pool has no room.
 *
 * While the timer function is about to run nothing else ends the item or arms
 * its timer, so the timer function never touches an item that has ended. What
 * is to be done is left in the state and in @when, and the timer function does
 * it.
 */
#include <linux/export.h>

#include "internal.h"
#include "walk.h"

/*
 * The timer function of an item is about to run: have it make the item due at
 * @when, even if the item was cancelled. It runs within an RCU section that has
 * begun, so a caller that waits for all tasks can wait for it: see
 * ants_wait_enter().
 */
void ants_delayed_revive(struct ants_pool *pool,
			 struct ants_delayed_work *dwork, unsigned long when)
{
	dwork->when = when;
	WRITE_ONCE(pool->delayed.firing, get_state_synchronize_rcu());
	ants_work_move(&dwork->work, ANTS_WORK_DELAYED);
}

/* Remove an item from its list and end it. */
static void delayed_end(struct ants_pool *pool, struct ants_delayed_work *dwork,
			int result, struct ants_todo *todo)
{
	ants_delayed_del(pool, dwork);
	ants_work_end(pool, &dwork->work, result, todo);
}

void ants_delayed_timer_fn(struct timer_list *timer)
{
	struct ants_delayed_work *dwork = timer_container_of(dwork, timer,
							     timer);
	/* Other threads may try to claim it. */
	struct ants_pool *pool = READ_ONCE(dwork->work.pool);
	struct ants_wake_batch batch;
	struct ants_todo todo;

	ants_pause_atomic(ANTS_PAUSE_DUE, pool);
	ants_lock_batch(pool, &todo, &batch);
	if (dwork->work.state == ANTS_WORK_DROPPED)
		delayed_end(pool, dwork, -ECANCELED, &todo);
	else if (ants_closed_error(pool))
		delayed_end(pool, dwork, ants_closed_error(pool), &todo);
	else if (time_before(jiffies, dwork->when))
		mod_timer(&dwork->timer, dwork->when);
	else
		ants_delayed_due(pool, dwork, &todo);
	ants_wake_next(pool, &todo);
	if (pool->released)
		todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_delayed_timer_fn);

/* End an item that is in either list, or leave that to its timer function. */
void ants_delayed_cancel(struct ants_pool *pool, struct ants_work *work,
			 struct ants_todo *todo)
{
	struct ants_delayed_work *dwork = ants_to_delayed(work);

	lockdep_assert_held(&pool->lock);
	if (work->state == ANTS_WORK_DUE || timer_delete(&dwork->timer))
		delayed_end(pool, dwork, -ECANCELED, todo);
	else
		ants_work_move(work, ANTS_WORK_DROPPED);
}

/* End an item, unless its timer function is about to run, which ends it. */
static void see_delayed(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_pool *pool = walker->pool;
	struct ants_delayed_work *dwork;

	dwork = list_entry(entry, struct ants_delayed_work, node);
	if (dwork->work.state != ANTS_WORK_DUE && !timer_delete(&dwork->timer))
		return;
	delayed_end(pool, dwork, ants_closed_error(pool), &walker->todo);
	walker->todo.bits |= ANTS_TODO_WAITQ;
}

/*
 * End all items of a pool that takes no tasks any more; no more are added, and
 * none becomes due.
 */
void ants_delayed_fail_all(struct ants_pool *pool)
{
	struct ants_walker walker = { .see = see_delayed };

	if (!ants_peek(pool->delayed.nr))
		return;
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_HIGH], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_NORMAL], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.list, UINT_MAX, &walker);
}

void ants_delayed_work_init(struct ants_delayed_work *dwork, ants_work_fn_t fn,
			    unsigned int flags)
{
	ants_work_init(&dwork->work, fn, flags);
	timer_setup(&dwork->timer, ants_delayed_timer_fn, 0);
}
EXPORT_SYMBOL_GPL(ants_delayed_work_init);

void ants_delayed_work_init_onstack(struct ants_delayed_work *dwork,
				    ants_work_fn_t fn)
{
	ants_work_init(&dwork->work, fn, 0);
	timer_setup_on_stack(&dwork->timer, ants_delayed_timer_fn, 0);
}
EXPORT_SYMBOL_GPL(ants_delayed_work_init_onstack);

void ants_destroy_delayed_work_on_stack(struct ants_delayed_work *dwork)
{
	ants_destroy_work_on_stack(&dwork->work);
	timer_destroy_on_stack(&dwork->timer);
}
EXPORT_SYMBOL_GPL(ants_destroy_delayed_work_on_stack);

/*
 * The same for an item that is in @pool already. One that runs is due when it
 * has ended, or later.
 */
static int queue_delayed_again(struct ants_pool *pool,
			       struct ants_delayed_work *dwork,
			       unsigned long when)
{
	int err = ants_work_may_run_again(pool, &dwork->work);

	if (err)
		return err;
	dwork->when = when;
	if (dwork->work.state == ANTS_WORK_DROPPED)
		ants_delayed_revive(pool, dwork, when);
	else
		ants_work_move(&dwork->work, ANTS_WORK_REARMED);
	return 0;
}

static int queue_delayed(struct ants_pool *pool,
			 struct ants_delayed_work *dwork, unsigned long when,
			 struct ants_todo *todo)
{
	struct ants_work *work = &dwork->work;
	struct ants_pool *other = READ_ONCE(work->pool);

	if (other == pool)
		return queue_delayed_again(pool, dwork, when);
	/* As ants_queue_work(): where the item is comes before what this pool is. */
	if (other)
		return -EALREADY;
	if (ants_closed_error(pool))
		return ants_closed_error(pool);
	if (ants_work_claim(pool, work))
		return -EALREADY;
	dwork->when = when;
	ants_delayed_arm(pool, dwork, todo);
	return 0;
}

int ants_queue_delayed_work(struct ants_pool *pool,
			    struct ants_delayed_work *dwork,
			    unsigned long delay)
{
	struct ants_todo todo;
	int err;

	if (unlikely(!ants_work_is_valid(&dwork->work) || !dwork->timer.function))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	err = queue_delayed(pool, dwork, jiffies + delay, &todo);
	if (err)
		ants_refused(pool, ants_work_run, &dwork->work, err);
	ants_wake_next(pool, &todo);
	ants_unlock_any(pool, &todo);
	return err;
}
EXPORT_SYMBOL_GPL(ants_queue_delayed_work);

/* Check whether the queued run of an item in @pool may be put off. */
static int check_mod(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_WAITING)
		return -EALREADY;
	if (work->state == ANTS_WORK_SKIPPED ||
	    work->flags & ANTS_WORK_CLOSED || ants_group_stops(work))
		return -ECANCELED;
	return ants_closed_error(pool);
}

/* The states of an item with a run that is due. */
#define DUE_STATES	(BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN))

/* Return 1 if the item was queued. */
static int mod_again(struct ants_pool *pool, struct ants_delayed_work *dwork,
		     unsigned long when, struct ants_todo *todo)
{
	struct ants_work *work = &dwork->work;
	int err = check_mod(pool, work);

	if (err)
		return err;
	if (work->state == ANTS_WORK_RUNNING || work->state == ANTS_WORK_DROPPED)
		return queue_delayed_again(pool, dwork, when);
	/* What is due, and is to be due at once, keeps its turn. */
	if (BIT(work->state) & DUE_STATES && !time_before(jiffies, when))
		return 1;
	if (work->state == ANTS_WORK_DELAYED && !timer_delete(&dwork->timer)) {
		ants_delayed_revive(pool, dwork, when);
		return 1;
	}
	if (work->state == ANTS_WORK_PENDING || work->state == ANTS_WORK_AGAIN)
		ants_work_take_off(pool, work, todo);
	else if (work->state != ANTS_WORK_REARMED)
		ants_delayed_del(pool, dwork);
	dwork->when = when;
	if (ants_work_runs(work))
		ants_work_move(work, ANTS_WORK_REARMED);
	else
		ants_delayed_arm(pool, dwork, todo);
	return 1;
}

int ants_mod_delayed_work(struct ants_pool *pool,
			  struct ants_delayed_work *dwork, unsigned long delay)
{
	unsigned long when = jiffies + delay;
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	int ret;

	if (unlikely(!ants_work_is_valid(&dwork->work) || !dwork->timer.function))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	if (READ_ONCE(dwork->work.pool) == pool)
		ret = mod_again(pool, dwork, when, &todo);
	else
		ret = queue_delayed(pool, dwork, when, &todo);
	if (ret < 0)
		ants_refused(pool, ants_work_run, &dwork->work, ret);
	ants_room_freed(pool, &todo);
	ants_unlock_any(pool, &todo);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_mod_delayed_work);
