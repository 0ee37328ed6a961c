/* SPDX-License-Identifier: GPL-2.0-only */
/* Helpers for the suites about nice values and CPUs of workers. */
#ifndef _ANTS_KUNIT_AFFINITY_H
#define _ANTS_KUNIT_AFFINITY_H

#include <linux/sched/isolation.h>

#include "rig.h"

/* True if every worker has applied the last change. */
static inline bool all_applied(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = !pool->target.nr_stale && pool->limits.stay == pool->limits.capacity;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/*
 * The CPUs that the kernel gives to kthreads. A copy, since a new mask frees
 * the old one.
 */
static inline const struct cpumask *housekeeping(void)
{
	static struct cpumask mask;

	rcu_read_lock();
	cpumask_copy(&mask, housekeeping_cpumask(HK_TYPE_KTHREAD));
	rcu_read_unlock();
	return &mask;
}

static inline bool runs_on(struct task_struct *thread,
			   const struct cpumask *mask)
{
	return cpumask_equal(&thread->cpus_mask, mask);
}

#endif /* _ANTS_KUNIT_AFFINITY_H */
