// SPDX-License-Identifier: GPL-2.0-only
/* Flush: waiting for the tasks accepted so far, and for no others. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"flush"

/* Start a flush that has flipped the epoch, so that it ignores later tasks. */
static struct async_call *start_flush(struct rig *rig)
{
	unsigned int flips = ants_peek(rig->pool->flips);
	struct async_call *call = rig_async(rig, do_flush, FOREVER, NULL);

	EXPECT_SOON(rig->test, ants_peek(rig->pool->flips) != flips);
	return call;
}

/* Open the rig's other gate, behind which @tasks tasks wait. */
static void finish_late(struct rig *rig, int tasks)
{
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(rig->test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(rig->test, atomic_read(&rig->late.passed), tasks);
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->nr_callers), 0);
}

static void flush_waits_for_running_and_pending_tasks(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 2, .queue_depth = 5 });
	struct async_call *call;
	int i;

	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	call = start_flush(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 7);
	KUNIT_EXPECT_FALSE(test, ants_is_released(rig->pool));
}

/* True if the thread did not run for ten ticks. */
static bool is_quiet(struct async_call *call)
{
	unsigned long switches = READ_ONCE(call->task->nvcsw);
	unsigned long begin = jiffies;

	while (time_before_eq(jiffies, begin + 10))
		usleep_range(1000, 2000);
	return READ_ONCE(call->task->nvcsw) == switches;
}

/* Nor does the caller poll meanwhile. */
static void flush_sleeps_until_it_is_woken(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct async_call *call;

	call = rig_async(rig, do_flush, FOREVER, NULL);
	expect_blocked(test, call);
	/* Its last context switch may be counted late. */
	EXPECT_SOON(test, is_quiet(call));
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
}

static void flush_does_not_wait_for_later_tasks(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3, .queue_depth = 1 });
	struct async_call *call;

	fill_pool(test, rig->pool, &rig->gate, 1);
	call = start_flush(rig);
	fill_pool(test, rig->pool, &rig->late, 2);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->late), 0);
	expect_blocked(test, call);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->late.passed), 0);
	finish_late(rig, 3);
}

/* A waiter's task is not accepted yet. */
static void flush_does_not_wait_for_waiters(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct async_call *waiter, *flush;

	waiter = rig_async(rig, do_submit_gate, FOREVER, &rig->late);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	flush = start_flush(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(flush), 0);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->late.passed), 0);
	finish_late(rig, 1);
}

static void idle_pool_is_flushed_at_once(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 0);
	park(rig, 0, 2);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 2);
}

/* The flushes share what they wait for, and each must find all tasks ended. */
static void concurrent_flushes_all_return(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 3 });
	int i;

	for (i = 0; i < 8; i++)
		rig_async(rig, do_flush, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 8);
	gate_open(&rig->gate);
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, async_result(&rig->calls[i]), 0);
		KUNIT_EXPECT_EQ(test, rig->calls[i].passed, 3);
	}
	finish_late(rig, 0);
}

/* The later flush waits for the tasks of both epochs. */
static void flush_behind_another_waits_for_later_tasks(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	struct async_call *first, *second;

	fill_pool(test, rig->pool, &rig->late, 1);
	first = start_flush(rig);
	fill_pool(test, rig->pool, &rig->gate, 1);
	second = rig_async(rig, do_flush, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 2);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, async_result(first), 0);
	KUNIT_EXPECT_EQ(test, first->passed, 0);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(second), 0);
	KUNIT_EXPECT_EQ(test, second->passed, 1);
}

static void flush_times_out(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	unsigned long start = jiffies;

	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 5), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, start + 5));
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 0);
	gate_open(&rig->gate);
	finish_late(rig, 0);
}

/*
 * The epoch that was given up still drains. A flush that mixed it with a new
 * one would forget the task in between.
 */
static void flush_after_one_that_timed_out_waits_for_all(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3 });
	struct async_call *call;

	fill_pool(test, rig->pool, &rig->late, 1);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 2), -ETIMEDOUT);
	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 2), -ETIMEDOUT);
	fill_pool(test, rig->pool, &rig->late, 1);
	call = rig_async(rig, do_flush, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 1);
	gate_open(&rig->late);
	EXPECT_SOON(test, ants_nr_busy(rig->pool) == 1);
	expect_blocked(test, call);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 1);
	finish_late(rig, 2);
}

/* While one flush waits for its tasks, and another one to flip. */
static void flush_ends_when_its_kthread_shall_stop(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct async_call *first = start_flush(rig), *second;

	second = rig_async(rig, do_flush, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 2);
	KUNIT_EXPECT_EQ(test, async_stop(second), -EINTR);
	KUNIT_EXPECT_EQ(test, async_stop(first), -EINTR);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->flips), 1U);
	gate_open(&rig->gate);
	finish_late(rig, 0);
}

static void released_pool_can_be_flushed(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 2 });
	struct async_call *call;

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->gate), 0);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 2), -ETIMEDOUT);
	call = rig_async(rig, do_flush, FOREVER, NULL);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 2);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, FOREVER), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 0), 0);
}

/* Each flush returns, after all tasks submitted before it have ended. */
static void flush_terminates_under_load(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3, .queue_depth = 3 });
	int i, j;

	for (i = 0; i < 2; i++)
		rig_async(rig, do_submit_many, 0, NULL);
	for (i = 1; i <= 60; i++) {
		for (j = 0; j < 3; j++)
			KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task,
							  &rig->inside), 0);
		KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&rig->inside), 3 * i);
	}
	atomic_set(&rig->stop, 1);
	expect_results(rig, 0, 0);
	finish_late(rig, 0);
}

/* P13; a task of another pool may flush this one. */
static void flushing_task(void *data)
{
	struct post *post = data;

	post->result = ants_flush_timeout(post->pool, TEST_DEADLINE);
	atomic_inc(&post->gate.passed);
}

static void task_may_flush_other_pools_only(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct rig *rig = rig_make(test, NAME, attrs);
	struct ants_pool *other = test_pool(test, &attrs, "flush2");

	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, flushing_task,
					  &rig->posts[0]), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(other, flushing_task,
					  &rig->posts[1]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(other), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, rig->posts[0].result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, rig->posts[1].result, 0);
}

static void system_pool_is_not_flushed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ants_flush(ants_system_pool), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(ants_system_pool, 1), -EINVAL);
}

static struct kunit_case flush_cases[] = {
	KUNIT_CASE(flush_waits_for_running_and_pending_tasks),
	KUNIT_CASE(flush_sleeps_until_it_is_woken),
	KUNIT_CASE(flush_does_not_wait_for_later_tasks),
	KUNIT_CASE(flush_does_not_wait_for_waiters),
	KUNIT_CASE(idle_pool_is_flushed_at_once),
	KUNIT_CASE(concurrent_flushes_all_return),
	KUNIT_CASE(flush_behind_another_waits_for_later_tasks),
	KUNIT_CASE(flush_times_out),
	KUNIT_CASE(flush_after_one_that_timed_out_waits_for_all),
	KUNIT_CASE(flush_ends_when_its_kthread_shall_stop),
	KUNIT_CASE(released_pool_can_be_flushed),
	KUNIT_CASE(flush_terminates_under_load),
	KUNIT_CASE(task_may_flush_other_pools_only),
	KUNIT_CASE(system_pool_is_not_flushed),
	{}
};

static struct kunit_suite flush_suite = {
	.name = "ants_flush",
	.test_cases = flush_cases,
};

kunit_test_suite(flush_suite);

MODULE_DESCRIPTION("ants: KUnit tests of flush");
MODULE_LICENSE("GPL");
