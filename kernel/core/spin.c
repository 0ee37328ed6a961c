// SPDX-License-Identifier: GPL-2.0-only
/*
 * A submitter that waits for room spins for a moment before it sleeps, if the last
 * worker that came runs on another CPU, or one is being woken. If the tasks are short
 * there is room before an idle CPU could be woken, and neither side sleeps: otherwise
 * the submitter and the worker would wake each other each time that the pool is full
 * or empty. If there is no room in time, fewer waits spin, down to one in
 * ANTS_SPIN_SKIP_MAX + 1. Nor does a submitter spin while another thread waits for
 * its CPU: that may be the very worker that makes room.
 *
 * Nothing else changes for a waiter that spins. It is in the FIFO like any other,
 * and only the first one spins.
 */
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/stat.h>

#include "../internal.h"

/* About the time in which an idle CPU is woken. */
#define SPIN_MAX	(50 * NSEC_PER_USEC)

static bool may_spin(const struct ants_pool *pool)
{
	int cpu = ants_running_cpu(pool);

	if (pool->space.nr_waiting || !single_task_running())
		return false;
	return pool->wakes.nr > pool->wakes.deferred || (cpu >= 0 && cpu != raw_smp_processor_id());
}

/* @waiter is going to be enqueued: decide whether it spins. */
void ants_spin_begin(struct ants_pool *pool, struct ants_waiter *waiter)
{
	bool spin = num_online_cpus() > 1 && may_spin(pool);

	lockdep_assert_held(&pool->lock);
	if (spin && pool->waiters.spin_left) {
		pool->waiters.spin_left--;
		spin = false;
	}
	waiter->spun = spin;
	waiter->spins = spin;
}

/*
 * Spin until the wait has ended, or has taken too long for that. The scheduler's
 * clock is fine enough even where the time of day moves with the tick.
 */
void ants_spin(struct ants_waiter *waiter)
{
	u64 begin = local_clock();

	/* The result is read again, with acquire, before the caller sleeps. */
	while (READ_ONCE(waiter->result) == ANTS_STILL_WAITING) {
		if (need_resched() || !single_task_running() ||
		    local_clock() - begin > SPIN_MAX) {
			WRITE_ONCE(waiter->spins, false);
			return;
		}
		cpu_relax();
	}
}

/*
 * The wait of @waiter ends with @result. It has spun in vain if it has stopped
 * before or another thread has taken its CPU, and with success if it is granted
 * while it spins.
 */
void ants_spin_end(struct ants_pool *pool, const struct ants_waiter *waiter,
		   int result)
{
	unsigned int *skip = &pool->waiters.spin_skip;

	lockdep_assert_held(&pool->lock);
	if (!waiter->spun)
		return;
	if (!READ_ONCE(waiter->spins) || !ants_on_cpu(waiter->task))
		*skip = min(*skip * 2 + 1, ANTS_SPIN_SKIP_MAX);
	else if (!result)
		*skip = 0;
	pool->waiters.spin_left = *skip;
}
