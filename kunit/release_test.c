// SPDX-License-Identifier: GPL-2.0-only
/* Closing a pool, draining it, opening it again, and its end. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"release"

/* P7: nothing is left from the moment at which a drain has returned 0. */
static void expect_drained(struct rig *rig)
{
	struct ants_stats stats = stats_of(rig->pool);

	KUNIT_EXPECT_TRUE(rig->test, silent(rig->pool));
	KUNIT_EXPECT_TRUE(rig->test, ants_is_released(rig->pool));
	KUNIT_EXPECT_EQ(rig->test, stats.running, 0);
	KUNIT_EXPECT_EQ(rig->test, stats.idle, 0);
	KUNIT_EXPECT_EQ(rig->test, stats.busy, 0);
	KUNIT_EXPECT_EQ(rig->test, stats.pending, 0);
	KUNIT_EXPECT_EQ(rig->test, stats.waiting, 0);
	KUNIT_EXPECT_EQ(rig->test, stats.free, 0);
	KUNIT_EXPECT_EQ(rig->test, stats.completed, stats.submitted);
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->nr_callers), 0);
	/* A thread that has left can still be seen for a moment. */
	EXPECT_SOON(rig->test, nr_threads(NAME) == 0);
}

static void drain(struct rig *rig)
{
	KUNIT_EXPECT_EQ(rig->test, ants_release_timeout(rig->pool, FOREVER), 0);
	expect_drained(rig);
}

static void release_may_be_repeated(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_TRUE(test, ants_is_released(rig->pool));
	gate_open(&rig->gate);
	drain(rig);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	drain(rig);
}

static void released_pool_refuses_tasks(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(rig->pool, count_task,
						  &rig->count, 0), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(rig->pool, count_task,
						  &rig->count, 1), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 4);
	drain(rig);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
}

/* B14: each waiter is refused while the pool is still busy. */
static void expect_waiters_refused(struct kunit *test, int nr)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	start_waiters(rig, nr);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 0);
	expect_results(rig, 0, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, nr);
	gate_open(&rig->gate);
	drain(rig);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 1);
}

static void release_refuses_two_waiters(struct kunit *test)
{
	expect_waiters_refused(test, 2);
}

/* More than two rounds. */
static void release_refuses_forty_waiters(struct kunit *test)
{
	expect_waiters_refused(test, 40);
}

/* P6. */
static void accepted_tasks_still_run(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 8 });
	int i;

	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 8);
	gate_open(&rig->gate);
	drain(rig);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 8);
}

/* Idle workers leave without a drain that would make them. */
static void expect_idle_leave(struct kunit *test, struct ants_attrs attrs,
			      int nr)
{
	struct rig *rig = rig_make(test, NAME, attrs);

	park(rig, 0, nr);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	EXPECT_SOON(test, silent(rig->pool));
	EXPECT_SOON(test, nr_threads(NAME) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 0);
}

static void idle_workers_leave(struct kunit *test)
{
	expect_idle_leave(test, (struct ants_attrs){ .capacity = 40 }, 40);
}

static void even_those_that_never_expire_leave(struct kunit *test)
{
	expect_idle_leave(test, (struct ants_attrs){
				.capacity = 2, .min_workers = 1,
				.flags = ANTS_NO_PURGE | ANTS_MEM_RECLAIM }, 2);
}

static void releasing_task(void *data)
{
	struct post *post = data;

	post->result = ants_release_timeout(post->pool, FOREVER);
	if (post->result == -EDEADLK && !ants_is_released(post->pool))
		post->result = ants_release(post->pool);
	atomic_inc(&post->gate.passed);
}

static void task_releases_its_own_pool(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, releasing_task,
					  &rig->posts[0]), 0);
	EXPECT_SOON(test, atomic_read(&rig->posts[0].gate.passed));
	KUNIT_EXPECT_EQ(test, rig->posts[0].result, 0);
	KUNIT_EXPECT_TRUE(test, ants_is_released(rig->pool));
	drain(rig);
}

static void closers_do_not_disturb_each_other(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 2 });
	int i;

	for (i = 0; i < 3; i++)
		rig_async(rig, do_release_timeout, FOREVER, NULL);
	EXPECT_SOON(test, ants_peek(rig->pool->nr_callers) == 3);
	gate_open(&rig->gate);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, async_result(&rig->calls[i]), 0);
		KUNIT_EXPECT_EQ(test, rig->calls[i].passed, 2);
	}
	expect_drained(rig);
}

/* B22, B23. */
static void drain_that_timed_out_is_repeated(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });
	struct async_call *call;

	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, 5), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, ants_is_released(rig->pool));
	call = rig_async(rig, do_release_timeout, FOREVER, NULL);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 1);
	expect_drained(rig);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, 0), 0);
}

static void drain_ends_when_its_kthread_shall_stop(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });
	struct async_call *call;

	call = rig_async(rig, do_release_timeout, FOREVER, NULL);
	ASSERT_SOON(test, ants_is_released(rig->pool));
	KUNIT_EXPECT_EQ(test, async_stop(call), -EINTR);
	gate_open(&rig->gate);
	drain(rig);
}

/* P8. */
static void reboot_needs_a_drained_pool(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 2 });

	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -EBUSY);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -EBUSY);
	KUNIT_EXPECT_TRUE(test, ants_is_released(rig->pool));
	gate_open(&rig->gate);
	drain(rig);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_FALSE(test, ants_is_released(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -EBUSY);
}

/* The thread of a worker that has left needs the pool no more. */
static void nobody_waits_for_a_thread_that_has_left(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	park(rig, 0, 1);
	hold(rig, ANTS_PAUSE_LEFT);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	held(rig, ANTS_PAUSE_LEFT);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, FOREVER), 0);
	KUNIT_EXPECT_TRUE(test, ants_is_released(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_FALSE(test, ants_is_released(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	let_go(rig, ANTS_PAUSE_LEFT);
}

struct summand {
	struct rig *rig;
	int value;
};

static void sum_task(void *data)
{
	const struct summand *s = data;

	atomic_add(s->value, &s->rig->count);
}

#define NR_SUMMANDS	300

/*
 * B27, and TestRebootNewPoolCalc of the original: each task runs once, in each
 * life.
 */
static void expect_reboot_cycles(struct kunit *test, struct ants_attrs attrs)
{
	struct summand *s = kunit_kcalloc(test, NR_SUMMANDS, sizeof(*s), GFP_KERNEL);
	struct rig *rig = rig_make(test, NAME, attrs);
	int life, i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (life = 0; life < 3; life++) {
		atomic_set(&rig->count, 0);
		for (i = 0; i < NR_SUMMANDS; i++) {
			s[i] = (struct summand){ .rig = rig, .value = i };
			KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, sum_task,
							  &s[i]), 0);
		}
		drain(rig);
		KUNIT_EXPECT_EQ(test, atomic_read(&rig->count),
				NR_SUMMANDS * (NR_SUMMANDS - 1) / 2);
		KUNIT_ASSERT_EQ(test, ants_reboot(rig->pool), 0);
		EXPECT_SOON(test, ants_nr_idle(rig->pool) ==
			    rig->pool->config.floor);
	}
	KUNIT_EXPECT_LE(test, stats_of(rig->pool).peak_running, 4);
}

static void rebooted_pool_works(struct kunit *test)
{
	expect_reboot_cycles(test, (struct ants_attrs){ .capacity = 4 });
}

static void rebooted_prealloc_pool_works(struct kunit *test)
{
	expect_reboot_cycles(test, (struct ants_attrs){
				.capacity = 4, .flags = ANTS_PREALLOC });
}

static void rebooted_min_workers_pool_works(struct kunit *test)
{
	expect_reboot_cycles(test, (struct ants_attrs){
				.capacity = 4, .min_workers = 2 });
}

static void failing_reboot_leaves_the_pool_closed(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 3, .flags = ANTS_PREALLOC });

	drain(rig);
	ants_fail_arm(ANTS_FAIL_THREAD, 1);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -ENOMEM);
	expect_drained(rig);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 3);
}

/* P5: accepted tasks ran before the drain returned, and no others ran. */
static void release_and_submits_race(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 1 });
	int round, i, ran, accepted;

	for (round = 0; round < 15; round++) {
		atomic_set(&rig->count, 0);
		rig->nr_calls = 0;
		for (i = 0; i < 3; i++)
			rig_async(rig, do_submit_many, 0, NULL);
		EXPECT_SOON(test, atomic_read(&rig->count) >= round);
		KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, FOREVER),
				0);
		ran = atomic_read(&rig->count);
		for (i = 0, accepted = 0; i < 3; i++) {
			KUNIT_EXPECT_EQ(test, async_result(&rig->calls[i]),
					-ESHUTDOWN);
			accepted += rig->calls[i].accepted;
		}
		KUNIT_EXPECT_GE(test, accepted, round);
		KUNIT_EXPECT_EQ(test, ran, accepted);
		KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), accepted);
		expect_drained(rig);
		KUNIT_ASSERT_EQ(test, ants_reboot(rig->pool), 0);
	}
}

/*
 * B15: the worker has ended its task, but not parked, when the pool is closed.
 */
static void expect_held_worker_leaves(struct kunit *test,
				      enum ants_pause_point point)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 1);
	hold(rig, point);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	held(rig, point);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	let_go(rig, point);
	drain(rig);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

static void finishing_worker_leaves(struct kunit *test)
{
	expect_held_worker_leaves(test, ANTS_PAUSE_FINISH);
}

static void waking_worker_leaves(struct kunit *test)
{
	expect_held_worker_leaves(test, ANTS_PAUSE_ARRIVE);
}

/* A thread is on its way when the pool is closed, and is not forgotten. */
static void expect_new_worker_leaves(struct kunit *test,
				     enum ants_pause_point point)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	hold(rig, point);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	held(rig, point);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, 2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -EBUSY);
	let_go(rig, point);
	drain(rig);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

static void worker_that_is_being_made_leaves(struct kunit *test)
{
	expect_new_worker_leaves(test, ANTS_PAUSE_MAKE);
}

static void worker_that_is_not_started_leaves(struct kunit *test)
{
	expect_new_worker_leaves(test, ANTS_PAUSE_MADE);
}

static void worker_that_just_started_leaves(struct kunit *test)
{
	expect_new_worker_leaves(test, ANTS_PAUSE_NEW);
}

/* P16: nor does the back-off timer outlive the pool's work. */
static void release_without_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 8 });
	int i;

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 0);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	drain(rig);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 5);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	fill_pool(test, rig->pool, &rig->gate, 2);
}

static void system_pool_is_not_the_client_s(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ants_release(ants_system_pool), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(ants_system_pool, FOREVER),
			-EPERM);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(ants_system_pool), -EPERM);
	KUNIT_EXPECT_FALSE(test, ants_is_released(ants_system_pool));
}

static struct kunit_case release_cases[] = {
	KUNIT_CASE(release_may_be_repeated),
	KUNIT_CASE(released_pool_refuses_tasks),
	KUNIT_CASE(release_refuses_two_waiters),
	KUNIT_CASE(release_refuses_forty_waiters),
	KUNIT_CASE(accepted_tasks_still_run),
	KUNIT_CASE(idle_workers_leave),
	KUNIT_CASE(even_those_that_never_expire_leave),
	KUNIT_CASE(task_releases_its_own_pool),
	KUNIT_CASE(closers_do_not_disturb_each_other),
	KUNIT_CASE(drain_that_timed_out_is_repeated),
	KUNIT_CASE(drain_ends_when_its_kthread_shall_stop),
	KUNIT_CASE(reboot_needs_a_drained_pool),
	KUNIT_CASE(nobody_waits_for_a_thread_that_has_left),
	KUNIT_CASE(rebooted_pool_works),
	KUNIT_CASE(rebooted_prealloc_pool_works),
	KUNIT_CASE(rebooted_min_workers_pool_works),
	KUNIT_CASE(failing_reboot_leaves_the_pool_closed),
	KUNIT_CASE(release_and_submits_race),
	KUNIT_CASE(finishing_worker_leaves),
	KUNIT_CASE(waking_worker_leaves),
	KUNIT_CASE(worker_that_is_being_made_leaves),
	KUNIT_CASE(worker_that_is_not_started_leaves),
	KUNIT_CASE(worker_that_just_started_leaves),
	KUNIT_CASE(release_without_threads),
	KUNIT_CASE(system_pool_is_not_the_client_s),
	{}
};

static struct kunit_suite release_suite = {
	.name = "ants_release",
	.test_cases = release_cases,
};

kunit_test_suite(release_suite);

MODULE_DESCRIPTION("ants: KUnit tests of closing pools and opening them again");
MODULE_LICENSE("GPL");
