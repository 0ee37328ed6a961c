/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: many work items and one wait for all of them. Part of <linux/ants.h>, which
 * explains the errors.
 */
#ifndef _LINUX_ANTS_GROUP_H
#define _LINUX_ANTS_GROUP_H

#include <linux/ants_work.h>
#include <linux/list.h>
#include <linux/types.h>

/**
 * enum ants_group_flags - the modes of a group
 * @ANTS_GROUP_CANCEL_ON_ERROR: after a result other than 0 no further member
 *	starts
 */
enum ants_group_flags {
	ANTS_GROUP_CANCEL_ON_ERROR	= 1 << 0,
};

/**
 * struct ants_group - work items that belong together, in one pool
 *
 * Made with ants_group_init(). It and its work items may be freed when
 * ants_group_wait() has returned 0 or ants_group_next() NULL, or before any was
 * submitted. An error of either call does not mean that the group has ended:
 * its work items go on. An item that ants_group_next() has returned is not in
 * the group any more, and may be freed at once.
 */
struct ants_group {
	/* private: */
	struct ants_pool *pool;
	struct list_head works;
	struct list_head finished;
	struct hlist_head waiters;
	struct list_head node;
	struct list_head *cancel_at;
	struct list_head *join_at;
	u64 stamp;
	unsigned int nr_left;
	int error;
	bool sealed;
	bool cancelled;
	bool cancel_on_error;
};

/**
 * ants_group_init() - initialise a group
 * @group: the group
 * @pool: the pool that runs its work items
 * @flags: bits of enum ants_group_flags
 *
 * Context: Any context.
 * Return: 0. -EINVAL: a flag is unknown.
 */
int ants_group_init(struct ants_group *group, struct ants_pool *pool,
		    unsigned int flags);

/**
 * ants_group_submit() - submit a work item of a group to its pool
 * @group: the group
 * @work: the work item; it must stay, and must not be submitted to another
 *	group, until ants_group_next() has returned it or the group has ended
 *
 * Waits while the pool is full, unless the pool is %ANTS_NONBLOCKING. A task of
 * the pool does not wait: if the pool is full, and not non-blocking, the task
 * runs the item itself before this returns. So a task may submit any number of
 * items and then wait for them, whatever the capacity. An item must not wait
 * for what its submitter does afterwards, nor for a lock that its submitter
 * holds. A task that may not run an item, see ants_group_wait_timeout(), waits
 * for room; so do &ants_attrs.worker_init and &ants_attrs.worker_exit.
 *
 * Context: Process context. May sleep.
 * Return: as ants_queue_work(), but -EAGAIN only if the pool is non-blocking.
 * -EBUSY, -EDEADLK, -EINTR: as ants_submit(), if this waits for room.
 * -EALREADY: also if the group has
 * accepted the item before, and it was neither returned by ants_group_next()
 * nor left behind by ants_group_reset(). -ESHUTDOWN: also if the group is
 * sealed. -ECANCELED: also if the group is cancelled. -EINVAL: also if the item
 * is %ANTS_WORK_DETACHED.
 */
int ants_group_submit(struct ants_group *group, struct ants_work *work);

/**
 * ants_group_seal() - accept no further work items in a group
 * @group: the group
 *
 * Context: Process context.
 */
void ants_group_seal(struct ants_group *group);

/**
 * ants_group_wait_timeout() - seal a group and wait until all of it has ended
 * @group: the group
 * @timeout: the longest time to wait, in jiffies
 * @error: the first result that was not 0, in the order of the ends, or 0. May
 *	be NULL.
 *
 * The group and its work items may be freed only after this has returned 0.
 *
 * Context: Process context. May sleep.
 * Return: 0: it has ended, and @error is set. -ETIMEDOUT, -EINTR: it is sealed,
 * and has not ended yet. -EDEADLK: the caller is a task of the same pool, and
 * is a member itself, or 8 work items or calls run inside one another in it; or
 * the pool is ordered. -EBUSY: another caller waits for the group, which has not ended.
 * After -EDEADLK and -EBUSY the group is as open as before.
 */
int __must_check ants_group_wait_timeout(struct ants_group *group,
					 unsigned long timeout, int *error);

/**
 * ants_group_wait() - seal a group and wait until all of it has ended
 * @group: the group
 * @error: see ants_group_wait_timeout()
 *
 * Context: Process context. May sleep.
 * Return: as ants_group_wait_timeout(), but never -ETIMEDOUT.
 */
static inline int __must_check ants_group_wait(struct ants_group *group, int *error)
{
	return ants_group_wait_timeout(group, MAX_SCHEDULE_TIMEOUT, error);
}

/**
 * ants_group_next() - take the next work item that has ended out of a group
 * @group: the group
 * @timeout: the longest time to wait for it, in jiffies
 *
 * Returns each item once, in the order in which they ended. The item is not in
 * the group any more: it may be freed at once, or submitted again, even to the
 * same group. So a group that is never sealed can be an endless stream. The
 * release of a pool does not end the wait: seal the group before the pool is
 * destroyed.
 *
 * Context: Process context. May sleep.
 * Return: the work item. NULL: the group is sealed and has ended, and nothing
 * is left: it may be freed. Or an ERR_PTR: -ETIMEDOUT, -EINTR: no item has
 * ended yet. -EDEADLK: the caller would wait, and is a task that must not, see
 * ants_group_wait_timeout(). -EBUSY: another caller waits for the group.
 */
struct ants_work *ants_group_next(struct ants_group *group,
				  unsigned long timeout);

/**
 * ants_group_cancel() - prevent members that have not started from running
 * @group: the group; must not have been freed when this is called
 *
 * Those members end with the result -ECANCELED, soon after this has returned.
 * Members that run go on. Until they have ended they cannot be queued again, and
 * one that was, or whose timer was to be armed, ends with -ECANCELED when its
 * function has returned. Callers that wait in ants_group_submit() continue to
 * wait for room, and get 0 then, but their work items end with -ECANCELED and do
 * not run.
 *
 * Context: as ants_queue_work().
 */
void ants_group_cancel(struct ants_group *group);

/**
 * ants_group_reset() - make a group that has ended as good as new
 * @group: the group
 *
 * The work items that are left in it do not belong to it any more.
 *
 * Context: Process context.
 * Return: 0. -EBUSY: it has not ended, or a caller waits for it.
 */
int ants_group_reset(struct ants_group *group);

/**
 * ants_group_for_each() - iterate over the work items of a group, in order of
 * acceptance
 * @work: the struct ants_work to iterate with
 * @group: the group; all of its work items have ended
 *
 * Items that ants_group_next() has returned are not in the group any more.
 */
#define ants_group_for_each(work, group)	\
	list_for_each_entry(work, &(group)->works, in_group)

#endif /* _LINUX_ANTS_GROUP_H */
