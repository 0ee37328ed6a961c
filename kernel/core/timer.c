// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer of a pool. It serves the reaper, late wake-ups, waiters that a
 * batch holds back, the end of a back-off, and the look for tasks that stall. It
 * is armed for the earliest of them. If it was armed for wake-ups that then
 * arrived in time, it is taken back, so that it does not wake a CPU for nothing;
 * for anything else it fires in vain once at most. An idle pool whose workers
 * have expired, and that lacks none, has no armed timer. The timer retires no worker itself: that
 * sleeps, which a timer may not.
 *
 * A task that runs for longer than an administrator allows is reported once, if it
 * still runs when somebody looks. A task that starts arms the timer, unless the timer
 * is armed for this already. When the timer fires,
 * the kernel work item that tells programs, in files/sysfs.c, looks through the
 * workers first, and arms the timer again if tasks run. While no task runs, nothing
 * looks.
 *
 * The timer wheel may fire a timer that was armed far ahead late, by up to 1/7
 * of that time. The reaper and the look for tasks that stall tolerate that. For
 * what is due within ticks pool->timer.by says whether the timer is armed
 * precisely enough.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/pid.h>
#include <linux/ratelimit.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>

#include "../internal.h"

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
		ants_timer_arm_waking(pool);
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
	ants_forget_late(pool);
	ants_serve_now(pool, &todo);
	ants_wake_next(pool, &todo);
	ants_ask_for_worker(pool, &todo);
	if (ants_idle_expired(pool))
		ants_todo_upkeep(pool, &todo);
	/* It is time to look for tasks that stall, but none may run. */
	if (pool->stall.armed && time_after_eq(jiffies, pool->stall.at)) {
		pool->stall.armed = false;
		if (pool->nr_busy) {
			pool->stall.due = true;
			todo.bits |= ANTS_TODO_NOTICE;
		}
	}
	timer_rearm(pool);
	ants_unlock(pool, &todo);
}

/* A task that has run for too long. */
struct stalled {
	struct task_struct *task;
	unsigned long func;
	u64 time;
};

/**
 * struct look - one look through the workers
 * @walker: the walk
 * @limit: the time that is too long, when the look began
 * @left: the shortest time after which another task can have run for too long
 * @nr: number of @found that are to be reported
 * @found: those of one hold
 */
struct look {
	struct ants_walker walker;
	u64 limit;
	u64 left;
	unsigned int nr;
	struct stalled found[ANTS_HOLD_MAX];
};

/*
 * Note the task that a worker runs if it has run for too long. @told is when
 * the task that was reported last had started: the worker may run another one
 * now.
 */
static void see_running(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_worker *w = list_entry(entry, struct ants_worker, member);
	struct look *look = container_of(walker, struct look, walker);
	struct stalled *stalled = &look->found[look->nr];
	u64 started, time;

	/* Starts are not noted any more if this was switched off meanwhile. */
	if (!w->fn || !(w->pool->timed & ANTS_TIMED_STALL))
		return;
	started = ants_time_started(w);
	time = ants_clock() - started;
	if (w->told == started)
		return;
	if (time < look->limit) {
		look->left = min(look->left, look->limit - time);
		return;
	}
	w->pool->counts.stalled++;
	w->told = started;
	stalled->task = get_task_struct(w->task);
	stalled->func = ants_worker_func(w);
	stalled->time = time;
	look->nr++;
}

/* Report what one hold has found. */
static bool report(struct ants_walker *walker)
{
	static DEFINE_RATELIMIT_STATE(limit, DEFAULT_RATELIMIT_INTERVAL,
				      DEFAULT_RATELIMIT_BURST);
	struct look *look = container_of(walker, struct look, walker);
	struct stalled *stalled;
	unsigned int i;

	for (i = 0; i < look->nr; i++) {
		stalled = &look->found[i];
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

/* Arm the timer for @ticks from now, unless it will fire for this earlier. */
static void stall_arm(struct ants_pool *pool, unsigned long ticks)
{
	unsigned long at = jiffies + ticks;

	lockdep_assert_held(&pool->lock);
	if (!pool->stall.ms)
		return;
	if (!pool->stall.armed || time_before(at, pool->stall.at))
		pool->stall.at = at;
	pool->stall.armed = true;
	ants_timer_arm_lazy(pool, pool->stall.at);
}

/* A task starts that may be the only one that runs. */
void ants_stall_arm(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (!pool->stall.armed)
		stall_arm(pool, msecs_to_jiffies(pool->stall.ms) + 1);
}

/* Report the tasks that have run for too long, if the timer has asked for it. */
void ants_stall_look(struct ants_pool *pool)
{
	struct look look = { .walker = { .see = see_running, .rest = report } };
	bool due;

	raw_spin_lock_irq(&pool->lock);
	/* A request from here on is for the next look. */
	due = pool->stall.due;
	pool->stall.due = false;
	look.limit = pool->stall.limit;
	look.left = look.limit;
	ants_unlock_irq(pool);
	if (!due)
		return;
	ants_walk(pool, &pool->workers.list, UINT_MAX, &look.walker);
	raw_spin_lock_irq(&pool->lock);
	/* A task that has begun behind the cursor has armed the timer itself. */
	if (pool->nr_busy)
		stall_arm(pool, msecs_to_jiffies(ants_clock_ms(look.left)) + 1);
	ants_unlock_irq(pool);
}

/* @ms is the value that sysfs shows; 0 for no limit. */
int ants_set_stall_ms(struct ants_pool *pool, unsigned int ms)
{
	int err = ms > ANTS_BOUND_MAX ? -EINVAL : ms ? ants_times_make(pool) : 0;

	if (err)
		return err;
	raw_spin_lock_irq(&pool->lock);
	WRITE_ONCE(pool->stall.ms, ms);
	/* The clock counts 15625 units for each 16 ms. */
	pool->stall.limit = (u64)ms * 15625 >> 4;
	pool->stall.armed = false;
	pool->stall.due = false;
	ants_unlock_irq(pool);
	ants_times_switch(pool);
	/* Tasks may run already. */
	raw_spin_lock_irq(&pool->lock);
	if (pool->nr_busy)
		ants_stall_arm(pool);
	ants_unlock_irq(pool);
	return 0;
}
