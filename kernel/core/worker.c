// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread of a pool. A worker takes the oldest task, checks whether another one is
 * wanted, and only then runs the task. After that it looks what the task has left behind.
 * Without a task it parks, or leaves. If the thread dies, upkeep.c says what follows.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/cred.h>
#include <linux/debug_locks.h>
#include <linux/freezer.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/livepatch.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <uapi/linux/sched/types.h>

#include "../internal.h"

/* Threads that pools have, or that are about to be made. */
atomic_t ants_nr_threads;

/* Return the worker whose thread the caller is, or NULL. */
struct ants_worker *ants_this_worker(void)
{
	ants_check_task();
	if (!(current->flags & PF_KTHREAD) ||
	    kthread_func(current) != ants_worker_fn)
		return NULL;
	return kthread_data(current);
}

struct ants_pool *ants_current_pool(void)
{
	const struct ants_worker *w = ants_this_worker();

	return w ? w->pool : NULL;
}
EXPORT_SYMBOL_GPL(ants_current_pool);

bool ants_in_pool(const struct ants_pool *pool)
{
	return ants_current_pool() == pool;
}
EXPORT_SYMBOL_GPL(ants_in_pool);

/* The worker of @pool that runs the caller as its task, or NULL. */
struct ants_worker *ants_worker_of(struct ants_pool *pool)
{
	struct ants_worker *w = ants_this_worker();

	return w && w->pool == pool ? w : NULL;
}

void *ants_worker_data(struct ants_pool *pool)
{
	const struct ants_worker *w = ants_worker_of(pool);

	return w ? w->local : NULL;
}
EXPORT_SYMBOL_GPL(ants_worker_data);

/* The first section after a start or a wake-up, whatever the worker finds. */
static void worker_arrive(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;

	lockdep_assert_held(&pool->lock);
	if (w->arriving)
		ants_worker_arrived(w);
	if (w->state == ANTS_NEW)
		pool->workers.nr_new--;
	if (w->state != ANTS_LEAVING)
		ants_worker_move(w, ANTS_BUSY);
}

/*
 * A worker may stay only if no more than `capacity` workers stay, and none may
 * after too many faults. One whose task has left something behind may not, unless it
 * is the last one of a pool that is to have a thread. A worker that stays may have to
 * move to other CPUs.
 */
static noinline bool __worker_may_stay(struct ants_worker *w,
				       struct ants_todo *todo)
{
	const struct ants_pool *pool = w->pool;
	unsigned int stay = ants_nr_staying(pool);

	if (pool->faults.tripped)
		return false;
	stay += w->state == ANTS_LEAVING;
	if (w->replace && stay > !!pool->config.floor)
		return false;
	if (pool->workers.nr > pool->limits.capacity && stay > pool->limits.capacity)
		return false;
	if (ants_affinity_is_stale(w))
		ants_affinity_note(w, todo);
	return true;
}

/* May this worker stay? */
static inline bool worker_may_stay(struct ants_pool *pool, struct ants_worker *w,
				   struct ants_todo *todo)
{
	return likely(pool->workers.nr <= pool->limits.stay) || __worker_may_stay(w, todo);
}

/* A worker that was told to leave takes a task after all. */
static void worker_rescind(struct ants_worker *w)
{
	if (w->state != ANTS_LEAVING)
		return;
	w->pool->workers.nr_leaving--;
	ants_worker_move(w, ANTS_BUSY);
	w->expired = false;
}

/* Unlink the task that is to start next; it may not be the oldest one. */
static noinline struct ants_slot *pending_pick(struct ants_pool *pool)
{
	struct list_head *fifo = ants_pick_list(&pool->urgent.list, &pool->pending,
						&pool->urgent.run);
	struct ants_slot *slot = list_first_entry(fifo, struct ants_slot, node);

	ants_pending_del(pool, slot);
	return slot;
}

/*
 * Take the oldest task, if there is one and the worker may stay. If no task is
 * pending, a waiter is granted here, and its task taken. A work item has its own slot;
 * any other goes back into the stock, and what is too much there the upkeep work gives up,
 * so that a worker never enters the slab.
 */
static __always_inline bool worker_take(struct ants_pool *pool,
					struct ants_worker *w,
					struct ants_todo *todo)
{
	struct ants_slot *slot;

	if (!worker_may_stay(pool, w, todo))
		return false;
	if (!pool->nr_pending) {
		if (pool->space.wanted)
			ants_serve_now(pool, todo);
		if (!pool->nr_pending)
			return false;
	}
	worker_rescind(w);
	if (unlikely(pool->pick.needed)) {
		slot = pending_pick(pool);
	} else {
		slot = list_first_entry(&pool->pending, struct ants_slot, node);
		ants_unlink(&slot->node);
		pool->nr_pending--;
	}
	if (unlikely(pool->timed | (slot->tag & ANTS_TAG_TIMED)))
		ants_time_start(w, slot);
	w->fn = slot->fn;
	w->data = slot->data;
	w->tag = slot->tag;
	if (unlikely(slot->tag & ANTS_TAG_WORK)) {
		ants_work_start(w, w->data);
	} else {
		ants_stock_put(pool, slot);
		if (unlikely(pool->nr_stock > pool->limits.stock))
			ants_todo_upkeep(pool, todo);
	}
	if (++pool->nr_busy > pool->counts.peak_busy)
		pool->counts.peak_busy = pool->nr_busy;
	return true;
}

/* @epoch: the tag, or more than ANTS_TAG_EPOCH if that says more than its epoch */
static __always_inline void worker_finish(struct ants_pool *pool,
					  struct ants_worker *w, unsigned int epoch,
					  struct ants_todo *todo)
{
	pool->nr_busy--;
	if (unlikely(epoch > ANTS_TAG_EPOCH)) {
		epoch = w->tag & ANTS_TAG_EPOCH;
		w->func_addr = 0;
		if (unlikely(w->tag & ANTS_TAG_TIMED))
			ants_time_end(w);
		if (likely(w->tag & ANTS_TAG_WORK))
			ants_work_finish(pool, w->data, todo);
	}
	ants_task_uncount(pool, epoch, todo);
}

/*
 * Tasks that leave their thread in another state than they found it. That is reported
 * once for each function, and counted. What is known of it is undone, because a thread
 * could not even leave otherwise. Then the thread is replaced, for the task may have left
 * more: the worker leaves before its next task, like one above the capacity.
 *
 * It stays if it holds a lock, as far as lockdep knows, because whoever waits for that
 * may look at the owner; and if the pool is to have a thread at all times, and has no
 * other one.
 */

/* The functions that were reported; two of them that share an entry are, in turn. */
static unsigned long reported[256];

/* A module goes, and at the same address there may be another function later. */
void ants_dirt_forget(void)
{
	/* A report that comes between is one more, or one less. */
	data_race(memset(reported, 0, sizeof(reported)));
}
EXPORT_SYMBOL_FOR_TESTS(ants_dirt_forget);

/*
 * The order matters: softirqs cannot be switched on with interrupts off, and on
 * PREEMPT_RT they hold a lock and an RCU section. What a plug has gathered is lost: it
 * was on the stack of the task.
 */
static void mend(void)
{
	__set_current_state(TASK_RUNNING);
	ants_plug = NULL;
	local_irq_enable();
	while (softirq_count())
		local_bh_enable();
	while (rcu_preempt_depth() > 0) {
		/* For sparse: the task has entered it. */
		__acquire(RCU);
		rcu_read_unlock();
	}
	preempt_count_set(0);
	while (ants_migration_disabled)
		migrate_enable();
	current->pagefault_disabled = 0;
	current->flags &= ~ANTS_PF_SCOPES;
	current->journal_info = NULL;
	flush_signals(current);
	ants_charge_nobody();
	kthread_associate_blkcg(NULL);
	if (current->mm)
		kthread_unuse_mm(current->mm);
	if (current_cred() != current_real_cred())
		revert_creds(current_real_cred());
}

/*
 * May the task, before which @locks were held, have left something behind, or is it the
 * thread's turn to report to RCU Tasks? Most of it is combined into one test; clean()
 * looks closer. Interrupts are tested where lockdep is: the lock that each worker takes
 * next switches them on.
 */
static __always_inline bool is_dirty(int locks)
{
	unsigned long dirt = preempt_count() | rcu_preempt_depth() |
			     ants_state_of(current) | ants_migration_disabled |
			     current->pagefault_disabled | ants_holds_out();

	dirt |= (unsigned long)current->mm | (unsigned long)ants_plug |
		(unsigned long)current->journal_info | (unsigned long)ants_memcg;
	return unlikely(dirt || current->flags & ANTS_PF_SCOPES ||
			current_cred() != current_real_cred() ||
			(IS_ENABLED(CONFIG_PROVE_LOCKING) && irqs_disabled()) ||
			lockdep_depth(current) != locks);
}

/*
 * The task that @w has run, or worker_init, with @locks held before, may have left
 * something behind.
 */
static noinline __cold void clean(struct ants_worker *w, int locks)
{
	struct {
		bool left;
		const char *what;
	} dirt[] = {
		/* To lockdep an RCU section is a lock, so this is asked again below. */
		{ lockdep_depth(current) != locks, "a lock held" },
		{ irqs_disabled(), "interrupts off" },
		{ softirq_count(), "BH disabled" },
		{ rcu_preempt_depth(), "an RCU section open" },
		{ preempt_count() & ~SOFTIRQ_MASK, "preemption off" },
		{ ants_migration_disabled, "migration off" },
		{ current->pagefault_disabled, "page faults off" },
		{ ants_state_of(current), "state not TASK_RUNNING" },
		{ test_thread_flag(TIF_SIGPENDING), "a signal pending" },
		{ current->flags & ANTS_PF_SCOPES, "a scope of allocations open" },
		{ ants_plug, "a plug of block I/O open" },
		{ current->journal_info, "a transaction open" },
		{ ants_memcg, "memory charged to others" },
		{ current->mm, "an address space in use" },
		{ current_cred() != current_real_cred(), "overridden credentials" },
	};
	unsigned long func = w->fn ? ants_worker_func(w) :
				     (unsigned long)w->pool->ops.worker_init;
	unsigned int i = 0;

	while (!dirt[i].left)
		if (++i == ARRAY_SIZE(dirt)) {
			/* RCU Tasks waits: no function of a client is on the stack. */
			cond_resched_tasks_rcu_qs();
			return;
		}
	mend();
	dirt[0].left = lockdep_depth(current) != locks;
	if (dirt[0].left)
		debug_show_held_locks(current);
	if (xchg(&reported[func >> 4 & 255], func) != func)
		for (i = 0; i < ARRAY_SIZE(dirt); i++)
			if (dirt[i].left)
				pr_err("pool %s: %ps has returned with %s\n",
				       w->pool->name, (void *)func, dirt[i].what);
	raw_spin_lock_irq(&w->pool->lock);
	w->pool->counts.dirty++;
	/*
	 * It leaves before its next task, see __worker_may_stay(): it counts as one that has
	 * a change of its affinity to apply, and as long as there is one, all workers look.
	 */
	if (w->fn && !dirt[0].left) {
		w->replace = true;
		if (!ants_affinity_is_stale(w)) {
			w->affinity_seq--;
			w->pool->target.nr_stale++;
			ants_update_stay_limit(w->pool);
		}
	}
	ants_unlock_irq(w->pool);
}

/*
 * The thread has run for a while, and could sleep here. If the CPU wants another one,
 * let it run, and report to RCU Tasks in any case. Before 6.4 a livepatch takes effect
 * in a kthread only if it is found off its CPU when the kernel looks, once a second.
 */
void ants_give_way(void)
{
	cond_resched_tasks_rcu_qs();
	if (klp_patch_pending(current))
		schedule_timeout_idle(1);
}

/*
 * See ants_wants_attention(). The lock is held on entry and on return. A stream of
 * tasks that do not sleep must not keep the CPU; the tick asks on behalf of RCU as
 * well. A worker that yields still counts as busy, so that others come for what is
 * pending. But if one task fills the pool, the submitter that it has woken, which is
 * mostly what wants the CPU, would have to wait: there the worker yields as it parks.
 */
static noinline void attend(struct ants_worker *w, struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	const struct ants_pool *pool = w->pool;

	/*
	 * Does one task fill the pool, and will its worker park when it has finished? Until
	 * then there is no room, and no other worker that could come.
	 */
	if (!test_thread_flag(TIF_SIGPENDING) && pool->limits.in_flight == 1 &&
	    !pool->nr_pending && !pool->nr_again && !pool->space.wanted)
		return;
	ants_unlock(w->pool, todo);
	clean(w, lockdep_depth(current));
	ants_give_way();
	ants_lock(w->pool, todo);
}

/*
 * @w has parked, and the CPU wants another thread. If one task fills the pool, let
 * that run before the worker sleeps: a submitter finds it awake, and mostly on its CPU.
 */
static noinline void yield_parked(struct ants_worker *w, struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	if (w->pool->limits.in_flight != 1)
		return;
	w->cpu = ants_this_cpu();
	ants_unlock(w->pool, todo);
	cond_resched_tasks_rcu_qs();
	ants_lock(w->pool, todo);
	/* Whoever has changed the CPUs meanwhile has woken it in vain. */
	if (w->state == ANTS_IDLE && ants_affinity_is_stale(w))
		ants_affinity_note(w, todo);
}

/*
 * Run the task, with the map of the pool held: see ants_wait_touch(). @plain: it is a work
 * item that needs no look at what ants_work_run() looks at.
 */
static __always_inline void worker_run(struct ants_pool *pool, struct ants_worker *w,
				       bool plain)
{
	int locks = lockdep_depth(current);
	struct ants_work *work = w->data;

	ants_pause(ANTS_PAUSE_RUN, pool);
	ants_trace(task_start, w);
	lock_map_acquire(&pool->map);
	if (plain)
		WRITE_ONCE(work->result, work->fn(work));
	else
		w->fn(w->data);
	lock_map_release(&pool->map);
	if (unlikely(is_dirty(locks)))
		clean(w, locks);
	ants_trace(task_end, w);
	ants_pause(ANTS_PAUSE_FINISH, pool);
}

/*
 * May a worker go from a task with @tag that it has run to that in @slot, the oldest one if
 * any is pending, on the fast path: see ants_end_fast_path()? Both have the same tag. So they
 * are in one flush epoch, and the last task of an epoch, for which a flush may wait, never
 * ends here.
 */
static __always_inline bool may_switch(const struct ants_pool *pool, unsigned int tag,
				       const struct ants_slot *slot)
{
	lockdep_assert_held(&pool->lock);
	return likely(pool->nr_pending > pool->fast_above && !ants_wants_attention() &&
		      !freezing(current) && slot->tag == tag);
}

/* A task of @epoch was busy, and the one in @slot, which its worker takes, is. */
static __always_inline void switch_task(struct ants_pool *pool, unsigned int epoch,
					struct ants_slot *slot)
{
	pool->in_epoch[epoch]--;
	ants_unlink(&slot->node);
	pool->nr_pending--;
}

/*
 * May @last end on the fast path, and @next start there? An item ends that way if that
 * tells nobody, and starts if its group was not cancelled. A thread that leaves an item
 * without flags has noted nothing about it. Most items are in no group.
 */
static __always_inline bool items_unnoticed(const struct ants_work *last,
					    const struct ants_work *next)
{
	const struct ants_group *group = last->group;

	if (last->state != ANTS_WORK_RUNNING)
		return false;
	if (likely(!(last->flags | next->flags | (unsigned long)last->waiters.first |
		     (unsigned long)group | (unsigned long)next->group)))
		return true;
	return !last->flags && hlist_empty(&last->waiters) &&
	       (!group || (group->nr_left > 1 && !last->result &&
			   hlist_empty(&group->waiters))) &&
	       !next->flags && !ants_group_stops(next);
}

/*
 * The fast path from one work item to the next, as often as it may be taken. The last item
 * is left to the caller.
 */
static noinline void worker_run_items(struct ants_pool *pool, struct ants_worker *w)
	__must_hold(&pool->lock)
{
	struct ants_work *last, *next;
	unsigned int tag = w->tag;
	struct ants_slot *slot;

	if ((tag & ~ANTS_TAG_EPOCH) != ANTS_TAG_WORK)
		return;
	for (;;) {
		slot = list_first_entry(&pool->pending, struct ants_slot, node);
		if (unlikely(!may_switch(pool, tag, slot)))
			return;
		last = w->data;
		next = slot->data;
		if (unlikely(!items_unnoticed(last, next)))
			return;
		switch_task(pool, tag & ANTS_TAG_EPOCH, slot);
		if (last->group) {
			last->group->nr_left--;
			ants_link_tail(&last->finished, &last->group->finished);
			last->group = NULL;
		}
		ants_work_move(last, ANTS_WORK_IDLE);
		ants_work_unclaim(last);
		w->data = next;
		ants_work_move(next, ANTS_WORK_RUNNING);
		/* The slot is that of the item, and now says who runs it. */
		slot->data = w;
		ants_unlock_irq(pool);
		worker_run(pool, w, true);
		raw_spin_lock_irq(&pool->lock);
	}
}

/* As ants_dispatch(), for a worker that is going to run a task that it has taken. */
static inline void dispatch_rest(struct ants_pool *pool, struct ants_todo *todo)
{
	if (unlikely(pool->space.wanted))
		ants_serve(pool, todo);
	if (pool->nr_pending)
		ants_wake_helper(pool, todo);
	else if (unlikely(pool->wakes.deferred))
		ants_deferred_end(pool);
}

/*
 * While more tasks than this are pending, a worker takes the next one on the fast path. It
 * leaves that for the last one, and before that if ants_serve() would grant waiters, as far
 * as that can be told: workers that park, and tasks that join, end the fast path.
 */
static unsigned int fast_above(const struct ants_pool *pool)
{
	unsigned int below = pool->limits.grant_below, used = pool->nr_busy + pool->nr_joined;

	if (pool->nr_pending <= 1 || ants_needs_slow_path(pool))
		return UINT_MAX;
	if (!pool->space.wanted || below <= used ||
	    (pool->nr_busy == 1 && !ants_waiter_is_elsewhere(pool)))
		return 1;
	return max(below - used, 1U);
}

/*
 * Run one task, if there is one for this worker, and those after it that need no look
 * at anything else. The lock is held on entry and on return; @todo has what the open
 * section has decided so far.
 */
static __always_inline bool worker_serve(struct ants_pool *pool,
					 struct ants_worker *w,
					 struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	struct ants_slot *slot;
	unsigned int tag;

	if (!worker_take(pool, w, todo)) {
		w->fn = NULL;
		if (unlikely(pool->wakes.deferred))
			ants_deferred_end(pool);
		return false;
	}
	dispatch_rest(pool, todo);
	pool->fast_above = fast_above(pool);
	/* No task has this tag: an item leaves the loop, and those after it have their own. */
	tag = w->tag > ANTS_TAG_EPOCH ? UINT_MAX : w->tag;
	ants_unlock(pool, todo);
	for (;;) {
		worker_run(pool, w, false);
		raw_spin_lock_irq(&pool->lock);
		slot = list_first_entry(&pool->pending, struct ants_slot, node);
		if (!may_switch(pool, tag, slot))
			break;
		switch_task(pool, tag, slot);
		w->fn = slot->fn;
		w->data = slot->data;
		ants_stock_put(pool, slot);
		ants_unlock_irq(pool);
	}
	if (unlikely(tag > ANTS_TAG_EPOCH))
		worker_run_items(pool, w);
	ants_todo_begin(todo);
	if (unlikely(ants_wants_attention()))
		attend(w, todo);
	worker_finish(pool, w, tag, todo);
	return true;
}

/*
 * Count a fault: a thread has died in a task; or, if @is_new, it has failed to get
 * ready, because worker_init has returned an error, or the thread has died in it.
 *
 * The breaker of a pool trips after too many faults in a row, with no task between them
 * that has ended well; then the pool takes no more tasks until it is closed and opened
 * again. It also trips if worker_init fails that often in a row while the pool has no
 * other thread. A kernel work item gives up what was accepted by then: see pool.c. The
 * system pool is left alone: no client can open it again, so the faults of one client
 * must not close it for all.
 */
static __cold void breaker_count(struct ants_pool *pool, bool is_new, struct ants_todo *todo)
{
	struct ants_faults *faults = &pool->faults;
	u64 completed = ants_nr_completed(pool);
	unsigned int *row = &faults->row;
	bool counted = ants_backing_off(pool);

	lockdep_assert_held(&pool->lock);
	if (is_new) {
		/*
		 * Pause before the next thread is made. Threads that get ready side by
		 * side and fail count as one try, here and for the pause. Nothing is
		 * counted while another thread is ready; the one that has failed still
		 * counts as that.
		 */
		row = &faults->row_init;
		ants_back_off(pool);
		if (counted || pool->workers.nr - pool->workers.nr_new -
			       pool->workers.nr_leaving > 1)
			return;
	} else {
		if (faults->completed != completed)
			faults->row = 0;
		faults->completed = completed;
	}
	if (++*row < faults->max || faults->tripped || pool == ants_system_pool)
		return;
	WRITE_ONCE(faults->tripped, true);
	ants_update_admit_limit(pool);
	ants_update_stay_limit(pool);
	faults->queued = true;
	todo->bits |= ANTS_TODO_TRIP | ANTS_TODO_NOTICE;
}

/*
 * @w gives its reservation back. Another one may be wanted in its place. From here on its
 * thread only ends, if it has not died, and the pool may go once this drops the lock.
 */
static void worker_leave(struct ants_worker *w, struct ants_todo *todo)
	__releases(&w->pool->lock)
{
	struct ants_pool *pool = w->pool;

	pool->workers.nr_leaving -= w->state == ANTS_LEAVING;
	pool->counts.reaped += w->expired;
	/* A new affinity takes the pool to be applied. */
	todo->bits &= ~ANTS_TODO_REBIND;
	ants_cursors_skip(pool, &w->member);
	if (w == pool->wakes.arrived)
		pool->wakes.arrived = NULL;
	ants_affinity_clear_stale(w);
	list_del(&w->member);
	pool->workers.nr--;
	atomic_dec(&ants_nr_threads);
	ants_end_fast_path(pool);
	trace_ants_worker_leave(pool, &w->task, NULL, NULL, 0, 0);
	ants_worker_move(w, ANTS_LEFT);
	if (!pool->workers.nr)
		ants_job_ends(pool, todo);
	/* With the last worker goes the stock, if the pool does not go itself. */
	if (!pool->workers.nr && !pool->release.dying) {
		pool->upkeep.stock_wanted = true;
		ants_todo_upkeep(pool, todo);
	}
	/* Even if no task asks for it. */
	ants_ask_for_worker(pool, todo);
	ants_dispatch(pool, todo);
	ants_unlock(pool, todo);
}

/*
 * Park on top of the stack of idle workers. Only a thread that takes the worker off the
 * stack may wake it. No more is to be dispatched: no task is pending, and waiters were
 * granted as far as there is room. What the last task has left in @todo is done below.
 */
static void worker_park(struct ants_worker *w, struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	struct ants_pool *pool = w->pool;

	ants_worker_move(w, ANTS_IDLE);
	w->idle_since = jiffies;
	/* In front of the first one. */
	ants_link_tail(&w->node, pool->workers.idle.next);
	pool->workers.nr_idle++;
	ants_end_fast_path(pool);
	trace_ants_worker_park(pool, &w->task, NULL, NULL, 0, 0);
	if (!ants_timer_armed(pool, w->idle_since + pool->timer.expiry + 1))
		ants_timer_arm_reaper(pool);
	if (pool->timer.waking && !ants_nr_arriving(pool))
		ants_timer_take_back(pool);
	if (unlikely(test_thread_flag(TIF_NEED_RESCHED)))
		yield_parked(w, todo);
	while (w->state == ANTS_IDLE) {
		w->cpu = ants_this_cpu();
		/* Set under the lock, before any wake-up can come. */
		set_current_state(ants_sleep_state(TASK_IDLE | TASK_FREEZABLE));
		ants_unlock(pool, todo);
		freezable_schedule();
		ants_pause(ANTS_PAUSE_ARRIVE, pool);
		ants_lock(pool, todo);
		if (w->state == ANTS_IDLE && ants_affinity_is_stale(w))
			ants_affinity_note(w, todo);
	}
}

/*
 * The system suspends. Pending tasks stay: workers that are woken for them, in
 * vain or by the timer, freeze as well, and check again when they thaw.
 */
static noinline void worker_freeze(struct ants_worker *w,
				   struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	struct ants_pool *pool = w->pool;

	/* A work item that it ran may be freed. */
	w->fn = NULL;
	ants_dispatch(pool, todo);
	ants_unlock(pool, todo);
	try_to_freeze();
	ants_lock(pool, todo);
}

/*
 * What a thread does first, and the client's part of that. Policy and affinity are set by
 * the thread itself: modules cannot do it earlier.
 *
 * On a preemptible kernel the wake-up of a worker may preempt its submitter on the same
 * CPU. SCHED_BATCH does not: the submitter continues, and the worker then finds many
 * tasks. But where other threads want the CPU, they go first.
 */
static void worker_get_ready(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct sched_attr batch = {
		.size = sizeof(batch),
		.sched_policy = SCHED_BATCH,
		.sched_nice = task_nice(current),
	};
	struct ants_todo todo;

	if (READ_ONCE(pool->flags) & ANTS_THROUGHPUT && sched_setattr_nocheck(current, &batch))
		pr_warn_once("pool %s: no SCHED_BATCH\n", pool->name);
	ants_lock(pool, &todo);
	ants_affinity_note(w, &todo);
	ants_unlock(pool, &todo);
	if (READ_ONCE(pool->flags) & ANTS_FREEZABLE)
		set_freezable();
	if (pool->ops.worker_init)
		w->local = pool->ops.worker_init(pool);
	if (is_dirty(0))
		clean(w, 0);
	if (IS_ERR(w->local))
		pr_warn_ratelimited("pool %s: worker_init failed: %pe\n", pool->name, w->local);
}

/* From the start of the thread of @w to the moment at which it leaves the pool. */
static void worker_live(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;

	worker_get_ready(w);
	ants_pause(ANTS_PAUSE_NEW, pool);
	ants_lock_batch(pool, &todo, &batch);
	if (IS_ERR(w->local)) {
		/* The thread is as good as not made. */
		worker_arrive(w);
		breaker_count(pool, true, &todo);
		goto leave;
	}
	pool->upkeep.backoff = 0;
	pool->faults.row_init = 0;
	for (;;) {
		worker_arrive(w);
		do {
			if (unlikely(freezing(current)))
				worker_freeze(w, &todo);
		} while (worker_serve(pool, w, &todo));
		if (w->state == ANTS_LEAVING || pool->released || !worker_may_stay(pool, w, &todo))
			break;
		worker_park(w, &todo);
	}
	if (pool->ops.worker_exit) {
		/*
		 * The client's part of the end comes before the reservation is given back, so
		 * there are never more results of worker_init in use than workers allowed. It
		 * may block. The worker counts as leaving, and does not return to work.
		 */
		if (w->state != ANTS_LEAVING) {
			pool->workers.nr_leaving++;
			ants_worker_move(w, ANTS_LEAVING);
		}
		ants_dispatch(pool, &todo);
		ants_unlock(pool, &todo);
		pool->ops.worker_exit(pool, w->local);
		ants_lock(pool, &todo);
	}
leave:
	worker_leave(w, &todo);
}

/*
 * Called in the thread that ends, on its way out of the kernel. Once a worker has left
 * it is not watched for long, so this one has died.
 */
static int thread_ends(struct wait_queue_entry *entry, unsigned int mode,
		       int flags, void *key)
{
	list_del_init(&entry->entry);
	queue_work(ants_wq, &container_of(entry, struct ants_worker, exit)->cleanup);
	return 0;
}

/* A thread of a pool. Once it has left that, the pool may be gone. */
int ants_worker_fn(void *arg)
{
	struct ants_worker *w = arg;

	/* From here on its end is noticed. */
	init_waitqueue_func_entry(&w->exit, thread_ends);
	INIT_WORK(&w->cleanup, ants_crash_fn);
	w->pid = get_pid(task_pid(current));
	add_wait_queue(&w->pid->wait_pidfd, &w->exit);
	worker_live(w);
	ants_pause(ANTS_PAUSE_LEFT, w->pool);
	remove_wait_queue(&w->pid->wait_pidfd, &w->exit);
	put_pid(w->pid);
	put_task_struct(current);
	kfree(w);
	/* Then the module may go, so there is no return to it. */
	kthread_complete_and_exit(&ants_gone, 0);
}

/* The thread of @w has died: give back what the worker has in the pool. */
__cold void ants_worker_abort(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool is_new;

	ants_lock_batch(pool, &todo, &batch);
	is_new = w->state == ANTS_NEW;
	/* It had parked, and called back as it dropped the lock. */
	if (w->state == ANTS_IDLE) {
		list_del(&w->node);
		pool->workers.nr_idle--;
		ants_worker_move(w, ANTS_WAKING);
	}
	/* If it was in flight, it has arrived now. */
	if (w->state != ANTS_BUSY)
		worker_arrive(w);
	worker_rescind(w);
	/* The task that it ran has died with it. */
	if (w->fn) {
		pool->counts.lost++;
		if (w->tag & ANTS_TAG_WORK)
			WRITE_ONCE(((struct ants_work *)w->data)->result, -EFAULT);
		worker_finish(pool, w, w->tag, &todo);
		w->fn = NULL;
	}
	breaker_count(pool, is_new, &todo);
	todo.bits |= ANTS_TODO_WAITQ | ANTS_TODO_NOTICE;
	worker_leave(w, &todo);
}
