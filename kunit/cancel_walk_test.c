// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk of a cancel over pending tasks, while others use the pool, or walk
 * as well.
 */
#include <linux/module.h>

#include "cancel.h"

#define NAME	"walk"

/* Start a walk and hold it after its first round. */
static struct async_call *start_walk(struct rig *rig, struct picker *p)
{
	struct async_call *call;

	hold(rig, ANTS_PAUSE_WALK);
	call = rig_async(rig, do_cancel_pending, 0, p);
	held(rig, ANTS_PAUSE_WALK);
	return call;
}

static void end_walk(struct rig *rig, struct async_call *call, int cancelled)
{
	let_go(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(rig->test, async_result(call), cancelled);
}

static void expect_no_walk(struct rig *rig)
{
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->pick.nr_cursors), 0U);
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

/* The second one cancels what the first one would have seen next. */
static void cancels_walk_side_by_side(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct picker p = { .fn = count_task, .data = &rig->count };
	struct picker other = { .fn = count_task, .data = &rig->inside };
	struct async_call *first;

	submit_counts(rig, &rig->count, ANTS_HOLD_MAX);
	submit_counts(rig, &rig->inside, ANTS_HOLD_MAX);
	submit_counts(rig, &rig->count, ANTS_HOLD_MAX);
	first = start_walk(rig, &p);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, pick, &other),
			ANTS_HOLD_MAX);
	end_walk(rig, first, 2 * ANTS_HOLD_MAX);
	expect_no_walk(rig);
	KUNIT_EXPECT_EQ(test, p.asked, 2 * ANTS_HOLD_MAX);
	KUNIT_EXPECT_EQ(test, other.asked, 2 * ANTS_HOLD_MAX);
}

static void hold_all(struct rig *rig)
{
	rig->held |= BIT(ANTS_PAUSE_WALK);
	ants_pause_arm(ANTS_PAUSE_WALK, ANTS_ALL_POOLS);
}

static void see_nothing(struct ants_walker *walker, struct list_head *entry)
{
}

/* A walk that changes nothing; returns how many entries it has seen. */
static int do_look(struct async_call *call)
{
	struct ants_walker walker = { .see = see_nothing };

	return ants_walk(call->pool, &call->pool->pending, UINT_MAX, &walker);
}

/*
 * The entry that walks of two kinds would see next goes, and is appended again
 * at once. Both see those that were behind it, and then that one.
 */
static void entry_goes_under_two_cursors(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_TASKS);
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct item *middle = &items[ANTS_HOLD_MAX];
	struct async_call *cancel, *look;
	struct picker p = {};
	int i;

	for (i = 0; i < NR_TASKS; i++)
		KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool,
						      work_of(&items[i])), 0);
	hold_all(rig);
	cancel = rig_async(rig, do_cancel_pending, 0, &p);
	look = rig_async(rig, do_look, 0, NULL);
	held(rig, ANTS_PAUSE_WALK);
	held(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->pick.nr_cursors), 2U);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(middle)));
	item_init(middle);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(middle)), 0);
	end_walk(rig, cancel, 0);
	KUNIT_EXPECT_EQ(test, p.asked, NR_TASKS);
	KUNIT_EXPECT_EQ(test, async_result(look), NR_TASKS);
	expect_no_walk(rig);
}

/* There are as many as a thread that removes an entry may have to look at. */
static void one_walk_too_many_waits(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct async_call *looks[ANTS_HOLD_MAX];
	struct async_call *cancel;
	struct picker p = {};
	int i;

	submit_counts(rig, &rig->count, NR_TASKS);
	hold_all(rig);
	for (i = 0; i < ANTS_HOLD_MAX; i++)
		looks[i] = rig_async(rig, do_look, 0, NULL);
	for (i = 0; i < ANTS_HOLD_MAX; i++)
		held(rig, ANTS_PAUSE_WALK);
	cancel = rig_async(rig, do_cancel_pending, 0, &p);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->pick.nr_cursors),
			(unsigned int)ANTS_HOLD_MAX);
	KUNIT_EXPECT_EQ(test, p.asked, 0);
	end_walk(rig, cancel, 0);
	KUNIT_EXPECT_EQ(test, p.asked, NR_TASKS);
	for (i = 0; i < ANTS_HOLD_MAX; i++)
		KUNIT_EXPECT_EQ(test, async_result(looks[i]), NR_TASKS);
	expect_no_walk(rig);
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
	let_go(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(test, async_result(walk), ANTS_HOLD_MAX);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	rig->pool = NULL;
}

static struct kunit_case cancel_walk_cases[] = {
	KUNIT_CASE(one_hold_is_one_round),
	KUNIT_CASE(tasks_leave_under_the_cursor),
	KUNIT_CASE(slots_leave_under_the_cursor),
	KUNIT_CASE(later_tasks_are_left_alone),
	KUNIT_CASE(cancels_walk_side_by_side),
	KUNIT_CASE(entry_goes_under_two_cursors),
	KUNIT_CASE(one_walk_too_many_waits),
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
