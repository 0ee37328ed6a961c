// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of a worker that is held at ANTS_PAUSE_FINISH: its task has returned,
 * and the worker has not taken the lock.
 */
#include <linux/module.h>

#include "race.h"

static void hold_finished(struct kunit *test, struct ants_pool *pool,
			  atomic_t *count)
{
	u64 completed = stats_of(pool).completed;

	hold(ANTS_PAUSE_FINISH, pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_FINISH);
	KUNIT_EXPECT_EQ(test, atomic_read(count), 1);
	KUNIT_EXPECT_EQ(test, stats_of(pool).completed, completed);
}

/* B5, B10: the worker finds the waiter that came just before it was free. */
static void submit_waits_for_a_worker_that_is_nearly_free(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *call;

	hold_finished(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, count),
			-EAGAIN);
	call = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	let_go(ANTS_PAUSE_FINISH);
	expect_result(test, call, 0);
	EXPECT_SOON(test, atomic_read(count) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
	expect_drained(test, pool, count, 2);
}

static void flush_waits_for_a_worker_to_say_so(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *call;

	hold_finished(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(pool, 1), -ETIMEDOUT);
	call = async_start_on(test, do_flush, pool, FOREVER);
	EXPECT_SOON(test, ants_peek(pool->nr_callers) == 1);
	let_go(ANTS_PAUSE_FINISH);
	expect_result(test, call, 0);
}

/*
 * B15: the pool is released between the end of a task and the worker's next
 * step.
 */
static void pool_is_released_under_a_worker_that_finishes(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);

	hold_finished(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 1), -ETIMEDOUT);
	let_go(ANTS_PAUSE_FINISH);
	expect_drained(test, pool, count, 1);
}

static void growth_does_not_wait_for_a_worker_that_finishes(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *call;

	hold_finished(test, pool, count);
	call = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), 0);
	expect_result(test, call, 0);
	EXPECT_SOON(test, atomic_read(count) == 2);
	let_go(ANTS_PAUSE_FINISH);
	EXPECT_SOON(test, ants_nr_idle(pool) == 2);
	expect_drained(test, pool, count, 2);
}

/* B19: the idle worker is the surplus, so the one that finishes must stay. */
static void shrink_sheds_idle_before_finishing(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	atomic_t *count = counter(test);

	park_workers(test, pool, 2);
	hold_finished(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	let_go(ANTS_PAUSE_FINISH);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), 0U);
}

/*
 * B8, B19: both workers are busy; the first to finish is the surplus, the next
 * one stays.
 */
static void shrink_sheds_the_first_that_finishes(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	hold_finished(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2U);
	let_go(ANTS_PAUSE_FINISH);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), 1U);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
}

static struct kunit_case race_finish_cases[] = {
	KUNIT_CASE(submit_waits_for_a_worker_that_is_nearly_free),
	KUNIT_CASE(flush_waits_for_a_worker_to_say_so),
	KUNIT_CASE(pool_is_released_under_a_worker_that_finishes),
	KUNIT_CASE(growth_does_not_wait_for_a_worker_that_finishes),
	KUNIT_CASE(shrink_sheds_idle_before_finishing),
	KUNIT_CASE(shrink_sheds_the_first_that_finishes),
	{}
};

static struct kunit_suite race_finish_suite = {
	.name = "ants_race_finish",
	.exit = race_exit,
	.test_cases = race_finish_cases,
};

kunit_test_suite(race_finish_suite);

MODULE_DESCRIPTION("ants: KUnit tests of forced races of a worker that finishes");
MODULE_LICENSE("GPL");
