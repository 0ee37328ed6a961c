// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups as the core sees them: members come in, and end; whoever waits is told.
 */
#include "internal.h"

/*
 * A work item of a group is accepted. Its submitter is counted if he waited; one
 * whose timer it armed itself is in the group.
 */
void ants_group_add(struct ants_group *group, struct ants_work *work)
{
	if (work->state != ANTS_WORK_IDLE && work->state != ANTS_WORK_WAITING)
		return;
	list_add_tail(&work->in_group, &group->works);
	work->group_stamp = group->stamp;
	group->nr_left += work->state != ANTS_WORK_WAITING;
}

/* One has ended, or is refused after its submitter waited. */
void ants_group_note(struct ants_group *group, struct ants_work *work)
{
	group->nr_left--;
	if (work->state == ANTS_WORK_WAITING)
		return;
	list_add_tail(&work->finished, &group->finished);
	if (!work->result)
		return;
	group->error = group->error ?: work->result;
	group->cancelled |= group->cancel_on_error;
}

/* Takes the one that ended first, if there is one. */
struct ants_work *ants_group_take(struct ants_group *group)
{
	struct ants_work *work;

	work = list_first_entry_or_null(&group->finished, struct ants_work,
					finished);
	if (work)
		list_del_init(&work->finished);
	return work;
}

bool ants_group_done(const struct ants_group *group)
{
	return group->sealed && !group->nr_left;
}

/* Tells who waits for the group, if it is what he waits for. */
void ants_group_wake(struct ants_group *group, struct ants_kick *kick)
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
	ants_waiter_done(waiter, group->error, kick);
}
