// SPDX-License-Identifier: GPL-2.0-only
/* Closing a pool, waiting until nothing of it is left, and opening it again. */
#define pr_fmt(fmt) "ants: " fmt

#include "../internal.h"
#include "../core/walk.h"

static bool fail_round(struct ants_pool *pool, struct ants_todo *todo,
		       void *err)
{
	while (pool->space.nr_waiting && !ants_todo_full(todo))
		ants_waiter_end(pool, ants_first_waiter(pool), *(int *)err,
				todo);
	return pool->space.nr_waiting;
}

/* End all waits with @err; no other can begin. */
static void fail_waiters(struct ants_pool *pool, int err)
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
	fail_waiters(pool, -ESHUTDOWN);
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
static int close_wait(struct ants_pool *pool, unsigned long timeout,
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
	close_wait(pool, MAX_SCHEDULE_TIMEOUT, TASK_UNINTERRUPTIBLE);
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
	err = close_wait(pool, timeout, TASK_KILLABLE);
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
		pool->faults.row = 0;
		pool->faults.row_init = 0;
		WRITE_ONCE(pool->faults.tripped, false);
		pool->wakes.limit = 1;
		ants_update_admit_limit(pool);
		ants_update_stay_limit(pool);
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
	else
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

/*
 * Flush: wait for everything accepted so far. Each task carries one of two
 * epochs. A flush makes the other one current and waits until no task of the
 * old one is left. Flushes come one after another. One that gives up leaves its
 * epoch draining, and the next one waits for the end of that before it flips.
 *
 * Drain: wait for a moment at which the pool has no task. Drains share only the
 * count of those moments, so they need not take turns.
 */

/* Flip the epoch if it is the turn of this caller. */
static bool flush_begin(struct ants_pool *pool, const void *unused)
{
	lockdep_assert_held(&pool->lock);
	if (pool->flushing || pool->in_epoch[!pool->epoch])
		return false;
	pool->flushing = true;
	pool->epoch = !pool->epoch;
	return true;
}

static bool flush_done(struct ants_pool *pool, const void *unused)
{
	lockdep_assert_held(&pool->lock);
	return !pool->in_epoch[!pool->epoch];
}

static void flush_end(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	pool->flushing = false;
	todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}

static int flush_tasks(struct ants_pool *pool, unsigned long timeout)
{
	unsigned long start = jiffies;
	int err;

	err = ants_wait_until(pool, flush_begin, NULL, timeout, TASK_KILLABLE);
	if (err)
		return err;
	ants_pause(ANTS_PAUSE_FLUSH, pool);
	err = ants_wait_until(pool, flush_done, NULL,
			      ants_time_left(start, timeout), TASK_KILLABLE);
	flush_end(pool);
	return err;
}

int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	might_sleep();
	if (pool == ants_system_pool)
		return -EINVAL;
	err = ants_wait_enter(pool, timeout);
	if (err)
		return err;
	err = flush_tasks(pool, timeout);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_flush_timeout);

int ants_flush(struct ants_pool *pool)
{
	return ants_flush_timeout(pool, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_flush);

/* Has the pool been empty since @emptied was read, or is it now? */
static bool drain_done(struct ants_pool *pool, const void *arg)
{
	const unsigned int *emptied = arg;

	lockdep_assert_held(&pool->lock);
	return pool->nr_emptied != *emptied ||
	       (!pool->in_epoch[0] && !pool->in_epoch[1]);
}

int ants_drain_timeout(struct ants_pool *pool, unsigned long timeout)
{
	unsigned int emptied;
	int err;

	might_sleep();
	if (pool == ants_system_pool)
		return -EINVAL;
	err = ants_wait_enter(pool, timeout);
	if (err)
		return err;
	emptied = ants_peek(pool->nr_emptied);
	ants_pause(ANTS_PAUSE_DRAIN, pool);
	err = ants_wait_until(pool, drain_done, &emptied, timeout,
			      TASK_KILLABLE);
	ants_caller_leave(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_drain_timeout);

int ants_drain(struct ants_pool *pool)
{
	return ants_drain_timeout(pool, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_drain);

/*
 * What follows when the breaker of a pool has tripped: see thread.c. A kernel
 * work item fails the callers that wait and ends the pending work items, both
 * with -EIO, and gives plain tasks back to the client. Threads leave after the
 * tasks that they run.
 */

/* The most tasks of one walk: they are on the stack. */
#define DROPPED_MAX	(ANTS_HOLD_MAX / 2)

/* A plain task that will not run, and to whom it was charged. */
struct dropped {
	ants_fn_t fn;
	void *data;
	struct ants_charge charge;
};

/**
 * struct drop - the end of what was pending
 * @walker: the walk
 * @nr: number of plain tasks that one walk has found
 * @found: those tasks
 * @unwanted: number of plain tasks that were given to nobody
 */
struct drop {
	struct ants_walker walker;
	unsigned int nr;
	struct dropped found[DROPPED_MAX];
	unsigned int unwanted;
};

static void drop_item(struct ants_pool *pool, struct ants_work *work,
		      struct ants_todo *todo)
{
	ants_work_take_off(pool, work, todo);
	ants_work_end(pool, work, -EIO, todo);
}

static void drop_task(struct drop *drop, struct ants_slot *slot,
		      struct ants_todo *todo)
{
	struct dropped *task = &drop->found[drop->nr++];
	struct ants_pool *pool = drop->walker.pool;

	*task = (struct dropped){ .fn = slot->fn, .data = slot->data };
	if (unlikely(slot->tag & ANTS_TAG_CHARGED))
		task->charge = *ants_slot_charge(slot);
	ants_pending_del(pool, slot);
	ants_trace(task_cancel, pool, slot->fn, slot->data);
	pool->counts.cancelled++;
	if (ants_task_uncount(pool, slot->tag & ANTS_TAG_EPOCH))
		todo->bits |= ANTS_TODO_WAITQ;
	ants_stock_put(pool, slot);
}

static void see_slot(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_slot *slot = list_entry(entry, struct ants_slot, node);

	if (slot->tag & ANTS_TAG_WORK)
		drop_item(walker->pool, ants_slot_work(slot), &walker->todo);
	else
		drop_task(container_of(walker, struct drop, walker), slot,
			  &walker->todo);
}

/* Give a task back, or end the call that it is. */
static void hand_back(struct drop *drop, const struct dropped *task)
{
	struct ants_pool *pool = drop->walker.pool;

	ants_charge_put(&task->charge);
	if (task->fn == ants_call_run)
		ants_call_fail(task->data, -EIO);
	else if (pool->ops.drop)
		pool->ops.drop(task->fn, task->data);
	else
		drop->unwanted++;
}

/*
 * End the first tasks of @list. Return false if there was none. The functions of
 * the client, in which this thread may die, are called when the walk is over.
 */
static bool drop_some(struct drop *drop, struct ants_pool *pool,
		      struct list_head *list)
{
	unsigned int nr = ants_walk(pool, list, DROPPED_MAX, &drop->walker);
	unsigned int i;

	for (i = 0; i < drop->nr; i++)
		hand_back(drop, &drop->found[i]);
	drop->nr = 0;
	return nr;
}

/* The pool may go from here on. */
static void drop_end(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	pool->faults.queued = false;
	ants_timer_quiesce(pool);
	todo.bits |= ANTS_TODO_WAITQ | ANTS_TODO_NOTICE;
	ants_unlock(pool, &todo);
}

void ants_drop_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool,
					      faults.work);
	struct drop drop = { .walker.see = see_slot };

	pr_err("pool %s: too many faults in a row; it takes no tasks until it is opened again\n",
	       pool->name);
	fail_waiters(pool, -EIO);
	ants_delayed_fail_all(pool);
	while (drop_some(&drop, pool, &pool->urgent.list) ||
	       drop_some(&drop, pool, &pool->pending))
		cond_resched_tasks_rcu_qs();
	if (drop.unwanted)
		pr_err("pool %s: %u tasks were dropped\n", pool->name,
		       drop.unwanted);
	ants_retire_above(pool);
	ants_stock_trim(pool, READ_ONCE(pool->limits.stock));
	drop_end(pool);
}
