// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing a live pool. Changes are made one after another, with pool->config
 * held, and each takes effect under pool->lock in one step. What follows from
 * it for waiters and idle workers is done in several holds of the lock.
 */
#include "internal.h"

/* Check a combination of bounds before any of them is changed. */
int ants_check_bounds(unsigned int capacity, unsigned int queue_depth,
		      unsigned int min_workers, unsigned int flags)
{
	if (!capacity || capacity < min_workers || queue_depth > ANTS_BOUND_MAX)
		return -EINVAL;
	if (capacity == ANTS_UNLIMITED)
		return flags & ANTS_PREALLOC ? -EINVAL : 0;
	if (capacity > ANTS_BOUND_MAX)
		return -EINVAL;
	/* All of its slots are made at once, so the sum matters. */
	if (flags & ANTS_PREALLOC && queue_depth > ANTS_BOUND_MAX - capacity)
		return -EINVAL;
	return 0;
}

static unsigned int floor_of(const struct ants_pool *pool)
{
	if (pool->flags & ANTS_PREALLOC)
		return pool->capacity;
	if (pool->flags & ANTS_MEM_RECLAIM)
		return max(pool->min_workers, 1U);
	return pool->min_workers;
}

static unsigned int stock_kept(const struct ants_pool *pool)
{
	if (pool->flags & ANTS_PREALLOC)
		return pool->limit + pool->spare_slots;
	return max(ANTS_STOCK_MAX, pool->spare_slots);
}

/* Set a combination that ants_check_bounds() has accepted. */
void ants_set_bounds(struct ants_pool *pool, unsigned int capacity,
		     unsigned int queue_depth, unsigned int min_workers)
{
	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(pool->capacity, capacity);
	WRITE_ONCE(pool->queue_depth, queue_depth);
	WRITE_ONCE(pool->min_workers, min_workers);
	pool->limit = capacity == ANTS_UNLIMITED ? ANTS_UNLIMITED :
						   capacity + queue_depth;
	pool->grant_below = pool->limit - capacity / 2;
	pool->floor = floor_of(pool);
	WRITE_ONCE(pool->stock_max, stock_kept(pool) + ANTS_SLOT_BATCH);
	ants_update_admit_limit(pool);
	ants_update_stay_limit(pool);
}

/* No worker would be left: all of them wait, for room or for other tasks. */
static bool too_many_wait(const struct ants_pool *pool)
{
	return pool->nr_nested &&
	       pool->nr_nested + pool->nr_joining >= pool->capacity;
}

/*
 * After a shrink the tasks that wait for room in their own pool may be as many
 * as may run. Then the newest give up, as many as one hold allows. Return true
 * if there may be more.
 */
static bool refuse_round(struct ants_pool *pool)
{
	struct ants_waiter *waiter;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool more;

	ants_lock_batch(pool, &todo, &batch);
	while (too_many_wait(pool) && !ants_todo_full(&todo)) {
		waiter = list_last_entry(&pool->nested, struct ants_waiter,
					 nested);
		ants_waiter_end(pool, waiter, -EDEADLK, &todo);
	}
	more = too_many_wait(pool);
	ants_unlock(pool, &todo);
	return more;
}

/* A waiter without a slot needs one to be granted. */
static void fill_for_waiters(struct ants_pool *pool)
{
	unsigned int nr;

	raw_spin_lock_irq(&pool->lock);
	nr = min(pool->nr_waiting, ants_nr_admissible(pool));
	ants_unlock_irq(pool);
	if (nr)
		ants_stock_fill(pool, nr + pool->spare_slots);
}

/* Do what follows from a change of the bounds, in either direction. */
static void apply_bounds(struct ants_pool *pool)
{
	ants_pause(ANTS_PAUSE_TUNE, pool);
	while (refuse_round(pool))
		;
	ants_retire_above(pool);
	fill_for_waiters(pool);
	ants_grant_all(pool);
}

static void change_bounds(struct ants_pool *pool, unsigned int capacity,
			  unsigned int queue_depth, unsigned int min_workers)
{
	struct ants_wake_batch batch;
	struct ants_todo todo;

	ants_lock_batch(pool, &todo, &batch);
	ants_set_bounds(pool, capacity, queue_depth, min_workers);
	if (pool->nr_idle && ants_may_retire(pool))
		ants_timer_arm_lazy(pool, ants_idle_deadline(pool));
	ants_dispatch(pool, &todo);
	/* In case apply_bounds() is delayed. */
	if (pool->space_wanted && ants_nr_admissible(pool))
		ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
	ants_unlock(pool, &todo);
}

/*
 * Ask for the threads that the floor requires beyond those that were prepared.
 */
static void raise_to_floor(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	if (ants_need_worker(pool))
		ants_todo_upkeep(pool, &todo);
	ants_unlock(pool, &todo);
}

/*
 * Make the threads and slots that a preallocated pool of @capacity lacks.
 * Workers that are leaving still count; the upkeep work replaces them later.
 */
static int prealloc_missing(struct ants_pool *pool, unsigned int capacity,
			    unsigned int queue_depth,
			    struct list_head *prepared)
{
	unsigned int have, seq;
	bool closed;
	int err;

	raw_spin_lock_irq(&pool->lock);
	have = pool->nr_workers;
	seq = pool->release_seq;
	closed = pool->released;
	ants_unlock_irq(pool);
	if (!(pool->flags & ANTS_PREALLOC) || closed)
		return 0;
	/* A shrink lacks none, so it cannot fail. */
	if (capacity <= pool->capacity &&
	    capacity + queue_depth <= pool->limit)
		return 0;
	if (!ants_stock_fill(pool, capacity + queue_depth + pool->spare_slots))
		return -ENOMEM;
	err = ants_workers_prepare(pool, capacity - min(capacity, have), seq,
				   prepared);
	/* The pool was closed meanwhile: then it lacks none. */
	return err == -ESHUTDOWN ? 0 : err;
}

static int set_bounds(struct ants_pool *pool, unsigned int capacity,
		      unsigned int queue_depth, unsigned int min_workers)
{
	LIST_HEAD(prepared);
	int err;

	lockdep_assert_held(&pool->config);
	err = ants_check_bounds(capacity, queue_depth, min_workers,
				pool->flags);
	if (!err)
		err = prealloc_missing(pool, capacity, queue_depth, &prepared);
	if (err)
		return err;
	change_bounds(pool, capacity, queue_depth, min_workers);
	ants_workers_start(pool, &prepared);
	ants_workers_discard(&prepared);
	raise_to_floor(pool);
	apply_bounds(pool);
	return 0;
}

int __ants_tune(struct ants_pool *pool, unsigned int capacity)
{
	if (pool->ordered && capacity != 1)
		return -EINVAL;
	return set_bounds(pool, capacity, pool->queue_depth, pool->min_workers);
}

int ants_set_queue_depth(struct ants_pool *pool, unsigned int depth)
{
	return set_bounds(pool, pool->capacity, depth, pool->min_workers);
}

int ants_set_min_workers(struct ants_pool *pool, unsigned int min)
{
	return set_bounds(pool, pool->capacity, pool->queue_depth, min);
}

int ants_set_max_blocking(struct ants_pool *pool, unsigned int max)
{
	lockdep_assert_held(&pool->config);
	raw_spin_lock_irq(&pool->lock);
	WRITE_ONCE(pool->max_blocking, max);
	ants_unlock_irq(pool);
	return 0;
}

/* @ms is the value that sysfs shows, at any time. */
static void set_expiry(struct ants_pool *pool, unsigned long expiry,
		       unsigned int ms)
{
	lockdep_assert_held(&pool->lock);
	pool->expiry = expiry;
	WRITE_ONCE(pool->expiry_ms, ms);
}

void ants_set_expiry(struct ants_pool *pool, unsigned long expiry)
{
	/* A whole tick may be more than the largest value of the file. */
	set_expiry(pool, expiry,
		   min_t(unsigned int, jiffies_to_msecs(expiry),
			 ANTS_BOUND_MAX));
}

int ants_set_expiry_ms(struct ants_pool *pool, unsigned int ms)
{
	struct ants_todo todo;

	lockdep_assert_held(&pool->config);
	if (!ms || ms > ANTS_BOUND_MAX)
		return -EINVAL;
	ants_lock(pool, &todo);
	/* Sysfs shows what was written, although the pool counts in ticks. */
	set_expiry(pool, msecs_to_jiffies(ms), ms);
	if (pool->nr_idle && ants_may_retire(pool))
		ants_timer_arm_lazy(pool, ants_idle_deadline(pool));
	ants_unlock(pool, &todo);
	return 0;
}

int ants_set_nonblocking(struct ants_pool *pool, bool on)
{
	lockdep_assert_held(&pool->config);
	if (on && pool->flags & ANTS_CALLER_RUNS)
		return -EINVAL;
	raw_spin_lock_irq(&pool->lock);
	if (on)
		WRITE_ONCE(pool->flags, pool->flags | ANTS_NONBLOCKING);
	else
		WRITE_ONCE(pool->flags, pool->flags & ~ANTS_NONBLOCKING);
	ants_unlock_irq(pool);
	return 0;
}

/**
 * ants_tune() - change the capacity of a pool
 * @pool: the pool; it may be released
 * @capacity: the new capacity, or %ANTS_UNLIMITED
 *
 * Takes effect at once: callers that fit now are granted before it returns, and
 * &ants_attrs.space_available is called if a caller was refused that would fit
 * now. The threads that an %ANTS_PREALLOC pool lacks are made first, one by
 * one; if the pool is released meanwhile, no more of them are made. After a
 * shrink accepted tasks still run, the workers above the capacity leave when
 * they have nothing to run, and no task is accepted until the sums fit.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which nothing has changed. -EINVAL: 0, below
 * &ants_attrs.min_workers, beyond INT_MAX, no bound for an %ANTS_PREALLOC pool,
 * or not 1 for an ordered one. -ENOMEM: the threads of an %ANTS_PREALLOC pool
 * cannot be made. -EINTR: the caller is being killed. -EPERM: it is the system
 * pool, which only its administrator may tune.
 */
int ants_tune(struct ants_pool *pool, unsigned int capacity)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	if (pool == ants_system_pool)
		return -EPERM;
	err = ants_config_lock_killable(pool);
	if (err)
		return err;
	err = __ants_tune(pool, capacity);
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_tune);
