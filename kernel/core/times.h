/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of times.c that run for every task, inlined: how long tasks wait and
 * run, if an administrator has asked for that. Otherwise a task costs two tests
 * of a byte beside those that it reads anyway.
 *
 * Time is in units of 1024 ns, which are called microseconds here. A task is
 * stamped when it is accepted; there is room for 32 bits, which overflow after
 * 73 minutes. When it starts, the clock is read once, also for the end of the
 * task that the same worker has run before.
 *
 * Alternatively one task in so many is timed, and its end is a reading of its own. The
 * others cost a test and a counter when they are accepted, and nothing later; only a
 * caller that waits for room reads the clock in any case.
 */
#ifndef _ANTS_TIMES_H
#define _ANTS_TIMES_H

#include <linux/bitops.h>

#include "pool.h"

/* What pool->timed says: tasks that are accepted are stamped. */
#define ANTS_TIMED_STAMP	1U
/* All pending tasks are stamped, and their times are counted. */
#define ANTS_TIMED_COUNT	2U
/* Tasks that run for too long are reported. */
#define ANTS_TIMED_STALL	4U
/* The times of some tasks are taken, which ANTS_TAG_SAMPLED marks. */
#define ANTS_TIMED_SAMPLE	16U

u64 ants_clock(void);
unsigned long ants_clock_ms(u64 time);
void ants_stall_arm(struct ants_pool *pool);
int ants_times_make(struct ants_pool *pool);
void ants_times_switch(struct ants_pool *pool);
int ants_set_timing(struct ants_pool *pool, unsigned int every);
void ants_sample_accept(struct ants_pool *pool, struct ants_slot *slot);
void ants_sample_start(struct ants_worker *w, const struct ants_slot *slot);
void ants_sample_end(struct ants_worker *w);
void ants_times_read(struct ants_pool *pool, u64 wait[ANTS_TIMES],
		     u64 run[ANTS_TIMES]);

/* Count a task that has waited, or run, for @time; for less than 1 as for 1. */
static __always_inline void ants_time_count(u64 *counts, unsigned long time)
{
	counts[__fls(time | 1)]++;
}

/* A caller begins to wait for room. Return its stamp, or 0. */
static inline unsigned int ants_time_block(const struct ants_pool *pool)
{
	return pool->timed ? ants_clock() : 0;
}

/*
 * The task in @slot, which @w has just unlinked, starts. If it is the first one
 * since @w was woken, it may be the only one that runs.
 */
static __always_inline void ants_time_start(struct ants_pool *pool,
					    struct ants_worker *w,
					    const struct ants_slot *slot)
{
	u64 now, was;

	if (likely(!(pool->timed & ANTS_TIMED_COUNT)))
		return;
	now = ants_clock();
	was = w->started;
	w->started = now;
	if (was >= pool->times.since)
		ants_time_count(pool->times.counts->run, now - was);
	else if (pool->timed & ANTS_TIMED_STALL)
		ants_stall_arm(pool);
	ants_time_count(pool->times.counts->wait, (u32)(now - slot->stamp));
}

/* The task that @w has run was the last one for now. */
static inline void ants_time_end(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	u64 was;

	if (likely(!(pool->timed & ANTS_TIMED_COUNT)))
		return;
	was = w->started;
	w->started = 0;
	if (was >= pool->times.since)
		ants_time_count(pool->times.counts->run, ants_clock() - was);
}

/*
 * When the task that @w runs has started, as far as it is known: times may have
 * been asked for only later.
 */
static inline u64 ants_time_started(const struct ants_worker *w)
{
	return max(w->started, w->pool->times.since);
}

#endif /* _ANTS_TIMES_H */
