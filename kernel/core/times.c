// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long tasks wait and run: see times.h.
 *
 * A task that runs for longer than an administrator allows is reported once, if it
 * still runs when somebody looks. A task that starts arms the timer, unless the timer
 * is armed for this already. When the timer fires, the kernel work item that tells
 * programs, in files.c, looks through the workers first, and arms the timer again if
 * tasks run. While no task runs, nothing looks.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/ratelimit.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../internal.h"

/* The time since some moment in the past, in units of 1024 ns. */
u64 ants_clock(void)
{
	return ktime_get_ns() >> 10;
}
EXPORT_SYMBOL_FOR_TESTS(ants_clock);

/*
 * Count a task that has waited, or run, for @time; for less than 1 as for 1. The last ones
 * also count all that took longer.
 */
static void count(u64 counts[ANTS_TIMES], unsigned long time)
{
	counts[min(__fls(time | 1), ANTS_TIMES - 1UL)]++;
}

/* The task in @slot, which becomes pending, is timed; so is one in so many. */
void ants_time_accept(struct ants_pool *pool, struct ants_slot *slot)
{
	lockdep_assert_held(&pool->lock);
	pool->times.left = pool->timed & ANTS_TIMED_ALL ? 0 : pool->times.every - 1;
	slot->stamp = ants_clock();
	slot->tag |= ANTS_TAG_TIMED;
}

/* Arm the timer for @ms from now, unless it will fire for this earlier. */
static void stall_arm(struct ants_pool *pool, unsigned int ms)
{
	unsigned long at = jiffies + msecs_to_jiffies(ms) + 1;

	lockdep_assert_held(&pool->lock);
	if (!pool->stall.ms)
		return;
	if (!pool->stall.armed || time_before(at, pool->stall.at))
		pool->stall.at = at;
	pool->stall.armed = true;
	ants_timer_arm_lazy(pool, pool->stall.at);
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
	stall_arm(pool, pool->stall.ms);
}

/* A task that is timed has ended. */
void ants_time_end(struct ants_worker *w)
{
	lockdep_assert_held(&w->pool->lock);
	count(w->pool->times.counts->run, ants_clock() - w->started);
	w->started = 0;
}

/*
 * Have the times of one task in so many taken, 0 for none; and tasks reported that run
 * for more than @ms milliseconds, 0 for no limit, for which each task is timed. The room
 * for counts stays until the pool is freed.
 */
int ants_set_times(struct ants_pool *pool, unsigned int every, unsigned int ms)
{
	unsigned int bits = ms || every == 1 ? ANTS_TIMED | ANTS_TIMED_ALL :
			    every ? ANTS_TIMED : 0;
	struct ants_histograms *counts = pool->times.counts;

	lockdep_assert_held(&pool->config.lock);
	if (every > ANTS_SAMPLE_MAX || ms > ANTS_BOUND_MAX)
		return -EINVAL;
	if (bits && !counts && !ants_inject(ANTS_FAIL_TIMES))
		counts = kzalloc_node(sizeof(*counts), GFP_KERNEL, pool->node);
	if (bits && !counts)
		return -ENOMEM;
	raw_spin_lock_irq(&pool->lock);
	if (bits & ANTS_TIMED_ALL && !(pool->timed & ANTS_TIMED_ALL))
		pool->times.since = ants_clock();
	pool->times.counts = counts;
	WRITE_ONCE(pool->times.every, every);
	pool->times.left = 0;
	WRITE_ONCE(pool->timed, bits);
	ants_end_fast_path(pool);
	/* A timer that is armed for another limit looks once more than it has to. */
	pool->stall.armed &= ms != 0;
	WRITE_ONCE(pool->stall.ms, ms);
	/* Tasks may run already. */
	if (pool->nr_busy)
		stall_arm(pool, ms);
	ants_unlock_irq(pool);
	return 0;
}

/*
 * Read how many tasks have waited, and run, for 2^i microseconds or more, but
 * for less than the next i says.
 */
void ants_times_read(struct ants_pool *pool, struct ants_histograms *counts)
{
	memset(counts, 0, sizeof(*counts));
	raw_spin_lock_irq(&pool->lock);
	if (pool->times.counts)
		*counts = *pool->times.counts;
	ants_unlock_irq(pool);
}
EXPORT_SYMBOL_FOR_TESTS(ants_times_read);

/* A task that has run for too long. */
struct stalled {
	struct task_struct *task;
	unsigned long func;
	u64 time;
};

/**
 * struct look - one look through the workers
 * @walker: the walk
 * @limit: the time that is too long, when the look began; 0 for no limit
 * @left: the shortest time after which another task can have run for too long
 * @longest: the longest time that a task has run
 * @func: its function, or 0
 * @nr: number of @found that are to be reported
 * @found: those of one lock hold
 */
struct look {
	struct ants_walker walker;
	u64 limit;
	u64 left;
	u64 longest;
	unsigned long func;
	unsigned int nr;
	struct stalled found[ANTS_HOLD_MAX];
};

/*
 * See for how long the task that a worker runs has done so, and note it if that is too
 * long. @reported is when the task that was reported last had started: the worker may run
 * another one now.
 */
static void see_running(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_worker *w = list_entry(entry, struct ants_worker, member);
	struct look *look = container_of(walker, struct look, walker);
	u64 started, time;

	/* Starts are not noted any more if that was switched off meanwhile. */
	if (!w->fn || !(w->pool->timed & ANTS_TIMED_ALL))
		return;
	started = ants_time_started(w);
	time = ants_clock() - started;
	if (!look->func || time > look->longest) {
		look->longest = time;
		look->func = ants_worker_func(w);
	}
	if (!look->limit || !w->pool->stall.ms || w->reported == started)
		return;
	if (time < look->limit) {
		look->left = min(look->left, look->limit - time);
		return;
	}
	w->pool->counts.stalled++;
	w->reported = started;
	look->found[look->nr++] = (struct stalled){
		.task = get_task_struct(w->task), .func = ants_worker_func(w), .time = time,
	};
}

/* Report what one lock hold has found. */
static bool report(struct ants_walker *walker)
{
	static DEFINE_RATELIMIT_STATE(limit, DEFAULT_RATELIMIT_INTERVAL,
				      DEFAULT_RATELIMIT_BURST);
	struct look *look = container_of(walker, struct look, walker);
	const struct stalled *stalled;

	for (stalled = look->found; stalled < look->found + look->nr; stalled++) {
		if (__ratelimit(&limit)) {
			pr_warn("pool %s: %ps has run for %lu ms in thread %d\n",
				walker->pool->name, (void *)stalled->func,
				ants_clock_ms(stalled->time),
				task_pid_nr(stalled->task));
			sched_show_task(stalled->task);
		}
		put_task_struct(stalled->task);
	}
	look->nr = 0;
	return true;
}

/*
 * Report the tasks that have run for too long, if there is a limit. The timer has asked for
 * that; or there is something else to tell programs of, and this is a look more.
 */
void ants_stall_look(struct ants_pool *pool)
{
	struct look look = { .walker = { .see = see_running, .rest = report } };

	/* The clock counts 15625 units for each 16 ms. */
	look.limit = (u64)READ_ONCE(pool->stall.ms) * 15625 >> 4;
	look.left = look.limit;
	if (!look.limit)
		return;
	ants_walk(pool, &pool->workers.list, UINT_MAX, &look.walker);
	raw_spin_lock_irq(&pool->lock);
	/* A task that has begun behind the cursor has armed the timer itself. */
	if (pool->nr_busy)
		stall_arm(pool, ants_clock_ms(look.left));
	ants_unlock_irq(pool);
}

/* For how long the task has run that has run longest, in milliseconds, if times are taken. */
unsigned long ants_longest_ms(struct ants_pool *pool, unsigned long *func)
{
	struct look look = { .walker.see = see_running };

	if (READ_ONCE(pool->timed) & ANTS_TIMED_ALL)
		ants_walk(pool, &pool->workers.list, UINT_MAX, &look.walker);
	*func = look.func;
	return ants_clock_ms(look.longest);
}
