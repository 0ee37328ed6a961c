/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of slot.c that run for every task, inlined: the stock of free slots
 * and the FIFO of pending tasks.
 */
#ifndef _ANTS_SLOT_H
#define _ANTS_SLOT_H

#include <linux/ants.h>
#include <linux/list.h>
#include <linux/lockdep.h>

#include "pool.h"
#include "times.h"
#include "trace.h"

extern struct kmem_cache *ants_slot_cache;
bool ants_stock_fill(struct ants_pool *pool, unsigned int nr);
int ants_stock_make(struct ants_pool *pool, unsigned int nr,
		    unsigned int release_seq);
void ants_stock_trim(struct ants_pool *pool, unsigned int nr);
void ants_scan_hit(struct ants_pool *pool, unsigned long addr);
void ants_scan_task(struct ants_pool *pool, ants_fn_t fn, const void *data);
void __ants_cursors_skip(struct ants_pool *pool, const struct list_head *node);
void ants_pending_del(struct ants_pool *pool, struct ants_slot *slot);
struct ants_slot *ants_pending_pick(struct ants_pool *pool);

/* @node leaves a list of the pool, in which walks may be: see ants_walk(). */
static inline void ants_cursors_skip(struct ants_pool *pool,
				     const struct list_head *node)
{
	if (unlikely(pool->pick.nr_cursors))
		__ants_cursors_skip(pool, node);
}

static inline void ants_stock_put(struct ants_pool *pool,
				  struct ants_slot *slot)
{
	slot->next = pool->stock;
	pool->stock = slot;
	pool->nr_stock++;
}

/*
 * The number of slots that the pool keeps even if nothing is pending. Those beyond the
 * spare ones allow the fast path, also to work items, which need no slot.
 */
static inline unsigned int ants_stock_level(const struct ants_pool *pool)
{
	return pool->flags & ANTS_PREALLOC ?
	       pool->limits.stock - ANTS_SLOT_BATCH :
	       pool->limits.spare_slots + 2 * ANTS_SLOT_BATCH;
}

/* Take a free slot, or return NULL. */
static inline struct ants_slot *ants_stock_get(struct ants_pool *pool)
{
	struct ants_slot *slot = pool->stock;

	lockdep_assert_held(&pool->lock);
	pool->fast_cpu = ANTS_NO_CPU;
	if (slot) {
		pool->stock = slot->next;
		pool->nr_stock--;
	}
	return slot;
}

/* Count a task that has just been accepted. */
static inline void ants_task_count(struct ants_pool *pool)
{
	pool->in_epoch[pool->epoch]++;
	pool->submitted++;
}

/*
 * Uncount a task that is neither busy nor pending any more. Return true if a
 * flush or a drain may have ended. A drain has ended as soon as the pool was
 * empty for a moment, but its caller may look only later, so those moments are
 * counted.
 */
static __always_inline bool ants_task_uncount(struct ants_pool *pool,
					      unsigned int epoch)
{
	if (--pool->in_epoch[epoch] || !pool->nr_callers)
		return false;
	/* The pool is not empty: a waiter is granted in this hold. */
	if (!pool->in_epoch[0] && !pool->in_epoch[1] &&
	    !pool->space.nr_waiting && !pool->space.has_due)
		pool->nr_emptied++;
	return true;
}

/*
 * list_add_tail() and list_del() without the checks of a kernel that looks at each list
 * operation: those cost 19 instructions, and a task is linked once and unlinked once, as is
 * a waiter or a parked worker.
 */
static inline void ants_link_tail(struct list_head *node, struct list_head *list)
{
	struct list_head *last = list->prev;

	node->next = list;
	node->prev = last;
	last->next = node;
	list->prev = node;
}

static inline void ants_unlink(struct list_head *node)
{
	__list_del(node->prev, node->next);
}

/*
 * Append an already counted task to the pending tasks. Every task becomes
 * pending here, so a scan for the functions of an unloading module misses none.
 * An item that runs again may have been timed the last time.
 */
static __always_inline void ants_pending_link(struct ants_pool *pool,
					      struct ants_slot *slot, bool high)
{
	if (unlikely(pool->scan_mod))
		ants_scan_task(pool, slot->fn, slot->data);
	if (unlikely(pool->timed) && !pool->times.left--)
		ants_time_accept(pool, slot);
	ants_link_tail(&slot->node, high ? &pool->urgent.list : &pool->pending);
	pool->fast_cpu = ANTS_NO_CPU;
	if (unlikely(high)) {
		pool->pick.nr_high++;
		ants_end_fast_path(pool);
	}
	if (++pool->nr_pending > pool->counts.peak_pending)
		pool->counts.peak_pending = pool->nr_pending;
}

/*
 * Accept a task into @slot. The caller dispatches. Behind the tracepoint the
 * compiler would have to read again what it has in registers.
 */
static __always_inline void ants_task_add(struct ants_pool *pool,
					  struct ants_slot *slot, ants_fn_t fn,
					  void *data, bool high)
{
	lockdep_assert_held(&pool->lock);
	slot->fn = fn;
	slot->data = data;
	slot->tag = pool->epoch | (high ? ANTS_TAG_HIGH : 0);
	ants_task_count(pool);
	ants_trace(task_accept, pool, fn, data, pool->nr_pending + 1);
	ants_pending_link(pool, slot, high);
}

/* This CPU, as pools note it. */
static inline u16 ants_this_cpu(void)
{
	return raw_smp_processor_id();
}

/*
 * May the caller take the fast path of ants_task_add()? It is for callers on the CPU that
 * has sent the wake-up in flight.
 */
static __always_inline bool ants_may_add_fast(const struct ants_pool *pool)
{
	return pool->fast_cpu == ants_this_cpu();
}

/* Append a task of normal priority in this way, which ants_added_fast() counts. */
static __always_inline void ants_link_fast(struct ants_pool *pool, struct ants_slot *slot,
					   ants_fn_t fn, void *data, unsigned int tag)
{
	lockdep_assert_held(&pool->lock);
	slot->fn = fn;
	slot->data = data;
	slot->tag = tag;
	ants_link_tail(&slot->node, &pool->pending);
}

static __always_inline void ants_added_fast(struct ants_pool *pool, unsigned int epoch,
					    unsigned int nr)
{
	pool->in_epoch[epoch] += nr;
	pool->submitted += nr;
	pool->nr_pending += nr;
	pool->fast_submits -= nr;
	if (unlikely(!pool->fast_submits))
		pool->fast_cpu = ANTS_NO_CPU;
}

/*
 * Which of two FIFOs goes next: that of high priority, but of ANTS_HIGH_RUN + 1 entries in
 * a row one is of normal priority, if there is any, so that none starves.
 */
static inline struct list_head *ants_pick_list(struct list_head *high,
					       struct list_head *normal, unsigned int *run)
{
	if (likely(list_empty(high)))
		return normal;
	if (list_empty(normal) || (*run)++ < ANTS_HIGH_RUN)
		return high;
	*run = 0;
	return normal;
}

#endif /* _ANTS_SLOT_H */
