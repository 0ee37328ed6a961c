/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: tasks with a handle or with a result. Part of <linux/ants.h>, which explains
 * the errors.
 *
 * A work item is a task with a handle. It lives in memory of the caller, so queueing
 * it needs no memory, in any context. It can be waited for and cancelled, and has a
 * result. It is in one pool at most, and runs in one thread at a time.
 */
#ifndef _LINUX_ANTS_WORK_H
#define _LINUX_ANTS_WORK_H

#include <linux/ants_pool.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/types.h>

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
 * @ANTS_WORK_LATE: with the former, and for <linux/ants_wq.h> alone: see
 *	ants_work_begin().
 */
enum ants_work_flags {
	ANTS_WORK_DETACHED	= 1 << 0,
	ANTS_WORK_LATE		= 1 << 1,
};

/**
 * enum ants_work_busy_bits - bits that ants_work_busy() returns
 * @ANTS_WORK_BUSY_PENDING: the item is queued, and that run has not started
 * @ANTS_WORK_BUSY_RUNNING: its function runs
 */
enum ants_work_busy_bits {
	ANTS_WORK_BUSY_PENDING	= 1 << 0,
	ANTS_WORK_BUSY_RUNNING	= 1 << 1,
};

/*
 * private: a task that is accepted and not started, see kernel/core/dispatch.h. A work item
 * contains one.
 */
struct ants_slot {
	union {
		struct list_head node;
		struct ants_slot *next;
	};
	ants_fn_t fn;
	void *data;
	unsigned int tag;
	unsigned int stamp;
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
	union {
		ants_work_fn_t fn;
		/* private: of an item that is ANTS_WORK_LATE */
		ants_fn_t late_fn;
		/* public: */
	};
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

/* Define a static work item that is ready to be queued. */
#define DEFINE_ANTS_WORK(name, fn)					\
	struct ants_work name = __ANTS_WORK_INITIALIZER(fn)

/**
 * ants_work_init() - initialise a work item; see INIT_ANTS_WORK()
 * @work: the work item, in no pool
 * @fn: what it runs
 * @flags: bits of enum ants_work_flags
 *
 * Context: Any context.
 */
void ants_work_init(struct ants_work *work, ants_work_fn_t fn,
		    unsigned int flags);

#define INIT_ANTS_WORK(work, fn)	ants_work_init(work, fn, 0)
/* To be followed by ants_destroy_work_on_stack(). */
#define INIT_ANTS_WORK_ONSTACK(work, fn)	ants_work_init(work, fn, 0)
#define INIT_ANTS_WORK_DETACHED(work, fn)				\
	ants_work_init(work, fn, ANTS_WORK_DETACHED)

/**
 * ants_destroy_work_on_stack() - a work item leaves the stack
 * @work: the work item, in no pool
 *
 * A kernel that checks work items (CONFIG_DEBUG_OBJECTS_WORK) complains if the
 * item is still in a pool. Other kernels do nothing.
 *
 * Context: Any context.
 */
#ifdef CONFIG_DEBUG_OBJECTS_WORK
void ants_destroy_work_on_stack(struct ants_work *work);
#else
static inline void ants_destroy_work_on_stack(struct ants_work *work)
{
}
#endif

/**
 * ants_delayed_timer_fn() - timer function of a delayed work item
 * @timer: the timer
 *
 * Exported for what makes a delayed work item, and for nothing else.
 *
 * Context: Softirq.
 */
void ants_delayed_timer_fn(struct timer_list *timer);

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

/* Define a delayed work item that is ready to be queued. */
#define DEFINE_ANTS_DELAYED_WORK(name, fn)				\
	struct ants_delayed_work name = {				\
		.work = __ANTS_WORK_INITIALIZER(fn),			\
		.timer = __TIMER_INITIALIZER(ants_delayed_timer_fn, 0),	\
	}

/**
 * ants_delayed_work_init() - initialise a delayed work item
 * @dwork: the work item, in no pool
 * @fn: what it runs
 * @flags: bits of enum ants_work_flags
 *
 * Context: Any context.
 */
static inline void ants_delayed_work_init(struct ants_delayed_work *dwork,
					  ants_work_fn_t fn, unsigned int flags)
{
	ants_work_init(&dwork->work, fn, flags);
	timer_setup(&dwork->timer, ants_delayed_timer_fn, 0);
}

/**
 * ants_delayed_work_init_onstack() - make one on the stack; see
 *	INIT_ANTS_DELAYED_WORK_ONSTACK()
 * @dwork: the work item; ants_destroy_delayed_work_on_stack() before it goes
 * @fn: what it runs
 *
 * Context: Any context.
 */
static inline void ants_delayed_work_init_onstack(struct ants_delayed_work *dwork,
						  ants_work_fn_t fn)
{
	ants_work_init(&dwork->work, fn, 0);
	timer_setup_on_stack(&dwork->timer, ants_delayed_timer_fn, 0);
}

/**
 * ants_destroy_delayed_work_on_stack() - a delayed work item leaves the stack
 * @dwork: the work item, in no pool
 *
 * Tells the kernel's checkers of timers and of work items; without them it does
 * nothing.
 *
 * Context: Any context.
 */
void ants_destroy_delayed_work_on_stack(struct ants_delayed_work *dwork);

#define INIT_ANTS_DELAYED_WORK(dwork, fn)	ants_delayed_work_init(dwork, fn, 0)
#define INIT_ANTS_DELAYED_WORK_DETACHED(dwork, fn)			\
	ants_delayed_work_init(dwork, fn, ANTS_WORK_DETACHED)
/* To be followed by ants_destroy_delayed_work_on_stack(). */
#define INIT_ANTS_DELAYED_WORK_ONSTACK(dwork, fn)			\
	ants_delayed_work_init_onstack(dwork, fn)

/**
 * ants_queue_work() - submit a work item to a pool, never wait
 * @pool: the pool
 * @work: the work item
 *
 * An item that runs, in this pool, runs once more when it has finished. The new
 * run takes over the admission of the old one, so it needs no room of its own. It
 * starts after the tasks that are pending when the old run ends.
 *
 * Context: as ants_try_submit(). Uses no memory.
 * Return: 0: it runs, unless it is cancelled before. -EINVAL: it has no
 * function, or its priority is unknown. -EALREADY: it is queued, or in another
 * pool. -ECANCELED: a caller of ants_work_cancel_sync() waits for its end, or
 * it runs and its group is cancelled. -ESHUTDOWN: the pool is released. -EIO: it
 * has had too many faults, see &ants_attrs.max_faults. -EAGAIN: it is full, or
 * callers wait.
 */
int ants_queue_work(struct ants_pool *pool, struct ants_work *work);

/**
 * ants_queue_work_timeout() - submit a work item to a pool, wait a limited time
 * @pool: the pool
 * @work: the work item
 * @timeout: the longest time to wait, in jiffies, whatever the pool's mode; 0
 *	does not wait
 *
 * If @timeout is MAX_SCHEDULE_TIMEOUT, a task of the pool does not wait, but runs
 * the item itself if the pool is full, see ants_group_submit(); unless the item
 * is %ANTS_WORK_DETACHED.
 *
 * Context: Process context. May sleep.
 * Return: as ants_queue_work(), but never -EAGAIN. -ETIMEDOUT: the pool was
 * full all the time. -EBUSY, -EDEADLK, -EINTR: as ants_submit_timeout(), if this
 * waits for room.
 * -ECANCELED: also if the item was cancelled meanwhile.
 */
int ants_queue_work_timeout(struct ants_pool *pool, struct ants_work *work,
			    unsigned long timeout);

/**
 * ants_queue_delayed_work() - submit a work item to a pool after a delay
 * @pool: the pool
 * @dwork: the work item
 * @delay: the delay, in jiffies, at most MAX_JIFFY_OFFSET; 0 for none
 *
 * The item is due when its delay is over: then it is accepted, or waits for room
 * if the pool is full. Such items go ahead of callers that wait, but after 8 of
 * them in a row one caller is served. A delay of 0 is no timer: the item is due
 * before this returns, and behind what was due before it. Items whose timers
 * fire in the same tick are due in any order. If the pool is released before the
 * item is accepted, the item ends with the result -ESHUTDOWN; if it has too many
 * faults before that, with -EIO. An item that runs, in this pool, is queued once
 * more; it is not due before it has finished.
 *
 * Context: as ants_queue_work().
 * Return: 0: it will be queued, unless it is cancelled before. -EINVAL: it has
 * no function or no timer, or its priority is unknown. -EALREADY: it is queued,
 * or in another pool. -ECANCELED: a caller of ants_work_cancel_sync() waits for its
 * end, or it runs and its group is cancelled. -ESHUTDOWN: the pool is released.
 * -EIO: it has had too many faults.
 */
int ants_queue_delayed_work(struct ants_pool *pool,
			    struct ants_delayed_work *dwork,
			    unsigned long delay);

/**
 * ants_mod_delayed_work() - queue a delayed work item, or put off its next run
 * @pool: the pool
 * @dwork: the work item
 * @delay: the time from now until the item is due, in jiffies, at most
 *	MAX_JIFFY_OFFSET
 *
 * A run that is queued and has not started becomes due after @delay instead,
 * whether that is sooner or later than before; but if @delay is 0, a run that is
 * due already keeps its turn. Otherwise this is ants_queue_delayed_work().
 *
 * Context: as ants_queue_work().
 * Return: 1: the item was queued, and that run has been put off. 0: it was not,
 * and is queued now. -EALREADY: a caller of ants_queue_work_timeout() waits
 * with it, or it is in another pool. -EINVAL, -ECANCELED, -ESHUTDOWN, -EIO:
 * as ants_queue_delayed_work(); nothing has changed.
 */
int ants_mod_delayed_work(struct ants_pool *pool,
			  struct ants_delayed_work *dwork, unsigned long delay);

/**
 * ants_work_wait_timeout() - wait until a work item has ended, a limited time
 * @work: the work item; the caller that gets 0 may free it if no other caller
 *	uses it
 * @timeout: the longest time to wait, in jiffies; 0 does not wait
 * @result: what its function returned; -ECANCELED if it was cancelled before it
 *	ran, -ESHUTDOWN if the pool was released before a delayed one was due,
 *	-EINVAL if it was never queued, and the error of
 *	ants_queue_work_timeout() if that waited and gave up; -EFAULT if it has
 *	taken its thread along, see &ants_attrs.fault; -EIO if it was queued and
 *	the pool has had too many faults. May be NULL.
 *
 * An item that is queued again while it runs ends with the run that follows. In
 * a task of the same pool the caller runs an item that has not been started;
 * then the call may take longer than @timeout. If the pool had no room for that
 * item yet, it has one task more in flight than its bound, but no thread more,
 * until the item has ended.
 *
 * Context: Process context. May sleep.
 * Return: 0: it is in no pool, and @result is set. -ETIMEDOUT, -EINTR: it has
 * not ended yet. -EDEADLK: the caller is a task of the same pool, and the wait
 * could never end: the item runs in the caller, or waits for it; or the pool is
 * ordered; or 8 items run inside one another in the caller. -EINVAL: the item
 * is %ANTS_WORK_DETACHED.
 */
int __must_check ants_work_wait_timeout(struct ants_work *work,
					unsigned long timeout, int *result);

/**
 * ants_work_wait() - wait until a work item has ended
 * @work: the work item; the caller that gets 0 may free it if no other caller
 *	uses it
 * @result: see ants_work_wait_timeout()
 *
 * Context: Process context. May sleep.
 * Return: as ants_work_wait_timeout(), but never -ETIMEDOUT.
 */
static inline int __must_check ants_work_wait(struct ants_work *work, int *result)
{
	return ants_work_wait_timeout(work, MAX_SCHEDULE_TIMEOUT, result);
}

/**
 * ants_work_flush() - wait for the run of a work item that is queued now
 * @work: the work item; must stay as long as the call lasts
 *
 * Waits for the run in progress and for a run that is queued behind it, but not
 * for later ones: an item that queues itself for ever does not hold up the
 * caller. A delay is not waited for, because an item whose timer is armed is
 * not queued yet; ants_mod_delayed_work() with a delay of 0 ends it. But if that
 * function puts off a run for which a caller waits, the wait continues until
 * that run has ended.
 *
 * Context: Process context. May sleep.
 * Return: 0: that run has ended, or was cancelled, or there was none. -EINTR,
 * -EDEADLK, -EINVAL: as ants_work_wait(). -EDEADLK: also if the caller is a task
 * of the same pool, and the item waits for room there.
 */
int __must_check ants_work_flush(struct ants_work *work);

/**
 * ants_work_cancel() - prevent a work item from running
 * @work: the work item
 *
 * An item that runs is asked to stop, see ants_work_cancelled(), and does not
 * run again if it was queued meanwhile. It may be queued again at once, even
 * while that run has not ended. It may not be freed yet, whatever this returns:
 * the timer function of a delayed item may be about to look at it.
 *
 * Context: as ants_queue_work().
 * Return: true: it was queued, and that run will not start. false: it was not
 * queued.
 */
bool ants_work_cancel(struct ants_work *work);

/**
 * ants_work_cancel_sync() - cancel a work item and wait until it has ended
 * @work: the work item; afterwards it is in no pool, and may be freed
 *
 * Waits for an item that runs, and no signal ends the wait; until the item has
 * ended it cannot be queued again. Any number of callers may wait, tasks of the
 * same pool included; two that wait for each other are not detected. Only a
 * caller that is the item itself, or a task that runs inside the item, cannot
 * wait for it: that is warned of, and the item, which was asked to stop, has
 * not ended when this returns. The state of a %ANTS_WORK_DETACHED item that has
 * started is unknown: it is not waited for.
 *
 * Context: Process context. May sleep.
 * Return: true: it was queued, and that run did not start. false: it was not
 * queued, or another caller had cancelled it.
 */
bool ants_work_cancel_sync(struct ants_work *work);

/**
 * ants_work_cancelled() - test whether a running work item was asked to stop
 * @work: the work item; its own function may ask, unless it is
 *	%ANTS_WORK_DETACHED
 *
 * Context: Any context.
 * Return: true once this run was cancelled for the first time.
 */
bool ants_work_cancelled(const struct ants_work *work);

/**
 * ants_work_busy() - query what a work item is doing
 * @work: the work item; must stay as long as the call lasts
 *
 * A hint: it may be outdated when this returns.
 *
 * Context: Any context.
 * Return: bits of enum ants_work_busy_bits; 0: it neither runs nor has a queued
 * run. It may still not be freed then: see ants_work_cancel().
 */
unsigned int ants_work_busy(const struct ants_work *work);

/**
 * ants_work_pending() - test whether a work item has a queued run
 * @work: the work item; must stay as long as the call lasts
 *
 * A run counts as queued until it starts, even if its delay is not over or its
 * submitter waits for room. A hint: it may be outdated when this returns.
 *
 * Context: Any context.
 * Return: true if it has one.
 */
static inline bool ants_work_pending(const struct ants_work *work)
{
	return ants_work_busy(work) & ANTS_WORK_BUSY_PENDING;
}

/*
 * The result of a work item that has ended. One that is all zero was never
 * queued.
 */
static inline int ants_work_result(const struct ants_work *work)
{
	return work->fn ? READ_ONCE(work->result) : -EINVAL;
}

/* Functions that run in a pool as if they were called here. */

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
 * Context: Process context: the caller's, or a task of the pool. In the latter
 * there is no user memory, see ants_fn_t: a copy_to_user() that works in the
 * share of the caller fails there.
 * Return: 0, or an error, after which no further numbers are begun.
 */
typedef int (*ants_each_fn_t)(unsigned long i, void *ctx);

/**
 * ants_call() - run a function in a pool, and wait for its result
 * @pool: the pool
 * @fn: the function
 * @data: its argument; any value
 * @timeout: the longest time to wait until it starts, in jiffies. Once it runs
 *	the caller waits for it, whatever the timeout and signals
 *
 * A task of the same pool is in a thread of the pool already, so it runs @fn
 * itself.
 *
 * Context: Process context. May sleep.
 * Return: what @fn returned. If @fn did not run: -ETIMEDOUT, -EINTR, -EINVAL,
 * -ESHUTDOWN, -EIO, -EBUSY as ants_submit_timeout(); -EDEADLK: the caller is a task
 * of the same pool, and 8 calls or work items run inside one another in it
 * already. If @fn has begun: -EFAULT: it has taken its thread along, see
 * &ants_attrs.fault. Choose results of @fn that differ from these.
 */
int ants_call(struct ants_pool *pool, ants_call_fn_t fn, void *data,
	      unsigned long timeout);

/**
 * ants_call_release() - call a function in a pool; the caller may leave before
 * its end
 * @pool: the pool
 * @fn: the function
 * @data: its argument; no longer the caller's, unless this returns -EINVAL
 * @timeout: the longest time to wait until it has ended, in jiffies
 * @release: called once with @data when @fn has returned or will not run, and
 *	the caller does not wait any more; in process context, in the caller or
 *	in a thread of ants, and there possibly after this has returned, even with
 *	an error. The end of the pool waits for it. After a fault it is called as
 *	&ants_attrs.fault and &ants_attrs.drop are, and may not wait for more than
 *	they may
 *
 * Context: Process context. May sleep.
 * Return: what @fn returned. -EINPROGRESS: it runs. If it did not and will not
 * run: -ENOMEM, or as ants_call().
 */
int ants_call_release(struct ants_pool *pool, ants_call_fn_t fn, void *data,
		      unsigned long timeout, ants_fn_t release);

/**
 * ants_for_each() - run a function for each number from 0 to @n - 1
 * @pool: the pool that takes part, as far as it has room
 * @n: how many numbers; at most LONG_MAX
 * @fn: the function, called once for each number, in no order, by several
 *	threads at once; the caller is one of them
 * @ctx: the argument of @fn; any value
 *
 * Needs neither room nor memory: without them the caller runs all numbers
 * itself. May be called from a task of the same pool.
 *
 * Context: Process context. May sleep.
 * Return: 0, or the first error that @fn returned; then some numbers were left
 * out. -EINVAL: @fn is NULL, or @n is too large. -ESHUTDOWN: the pool is
 * released. -EIO: it has had too many faults. -EFAULT: a thread of the pool has
 * died in @fn, see &ants_attrs.fault; then some numbers were left out.
 */
int ants_for_each(struct ants_pool *pool, unsigned long n, ants_each_fn_t fn,
		  void *ctx);

/* private: what the macros above are made of */

#define __ANTS_WORK_INITIALIZER(_fn)	{ .fn = (_fn), .result = -EINVAL }

/**
 * ants_work_begin() - the function of a work item takes the item over
 *
 * Exported for <linux/ants_wq.h>, and for nothing else. A detached item that is
 * ANTS_WORK_LATE stays in its pool, where it can be cancelled, until its function
 * calls this. Until then the function must not touch the item: the caller that has
 * cancelled it may have freed it.
 *
 * Context: A task that is such an item, with interrupts off.
 * Return: true: the item is in no pool from here on. false: it was cancelled, and
 * may be gone.
 */
bool ants_work_begin(void);

#endif /* _LINUX_ANTS_WORK_H */
