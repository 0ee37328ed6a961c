// SPDX-License-Identifier: GPL-2.0-only
/* Closing a pool, waiting until nothing of it is left, and opening it again. */
#include "internal.h"

static bool fail_round(struct ants_pool *pool, struct ants_todo *todo,
		       void *err)
{
	while (pool->space.nr_waiting && !ants_todo_full(todo))
		ants_waiter_end(pool, ants_first_waiter(pool), *(int *)err,
				todo);
	return pool->space.nr_waiting;
}

/* End all waits with @err; no other can begin. */
void ants_fail_waiters(struct ants_pool *pool, int err)
{
	ants_rounds(pool, fail_round, &err);
}

/*
 * Close the pool. This is one step: a submit comes either before it, and its
 * task runs, or after it. A reboot that is about to open the pool sees that it
 * was closed. Return the generation that ends.
 */
unsigned int ants_close_begin(struct ants_pool *pool)
{
	struct ants_todo todo;
	unsigned int generation;

	ants_lock(pool, &todo);
	if (!pool->released)
		trace_ants_pool_release(pool);
	WRITE_ONCE(pool->released, true);
	WRITE_ONCE(pool->release.seq, pool->release.seq + 1);
	pool->release.nr++;
	ants_visit_keep(pool, 1);
	generation = pool->release.generation;
	ants_update_admit_limit(pool);
	ants_timer_quiesce(pool);
	ants_unlock(pool, &todo);
	return generation;
}

/*
 * Do what follows from ants_close_begin(), in several holds of the lock. Until
 * it is done the pool is not opened, and destroy waits.
 */
void ants_close_end(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_pause(ANTS_PAUSE_RELEASE, pool);
	ants_fail_waiters(pool, -ESHUTDOWN);
	ants_delayed_fail_all(pool);
	ants_retire_above(pool);
	ants_lock(pool, &todo);
	pool->release.nr--;
	ants_visit_keep(pool, -1);
	todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}

/* Close the pool, whatever else is done to it; return its generation. */
unsigned int ants_close(struct ants_pool *pool)
{
	unsigned int generation = ants_close_begin(pool);

	ants_close_end(pool);
	return generation;
}

int ants_release(struct ants_pool *pool)
{
	DEFINE_ANTS_VISIT(visit);

	ants_visit_begin(&visit, pool);
	if (pool->protected)
		return -EPERM;
	ants_close(pool);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_release);

/*
 * The pool is drained; or it was, and was opened again before this caller
 * looked.
 */
static bool pool_drained(struct ants_pool *pool, const void *generation)
{
	lockdep_assert_held(&pool->lock);
	return pool->release.generation != *(const unsigned int *)generation ||
	       ants_is_drained(pool);
}

/*
 * Close the pool and wait until it has no task, thread, timer or queued work.
 * Return 0, -ETIMEDOUT or -EINTR.
 */
int ants_close_wait(struct ants_pool *pool, unsigned long timeout,
		    unsigned int state)
{
	unsigned int generation = ants_close(pool);

	ants_pause(ANTS_PAUSE_CLOSED, pool);
	return ants_wait_until(pool, pool_drained, &generation, timeout, state);
}

/* The state of the pool, as an administrator reads it. */
const char *ants_state(struct ants_pool *pool)
{
	const char *state = "open";

	raw_spin_lock_irq(&pool->lock);
	if (pool->released)
		state = ants_is_drained(pool) ? "released" : "draining";
	else if (pool->faults.tripped)
		state = "faulted";
	ants_unlock_irq(pool);
	return state;
}

/* For destroy: from here on the pool is never opened again. */
void ants_drain_for_good(struct ants_pool *pool)
{
	raw_spin_lock_irq(&pool->lock);
	WRITE_ONCE(pool->release.dying, true);
	ants_unlock_irq(pool);
	ants_close_wait(pool, MAX_SCHEDULE_TIMEOUT, TASK_UNINTERRUPTIBLE);
}

int ants_release_timeout(struct ants_pool *pool, unsigned long timeout)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	might_sleep();
	if (pool->protected)
		return -EPERM;
	err = ants_wait_enter(pool, timeout);
	if (err)
		return err;
	err = ants_close_wait(pool, timeout, TASK_KILLABLE);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_release_timeout);

/*
 * Is the pool drained, and was it not closed again since @release_seq was read?
 */
static bool may_open(const struct ants_pool *pool, unsigned int release_seq)
{
	lockdep_assert_held(&pool->lock);
	return pool->release.seq == release_seq && !pool->release.dying &&
	       ants_is_drained(pool);
}

/* Decide and open in one step, so that no release is overtaken. */
static int pool_reopen(struct ants_pool *pool, unsigned int release_seq)
{
	struct ants_todo todo;
	int err = -EBUSY;

	ants_lock(pool, &todo);
	if (may_open(pool, release_seq)) {
		WRITE_ONCE(pool->released, false);
		WRITE_ONCE(pool->release.generation, pool->release.generation + 1);
		pool->space.congested = false;
		pool->space.congested_all = false;
		pool->upkeep.backoff = 0;
		ants_breaker_reset(pool);
		pool->wakes.limit = 1;
		ants_update_admit_limit(pool);
		trace_ants_pool_reboot(pool);
		/* Programs are told that it is open. */
		todo.bits |= ANTS_TODO_WAITQ;
		err = 0;
	}
	ants_unlock(pool, &todo);
	return err;
}

/* Make what an open pool has from the beginning, or nothing. */
static int reboot_prepare(struct ants_pool *pool, unsigned int release_seq,
			  struct list_head *prepared)
{
	unsigned int stock = ants_peek(pool->nr_stock);
	int err;

	err = ants_stock_make(pool, ants_stock_level(pool), release_seq) ?:
	      ants_workers_prepare(pool, pool->config.floor, release_seq, prepared);
	if (err)
		ants_stock_trim(pool, stock);
	return err == -ESHUTDOWN ? -EBUSY : err;
}

/* Open the pool, unless it was released after @release_seq was read. */
int __ants_reboot(struct ants_pool *pool, unsigned int release_seq)
{
	LIST_HEAD(prepared);
	bool may;
	int err;

	lockdep_assert_held(&pool->config.lock);
	raw_spin_lock_irq(&pool->lock);
	may = may_open(pool, release_seq);
	ants_unlock_irq(pool);
	if (!may)
		return -EBUSY;
	err = reboot_prepare(pool, release_seq, &prepared);
	if (err)
		return err;
	ants_pause(ANTS_PAUSE_REBOOT, pool);
	err = pool_reopen(pool, release_seq);
	if (!err)
		ants_workers_start(pool, &prepared);
	ants_workers_discard(&prepared);
	return err;
}

int ants_reboot(struct ants_pool *pool)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	if (pool->protected)
		return -EPERM;
	err = ants_config_lock_killable(pool);
	if (err)
		return err;
	err = __ants_reboot(pool, READ_ONCE(pool->release.seq));
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_reboot);
