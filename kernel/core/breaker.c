// SPDX-License-Identifier: GPL-2.0-only
/*
 * The breaker of a pool. It trips after too many faults in a row, with no task
 * between them that has ended well; then the pool takes no more tasks until it
 * is closed and opened again. It also trips if worker_init fails that often in
 * a row while the pool has no other thread. What was accepted by then is given
 * up: see release.c.
 */
#define pr_fmt(fmt) "ants: " fmt

#include "../internal.h"

/* The pool has been opened. */
void ants_breaker_reset(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	pool->faults.row = 0;
	pool->faults.row_init = 0;
	WRITE_ONCE(pool->faults.tripped, false);
	ants_update_stay_limit(pool);
}

/*
 * Trip the breaker; a kernel work item does the rest. The system pool is left
 * alone: no client can open it again, so the faults of one client must not close
 * it for all.
 */
static void trip(struct ants_pool *pool, struct ants_todo *todo)
{
	if (pool->faults.tripped || pool == ants_system_pool)
		return;
	WRITE_ONCE(pool->faults.tripped, true);
	ants_update_admit_limit(pool);
	ants_update_stay_limit(pool);
	pool->faults.queued = true;
	todo->bits |= ANTS_TODO_TRIP | ANTS_TODO_NOTICE;
}

/* A thread has died in a task. */
void ants_breaker_count(struct ants_pool *pool, struct ants_todo *todo)
{
	struct ants_faults *faults = &pool->faults;
	u64 completed = ants_nr_completed(pool);

	lockdep_assert_held(&pool->lock);
	if (faults->completed != completed)
		faults->row = 0;
	faults->completed = completed;
	if (++faults->row >= faults->max)
		trip(pool, todo);
}

/* The number of threads that neither are about to begin nor are leaving. */
static unsigned int nr_ready(const struct ants_pool *pool)
{
	return pool->workers.nr - pool->workers.nr_new -
	       pool->workers.nr_leaving;
}

/*
 * A thread has failed to get ready: worker_init has returned an error, or the
 * thread has died in it. Pause before the next one is made. Threads that get
 * ready side by side and fail count as one try, here and for the pause. The
 * thread that has failed still counts as ready.
 */
void ants_init_failed(struct ants_pool *pool, struct ants_todo *todo)
{
	bool counted = ants_backing_off(pool);

	lockdep_assert_held(&pool->lock);
	ants_back_off(pool);
	if (counted || nr_ready(pool) > 1)
		return;
	if (++pool->faults.row_init >= pool->faults.max)
		trip(pool, todo);
}

int ants_set_max_faults(struct ants_pool *pool, unsigned int max)
{
	lockdep_assert_held(&pool->config.lock);
	if (!max || max > ANTS_BOUND_MAX)
		return -EINVAL;
	raw_spin_lock_irq(&pool->lock);
	WRITE_ONCE(pool->faults.max, max);
	ants_unlock_irq(pool);
	return 0;
}
