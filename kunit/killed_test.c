// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that wait and are killed meanwhile return -EINTR, and have done nothing.
 * Other signals do not end them.
 */
#include <linux/module.h>

#include "multi.h"

#define FOREVER	MAX_SCHEDULE_TIMEOUT

static bool is_asleep(struct caller *c)
{
	return READ_ONCE(c->task->__state) == TASK_KILLABLE;
}

/* @call waits, and goes on to wait after a signal that does not kill. */
static void expect_killed(struct kunit *test, int (*call)(void *arg), void *arg)
{
	struct caller *c = call_async(test, call, arg);

	EXPECT_SOON(test, is_asleep(c));
	send_sig(SIGUSR1, c->task, 1);
	wake_up_process(c->task);
	EXPECT_SOON(test, is_asleep(c));
	KUNIT_EXPECT_FALSE(test, caller_returned(c));
	send_sig(SIGKILL, c->task, 1);
	KUNIT_EXPECT_EQ(test, caller_result(test, c), -EINTR);
}

/* The same for a thread that is told to stop. */
static void expect_stopped(struct kunit *test, int (*call)(void *arg),
			   void *arg)
{
	struct caller *c = call_async(test, call, arg);

	EXPECT_SOON(test, is_asleep(c));
	KUNIT_EXPECT_EQ(test, caller_stop(c), -EINTR);
}

static int do_reboot(void *pool)
{
	return ants_reboot(pool);
}

static int do_tune(void *pool)
{
	return ants_tune(pool, 7);
}

static int do_set_nice(void *pool)
{
	return ants_set_nice(pool, 7);
}

static int do_set_cpumask(void *pool)
{
	return ants_set_cpumask(pool, cpumask_of(1));
}

/* Behind another change that takes long. */
static void change_of_a_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .cpumask = cpumask_of(0) };
	struct ants_pool *pool = test_pool(test, &attrs, "killed");

	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	mutex_lock(&pool->config);
	expect_killed(test, do_reboot, pool);
	expect_killed(test, do_tune, pool);
	expect_killed(test, do_set_nice, pool);
	expect_killed(test, do_set_cpumask, pool);
	KUNIT_EXPECT_EQ(test, pool->nr_callers, 0);
	mutex_unlock(&pool->config);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 3);
	KUNIT_EXPECT_EQ(test, pool->affinity->nice, 0);
	KUNIT_EXPECT_TRUE(test,
			  cpumask_equal(ants_affinity_cpus(pool->affinity),
					cpumask_of(0)));
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
}

static int do_multi_reboot(void *multi)
{
	return ants_multi_reboot(multi);
}

static int do_multi_tune(void *multi)
{
	return ants_multi_tune(multi, 7);
}

static int do_multi_queue_depth(void *multi)
{
	return ants_multi_set_queue_depth(multi, 7);
}

static int do_multi_nice(void *multi)
{
	return ants_multi_set_nice(multi, 7);
}

static int do_multi_cpumask(void *multi)
{
	return ants_multi_set_cpumask(multi, cpumask_of(1));
}

static void change_of_a_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "killed");

	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER), 0);
	mutex_lock(&multi->config);
	expect_killed(test, do_multi_reboot, multi);
	expect_killed(test, do_multi_tune, multi);
	expect_killed(test, do_multi_queue_depth, multi);
	expect_killed(test, do_multi_nice, multi);
	expect_killed(test, do_multi_cpumask, multi);
	mutex_unlock(&multi->config);
	KUNIT_EXPECT_TRUE(test, ants_multi_is_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 4);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, 4);
}

static int do_drain(void *pool)
{
	return ants_drain(pool);
}

static int do_release_timeout(void *pool)
{
	return ants_release_timeout(pool, FOREVER);
}

/* The second of them waits for its turn behind one that gave up. */
static void wait_for_the_tasks_of_a_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "killed");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	expect_killed(test, call_flush, pool);
	expect_killed(test, call_flush, pool);
	expect_killed(test, do_drain, pool);
	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
	expect_killed(test, do_release_timeout, pool);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 1);
}

static int do_multi_flush(void *multi)
{
	return ants_multi_flush(multi);
}

static int do_multi_release(void *multi)
{
	return ants_multi_release_timeout(multi, FOREVER);
}

/* In whichever shard it waits. */
static void wait_for_the_tasks_of_a_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "killed");
	struct gate *gate = test_gate(test);

	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	expect_killed(test, do_multi_flush, multi);
	expect_stopped(test, do_multi_flush, multi);
	fill_pool(test, ants_multi_shard(multi, 0), gate, 1);
	expect_killed(test, do_multi_flush, multi);
	KUNIT_EXPECT_FALSE(test, ants_multi_is_released(multi));
	expect_killed(test, do_multi_release, multi);
	expect_stopped(test, do_multi_release, multi);
	KUNIT_EXPECT_TRUE(test, ants_multi_is_released(multi));
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, TEST_DEADLINE),
			0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
}

static void wait_for_a_place_in_a_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "killed");
	struct gate *gate = test_gate(test);
	struct multi_call *call;

	fill_multi(test, multi, gate, 2);
	call = multi_call(test, multi, gate_task, gate, FOREVER);
	expect_killed(test, do_multi_submit, call);
	expect_stopped(test, do_multi_submit, call);
	call->timeout = 3600 * HZ;
	expect_killed(test, do_multi_submit, call);
	expect_stopped(test, do_multi_submit, call);
	KUNIT_EXPECT_EQ(test, sums_of(multi).waiting, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).submitted, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
}

static struct kunit_case killed_cases[] = {
	KUNIT_CASE(change_of_a_pool),
	KUNIT_CASE(change_of_a_multi),
	KUNIT_CASE(wait_for_the_tasks_of_a_pool),
	KUNIT_CASE(wait_for_the_tasks_of_a_multi),
	KUNIT_CASE(wait_for_a_place_in_a_multi),
	{}
};

static struct kunit_suite killed_suite = {
	.name = "ants_killed",
	.test_cases = killed_cases,
};

kunit_test_suite(killed_suite);

MODULE_DESCRIPTION("ants: KUnit tests of callers that are killed");
MODULE_LICENSE("GPL");
