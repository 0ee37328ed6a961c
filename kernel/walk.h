/* SPDX-License-Identifier: GPL-2.0-only */
/* walk.c: a look at all entries of one list of a pool. */
#ifndef _ANTS_WALK_H
#define _ANTS_WALK_H

#include <linux/list.h>

#include "pool.h"

/**
 * struct ants_walker - what a walk does
 * @see: called for each entry with the lock of the pool held, at most
 *	ANTS_HOLD_MAX times a hold; does not change the list
 * @rest: called after each hold, without the lock; may sleep, and returns false
 *	to end the walk. NULL if there is nothing to do
 */
struct ants_walker {
	void (*see)(struct ants_walker *walker, struct list_head *entry);
	bool (*rest)(struct ants_walker *walker);
};

unsigned int ants_walk(struct ants_pool *pool, struct list_head *list,
		       unsigned int most, struct ants_walker *walker);

#endif /* _ANTS_WALK_H */
