// SPDX-License-Identifier: GPL-2.0-only
/*
 * ANTS_LOCAL: each CPU has a shard, and the threads of a shard run on the CPUs
 * that have it. So a task stays where it was submitted. Which CPUs belong
 * together is decided once, when the shards are made: the CPUs are sorted by
 * where they are, and cut into ranges. There are as many ranges as the client
 * asks for, or as many as fit: those of one last-level cache on one node, at most
 * ANTS_SHARD_CPUS of them, and the threads of a core are never apart.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/topology.h>

#include "../internal.h"
#include "multi.h"

/* The first functions look at nothing but their arguments. */

/* How near two CPUs are: what they have in common. */
enum near { NEAR_NOT, NEAR_NODE, NEAR_CACHE, NEAR_CORE, NEAR_SAME };

static enum near nearness(const struct ants_cpu *a, const struct ants_cpu *b)
{
	if (a->cpu == b->cpu)
		return NEAR_SAME;
	if (a->node != b->node)
		return NEAR_NOT;
	if (a->cache != b->cache)
		return NEAR_NODE;
	return a->core == b->core ? NEAR_CORE : NEAR_CACHE;
}

static int order(int a, int b)
{
	return (a > b) - (a < b);
}

/* Compare by node, then by cache, by core, and by number. */
static int compare(const void *left, const void *right)
{
	const struct ants_cpu *a = left, *b = right;

	return order(a->node, b->node) ?: order(a->cache, b->cache) ?:
	       order(a->core, b->core) ?: order(a->cpu, b->cpu);
}

/*
 * Cut the @nr CPUs of one cache into @parts ranges of about equal length, but not
 * through a core, and number them from @shard on. Return the length of the
 * longest one.
 */
static unsigned int cut_cache(struct ants_cpu *cpus, unsigned int nr,
			      unsigned int parts, unsigned int shard)
{
	unsigned int i, part = 0, last = 0, begin = 0, longest = 0;

	for (i = 0; i < nr; i++) {
		if (i && nearness(&cpus[i - 1], &cpus[i]) < NEAR_CORE)
			part = i * parts / nr;
		if (part != last) {
			last = part;
			begin = i;
			shard++;
		}
		cpus[i].shard = shard;
		longest = max(longest, i - begin + 1);
	}
	return longest;
}

/*
 * Give each of @nr CPUs one of @shards shards: each gets a node if there are as many
 * nodes, else a range, through caches and cores if need be. With more shards than CPUs
 * some shards have no CPU.
 */
static void fit_asked(struct ants_cpu *cpus, unsigned int nr, unsigned int shards)
{
	unsigned int i, node = 0;

	for (i = 0; i < nr; i++) {
		node += i && cpus[i].node != cpus[i - 1].node;
		cpus[i].shard = node;
	}
	if (node + 1 == shards)
		return;
	for (i = 0; i < nr; i++)
		cpus[i].shard = i * shards / nr;
}

/*
 * Sort @nr CPUs, at least one, and give each of them a shard: the shards are numbered
 * in the order of the CPUs. Return how many shards there are: as many as were @asked
 * for, or if that is 0, as many as fit, and at most @most.
 */
unsigned int ants_fit(struct ants_cpu *cpus, unsigned int nr, unsigned int asked,
		      unsigned int most)
{
	unsigned int i, parts, begin = 0, shards = 0;

	sort(cpus, nr, sizeof(*cpus), compare, NULL);
	if (asked) {
		fit_asked(cpus, nr, asked);
		return asked;
	}
	for (i = 1; i <= nr; i++) {
		if (i < nr && nearness(&cpus[begin], &cpus[i]) >= NEAR_CACHE)
			continue;
		/*
		 * Those from @begin on are the CPUs of one cache. They get as few
		 * shards as the limit allows if all cores are of the same width, else
		 * perhaps more. If a core is wider than the limit, each core is a
		 * shard.
		 */
		parts = 1;
		while (cut_cache(&cpus[begin], i - begin, parts, shards) >
		       ANTS_SHARD_CPUS && parts < i - begin)
			parts++;
		shards = cpus[i - 1].shard + 1;
		begin = i;
	}
	/* If more shards fit than are allowed, neighbours share one. */
	most = min(most, shards);
	for (i = 0; i < nr; i++)
		cpus[i].shard = cpus[i].shard * most / shards;
	return most;
}
EXPORT_SYMBOL_FOR_TESTS(ants_fit);

/*
 * Find the shard for any CPU: its own if it is among the @nr CPUs that were fitted, else
 * one that has CPUs of its core, else of its cache, else of its node, else any. @turn
 * spreads CPUs over shards that are equally near.
 */
unsigned int ants_fit_near(const struct ants_cpu *cpus, unsigned int nr,
			   const struct ants_cpu *other, unsigned int *turn)
{
	unsigned int i, first = 0, last = 0;
	enum near near, best = NEAR_NOT;

	for (i = 0; i < nr; i++) {
		near = nearness(&cpus[i], other);
		if (near > best) {
			best = near;
			first = cpus[i].shard;
		}
		if (near == best)
			last = cpus[i].shard;
	}
	if (first != last)
		first += (*turn)++ % (last - first + 1);
	/* With more shards than CPUs, that one may have none: then the next that has. */
	for (i = 0; cpus[i].shard < first; i++)
		;
	return cpus[i].shard;
}
EXPORT_SYMBOL_FOR_TESTS(ants_fit_near);

/*
 * Where is @cpu? If it is offline only the node is known: the kernel may have
 * forgotten the rest, or has never known it. Where the kernel does not tell
 * modules about caches, the package is taken instead. A package of one CPU says
 * nothing: then the node alone decides. No lock is held. If CPUs come and go
 * meanwhile, the shards only fit less well.
 */
static struct ants_cpu locate(unsigned int cpu)
{
	struct ants_cpu where = {
		.cpu = cpu, .node = cpu_to_node(cpu), .cache = ANTS_NO_CACHE,
		.core = cpu,
	};
	const struct cpumask *package = topology_core_cpumask(cpu);
	int llc;

	if (!cpu_online(cpu))
		return where;
	llc = ants_llc_of(cpu);
	if (llc >= 0)
		where.cache = llc;
	else if (cpumask_weight(package) > 1)
		where.cache = ANTS_NO_CACHE + 1 + (int)cpumask_first(package);
	where.core = cpumask_first(topology_sibling_cpumask(cpu));
	return where;
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

/*
 * Find the shard of each CPU. First divide the CPUs that threads may run on and that
 * are online, so that each shard gets some of them; each other one gets the nearest
 * shard, because submitters may run there, too. @asked: NULL if no CPUs were asked
 * for. @nr_shards: their number; if it is 0, as many as fit, at most @most, and it is
 * set.
 */
int ants_local_map(unsigned int __percpu *shard_of, const struct cpumask *asked,
		   unsigned int *nr_shards, unsigned int most)
{
	struct ants_cpu *cpus = kcalloc(nr_cpu_ids, sizeof(*cpus), GFP_KERNEL), where;
	unsigned int cpu, nr = 0, turn = 0;
	cpumask_var_t mask;

	if (!cpus || !alloc_cpumask_var(&mask, GFP_KERNEL)) {
		kfree(cpus);
		return -ENOMEM;
	}
	set_allowed(mask, asked);
	for_each_cpu_and(cpu, mask, cpu_online_mask)
		cpus[nr++] = locate(cpu);
	if (!nr)
		for_each_cpu(cpu, mask)
			cpus[nr++] = locate(cpu);
	*nr_shards = ants_fit(cpus, nr, *nr_shards, most);
	for_each_possible_cpu(cpu) {
		where = locate(cpu);
		per_cpu(*shard_of, cpu) = ants_fit_near(cpus, nr, &where, &turn);
		cond_resched();
	}
	free_cpumask_var(mask);
	kfree(cpus);
	return 0;
}

/*
 * Set where the threads of shard @nr run; @attrs->cpumask was for all shards. A
 * shard that has no CPU is at home where the last shard before it is that has one.
 * Threads are allocated on the node that all of these CPUs have in common, if there is
 * one and the client has asked for none.
 */
void ants_local_attrs(const struct ants_multi *multi, unsigned int nr,
		      struct ants_attrs *attrs, struct cpumask *mask)
{
	unsigned int cpu, shard, home = 0;
	int node = NUMA_NO_NODE;

	set_allowed(mask, attrs->cpumask);
	for_each_cpu(cpu, mask) {
		shard = per_cpu(*multi->choice, cpu);
		if (shard <= nr)
			home = max(home, shard);
	}
	for_each_cpu(cpu, mask)
		if (per_cpu(*multi->choice, cpu) != home)
			cpumask_clear_cpu(cpu, mask);
	attrs->cpumask = mask;
	for_each_cpu(cpu, mask) {
		if (node != NUMA_NO_NODE && node != cpu_to_node(cpu))
			return;
		node = cpu_to_node(cpu);
	}
	if (!(attrs->flags & ANTS_ON_NODE) && node != NUMA_NO_NODE && node_online(node)) {
		attrs->flags |= ANTS_ON_NODE;
		attrs->node = node;
	}
}
