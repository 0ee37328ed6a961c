/* SPDX-License-Identifier: GPL-2.0-only */
/* walk.c: a look at all entries of one list of a pool. */
#ifndef _ANTS_WALK_H
#define _ANTS_WALK_H

#include <linux/list.h>

#include "dispatch.h"
#include "pool.h"

/**
 * struct ants_cursor - where a walk is
 * @node: L: in pool->cursors
 * @at: L: the first entry that was not seen
 */
struct ants_cursor {
	struct hlist_node node;
	struct list_head *at;
};

/**
 * struct ants_walker - what a walk does
 * @see: called for each entry with the lock of the pool held, at most
 *	ANTS_HOLD_MAX times a hold; may take the entry out of the list
 * @end: called at the end of each hold, with the lock held. NULL if there is
 *	nothing to do
 * @rest: called after each hold, without the lock; may sleep, and returns false
 *	to end the walk. NULL if there is nothing to do. Like the others it must
 *	not call a client: a thread that dies there leaves its cursor behind
 * @pool: the pool; set by ants_walk(), as all that follows
 * @todo: what the hold has decided; a hold ends when it is full
 * @batch: a part of it
 * @cursor: where the walk is
 */
struct ants_walker {
	void (*see)(struct ants_walker *walker, struct list_head *entry);
	void (*end)(struct ants_walker *walker);
	bool (*rest)(struct ants_walker *walker);
	struct ants_pool *pool;
	struct ants_todo todo;
	struct ants_wake_batch batch;
	struct ants_cursor cursor;
};

unsigned int ants_walk(struct ants_pool *pool, struct list_head *list,
		       unsigned int most, struct ants_walker *walker);
void ants_walk_pending(struct ants_pool *pool, struct ants_walker *walker);

#endif /* _ANTS_WALK_H */
