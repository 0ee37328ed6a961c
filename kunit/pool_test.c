// SPDX-License-Identifier: GPL-2.0-only
/* Making and ending pools: arguments, names, modes, numbers. */
#include <linux/module.h>

#include "util.h"

static void default_attrs(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "defaults");

	KUNIT_EXPECT_EQ(test, ants_capacity(pool), num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
}

static void runs_each_task_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_pool *pool = test_pool(test, &attrs, "once");
	struct ants_stats stats;
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1000);
	ants_pool_stats(pool, &stats);
	KUNIT_EXPECT_EQ(test, stats.submitted, 1000);
	KUNIT_EXPECT_EQ(test, stats.completed, 1000);
	KUNIT_EXPECT_LE(test, stats.peak_running, 4);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(default_attrs),
	KUNIT_CASE(runs_each_task_once),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "ants_pool",
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);

MODULE_DESCRIPTION("ants: KUnit tests of making and ending pools");
MODULE_LICENSE("GPL");
