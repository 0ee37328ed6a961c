// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers on several CPUs: each has a worker woken that parked on its CPU, and does
 * not wait for one that is on its way to another.
 */
#include <linux/module.h>

#include "caller.h"

/* Workers have parked on @cpus: which of them runs the task of a caller on CPU 0? */
static int worker_among(struct kunit *test, const char *cpus)
{
	return worker_of_task(rig_make_on(test, cpus));
}

static void worker_of_the_callers_cpu_goes_first(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_among(test, "01"), 0);
}

static void no_worker_parked_there(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_among(test, "11"), 1);
}

static void last_of_those_that_parked_there(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_among(test, "001"), 1);
}

static void few_idle_workers_are_looked_at(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_among(test, "0111"), 0);
}

static void more_are_not_looked_at(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_among(test, "01111"), 4);
}

/* The CPU of the worker of posts[@nr] as the pool knows it, or -1. */
static int worker_cpu(struct rig *rig, int nr)
{
	struct ants_worker *w;
	int cpu = -1;

	raw_spin_lock_irq(&rig->pool->lock);
	list_for_each_entry(w, &rig->pool->workers.idle, node)
		if (w->task == rig->posts[nr].thread)
			cpu = w->cpu;
	raw_spin_unlock_irq(&rig->pool->lock);
	return cpu;
}

/* After a change of the CPUs idle workers move without a task. */
static void idle_worker_that_moves_is_known(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "01");

	stay_on(test, 0);
	KUNIT_ASSERT_EQ(test, ants_set_cpumask(rig->pool, cpumask_of(0)), 0);
	EXPECT_SOON(test, worker_cpu(rig, 0) == 0 && worker_cpu(rig, 1) == 0);
}

static void submit_on(struct rig *rig, int cpu)
{
	stay_on(rig->test, cpu);
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task, &rig->count), 0);
}

/* The worker that was woken for the first caller parked last, and on CPU 0. */
static void other_cpu_has_its_own_wake_up(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");

	wake_one(rig);
	submit_on(rig, 1);
	EXPECT_SOON(test, atomic_read(&rig->count) == 2);
	expect_end(rig);
}

/* The first one is late as soon as it would have been alone. */
static void arrival_does_not_put_off_the_other_one(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");
	unsigned long since;

	wake_one(rig);
	since = ants_peek(rig->pool->wakes.since);
	ASSERT_SOON(test, time_after(jiffies, since));
	submit_on(rig, 1);
	EXPECT_SOON(test, atomic_read(&rig->count) == 2);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr), 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.since), since);
	expect_end(rig);
}

/* Even if the worker that has arrived parks. */
static void timer_stays_for_the_other_one(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");

	/* Sooner than anything else for which the timer is armed. */
	ants_late_arm(TEST_DEADLINE);
	wake_one(rig);
	submit_on(rig, 1);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 2);
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->timer.waking));
	expect_end(rig);
}

/*
 * Both tasks are pending, so no other worker has come: it would have taken one in the
 * section in which it arrives.
 */
static void expect_one_in_flight(struct rig *rig)
{
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->wakes.nr), 1);
	KUNIT_EXPECT_EQ(rig->test, ants_nr_pending(rig->pool), 2);
	expect_end(rig);
}

/* Although the worker in flight parked on another CPU. */
static void same_cpu_has_one(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "11");

	wake_one(rig);
	submit_on(rig, 0);
	expect_one_in_flight(rig);
}

static void one_that_parked_there_is_on_its_way(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "11");

	wake_one(rig);
	submit_on(rig, 1);
	expect_one_in_flight(rig);
}

static void no_other_worker_comes_to_that_cpu(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "00");

	wake_one(rig);
	submit_on(rig, 1);
	expect_one_in_flight(rig);
}

/* The one that is on its way has no task any more, and will take this one. */
static void worker_on_its_way_without_a_task_suffices(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");

	wake_one(rig);
	KUNIT_ASSERT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 1);
	submit_on(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	expect_end(rig);
}

/* The worker that runs on CPU 0 will take the task. */
static void deferred_wake_up_suffices(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");
	struct ants_task tasks[] = {
		{ .fn = post_task, .data = &rig->posts[2] },
		{ .fn = count_task, .data = &rig->count },
	};

	stay_on(test, 0);
	set_last_caller(rig->pool, 0);
	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->wakes.nr_spurious = ANTS_SPURIOUS_MAX;
	rig->pool->wakes.nr_deferred = 0;
	raw_spin_unlock_irq(&rig->pool->lock);
	KUNIT_ASSERT_EQ(test, ants_submit_batch(rig->pool, tasks, 2), 2);
	ASSERT_SOON(test, atomic_read(&rig->posts[2].gate.entered) == 1);
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->wakes.deferred));
	/* One that was woken all the same would run both tasks and park again. */
	hold(rig, ANTS_PAUSE_ARRIVE);
	submit_on(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 1);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	gate_open(&rig->posts[2].gate);
	EXPECT_SOON(test, settled(rig->pool));
}

static struct kunit_case caller_cpu_cases[] = {
	KUNIT_CASE(worker_of_the_callers_cpu_goes_first),
	KUNIT_CASE(no_worker_parked_there),
	KUNIT_CASE(last_of_those_that_parked_there),
	KUNIT_CASE(few_idle_workers_are_looked_at),
	KUNIT_CASE(more_are_not_looked_at),
	KUNIT_CASE(idle_worker_that_moves_is_known),
	KUNIT_CASE(other_cpu_has_its_own_wake_up),
	KUNIT_CASE(arrival_does_not_put_off_the_other_one),
	KUNIT_CASE(timer_stays_for_the_other_one),
	KUNIT_CASE(same_cpu_has_one),
	KUNIT_CASE(one_that_parked_there_is_on_its_way),
	KUNIT_CASE(no_other_worker_comes_to_that_cpu),
	KUNIT_CASE(worker_on_its_way_without_a_task_suffices),
	KUNIT_CASE(deferred_wake_up_suffices),
	{}
};

static struct kunit_suite caller_cpu_suite = {
	.name = "ants_caller_cpu",
	.test_cases = caller_cpu_cases,
};

kunit_test_suite(caller_cpu_suite);

MODULE_DESCRIPTION("ants: KUnit tests of callers on several CPUs");
MODULE_LICENSE("GPL");
