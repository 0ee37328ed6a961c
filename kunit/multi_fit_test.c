// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many shards fit: the grouping of CPUs, on invented machines, and multis
 * with "nr_shards" 0 on this machine.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/topology.h>

#include "multi.h"

#define MOST_CPUS	128

/* Filled by make_machine(); static because it is large. */
static struct ants_cpu cpus[MOST_CPUS];

/**
 * struct machine - a machine whose caches and cores are alike
 * @nodes: number of nodes
 * @caches: number of caches of each node
 * @cores: number of cores of each cache
 * @threads: number of threads of each core
 * @apart: all first threads are numbered before all second ones
 * @shards: number of shards that fit
 */
struct machine {
	unsigned int nodes, caches, cores, threads;
	bool apart;
	unsigned int shards;
};

static unsigned int nr_cores(const struct machine *m)
{
	return m->nodes * m->caches * m->cores;
}

static unsigned int nr_cpus_of(const struct machine *m)
{
	return nr_cores(m) * m->threads;
}

/*
 * The number of thread @thread of core @core; cores are counted over the whole
 * machine.
 */
static unsigned int number(const struct machine *m, unsigned int core,
			   unsigned int thread)
{
	return m->apart ? thread * nr_cores(m) + core :
			  core * m->threads + thread;
}

/* All CPUs of the machine, in the order of their numbers. */
static unsigned int make_machine(const struct machine *m)
{
	unsigned int i, core, cpu;

	memset(cpus, 0, sizeof(cpus));
	for (i = 0; i < nr_cpus_of(m); i++) {
		core = i / m->threads;
		cpu = number(m, core, i % m->threads);
		cpus[cpu] = (struct ants_cpu){
			.cpu = cpu, .cache = core / m->cores % m->caches,
			.node = core / m->cores / m->caches,
			.core = number(m, core, 0), .shard = UINT_MAX,
		};
	}
	return nr_cpus_of(m);
}

static bool share_cache(const struct ants_cpu *a, const struct ants_cpu *b)
{
	return a->node == b->node && a->cache == b->cache;
}

static unsigned int size_of(unsigned int nr, unsigned int shard)
{
	unsigned int i, size = 0;

	for (i = 0; i < nr; i++)
		size += cpus[i].shard == shard;
	return size;
}

/* Check what must hold for each pair of CPUs, and for each shard. */
static void expect_fit(struct kunit *test, unsigned int nr, unsigned int shards)
{
	unsigned int i, j;

	for (i = 0; i < shards; i++) {
		KUNIT_EXPECT_GE(test, size_of(nr, i), 1);
		KUNIT_EXPECT_LE(test, size_of(nr, i), 8);
	}
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_LT(test, cpus[i].shard, shards);
		for (j = 0; j < i; j++) {
			if (!share_cache(&cpus[i], &cpus[j]))
				KUNIT_EXPECT_NE(test, cpus[i].shard,
						cpus[j].shard);
			else if (cpus[i].core == cpus[j].core)
				KUNIT_EXPECT_EQ(test, cpus[i].shard,
						cpus[j].shard);
		}
	}
}

/* The shards of one cache differ by at most one core. */
static void expect_balance(struct kunit *test, const struct machine *m)
{
	unsigned int i, j, nr = nr_cpus_of(m), a, b;

	for (i = 0; i < nr; i++)
		for (j = 0; j < i; j++) {
			if (!share_cache(&cpus[i], &cpus[j]))
				continue;
			a = size_of(nr, cpus[i].shard);
			b = size_of(nr, cpus[j].shard);
			KUNIT_EXPECT_LE(test, max(a, b) - min(a, b),
					m->threads);
		}
}

/*
 * Nodes, caches and the first threads of cores are in the order of the shards.
 */
static void expect_order(struct kunit *test, unsigned int nr)
{
	unsigned int i;

	for (i = 1; i < nr; i++) {
		KUNIT_EXPECT_GE(test, cpus[i].shard, cpus[i - 1].shard);
		KUNIT_EXPECT_GE(test, cpus[i].node, cpus[i - 1].node);
		if (cpus[i].node == cpus[i - 1].node)
			KUNIT_EXPECT_GE(test, cpus[i].cache, cpus[i - 1].cache);
		if (share_cache(&cpus[i], &cpus[i - 1]))
			KUNIT_EXPECT_GE(test, cpus[i].core, cpus[i - 1].core);
	}
}

static void equal_cores_are_grouped(struct kunit *test)
{
	static const struct machine machines[] = {
		{ 1, 1, 1, 1, false, 1 }, { 1, 1, 8, 1, false, 1 },
		{ 1, 1, 9, 1, false, 2 }, { 1, 1, 12, 1, false, 2 },
		{ 1, 1, 72, 1, false, 9 }, { 1, 1, 10, 2, false, 3 },
		{ 1, 1, 6, 2, true, 2 }, { 1, 1, 5, 4, false, 3 },
		{ 1, 1, 3, 8, true, 3 }, { 1, 4, 2, 1, false, 4 },
		{ 2, 1, 4, 1, false, 2 }, { 2, 1, 32, 2, true, 16 },
		{ 2, 8, 4, 2, true, 16 }, { 2, 2, 12, 2, false, 12 },
		{ 4, 1, 16, 2, true, 16 }, { 1, 1, 2, 16, false, 2 },
	};
	unsigned int i, nr, shards;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		nr = make_machine(&machines[i]);
		shards = ants_fit(cpus, nr, 0, ANTS_MAX_SHARDS);
		KUNIT_EXPECT_EQ_MSG(test, shards, machines[i].shards,
				    "machine %u", i);
		/* A core is never divided. */
		if (machines[i].threads <= 8)
			expect_fit(test, nr, shards);
		expect_balance(test, &machines[i]);
		expect_order(test, nr);
	}
}

/* Six and six, not eight and four. */
static void halves_are_equal(struct kunit *test)
{
	static const struct machine twelve = { 1, 1, 12, 1, false, 2 };
	unsigned int i, nr = make_machine(&twelve);

	KUNIT_EXPECT_EQ(test, ants_fit(cpus, nr, 0, ANTS_MAX_SHARDS), 2);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, cpus[i].cpu, i);
		KUNIT_EXPECT_EQ(test, cpus[i].shard, i / 6);
	}
}

/*
 * The numbers alternate between nodes and caches: node 0 has the even CPUs, and
 * the two threads of a core are 32 apart.
 */
static void numbers_may_be_mixed(struct kunit *test)
{
	unsigned int i, shards;

	for (i = 0; i < 64; i++)
		cpus[i] = (struct ants_cpu){
			.cpu = i, .node = i % 2, .cache = i / 2 % 2,
			.core = i % 32,
		};
	shards = ants_fit(cpus, 64, 0, ANTS_MAX_SHARDS);
	KUNIT_EXPECT_EQ(test, shards, 8);
	expect_fit(test, 64, shards);
	expect_order(test, 64);
	for (i = 0; i < 64; i++) {
		KUNIT_EXPECT_EQ(test, cpus[i].shard, i / 8);
		KUNIT_EXPECT_EQ(test, cpus[i].node, (int)i / 32);
		KUNIT_EXPECT_EQ(test, cpus[i].cache, (int)i / 16 % 2);
	}
}

/* @singles cores of one thread, then @pairs cores of two, in one cache. */
static unsigned int make_hybrid(unsigned int singles, unsigned int pairs)
{
	unsigned int i;

	memset(cpus, 0, sizeof(cpus));
	for (i = 0; i < singles + 2 * pairs; i++) {
		cpus[i].cpu = i;
		cpus[i].core = i < singles ? i : i - (i - singles) % 2;
	}
	return i;
}

static void unequal_cores_keep_to_the_limit(struct kunit *test)
{
	unsigned int singles, pairs, nr, shards;

	for (singles = 0; singles <= 16; singles++)
		for (pairs = !singles; pairs <= 16; pairs++) {
			nr = make_hybrid(singles, pairs);
			shards = ants_fit(cpus, nr, 0, ANTS_MAX_SHARDS);
			KUNIT_EXPECT_GE(test, shards, DIV_ROUND_UP(nr, 8));
			KUNIT_EXPECT_LE(test, shards, DIV_ROUND_UP(nr, 8) + 1);
			expect_fit(test, nr, shards);
		}
}

/* If only nodes are known, a node is divided like a cache. */
static void caches_may_be_unknown(struct kunit *test)
{
	static const struct machine machine = { 2, 1, 12, 1, false, 4 };
	unsigned int i, nr = make_machine(&machine);

	for (i = 0; i < nr; i++)
		cpus[i].cache = ANTS_NO_CACHE;
	KUNIT_EXPECT_EQ(test, ants_fit(cpus, nr, 0, ANTS_MAX_SHARDS), 4);
	expect_fit(test, nr, 4);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, cpus[i].shard, i / 6);
}

/* Neighbours share a shard, and each shard has CPUs. */
static void fewer_are_allowed_than_fit(struct kunit *test)
{
	static const struct machine machine = { 2, 8, 4, 2, true, 16 };
	unsigned int i, most, nr;

	for (most = 1; most <= 17; most++) {
		nr = make_machine(&machine);
		KUNIT_EXPECT_EQ(test, ants_fit(cpus, nr, 0, most),
				min(most, 16U));
		expect_order(test, nr);
		for (i = 0; i < min(most, 16U); i++) {
			KUNIT_EXPECT_GE(test, size_of(nr, i),
					16 / most * 8);
			KUNIT_EXPECT_LE(test, size_of(nr, i),
					DIV_ROUND_UP(16, most) * 8);
		}
	}
}

static void expect_near(struct kunit *test, const struct ants_cpu *other,
			unsigned int first, unsigned int last)
{
	unsigned int i, turn = 0;

	for (i = 0; i < 2 * (last - first + 1); i++)
		KUNIT_EXPECT_EQ(test,
				ants_fit_near(cpus, MOST_CPUS, other, &turn),
				first + i % (last - first + 1));
}

/* Of four shards two have a CPU each: any other CPU gets one of those. */
static void others_get_a_shard_that_has_a_cpu(struct kunit *test)
{
	const struct ants_cpu two[] = { { .shard = 0 }, { .cpu = 1, .shard = 2 } };
	const struct ants_cpu other = { .cpu = 3 };
	unsigned int i, turn = 0;

	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, ants_fit_near(two, 2, &other, &turn) % 2, 0);
}

/* What is known of a CPU becomes less when it, or its neighbour, goes offline. */
static void a_cpu_is_nearest_to_itself(struct kunit *test)
{
	const struct ants_cpu two[] = {
		{ .cache = 1 }, { .cache = 1, .core = 1, .cpu = 1, .shard = 1 },
	};
	const struct ants_cpu changed = { .cache = 2, .core = 2, .cpu = 1 };
	unsigned int i, turn = 0;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, ants_fit_near(two, 2, &changed, &turn), 1);
}

/* Two nodes, each with two caches of 32 CPUs, which are four shards. */
static void others_get_the_nearest(struct kunit *test)
{
	static const struct machine machine = { 2, 2, 16, 2, false, 16 };
	struct ants_cpu other = { .cpu = 200, .node = 1, .cache = 1 };

	make_machine(&machine);
	KUNIT_ASSERT_EQ(test, ants_fit(cpus, MOST_CPUS, 0, 99), 16);
	other.core = 126;
	expect_near(test, &other, 15, 15);
	other.core = 96;
	expect_near(test, &other, 12, 12);
	other.core = 200;
	expect_near(test, &other, 12, 15);
	other.cache = 0;
	expect_near(test, &other, 8, 11);
	/* The same core number on another node is another core. */
	other.node = 0;
	other.core = 96;
	expect_near(test, &other, 0, 3);
	other.cache = ANTS_NO_CACHE;
	expect_near(test, &other, 0, 7);
	other.node = 1;
	expect_near(test, &other, 8, 15);
	other.node = NUMA_NO_NODE;
	expect_near(test, &other, 0, 15);
}

static struct ants_multi *fit_multi(struct kunit *test,
				    const struct ants_attrs *attrs)
{
	return test_multi(test, attrs, 0, ANTS_LOCAL, "fit");
}

static const struct cpumask *cpus_of(struct ants_multi *multi, unsigned int nr)
{
	return to_cpumask(multi->shards[nr].pool->target.affinity->cpus);
}

/*
 * As sysfs and the scheduler describe this machine, which has eight CPUs at
 * most.
 */
static void expect_real_fit(struct kunit *test, struct ants_multi *multi)
{
	unsigned int a, b;

	for_each_online_cpu(a) {
		KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(a,
							 cpus_of(multi, shard_of(multi, a))));
		for_each_online_cpu(b) {
			if (cpu_to_node(a) != cpu_to_node(b))
				KUNIT_EXPECT_NE(test, shard_of(multi, a),
						shard_of(multi, b));
			if (cpumask_test_cpu(b, topology_sibling_cpumask(a)))
				KUNIT_EXPECT_EQ(test, shard_of(multi, a),
						shard_of(multi, b));
		}
	}
}

static int run_shard(struct ants_multi *multi, unsigned int nr)
{
	static atomic_t ran;
	int err;

	atomic_set(&ran, 0);
	err = ants_submit(ants_multi_shard(multi, nr), count_task, &ran) ?:
	      ants_multi_flush(multi);
	return err ?: atomic_read(&ran) - 1;
}

static void as_many_as_fit_are_made(struct kunit *test)
{
	struct ants_multi *multi = fit_multi(test, NULL);
	unsigned int i, nr = ants_multi_nr_shards(multi), cpu;

	KUNIT_EXPECT_GE(test, nr, 1);
	KUNIT_EXPECT_LE(test, nr, num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), num_online_cpus());
	expect_real_fit(test, multi);
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_LT(test, shard_of(multi, cpu), nr);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_TRUE(test, cpumask_intersects(cpus_of(multi, i),
							   cpu_online_mask));
		KUNIT_EXPECT_EQ(test, run_shard(multi, i), 0);
	}
}

static void one_cpu_is_one_shard(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .cpumask = cpumask_of(0) };
	struct ants_multi *multi = fit_multi(test, &attrs);
	unsigned int cpu;

	KUNIT_EXPECT_EQ(test, ants_multi_nr_shards(multi), 1);
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 4);
	KUNIT_EXPECT_TRUE(test, cpumask_equal(cpus_of(multi, 0),
					      cpumask_of(0)));
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_EQ(test, shard_of(multi, cpu), 0);
	KUNIT_EXPECT_EQ(test, run_shard(multi, 0), 0);
}

/* There are never more shards than threads. */
static void capacity_limits_the_number(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_multi *multi = fit_multi(test, &attrs);
	unsigned int cpu;

	KUNIT_EXPECT_EQ(test, ants_multi_nr_shards(multi), 1);
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 1);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(cpu,
							 cpus_of(multi, 0)));
}

static void only_local_shards_fit(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = ANTS_UNLIMITED };
	static const enum ants_strategy others[] = {
		ANTS_ROUND_ROBIN, ANTS_LEAST_TASKS, ANTS_LOCAL + 1,
	};
	struct ants_multi *multi;
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		multi = ants_multi_create(&attrs, 0, others[i], "fit");
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(multi), -EINVAL);
	}
	fit_multi(test, &attrs);
}

static void expect_given(struct kunit *test, struct ants_multi *multi,
			 bool given)
{
	struct ants_pool *pool = multi->shards[0].pool;
	static struct cpumask before;

	cpumask_copy(&before, cpus_of(multi, 0));
	KUNIT_EXPECT_EQ(test, pool->target.affinity->explicit, given);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 3), 0);
	KUNIT_EXPECT_EQ(test, ants_set_nice(pool, 4), 0);
	KUNIT_EXPECT_EQ(test, pool->target.affinity->nice, 4);
	KUNIT_EXPECT_EQ(test, pool->target.affinity->explicit, given);
	KUNIT_EXPECT_FALSE(test, pool->target.affinity->unbound);
	KUNIT_EXPECT_TRUE(test, cpumask_equal(&before, cpus_of(multi, 0)));
	KUNIT_EXPECT_EQ(test, run_shard(multi, 0), 0);
}

/*
 * CPUs that the client did not ask for are a preference; a nice value changes
 * neither.
 */
static void cpus_are_a_preference_or_given(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .cpumask = cpumask_of(0) };

	expect_given(test, fit_multi(test, NULL), false);
	expect_given(test, test_multi(test, NULL, 1, ANTS_LOCAL, "plain"),
		     false);
	expect_given(test, test_multi(test, &attrs, 0, ANTS_LOCAL, "mask"),
		     true);
}

static int do_choose(struct async_call *call)
{
	struct ants_multi *multi = call->multi;

	return set_cpus_allowed_ptr(current, cpumask_of(1)) ?:
	       run_shard(multi, shard_of(multi, 1));
}

/* The CPU has a shard already, whose threads may run on it. */
static void cpu_may_come_later(struct kunit *test)
{
	struct ants_multi *multi;
	unsigned int nr;

	if (num_online_cpus() != 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	multi = ants_multi_create(NULL, 0, ANTS_LOCAL, "later");
	KUNIT_EXPECT_EQ(test, add_cpu(1), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(multi));
	nr = ants_multi_nr_shards(multi);
	KUNIT_EXPECT_EQ(test, nr, 1);
	KUNIT_EXPECT_EQ(test, shard_of(multi, 1), 0);
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(1, cpus_of(multi, 0)));
	expect_result(test, multi_async(test, do_choose, multi, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static struct kunit_case multi_fit_cases[] = {
	KUNIT_CASE(equal_cores_are_grouped),
	KUNIT_CASE(halves_are_equal),
	KUNIT_CASE(numbers_may_be_mixed),
	KUNIT_CASE(unequal_cores_keep_to_the_limit),
	KUNIT_CASE(caches_may_be_unknown),
	KUNIT_CASE(fewer_are_allowed_than_fit),
	KUNIT_CASE(others_get_the_nearest),
	KUNIT_CASE(others_get_a_shard_that_has_a_cpu),
	KUNIT_CASE(a_cpu_is_nearest_to_itself),
	KUNIT_CASE(as_many_as_fit_are_made),
	KUNIT_CASE(one_cpu_is_one_shard),
	KUNIT_CASE(capacity_limits_the_number),
	KUNIT_CASE(only_local_shards_fit),
	KUNIT_CASE(cpus_are_a_preference_or_given),
	KUNIT_CASE(cpu_may_come_later),
	{}
};

static struct kunit_suite multi_fit_suite = {
	.name = "ants_multi_fit",
	.test_cases = multi_fit_cases,
};

kunit_test_suite(multi_fit_suite);

MODULE_DESCRIPTION("ants: KUnit tests of as many shards as fit");
MODULE_LICENSE("GPL");
