// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots. A slot holds a task from its acceptance to its start. A pool keeps
 * free slots in stock, so that a caller that may not allocate finds one, and so
 * that a busy pool never enters the slab.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../internal.h"

struct kmem_cache *ants_slot_cache;

/*
 * Add a batch of slots to the stock; @more says how hard their allocation tries. A pool
 * that memory reclaim depends on must not wait for memory reclaim, whatever @more says.
 * Its submitters wait until a slot is returned instead.
 */
static bool stock_grow(struct ants_pool *pool, gfp_t more)
{
	gfp_t gfp = READ_ONCE(pool->flags) & ANTS_MEM_RECLAIM ?
		    GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN : GFP_KERNEL | more;
	void *slots[ANTS_SLOT_BATCH];
	unsigned int i;

	if (ants_inject(ANTS_FAIL_SLOT) ||
	    !kmem_cache_alloc_bulk(ants_slot_cache, gfp, ANTS_SLOT_BATCH, slots))
		return false;
	raw_spin_lock_irq(&pool->lock);
	for (i = 0; i < ANTS_SLOT_BATCH; i++)
		ants_stock_put(pool, slots[i]);
	ants_unlock_irq(pool);
	return true;
}

/*
 * Fill the stock up to @nr slots, or somewhat more. Return false if an
 * allocation failed.
 * Context: Process context.
 */
bool ants_stock_fill(struct ants_pool *pool, unsigned int nr)
{
	while (ants_peek(pool->nr_stock) < nr)
		if (!stock_grow(pool, 0))
			return false;
	return true;
}

/*
 * The same for as many slots as a client or an administrator asks for. This fails
 * when memory has run out, rather than have programs killed for it, when the
 * caller is being killed, and when the pool was closed since @release_seq was
 * read. Return 0, -ENOMEM, -EINTR or -ESHUTDOWN.
 */
int ants_stock_make(struct ants_pool *pool, unsigned int nr,
		    unsigned int release_seq)
{
	while (ants_peek(pool->nr_stock) < nr) {
		if (READ_ONCE(pool->release.seq) != release_seq)
			return -ESHUTDOWN;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!stock_grow(pool, __GFP_RETRY_MAYFAIL | __GFP_NOWARN))
			return -ENOMEM;
		ants_pause(ANTS_PAUSE_STOCK, pool);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/*
 * Free the slots that the stock holds beyond @nr now, as many in a hold of the lock as
 * it allows. Slots that others add meanwhile stay.
 * Context: Process context.
 */
void ants_stock_trim(struct ants_pool *pool, unsigned int nr)
{
	unsigned int excess = ants_peek(pool->nr_stock), cut, i;
	struct ants_slot *slots[ANTS_HOLD_MAX];

	for (excess -= min(excess, nr); excess; excess -= cut) {
		raw_spin_lock_irq(&pool->lock);
		/* Others may trim as well. */
		cut = min3(excess, pool->nr_stock - min(pool->nr_stock, nr),
			   (unsigned int)ANTS_HOLD_MAX);
		for (i = 0; i < cut; i++)
			slots[i] = ants_stock_get(pool);
		ants_unlock_irq(pool);
		if (!cut)
			return;
		kmem_cache_free_bulk(ants_slot_cache, cut, (void **)slots);
	}
}

/*
 * A task was accepted while main.c scans for those of a module; note a match.
 */
void ants_scan_hit(struct ants_pool *pool, unsigned long addr)
{
	lockdep_assert_held(&pool->lock);
	if (within_module(addr, pool->scan_mod))
		pool->scan_hit = addr;
}

/* The slow path of ants_cursors_skip(): the pool has cursors. */
void __ants_cursors_skip(struct ants_pool *pool, const struct list_head *node)
{
	struct ants_walker *walker;

	lockdep_assert_held(&pool->lock);
	hlist_for_each_entry(walker, &pool->cursors, node)
		if (walker->at == node)
			walker->at = node->next;
}

/* Unlink a pending task from any position. */
void ants_pending_del(struct ants_pool *pool, struct ants_slot *slot)
{
	lockdep_assert_held(&pool->lock);
	ants_cursors_skip(pool, &slot->node);
	ants_unlink(&slot->node);
	pool->nr_pending--;
	pool->pick.nr_high -= !!(slot->tag & ANTS_TAG_HIGH);
}

/* The slow path of pending_pop(): the oldest task may not be the next one. */
struct ants_slot *ants_pending_pick(struct ants_pool *pool)
{
	struct list_head *fifo = ants_pick_list(&pool->urgent.list, &pool->pending,
						&pool->urgent.run);
	struct ants_slot *slot = list_first_entry(fifo, struct ants_slot, node);

	ants_pending_del(pool, slot);
	return slot;
}
