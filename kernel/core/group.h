/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * item.c: what the core does with a group, all under the lock of the
 * group's pool.
 */
#ifndef _ANTS_GROUP_H
#define _ANTS_GROUP_H

#include <linux/ants.h>

struct ants_todo;

void ants_group_enter(struct ants_group *group, struct ants_work *work);
struct ants_work *ants_group_take(struct ants_group *group);
bool ants_group_is_quiet(const struct ants_group *group);
bool ants_group_done(const struct ants_group *group);
void ants_group_wake(struct ants_group *group, struct ants_todo *todo);

/* Is @work in a group that was cancelled? */
static inline bool ants_group_stops(const struct ants_work *work)
{
	return work->group && work->group->cancelled;
}

#endif /* _ANTS_GROUP_H */
