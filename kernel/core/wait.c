// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers that sleep. Submitters wait in a FIFO of the pool's own, which is
 * guarded by the raw lock and can hand over a task; other callers wait for
 * tasks or threads to end. A fatal signal ends both kinds of wait, and so does
 * kthread_stop() on the caller.
 */
#include <linux/cpumask.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>

#include "../internal.h"

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

/* About the time in which an idle CPU is woken. */
#define SPIN_MAX	(50 * NSEC_PER_USEC)

/* Does a waiter that is going to be enqueued spin? */
static bool may_spin(struct ants_pool *pool)
{
	int cpu;

	lockdep_assert_held(&pool->lock);
	if (num_online_cpus() == 1 || pool->space.nr_waiting || !single_task_running())
		return false;
	cpu = ants_running_cpu(pool);
	if (pool->wakes.nr <= pool->wakes.deferred && (cpu < 0 || cpu == raw_smp_processor_id()))
		return false;
	if (!pool->waiters.spin_left)
		return true;
	pool->waiters.spin_left--;
	return false;
}

/*
 * Spin until the wait has ended, or has taken too long for that. The scheduler's
 * clock is fine enough even where the time of day moves with the tick.
 */
static void waiter_spin(struct ants_waiter *waiter)
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
 * Sleep until @over returns true, which is called with the lock held if @locked. Whoever
 * makes it true wakes the caller. Return 0, -EINTR or -ETIMEDOUT.
 */
static __always_inline int sleep_until(struct ants_pool *pool, ants_cond_t over,
				       const void *arg, bool locked,
				       unsigned long timeout, unsigned int state)
{
	bool is_over;
	int err = 0;

	timeout = min_t(unsigned long, timeout, MAX_SCHEDULE_TIMEOUT);
	while (!err) {
		set_current_state(ants_sleep_state(state));
		if (locked)
			raw_spin_lock_irq(&pool->lock);
		is_over = over(pool, arg);
		if (locked)
			ants_unlock_irq(pool);
		if (is_over)
			break;
		if (signal_pending_state(state, current) ||
		    (state != TASK_UNINTERRUPTIBLE && ants_should_stop()))
			err = -EINTR;
		else if (!timeout)
			err = -ETIMEDOUT;
		else
			timeout = ants_schedule_timeout(state, timeout);
	}
	__set_current_state(TASK_RUNNING);
	return err;
}

/*
 * The state in which a killable caller of @pool sleeps. If the pool is
 * freezable, its frozen threads would not end the wait, and the caller would
 * keep the system from suspending; so it must be freezable, too. A caller that
 * is frozen while it holds a lock can hang the suspend, which lockdep reports.
 * But the map that is held around a task is not a lock, and neither are @locks,
 * which are dropped before the sleep.
 */
unsigned int ants_killable_state(const struct ants_pool *pool, int locks)
{
	if (!(READ_ONCE(pool->flags) & ANTS_FREEZABLE))
		return TASK_KILLABLE;
	if (lockdep_depth(current) == 1 + locks && ants_this_worker())
		return TASK_KILLABLE | TASK_FREEZABLE_UNSAFE;
	return TASK_KILLABLE | TASK_FREEZABLE;
}

/*
 * Enqueue @waiter of a caller that has found the pool open, and full, in this hold of the
 * lock; or return why not. @nested: the wait has no time limit, and it occupies a worker of
 * the same pool. If every worker that the capacity allows waits like that, no task can end
 * to make room.
 */
int ants_wait_enrol(struct ants_pool *pool, struct ants_waiter *waiter,
		    bool nested)
{
	lockdep_assert_held(&pool->lock);
	if (nested &&
	    pool->waiters.nr_nested + pool->nr_joining + 1 >= pool->limits.capacity)
		return -EDEADLK;
	if (pool->config.max_blocking && pool->space.nr_waiting >= pool->config.max_blocking)
		return -EBUSY;
	waiter->task = current;
	waiter->result = ANTS_STILL_WAITING;
	waiter->since = jiffies;
	waiter->stamp = pool->timed ? ants_clock() : 0;
	waiter->sleep = ants_killable_state(pool, 1);
	waiter->spun = may_spin(pool);
	if (waiter->spun)
		waiter->spins = true;
	ants_link_tail(&waiter->node, &pool->waiters.fifo[waiter->prio]);
	waiter->is_nested = nested;
	if (nested) {
		list_add_tail(&waiter->nested, &pool->waiters.nested);
		pool->waiters.nr_nested++;
	}
	pool->counts.blocked++;
	if (++pool->space.nr_waiting > pool->counts.peak_waiting)
		pool->counts.peak_waiting = pool->space.nr_waiting;
	/* Nobody overtakes a waiter. */
	ants_end_fast_path(pool);
	pool->limits.admit = 0;
	trace_ants_waiter_enrol(pool, &waiter->task, waiter->fn, waiter->data, 0, 0);
	/* There was no slot, or a batch holds others back. */
	if (unlikely(ants_nr_admissible(pool)))
		ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
	return 0;
}

static bool waiter_is_over(struct ants_pool *pool, const void *arg)
{
	const struct ants_waiter *waiter = arg;

	/* Pairs with smp_store_release() in ants_waiter_end(). */
	return smp_load_acquire(&waiter->result) != ANTS_STILL_WAITING;
}

/*
 * Wait until the pool ends the wait of @waiter, which is enqueued. Return the
 * result; nothing refers to the waiter any more.
 *
 * A caller that must stop gives up, unless the wait has ended meanwhile: a grant beats a
 * signal and a timeout. Afterwards the next waiter may be due. The pool is there: if the
 * result is not set inside this RCU section, the waiter is still in the FIFO, and after
 * destroy has seen no waiter it waits for RCU readers.
 */
int ants_wait(struct ants_pool *pool, struct ants_waiter *waiter, unsigned long timeout)
{
	struct ants_wake_batch batch __uninitialized;
	struct ants_todo todo __uninitialized;
	int err;

	if (waiter->spun)
		waiter_spin(waiter);
	err = sleep_until(pool, waiter_is_over, waiter, false, timeout, waiter->sleep);
	if (!err)
		return waiter->result;
	ants_pause(ANTS_PAUSE_WITHDRAW, pool);
	rcu_read_lock();
	if (!waiter_is_over(pool, waiter)) {
		ants_lock_batch(pool, &todo, &batch);
		if (waiter->result == ANTS_STILL_WAITING) {
			ants_waiter_end(pool, waiter, err, &todo);
			ants_dispatch(pool, &todo);
		}
		ants_unlock(pool, &todo);
	}
	rcu_read_unlock();
	return waiter->result;
}

/*
 * The caller holds a reference; the lock is held. From here until ants_pool_put_locked() it
 * may drop the lock, sleep, and come back: destroy waits for it.
 */
void ants_pool_get_locked(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	pool->nr_callers++;
}

/* The same in a section of its own. */
void ants_pool_get(struct ants_pool *pool)
{
	raw_spin_lock_irq(&pool->lock);
	ants_pool_get_locked(pool);
	ants_unlock_irq(pool);
}

/*
 * Give the reference back; the lock is held. Only a pool that was closed can have a
 * thread that waits for this, in order to destroy it.
 */
void ants_pool_put_locked(struct ants_pool *pool, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	pool->nr_callers--;
	if (pool->released)
		todo->bits |= ANTS_TODO_WAITQ;
}

void ants_pool_put(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	ants_pool_put_locked(pool, &todo);
	ants_unlock(pool, &todo);
}

/*
 * Lock the configuration for a change that a user of the pool, or of the multi of which it
 * is the first shard, asks for, with a reference. The system pool is its administrator's
 * to change.
 */
int ants_config_lock_user(struct ants_pool *pool, struct mutex *config)
{
	if (pool == ants_system_pool)
		return -EPERM;
	ants_pool_get(pool);
	if (!mutex_lock_killable(config))
		return 0;
	ants_pool_put(pool);
	return -EINTR;
}

void ants_config_unlock(struct ants_pool *pool, struct mutex *config)
{
	mutex_unlock(config);
	ants_pool_put(pool);
}

/*
 * Wait until @cond returns true; it may take what it waited for. The caller
 * holds a reference, or owns the pool. A caller in TASK_UNINTERRUPTIBLE is not frozen,
 * because destroy is often called with a lock of a device held. Return 0, -EINTR
 * or -ETIMEDOUT.
 */
int ants_wait_until(struct ants_pool *pool, ants_cond_t cond, const void *arg,
		    unsigned long timeout, unsigned int state)
{
	DECLARE_WAITQUEUE(wait, current);
	int err;

	if (state == TASK_KILLABLE)
		state = ants_killable_state(pool, 0);
	add_wait_queue(&pool->waitq, &wait);
	err = sleep_until(pool, cond, arg, true, timeout, state);
	remove_wait_queue(&pool->waitq, &wait);
	return err;
}

/* Has the wait ended, or is there something that a task which joins can run? */
static bool is_done_or_offered(struct ants_pool *pool, const void *arg)
{
	const struct ants_work_waiter *waiter = arg;

	/* Pairs with smp_store_release() in ring_done(). */
	return smp_load_acquire(&waiter->done) || READ_ONCE(waiter->offered);
}

/*
 * Sleep until @waiter, which is enqueued, is notified, or is offered something. Return 0,
 * -EINTR or -ETIMEDOUT. After an error the wait is over: until it is, the work item
 * or group exists; so does the pool, because the item is in it or the caller holds a
 * reference.
 */
int ants_work_sleep(struct ants_pool *pool, struct ants_work_waiter *waiter,
		    unsigned long timeout, unsigned int state)
{
	int err = sleep_until(pool, is_done_or_offered, waiter, false, timeout, state);
	bool gone = false;

	rcu_read_lock();
	/* Pairs with smp_store_release() in ring_done(). */
	if (err && !smp_load_acquire(&waiter->done)) {
		raw_spin_lock_irq(&pool->lock);
		gone = ants_waiter_withdraw(waiter);
		ants_unlock_irq(pool);
	}
	rcu_read_unlock();
	return gone ? err : 0;
}
