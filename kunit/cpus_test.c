// SPDX-License-Identifier: GPL-2.0-only
/* Pools and shards on NUMA nodes, and CPU hotplug. */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nodemask.h>

#include "affinity.h"

#include "../kernel/multi/multi.h"

#define NAME	"cpus"

static unsigned int last_cpu(void)
{
	return cpumask_last(cpu_online_mask);
}

/* The node of the last CPU; skip in a guest where that is the node of CPU 0. */
static int far_node(struct kunit *test)
{
	int node = cpu_to_node(last_cpu());

	if (node == cpu_to_node(0))
		kunit_skip(test, "needs two nodes");
	return node;
}

static struct rig *rig_make_on_node(struct kunit *test, int node)
{
	return rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .node = node,
				.flags = ANTS_ON_NODE });
}

/* The thread of posts[@nr], which is at its gate. */
static struct task_struct *thread_of(struct rig *rig, int nr)
{
	post_start(rig, nr);
	return READ_ONCE(rig->posts[nr].thread);
}

static void post_end(struct rig *rig, int nr)
{
	gate_open(&rig->posts[nr].gate);
	EXPECT_SOON(rig->test, ants_nr_idle(rig->pool) == 1);
}

static void node_has_its_cpus(struct kunit *test)
{
	int node = far_node(test);
	struct rig *rig = rig_make_on_node(test, node);
	struct task_struct *thread;

	KUNIT_EXPECT_FALSE(test, rig->pool->target.affinity->unbound);
	thread = thread_of(rig, 0);
	KUNIT_EXPECT_EQ(test, cpu_to_node(task_cpu(thread)), node);
	KUNIT_EXPECT_TRUE(test, runs_on(thread, cpumask_of_node(node)));
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(rig->pool, cpumask_of(0)), 0);
	post_end(rig, 0);
	thread = thread_of(rig, 1);
	KUNIT_EXPECT_EQ(test, task_cpu(thread), 0);
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(rig->pool, NULL), 0);
	post_end(rig, 1);
	thread = thread_of(rig, 2);
	KUNIT_EXPECT_TRUE(test, runs_on(thread, cpumask_of_node(node)));
	post_end(rig, 2);
}

static void thread_of_a_node_lies_there(struct kunit *test)
{
	int node = far_node(test);
	struct rig *rig = rig_make_on_node(test, node);
	struct ants_worker *w;

	KUNIT_EXPECT_EQ(test, rig->pool->node, node);
	post_start(rig, 0);
	w = list_first_entry_or_null(&rig->pool->workers.list, struct ants_worker,
				     member);
	KUNIT_ASSERT_NOT_NULL(test, w);
	KUNIT_EXPECT_EQ(test, page_to_nid(virt_to_page(w)), node);
	KUNIT_EXPECT_EQ(test, page_to_nid(virt_to_page(w->task)), node);
	post_end(rig, 0);
}

/*
 * The only CPU of the mask goes offline. A thread that is older than the mask
 * must be told then, and again when the CPU comes back.
 */
static void idle_thread_leaves_and_comes_back_with_its_cpu(struct kunit *test)
{
	const struct cpumask *others = housekeeping();
	unsigned int cpu = last_cpu();
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct task_struct *thread;

	if (!cpu)
		kunit_skip(test, "needs two CPUs");
	park(rig, 0, 1);
	thread = rig->posts[0].thread;
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(rig->pool, cpumask_of(cpu)), 0);
	EXPECT_SOON(test, runs_on(thread, cpumask_of(cpu)));
	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
	EXPECT_SOON(test, runs_on(thread, others));
	EXPECT_SOON(test, all_applied(rig->pool));
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->target.mask_offline));
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	EXPECT_SOON(test, runs_on(thread, cpumask_of(cpu)));
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->target.mask_offline));
}

/* A multi with one thread a shard; NULL if it cannot be made. */
static struct ants_multi *local_multi(struct kunit *test,
				      const struct ants_attrs *attrs)
{
	struct ants_multi *multi;

	multi = ants_multi_create(attrs, attrs->capacity, ANTS_LOCAL, NAME);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(multi), 0);
	return IS_ERR(multi) ? NULL : multi;
}

/*
 * One of the requested CPUs is offline. It has the nearest shard, and the threads
 * of the shard that is left without a CPU run where those of the other shard do.
 */
static void shards_keep_to_cpus_that_are_online(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	unsigned int i, cpu = last_cpu();
	static struct cpumask asked;
	struct ants_multi *multi;
	struct ants_affinity *affinity;

	if (cpu < 2)
		kunit_skip(test, "needs three CPUs");
	cpumask_copy(&asked, cpumask_of(0));
	cpumask_set_cpu(cpu, &asked);
	attrs.cpumask = &asked;
	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
	multi = local_multi(test, &attrs);
	for (i = 0; multi && i < 2; i++) {
		affinity = ants_multi_shard(multi, i)->target.affinity;
		KUNIT_EXPECT_TRUE(test,
				  cpumask_equal(to_cpumask(affinity->cpus),
						&asked));
	}
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

/* A shard takes the node of its CPUs only if the client has asked for none. */
static void shards_keep_their_node(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 1, .cpumask = cpumask_of(0),
		.node = far_node(test), .flags = ANTS_ON_NODE,
	};
	struct ants_multi *multi = local_multi(test, &attrs);

	if (multi)
		KUNIT_EXPECT_EQ(test, ants_multi_shard(multi, 0)->node,
				attrs.node);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static struct kunit_case cpus_cases[] = {
	KUNIT_CASE(node_has_its_cpus),
	KUNIT_CASE(thread_of_a_node_lies_there),
	KUNIT_CASE(idle_thread_leaves_and_comes_back_with_its_cpu),
	KUNIT_CASE(shards_keep_to_cpus_that_are_online),
	KUNIT_CASE(shards_keep_their_node),
	{}
};

static struct kunit_suite cpus_suite = {
	.name = "ants_cpus",
	.test_cases = cpus_cases,
};

kunit_test_suite(cpus_suite);

MODULE_DESCRIPTION("ants: KUnit tests of NUMA nodes and CPU hotplug");
MODULE_LICENSE("GPL");
