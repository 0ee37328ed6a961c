// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that takes along the kernel worker in whose place it runs. The threads
 * of that workqueue stay, so this is booted alone.
 */
#include <linux/module.h>

#include "fault.h"

/*
 * No thread can be made, and the kernel worker in whose place the task runs dies
 * with it. The task behind that one has to wait for a thread.
 */
static void stand_in_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
					.capacity = 1, .queue_depth = 4 });

	announce_death("null_task");
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, null_task, NULL), 0);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	rig_async(rig, do_flush, FOREVER, NULL);
	expect_told(rig, 1, null_task, NULL);
	expect_blocked(test, &rig->calls[0]);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	expect_results(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	expect_well(rig, 1, 1);
}

static int die_in_kworker(unsigned long i, void *ctx)
{
	if (current->flags & PF_WQ_WORKER)
		write_null();
	return 0;
}

static void loop_task(void *pool)
{
	ants_for_each(pool, 2, die_in_kworker, NULL);
}

/* The pool that takes part in the loop is told that its caller is gone. */
static void stand_in_dies_in_its_loop(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *other = test_pool(test, &attrs, "other");

	announce_death("loop_task");
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, loop_task, other), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_told(rig, 1, loop_task, other);
	KUNIT_EXPECT_EQ(test, ants_peek(other->nr_callers), 0U);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(other), 0U);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	expect_well(rig, 1, 1);
}

static void die_in_callback(struct ants_pool *pool)
{
	announce("BUG: sleeping function called from invalid context");
	write_null();
}

/* It has run its task, and there is room for a caller that was refused. */
static void stand_in_dies_between_two_tasks(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 1, .space_available = die_in_callback });

	/* The kernel says it once a second at most. */
	msleep(1100);
	announce_death("die_in_callback");
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	KUNIT_ASSERT_EQ(test, ants_try_submit(rig->pool, count_task, &rig->count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_told(rig, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 0U);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	expect_well(rig, 1, 0);
}

static struct kunit_case fault_stand_in_cases[] = {
	KUNIT_CASE(stand_in_dies),
	KUNIT_CASE(stand_in_dies_in_its_loop),
	KUNIT_CASE(stand_in_dies_between_two_tasks),
	{}
};

static int fault_stand_in_init(struct kunit *test)
{
	need_module(test);
	return 0;
}

static struct kunit_suite fault_stand_in_suite = {
	.name = "ants_fault_stand_in",
	.init = fault_stand_in_init,
	.test_cases = fault_stand_in_cases,
};

kunit_test_suite(fault_stand_in_suite);

MODULE_DESCRIPTION("ants: KUnit tests of kernel workers that die in a task");
MODULE_LICENSE("GPL");
