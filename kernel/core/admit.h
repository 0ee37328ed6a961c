/* SPDX-License-Identifier: GPL-2.0-only */
/* Admission: how many tasks are in flight, and whether one more is accepted. */
#ifndef _ANTS_ADMIT_H
#define _ANTS_ADMIT_H

#include <linux/minmax.h>

#include "pool.h"
#include "trace.h"

/* The number of tasks that are admitted and have not ended. */
static inline unsigned int ants_in_flight(const struct ants_pool *pool)
{
	return pool->nr_busy + pool->nr_pending + pool->nr_joined;
}

/* The number of tasks that have ended well. */
static inline u64 ants_nr_completed(const struct ants_pool *pool)
{
	return pool->submitted - ants_in_flight(pool) - pool->nr_again -
	       pool->counts.cancelled - pool->counts.lost;
}

/* The number of tasks that could be admitted if no caller waited. */
static inline unsigned int ants_nr_admissible(const struct ants_pool *pool)
{
	unsigned int used = ants_in_flight(pool);

	return used < pool->limits.in_flight ? pool->limits.in_flight - used : 0;
}

static inline bool ants_can_admit(const struct ants_pool *pool)
{
	return pool->nr_busy + pool->nr_pending < pool->limits.admit;
}

/*
 * Why the pool accepts no task whatever room it has: -ESHUTDOWN, or -EIO after
 * too many faults; 0 if it does.
 */
static inline int ants_closed_error(const struct ants_pool *pool)
{
	if (pool->released)
		return -ESHUTDOWN;
	return pool->faults.tripped ? -EIO : 0;
}

/* Is @err one of those? Then there is nothing to wait for. */
static inline bool ants_is_closed_error(int err)
{
	return err == -ESHUTDOWN || err == -EIO;
}

/*
 * To be called whenever limits.in_flight, released, tripped, nr_waiting, has_due or
 * nr_joined has changed.
 */
static inline void ants_update_admit_limit(struct ants_pool *pool)
{
	if (ants_closed_error(pool) || pool->space.nr_waiting ||
	    pool->space.has_due)
		pool->limits.admit = 0;
	else
		pool->limits.admit = pool->limits.in_flight - min(pool->limits.in_flight,
						      pool->nr_joined);
}

/* Count a task as refused with @err. */
static inline void ants_refused(struct ants_pool *pool, ants_fn_t fn,
				const void *data, int err)
{
	ants_trace(task_refuse, pool, fn, data, err);
	pool->counts.rejected++;
	if (err == -EAGAIN && pool->ops.space_available)
		pool->space.congested = true;
}

#endif /* _ANTS_ADMIT_H */
