/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_PREEMPT_H
#define _SHIM_PREEMPT_H

#include <linux/sched.h>
#include <linux/spinlock.h>

/* The sections that may not sleep are all of one kind. */
#define preempt_count()		((int)(current->rcu & 0xffffffffU))
#define SOFTIRQ_MASK		0
#define softirq_count()		0
#define local_bh_enable()	((void)0)

/* Threads do not move. */
#define migrate_enable()	((void)0)

void preempt_count_set(int count);

#endif
