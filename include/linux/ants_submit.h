/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: submitting tasks to a pool, and waiting for them. Part of <linux/ants.h>,
 * which explains the errors.
 */
#ifndef _LINUX_ANTS_SUBMIT_H
#define _LINUX_ANTS_SUBMIT_H

#include <linux/ants_pool.h>
#include <linux/types.h>

/**
 * typedef ants_match_t - decides which tasks ants_cancel_pending() cancels
 * @fn: the function of a task; NULL for a work item
 * @data: the data of a task; the struct ants_work of a work item
 * @arg: the pointer that was passed to ants_cancel_pending()
 *
 * Context: Under a raw spinlock of the pool, with interrupts off. It may look
 * at what it is given, and collect it in a list, but may not sleep, take a
 * spinlock_t, or call ants.
 * Return: true if the task is to be cancelled.
 */
typedef bool (*ants_match_t)(ants_fn_t fn, void *data, void *arg);

/**
 * struct ants_task - a task, for ants_submit_batch()
 * @fn: the function to run
 * @data: its argument; any value
 * @prio: its priority
 */
struct ants_task {
	ants_fn_t fn;
	void *data;
	enum ants_prio prio;
};

/**
 * ants_submit() - submit a task to a pool
 * @pool: the pool
 * @fn: the function to run
 * @data: its argument; any value
 *
 * Waits while the pool is full, unless the pool is %ANTS_NONBLOCKING or
 * %ANTS_CALLER_RUNS. With the latter the caller then runs @fn itself before this
 * returns; but a caller that is a task of the pool, wherever that task runs,
 * waits, and so does a caller for which there is no memory. Tasks start in the
 * order in which they were accepted, and callers that wait are served in the
 * order in which they came.
 *
 * Context: Process context. May sleep.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the pool
 * is released. -EIO: it has had too many faults, see &ants_attrs.max_faults.
 * -EAGAIN: it is full and non-blocking. -ENOMEM: it is non-blocking and there
 * is no memory. -EBUSY: &ants_attrs.max_blocking callers wait already.
 * -EDEADLK: the caller is a task of the same pool, and so many of its tasks
 * wait that none could ever continue. -EINTR: the caller is being killed, or is
 * a kthread that was told to stop.
 */
int ants_submit(struct ants_pool *pool, ants_fn_t fn, void *data);

/**
 * ants_submit_timeout() - submit a task to a pool, wait a limited time
 * @pool: the pool
 * @fn: the function to run
 * @data: its argument; any value
 * @timeout: the longest time to wait, in jiffies, whatever the pool's mode; 0
 *	does not wait
 *
 * Context: Process context. May sleep.
 * Return: as ants_submit(), but never -EAGAIN or -ENOMEM, and -EDEADLK only if
 * @timeout is MAX_SCHEDULE_TIMEOUT, -EBUSY only if it is not 0. -ETIMEDOUT: there
 * was no room in time, or no memory; the task will not run.
 */
int ants_submit_timeout(struct ants_pool *pool, ants_fn_t fn, void *data,
			unsigned long timeout);

/**
 * ants_try_submit() - submit a task to a pool, never wait
 * @pool: the pool
 * @fn: the function to run
 * @data: its argument; any value
 *
 * Context: Any context, including hard interrupts and sections under raw locks,
 * on PREEMPT_RT as well; but not NMI, and not under the locks of the scheduler,
 * of a timer base or of a workqueue's pool, for this may wake a thread, arm a
 * timer and queue work. Does not enter the slab.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the pool
 * is released. -EIO: it has had too many faults. -EAGAIN: it is full, or callers
 * wait. -ENOMEM: the spare slots are used up; more are being made.
 */
int ants_try_submit(struct ants_pool *pool, ants_fn_t fn, void *data);

/**
 * ants_submit_prio() - submit a task of a given priority to a pool
 * @pool: the pool
 * @fn: the function to run
 * @data: its argument; any value
 * @prio: its priority
 * @timeout: as for ants_submit_timeout()
 *
 * Context: Process context. May sleep.
 * Return: as ants_submit_timeout(). -EINVAL: also if the priority is unknown.
 */
int ants_submit_prio(struct ants_pool *pool, ants_fn_t fn, void *data,
		     enum ants_prio prio, unsigned long timeout);

/**
 * ants_submit_batch() - submit many tasks to a pool
 * @pool: the pool
 * @tasks: the tasks; not used any more after this has returned
 * @nr: number of tasks
 *
 * Does what ants_submit() does for one after the other, mostly with one locked section
 * for up to 16 of them.
 *
 * Context: Process context. May sleep.
 * Return: the number of tasks accepted, from the first on: all, or fewer if the
 * next one was refused. If the first one was refused: as ants_submit().
 * -EINVAL: a function is NULL, or a priority is unknown, or @nr is beyond
 * INT_MAX; none was accepted.
 */
int ants_submit_batch(struct ants_pool *pool, const struct ants_task *tasks,
		      unsigned int nr);

/**
 * ants_invoke() - submit a task of the function in &ants_attrs.fn
 * @pool: the pool
 * @data: the argument of the function; any value
 *
 * Context: Process context. May sleep.
 * Return: as ants_submit(). -EINVAL: the pool has no function.
 */
int ants_invoke(struct ants_pool *pool, void *data);

/**
 * ants_invoke_timeout() - ants_submit_timeout() for that function
 * @pool: the pool
 * @data: the argument of the function; any value
 * @timeout: the longest time to wait, in jiffies
 *
 * Context: Process context. May sleep.
 * Return: as ants_submit_timeout(). -EINVAL: the pool has no function.
 */
int ants_invoke_timeout(struct ants_pool *pool, void *data,
			unsigned long timeout);

/**
 * ants_try_invoke() - ants_try_submit() for that function
 * @pool: the pool
 * @data: the argument of the function; any value
 *
 * Context: as ants_try_submit().
 * Return: as ants_try_submit(). -EINVAL: the pool has no function.
 */
int ants_try_invoke(struct ants_pool *pool, void *data);

/**
 * ants_worker_data() - get what &ants_attrs.worker_init has returned for this
 * thread
 * @pool: the pool that the caller is a task of
 *
 * A caller of ants_for_each() that takes part in the loop is not a thread of
 * @pool, unless it is a task of it.
 *
 * Context: Process context.
 * Return: the value; NULL if the pool has no such function, or if the caller is
 * not a thread of @pool.
 */
void *ants_worker_data(struct ants_pool *pool);

/**
 * ants_in_pool() - test whether the caller works for a pool
 * @pool: the pool
 *
 * Context: Process context.
 * Return: true if the caller is a task of @pool, or its &ants_attrs.worker_init
 * or &ants_attrs.worker_exit. A task that a caller of ants_for_each(), or of
 * ants_submit() with %ANTS_CALLER_RUNS, runs itself does not count.
 */
bool ants_in_pool(const struct ants_pool *pool);

/**
 * ants_current_pool() - find the pool that the caller works for
 *
 * Context: Process context.
 * Return: the pool for which ants_in_pool() is true, or NULL.
 */
struct ants_pool *ants_current_pool(void);

/**
 * ants_cancel_pending() - cancel tasks that have not started
 * @pool: the pool; open or released, and not changed by this
 * @match: decides which tasks; NULL for all
 * @arg: the argument of @match; any value
 *
 * Looks at each task that is pending when the call begins and has not started
 * when its turn comes; tasks that are accepted meanwhile may be looked at as
 * well. A cancelled task never runs, and nothing else tells its owner so:
 * @match can record what it cancels. A work item that is cancelled ends with
 * the result -ECANCELED. The call leaves alone tasks that run, delayed work
 * items that are not accepted yet, and callers that wait for room; and also,
 * without asking @match, calls (ants_call(), ants_call_release()) and the
 * helpers of ants_for_each(). Callers that wait for room are admitted as the
 * cancelled tasks make room.
 *
 * Does not wait for tasks, and may be called from a task of the pool. Calls for
 * one pool take turns. In the system pool @match has to pick the caller's own
 * tasks; with NULL nothing is cancelled there.
 *
 * Context: Process context. May sleep. @match is called with the lock of the
 * pool held and interrupts off: see &typedef ants_match_t.
 * Return: the number of tasks cancelled.
 */
unsigned int ants_cancel_pending(struct ants_pool *pool, ants_match_t match,
				 void *arg);

/**
 * ants_flush() - wait for all tasks accepted so far
 * @pool: the pool; it stays open
 *
 * Context: Process context. May sleep.
 * Return: as ants_flush_timeout(), but never -ETIMEDOUT.
 */
int ants_flush(struct ants_pool *pool);

/**
 * ants_flush_timeout() - wait for all tasks accepted so far, a limited time
 * @pool: the pool; it stays open
 * @timeout: the longest time to wait, in jiffies
 *
 * Callers and delayed work items that wait for room are not accepted yet, so
 * they are not waited for; ants_drain() does wait for them.
 * While tasks are left and no thread can be made, it waits until one can.
 *
 * Context: Process context. May sleep.
 * Return: 0: they have ended. -ETIMEDOUT, -EINTR: perhaps not. -EDEADLK: the
 * caller is a task of the same pool. -EINVAL: it is the system pool, whose
 * tasks belong to others.
 */
int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout);

/**
 * ants_drain() - wait until a pool is empty
 * @pool: the pool; it stays open
 *
 * Context: Process context. May sleep.
 * Return: as ants_drain_timeout(), but never -ETIMEDOUT.
 */
int __must_check ants_drain(struct ants_pool *pool);

/**
 * ants_drain_timeout() - wait until a pool is empty, a limited time
 * @pool: the pool; it stays open
 * @timeout: the longest time to wait, in jiffies
 *
 * Waits for a moment at which every accepted task has ended. Tasks that tasks
 * submit are waited for as well, and so are those of callers that wait for room
 * and of delayed work items that are due, for they are admitted before the pool
 * is empty. An item is due when its timer has fired, and with a delay of 0 at
 * once, or when it has finished if it runs. A delayed work item that is not due
 * yet is not waited for, nor is what a caller would submit next, as the rest of
 * a batch. Further submits are possible meanwhile, and prolong the wait.
 *
 * Context: Process context. May sleep.
 * Return: 0: there was such a moment after the call began. -ETIMEDOUT, -EINTR:
 * not yet. -EDEADLK: the caller is a task of the same pool. -EINVAL: it is the
 * system pool, whose tasks belong to others.
 */
int __must_check ants_drain_timeout(struct ants_pool *pool,
				    unsigned long timeout);

#endif /* _LINUX_ANTS_SUBMIT_H */
