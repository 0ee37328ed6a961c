/* SPDX-License-Identifier: GPL-2.0-only */
/* All CPUs are online, in one node, and none is isolated. */
#ifndef _SHIM_CPUMASK_H
#define _SHIM_CPUMASK_H

#include <linux/types.h>

#define NR_CPUS			4
#define MAX_NUMNODES		1
#define NUMA_NO_NODE		(-1)

struct cpumask {
	unsigned long bits;
};

typedef struct cpumask cpumask_var_t[1];

static const struct cpumask shim_all_cpus = { (1UL << NR_CPUS) - 1 };

#define cpu_possible_mask	(&shim_all_cpus)
#define cpu_online_mask		(&shim_all_cpus)
#define num_online_cpus()	((unsigned int)NR_CPUS)
#define nr_cpu_ids		((unsigned int)NR_CPUS)
#define cpu_online(cpu)		((cpu) < NR_CPUS)
#define to_cpumask(words)	((struct cpumask *)(words))
#define cpumask_size()		sizeof(struct cpumask)
#define cpumask_pr_args(m)	NR_CPUS, (m)
#define cpumask_first(m)	((unsigned int)__builtin_ctzl((m)->bits))
#define cpumask_weight(m)	((unsigned int)__builtin_popcountl((m)->bits))
#define cpumask_empty(m)	(!(m)->bits)
#define cpumask_clear(m)		((void)((m)->bits = 0))
#define cpumask_copy(to, from)	((void)((to)->bits = (from)->bits))
#define cpumask_test_cpu(cpu, m)	(!!((m)->bits & BIT(cpu)))
#define cpumask_set_cpu(cpu, m)		((void)((m)->bits |= BIT(cpu)))
#define cpumask_clear_cpu(cpu, m)	((void)((m)->bits &= ~BIT(cpu)))

#define alloc_cpumask_var(m, gfp)	true
#define zalloc_cpumask_var(m, gfp)	((*(m))->bits = 0, true)
#define free_cpumask_var(m)		((void)0)

static inline bool cpumask_intersects(const struct cpumask *a,
				      const struct cpumask *b)
{
	return a->bits & b->bits;
}

static inline bool cpumask_and(struct cpumask *to, const struct cpumask *a,
			       const struct cpumask *b)
{
	to->bits = a->bits & b->bits;
	return to->bits;
}

#define for_each_cpu(cpu, m)				\
	for ((cpu) = 0; (cpu) < NR_CPUS; (cpu)++)	\
		if (cpumask_test_cpu(cpu, m))
#define for_each_cpu_and(cpu, a, b)			\
	for ((cpu) = 0; (cpu) < NR_CPUS; (cpu)++)	\
		if ((a)->bits & (b)->bits & BIT(cpu))
#define for_each_possible_cpu(cpu)	for_each_cpu(cpu, cpu_possible_mask)

#define cpu_to_node(cpu)	0
#define node_online(node)	((node) == 0)

#endif
