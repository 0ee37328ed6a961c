// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many workers are woken, or threads made, for pending tasks. Few wake-ups
 * are in flight at a time, because each costs more than a short task. A worker
 * that arrives checks whether the next one is to be woken. How few depends on
 * what the tasks do.
 */
#include "internal.h"

/*
 * Is there a task that no worker in flight will take? While enough are in
 * flight that is not known yet: each of them checks when it arrives. A thread
 * that is late is replaced, once for each task: if its CPU is too busy, so may
 * be the CPU of the next thread.
 */
static bool wants_worker(const struct ants_pool *pool)
{
	unsigned int late = min(pool->nr_late, pool->nr_pending);
	unsigned int limit = pool->wake_limit;

	/*
	 * These get ready side by side, and none waits for the others to
	 * arrive.
	 */
	if (pool->worker_init && !pool->backoff)
		limit = ANTS_WAKE_MAX;
	return !pool->nr_idle &&
	       ants_nr_arriving(pool) + pool->nr_making < limit &&
	       pool->nr_pending > pool->nr_waking + pool->nr_new - late;
}

static bool below_floor(const struct ants_pool *pool)
{
	return !pool->released &&
	       pool->nr_workers - pool->nr_leaving < pool->floor;
}

/* Is another thread to be made? Workers that are leaving count as well. */
bool ants_need_worker(const struct ants_pool *pool)
{
	return pool->nr_workers < pool->capacity &&
	       (wants_worker(pool) || below_floor(pool));
}

/* The last try to make a thread has failed, and the pause is not over. */
bool ants_backing_off(const struct ants_pool *pool)
{
	return pool->backoff &&
	       time_in_range_open(jiffies, pool->backoff_until - pool->backoff,
				  pool->backoff_until);
}

/*
 * Making a thread has failed: pause, longer each time. Threads that got ready
 * side by side and failed count as one try.
 */
void ants_back_off(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (ants_backing_off(pool)) {
		ants_timer_arm(pool, pool->backoff_until);
		return;
	}
	WRITE_ONCE(pool->backoff,
		   clamp_t(unsigned long, pool->backoff * 2, ANTS_BACKOFF_MIN,
			   ANTS_BACKOFF_MAX));
	pool->backoff_until = jiffies + pool->backoff;
	ants_timer_arm(pool, pool->backoff_until);
}

/*
 * Make sure that a thread that is wanted is asked for when the pause is over.
 * If all makers are at work, the timer is not needed: the first one that is
 * done checks.
 */
void ants_timer_arm_worker(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (ants_need_worker(pool) &&
	    (ants_backing_off(pool) || pool->nr_makers < ANTS_MAKERS))
		ants_timer_arm(pool, pool->backoff_until);
}

/*
 * If as many wake-ups are in flight as allowed, no task needs to look for a worker
 * until they are late. To be called after each change of what this depends on.
 */
static void set_wake_late(struct ants_pool *pool)
{
	pool->wake_late = pool->nr_waking < pool->wake_limit ?
			  0 : pool->waking_since + ants_late_ticks();
}

/*
 * Give up wake-ups in flight that are late. The CPUs of those workers are busy,
 * or the workers are new and move, or freeze. Waking the same ones again would
 * not help, but others may be faster. A late worker will find that it is not
 * counted any more.
 */
void ants_forget_late(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (!ants_nr_arriving(pool) || !ants_arriving_late(pool))
		return;
	pool->nr_late += pool->nr_starting;
	pool->nr_starting = 0;
	pool->nr_waking = 0;
	pool->wake_seq++;
	if (pool->wake_deferred)
		pool->nr_vain = 0;
	pool->wake_deferred = false;
	set_wake_late(pool);
}

/* Make sure that wake-ups in flight are given up when they are late. */
void ants_timer_arm_waking(struct ants_pool *pool)
{
	unsigned long when = pool->waking_since + ants_late_ticks();

	lockdep_assert_held(&pool->lock);
	if (ants_timer_covers(pool, when))
		return;
	ants_timer_set(pool, when);
	pool->timer_waking = true;
}

/*
 * @w is in flight from now on, until ants_worker_arrived(). The caller counts
 * it.
 */
void ants_set_arriving(struct ants_pool *pool, struct ants_worker *w)
{
	lockdep_assert_held(&pool->lock);
	w->arriving = true;
	w->wake_seq = pool->wake_seq;
	if (ants_nr_arriving(pool))
		return;
	pool->waking_since = jiffies;
	ants_timer_arm_waking(pool);
}

/*
 * The caller is going to run a task that it has taken, and others are pending.
 * If many workers in a row that were woken for such tasks came in vain, the
 * tasks are as short as a wake-up, so the caller can run the others as well. If
 * it turns out to sleep, the deferred wake-up becomes late, like one that does
 * not arrive.
 */
static bool defers_wake_up(struct ants_pool *pool)
{
	if (pool->nr_vain < ANTS_VAIN_MAX || pool->wake_limit > 1 ||
	    ants_nr_arriving(pool))
		return false;
	if (pool->nr_deferred++ < ANTS_DEFERRED_MAX)
		return true;
	pool->nr_deferred = 0;
	return false;
}

/* As ants_wake_one(), for a worker that is going to run one of the tasks. */
void ants_wake_helper(struct ants_pool *pool, struct ants_todo *todo)
{
	struct ants_worker *w;

	lockdep_assert_held(&pool->lock);
	w = list_first_entry(&pool->idle, struct ants_worker, node);
	ants_forget_late(pool);
	if (!defers_wake_up(pool)) {
		ants_wake_one(pool, todo);
		w->helps = w->state == ANTS_WAKING;
		return;
	}
	pool->wake_deferred = true;
	pool->waking_since = jiffies;
	pool->nr_waking++;
	set_wake_late(pool);
	ants_timer_arm_waking(pool);
}

/*
 * No task is pending, or the caller will not take it: see ants_wake_helper().
 */
void ants_deferred_end(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	pool->wake_deferred = false;
	pool->nr_waking--;
	set_wake_late(pool);
}

/*
 * Tasks are pending, and no worker is idle: ask for a thread if one is wanted.
 */
void ants_ask_for_worker(struct ants_pool *pool, struct ants_todo *todo)
{
	ants_forget_late(pool);
	if (!ants_need_worker(pool))
		return;
	if (ants_backing_off(pool))
		ants_timer_arm(pool, pool->backoff_until);
	else
		ants_todo_upkeep(pool, todo);
}

/* Is a worker idle, and is there a task for which no other is being woken? */
static bool wakes_another(const struct ants_pool *pool)
{
	return pool->nr_idle &&
	       pool->nr_waking < min(pool->wake_limit, pool->nr_pending);
}

/* Wake the most recently parked worker. */
static void wake_idle(struct ants_pool *pool, struct ants_todo *todo)
{
	struct ants_worker *w;

	w = list_first_entry(&pool->idle, struct ants_worker, node);
	__list_del_entry(&w->node);
	pool->nr_idle--;
	w->state = ANTS_WAKING;
	ants_set_arriving(pool, w);
	pool->nr_waking++;
	set_wake_late(pool);
	ants_policy_wakes(pool);
	ants_todo_wake(todo, w->task);
}

/*
 * Wake a worker; tasks are pending, and a worker is idle. See ants_wake_next().
 */
void ants_wake_one(struct ants_pool *pool, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	/*
	 * This is checked first: the one in flight may have been woken by this
	 * very section, which has no list for a second one.
	 */
	if (pool->nr_waking && todo->nr_wake)
		return;
	ants_forget_late(pool);
	if (wakes_another(pool))
		wake_idle(pool, todo);
}

/*
 * Wake as many as one hold allows; those that arrive wake others. Then ask for
 * threads.
 */
void ants_wake_more(struct ants_pool *pool, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	while (wakes_another(pool) && !ants_todo_full(todo))
		wake_idle(pool, todo);
	if (pool->nr_pending && !pool->nr_idle)
		ants_ask_for_worker(pool, todo);
}

/* Does the worker that arrived last sleep in its task? */
static bool last_sleeps(const struct ants_pool *pool)
{
	const struct ants_worker *last = pool->arrived;

	/* A worker that freezes has no task. */
	return last && last->fn && !task_is_running(last->task);
}

/*
 * Does that worker run, on this CPU? Then it could run the pending tasks as
 * well.
 */
static bool last_shares_cpu(const struct ants_pool *pool)
{
	const struct ants_worker *last = pool->arrived;

	return last && last->fn && task_is_running(last->task) &&
	       task_cpu(last->task) == raw_smp_processor_id();
}

/*
 * Allow more wake-ups in flight if tasks are left that the last worker cannot
 * take, because it sleeps; allow fewer if it runs, or if there is nothing to
 * do.
 */
static void adapt_limit(struct ants_pool *pool, bool helps)
{
	bool vain = !pool->nr_pending && !pool->nr_waiting && !pool->has_due;

	if (helps)
		pool->nr_vain = vain || last_shares_cpu(pool) ?
				min(pool->nr_vain + 1U, ANTS_VAIN_MAX) : 0;
	if (vain)
		pool->wake_limit = max(pool->wake_limit / 2, 1U);
	else if (pool->nr_pending > 1 && last_sleeps(pool))
		pool->wake_limit = min(pool->wake_limit * 2, ANTS_WAKE_MAX);
	else if (pool->arrived && pool->arrived->fn)
		pool->wake_limit = max(pool->wake_limit - 1, 1U);
}

/* @w, which was in flight, has arrived, late or not. */
void ants_worker_arrived(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	bool late = w->wake_seq != pool->wake_seq;

	lockdep_assert_held(&pool->lock);
	w->arriving = false;
	if (w->state == ANTS_WAKING)
		pool->nr_waking -= !late;
	else if (late)
		pool->nr_late--;
	else
		pool->nr_starting--;
	if (!late)
		pool->waking_since = jiffies;
	adapt_limit(pool, w->helps);
	set_wake_late(pool);
	w->helps = false;
	pool->arrived = w;
}
