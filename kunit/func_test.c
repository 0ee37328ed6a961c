// SPDX-License-Identifier: GPL-2.0-only
/* Pools of one function. */
#include "async.h"

#define NR	1000

static atomic_long_t sum;
static atomic_t nulls;

/* Add up the arguments; NULL is a value like any other. */
static void add_fn(void *data)
{
	atomic_long_add((long)data, &sum);
	if (!data)
		atomic_inc(&nulls);
}

static int func_init(struct kunit *test)
{
	atomic_long_set(&sum, 0);
	atomic_set(&nulls, 0);
	return 0;
}

static void each_value_arrives_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 10 };
	struct ants_pool *pool = test_func_pool(test, &attrs, add_fn, "func");
	long i;

	for (i = 0; i < NR; i++)
		KUNIT_ASSERT_EQ(test, ants_invoke(pool, (void *)i), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&sum), 499500L);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_busy, 10U);
}

/* The value that stops a worker in other projects. */
static void null_is_a_value(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .flags = ANTS_NO_PURGE };
	struct ants_pool *pool = test_func_pool(test, &attrs, add_fn, "func");
	int i;

	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, ants_invoke(pool, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nulls), 100);
	KUNIT_EXPECT_LE(test, stats_of(pool).spawned, 2ULL);
}

static void full_pool_refuses(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 10,
				    .flags = ANTS_NONBLOCKING };
	struct ants_pool *pool = test_func_pool(test, &attrs, gate_task,
						"func");
	struct gate *gate = test_gate(test);
	int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, ants_invoke(pool, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_invoke(pool, gate), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_invoke(pool, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_try_invoke(pool, gate), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_invoke_timeout(pool, gate, 2), -ETIMEDOUT);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_try_invoke(pool, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_invoke_timeout(pool, gate, 0), 0);
}

static void other_pools_have_no_function(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "plain");

	KUNIT_EXPECT_EQ(test, ants_invoke(pool, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_invoke_timeout(pool, NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_try_invoke(pool, NULL), -EINVAL);
}

static struct kunit_case func_cases[] = {
	KUNIT_CASE(each_value_arrives_once),
	KUNIT_CASE(null_is_a_value),
	KUNIT_CASE(full_pool_refuses),
	KUNIT_CASE(other_pools_have_no_function),
	{}
};

static struct kunit_suite func_suite = {
	.name = "ants_func",
	.init = func_init,
	.test_cases = func_cases,
};

kunit_test_suite(func_suite);

MODULE_DESCRIPTION("ants: KUnit tests of pools of one function");
MODULE_LICENSE("GPL");
