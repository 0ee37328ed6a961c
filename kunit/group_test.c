// SPDX-License-Identifier: GPL-2.0-only
/* Groups: what they accept and refuse, their results, and using one again. */
#include <linux/module.h>

#include "group.h"
#include "repeats.h"

static void run_thousand(struct kunit *test, unsigned int depth)
{
	struct ants_attrs attrs = { .capacity = 16, .queue_depth = depth };
	struct team *team = team_make(test, 1000, attrs, 0);

	submit_range(team, 0, 1000);
	expect_wait(team, 0);
	expect_members(team, 0, 1000, 1, 0);
	expect_counted(test, team->rig->pool, 1000, 0);
	KUNIT_EXPECT_LE(test, stats_of(team->rig->pool).peak_busy, 16U);
}

static void thousand_without_a_queue(struct kunit *test)
{
	run_thousand(test, 0);
}

static void thousand_with_a_queue(struct kunit *test)
{
	run_thousand(test, 64);
}

static void empty_group_has_ended(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 1, attrs, 0);

	expect_none(team, 0, ERR_PTR(-ETIMEDOUT));
	expect_none(team, 2, ERR_PTR(-ETIMEDOUT));
	expect_wait(team, 0);
	expect_none(team, 0, NULL);
	expect_wait(team, 0);
	KUNIT_EXPECT_EQ(test, ants_group_wait(&team->group, NULL), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&team->group.works));
}

/* Let member @nr end; each member is at the gate of its post. */
static void end_one(struct team *team, int nr)
{
	gate_open(&team->rig->posts[nr].gate);
	ASSERT_SOON(team->test, READ_ONCE(work_at(team, nr)->state) ==
		    ANTS_WORK_IDLE);
}

/* A team of four members, each at a gate of its own. */
static struct team *team_of_four(struct kunit *test, unsigned int flags)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct team *team = team_make(test, 6, attrs, flags);
	int i;

	for (i = 0; i < 4; i++)
		start_at(team, i, &team->rig->posts[i].gate);
	return team;
}

/* Each member is returned once; NULL means that the group is sealed. */
static void next_is_in_the_order_of_ends(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);

	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	end_one(team, 2);
	end_one(team, 0);
	expect_next(team, 2);
	expect_next(team, 0);
	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	end_one(team, 3);
	end_one(team, 1);
	expect_next(team, 3);
	expect_next(team, 1);
	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	ants_group_seal(&team->group);
	expect_none(team, 1, NULL);
	expect_none(team, 1, NULL);
	expect_wait(team, 0);
}

/* Members that were waited for can still be taken one by one. */
static void next_works_after_the_wait(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);

	end_one(team, 1);
	end_one(team, 0);
	end_one(team, 3);
	end_one(team, 2);
	expect_next(team, 1);
	expect_wait(team, 0);
	expect_next(team, 0);
	expect_next(team, 3);
	expect_next(team, 2);
	expect_none(team, 0, NULL);
}

/* A sealed group returns NULL only after its last member. */
static void next_drains_a_sealed_group(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);
	int i;

	ants_group_seal(&team->group);
	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	for (i = 3; i >= 0; i--) {
		end_one(team, i);
		expect_next(team, i);
	}
	expect_none(team, FOREVER, NULL);
}

static void list_is_in_the_order_of_submits(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);
	struct ants_work *work;
	int i = 0;

	team->members[1].result = 7;
	end_one(team, 3);
	end_one(team, 1);
	end_one(team, 0);
	end_one(team, 2);
	expect_wait(team, 7);
	ants_group_for_each(work, &team->group) {
		KUNIT_EXPECT_PTR_EQ(test, work, work_at(team, i));
		KUNIT_EXPECT_EQ(test, ants_work_result(work), i == 1 ? 7 : 0);
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, 4);
}

/* The list omits members that were taken; the others keep their order. */
static void list_is_without_what_was_taken(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);
	struct ants_work *work;
	int i = 0;

	end_one(team, 2);
	end_one(team, 0);
	expect_next(team, 2);
	rig_open_gates(team->rig);
	expect_wait(team, 0);
	expect_next(team, 0);
	ants_group_for_each(work, &team->group) {
		KUNIT_EXPECT_PTR_EQ(test, work, work_at(team, i ? 3 : 1));
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, 2);
}

/* The first error in the order of ends is reported. */
static void first_error_is_told(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);

	team->members[0].result = -EIO;
	team->members[2].result = -ENOSPC;
	end_one(team, 3);
	end_one(team, 2);
	end_one(team, 0);
	submit_range(team, 4, 6);
	end_one(team, 1);
	expect_wait(team, -ENOSPC);
	expect_wait(team, -ENOSPC);
	expect_member(team, 0, 1, -EIO);
	expect_member(team, 2, 1, -ENOSPC);
	expect_members(team, 3, 6, 1, 0);
}

static void sealed_group_refuses(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);

	ants_group_seal(&team->group);
	ants_group_seal(&team->group);
	KUNIT_EXPECT_EQ(test, submit(team, 4), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, stats_of(team->rig->pool).rejected, 1);
	rig_open_gates(team->rig);
	expect_wait(team, 0);
	KUNIT_EXPECT_EQ(test, submit(team, 4), -ESHUTDOWN);
	expect_member(team, 4, 0, -EINVAL);
	expect_counted(test, team->rig->pool, 4, 0);
}

static void cancelled_group_refuses(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);

	ants_group_cancel(&team->group);
	KUNIT_EXPECT_EQ(test, submit(team, 4), -ECANCELED);
	rig_open_gates(team->rig);
	expect_wait(team, 0);
	expect_members(team, 0, 4, 1, 0);
	expect_member(team, 4, 0, -EINVAL);
}

/* Accepted members go on; one whose submitter waited is no member. */
static void released_pool_refuses(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);
	struct async_call *submitter, *waiter;

	submitter = start_submit(team, 4);
	waiter = start_group(team, do_group_wait, FOREVER);
	KUNIT_EXPECT_EQ(test, ants_release(team->rig->pool), 0);
	KUNIT_EXPECT_EQ(test, async_result(submitter), -ESHUTDOWN);
	expect_blocked(test, waiter);
	rig_open_gates(team->rig);
	expect_waited(test, waiter, 0);
	expect_members(team, 0, 4, 1, 0);
	expect_member(team, 4, 0, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), 0);
	KUNIT_EXPECT_EQ(test, submit(team, 5), -ESHUTDOWN);
	expect_wait(team, 0);
}

static void nonblocking_pool_refuses(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_NONBLOCKING };
	struct team *team = team_make(test, 2, attrs, 0);

	start_at(team, 0, &team->rig->gate);
	KUNIT_EXPECT_EQ(test, submit(team, 1), -EAGAIN);
	gate_open(&team->rig->gate);
	expect_wait(team, 0);
	expect_member(team, 0, 1, 0);
	expect_member(team, 1, 0, -EINVAL);
}

static void queued_work_is_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 2 };
	struct team *team = team_make(test, 2, attrs, 0);

	start_at(team, 0, &team->rig->gate);
	KUNIT_EXPECT_EQ(test, submit(team, 0), -EALREADY);
	KUNIT_EXPECT_EQ(test, ants_queue_work(team->rig->pool,
					      work_at(team, 1)), 0);
	KUNIT_EXPECT_EQ(test, submit(team, 1), -EALREADY);
	gate_open(&team->rig->gate);
	expect_wait(team, 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(work_at(team, 1), NULL), 0);
	expect_members(team, 0, 2, 1, 0);
	expect_next(team, 0);
	expect_none(team, 0, NULL);
}

/*
 * A member that ended and was queued outside the group since is still in the
 * group's list.
 */
static void member_is_refused_until_the_reset(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);

	end_one(team, 0);
	KUNIT_EXPECT_EQ(test, submit(team, 0), -EALREADY);
	KUNIT_EXPECT_EQ(test, ants_queue_work(team->rig->pool,
					      work_at(team, 0)), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(work_at(team, 0), NULL), 0);
	KUNIT_EXPECT_EQ(test, submit(team, 0), -EALREADY);
	rig_open_gates(team->rig);
	expect_wait(team, 0);
	KUNIT_EXPECT_EQ(test, submit(team, 1), -EALREADY);
	expect_members(team, 1, 4, 1, 0);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), 0);
	submit_range(team, 0, 2);
	expect_wait(team, 0);
	expect_member(team, 0, 3, 0);
	expect_member(team, 1, 2, 0);
}

/* Taken by a caller that found it ended, and by one that slept until then. */
static void taken_member_is_accepted_again(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);
	struct async_call *call;

	end_one(team, 0);
	expect_next(team, 0);
	KUNIT_EXPECT_EQ(test, submit(team, 0), 0);
	expect_next(team, 0);
	call = start_group(team, do_group_next, FOREVER);
	end_one(team, 1);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_PTR_EQ(test, call->data, (void *)work_at(team, 1));
	KUNIT_EXPECT_EQ(test, submit(team, 1), 0);
	expect_next(team, 1);
	rig_open_gates(team->rig);
	expect_wait(team, 0);
	expect_members(team, 0, 2, 2, 0);
	expect_members(team, 2, 4, 1, 0);
}

/* A taken member belongs to no group, so another group accepts it. */
static void taken_member_changes_its_group(struct kunit *test)
{
	struct team *team = team_of_four(test, 0);
	struct ants_group other;

	KUNIT_EXPECT_EQ(test, ants_group_init(&other, team->rig->pool, 0), 0);
	end_one(team, 0);
	expect_next(team, 0);
	KUNIT_EXPECT_EQ(test, ants_group_submit(&other, work_at(team, 0)), 0);
	KUNIT_EXPECT_EQ(test, ants_group_wait(&other, NULL), 0);
	rig_open_gates(team->rig);
	expect_wait(team, 0);
	expect_member(team, 0, 2, 0);
	/* The other members ended at the same time, in any order. */
	KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(ants_group_next(&team->group,
								PROMPT)));
}

#define NR_STREAMED	((int)(2500 * repeats))

/* The group is never sealed; eight members are submitted again and again. */
static void thousands_stream_through_eight(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 4 };
	struct team *team = team_make(test, 8, attrs, 0);
	struct ants_work *work;
	int i, ran = 0;

	submit_range(team, 0, 8);
	for (i = 8; i < NR_STREAMED; i++) {
		work = ants_group_next(&team->group, FOREVER);
		KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(work));
		KUNIT_ASSERT_EQ(test, ants_group_submit(&team->group, work), 0);
	}
	expect_wait(team, 0);
	for (i = 0; i < 8; i++) {
		ran += atomic_read(&team->members[i].ran);
		KUNIT_EXPECT_FALSE(test, !ants_group_next(&team->group, 0));
	}
	expect_none(team, 0, NULL);
	KUNIT_EXPECT_TRUE(test, list_empty(&team->group.works));
	KUNIT_EXPECT_EQ(test, ran, NR_STREAMED);
	expect_counted(test, team->rig->pool, NR_STREAMED, 0);
}

static void submit_new(struct team *team)
{
	struct member *m = kzalloc(sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(team->test, m);
	INIT_ANTS_WORK(&m->work, member_fn);
	KUNIT_ASSERT_EQ(team->test, ants_group_submit(&team->group, &m->work),
			0);
}

/* The same with members that are freed as soon as they were taken. */
static void taken_member_may_be_freed(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 4 };
	struct team *team = team_make(test, 1, attrs, 0);
	struct ants_work *work;
	int i;

	for (i = 0; i < 1000; i++) {
		submit_new(team);
		if (i < 8)
			continue;
		work = ants_group_next(&team->group, FOREVER);
		KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(work));
		kfree(member_of(work));
	}
	ants_group_seal(&team->group);
	while ((work = ants_group_next(&team->group, FOREVER)))
		kfree(member_of(work));
	KUNIT_EXPECT_TRUE(test, list_empty(&team->group.works));
	expect_counted(test, team->rig->pool, 1000, 0);
}

static void bad_arguments_are_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 2, attrs, 0);
	struct ants_group group;

	KUNIT_EXPECT_EQ(test, ants_group_init(&group, team->rig->pool, 2),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_group_init(&group, team->rig->pool, ~0U),
			-EINVAL);
	INIT_ANTS_WORK(work_at(team, 0), NULL);
	KUNIT_EXPECT_EQ(test, submit(team, 0), -EINVAL);
	work_at(team, 1)->prio = ANTS_PRIO_HIGH + 1;
	KUNIT_EXPECT_EQ(test, submit(team, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, stats_of(team->rig->pool).rejected, 0);
	expect_wait(team, 0);
}

/* A reset clears the error, the seal and the cancellation. */
static void reset_group_is_as_new(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 4 };
	struct team *team = team_make(test, 3, attrs, 0);

	start_at(team, 0, &team->rig->gate);
	submit_range(team, 1, 3);
	team->members[0].result = -EIO;
	ants_group_cancel(&team->group);
	/* That of the members that have not started is the first error. */
	EXPECT_SOON(test, !ants_peek(team->rig->pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), -EBUSY);
	gate_open(&team->rig->gate);
	expect_wait(team, -ECANCELED);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), 0);
	expect_none(team, 0, ERR_PTR(-ETIMEDOUT));
	team->members[0].result = 0;
	submit_range(team, 0, 3);
	expect_wait(team, 0);
	expect_member(team, 0, 2, 0);
	expect_members(team, 1, 3, 1, 0);
	expect_next(team, 0);
	expect_next(team, 1);
	expect_next(team, 2);
	expect_none(team, 0, NULL);
}

static void reset_is_refused_while_it_is_in_use(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 2, attrs, 0);
	struct async_call *call = start_group(team, do_group_next, FOREVER);

	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), -EBUSY);
	ants_group_seal(&team->group);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), 0);
	fill_up(team->rig);
	call = start_submit(team, 0);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), -EBUSY);
	gate_open(&team->rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	expect_wait(team, 0);
	expect_member(team, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, ants_group_reset(&team->group), 0);
}

/* One group is used a hundred times; its members end in any order. */
static void group_is_used_again_and_again(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 2 };
	struct team *team = team_make(test, 10, attrs, 0);
	int i, nr;

	for (i = 1; i <= 100; i++) {
		submit_range(team, 0, 10);
		ants_group_seal(&team->group);
		for (nr = 0; ants_group_next(&team->group, FOREVER); nr++)
			;
		KUNIT_EXPECT_EQ(test, nr, 10);
		expect_members(team, 0, 10, i, 0);
		KUNIT_ASSERT_EQ(test, ants_group_reset(&team->group), 0);
	}
	expect_counted(test, team->rig->pool, 1000, 0);
}

static struct kunit_case group_cases[] = {
	KUNIT_CASE(thousand_without_a_queue),
	KUNIT_CASE(thousand_with_a_queue),
	KUNIT_CASE(empty_group_has_ended),
	KUNIT_CASE(next_is_in_the_order_of_ends),
	KUNIT_CASE(next_works_after_the_wait),
	KUNIT_CASE(next_drains_a_sealed_group),
	KUNIT_CASE(list_is_in_the_order_of_submits),
	KUNIT_CASE(list_is_without_what_was_taken),
	KUNIT_CASE(first_error_is_told),
	KUNIT_CASE(sealed_group_refuses),
	KUNIT_CASE(cancelled_group_refuses),
	KUNIT_CASE(released_pool_refuses),
	KUNIT_CASE(nonblocking_pool_refuses),
	KUNIT_CASE(queued_work_is_refused),
	KUNIT_CASE(member_is_refused_until_the_reset),
	KUNIT_CASE(taken_member_is_accepted_again),
	KUNIT_CASE(taken_member_changes_its_group),
	KUNIT_CASE(thousands_stream_through_eight),
	KUNIT_CASE(taken_member_may_be_freed),
	KUNIT_CASE(bad_arguments_are_refused),
	KUNIT_CASE(reset_group_is_as_new),
	KUNIT_CASE(reset_is_refused_while_it_is_in_use),
	KUNIT_CASE(group_is_used_again_and_again),
	{}
};

static struct kunit_suite group_suite = {
	.name = "ants_group",
	.test_cases = group_cases,
};

kunit_test_suite(group_suite);

MODULE_DESCRIPTION("ants: KUnit tests of groups and their results");
MODULE_LICENSE("GPL");
