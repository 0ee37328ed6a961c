// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of tune, release and flush, which are held between their first step,
 * one locked section, and the rounds that follow; and of the end of a thread that
 * has left.
 */
#include <linux/module.h>

#include "race.h"

/* --- ANTS_PAUSE_TUNE: the capacity is set, the rounds have not begun --------- */

static struct async_call *hold_tune(struct kunit *test, struct ants_pool *pool,
				    unsigned int capacity)
{
	struct async_call *call;

	hold(ANTS_PAUSE_TUNE, pool);
	call = async_start_on(test, do_tune, pool, capacity);
	expect_held(test, ANTS_PAUSE_TUNE);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), capacity);
	return call;
}

/*
 * B10: the submitter comes between the new capacity and the check for waiters.
 */
static void submitter_comes_between_the_steps_of_a_growth(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *tuner, *submitter;

	fill_pool(test, pool, gate, 1);
	tuner = hold_tune(test, pool, 2);
	submitter = submit_async(test, pool, count_task, count, FOREVER);
	expect_result(test, submitter, 0);
	EXPECT_SOON(test, atomic_read(count) == 1);
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
}

/* B18: tune itself grants the waiter that was there before. */
static void growth_grants_a_waiter(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *tuner, *waiter;

	fill_pool(test, pool, gate, 1);
	waiter = submit_async(test, pool, gate_task, gate, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	tuner = hold_tune(test, pool, 2);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, count),
			-EAGAIN);
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 0U);
	expect_result(test, waiter, 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2);
}

/*
 * If the tune is held up, the timer grants the waiter: nothing else happens
 * here.
 */
static void growth_that_is_held_up_grants_a_waiter(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 4);
	struct gate *gate = test_gate(test);
	struct async_call *tuner, *waiter;
	int i;

	fill_pool(test, pool, gate, 2);
	for (i = 0; i < 4; i++)
		expect_submitted(test, pool, gate_task, gate);
	waiter = submit_async(test, pool, gate_task, gate, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	tuner = hold_tune(test, pool, 4);
	expect_result(test, waiter, 0);
	expect_blocked(test, tuner);
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
}

static void task_ends_between_the_steps_of_a_growth(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *tuner, *waiter;

	fill_pool(test, pool, gate, 1);
	waiter = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	tuner = hold_tune(test, pool, 2);
	gate_open(gate);
	expect_result(test, waiter, 0);
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
	expect_drained(test, pool, count, 1);
}

/*
 * B19: there is one worker too many, so exactly one leaves, whichever decides.
 */
static void task_ends_between_the_steps_of_a_shrink(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test), *other = test_gate(test);
	struct async_call *tuner;

	fill_pool(test, pool, gate, 1);
	fill_pool(test, pool, other, 1);
	tuner = hold_tune(test, pool, 1);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
	gate_open(other);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
}

/* The new bound holds at once, not when the rounds are over. */
static void submitter_comes_between_the_steps_of_a_shrink(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *tuner, *waiter;

	fill_pool(test, pool, gate, 1);
	tuner = hold_tune(test, pool, 1);
	waiter = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 1U);
	gate_open(gate);
	expect_result(test, waiter, 0);
	expect_drained(test, pool, count, 1);
}

/*
 * A task wakes an idle worker before the idle ones are retired: all but one
 * leave.
 */
static void idle_workers_are_woken_before_they_are_shed(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 3, 0);
	struct gate *gate = test_gate(test);
	struct async_call *tuner;

	park_workers(test, pool, 3);
	tuner = hold_tune(test, pool, 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
}

static void release_does_not_wait_for_a_tune(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct async_call *tuner = hold_tune(test, pool, 2);
	struct async_call *releaser = async_start_on(test, do_release, pool, 0);

	expect_result(test, releaser, 0);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	let_go(ANTS_PAUSE_TUNE);
	expect_result(test, tuner, 0);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0U);
}

/* --- ANTS_PAUSE_RELEASE: closed, the rounds have not begun ------------------- */

static struct async_call *hold_release(struct kunit *test,
				       struct ants_pool *pool)
{
	struct async_call *call;

	hold(ANTS_PAUSE_RELEASE, pool);
	call = async_start_on(test, do_release, pool, 0);
	expect_held(test, ANTS_PAUSE_RELEASE);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	return call;
}

/* P5: closing is one step, whatever work it leaves. */
static void submit_between_the_steps_of_a_release(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *releaser;

	fill_pool(test, pool, gate, 1);
	releaser = hold_release(test, pool);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, count), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, count, 1),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, count),
			-ESHUTDOWN);
	let_go(ANTS_PAUSE_RELEASE);
	expect_result(test, releaser, 0);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
}

/* Room in a closed pool is not granted to a waiter. */
static void task_ends_between_the_steps_of_a_release(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *releaser, *waiter;

	fill_pool(test, pool, gate, 1);
	waiter = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	releaser = hold_release(test, pool);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 1U);
	let_go(ANTS_PAUSE_RELEASE);
	expect_result(test, releaser, 0);
	expect_result(test, waiter, -ESHUTDOWN);
	expect_drained(test, pool, count, 0);
}

/*
 * Tasks accepted before the release run, even if their worker was not woken
 * yet.
 */
static void pending_tasks_run_between_the_steps_of_a_release(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 3);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *releaser;
	int i;

	fill_pool(test, pool, gate, 1);
	for (i = 0; i < 3; i++)
		expect_submitted(test, pool, count_task, count);
	releaser = hold_release(test, pool);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 3);
	let_go(ANTS_PAUSE_RELEASE);
	expect_result(test, releaser, 0);
	expect_drained(test, pool, count, 3);
}

/* B26: a reboot does not overtake a release that still has work to do. */
static void reboot_does_not_overtake_a_release(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *releaser, *rebooter, *drainer;

	releaser = hold_release(test, pool);
	rebooter = async_start_on(test, do_reboot, pool, 0);
	expect_result(test, rebooter, -EBUSY);
	KUNIT_EXPECT_TRUE(test, ants_is_released(pool));
	drainer = async_start_on(test, do_release_timeout, pool, 1);
	expect_result(test, drainer, -ETIMEDOUT);
	let_go(ANTS_PAUSE_RELEASE);
	expect_result(test, releaser, 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	expect_submitted(test, pool, count_task, count);
	expect_drained(test, pool, count, 1);
}

static void two_releases_at_once(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *releaser, *drainer, *waiter;

	fill_pool(test, pool, gate, 1);
	waiter = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	releaser = hold_release(test, pool);
	drainer = async_start_on(test, do_release_timeout, pool, FOREVER);
	expect_result(test, waiter, -ESHUTDOWN);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	expect_blocked(test, drainer);
	let_go(ANTS_PAUSE_RELEASE);
	expect_result(test, releaser, 0);
	expect_result(test, drainer, 0);
	expect_drained(test, pool, count, 0);
}

/* Destroy waits for a caller inside release. */
static void destroy_waits_for_a_release(struct kunit *test)
{
	struct ants_pool *pool = race_own_pool(test, 1);
	struct async_call *releaser = hold_release(test, pool);
	struct async_call *destroyer;

	destroyer = async_start_on(test, do_destroy, pool, 0);
	expect_blocked(test, destroyer);
	let_go(ANTS_PAUSE_RELEASE);
	expect_result(test, releaser, 0);
	expect_result(test, destroyer, 0);
}

/* --- ANTS_PAUSE_AWAIT: the flush has begun, and has not looked yet ------------ */

static struct async_call *hold_flush(struct kunit *test, struct ants_pool *pool)
{
	struct async_call *call;

	hold(ANTS_PAUSE_AWAIT, pool);
	call = async_start_on(test, do_flush, pool, FOREVER);
	expect_held(test, ANTS_PAUSE_AWAIT);
	return call;
}

static void tasks_end_before_the_flush_waits(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	struct async_call *flusher;

	fill_pool(test, pool, gate, 1);
	flusher = hold_flush(test, pool);
	gate_open(gate);
	EXPECT_SOON(test, stats_of(pool).completed == 1);
	let_go(ANTS_PAUSE_AWAIT);
	expect_result(test, flusher, 0);
}

/* A flush does not wait for tasks that are submitted after it began. */
static void submit_after_the_flush_began(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test), *later = test_gate(test);
	struct async_call *flusher;

	fill_pool(test, pool, gate, 1);
	flusher = async_start_on(test, do_flush, pool, FOREVER);
	EXPECT_SOON(test, ants_peek(pool->flips));
	expect_submitted(test, pool, gate_task, later);
	EXPECT_SOON(test, atomic_read(&later->entered) == 1);
	expect_blocked(test, flusher);
	gate_open(gate);
	expect_result(test, flusher, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&later->passed), 0);
}

/*
 * A flush ends even if the pool is closed and its last thread leaves meanwhile.
 */
static void pool_is_drained_before_the_flush_waits(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *flusher;

	fill_pool(test, pool, gate, 1);
	flusher = hold_flush(test, pool);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
	let_go(ANTS_PAUSE_AWAIT);
	expect_result(test, flusher, 0);
}

/* The second flush flips, and both wait for the same tasks. */
static void flush_comes_while_another_one_begins(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test), *later = test_gate(test);
	struct async_call *first, *second;

	fill_pool(test, pool, gate, 1);
	first = hold_flush(test, pool);
	second = async_start_on(test, do_flush, pool, FOREVER);
	EXPECT_SOON(test, ants_peek(pool->flips));
	expect_submitted(test, pool, gate_task, later);
	let_go(ANTS_PAUSE_AWAIT);
	expect_blocked(test, first);
	gate_open(gate);
	expect_result(test, first, 0);
	expect_result(test, second, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&later->passed), 0);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->flips), 1U);
}

/* --- ANTS_PAUSE_LEFT: out of the pool, not ended --------------------------------- */

static void hold_left(struct kunit *test, struct ants_pool *pool)
{
	hold(ANTS_PAUSE_LEFT, pool);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	expect_held(test, ANTS_PAUSE_LEFT);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0U);
}

static void pool_opens_while_a_thread_ends(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);

	park_workers(test, pool, 1);
	hold_left(test, pool);
	expect_drained(test, pool, count, 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	expect_submitted(test, pool, count_task, count);
	EXPECT_SOON(test, atomic_read(count) == 1);
	let_go(ANTS_PAUSE_LEFT);
	expect_drained(test, pool, count, 1);
}

/* The thread does not touch the pool any more, which is freed. */
static void pool_goes_while_a_thread_ends(struct kunit *test)
{
	struct ants_pool *pool = race_own_pool(test, 1);

	park_workers(test, pool, 1);
	hold_left(test, pool);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	rcu_barrier();
	let_go(ANTS_PAUSE_LEFT);
}

/* The place of the worker is free at once. */
static void thread_is_made_while_another_ends(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .expiry = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "race");
	atomic_t *count = counter(test);

	hold(ANTS_PAUSE_LEFT, pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_LEFT);
	expect_submitted(test, pool, count_task, count);
	EXPECT_SOON(test, atomic_read(count) == 2);
	let_go(ANTS_PAUSE_LEFT);
	EXPECT_SOON(test, stats_of(pool).reaped == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
	expect_drained(test, pool, count, 2);
}

static struct kunit_case race_config_cases[] = {
	KUNIT_CASE(submitter_comes_between_the_steps_of_a_growth),
	KUNIT_CASE(growth_grants_a_waiter),
	KUNIT_CASE(growth_that_is_held_up_grants_a_waiter),
	KUNIT_CASE(task_ends_between_the_steps_of_a_growth),
	KUNIT_CASE(task_ends_between_the_steps_of_a_shrink),
	KUNIT_CASE(submitter_comes_between_the_steps_of_a_shrink),
	KUNIT_CASE(idle_workers_are_woken_before_they_are_shed),
	KUNIT_CASE(release_does_not_wait_for_a_tune),
	KUNIT_CASE(submit_between_the_steps_of_a_release),
	KUNIT_CASE(task_ends_between_the_steps_of_a_release),
	KUNIT_CASE(pending_tasks_run_between_the_steps_of_a_release),
	KUNIT_CASE(reboot_does_not_overtake_a_release),
	KUNIT_CASE(two_releases_at_once),
	KUNIT_CASE(destroy_waits_for_a_release),
	KUNIT_CASE(tasks_end_before_the_flush_waits),
	KUNIT_CASE(submit_after_the_flush_began),
	KUNIT_CASE(pool_is_drained_before_the_flush_waits),
	KUNIT_CASE(flush_comes_while_another_one_begins),
	KUNIT_CASE(pool_opens_while_a_thread_ends),
	KUNIT_CASE(pool_goes_while_a_thread_ends),
	KUNIT_CASE(thread_is_made_while_another_ends),
	{}
};

static struct kunit_suite race_config_suite = {
	.name = "ants_race_config",
	.exit = race_exit,
	.test_cases = race_config_cases,
};

kunit_test_suite(race_config_suite);

MODULE_DESCRIPTION("ants: KUnit tests of forced races of tune, release, flush");
MODULE_LICENSE("GPL");
