// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool's timer. It serves the reaper, the late wake-up, the waiters that a
 * batch holds back, the end of a back-off, and the log of waits that take too
 * long. It is armed for the next of them, never deleted on the way, and so
 * fires at most once in vain; in an idle pool whose workers expired it is not
 * armed at all. It retires nobody itself: that sleeps, and a timer may not.
 *
 * The timer wheel fires what was armed far ahead up to 1/7 of that time late.
 * The reaper and the log of long waits put up with that. For what is due within
 * ticks pool->timer_by says whether the timer is good enough.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/pid.h>

#include "internal.h"

/* Is there a worker more than must stay? */
bool ants_may_retire(const struct ants_pool *pool)
{
	return !pool->released &&
	       !(pool->flags & (ANTS_NO_PURGE | ANTS_PREALLOC)) &&
	       ants_nr_staying(pool) > pool->floor;
}

/* When the worker that is idle for the longest time is due, never earlier. */
unsigned long ants_idle_deadline(const struct ants_pool *pool)
{
	const struct ants_worker *oldest;

	oldest = list_last_entry(&pool->idle, struct ants_worker, node);
	/* It may have parked just before a tick. */
	return oldest->idle_since + pool->expiry + 1;
}

bool ants_idle_expired(const struct ants_pool *pool)
{
	return pool->nr_idle && ants_may_retire(pool) &&
	       time_after_eq(jiffies, ants_idle_deadline(pool));
}

/*
 * The wake-up in flight has not arrived: its CPU is taken by something else, or
 * it is new and moves, or freezes. Waking the same worker again would not help;
 * the next one may have more luck, and the late one will find its name gone.
 */
static void forget_late(struct ants_pool *pool)
{
	if (pool->waking &&
	    time_after_eq(jiffies, pool->waking_since + ANTS_LATE_TICKS))
		pool->waking = NULL;
}

static bool upkeep_due(const struct ants_pool *pool)
{
	return ants_idle_expired(pool) ||
	       (ants_need_worker(pool) && !ants_backing_off(pool));
}

/* Who waits for too long. */
struct long_wait {
	char comm[TASK_COMM_LEN];
	pid_t pid;
};

static bool is_long(const struct ants_waiter *waiter)
{
	return waiter &&
	       time_after_eq(jiffies, waiter->since + ANTS_LONG_WAIT);
}

/* One waiter at a time; if there are more the timer comes back at once. */
static bool find_long_wait(struct ants_pool *pool, struct long_wait *found)
{
	struct ants_fifo *fifo = &pool->waiters[ANTS_PRIO_NORMAL];
	const struct ants_waiter *waiter;

	if (!is_long(fifo->unlogged))
		fifo = &pool->waiters[ANTS_PRIO_HIGH];
	waiter = fifo->unlogged;
	if (!is_long(waiter))
		return false;
	strscpy(found->comm, waiter->task->comm, sizeof(found->comm));
	found->pid = task_pid_nr(waiter->task);
	ants_unlogged_next(fifo);
	return true;
}

static void rearm_for_log(struct ants_pool *pool, const struct ants_fifo *fifo)
{
	if (fifo->unlogged && !pool->released)
		ants_timer_arm_lazy(pool,
				    fifo->unlogged->since + ANTS_LONG_WAIT);
}

static void rearm(struct ants_pool *pool)
{
	if (pool->waking)
		ants_timer_arm(pool, pool->waking_since + ANTS_LATE_TICKS);
	if (ants_need_worker(pool) && ants_backing_off(pool))
		ants_timer_arm(pool, pool->backoff_until);
	rearm_for_log(pool, &pool->waiters[ANTS_PRIO_NORMAL]);
	rearm_for_log(pool, &pool->waiters[ANTS_PRIO_HIGH]);
	/* The upkeep retires those that expired, and arms for the next. */
	if (pool->nr_idle && ants_may_retire(pool) && !ants_idle_expired(pool))
		ants_timer_arm_lazy(pool, ants_idle_deadline(pool));
}

void ants_timer_fn(struct timer_list *timer)
{
	struct ants_pool *pool = timer_container_of(pool, timer, timer);
	struct long_wait found;
	struct ants_round round;
	struct ants_kick kick;
	bool log;

	ants_lock_round(pool, &kick, &round);
	forget_late(pool);
	ants_serve_now(pool, &kick);
	ants_wake_next(pool, &kick);
	if (upkeep_due(pool))
		ants_kick_upkeep(pool, &kick);
	log = find_long_wait(pool, &found);
	rearm(pool);
	ants_unlock(pool, &kick);
	if (log)
		pr_warn("pool %s: %s[%d] has waited for more than %u s\n",
			pool->name, found.comm, found.pid,
			ANTS_LONG_WAIT / HZ);
}
