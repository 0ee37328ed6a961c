// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closing a pool, waiting until nothing of it is left, and opening it again.
 */
#include "internal.h"

/* Fails one round of waiters. Returns false when there are none left. */
static bool fail_round(struct ants_pool *pool)
{
	struct ants_waiter *waiter;
	struct ants_round round;
	struct ants_kick kick;
	bool more;

	ants_lock_round(pool, &kick, &round);
	while (pool->nr_waiting && !ants_kick_full(&kick)) {
		waiter = ants_first_waiter(pool);
		ants_waiter_end(pool, waiter, -ESHUTDOWN, &kick);
	}
	more = pool->nr_waiting;
	ants_unlock(pool, &kick);
	return more;
}

/*
 * Closing is one step: a submit is before it, and its task runs, or after it.
 * The rest goes in rounds, with pool->config held against a reboot meanwhile.
 */
static void release(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->config);
	raw_spin_lock_irq(&pool->lock);
	pool->released = true;
	ants_update_room(pool);
	ants_timer_quiesce(pool);
	raw_spin_unlock_irq(&pool->lock);
	ants_pause(ANTS_PAUSE_RELEASE, pool);
	while (fail_round(pool))
		;
	ants_delayed_fail_all(pool);
	ants_retire_above(pool);
}

/**
 * ants_release() - close a pool
 * @pool: the pool
 *
 * Refuses new tasks, fails the callers that wait with -ESHUTDOWN, and sends
 * idle threads away. Accepted tasks still run. Does not wait for them; may be
 * called from a task of the pool, and more than once.
 *
 * Context: Process context. May sleep, for a short time.
 * Return: 0. -EPERM: it is the system pool, or a shard.
 */
int ants_release(struct ants_pool *pool)
{
	if (pool->protected)
		return -EPERM;
	ants_config_lock(pool);
	release(pool);
	ants_config_unlock(pool);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_release);

/* Empty, or it was, and was opened again before this caller looked. */
static bool drained(struct ants_pool *pool, unsigned int generation)
{
	lockdep_assert_held(&pool->lock);
	return pool->generation != generation || ants_is_drained(pool);
}

/* Closes the pool; what ants_wait_drained() has to know. */
unsigned int ants_close(struct ants_pool *pool)
{
	unsigned int generation;

	mutex_lock(&pool->config);
	release(pool);
	generation = pool->generation;
	mutex_unlock(&pool->config);
	return generation;
}

/*
 * Waits until a pool that was closed owns no task, thread, timer or queued
 * work. Returns 0, -ETIMEDOUT or -EINTR.
 */
int ants_wait_drained(struct ants_pool *pool, unsigned int generation,
		      unsigned long timeout, unsigned int state)
{
	return ants_wait_until(pool, drained, generation, timeout, state);
}

int ants_close_wait(struct ants_pool *pool, unsigned long timeout,
		    unsigned int state)
{
	return ants_wait_drained(pool, ants_close(pool), timeout, state);
}

/* For destroy: from here on nobody opens the pool again. */
void ants_drain_for_good(struct ants_pool *pool)
{
	mutex_lock(&pool->config);
	pool->dying = true;
	mutex_unlock(&pool->config);
	ants_close_wait(pool, MAX_SCHEDULE_TIMEOUT, TASK_UNINTERRUPTIBLE);
}

/**
 * ants_release_timeout() - close a pool and wait until it is empty
 * @pool: the pool
 * @timeout: how long to wait at most, in jiffies
 *
 * May be called again, after it timed out, too. While the pool has no thread
 * and none can be made the caller runs tasks itself; then it may take longer
 * than @timeout.
 *
 * Context: Process context. May sleep.
 * Return: 0: the last task has ended and the last thread is gone. -ETIMEDOUT,
 * -EINTR: the pool is closed, but not empty. -EDEADLK: the caller is a task of
 * the same pool; it stays open. -EPERM: it is the system pool, or a shard.
 */
int ants_release_timeout(struct ants_pool *pool, unsigned long timeout)
{
	int err;

	might_sleep();
	if (pool->protected)
		return -EPERM;
	if (ants_in_task_of(pool))
		return -EDEADLK;
	ants_wait_touch(pool);
	ants_caller_enter(pool);
	err = ants_close_wait(pool, timeout, TASK_KILLABLE);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_release_timeout);

static void reopen(struct ants_pool *pool)
{
	raw_spin_lock_irq(&pool->lock);
	pool->released = false;
	pool->generation++;
	pool->congested = false;
	pool->backoff = 0;
	ants_update_room(pool);
	raw_spin_unlock_irq(&pool->lock);
}

int __ants_reboot(struct ants_pool *pool)
{
	LIST_HEAD(prepared);
	bool empty;
	int err;

	lockdep_assert_held(&pool->config);
	raw_spin_lock_irq(&pool->lock);
	empty = ants_is_drained(pool);
	raw_spin_unlock_irq(&pool->lock);
	if (!empty || pool->dying)
		return -EBUSY;
	if (!ants_stock_fill(pool, ants_stock_level(pool)))
		return -ENOMEM;
	err = ants_workers_prepare(pool, pool->floor, &prepared);
	if (err)
		return err;
	reopen(pool);
	ants_workers_start(pool, &prepared);
	ants_workers_discard(&prepared);
	return 0;
}

/**
 * ants_reboot() - open a released pool again
 * @pool: the pool
 *
 * Context: Process context. May sleep.
 * Return: 0: it is open. -EBUSY: it is not released, or not empty yet; see
 * ants_release_timeout(). -ENOMEM: its threads cannot be made. -EINTR: the
 * caller is being killed. -EPERM: it is the system pool, or a shard. In error
 * nothing has changed.
 */
int ants_reboot(struct ants_pool *pool)
{
	int err;

	if (pool->protected)
		return -EPERM;
	err = ants_config_lock_killable(pool);
	if (err)
		return err;
	err = __ants_reboot(pool);
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_reboot);
