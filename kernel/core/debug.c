// SPDX-License-Identifier: GPL-2.0-only
/* The parts of debug builds; see debug.h. */
#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/kcsan-checks.h>
#include <linux/module.h>
#include <linux/timex.h>

#include "../internal.h"

/*
 * A pause point that is armed: the next thread of @pool that arrives stops,
 * once.
 */
struct pause {
	struct ants_pool *pool;
	struct completion reached;
	struct completion resume;
};

static struct pause pauses[ANTS_NR_PAUSE];
static atomic_t fails[ANTS_NR_FAIL];
static atomic_t passes[ANTS_NR_FAIL];

/*
 * A thread may also lose some time at a pause point, so that races are hit whose
 * windows are otherwise too narrow. This is off unless it is asked for. A thread
 * that must not sleep keeps its CPU meanwhile: there is a limit for it.
 */
static unsigned int pause_jitter_us;
module_param(pause_jitter_us, uint, 0644);
MODULE_PARM_DESC(pause_jitter_us,
		 "most microseconds that one thread of four loses at a pause point (default 0)");
#define MOST_ATOMIC_US	20

static void jitter(bool may_sleep)
{
	unsigned int us, most = READ_ONCE(pause_jitter_us);
	u32 random;

	if (!most)
		return;
	/* get_random_u32() takes a lock that a hard interrupt may not take. */
	random = hash_64(random_get_entropy(), 32);
	if (random % 4)
		return;
	us = 1 + random / 4 % most;
	if (may_sleep)
		usleep_range(us, 2UL * us);
	else
		udelay(min_t(unsigned int, us, MOST_ATOMIC_US));
}

void ants_pause(enum ants_pause_point point, struct ants_pool *pool)
{
	struct pause *p = &pauses[point];
	const struct ants_pool *armed;

	/* A call that never sleeps arrives at the first of them as well. */
	jitter(point != ANTS_PAUSE_REFUSED && point != ANTS_PAUSE_DUE);
	/* Pairs with smp_store_release() in ants_pause_arm(). */
	armed = smp_load_acquire(&p->pool);
	if (armed != ANTS_ALL_POOLS &&
	    (armed != pool || cmpxchg(&p->pool, pool, NULL) != pool))
		return;
	complete(&p->reached);
	/* There a caller must not sleep, and spins. */
	while (point == ANTS_PAUSE_DUE && !try_wait_for_completion(&p->resume))
		cpu_relax();
	if (point != ANTS_PAUSE_DUE)
		wait_for_completion(&p->resume);
}

/*
 * Let the next thread of @pool that arrives at @point stop there; with
 * ANTS_ALL_POOLS, each thread of any pool.
 */
void ants_pause_arm(enum ants_pause_point point, struct ants_pool *pool)
{
	struct pause *p = &pauses[point];

	init_completion(&p->reached);
	init_completion(&p->resume);
	/* Pairs with the cmpxchg() in ants_pause(). */
	smp_store_release(&p->pool, pool);
}
EXPORT_SYMBOL_GPL(ants_pause_arm);

/* Wait until a thread has stopped there. */
bool ants_pause_reached(enum ants_pause_point point, unsigned long timeout)
{
	return wait_for_completion_timeout(&pauses[point].reached, timeout);
}
EXPORT_SYMBOL_GPL(ants_pause_reached);

/* Let all continue that have stopped there. No other will stop any more. */
void ants_pause_resume(enum ants_pause_point point)
{
	struct pause *p = &pauses[point];

	WRITE_ONCE(p->pool, NULL);
	complete_all(&p->resume);
}
EXPORT_SYMBOL_GPL(ants_pause_resume);

/*
 * @skip tries succeed and the next @times fail; -1 means all, until it is set
 * to 0.
 */
void ants_fail_arm_after(enum ants_fail_point point, int skip, int times)
{
	atomic_set(&passes[point], skip);
	atomic_set(&fails[point], times);
}
EXPORT_SYMBOL_GPL(ants_fail_arm_after);

bool ants_inject(enum ants_fail_point point)
{
	if (atomic_dec_if_positive(&passes[point]) >= 0)
		return false;
	if (atomic_read(&fails[point]) < 0)
		return true;
	return atomic_dec_if_positive(&fails[point]) >= 0;
}

unsigned long ants_late = ANTS_LATE_TICKS;
EXPORT_SYMBOL_GPL(ants_late);

/*
 * Every pending task has a worker that will get to it. If the pool was refused a thread,
 * the timer asks for one; once it has fired, a busy machine may need long to call it.
 */
static bool tasks_served(const struct ants_pool *pool)
{
	/* If the breaker has tripped, a kernel work item ends them. */
	if (!pool->nr_pending || pool->faults.queued)
		return true;
	/* A thread that starts may need long. */
	if (pool->workers.nr_idle)
		return pool->wakes.nr;
	return ants_nr_arriving(pool) ||
	       pool->workers.nr >= pool->limits.capacity ||
	       pool->upkeep.making ||
	       pool->upkeep.backoff || !ants_need_worker(pool) ||
	       time_before(jiffies, pool->upkeep.held_until + HZ) ||
	       ants_timer_armed(pool, pool->upkeep.held_until + ants_timer_slack(HZ));
}

/* The wake-ups in flight are consistent. */
static bool arriving_fits(const struct ants_pool *pool)
{
	const struct ants_worker *last = pool->wakes.arrived;

	return pool->wakes.nr <= ANTS_WAKE_MAX &&
	       hweight16(pool->wakes.waking_cpus) + pool->wakes.deferred <= pool->wakes.nr &&
	       (!pool->wakes.late || pool->wakes.nr) &&
	       pool->workers.nr_starting + pool->workers.nr_late <=
	       pool->workers.nr_new &&
	       (!last || (last->pool == pool && last->state != ANTS_LEFT));
}

/*
 * Each bound is kept; after a shrink it may be exceeded, but the number only
 * falls. Return true if @now is allowed, and remember it in *@seen.
 */
static bool bound_kept(unsigned int now, unsigned int bound, unsigned int *seen)
{
	bool kept = now <= max(bound, *seen);

	*seen = now;
	return kept;
}

/* What is true of each pool whenever its lock is dropped. */
void ants_check(struct ants_pool *pool)
{
	unsigned int threads = pool->workers.nr, tasks = ants_in_flight(pool);

	lockdep_assert_held(&pool->lock);
	/*
	 * Let KCSAN report any other writer of these fields, whose stores are marked; that
	 * of a number that is not, it reports by itself.
	 */
	ASSERT_EXCLUSIVE_WRITER(pool->limits.capacity);
	ASSERT_EXCLUSIVE_WRITER(pool->flags);
	ASSERT_EXCLUSIVE_WRITER(pool->released);
	ASSERT_EXCLUSIVE_WRITER(pool->release.seq);
	WARN(pool->workers.nr_idle + pool->wakes.nr - pool->wakes.deferred +
	     pool->workers.nr_new + pool->workers.nr_leaving +
	     pool->nr_busy > threads ||
	     pool->target.nr_stale > threads ||
	     pool->in_epoch[0] + pool->in_epoch[1] != tasks + pool->nr_again,
	     "ants: pool %s: counters inconsistent\n", pool->name);
	WARN(!arriving_fits(pool),
	     "ants: pool %s: wake-ups in flight do not fit\n", pool->name);
	WARN(!bound_kept(threads, pool->limits.capacity, &pool->seen_workers),
	     "ants: pool %s: %u threads, bound of %u exceeded\n", pool->name,
	     threads, pool->limits.capacity);
	WARN(!bound_kept(tasks, pool->limits.in_flight, &pool->seen_in_flight),
	     "ants: pool %s: %u tasks in flight, bound of %u exceeded\n",
	     pool->name, tasks, pool->limits.in_flight);
	WARN(!tasks_served(pool), "ants: pool %s: %u tasks pending, no worker on its way\n",
	     pool->name, pool->nr_pending);
	WARN((pool->fast_cpu != ANTS_NO_CPU &&
	      (!pool->fast_submits || pool->fast_submits > ants_fast_submits(pool) ||
	       pool->fast_cpu != pool->wakes.cpu)) ||
	     (pool->fast_above != UINT_MAX && ants_needs_slow_path(pool)),
	     "ants: pool %s: the fast path is open, and may not be\n", pool->name);
	/* Every waiter for which there is room is about to be granted. */
	WARN((pool->space.nr_waiting || pool->space.has_due) &&
	     !ants_closed_error(pool) && ants_nr_admissible(pool) && !pool->nr_pending,
	     "ants: pool %s: %u waiters are not granted\n",
	     pool->name, pool->space.nr_waiting);
}

#define TO(state)	BIT(ANTS_##state)

/* The states that a worker may enter from each state. */
static const unsigned int worker_moves[] = {
	[ANTS_NEW] = TO(BUSY),
	[ANTS_IDLE] = TO(WAKING) | TO(LEAVING),
	[ANTS_WAKING] = TO(BUSY),
	[ANTS_BUSY] = TO(IDLE) | TO(LEAVING) | TO(LEFT),
	[ANTS_LEAVING] = TO(BUSY) | TO(LEFT),
	[ANTS_LEFT] = 0,
};

void ants_check_move(const struct ants_worker *w, enum ants_worker_state to)
{
	WARN(!(worker_moves[w->state] & BIT(to)),
	     "ants: pool %s: a worker goes from state %u to %u\n",
	     w->pool->name, w->state, to);
}

#define WORK_TO(state)	BIT(ANTS_WORK_##state)

/* The states that a work item may enter from each state. */
static const unsigned int work_moves[] = {
	[ANTS_WORK_IDLE] = WORK_TO(DELAYED) | WORK_TO(WAITING) | WORK_TO(PENDING),
	[ANTS_WORK_DELAYED] = WORK_TO(DELAYED) | WORK_TO(DROPPED) | WORK_TO(DUE) |
			      WORK_TO(PENDING) | WORK_TO(IDLE),
	[ANTS_WORK_DROPPED] = WORK_TO(DELAYED) | WORK_TO(IDLE),
	[ANTS_WORK_DUE] = WORK_TO(DELAYED) | WORK_TO(PENDING) | WORK_TO(IDLE),
	[ANTS_WORK_WAITING] = WORK_TO(PENDING) | WORK_TO(IDLE),
	[ANTS_WORK_PENDING] = WORK_TO(RUNNING) | WORK_TO(DELAYED) | WORK_TO(IDLE),
	[ANTS_WORK_RUNNING] = WORK_TO(AGAIN) | WORK_TO(REARMED) | WORK_TO(IDLE),
	[ANTS_WORK_REARMED] = WORK_TO(REARMED) | WORK_TO(DELAYED) |
			      WORK_TO(RUNNING) | WORK_TO(IDLE),
	[ANTS_WORK_AGAIN] = WORK_TO(PENDING) | WORK_TO(REARMED) | WORK_TO(RUNNING) |
			    WORK_TO(IDLE),
};

void ants_check_work_move(const struct ants_work *work, unsigned int to)
{
	WARN(!(work_moves[work->state] & BIT(to)),
	     "ants: work item %ps goes from state %u to %u\n", work->fn, work->state, to);
}
