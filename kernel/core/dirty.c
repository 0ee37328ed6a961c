// SPDX-License-Identifier: GPL-2.0-only
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
#define pr_fmt(fmt) "ants: " fmt

#include <linux/debug_locks.h>
#include <linux/livepatch.h>
#include <linux/sched/signal.h>

#include "../internal.h"

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
 * Have @w leave before its next task, see __worker_may_stay(): it counts as one that has a
 * change of its affinity to apply, and as long as there is one, all workers look.
 */
static void replace(struct ants_worker *w)
{
	w->replace = true;
	if (ants_affinity_is_stale(w))
		return;
	w->affinity_seq--;
	w->pool->target.nr_stale++;
	ants_update_stay_limit(w->pool);
}

/*
 * The task that @w has run, or worker_init, with @locks held before, may have left
 * something behind.
 */
void ants_clean(struct ants_worker *w, int locks)
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
	if (w->fn && !dirt[0].left)
		replace(w);
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
 * Does one task fill the pool, and will its worker park when it has finished? Until then
 * there is no room, and no other worker that could come.
 */
static bool parks_next(const struct ants_pool *pool)
{
	return pool->limits.in_flight == 1 && !pool->nr_pending && !pool->nr_again &&
	       !pool->space.wanted;
}

/*
 * See ants_wants_attention(). The lock is held on entry and on return. A stream of
 * tasks that do not sleep must not keep the CPU; the tick asks on behalf of RCU as
 * well. A worker that yields still counts as busy, so that others come for what is
 * pending. But if one task fills the pool, the submitter that it has woken, which is
 * mostly what wants the CPU, would have to wait: there the worker yields as it parks.
 */
void ants_attend(struct ants_worker *w, struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	if (!test_thread_flag(TIF_SIGPENDING) && parks_next(w->pool))
		return;
	ants_unlock(w->pool, todo);
	ants_clean(w, lockdep_depth(current));
	ants_give_way();
	ants_lock(w->pool, todo);
}

/*
 * @w has parked, and the CPU wants another thread. If one task fills the pool, let
 * that run before the worker sleeps: a submitter finds it awake, and mostly on its CPU.
 */
void ants_yield_parked(struct ants_worker *w, struct ants_todo *todo)
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
