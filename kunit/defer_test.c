// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deferred wake-ups: a worker that takes a task while others are pending wakes
 * no other worker if the last such wake-ups were in vain.
 */
#include <linux/module.h>

#include "rig.h"

#define NAME	"defer"

/* As if @nr wake-ups in a row had been in vain. */
static void set_vain(struct ants_pool *pool, unsigned int nr)
{
	raw_spin_lock_irq(&pool->lock);
	pool->wakes.nr_spurious = nr;
	pool->wakes.nr_deferred = 0;
	raw_spin_unlock_irq(&pool->lock);
}

static struct ants_task task_of(struct rig *rig, int nr)
{
	return (struct ants_task){ .fn = post_task, .data = &rig->posts[nr] };
}

/*
 * Submit two tasks in one locked section, so that one of them must become
 * pending.
 */
static void submit_two(struct rig *rig, int first)
{
	struct ants_task tasks[] = { task_of(rig, first), task_of(rig, first + 1) };

	KUNIT_ASSERT_EQ(rig->test, ants_submit_batch(rig->pool, tasks, 2), 2);
}

/*
 * Two workers are idle, and no wake-up is late unless the test says so. The
 * first of two tasks is at its gate, the other one, posts[3], is pending.
 */
static struct rig *rig_make_vain(struct kunit *test, unsigned int vain)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 4 });

	park(rig, 0, 2);
	set_vain(rig->pool, vain);
	never_late();
	submit_two(rig, 2);
	ASSERT_SOON(test, atomic_read(&rig->posts[2].gate.entered) == 1);
	return rig;
}

static bool starts(struct rig *rig, int nr)
{
	return WAIT_FOR(atomic_read(&rig->posts[nr].gate.entered) == 1);
}

static void expect_deferred(struct rig *rig)
{
	KUNIT_EXPECT_TRUE(rig->test, ants_peek(rig->pool->wakes.deferred));
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->wakes.nr), 1U);
	KUNIT_EXPECT_EQ(rig->test, ants_nr_idle(rig->pool), 1U);
	KUNIT_EXPECT_EQ(rig->test, ants_nr_pending(rig->pool), 1U);
}

static void expect_end(struct rig *rig)
{
	rig_open_gates(rig);
	EXPECT_SOON(rig->test, settled(rig->pool));
	KUNIT_EXPECT_FALSE(rig->test, ants_peek(rig->pool->wakes.deferred));
	KUNIT_EXPECT_EQ(rig->test, stats_of(rig->pool).spawned, 2);
}

static void helper_is_woken_as_a_rule(struct kunit *test)
{
	struct rig *rig = rig_make_vain(test, ANTS_SPURIOUS_MAX - 1);

	KUNIT_EXPECT_TRUE(test, starts(rig, 3));
	expect_end(rig);
}

static void wake_up_is_deferred_after_many_in_vain(struct kunit *test)
{
	struct rig *rig = rig_make_vain(test, ANTS_SPURIOUS_MAX);
	struct task_struct *thread = READ_ONCE(rig->posts[2].thread);

	expect_deferred(rig);
	gate_open(&rig->posts[2].gate);
	KUNIT_EXPECT_TRUE(test, starts(rig, 3));
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(rig->posts[3].thread), thread);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->wakes.deferred));
	expect_end(rig);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr_spurious), ANTS_SPURIOUS_MAX);
}

/*
 * The first task sleeps: the other one starts within ticks, and the next
 * wake-ups are not deferred.
 */
static void deferred_wake_up_is_late_like_others(struct kunit *test)
{
	struct rig *rig = rig_make_vain(test, ANTS_SPURIOUS_MAX);

	expect_deferred(rig);
	ants_late_arm(0);
	raw_spin_lock_irq(&rig->pool->lock);
	mod_timer(&rig->pool->timer.timer, jiffies);
	raw_spin_unlock_irq(&rig->pool->lock);
	KUNIT_EXPECT_TRUE(test, starts(rig, 3));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr_spurious), 0);
	expect_end(rig);
}

/* With the usual limit for late wake-ups the second task starts by itself. */
static void pool_heals_itself_when_the_task_sleeps(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 4 });

	park(rig, 0, 2);
	set_vain(rig->pool, ANTS_SPURIOUS_MAX);
	submit_two(rig, 2);
	KUNIT_EXPECT_TRUE(test, starts(rig, 2));
	KUNIT_EXPECT_TRUE(test, starts(rig, 3));
	expect_end(rig);
}

static void one_of_many_is_tried(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 4 });

	park(rig, 0, 2);
	set_vain(rig->pool, ANTS_SPURIOUS_MAX);
	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->wakes.nr_deferred = ANTS_DEFERRED_MAX;
	raw_spin_unlock_irq(&rig->pool->lock);
	never_late();
	submit_two(rig, 2);
	KUNIT_EXPECT_TRUE(test, starts(rig, 2));
	KUNIT_EXPECT_TRUE(test, starts(rig, 3));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->wakes.nr_deferred), 0);
	expect_end(rig);
}

/*
 * No task is pending when the last one is taken, so the next submit wakes a
 * worker.
 */
static void nothing_is_deferred_when_nothing_is_pending(struct kunit *test)
{
	struct rig *rig = rig_make_vain(test, ANTS_SPURIOUS_MAX);

	gate_open(&rig->posts[2].gate);
	KUNIT_EXPECT_TRUE(test, starts(rig, 3));
	post_start(rig, 4);
	KUNIT_EXPECT_PTR_NE(test, READ_ONCE(rig->posts[4].thread),
			    READ_ONCE(rig->posts[3].thread));
	expect_end(rig);
}

static void change_of_the_bounds_ends_it(struct kunit *test)
{
	struct rig *rig = rig_make_vain(test, ANTS_SPURIOUS_MAX);

	expect_deferred(rig);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 3), 0);
	KUNIT_EXPECT_TRUE(test, starts(rig, 3));
	expect_end(rig);
}

static void release_while_one_is_deferred(struct kunit *test)
{
	struct rig *rig = rig_make_vain(test, ANTS_SPURIOUS_MAX);

	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	rig_open_gates(rig);
	EXPECT_SOON(test, stats_of(rig->pool).running == 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).completed, 4);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->wakes.deferred));
}

static struct kunit_case defer_cases[] = {
	KUNIT_CASE(helper_is_woken_as_a_rule),
	KUNIT_CASE(wake_up_is_deferred_after_many_in_vain),
	KUNIT_CASE(deferred_wake_up_is_late_like_others),
	KUNIT_CASE(pool_heals_itself_when_the_task_sleeps),
	KUNIT_CASE(one_of_many_is_tried),
	KUNIT_CASE(nothing_is_deferred_when_nothing_is_pending),
	KUNIT_CASE(change_of_the_bounds_ends_it),
	KUNIT_CASE(release_while_one_is_deferred),
	{}
};

static struct kunit_suite defer_suite = {
	.name = "ants_defer",
	.test_cases = defer_cases,
};

kunit_test_suite(defer_suite);

MODULE_DESCRIPTION("ants: KUnit tests of wake-ups that are deferred");
MODULE_LICENSE("GPL");
