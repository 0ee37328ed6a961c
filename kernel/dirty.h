/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is the thread as a task has to leave it? The part of dirty.c that runs after
 * each task, inlined.
 */
#ifndef _ANTS_DIRTY_H
#define _ANTS_DIRTY_H

#include <linux/bits.h>
#include <linux/cred.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "compat.h"

struct ants_todo;
struct ants_worker;

void ants_clean(struct ants_worker *w, int locks);
void ants_attend(struct ants_worker *w, struct ants_todo *todo);
void ants_yield_parked(struct ants_worker *w, struct ants_todo *todo);
void ants_give_way(void);

/*
 * Does a grace period of RCU Tasks wait for this thread? That ends when the thread
 * sleeps, or says that it might have; being preempted is not enough, and yielding
 * neither. A worker that always finds another task does not sleep.
 */
#ifdef CONFIG_TASKS_RCU
#define ants_holds_out()	READ_ONCE(current->rcu_tasks_holdout)
#else
#define ants_holds_out()	0
#endif

/*
 * Has the task left something behind: a section that it is still in, a task
 * state other than running, an address space or rights that it has borrowed,
 * interrupts off, or, as far as lockdep knows, a lock beyond the @locks held
 * before? Or is it the thread's turn to report to RCU Tasks? Most of this is combined
 * into one test.
 */
static __always_inline bool ants_is_dirty(int locks)
{
	unsigned long dirt = preempt_count() | rcu_preempt_depth() |
			     ants_state_of(current) | ants_holds_out() |
			     (unsigned long)current->mm;

	return unlikely(dirt) || unlikely(current_cred() != current_real_cred()) ||
	       unlikely(irqs_disabled()) || unlikely(lockdep_depth(current) != locks);
}

/* Not every architecture has livepatches. */
#ifndef TIF_PATCH_PENDING
#define TIF_PATCH_PENDING	TIF_NEED_RESCHED
#endif

/*
 * Does the CPU want another thread, was a signal not taken, or does a livepatch wait
 * for this thread?
 */
static __always_inline bool ants_wants_attention(void)
{
	return READ_ONCE(current_thread_info()->flags) &
	       (BIT(TIF_NEED_RESCHED) | BIT(TIF_SIGPENDING) | BIT(TIF_PATCH_PENDING));
}

#endif /* _ANTS_DIRTY_H */
