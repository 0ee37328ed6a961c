// SPDX-License-Identifier: GPL-2.0-only
/* Threads that cannot be made: no task is lost, and nothing is left behind. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"spawn"

/* P16: nothing is lost, and no further call is needed. */
static void expect_made_later(struct kunit *test, enum ants_fail_point point)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	struct async_call *call;
	int i;

	ants_fail_arm(point, -1);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	ASSERT_SOON(test, ants_peek(rig->pool->upkeep.backoff));
	ants_fail_arm(point, 3);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 3);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->upkeep.backoff), 0UL);
	KUNIT_EXPECT_GE(test, stats_of(rig->pool).spawned, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned,
			ants_nr_running(rig->pool));
}

static void threads_that_failed_are_made_later(struct kunit *test)
{
	expect_made_later(test, ANTS_FAIL_THREAD);
}

/* The upkeep work finds no memory at once. */
static void threads_without_memory_are_made_later(struct kunit *test)
{
	expect_made_later(test, ANTS_FAIL_WORKER);
}

static void existing_worker_serves_when_no_thread_can_be_made(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 4 });
	struct async_call *call;
	int i;

	seldom_late();
	post_start(rig, 0);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	for (i = 1; i < 4; i++) {
		gate_open(&rig->posts[i].gate);
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, post_task,
						  &rig->posts[i]), 0);
	}
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	ASSERT_SOON(test, ants_peek(rig->pool->upkeep.backoff));
	gate_open(&rig->posts[0].gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_PTR_EQ(test, rig->posts[i].thread,
				    rig->posts[0].thread);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1);
}

/* Submit @nr tasks while no thread can be made. */
static void submit_without_threads(struct rig *rig, int nr)
{
	int i;

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task,
						       &rig->count), 0);
}

/* A caller that waits for tasks does so until a thread can be made again. */
static void expect_wait_for_thread(struct kunit *test,
				   int (*fn)(struct async_call *call))
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2 });
	struct async_call *call;

	submit_without_threads(rig, 4);
	call = rig_async(rig, fn, MAX_SCHEDULE_TIMEOUT, NULL);
	EXPECT_SOON(test, ants_peek(rig->pool->upkeep.backoff) > ANTS_BACKOFF_MIN);
	expect_blocked(test, call);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	/* Destroy frees the pool. */
	if (fn == do_destroy)
		rig->pool = NULL;
	ants_fail_arm(ANTS_FAIL_THREAD, 2);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 4);
}

static void flush_waits_for_a_thread(struct kunit *test)
{
	expect_wait_for_thread(test, do_flush);
}

static void drain_waits_for_a_thread(struct kunit *test)
{
	expect_wait_for_thread(test, do_drain);
}

static void release_timeout_waits_for_a_thread(struct kunit *test)
{
	expect_wait_for_thread(test, do_release_timeout);
}

static void destroy_waits_for_a_thread(struct kunit *test)
{
	expect_wait_for_thread(test, do_destroy);
}

/* What was accepted before runs when a thread can be made, though the pool is closed. */
static void waits_end_in_time_without_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct async_call *call;

	submit_without_threads(rig, 1);
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, 2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, 2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, async_result(call), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

/* A reopened pool begins without a pause, whatever failed before. */
static void reboot_ends_the_pause(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2 });

	submit_without_threads(rig, 1);
	EXPECT_SOON(test, ants_peek(rig->pool->upkeep.backoff));
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 1);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_GT(test, ants_peek(rig->pool->upkeep.backoff), 0UL);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->upkeep.backoff), 0UL);
}

#define NR_IN_A_ROW	5

/*
 * No other thread can ever be made, so the one that was made with the pool runs all
 * tasks, one after another, to the end of the pool.
 */
static void reclaim_pool_goes_on_with_its_thread(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 3, .queue_depth = 3, .expiry = 1,
			.flags = ANTS_MEM_RECLAIM });
	struct ants_stats stats;
	int round, i;

	KUNIT_ASSERT_EQ(test, ants_nr_running(rig->pool), 1);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	for (round = 1; round <= 2; round++) {
		for (i = 0; i < NR_IN_A_ROW; i++) {
			post_init(rig, i);
			gate_open(&rig->posts[i].gate);
			KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, post_task,
							  &rig->posts[i]), 0);
		}
		KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool,
							 TEST_DEADLINE), 0);
		for (i = 1; i < NR_IN_A_ROW; i++)
			KUNIT_EXPECT_PTR_EQ(test, rig->posts[i].thread,
					    rig->posts[0].thread);
		/* It has been idle for longer than the others may be. */
		EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1 && settled(rig->pool));
		schedule_timeout_idle(3);
	}
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(test, stats.completed, 2ULL * NR_IN_A_ROW);
	KUNIT_EXPECT_EQ(test, stats.spawned, 1ULL);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(rig->pool), 0);
	rig->pool = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

/* It is opened with its thread, or not at all. */
static void reclaim_pool_is_not_opened_without_its_thread(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 2, .flags = ANTS_MEM_RECLAIM });

	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 0);
	ants_fail_arm(ANTS_FAIL_THREAD, 1);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 1);
}

/*
 * The pause grows by itself up to its limit, a second, and ends when a thread can be
 * made.
 */
static void back_off_grows_and_ends(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	EXPECT_SOON(test, ants_peek(rig->pool->upkeep.backoff) ==
		    (unsigned long)ANTS_BACKOFF_MAX);
	KUNIT_EXPECT_LE(test, ANTS_BACKOFF_MAX, HZ);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->upkeep.backoff), 0UL);
}

/* A pool whose first threads cannot be made leaves nothing behind. */
static void expect_create_fails(struct kunit *test, struct ants_attrs attrs, int nr)
{
	struct ants_pool *pool;

	ants_fail_arm(ANTS_FAIL_THREAD, 1);
	pool = ants_pool_create(&attrs, NAME);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	KUNIT_ASSERT_TRUE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, PTR_ERR(pool), (long)-ENOMEM);
	EXPECT_SOON(test, nr_threads(NAME) == 0);
	/* The name is free. */
	pool = ants_pool_create(&attrs, NAME);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), nr);
	ants_pool_destroy(pool);
}

static void prealloc_create_fails_as_a_whole(struct kunit *test)
{
	expect_create_fails(test, (struct ants_attrs){
				.capacity = 3, .flags = ANTS_PREALLOC }, 3);
}

static void min_workers_create_fails_as_a_whole(struct kunit *test)
{
	expect_create_fails(test, (struct ants_attrs){
				.capacity = 5, .min_workers = 3 }, 3);
}

static void reclaim_create_fails_as_a_whole(struct kunit *test)
{
	expect_create_fails(test, (struct ants_attrs){
				.capacity = 2, .flags = ANTS_MEM_RECLAIM }, 1);
}

static int do_create_prealloc(struct async_call *call)
{
	struct ants_attrs attrs = { .capacity = 40, .flags = ANTS_PREALLOC };
	struct ants_pool *pool = ants_pool_create(&attrs, NAME);

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	ants_pool_destroy(pool);
	return 0;
}

/*
 * The failure comes when some threads exist already; try again if it was too
 * late.
 */
static void prealloc_create_takes_back_what_it_made(struct kunit *test)
{
	struct rig *rig = rig_alloc(test);
	struct async_call *call;
	int tries = 40, result;

	do {
		call = rig_async(rig, do_create_prealloc, 0, NULL);
		ASSERT_SOON(test,
			    nr_threads(NAME) >= 3 || async_returned(call));
		ants_fail_arm(ANTS_FAIL_THREAD, 1);
		result = async_result(call);
		ants_fail_arm(ANTS_FAIL_THREAD, 0);
	} while (!result && --tries);
	KUNIT_EXPECT_EQ(test, result, -ENOMEM);
	EXPECT_SOON(test, nr_threads(NAME) == 0);
}

#define NR_CROWD	3

static void crowd_make(struct kunit *test, struct ants_pool **pools,
		       atomic_t *count)
{
	const struct ants_attrs attrs = { .capacity = 1 };
	int i;

	for (i = 0; i < NR_CROWD; i++) {
		pools[i] = test_pool_own(test, ants_pool_create(&attrs, NAME "%d", i),
					 NAME);
		KUNIT_ASSERT_EQ(test, ants_submit(pools[i], count_task, count), 0);
	}
}

static unsigned int nr_makers(struct ants_pool **pools)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_CROWD; i++)
		nr += READ_ONCE(pools[i]->upkeep.making);
	return nr;
}

static void end(struct kunit *test)
{
	workqueue_set_max_active(ants_wq, WQ_DFL_ACTIVE);
}

/*
 * While threads cannot be made, which may take long, other pools go on: makers do not
 * use up what ends, frees and keeps pools, even if that does one thing at a time. Each
 * maker is queued, but how many come to the pause point is not promised: if a kernel
 * worker is slow to be made, the rescuer of the workqueue takes all makers that are
 * pending there, and comes only to the first of them.
 */
static void makers_hold_back_no_other_pool(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	static struct ants_pool *pools[NR_CROWD];

	/* Otherwise it would take hundreds of pools to use it up. */
	workqueue_set_max_active(ants_wq, 1);
	park(rig, 0, 1);
	rig->held |= BIT(ANTS_PAUSE_MAKE);
	ants_pause_arm(ANTS_PAUSE_MAKE, ANTS_ALL_POOLS);
	crowd_make(test, pools, &rig->count);
	EXPECT_SOON(test, nr_makers(pools) == NR_CROWD);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	let_go(rig, ANTS_PAUSE_MAKE);
	EXPECT_SOON(test, atomic_read(&rig->count) == NR_CROWD);
}

static struct kunit_case spawn_cases[] = {
	KUNIT_CASE(threads_that_failed_are_made_later),
	KUNIT_CASE(threads_without_memory_are_made_later),
	KUNIT_CASE(existing_worker_serves_when_no_thread_can_be_made),
	KUNIT_CASE(flush_waits_for_a_thread),
	KUNIT_CASE(drain_waits_for_a_thread),
	KUNIT_CASE(release_timeout_waits_for_a_thread),
	KUNIT_CASE(destroy_waits_for_a_thread),
	KUNIT_CASE(waits_end_in_time_without_threads),
	KUNIT_CASE(reboot_ends_the_pause),
	KUNIT_CASE(reclaim_pool_goes_on_with_its_thread),
	KUNIT_CASE(reclaim_pool_is_not_opened_without_its_thread),
	KUNIT_CASE(back_off_grows_and_ends),
	KUNIT_CASE(prealloc_create_fails_as_a_whole),
	KUNIT_CASE(min_workers_create_fails_as_a_whole),
	KUNIT_CASE(reclaim_create_fails_as_a_whole),
	KUNIT_CASE(prealloc_create_takes_back_what_it_made),
	KUNIT_CASE(makers_hold_back_no_other_pool),
	{}
};

static struct kunit_suite spawn_suite = {
	.name = "ants_spawn",
	.exit = end,
	.test_cases = spawn_cases,
};

kunit_test_suite(spawn_suite);

MODULE_DESCRIPTION("ants: KUnit tests of threads that cannot be made");
MODULE_LICENSE("GPL");
