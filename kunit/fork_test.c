// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that submit work items to their own pool, which has no room: the task
 * runs the item itself.
 */
#include <linux/module.h>

#include "work.h"

#define FORKERS		100
#define MEMBERS		10

static struct rig *fork_rig(struct kunit *test, unsigned int capacity,
			    unsigned int flags)
{
	struct ants_attrs attrs = { .capacity = capacity, .flags = flags };

	return rig_make(test, "fork", attrs);
}

/* An item that runs @fn, and what that has found out. */
struct forker {
	struct ants_work work;
	struct ants_group group;
	struct ants_pool *pool;
	struct item *items;
	int nr;
	int at;
	int err;
};

static struct forker *forkers_alloc(struct kunit *test, int nr)
{
	struct forker *f = kunit_kcalloc(test, nr, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	return f;
}

static void forker_start(struct kunit *test, struct ants_pool *pool,
			 struct forker *f, ants_work_fn_t fn)
{
	f->pool = pool;
	f->err = 1;
	INIT_ANTS_WORK(&f->work, fn);
	KUNIT_ASSERT_EQ(test, ants_group_init(&f->group, pool, 0), 0);
	KUNIT_ASSERT_EQ(test, ants_queue_work_timeout(pool, &f->work, FOREVER),
			0);
}

/* The function has returned, and it has found what it was to find. */
static void forker_end(struct kunit *test, struct forker *f, int err)
{
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&f->work, TEST_DEADLINE,
						     NULL), 0);
	KUNIT_EXPECT_EQ(test, f->err, err);
}

/* Submits all of its items, and waits for those that were accepted. */
static int fork_all_fn(struct ants_work *work)
{
	struct forker *f = container_of(work, struct forker, work);
	int i, err, first = 0;

	for (i = 0; i < f->nr; i++) {
		err = ants_group_submit(&f->group, work_of(&f->items[i]));
		first = first ?: err;
	}
	f->err = ants_group_wait(&f->group, NULL) ?: first;
	return 0;
}

static const unsigned int capacities[] = { 1, 4, 16 };

static void capacity_desc(const unsigned int *capacity, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "capacity %u", *capacity);
}

KUNIT_ARRAY_PARAM(capacity, capacities, capacity_desc);

/* More tasks than threads, and all of them fork at once. */
static void forks_need_no_room(struct kunit *test)
{
	unsigned int capacity = *(const unsigned int *)test->param_value;
	struct item *items = items_alloc(test, FORKERS * MEMBERS);
	struct forker *f = forkers_alloc(test, FORKERS);
	struct rig *rig = fork_rig(test, capacity, 0);
	int i, refused = 0, ran = 0;
	struct ants_stats stats;

	for (i = 0; i < FORKERS; i++) {
		f[i].items = &items[i * MEMBERS];
		f[i].nr = MEMBERS;
		forker_start(test, rig->pool, &f[i], fork_all_fn);
	}
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	for (i = 0; i < FORKERS; i++)
		refused += !!f[i].err;
	for (i = 0; i < FORKERS * MEMBERS; i++)
		ran += atomic_read(&items[i].ran) == 1;
	ants_pool_stats(rig->pool, &stats);
	KUNIT_EXPECT_EQ(test, refused, 0);
	KUNIT_EXPECT_EQ(test, ran, FORKERS * MEMBERS);
	KUNIT_EXPECT_LE(test, stats.peak_running, capacity);
	KUNIT_EXPECT_EQ(test, stats.rejected, 0);
	expect_counted(test, rig->pool, FORKERS * (MEMBERS + 1), 0);
}

/* What a task sees of its item when the call that submits it has returned. */
static void note(struct forker *f, int err)
{
	struct ants_pool *pool = f->pool;

	if (err || atomic_read(&f->items[f->at].ran) != 1 ||
	    state_of(&f->items[f->at]) != ANTS_WORK_IDLE ||
	    ants_nr_pending(pool) || ants_nr_busy(pool) != ants_capacity(pool))
		f->err = err ?: 2;
	f->at++;
}

/* Submits its items in each way; each has run when that call returns. */
static int fork_each_way_fn(struct ants_work *work)
{
	struct forker *f = container_of(work, struct forker, work);
	struct ants_work *first = work_of(&f->items[0]);

	f->err = 0;
	note(f, ants_group_submit(&f->group, first));
	note(f, ants_queue_work_timeout(f->pool, work_of(&f->items[1]),
					FOREVER));
	if (ants_group_next(&f->group, 0) != first ||
	    ants_group_next(&f->group, 0) != ERR_PTR(-ETIMEDOUT))
		f->err = 3;
	return 0;
}

static void full_pool_has_the_submitter_run_it(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct forker *f = forkers_alloc(test, 1);
	struct rig *rig = fork_rig(test, 1, 0);

	f->items = items;
	forker_start(test, rig->pool, f, fork_each_way_fn);
	forker_end(test, f, 0);
	KUNIT_EXPECT_EQ(test, f->at, 2);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 1, RESULT(1));
	expect_counted(test, rig->pool, 3, 0);
}

/*
 * Callers from outside wait, as many as may: a task of the pool does not wait, so
 * it neither is refused nor has to wait for its turn.
 */
static void callers_from_outside_wait_on(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .max_blocking = 1 };
	struct item *items = items_alloc(test, 2);
	struct forker *f = forkers_alloc(test, 1);
	struct rig *rig = rig_make(test, "fork", attrs);

	items[0].gate = &rig->gate;
	f->items = items;
	forker_start(test, rig->pool, f, fork_each_way_fn);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	rig_async(rig, do_submit_count, FOREVER, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	gate_open(&rig->gate);
	forker_end(test, f, 0);
	expect_results(rig, 0, 0);
	expect_counted(test, rig->pool, 4, 0);
}

/* Submits its item, and its neighbour below it does so, too, and so on. */
static int fork_next_fn(struct ants_work *work)
{
	struct forker *f = container_of(work, struct forker, work);

	f->err = f->nr ? ants_group_submit(&f[1].group, &f[1].work) ?:
			 ants_group_wait(&f[1].group, NULL) : 0;
	return 0;
}

/* The stack is finite: the item that is too deep finds no room. */
static void forks_inside_forks_are_bounded(struct kunit *test)
{
	struct forker *f = forkers_alloc(test, ANTS_JOIN_DEPTH + 2);
	struct rig *rig = fork_rig(test, 1, 0);
	int i;

	for (i = 1; i < ANTS_JOIN_DEPTH + 2; i++) {
		INIT_ANTS_WORK(&f[i].work, fork_next_fn);
		KUNIT_ASSERT_EQ(test, ants_group_init(&f[i].group, rig->pool,
						      0), 0);
		f[i].nr = i <= ANTS_JOIN_DEPTH;
		f[i].err = 1;
	}
	f[0].nr = 1;
	forker_start(test, rig->pool, f, fork_next_fn);
	for (i = 0; i < ANTS_JOIN_DEPTH; i++)
		forker_end(test, &f[i], 0);
	forker_end(test, &f[ANTS_JOIN_DEPTH], -EDEADLK);
	KUNIT_EXPECT_EQ(test, f[ANTS_JOIN_DEPTH + 1].err, 1);
	expect_counted(test, rig->pool, ANTS_JOIN_DEPTH + 1, 0);
}

/* A member submits further members of its group, which is waited for outside. */
struct branch {
	struct ants_work work;
	struct ants_group *group;
	struct branch *all;
	int nr;
	int end;
	int err;
};

static int branch_fn(struct ants_work *work)
{
	struct branch *b = container_of(work, struct branch, work);
	int i, err = 0;

	for (i = 2 * b->nr; i <= 2 * b->nr + 1 && i < b->end && !err; i++)
		err = ants_group_submit(b->group, &b->all[i].work);
	WRITE_ONCE(b->err, err);
	return err;
}

static bool branches_begun(const struct branch *b, int nr)
{
	int i;

	for (i = 1; i < nr; i++)
		if (READ_ONCE(b[i].err) == 1)
			return false;
	return true;
}

/* A tree of as many levels as may run inside one another. */
static void members_submit_further_members(struct kunit *test)
{
	const int nr = 2 << ANTS_JOIN_DEPTH;
	struct branch *b = kunit_kcalloc(test, nr, sizeof(*b), GFP_KERNEL);
	struct forker *f = forkers_alloc(test, 1);
	struct rig *rig = fork_rig(test, 2, 0);
	int i, error = 1;

	KUNIT_ASSERT_NOT_NULL(test, b);
	KUNIT_ASSERT_EQ(test, ants_group_init(&f->group, rig->pool, 0), 0);
	for (i = 1; i < nr; i++) {
		b[i] = (struct branch){ .group = &f->group, .all = b, .nr = i,
					.end = nr, .err = 1 };
		INIT_ANTS_WORK(&b[i].work, branch_fn);
	}
	KUNIT_ASSERT_EQ(test, ants_group_submit(&f->group, &b[1].work), 0);
	/* A wait seals the group, and then its members can add no others. */
	EXPECT_SOON(test, branches_begun(b, nr));
	KUNIT_EXPECT_EQ(test, ants_group_wait_timeout(&f->group, TEST_DEADLINE,
						      &error), 0);
	KUNIT_EXPECT_EQ(test, error, 0);
	for (i = 1; i < nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, b[i].err, 0, "branch %d", i);
	expect_counted(test, rig->pool, nr - 1, 0);
}

/* Submits one item to its group. */
static int fork_one_fn(struct ants_work *work)
{
	struct forker *f = container_of(work, struct forker, work);

	f->err = ants_group_submit(&f->group, work_of(f->items));
	return 0;
}

static void expect_refused(struct kunit *test, struct ants_pool *pool, int err)
{
	struct item *items = items_alloc(test, 1);
	struct forker *f = forkers_alloc(test, 1);

	f->items = items;
	forker_start(test, pool, f, fork_one_fn);
	forker_end(test, f, err);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[0].ran), 0);
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(work_of(items)->pool), NULL);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(pool, TEST_DEADLINE), 0);
}

static void nonblocking_pool_refuses(struct kunit *test)
{
	expect_refused(test, fork_rig(test, 1, ANTS_NONBLOCKING)->pool,
		       -EAGAIN);
}

/* Its tasks start one after the other. */
static void ordered_pool_refuses(struct kunit *test)
{
	struct ants_pool *pool = ants_pool_create_ordered(NULL, "fork");

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	expect_refused(test, test_pool_own(test, pool, "fork"), -EDEADLK);
}

/* Closes its pool, and then submits an item. */
static int release_fn(struct ants_work *work)
{
	struct forker *f = container_of(work, struct forker, work);

	ants_release(f->pool);
	return fork_one_fn(work);
}

static void released_pool_refuses(struct kunit *test)
{
	struct item *items = items_alloc(test, 1);
	struct forker *f = forkers_alloc(test, 1);
	struct rig *rig = fork_rig(test, 1, 0);

	f->items = items;
	forker_start(test, rig->pool, f, release_fn);
	forker_end(test, f, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[0].ran), 0);
}

static int count_detached_fn(struct ants_work *work)
{
	return 0;
}

/* Nothing could tell when a detached item has ended. */
static int fork_detached_fn(struct ants_work *work)
{
	struct forker *f = container_of(work, struct forker, work);

	INIT_ANTS_WORK_DETACHED(work_of(f->items), count_detached_fn);
	f->err = ants_queue_work_timeout(f->pool, work_of(f->items), FOREVER);
	return 0;
}

static void detached_item_waits_for_room(struct kunit *test)
{
	struct item *items = items_alloc(test, 1);
	struct forker *f = forkers_alloc(test, 1);
	struct rig *rig = fork_rig(test, 1, 0);

	f->items = items;
	forker_start(test, rig->pool, f, fork_detached_fn);
	forker_end(test, f, -EDEADLK);
	expect_counted(test, rig->pool, 1, 0);
}

static struct kunit_case fork_cases[] = {
	KUNIT_CASE_PARAM(forks_need_no_room, capacity_gen_params),
	KUNIT_CASE(full_pool_has_the_submitter_run_it),
	KUNIT_CASE(callers_from_outside_wait_on),
	KUNIT_CASE(forks_inside_forks_are_bounded),
	KUNIT_CASE(members_submit_further_members),
	KUNIT_CASE(nonblocking_pool_refuses),
	KUNIT_CASE(ordered_pool_refuses),
	KUNIT_CASE(released_pool_refuses),
	KUNIT_CASE(detached_item_waits_for_room),
	{}
};

static struct kunit_suite fork_suite = {
	.name = "ants_fork",
	.test_cases = fork_cases,
};

kunit_test_suite(fork_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that submit work items to their full pool");
MODULE_LICENSE("GPL");
