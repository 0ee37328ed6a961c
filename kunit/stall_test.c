// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that run for longer than an administrator allows. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"stall"
#define LIMIT_MS	20
/* Long enough for another report to come, if one does. */
#define AFTER_MS	(5 * LIMIT_MS)

/*
 * One report of that function will be in the log, with the stack of its thread.
 * All of these tests together cause fewer than would be left out.
 */
static void announce(const char *function)
{
	pr_info("ants-expect: ^ants: pool " NAME ": %s .* has run for\n",
		function);
}

static void set_limit(struct rig *rig, unsigned int ms)
{
	KUNIT_ASSERT_EQ(rig->test, set_attr(rig->pool, "stall_ms", ms), 0);
}

static u64 nr_stalled(struct rig *rig)
{
	return stats_of(rig->pool).stalled;
}

static void expect_stalled(struct rig *rig, u64 nr)
{
	EXPECT_SOON(rig->test, nr_stalled(rig) == nr);
	msleep(AFTER_MS);
	KUNIT_EXPECT_EQ(rig->test, nr_stalled(rig), nr);
}

static void nothing_is_reported_by_default(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });

	msleep(AFTER_MS);
	KUNIT_EXPECT_EQ(test, nr_stalled(rig), 0ULL);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->stall.armed));
}

static void task_is_reported_once(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	announce("post_task");
	set_limit(rig, LIMIT_MS);
	post_start(rig, 0);
	expect_stalled(rig, 1);
}

static void next_task_of_a_worker_is_another_one(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });

	announce("post_task");
	announce("gate_task");
	set_limit(rig, LIMIT_MS);
	post_start(rig, 0);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->gate), 0);
	expect_stalled(rig, 1);
	gate_open(&rig->posts[0].gate);
	expect_stalled(rig, 2);
}

/* The timer is armed for the end of an hour; the reaper must not wait for that. */
static void reaper_does_not_wait_for_it(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1, .expiry = 20 * HZ });
	struct timer_list *timer = &rig->pool->timer.timer;

	set_limit(rig, 3600 * MSEC_PER_SEC);
	post_start(rig, 0);
	/* The timer that the worker's start has armed has fired. */
	EXPECT_SOON(test, timer_pending(timer) &&
		    time_after(READ_ONCE(timer->expires), jiffies + 60 * HZ));
	gate_open(&rig->posts[0].gate);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	/* A worker counts as idle before it arms the timer. */
	EXPECT_SOON(test, timer_pending(timer) &&
		    time_before_eq(READ_ONCE(timer->expires), jiffies + 21 * HZ));
}

/* It has run for long by then, but was not watched. */
static void limit_is_set_while_a_task_runs(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });

	msleep(AFTER_MS);
	announce("gate_task");
	set_limit(rig, LIMIT_MS);
	expect_stalled(rig, 1);
}

/* Also from one that would be reached in an hour. */
static void limit_is_lowered(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	set_limit(rig, RIG_EXPIRY_MS);
	post_start(rig, 0);
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->stall.armed));
	expect_stalled(rig, 0);
	announce("post_task");
	set_limit(rig, LIMIT_MS);
	expect_stalled(rig, 1);
}

static void limit_is_lifted(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	set_limit(rig, RIG_EXPIRY_MS);
	post_start(rig, 0);
	set_limit(rig, 0);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->stall.armed));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->timed), 0);
	expect_stalled(rig, 0);
}

/* Tasks that are timed for this stay so if it was asked for by itself. */
static void limit_is_lifted_and_times_are_taken(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	set_limit(rig, RIG_EXPIRY_MS);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 1), 0);
	set_limit(rig, 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->timed), ANTS_TIMED | ANTS_TIMED_ALL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 0), 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->timed), 0);
}

/* As if it were time to look. */
static void look_now(struct ants_pool *pool)
{
	raw_spin_lock_irq(&pool->lock);
	pool->stall.at = jiffies;
	mod_timer(&pool->timer.timer, jiffies);
	raw_spin_unlock_irq(&pool->lock);
}

/* Threads stay, so that nothing else needs the timer. */
static void nothing_looks_while_nothing_runs(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 1, .queue_depth = 8,
			.flags = ANTS_NO_PURGE });
	struct ants_pool *pool = rig->pool;
	int i;

	set_limit(rig, RIG_EXPIRY_MS);
	for (i = 0; i < 50; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(pool, count_task,
						  &rig->count), 0);
	ASSERT_SOON(test, settled(pool));
	KUNIT_EXPECT_TRUE(test, ants_peek(pool->stall.armed));
	look_now(pool);
	EXPECT_SOON(test, silent(pool) && !ants_peek(pool->stall.armed));
	KUNIT_EXPECT_EQ(test, nr_stalled(rig), 0ULL);
	/* The next one is watched again. */
	post_start(rig, 0);
	KUNIT_EXPECT_TRUE(test, ants_peek(pool->stall.armed));
	announce("post_task");
	set_limit(rig, LIMIT_MS);
	expect_stalled(rig, 1);
}

/* A drained pool has no armed timer, and forgets that it had one. */
static void reopened_pool_is_watched(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 1, .min_workers = 1 });
	struct ants_pool *pool = rig->pool;

	set_limit(rig, RIG_EXPIRY_MS);
	KUNIT_ASSERT_EQ(test, ants_submit(pool, count_task, &rig->count), 0);
	KUNIT_ASSERT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_FALSE(test, timer_pending(&pool->timer.timer));
	KUNIT_EXPECT_FALSE(test, ants_peek(pool->stall.armed));
	KUNIT_ASSERT_EQ(test, ants_reboot(pool), 0);
	post_start(rig, 0);
	KUNIT_EXPECT_TRUE(test, ants_peek(pool->stall.armed));
	KUNIT_EXPECT_TRUE(test, timer_pending(&pool->timer.timer));
}

static void other_values_are_refused(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "stall_ms", 1U + INT_MAX),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->timed), 0);
	set_limit(rig, INT_MAX);
	post_start(rig, 0);
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->stall.armed));
}

static struct kunit_case stall_cases[] = {
	KUNIT_CASE(nothing_is_reported_by_default),
	KUNIT_CASE(task_is_reported_once),
	KUNIT_CASE(next_task_of_a_worker_is_another_one),
	KUNIT_CASE(limit_is_set_while_a_task_runs),
	KUNIT_CASE(limit_is_lowered),
	KUNIT_CASE(limit_is_lifted),
	KUNIT_CASE(limit_is_lifted_and_times_are_taken),
	KUNIT_CASE(nothing_looks_while_nothing_runs),
	KUNIT_CASE(reopened_pool_is_watched),
	KUNIT_CASE(reaper_does_not_wait_for_it),
	KUNIT_CASE(other_values_are_refused),
	{}
};

static struct kunit_suite stall_suite = {
	.name = "ants_stall",
	.test_cases = stall_cases,
};

kunit_test_suite(stall_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that run for too long");
MODULE_LICENSE("GPL");
