// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer of a pool. It serves the reaper, late wake-ups, waiters that a
 * batch holds back, the end of a back-off, and the look for tasks that stall. It
 * is armed for the earliest of them. If it was armed for wake-ups that then
 * arrived in time, it is taken back, so that it does not wake a CPU for nothing;
 * for anything else it fires in vain once at most. An idle pool whose workers
 * have expired has no armed timer. The timer retires no worker itself: that
 * sleeps, which a timer may not.
 *
 * The timer wheel may fire a timer that was armed far ahead late, by up to 1/7
 * of that time. The reaper and the look for tasks that stall tolerate that. For
 * what is due within ticks pool->timer.by says whether the timer is armed
 * precisely enough.
 */
#include "internal.h"

/* Are there more workers than have to stay? */
static bool may_retire(const struct ants_pool *pool)
{
	return !pool->released &&
	       !(pool->flags & (ANTS_NO_PURGE | ANTS_PREALLOC)) &&
	       ants_nr_staying(pool) > pool->config.floor;
}

/* When the worker that has been idle longest expires; never too early. */
static unsigned long idle_deadline(const struct ants_pool *pool)
{
	const struct ants_worker *oldest;

	oldest = list_last_entry(&pool->workers.idle, struct ants_worker, node);
	/* It may have parked just before a tick. */
	return oldest->idle_since + pool->timer.expiry + 1;
}

/*
 * A worker that had to stay may have been idle for so long that its deadline seems to
 * lie ahead.
 */
bool ants_idle_expired(const struct ants_pool *pool)
{
	unsigned long deadline;

	if (!pool->workers.nr_idle || !may_retire(pool))
		return false;
	deadline = idle_deadline(pool);
	return !time_in_range_open(jiffies, deadline - pool->timer.expiry - 1,
				   deadline);
}

/* Make sure that the timer fires when the next idle worker is to be retired. */
void ants_timer_arm_reaper(struct ants_pool *pool)
{
	if (pool->workers.nr_idle && may_retire(pool))
		ants_timer_arm_lazy(pool, ants_idle_expired(pool) ?
					  jiffies : idle_deadline(pool));
}

static bool upkeep_due(const struct ants_pool *pool)
{
	return ants_idle_expired(pool) ||
	       (ants_need_worker(pool) && !ants_backing_off(pool));
}

/*
 * A queued upkeep work will arm the timer for the end of the back-off and, if a
 * worker has expired, for those that are idle then. Otherwise the timer is
 * armed even for what is due already: a tick may have passed since that was
 * checked.
 */
static void rearm_for_upkeep(struct ants_pool *pool)
{
	bool queued = pool->upkeep.queued;

	if (!queued)
		ants_timer_arm_worker(pool);
	if (!(queued && ants_idle_expired(pool)))
		ants_timer_arm_reaper(pool);
}

/* Is it time to look for tasks that stall? Not if none runs. */
static void check_stall(struct ants_pool *pool, struct ants_todo *todo)
{
	if (!pool->stall.armed || time_before(jiffies, pool->stall.at))
		return;
	pool->stall.armed = false;
	if (!pool->nr_busy)
		return;
	pool->stall.due = true;
	todo->bits |= ANTS_TODO_NOTICE;
}

static void rearm_for_stall(struct ants_pool *pool)
{
	if (pool->stall.armed)
		ants_timer_arm_lazy(pool, pool->stall.at);
}

static void timer_rearm(struct ants_pool *pool)
{
	if (ants_nr_arriving(pool))
		ants_timer_arm_waking(pool);
	rearm_for_upkeep(pool);
	rearm_for_stall(pool);
}

/*
 * All wake-ups in flight have arrived: set the timer to what else is due. This
 * is done once a tick only, for it costs more than a timer that fires in vain
 * while the pool is busy.
 */
void ants_timer_take_back(struct ants_pool *pool)
{
	unsigned long now = jiffies;

	lockdep_assert_held(&pool->lock);
	if (pool->timer.back == now)
		return;
	pool->timer.back = now;
	pool->timer.waking = false;
	timer_delete(&pool->timer.timer);
	timer_rearm(pool);
}

void ants_timer_fn(struct timer_list *timer)
{
	struct ants_pool *pool = timer_container_of(pool, timer, timer.timer);
	struct ants_wake_batch batch;
	struct ants_todo todo;

	ants_lock_batch(pool, &todo, &batch);
	pool->timer.waking = false;
	ants_forget_late(pool);
	ants_serve_now(pool, &todo);
	ants_wake_all(pool, &todo);
	if (upkeep_due(pool))
		ants_todo_upkeep(pool, &todo);
	check_stall(pool, &todo);
	timer_rearm(pool);
	ants_unlock(pool, &todo);
}
