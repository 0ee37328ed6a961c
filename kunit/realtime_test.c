// SPDX-License-Identifier: GPL-2.0-only
/* Threads that run in real time, because the pool's owner or administrator says so. */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <uapi/linux/sched/types.h>

#include "multi.h"
#include "rig.h"

#define NAME	"realtime"

/* What the kernel makes of a value. */
static const struct expected {
	const char *name;
	enum ants_sched sched;
	unsigned int policy;
	unsigned int priority;
} expected[] = {
	{ "normal", ANTS_SCHED_NORMAL, SCHED_NORMAL, 0 },
	{ "lowest", ANTS_SCHED_FIFO_LOW, SCHED_FIFO, 1 },
	{ "middle", ANTS_SCHED_FIFO, SCHED_FIFO, MAX_RT_PRIO / 2 },
};

static void expected_desc(const struct expected *e, char *desc)
{
	strscpy(desc, e->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(expected, expected, expected_desc);

/* How a task was run. */
struct look {
	unsigned int policy;
	unsigned int priority;
	int nice;
};

static void look_task(void *data)
{
	struct look *look = data;

	look->policy = current->policy;
	look->priority = current->rt_priority;
	look->nice = task_nice(current);
}

static struct look look_at(struct ants_pool *pool)
{
	struct look look = { .policy = UINT_MAX };

	if (!ants_submit(pool, look_task, &look))
		ants_flush(pool);
	return look;
}

static void expect_sched(struct kunit *test, struct ants_pool *pool,
			 enum ants_sched sched)
{
	struct look look = look_at(pool);

	KUNIT_EXPECT_EQ(test, look.policy, expected[sched].policy);
	KUNIT_EXPECT_EQ(test, look.priority, expected[sched].priority);
}

static struct rig *rig_of(struct kunit *test, enum ants_sched sched,
			  unsigned int capacity)
{
	return rig_make(test, NAME, (struct ants_attrs){
				.capacity = capacity, .sched = sched });
}

static enum ants_sched sched_of(struct ants_pool *pool)
{
	return ants_peek(pool->target.affinity)->sched;
}

static bool thread_has(struct task_struct *task, enum ants_sched sched)
{
	return READ_ONCE(task->policy) == expected[sched].policy &&
	       READ_ONCE(task->rt_priority) == expected[sched].priority;
}

static void threads_are_made_so(struct kunit *test)
{
	const struct expected *e = test->param_value;
	struct rig *rig = rig_of(test, e->sched, 3);
	int i;

	for (i = 0; i < 3; i++) {
		post_start(rig, i);
		KUNIT_EXPECT_TRUE(test, thread_has(rig->posts[i].thread,
						   e->sched));
	}
	KUNIT_EXPECT_EQ(test, sched_of(rig->pool), e->sched);
}

static unsigned int init_policy;

static void *init(struct ants_pool *pool)
{
	init_policy = current->policy;
	return NULL;
}

/* So worker_init runs as the tasks do. */
static void thread_is_so_from_the_beginning(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 1, .sched = ANTS_SCHED_FIFO_LOW,
			.worker_init = init });

	init_policy = UINT_MAX;
	expect_sched(test, rig->pool, ANTS_SCHED_FIFO_LOW);
	KUNIT_EXPECT_EQ(test, init_policy, SCHED_FIFO);
}

/* Idle threads apply it at once, busy ones before their next task, later ones, too. */
static void live_pool_is_changed(struct kunit *test)
{
	struct rig *rig = rig_of(test, ANTS_SCHED_NORMAL, 3);
	struct task_struct *idle, *busy;

	seldom_late();
	post_start(rig, 0);
	post_start(rig, 1);
	idle = rig->posts[1].thread;
	busy = rig->posts[0].thread;
	gate_open(&rig->posts[1].gate);
	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_set_sched(rig->pool, ANTS_SCHED_FIFO), 0);
	EXPECT_SOON(test, thread_has(idle, ANTS_SCHED_FIFO));
	KUNIT_EXPECT_TRUE(test, thread_has(busy, ANTS_SCHED_NORMAL));
	gate_open(&rig->posts[0].gate);
	EXPECT_SOON(test, thread_has(busy, ANTS_SCHED_FIFO));
	post_start(rig, 2);
	post_start(rig, 3);
	post_start(rig, 4);
	KUNIT_EXPECT_TRUE(test, thread_has(rig->posts[4].thread,
					   ANTS_SCHED_FIFO));
}

static void each_value_follows_each(struct kunit *test)
{
	struct rig *rig = rig_of(test, ANTS_SCHED_NORMAL, 1);
	static const enum ants_sched walk[] = {
		ANTS_SCHED_FIFO, ANTS_SCHED_FIFO_LOW, ANTS_SCHED_FIFO,
		ANTS_SCHED_NORMAL, ANTS_SCHED_FIFO_LOW, ANTS_SCHED_FIFO_LOW,
		ANTS_SCHED_NORMAL, ANTS_SCHED_NORMAL,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(walk); i++) {
		KUNIT_EXPECT_EQ(test, ants_set_sched(rig->pool, walk[i]), 0);
		expect_sched(test, rig->pool, walk[i]);
	}
}

/* No other CPUs come with it, and none is lost. */
static void cpus_and_policy_are_independent(struct kunit *test)
{
	struct rig *rig = rig_of(test, ANTS_SCHED_FIFO_LOW, 1);
	struct ants_pool *pool = rig->pool;

	KUNIT_EXPECT_EQ(test, ants_set_cpumask(pool, cpumask_of(0)), 0);
	expect_sched(test, pool, ANTS_SCHED_FIFO_LOW);
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, ANTS_SCHED_NORMAL), 0);
	KUNIT_EXPECT_TRUE(test,
			  cpumask_equal(to_cpumask(pool->target.affinity->cpus),
					cpumask_of(0)));
	KUNIT_EXPECT_TRUE(test, pool->target.affinity->explicit);
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(pool, NULL), 0);
	expect_sched(test, pool, ANTS_SCHED_NORMAL);
}

/* Threads that run in real time have no nice value, and are not SCHED_BATCH. */
static void contradictions_are_refused(struct kunit *test)
{
	struct rig *rig = rig_of(test, ANTS_SCHED_FIFO, 1);
	struct ants_attrs nice = { .nice = 3 };
	struct ants_attrs batch = { .flags = ANTS_THROUGHPUT };
	struct ants_pool *pool = rig->pool;

	KUNIT_EXPECT_EQ(test, ants_set_nice(pool, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_set_nice(pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, ANTS_SCHED_FIFO + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, -1), -EINVAL);
	expect_sched(test, pool, ANTS_SCHED_FIFO);
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, ANTS_SCHED_NORMAL), 0);
	KUNIT_EXPECT_EQ(test, ants_set_nice(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, look_at(pool).nice, 1);

	pool = test_pool(test, &nice, "nice");
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, ANTS_SCHED_FIFO), -EINVAL);
	expect_sched(test, pool, ANTS_SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, ants_set_nice(pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, ANTS_SCHED_FIFO), 0);
	expect_sched(test, pool, ANTS_SCHED_FIFO);

	pool = test_pool(test, &batch, "batch");
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, ANTS_SCHED_FIFO_LOW),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, look_at(pool).policy, SCHED_BATCH);
}

/* What a task does to its thread stays until the pool's policy changes. */
static void own_policy_of_a_thread_stays(struct kunit *test)
{
	struct rig *rig = rig_of(test, ANTS_SCHED_FIFO_LOW, 1);

	post_start(rig, 0);
	sched_set_normal(rig->posts[0].thread, 0);
	gate_open(&rig->posts[0].gate);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, 0), 0);
	expect_sched(test, rig->pool, ANTS_SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, ants_set_sched(rig->pool, ANTS_SCHED_FIFO), 0);
	expect_sched(test, rig->pool, ANTS_SCHED_FIFO);
}

static void reopened_pool_keeps_it(struct kunit *test)
{
	struct rig *rig = rig_of(test, ANTS_SCHED_NORMAL, 1);

	KUNIT_ASSERT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_set_sched(rig->pool, ANTS_SCHED_FIFO), 0);
	KUNIT_ASSERT_EQ(test, ants_reboot(rig->pool), 0);
	expect_sched(test, rig->pool, ANTS_SCHED_FIFO);
}

static void expect_all(struct kunit *test, struct ants_multi *multi,
		       enum ants_sched sched)
{
	unsigned int i;

	for (i = 0; i < ants_multi_nr_shards(multi); i++)
		expect_sched(test, ants_multi_shard(multi, i), sched);
}

static void all_shards_change_or_none(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3,
		.sched = ANTS_SCHED_FIFO_LOW };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "multi");
	struct ants_pool *last = ants_multi_shard(multi, 2);

	expect_all(test, multi, ANTS_SCHED_FIFO_LOW);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_set_sched(multi, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_set_cpumask(multi, cpumask_of(0)), 0);
	expect_all(test, multi, ANTS_SCHED_FIFO_LOW);
	KUNIT_EXPECT_EQ(test, ants_multi_set_sched(multi, ANTS_SCHED_NORMAL), 0);
	expect_all(test, multi, ANTS_SCHED_NORMAL);
	/* One shard was changed by itself, and refuses. */
	KUNIT_EXPECT_EQ(test, ants_set_nice(last, 5), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_sched(multi, ANTS_SCHED_FIFO),
			-EINVAL);
	expect_all(test, multi, ANTS_SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, ants_set_nice(last, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_sched(multi, ANTS_SCHED_FIFO), 0);
	expect_all(test, multi, ANTS_SCHED_FIFO);
}

static void no_memory_changes_no_shard(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "noplace");
	int i;

	for (i = 0; i < 3; i++) {
		ants_fail_arm_after(ANTS_FAIL_AFFINITY, i, 1);
		KUNIT_EXPECT_EQ(test,
				ants_multi_set_sched(multi, ANTS_SCHED_FIFO),
				-ENOMEM);
		expect_all(test, multi, ANTS_SCHED_NORMAL);
	}
}

static struct kunit_case realtime_cases[] = {
	KUNIT_CASE_PARAM(threads_are_made_so, expected_gen_params),
	KUNIT_CASE(thread_is_so_from_the_beginning),
	KUNIT_CASE(live_pool_is_changed),
	KUNIT_CASE(each_value_follows_each),
	KUNIT_CASE(cpus_and_policy_are_independent),
	KUNIT_CASE(contradictions_are_refused),
	KUNIT_CASE(own_policy_of_a_thread_stays),
	KUNIT_CASE(reopened_pool_keeps_it),
	KUNIT_CASE(all_shards_change_or_none),
	KUNIT_CASE(no_memory_changes_no_shard),
	{}
};

static struct kunit_suite realtime_suite = {
	.name = "ants_realtime",
	.test_cases = realtime_cases,
};

kunit_test_suite(realtime_suite);

MODULE_DESCRIPTION("ants: KUnit tests of threads that run in real time");
MODULE_LICENSE("GPL");
