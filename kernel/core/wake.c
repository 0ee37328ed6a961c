// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many workers are woken, or threads made, for pending tasks. One wake-up is
 * in flight at a time, because each costs more than a short task: a worker that
 * arrives checks whether the next one is to be woken. Callers on other CPUs may
 * add to it, and threads that first have to get ready are made side by side.
 *
 * And the timer of a pool. It serves late wake-ups, waiters that a batch holds back,
 * the end of a back-off, the reaper, and the look for tasks that stall. It is armed
 * for the earliest of them. If it was armed for wake-ups that then arrived in time, it
 * is taken back, so that it does not wake a CPU for nothing; for anything else it
 * fires in vain once at most. An idle pool whose workers have expired, and that lacks
 * none, has no armed timer. The timer retires no worker itself: that sleeps, which a
 * timer may not.
 *
 * The timer wheel may fire a timer that was armed far ahead late, by up to 1/7
 * of that time. The reaper and the look for tasks that stall tolerate that. For
 * what is due within ticks pool->timer.by says whether the timer is armed
 * precisely enough.
 */
#include "../internal.h"

/*
 * Arm the timer for @when, earlier or later than it was. If it was armed for
 * the same time before, mod_timer() would leave it on its level of the wheel,
 * which may be coarse.
 */
void ants_timer_set(struct ants_pool *pool, unsigned long when)
{
	unsigned long now = jiffies;
	/* The wheel holds no timer for longer than this; the slack fits beside it. */
	unsigned long by = min_t(long, when - now, MAX_JIFFY_OFFSET);

	lockdep_assert_held(&pool->lock);
	if (pool->timer.timer.expires == when)
		timer_delete(&pool->timer.timer);
	pool->timer.by = now + by + ants_timer_slack(by);
	mod_timer(&pool->timer.timer, when);
}

/*
 * Make sure that the timer fires at @when or earlier, as far as the wheel is
 * exact.
 */
static void timer_arm(struct ants_pool *pool, unsigned long when)
{
	unsigned long slack = ants_timer_slack(when - jiffies);

	lockdep_assert_held(&pool->lock);
	if (!ants_timer_covers(pool, when + slack))
		ants_timer_set(pool, when);
}

/*
 * Is there a task that no worker in flight will take? While enough are in
 * flight that is not known yet: each of them checks when it arrives. A thread
 * that is late is replaced, once for each task: if its CPU is too busy, so may
 * be the CPU of the next thread.
 */
static bool wants_worker(const struct ants_pool *pool)
{
	unsigned int late = min(pool->workers.nr_late, pool->nr_pending);
	unsigned int most = 1;

	/*
	 * These get ready side by side, and none waits for the others to
	 * arrive.
	 */
	if (pool->ops.worker_init && !pool->upkeep.backoff)
		most = ANTS_WAKE_MAX;
	return !pool->workers.nr_idle && !pool->faults.tripped &&
	       ants_nr_arriving(pool) + pool->workers.nr_making < most &&
	       pool->nr_pending > pool->wakes.nr + pool->workers.nr_new - late;
}

/*
 * Would another thread be of use, for a task or because the pool is to have one? Workers
 * that are leaving count against the capacity.
 */
static bool could_use_worker(const struct ants_pool *pool)
{
	return pool->workers.nr < pool->limits.capacity &&
	       (wants_worker(pool) ||
		(!ants_closed_error(pool) &&
		 pool->workers.nr - pool->workers.nr_leaving < pool->config.floor));
}

/* The pool was refused one, and is not to try again yet. */
static bool held_back(const struct ants_pool *pool)
{
	return ants_has_thread(pool) &&
	       time_in_range_open(jiffies, pool->upkeep.held_until - HZ,
				  pool->upkeep.held_until);
}

/* Is another thread to be made? */
bool ants_need_worker(const struct ants_pool *pool)
{
	return could_use_worker(pool) && !held_back(pool);
}

/* The last try to make a thread has failed, and the pause is not over. */
bool ants_backing_off(const struct ants_pool *pool)
{
	return pool->upkeep.backoff &&
	       time_in_range_open(jiffies, pool->upkeep.backoff_until - pool->upkeep.backoff,
				  pool->upkeep.backoff_until);
}

/*
 * Making a thread has failed: pause, longer each time. Threads that got ready
 * side by side and failed count as one try.
 */
void ants_back_off(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (!ants_backing_off(pool)) {
		pool->upkeep.backoff = clamp_t(unsigned long, pool->upkeep.backoff * 2,
					       ANTS_BACKOFF_MIN, ANTS_BACKOFF_MAX);
		pool->upkeep.backoff_until = jiffies + pool->upkeep.backoff;
	}
	timer_arm(pool, pool->upkeep.backoff_until);
}

/*
 * If the pool wants a thread, make sure that it asks for one when the pause is over,
 * unless the maker does so before it ends.
 */
void ants_timer_arm_worker(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (could_use_worker(pool) && !pool->upkeep.making)
		timer_arm(pool, held_back(pool) ? pool->upkeep.held_until :
						       pool->upkeep.backoff_until);
}

/*
 * Have a thread made, if one is wanted, or else when the pause is over. The maker makes
 * one after the other, and looks once more before it ends.
 */
void ants_ask_for_worker(struct ants_pool *pool, struct ants_todo *todo)
{
	if (pool->upkeep.making || !could_use_worker(pool))
		return;
	if (held_back(pool) || ants_backing_off(pool)) {
		ants_timer_arm_worker(pool);
		return;
	}
	pool->upkeep.making = true;
	todo->bits |= ANTS_TODO_MAKER;
}

/*
 * If a wake-up is in flight, no task needs to look for a worker until it is late. To
 * be called after each change of what this depends on.
 */
static void set_wake_late(struct ants_pool *pool)
{
	pool->wakes.late = pool->wakes.nr ? pool->wakes.since + ants_late_ticks() : 0;
	if (!pool->wakes.late)
		ants_end_fast_path(pool);
}

/*
 * Give up wake-ups in flight that are late. The CPUs of those workers are busy,
 * or the workers are new and move, or freeze. Waking the same ones again would
 * not help, but others may be faster. A late worker will find that it is not
 * counted any more.
 */
static void forget_late(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (!ants_nr_arriving(pool) ||
	    time_before(jiffies, pool->wakes.since + ants_late_ticks()))
		return;
	pool->workers.nr_late += pool->workers.nr_starting;
	pool->workers.nr_starting = 0;
	pool->wakes.nr = 0;
	pool->wakes.waking_cpus = 0;
	pool->wakes.seq++;
	if (pool->wakes.deferred)
		pool->wakes.nr_spurious = 0;
	pool->wakes.deferred = false;
	set_wake_late(pool);
}

/* Make sure that wake-ups in flight are given up when they are late. */
static void timer_arm_waking(struct ants_pool *pool)
{
	unsigned long when = pool->wakes.since + ants_late_ticks();

	lockdep_assert_held(&pool->lock);
	if (ants_timer_covers(pool, when))
		return;
	ants_timer_set(pool, when);
	pool->timer.waking = true;
}

/*
 * @w is in flight from now on, until ants_worker_arrived(). The caller counts
 * it.
 */
void ants_set_arriving(struct ants_pool *pool, struct ants_worker *w)
{
	lockdep_assert_held(&pool->lock);
	w->arriving = true;
	w->wake_seq = pool->wakes.seq;
	if (ants_nr_arriving(pool))
		return;
	pool->wakes.since = jiffies;
	timer_arm_waking(pool);
}

/*
 * The caller is going to run a task that it has taken, and others are pending.
 * If many workers in a row that were woken for such tasks found none, the
 * tasks are as short as a wake-up, so the caller can run the others as well. If
 * it turns out to sleep, the deferred wake-up becomes late, like one that does
 * not arrive.
 */
static bool defers_wake_up(struct ants_pool *pool)
{
	if (pool->wakes.nr_spurious < ANTS_SPURIOUS_MAX || ants_nr_arriving(pool))
		return false;
	if (pool->wakes.nr_deferred++ < ANTS_DEFERRED_MAX)
		return true;
	pool->wakes.nr_deferred = 0;
	return false;
}

/*
 * No task is pending, or the caller will not take it: see ants_wake_helper().
 */
void ants_deferred_end(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	pool->wakes.deferred = false;
	pool->wakes.nr--;
	set_wake_late(pool);
}

static struct ants_worker *first_idle(const struct ants_pool *pool)
{
	return list_first_entry(&pool->workers.idle, struct ants_worker, node);
}

/*
 * Return the last worker that parked on this CPU if it is near the top of the stack,
 * else NULL. The scheduler will probably let it run there again.
 */
static struct ants_worker *find_here(const struct ants_pool *pool)
{
	unsigned int left = ANTS_LOOK_MAX;
	struct ants_worker *w;

	list_for_each_entry(w, &pool->workers.idle, node) {
		if (!left--)
			break;
		if (w->cpu == (u8)ants_this_cpu())
			return w;
	}
	return NULL;
}

static u16 cpu_bit(unsigned int cpu)
{
	return 1U << cpu % 16;
}

static void wake_idle(struct ants_pool *pool, struct ants_worker *w,
		      struct ants_todo *todo)
{
	ants_unlink(&w->node);
	pool->workers.nr_idle--;
	pool->wakes.waking_cpus |= cpu_bit(w->cpu);
	ants_worker_move(w, ANTS_WAKING);
	ants_set_arriving(pool, w);
	pool->wakes.nr++;
	set_wake_late(pool);
	ants_todo_wake(todo, w->task);
	trace_ants_worker_wake(pool, &w->task, NULL, NULL, 0, 0);
}

/*
 * Tasks are pending. Is an idle worker to be woken, after wake-ups that are late are
 * given up? If none is idle, ask for a thread. If a wake-up is in flight, and this very
 * section wakes a thread, which may be that one, the section may have no list for a
 * second one.
 */
static bool may_wake(struct ants_pool *pool, struct ants_todo *todo)
{
	unsigned long late = pool->wakes.late;

	lockdep_assert_held(&pool->lock);
	/* 64-bit jiffies never come so close to wrapping that 0 is ahead. */
	if ((BITS_PER_LONG == 64 || late) && time_before(jiffies, late))
		return false;
	if (pool->wakes.nr && todo->nr_wake && pool->workers.nr_idle)
		return false;
	forget_late(pool);
	if (pool->workers.nr_idle)
		return !pool->wakes.nr;
	ants_ask_for_worker(pool, todo);
	return false;
}

/*
 * Keep one wake-up in flight while tasks are pending: the worker that arrives checks for
 * the next one. If none arrives, because its CPU is busy, the next caller that comes here
 * gives it up, or the timer does.
 */
void ants_wake_next(struct ants_pool *pool, struct ants_todo *todo)
{
	if (pool->nr_pending && may_wake(pool, todo))
		wake_idle(pool, first_idle(pool), todo);
}

/*
 * The same after the caller has made a task pending. A worker that parked on its CPU goes
 * first: then neither that wake-up nor that of the caller, if it waits for its task, has
 * to go to another CPU. And callers on several CPUs do not wait for each other's workers:
 * if the last one that sent a wake-up was on another CPU, and none of those in flight
 * parked on this one, a worker that did is woken as well.
 */
void ants_wake_for_submitter(struct ants_pool *pool, struct ants_todo *todo)
{
	bool any = may_wake(pool, todo);
	struct ants_worker *w;

	if (!any && (pool->wakes.cpu == ants_this_cpu() || pool->wakes.deferred ||
		     todo->nr_wake || pool->wakes.waking_cpus & cpu_bit(ants_this_cpu()) ||
		     pool->wakes.nr >= min(pool->nr_pending, ANTS_WAKE_MAX)))
		return;
	w = find_here(pool) ?: any ? first_idle(pool) : NULL;
	if (!w)
		return;
	pool->wakes.cpu = ants_this_cpu();
	wake_idle(pool, w, todo);
}

/* As ants_wake_next(), for a worker that is going to run one of the tasks. */
void ants_wake_helper(struct ants_pool *pool, struct ants_todo *todo)
{
	if (!may_wake(pool, todo))
		return;
	if (!defers_wake_up(pool)) {
		first_idle(pool)->helps = true;
		wake_idle(pool, first_idle(pool), todo);
		return;
	}
	pool->wakes.deferred = true;
	pool->wakes.since = jiffies;
	pool->wakes.nr++;
	set_wake_late(pool);
	timer_arm_waking(pool);
}

/* The CPU on which the worker that arrived last runs its task, or -1. */
int ants_running_cpu(const struct ants_pool *pool)
{
	const struct ants_worker *last = pool->wakes.arrived;

	/* A worker that freezes has no task. */
	return last && last->fn && task_is_running(last->task) ?
	       (int)task_cpu(last->task) : -1;
}

/*
 * @w, which was in flight, has arrived, late or not. Its wake-up is spurious if there is
 * nothing to do. If another worker woke it, and the last one runs on this CPU, that one
 * could have run the tasks as well.
 */
void ants_worker_arrived(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	bool spurious = !pool->nr_pending && !pool->space.nr_waiting && !pool->space.has_due;
	bool late = w->wake_seq != pool->wakes.seq;
	/* Callers on other CPUs must not put off the time of one that is stuck. */
	bool beyond = pool->wakes.nr > 1;

	lockdep_assert_held(&pool->lock);
	w->arriving = false;
	if (w->state != ANTS_WAKING) {
		pool->workers.nr_late -= late;
		pool->workers.nr_starting -= !late;
	} else if (!late) {
		pool->wakes.nr--;
		pool->wakes.waking_cpus &= ~cpu_bit(w->cpu);
	}
	if (!late && !beyond)
		pool->wakes.since = jiffies;
	if (w->helps && (spurious || ants_running_cpu(pool) == raw_smp_processor_id()))
		pool->wakes.nr_spurious = min(pool->wakes.nr_spurious + 1U, ANTS_SPURIOUS_MAX);
	else if (w->helps)
		pool->wakes.nr_spurious = 0;
	pool->counts.spurious_wakeups += spurious;
	set_wake_late(pool);
	w->helps = false;
	pool->wakes.arrived = w;
}

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

/*
 * Arm the timer for the earliest of what is due. A queued maker will arm it for the
 * end of the back-off and, if a worker has expired, a queued upkeep work for those
 * that are idle then. Otherwise the timer is armed even for what is due already: a tick may
 * have passed since that was checked.
 */
static void timer_rearm(struct ants_pool *pool)
{
	if (ants_nr_arriving(pool))
		timer_arm_waking(pool);
	ants_timer_arm_worker(pool);
	if (!(pool->upkeep.queued && ants_idle_expired(pool)))
		ants_timer_arm_reaper(pool);
	if (pool->stall.armed)
		ants_timer_arm_lazy(pool, pool->stall.at);
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
	forget_late(pool);
	ants_serve_now(pool, &todo);
	ants_wake_next(pool, &todo);
	ants_ask_for_worker(pool, &todo);
	if (ants_idle_expired(pool))
		ants_todo_upkeep(pool, &todo);
	/* It is time to look for tasks that stall, but none may run. */
	if (pool->stall.armed && time_after_eq(jiffies, pool->stall.at)) {
		pool->stall.armed = false;
		if (pool->nr_busy)
			todo.bits |= ANTS_TODO_NOTICE;
	}
	timer_rearm(pool);
	ants_unlock(pool, &todo);
}
