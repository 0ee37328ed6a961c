// SPDX-License-Identifier: GPL-2.0-only
/* How long tasks wait and run: see times.h. */
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

static void see_slot(struct ants_walker *walker, struct list_head *entry)
{
	list_entry(entry, struct ants_slot, node)->stamp = ants_clock();
}

static void see_waiter(struct ants_walker *walker, struct list_head *entry)
{
	list_entry(entry, struct ants_waiter, node)->stamp = ants_clock();
}

static void set_timed(struct ants_pool *pool, unsigned int bits)
{
	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(pool->timed, bits);
	ants_end_fast_path(pool);
}

/*
 * From now on tasks are stamped as they are submitted. Then stamp those that
 * wait or are pending, whose wait counts from here; after that all stamps are
 * valid. Waiters come first, because they may be accepted meanwhile.
 */
static void timing_begin(struct ants_pool *pool)
{
	struct ants_walker waiters = { .see = see_waiter };
	struct ants_walker slots = { .see = see_slot };
	unsigned int nr_waiting;

	raw_spin_lock_irq(&pool->lock);
	set_timed(pool, ANTS_TIMED_STAMP);
	nr_waiting = pool->space.nr_waiting;
	ants_unlock_irq(pool);
	ants_walk(pool, &pool->waiters.fifo[ANTS_PRIO_HIGH], nr_waiting, &waiters);
	ants_walk(pool, &pool->waiters.fifo[ANTS_PRIO_NORMAL], nr_waiting, &waiters);
	ants_walk_pending(pool, &slots);
	raw_spin_lock_irq(&pool->lock);
	pool->times.since = ants_clock();
	set_timed(pool, ANTS_TIMED_STAMP | ANTS_TIMED_COUNT);
	ants_unlock_irq(pool);
}

/* The task in @slot, which becomes pending, is timed; so is one in so many. */
void ants_sample_accept(struct ants_pool *pool, struct ants_slot *slot)
{
	lockdep_assert_held(&pool->lock);
	pool->times.left = pool->times.every - 1;
	slot->stamp = ants_clock();
	slot->tag |= ANTS_TAG_SAMPLED;
}

/*
 * @w starts such a task. If they are not sampled any more it is not counted, or was
 * counted with all others.
 */
void ants_sample_start(struct ants_worker *w, const struct ants_slot *slot)
{
	struct ants_pool *pool = w->pool;

	lockdep_assert_held(&pool->lock);
	if (!(pool->timed & ANTS_TIMED_SAMPLE)) {
		w->tag &= ~ANTS_TAG_SAMPLED;
		return;
	}
	w->started = ants_clock();
	ants_time_count(pool->times.counts->wait, (u32)(w->started - slot->stamp));
}

/* The task has ended. */
void ants_sample_end(struct ants_worker *w)
{
	lockdep_assert_held(&w->pool->lock);
	ants_time_count(w->pool->times.counts->run, ants_clock() - w->started);
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

/* Times are taken for an administrator, or to find tasks that stall: this has changed. */
void ants_times_switch(struct ants_pool *pool)
{
	unsigned int bits = 0;

	lockdep_assert_held(&pool->config.lock);
	if (pool->stall.ms)
		bits = ANTS_TIMED_STAMP | ANTS_TIMED_COUNT | ANTS_TIMED_STALL;
	else if (pool->times.every > 1)
		bits = ANTS_TIMED_SAMPLE;
	else if (pool->times.every)
		bits = ANTS_TIMED_STAMP | ANTS_TIMED_COUNT;
	if (bits & ANTS_TIMED_COUNT && !(pool->timed & ANTS_TIMED_COUNT))
		timing_begin(pool);
	raw_spin_lock_irq(&pool->lock);
	set_timed(pool, bits);
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
	pool->times.left = 0;
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
