// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regression tests for the bugs that the Go pool ants has had (B), and for those
 * of other pools (O). This is where each of them is tested; race_config stands
 * for the suite ants_race_config, and so on:
 *
 *  B1  submitter sleeps with the lock   b01_...
 *  B2  submitter polls                  b02_...
 *  B3  reaper off by one                b03_...
 *  B4  timer left behind                b04_...
 *  B5  last worker reaped, waiter left  b05_...
 *                                       race_finish.submit_waits_for_a_worker_that_is_nearly_free
 *  B6  fault kills a worker             fault.waiters_are_served
 *  B7  shrink waits for tasks           b07_...
 *  B8  capacity of a leaver is lost     b08_...
 *                                       race_finish.shrink_sheds_the_first_that_finishes
 *  B9  more threads than the capacity   race_make.submit_meets_a_newcomer
 *                                       stress, with ants_check() at each unlock
 *  B10 Tune up misses a submitter       race.enrolled_waiter_is_tuned_in
 *                                       race_config.submitter_comes_between_the_steps_of_a_growth
 *  B11 error path keeps the lock        b12_...; lockdep in all suites
 *  B12 the same                         b12_...
 *  B13 all workers fault                fault.all_threads_die
 *  B14 release wakes one waiter         b14_...
 *  B15 worker parks in a closed pool    race_finish.pool_is_released_under_a_worker_that_finishes
 *  B16 removed workers stay referenced  cannot occur: intrusive lists; kmemleak in all suites
 *  B17 task submits to its own pool     b17_...
 *  B18 Tune up wakes no waiter          race_config.growth_grants_a_waiter
 *  B19 numbers below zero, surplus      b19_...
 *                                       race_finish.shrink_sheds_idle_before_finishing
 *                                       race_config.task_ends_between_the_steps_of_a_shrink
 *  B20 Tune ignored without an error    b20_...
 *  B21 something lives after release    b04_...
 *  B22 release waits for the reaper     b22_...
 *  B23 release polls                    b23_...
 *  B24 helper thread leaks              cannot occur: there are only workers; b04_...
 *  B25 clock thread, early expiry       cannot occur: jiffies; suite reaper
 *  B26 reboot beside old workers        race_config.reboot_does_not_overtake_a_release
 *                                       race_config.pool_opens_while_a_thread_ends
 *  B27 reboot forgets the size          b27_...
 *  B28 wrong error for a waiter         b28_...
 *  B29 pools are left of a bad multi    multi.bad_arguments_make_nothing
 *                                       multi_config.failed_create_leaves_nothing
 *      an error of one pool is lost     multi_config.release_times_out_and_is_repeatable
 *      one is full, others are free     multi.full_shard_sends_on
 *                                       multi.ten_by_five_round_robin
 *  B30 NULL as a signal                 b30_...
 *                                       func.null_is_a_value
 *
 *  O1  call of a closing pool crashes   call.o01_closing_pool_answers_its_callers
 *  O2  caller gives up, task goes on    call.running_call_times_out
 *                                       work.table_cancel_sync
 *  O3  removed workers stay referenced  cannot occur: as B16
 *  O4  fault skips a counter            fault.numbers_stay_true
 *  O5  neither cancel nor end tells     race_work.waits_against_all
 *                                       group_cancel.cancel_races_with_ends
 *  O6  end and cancel both tell         race_work.canceller_frees_the_item
 *                                       group_cancel.member_that_runs_again_ends_once
 *      with a fault in between          fault_item.cancel_races_with_a_death
 *  O7  cancel queues with submitters    group_cancel.cancel_while_a_submitter_waits
 *      so does release                  b14_...
 *      a thread for each queued task    cannot occur: a task is data until it starts
 *  O8  recovery exists, and is lost     fault_item.worker_init_dies
 *  O9  release drops tasks              release.accepted_tasks_still_run
 *      tasks must say that they end     group.thousand_with_a_queue
 *  O10 submitter sleeps with the lock   b01_...
 *      and there is no worker left      spawn.threads_that_failed_are_made_later
 *                                       reaper.leaving_worker_serves_a_waiter
 *  O11 wake-up before the sleep         submit_wait.finish_reaches_a_waiter_about_to_sleep
 *      the last task wakes no waiter    race_finish.submit_waits_for_a_worker_that_is_nearly_free
 *  O12 cancelled tasks never end        group_cancel.cancel_ends_what_is_pending
 *                                       work_cancel.cancel_lets_a_closed_pool_drain
 *  O13 submit against release           release.release_and_submits_race
 *                                       ants_port_end.release_when_running
 *  O14 task ends its thread             fault.task_ends_its_thread
 *  O15 ended tasks keep memory          memory.blocking_pool_runs_all_without_memory
 *                                       reaper.stock_is_trimmed_when_all_left
 *  O16 threads only for a full queue    worker.blocking_tasks_make_exactly_capacity_threads
 *  O17 canceller of a task is stuck     work_cancel.o17_submitter_can_cancel_what_it_waits_for
 *  O18 a new worker's task is stolen    submit.unlimited_pool_runs_all_at_once
 *                                       race_make.newcomer_looks_after_the_next
 *  O19 group ends on some paths only    group_wait.waited_for_may_be_freed
 *      unused, it leaks                 cannot occur: it owns nothing;
 *                                       group.empty_group_has_ended
 *  O20 stop of what was never made      pool.destroy_ignores_what_is_no_pool
 *      stop twice, or in use            release.release_may_be_repeated
 *                                       release.closers_do_not_disturb_each_other
 *      list and count disagree          reaper.exactly_the_expired_leave
 *      limit is not enforced            submit.capacity_holds_under_concurrent_submits
 */
#include <linux/module.h>

#include "race.h"

/* Two submitters and their worker must not deadlock on the lock. */
static void b01_many_submitters_share_one_worker(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call[8];
	int i;

	fill_pool(test, pool, gate, 1);
	for (i = 0; i < ARRAY_SIZE(call); i++)
		call[i] = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == ARRAY_SIZE(call));
	gate_open(gate);
	for (i = 0; i < ARRAY_SIZE(call); i++)
		expect_result(test, call[i], 0);
	expect_drained(test, pool, count, ARRAY_SIZE(call));
}

static unsigned long nr_switches(const struct async_call *call)
{
	/*
	 * This only races in a kernel where the test fails: the thread sleeps.
	 */
	return data_race(call->task->nvcsw);
}

/* Only the event that @call waits for makes its thread run. */
static void expect_no_polling(struct kunit *test, struct async_call *call)
{
	unsigned long switches;

	expect_blocked(test, call);
	switches = nr_switches(call);
	expect_blocked(test, call);
	KUNIT_EXPECT_EQ(test, nr_switches(call), switches);
}

static void b02_submitter_does_not_poll(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call;

	fill_pool(test, pool, gate, 1);
	call = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	expect_no_polling(test, call);
	gate_open(gate);
	expect_result(test, call, 0);
}

/* True if nothing is about to happen in @pool. */
static bool is_quiet(struct ants_pool *pool)
{
	return !timer_pending(&pool->timer.timer) && !ants_peek(pool->upkeep.queued) &&
	       !ants_peek(pool->upkeep.making);
}

/* As many workers leave as are above the floor, then nothing more happens. */
static void b03_reaper_takes_exactly_the_surplus(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4,
		.min_workers = 1,
		.expiry = 1,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "b03");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 4);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1 &&
		    ants_nr_running(pool) == 1);
	EXPECT_SOON(test, is_quiet(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	/* More than four, if one was woken late and expired before the rest. */
	KUNIT_EXPECT_GE(test, stats_of(pool).spawned, 4ULL);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped,
			stats_of(pool).spawned - 1);
}

/* With B21, B24: no timer, no work and no thread is left. */
static void b04_released_pool_owns_nothing(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4, .min_workers = 2, .expiry = 3600 * HZ,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "b04");
	atomic_t *count = counter(test);

	park_workers(test, pool, 4);
	expect_drained(test, pool, count, 0);
	KUNIT_EXPECT_TRUE(test, is_quiet(pool));
	KUNIT_EXPECT_TRUE(test, list_empty(&pool->workers.list));
	KUNIT_EXPECT_FALSE(test, work_busy(&pool->upkeep.work) & WORK_BUSY_PENDING);
}

/* Workers expire around each submit. */
static void b05_reaper_leaves_no_submitter_behind(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .expiry = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "b05");
	atomic_t *count = counter(test);
	int i;

	for (i = 0; i < 100; i++) {
		expect_submitted(test, pool, count_task, count);
		expect_submitted(test, pool, count_task, count);
		usleep_range(1000, 1000 + i * 100);
	}
	EXPECT_SOON(test, stats_of(pool).reaped > 0);
	expect_drained(test, pool, count, 200);
}

static void b07_shrink_returns_while_all_are_busy(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 4, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 4);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), 4U);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 4U);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 4);
}

static void b08_leavers_free_their_capacity(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 4, 0);
	struct gate *gate;
	int i;

	for (i = 0; i < 10; i++) {
		gate = test_gate(test);
		fill_pool(test, pool, gate, 4);
		KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
		gate_open(gate);
		EXPECT_SOON(test, ants_nr_idle(pool) == 1);
		KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
		KUNIT_EXPECT_EQ(test, ants_tune(pool, 4), 0);
	}
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 4U);
}

/* With B11: after every error the lock is free. */
static void b12_errors_drop_the_lock(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, count, 0),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, count, 1),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), -EBUSY);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(pool, 1), -ETIMEDOUT);
	/* A timer or the upkeep work may hold it for a moment. */
	EXPECT_SOON(test, !raw_spin_is_locked(&pool->lock));
	gate_open(gate);
	expect_submitted(test, pool, count_task, count);
	expect_drained(test, pool, count, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, count), -ESHUTDOWN);
	EXPECT_SOON(test, !raw_spin_is_locked(&pool->lock));
}

/* More waiters than one lock hold refuses. */
static void b14_release_wakes_every_waiter(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call[ANTS_HOLD_MAX + 4];
	int i;

	fill_pool(test, pool, gate, 1);
	for (i = 0; i < ARRAY_SIZE(call); i++)
		call[i] = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == ARRAY_SIZE(call));
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 0U);
	for (i = 0; i < ARRAY_SIZE(call); i++)
		expect_result(test, call[i], -ESHUTDOWN);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
}

/* What a task found when it submitted to its own pool. */
struct nested {
	struct ants_pool *pool;
	atomic_t count;
	atomic_t done;
	int result;
};

static void nested_task(void *data)
{
	struct nested *n = data;

	n->result = ants_submit(n->pool, count_task, &n->count);
	atomic_inc(&n->done);
}

static void b17_task_cannot_hang_its_own_pool(struct kunit *test)
{
	struct nested *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	n->pool = race_pool(test, 1, 0);
	expect_submitted(test, n->pool, nested_task, n);
	EXPECT_SOON(test, atomic_read(&n->done) == 1);
	KUNIT_EXPECT_EQ(test, n->result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, ants_tune(n->pool, 2), 0);
	expect_submitted(test, n->pool, nested_task, n);
	EXPECT_SOON(test, atomic_read(&n->done) == 2);
	KUNIT_EXPECT_EQ(test, n->result, 0);
	expect_drained(test, n->pool, &n->count, 1);
}

static void b19_free_is_never_negative(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 4, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 4);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0U);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0U);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, ANTS_UNLIMITED), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), ANTS_UNLIMITED);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_busy(pool) == 0);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 1U);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0U);
}

static void b20_tune_takes_effect_or_fails(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .flags = ANTS_PREALLOC };
	struct ants_pool *pool = test_pool(test, &attrs, "b20");

	KUNIT_EXPECT_EQ(test, ants_tune(pool, 4), 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 4U);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 4U);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, ANTS_UNLIMITED), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 4U);
	EXPECT_SOON(test, ants_nr_idle(pool) == 4);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
}

static void b22_release_needs_no_reaper(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 4, 0);
	atomic_t *count = counter(test);

	park_workers(test, pool, 4);
	/*
	 * The timer may still be armed, once, for a thread that was just made.
	 */
	EXPECT_SOON(test, !timer_pending(&pool->timer.timer));
	expect_drained(test, pool, count, 0);
}

static void b23_release_does_not_poll(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	struct async_call *call;

	fill_pool(test, pool, gate, 1);
	/*
	 * When the upkeep work or a maker ends it wakes callers that drain the
	 * pool, once.
	 */
	EXPECT_SOON(test, !ants_peek(pool->upkeep.queued) &&
		    !ants_peek(pool->upkeep.making));
	call = async_start_on(test, do_release_timeout, pool, FOREVER);
	EXPECT_SOON(test, has_drainer(pool));
	expect_no_polling(test, call);
	gate_open(gate);
	expect_result(test, call, 0);
}

static void b27_reboot_restores_everything(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .flags = ANTS_PREALLOC };
	struct ants_pool *pool = test_pool(test, &attrs, "b27");
	atomic_t *count = counter(test);
	int i, round;

	for (round = 1; round <= 3; round++) {
		KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 4U);
		for (i = 0; i < 100; i++)
			expect_submitted(test, pool, count_task, count);
		expect_drained(test, pool, count, 100 * round);
		KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	}
}

/* Each cause has an error of its own. */
static void b28_waiter_learns_why(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .max_blocking = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "b28");
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call;

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, count, 1),
			-ETIMEDOUT);
	call = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, count), -EBUSY);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	expect_result(test, call, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, count), -ESHUTDOWN);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
}

static atomic_t nulls;

static void null_task(void *data)
{
	atomic_add(!data, &nulls);
}

static void b30_null_is_data_like_any_other(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	int i;

	atomic_set(&nulls, 0);
	for (i = 0; i < 3; i++)
		expect_submitted(test, pool, null_task, NULL);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, NULL, &nulls), -EINVAL);
	expect_submitted(test, pool, null_task, NULL);
	expect_drained(test, pool, &nulls, 4);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
}

static struct kunit_case bug_cases[] = {
	KUNIT_CASE(b01_many_submitters_share_one_worker),
	KUNIT_CASE(b02_submitter_does_not_poll),
	KUNIT_CASE(b03_reaper_takes_exactly_the_surplus),
	KUNIT_CASE(b04_released_pool_owns_nothing),
	KUNIT_CASE(b05_reaper_leaves_no_submitter_behind),
	KUNIT_CASE(b07_shrink_returns_while_all_are_busy),
	KUNIT_CASE(b08_leavers_free_their_capacity),
	KUNIT_CASE(b12_errors_drop_the_lock),
	KUNIT_CASE(b14_release_wakes_every_waiter),
	KUNIT_CASE(b17_task_cannot_hang_its_own_pool),
	KUNIT_CASE(b19_free_is_never_negative),
	KUNIT_CASE(b20_tune_takes_effect_or_fails),
	KUNIT_CASE(b22_release_needs_no_reaper),
	KUNIT_CASE(b23_release_does_not_poll),
	KUNIT_CASE(b27_reboot_restores_everything),
	KUNIT_CASE(b28_waiter_learns_why),
	KUNIT_CASE(b30_null_is_data_like_any_other),
	{}
};

static struct kunit_suite bug_suite = {
	.name = "ants_bug",
	.exit = race_exit,
	.test_cases = bug_cases,
};

kunit_test_suite(bug_suite);

MODULE_DESCRIPTION("ants: KUnit regression tests of the Go pool's bugs");
MODULE_LICENSE("GPL");
