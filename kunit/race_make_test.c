// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of a thread that is being made, held at pause points: the worker is
 * reserved; the thread is made; it runs and has not taken the lock. And making
 * it fails. Whatever happens meanwhile must end the same way at each of the
 * three.
 */
#include <linux/module.h>

#include "race.h"

static const enum ants_pause_point stages[] = {
	ANTS_PAUSE_MAKE,
	ANTS_PAUSE_MADE,
	ANTS_PAUSE_NEW,
};

static void stage_name(const enum ants_pause_point *stage, char *desc)
{
	static const char * const names[] = { "reserved", "made", "new" };

	strscpy(desc, names[stage - stages], KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(stage, stages, stage_name);

static enum ants_pause_point stage_of(struct kunit *test)
{
	return *(const enum ants_pause_point *)test->param_value;
}

static void let_stage_go(struct kunit *test)
{
	let_go(stage_of(test));
}

/* A counted task is pending, and a new worker is on its way. */
static void hold_newcomer(struct kunit *test, struct ants_pool *pool,
			  atomic_t *count)
{
	unsigned int running = ants_nr_running(pool);

	never_late();
	hold(stage_of(test), pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, stage_of(test));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), running + 1);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_new), 1U);
}

/* B9: a reserved worker counts from the start, so no second thread is made. */
static void submit_meets_a_newcomer(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *call;

	hold_newcomer(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, count),
			-EAGAIN);
	call = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	let_stage_go(test);
	expect_result(test, call, 0);
	EXPECT_SOON(test, atomic_read(count) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
	expect_drained(test, pool, count, 2);
}

static void release_meets_a_newcomer(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);

	hold_newcomer(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), -EBUSY);
	let_stage_go(test);
	expect_drained(test, pool, count, 1);
}

/*
 * The newcomer exceeds the new capacity and leaves; the other worker runs its
 * task.
 */
static void shrink_meets_a_newcomer(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	hold_newcomer(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2U);
	let_stage_go(test);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(count), 0);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 1);
	expect_drained(test, pool, count, 1);
}

/*
 * A reserved worker without a thread does not make another worker leave, idle
 * or busy.
 */
static void shrink_spares_the_worker_beside_a_reservation(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_MAKE, pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_MAKE);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(pool), 1U);
	expect_submitted(test, pool, count_task, count);
	EXPECT_SOON(test, atomic_read(count) == 2);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	let_go(ANTS_PAUSE_MAKE);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	expect_drained(test, pool, count, 2);
}

/* The capacity is back before the newcomer checks it, so the newcomer stays. */
static void shrink_and_growth_meet_a_newcomer(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	hold_newcomer(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), 0);
	let_stage_go(test);
	EXPECT_SOON(test, atomic_read(count) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2U);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
}

/*
 * A burst that another worker drains costs no further thread: of its four tasks
 * none had a worker when the first thread was decided on.
 */
static void queue_is_drained_before_a_newcomer_comes(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 8, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	int i;

	fill_pool(test, pool, gate, 1);
	hold_newcomer(test, pool, count);
	for (i = 0; i < 3; i++)
		expect_submitted(test, pool, count_task, count);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), 0U);
	let_stage_go(test);
	EXPECT_SOON(test, ants_nr_idle(pool) == 2);
	EXPECT_SOON(test, !ants_peek(pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_new), 0U);
}

static void destroy_meets_a_newcomer(struct kunit *test)
{
	struct ants_pool *pool = race_own_pool(test, 1);
	atomic_t *count = counter(test);
	struct async_call *call;

	hold_newcomer(test, pool, count);
	call = async_start_on(test, do_destroy, pool, 0);
	EXPECT_SOON(test, ants_is_released(pool) &&
		    has_drainer(pool));
	expect_blocked(test, call);
	let_stage_go(test);
	expect_result(test, call, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(count), 1);
}

/* One more thread is wanted, not two: the newcomer counts as one of them. */
static void floor_is_raised_while_a_newcomer_comes(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 4, 0);
	atomic_t *count = counter(test);

	hold_newcomer(test, pool, count);
	expect_written(test, pool, "min_workers", "2");
	let_stage_go(test);
	EXPECT_SOON(test, ants_nr_idle(pool) == 2);
	EXPECT_SOON(test, !ants_peek(pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
	expect_drained(test, pool, count, 1);
}

/*
 * The next thread is made when the last one has arrived and finds more tasks.
 */
static void newcomer_looks_after_the_next(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 4, 0);
	struct gate *gate = test_gate(test);
	int i;

	hold(ANTS_PAUSE_NEW, pool);
	submit_never_late(test, pool, gate_task, gate);
	expect_held(test, ANTS_PAUSE_NEW);
	for (i = 0; i < 3; i++)
		expect_submitted(test, pool, gate_task, gate);
	EXPECT_SOON(test, !ants_peek(pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	let_go(ANTS_PAUSE_NEW);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 4);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 4U);
	gate_open(gate);
}

/*
 * The worker that took the newcomer's task and parked is woken for the next one. Its
 * arrival shows that workers do come, so the newcomer has more time.
 */
static void idle_worker_is_woken_beside_a_newcomer(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	unsigned long since;

	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_NEW, pool);
	submit_never_late(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_NEW);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	since = ants_peek(pool->wakes.since);
	EXPECT_SOON(test, time_after(jiffies, since));
	expect_submitted(test, pool, count_task, count);
	EXPECT_SOON(test, atomic_read(count) == 2);
	KUNIT_EXPECT_TRUE(test, time_after(ants_peek(pool->wakes.since), since));
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_new), 1U);
}

/* Each task gets another thread, and the late newcomer comes in vain. */
static void late_newcomer_delays_no_task(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 4, 0);
	struct gate *gate = test_gate(test);
	int i;

	hold(ANTS_PAUSE_NEW, pool);
	for (i = 0; i < 3; i++)
		expect_submitted(test, pool, gate_task, gate);
	expect_held(test, ANTS_PAUSE_NEW);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 3);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_late), 1U);
	let_go(ANTS_PAUSE_NEW);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_late), 0U);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 4ULL);
	gate_open(gate);
}

/* Threads that have to get ready are made at the same time. */
static void *get_ready(struct ants_pool *unused)
{
	return NULL;
}

/* While one thread gets ready, others are made. */
static void threads_get_ready_side_by_side(struct kunit *test)
{
	const struct ants_attrs attrs = {
		.capacity = 4, .flags = ANTS_NO_PURGE, .worker_init = get_ready,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "race");
	struct gate *gate = test_gate(test);
	const struct ants_task tasks[] = {
		{ gate_task, gate }, { gate_task, gate }, { gate_task, gate },
	};

	hold(ANTS_PAUSE_NEW, pool);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, 3), 3);
	expect_held(test, ANTS_PAUSE_NEW);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), 1U);
	let_go(ANTS_PAUSE_NEW);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 3);
	EXPECT_SOON(test, !ants_peek(pool->upkeep.making));
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 3ULL);
	gate_open(gate);
}

/* The pool is closed while a thread is made that no task wants any more. */
static void release_waits_for_a_maker(struct kunit *test)
{
	const struct ants_attrs attrs = {
		.capacity = 2, .flags = ANTS_NO_PURGE, .worker_init = get_ready,
	};
	struct ants_pool *pool = ants_pool_create(&attrs, "race_own");
	struct gate *gate = test_gate(test);
	struct async_call *call;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_MAKE, pool);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	expect_held(test, ANTS_PAUSE_MAKE);
	call = async_start_on(test, do_destroy, pool, 0);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(&gate->passed) == 2);
	expect_blocked(test, call);
	let_go(ANTS_PAUSE_MAKE);
	expect_result(test, call, 0);
}

/* --- a thread cannot be made --------------------------------------------------- */

/*
 * P16: the reservation is given back, making a thread is tried again, and the
 * task is not lost.
 */
static void thread_is_made_at_the_second_try(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *call;

	hold(ANTS_PAUSE_MAKE, pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_MAKE);
	call = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	ants_fail_arm(ANTS_FAIL_THREAD, 3);
	let_go(ANTS_PAUSE_MAKE);
	expect_result(test, call, 0);
	EXPECT_SOON(test, atomic_read(count) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
	expect_drained(test, pool, count, 2);
}

/* Another worker runs everything while the thread is being made. */
static void thread_fails_after_the_queue_was_drained(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_MAKE, pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_MAKE);
	/* A thread counts once it exists, since a counter never falls. */
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
	ants_fail_arm(ANTS_FAIL_THREAD, 1);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	let_go(ANTS_PAUSE_MAKE);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
	expect_drained(test, pool, count, 1);
}

static struct kunit_case race_make_cases[] = {
	KUNIT_CASE_PARAM(submit_meets_a_newcomer, stage_gen_params),
	KUNIT_CASE_PARAM(release_meets_a_newcomer, stage_gen_params),
	KUNIT_CASE_PARAM(shrink_meets_a_newcomer, stage_gen_params),
	KUNIT_CASE(shrink_spares_the_worker_beside_a_reservation),
	KUNIT_CASE_PARAM(shrink_and_growth_meet_a_newcomer, stage_gen_params),
	KUNIT_CASE_PARAM(queue_is_drained_before_a_newcomer_comes,
			 stage_gen_params),
	KUNIT_CASE_PARAM(destroy_meets_a_newcomer, stage_gen_params),
	KUNIT_CASE_PARAM(floor_is_raised_while_a_newcomer_comes,
			 stage_gen_params),
	KUNIT_CASE(newcomer_looks_after_the_next),
	KUNIT_CASE(idle_worker_is_woken_beside_a_newcomer),
	KUNIT_CASE(late_newcomer_delays_no_task),
	KUNIT_CASE(threads_get_ready_side_by_side),
	KUNIT_CASE(release_waits_for_a_maker),
	KUNIT_CASE(thread_is_made_at_the_second_try),
	KUNIT_CASE(thread_fails_after_the_queue_was_drained),
	{}
};

static struct kunit_suite race_make_suite = {
	.name = "ants_race_make",
	.exit = race_exit,
	.test_cases = race_make_cases,
};

kunit_test_suite(race_make_suite);

MODULE_DESCRIPTION("ants: KUnit tests of forced races of a thread in the making");
MODULE_LICENSE("GPL");
