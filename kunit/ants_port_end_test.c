// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the Go pool ants: release and reboot. What that project does not test
 * at all, but other cases here do:
 *
 *  capacity under concurrent submits  submit.capacity_holds_under_concurrent_submits
 *  all workers go, callers wait       reaper.leaving_worker_serves_a_waiter
 *                                     spawn.threads_that_failed_are_made_later
 *  growth and a caller near sleep     race.enrolled_waiter_is_tuned_in
 *  shrink is exact                    tune.shrink_to_one_leaves_one
 *  idle workers are shed              tune.shrink_sheds_the_longest_idle
 *  free is never negative             stats.free_is_never_negative
 *  callers are served in order        submit.waiters_are_granted_in_order
 *  no function                        submit.null_function_is_refused
 *  no argument                        func.null_is_a_value
 *  submit races with close            release_when_running
 *                                     release.release_and_submits_race
 *  drain again after a timeout        release_timeout
 *                                     release.drain_that_timed_out_is_repeated
 *  reboot while workers run           release.reboot_needs_a_drained_pool
 *                                     release.nobody_waits_for_a_thread_that_has_left
 *  nested submit that waits           nested.full_pool_of_one_refuses_its_task
 *  threads cannot be made             spawn, race_make
 *  expiry is exact                    reaper.no_worker_expires_early
 *                                     reaper.idle_time_counts_from_the_park
 *  last parked runs first             ants_port.worker_stack
 *                                     worker.last_parked_worker_runs_first
 *  close from inside a task           release.task_releases_its_own_pool
 *  two close at once                  release.closers_do_not_disturb_each_other
 *                                     race_config.two_releases_at_once
 */
#include <linux/module.h>

#include "ants_port.h"

/* 26, 27: a pool that was closed and opened again is as good as new. */
static void reboot_new_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, 0);
	int i;

	for (i = 0; i < 3; i++) {
		expect_demo(test, pool, 50, 10);
		KUNIT_EXPECT_EQ(test, ants_reboot(pool), -EBUSY);
		KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE),
				0);
		KUNIT_EXPECT_EQ(test, hand(test, pool, demo_task, pool),
				-ESHUTDOWN);
		KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	}
	expect_demo(test, pool, 50, 10);
}

/* Submits until the pool is closed. */
struct feed {
	struct ants_pool *pool;
	struct packet packet;
	atomic_t accepted;
	atomic_t ran;
};

static void feed_task(void *data)
{
	struct feed *feed = data;

	usleep_range(1000, 2000);
	atomic_inc(&feed->ran);
}

static int do_feed(struct async_call *call)
{
	struct feed *feed = call->data;
	int err;

	for (;;) {
		err = send(feed->pool, feed->packet);
		if (err)
			return err;
		atomic_inc(&feed->accepted);
	}
}

/*
 * 35-37, and submits that race with the close: both submitters return, every
 * accepted task has run, and nothing runs after the drain has returned.
 */
static void release_when_running(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 0, 0);
	struct feed feed = { .pool = pool };
	struct async_call *one, *two;
	int ran;

	feed.packet = pack(test, feed_task, &feed);
	one = async_start(test, do_feed, &feed);
	two = async_start(test, do_feed, &feed);
	EXPECT_SOON(test, atomic_read(&feed.ran) >= 20);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	ran = atomic_read(&feed.ran);
	KUNIT_EXPECT_EQ(test, send(pool, feed.packet), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, async_result(one), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, async_result(two), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&feed.accepted), ran);
	KUNIT_EXPECT_EQ(test, atomic_read(&feed.ran), ran);
	KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, ran);
}

/* B8: the pool shrinks and keeps working. */
static void expect_rest(struct kunit *test, unsigned int flags)
{
	struct ants_pool *pool = pool_of(test, 64, 0, flags);
	struct gate *gate = test_gate(test);

	occupy(test, pool, gate, 64);
	gate_open(gate);
	expect_demo(test, pool, 320, 64);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 64), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 64);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 16), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 16);
	expect_demo(test, pool, 320, 64);
	KUNIT_EXPECT_LE(test, ants_nr_running(pool), 16);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, hand(test, pool, demo_task, pool), -ESHUTDOWN);
}

/* 38; the suite "attrs" has its table of arguments. */
static void rest_code_coverage(struct kunit *test)
{
	expect_rest(test, ANTS_NO_PURGE);
}

/* 38, B20 */
static void rest_code_coverage_prealloc(struct kunit *test)
{
	expect_rest(test, ANTS_PREALLOC);
}

/* 40, 41; B4, B21, B24: no thread, timer or work is left afterwards. */
static void release_timeout(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, 0);
	struct gate *gate = test_gate(test);

	occupy(test, pool, gate, 5);
	KUNIT_EXPECT_NE(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), 5);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_TRUE(test, at_rest(pool));
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 5);
}

/* A task adds the value of its data. */
struct addend {
	atomic_t *sum;
	int value;
};

static void add_task(void *data)
{
	struct addend *a = data;

	atomic_add(a->value, a->sum);
}

#define NR_ADDENDS	200

static void expect_sum(struct kunit *test, struct ants_pool *pool)
{
	struct addend *a = kunit_kcalloc(test, NR_ADDENDS, sizeof(*a),
					 GFP_KERNEL);
	atomic_t sum = ATOMIC_INIT(0);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, a);
	for (i = 0; i < NR_ADDENDS; i++) {
		a[i].sum = &sum;
		a[i].value = i;
		KUNIT_EXPECT_EQ(test, hand(test, pool, add_task, &a[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&sum),
			NR_ADDENDS * (NR_ADDENDS - 1) / 2);
}

/* 45, example 1: each task runs exactly once, before and after the reboot. */
static void reboot_calc(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, 0);

	expect_sum(test, pool);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	expect_sum(test, pool);
}

/* 46, B27: a preallocated pool is preallocated again after the reboot. */
static void reboot_prealloc_calc(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, ANTS_PREALLOC);

	expect_sum(test, pool);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 10);
	expect_sum(test, pool);
}

static struct kunit_case ants_port_end_cases[] = {
	KUNIT_CASE_PARAM(reboot_new_pool, kind_gen_params),
	KUNIT_CASE_PARAM(release_when_running, kind_gen_params),
	KUNIT_CASE_PARAM(rest_code_coverage, kind_gen_params),
	KUNIT_CASE_PARAM(rest_code_coverage_prealloc, kind_gen_params),
	KUNIT_CASE_PARAM(release_timeout, kind_gen_params),
	KUNIT_CASE_PARAM(reboot_calc, kind_gen_params),
	KUNIT_CASE_PARAM(reboot_prealloc_calc, kind_gen_params),
	{}
};

static struct kunit_suite ants_port_end_suite = {
	.name = "ants_port_end",
	.test_cases = ants_port_end_cases,
};

kunit_test_suite(ants_port_end_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the Go pool ants: how a pool ends");
MODULE_LICENSE("GPL");
