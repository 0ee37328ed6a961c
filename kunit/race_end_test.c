// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pool, or a multi, is closed while another call makes threads for it one by
 * one, which may take for ever: ANTS_PAUSE_PREPARE. The close does not wait for
 * that, and the other call ends early.
 */
#include <linux/module.h>

#include "multi.h"
#include "race.h"

#define MANY	20
#define SOON	2

static const struct ants_attrs prealloc = {
	.capacity = 2,
	.flags = ANTS_PREALLOC,
};

/* Start a Tune to more threads and hold it when it has made the first one. */
static struct async_call *hold_growth(struct kunit *test,
				      struct ants_pool *pool,
				      unsigned int capacity)
{
	struct async_call *call;

	hold(ANTS_PAUSE_PREPARE, pool);
	call = async_start_on(test, do_tune, pool, capacity);
	expect_held(test, ANTS_PAUSE_PREPARE);
	return call;
}

/*
 * The call continues, and must not try to make another thread: that would fail.
 */
static void expect_no_thread_made(struct kunit *test, struct async_call *call,
				  int result)
{
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	let_go(ANTS_PAUSE_PREPARE);
	expect_result(test, call, result);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
}

static void release_does_not_wait_for_a_growth(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &prealloc, "race");
	struct async_call *tuner = hold_growth(test, pool, MANY);
	struct async_call *releaser = async_start_on(test, do_release, pool, 0);

	expect_result(test, releaser, 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	expect_no_thread_made(test, tuner, 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), (unsigned int)MANY);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
	/* Threads that have left are joined before the pool can be opened. */
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), (unsigned int)MANY);
}

/* Whether or not the pool becomes empty in time. */
static void drain_keeps_its_time_beside_a_growth(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &prealloc, "race");
	struct gate *gate = test_gate(test);
	struct async_call *tuner, *drainer;

	fill_pool(test, pool, gate, 1);
	tuner = hold_growth(test, pool, MANY);
	drainer = async_start_on(test, do_release_timeout, pool, SOON);
	expect_result(test, drainer, -ETIMEDOUT);
	gate_open(gate);
	drainer = async_start_on(test, do_release_timeout, pool, TEST_DEADLINE);
	expect_result(test, drainer, 0);
	expect_no_thread_made(test, tuner, 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0U);
}

/* A single thread is wanted, and it is already made. */
static void closed_pool_takes_no_prepared_thread(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &prealloc, "race");
	struct async_call *tuner = hold_growth(test, pool, 3);
	struct async_call *drainer;

	drainer = async_start_on(test, do_release_timeout, pool, TEST_DEADLINE);
	expect_result(test, drainer, 0);
	expect_no_thread_made(test, tuner, 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 3U);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
}

/* Destroy goes as far as it can while another caller tunes. */
static void destroy_goes_on_beside_a_growth(struct kunit *test)
{
	struct ants_pool *pool = ants_pool_create(&prealloc, "race_own");
	struct async_call *tuner, *destroyer;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	tuner = hold_growth(test, pool, MANY);
	destroyer = async_start_on(test, do_destroy, pool, 0);
	EXPECT_SOON(test, ants_is_released(pool) && !ants_nr_running(pool));
	expect_blocked(test, destroyer);
	expect_no_thread_made(test, tuner, 0);
	expect_result(test, destroyer, 0);
}

static struct async_call *hold_reboot(struct kunit *test,
				      struct ants_pool *pool)
{
	struct async_call *call;

	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	hold(ANTS_PAUSE_PREPARE, pool);
	call = async_start_on(test, do_reboot, pool, 0);
	expect_held(test, ANTS_PAUSE_PREPARE);
	return call;
}

/* The pool was empty, although it is open again before the waiter looks. */
static void drain_ends_with_a_reboot(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &prealloc, "race");
	struct gate *gate = test_gate(test);
	struct async_call *drainer;

	hold(ANTS_PAUSE_AWAIT, pool);
	drainer = async_start_on(test, do_release_timeout, pool, TEST_DEADLINE);
	expect_held(test, ANTS_PAUSE_AWAIT);
	EXPECT_SOON(test, !ants_reboot(pool));
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	let_go(ANTS_PAUSE_AWAIT);
	expect_result(test, drainer, 0);
}

static void release_wins_over_a_reboot(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &prealloc, "race");
	struct async_call *rebooter = hold_reboot(test, pool);
	struct async_call *drainer;

	drainer = async_start_on(test, do_release_timeout, pool, SOON);
	expect_result(test, drainer, 0);
	expect_no_thread_made(test, rebooter, -EBUSY);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2U);
}

/* The release begins and ends while the reboot is about to open the pool. */
static void whole_release_wins_over_a_reboot(struct kunit *test)
{
	static const struct ants_attrs attrs = { .capacity = 2 };
	struct ants_pool *pool = test_pool(test, &attrs, "race");
	struct async_call *rebooter;

	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	hold(ANTS_PAUSE_REBOOT, pool);
	rebooter = async_start_on(test, do_reboot, pool, 0);
	expect_held(test, ANTS_PAUSE_REBOOT);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	let_go(ANTS_PAUSE_REBOOT);
	expect_result(test, rebooter, -EBUSY);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
}

static void destroy_wins_over_a_reboot(struct kunit *test)
{
	struct ants_pool *pool = ants_pool_create(&prealloc, "race_own");
	struct async_call *rebooter, *destroyer;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	rebooter = hold_reboot(test, pool);
	destroyer = async_start_on(test, do_destroy, pool, 0);
	EXPECT_SOON(test, ants_peek(pool->release.dying) && has_drainer(pool));
	expect_no_thread_made(test, rebooter, -EBUSY);
	expect_result(test, destroyer, 0);
}

/* --- the same for a multi ------------------------------------------------------ */

#define NR_SHARDS	3

static struct ants_multi *race_multi(struct kunit *test)
{
	struct ants_attrs attrs = prealloc;
	struct ants_multi *multi;

	attrs.capacity = NR_SHARDS;
	multi = ants_multi_create(&attrs, NR_SHARDS, ANTS_ROUND_ROBIN, "race");
	KUNIT_ASSERT_FALSE(test, IS_ERR(multi));
	return multi;
}

static bool is_drained(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = ants_is_drained(pool);
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

static bool all_drained(struct ants_multi *multi)
{
	return is_drained(ants_multi_shard(multi, 0)) &&
	       is_drained(ants_multi_shard(multi, 1)) &&
	       is_drained(ants_multi_shard(multi, 2));
}

/* Hold @fn while it makes threads for shard 1; shard 0 has its threads. */
static struct async_call *hold_multi(struct kunit *test,
				     int (*fn)(struct async_call *call),
				     struct ants_multi *multi,
				     unsigned long arg)
{
	struct async_call *call;

	hold(ANTS_PAUSE_PREPARE, ants_multi_shard(multi, 1));
	call = multi_async(test, fn, multi, arg);
	expect_held(test, ANTS_PAUSE_PREPARE);
	return call;
}

static void multi_is_closed_beside_a_growth(struct kunit *test)
{
	struct ants_multi *multi = race_multi(test);
	struct async_call *tuner, *releaser, *drainer;

	tuner = hold_multi(test, do_multi_tune, multi, MANY * NR_SHARDS);
	releaser = multi_async(test, do_multi_release, multi, 0);
	expect_result(test, releaser, 0);
	drainer = multi_async(test, do_multi_release_timeout, multi,
			      TEST_DEADLINE);
	expect_result(test, drainer, 0);
	expect_no_thread_made(test, tuner, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), MANY * 3U);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static void multi_is_destroyed_beside_a_growth(struct kunit *test)
{
	struct ants_multi *multi = race_multi(test);
	struct async_call *tuner, *destroyer;

	tuner = hold_multi(test, do_multi_tune, multi, MANY * NR_SHARDS);
	destroyer = multi_async(test, do_multi_destroy, multi, 0);
	EXPECT_SOON(test, ants_multi_is_released(multi) &&
		    !ants_nr_running(ants_multi_shard(multi, 0)));
	expect_blocked(test, destroyer);
	expect_no_thread_made(test, tuner, 0);
	expect_result(test, destroyer, 0);
}

/* Shard 0 is open again, and has a task. */
static void multi_release_wins_over_a_reboot(struct kunit *test)
{
	struct ants_multi *multi = race_multi(test);
	struct gate *gate = test_gate(test);
	struct async_call *rebooter, *drainer;

	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, TEST_DEADLINE),
			0);
	rebooter = hold_multi(test, do_multi_reboot, multi, 0);
	KUNIT_EXPECT_EQ(test, ants_submit(ants_multi_shard(multi, 0), gate_task,
					  gate), 0);
	drainer = multi_async(test, do_multi_release_timeout, multi, SOON);
	expect_result(test, drainer, -ETIMEDOUT);
	gate_open(gate);
	drainer = multi_async(test, do_multi_release_timeout, multi,
			      TEST_DEADLINE);
	expect_result(test, drainer, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 1);
	expect_no_thread_made(test, rebooter, -EBUSY);
	KUNIT_EXPECT_TRUE(test, ants_is_released(ants_multi_shard(multi, 0)));
	KUNIT_EXPECT_TRUE(test, ants_multi_is_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

/* As drain_ends_with_a_reboot(). */
static void multi_drain_ends_with_a_reboot(struct kunit *test)
{
	struct ants_multi *multi = race_multi(test);
	struct gate *gate = test_gate(test);
	struct async_call *drainer;

	hold(ANTS_PAUSE_AWAIT, ants_multi_shard(multi, 0));
	drainer = multi_async(test, do_multi_release_timeout, multi,
			      TEST_DEADLINE);
	expect_held(test, ANTS_PAUSE_AWAIT);
	EXPECT_SOON(test, !ants_multi_reboot(multi));
	KUNIT_EXPECT_EQ(test, ants_submit(ants_multi_shard(multi, 0), gate_task,
					  gate), 0);
	let_go(ANTS_PAUSE_AWAIT);
	expect_result(test, drainer, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

/*
 * The caller waits for shard 0, which a reboot has opened while it still opens
 * the others; the caller returns when the reboot has ended.
 */
static void multi_drain_hears_of_a_reboot(struct kunit *test)
{
	struct ants_multi *multi = race_multi(test);
	struct gate *gate = test_gate(test);
	struct async_call *drainer, *rebooter;

	hold(ANTS_PAUSE_AWAIT, ants_multi_shard(multi, 0));
	drainer = multi_async(test, do_multi_release_timeout, multi,
			      TEST_DEADLINE);
	expect_held(test, ANTS_PAUSE_AWAIT);
	EXPECT_SOON(test, all_drained(multi));
	rebooter = hold_multi(test, do_multi_reboot, multi, 0);
	KUNIT_EXPECT_EQ(test, ants_submit(ants_multi_shard(multi, 0), gate_task,
					  gate), 0);
	let_go(ANTS_PAUSE_AWAIT);
	EXPECT_SOON(test, has_drainer(ants_multi_shard(multi, 0)));
	let_go(ANTS_PAUSE_PREPARE);
	expect_result(test, rebooter, 0);
	expect_result(test, drainer, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static struct kunit_case race_end_cases[] = {
	KUNIT_CASE(release_does_not_wait_for_a_growth),
	KUNIT_CASE(drain_keeps_its_time_beside_a_growth),
	KUNIT_CASE(closed_pool_takes_no_prepared_thread),
	KUNIT_CASE(destroy_goes_on_beside_a_growth),
	KUNIT_CASE(drain_ends_with_a_reboot),
	KUNIT_CASE(release_wins_over_a_reboot),
	KUNIT_CASE(destroy_wins_over_a_reboot),
	KUNIT_CASE(multi_is_closed_beside_a_growth),
	KUNIT_CASE(multi_is_destroyed_beside_a_growth),
	KUNIT_CASE(whole_release_wins_over_a_reboot),
	KUNIT_CASE(multi_release_wins_over_a_reboot),
	KUNIT_CASE(multi_drain_ends_with_a_reboot),
	KUNIT_CASE(multi_drain_hears_of_a_reboot),
	{}
};

static struct kunit_suite race_end_suite = {
	.name = "ants_race_end",
	.exit = race_exit,
	.test_cases = race_end_cases,
};

kunit_test_suite(race_end_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the end of a pool that is changed");
MODULE_LICENSE("GPL");
