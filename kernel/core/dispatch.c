// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows from every event that makes progress possible: waiters are
 * granted, and the next workers are woken or the maker is asked for a thread,
 * see wake.c. All decisions are made under pool->lock. What they lead
 * to is noted in a struct ants_todo and done by ants_unlock() after it has
 * dropped the lock.
 *
 * And slots. A slot holds a task from its acceptance to its start. A pool keeps
 * free slots in stock, so that a caller that may not allocate finds one, and so
 * that a busy pool never enters the slab.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../internal.h"

struct workqueue_struct *ants_wq;
EXPORT_SYMBOL_FOR_TESTS(ants_wq);
struct workqueue_struct *ants_makers_wq;
struct workqueue_struct *ants_notice_wq;
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
 * Fill the stock up to @nr slots, or somewhat more, until an allocation fails.
 * Context: Process context.
 */
void ants_stock_fill(struct ants_pool *pool, unsigned int nr)
{
	while (ants_peek(pool->nr_stock) < nr)
		if (!stock_grow(pool, 0))
			break;
}

/*
 * The same for as many slots as a client or an administrator asks for. This fails
 * when memory has run out, rather than have programs killed for it, when the
 * caller is being killed, and when the pool is closed meanwhile. Return 0,
 * -ENOMEM, -EINTR or -ESHUTDOWN.
 */
int ants_stock_make(struct ants_pool *pool, unsigned int nr)
{
	unsigned int seq = READ_ONCE(pool->release.seq);

	while (ants_peek(pool->nr_stock) < nr) {
		if (ants_closed_since(pool, seq))
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

/* Count a task as refused with @err. */
void ants_refused(struct ants_pool *pool, ants_fn_t fn, const void *data, int err)
{
	trace_ants_task_refuse(pool, NULL, fn, data, 0, err);
	pool->counts.rejected++;
	if (err == -EAGAIN && pool->ops.space_available) {
		pool->space.congested = true;
		ants_end_fast_path(pool);
	}
}

/* Count a task that was accepted and will not start. */
void ants_cancelled(struct ants_pool *pool, ants_fn_t fn, const void *data)
{
	trace_ants_task_cancel(pool, NULL, fn, data, 0, 0);
	pool->counts.cancelled++;
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

/* A closed pool that has nothing to run needs no timer any more. */
void ants_timer_quiesce(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	if (!pool->released || pool->workers.nr || pool->nr_pending)
		return;
	timer_delete(&pool->timer.timer);
	pool->stall.armed = false;
}

/*
 * The last worker has left, or a work item of the pool is about to end. If the pool
 * is closed, this may have been the last thing that it had to wait for, so callers
 * that wait for that have to look.
 */
void ants_job_ends(struct ants_pool *pool, struct ants_todo *todo)
{
	ants_timer_quiesce(pool);
	todo->bits |= pool->released ? ANTS_TODO_WAITQ : 0;
}

/*
 * Have the upkeep work queued. Before it ends it checks under the lock for more
 * to do, so it need not be queued again while it is queued or runs.
 */
void ants_todo_upkeep(struct ants_pool *pool, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	if (pool->upkeep.queued)
		return;
	pool->upkeep.queued = true;
	todo->bits |= ANTS_TODO_UPKEEP;
}

/*
 * The wait of @waiter ends with @result. It has spun in vain if it has stopped
 * before or another thread has taken its CPU, and with success if it is granted
 * while it spins.
 */
static void waiter_spin_end(struct ants_pool *pool, const struct ants_waiter *waiter,
			    int result)
{
	unsigned int *skip = &pool->waiters.spin_skip;

	lockdep_assert_held(&pool->lock);
	if (!waiter->spun)
		return;
	if (!READ_ONCE(waiter->spins) || !ants_on_cpu(waiter->task))
		*skip = min(*skip * 2 + 1, ANTS_SPIN_SKIP_MAX);
	else if (!result)
		*skip = 0;
	pool->waiters.spin_left = *skip;
}

/*
 * The one place where the wait of a submitter ends, whatever the result is;
 * ants_wait_enrol() begins it. The waiter may be gone as soon as the result is stored, so
 * its task is noted before; the RCU section of ants_unlock() keeps the task.
 */
void ants_waiter_end(struct ants_pool *pool, struct ants_waiter *waiter,
		     int result, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	ants_todo_wake(todo, waiter->task);
	ants_cursors_skip(pool, &waiter->node);
	ants_unlink(&waiter->node);
	pool->space.nr_waiting--;
	if (unlikely(result)) {
		pool->counts.rejected++;
		/* The work item may be gone once it has ended. */
		trace_ants_waiter_give_up(pool, &waiter->task, waiter->fn, waiter->data, 0, result);
		if (waiter->work)
			ants_work_end(pool, waiter->work, result, todo);
	} else if (waiter->work) {
		ants_work_pend(pool, waiter->work, todo);
	}
	if (waiter->is_nested) {
		list_del(&waiter->nested);
		pool->waiters.nr_nested--;
	}
	ants_update_admit_limit(pool);
	if (trace_ants_waiter_grant_enabled() && !result)
		trace_ants_waiter_grant(pool, &waiter->task, waiter->fn, waiter->data, 0, 0);
	waiter_spin_end(pool, waiter, result);
	/* Pairs with smp_load_acquire() in ants_wait(). */
	smp_store_release(&waiter->result, result);
}

/*
 * Make the task of the next waiter pending. Return false if there is no slot:
 * then all slots are in use by pending tasks. The next task that starts returns
 * one.
 */
static bool grant_waiter(struct ants_pool *pool, struct ants_todo *todo)
{
	struct list_head *fifo = ants_pick_list(&pool->waiters.fifo[ANTS_PRIO_HIGH],
						&pool->waiters.fifo[ANTS_PRIO_NORMAL],
						&pool->waiters.high_grants);
	struct ants_waiter *waiter = list_first_entry(fifo, struct ants_waiter, node);
	unsigned int stamp = waiter->stamp;
	struct ants_slot *slot;

	if (waiter->work) {
		slot = &waiter->work->slot;
	} else {
		slot = ants_stock_get(pool);
		if (!slot)
			return false;
		ants_task_add(pool, slot, waiter->fn, waiter->data,
			      waiter->prio == ANTS_PRIO_HIGH);
	}
	ants_waiter_end(pool, waiter, 0, todo);
	/* It was stamped once more when it was accepted. */
	if (unlikely(stamp))
		slot->stamp = stamp;
	return true;
}

/* Make the next due work item pending. */
static void grant_due(struct ants_pool *pool, struct ants_todo *todo)
{
	struct list_head *fifo = ants_pick_list(&pool->delayed.due[ANTS_PRIO_HIGH],
						&pool->delayed.due[ANTS_PRIO_NORMAL],
						&pool->delayed.high_due_grants);

	ants_work_pend(pool, &list_first_entry(fifo, struct ants_delayed_work, node)->work, todo);
}

/*
 * Grant due work items and waiters as long as there is room, as many as one
 * hold allows. An item that is granted wakes no thread, but counts all the
 * same. Due items go first, but after ANTS_HIGH_RUN of them in a row a waiting
 * caller is next, so that items that come again and again do not block it. A waiter
 * that gets no slot stays the next one: otherwise work items behind it could take all
 * room while slots come back. The timer tries again then, or if the next hold is late.
 */
static void grant(struct ants_pool *pool, struct ants_todo *todo)
{
	unsigned int left = ANTS_HOLD_MAX;

	lockdep_assert_held(&pool->lock);
	if (ants_closed_error(pool))
		return;
	while ((pool->space.nr_waiting || pool->space.has_due) &&
	       ants_nr_admissible(pool)) {
		if (!left-- || ants_todo_full(todo)) {
			todo->bits |= ANTS_TODO_GRANT;
			goto later;
		}
		if (unlikely(pool->space.has_due) &&
		    (!pool->space.nr_waiting || pool->delayed.due_grants++ < ANTS_HIGH_RUN))
			grant_due(pool, todo);
		else if (grant_waiter(pool, todo))
			pool->delayed.due_grants = 0;
		else
			goto later;
	}
	return;
later:
	ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
}

/*
 * Grant waiters, and then have callers called back that were refused, once no waiter is
 * before them. To be called after each event that makes room: a task ends, the pool grows,
 * a waiter or a due work item leaves. A section that may not call back leaves that to the
 * timer, see ants_room_freed().
 */
void ants_serve_now(struct ants_pool *pool, struct ants_todo *todo)
{
	grant(pool, todo);
	if (likely(!pool->space.congested && !pool->space.congested_all) || !ants_can_admit(pool))
		return;
	/*
	 * A caller that all shards of a multi have refused is called back once: by the shard
	 * that clears the flag that they share.
	 */
	if ((pool->space.congested_all && atomic_xchg(pool->shared_congested, 0)) ||
	    pool->space.congested) {
		todo->bits |= ANTS_TODO_SPACE;
		WRITE_ONCE(pool->release.called_back, true);
	}
	pool->space.congested = false;
	pool->space.congested_all = false;
}

/*
 * Admit more, now that there is room. The caller may be in any context, so the
 * callback for it is left to the timer.
 */
void ants_room_freed(struct ants_pool *pool, struct ants_todo *todo)
{
	grant(pool, todo);
	ants_wake_next(pool, todo);
	if ((pool->space.congested || pool->space.congested_all) && ants_can_admit(pool))
		ants_timer_arm_soon(pool, 1);
	/* A closed pool may be empty now, and a caller may wait for that. */
	ants_job_ends(pool, todo);
}

/*
 * To be called, in the same locked section, after every event that makes room
 * or removes a worker. Grants waiters, and wakes the next worker if tasks
 * remain. The section needs a list, see ants_lock_batch().
 */
void ants_dispatch(struct ants_pool *pool, struct ants_todo *todo)
{
	if (unlikely(pool->space.wanted))
		ants_serve(pool, todo);
	if (unlikely(pool->wakes.deferred))
		ants_deferred_end(pool);
	ants_wake_next(pool, todo);
}

/* Call @round in one section after the other, until it returns false. */
void ants_rounds(struct ants_pool *pool, ants_round_t round, void *arg)
{
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool more;

	do {
		ants_lock_batch(pool, &todo, &batch);
		more = round(pool, &todo, arg);
		ants_unlock(pool, &todo);
	} while (more);
}

/*
 * Walks over the lists of a pool. A list may be long, so a walk takes several
 * holds of the lock, with a cursor between them. A thread that takes an entry
 * out of the list moves the cursors that are at it, see ants_cursors_skip().
 */

/*
 * The most walks of a pool at once: a thread that takes an entry out of a list
 * looks at all their cursors. A further walk waits that long, and looks again.
 */
#define CURSORS_MAX	ANTS_HOLD_MAX
#define POLL_MS		10

/*
 * Show the first @most entries of @list to @walker. Entries that come or go
 * meanwhile may be seen or not; all others are seen once. Return how many were
 * seen.
 * Context: Process context.
 */
unsigned int ants_walk(struct ants_pool *pool, struct list_head *list,
		       unsigned int most, struct ants_walker *walker)
{
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
	walker->at = list->next;
	hlist_add_head(&walker->node, &pool->cursors);
	pool->pick.nr_cursors++;
	ants_end_fast_path(pool);
	for (;;) {
		for (nr = 0; nr < ANTS_HOLD_MAX && seen < most && walker->at != list &&
		     !ants_todo_full(&walker->todo); nr++, seen++) {
			entry = walker->at;
			walker->at = entry->next;
			walker->see(walker, entry);
		}
		more = seen < most && walker->at != list;
		if (!more) {
			hlist_del(&walker->node);
			pool->pick.nr_cursors--;
		}
		if (walker->end)
			walker->end(pool, &walker->todo);
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

/* Grant once more. Return true if that was not enough. */
static bool grant_round(struct ants_pool *pool, struct ants_todo *todo,
			void *unused)
{
	bool again;

	ants_serve_now(pool, todo);
	ants_wake_next(pool, todo);
	again = todo->bits & ANTS_TODO_GRANT;
	todo->bits &= ~ANTS_TODO_GRANT;
	return again;
}

/*
 * Grant as long as there is room, regardless of batches, and call back if there
 * is room then.
 */
void ants_grant_all(struct ants_pool *pool)
{
	ants_rounds(pool, grant_round, NULL);
}

/*
 * What a section leaves beside its first wake-up, with preemption off: no other thread would
 * wake those that were granted.
 */
static noinline void do_rest(struct ants_pool *pool, const struct ants_todo *todo)
{
	unsigned int i;

	for (i = 1; i < todo->nr_wake; i++)
		wake_up_process(todo->batch->wake[i - 1]);
	if (todo->bits & ANTS_TODO_UPKEEP)
		queue_work(ants_wq, &pool->upkeep.work);
	if (todo->bits & ANTS_TODO_MAKER)
		queue_work(ants_makers_wq, &pool->upkeep.maker);
	if (todo->bits & ANTS_TODO_TRIP)
		queue_work(ants_wq, &pool->faults.work);
}

/*
 * Wake the callers that wait for tasks or threads to end. The state of the pool
 * may have changed as well: then programs are told, unless the pool is about to go
 * and has nothing left that could take long.
 */
static void wake_waitq(struct ants_pool *pool)
{
	wake_up_all(&pool->waitq);
	if (!READ_ONCE(pool->released) && !READ_ONCE(pool->notice.state))
		return;
	if (!READ_ONCE(pool->release.dying) || ants_peek(pool->nr_busy) ||
	    ants_peek(pool->nr_pending))
		queue_work(ants_notice_wq, &pool->notice.work);
}

/*
 * The slow part of ants_unlock(). From the decision to the last wake-up preemption is off,
 * and then an RCU read section is open. So the threads to be woken cannot vanish before
 * that, nor can the pool, even if its last task has ended. Interrupts are off for one
 * wake-up only; the others can be interrupted. What may sleep comes last: the lock of the
 * wait queue does on PREEMPT_RT, and a worker that moves to other CPUs.
 */
void ants_unlock_todo(struct ants_pool *pool, struct ants_todo *todo)
	__releases(&pool->lock)
{
	preempt_disable();
	raw_spin_unlock(&pool->lock);
	if (likely(todo->nr_wake))
		wake_up_process(todo->first);
	local_irq_enable();
	if (likely(todo->bits == ANTS_TODO_WAKE)) {
		preempt_enable();
		return;
	}
	do_rest(pool, todo);
	rcu_read_lock();
	preempt_enable();
	if (todo->bits & ANTS_TODO_WAITQ)
		wake_waitq(pool);
	if (todo->bits & ANTS_TODO_NOTICE)
		queue_work(ants_notice_wq, &pool->notice.work);
	if (todo->bits & ANTS_TODO_GRANT)
		ants_grant_all(pool);
	if (todo->bits & ANTS_TODO_SPACE) {
		WRITE_ONCE(pool->faults.caller, current);
		pool->ops.space_available(pool);
		WRITE_ONCE(pool->faults.caller, NULL);
	}
	rcu_read_unlock();
	if (todo->bits & ANTS_TODO_REBIND)
		ants_affinity_apply(kthread_data(current));
}

/*
 * As ants_unlock(), after ants_lock_any(): the caller may have interrupts off anyway, and
 * may not take the lock of the wait queue.
 */
void ants_unlock_any(struct ants_pool *pool, struct ants_todo *todo)
	__releases(&pool->lock)
{
	ants_check(pool);
	if (likely(!todo->bits)) {
		raw_spin_unlock_irqrestore(&pool->lock, todo->flags);
		return;
	}
	if (todo->bits & ANTS_TODO_WAITQ)
		ants_todo_upkeep(pool, todo);
	preempt_disable();
	raw_spin_unlock(&pool->lock);
	if (likely(todo->nr_wake))
		wake_up_process(todo->first);
	if (unlikely(todo->bits != ANTS_TODO_WAKE))
		do_rest(pool, todo);
	local_irq_restore(todo->flags);
	preempt_enable();
}
