// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flush: wait for everything accepted so far. Each task carries one of two
 * epochs. A flush makes the other one current and waits until no task of the
 * old one is left. Flushes come one after another. One that gives up leaves its
 * epoch draining, and the next one waits for the end of that before it flips.
 *
 * Drain: wait for a moment at which the pool has no task. Drains share only the
 * count of those moments, so they need not take turns.
 */
#include "internal.h"

/* Flip the epoch if it is the turn of this caller. */
static bool flush_begin(struct ants_pool *pool, const void *unused)
{
	lockdep_assert_held(&pool->lock);
	if (pool->flushing || pool->in_epoch[!pool->epoch])
		return false;
	pool->flushing = true;
	pool->epoch = !pool->epoch;
	return true;
}

static bool flush_done(struct ants_pool *pool, const void *unused)
{
	lockdep_assert_held(&pool->lock);
	return !pool->in_epoch[!pool->epoch];
}

static void flush_end(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	pool->flushing = false;
	todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}

static int flush_tasks(struct ants_pool *pool, unsigned long timeout)
{
	unsigned long start = jiffies;
	int err;

	err = ants_wait_until(pool, flush_begin, NULL, timeout, TASK_KILLABLE);
	if (err)
		return err;
	ants_pause(ANTS_PAUSE_FLUSH, pool);
	err = ants_wait_until(pool, flush_done, NULL,
			      ants_time_left(start, timeout), TASK_KILLABLE);
	flush_end(pool);
	return err;
}

/**
 * ants_flush_timeout() - wait for all tasks accepted so far, a limited time
 * @pool: the pool; it stays open
 * @timeout: the longest time to wait, in jiffies
 *
 * Callers that wait for room are not accepted yet, so they are not waited for.
 * While the pool has no thread and none can be made, a kernel worker runs the
 * tasks, one by one.
 *
 * Context: Process context. May sleep.
 * Return: 0: they have ended. -ETIMEDOUT, -EINTR: perhaps not. -EDEADLK: the
 * caller is a task of the same pool. -EINVAL: it is the system pool, whose
 * tasks belong to others.
 */
int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	might_sleep();
	if (pool == ants_system_pool)
		return -EINVAL;
	if (ants_in_task_of(pool))
		return -EDEADLK;
	if (timeout)
		ants_wait_touch(pool);
	ants_caller_enter(pool);
	err = flush_tasks(pool, timeout);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_flush_timeout);

/**
 * ants_flush() - wait for all tasks accepted so far
 * @pool: the pool; it stays open
 *
 * Context: Process context. May sleep.
 * Return: as ants_flush_timeout(), but never -ETIMEDOUT.
 */
int ants_flush(struct ants_pool *pool)
{
	return ants_flush_timeout(pool, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_flush);

/* Has the pool been empty since @emptied was read, or is it now? */
static bool drain_done(struct ants_pool *pool, const void *arg)
{
	const unsigned int *emptied = arg;

	lockdep_assert_held(&pool->lock);
	return pool->nr_emptied != *emptied ||
	       (!pool->in_epoch[0] && !pool->in_epoch[1]);
}

/**
 * ants_drain_timeout() - wait until a pool is empty, a limited time
 * @pool: the pool; it stays open
 * @timeout: the longest time to wait, in jiffies
 *
 * Waits for a moment at which every accepted task has ended. Tasks that tasks
 * submit are waited for as well, and so are those of callers that wait for room
 * and of delayed work items whose time has come, for they are admitted before
 * the pool is empty. A delayed work item that is not due yet is not waited for.
 * Further submits are possible meanwhile, and prolong the wait.
 *
 * Context: Process context. May sleep.
 * Return: 0: there was such a moment after the call began. -ETIMEDOUT, -EINTR:
 * not yet. -EDEADLK: the caller is a task of the same pool. -EINVAL: it is the
 * system pool, whose tasks belong to others.
 */
int ants_drain_timeout(struct ants_pool *pool, unsigned long timeout)
{
	unsigned int emptied;
	int err;

	might_sleep();
	if (pool == ants_system_pool)
		return -EINVAL;
	if (ants_in_task_of(pool))
		return -EDEADLK;
	if (timeout)
		ants_wait_touch(pool);
	ants_caller_enter(pool);
	emptied = ants_peek(pool->nr_emptied);
	ants_pause(ANTS_PAUSE_DRAIN, pool);
	err = ants_wait_until(pool, drain_done, &emptied, timeout,
			      TASK_KILLABLE);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_drain_timeout);

/**
 * ants_drain() - wait until a pool is empty
 * @pool: the pool; it stays open
 *
 * Context: Process context. May sleep.
 * Return: as ants_drain_timeout(), but never -ETIMEDOUT.
 */
int ants_drain(struct ants_pool *pool)
{
	return ants_drain_timeout(pool, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_drain);
