// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two pools whose tasks submit to each other, one after the other, so that
 * nothing hangs. Lockdep reports it, and is off from then on. Booted alone, see
 * test/config/lockdep_pools.boot.
 */
#include <linux/debug_locks.h>
#include <linux/module.h>

#include "util.h"

/* A task that submits another one, which counts, in a given way. */
struct sender {
	struct ants_pool *to;
	int (*submit)(struct ants_pool *pool, ants_fn_t fn, void *data);
	atomic_t count;
	int result;
};

static void send(void *data)
{
	struct sender *s = data;

	s->result = s->submit(s->to, count_task, &s->count);
}

static void expect_sent(struct kunit *test, struct sender *s,
			struct ants_pool *from)
{
	KUNIT_EXPECT_EQ(test, ants_submit(from, send, s), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(from), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(s->to), 0);
	KUNIT_EXPECT_EQ(test, s->result, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->count), 1);
}

static void tasks_of_two_pools_submit_to_each_other(struct kunit *test)
{
	struct ants_pool *first = test_pool(test, NULL, "first");
	struct ants_pool *second = test_pool(test, NULL, "second");
	struct sender there = { .to = second, .submit = ants_submit };
	struct sender tries = { .to = first, .submit = ants_try_submit };
	struct sender back = { .to = first, .submit = ants_submit };

	expect_sent(test, &there, first);
	/* A submit that cannot wait is the way out. */
	expect_sent(test, &tries, second);
	KUNIT_EXPECT_TRUE(test, debug_locks);
	pr_info("ants-expect: possible (circular|recursive) locking\n");
	expect_sent(test, &back, second);
	KUNIT_EXPECT_FALSE(test, debug_locks);
}

static struct kunit_case lockdep_pools_cases[] = {
	KUNIT_CASE(tasks_of_two_pools_submit_to_each_other),
	{}
};

static struct kunit_suite lockdep_pools_suite = {
	.name = "ants_lockdep_pools",
	.init = needs_lockdep,
	.test_cases = lockdep_pools_cases,
};

kunit_test_suite(lockdep_pools_suite);

MODULE_DESCRIPTION("ants: KUnit test of two pools that wait for each other");
MODULE_LICENSE("GPL");
