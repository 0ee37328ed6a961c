/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups for the suites about them. A team is a group and its members, which
 * count their runs. It is allocated before the test's rig is made, so that it
 * outlives the pool.
 */
#ifndef _ANTS_KUNIT_GROUP_H
#define _ANTS_KUNIT_GROUP_H

#include "work.h"

struct member {
	struct ants_work work;
	struct ants_group *group;
	struct gate *gate;
	int result;
	atomic_t ran;
};

struct team {
	struct ants_group group;
	struct rig *rig;
	struct kunit *test;
	struct member *members;
	int nr;
};

static inline struct member *member_of(struct ants_work *work)
{
	return container_of(work, struct member, work);
}

static inline int member_fn(struct ants_work *work)
{
	struct member *m = member_of(work);

	if (m->gate)
		gate_task(m->gate);
	atomic_inc(&m->ran);
	return m->result;
}

/* A team of @nr members that run to their end and return 0. */
static inline struct team *team_make(struct kunit *test, int nr,
				     struct ants_attrs attrs,
				     unsigned int flags)
{
	struct team *team = kunit_kzalloc(test, sizeof(*team), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, team);
	team->members = kunit_kcalloc(test, nr + 1, sizeof(*team->members),
				      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, team->members);
	team->nr = nr;
	team->test = test;
	while (nr--) {
		INIT_ANTS_WORK(&team->members[nr].work, member_fn);
		team->members[nr].group = &team->group;
	}
	team->rig = rig_make(test, "group", attrs);
	KUNIT_ASSERT_EQ(test, ants_group_init(&team->group, team->rig->pool,
					      flags), 0);
	return team;
}

static inline struct ants_work *work_at(struct team *team, int nr)
{
	return &team->members[nr].work;
}

static inline int submit(struct team *team, int nr)
{
	return ants_group_submit(&team->group, work_at(team, nr));
}

/*
 * Submit the members from @first up to, but not including, @end; the pool has
 * room.
 */
static inline void submit_range(struct team *team, int first, int end)
{
	for (; first < end; first++)
		KUNIT_ASSERT_EQ(team->test, submit(team, first), 0);
}

/* Member @nr runs, and stops at @gate. */
static inline void start_at(struct team *team, int nr, struct gate *gate)
{
	int goal = atomic_read(&gate->entered) + 1;

	team->members[nr].gate = gate;
	KUNIT_ASSERT_EQ(team->test, submit(team, nr), 0);
	ASSERT_SOON(team->test, atomic_read(&gate->entered) == goal);
}

/* Member @nr has ended, after @runs runs, with @result. */
static inline void expect_member(struct team *team, int nr, int runs,
				 int result)
{
	struct member *m = &team->members[nr];

	KUNIT_EXPECT_EQ_MSG(team->test, READ_ONCE(m->work.state),
			    ANTS_WORK_IDLE, "member %d", nr);
	KUNIT_EXPECT_EQ_MSG(team->test, atomic_read(&m->ran), runs,
			    "member %d", nr);
	KUNIT_EXPECT_EQ_MSG(team->test, ants_work_result(&m->work), result,
			    "member %d", nr);
}

static inline void expect_members(struct team *team, int first, int end,
				  int runs, int result)
{
	for (; first < end; first++)
		expect_member(team, first, runs, result);
}

/* All members have ended, or soon do, and the first error was @error. */
static inline void expect_wait(struct team *team, int error)
{
	int got = 1;

	KUNIT_EXPECT_EQ(team->test, ants_group_wait_timeout(&team->group,
							    TEST_DEADLINE,
							    &got), 0);
	KUNIT_EXPECT_EQ(team->test, got, error);
}

/* The next member to end is, or was, member @nr. */
static inline void expect_next(struct team *team, int nr)
{
	KUNIT_EXPECT_PTR_EQ(team->test, ants_group_next(&team->group, PROMPT),
			    work_at(team, nr));
}

/* ants_group_next() returns @none: NULL, or an ERR_PTR. */
static inline void expect_none(struct team *team, unsigned long timeout,
			       struct ants_work *none)
{
	KUNIT_EXPECT_PTR_EQ(team->test, ants_group_next(&team->group, timeout),
			    none);
}

/* Calls for rig_async(); @data is the group, and afterwards its next member. */

static inline int do_group_wait(struct async_call *call)
{
	return ants_group_wait_timeout(call->data, call->arg, &call->value);
}

static inline int do_group_next(struct async_call *call)
{
	call->data = ants_group_next(call->data, call->arg);
	return PTR_ERR_OR_ZERO(call->data);
}

/* @data is the member. */
static inline int do_group_submit(struct async_call *call)
{
	struct member *m = call->data;

	return ants_group_submit(m->group, &m->work);
}

static inline bool has_waiter(struct team *team)
{
	return !hlist_empty(&team->group.waiters);
}

/* Start a caller that waits for the group in @fn. */
static inline struct async_call *start_group(struct team *team,
					     int (*fn)(struct async_call *call),
					     unsigned long timeout)
{
	struct async_call *call;

	call = rig_async(team->rig, fn, timeout, &team->group);
	EXPECT_SOON(team->test, has_waiter(team));
	return call;
}

/* Start a submit of member @nr, which has to wait for room. */
static inline struct async_call *start_submit(struct team *team, int nr)
{
	unsigned int waiting = ants_nr_waiting(team->rig->pool);
	struct async_call *call = rig_async(team->rig, do_group_submit, FOREVER,
					    &team->members[nr]);

	EXPECT_SOON(team->test, ants_nr_waiting(team->rig->pool) == waiting + 1);
	return call;
}

#endif /* _ANTS_KUNIT_GROUP_H */
