// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: many work items of one pool, one wait. The pool's lock guards a group.
 * Whoever waits is told all that he asked for under it, and afterwards touches
 * only his own stack: the group belongs to somebody else then, and the pool may
 * be gone.
 */
#include <linux/export.h>

#include "internal.h"

/*
 * Tells the members of a group, until it is reset, from those of all others.
 * Work items that never were in one have 0.
 */
static u64 new_stamp(void)
{
	static atomic64_t stamps;

	return atomic64_inc_return(&stamps);
}

/**
 * ants_group_init() - make a group
 * @group: the group
 * @pool: where its work items run
 * @flags: bits of enum ants_group_flags
 *
 * Context: Any context.
 * Return: 0. -EINVAL: a flag is unknown.
 */
int ants_group_init(struct ants_group *group, struct ants_pool *pool,
		    unsigned int flags)
{
	if (flags & ~ANTS_GROUP_CANCEL_ON_ERROR)
		return -EINVAL;
	memset(group, 0, sizeof(*group));
	INIT_LIST_HEAD(&group->works);
	INIT_LIST_HEAD(&group->finished);
	INIT_LIST_HEAD(&group->waiters);
	group->stamp = new_stamp();
	group->pool = pool;
	group->cancel_on_error = flags & ANTS_GROUP_CANCEL_ON_ERROR;
	return 0;
}
EXPORT_SYMBOL_GPL(ants_group_init);

/**
 * ants_group_submit() - hand a work item of a group to its pool
 * @group: the group
 * @work: the work item; stays until the group has ended, and is submitted to no
 *	other one before this one is reset, or not used any more
 *
 * Waits while the pool is full, unless it is %ANTS_NONBLOCKING.
 *
 * Context: Process context. May sleep.
 * Return: as ants_queue_work(), of which -EAGAIN only if the pool is
 * non-blocking. -EBUSY, -EDEADLK, -EINTR: as ants_submit(). -EALREADY: it was
 * accepted in the group before, and that was not reset, too. -ESHUTDOWN: the
 * group is sealed, too. -ECANCELED: the group is cancelled, too.
 */
int ants_group_submit(struct ants_group *group, struct ants_work *work)
{
	might_sleep();
	return ants_work_queue(group->pool, work, group, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_group_submit);

/**
 * ants_group_seal() - no further work items in a group
 * @group: the group
 *
 * Context: Process context.
 */
void ants_group_seal(struct ants_group *group)
{
	struct ants_pool *pool = group->pool;
	struct ants_kick kick;

	ants_lock(pool, &kick);
	group->sealed = true;
	ants_group_wake(group, &kick);
	ants_unlock(pool, &kick);
}
EXPORT_SYMBOL_GPL(ants_group_seal);

/* May the caller wait? There is one at a time. */
static int check_waiter(const struct ants_group *group)
{
	if (!list_empty(&group->waiters))
		return -EBUSY;
	return ants_in_task_of(group->pool) ? -EDEADLK : 0;
}

/* Entered with the lock held, left without. */
static int group_wait(struct ants_group *group, struct ants_work_waiter *waiter,
		      unsigned long timeout, struct ants_kick *kick)
	__releases(&group->pool->lock)
{
	struct ants_pool *pool = group->pool;
	unsigned int state = ants_killable_state(pool, 1);
	int err = check_waiter(group);

	if (err) {
		ants_unlock(pool, kick);
		return err;
	}
	ants_work_enrol(&group->waiters, waiter);
	rcu_read_lock();
	ants_unlock(pool, kick);
	ants_wait_touch(pool);
	rcu_read_unlock();
	return ants_work_sleep(pool, waiter, timeout, state);
}

/**
 * ants_group_wait_timeout() - seal a group, wait until all of it has ended
 * @group: the group
 * @timeout: how long at most, in jiffies
 * @error: the first result that was not 0, as they ended, or 0. May be NULL.
 *
 * Context: Process context. May sleep.
 * Return: 0: it has ended, and @error is set. -ETIMEDOUT, -EINTR: not yet.
 * -EDEADLK: the caller is a task of the same pool. -EBUSY: somebody waits for it
 * already.
 */
int ants_group_wait_timeout(struct ants_group *group, unsigned long timeout,
			    int *error)
{
	struct ants_work_waiter waiter = { .all = true };
	struct ants_kick kick;
	DEFINE_ANTS_VISIT(visit);
	int err = 0;

	ants_visit_begin(&visit, group->pool);
	might_sleep();
	ants_lock(group->pool, &kick);
	group->sealed = true;
	if (ants_group_done(group)) {
		/* Somebody in ants_group_next() must not be left behind. */
		ants_group_wake(group, &kick);
		waiter.result = group->error;
		ants_unlock(group->pool, &kick);
	} else {
		err = group_wait(group, &waiter, timeout, &kick);
	}
	if (!err && error)
		*error = waiter.result;
	return err;
}
EXPORT_SYMBOL_GPL(ants_group_wait_timeout);

/**
 * ants_group_wait() - seal a group, wait until all of it has ended
 * @group: the group
 * @error: see ants_group_wait_timeout()
 *
 * Context: Process context. May sleep.
 * Return: as ants_group_wait_timeout(), but never -ETIMEDOUT.
 */
int ants_group_wait(struct ants_group *group, int *error)
{
	return ants_group_wait_timeout(group, MAX_SCHEDULE_TIMEOUT, error);
}
EXPORT_SYMBOL_GPL(ants_group_wait);

/**
 * ants_group_next() - the next work item of a group that has ended
 * @group: the group
 * @timeout: how long to wait for it at most, in jiffies
 *
 * Returns each one once, in the order in which they ended.
 *
 * Context: Process context. May sleep.
 * Return: the work item. NULL: the group is sealed, and there are no more. Or an
 * ERR_PTR: -ETIMEDOUT, -EINTR: not yet. -EDEADLK: the caller is a task of the
 * same pool. -EBUSY: somebody waits for the group already.
 */
struct ants_work *ants_group_next(struct ants_group *group,
				  unsigned long timeout)
{
	struct ants_work_waiter waiter = { .all = false };
	struct ants_pool *pool = group->pool;
	struct ants_work *work;
	struct ants_kick kick;
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	might_sleep();
	ants_lock(pool, &kick);
	work = ants_group_take(group);
	if (work || ants_group_done(group)) {
		ants_unlock(pool, &kick);
		return work;
	}
	/* There may be no work item that keeps the pool. */
	ants_caller_in(pool);
	err = group_wait(group, &waiter, timeout, &kick);
	ants_caller_leave(pool);
	return err ? ERR_PTR(err) : waiter.work;
}
EXPORT_SYMBOL_GPL(ants_group_next);

/*
 * Ends those that do not run, from @at on, a round at most. Returns where to go
 * on, or NULL at the end. None leaves the list meanwhile.
 */
static struct list_head *cancel_round(struct ants_group *group,
				      struct list_head *at)
{
	struct ants_pool *pool = group->pool;
	struct ants_round round;
	struct ants_kick kick = { .round = &round };
	struct ants_work *work;
	unsigned int nr;

	ants_lock_any(pool, &kick);
	group->cancelled = true;
	for (nr = 0; nr < ANTS_ROUND && !ants_kick_full(&kick); nr++) {
		at = at->next;
		if (at == &group->works)
			break;
		work = list_entry(at, struct ants_work, in_group);
		if (work->group)
			ants_work_cancel_waiting(pool, work, &kick);
	}
	ants_place_freed(pool, &kick);
	ants_unlock_any(pool, &kick);
	return at == &group->works ? NULL : at;
}

/**
 * ants_group_cancel() - see to it that what has not started does not run
 * @group: the group; may not end meanwhile in the hands of somebody else
 *
 * The results of those are -ECANCELED; the others go on. Callers that wait in
 * ants_group_submit() go on waiting for a place, and their work items do not run.
 *
 * Context: as ants_queue_work().
 */
void ants_group_cancel(struct ants_group *group)
{
	struct list_head *at = &group->works;

	/* Keeps a pool whose last tasks end here. */
	rcu_read_lock();
	while (at)
		at = cancel_round(group, at);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(ants_group_cancel);

/**
 * ants_group_reset() - make a group that has ended as new
 * @group: the group
 *
 * Its work items do not belong to it any more.
 *
 * Context: Process context.
 * Return: 0. -EBUSY: it has not ended, or somebody waits for it.
 */
int ants_group_reset(struct ants_group *group)
{
	struct ants_kick kick;
	int err = -EBUSY;

	ants_lock(group->pool, &kick);
	if (!group->nr_left && list_empty(&group->waiters)) {
		INIT_LIST_HEAD(&group->works);
		INIT_LIST_HEAD(&group->finished);
		group->stamp = new_stamp();
		group->error = 0;
		group->sealed = false;
		group->cancelled = false;
		err = 0;
	}
	ants_unlock(group->pool, &kick);
	return err;
}
EXPORT_SYMBOL_GPL(ants_group_reset);
