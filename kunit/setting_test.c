// SPDX-License-Identifier: GPL-2.0-only
/* What else an administrator changes in a live pool, through its files. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"setting"

/* Opens the gate; when all is over @running workers are left, all idle. */
static void expect_left(struct rig *rig, unsigned int running)
{
	struct ants_stats stats;

	gate_open(&rig->gate);
	EXPECT_SOON(rig->test, settled(rig->pool));
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(rig->test, stats.running, running);
	KUNIT_EXPECT_EQ(rig->test, stats.idle, running);
	KUNIT_EXPECT_EQ(rig->test, stats.completed, stats.submitted);
	EXPECT_SOON(rig->test, nr_threads(NAME) == running);
}

static void queue_depth_is_set_live(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	start_waiters(rig, 3);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 2), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth",
				       1U + INT_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 2);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, stats_of(rig->pool).completed == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 1);
}

static void min_workers_are_made_and_kept(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 4 });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 5), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 3), 0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 3);
	expire(rig->pool, 3);
	EXPECT_SOON(test, silent(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 3);
	/* Fewer: those that expired meanwhile leave without another push. */
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 1), 0);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 2);
}

static void max_blocking_is_set_live(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	start_waiters(rig, 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_blocking", 2), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_blocking", 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_blocking", 0), 0);
	start_waiters(rig, 1);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 1);
}

static void nonblocking_is_set_live(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 1), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 0), 0);
	start_waiters(rig, 1);
	expect_left(rig, 1);
	expect_results(rig, 0, 0);
}

static struct kunit_case setting_cases[] = {
	KUNIT_CASE(queue_depth_is_set_live),
	KUNIT_CASE(min_workers_are_made_and_kept),
	KUNIT_CASE(max_blocking_is_set_live),
	KUNIT_CASE(nonblocking_is_set_live),
	{}
};

static struct kunit_suite setting_suite = {
	.name = "ants_setting",
	.test_cases = setting_cases,
};

kunit_test_suite(setting_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the settings of a live pool");
MODULE_LICENSE("GPL");
