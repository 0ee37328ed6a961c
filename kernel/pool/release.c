// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closing a pool, waiting until nothing of it is left, and opening it again;
 * waiting for the tasks of an open pool.
 */
#include <linux/export.h>

#include "../internal.h"

/*
 * Close the pool. This is one step: a submit comes either before it, and its
 * task runs, or after it. A reboot that is about to open the pool sees that it
 * was closed. Return the generation that ends.
 */
unsigned int ants_close_begin(struct ants_pool *pool)
{
	struct ants_todo todo;
	unsigned int generation;

	ants_lock(pool, &todo);
	if (!pool->released)
		trace_ants_pool_release(pool);
	WRITE_ONCE(pool->released, true);
	WRITE_ONCE(pool->release.seq, pool->release.seq + 1);
	pool->release.nr++;
	generation = pool->release.generation;
	ants_update_admit_limit(pool);
	ants_timer_quiesce(pool);
	ants_unlock(pool, &todo);
	return generation;
}

/*
 * Do what follows from ants_close_begin(), in several holds of the lock. Until
 * it is done the pool is not opened, and destroy waits.
 */
void ants_close_end(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_pause(ANTS_PAUSE_RELEASE, pool);
	ants_fail_waiting(pool, -ESHUTDOWN);
	ants_retire_above(pool);
	ants_lock(pool, &todo);
	pool->release.nr--;
	todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}

/* Close the pool, whatever else is done to it; return its generation. */
unsigned int ants_close(struct ants_pool *pool)
{
	unsigned int generation = ants_close_begin(pool);

	ants_close_end(pool);
	return generation;
}

int ants_release(struct ants_pool *pool)
{
	if (pool->protected)
		return -EPERM;
	ants_close(pool);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_release);

/*
 * The pool is drained; or it was, and was opened again before this caller
 * looked.
 */
static bool pool_drained(struct ants_pool *pool, const void *generation)
{
	lockdep_assert_held(&pool->lock);
	return pool->release.generation != *(const unsigned int *)generation ||
	       ants_is_drained(pool);
}

/* The state of the pool, as an administrator reads it. */
const char *ants_state(struct ants_pool *pool)
{
	const char *state = "open";

	raw_spin_lock_irq(&pool->lock);
	if (pool->released)
		state = ants_is_drained(pool) ? "released" : "draining";
	else if (pool->faults.tripped)
		state = "faulted";
	ants_unlock_irq(pool);
	return state;
}

static bool callers_gone(struct ants_pool *pool, const void *unused)
{
	lockdep_assert_held(&pool->lock);
	return !pool->nr_callers;
}

/*
 * For destroy: close the pool, which is never opened again. Return true if only threads
 * are left, which are about to leave.
 */
bool ants_pool_doom(struct ants_pool *pool)
{
	bool idle;

	raw_spin_lock_irq(&pool->lock);
	WRITE_ONCE(pool->release.dying, true);
	ants_unlock_irq(pool);
	ants_close(pool);
	raw_spin_lock_irq(&pool->lock);
	idle = !pool->nr_busy && !pool->nr_pending && !pool->nr_callers &&
	       !pool->faults.burying;
	ants_unlock_irq(pool);
	return idle;
}

/*
 * For destroy: wait until no thread, task, timer or work of the pool is left, and
 * then until no caller is.
 */
void ants_pool_quiesce(struct ants_pool *pool)
{
	/* The generation does not change any more. */
	ants_wait_until(pool, pool_drained, &pool->release.generation,
			MAX_SCHEDULE_TIMEOUT, TASK_UNINTERRUPTIBLE);
	ants_wait_until(pool, callers_gone, NULL, MAX_SCHEDULE_TIMEOUT,
			TASK_UNINTERRUPTIBLE);
}

int ants_release_timeout(struct ants_pool *pool, unsigned long timeout)
{
	unsigned int generation;
	int err;

	might_sleep();
	if (pool->protected)
		return -EPERM;
	err = ants_wait_enter(pool, timeout);
	if (err)
		return err;
	generation = ants_close(pool);
	ants_pause(ANTS_PAUSE_CLOSED, pool);
	err = ants_wait_until(pool, pool_drained, &generation, timeout,
			      TASK_KILLABLE);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_release_timeout);

/*
 * Is the pool drained, and was it not closed again since @release_seq was read?
 */
static bool may_open(const struct ants_pool *pool, unsigned int release_seq)
{
	lockdep_assert_held(&pool->lock);
	return pool->release.seq == release_seq && !pool->release.dying &&
	       ants_is_drained(pool);
}

/*
 * Open the pool, unless it was released after @release_seq was read. What an open
 * pool has from the beginning is made first.
 */
int __ants_reboot(struct ants_pool *pool, unsigned int release_seq)
{
	struct ants_todo todo;
	LIST_HEAD(prepared);
	unsigned int stock;
	bool may;
	int err;

	lockdep_assert_held(&pool->config.lock);
	raw_spin_lock_irq(&pool->lock);
	may = may_open(pool, release_seq);
	stock = pool->nr_stock;
	ants_unlock_irq(pool);
	if (!may)
		return -EBUSY;
	err = ants_stock_make(pool, ants_stock_level(pool), release_seq) ?:
	      ants_workers_prepare(pool, pool->config.floor, release_seq,
				   &prepared);
	if (err) {
		ants_stock_trim(pool, stock);
		return err == -ESHUTDOWN ? -EBUSY : err;
	}
	ants_pause(ANTS_PAUSE_REBOOT, pool);
	/* Decide and open in one step, so that no release is overtaken. */
	ants_lock(pool, &todo);
	may = may_open(pool, release_seq);
	if (may) {
		WRITE_ONCE(pool->released, false);
		WRITE_ONCE(pool->release.generation,
			   pool->release.generation + 1);
		pool->space.congested = false;
		pool->space.congested_all = false;
		pool->upkeep.backoff = 0;
		pool->faults.row = 0;
		pool->faults.row_init = 0;
		WRITE_ONCE(pool->faults.tripped, false);
		ants_update_admit_limit(pool);
		ants_update_stay_limit(pool);
		trace_ants_pool_reboot(pool);
		/* Programs are told that it is open. */
		todo.bits |= ANTS_TODO_WAITQ;
	}
	ants_unlock(pool, &todo);
	if (!may) {
		ants_workers_discard(&prepared);
		return -EBUSY;
	}
	ants_workers_start(pool, &prepared);
	return 0;
}

int ants_reboot(struct ants_pool *pool)
{
	int err;

	if (pool->protected)
		return -EPERM;
	err = ants_config_lock_killable(pool);
	if (err)
		return err;
	err = __ants_reboot(pool, READ_ONCE(pool->release.seq));
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_reboot);

/*
 * Flush: wait for everything accepted so far. Each task carries one of two
 * epochs. A flush makes the other one current and waits until no task of the
 * old one is left. Flushes come one after another. One that gives up leaves its
 * epoch draining, and the next one waits for the end of that before it flips.
 *
 * Drain: wait for a moment at which the pool has no task. Drains share only the
 * count of those moments, so they need not take turns.
 */

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

int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout)
{
	struct ants_todo todo;
	unsigned long start;
	int err;

	might_sleep();
	if (pool == ants_system_pool)
		return -EINVAL;
	err = ants_wait_enter(pool, timeout);
	if (err)
		return err;
	start = jiffies;
	err = ants_wait_until(pool, flush_begin, NULL, timeout, TASK_KILLABLE);
	if (!err) {
		ants_pause(ANTS_PAUSE_FLUSH, pool);
		err = ants_wait_until(pool, flush_done, NULL,
				      ants_time_left(start, timeout),
				      TASK_KILLABLE);
		ants_lock(pool, &todo);
		pool->flushing = false;
		todo.bits |= ANTS_TODO_WAITQ;
		ants_unlock(pool, &todo);
	}
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
