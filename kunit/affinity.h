/* SPDX-License-Identifier: GPL-2.0-only */
/* For the suites about where workers run. */
#ifndef _ANTS_KUNIT_AFFINITY_H
#define _ANTS_KUNIT_AFFINITY_H

#include <linux/sched/isolation.h>

#include "rig.h"

/* All workers have applied the last change: none looks closer any more. */
static inline bool all_applied(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = !pool->nr_stale && pool->stay_limit == pool->capacity;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/* Where the kernel lets kthreads run; replacing that mask frees it. */
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
