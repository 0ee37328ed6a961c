// SPDX-License-Identifier: GPL-2.0-only
/*
 * A caller that waits for room: if the worker that makes it needs the caller's CPU, the
 * next ones that are woken parked elsewhere.
 */
#include <linux/module.h>

#include "caller.h"

/* As if a caller had waited for a worker on its own CPU. */
static void set_apart(struct rig *rig, unsigned int nr)
{
	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->wakes.nr_apart = nr;
	raw_spin_unlock_irq(&rig->pool->lock);
}

/* A caller on CPU 0 has waited for a worker there: which post's worker is next? */
static int worker_apart(struct kunit *test, const char *cpus)
{
	struct rig *rig = rig_make_on(test, cpus);

	set_last_caller(rig->pool, 0, false);
	set_apart(rig, 1);
	return worker_of_task(rig);
}

static void caller_that_waits_is_served_from_another_cpu(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_apart(test, "100"), 0);
}

static void no_worker_parked_elsewhere(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, worker_apart(test, "000"), 2);
}

static void serving_from_another_cpu_ends(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");

	set_last_caller(rig->pool, 0, false);
	set_apart(rig, 1);
	KUNIT_EXPECT_EQ(test, worker_of_task(rig), 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr_apart), 0);
}

/* Each of the callers waits for its own task: that counts for more. */
static void callers_that_take_turns_are_served_here(struct kunit *test)
{
	struct rig *rig = rig_make_on(test, "10");

	set_last_caller(rig->pool, 1, true);
	set_apart(rig, 1);
	KUNIT_EXPECT_EQ(test, worker_of_task(rig), 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr_apart), 1);
}

static unsigned int apart_after_wait(struct rig *rig)
{
	KUNIT_EXPECT_EQ(rig->test, ants_submit_timeout(rig->pool, count_task, &rig->count, 1),
			-ETIMEDOUT);
	return ants_peek(rig->pool->wakes.nr_apart);
}

/* A caller on @cpu waits, in vain, while a worker is on its way to CPU 0. */
static unsigned int apart_after_wait_on(struct kunit *test, int cpu)
{
	struct rig *rig = rig_make_deep(test, "0", 0);
	unsigned int nr;

	wake_one(rig);
	stay_on(test, cpu);
	nr = apart_after_wait(rig);
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

/* A task runs on the worker of CPU 0, and the case waits on @cpu. */
static unsigned int apart_beside_task(struct kunit *test, int cpu)
{
	struct rig *rig = rig_make_deep(test, "0", 0);
	unsigned int nr;

	stay_on(test, 1);
	set_last_caller(rig->pool, 1, false);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, spin_on, rig), 0);
	ASSERT_SOON(test, atomic_read(&rig->inside) == 1);
	stay_on(test, cpu);
	nr = apart_after_wait(rig);
	atomic_set(&rig->stop, 1);
	return nr;
}

static void wait_for_a_task_on_the_same_cpu_is_noticed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, apart_beside_task(test, 0), ANTS_APART_MAX);
}

static void wait_for_one_elsewhere_is_not(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, apart_beside_task(test, 1), 0);
}

static void submit_inside(void *data)
{
	struct post *post = data;

	post->result = ants_submit_timeout(post->pool, count_task, NULL, 1);
}

/* The worker that runs here is the caller itself, and makes no room meanwhile. */
static void task_that_waits_is_not_waited_for(struct kunit *test)
{
	struct rig *rig = rig_make_deep(test, "0", 0);
	struct post *post = &rig->posts[1];

	stay_on(test, 1);
	set_last_caller(rig->pool, 1, false);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, submit_inside, post), 0);
	ASSERT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, post->result, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr_apart), 0);
}

static struct kunit_case caller_wait_cases[] = {
	KUNIT_CASE(caller_that_waits_is_served_from_another_cpu),
	KUNIT_CASE(no_worker_parked_elsewhere),
	KUNIT_CASE(serving_from_another_cpu_ends),
	KUNIT_CASE(callers_that_take_turns_are_served_here),
	KUNIT_CASE(wait_for_a_worker_on_the_same_cpu_is_noticed),
	KUNIT_CASE(wait_for_one_on_another_cpu_is_not),
	KUNIT_CASE(wait_for_a_task_on_the_same_cpu_is_noticed),
	KUNIT_CASE(wait_for_one_elsewhere_is_not),
	KUNIT_CASE(task_that_waits_is_not_waited_for),
	{}
};

static struct kunit_suite caller_wait_suite = {
	.name = "ants_caller_wait",
	.test_cases = caller_wait_cases,
};

kunit_test_suite(caller_wait_suite);

MODULE_DESCRIPTION("ants: KUnit tests of callers that wait on a worker's CPU");
MODULE_LICENSE("GPL");
