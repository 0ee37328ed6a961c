// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool's timer. It serves the reaper, the late wake-up, the waiters that a
 * batch holds back, the end of a back-off, and the log of waits that take too
 * long. It is armed for the next of them. What it was armed for wake-ups that
 * then came in time is taken back, so that it does not wake a CPU for nothing; for
 * anything else it fires at most once in vain. In an idle pool whose workers
 * expired it is not armed at all. It retires nobody itself: that sleeps, and a
 * timer may not.
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

/*
 * An upkeep that is queued will arm it for the end of the back-off, and for those
 * that are idle then, if one of them has expired. What is due already is not left
 * out otherwise: a tick may have come since somebody looked.
 */
static void rearm_for_upkeep(struct ants_pool *pool)
{
	bool queued = pool->upkeep_queued;

	if (!queued)
		ants_timer_arm_worker(pool);
	if (pool->nr_idle && ants_may_retire(pool) &&
	    !(queued && ants_idle_expired(pool)))
		ants_timer_arm_lazy(pool, ants_idle_deadline(pool));
}

static void rearm(struct ants_pool *pool)
{
	if (ants_nr_coming(pool))
		ants_timer_arm_waking(pool);
	rearm_for_upkeep(pool);
	rearm_for_log(pool, &pool->waiters[ANTS_PRIO_NORMAL]);
	rearm_for_log(pool, &pool->waiters[ANTS_PRIO_HIGH]);
}

/*
 * All that were in flight have arrived: the timer is set to what else is due. Once
 * a tick only, for that costs more than a timer that fires in vain while the pool
 * is busy.
 */
void ants_timer_take_back(struct ants_pool *pool)
{
	unsigned long now = jiffies;

	lockdep_assert_held(&pool->lock);
	if (pool->timer_back == now)
		return;
	pool->timer_back = now;
	pool->timer_waking = false;
	timer_delete(&pool->timer);
	rearm(pool);
}

void ants_timer_fn(struct timer_list *timer)
{
	struct ants_pool *pool = timer_container_of(pool, timer, timer);
	struct long_wait found;
	struct ants_round round;
	struct ants_kick kick;
	bool log;

	ants_lock_round(pool, &kick, &round);
	pool->timer_waking = false;
	ants_forget_late(pool);
	ants_serve_now(pool, &kick);
	ants_wake_all(pool, &kick);
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
