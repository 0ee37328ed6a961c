// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups that end and are freed while another thread cancels them: a cancel
 * walks through the members in rounds, and is held between two of these.
 */
#include <linux/module.h>

#include "group.h"

/* More than two rounds take. */
#define MANY	40

/* A group and its members, which are freed as soon as they were waited for. */
struct crew {
	struct ants_group group;
	struct member members[MANY];
};

static int do_cancel(struct async_call *call)
{
	ants_group_cancel(call->data);
	return 0;
}

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

static struct rig *rig_of_one(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = MANY };

	/* The cancelling thread keeps its CPU while it is held. */
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	return rig_make(test, "walk", attrs);
}

static bool crew_is_waited_for(struct crew *crew)
{
	return !list_empty(&crew->group.waiters);
}

/* Start a cancel of the group, and hold it after its first round. */
static struct async_call *start_cancel(struct rig *rig,
				       struct ants_group *group)
{
	struct async_call *call;

	hold(rig, ANTS_PAUSE_GROUP_CANCEL);
	call = rig_async(rig, do_cancel, 0, group);
	held(rig, ANTS_PAUSE_GROUP_CANCEL);
	return call;
}

/* The members end between two rounds, and the last round wakes the waiter. */
static void waiter_frees_what_is_being_cancelled(struct kunit *test)
{
	struct rig *rig = rig_of_one(test);
	struct async_call *cancel, *wait;
	struct crew *crew;

	fill_pool(test, rig->pool, &rig->gate, 1);
	crew = crew_make(rig, 0);
	crew_submit(rig, crew, 0, MANY);
	wait = rig_async(rig, do_wait_and_free, 0, crew);
	EXPECT_SOON(test, crew_is_waited_for(crew));
	cancel = start_cancel(rig, &crew->group);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	/* All members have ended. */
	KUNIT_EXPECT_TRUE(test, crew_is_waited_for(crew));
	let_go(rig, ANTS_PAUSE_GROUP_CANCEL);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 0);
	expect_waited(test, wait, -ECANCELED);
	expect_counted(test, rig->pool, MANY + 1, MANY);
}

/* The last member ends in the last round, which is a full one. */
static void waiter_frees_after_the_last_round(struct kunit *test)
{
	struct rig *rig = rig_of_one(test);
	struct async_call *cancel, *wait;
	struct crew *crew;

	fill_pool(test, rig->pool, &rig->gate, 1);
	crew = crew_make(rig, 0);
	crew_submit(rig, crew, 0, ANTS_HOLD_MAX);
	wait = rig_async(rig, do_wait_and_free, 0, crew);
	EXPECT_SOON(test, crew_is_waited_for(crew));
	hold(rig, ANTS_PAUSE_GROUP_CANCEL);
	cancel = rig_async(rig, do_cancel, 0, &crew->group);
	expect_waited(test, wait, -ECANCELED);
	let_go(rig, ANTS_PAUSE_GROUP_CANCEL);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 0);
}

/*
 * All members have ended, and yet the group has not while a cancel walks
 * through it.
 */
static void cancelled_group_is_busy(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = MANY };
	struct team *team = team_make(test, MANY, attrs, 0);
	struct async_call *cancel;
	int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	fill_pool(test, team->rig->pool, &team->rig->gate, 1);
	submit_range(team, 0, MANY);
	cancel = start_cancel(team->rig, &team->group);
	/* A second cancel leaves the work to the first one. */
	ants_group_cancel(&team->group);
	KUNIT_EXPECT_EQ(test, READ_ONCE(work_at(team, MANY - 1)->state),
			ANTS_WORK_PENDING);
	gate_open(&team->rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(team->rig->pool,
						 TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), -EBUSY);
	KUNIT_EXPECT_EQ(test, ants_group_wait_timeout(&team->group, 1, NULL),
			-ETIMEDOUT);
	for (i = 0; i < MANY; i++)
		expect_next(team, i);
	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	let_go(team->rig, ANTS_PAUSE_GROUP_CANCEL);
	expect_none(team, FOREVER, NULL);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 0);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), 0);
}

/* A task that stops at a gate of its own. */
static int gate_fn(struct ants_work *work)
{
	gate_task(member_of(work)->gate);
	return 0;
}

static struct member *submit_new(struct rig *rig, struct ants_group *group,
				 struct gate *gate)
{
	struct member *m = kzalloc(sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(rig->test, m);
	INIT_ANTS_WORK(&m->work, gate ? gate_fn : member_fn);
	m->gate = gate;
	KUNIT_ASSERT_EQ(rig->test, ants_group_submit(group, &m->work), 0);
	return m;
}

static void take_and_free(struct rig *rig, struct ants_group *group, int nr)
{
	struct ants_work *work;

	while (nr--) {
		work = ants_group_next(group, PROMPT);
		KUNIT_ASSERT_FALSE(rig->test, IS_ERR_OR_NULL(work));
		kfree(member_of(work));
	}
}

/* The members that the walk would reach next end, are taken, and freed. */
static void taken_members_leave_the_walk(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = MANY };
	struct ants_group *group;
	struct async_call *cancel;
	struct rig *rig;
	int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, group);
	rig = rig_make(test, "walk", attrs);
	KUNIT_ASSERT_EQ(test, ants_group_init(group, rig->pool, 0), 0);
	submit_new(rig, group, &rig->late);
	fill_pool(test, rig->pool, &rig->gate, 1);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 1);
	for (i = 1; i < MANY; i++)
		submit_new(rig, group, NULL);
	cancel = start_cancel(rig, group);
	gate_open(&rig->gate);
	take_and_free(rig, group, MANY - 1);
	/* The first member still runs, and so the walk continues. */
	let_go(rig, ANTS_PAUSE_GROUP_CANCEL);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 0);
	gate_open(&rig->late);
	take_and_free(rig, group, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&group->works));
	KUNIT_EXPECT_EQ(test, ants_group_wait(group, NULL), 0);
	expect_counted(test, rig->pool, MANY + 1, MANY - 1);
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

/* The upkeep work has not begun; the caller cancels the members at once. */
static void cancel_takes_over_from_the_upkeep(struct kunit *test)
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
	KUNIT_EXPECT_TRUE(test, list_empty(&pool->cancelled_groups));
	expect_members(team, 1, MANY, 0, -ECANCELED);
	let_go(team->rig, ANTS_PAUSE_REBIND);
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
	KUNIT_CASE(waiter_frees_what_is_being_cancelled),
	KUNIT_CASE(waiter_frees_after_the_last_round),
	KUNIT_CASE(cancelled_group_is_busy),
	KUNIT_CASE(taken_members_leave_the_walk),
	KUNIT_CASE(error_does_not_wait_for_the_upkeep),
	KUNIT_CASE(cancel_takes_over_from_the_upkeep),
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
