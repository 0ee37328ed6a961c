// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers that wait for a work item. All that wait for the same event form a
 * ring. One caller of the ring, its leader, is in the item's list of rings. An
 * item has few rings, so its end takes few steps under the lock, however many
 * callers wait. A ring that is too long to be notified within one hold of the
 * lock moves to the pool, together with the result, and the upkeep work
 * notifies the rest of it.
 */
#include "internal.h"

/*
 * End the wait of one caller. The caller may be gone as soon as @done is
 * stored, so its task is noted before; the RCU section of ants_unlock() keeps
 * the task.
 */
void ants_waiter_done(struct ants_work_waiter *waiter, int result,
		      struct ants_todo *todo)
{
	ants_todo_wake(todo, waiter->task);
	list_del(&waiter->node);
	waiter->result = result;
	/* Pairs with smp_load_acquire() in wait.c. */
	smp_store_release(&waiter->done, true);
}

/*
 * Enqueue the caller as a waiter for @work, and for the event in
 * @waiter->until.
 */
void ants_work_await(struct ants_work *work, struct ants_work_waiter *waiter)
{
	struct ants_work_waiter *leader;

	waiter->task = current;
	waiter->done = false;
	INIT_LIST_HEAD(&waiter->node);
	INIT_HLIST_NODE(&waiter->link);
	hlist_for_each_entry(leader, &work->waiters, link) {
		if (leader->until == waiter->until &&
		    leader->joins == waiter->joins) {
			list_add_tail(&waiter->node, &leader->node);
			return;
		}
	}
	hlist_add_head(&waiter->link, &work->waiters);
}

/*
 * The leader leaves its ring; the next waiter of the ring becomes the leader.
 */
static void leader_resign(struct ants_work_waiter *leader,
			  struct ants_todo *todo)
{
	struct ants_work_waiter *next = list_next_entry(leader, node);

	if (next != leader) {
		next->result = leader->result;
		next->until = leader->until;
		hlist_add_behind(&next->link, &leader->link);
		/* If the old leader was woken, the new one has to act. */
		if (next->joins)
			ants_todo_wake(todo, next->task);
	}
	hlist_del_init(&leader->link);
}

/* A caller that waits for a work item or a group gives up. */
void ants_waiter_withdraw(struct ants_work_waiter *waiter,
			  struct ants_todo *todo)
{
	if (!hlist_unhashed(&waiter->link))
		leader_resign(waiter, todo);
	list_del(&waiter->node);
}

/*
 * Notify the waiters of a ring, the leader last. Stop at half of what one hold
 * may wake: the rest is for waiters that are granted now that an item has
 * ended. Return true if the whole ring is notified.
 */
static bool notify_ring(struct ants_work_waiter *leader, struct ants_todo *todo)
{
	struct ants_work_waiter *waiter;

	while (todo->nr_wake < ANTS_HOLD_MAX / 2) {
		waiter = list_next_entry(leader, node);
		ants_waiter_done(waiter, leader->result, todo);
		if (waiter == leader)
			return true;
	}
	return false;
}

/* These callers may not touch the item any more, even those notified later. */
static void joiners_end(struct ants_work_waiter *leader)
{
	struct ants_work_waiter *waiter = leader;

	do {
		waiter->ended = true;
		waiter->worker->waits_for = NULL;
		waiter = list_next_entry(waiter, node);
	} while (waiter != leader);
}

/* The event that a ring waits for has happened, with @result. */
static void ring_done(struct ants_pool *pool, struct ants_work_waiter *leader,
		      int result, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	hlist_del_init(&leader->link);
	leader->result = result;
	if (leader->joins)
		joiners_end(leader);
	if (likely(notify_ring(leader, todo)))
		return;
	hlist_add_head(&leader->link, &pool->unnotified);
	ants_todo_upkeep(pool, todo);
}

/* Notify all callers that wait for an item, which has ended. */
void ants_work_notify_end(struct ants_pool *pool, struct hlist_head *waiters,
			  int result, struct ants_todo *todo)
{
	while (!hlist_empty(waiters))
		ring_done(pool, hlist_entry(waiters->first,
					    struct ants_work_waiter, link),
			  result, todo);
}

/*
 * A run has ended: notify the callers that wait for it. Callers that wait for
 * the run after it have one run less to wait for.
 */
void ants_work_notify_run(struct ants_pool *pool, struct ants_work *work,
			  struct ants_todo *todo)
{
	struct ants_work_waiter *leader;
	struct hlist_node *next;

	hlist_for_each_entry_safe(leader, next, &work->waiters, link) {
		if (leader->until == ANTS_UNTIL_RUN)
			ring_done(pool, leader, work->result, todo);
		else if (leader->until == ANTS_UNTIL_NEXT)
			leader->until = ANTS_UNTIL_RUN;
	}
}

/*
 * The slow path of ants_work_offer(): a waiter, if any, may be one that joins.
 */
void __ants_work_offer(struct ants_work *work, struct ants_todo *todo)
{
	const struct ants_work_waiter *leader;

	hlist_for_each_entry(leader, &work->waiters, link)
		if (leader->joins)
			ants_todo_wake(todo, leader->task);
	if (work->group)
		ants_group_offer(work->group, todo);
}

/* Notify waiters of ended items, on behalf of the upkeep work. */
bool ants_notify_round(struct ants_pool *pool, struct ants_todo *todo,
		       void *unused)
{
	struct ants_work_waiter *leader;

	if (hlist_empty(&pool->unnotified))
		return false;
	leader = hlist_entry(pool->unnotified.first, struct ants_work_waiter,
			     link);
	ring_done(pool, leader, leader->result, todo);
	return !hlist_empty(&pool->unnotified);
}
