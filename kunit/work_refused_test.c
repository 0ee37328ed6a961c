// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items that are refused where their submitter could have waited, and
 * those that are in another pool. A refused item is unchanged.
 */
#include <linux/module.h>

#include "group.h"

/* Two ways to wait for room, with a member that may be used for either. */
typedef int (*wait_t)(struct member *m, struct ants_pool *pool);

static int queue_wait(struct member *m, struct ants_pool *pool)
{
	return ants_queue_work_timeout(pool, &m->work, FOREVER);
}

static int group_wait(struct member *m, struct ants_pool *pool)
{
	return ants_group_submit(m->group, &m->work);
}

static const struct wait_way {
	const char *name;
	wait_t wait;
} ways[] = {
	{ "ants_queue_work_timeout()", queue_wait },
	{ "ants_group_submit()", group_wait },
};

static void way_desc(const struct wait_way *way, char *desc)
{
	strscpy(desc, way->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(way, ways, way_desc);

static wait_t wait_of(struct kunit *test)
{
	const struct wait_way *way = test->param_value;

	return way->wait;
}

/* The item is in no pool and no group, and did not run; but it can. */
static void expect_as_new(struct kunit *test, struct team *team, int nr)
{
	struct ants_work *work = work_at(team, nr);

	KUNIT_EXPECT_EQ(test, work->state, ANTS_WORK_IDLE);
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(work->pool), NULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&team->members[nr].ran), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&team->group.works));
	gate_open(&team->rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush(team->rig->pool), 0);
	KUNIT_EXPECT_EQ(test, submit(team, nr), 0);
	expect_wait(team, 0);
	expect_member(team, nr, 1, 0);
}

static void as_many_wait_as_may(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .max_blocking = 1 };
	struct team *team = team_make(test, 1, attrs, 0);
	struct rig *rig = team->rig;

	fill_pool(test, rig->pool, &rig->gate, 1);
	start_waiters(rig, 1);
	KUNIT_EXPECT_EQ(test, wait_of(test)(&team->members[0], rig->pool),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).blocked, 1);
	expect_as_new(test, team, 0);
	expect_results(rig, 0, 0);
}

/*
 * A task that waits for room in its own pool with a member of a team. It is so
 * deep that it may not run the member itself.
 */
struct inner {
	struct member *member;
	struct ants_pool *pool;
	wait_t wait;
	struct completion done;
	int depth;
	int timed_out;
	int result;
};

static int inner_call(void *data)
{
	struct inner *inner = data;

	if (inner->depth++ < ANTS_JOIN_DEPTH)
		return ants_call(inner->pool, inner_call, inner, FOREVER);
	inner->timed_out = ants_queue_work_timeout(inner->pool,
						   &inner->member->work, 1);
	return inner->wait(inner->member, inner->pool);
}

static void inner_task(void *data)
{
	struct inner *inner = data;

	inner->result = inner_call(inner);
	complete(&inner->done);
}

static struct inner *start_inner(struct kunit *test, struct team *team)
{
	struct inner *inner = kunit_kzalloc(test, sizeof(*inner), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, inner);
	inner->member = &team->members[0];
	inner->pool = team->rig->pool;
	inner->wait = wait_of(test);
	init_completion(&inner->done);
	KUNIT_EXPECT_EQ(test, ants_submit(inner->pool, inner_task, inner), 0);
	return inner;
}

/* The only thread would wait for itself; with a time limit it may. */
static void wait_that_could_never_end(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 1, attrs, 0);
	struct inner *inner = start_inner(test, team);

	EXPECT_SOON(test, completion_done(&inner->done));
	KUNIT_EXPECT_EQ(test, inner->timed_out, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, inner->result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, team->rig->pool->waiters.nr_nested, 0);
	expect_as_new(test, team, 0);
}

/* One of two threads may wait, but not the only one. */
static void shrink_sends_it_away(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct team *team = team_make(test, 1, attrs, 0);
	struct ants_pool *pool = team->rig->pool;
	struct inner *inner;

	fill_pool(test, pool, &team->rig->gate, 1);
	inner = start_inner(test, team);
	EXPECT_SOON(test, ants_peek(pool->waiters.nr_nested) == 1);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	EXPECT_SOON(test, completion_done(&inner->done));
	KUNIT_EXPECT_EQ(test, inner->result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->waiters.nr_nested), 0);
	expect_as_new(test, team, 0);
}

/* Every call that queues the item refuses it, whatever pool the call is for. */
static void expect_elsewhere(struct kunit *test, struct ants_pool *pool,
			     struct item *item)
{
	enum ants_work_state state = state_of(item);
	u64 rejected = stats_of(pool).rejected;
	struct ants_group group;

	KUNIT_EXPECT_EQ(test, ants_group_init(&group, pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, work_of(item)), -EALREADY);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(pool, work_of(item), 1),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(pool, &item->dwork, 1),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(pool, &item->dwork, 1),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, ants_group_submit(&group, work_of(item)),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, state_of(item), state);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, rejected + 5);
}

/*
 * An item that runs, one that is pending, one that is delayed, one that waits.
 */
static void expect_all_elsewhere(struct kunit *test, struct ants_pool *other)
{
	struct item *items = items_alloc(test, 4);
	struct rig *rig = rig_make(test, "home", (struct ants_attrs){
					.capacity = 1, .queue_depth = 1 });
	int i;

	item_start(rig, &items[0], &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool,
						      &items[2].dwork, NEVER),
			0);
	start_queue(rig, &items[3], FOREVER);
	for (i = 0; i < 4; i++)
		expect_elsewhere(test, other, &items[i]);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[2])));
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	for (i = 0; i < 4; i++)
		expect_ended(test, &items[i], i != 2,
			     i == 2 ? -ECANCELED : RESULT(1));
}

static void item_of_another_pool_with_room(struct kunit *test)
{
	expect_all_elsewhere(test, test_pool(test, NULL, "other"));
}

static void item_of_another_pool_that_is_full(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *other = test_pool(test, &attrs, "other");

	fill_pool(test, other, test_gate(test), 1);
	expect_all_elsewhere(test, other);
}

static void item_of_another_pool_that_is_released(struct kunit *test)
{
	struct ants_pool *other = test_pool(test, NULL, "other");

	KUNIT_EXPECT_EQ(test, ants_release(other), 0);
	expect_all_elsewhere(test, other);
}

static struct kunit_case work_refused_cases[] = {
	KUNIT_CASE_PARAM(as_many_wait_as_may, way_gen_params),
	KUNIT_CASE_PARAM(wait_that_could_never_end, way_gen_params),
	KUNIT_CASE_PARAM(shrink_sends_it_away, way_gen_params),
	KUNIT_CASE(item_of_another_pool_with_room),
	KUNIT_CASE(item_of_another_pool_that_is_full),
	KUNIT_CASE(item_of_another_pool_that_is_released),
	{}
};

static struct kunit_suite work_refused_suite = {
	.name = "ants_work_refused",
	.test_cases = work_refused_cases,
};

kunit_test_suite(work_refused_suite);

MODULE_DESCRIPTION("ants: KUnit tests of work items that are refused");
MODULE_LICENSE("GPL");
