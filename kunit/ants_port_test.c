// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tests of the Go pool ants that concern a plain pool, by their numbers in
 * its list of 53, scaled to kernel threads; and regressions of its bugs (B).
 */
#include <linux/module.h>

#include "caller.h"

/* The task of most tests there: sleeps for a while. */
static void demo_task(void *data)
{
	usleep_range(100, 300);
	atomic_inc(data);
}

/* Adds what data is worth. */
struct addend {
	atomic_t *sum;
	int value;
};

static void add_task(void *data)
{
	struct addend *a = data;

	atomic_add(a->value, a->sum);
}

static struct ants_pool *pool_of(struct kunit *test, unsigned int capacity,
				 unsigned int expiry_ms, unsigned int flags)
{
	struct ants_attrs attrs = {
		.capacity = capacity, .expiry_ms = expiry_ms, .flags = flags,
	};

	return test_pool(test, &attrs, "port");
}

static void expect_demo(struct kunit *test, struct ants_pool *pool, int nr,
			int capacity)
{
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, demo_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), nr);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_busy, capacity);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_running, capacity);
}

/* 1: all run although the submitter must wait; never more than capacity. */
static void wait_to_get_worker(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 32, 0, 0);

	expect_demo(test, pool, 3200, 32);
}

/* 2 */
static void wait_to_get_worker_prealloc(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 32, 0, ANTS_PREALLOC);

	expect_demo(test, pool, 3200, 32);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 32);
}

/* 7: a worker can be made again after all were purged. */
static void get_worker_from_cache(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 64, 50, 0);
	struct gate *gate = test_gate(test);

	expect_demo(test, pool, 32, 64);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

/* 13: the pool that is always there. */
static void default_pool(struct kunit *test)
{
	atomic_t *count = kunit_kzalloc(test, sizeof(*count), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, count);
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(ants_system_pool, demo_task,
						  count), 0);
	/* Without a deadline: the tasks have the memory until they are done. */
	while (atomic_read(count) < 1000)
		usleep_range(200, 1000);
	KUNIT_EXPECT_LE(test, stats_of(ants_system_pool).peak_running, 256);
}

/* 18: 32 at once, then none is left. */
static void purge_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 32, 50, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 32);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 32);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 32);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 32);
}

/* Nothing will ever make a thread of this pool go: no timer, no work. */
static bool at_rest(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = pool->nr_idle == pool->nr_workers &&
	      !timer_pending(&pool->timer) && !pool->upkeep_queued;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/* 19: our preallocated threads stay, which is what they are made for. */
static void purge_prealloc_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 1, ANTS_PREALLOC);

	expect_demo(test, pool, 1, 10);
	EXPECT_SOON(test, at_rest(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 10);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 0);
}

/* 20: there, "ended" is not "idle again", and the test fails at random. */
static void nonblocking_submit(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, ANTS_NONBLOCKING);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 10);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), -EAGAIN);
	gate_let_one(gate);
	EXPECT_SOON(test, ants_nr_busy(pool) == 9);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), -EAGAIN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 11);
}

/* 21 */
static void max_blocking_submit(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 10, .max_blocking = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "blocking");
	struct gate *gate = test_gate(test);
	struct submitter *waiter, *second;

	fill_pool(test, pool, gate, 10);
	waiter = submit_async(test, pool, gate_task, gate, MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	second = submit_async(test, pool, gate_task, gate, MAX_SCHEDULE_TIMEOUT);
	KUNIT_EXPECT_EQ(test, submitter_result(test, second), -EBUSY);
	gate_let_one(gate);
	KUNIT_EXPECT_EQ(test, submitter_result(test, waiter), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 11);
}

/* 26, 27: closed, opened again, and as good as new. */
static void reboot_new_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, 0);
	int i;

	for (i = 0; i < 3; i++) {
		expect_demo(test, pool, 50, 10);
		KUNIT_EXPECT_EQ(test, ants_reboot(pool), -EBUSY);
		KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE),
				0);
		KUNIT_EXPECT_EQ(test, ants_submit(pool, demo_task, pool),
				-ESHUTDOWN);
		KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	}
	expect_demo(test, pool, 50, 10);
}

struct infinite {
	struct ants_pool *pool;
	struct gate *gate;
	int result;
};

static void infinite_task(void *data)
{
	struct infinite *i = data;

	i->result = ants_submit(i->pool, gate_task, i->gate);
	gate_task(i->gate);
}

/* 28, B20: a nested submit is at home here; and Tune is not ignored. */
static void infinite_pool(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, ANTS_UNLIMITED, 0, 0);
	struct gate *gate = test_gate(test);
	struct infinite i = { .pool = pool, .gate = gate, .result = 1 };

	KUNIT_EXPECT_EQ(test, ants_submit(pool, infinite_task, &i), 0);
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

/* 29, 30, B22: wins over expiry; and the release does not wait for a purge. */
static void disable_purge(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 1, ANTS_NO_PURGE);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 10);
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

/* Submits until the pool is closed. */
struct feed {
	struct ants_pool *pool;
	atomic_t accepted;
	atomic_t ran;
};

static void feed_task(void *data)
{
	struct feed *feed = data;

	usleep_range(1000, 2000);
	atomic_inc(&feed->ran);
}

static int call_feed(void *arg)
{
	struct feed *feed = arg;
	int err;

	for (;;) {
		err = ants_submit(feed->pool, feed_task, feed);
		if (err)
			return err;
		atomic_inc(&feed->accepted);
	}
}

/*
 * 35, and a submit that races with the close: both submitters return, what was
 * accepted ran, nothing runs after the drain has returned.
 */
static void release_when_running(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 0, 0);
	struct feed feed = { .pool = pool };
	struct caller *one = call_async(test, call_feed, &feed);
	struct caller *two = call_async(test, call_feed, &feed);
	int ran;

	EXPECT_SOON(test, atomic_read(&feed.ran) >= 20);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	ran = atomic_read(&feed.ran);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, feed_task, &feed), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, caller_result(test, one), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, caller_result(test, two), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&feed.accepted), ran);
	KUNIT_EXPECT_EQ(test, atomic_read(&feed.ran), ran);
	KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, ran);
}

/* 38; its table of arguments is the suite "attrs". B8: shrinks, and lives on. */
static void rest_code_coverage(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 64, 0, ANTS_NO_PURGE);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 64);
	gate_open(gate);
	expect_demo(test, pool, 1000, 64);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 64), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 64);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 16), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 16);
	expect_demo(test, pool, 1000, 64);
	KUNIT_EXPECT_LE(test, ants_nr_running(pool), 16);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, demo_task, pool), -ESHUTDOWN);
}

/* 39, B18: who waits gets in by the growth alone; no task ends meanwhile. */
static void tune_scale_up(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 2, 0, 0);
	struct gate *gate = test_gate(test);
	struct submitter *waiters[5];
	int i;

	fill_pool(test, pool, gate, 2);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 3), 0);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate, 0), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 3);
	for (i = 0; i < 5; i++)
		waiters[i] = submit_async(test, pool, gate_task, gate,
					  MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 5);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 8), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 0);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, submitter_result(test, waiters[i]), 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 8);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 8);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

/* 40; B4, B21, B24: then no thread, timer or work is left. */
static void release_timeout(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 5);
	KUNIT_EXPECT_NE(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), 5);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_TRUE(test, at_rest(pool));
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 5);
}

#define NR_ADDENDS	1000

static void expect_sum(struct kunit *test, struct ants_pool *pool)
{
	struct addend *a = kunit_kcalloc(test, NR_ADDENDS, sizeof(*a),
					 GFP_KERNEL);
	atomic_t sum = ATOMIC_INIT(0);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, a);
	for (i = 0; i < NR_ADDENDS; i++) {
		a[i].sum = &sum;
		a[i].value = i;
		KUNIT_EXPECT_EQ(test, ants_submit(pool, add_task, &a[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&sum), 499500);
}

/* 45, example 1: each task exactly once, before and after. */
static void reboot_calc(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, 0);

	expect_sum(test, pool);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	expect_sum(test, pool);
}

/* 46, B27: what was preallocated is so again after the reboot. */
static void reboot_prealloc_calc(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 10, 0, ANTS_PREALLOC);

	expect_sum(test, pool);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 10);
	expect_sum(test, pool);
}

/* Who runs the task? */
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
	task = list_first_entry(&pool->idle, struct ants_worker, node)->task;
	raw_spin_unlock_irq(&pool->lock);
	return task;
}

/*
 * 51, 52, and "LIFO reuse": the same thread again and again, others age. On a
 * busy machine a wake-up may be late, and then another one has the task; a queue
 * of idle threads would never have the last one first.
 */
static void worker_stack(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 6, 0, ANTS_NO_PURGE);
	struct gate *gate = test_gate(test);
	struct task_struct *top;
	int i, same = 0;

	fill_pool(test, pool, gate, 6);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 6);
	for (i = 0; i < 40; i++) {
		top = top_of_stack(pool);
		same += runner(test, pool) == top;
	}
	KUNIT_EXPECT_GE(test, same, 20);
}

/* B5, B13: the last worker leaves just when a task comes: nobody sleeps on. */
static void submit_meets_the_reaper(struct kunit *test)
{
	struct ants_pool *pool = pool_of(test, 1, 1, 0);
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 1; i <= 300; i++) {
		KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
		EXPECT_SOON(test, atomic_read(&count) == i);
		usleep_range(3000, 3000 + 50 * i);
	}
	KUNIT_EXPECT_GT(test, stats_of(pool).spawned, 1);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

static struct kunit_case ants_port_cases[] = {
	KUNIT_CASE(wait_to_get_worker),
	KUNIT_CASE(wait_to_get_worker_prealloc),
	KUNIT_CASE(get_worker_from_cache),
	KUNIT_CASE(default_pool),
	KUNIT_CASE(purge_pool),
	KUNIT_CASE(purge_prealloc_pool),
	KUNIT_CASE(nonblocking_submit),
	KUNIT_CASE(max_blocking_submit),
	KUNIT_CASE(reboot_new_pool),
	KUNIT_CASE(infinite_pool),
	KUNIT_CASE(disable_purge),
	KUNIT_CASE(release_when_running),
	KUNIT_CASE(rest_code_coverage),
	KUNIT_CASE(tune_scale_up),
	KUNIT_CASE(release_timeout),
	KUNIT_CASE(reboot_calc),
	KUNIT_CASE(reboot_prealloc_calc),
	KUNIT_CASE(worker_stack),
	KUNIT_CASE(submit_meets_the_reaper),
	{}
};

static struct kunit_suite ants_port_suite = {
	.name = "ants_port",
	.test_cases = ants_port_cases,
};

kunit_test_suite(ants_port_suite);

MODULE_DESCRIPTION("ants: KUnit tests ported from the Go pool ants");
MODULE_LICENSE("GPL");
