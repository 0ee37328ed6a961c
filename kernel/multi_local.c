// SPDX-License-Identifier: GPL-2.0-only
/*
 * ANTS_LOCAL: each CPU has a shard, and the threads of a shard run on the CPUs
 * that have it. So a task stays where it was submitted.
 */
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "internal.h"
#include "multi.h"

/*
 * Divide @cpus among @nr shards in order, into contiguous ranges whose sizes differ
 * by one at most.
 */
static void spread_cpus(unsigned int *shard_of, unsigned int nr,
			const struct cpumask *cpus)
{
	unsigned int cpu, rank = 0, total = cpumask_weight(cpus);

	for_each_cpu(cpu, cpus)
		shard_of[cpu] = rank++ * nr / total;
}

static unsigned int node_rank(int node, const nodemask_t *nodes)
{
	unsigned int rank = 0;
	int other;

	for_each_node_mask(other, *nodes)
		rank += other < node;
	return rank;
}

/* If there are as many nodes as shards, each shard gets a node. */
static void spread_nodes(unsigned int *shard_of, unsigned int nr,
			 const struct cpumask *cpus)
{
	nodemask_t nodes = NODE_MASK_NONE;
	unsigned int cpu;
	int node;

	for_each_cpu(cpu, cpus) {
		node = cpu_to_node(cpu);
		if (node != NUMA_NO_NODE)
			node_set(node, nodes);
	}
	if (nodes_weight(nodes) != nr)
		return;
	for_each_possible_cpu(cpu) {
		node = cpu_to_node(cpu);
		if (node != NUMA_NO_NODE && node_isset(node, nodes))
			shard_of[cpu] = node_rank(node, &nodes);
	}
}

/*
 * The CPUs that threads may run on. @asked: those that were asked for; NULL if
 * none were.
 */
static void set_allowed(struct cpumask *mask, const struct cpumask *asked)
{
	cpumask_and(mask, asked ?: cpu_possible_mask, cpu_possible_mask);
	if (!asked)
		ants_leave_out_isolated(mask);
}

/* Give each possible CPU a shard; return the number of shards, or 0. */
static unsigned int map_cpus(unsigned int *shard_of, unsigned int nr,
			     unsigned int most, const struct cpumask *first,
			     const struct cpumask *rest)
{
	if (!nr)
		return ants_fit(first, rest, most, shard_of);
	spread_cpus(shard_of, nr, first);
	spread_cpus(shard_of, nr, rest);
	spread_nodes(shard_of, nr, first);
	return nr;
}

/*
 * Find the shard of each CPU. First divide the CPUs that threads may run on and that
 * are online, so that each shard gets some of them; then the others, because
 * submitters may run there, too. @asked: NULL if no CPUs were asked for. @nr_shards:
 * their number; if it is 0, as many as fit, at most @most, and it is set. Return NULL
 * if there is no memory.
 */
unsigned int *ants_local_map(const struct cpumask *asked,
			     unsigned int *nr_shards, unsigned int most)
{
	cpumask_var_t first, rest;
	unsigned int *shard_of;

	if (!zalloc_cpumask_var(&first, GFP_KERNEL))
		return NULL;
	if (!zalloc_cpumask_var(&rest, GFP_KERNEL)) {
		free_cpumask_var(first);
		return NULL;
	}
	shard_of = kcalloc(nr_cpu_ids, sizeof(*shard_of), GFP_KERNEL);
	if (shard_of) {
		set_allowed(rest, asked);
		if (!cpumask_and(first, rest, cpu_online_mask))
			cpumask_copy(first, rest);
		cpumask_andnot(rest, cpu_possible_mask, first);
		*nr_shards = map_cpus(shard_of, *nr_shards, most, first, rest);
	}
	free_cpumask_var(first);
	free_cpumask_var(rest);
	if (shard_of && *nr_shards)
		return shard_of;
	kfree(shard_of);
	return NULL;
}

/*
 * With more shards than CPUs some shards have no CPU: they run where the last
 * shard before them does that has one. Offline CPUs do not count, unless all
 * are offline: their shards may lie in between.
 */
static unsigned int home_of(const struct ants_multi *multi, unsigned int nr,
			    const struct cpumask *cpus)
{
	bool away = !cpumask_intersects(cpus, cpu_online_mask);
	unsigned int cpu, home = 0;

	for_each_cpu(cpu, cpus)
		if (multi->shard_of[cpu] <= nr && (away || cpu_online(cpu)))
			home = max(home, multi->shard_of[cpu]);
	return home;
}

/* The node of all of @cpus, if they have one in common. */
static int node_of(const struct cpumask *cpus)
{
	unsigned int cpu = cpumask_first(cpus);
	int node = cpu < nr_cpu_ids ? cpu_to_node(cpu) : NUMA_NO_NODE;

	for_each_cpu(cpu, cpus)
		if (cpu_to_node(cpu) != node)
			return NUMA_NO_NODE;
	return node;
}

/*
 * Set where the threads of shard @nr run; @attrs->cpumask was for all shards.
 */
void ants_local_attrs(const struct ants_multi *multi, unsigned int nr,
		      struct ants_attrs *attrs, struct cpumask *mask)
{
	unsigned int cpu, home;
	int node;

	set_allowed(mask, attrs->cpumask);
	home = home_of(multi, nr, mask);
	for_each_cpu(cpu, mask)
		if (multi->shard_of[cpu] != home)
			cpumask_clear_cpu(cpu, mask);
	attrs->cpumask = mask;
	node = node_of(mask);
	if (!(attrs->flags & ANTS_ON_NODE) && node != NUMA_NO_NODE &&
	    node_online(node)) {
		attrs->flags |= ANTS_ON_NODE;
		attrs->node = node;
	}
}
