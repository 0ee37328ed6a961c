// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that call their own pool, or another one; calls that would hang are
 * refused.
 */
#include <linux/module.h>

#include "async.h"

/* A task that makes one call, and its result. */
struct nested {
	int (*call)(struct nested *n);
	struct ants_pool *pool;
	unsigned long timeout;
	struct gate *gate;
	atomic_t *count;
	struct completion done;
	int result;
};

static int nested_submit(struct nested *n)
{
	return ants_submit(n->pool, count_task, n->count);
}

static int nested_submit_timeout(struct nested *n)
{
	return ants_submit_timeout(n->pool, count_task, n->count, n->timeout);
}

static int nested_try_submit(struct nested *n)
{
	return ants_try_submit(n->pool, count_task, n->count);
}

static int nested_flush(struct nested *n)
{
	return ants_flush_timeout(n->pool, n->timeout);
}

static int nested_release(struct nested *n)
{
	return ants_release(n->pool);
}

static int nested_release_timeout(struct nested *n)
{
	return ants_release_timeout(n->pool, n->timeout);
}

static void nested_task(void *data)
{
	struct nested *n = data;

	if (n->gate)
		gate_task(n->gate);
	n->result = n->call(n);
	complete(&n->done);
}

/* The task makes its call on @pool, and what it submits counts. */
static struct nested *nested_of(struct kunit *test, struct ants_pool *pool,
				int (*call)(struct nested *n), atomic_t *count)
{
	struct nested *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	n->pool = pool;
	n->call = call;
	n->count = count;
	n->timeout = MAX_SCHEDULE_TIMEOUT;
	n->result = 1;
	init_completion(&n->done);
	return n;
}

static struct ants_pool *pool_of(struct kunit *test, unsigned int capacity,
				 unsigned int queue_depth, unsigned int flags,
				 const char *name)
{
	struct ants_attrs attrs = {
		.capacity = capacity, .queue_depth = queue_depth,
		.flags = flags,
	};

	return test_pool(test, &attrs, name);
}

/* Run the task of @n in @host to its end; return the result of its call. */
static int result_in(struct kunit *test, struct ants_pool *host,
		     struct nested *n)
{
	KUNIT_EXPECT_EQ(test, ants_submit(host, nested_task, n), 0);
	EXPECT_SOON(test, completion_done(&n->done));
	return n->result;
}

static void expect_nested(struct kunit *test, struct ants_pool *pool,
			  int (*call)(struct nested *n), unsigned long timeout,
			  int result)
{
	static atomic_t count;
	struct nested *n = nested_of(test, pool, call, &count);

	atomic_set(&count, 0);
	n->timeout = timeout;
	KUNIT_EXPECT_EQ(test, result_in(test, pool, n), result);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), !result);
}

/*
 * B17, P13: in the original, a task that submits to its own full pool hangs it.
 */
static void full_pool_of_one_refuses_its_task(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 0, 0, "one");

	expect_nested(test, pool, nested_submit, 0, -EDEADLK);
	expect_nested(test, pool, nested_submit_timeout, MAX_SCHEDULE_TIMEOUT,
		      -EDEADLK);
	expect_nested(test, pool, nested_submit_timeout, ULONG_MAX, -EDEADLK);
	KUNIT_EXPECT_EQ(test, stats_of(pool).blocked, 0);
	KUNIT_EXPECT_EQ(test, pool->waiters.nr_nested, 0);
}

static void timed_nested_submit_may_wait(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 0, 0, "timed");

	expect_nested(test, pool, nested_submit_timeout, 2, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, stats_of(pool).blocked, 1);
	expect_nested(test, pool, nested_submit_timeout, 0, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, stats_of(pool).blocked, 1);
}

static void calls_that_never_wait_are_as_ever(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 0, ANTS_NONBLOCKING, "never");

	expect_nested(test, pool, nested_submit, 0, -EAGAIN);
	expect_nested(test, pool, nested_try_submit, 0, -EAGAIN);
}

static void room_is_used_by_nested_submits(struct kunit *test)
{
	struct ants_pool *roomy = pool_of(test, 2, 0, 0, "roomy");
	struct ants_pool *queue = pool_of(test, 1, 1, 0, "queue");

	expect_nested(test, roomy, nested_submit, 0, 0);
	expect_nested(test, queue, nested_submit, 0, 0);
	expect_nested(test, queue, nested_submit_timeout,
		      MAX_SCHEDULE_TIMEOUT, 0);
	expect_nested(test, queue, nested_try_submit, 0, 0);
}

#define NR_NESTED	4

/*
 * As many tasks want to wait as may run: all of them may but the last one,
 * whose end makes room for the others.
 */
static void last_of_all_nested_waiters_is_refused(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, NR_NESTED, 0, 0, "all");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct nested *n[NR_NESTED];
	int i, refused = 0;

	for (i = 0; i < NR_NESTED; i++) {
		n[i] = nested_of(test, pool, nested_submit, &count);
		n[i]->gate = gate;
		KUNIT_EXPECT_EQ(test, ants_submit(pool, nested_task, n[i]), 0);
	}
	EXPECT_SOON(test, atomic_read(&gate->entered) == NR_NESTED);
	for (i = 0; i < NR_NESTED - 1; i++) {
		gate_let_one(gate);
		EXPECT_SOON(test, ants_nr_waiting(pool) == i + 1);
	}
	KUNIT_EXPECT_EQ(test, pool->waiters.nr_nested, NR_NESTED - 1);
	gate_let_one(gate);
	for (i = 0; i < NR_NESTED; i++) {
		EXPECT_SOON(test, completion_done(&n[i]->done));
		KUNIT_EXPECT_TRUE(test, !n[i]->result ||
				  n[i]->result == -EDEADLK);
		refused += n[i]->result == -EDEADLK;
	}
	KUNIT_EXPECT_EQ(test, refused, 1);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), NR_NESTED - 1);
	KUNIT_EXPECT_EQ(test, pool->waiters.nr_nested, 0);
}

/*
 * A waiter from outside does not count, since it occupies no thread of the
 * pool.
 */
static void waiters_from_outside_are_no_deadlock(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 2, 0, 0, "outside");
	struct gate *gate = test_gate(test), *inner = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct nested *n = nested_of(test, pool, nested_submit, &count);
	struct async_call *outside;

	n->gate = inner;
	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, nested_task, n), 0);
	EXPECT_SOON(test, atomic_read(&inner->entered) == 1);
	outside = submit_async(test, pool, count_task, &count,
			       MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	gate_open(inner);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 2);
	KUNIT_EXPECT_EQ(test, pool->waiters.nr_nested, 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(outside), 0);
	EXPECT_SOON(test, completion_done(&n->done));
	KUNIT_EXPECT_EQ(test, n->result, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 2);
}

static void task_of_another_pool_may_wait(struct kunit *test)
{
	struct ants_pool *host = pool_of(test, 1, 0, 0, "host");
	struct ants_pool *pool = pool_of(test, 1, 0, 0, "guest");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct nested *n = nested_of(test, pool, nested_submit, &count);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(host, nested_task, n), 0);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_EQ(test, pool->waiters.nr_nested, 0);
	gate_open(gate);
	EXPECT_SOON(test, completion_done(&n->done));
	KUNIT_EXPECT_EQ(test, n->result, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

static void release_ends_a_nested_wait(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 2, 0, 0, "ended");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct nested *n = nested_of(test, pool, nested_submit, &count);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, nested_task, n), 0);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	EXPECT_SOON(test, completion_done(&n->done));
	KUNIT_EXPECT_EQ(test, n->result, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, pool->waiters.nr_nested, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 0);
}

/* Self-deadlock is refused, whatever the timeout, and nothing changes. */
static void self_waits_are_refused(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 2, 0, 0, "self");
	atomic_t count = ATOMIC_INIT(0);
	struct nested *n;

	n = nested_of(test, pool, nested_flush, &count);
	KUNIT_EXPECT_EQ(test, result_in(test, pool, n), -EDEADLK);
	n = nested_of(test, pool, nested_flush, &count);
	n->timeout = 1;
	KUNIT_EXPECT_EQ(test, result_in(test, pool, n), -EDEADLK);
	n = nested_of(test, pool, nested_release_timeout, &count);
	KUNIT_EXPECT_EQ(test, result_in(test, pool, n), -EDEADLK);
	n = nested_of(test, pool, nested_release_timeout, &count);
	n->timeout = 0;
	KUNIT_EXPECT_EQ(test, result_in(test, pool, n), -EDEADLK);
	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

static void task_may_flush_another_pool(struct kunit *test)
{
	struct ants_pool *host = pool_of(test, 1, 0, 0, "flusher");
	struct ants_pool *pool = pool_of(test, 1, 0, 0, "flushed");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct nested *n = nested_of(test, pool, nested_flush, &count);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(host, nested_task, n), 0);
	EXPECT_SOON(test, ants_peek(pool->flips));
	KUNIT_EXPECT_FALSE(test, completion_done(&n->done));
	gate_open(gate);
	EXPECT_SOON(test, completion_done(&n->done));
	KUNIT_EXPECT_EQ(test, n->result, 0);
}

/* "Close from inside a task": calls that do not wait are allowed. */
static void task_may_release_its_own_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 1, 0, "inside");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct nested *n = nested_of(test, pool, nested_release, &count);

	n->gate = gate;
	KUNIT_EXPECT_EQ(test, ants_submit(pool, nested_task, n), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	gate_open(gate);
	EXPECT_SOON(test, completion_done(&n->done));
	KUNIT_EXPECT_EQ(test, n->result, 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

/* Two full pools with ANTS_CALLER_RUNS. */
struct two_pools {
	struct ants_pool *outer;
	struct ants_pool *inner;
	atomic_t ran;
	int result;
};

static void hand_to_inner(void *data)
{
	struct two_pools *two = data;

	two->result = ants_submit(two->inner, count_task, &two->ran);
}

static int do_hand_to_outer(struct async_call *call)
{
	struct two_pools *two = call->data;

	return ants_submit(two->outer, hand_to_inner, two);
}

/* Only a task of the same pool must wait there. */
static void caller_runs_a_task_inside_that_of_another_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_CALLER_RUNS };
	struct two_pools two = {
		.outer = test_pool(test, &attrs, "outer"),
		.inner = test_pool(test, &attrs, "inner"),
		.result = 1,
	};
	struct gate *gate = test_gate(test);
	struct async_call *caller;

	fill_pool(test, two.outer, gate, 1);
	fill_pool(test, two.inner, gate, 1);
	caller = async_start(test, do_hand_to_outer, &two);
	EXPECT_SOON(test, atomic_read(&two.ran) == 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(caller), 0);
	KUNIT_EXPECT_EQ(test, two.result, 0);
}

static struct kunit_case nested_cases[] = {
	KUNIT_CASE(caller_runs_a_task_inside_that_of_another_pool),
	KUNIT_CASE(full_pool_of_one_refuses_its_task),
	KUNIT_CASE(timed_nested_submit_may_wait),
	KUNIT_CASE(calls_that_never_wait_are_as_ever),
	KUNIT_CASE(room_is_used_by_nested_submits),
	KUNIT_CASE(last_of_all_nested_waiters_is_refused),
	KUNIT_CASE(waiters_from_outside_are_no_deadlock),
	KUNIT_CASE(task_of_another_pool_may_wait),
	KUNIT_CASE(release_ends_a_nested_wait),
	KUNIT_CASE(self_waits_are_refused),
	KUNIT_CASE(task_may_flush_another_pool),
	KUNIT_CASE(task_may_release_its_own_pool),
	{}
};

static struct kunit_suite nested_suite = {
	.name = "ants_nested",
	.test_cases = nested_cases,
};

kunit_test_suite(nested_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that call a pool");
MODULE_LICENSE("GPL");
