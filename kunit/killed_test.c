// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that are killed while they wait return -EINTR and have no effect. Other
 * signals do not end them.
 */
#include <linux/module.h>

#include "multi.h"
#include "rig.h"

static bool is_asleep(struct async_call *call)
{
	return READ_ONCE(call->task->__state) == TASK_KILLABLE;
}

/* The call waits, and continues to wait after a signal that does not kill. */
static void expect_killed(struct kunit *test, struct async_call *call)
{
	EXPECT_SOON(test, is_asleep(call));
	send_sig(SIGUSR1, call->task, 1);
	wake_up_process(call->task);
	EXPECT_SOON(test, is_asleep(call));
	KUNIT_EXPECT_FALSE(test, async_returned(call));
	send_sig(SIGKILL, call->task, 1);
	KUNIT_EXPECT_EQ(test, async_result(call), -EINTR);
}

/* The same for a thread that is told to stop. */
static void expect_stopped(struct kunit *test, struct async_call *call)
{
	EXPECT_SOON(test, is_asleep(call));
	KUNIT_EXPECT_EQ(test, async_stop(call), -EINTR);
}

static int do_set_nice(struct async_call *call)
{
	return ants_set_nice(call->pool, 7);
}

static int do_set_sched(struct async_call *call)
{
	return ants_set_sched(call->pool, ANTS_SCHED_FIFO);
}

static int do_set_cpumask(struct async_call *call)
{
	return ants_set_cpumask(call->pool, cpumask_of(1));
}

/* Each call waits behind another change that takes long. */
static void change_of_a_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .cpumask = cpumask_of(0) };
	struct ants_pool *pool = test_pool(test, &attrs, "killed");

	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	mutex_lock(&pool->config.lock);
	expect_killed(test, async_start_on(test, do_reboot, pool, 0));
	expect_killed(test, async_start_on(test, do_tune, pool, 7));
	expect_killed(test, async_start_on(test, do_set_nice, pool, 0));
	expect_killed(test, async_start_on(test, do_set_sched, pool, 0));
	expect_killed(test, async_start_on(test, do_set_cpumask, pool, 0));
	KUNIT_EXPECT_EQ(test, pool->nr_callers, 0);
	mutex_unlock(&pool->config.lock);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 3);
	KUNIT_EXPECT_EQ(test, pool->target.affinity->nice, 0);
	KUNIT_EXPECT_EQ(test, pool->target.affinity->sched, ANTS_SCHED_NORMAL);
	KUNIT_EXPECT_TRUE(test,
			  cpumask_equal(to_cpumask(pool->target.affinity->cpus),
					cpumask_of(0)));
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
}

static int do_reboot_killed(struct async_call *call)
{
	send_sig(SIGKILL, current, 1);
	return ants_reboot(call->pool);
}

/* Slots that an administrator has asked for meanwhile may be very many. */
static void slots_are_not_made_for_the_dead(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_PREALLOC };
	struct ants_pool *pool = test_pool(test, &attrs, "killed");

	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, set_attr(pool, "queue_depth", 1000), 0);
	ants_fail_arm(ANTS_FAIL_SLOT, 1);
	KUNIT_EXPECT_EQ(test, async_result(async_start_on(test, do_reboot_killed,
							  pool, 0)), -EINTR);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
}

static int do_multi_queue_depth(struct async_call *call)
{
	return ants_multi_set_queue_depth(call->multi, 7);
}

static int do_multi_nice(struct async_call *call)
{
	return ants_multi_set_nice(call->multi, 7);
}

static int do_multi_sched(struct async_call *call)
{
	return ants_multi_set_sched(call->multi, ANTS_SCHED_FIFO);
}

static int do_multi_cpumask(struct async_call *call)
{
	return ants_multi_set_cpumask(call->multi, cpumask_of(1));
}

static void change_of_a_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "killed");

	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER), 0);
	mutex_lock(&multi->config);
	expect_killed(test, multi_async(test, do_multi_reboot, multi, 0));
	expect_killed(test, multi_async(test, do_multi_tune, multi, 7));
	expect_killed(test, multi_async(test, do_multi_queue_depth, multi, 0));
	expect_killed(test, multi_async(test, do_multi_nice, multi, 0));
	expect_killed(test, multi_async(test, do_multi_sched, multi, 0));
	expect_killed(test, multi_async(test, do_multi_cpumask, multi, 0));
	mutex_unlock(&multi->config);
	KUNIT_EXPECT_TRUE(test, ants_multi_is_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 4);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, 4);
}

/* The second flush waits for its turn behind one that gave up. */
static void wait_for_the_tasks_of_a_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "killed");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	expect_killed(test, async_start_on(test, do_flush, pool, FOREVER));
	expect_killed(test, async_start_on(test, do_flush, pool, FOREVER));
	expect_killed(test, async_start_on(test, do_drain, pool, FOREVER));
	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
	expect_killed(test, async_start_on(test, do_release_timeout, pool,
					   FOREVER));
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 1);
}

static int do_multi_flush(struct async_call *call)
{
	return ants_multi_flush(call->multi);
}

/* In whichever shard the call waits. */
static void wait_for_the_tasks_of_a_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "killed");
	struct gate *gate = test_gate(test);

	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	expect_killed(test, multi_async(test, do_multi_flush, multi, 0));
	expect_stopped(test, multi_async(test, do_multi_flush, multi, 0));
	fill_pool(test, ants_multi_shard(multi, 0), gate, 1);
	expect_killed(test, multi_async(test, do_multi_flush, multi, 0));
	KUNIT_EXPECT_FALSE(test, ants_multi_is_released(multi));
	expect_killed(test, multi_async(test, do_multi_release_timeout, multi,
					FOREVER));
	expect_stopped(test, multi_async(test, do_multi_release_timeout, multi,
					 FOREVER));
	KUNIT_EXPECT_TRUE(test, ants_multi_is_released(multi));
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, TEST_DEADLINE),
			0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
}

static void wait_for_room_in_a_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "killed");
	struct gate *gate = test_gate(test);
	static const unsigned long timeouts[] = { FOREVER, 3600 * HZ };
	int i;

	fill_multi(test, multi, gate, 2);
	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		expect_killed(test, multi_submit_async(test, multi, gate_task,
						       gate, timeouts[i]));
		expect_stopped(test, multi_submit_async(test, multi, gate_task,
							gate, timeouts[i]));
	}
	KUNIT_EXPECT_EQ(test, sums_of(multi).waiting, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).submitted, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
}

static struct kunit_case killed_cases[] = {
	KUNIT_CASE(change_of_a_pool),
	KUNIT_CASE(slots_are_not_made_for_the_dead),
	KUNIT_CASE(change_of_a_multi),
	KUNIT_CASE(wait_for_the_tasks_of_a_pool),
	KUNIT_CASE(wait_for_the_tasks_of_a_multi),
	KUNIT_CASE(wait_for_room_in_a_multi),
	{}
};

static struct kunit_suite killed_suite = {
	.name = "ants_killed",
	.test_cases = killed_cases,
};

kunit_test_suite(killed_suite);

MODULE_DESCRIPTION("ants: KUnit tests of callers that are killed");
MODULE_LICENSE("GPL");
