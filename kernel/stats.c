// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of a pool. None is ever negative; each is true for one moment. */
#include "internal.h"

/*
 * Taking the lock does not count as changing a const pool. The functions below
 * change nothing, so they drop it without ants_check().
 */
static raw_spinlock_t *lock_of(const struct ants_pool *pool)
{
	return &((struct ants_pool *)pool)->lock;
}

static unsigned int nr_free(const struct ants_pool *pool)
{
	if (!pool->admit_limit)
		return 0;
	return pool->capacity == ANTS_UNLIMITED ? ANTS_UNLIMITED :
						  ants_nr_admissible(pool);
}

static void read_gauges(const struct ants_pool *pool, struct ants_stats *stats)
{
	stats->capacity = pool->capacity;
	stats->running = pool->nr_workers;
	stats->idle = pool->nr_idle;
	stats->busy = pool->nr_busy;
	stats->pending = pool->nr_pending;
	stats->waiting = pool->nr_waiting;
	stats->free = nr_free(pool);
}

static void read_counters(const struct ants_pool *pool,
			  struct ants_stats *stats)
{
	stats->peak_running = pool->peak_running;
	stats->peak_busy = pool->peak_busy;
	stats->peak_pending = pool->peak_pending;
	stats->peak_waiting = pool->peak_waiting;
	stats->submitted = pool->submitted;
	stats->completed = pool->submitted - ants_in_flight(pool) -
			   pool->nr_again - pool->cancelled;
	stats->cancelled = pool->cancelled;
	stats->caller_runs = pool->caller_runs;
	stats->rejected = pool->rejected;
	stats->blocked = pool->blocked;
	stats->spawned = pool->spawned;
	stats->reaped = pool->reaped;
}

/**
 * ants_pool_stats() - read all numbers of a pool at one moment
 * @pool: the pool
 * @stats: where to store them
 *
 * Context: Any context but NMI: takes the lock of the pool.
 */
void ants_pool_stats(const struct ants_pool *pool, struct ants_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(lock_of(pool), flags);
	read_gauges(pool, stats);
	read_counters(pool, stats);
	raw_spin_unlock_irqrestore(lock_of(pool), flags);
}
EXPORT_SYMBOL_GPL(ants_pool_stats);

/**
 * ants_nr_running() - number of threads of a pool, whatever they do
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_running(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_workers);
}
EXPORT_SYMBOL_GPL(ants_nr_running);

/**
 * ants_nr_idle() - number of threads that wait for a task
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_idle(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_idle);
}
EXPORT_SYMBOL_GPL(ants_nr_idle);

/**
 * ants_nr_busy() - number of tasks that run
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_busy(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_busy);
}
EXPORT_SYMBOL_GPL(ants_nr_busy);

/**
 * ants_nr_pending() - number of tasks that are accepted and not started
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_pending(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_pending);
}
EXPORT_SYMBOL_GPL(ants_nr_pending);

/**
 * ants_nr_waiting() - number of callers that wait because the pool is full
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_waiting(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_waiting);
}
EXPORT_SYMBOL_GPL(ants_nr_waiting);

/**
 * ants_nr_free() - number of tasks that a pool would accept at once
 * @pool: the pool
 * Context: Any context but NMI: takes the lock of the pool.
 * Return: the number; 0 if the pool is released, or if callers or due work
 * items wait; otherwise %ANTS_UNLIMITED if it has no bound.
 */
unsigned int ants_nr_free(const struct ants_pool *pool)
{
	unsigned long flags;
	unsigned int ret;

	raw_spin_lock_irqsave(lock_of(pool), flags);
	ret = nr_free(pool);
	raw_spin_unlock_irqrestore(lock_of(pool), flags);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_nr_free);

/**
 * ants_capacity() - the most threads, and tasks in flight, of a pool
 * @pool: the pool
 * Context: Any context.
 * Return: the capacity; %ANTS_UNLIMITED if the pool has no bound.
 */
unsigned int ants_capacity(const struct ants_pool *pool)
{
	return READ_ONCE(pool->capacity);
}
EXPORT_SYMBOL_GPL(ants_capacity);

/**
 * ants_is_released() - test whether a pool is closed
 * @pool: the pool
 * Context: Any context.
 * Return: true from ants_release() until ants_reboot().
 */
bool ants_is_released(const struct ants_pool *pool)
{
	return READ_ONCE(pool->released);
}
EXPORT_SYMBOL_GPL(ants_is_released);

/**
 * ants_congested() - test whether a pool would refuse a caller that does not
 * wait
 * @pool: the pool
 * Context: Any context but NMI: takes the lock of the pool.
 * Return: true if it is full, or callers wait, or it is released.
 */
bool ants_congested(const struct ants_pool *pool)
{
	return !ants_nr_free(pool);
}
EXPORT_SYMBOL_GPL(ants_congested);

/**
 * ants_pool_private() - get &ants_attrs.private
 * @pool: the pool
 * Context: Any context.
 * Return: the value.
 */
void *ants_pool_private(const struct ants_pool *pool)
{
	return pool->private;
}
EXPORT_SYMBOL_GPL(ants_pool_private);
