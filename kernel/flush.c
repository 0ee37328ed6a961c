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

int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	might_sleep();
	if (pool == ants_system_pool)
		return -EINVAL;
	err = ants_wait_enter(pool, timeout);
	if (err)
		return err;
	err = flush_tasks(pool, timeout);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_flush_timeout);

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

int ants_drain_timeout(struct ants_pool *pool, unsigned long timeout)
{
	unsigned int emptied;
	int err;

	might_sleep();
	if (pool == ants_system_pool)
		return -EINVAL;
	err = ants_wait_enter(pool, timeout);
	if (err)
		return err;
	emptied = ants_peek(pool->nr_emptied);
	ants_pause(ANTS_PAUSE_DRAIN, pool);
	err = ants_wait_until(pool, drain_done, &emptied, timeout,
			      TASK_KILLABLE);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_drain_timeout);

int ants_drain(struct ants_pool *pool)
{
	return ants_drain_timeout(pool, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_drain);
