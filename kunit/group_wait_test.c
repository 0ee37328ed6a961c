// SPDX-License-Identifier: GPL-2.0-only
/* Groups: which callers may wait for one, and what may be freed afterwards. */
#include <linux/module.h>

#include "group.h"
#include "repeats.h"

/* One thread, in which member 0 is at the rig's gate. */
static struct team *team_busy(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 4 };
	struct team *team = team_make(test, 4, attrs, 0);

	start_at(team, 0, &team->rig->gate);
	return team;
}

static void wait_times_out_and_can_be_repeated(struct kunit *test)
{
	struct team *team = team_busy(test);
	int error = 1;

	team->members[0].result = -EIO;
	KUNIT_EXPECT_EQ(test, ants_group_wait_timeout(&team->group, 0, &error),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_group_wait_timeout(&team->group, 2, &error),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, error, 1);
	KUNIT_EXPECT_FALSE(test, has_waiter(team));
	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	KUNIT_EXPECT_FALSE(test, has_waiter(team));
	KUNIT_EXPECT_EQ(test, submit(team, 1), -ESHUTDOWN);
	gate_open(&team->rig->gate);
	expect_wait(team, -EIO);
	expect_wait(team, -EIO);
}

/* The last end wakes the waiter, and the others do not. */
static void last_end_wakes_the_waiter(struct kunit *test)
{
	struct team *team = team_busy(test);
	struct async_call *call;

	submit_range(team, 1, 4);
	team->members[2].result = -EIO;
	team->members[3].gate = &team->rig->late;
	call = start_group(team, do_group_wait, FOREVER);
	gate_open(&team->rig->gate);
	EXPECT_SOON(test, atomic_read(&team->rig->late.entered) == 1);
	expect_blocked(test, call);
	gate_open(&team->rig->late);
	expect_waited(test, call, -EIO);
}

static void each_end_wakes_next(struct kunit *test)
{
	struct team *team = team_busy(test);
	struct async_call *call = start_group(team, do_group_next, FOREVER);

	gate_open(&team->rig->gate);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), 0);
	KUNIT_EXPECT_PTR_EQ(test, call->data, (void *)work_at(team, 0));
	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	expect_wait(team, 0);
	expect_none(team, 1, NULL);
}

/* The call returns NULL: no member is left that might end. */
static void expect_next_told(struct kunit *test, struct async_call *call)
{
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), 0);
	KUNIT_EXPECT_PTR_EQ(test, call->data, NULL);
}

static void seal_wakes_next(struct kunit *test)
{
	struct team *team = team_busy(test);
	struct async_call *call;

	gate_open(&team->rig->gate);
	expect_next(team, 0);
	call = start_group(team, do_group_next, FOREVER);
	ants_group_seal(&team->group);
	expect_next_told(test, call);
}

/* A wait seals the group, too, and here has nothing to wait for. */
static void wait_wakes_next(struct kunit *test)
{
	struct team *team = team_busy(test);
	struct async_call *call;

	gate_open(&team->rig->gate);
	expect_next(team, 0);
	call = start_group(team, do_group_next, FOREVER);
	expect_wait(team, 0);
	KUNIT_EXPECT_FALSE(test, has_waiter(team));
	expect_next_told(test, call);
}

/*
 * The last member that might have ended is refused while its submitter waits.
 */
static void refused_submitter_wakes_next(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 1, attrs, 0);
	struct async_call *submitter, *call;

	fill_pool(test, team->rig->pool, &team->rig->gate, 1);
	submitter = start_submit(team, 0);
	ants_group_seal(&team->group);
	call = start_group(team, do_group_next, FOREVER);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_at(team, 0)));
	KUNIT_EXPECT_EQ(test, async_result(submitter), -ECANCELED);
	expect_next_told(test, call);
}

static int do_wait_killable(struct async_call *call)
{
	return ants_group_wait(call->data, NULL);
}

static void killed_waiter_gives_up(struct kunit *test)
{
	struct team *team = team_busy(test);
	struct async_call *call = start_group(team, do_wait_killable, FOREVER);

	send_sig(SIGUSR1, call->task, 1);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_at(team, 0), 2, NULL),
			-ETIMEDOUT);
	expect_blocked(test, call);
	send_sig(SIGKILL, call->task, 1);
	KUNIT_EXPECT_EQ(test, async_result(call), -EINTR);
	KUNIT_EXPECT_FALSE(test, has_waiter(team));
	call = start_group(team, do_group_next, FOREVER);
	send_sig(SIGKILL, call->task, 1);
	KUNIT_EXPECT_EQ(test, async_result(call), -EINTR);
	call = start_group(team, do_group_wait, FOREVER);
	KUNIT_EXPECT_EQ(test, async_stop(call), -EINTR);
	gate_open(&team->rig->gate);
	expect_wait(team, 0);
	expect_next(team, 0);
}

static void second_waiter_is_refused(struct kunit *test)
{
	int (*const fns[])(struct async_call *call) = {
		do_group_next, do_group_wait,
	};
	struct team *team = team_busy(test);
	struct async_call *call;
	int i;

	for (i = 0; i < ARRAY_SIZE(fns); i++) {
		call = start_group(team, fns[i], FOREVER);
		KUNIT_EXPECT_EQ(test, ants_group_wait(&team->group, NULL),
				-EBUSY);
		expect_none(team, FOREVER, ERR_PTR(-EBUSY));
		KUNIT_EXPECT_TRUE(test, has_waiter(team));
		KUNIT_EXPECT_EQ(test, async_stop(call), -EINTR);
	}
	gate_open(&team->rig->gate);
	expect_wait(team, 0);
}

/* A member that waits for its own group. */
static int waiting_fn(struct ants_work *work)
{
	struct member *m = member_of(work);
	struct ants_work *next;

	next = ants_group_next(m->group, FOREVER);
	if (next != ERR_PTR(-EDEADLK))
		return 1;
	atomic_inc(&m->ran);
	return ants_group_wait(m->group, NULL);
}

static void wait_inside_a_task_is_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct team *team = team_make(test, 1, attrs, 0);

	INIT_ANTS_WORK(work_at(team, 0), waiting_fn);
	submit_range(team, 0, 1);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(team->rig->pool,
						 TEST_DEADLINE), 0);
	expect_wait(team, -EDEADLK);
	expect_member(team, 0, 1, -EDEADLK);
}

/* A wait that is refused at once must not have sealed the group. */
static int waiting_and_open_fn(struct ants_work *work)
{
	struct member *m = member_of(work);

	m->result = ants_group_wait(m->group, NULL);
	return 0;
}

static void refused_wait_leaves_the_group_open(struct kunit *test)
{
	struct team *team = team_busy(test);
	struct async_call *call = start_group(team, do_group_next, FOREVER);

	KUNIT_EXPECT_EQ(test, ants_group_wait(&team->group, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ants_group_wait_timeout(&team->group, 0, NULL),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, submit(team, 1), 0);
	KUNIT_EXPECT_EQ(test, async_stop(call), -EINTR);
	INIT_ANTS_WORK(work_at(team, 2), waiting_and_open_fn);
	submit_range(team, 2, 3);
	gate_open(&team->rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(team->rig->pool,
						 TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, team->members[2].result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, submit(team, 3), 0);
	expect_wait(team, 0);
}

/*
 * Calls that do not wait may be made by tasks of this pool and of another one.
 */
static void task_may_look(void *data)
{
	struct team *team = data;

	if (ants_group_next(&team->group, 0) == work_at(team, 0) &&
	    !ants_group_wait(&team->group, NULL) &&
	    !ants_group_next(&team->group, 0))
		atomic_inc(&team->rig->count);
}

static void task_may_ask_what_has_ended(struct kunit *test)
{
	struct team *team = team_busy(test);

	gate_open(&team->rig->gate);
	ASSERT_SOON(test, READ_ONCE(work_at(team, 0)->state) == ANTS_WORK_IDLE);
	KUNIT_EXPECT_EQ(test, ants_submit(team->rig->pool, task_may_look, team),
			0);
	EXPECT_SOON(test, atomic_read(&team->rig->count) == 1);
}

/* Another pool, for the team's group. */
static struct ants_pool *other_pool(struct team *team)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = ants_pool_create(&attrs, "other");

	KUNIT_ASSERT_FALSE(team->test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(team->test, ants_group_init(&team->group, pool, 0), 0);
	return pool;
}

/* The group has no member in the pool, but its waiter is inside the pool. */
static void destroy_waits_for_a_waiter_inside(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 1, attrs, 0);
	struct ants_pool *pool = other_pool(team);
	struct async_call *next, *destroyer;
	int i;

	next = start_group(team, do_group_next, FOREVER);
	destroyer = async_start_on(test, do_destroy, pool, 0);
	EXPECT_SOON(test, async_returned(destroyer) || ants_is_released(pool));
	/* Other pools come and go meanwhile. */
	for (i = 0; i < 3; i++)
		ants_pool_destroy(ants_pool_create(&attrs, "meanwhile"));
	expect_blocked(test, destroyer);
	ants_group_seal(&team->group);
	expect_next_told(test, next);
	KUNIT_EXPECT_EQ(test, async_result(destroyer), 0);
}

/* The pool ends with the group; the waiter needs neither to return. */
static void waiter_outlives_the_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 8, attrs, 0);
	struct async_call *waiter, *destroyer;
	struct ants_pool *pool;
	int i;

	for (i = 0; i < 8; i++) {
		gate_init(&team->rig->gate);
		pool = other_pool(team);
		start_at(team, i, &team->rig->gate);
		waiter = start_group(team, do_group_wait, FOREVER);
		destroyer = async_start_on(test, do_destroy, pool, 0);
		EXPECT_SOON(test, ants_is_released(pool));
		gate_open(&team->rig->gate);
		expect_waited(test, waiter, 0);
		KUNIT_EXPECT_EQ(test, async_result(destroyer), 0);
	}
}

/* A group and its members in one allocation. */
struct crew {
	struct ants_group group;
	struct member members[4];
};

#define CREW_ROUNDS	((int)(150 * repeats))

static struct crew *crew_start(struct rig *rig, bool fail)
{
	struct crew *crew = kzalloc(sizeof(*crew), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(rig->test, crew);
	KUNIT_EXPECT_EQ(rig->test, ants_group_init(&crew->group, rig->pool,
						   ANTS_GROUP_CANCEL_ON_ERROR),
			0);
	for (i = 0; i < 4; i++) {
		INIT_ANTS_WORK(&crew->members[i].work, member_fn);
		crew->members[i].result = i == 2 && fail;
		ants_group_submit(&crew->group, &crew->members[i].work);
	}
	return crew;
}

/* Freed as soon as it was waited for, in each way. */
static void waited_for_may_be_freed(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 2 };
	struct rig *rig = rig_make(test, "crew", attrs);
	struct crew *crew;
	int i, error;

	for (i = 0; i < CREW_ROUNDS; i++) {
		crew = crew_start(rig, i % 3 == 0);
		if (i % 5 == 0)
			ants_group_cancel(&crew->group);
		if (i % 2)
			while (!IS_ERR_OR_NULL(ants_group_next(&crew->group, 1)))
				;
		KUNIT_EXPECT_EQ(test, ants_group_wait(&crew->group, &error), 0);
		if (i % 5)
			KUNIT_EXPECT_EQ(test, error, i % 3 == 0);
		kfree(crew);
	}
}

/* Taken one by one, by a caller that seals the group before or meanwhile. */
static void drained_may_be_freed(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 2 };
	struct rig *rig = rig_make(test, "crew", attrs);
	struct crew *crew;
	int i, nr;

	for (i = 0; i < CREW_ROUNDS; i++) {
		crew = crew_start(rig, false);
		nr = i % 2 && ants_group_next(&crew->group, FOREVER);
		ants_group_seal(&crew->group);
		while (ants_group_next(&crew->group, FOREVER))
			nr++;
		KUNIT_EXPECT_EQ(test, nr, 4);
		KUNIT_EXPECT_EQ(test, ants_group_wait(&crew->group, NULL), 0);
		kfree(crew);
	}
	expect_counted(test, rig->pool, 4 * CREW_ROUNDS, 0);
}

static struct kunit_case group_wait_cases[] = {
	KUNIT_CASE(wait_times_out_and_can_be_repeated),
	KUNIT_CASE(last_end_wakes_the_waiter),
	KUNIT_CASE(each_end_wakes_next),
	KUNIT_CASE(seal_wakes_next),
	KUNIT_CASE(wait_wakes_next),
	KUNIT_CASE(refused_submitter_wakes_next),
	KUNIT_CASE(killed_waiter_gives_up),
	KUNIT_CASE(second_waiter_is_refused),
	KUNIT_CASE(wait_inside_a_task_is_refused),
	KUNIT_CASE(refused_wait_leaves_the_group_open),
	KUNIT_CASE(task_may_ask_what_has_ended),
	KUNIT_CASE(destroy_waits_for_a_waiter_inside),
	KUNIT_CASE(waiter_outlives_the_pool),
	KUNIT_CASE(waited_for_may_be_freed),
	KUNIT_CASE(drained_may_be_freed),
	{}
};

static struct kunit_suite group_wait_suite = {
	.name = "ants_group_wait",
	.test_cases = group_wait_cases,
};

kunit_test_suite(group_wait_suite);

MODULE_DESCRIPTION("ants: KUnit tests of callers that wait for groups");
MODULE_LICENSE("GPL");
