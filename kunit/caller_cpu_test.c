// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers on several CPUs: each has a worker woken that parked on its CPU, and does
 * not wait for one that is on its way to another.
 */
#include <linux/cpumask.h>
#include <linux/module.h>

#include "rig.h"

#define NAME	"caller_cpu"

/* From now on the case is on @cpu, and so are the callers. */
static void be_on(struct rig *rig, int cpu)
{
	KUNIT_ASSERT_EQ(rig->test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
}

/* As if the last caller that woke a worker had been on @cpu, like those before it. */
static void set_last_caller(struct rig *rig, int cpu)
{
	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->wakes.cpu = cpu;
	rig->pool->workers.nr_here = 0;
	raw_spin_unlock_irq(&rig->pool->lock);
}

/* As if a caller had waited for a worker on its own CPU. */
static void set_apart(struct rig *rig, unsigned int nr)
{
	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->workers.nr_apart = nr;
	raw_spin_unlock_irq(&rig->pool->lock);
}

static void park_one(struct rig *rig, int nr)
{
	unsigned int idle = ants_nr_idle(rig->pool);

	gate_open(&rig->posts[nr].gate);
	ASSERT_SOON(rig->test, ants_nr_idle(rig->pool) == idle + 1);
}

/*
 * A rig with a worker on each CPU of @cpus, a string of digits: posts[0] ran on the
 * first one to park, and so on. No wake-up is late.
 */
static struct rig *rig_make_deep(struct kunit *test, const char *cpus, unsigned int depth)
{
	int i, nr = strlen(cpus);
	struct rig *rig;

	if (num_online_cpus() < 2)
		kunit_skip(test, "one CPU");
	rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = nr, .queue_depth = depth });
	ants_late_arm(100 * TEST_DEADLINE);
	for (i = 0; i < nr; i++) {
		post_start(rig, i);
		KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(rig->posts[i].thread,
							   cpumask_of(cpus[i] - '0')), 0);
	}
	for (i = 0; i < nr; i++)
		park_one(rig, i);
	set_wake_limit(rig->pool, 1);
	forget_vain(rig->pool);
	return rig;
}

static struct rig *rig_make_on(struct kunit *test, const char *cpus)
{
	return rig_make_deep(test, cpus, 8);
}

/* Submit a task on @cpu, where the last caller was on @last. Which post ran there? */
static int worker_of_task(struct rig *rig, int cpu, int last)
{
	struct post *post = &rig->posts[RIG_MAX - 1];
	int i;

	be_on(rig, cpu);
	set_last_caller(rig, last);
	post_start(rig, RIG_MAX - 1);
	for (i = 0; i < RIG_MAX - 1; i++)
		if (rig->posts[i].thread == post->thread)
			break;
	park_one(rig, RIG_MAX - 1);
	return i;
}

static void worker_of_the_callers_cpu_goes_first(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_of_task(rig_make_on(test, "01"), 0, 1), 0);
}

static void worker_that_parked_last_goes_first_otherwise(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_of_task(rig_make_on(test, "01"), 0, 0), 1);
}

static void no_worker_parked_there(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_of_task(rig_make_on(test, "11"), 0, 1), 1);
}

static void last_of_those_that_parked_there(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_of_task(rig_make_on(test, "001"), 0, 1), 1);
}

static void few_idle_workers_are_looked_at(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_of_task(rig_make_on(test, "0111"), 0, 1), 0);
}

static void more_are_not_looked_at(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_of_task(rig_make_on(test, "01111"), 0, 1), 4);
}

/* Submit a task that counts, and wait until its worker is idle again. */
static void run_one(struct rig *rig)
{
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task, &rig->count), 0);
	ASSERT_SOON(rig->test, settled(rig->pool));
}

static void preference_ends_with_callers_of_one_cpu(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "01");
	unsigned int i;

	be_on(rig, 0);
	set_last_caller(rig, 1);
	for (i = 1; i <= ANTS_HERE_MAX; i++) {
		run_one(rig);
		KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->workers.nr_here), ANTS_HERE_MAX - i);
	}
	run_one(rig);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->workers.nr_here), 0);
}

/* A caller on CPU 0 has woken a worker that does not arrive. */
static void wake_one(struct rig *rig)
{
	be_on(rig, 0);
	set_last_caller(rig, 0);
	hold(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task, &rig->count), 0);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_ASSERT_EQ(rig->test, ants_peek(rig->pool->wakes.nr), 1);
}

static void submit_on(struct rig *rig, int cpu)
{
	be_on(rig, cpu);
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task, &rig->count), 0);
}

static void expect_end(struct rig *rig)
{
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(rig->test, settled(rig->pool));
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->workers.waking_cpus), 0);
	KUNIT_EXPECT_EQ(rig->test, stats_of(rig->pool).pending, 0);
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

static void same_cpu_has_one(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "100");

	wake_one(rig);
	submit_on(rig, 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 2);
	expect_end(rig);
}

static void one_that_parked_there_is_on_its_way(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "011");

	wake_one(rig);
	submit_on(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr), 1);
	expect_end(rig);
}

static void no_other_worker_comes_to_that_cpu(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "00");

	wake_one(rig);
	submit_on(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr), 1);
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

	be_on(rig, 0);
	set_last_caller(rig, 0);
	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->wakes.nr_vain = ANTS_VAIN_MAX;
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

/* A caller on CPU 0 has waited for a worker there: which post's worker is next? */
static int worker_apart(struct kunit *test, const char *cpus)
{
	struct rig *rig = rig_make_on(test, cpus);

	set_apart(rig, 1);
	return worker_of_task(rig, 0, 0);
}

static void caller_that_waits_is_served_from_another_cpu(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_apart(test, "100"), 0);
}

/* It may have left the run queue. */
static void worker_that_has_slept_for_long_is_next_best(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_apart(test, "00000"), 1);
}

static void all_idle_workers_are_few(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_apart(test, "00"), 0);
}

static void serving_from_another_cpu_ends(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");

	set_apart(rig, 1);
	KUNIT_EXPECT_EQ(test, worker_of_task(rig, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->workers.nr_apart), 0);
}

/* A caller on @cpu waits, in vain, while a worker is on its way to CPU 0. */
static unsigned int apart_after_wait_on(struct kunit *test, int cpu)
{
	struct rig *rig = rig_make_deep(test, "0", 0);
	unsigned int nr;

	wake_one(rig);
	be_on(rig, cpu);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(rig->pool, count_task, &rig->count, 1),
			-ETIMEDOUT);
	nr = ants_peek(rig->pool->workers.nr_apart);
	expect_end(rig);
	return nr;
}

static void wait_for_a_worker_on_the_same_cpu_is_noticed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, apart_after_wait_on(test, 0), ANTS_APART_MAX);
}

static void wait_for_one_on_another_cpu_is_not(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, apart_after_wait_on(test, 1), 0);
}

static struct kunit_case caller_cpu_cases[] = {
	KUNIT_CASE(worker_of_the_callers_cpu_goes_first),
	KUNIT_CASE(worker_that_parked_last_goes_first_otherwise),
	KUNIT_CASE(no_worker_parked_there),
	KUNIT_CASE(last_of_those_that_parked_there),
	KUNIT_CASE(few_idle_workers_are_looked_at),
	KUNIT_CASE(more_are_not_looked_at),
	KUNIT_CASE(preference_ends_with_callers_of_one_cpu),
	KUNIT_CASE(other_cpu_has_its_own_wake_up),
	KUNIT_CASE(same_cpu_has_one),
	KUNIT_CASE(one_that_parked_there_is_on_its_way),
	KUNIT_CASE(no_other_worker_comes_to_that_cpu),
	KUNIT_CASE(deferred_wake_up_suffices),
	KUNIT_CASE(caller_that_waits_is_served_from_another_cpu),
	KUNIT_CASE(worker_that_has_slept_for_long_is_next_best),
	KUNIT_CASE(all_idle_workers_are_few),
	KUNIT_CASE(serving_from_another_cpu_ends),
	KUNIT_CASE(wait_for_a_worker_on_the_same_cpu_is_noticed),
	KUNIT_CASE(wait_for_one_on_another_cpu_is_not),
	{}
};

static struct kunit_suite caller_cpu_suite = {
	.name = "ants_caller_cpu",
	.test_cases = caller_cpu_cases,
};

kunit_test_suite(caller_cpu_suite);

MODULE_DESCRIPTION("ants: KUnit tests of callers on several CPUs");
MODULE_LICENSE("GPL");
