// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups as the core sees them: members enter, end and are taken out, and a
 * caller that waits is notified.
 */
#include "internal.h"

/*
 * A work item enters the group: it was accepted, or its submitter waits for
 * room.
 */
void ants_group_enter(struct ants_group *group, struct ants_work *work)
{
	list_add_tail(&work->in_group, &group->works);
	WRITE_ONCE(work->group_stamp, group->stamp);
	group->nr_left++;
}

/* A member leaves. A cancel, or a task that joins, may be about to see it. */
static void group_leave(struct ants_group *group, struct ants_work *work)
{
	if (group->cancel_at == &work->in_group)
		group->cancel_at = work->in_group.next;
	if (group->join_at == &work->in_group)
		group->join_at = work->in_group.next;
	list_del(&work->in_group);
	WRITE_ONCE(work->group_stamp, 0);
}

/* A member can be run by a task of the same pool that waits for the group. */
void ants_group_offer(struct ants_group *group, struct ants_todo *todo)
{
	const struct ants_work_waiter *waiter;

	group->nr_offers++;
	waiter = list_first_entry_or_null(&group->waiters,
					  struct ants_work_waiter, node);
	if (waiter && waiter->joins)
		ants_todo_wake(todo, waiter->task);
}

/*
 * Cancel a group because of an error. The context is unknown, so the upkeep
 * work ends the members that have not started.
 */
static void cancel_on_error(struct ants_pool *pool, struct ants_group *group,
			    struct ants_todo *todo)
{
	group->cancelled = true;
	if (!group->nr_left)
		return;
	group->cancel_at = group->works.next;
	list_add_tail(&group->node, &pool->cancelled_groups);
	ants_todo_upkeep(pool, todo);
}

/* A member has ended, or was refused after its submitter had waited. */
void ants_group_note(struct ants_pool *pool, struct ants_group *group,
		     struct ants_work *work, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	/* Nothing is left to cancel, and the group may be freed. */
	if (!--group->nr_left && unlikely(!list_empty(&group->node)))
		list_del_init(&group->node);
	if (work->state == ANTS_WORK_WAITING) {
		group_leave(group, work);
		return;
	}
	list_add_tail(&work->finished, &group->finished);
	if (!work->result)
		return;
	group->error = group->error ?: work->result;
	if (group->cancel_on_error && !group->cancelled)
		cancel_on_error(pool, group, todo);
}

/*
 * Take the member that ended first out of the group, if any. It may be freed or
 * submitted again as soon as the lock is dropped.
 */
struct ants_work *ants_group_take(struct ants_group *group)
{
	struct ants_work *work;

	work = list_first_entry_or_null(&group->finished, struct ants_work,
					finished);
	if (!work)
		return NULL;
	list_del(&work->finished);
	group_leave(group, work);
	return work;
}

/* No member is left, and no cancel walks over the group. */
bool ants_group_is_quiet(const struct ants_group *group)
{
	return !group->nr_left && !group->walking;
}

/* The group has ended: a waiter that is notified of this may free it. */
bool ants_group_done(const struct ants_group *group)
{
	return group->sealed && ants_group_is_quiet(group);
}

/* Notify the caller that waits for the group if its event has happened. */
void ants_group_wake(struct ants_group *group, struct ants_todo *todo)
{
	struct ants_work_waiter *waiter;

	waiter = list_first_entry_or_null(&group->waiters,
					  struct ants_work_waiter, node);
	if (!waiter)
		return;
	if (!ants_group_done(group) &&
	    (waiter->all || list_empty(&group->finished)))
		return;
	waiter->work = waiter->all ? NULL : ants_group_take(group);
	ants_waiter_done(waiter, group->error, todo);
}
