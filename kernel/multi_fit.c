// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many shards fit a machine, and which CPUs belong together: those of one
 * last-level cache on one node, at most ANTS_SHARD_CPUS of them, and the
 * threads of a core are never apart. This is decided once, when the shards are
 * made. The functions on struct ants_cpu look at nothing but their arguments.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/topology.h>

#include "internal.h"
#include "multi.h"

static bool same_cache(const struct ants_cpu *a, const struct ants_cpu *b)
{
	return a->node == b->node && a->cache == b->cache;
}

static bool same_core(const struct ants_cpu *a, const struct ants_cpu *b)
{
	return same_cache(a, b) && a->core == b->core;
}

static int order(int a, int b)
{
	return (a > b) - (a < b);
}

/* Compare by node, then by cache, then by core. */
static int compare(const void *left, const void *right)
{
	const struct ants_cpu *a = left, *b = right;

	return order(a->node, b->node) ?: order(a->cache, b->cache) ?:
	       order(a->core, b->core);
}

/*
 * Cut the @nr CPUs of one cache into @parts ranges of about equal length, but not
 * through a core, and number them from @shard on. Return the length of the
 * longest one.
 */
static unsigned int cut(struct ants_cpu *cpus, unsigned int nr,
			unsigned int parts, unsigned int shard)
{
	unsigned int i, part = 0, last = 0, begin = 0, longest = 0;

	for (i = 0; i < nr; i++) {
		if (i && !same_core(&cpus[i - 1], &cpus[i]))
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
 * Divide the @nr CPUs of one cache into shards from @shard on: as few as the limit
 * allows if all cores are of the same width, else perhaps more. If a core is wider
 * than the limit, each core is a shard. Return the number of the next shard.
 */
static unsigned int divide(struct ants_cpu *cpus, unsigned int nr,
			   unsigned int shard)
{
	unsigned int parts = 1;

	while (cut(cpus, nr, parts, shard) > ANTS_SHARD_CPUS && parts < nr)
		parts++;
	return cpus[nr - 1].shard + 1;
}

/*
 * Sort @nr CPUs, at least one, and give each of them a shard below @most: the
 * shards are numbered in the order of the CPUs. If more than @most are wanted,
 * neighbours share one. Return how many shards there are.
 */
unsigned int ants_fit_group(struct ants_cpu *cpus, unsigned int nr,
			    unsigned int most)
{
	unsigned int i, begin = 0, shards = 0;

	sort(cpus, nr, sizeof(*cpus), compare, NULL);
	for (i = 1; i <= nr; i++) {
		if (i < nr && same_cache(&cpus[begin], &cpus[i]))
			continue;
		shards = divide(&cpus[begin], i - begin, shards);
		begin = i;
	}
	most = min(most, shards);
	for (i = 0; i < nr; i++)
		cpus[i].shard = cpus[i].shard * most / shards;
	return most;
}
EXPORT_SYMBOL_FOR_TESTS(ants_fit_group);

static unsigned int nearness(const struct ants_cpu *a, const struct ants_cpu *b)
{
	return (a->node == b->node) + same_cache(a, b) + same_core(a, b);
}

/*
 * Find the shard for a CPU that is not among the @nr grouped ones: one that has
 * CPUs of its core, else of its cache, else of its node, else any. @turn
 * spreads CPUs over shards that are equally near.
 */
unsigned int ants_fit_near(const struct ants_cpu *cpus, unsigned int nr,
			   const struct ants_cpu *other, unsigned int turn)
{
	unsigned int i, near, best = 0, first = 0, last = 0;

	for (i = 0; i < nr; i++) {
		near = nearness(&cpus[i], other);
		if (near > best) {
			best = near;
			first = cpus[i].shard;
		}
		if (near == best)
			last = cpus[i].shard;
	}
	return first + turn % (last - first + 1);
}
EXPORT_SYMBOL_FOR_TESTS(ants_fit_near);

/*
 * Where the kernel does not tell modules about caches, the package is taken
 * instead. A package of one CPU says nothing: then the node alone decides.
 */
static int cache_of(unsigned int cpu)
{
	const struct cpumask *package = topology_core_cpumask(cpu);
	int llc = ants_llc_of(cpu);

	if (llc >= 0)
		return llc;
	if (cpumask_weight(package) < 2)
		return ANTS_NO_CACHE;
	return ANTS_NO_CACHE + 1 + (int)cpumask_first(package);
}

/*
 * Of a CPU that is offline only the node is known: the kernel may have
 * forgotten the rest, or has never known it. No lock is held. If CPUs come and
 * go meanwhile, the shards only fit less well.
 */
static struct ants_cpu locate(unsigned int cpu)
{
	struct ants_cpu where = {
		.cpu = cpu, .node = cpu_to_node(cpu), .cache = ANTS_NO_CACHE,
		.core = cpu,
	};

	if (cpu_online(cpu)) {
		where.cache = cache_of(cpu);
		where.core = cpumask_first(topology_sibling_cpumask(cpu));
	}
	return where;
}

/*
 * Group the CPUs @first, of which there is at least one, and give each of @rest
 * the nearest shard. Write the shard of each CPU to @shard_of. Return the
 * number of shards, at most @most; 0 if there is no memory.
 */
unsigned int ants_fit(const struct cpumask *first, const struct cpumask *rest,
		      unsigned int most, unsigned int *shard_of)
{
	unsigned int i, cpu, shards, nr = 0, turn = 0;
	struct ants_cpu *cpus, other;

	cpus = kcalloc(cpumask_weight(first), sizeof(*cpus), GFP_KERNEL);
	if (!cpus)
		return 0;
	for_each_cpu(cpu, first)
		cpus[nr++] = locate(cpu);
	shards = ants_fit_group(cpus, nr, most);
	for (i = 0; i < nr; i++)
		shard_of[cpus[i].cpu] = cpus[i].shard;
	for_each_cpu(cpu, rest) {
		other = locate(cpu);
		shard_of[cpu] = ants_fit_near(cpus, nr, &other, turn++);
	}
	kfree(cpus);
	return shards;
}
