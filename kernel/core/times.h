/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long tasks wait and run, if an administrator has asked for that.
 *
 * Time is in units of 1024 ns, which files show as microseconds. A task that is to be
 * timed is stamped and marked when it is accepted, and the clock is read when it starts
 * and when it ends. There is room for 32 bits in a stamp, which overflow after 73
 * minutes. Where times are taken of one task in so many, the others cost a test and a
 * counter when they are accepted, and nothing later; only a caller that waits for room
 * reads the clock in any case.
 */
#ifndef _ANTS_TIMES_H
#define _ANTS_TIMES_H

#include <linux/ktime.h>
#include <linux/math64.h>

#include "pool.h"

/* What pool->timed says: the times of some tasks are taken, which ANTS_TAG_TIMED marks. */
#define ANTS_TIMED		1U
/* Those of all tasks. */
#define ANTS_TIMED_ALL		2U

u64 ants_clock(void);
int ants_set_times(struct ants_pool *pool, unsigned int every, unsigned int ms);
void ants_stall_look(struct ants_pool *pool);
unsigned long ants_longest_ms(struct ants_pool *pool, unsigned long *func);
void ants_time_accept(struct ants_pool *pool, struct ants_slot *slot);
void ants_time_start(struct ants_worker *w, const struct ants_slot *slot);
void ants_time_end(struct ants_worker *w);
void ants_times_read(struct ants_pool *pool, struct ants_histograms *counts);

/* A difference of such times in milliseconds. */
static inline unsigned long ants_clock_ms(u64 time)
{
	return div_u64(time << 7, NSEC_PER_MSEC >> 3);
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
