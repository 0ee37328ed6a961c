// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups whose members queue themselves again, or arm their timer, before and
 * after the group is cancelled, by hand or by an error.
 */
#include <linux/module.h>

#include "group.h"

/* The item queues itself again while it runs; member 0 of the team may fail. */
struct bout {
	struct team *team;
	struct item *item;
	bool by_error;
};

static const bool ways[] = { false, true };

static void way_desc(const bool *by_error, char *desc)
{
	strscpy(desc, *by_error ? "by an error" : "by hand",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(way, ways, way_desc);

/* Like item_fn(), but it asks for the next run at the end, and has no error. */
static int late_fn(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, dwork.work);

	gate_task(item->gate);
	atomic_inc(&item->ran);
	item->queued = item_requeue(item);
	return 0;
}

/* Like item_fn(), without an error. */
static int early_fn(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, dwork.work);

	item->queued = item_requeue(item);
	atomic_inc(&item->ran);
	gate_task(item->gate);
	return 0;
}

/*
 * The item runs and is at the rig's gate; so is the member that is to fail, if
 * any.
 */
static struct bout *bout_start(struct kunit *test, ants_work_fn_t fn,
			       bool delayed, unsigned long delay)
{
	struct bout *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	const bool *by_error = test->param_value;
	struct ants_attrs attrs = { .capacity = 1 + *by_error };

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->by_error = *by_error;
	b->item = items_alloc(test, 1);
	b->team = team_make(test, 1, attrs, ANTS_GROUP_CANCEL_ON_ERROR);
	b->item->pool = b->team->rig->pool;
	b->item->gate = &b->team->rig->gate;
	b->item->delayed = delayed;
	b->item->delay = delay;
	INIT_ANTS_DELAYED_WORK(&b->item->dwork, fn);
	KUNIT_ASSERT_EQ(test, ants_group_submit(&b->team->group,
						work_of(b->item)), 0);
	ASSERT_SOON(test, atomic_read(&b->item->gate->entered) == 1);
	b->team->members[0].result = -EIO;
	if (b->by_error)
		start_at(b->team, 0, &b->team->rig->late);
	return b;
}

/* Cancel the group in the way that the case asks for. */
static void bout_cancel(struct bout *b)
{
	if (b->by_error)
		gate_open(&b->team->rig->late);
	else
		ants_group_cancel(&b->team->group);
	EXPECT_SOON(b->team->test, ants_peek(b->team->group.cancelled));
}

/* All members end soon; the item has run once, with @result. */
static void bout_expect(struct bout *b, int result)
{
	expect_wait(b->team, b->by_error ? -EIO : result);
	expect_ended(b->team->test, b->item, 1, result);
	KUNIT_EXPECT_EQ(b->team->test,
			ants_peek(b->team->rig->pool->delayed.nr), 0);
}

static void item_opens(struct bout *b)
{
	gate_open(&b->team->rig->gate);
}

static void running_member_is_not_queued_again(struct kunit *test)
{
	struct bout *b = bout_start(test, late_fn, false, 0);

	bout_cancel(b);
	item_opens(b);
	bout_expect(b, 0);
	KUNIT_EXPECT_EQ(test, b->item->queued, -ECANCELED);
}

static void running_member_is_not_armed_again(struct kunit *test)
{
	struct bout *b = bout_start(test, late_fn, true, NEVER);

	bout_cancel(b);
	item_opens(b);
	bout_expect(b, 0);
	KUNIT_EXPECT_EQ(test, b->item->queued, -ECANCELED);
}

/* The item's second run is cancelled. */
static void member_that_runs_again_does_not(struct kunit *test)
{
	struct bout *b = bout_start(test, early_fn, false, 0);

	KUNIT_EXPECT_EQ(test, state_of(b->item), ANTS_WORK_AGAIN);
	bout_cancel(b);
	item_opens(b);
	bout_expect(b, -ECANCELED);
	KUNIT_EXPECT_EQ(test, b->item->queued, 0);
	expect_counted(test, b->item->pool, 2 + b->by_error, 1);
}

/* The item's timer would be armed when its function returns. */
static void rearmed_member_ends_with_its_run(struct kunit *test)
{
	struct bout *b = bout_start(test, early_fn, true, NEVER);

	KUNIT_EXPECT_EQ(test, state_of(b->item), ANTS_WORK_REARMED);
	bout_cancel(b);
	KUNIT_EXPECT_EQ(test, state_of(b->item), ANTS_WORK_REARMED);
	item_opens(b);
	bout_expect(b, -ECANCELED);
	KUNIT_EXPECT_EQ(test, b->item->queued, 0);
	expect_counted(test, b->item->pool, 1 + b->by_error, 0);
}

static void delayed_member_ends_at_once(struct kunit *test)
{
	struct bout *b = bout_start(test, early_fn, true, NEVER);

	item_opens(b);
	ASSERT_SOON(test, state_of(b->item) == ANTS_WORK_DELAYED);
	bout_cancel(b);
	bout_expect(b, -ECANCELED);
	expect_counted(test, b->item->pool, 1 + b->by_error, 0);
}

/* The item is due, and the pool is full. */
static void late_member_ends_at_once(struct kunit *test)
{
	struct bout *b = bout_start(test, early_fn, true, NEVER);
	struct gate *gate = test_gate(test);
	struct async_call *other;

	other = rig_async(b->team->rig, do_submit_gate, FOREVER, gate);
	EXPECT_SOON(test, ants_nr_waiting(b->item->pool) == 1);
	item_opens(b);
	KUNIT_EXPECT_EQ(test, async_result(other), 0);
	ASSERT_SOON(test, state_of(b->item) == ANTS_WORK_DELAYED);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(b->item->pool, &b->item->dwork, 0), 1);
	ASSERT_SOON(test, state_of(b->item) == ANTS_WORK_DUE);
	bout_cancel(b);
	bout_expect(b, -ECANCELED);
	gate_open(gate);
	/* The failing member makes room for the item, whose run is skipped. */
	expect_counted(test, b->item->pool, 2 + 2 * b->by_error, b->by_error);
}

/* A reset group does not remember that it was cancelled. */
static void reset_group_lets_members_run_again(struct kunit *test)
{
	struct bout *b = bout_start(test, late_fn, true, 1);
	struct item *item = b->item;

	bout_cancel(b);
	item_opens(b);
	bout_expect(b, 0);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&b->team->group), 0);
	INIT_ANTS_DELAYED_WORK(&item->dwork, item_fn);
	item->more = 2;
	KUNIT_EXPECT_EQ(test, ants_group_submit(&b->team->group,
						work_of(item)), 0);
	expect_wait(b->team, RESULT(4));
	expect_ended(test, item, 4, RESULT(4));
}

static struct kunit_case group_again_cases[] = {
	KUNIT_CASE_PARAM(running_member_is_not_queued_again, way_gen_params),
	KUNIT_CASE_PARAM(running_member_is_not_armed_again, way_gen_params),
	KUNIT_CASE_PARAM(member_that_runs_again_does_not, way_gen_params),
	KUNIT_CASE_PARAM(rearmed_member_ends_with_its_run, way_gen_params),
	KUNIT_CASE_PARAM(delayed_member_ends_at_once, way_gen_params),
	KUNIT_CASE_PARAM(late_member_ends_at_once, way_gen_params),
	KUNIT_CASE_PARAM(reset_group_lets_members_run_again, way_gen_params),
	{}
};

static struct kunit_suite group_again_suite = {
	.name = "ants_group_again",
	.test_cases = group_again_cases,
};

kunit_test_suite(group_again_suite);

MODULE_DESCRIPTION("ants: KUnit tests of members that are queued again");
MODULE_LICENSE("GPL");
