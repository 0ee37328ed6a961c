// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: many work items of one pool, and one wait for them all. The pool's
 * lock guards a group. A caller that waits is given all it asked for under the
 * lock, and afterwards touches neither the group nor its members, which may be
 * freed then.
 *
 * When a group is cancelled the upkeep work ends the members that have not started, in
 * several holds of the lock. Until it has, the group is in pool->cancelled_groups; it
 * leaves that list when its last member ends, so no group waits for the upkeep work.
 */
#include <linux/export.h>

#include "../internal.h"

/*
 * A group that begins has no members. The stamp distinguishes those that it gets from those
 * of all others, and its own of an earlier time. An item that has never been in a group
 * has 0.
 */
static void group_begin(struct ants_group *group)
{
	static atomic64_t stamps;

	INIT_LIST_HEAD(&group->works);
	INIT_LIST_HEAD(&group->finished);
	group->stamp = atomic64_inc_return(&stamps);
	group->error = 0;
	group->sealed = false;
	group->cancelled = false;
}

int ants_group_init(struct ants_group *group, struct ants_pool *pool,
		    unsigned int flags)
{
	if (flags & ~ANTS_GROUP_CANCEL_ON_ERROR)
		return -EINVAL;
	memset(group, 0, sizeof(*group));
	INIT_LIST_HEAD(&group->node);
	group->pool = pool;
	group->cancel_on_error = flags & ANTS_GROUP_CANCEL_ON_ERROR;
	group_begin(group);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_group_init);

void ants_group_seal(struct ants_group *group)
{
	struct ants_pool *pool = group->pool;
	struct ants_todo todo;

	ants_lock(pool, &todo);
	group->sealed = true;
	ants_group_wake(group, &todo);
	ants_unlock(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_group_seal);

/*
 * Wait for the event that @own says, and store what was waited for in @own. A wait for
 * the whole group seals it, unless the caller may not wait. A caller that is no task of
 * the pool holds a reference to it meanwhile, for the last member may have ended, and
 * then no item keeps the pool.
 */
static int group_wait(struct ants_group *group, struct ants_work_waiter *own,
		      unsigned long timeout)
{
	struct ants_worker *w = ants_worker_of(group->pool);
	bool all = own->until == ANTS_UNTIL_ALL;
	struct ants_work_waiter *waiter = own;
	struct ants_pool *pool = group->pool;
	unsigned int state;
	struct ants_todo todo;
	int err = 0;

	might_sleep();
	ants_lock(pool, &todo);
	if (ants_group_serve(group, own)) {
		group->sealed |= all;
		/* A caller in ants_group_next() must not be left behind. */
		ants_group_wake(group, &todo);
		ants_unlock(pool, &todo);
		return 0;
	}
	/* Only one caller may wait at a time. */
	if (!hlist_empty(&group->waiters))
		err = -EBUSY;
	else if (w)
		err = ants_join_check(w, group);
	if (err) {
		ants_unlock(pool, &todo);
		return err;
	}
	group->sealed |= all;
	own->joins = w && timeout;
	if (own->joins) {
		/* Not on the stack: the task may die in what it runs meanwhile. */
		waiter = &ants_inner_of(w)->waiter;
		*waiter = *own;
	} else {
		ants_pool_get_locked(pool);
	}
	ants_work_await(&group->waiters, waiter);
	state = ants_killable_state(pool, 1);
	ants_unlock(pool, &todo);
	if (own->joins)
		return ants_join_wait(w, group, timeout, own);
	if (timeout)
		ants_wait_touch(pool);
	err = ants_work_sleep(pool, own, timeout, state);
	ants_pool_put(pool);
	return err;
}

int ants_group_wait_timeout(struct ants_group *group, unsigned long timeout,
			    int *error)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_ALL };
	int err = group_wait(group, &waiter, timeout);

	if (!err && error)
		*error = waiter.result;
	return err;
}
EXPORT_SYMBOL_GPL(ants_group_wait_timeout);

struct ants_work *ants_group_next(struct ants_group *group,
				  unsigned long timeout)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_MEMBER };
	int err = group_wait(group, &waiter, timeout);

	return err ? ERR_PTR(err) : waiter.work;
}
EXPORT_SYMBOL_GPL(ants_group_next);

/*
 * One section for the upkeep work: end members of the first cancelled group that do not
 * run, as many as one lock hold allows. Return true if there is more to do.
 */
bool ants_group_cancel_round(struct ants_pool *pool, struct ants_todo *todo,
			     void *unused)
{
	unsigned int nr = ANTS_HOLD_MAX;
	struct ants_group *group;
	struct ants_work *work;

	group = list_first_entry_or_null(&pool->cancelled_groups,
					 struct ants_group, node);
	if (!group)
		return false;
	list_del_init(&group->node);
	/* When its last member ends, the group stays until the lock is dropped. */
	while (group->nr_left && group->cancel_at != &group->works) {
		if (!nr-- || ants_todo_full(todo)) {
			list_add(&group->node, &pool->cancelled_groups);
			break;
		}
		work = list_entry(group->cancel_at, struct ants_work, in_group);
		/* When it ends, a caller in ants_group_next() may take it. */
		group->cancel_at = work->in_group.next;
		/* A caller that waits for room with one finds out by itself. */
		if (work->group == group && work->state != ANTS_WORK_WAITING)
			ants_work_cancel_waiting(pool, work, -ECANCELED, todo);
	}
	ants_room_freed(pool, todo);
	return !list_empty(&pool->cancelled_groups);
}

void ants_group_cancel(struct ants_group *group)
{
	struct ants_pool *pool = group->pool;
	struct ants_todo todo;

	ants_lock_any(pool, &todo);
	ants_group_stop(group, &todo);
	ants_unlock_any(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_group_cancel);

int ants_group_reset(struct ants_group *group)
{
	struct ants_todo todo;
	int err = -EBUSY;

	ants_lock(group->pool, &todo);
	if (!group->nr_left && hlist_empty(&group->waiters)) {
		group_begin(group);
		err = 0;
	}
	ants_unlock(group->pool, &todo);
	return err;
}
EXPORT_SYMBOL_GPL(ants_group_reset);
