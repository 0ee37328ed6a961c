// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing a live pool. Changes are made one after another, with pool->config.lock
 * held, and each takes effect under pool->lock in one step. What follows from
 * it for waiters and idle workers is done in several holds of the lock.
 *
 * Where the workers run is such a change as well; each worker applies it before its
 * next task, see affinity.c. Parked workers are woken to apply it: otherwise all others
 * would have to check for it as long as those sleep.
 *
 * So is CPU hotplug. When the last online CPU of a pool's mask goes offline, the
 * scheduler lets the workers run anywhere, isolated CPUs included, so the workers have
 * to rebind themselves; they have to do so again when a CPU of the mask comes back.
 * That waits for no pool.
 */
#include <linux/cpuhotplug.h>
#include <linux/export.h>

#include "../internal.h"

/* Check a combination of bounds before any of them is changed. */
int ants_check_bounds(unsigned int capacity, unsigned int queue_depth,
		      unsigned int min_workers, unsigned int flags)
{
	bool prealloc = flags & ANTS_PREALLOC;
	/* All slots of such a pool are made at once, so the sum matters. */
	unsigned int most = ANTS_BOUND_MAX - (prealloc ? queue_depth : 0);

	if (!capacity || capacity < min_workers ||
	    max(min_workers, queue_depth) > ANTS_BOUND_MAX)
		return -EINVAL;
	return capacity <= most || (capacity == ANTS_UNLIMITED && !prealloc) ? 0 : -EINVAL;
}

/* A batch more than ants_stock_level(), or the stock would be both filled and trimmed. */
static void set_stock_limit(struct ants_pool *pool, unsigned int in_flight)
{
	unsigned int stock = pool->flags & ANTS_PREALLOC ?
			     in_flight + pool->limits.spare_slots :
			     max(ANTS_STOCK_MAX, ants_stock_level(pool));

	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(pool->limits.stock, stock + ANTS_SLOT_BATCH);
}

/* Set a combination that ants_check_bounds() has accepted. */
void ants_set_bounds(struct ants_pool *pool, unsigned int capacity,
		     unsigned int queue_depth, unsigned int min_workers)
{
	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(pool->limits.capacity, capacity);
	WRITE_ONCE(pool->config.queue_depth, queue_depth);
	WRITE_ONCE(pool->config.min_workers, min_workers);
	pool->limits.in_flight = capacity == ANTS_UNLIMITED ? ANTS_UNLIMITED :
						   capacity + queue_depth;
	pool->limits.grant_below = pool->limits.in_flight - capacity / 2;
	pool->config.floor = pool->flags & ANTS_PREALLOC ? capacity :
			     max(min_workers, pool->flags & ANTS_MEM_RECLAIM ? 1U : 0U);
	set_stock_limit(pool, pool->limits.in_flight);
	ants_update_admit_limit(pool);
	ants_update_stay_limit(pool);
}

/*
 * After a shrink the tasks that wait for room in their own pool may be as many
 * as may run: then no worker would be left, for the others wait for tasks. The
 * newest give up, as many as one lock hold allows. Return true if there may be more.
 */
static bool refuse_round(struct ants_pool *pool, struct ants_todo *todo,
			 void *unused)
{
	struct ants_waiter *waiter;

	while (pool->waiters.nr_nested &&
	       pool->waiters.nr_nested + pool->nr_joining >=
	       pool->limits.capacity) {
		if (ants_todo_full(todo))
			return true;
		waiter = list_last_entry(&pool->waiters.nested, struct ants_waiter,
					 nested);
		ants_waiter_end(pool, waiter, -EDEADLK, todo);
	}
	return false;
}

/*
 * Make the threads and slots that a preallocated pool of @capacity lacks.
 * Workers that are leaving still count; the maker replaces them later.
 */
static int prealloc_missing(struct ants_pool *pool, unsigned int capacity,
			    unsigned int queue_depth,
			    struct list_head *prepared)
{
	unsigned int have;
	int err;

	/* A shrink lacks none, so it cannot fail. One of the two is as it was. */
	if (!(pool->flags & ANTS_PREALLOC) || READ_ONCE(pool->released) ||
	    capacity + queue_depth <= pool->limits.in_flight)
		return 0;
	raw_spin_lock_irq(&pool->lock);
	have = pool->workers.nr;
	/* The upkeep work must not give up what is made here. */
	set_stock_limit(pool, capacity + queue_depth);
	ants_unlock_irq(pool);
	err = ants_stock_make(pool, capacity + queue_depth + pool->limits.spare_slots) ?:
	      ants_workers_prepare(pool, capacity - min(capacity, have), prepared);
	/* The pool was closed meanwhile: then it lacks none. */
	return READ_ONCE(pool->released) ? 0 : err;
}

/* Set one of the bounds, and do what follows, in either direction. */
static int set_bound(struct ants_pool *pool, enum ants_setting what, unsigned int value)
{
	unsigned int capacity = what == ANTS_SET_CAPACITY ? value : pool->limits.capacity;
	unsigned int queue_depth = what == ANTS_SET_QUEUE_DEPTH ? value :
				   pool->config.queue_depth;
	unsigned int min_workers = what == ANTS_SET_MIN_WORKERS ? value :
				   pool->config.min_workers;
	unsigned int was = pool->limits.capacity;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	LIST_HEAD(prepared);
	unsigned int nr;
	int err;

	err = pool->ordered && capacity != 1 ? -EINVAL :
	      ants_check_bounds(capacity, queue_depth, min_workers, pool->flags);
	if (err)
		return err;
	err = prealloc_missing(pool, capacity, queue_depth, &prepared);
	ants_lock_batch(pool, &todo, &batch);
	/* After an error what was made is given up; what else follows finds nothing to do. */
	if (err) {
		set_stock_limit(pool, pool->limits.in_flight);
	} else {
		ants_set_bounds(pool, capacity, queue_depth, min_workers);
		trace_ants_pool_tune(pool, NULL, NULL, NULL, 0, was);
	}
	ants_timer_arm_reaper(pool);
	ants_dispatch(pool, &todo);
	/* In case what follows is delayed. */
	if (pool->space.wanted && ants_nr_admissible(pool))
		ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
	ants_unlock(pool, &todo);
	ants_workers_start(pool, &prepared);
	ants_pause(ANTS_PAUSE_TUNE, pool);
	ants_rounds(pool, refuse_round, NULL);
	ants_retire_idle(pool);
	ants_lock(pool, &todo);
	/* The floor may require more threads than were prepared. */
	ants_ask_for_worker(pool, &todo);
	/* A waiter needs a slot to be granted. */
	nr = min(pool->space.nr_waiting, ants_nr_admissible(pool));
	ants_unlock(pool, &todo);
	if (nr)
		ants_stock_fill(pool, nr + pool->limits.spare_slots);
	ants_grant_all(pool);
	/*
	 * Give up slots that a preallocated pool does not need: it has shrunk,
	 * or it could not grow after they were made.
	 */
	ants_stock_trim(pool, READ_ONCE(pool->limits.stock));
	return err;
}

/* Set a number that each event which it is about looks at anew. */
static int set_number(struct ants_pool *pool, enum ants_setting what, unsigned int value)
{
	bool in_range = value && value <= ANTS_BOUND_MAX;
	int err = 0;

	raw_spin_lock_irq(&pool->lock);
	if (what == ANTS_SET_MAX_BLOCKING) {
		WRITE_ONCE(pool->config.max_blocking, value);
	} else if (what == ANTS_SET_MAX_FAULTS && in_range) {
		WRITE_ONCE(pool->faults.max, value);
	} else if (what == ANTS_SET_EXPIRY_MS && in_range) {
		/* Sysfs shows what was written, although the pool counts in ticks. */
		WRITE_ONCE(pool->config.expiry_ms, value);
		pool->timer.expiry = msecs_to_jiffies(value);
		ants_timer_arm_reaper(pool);
	} else if (what == ANTS_SET_NONBLOCKING && value <= !(pool->flags & ANTS_CALLER_RUNS)) {
		WRITE_ONCE(pool->flags, value ? pool->flags | ANTS_NONBLOCKING :
						pool->flags & ~ANTS_NONBLOCKING);
	} else {
		err = -EINVAL;
	}
	ants_unlock_irq(pool);
	return err;
}

/* Every worker that exists has a change to apply. */
static void invalidate(struct ants_pool *pool, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	pool->target.seq++;
	pool->target.nr_stale = pool->workers.nr - pool->workers.nr_making;
	ants_update_stay_limit(pool);
	if (!pool->workers.nr_idle)
		return;
	pool->target.rebind_wanted = true;
	ants_todo_upkeep(pool, todo);
}

/* Make @affinity the pool's own and let the workers apply it. */
void ants_affinity_change(struct ants_pool *pool,
			  struct ants_affinity *affinity)
{
	struct ants_todo todo;

	lockdep_assert_held(&pool->config.lock);
	ants_lock(pool, &todo);
	pool->target.was_bound |= !pool->target.affinity->unbound;
	swap(pool->target.affinity, affinity);
	pool->target.mask_offline = false;
	invalidate(pool, &todo);
	ants_unlock(pool, &todo);
	ants_affinity_put(affinity);
}

/* After an error nothing has changed. */
int ants_set(struct ants_pool *pool, const struct ants_change *change)
{
	struct ants_affinity *affinity;

	lockdep_assert_held(&pool->config.lock);
	switch (change->what) {
	case ANTS_SET_CAPACITY:
	case ANTS_SET_QUEUE_DEPTH:
	case ANTS_SET_MIN_WORKERS:
		return set_bound(pool, change->what, change->value);
	case ANTS_SET_STALL_MS:
		return ants_set_times(pool, pool->times.every, change->value);
	case ANTS_SET_TIMING:
		return ants_set_times(pool, change->value, pool->stall.ms);
	case ANTS_SET_NICE:
	case ANTS_SET_SCHED:
	case ANTS_SET_CPUS:
		affinity = ants_affinity_with(pool, change);
		if (!IS_ERR(affinity))
			ants_affinity_change(pool, affinity);
		return PTR_ERR_OR_ZERO(affinity);
	default:
		return set_number(pool, change->what, change->value);
	}
}

/* The same for a user of the pool. */
static int set_user(struct ants_pool *pool, enum ants_setting what,
		    unsigned int value, const struct cpumask *cpus)
{
	struct ants_change change = { what, value, cpus };
	int err = ants_config_lock_user(pool, &pool->config.lock);

	if (err)
		return err;
	err = ants_set(pool, &change);
	ants_config_unlock(pool, &pool->config.lock);
	return err;
}

int ants_tune(struct ants_pool *pool, unsigned int capacity)
{
	return set_user(pool, ANTS_SET_CAPACITY, capacity, NULL);
}
EXPORT_SYMBOL_GPL(ants_tune);

int ants_set_nice(struct ants_pool *pool, int nice)
{
	return set_user(pool, ANTS_SET_NICE, nice, NULL);
}
EXPORT_SYMBOL_GPL(ants_set_nice);

int ants_set_sched(struct ants_pool *pool, enum ants_sched sched)
{
	return set_user(pool, ANTS_SET_SCHED, sched, NULL);
}
EXPORT_SYMBOL_GPL(ants_set_sched);

int ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	return set_user(pool, ANTS_SET_CPUS, 0, mask);
}
EXPORT_SYMBOL_GPL(ants_set_cpumask);

/*
 * A CPU has come, or has gone; only then can the workers see that they have to move.
 * This does not depend on which CPU it is: newer kernels move every thread that was
 * made for a NUMA node or a set of CPUs back to those when a CPU comes, whatever it
 * was bound to since.
 */
static int cpus_change(unsigned int cpu)
{
	struct ants_affinity *affinity;
	struct ants_pool *pool;
	struct ants_todo todo;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered) {
		ants_lock(pool, &todo);
		affinity = pool->target.affinity;
		if (!affinity->unbound || pool->target.was_bound) {
			if (cpumask_intersects(to_cpumask(affinity->cpus), cpu_online_mask))
				pool->target.mask_offline = false;
			invalidate(pool, &todo);
		}
		ants_unlock(pool, &todo);
	}
	mutex_unlock(&ants_registry_lock);
	return 0;
}

static int online_state;
static int dead_state;

/* After an error ants_hotplug_exit() is called as well. */
int ants_hotplug_init(void)
{
	dead_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					       "ants:dead", NULL, cpus_change);
	if (dead_state < 0)
		return dead_state;
	online_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
						 "ants:online", cpus_change, NULL);
	return min(online_state, 0);
}

void ants_hotplug_exit(void)
{
	if (online_state > 0)
		cpuhp_remove_state_nocalls(online_state);
	if (dead_state > 0)
		cpuhp_remove_state_nocalls(dead_state);
}
