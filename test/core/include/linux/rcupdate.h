/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_RCUPDATE_H
#define _SHIM_RCUPDATE_H

#include <linux/types.h>

void rcu_read_lock(void);
void rcu_read_unlock(void);
bool rcu_read_lock_held(void);
void synchronize_rcu(void);
unsigned long get_state_synchronize_rcu(void);
void cond_synchronize_rcu(unsigned long state);

/* See preempt_count(). */
#define rcu_preempt_depth()	0
#define cond_resched_tasks_rcu_qs()	cond_resched()

#endif
