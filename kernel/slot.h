/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slot.c and what of it is on every task's way: the stock of free slots and the
 * FIFO of pending tasks.
 */
#ifndef _ANTS_SLOT_H
#define _ANTS_SLOT_H

int ants_slot_cache_init(void);
void ants_slot_cache_exit(void);
void ants_slots_free(struct ants_slot *chain);
bool ants_stock_fill(struct ants_pool *pool, unsigned int nr);
struct ants_slot *ants_stock_cut(struct ants_pool *pool, unsigned int nr);
void ants_stock_trim(struct ants_pool *pool, unsigned int nr);
void ants_scan_hit(struct ants_pool *pool, ants_fn_t fn);

static inline void ants_stock_put(struct ants_pool *pool,
				  struct ants_slot *slot)
{
	slot->next = pool->stock;
	pool->stock = slot;
	pool->nr_stock++;
}

/* Slots that exist even if nothing is pending. */
static inline unsigned int ants_stock_level(const struct ants_pool *pool)
{
	return pool->flags & ANTS_PREALLOC ? pool->stock_max : ANTS_SPARE_SLOTS;
}

/* Takes a free slot, or returns NULL. */
static inline struct ants_slot *ants_stock_get(struct ants_pool *pool)
{
	struct ants_slot *slot = pool->stock;

	lockdep_assert_held(&pool->lock);
	if (slot) {
		pool->stock = slot->next;
		pool->nr_stock--;
	}
	return slot;
}

/* Accepts a task into @slot. The caller dispatches. */
static inline void ants_pending_add(struct ants_pool *pool,
				    struct ants_slot *slot, ants_fn_t fn,
				    void *data)
{
	lockdep_assert_held(&pool->lock);
	if (unlikely(pool->scan_mod))
		ants_scan_hit(pool, fn);
	slot->fn = fn;
	slot->data = data;
	slot->epoch = pool->epoch;
	pool->in_epoch[slot->epoch]++;
	pool->submitted++;
	list_add_tail(&slot->node, &pool->pending);
	if (++pool->nr_pending > pool->peak_pending)
		pool->peak_pending = pool->nr_pending;
}

/* Unlinks the oldest task. There is one. */
static inline struct ants_slot *ants_pending_pop(struct ants_pool *pool)
{
	struct ants_slot *slot;

	lockdep_assert_held(&pool->lock);
	slot = list_first_entry(&pool->pending, struct ants_slot, node);
	if (unlikely(slot == pool->scan_slot))
		pool->scan_slot = list_next_entry(slot, node);
	__list_del_entry(&slot->node);
	pool->nr_pending--;
	return slot;
}

#endif /* _ANTS_SLOT_H */
