// SPDX-License-Identifier: GPL-2.0-only
/* The walk of a cancel over pending tasks, while others use the pool. */
#include <linux/module.h>

#include "cancel.h"

#define NAME	"walk"

/* Start a walk and hold it after its first round. */
static struct async_call *start_walk(struct rig *rig, struct picker *p)
{
	struct async_call *call;

	hold(rig, ANTS_PAUSE_CANCEL);
	call = rig_async(rig, do_cancel_pending, 0, p);
	held(rig, ANTS_PAUSE_CANCEL);
	return call;
}

static void end_walk(struct rig *rig, struct async_call *call, int cancelled)
{
	let_go(rig, ANTS_PAUSE_CANCEL);
	KUNIT_EXPECT_EQ(rig->test, async_result(call), cancelled);
}

static void expect_no_walk(struct rig *rig)
{
	KUNIT_EXPECT_FALSE(rig->test, ants_peek(rig->pool->pick.cancel_scan));
}

static void one_hold_is_one_round(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct picker p = { .all = true };
	struct async_call *walk;

	submit_counts(rig, &rig->count, NR_TASKS);
	walk = start_walk(rig, &p);
	KUNIT_EXPECT_EQ(test, p.asked, ANTS_HOLD_MAX);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool),
			NR_TASKS - ANTS_HOLD_MAX);
	end_walk(rig, walk, NR_TASKS);
	expect_no_walk(rig);
}

/*
 * Of the tasks that the walk would reach next, one is cancelled and one starts.
 */
static void tasks_leave_under_the_cursor(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct item *items = items_alloc(test, NR_TASKS);
	struct picker p = { .all = true };
	struct async_call *walk;
	int i;

	for (i = 0; i < NR_TASKS; i++)
		KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool,
						      work_of(&items[i])), 0);
	items[ANTS_HOLD_MAX + 1].gate = &rig->late;
	walk = start_walk(rig, &p);
	KUNIT_EXPECT_TRUE(test,
			  ants_work_cancel(work_of(&items[ANTS_HOLD_MAX])));
	item_init(&items[ANTS_HOLD_MAX]);
	gate_open(&rig->gate);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 1);
	end_walk(rig, walk, NR_TASKS - 2);
	expect_no_walk(rig);
	gate_open(&rig->late);
	expect_ended(test, &items[ANTS_HOLD_MAX + 1], 1, RESULT(1));
	expect_counted(test, rig->pool, NR_TASKS + 1, NR_TASKS - 1);
}

/* Plain tasks, whose slots are used again at once. */
static void slots_leave_under_the_cursor(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct picker p = {};
	struct async_call *walk;

	submit_counts(rig, &rig->count, ANTS_HOLD_MAX);
	submit_counts(rig, &rig->inside, NR_TASKS - ANTS_HOLD_MAX - 1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->late), 0);
	p.fn = count_task;
	p.data = &rig->count;
	walk = start_walk(rig, &p);
	gate_open(&rig->gate);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 1);
	submit_counts(rig, &rig->inside, 5);
	end_walk(rig, walk, ANTS_HOLD_MAX);
	expect_no_walk(rig);
	gate_open(&rig->late);
	expect_counted(test, rig->pool, NR_TASKS + 6, ANTS_HOLD_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->inside),
			NR_TASKS - ANTS_HOLD_MAX + 4);
}

/* Otherwise a task that submits itself could keep a walk busy for ever. */
static void later_tasks_are_left_alone(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 2 * NR_TASKS);
	struct picker p = { .all = true };
	struct async_call *walk;

	submit_counts(rig, &rig->count, NR_TASKS);
	walk = start_walk(rig, &p);
	submit_counts(rig, &rig->inside, 10);
	end_walk(rig, walk, NR_TASKS);
	expect_no_walk(rig);
	KUNIT_EXPECT_EQ(test, p.asked, NR_TASKS);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, NR_TASKS + 11, NR_TASKS);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->inside), 10);
}

static void walks_take_turns(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct picker p = { .fn = count_task, .data = &rig->count };
	struct picker other = { .fn = count_task, .data = &rig->inside };
	struct async_call *first, *second;

	submit_counts(rig, &rig->count, NR_TASKS / 2);
	submit_counts(rig, &rig->inside, NR_TASKS / 2);
	first = start_walk(rig, &p);
	second = rig_async(rig, do_cancel_pending, 0, &other);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 2);
	KUNIT_EXPECT_EQ(test, other.asked, 0);
	end_walk(rig, first, NR_TASKS / 2);
	KUNIT_EXPECT_EQ(test, async_result(second), NR_TASKS / 2);
	expect_no_walk(rig);
	KUNIT_EXPECT_EQ(test, other.asked, NR_TASKS / 2);
}

static void destroy_waits_for_a_walk(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct picker p = { .all = true };
	struct async_call *walk, *destroy;

	submit_counts(rig, &rig->count, NR_TASKS);
	walk = start_walk(rig, &p);
	destroy = rig_async(rig, do_destroy, 0, NULL);
	ASSERT_SOON(test, ants_is_released(rig->pool));
	gate_open(&rig->gate);
	ASSERT_SOON(test, atomic_read(&rig->count) == NR_TASKS - ANTS_HOLD_MAX);
	expect_blocked(test, destroy);
	let_go(rig, ANTS_PAUSE_CANCEL);
	KUNIT_EXPECT_EQ(test, async_result(walk), ANTS_HOLD_MAX);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	rig->pool = NULL;
}

static struct kunit_case cancel_walk_cases[] = {
	KUNIT_CASE(one_hold_is_one_round),
	KUNIT_CASE(tasks_leave_under_the_cursor),
	KUNIT_CASE(slots_leave_under_the_cursor),
	KUNIT_CASE(later_tasks_are_left_alone),
	KUNIT_CASE(walks_take_turns),
	KUNIT_CASE(destroy_waits_for_a_walk),
	{}
};

static struct kunit_suite cancel_walk_suite = {
	.name = "ants_cancel_walk",
	.test_cases = cancel_walk_cases,
};

kunit_test_suite(cancel_walk_suite);

MODULE_DESCRIPTION("ants: KUnit tests of walks over pending tasks");
MODULE_LICENSE("GPL");
