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
	if (!pool->limits.admit)
		return 0;
	return pool->limits.capacity == ANTS_UNLIMITED ? ANTS_UNLIMITED :
						  ants_nr_admissible(pool);
}

void ants_pool_stats(const struct ants_pool *pool, struct ants_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(lock_of(pool), flags);
	stats->capacity = pool->limits.capacity;
	stats->running = pool->workers.nr;
	stats->idle = pool->workers.nr_idle;
	stats->busy = pool->nr_busy;
	stats->pending = pool->nr_pending;
	stats->waiting = pool->space.nr_waiting;
	stats->free = nr_free(pool);
	stats->peak_running = pool->counts.peak_running;
	stats->peak_busy = pool->peak_busy;
	stats->peak_pending = pool->peak_pending;
	stats->peak_waiting = pool->counts.peak_waiting;
	stats->submitted = pool->submitted;
	stats->completed = ants_nr_completed(pool);
	stats->cancelled = pool->counts.cancelled;
	stats->caller_runs = pool->counts.caller_runs;
	stats->rejected = pool->counts.rejected;
	stats->blocked = pool->counts.blocked;
	stats->spawned = pool->counts.spawned;
	stats->reaped = pool->counts.reaped;
	stats->wakeups_in_vain = pool->counts.wakeups_in_vain;
	stats->stalled = pool->counts.stalled;
	stats->held_back = pool->counts.held_back;
	stats->faults = pool->counts.faults;
	stats->lost = pool->counts.lost;
	stats->dirty = pool->counts.dirty;
	raw_spin_unlock_irqrestore(lock_of(pool), flags);
}
EXPORT_SYMBOL_GPL(ants_pool_stats);

unsigned int ants_nr_running(const struct ants_pool *pool)
{
	return ants_peek(pool->workers.nr);
}
EXPORT_SYMBOL_GPL(ants_nr_running);

unsigned int ants_nr_idle(const struct ants_pool *pool)
{
	return ants_peek(pool->workers.nr_idle);
}
EXPORT_SYMBOL_GPL(ants_nr_idle);

unsigned int ants_nr_busy(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_busy);
}
EXPORT_SYMBOL_GPL(ants_nr_busy);

unsigned int ants_nr_pending(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_pending);
}
EXPORT_SYMBOL_GPL(ants_nr_pending);

unsigned int ants_nr_waiting(const struct ants_pool *pool)
{
	return ants_peek(pool->space.nr_waiting);
}
EXPORT_SYMBOL_GPL(ants_nr_waiting);

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

unsigned int ants_capacity(const struct ants_pool *pool)
{
	return READ_ONCE(pool->limits.capacity);
}
EXPORT_SYMBOL_GPL(ants_capacity);

bool ants_is_released(const struct ants_pool *pool)
{
	return READ_ONCE(pool->released);
}
EXPORT_SYMBOL_GPL(ants_is_released);

bool ants_congested(const struct ants_pool *pool)
{
	return !ants_nr_free(pool);
}
EXPORT_SYMBOL_GPL(ants_congested);

void *ants_pool_private(const struct ants_pool *pool)
{
	return pool->ops.private;
}
EXPORT_SYMBOL_GPL(ants_pool_private);
