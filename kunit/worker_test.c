// SPDX-License-Identifier: GPL-2.0-only
/* Workers: which one runs a task, when threads are made, and late wake-ups. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"worker"
/*
 * Threads of an empty burst: few of 256, even on a slow machine where others
 * run, too.
 */
#define BURST_THREADS	64

/* True if the wake-up for posts[@nr], submitted at @when, was late. */
static bool was_late(struct rig *rig, int nr, unsigned long when)
{
	return time_after_eq(rig->posts[nr].started, when + ANTS_LATE_TICKS);
}

/*
 * Park 0, 1, 2, then occupy three workers, which must be 2, 1, 0. Returns false
 * if a late wake-up made the pool use another worker, so that the round proves
 * nothing.
 */
static bool lifo_round(struct rig *rig)
{
	unsigned long when;
	bool late = false;
	int i;

	for (i = 0; i < 6; i++)
		post_init(rig, i);
	park(rig, 0, 3);
	for (i = 3; i < 6; i++) {
		when = jiffies;
		post_start(rig, i);
		late |= was_late(rig, i, when);
	}
	for (i = 3; i < 6; i++)
		gate_open(&rig->posts[i].gate);
	KUNIT_ASSERT_EQ(rig->test, ants_flush(rig->pool), 0);
	for (i = 0; i < 3 && !late; i++)
		KUNIT_EXPECT_PTR_EQ(rig->test, rig->posts[3 + i].thread,
				    rig->posts[2 - i].thread);
	return !late;
}

static void last_parked_worker_runs_first(struct kunit *test)
{
	/* All of them park on the CPU of the caller. */
	const struct cpumask *cpu = cpumask_of(cpumask_first(cpu_online_mask));
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3, .cpumask = cpu });
	int tries = 100;

	be_only_caller(test, rig->pool);
	while (!lifo_round(rig) && --tries)
		;
	KUNIT_EXPECT_GT(test, tries, 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 3);
}

/*
 * The maker checks again before each thread; here the first thread runs
 * everything.
 */
static void burst_that_is_over_makes_no_more_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 8 });
	int i;

	hold(rig, ANTS_PAUSE_MAKE);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, post_task, &rig->posts[0]),
			0);
	for (i = 0; i < 7; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	held(rig, ANTS_PAUSE_MAKE);
	hold(rig, ANTS_PAUSE_MADE);
	let_go(rig, ANTS_PAUSE_MAKE);
	held(rig, ANTS_PAUSE_MADE);
	hold(rig, ANTS_PAUSE_MAKE);
	let_go(rig, ANTS_PAUSE_MADE);
	held(rig, ANTS_PAUSE_MAKE);
	gate_open(&rig->posts[0].gate);
	EXPECT_SOON(test, atomic_read(&rig->count) == 7);
	let_go(rig, ANTS_PAUSE_MAKE);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 2);
}

static void idle_worker_is_used_before_one_is_made(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 32 });
	int i;

	park(rig, 0, 2);
	for (i = 0; i < 40; i++) {
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
		ASSERT_SOON(test, settled(rig->pool));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 40);
	/* Now and then a late wake-up causes another thread. */
	KUNIT_EXPECT_LT(test, stats_of(rig->pool).spawned, 32);
}

static void blocking_tasks_make_exactly_capacity_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 8, .queue_depth = 8 });
	struct ants_stats stats;
	int i;

	fill_pool(test, rig->pool, &rig->gate, 8);
	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(test, stats.running, 8);
	KUNIT_EXPECT_EQ(test, stats.busy, 8);
	KUNIT_EXPECT_EQ(test, stats.pending, 8);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 16);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 8);
	EXPECT_SOON(test, nr_threads(NAME) == 8);
}

/* Records how many such tasks run at once. */
static void crowd_task(void *data)
{
	struct rig *rig = data;
	int inside = atomic_inc_return(&rig->inside);
	int most = atomic_read(&rig->most);

	while (inside > most)
		most = max(most, atomic_cmpxchg(&rig->most, most, inside));
	cond_resched();
	atomic_inc(&rig->count);
	atomic_dec(&rig->inside);
}

static int do_crowd(struct async_call *call)
{
	int i, err = 0;

	for (i = 0; i < 300 && !err; i++)
		err = ants_submit(call->pool, crowd_task, call->rig);
	return err;
}

/* B9: the bound holds under concurrent submits. */
static void never_more_threads_than_capacity(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3 });
	struct ants_stats stats;
	int i;

	for (i = 0; i < 4; i++)
		rig_async(rig, do_crowd, 0, NULL);
	expect_results(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1200);
	KUNIT_EXPECT_LE(test, atomic_read(&rig->most), 3);
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_LE(test, stats.peak_running, 3);
	KUNIT_EXPECT_LE(test, stats.peak_busy, 3);
	KUNIT_EXPECT_LE(test, stats.spawned, 3);
}

/* B5: the last worker is gone, and the next task gets a new one. */
static void worker_is_made_after_all_left(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3 });

	park(rig, 0, 3);
	expire(rig->pool, 3);
	ASSERT_SOON(test, ants_nr_running(rig->pool) == 0);
	ASSERT_SOON(test, silent(rig->pool));
	KUNIT_ASSERT_EQ(test, ants_nr_running(rig->pool), 0);
	seldom_late();
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 4);
}

/* A woken worker does not get its CPU: the timer wakes the next one. */
static void late_wake_up_is_passed_on(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 2);
	hold(rig, ANTS_PAUSE_ARRIVE);
	post_start(rig, 2);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	/* The late worker finds nothing to do, and parks. */
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	gate_open(&rig->posts[2].gate);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2 && settled(rig->pool));
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 2);
}

static void late_worker_is_made_up_for(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 1);
	hold(rig, ANTS_PAUSE_ARRIVE);
	post_start(rig, 1);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_PTR_NE(test, rig->posts[1].thread, rig->posts[0].thread);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	gate_open(&rig->posts[1].gate);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2 && settled(rig->pool));
}

/* No other worker may be woken or made, so the task waits for this one. */
static void late_worker_finds_its_task(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	park(rig, 0, 1);
	hold(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	held(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, !ants_peek(rig->pool->wakes.nr));
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1);
}

/*
 * The late worker comes when there is a second task: both tasks run, each once.
 */
static void late_worker_takes_the_next_task(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 2);
	hold(rig, ANTS_PAUSE_ARRIVE);
	post_start(rig, 2);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, post_task,
					  &rig->posts[3]), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&rig->posts[3].gate.entered) == 1);
	KUNIT_EXPECT_PTR_NE(test, rig->posts[3].thread, rig->posts[2].thread);
	rig_open_gates(rig);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2 && settled(rig->pool));
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).completed, 4);
}

/* Many short tasks need few threads, whatever the capacity. */
static void empty_burst_makes_few_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 256 });
	int i;

	for (i = 0; i < 10000; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 10000);
	KUNIT_EXPECT_LE(test, stats_of(rig->pool).spawned, BURST_THREADS);
}

/* Threads are made for all tasks, each of which waits for the others. */
static void blocking_burst_starts_all_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 100 });

	fill_pool(test, rig->pool, &rig->gate, 100);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 100);
	gate_open(&rig->gate);
	EXPECT_SOON(test, settled(rig->pool));
}

static struct kunit_case worker_cases[] = {
	KUNIT_CASE(last_parked_worker_runs_first),
	KUNIT_CASE(burst_that_is_over_makes_no_more_threads),
	KUNIT_CASE(idle_worker_is_used_before_one_is_made),
	KUNIT_CASE(blocking_tasks_make_exactly_capacity_threads),
	KUNIT_CASE(never_more_threads_than_capacity),
	KUNIT_CASE(worker_is_made_after_all_left),
	KUNIT_CASE(late_wake_up_is_passed_on),
	KUNIT_CASE(late_worker_is_made_up_for),
	KUNIT_CASE(late_worker_finds_its_task),
	KUNIT_CASE(late_worker_takes_the_next_task),
	KUNIT_CASE(empty_burst_makes_few_threads),
	KUNIT_CASE(blocking_burst_starts_all_threads),
	{}
};

static struct kunit_suite worker_suite = {
	.name = "ants_worker",
	.test_cases = worker_cases,
};

kunit_test_suite(worker_suite);

MODULE_DESCRIPTION("ants: KUnit tests of workers and their threads");
MODULE_LICENSE("GPL");
