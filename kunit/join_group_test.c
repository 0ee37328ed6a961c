// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that wait for a group of their own pool and run members that have not
 * started.
 */
#include <linux/module.h>

#include "work.h"

static struct rig *join_rig(struct kunit *test, unsigned int capacity,
			    unsigned int queue_depth)
{
	struct ants_attrs attrs = {
		.capacity = capacity, .queue_depth = queue_depth,
	};

	return rig_make(test, "join", attrs);
}

/* A task that waits for its group, or takes its members one by one. */
struct leader {
	struct ants_work work;
	struct ants_group group;
	struct item *items;
	int nr;
	bool by_one;
	int taken;
	int error;
};

static int take_each(struct leader *l)
{
	struct ants_work *work;

	ants_group_seal(&l->group);
	for (;;) {
		work = ants_group_next(&l->group, FOREVER);
		if (IS_ERR_OR_NULL(work))
			return PTR_ERR_OR_ZERO(work);
		l->taken++;
	}
}

static int leader_fn(struct ants_work *work)
{
	struct leader *l = container_of(work, struct leader, work);
	int i, err = 0;

	for (i = 0; i < l->nr && !err; i++)
		err = ants_group_submit(&l->group, work_of(&l->items[i]));
	if (err)
		return err;
	return l->by_one ? take_each(l) : ants_group_wait(&l->group, &l->error);
}

static void lead(struct kunit *test, int nr, bool by_one, int more)
{
	struct leader *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	struct item *items = items_alloc(test, nr);
	struct rig *rig = join_rig(test, 1, nr);
	int i, result = 1;

	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_ASSERT_EQ(test, ants_group_init(&l->group, rig->pool, 0), 0);
	for (i = 0; i < nr; i++) {
		items[i].pool = rig->pool;
		items[i].more = more;
	}
	INIT_ANTS_WORK(&l->work, leader_fn);
	l->items = items;
	l->nr = nr;
	l->by_one = by_one;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &l->work), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&l->work, PROMPT,
						     &result), 0);
	KUNIT_EXPECT_EQ(test, result, 0);
	KUNIT_EXPECT_EQ(test, by_one ? l->taken : nr, nr);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&items[i].ran), 1 + more);
	expect_counted(test, rig->pool, 1 + nr * (1 + more), 0);
}

static void members_are_run_by_the_waiter(struct kunit *test)
{
	lead(test, 3, false, 0);
}

/* More members than the waiter examines in one lock hold. */
static void many_members_are_run_by_the_waiter(struct kunit *test)
{
	lead(test, 3 * ANTS_HOLD_MAX, false, 0);
}

static void members_that_run_again(struct kunit *test)
{
	lead(test, 3, false, 2);
}

static void members_are_taken_one_by_one(struct kunit *test)
{
	lead(test, 20, true, 1);
}

/* There is one thread; another thread is about to submit a member. */
static int late_leader_fn(struct ants_work *work)
{
	struct leader *l = container_of(work, struct leader, work);

	l->error = ants_group_wait(&l->group, NULL);
	return l->error;
}

static int do_submit_member(struct async_call *call)
{
	struct leader *l = call->data;

	return ants_group_submit(&l->group, work_of(&l->items[1]));
}

static void member_that_waits_for_room(struct kunit *test)
{
	struct leader *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	struct item *items = items_alloc(test, 2);
	struct rig *rig = join_rig(test, 1, 1);
	struct async_call *submitter;

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->items = items;
	KUNIT_ASSERT_EQ(test, ants_group_init(&l->group, rig->pool, 0), 0);
	fill_pool(test, rig->pool, &rig->gate, 1);
	INIT_ANTS_WORK(&l->work, late_leader_fn);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &l->work), 0);
	submitter = rig_async(rig, do_submit_member, FOREVER, l);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&l->work, PROMPT,
						     NULL), 0);
	KUNIT_EXPECT_EQ(test, l->error, 0);
	KUNIT_EXPECT_EQ(test, async_result(submitter), 0);
	expect_ended(test, &items[1], 1, RESULT(1));
}

/* Takes all members that come. */
static int open_stream_fn(struct ants_work *work)
{
	struct leader *l = container_of(work, struct leader, work);
	struct ants_work *next;

	while (l->taken < l->nr) {
		next = ants_group_next(&l->group, FOREVER);
		if (IS_ERR_OR_NULL(next))
			return -EINVAL;
		l->taken++;
	}
	return take_each(l);
}

/* Two threads are idle: a submit wakes one of them, and the task that waits. */
static void members_come_from_outside(struct kunit *test)
{
	struct leader *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	struct item *items = items_alloc(test, 100);
	struct rig *rig = join_rig(test, 3, 0);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->nr = 100;
	KUNIT_ASSERT_EQ(test, ants_group_init(&l->group, rig->pool, 0), 0);
	INIT_ANTS_WORK(&l->work, open_stream_fn);
	park(rig, 0, 3);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &l->work), 0);
	for (i = 0; i < 100; i++) {
		EXPECT_SOON(test, ants_peek(rig->pool->nr_joining) == 1 &&
			    ants_nr_idle(rig->pool) == 2);
		KUNIT_EXPECT_EQ(test, ants_group_submit(&l->group,
							work_of(&items[i])), 0);
		EXPECT_SOON(test, atomic_read(&items[i].ran) == 1);
	}
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&l->work, PROMPT,
						     NULL), 0);
	KUNIT_EXPECT_EQ(test, l->taken, 100);
}

/* Stops at its gate, then waits for a group that has no member yet. */
static int gated_stream_fn(struct ants_work *work)
{
	struct leader *l = container_of(work, struct leader, work);

	gate_task(l->items[0].gate);
	return PTR_ERR_OR_ZERO(ants_group_next(&l->group, FOREVER));
}

/* A leader that is so deep that it waits for room with its member. */
struct deep {
	struct leader *leader;
	int depth;
};

static int submit_deep(void *data)
{
	struct deep *deep = data;
	struct leader *l = deep->leader;

	if (deep->depth-- > 0)
		return ants_call(l->group.pool, submit_deep, deep, FOREVER);
	return ants_group_submit(&l->group, work_of(&l->items[1]));
}

static int submitting_fn(struct ants_work *work)
{
	struct deep deep = {
		.leader = container_of(work, struct leader, work),
		.depth = ANTS_JOIN_DEPTH,
	};

	deep.leader->error = submit_deep(&deep);
	return 0;
}

static int do_wait_item(struct async_call *call)
{
	int result, err = ants_work_wait(call->data, &result);

	return err ?: result;
}

static struct leader *leader_make(struct rig *rig, struct item *items,
				  ants_work_fn_t fn)
{
	struct leader *l = kunit_kzalloc(rig->test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(rig->test, l);
	KUNIT_ASSERT_EQ(rig->test,
			ants_group_init(&l->group, rig->pool, 0), 0);
	INIT_ANTS_WORK(&l->work, fn);
	l->items = items;
	KUNIT_ASSERT_EQ(rig->test, ants_queue_work(rig->pool, &l->work), 0);
	return l;
}

/*
 * The last worker that does not wait goes to sleep: the task that waits for
 * room gives up, and so do callers that wait for the work item it would have
 * submitted.
 */
static void many_hear_that_a_submitter_gave_up(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = join_rig(test, 2, 0);
	struct leader *sleeper, *submitter;
	struct async_call *calls[4];
	int i;

	items[0].gate = &rig->gate;
	sleeper = leader_make(rig, items, gated_stream_fn);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	submitter = leader_make(rig, items, submitting_fn);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	for (i = 0; i < 4; i++) {
		calls[i] = rig_async(rig, do_wait_item, FOREVER,
				     work_of(&items[1]));
		expect_blocked(test, calls[i]);
	}
	gate_open(&rig->gate);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, async_result(calls[i]), -EDEADLK);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&submitter->work, NULL), 0);
	KUNIT_EXPECT_EQ(test, submitter->error, -EDEADLK);
	ants_group_seal(&sleeper->group);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&sleeper->work, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[1].ran), 0);
}

/*
 * More members that run elsewhere come first than the waiter examines at once.
 */
static void member_behind_many_that_run(struct kunit *test)
{
	const int nr = ANTS_HOLD_MAX + 2;
	struct item *items = items_alloc(test, nr + 1);
	struct rig *rig = join_rig(test, nr, 1);
	struct leader *l;
	int i;

	/* The gate of the leader, not of a member. */
	items[0].gate = &rig->late;
	l = leader_make(rig, items, gated_stream_fn);
	for (i = 1; i < nr; i++) {
		items[i].gate = &rig->gate;
		KUNIT_ASSERT_EQ(test, ants_group_submit(&l->group,
							work_of(&items[i])), 0);
	}
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == nr - 1);
	KUNIT_ASSERT_EQ(test, ants_group_submit(&l->group,
						work_of(&items[nr])), 0);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&l->work, PROMPT,
						     NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[nr].ran), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 0);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_group_wait(&l->group, NULL), 0);
}

/* A member of the group that it leads, and whose members it waits for. */
static int selfish_fn(struct ants_work *work)
{
	struct leader *l = container_of(work, struct leader, work);

	l->error = ants_group_wait(&l->group, NULL);
	return 0;
}

static int wait_for_member_fn(struct ants_work *work)
{
	struct leader *l = container_of(work, struct leader, work);

	return ants_work_wait(&l[1].work, NULL);
}

/*
 * The member runs inside a task that is not a member, and would wait for its
 * own end.
 */
static void inner_member_waits_for_its_group(struct kunit *test)
{
	struct leader *l = kunit_kcalloc(test, 2, sizeof(*l), GFP_KERNEL);
	struct rig *rig = join_rig(test, 1, 2);
	int result = 1;

	KUNIT_ASSERT_NOT_NULL(test, l);
	INIT_ANTS_WORK(&l[0].work, wait_for_member_fn);
	INIT_ANTS_WORK(&l[1].work, selfish_fn);
	KUNIT_ASSERT_EQ(test, ants_group_init(&l[1].group, rig->pool, 0), 0);
	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &l[0].work), 0);
	KUNIT_ASSERT_EQ(test, ants_group_submit(&l[1].group, &l[1].work), 0);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&l[0].work, PROMPT,
						     &result), 0);
	KUNIT_EXPECT_EQ(test, result, 0);
	KUNIT_EXPECT_EQ(test, l[1].error, -EDEADLK);
	KUNIT_EXPECT_EQ(test, ants_group_wait(&l[1].group, NULL), 0);
}

/* One member makes room while the other one waits for room. */
struct room {
	struct ants_work lead;
	struct ants_work submits;
	struct ants_work makes_room;
	struct ants_group group;
	struct rig *rig;
	int error;
};

static int submits_fn(struct ants_work *work)
{
	struct room *r = container_of(work, struct room, submits);

	gate_task(&r->rig->gate);
	r->error = ants_submit(r->rig->pool, count_task, &r->rig->count);
	return 0;
}

static int makes_room_fn(struct ants_work *work)
{
	struct room *r = container_of(work, struct room, makes_room);
	unsigned long end = jiffies + TEST_DEADLINE;

	gate_open(&r->rig->gate);
	while (ants_nr_waiting(r->rig->pool) != 1 && time_before(jiffies, end))
		schedule_timeout_idle(1);
	return 0;
}

static int room_lead_fn(struct ants_work *work)
{
	struct room *r = container_of(work, struct room, lead);
	unsigned long end = jiffies + TEST_DEADLINE;
	int err = ants_group_submit(&r->group, &r->submits);

	while (!err && atomic_read(&r->rig->gate.entered) != 1 && time_before(jiffies, end))
		schedule_timeout_idle(1);
	return err ?: ants_group_submit(&r->group, &r->makes_room) ?:
	       ants_group_wait(&r->group, NULL);
}

/* The waiter is the last worker that does not wait, and has just run a member. */
static void nobody_gives_up_while_there_is_room(struct kunit *test)
{
	struct room *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct rig *rig = join_rig(test, 2, 1);
	int result = 1;

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->rig = rig;
	r->error = 1;
	INIT_ANTS_WORK(&r->lead, room_lead_fn);
	INIT_ANTS_WORK(&r->submits, submits_fn);
	INIT_ANTS_WORK(&r->makes_room, makes_room_fn);
	KUNIT_ASSERT_EQ(test, ants_group_init(&r->group, rig->pool, 0), 0);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &r->lead), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&r->lead, TEST_DEADLINE, &result), 0);
	KUNIT_EXPECT_EQ(test, result, 0);
	KUNIT_EXPECT_EQ(test, r->error, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

static struct kunit_case join_group_cases[] = {
	KUNIT_CASE(members_are_run_by_the_waiter),
	KUNIT_CASE(many_members_are_run_by_the_waiter),
	KUNIT_CASE(members_that_run_again),
	KUNIT_CASE(members_are_taken_one_by_one),
	KUNIT_CASE(member_that_waits_for_room),
	KUNIT_CASE(members_come_from_outside),
	KUNIT_CASE(member_behind_many_that_run),
	KUNIT_CASE(inner_member_waits_for_its_group),
	KUNIT_CASE(many_hear_that_a_submitter_gave_up),
	KUNIT_CASE(nobody_gives_up_while_there_is_room),
	{}
};

static struct kunit_suite join_group_suite = {
	.name = "ants_join_group",
	.test_cases = join_group_cases,
};

kunit_test_suite(join_group_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that wait for a group of their pool");
MODULE_LICENSE("GPL");
