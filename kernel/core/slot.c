// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots. A slot holds a task from its acceptance to its start. A pool keeps
 * free slots in stock, so that a caller that may not allocate finds one, and so
 * that a busy pool never enters the slab.
 */
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../internal.h"

/*
 * Slots are allocated a chunk at a time. A slot that is given up is only
 * counted; the slab is entered once, when all slots of the chunk are given up.
 */
#define CHUNK_SIZE	2048

/**
 * struct ants_chunk - slots that are allocated and freed together
 * @next: the next one in a chain of chunks to be freed
 * @nr_gone: L: number of slots given up; when the last one is, the chunk is
 *	freed
 * @slots: those not given up are in the stock, pending, or held by a waiter
 */
struct ants_chunk {
	union {
		struct ants_chunk *next;
		unsigned int nr_gone;
	};
	struct ants_slot slots[ANTS_SLOT_BATCH];
};

static_assert(sizeof(struct ants_chunk) <= CHUNK_SIZE);

static struct kmem_cache *chunk_cache;

void ants_slot_cache_exit(void)
{
	kmem_cache_destroy(chunk_cache);
}

int ants_slot_cache_init(void)
{
	/* The alignment lets a slot find its chunk. */
	chunk_cache = kmem_cache_create("ants_slots", CHUNK_SIZE, CHUNK_SIZE, 0,
					NULL);
	return chunk_cache ? 0 : -ENOMEM;
}

/*
 * Add a chunk to the stock; @more says how hard its allocation tries. A pool that
 * memory reclaim depends on must not wait for memory reclaim, whatever @more says.
 * Its submitters wait until a slot is returned instead.
 */
static bool stock_grow(struct ants_pool *pool, gfp_t more)
{
	bool reclaim = READ_ONCE(pool->flags) & ANTS_MEM_RECLAIM;
	struct ants_chunk *chunk;
	unsigned int i;

	if (ants_inject(ANTS_FAIL_SLOT))
		return false;
	chunk = kmem_cache_alloc(chunk_cache, reclaim ?
				 GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN :
				 GFP_KERNEL | more);
	if (!chunk)
		return false;
	chunk->nr_gone = 0;
	for (i = 1; i < ANTS_SLOT_BATCH; i++)
		chunk->slots[i - 1].next = &chunk->slots[i];
	raw_spin_lock_irq(&pool->lock);
	chunk->slots[ANTS_SLOT_BATCH - 1].next = pool->stock;
	pool->stock = chunk->slots;
	pool->nr_stock += ANTS_SLOT_BATCH;
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

/* Give up a slot. If it is the last one of its chunk, add that to @gone. */
static void slot_drop(struct ants_pool *pool, struct ants_slot *slot,
		      struct ants_chunk **gone)
{
	struct ants_chunk *chunk = PTR_ALIGN_DOWN((void *)slot, CHUNK_SIZE);

	lockdep_assert_held(&pool->lock);
	if (++chunk->nr_gone < ANTS_SLOT_BATCH)
		return;
	chunk->next = *gone;
	*gone = chunk;
}

static void chunks_free(struct ants_chunk *chain)
{
	struct ants_chunk *next;

	for (; chain; chain = next) {
		next = chain->next;
		kmem_cache_free(chunk_cache, chain);
	}
}

/*
 * Give up the slots that the stock holds beyond @nr now, as many in a hold of the
 * lock as it allows. Slots that others add meanwhile stay.
 * Context: Process context.
 */
void ants_stock_trim(struct ants_pool *pool, unsigned int nr)
{
	unsigned int excess = ants_peek(pool->nr_stock), cut, i;
	struct ants_chunk *gone;

	for (excess -= min(excess, nr); excess; excess -= cut) {
		gone = NULL;
		raw_spin_lock_irq(&pool->lock);
		cut = min3(excess, pool->nr_stock, (unsigned int)ANTS_HOLD_MAX);
		for (i = 0; i < cut; i++)
			slot_drop(pool, ants_stock_get(pool), &gone);
		ants_unlock_irq(pool);
		chunks_free(gone);
		if (!cut)
			return;
	}
}

/*
 * A task was accepted while unload.c scans for those of a module; note a match.
 */
void ants_scan_hit(struct ants_pool *pool, unsigned long addr)
{
	lockdep_assert_held(&pool->lock);
	if (ants_addr_in(addr, pool->scan_mod))
		pool->scan_hit = addr;
}

/* The same for a task whose functions are not known yet. */
void ants_scan_task(struct ants_pool *pool, ants_fn_t fn, const void *data)
{
	ants_scan_hit(pool, ants_task_func_addr(fn, data, pool->scan_mod));
}

/* Unlink a pending task from any position. */
void ants_pending_del(struct ants_pool *pool, struct ants_slot *slot)
{
	lockdep_assert_held(&pool->lock);
	ants_cursors_skip(pool, &slot->node);
	__list_del_entry(&slot->node);
	pool->nr_pending--;
	pool->pick.nr_high -= !!(slot->tag & ANTS_TAG_HIGH);
}

/*
 * The slow path of ants_pending_pop(): the oldest task may not be the next one.
 * High priority goes first, but of ANTS_HIGH_RUN + 1 tasks one is of normal
 * priority, if there is any, so that no task starves.
 */
struct ants_slot *ants_pending_pick(struct ants_pool *pool)
{
	struct list_head *list = &pool->urgent.list;
	struct ants_slot *slot;

	if (!pool->pick.nr_high) {
		list = &pool->pending;
	} else if (!list_empty(&pool->pending) &&
		   pool->urgent.run++ >= ANTS_HIGH_RUN) {
		pool->urgent.run = 0;
		list = &pool->pending;
	}
	slot = list_first_entry(list, struct ants_slot, node);
	ants_pending_del(pool, slot);
	return slot;
}
