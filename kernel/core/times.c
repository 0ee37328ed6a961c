// SPDX-License-Identifier: GPL-2.0-only
/* How long tasks wait and run: see times.h. */
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "../internal.h"

/* The time since some moment in the past, in units of 1024 ns. */
u64 ants_clock(void)
{
	return ktime_get_ns() >> 10;
}
EXPORT_SYMBOL_FOR_TESTS(ants_clock);

/* The same difference in milliseconds. */
unsigned long ants_clock_ms(u64 time)
{
	return div_u64(time << 7, NSEC_PER_MSEC >> 3);
}

/* Count a task that has waited, or run, for @time; for less than 1 as for 1. */
static void count(u64 *counts, unsigned long time)
{
	counts[__fls(time | 1)]++;
}

/* The task in @slot, which becomes pending, is timed; so is one in so many. */
void ants_time_accept(struct ants_pool *pool, struct ants_slot *slot)
{
	lockdep_assert_held(&pool->lock);
	pool->times.left = pool->times.step - 1;
	slot->stamp = ants_clock();
	slot->tag |= ANTS_TAG_TIMED;
}

/*
 * @w starts the task in @slot, and times are taken, perhaps since it was accepted. It may
 * be the only one that runs.
 */
void ants_time_start(struct ants_worker *w, const struct ants_slot *slot)
{
	struct ants_pool *pool = w->pool;

	lockdep_assert_held(&pool->lock);
	if (pool->timed & ANTS_TIMED_ALL || slot->tag & ANTS_TAG_TIMED)
		w->started = ants_clock();
	if (slot->tag & ANTS_TAG_TIMED)
		count(pool->times.counts->wait, (u32)(w->started - slot->stamp));
	if (pool->timed & ANTS_TIMED_STALL)
		ants_stall_arm(pool);
}

/* A task that is timed has ended. */
void ants_time_end(struct ants_worker *w)
{
	lockdep_assert_held(&w->pool->lock);
	count(w->pool->times.counts->run, ants_clock() - w->started);
	w->started = 0;
}

/*
 * Make sure that there is room for counts, before times are taken. It stays until
 * the pool is freed.
 */
int ants_times_make(struct ants_pool *pool)
{
	struct ants_histograms *counts = pool->times.counts;

	lockdep_assert_held(&pool->config.lock);
	if (!counts && !ants_inject(ANTS_FAIL_TIMES))
		counts = kzalloc_node(sizeof(*counts), GFP_KERNEL, pool->node);
	raw_spin_lock_irq(&pool->lock);
	pool->times.counts = counts;
	ants_unlock_irq(pool);
	return counts ? 0 : -ENOMEM;
}

/*
 * Times are taken for an administrator, or to find tasks that stall, for which each task
 * is timed: this has changed.
 */
void ants_times_switch(struct ants_pool *pool)
{
	unsigned int step, bits;

	lockdep_assert_held(&pool->config.lock);
	raw_spin_lock_irq(&pool->lock);
	step = pool->stall.ms ? 1 : pool->times.every;
	bits = (step ? ANTS_TIMED : 0) | (step == 1 ? ANTS_TIMED_ALL : 0) |
	       (pool->stall.ms ? ANTS_TIMED_STALL : 0);
	if (bits & ANTS_TIMED_ALL && !(pool->timed & ANTS_TIMED_ALL))
		pool->times.since = ants_clock();
	pool->times.step = step;
	pool->times.left = 0;
	WRITE_ONCE(pool->timed, bits);
	ants_end_fast_path(pool);
	ants_unlock_irq(pool);
}

/* Have the times of one task in so many taken; 0 for none. */
int ants_set_timing(struct ants_pool *pool, unsigned int every)
{
	int err = every > ANTS_SAMPLE_MAX ? -EINVAL : every ? ants_times_make(pool) : 0;

	if (err)
		return err;
	raw_spin_lock_irq(&pool->lock);
	WRITE_ONCE(pool->times.every, every);
	ants_unlock_irq(pool);
	ants_times_switch(pool);
	return 0;
}

/*
 * Read how many tasks have waited, and run, for 2^i microseconds or more, but
 * for less than the next i says. The last ones also count all that took longer.
 */
void ants_times_read(struct ants_pool *pool, u64 wait[ANTS_TIMES],
		     u64 run[ANTS_TIMES])
{
	const struct ants_histograms *counts;
	unsigned int i;

	memset(wait, 0, ANTS_TIMES * sizeof(*wait));
	memset(run, 0, ANTS_TIMES * sizeof(*run));
	raw_spin_lock_irq(&pool->lock);
	counts = pool->times.counts;
	if (counts)
		memcpy(wait, counts->wait, sizeof(counts->wait));
	for (i = 0; counts && i < BITS_PER_LONG; i++)
		run[min(i, ANTS_TIMES - 1U)] += counts->run[i];
	ants_unlock_irq(pool);
}
EXPORT_SYMBOL_FOR_TESTS(ants_times_read);
