// SPDX-License-Identifier: GPL-2.0-only
/*
 * Giving up what has not started. A caller may cancel pending tasks of a pool,
 * all of them or those that it picks. When a pool is closed, what waits to be
 * accepted fails. When the breaker has tripped, see worker.c, what was accepted
 * fails as well: a kernel work item ends the pending work items with -EIO, and
 * gives plain tasks back to the client. Threads leave after the tasks that they
 * run.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/export.h>

#include "../internal.h"

/**
 * struct cancel_scan - one walk over the pending tasks
 * @walker: the walk
 * @match: picks tasks; NULL for all
 * @arg: the argument of @match
 * @err: the result of work items: -ECANCELED, or -EIO if the breaker has tripped
 * @cancelled: number of tasks cancelled so far
 * @dropped: slots of plain tasks that will not run, if the breaker has tripped
 */
struct cancel_scan {
	struct ants_walker walker;
	ants_match_t match;
	void *arg;
	int err;
	unsigned int cancelled;
	struct list_head dropped;
};

/* Calls are not cancelled: a caller waits for one, or has given its data away. */
static bool picks(const struct cancel_scan *s, const struct ants_slot *slot)
{
	const struct ants_work *work = slot->tag & ANTS_TAG_WORK ? slot->data : NULL;

	return !(work && work->flags & ANTS_WORK_OWN) &&
	       (!s->match || s->match(work ? NULL : slot->fn, slot->data, s->arg));
}

static void see_slot(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_slot *slot = list_entry(entry, struct ants_slot, node);
	struct cancel_scan *s = container_of(walker, struct cancel_scan, walker);
	struct ants_pool *pool = walker->pool;

	if (s->err == -ECANCELED && !picks(s, slot))
		return;
	s->cancelled++;
	if (slot->tag & ANTS_TAG_WORK) {
		ants_work_cancel_waiting(pool, slot->data, s->err, &walker->todo);
		return;
	}
	ants_pending_del(pool, slot);
	ants_trace(task_cancel, pool, slot->fn, slot->data);
	pool->counts.cancelled++;
	ants_task_uncount(pool, slot->tag & ANTS_TAG_EPOCH, &walker->todo);
	if (s->err == -ECANCELED)
		ants_stock_put(pool, slot);
	else
		list_add_tail(&slot->node, &s->dropped);
}

unsigned int ants_cancel_pending(struct ants_pool *pool, ants_match_t match,
				 void *arg)
{
	struct cancel_scan s = {
		.walker = { .see = see_slot, .end = ants_room_freed },
		.match = match, .arg = arg, .err = -ECANCELED,
	};
	unsigned int nr_high, nr;

	might_sleep();
	if (pool == ants_system_pool && !match)
		return 0;
	raw_spin_lock_irq(&pool->lock);
	ants_pool_get_locked(pool);
	nr_high = pool->pick.nr_high;
	nr = pool->nr_pending - nr_high;
	ants_unlock_irq(pool);
	/* Tasks that are accepted meanwhile come after these, and keep no walk busy. */
	ants_walk(pool, &pool->urgent.list, nr_high, &s.walker);
	ants_walk(pool, &pool->pending, nr, &s.walker);
	/* A worker would not have kept more, either. */
	ants_stock_trim(pool, READ_ONCE(pool->limits.stock));
	ants_pool_put(pool);
	return s.cancelled;
}
EXPORT_SYMBOL_GPL(ants_cancel_pending);

static bool fail_round(struct ants_pool *pool, struct ants_todo *todo,
		       void *unused)
{
	struct list_head *high = &pool->waiters.fifo[ANTS_PRIO_HIGH], *fifo;

	while (pool->space.nr_waiting && !ants_todo_full(todo)) {
		fifo = list_empty(high) ? &pool->waiters.fifo[ANTS_PRIO_NORMAL] : high;
		ants_waiter_end(pool, list_first_entry(fifo, struct ants_waiter, node),
				ants_closed_error(pool), todo);
	}
	return pool->space.nr_waiting;
}

static void see_delayed(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_delayed_work *dwork = list_entry(entry, struct ants_delayed_work, node);

	ants_work_cancel_waiting(walker->pool, &dwork->work,
				 ants_closed_error(walker->pool), &walker->todo);
	walker->todo.bits |= ANTS_TODO_WAITQ;
}

/*
 * End all items of a pool that takes no tasks any more; no more are added, and
 * none becomes due.
 */
static void delayed_fail_all(struct ants_pool *pool)
{
	struct ants_walker walker = { .see = see_delayed };

	if (!ants_peek(pool->delayed.nr))
		return;
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_HIGH], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_NORMAL], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.list, UINT_MAX, &walker);
}

/*
 * The pool accepts no task any more: fail what waits to be accepted, callers and work
 * items with a timer. No other wait can begin, and the pool is not opened meanwhile.
 */
void ants_fail_waiting(struct ants_pool *pool)
{
	ants_rounds(pool, fail_round, NULL);
	delayed_fail_all(pool);
}

/*
 * The breaker has tripped: give up what the pool had accepted. Plain tasks are given
 * back when a walk is over: this thread may die in a function of the client. The others
 * are pending until then.
 */
void ants_drop_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool,
					      faults.work);
	struct cancel_scan s = { .walker.see = see_slot, .err = -EIO };
	unsigned int unwanted = 0, seen;
	struct ants_slot *slot, *next;
	struct ants_todo todo;

	pr_err("pool %s: too many faults in a row; it takes no tasks until it is opened again\n",
	       pool->name);
	ants_fail_waiting(pool);
	do {
		INIT_LIST_HEAD(&s.dropped);
		seen = ants_walk(pool, &pool->urgent.list, ANTS_HOLD_MAX, &s.walker) ?:
		       ants_walk(pool, &pool->pending, ANTS_HOLD_MAX, &s.walker);
		list_for_each_entry_safe(slot, next, &s.dropped, node) {
			if (pool->ops.drop)
				pool->ops.drop(slot->fn, slot->data);
			else
				unwanted++;
			raw_spin_lock_irq(&pool->lock);
			ants_stock_put(pool, slot);
			ants_unlock_irq(pool);
		}
		cond_resched_tasks_rcu_qs();
	} while (seen);
	if (unwanted)
		pr_err("pool %s: %u tasks were dropped\n", pool->name, unwanted);
	ants_retire_idle(pool);
	ants_stock_trim(pool, READ_ONCE(pool->limits.stock));
	/* The pool may go from the end of this section on. */
	ants_lock(pool, &todo);
	pool->faults.queued = false;
	ants_timer_quiesce(pool);
	todo.bits |= ANTS_TODO_WAITQ | ANTS_TODO_NOTICE;
	ants_unlock(pool, &todo);
}
