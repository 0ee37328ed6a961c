// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers that wait for a work item. Those that wait for the same stand in a
 * ring, and one of them, the leader, in the item's list of rings: there are few
 * rings, so that the end of an item takes few steps under the lock. A ring that
 * is too long to be told in the same hold moves, with the result, to the pool,
 * and the upkeep tells the rest of it in rounds.
 */
#include "internal.h"

/*
 * Ends the wait of one caller. After @done is stored it may be gone, so that its
 * task is noted first; the RCU section of ants_unlock() keeps the task.
 */
void ants_waiter_done(struct ants_work_waiter *waiter, int result,
		      struct ants_kick *kick)
{
	ants_kick_wake(kick, waiter->task);
	list_del(&waiter->node);
	waiter->result = result;
	/* Pairs with smp_load_acquire() in wait.c. */
	smp_store_release(&waiter->done, true);
}

/* The caller waits for @work from now on, for what @waiter says. */
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

/* The next one in the ring takes the place of its leader, which goes. */
static void leader_resign(struct ants_work_waiter *leader,
			  struct ants_kick *kick)
{
	struct ants_work_waiter *next = list_next_entry(leader, node);

	if (next != leader) {
		next->result = leader->result;
		next->until = leader->until;
		hlist_add_behind(&next->link, &leader->link);
		/* What the old leader was woken for is up to the new one. */
		if (next->joins)
			ants_kick_wake(kick, next->task);
	}
	hlist_del_init(&leader->link);
}

/* A caller gives up. It waits for a work item, or for a group. */
void ants_waiter_withdraw(struct ants_work_waiter *waiter,
			  struct ants_kick *kick)
{
	if (!hlist_unhashed(&waiter->link))
		leader_resign(waiter, kick);
	list_del(&waiter->node);
}

/*
 * Tells a ring, its leader last, but leaves half of the round to those that are
 * granted a place because an item has ended. True if that was all.
 */
static bool tell_ring(struct ants_work_waiter *leader, struct ants_kick *kick)
{
	struct ants_work_waiter *waiter;

	while (kick->nr_wake < ANTS_ROUND / 2) {
		waiter = list_next_entry(leader, node);
		ants_waiter_done(waiter, leader->result, kick);
		if (waiter == leader)
			return true;
	}
	return false;
}

/* The item is not theirs to look at any more, even if they are told later. */
static void joiners_end(struct ants_work_waiter *leader)
{
	struct ants_work_waiter *waiter = leader;

	do {
		waiter->ended = true;
		waiter->worker->waits_for = NULL;
		waiter = list_next_entry(waiter, node);
	} while (waiter != leader);
}

/* What the ring waited for has happened, with @result. */
static void ring_done(struct ants_pool *pool, struct ants_work_waiter *leader,
		      int result, struct ants_kick *kick)
{
	lockdep_assert_held(&pool->lock);
	hlist_del_init(&leader->link);
	leader->result = result;
	if (leader->joins)
		joiners_end(leader);
	if (likely(tell_ring(leader, kick)))
		return;
	hlist_add_head(&leader->link, &pool->untold);
	ants_kick_upkeep(pool, kick);
}

/* All that waited for an item that has ended. */
void ants_work_tell_end(struct ants_pool *pool, struct hlist_head *waiters,
			int result, struct ants_kick *kick)
{
	while (!hlist_empty(waiters))
		ring_done(pool, hlist_entry(waiters->first,
					    struct ants_work_waiter, link),
			  result, kick);
}

/* Those that waited for the run that has ended; for others one less is to come. */
void ants_work_tell_run(struct ants_pool *pool, struct ants_work *work,
			struct ants_kick *kick)
{
	struct ants_work_waiter *leader;
	struct hlist_node *next;

	hlist_for_each_entry_safe(leader, next, &work->waiters, link) {
		if (leader->until == ANTS_UNTIL_RUN)
			ring_done(pool, leader, work->result, kick);
		else if (leader->until == ANTS_UNTIL_NEXT)
			leader->until = ANTS_UNTIL_RUN;
	}
}

/* There is a caller that waits, perhaps one that joins. */
void __ants_work_offer(struct ants_work *work, struct ants_kick *kick)
{
	const struct ants_work_waiter *leader;

	hlist_for_each_entry(leader, &work->waiters, link)
		if (leader->joins)
			ants_kick_wake(kick, leader->task);
	if (work->group)
		ants_group_offer(work->group, kick);
}

/* One round of a ring whose item has ended. False if there is none left. */
static bool untold_round(struct ants_pool *pool)
{
	struct ants_work_waiter *leader;
	struct ants_round round;
	struct ants_kick kick;
	bool found;

	ants_lock_round(pool, &kick, &round);
	found = !hlist_empty(&pool->untold);
	if (found) {
		leader = hlist_entry(pool->untold.first,
				     struct ants_work_waiter, link);
		ring_done(pool, leader, leader->result, &kick);
	}
	ants_unlock(pool, &kick);
	return found;
}

/* The upkeep's part. */
void ants_tell_untold(struct ants_pool *pool)
{
	while (!hlist_empty(&pool->untold) && untold_round(pool))
		;
}
