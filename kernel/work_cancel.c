// SPDX-License-Identifier: GPL-2.0-only
/* Cancelling work items, and querying their state. */
#include <linux/export.h>

#include "internal.h"

/* Cancel an item that does not run. Return false if it runs or ends anyway. */
bool ants_work_cancel_waiting(struct ants_pool *pool, struct ants_work *work,
			      struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_DELAYED:
	case ANTS_WORK_DUE:
		ants_delayed_cancel(pool, work, todo);
		return true;
	case ANTS_WORK_WAITING:
		ants_waiter_end(pool, work->slot.data, -ECANCELED, todo);
		return true;
	case ANTS_WORK_PENDING:
		ants_work_take_off(pool, work, todo);
		ants_work_end(pool, work, -ECANCELED, todo);
		return true;
	default:
		return false;
	}
}

/*
 * Return true if a run was queued behind the one in progress, and is cancelled
 * now.
 */
static bool cancel_running(struct ants_pool *pool, struct ants_work *work,
			   struct ants_todo *todo)
{
	bool queued = work->state != ANTS_WORK_RUNNING;

	/* One that is ANTS_WORK_LATE: its function has not begun. */
	if (work->flags & ANTS_WORK_DETACHED)
		return ants_work_detach(work->slot.data);
	if (work->state == ANTS_WORK_AGAIN)
		ants_work_take_off(pool, work, todo);
	if (queued)
		ants_work_move(work, ANTS_WORK_RUNNING);
	WRITE_ONCE(work->flags, work->flags | ANTS_WORK_STOP);
	return queued;
}

/* Return true if a run was queued, and will not start. */
static bool cancel_item(struct ants_pool *pool, struct ants_work *work,
			struct ants_todo *todo)
{
	bool ret = ants_work_runs(work) ?
		   cancel_running(pool, work, todo) :
		   ants_work_cancel_waiting(pool, work, todo);

	ants_room_freed(pool, todo);
	return ret;
}

bool ants_work_cancel(struct ants_work *work)
{
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	struct ants_pool *pool;
	bool ret;

	pool = ants_work_lock(work, &todo);
	if (!pool)
		return false;
	ret = cancel_item(pool, work, &todo);
	ants_work_unlock(pool, &todo);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_work_cancel);

/*
 * An item waits for its own end. If lockdep is there, its report on the pool's
 * map says that in full.
 */
static void report_self(struct ants_pool *pool, struct ants_work *work)
{
	ants_wait_report(pool);
	WARN_ONCE(!IS_ENABLED(CONFIG_LOCKDEP),
		  "ants: %ps cancels itself and would wait for its own end\n",
		  work->fn);
}

/* Is @work the task that the caller runs, or does that task run inside it? */
static bool runs_inside(struct ants_pool *pool, const struct ants_work *work)
{
	const struct ants_worker *w = ants_worker_of(pool);

	return w && ants_work_runner(work) == w;
}

bool ants_work_cancel_sync(struct ants_work *work)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_END };
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	struct ants_pool *pool;
	bool ret, self;

	might_sleep();
	pool = ants_work_lock(work, &todo);
	if (!pool)
		return false;
	ret = cancel_item(pool, work, &todo);
	self = runs_inside(pool, work);
	if (READ_ONCE(work->pool) != pool || self) {
		ants_work_unlock_touch(pool, &todo);
		if (self)
			report_self(pool, work);
		return ret;
	}
	WRITE_ONCE(work->flags, work->flags | ANTS_WORK_CLOSED);
	ants_work_await(work, &waiter);
	ants_work_unlock_touch(pool, &todo);
	ants_work_sleep(pool, &waiter, MAX_SCHEDULE_TIMEOUT,
			TASK_UNINTERRUPTIBLE);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_work_cancel_sync);

bool ants_work_cancelled(const struct ants_work *work)
{
	return READ_ONCE(work->flags) & ANTS_WORK_STOP;
}
EXPORT_SYMBOL_GPL(ants_work_cancelled);

/* The states of an item with a run that has not started. */
#define QUEUED_STATES	(BIT(ANTS_WORK_DELAYED) | BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_WAITING) | \
			 BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN) | BIT(ANTS_WORK_REARMED))

unsigned int ants_work_busy(const struct ants_work *work)
{
	unsigned int state = BIT(READ_ONCE(work->state));

	return (state & QUEUED_STATES ? ANTS_WORK_BUSY_PENDING : 0) |
	       (state & ANTS_WORK_RUNS ? ANTS_WORK_BUSY_RUNNING : 0);
}
EXPORT_SYMBOL_GPL(ants_work_busy);

bool ants_work_pending(const struct ants_work *work)
{
	return ants_work_busy(work) & ANTS_WORK_BUSY_PENDING;
}
EXPORT_SYMBOL_GPL(ants_work_pending);
