/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of dispatch.c and wake.c that run for every task, inlined: the stock of free
 * slots and the FIFO of pending tasks; whether one more is admitted, locked sections, the
 * decisions made in them, and what follows from those.
 */
#ifndef _ANTS_DISPATCH_H
#define _ANTS_DISPATCH_H

#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timer.h>

#include "debug.h"
#include "pool.h"
#include "times.h"
#include "trace.h"

extern struct kmem_cache *ants_slot_cache;
void ants_stock_fill(struct ants_pool *pool, unsigned int nr);
int ants_stock_make(struct ants_pool *pool, unsigned int nr);
void ants_stock_trim(struct ants_pool *pool, unsigned int nr);
void ants_scan_hit(struct ants_pool *pool, unsigned long addr);
void ants_scan_task(struct ants_pool *pool, ants_fn_t fn, const void *data);
void __ants_cursors_skip(struct ants_pool *pool, const struct list_head *node);
void ants_pending_del(struct ants_pool *pool, struct ants_slot *slot);

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
	ants_trace(task_accept, pool, fn, data, 1);
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

/* So many tasks of normal priority were appended to the pending ones in this way. */
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

/* The number of tasks that are admitted and have not ended. */
static inline unsigned int ants_in_flight(const struct ants_pool *pool)
{
	return pool->nr_busy + pool->nr_pending + pool->nr_joined;
}

/* The number of tasks that have ended well. */
static inline u64 ants_nr_completed(const struct ants_pool *pool)
{
	return pool->submitted - ants_in_flight(pool) - pool->nr_again -
	       pool->counts.cancelled - pool->counts.lost;
}

/* The number of tasks that could be admitted if no caller waited. */
static inline unsigned int ants_nr_admissible(const struct ants_pool *pool)
{
	unsigned int used = ants_in_flight(pool);

	return used < pool->limits.in_flight ? pool->limits.in_flight - used : 0;
}

static inline bool ants_can_admit(const struct ants_pool *pool)
{
	return pool->nr_busy + pool->nr_pending < pool->limits.admit;
}

/*
 * Why the pool accepts no task whatever room it has: -ESHUTDOWN, or -EIO after
 * too many faults; 0 if it does.
 */
static inline int ants_closed_error(const struct ants_pool *pool)
{
	if (pool->released)
		return -ESHUTDOWN;
	return pool->faults.tripped ? -EIO : 0;
}

/*
 * To be called whenever limits.in_flight, released, tripped, has_due or nr_joined has
 * changed, or nr_waiting has fallen.
 */
static inline void ants_update_admit_limit(struct ants_pool *pool)
{
	ants_end_fast_path(pool);
	if (ants_closed_error(pool) || pool->space.nr_waiting ||
	    pool->space.has_due)
		pool->limits.admit = 0;
	else
		pool->limits.admit = pool->limits.in_flight - min(pool->limits.in_flight,
						      pool->nr_joined);
}

/**
 * enum ants_todo_bits - what a locked section decided, to be done after it
 * @ANTS_TODO_WAKE: wake &ants_todo.first
 * @ANTS_TODO_MORE: wake the threads in &ants_todo.batch
 * @ANTS_TODO_UPKEEP: queue pool->upkeep.work
 * @ANTS_TODO_MAKER: queue pool->upkeep.maker
 * @ANTS_TODO_WAITQ: wake pool->waitq; after ants_lock_any() the upkeep work does that
 * @ANTS_TODO_GRANT: grant the waiters that one lock hold did not reach; not after
 *	ants_lock_any()
 * @ANTS_TODO_SPACE: call pool->ops.space_available; likewise
 * @ANTS_TODO_REBIND: the caller is a worker, and has to rebind; likewise
 * @ANTS_TODO_TRIP: queue pool->faults.work; likewise
 * @ANTS_TODO_NOTICE: queue pool->notice.work; not after ants_lock_any()
 */
enum ants_todo_bits {
	ANTS_TODO_WAKE		= 1 << 0,
	ANTS_TODO_UPKEEP	= 1 << 1,
	ANTS_TODO_WAITQ		= 1 << 2,
	ANTS_TODO_GRANT		= 1 << 3,
	ANTS_TODO_SPACE		= 1 << 4,
	ANTS_TODO_REBIND	= 1 << 5,
	ANTS_TODO_TRIP		= 1 << 6,
	ANTS_TODO_NOTICE	= 1 << 7,
	ANTS_TODO_MAKER		= 1 << 8,
	ANTS_TODO_MORE		= 1 << 9,
};

/**
 * struct ants_wake_batch - threads to wake after a section that may end waits
 * @wake: all but the first. There is room for more than a section may wake,
 *	because the step that reaches the limit may also wake the tasks that join an
 *	item, ANTS_JOINERS each of two, and a caller that waits for a group, and a worker
 */
struct ants_wake_batch {
	struct task_struct *wake[2 * ANTS_HOLD_MAX];
};

/**
 * struct ants_todo - what a locked section leaves to be done after it
 * @flags: interrupt state before ants_lock_any()
 * @bits: bits of enum ants_todo_bits
 * @nr_wake: number of threads to wake
 * @first: the first of them. It is the only one after a submit, which keeps its
 *	stack frame small: kernels that zero stack variables make a large frame
 *	expensive
 * @batch: the others, NULL if there are none
 */
struct ants_todo {
	unsigned long flags;
	unsigned int bits;
	unsigned int nr_wake;
	struct task_struct *first;
	struct ants_wake_batch *batch;
};

/*
 * Uncount a task that is neither busy nor pending any more. A flush or a drain may have
 * ended then. A drain has ended as soon as the pool was empty for a moment, but its caller
 * may look only later, so those moments are counted.
 */
static __always_inline void ants_task_uncount(struct ants_pool *pool, unsigned int epoch,
					      struct ants_todo *todo)
{
	if (--pool->in_epoch[epoch] || !pool->nr_callers)
		return;
	/* The pool is not empty: a waiter is granted in this hold. */
	if (!pool->in_epoch[0] && !pool->in_epoch[1] &&
	    !pool->space.nr_waiting && !pool->space.has_due)
		pool->nr_emptied++;
	todo->bits |= ANTS_TODO_WAITQ;
}

/*
 * Makers have their own: there are so many of them that, if memory is short, they
 * could fill the other one, and keep the upkeep of all pools out. What tells programs
 * may be slow.
 */
extern struct workqueue_struct *ants_wq, *ants_makers_wq, *ants_notice_wq;
void ants_unlock_todo(struct ants_pool *pool, struct ants_todo *todo)
	__releases(&pool->lock);
void ants_unlock_any(struct ants_pool *pool, struct ants_todo *todo)
	__releases(&pool->lock);
void ants_dispatch(struct ants_pool *pool, struct ants_todo *todo);
void ants_serve_now(struct ants_pool *pool, struct ants_todo *todo);
void ants_grant_all(struct ants_pool *pool);
void ants_room_freed(struct ants_pool *pool, struct ants_todo *todo);
/* What one section does; returns true if there is more to do. */
typedef bool (*ants_round_t)(struct ants_pool *pool, struct ants_todo *todo,
			     void *arg);

void ants_rounds(struct ants_pool *pool, ants_round_t round, void *arg);
void ants_waiter_end(struct ants_pool *pool, struct ants_waiter *waiter,
		     int result, struct ants_todo *todo);
void ants_todo_upkeep(struct ants_pool *pool, struct ants_todo *todo);
void ants_refused(struct ants_pool *pool, ants_fn_t fn, const void *data, int err);
void __cold ants_cancelled(struct ants_pool *pool, ants_fn_t fn, const void *data);
void ants_timer_quiesce(struct ants_pool *pool);
void ants_job_ends(struct ants_pool *pool, struct ants_todo *todo);

/* wake.c */
void ants_timer_set(struct ants_pool *pool, unsigned long when);
bool ants_need_worker(const struct ants_pool *pool);
void ants_back_off(struct ants_pool *pool);
bool ants_backing_off(const struct ants_pool *pool);
void ants_timer_arm_worker(struct ants_pool *pool);
void ants_ask_for_worker(struct ants_pool *pool, struct ants_todo *todo);
void ants_set_arriving(struct ants_pool *pool, struct ants_worker *w);
void ants_worker_arrived(struct ants_worker *w);
void ants_wake_next(struct ants_pool *pool, struct ants_todo *todo);
void ants_wake_for_submitter(struct ants_pool *pool, struct ants_todo *todo);
void ants_wake_helper(struct ants_pool *pool, struct ants_todo *todo);
void ants_deferred_end(struct ants_pool *pool);
int ants_running_cpu(const struct ants_pool *pool);

static inline void ants_todo_begin(struct ants_todo *todo)
{
	todo->bits = 0;
	todo->nr_wake = 0;
}

/*
 * Open a locked section that wakes at most one thread. Interrupts are on before
 * and after it.
 */
static inline void ants_lock(struct ants_pool *pool, struct ants_todo *todo)
	__acquires(&pool->lock)
{
	raw_spin_lock_irq(&pool->lock);
	ants_todo_begin(todo);
}

/* Open a section that may end waits, or wake or retire several workers. */
static inline void ants_lock_batch(struct ants_pool *pool,
				   struct ants_todo *todo,
				   struct ants_wake_batch *batch)
	__acquires(&pool->lock)
{
	todo->batch = batch;
	ants_lock(pool, todo);
}

/* Drop the lock after a section that leaves nothing to be done. */
static inline void ants_unlock_irq(struct ants_pool *pool)
	__releases(&pool->lock)
{
	ants_check(pool);
	raw_spin_unlock_irq(&pool->lock);
}

/* Drop the lock and do what was decided under it. */
static inline void ants_unlock(struct ants_pool *pool, struct ants_todo *todo)
	__releases(&pool->lock)
{
	ants_check(pool);
	if (unlikely(todo->bits))
		ants_unlock_todo(pool, todo);
	else
		raw_spin_unlock_irq(&pool->lock);
}

/* The same for a caller in any context; the section ends no wait. */
static inline void ants_lock_any(struct ants_pool *pool,
				 struct ants_todo *todo)
	__acquires(&pool->lock)
{
	ants_todo_begin(todo);
	raw_spin_lock_irqsave(&pool->lock, todo->flags);
}

/*
 * How late a timer may fire that is armed for @distance jiffies ahead. The
 * timer wheel is exact for 63 jiffies; beyond, it rounds up by 8/63 of the
 * distance, and its clock may be some ticks behind.
 */
static inline unsigned long ants_timer_slack(unsigned long distance)
{
	return (long)distance < 56 ? 0 : DIV_ROUND_UP(distance, 7);
}

/* Is the timer armed for @when or earlier? It may still fire later. */
static inline bool ants_timer_armed(const struct ants_pool *pool,
				    unsigned long when)
{
	return timer_pending(&pool->timer.timer) &&
	       time_before_eq(pool->timer.timer.expires, when);
}

/* Does it fire no later than one that is armed now for @when, which is near? */
static inline bool ants_timer_covers(const struct ants_pool *pool,
				     unsigned long when)
{
	return timer_pending(&pool->timer.timer) &&
	       time_before_eq(pool->timer.by, when);
}

/*
 * Make sure that the timer fires in @ticks, which are few. The caller relies on
 * that, so the timer is not taken back; the other reasons to arm it can be told
 * from the pool.
 */
static inline void ants_timer_arm_soon(struct ants_pool *pool,
				       unsigned int ticks)
{
	lockdep_assert_held(&pool->lock);
	pool->timer.waking = false;
	if (!ants_timer_covers(pool, jiffies + ticks))
		ants_timer_set(pool, jiffies + ticks);
}

/*
 * Arm the timer for something that may be late by a fraction of its delay: if
 * the timer is armed for @when or earlier, leave it alone.
 */
static inline void ants_timer_arm_lazy(struct ants_pool *pool,
				       unsigned long when)
{
	lockdep_assert_held(&pool->lock);
	if (!ants_timer_armed(pool, when))
		ants_timer_set(pool, when);
}

/* The one place where a worker changes its state. */
static inline void ants_worker_move(struct ants_worker *w,
				    enum ants_worker_state to)
{
	lockdep_assert_held(&w->pool->lock);
	ants_check_move(w, to);
	w->state = to;
}

/*
 * Workers in flight: woken or started for a task, not arrived, and not given
 * up.
 */
static inline unsigned int ants_nr_arriving(const struct ants_pool *pool)
{
	return pool->wakes.nr + pool->workers.nr_starting;
}

/*
 * Is no other worker wanted for what is pending, as long as none arrives, parks or
 * leaves? If wake-ups in flight become late, the timer gives them up.
 */
static inline bool ants_wakes_settled(const struct ants_pool *pool)
{
	return pool->wakes.late || (!pool->workers.nr_idle &&
				    pool->workers.nr >= pool->limits.capacity);
}

/* The most tasks that may be accepted on the fast path. */
static inline unsigned int ants_fast_submits(const struct ants_pool *pool)
{
	unsigned int used = pool->nr_busy + pool->nr_pending;

	if (pool->scan_mod || pool->timed || !ants_wakes_settled(pool) ||
	    used >= pool->limits.admit || pool->nr_stock <= pool->limits.spare_slots)
		return 0;
	/* Whoever reaches a new peak takes the slow path. */
	return min3(pool->limits.admit - used, pool->nr_stock - pool->limits.spare_slots,
		    pool->counts.peak_pending - pool->nr_pending);
}

/* A task was accepted on the slow path: may the next ones take the fast one? */
static inline void ants_begin_fast_submits(struct ants_pool *pool)
{
	unsigned int nr = ants_fast_submits(pool);

	if (!nr)
		return;
	pool->fast_submits = min_t(unsigned int, nr, USHRT_MAX);
	pool->fast_cpu = pool->wakes.cpu;
}

/*
 * Does a worker have to know more than how many tasks are pending? While something waits
 * for room, that is when the pool is full, or newcomers may fill it again: then
 * ants_serve() has to see each task that ends.
 */
static inline bool ants_needs_slow_path(const struct ants_pool *pool)
{
	return pool->workers.nr > pool->limits.stay || pool->pick.needed ||
	       pool->timed & ANTS_TIMED_ALL || !ants_wakes_settled(pool) ||
	       (pool->space.wanted && (!ants_nr_admissible(pool) || ants_can_admit(pool)));
}

static inline void ants_todo_wake(struct ants_todo *todo,
				  struct task_struct *task)
{
	todo->bits |= todo->nr_wake ? ANTS_TODO_MORE : ANTS_TODO_WAKE;
	if (todo->nr_wake++)
		todo->batch->wake[todo->nr_wake - 2] = task;
	else
		todo->first = task;
}

static inline bool ants_todo_full(const struct ants_todo *todo)
{
	/* The last entry is for a worker. */
	return todo->nr_wake >= ANTS_HOLD_MAX;
}

/* Does the waiter that is probably next sleep on another CPU? */
static inline bool ants_waiter_is_elsewhere(const struct ants_pool *pool)
{
	const struct list_head *list = &pool->waiters.fifo[ANTS_PRIO_NORMAL];
	const struct ants_waiter *first;

	if (list_empty(list))
		return true;
	first = list_entry(list->next, struct ants_waiter, node);
	return task_cpu(first->task) != raw_smp_processor_id();
}

/*
 * There may be room. A wake-up for each task is what makes a blocking queue
 * expensive, so waiters are granted in batches: when no task is pending, or
 * when half of the capacity is free and the waiter sleeps on another CPU, where
 * it can submit meanwhile. The timer, armed when the first task leaves, grants
 * those that a batch holds back for more than a tick.
 */
static inline void ants_serve(struct ants_pool *pool, struct ants_todo *todo)
{
	unsigned int in_flight = ants_in_flight(pool);

	lockdep_assert_held(&pool->lock);
	if (in_flight >= pool->limits.in_flight)
		return;
	if (!pool->nr_pending ||
	    (in_flight < pool->limits.grant_below && ants_waiter_is_elsewhere(pool)))
		ants_serve_now(pool, todo);
	else if (in_flight + 1 == pool->limits.in_flight)
		ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
}

#endif /* _ANTS_DISPATCH_H */
