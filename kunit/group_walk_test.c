// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups that end, and are freed, before the upkeep work has come to cancel their
 * members.
 */
#include <linux/module.h>

#include "group.h"

/* More than two rounds of the upkeep work take. */
#define MANY	40

/* A group and its members, which are freed as soon as they were waited for. */
struct crew {
	struct ants_group group;
	struct member members[MANY];
};

/* @data is the crew. */
static int do_wait_and_free(struct async_call *call)
{
	struct crew *crew = call->data;
	int err = ants_group_wait(&crew->group, &call->value);

	if (!err)
		kfree(crew);
	return err;
}

static struct crew *crew_make(struct rig *rig, unsigned int flags)
{
	struct crew *crew = kzalloc(sizeof(*crew), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(rig->test, crew);
	KUNIT_ASSERT_EQ(rig->test, ants_group_init(&crew->group, rig->pool,
						   flags), 0);
	for (i = 0; i < MANY; i++)
		INIT_ANTS_WORK(&crew->members[i].work, member_fn);
	return crew;
}

static void crew_submit(struct rig *rig, struct crew *crew, int first, int end)
{
	int i, err;

	for (i = first; i < end; i++) {
		err = ants_group_submit(&crew->group, &crew->members[i].work);
		KUNIT_ASSERT_EQ(rig->test, err, 0);
	}
}

static bool crew_is_waited_for(struct crew *crew)
{
	return !hlist_empty(&crew->group.waiters);
}

/* Its only thread is parked; the upkeep work has something to tell it, and stops. */
static void hold_upkeep(struct rig *rig)
{
	EXPECT_SOON(rig->test, settled(rig->pool));
	hold(rig, ANTS_PAUSE_REBIND);
	KUNIT_ASSERT_EQ(rig->test, ants_set_nice(rig->pool, 1), 0);
	held(rig, ANTS_PAUSE_REBIND);
}

/*
 * The upkeep work is held and cannot cancel the members: the worker skips them.
 */
static void error_does_not_wait_for_the_upkeep(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .min_workers = 1,
				    .queue_depth = MANY };
	struct rig *rig = rig_make(test, "walk", attrs);
	struct crew *crew = crew_make(rig, ANTS_GROUP_CANCEL_ON_ERROR);
	struct async_call *wait;

	crew->members[0].gate = &rig->gate;
	crew->members[0].result = -EIO;
	hold_upkeep(rig);
	crew_submit(rig, crew, 0, 1);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	crew_submit(rig, crew, 1, MANY);
	wait = rig_async(rig, do_wait_and_free, 0, crew);
	EXPECT_SOON(test, crew_is_waited_for(crew));
	gate_open(&rig->gate);
	expect_waited(test, wait, -EIO);
	let_go(rig, ANTS_PAUSE_REBIND);
	EXPECT_SOON(test, settled(rig->pool));
	expect_counted(test, rig->pool, MANY, MANY - 1);
}

/* The upkeep work has not begun: the members are still there, and a cancel adds nothing. */
static void cancel_waits_for_the_upkeep(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .min_workers = 1,
				    .queue_depth = MANY };
	struct team *team = team_make(test, MANY, attrs,
				      ANTS_GROUP_CANCEL_ON_ERROR);
	struct ants_pool *pool = team->rig->pool;

	hold_upkeep(team->rig);
	start_at(team, 0, &team->rig->gate);
	submit_range(team, 1, MANY);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_at(team, 1)));
	KUNIT_EXPECT_FALSE(test, list_empty(&pool->cancelled_groups));
	KUNIT_EXPECT_EQ(test, submit(team, 1), -EALREADY);
	expect_next(team, 1);
	KUNIT_EXPECT_EQ(test, submit(team, 1), -ECANCELED);
	ants_group_cancel(&team->group);
	KUNIT_EXPECT_EQ(test, READ_ONCE(work_at(team, MANY - 1)->state),
			ANTS_WORK_PENDING);
	let_go(team->rig, ANTS_PAUSE_REBIND);
	EXPECT_SOON(test, !ants_peek(pool->upkeep.queued));
	expect_members(team, 1, MANY, 0, -ECANCELED);
	gate_open(&team->rig->gate);
	expect_wait(team, -ECANCELED);
	expect_counted(test, pool, MANY, MANY - 1);
}

/* An error is returned with interrupts off: the upkeep work does the rest. */
static void error_in_any_context_cancels(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = MANY };
	struct team *team = team_make(test, MANY, attrs,
				      ANTS_GROUP_CANCEL_ON_ERROR);
	bool cancelled;

	start_at(team, 0, &team->rig->gate);
	submit_range(team, 1, MANY);
	local_irq_disable();
	cancelled = ants_work_cancel(work_at(team, 1));
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test, cancelled);
	EXPECT_SOON(test, READ_ONCE(work_at(team, MANY - 1)->state) ==
		    ANTS_WORK_IDLE);
	expect_members(team, 1, MANY, 0, -ECANCELED);
	KUNIT_EXPECT_EQ(test, READ_ONCE(work_at(team, 0)->state),
			ANTS_WORK_RUNNING);
	gate_open(&team->rig->gate);
	expect_wait(team, -ECANCELED);
	expect_counted(test, team->rig->pool, MANY, MANY - 1);
}

static struct kunit_case group_walk_cases[] = {
	KUNIT_CASE(error_does_not_wait_for_the_upkeep),
	KUNIT_CASE(cancel_waits_for_the_upkeep),
	KUNIT_CASE(error_in_any_context_cancels),
	{}
};

static struct kunit_suite group_walk_suite = {
	.name = "ants_group_walk",
	.test_cases = group_walk_cases,
};

kunit_test_suite(group_walk_suite);

MODULE_DESCRIPTION("ants: KUnit tests of groups that are freed while cancelled");
MODULE_LICENSE("GPL");
