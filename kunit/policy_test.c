// SPDX-License-Identifier: GPL-2.0-only
/* The scheduling policy of the workers: SCHED_BATCH if the pool is for throughput. */
#include <linux/module.h>
#include <linux/sched.h>
#include <uapi/linux/sched/types.h>

#include "rig.h"

#define NAME	"policy"

static struct rig *rig_make_one(struct kunit *test, struct ants_attrs attrs)
{
	attrs.capacity = 1;
	return rig_make(test, NAME, attrs);
}

struct look {
	unsigned int policy;
	int nice;
};

static void look_task(void *data)
{
	struct look *look = data;

	look->policy = current->policy;
	look->nice = task_nice(current);
}

/* Policy and nice value of one task, after which the worker parks again. */
static struct look look_at_worker(struct rig *rig)
{
	struct look look = { .policy = UINT_MAX };

	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, look_task, &look), 0);
	ASSERT_SOON(rig->test, settled(rig->pool));
	return look;
}

static void worker_is_normal_as_a_rule(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){});

	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_NORMAL);
}

static void throughput_pool_does_not_preempt(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){
					.flags = ANTS_THROUGHPUT });

	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_BATCH);
}

static void nice_value_is_kept(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){
					.flags = ANTS_THROUGHPUT, .nice = 7 });
	struct look look = look_at_worker(rig);

	KUNIT_EXPECT_EQ(test, look.policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, look.nice, 7);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, 3), 0);
	EXPECT_SOON(test, !ants_peek(rig->pool->target.nr_stale));
	look = look_at_worker(rig);
	KUNIT_EXPECT_EQ(test, look.policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, look.nice, 3);
}

static void fifo_task(void *data)
{
	sched_set_fifo_low(current);
}

/* A policy that a task has given to its thread is left alone. */
static void real_time_thread_stays_one(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){
					.flags = ANTS_THROUGHPUT });

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, fifo_task, NULL), 0);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_FIFO);
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE(worker_is_normal_as_a_rule),
	KUNIT_CASE(throughput_pool_does_not_preempt),
	KUNIT_CASE(nice_value_is_kept),
	KUNIT_CASE(real_time_thread_stays_one),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "ants_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the workers' scheduling policy");
MODULE_LICENSE("GPL");
