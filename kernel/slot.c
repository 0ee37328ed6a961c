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
static gfp_t slot_gfp(const struct ants_pool *pool)
{
	if (pool->flags & ANTS_MEM_RECLAIM)
		return GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN;
	return GFP_KERNEL;
}

/* Makes up to @nr slots; a single one if there is no memory for them all. */
static unsigned int slots_alloc(const struct ants_pool *pool, unsigned int nr,
				void **slots)
{
	gfp_t gfp = slot_gfp(pool);

	if (ants_inject(ANTS_FAIL_SLOT))
		return 0;
	if (kmem_cache_alloc_bulk(slot_cache, gfp | __GFP_NOWARN, nr, slots))
		return nr;
	slots[0] = kmem_cache_alloc(slot_cache, gfp);
	return !!slots[0];
}

static void stock_add(struct ants_pool *pool, void **slots, unsigned int nr)
{
	struct ants_slot *first = slots[0], *last = first;
	unsigned int i;

	for (i = 1; i < nr; i++) {
		last->next = slots[i];
		last = slots[i];
	}
	raw_spin_lock_irq(&pool->lock);
	last->next = pool->stock;
	pool->stock = first;
	pool->nr_stock += nr;
	raw_spin_unlock_irq(&pool->lock);
}

/*
 * Fills the stock up to @nr. Returns false when memory ran out on the way.
 * Context: Process context.
 */
bool ants_stock_fill(struct ants_pool *pool, unsigned int nr)
{
	void *slots[ANTS_SLOT_BATCH];
	unsigned int have, got;

	while ((have = READ_ONCE(pool->nr_stock)) < nr) {
		got = slots_alloc(pool, min_t(unsigned int, nr - have,
					      ANTS_SLOT_BATCH), slots);
		if (!got)
			return false;
		stock_add(pool, slots, got);
	}
	return true;
}

/* Takes @nr slots out of the stock, a round at most, as a chain. */
struct ants_slot *ants_stock_cut(struct ants_pool *pool, unsigned int nr)
{
	struct ants_slot *chain = NULL, *slot;

	lockdep_assert_held(&pool->lock);
	while (nr--) {
		slot = ants_stock_get(pool);
		slot->next = chain;
		chain = slot;
	}
	return chain;
}

/* Frees a chain that was cut. */
void ants_slots_free(struct ants_slot *chain)
{
	void *slots[ANTS_ROUND];
	size_t nr = 0;

	for (; chain; chain = chain->next)
		slots[nr++] = chain;
	kmem_cache_free_bulk(slot_cache, nr, slots);
}

/*
 * Frees what the stock holds beyond @nr, but not what others add meanwhile.
 * Context: Process context.
 */
void ants_stock_trim(struct ants_pool *pool, unsigned int nr)
{
	unsigned int excess = READ_ONCE(pool->nr_stock), cut;
	struct ants_slot *chain;

	for (excess -= min(excess, nr); excess; excess -= cut) {
		raw_spin_lock_irq(&pool->lock);
		cut = min3(excess, pool->nr_stock, (unsigned int)ANTS_ROUND);
		chain = ants_stock_cut(pool, cut);
		raw_spin_unlock_irq(&pool->lock);
		if (!chain)
			return;
		ants_slots_free(chain);
	}
}

/* A task was accepted while unload.c looks for those of a module. */
void ants_scan_hit(struct ants_pool *pool, unsigned long text)
{
	lockdep_assert_held(&pool->lock);
	if (within_module(text, pool->scan_mod))
		pool->scan_hit = text;
}

/* Unlinks a pending task, from wherever it stands. */
void ants_pending_del(struct ants_pool *pool, struct ants_slot *slot)
{
	lockdep_assert_held(&pool->lock);
	ants_scan_skip(pool, &slot->node);
	__list_del_entry(&slot->node);
	pool->nr_pending--;
	pool->nr_high -= !!(slot->tag & ANTS_TAG_HIGH);
}

/*
 * High priority goes first, but one task in ANTS_HIGH_RUN + 1 is another, if
 * there is one, so that none waits for ever.
 */
static struct list_head *pick_list(struct ants_pool *pool)
{
	if (!pool->nr_high)
		return &pool->pending;
	if (list_empty(&pool->pending))
		return &pool->urgent;
	if (pool->high_run++ < ANTS_HIGH_RUN)
		return &pool->urgent;
	pool->high_run = 0;
	return &pool->pending;
}

/* ants_pending_pop() while the oldest task may not be the next one. */
struct ants_slot *ants_pending_pick(struct ants_pool *pool)
{
	struct ants_slot *slot;

	slot = list_first_entry(pick_list(pool), struct ants_slot, node);
	ants_pending_del(pool, slot);
	return slot;
}
