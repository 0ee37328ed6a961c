// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks over the lists of a pool. A list may be long, so a walk takes several
 * holds of the lock, with a cursor between them. A thread that takes an entry
 * out of the list moves the cursors that are at it, see ants_cursors_skip().
 */
#include <linux/delay.h>

#include "../internal.h"

/*
 * The most walks of a pool at once: a thread that takes an entry out of a list
 * looks at all their cursors. A further walk waits that long, and looks again.
 */
#define CURSORS_MAX	ANTS_HOLD_MAX
#define POLL_MS		10

/* The slow path of ants_cursors_skip(): the pool has cursors. */
void __ants_cursors_skip(struct ants_pool *pool, const struct list_head *node)
{
	struct ants_cursor *cursor;

	lockdep_assert_held(&pool->lock);
	hlist_for_each_entry(cursor, &pool->cursors, node)
		if (cursor->at == node)
			cursor->at = node->next;
}

/*
 * Show the first @most entries of @list to @walker. Entries that come or go
 * meanwhile may be seen or not; all others are seen once. Return how many were
 * seen.
 * Context: Process context.
 */
unsigned int ants_walk(struct ants_pool *pool, struct list_head *list,
		       unsigned int most, struct ants_walker *walker)
{
	struct ants_cursor *cursor = &walker->cursor;
	struct list_head *entry;
	unsigned int seen = 0, nr;
	bool more;

	walker->pool = pool;
	ants_lock_batch(pool, &walker->todo, &walker->batch);
	while (pool->pick.nr_cursors == CURSORS_MAX) {
		ants_unlock(pool, &walker->todo);
		msleep(POLL_MS);
		ants_lock_batch(pool, &walker->todo, &walker->batch);
	}
	/* From here on the start of a task takes the slow path, which moves the cursor. */
	cursor->at = list->next;
	hlist_add_head(&cursor->node, &pool->cursors);
	pool->pick.nr_cursors++;
	ants_end_fast_path(pool);
	for (;;) {
		for (nr = 0; nr < ANTS_HOLD_MAX && seen < most && cursor->at != list &&
		     !ants_todo_full(&walker->todo); nr++, seen++) {
			entry = cursor->at;
			cursor->at = entry->next;
			walker->see(walker, entry);
		}
		more = seen < most && cursor->at != list;
		if (!more) {
			hlist_del(&cursor->node);
			pool->pick.nr_cursors--;
		}
		if (walker->end)
			walker->end(walker);
		ants_unlock(pool, &walker->todo);
		if (walker->rest && !walker->rest(walker))
			most = seen;
		if (!more)
			return seen;
		ants_pause(ANTS_PAUSE_WALK, pool);
		cond_resched_tasks_rcu_qs();
		ants_lock_batch(pool, &walker->todo, &walker->batch);
	}
}
EXPORT_SYMBOL_FOR_TESTS(ants_walk);

/*
 * Show the tasks that are pending now to @walker, those of high priority first.
 * Tasks that are accepted meanwhile come after them, and keep no walk busy.
 */
void ants_walk_pending(struct ants_pool *pool, struct ants_walker *walker)
{
	unsigned int nr_high, nr;

	raw_spin_lock_irq(&pool->lock);
	nr_high = pool->pick.nr_high;
	nr = pool->nr_pending - nr_high;
	ants_unlock_irq(pool);
	ants_walk(pool, &pool->urgent.list, nr_high, walker);
	ants_walk(pool, &pool->pending, nr, walker);
}
