/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: tasks with a handle, with a result, or in a group. Part of
 * <linux/ants.h>, which explains the errors.
 */
#ifndef _LINUX_ANTS_WORK_H
#define _LINUX_ANTS_WORK_H

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/timer.h>
#include <linux/types.h>

#include <linux/ants.h>

/*
 * Work items. A work item is a task with a handle. It lives in memory of the
 * caller, so queueing it needs no memory, in any context. It can be waited for
 * and cancelled, and has a result. It is in one pool at most, and runs in one
 * thread at a time.
 */

struct ants_work;
struct ants_group;

/**
 * typedef ants_work_fn_t - the function of a work item
 * @work: the work item; it may be queued again from inside
 *
 * Context: as ants_fn_t.
 * Return: the result of the work item, any value.
 */
typedef int (*ants_work_fn_t)(struct ants_work *work);

/**
 * enum ants_work_flags - kinds of work items
 * @ANTS_WORK_DETACHED: The item is in no pool any more when its function
 *	begins, so the function may free it, or queue it again. Such an item
 *	cannot be waited for, has no result, and belongs to no group. If it is
 *	queued again before its function has returned, both runs may overlap.
 */
enum ants_work_flags {
	ANTS_WORK_DETACHED	= 1 << 0,
};

/**
 * enum ants_work_busy - bits that ants_work_busy() returns
 * @ANTS_WORK_BUSY_PENDING: the item is queued, and that run has not started
 * @ANTS_WORK_BUSY_RUNNING: its function runs
 */
enum ants_work_busy {
	ANTS_WORK_BUSY_PENDING	= 1 << 0,
	ANTS_WORK_BUSY_RUNNING	= 1 << 1,
};

/* private: a task that is accepted and not started, see kernel/slot.h */
struct ants_slot {
	union {
		struct list_head node;
		struct ants_slot *next;
	};
	ants_fn_t fn;
	void *data;
	unsigned int tag;
};

/**
 * struct ants_work - a work item
 * @fn: its function
 * @prio: its priority; may be set while the item is in no pool
 *
 * Made with INIT_ANTS_WORK(), or defined with DEFINE_ANTS_WORK(). It may be
 * freed when it is in no pool: before it was ever queued, as soon as
 * ants_work_wait() has returned 0, and as soon as ants_work_cancel_sync() has
 * returned, unless that was called from its own function. An error of a wait
 * does not mean that it has ended. An item that is %ANTS_WORK_DETACHED may be
 * freed by its own function, and by a caller for which ants_work_cancel_sync()
 * has returned true. For an item in a group see struct ants_group.
 */
struct ants_work {
	ants_work_fn_t fn;
	enum ants_prio prio;
	/* private: */
	unsigned int flags;
	struct ants_slot slot;
	struct ants_pool *pool;
	unsigned int state;
	int result;
	struct hlist_head waiters;
	struct ants_group *group;
	u64 group_stamp;
	struct list_head in_group;
	struct list_head finished;
};

/* A driver embeds one in each of its requests. */
static_assert(sizeof(struct ants_work) <= 128);

/* private: */
#define __ANTS_WORK_INITIALIZER(_fn)	{ .fn = (_fn), .result = -EINVAL }

/* Define a work item that is ready to be queued. */
#define DEFINE_ANTS_WORK(name, fn)					\
	struct ants_work name = __ANTS_WORK_INITIALIZER(fn)

void ants_work_init(struct ants_work *work, ants_work_fn_t fn,
		    unsigned int flags);

#define INIT_ANTS_WORK(work, fn)	ants_work_init(work, fn, 0)
#define INIT_ANTS_WORK_DETACHED(work, fn)				\
	ants_work_init(work, fn, ANTS_WORK_DETACHED)

/**
 * struct ants_delayed_work - a work item that is queued by a timer
 * @work: the work item, for all calls but those that take a delay
 */
struct ants_delayed_work {
	struct ants_work work;
	/* private: */
	struct timer_list timer;
	unsigned long when;
	struct list_head node;
};

/* private: */
void ants_delayed_timer_fn(struct timer_list *timer);

/* Define a delayed work item that is ready to be queued. */
#define DEFINE_ANTS_DELAYED_WORK(name, fn)				\
	struct ants_delayed_work name = {				\
		.work = __ANTS_WORK_INITIALIZER(fn),			\
		.timer = __TIMER_INITIALIZER(ants_delayed_timer_fn, 0),	\
	}

void ants_delayed_work_init(struct ants_delayed_work *dwork, ants_work_fn_t fn,
			    unsigned int flags);
void ants_delayed_work_init_onstack(struct ants_delayed_work *dwork,
				    ants_work_fn_t fn);
void ants_destroy_delayed_work_on_stack(struct ants_delayed_work *dwork);

#define INIT_ANTS_DELAYED_WORK(dwork, fn)	ants_delayed_work_init(dwork, fn, 0)
#define INIT_ANTS_DELAYED_WORK_DETACHED(dwork, fn)			\
	ants_delayed_work_init(dwork, fn, ANTS_WORK_DETACHED)
/* To be followed by ants_destroy_delayed_work_on_stack(). */
#define INIT_ANTS_DELAYED_WORK_ONSTACK(dwork, fn)			\
	ants_delayed_work_init_onstack(dwork, fn)

int ants_queue_work(struct ants_pool *pool, struct ants_work *work);
int ants_queue_work_timeout(struct ants_pool *pool, struct ants_work *work,
			    unsigned long timeout);
int ants_queue_delayed_work(struct ants_pool *pool,
			    struct ants_delayed_work *dwork,
			    unsigned long delay);
int ants_mod_delayed_work(struct ants_pool *pool,
			  struct ants_delayed_work *dwork, unsigned long delay);
int __must_check ants_work_wait(struct ants_work *work, int *result);
int __must_check ants_work_wait_timeout(struct ants_work *work,
					unsigned long timeout, int *result);
int __must_check ants_work_flush(struct ants_work *work);
bool ants_work_cancel(struct ants_work *work);
bool ants_work_cancel_sync(struct ants_work *work);
bool ants_work_cancelled(const struct ants_work *work);
bool ants_work_pending(const struct ants_work *work);
unsigned int ants_work_busy(const struct ants_work *work);

/* The result of a work item that has ended. */
static inline int ants_work_result(const struct ants_work *work)
{
	return work->result;
}

/* call.c, each.c: functions that run in a pool as if they were called here */

/**
 * typedef ants_call_fn_t - the function that ants_call() runs
 * @data: the pointer that was passed to ants_call()
 *
 * Context: as ants_fn_t.
 * Return: the value that ants_call() returns.
 */
typedef int (*ants_call_fn_t)(void *data);

/**
 * typedef ants_each_fn_t - the function that ants_for_each() runs
 * @i: the number it is called for
 * @ctx: the pointer that was passed to ants_for_each()
 *
 * Context: Process context: the caller's, or a task of the pool.
 * Return: 0, or an error, after which no further numbers are begun.
 */
typedef int (*ants_each_fn_t)(unsigned long i, void *ctx);

int ants_call(struct ants_pool *pool, ants_call_fn_t fn, void *data,
	      unsigned long timeout);
int ants_call_release(struct ants_pool *pool, ants_call_fn_t fn, void *data,
		      unsigned long timeout, ants_fn_t release);
int ants_for_each(struct ants_pool *pool, unsigned long n, ants_each_fn_t fn,
		  void *ctx);

/*
 * group.c: many work items, one wait
 */

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
	struct list_head waiters;
	struct list_head node;
	struct list_head *cancel_at;
	struct list_head *join_at;
	u64 stamp;
	unsigned int nr_left;
	unsigned int nr_offers;
	int error;
	bool sealed;
	bool cancelled;
	bool walking;
	bool cancel_on_error;
};

int ants_group_init(struct ants_group *group, struct ants_pool *pool,
		    unsigned int flags);
int ants_group_submit(struct ants_group *group, struct ants_work *work);
void ants_group_seal(struct ants_group *group);
int __must_check ants_group_wait(struct ants_group *group, int *error);
int __must_check ants_group_wait_timeout(struct ants_group *group,
					 unsigned long timeout, int *error);
struct ants_work *ants_group_next(struct ants_group *group,
				  unsigned long timeout);
void ants_group_cancel(struct ants_group *group);
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

#endif /* _LINUX_ANTS_WORK_H */
