// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: a slot holds a task from its acceptance to its start. A pool keeps
 * free ones in a stock, so that callers that may not allocate find one and a
 * busy pool never enters the slab.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"

static struct kmem_cache *slot_cache;

int ants_slot_cache_init(void)
{
	slot_cache = KMEM_CACHE(ants_slot, 0);
	return slot_cache ? 0 : -ENOMEM;
}

void ants_slot_cache_exit(void)
{
	kmem_cache_destroy(slot_cache);
}

/*
 * A pool that reclaim depends on must not wait for reclaim: its submitters
 * wait for a slot that comes back instead.
 */
static struct ants_slot *slot_alloc(const struct ants_pool *pool)
{
	gfp_t gfp = GFP_KERNEL;

	if (pool->flags & ANTS_MEM_RECLAIM)
		gfp = GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN;
	if (ants_inject(ANTS_FAIL_SLOT))
		return NULL;
	return kmem_cache_alloc(slot_cache, gfp);
}

void ants_slot_free(struct ants_slot *slot)
{
	if (slot)
		kmem_cache_free(slot_cache, slot);
}

/*
 * Fills the stock up to @nr. Returns false when memory ran out on the way.
 * Context: Process context.
 */
bool ants_stock_fill(struct ants_pool *pool, unsigned int nr)
{
	struct ants_slot *slot;

	while (READ_ONCE(pool->nr_stock) < nr) {
		slot = slot_alloc(pool);
		if (!slot)
			return false;
		raw_spin_lock_irq(&pool->lock);
		ants_stock_put(pool, slot);
		raw_spin_unlock_irq(&pool->lock);
	}
	return true;
}

/* Frees what the stock holds beyond @nr. Context: Process context. */
void ants_stock_trim(struct ants_pool *pool, unsigned int nr)
{
	struct ants_slot *slot;

	while (READ_ONCE(pool->nr_stock) > nr) {
		raw_spin_lock_irq(&pool->lock);
		slot = ants_stock_get(pool);
		raw_spin_unlock_irq(&pool->lock);
		ants_slot_free(slot);
	}
}

/* A task was accepted while unload.c looks for those of a module. */
void ants_scan_hit(struct ants_pool *pool, ants_fn_t fn)
{
	lockdep_assert_held(&pool->lock);
	if (within_module((unsigned long)fn, pool->scan_mod))
		pool->scan_hit = fn;
}
