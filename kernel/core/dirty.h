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

#include "../compat.h"

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
 * May the task, before which @locks were held, have left something behind, or is it the
 * thread's turn to report to RCU Tasks? Most of it is combined into one test; ants_clean()
 * looks closer. Interrupts are tested where lockdep is: the lock that each worker takes
 * next switches them on.
 */
static __always_inline bool ants_is_dirty(int locks)
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
	/* What is set just now is seen after the next task. */
	return data_race(current_thread_info()->flags) &
	       (BIT(TIF_NEED_RESCHED) | BIT(TIF_SIGPENDING) | BIT(TIF_PATCH_PENDING));
}

#endif /* _ANTS_DIRTY_H */
