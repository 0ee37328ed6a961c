// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the Go pool ants: workers, submitters and sizes. */
#include <linux/module.h>

#include "ants_port.h"

/*
 * 1, 3, 4: all tasks run although submitters must wait, on no more threads than
 * the capacity.
 */
static void wait_to_get_worker(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 32, 0, 0);

	expect_demo(test, pool, 640, 32);
}

/* 2, 5, 6 */
static void wait_to_get_worker_prealloc(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 32, 0, ANTS_PREALLOC);

	expect_demo(test, pool, 640, 32);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 32);
}

/* 7, 8, 9: a worker can be made again after all were purged. */
static void get_worker_from_cache(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 64, 50, 0);
	struct gate *gate = test_gate(test);

	expect_demo(test, pool, 32, 64);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	occupy(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

/* 13: the pool that always exists. */
static void default_pool(struct kunit *test)
{
	atomic_t *count = kunit_kzalloc(test, sizeof(*count), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, count);
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(ants_system_pool, demo_task,
						  count), 0);
	/* No deadline: the tasks use this memory until they are done. */
	while (atomic_read(count) < 1000)
		usleep_range(200, 1000);
	KUNIT_EXPECT_LE(test, stats_of(ants_system_pool).peak_running, 256);
}

/* 18: 32 workers at once, then none. */
static void purge_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 32, 50, 0);
	struct gate *gate = test_gate(test);

	occupy(test, pool, gate, 32);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 32);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 32);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 32);
}

/* 10, 11, 19: here preallocated threads stay, which is what they are for. */
static void purge_prealloc_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 1, ANTS_PREALLOC);

	expect_demo(test, pool, 1, 10);
	EXPECT_SOON(test, at_rest(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 10);
	expect_demo(test, pool, 1, 10);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 0);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 10);
}

/*
 * Invoke the pool's own function with NULL, which is not a signal to the pool
 * (B30).
 */
static void expect_null(struct kunit *test, struct ants_pool *pool, int err)
{
	if (of_func(test))
		KUNIT_EXPECT_EQ(test, ants_invoke(pool, NULL), err);
}

/*
 * 20, 22, 23: in the original a worker whose task has ended is not idle at
 * once, so that the test fails at random; and a call with NULL ends the worker.
 */
static void nonblocking_submit(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, ANTS_NONBLOCKING |
						      ANTS_NO_PURGE);
	struct gate *gate = test_gate(test), *again = test_gate(test);

	occupy(test, pool, gate, 10);
	KUNIT_EXPECT_EQ(test, hand(test, pool, gate_task, gate), -EAGAIN);
	expect_null(test, pool, -EAGAIN);
	gate_let_one(gate);
	EXPECT_SOON(test, ants_nr_busy(pool) == 9);
	KUNIT_EXPECT_EQ(test, hand(test, pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, hand(test, pool, gate_task, gate), -EAGAIN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 11);
	expect_null(test, pool, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	occupy(test, pool, again, 10);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 10);
}

/* 21, 24, 25 */
static void max_blocking_submit(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 10, .max_blocking = 1 };
	struct ants_pool *pool = port_pool(test, &attrs);
	struct gate *gate = test_gate(test);
	struct async_call *waiter, *second;

	occupy(test, pool, gate, 10);
	waiter = hand_async(test, pool, gate_task, gate);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	second = hand_async(test, pool, gate_task, gate);
	KUNIT_EXPECT_EQ(test, async_result(second), -EBUSY);
	gate_let_one(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 11);
}

struct infinite {
	struct ants_pool *pool;
	struct gate *gate;
	struct packet inner;
	int result;
};

static void infinite_task(void *data)
{
	struct infinite *i = data;

	i->result = send(i->pool, i->inner);
	gate_task(i->gate);
}

/*
 * 28, 33, 34, B20: a task may submit to its own pool, and Tune is not ignored.
 */
static void infinite_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, ANTS_UNLIMITED, 0, 0);
	struct gate *gate = test_gate(test);
	struct infinite i = { .pool = pool, .gate = gate, .result = 1 };

	/* The capacity allows a thread for one that is late. */
	seldom_late();
	i.inner = pack(test, gate_task, gate);
	KUNIT_EXPECT_EQ(test, hand(test, pool, infinite_task, &i), 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2);
	KUNIT_EXPECT_EQ(test, i.result, 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 10), 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 10);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 8);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, ANTS_UNLIMITED), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

/*
 * 29-32, B22: ANTS_NO_PURGE overrides the expiry, and a release does not wait
 * for a purge.
 */
static void disable_purge(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 1, ANTS_NO_PURGE);
	struct gate *gate = test_gate(test);

	occupy(test, pool, gate, 10);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 10);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	EXPECT_SOON(test, at_rest(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 10);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
}

/* 39, B18: the growth alone admits the waiters; no task ends meanwhile. */
static void tune_scale_up(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 2, 0, 0);
	struct gate *gate = test_gate(test);
	struct async_call *waiters[5];
	int i;

	occupy(test, pool, gate, 2);
	KUNIT_EXPECT_EQ(test, hand_timeout(test, pool, gate_task, gate, 0),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 3), 0);
	KUNIT_EXPECT_EQ(test, hand_timeout(test, pool, gate_task, gate, 0), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 3);
	for (i = 0; i < 5; i++)
		waiters[i] = hand_async(test, pool, gate_task, gate);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 5);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 8), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 0);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, async_result(waiters[i]), 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 8);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 8);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

/* Tells which thread runs the task. */
static void whoami_task(void *data)
{
	WRITE_ONCE(*(struct task_struct **)data, current);
}

static struct task_struct *runner(struct kunit *test, struct ants_pool *pool)
{
	struct task_struct *task = NULL;

	KUNIT_EXPECT_EQ(test, ants_submit(pool, whoami_task, &task), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	EXPECT_SOON(test, ants_nr_idle(pool) == ants_nr_running(pool));
	return task;
}

/* The thread that parked last. */
static struct task_struct *top_of_stack(struct ants_pool *pool)
{
	struct task_struct *task;

	raw_spin_lock_irq(&pool->lock);
	task = list_first_entry(&pool->workers.idle, struct ants_worker, node)->task;
	raw_spin_unlock_irq(&pool->lock);
	return task;
}

/*
 * 51, 52, and "LIFO reuse": one thread runs task after task while the others
 * age. On a busy machine a wake-up may be late, and then another thread takes
 * the task; but a FIFO of idle threads would never use the last one first.
 */
static void worker_stack(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 6, 0, ANTS_NO_PURGE);
	struct gate *gate = test_gate(test);
	struct task_struct *top;
	int i, same = 0;

	occupy(test, pool, gate, 6);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 6);
	be_only_caller(test, pool);
	for (i = 0; i < 40; i++) {
		top = top_of_stack(pool);
		same += runner(test, pool) == top;
	}
	KUNIT_EXPECT_GT(test, same, 0);
}

/*
 * B5, B13: the last worker leaves just when a task comes, and the task still
 * runs.
 */
static void submit_meets_the_reaper(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 1, 0);
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 1; i <= 100; i++) {
		KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
		EXPECT_SOON(test, atomic_read(&count) == i);
		/* Towards the end this is longer than the expiry, in ticks. */
		usleep_range(3000 + 135 * i, 3000 + 150 * i);
	}
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, stats_of(pool).spawned);
}

static void end(struct kunit *test)
{
	ants_late_arm(ANTS_LATE_TICKS);
}

static struct kunit_case ants_port_cases[] = {
	KUNIT_CASE_PARAM(wait_to_get_worker, kind_gen_params),
	KUNIT_CASE_PARAM(wait_to_get_worker_prealloc, kind_gen_params),
	KUNIT_CASE_PARAM(get_worker_from_cache, kind_gen_params),
	KUNIT_CASE(default_pool),
	KUNIT_CASE_PARAM(purge_pool, kind_gen_params),
	KUNIT_CASE_PARAM(purge_prealloc_pool, kind_gen_params),
	KUNIT_CASE_PARAM(nonblocking_submit, kind_gen_params),
	KUNIT_CASE_PARAM(max_blocking_submit, kind_gen_params),
	KUNIT_CASE_PARAM(infinite_pool, kind_gen_params),
	KUNIT_CASE_PARAM(disable_purge, kind_gen_params),
	KUNIT_CASE_PARAM(tune_scale_up, kind_gen_params),
	KUNIT_CASE(worker_stack),
	KUNIT_CASE(submit_meets_the_reaper),
	{}
};

static struct kunit_suite ants_port_suite = {
	.name = "ants_port",
	.exit = end,
	.test_cases = ants_port_cases,
};

kunit_test_suite(ants_port_suite);

MODULE_DESCRIPTION("ants: KUnit tests ported from the Go pool ants");
MODULE_LICENSE("GPL");
