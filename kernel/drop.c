// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows when the breaker of a pool has tripped: see breaker.c. A kernel
 * work item fails the callers that wait and ends the pending work items, both
 * with -EIO, and gives plain tasks back to the client. Threads leave after the
 * tasks that they run.
 */
#define pr_fmt(fmt) "ants: " fmt

#include "internal.h"
#include "walk.h"

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
	ants_fail_waiters(pool, -EIO);
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
