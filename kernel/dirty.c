// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that leave their thread in another state than they found it: that is
 * reported once for each function, counted, and mended as far as possible. The
 * thread goes on: it is the same for the next task as if nothing had happened. A
 * lock that a task has kept stays locked.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/bits.h>
#include <linux/debug_locks.h>
#include <linux/kthread.h>
#include <linux/livepatch.h>
#include <linux/sched/signal.h>

#include "internal.h"

/* What a task has left behind. */
enum dirt {
	DIRT_IRQ,
	DIRT_BH,
	DIRT_RCU,
	DIRT_PREEMPT,
	DIRT_STATE,
	DIRT_SIGNAL,
	DIRT_MM,
	DIRT_CRED,
	DIRT_LOCK,
	NR_DIRT,
};

static const char * const names[] = {
	[DIRT_IRQ] = "interrupts off",
	[DIRT_BH] = "softirqs off",
	[DIRT_RCU] = "an RCU section open",
	[DIRT_PREEMPT] = "preemption off",
	[DIRT_STATE] = "a sleep begun",
	[DIRT_SIGNAL] = "a signal pending",
	[DIRT_MM] = "an address space in use",
	[DIRT_CRED] = "the rights of others",
	[DIRT_LOCK] = "a lock held",
};

/* The functions that were reported, as many as are kept. */
#define NR_REPORTED	64

static unsigned long reported[NR_REPORTED];
static DEFINE_RAW_SPINLOCK(reported_lock);

/* Is this the first report of @func? If the table is full, return false. */
static bool is_new(unsigned long func)
{
	unsigned long flags;
	bool found = false;
	unsigned int i;

	raw_spin_lock_irqsave(&reported_lock, flags);
	for (i = 0; i < NR_REPORTED && reported[i]; i++)
		if (reported[i] == func)
			break;
	if (i < NR_REPORTED && !reported[i]) {
		reported[i] = func;
		found = true;
	}
	raw_spin_unlock_irqrestore(&reported_lock, flags);
	return found;
}

/* Bits of enum dirt. */
static unsigned int examine(void)
{
	unsigned int dirt = 0;

	dirt |= irqs_disabled() ? BIT(DIRT_IRQ) : 0;
	dirt |= softirq_count() ? BIT(DIRT_BH) : 0;
	dirt |= rcu_preempt_depth() ? BIT(DIRT_RCU) : 0;
	dirt |= preempt_count() & ~SOFTIRQ_MASK ? BIT(DIRT_PREEMPT) : 0;
	dirt |= ants_state_of(current) ? BIT(DIRT_STATE) : 0;
	dirt |= test_thread_flag(TIF_SIGPENDING) ? BIT(DIRT_SIGNAL) : 0;
	dirt |= current->mm ? BIT(DIRT_MM) : 0;
	dirt |= current_cred() != current_real_cred() ? BIT(DIRT_CRED) : 0;
	return dirt;
}

/*
 * The order matters: softirqs cannot be switched on with interrupts off, and on
 * PREEMPT_RT they hold a lock and an RCU section.
 */
static void mend_sections(void)
{
	if (irqs_disabled())
		local_irq_enable();
	while (softirq_count())
		local_bh_enable();
	while (rcu_preempt_depth() > 0) {
		/* For sparse: the task has entered it. */
		__acquire(RCU);
		rcu_read_unlock();
	}
	preempt_count_set(0);
}

static void mend(void)
{
	__set_current_state(TASK_RUNNING);
	mend_sections();
	flush_signals(current);
	if (current->mm)
		kthread_unuse_mm(current->mm);
	if (current_cred() != current_real_cred())
		revert_creds(current_real_cred());
}

static void report(const struct ants_worker *w, unsigned int dirt)
{
	unsigned long func = ants_worker_func(w);
	unsigned int i;

	if (!is_new(func))
		return;
	for (i = 0; i < NR_DIRT; i++)
		if (dirt & BIT(i))
			pr_err("pool %s: %ps has returned with %s\n",
			       w->pool->name, (void *)func, names[i]);
	if (dirt & BIT(DIRT_LOCK))
		debug_show_held_locks(current);
}

/*
 * The task that @w has run, with @locks held before, has left something behind, or RCU
 * Tasks waits for the thread: no function of a client is on its stack here.
 */
void ants_clean(struct ants_worker *w, int locks)
{
	unsigned int dirt = examine();

	mend();
	cond_resched_tasks_rcu_qs();
	/* To lockdep an RCU section is a lock, so mend() comes first. */
	dirt |= lockdep_depth(current) != locks ? BIT(DIRT_LOCK) : 0;
	if (!dirt)
		return;
	report(w, dirt);
	raw_spin_lock_irq(&w->pool->lock);
	w->pool->counts.dirty++;
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
 * Does its task fill the pool of @w, and will @w park when it has finished? Until then
 * there is no room, and no other worker that could come. A stand-in does not park.
 */
static bool parks_next(const struct ants_worker *w)
{
	const struct ants_pool *pool = w->pool;

	return pool->limits.in_flight == 1 && w != &pool->stand_in &&
	       !pool->nr_pending && !pool->nr_again && !pool->space.wanted;
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
	bool dirty = test_thread_flag(TIF_SIGPENDING);

	if (!dirty && parks_next(w))
		return;
	ants_unlock(w->pool, todo);
	if (dirty)
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
	/* To policy.c this is no preemption. */
	w->switches = current->nivcsw;
	/* Whoever has changed the CPUs meanwhile has woken it in vain. */
	if (w->state == ANTS_IDLE && ants_affinity_is_stale(w))
		ants_affinity_note(w, todo);
}
