// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: many work items of one pool, one wait. The pool's lock guards a group.
 * A caller that waits is told under the lock all that it asked for, and afterwards
 * touches neither the group nor its members: they may be freed then.
 *
 * A cancel ends the members that have not started in rounds, with a hold of the
 * lock each. Such a walk is part of the group: as long as @walking is set the
 * group does not end. A walk that an error began is the upkeep's: between two
 * rounds the group is in pool->cancelling, which it leaves when its last member
 * ends, so that no group waits for the upkeep.
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
	INIT_LIST_HEAD(&group->node);
	group->stamp = new_stamp();
	group->pool = pool;
	group->cancel_on_error = flags & ANTS_GROUP_CANCEL_ON_ERROR;
	return 0;
}
EXPORT_SYMBOL_GPL(ants_group_init);

/**
 * ants_group_submit() - hand a work item of a group to its pool
 * @group: the group
 * @work: the work item; stays, and is submitted to no other group, until
 *	ants_group_next() returned it or the group has ended
 *
 * Waits while the pool is full, unless it is %ANTS_NONBLOCKING.
 *
 * Context: Process context. May sleep.
 * Return: as ants_queue_work(), of which -EAGAIN only if the pool is
 * non-blocking. -EBUSY, -EDEADLK, -EINTR: as ants_submit(). -EALREADY: it was
 * accepted in the group before, and was neither returned by ants_group_next() nor
 * left behind by ants_group_reset(), too. -ESHUTDOWN: the group is sealed, too.
 * -ECANCELED: the group is cancelled, too. -EINVAL: it is %ANTS_WORK_DETACHED, too.
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

/* May the caller wait? Only one caller may at a time. */
static int check_waiter(const struct ants_group *group)
{
	const struct ants_worker *w = ants_worker_of(group->pool);

	if (!list_empty(&group->waiters))
		return -EBUSY;
	return w ? ants_join_check(w, group) : 0;
}

/*
 * Entered with the lock held, left without. The caller is counted in: the last
 * member may have ended, so that nothing of the group keeps the pool.
 */
static int group_wait(struct ants_group *group, struct ants_work_waiter *waiter,
		      unsigned long timeout, struct ants_kick *kick)
	__releases(&group->pool->lock)
{
	struct ants_worker *w = ants_worker_of(group->pool);
	struct ants_pool *pool = group->pool;
	unsigned int state = ants_killable_state(pool, 1);
	int err;

	waiter->joins = w && timeout;
	ants_work_enrol(&group->waiters, waiter);
	ants_caller_in(pool);
	ants_unlock(pool, kick);
	if (timeout)
		ants_wait_touch(pool);
	err = waiter->joins ? ants_join_group(w, group, waiter, timeout) :
			      ants_work_sleep(pool, waiter, timeout, state);
	ants_caller_leave(pool);
	return err;
}

/* Seals the group and waits. Entered with the lock held, left without. */
static int seal_and_wait(struct ants_group *group,
			 struct ants_work_waiter *waiter,
			 unsigned long timeout, struct ants_kick *kick)
	__releases(&group->pool->lock)
{
	struct ants_pool *pool = group->pool;

	group->sealed = true;
	if (!ants_group_done(group))
		return group_wait(group, waiter, timeout, kick);
	/* A caller in ants_group_next() must not be left behind. */
	ants_group_wake(group, kick);
	waiter->result = group->error;
	ants_unlock(pool, kick);
	return 0;
}

/**
 * ants_group_wait_timeout() - seal a group, wait until all of it has ended
 * @group: the group
 * @timeout: how long at most, in jiffies
 * @error: the first result that was not 0, as they ended, or 0. May be NULL.
 *
 * Only after 0 may the group and its work items be freed.
 *
 * Context: Process context. May sleep.
 * Return: 0: it has ended, and @error is set. -ETIMEDOUT, -EINTR: it is sealed,
 * and has not ended yet. -EDEADLK: the caller is a task of the same pool, and is
 * a member itself, or 8 work items run inside one another in it; or the pool is
 * ordered. -EBUSY: another caller waits for it, and it has not ended.
 * After these two the group is as open as before.
 */
int ants_group_wait_timeout(struct ants_group *group, unsigned long timeout,
			    int *error)
{
	struct ants_work_waiter waiter = { .all = true };
	struct ants_pool *pool = group->pool;
	DEFINE_ANTS_VISIT(visit);
	struct ants_kick kick;
	int err;

	ants_visit_begin(&visit, group->pool);
	might_sleep();
	ants_lock(pool, &kick);
	err = ants_group_is_quiet(group) ? 0 : check_waiter(group);
	if (err) {
		ants_unlock(pool, &kick);
		return err;
	}
	err = seal_and_wait(group, &waiter, timeout, &kick);
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
 * ants_group_next() - take the next work item that has ended out of a group
 * @group: the group
 * @timeout: how long to wait for it at most, in jiffies
 *
 * Returns each one once, in the order in which they ended. It is not in the group
 * any more: it may be freed at once, or submitted again, to the same group, too.
 * So a group that is never sealed can be a stream without end.
 *
 * Context: Process context. May sleep.
 * Return: the work item. NULL: the group is sealed and has ended, and there are no
 * more: it may be freed. Or an ERR_PTR: -ETIMEDOUT, -EINTR: not yet. -EDEADLK: it
 * would wait, and the caller is a task that may not, see
 * ants_group_wait_timeout(). -EBUSY: another caller waits for the group.
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
	err = check_waiter(group);
	if (err) {
		ants_unlock(pool, &kick);
		return ERR_PTR(err);
	}
	err = group_wait(group, &waiter, timeout, &kick);
	return err ? ERR_PTR(err) : waiter.work;
}
EXPORT_SYMBOL_GPL(ants_group_next);

/*
 * No member starts from now on. Returns true if the caller is to walk through
 * those there are: it may take over what the upkeep has not done yet.
 */
static bool walk_begin(struct ants_group *group)
{
	group->cancelled = true;
	if (group->walking || !group->nr_left)
		return false;
	if (list_empty(&group->node))
		group->cancel_at = group->works.next;
	list_del_init(&group->node);
	group->walking = true;
	return true;
}

static bool walk_goes_on(const struct ants_group *group)
{
	return group->nr_left && group->cancel_at != &group->works;
}

/*
 * Ends members that do not run, a round at most. Returns false at the end of the
 * walk: the group may be freed then.
 */
static bool walk_round(struct ants_group *group, struct ants_kick *kick)
{
	struct ants_work *work;
	unsigned int nr = ANTS_ROUND;

	lockdep_assert_held(&group->pool->lock);
	while (nr-- && !ants_kick_full(kick) && walk_goes_on(group)) {
		work = list_entry(group->cancel_at, struct ants_work, in_group);
		/* When it ends a caller in ants_group_next() may take it. */
		group->cancel_at = work->in_group.next;
		/* A caller that waits with one finds out by itself. */
		if (work->group == group && work->state != ANTS_WORK_WAITING)
			ants_work_cancel_waiting(group->pool, work, kick);
	}
	if (walk_goes_on(group))
		return true;
	group->cancel_at = NULL;
	group->walking = false;
	ants_group_wake(group, kick);
	return false;
}

/* One section of ants_group_cancel(); false: that was the last one. */
static bool cancel_section(struct ants_pool *pool, struct ants_group *group,
			   bool begin)
{
	struct ants_round round;
	struct ants_kick kick = { .round = &round };
	bool more;

	ants_lock_any(pool, &kick);
	more = (!begin || walk_begin(group)) && walk_round(group, &kick);
	ants_place_freed(pool, &kick);
	ants_unlock_any(pool, &kick);
	return more;
}

/*
 * One round through the first group that an error has cancelled, for the upkeep.
 */
void ants_group_cancel_next(struct ants_pool *pool)
{
	struct ants_group *group;
	struct ants_round round;
	struct ants_kick kick;

	ants_lock_round(pool, &kick, &round);
	group = list_first_entry_or_null(&pool->cancelling, struct ants_group,
					 node);
	if (group) {
		list_del_init(&group->node);
		group->walking = true;
		if (walk_round(group, &kick)) {
			group->walking = false;
			list_add(&group->node, &pool->cancelling);
		}
		ants_place_freed(pool, &kick);
	}
	ants_unlock(pool, &kick);
}

/**
 * ants_group_cancel() - see to it that what has not started does not run
 * @group: the group; must not have been freed when this is called
 *
 * The results of those are -ECANCELED. Members that run go on; they cannot be
 * queued again, and one that was, or whose timer was to be armed, ends with
 * -ECANCELED when its function has returned. Callers that wait in
 * ants_group_submit() go on waiting for a place, and their work items do not run.
 *
 * Another thread may wait for the group meanwhile, and free it when it has ended:
 * the group does not end before this has touched it for the last time. If somebody
 * else cancels the group at the moment this returns at once, and leaves the rest
 * to it.
 *
 * Context: as ants_queue_work().
 */
void ants_group_cancel(struct ants_group *group)
{
	struct ants_pool *pool = group->pool;
	bool more;

	/* Keeps a pool whose last tasks end here. */
	rcu_read_lock();
	more = cancel_section(pool, group, true);
	while (more) {
		ants_pause_atomic(ANTS_PAUSE_GROUP_CANCEL, pool);
		more = cancel_section(pool, group, false);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(ants_group_cancel);

/**
 * ants_group_reset() - make a group that has ended as new
 * @group: the group
 *
 * The work items that are left in it do not belong to it any more.
 *
 * Context: Process context.
 * Return: 0. -EBUSY: it has not ended, or somebody waits for it, or cancels it.
 */
int ants_group_reset(struct ants_group *group)
{
	struct ants_kick kick;
	int err = -EBUSY;

	ants_lock(group->pool, &kick);
	if (ants_group_is_quiet(group) && list_empty(&group->waiters)) {
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
