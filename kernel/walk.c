// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks over the workers, the waiters or the pending tasks of a pool, for
 * readers that change nothing that decisions depend on. A list may be long, so a
 * walk takes several holds of the lock, with a cursor in the pool. A thread that
 * takes the entry at the cursor out of the list moves the cursor, see
 * ants_walk_skip(). A pool has one cursor, so the walks take turns.
 */
#include "internal.h"
#include "walk.h"

/* From here on the start of a task takes the slow path, which moves the cursor. */
static void walk_begin(struct ants_pool *pool, struct list_head *list)
{
	raw_spin_lock_irq(&pool->lock);
	pool->walk.at = list->next;
	pool->pick.walking = true;
	ants_unlock_irq(pool);
}

/*
 * Walk within one hold, from where the last one stopped. Return how many
 * entries were seen: fewer than ANTS_HOLD_MAX at the end of the list.
 */
static unsigned int walk_round(struct ants_pool *pool, struct list_head *list,
			       unsigned int most, struct ants_walker *walker)
{
	struct list_head *entry;
	unsigned int nr;

	raw_spin_lock_irq(&pool->lock);
	for (nr = 0; nr < most && pool->walk.at != list; nr++) {
		entry = pool->walk.at;
		pool->walk.at = entry->next;
		walker->see(walker, entry);
	}
	ants_unlock_irq(pool);
	return nr;
}

static void walk_end(struct ants_pool *pool)
{
	raw_spin_lock_irq(&pool->lock);
	pool->walk.at = NULL;
	pool->pick.walking = false;
	ants_unlock_irq(pool);
}

/*
 * Show the first @most entries of @list to @walker. Entries that come or go
 * meanwhile may be seen or not; all others are seen once. Return how many were
 * seen.
 */
unsigned int ants_walk(struct ants_pool *pool, struct list_head *list,
		       unsigned int most, struct ants_walker *walker)
{
	unsigned int seen = 0, nr;

	mutex_lock(&pool->walk.lock);
	walk_begin(pool, list);
	for (;;) {
		nr = walk_round(pool, list, min_t(unsigned int, most - seen,
						  ANTS_HOLD_MAX), walker);
		seen += nr;
		if (walker->rest && !walker->rest(walker))
			break;
		if (nr < ANTS_HOLD_MAX || seen == most)
			break;
		ants_pause(ANTS_PAUSE_WALK, pool);
		cond_resched_tasks_rcu_qs();
	}
	walk_end(pool);
	mutex_unlock(&pool->walk.lock);
	return seen;
}
EXPORT_SYMBOL_FOR_TESTS(ants_walk);
