// SPDX-License-Identifier: GPL-2.0-only
/* The limit of the number of threads of all pools. */
#include <linux/module.h>

#include "rig.h"

/* No other pool has threads meanwhile. */
static void limit(unsigned int max)
{
	WRITE_ONCE(ants_max_threads, max);
}

static struct rig *rig_of(struct kunit *test, const char *name,
			  unsigned int capacity)
{
	return rig_make(test, name, (struct ants_attrs){
				.capacity = capacity });
}

static u64 nr_held(struct rig *rig)
{
	return stats_of(rig->pool).held_back;
}

static void submit_post(struct rig *rig, int nr)
{
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, post_task,
					       &rig->posts[nr]), 0);
}

static bool has_started(struct rig *rig, int nr)
{
	return atomic_read(&rig->posts[nr].gate.entered);
}

/* Nothing is about to make a thread. */
static bool makes_none(struct rig *rig)
{
	return !ants_peek(rig->pool->upkeep.making);
}

/* Submit posts[@nr], for which no thread can be made. */
static void post_held(struct rig *rig, int nr)
{
	u64 was = nr_held(rig);

	submit_post(rig, nr);
	ASSERT_SOON(rig->test, nr_held(rig) > was && makes_none(rig));
	KUNIT_EXPECT_FALSE(rig->test, has_started(rig, nr));
}

static void expect_started(struct rig *rig, int nr)
{
	EXPECT_SOON(rig->test, has_started(rig, nr));
}

static void all_pools_together_have_no_more(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 4), *b = rig_of(test, "b", 4);

	limit(3);
	post_start(a, 0);
	post_start(a, 1);
	post_start(b, 0);
	post_held(b, 1);
	post_held(a, 2);
	KUNIT_EXPECT_EQ(test, ants_nr_running(a->pool), 2U);
	KUNIT_EXPECT_EQ(test, ants_nr_running(b->pool), 1U);
	KUNIT_EXPECT_GE(test, nr_held(a), 1ULL);
	KUNIT_EXPECT_GE(test, nr_held(b), 1ULL);
}

/* Whatever else waits: otherwise its tasks would never run. */
static void each_pool_may_have_one(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 4), *b = rig_of(test, "b", 4);

	limit(1);
	post_start(a, 0);
	post_held(a, 1);
	post_start(b, 0);
	KUNIT_EXPECT_EQ(test, nr_held(b), 0ULL);
	post_held(b, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(b->pool), 1U);
}

/* The pool was refused another one when it had one. */
static void held_pool_without_a_thread_makes_one(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 1), *b = rig_of(test, "b", 2);

	limit(1);
	post_start(a, 0);
	post_start(b, 0);
	post_held(b, 1);
	gate_open(&b->posts[0].gate);
	expect_started(b, 1);
	gate_open(&b->posts[1].gate);
	ASSERT_SOON(test, ants_nr_idle(b->pool) == 1);
	expire(b->pool, 1);
	ASSERT_SOON(test, settled(b->pool) && !ants_nr_running(b->pool));
	post_start(b, 2);
	KUNIT_EXPECT_GE(test, nr_held(b), 1ULL);
}

/* Nor does a thread count that leaves, which may take long. */
static void pool_whose_thread_leaves_makes_another(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 1), *b = rig_of(test, "b", 2);

	limit(1);
	post_start(a, 0);
	park(b, 0, 1);
	hold(b, ANTS_PAUSE_ARRIVE);
	expire(b->pool, 1);
	held(b, ANTS_PAUSE_ARRIVE);
	post_start(b, 1);
	let_go(b, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_running(b->pool) == 1);
	KUNIT_EXPECT_EQ(test, nr_held(b), 0ULL);
}

/* A pool that is held back runs its tasks in the threads that it has. */
static void existing_thread_serves(struct kunit *test)
{
	struct rig *rig = rig_of(test, "a", 4);
	int i;

	limit(1);
	post_start(rig, 0);
	for (i = 1; i < 4; i++) {
		gate_open(&rig->posts[i].gate);
		submit_post(rig, i);
	}
	ASSERT_SOON(test, nr_held(rig));
	gate_open(&rig->posts[0].gate);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_PTR_EQ(test, rig->posts[i].thread,
				    rig->posts[0].thread);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1ULL);
	KUNIT_EXPECT_GE(test, nr_held(rig), 1ULL);
}

/* As many tasks are accepted as ever, and one more waits or is refused. */
static void submitters_see_the_capacity(struct kunit *test)
{
	struct rig *rig = rig_of(test, "a", 2);
	struct async_call *call;

	limit(1);
	post_start(rig, 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 1U);
	post_held(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 0U);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), -EAGAIN);
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	expect_blocked(test, call);
	gate_open(&rig->posts[0].gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	gate_open(&rig->posts[1].gate);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1ULL);
}

static void limit_is_raised_and_lifted(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 3), *b = rig_of(test, "b", 3);

	limit(2);
	post_start(a, 0);
	post_start(b, 0);
	post_held(b, 1);
	post_held(a, 1);
	submit_post(a, 2);
	/* The one that tries first has it. */
	limit(3);
	EXPECT_SOON(test, has_started(a, 1) + has_started(b, 1) == 1);
	limit(0);
	expect_started(a, 1);
	expect_started(a, 2);
	expect_started(b, 1);
}

/* Threads stay, busy or idle, but no further one is made before they are fewer. */
static void limit_is_lowered(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 4), *b = rig_of(test, "b", 2);

	park(a, 0, 3);
	post_start(b, 0);
	limit(2);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(a->pool), 3U);
	post_held(b, 1);
	expire(a->pool, 2);
	ASSERT_SOON(test, settled(a->pool) && ants_nr_running(a->pool) == 1);
	KUNIT_EXPECT_FALSE(test, has_started(b, 1));
	expire(a->pool, 1);
	expect_started(b, 1);
}

/* A thread that has ended is one that another pool may make. */
static void thread_that_ends_makes_room(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 2), *b = rig_of(test, "b", 2);

	limit(3);
	park(a, 0, 2);
	post_start(b, 0);
	post_held(b, 1);
	expire(a->pool, 1);
	expect_started(b, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(a->pool), 1U);
	KUNIT_EXPECT_GE(test, nr_held(b), 1ULL);
}

static void pool_that_ends_makes_room(struct kunit *test)
{
	struct rig *a = rig_make(test, "a", (struct ants_attrs){
				.capacity = 2, .min_workers = 2 });
	struct rig *b = rig_of(test, "b", 3);

	limit(3);
	post_start(b, 0);
	post_held(b, 1);
	submit_post(b, 2);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(a->pool), 0);
	a->pool = NULL;
	expect_started(b, 1);
	expect_started(b, 2);
}

/* A pool that needs no thread any more does not keep others from having one. */
static void pool_without_need_keeps_none(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 2), *b = rig_of(test, "b", 2);
	struct rig *c = rig_of(test, "c", 2);

	limit(4);
	park(a, 0, 2);
	post_start(b, 0);
	post_start(c, 0);
	post_held(b, 1);
	post_held(c, 1);
	gate_open(&b->posts[0].gate);
	expect_started(b, 1);
	expire(a->pool, 1);
	expect_started(c, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(b->pool), 1U);
}

/* One pool does not wait until another one has made its thread. */
static void pools_make_their_threads_side_by_side(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 2), *b = rig_of(test, "b", 2);

	limit(2);
	post_start(a, 0);
	post_start(b, 0);
	post_held(a, 1);
	post_held(b, 1);
	hold(a, ANTS_PAUSE_MAKE);
	limit(0);
	held(a, ANTS_PAUSE_MAKE);
	expect_started(b, 1);
	let_go(a, ANTS_PAUSE_MAKE);
	expect_started(a, 1);
}

/* The memory of the pool is gone when it would try again. */
static void held_pool_is_destroyed(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 2), *b = rig_of(test, "b", 2);

	limit(1);
	post_start(a, 0);
	post_start(b, 0);
	post_held(b, 1);
	rig_open_gates(b);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(b->pool), 0);
	b->pool = NULL;
	post_held(a, 1);
	limit(0);
	expect_started(a, 1);
}

/* Within the second after a refusal a task asks for nothing, but somebody has to later. */
static void next_task_has_its_thread_later(struct kunit *test)
{
	struct rig *rig = rig_of(test, "a", 2);

	limit(1);
	post_start(rig, 0);
	post_held(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 1U);
	/* As if wake-ups had arrived, and nothing else were due. */
	raw_spin_lock_irq(&rig->pool->lock);
	timer_delete(&rig->pool->timer.timer);
	raw_spin_unlock_irq(&rig->pool->lock);
	submit_post(rig, 2);
	limit(0);
	expect_started(rig, 2);
}

static void reopened_pool_goes_on(struct kunit *test)
{
	struct rig *a = rig_of(test, "a", 1), *b = rig_of(test, "b", 2);

	limit(1);
	post_start(a, 0);
	post_start(b, 0);
	post_held(b, 1);
	rig_open_gates(b);
	KUNIT_ASSERT_EQ(test, ants_release_timeout(b->pool, TEST_DEADLINE), 0);
	KUNIT_ASSERT_EQ(test, ants_reboot(b->pool), 0);
	post_init(b, 2);
	post_init(b, 3);
	post_start(b, 2);
	submit_post(b, 3);
	KUNIT_EXPECT_FALSE(test, has_started(b, 3));
	limit(3);
	expect_started(b, 3);
}

/* What must have all of its threads at once fails as without memory. */

static void preallocated_pool_is_refused(struct kunit *test)
{
	struct ants_attrs all = { .capacity = 3, .flags = ANTS_PREALLOC };
	struct ants_attrs some = { .capacity = 3, .min_workers = 3 };
	struct ants_attrs one = { .capacity = 3, .flags = ANTS_MEM_RECLAIM };
	struct ants_attrs two = { .capacity = 2, .flags = ANTS_PREALLOC };
	struct rig *a = rig_of(test, "a", 1);

	limit(3);
	post_start(a, 0);
	KUNIT_EXPECT_PTR_EQ(test, ants_pool_create(&all, "b"),
			    (struct ants_pool *)ERR_PTR(-ENOMEM));
	KUNIT_EXPECT_PTR_EQ(test, ants_pool_create(&some, "b"),
			    (struct ants_pool *)ERR_PTR(-ENOMEM));
	EXPECT_SOON(test, !nr_threads("b"));
	/* The threads that it could have had are not missing now. */
	test_pool(test, &two, "b");
	/* A pool for reclaim has its one thread. */
	test_pool(test, &one, "c");
	limit(6);
	test_pool(test, &two, "d");
}

static void preallocated_pool_does_not_grow(struct kunit *test)
{
	struct rig *rig = rig_make(test, "a", (struct ants_attrs){
			.capacity = 2, .flags = ANTS_PREALLOC });

	limit(3);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 4), -ENOMEM);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "capacity", 4), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), 2U);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 2U);
	KUNIT_EXPECT_GE(test, nr_held(rig), 2ULL);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 3), 0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 3);
}

static void preallocated_pool_stays_closed(struct kunit *test)
{
	struct rig *rig = rig_make(test, "a", (struct ants_attrs){
			.capacity = 2, .flags = ANTS_PREALLOC });

	KUNIT_ASSERT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	limit(1);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, ants_is_released(rig->pool));
	limit(2);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2);
}

/* The write succeeds, and the threads follow when they can be made. */
static void floor_is_reached_later(struct kunit *test)
{
	struct rig *rig = rig_of(test, "a", 4);

	limit(2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 3), 0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2 && nr_held(rig));
	KUNIT_EXPECT_GE(test, nr_held(rig), 1ULL);
	limit(0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 3);
}

/* A thread that is not made after all is not counted. */
static void failure_gives_the_thread_back(struct kunit *test)
{
	struct rig *rig = rig_of(test, "a", 3);

	limit(2);
	ants_fail_arm(ANTS_FAIL_THREAD, 3);
	submit_post(rig, 0);
	expect_started(rig, 0);
	post_start(rig, 1);
	post_held(rig, 2);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2ULL);
}

/* Pools come, are tuned and go; then the limit is still exact. */
static void count_is_exact(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .min_workers = 1 };
	struct rig *rig = rig_of(test, "a", 8);
	struct ants_pool *pool;
	unsigned int i, nr;

	for (i = 0; i < 20; i++) {
		limit(i % 4 + 1);
		pool = ants_pool_create(&attrs, "churn");
		KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(pool), 0);
		for (nr = 0; nr < 6; nr++)
			KUNIT_EXPECT_FALSE(test, ants_submit(pool, count_task, &rig->count));
		KUNIT_EXPECT_EQ(test, ants_tune(pool, i % 3 + 1), 0);
		KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	}
	limit(3);
	for (i = 0; i < 3; i++)
		post_start(rig, i);
	post_held(rig, 3);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 3U);
}

/* These cases count threads; one that is late would be made up for by another. */
static int begin(struct kunit *test)
{
	seldom_late();
	return 0;
}

static void end(struct kunit *test)
{
	limit(0);
}

/* Once a pool is empty, another one may have as many, although a thread still ends. */
static void thread_that_has_left_does_not_count(struct kunit *test)
{
	const struct ants_attrs attrs = { .capacity = 2, .min_workers = 2 };
	struct rig *a = rig_of(test, "a", 2);
	struct ants_pool *b;

	limit(2);
	park(a, 0, 2);
	hold(a, ANTS_PAUSE_LEFT);
	KUNIT_EXPECT_EQ(test, ants_release(a->pool), 0);
	held(a, ANTS_PAUSE_LEFT);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(a->pool, FOREVER), 0);
	b = ants_pool_create(&attrs, "b");
	KUNIT_EXPECT_FALSE(test, IS_ERR(b));
	ants_pool_destroy(b);
	let_go(a, ANTS_PAUSE_LEFT);
}

static struct kunit_case threads_cases[] = {
	KUNIT_CASE(all_pools_together_have_no_more),
	KUNIT_CASE(each_pool_may_have_one),
	KUNIT_CASE(held_pool_without_a_thread_makes_one),
	KUNIT_CASE(pool_whose_thread_leaves_makes_another),
	KUNIT_CASE(existing_thread_serves),
	KUNIT_CASE(submitters_see_the_capacity),
	KUNIT_CASE(limit_is_raised_and_lifted),
	KUNIT_CASE(limit_is_lowered),
	KUNIT_CASE(thread_that_ends_makes_room),
	KUNIT_CASE(pool_that_ends_makes_room),
	KUNIT_CASE(pool_without_need_keeps_none),
	KUNIT_CASE(pools_make_their_threads_side_by_side),
	KUNIT_CASE(held_pool_is_destroyed),
	KUNIT_CASE(next_task_has_its_thread_later),
	KUNIT_CASE(reopened_pool_goes_on),
	KUNIT_CASE(preallocated_pool_is_refused),
	KUNIT_CASE(preallocated_pool_does_not_grow),
	KUNIT_CASE(preallocated_pool_stays_closed),
	KUNIT_CASE(floor_is_reached_later),
	KUNIT_CASE(failure_gives_the_thread_back),
	KUNIT_CASE(thread_that_has_left_does_not_count),
	KUNIT_CASE(count_is_exact),
	{}
};

static struct kunit_suite threads_suite = {
	.name = "ants_threads",
	.init = begin,
	.exit = end,
	.test_cases = threads_cases,
};

kunit_test_suite(threads_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the limit of all threads");
MODULE_LICENSE("GPL");
