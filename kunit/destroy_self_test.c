// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task destroys its own pool or multi: that is refused with a warning, and
 * everything goes on. See test/config/destroy_self.boot.
 */
#include <linux/module.h>

#include "multi.h"

/* A task that destroys what it runs in, and the results. */
struct suicide {
	struct ants_pool *pool;
	struct ants_multi *multi;
	struct task_struct *thread;
	int result;
};

static void destroy_own(void *data)
{
	struct suicide *s = data;

	s->thread = current;
	s->result = s->multi ? ants_multi_destroy(s->multi) :
			       ants_pool_destroy(s->pool);
}

static struct suicide *suicide(struct kunit *test)
{
	struct suicide *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	return s;
}

static void announce(const char *function)
{
	pr_info("ants-expect: WARNING: .* %s\\+\n", function);
}

static void expect_open(struct kunit *test, struct ants_pool *pool)
{
	atomic_t count = ATOMIC_INIT(0);

	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

static void task_cannot_destroy_its_pool(struct kunit *test)
{
	struct suicide *s = suicide(test);

	s->pool = test_pool(test, NULL, "suicide");
	announce("ants_pool_destroy");
	KUNIT_EXPECT_EQ(test, ants_submit(s->pool, destroy_own, s), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(s->pool), 0);
	KUNIT_EXPECT_EQ(test, s->result, -EDEADLK);
	expect_open(test, s->pool);
}

/*
 * The caller that runs the task is not a thread of the pool, but destroy would
 * wait for it.
 */
static void task_that_its_caller_runs_cannot(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1,
				    .flags = ANTS_CALLER_RUNS };
	struct suicide *s = suicide(test);
	struct gate *gate = test_gate(test);

	s->pool = test_pool(test, &attrs, "suicide");
	fill_pool(test, s->pool, gate, 1);
	announce("ants_pool_destroy");
	KUNIT_EXPECT_EQ(test, ants_submit(s->pool, destroy_own, s), 0);
	KUNIT_EXPECT_PTR_EQ(test, s->thread, current);
	KUNIT_EXPECT_EQ(test, s->result, -EDEADLK);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(s->pool), 0);
	expect_open(test, s->pool);
}

static void destroy_in_exit(struct ants_pool *pool, void *unused)
{
	struct suicide *s = ants_pool_private(pool);

	destroy_own(s);
}

static void worker_exit_cannot(struct kunit *test)
{
	struct suicide *s = suicide(test);
	struct ants_attrs attrs = { .capacity = 1, .private = s,
				    .worker_exit = destroy_in_exit,
				    .flags = ANTS_NO_PURGE };
	atomic_t count = ATOMIC_INIT(0);

	s->pool = test_pool(test, &attrs, "suicide");
	KUNIT_EXPECT_EQ(test, ants_submit(s->pool, count_task, &count), 0);
	announce("ants_pool_destroy");
	KUNIT_EXPECT_EQ(test, ants_release_timeout(s->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, s->result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, ants_reboot(s->pool), 0);
	KUNIT_EXPECT_FALSE(test, ants_is_released(s->pool));
}

static void task_cannot_destroy_its_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct suicide *s = suicide(test);

	s->multi = test_multi(test, &attrs, 2, ANTS_LEAST_TASKS, "suicides");
	announce("ants_multi_destroy");
	KUNIT_EXPECT_EQ(test, ants_submit(ants_multi_shard(s->multi, 1),
					  destroy_own, s), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(s->multi), 0);
	KUNIT_EXPECT_EQ(test, s->result, -EDEADLK);
	expect_open(test, ants_multi_shard(s->multi, 0));
	expect_open(test, ants_multi_shard(s->multi, 1));
}

static void task_of_a_multi_that_its_caller_runs_cannot(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2,
				    .flags = ANTS_CALLER_RUNS };
	struct suicide *s = suicide(test);
	struct gate *gate = test_gate(test);

	s->multi = test_multi(test, &attrs, 2, ANTS_LEAST_TASKS, "suicides");
	fill_multi(test, s->multi, gate, 2);
	announce("ants_multi_destroy");
	KUNIT_EXPECT_EQ(test, ants_multi_submit(s->multi, destroy_own, s), 0);
	KUNIT_EXPECT_PTR_EQ(test, s->thread, current);
	KUNIT_EXPECT_EQ(test, s->result, -EDEADLK);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(s->multi), 0);
	expect_open(test, ants_multi_shard(s->multi, 0));
}

static struct kunit_case destroy_self_cases[] = {
	KUNIT_CASE(task_cannot_destroy_its_pool),
	KUNIT_CASE(task_that_its_caller_runs_cannot),
	KUNIT_CASE(worker_exit_cannot),
	KUNIT_CASE(task_cannot_destroy_its_multi),
	KUNIT_CASE(task_of_a_multi_that_its_caller_runs_cannot),
	{}
};

static struct kunit_suite destroy_self_suite = {
	.name = "ants_destroy_self",
	.test_cases = destroy_self_cases,
};

kunit_test_suite(destroy_self_suite);

MODULE_DESCRIPTION("ants: KUnit tests of pools that their tasks destroy");
MODULE_LICENSE("GPL");
