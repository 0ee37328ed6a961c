// SPDX-License-Identifier: GPL-2.0-only
/* ants_for_each(): each number once, in any thread, and none after the end. */
#include <linux/debug_locks.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "work.h"

#define MOST	100000

/* One loop, and what it found. */
struct loop {
	struct ants_pool *pool;
	struct kunit *test;
	struct task_struct *caller;
	struct gate *gate;
	unsigned long n;
	unsigned long fail_at;
	unsigned long *seen;
	atomic_t calls;
	atomic_t helped;
	atomic_t twice;
	atomic_t late;
	bool ended;
	int result;
};

static int count_fn(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;

	if (i >= loop->n || test_and_set_bit(i, loop->seen))
		atomic_inc(&loop->twice);
	atomic_inc(&loop->calls);
	if (current != loop->caller)
		atomic_inc(&loop->helped);
	return 0;
}

static struct loop *loop_make(struct kunit *test, unsigned long n)
{
	struct loop *loop = kunit_kzalloc(test, sizeof(*loop), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, loop);
	loop->seen = kunit_kzalloc(test, BITS_TO_LONGS(MOST) * sizeof(long),
				   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, loop->seen);
	loop->test = test;
	loop->n = n;
	loop->caller = current;
	return loop;
}

/* Each number was seen once. */
static void expect_all(struct loop *loop)
{
	KUNIT_EXPECT_EQ(loop->test, atomic_read(&loop->twice), 0);
	KUNIT_EXPECT_EQ(loop->test, atomic_read(&loop->calls), (int)loop->n);
	KUNIT_EXPECT_EQ(loop->test, bitmap_weight(loop->seen, MOST),
			(unsigned int)loop->n);
}

static void each_number_once(struct kunit *test)
{
	static const unsigned long sizes[] = { 0, 1, 2, 63, 1000, MOST };
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 2 };
	struct loop *loop = loop_make(test, 0);
	struct rig *rig = rig_make(test, "each", attrs);
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		loop->n = sizes[i];
		atomic_set(&loop->calls, 0);
		bitmap_zero(loop->seen, MOST);
		KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, loop->n,
						    count_fn, loop), 0);
		expect_all(loop);
		KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 0);
	}
}

/* The pool has room for more helpers than a loop may have. */
static void unlimited_pool_takes_part(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = ANTS_UNLIMITED };
	struct loop *loop = loop_make(test, 1000);
	struct rig *rig = rig_make(test, "each", attrs);

	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, loop->n, count_fn,
					    loop), 0);
	expect_all(loop);
	KUNIT_EXPECT_LE(test, stats_of(rig->pool).submitted, 64);
	KUNIT_EXPECT_GT(test, stats_of(rig->pool).submitted, 0);
}

/* Wait until all threads that are to take part have come. */
static int meet_fn(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;

	count_fn(i, loop);
	if (atomic_read(&loop->calls) == loop->n)
		gate_open(loop->gate);
	return wait_for_completion_timeout(&loop->gate->open, TEST_DEADLINE) ?
	       0 : -ETIMEDOUT;
}

static void caller_and_helpers_run_at_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct loop *loop = loop_make(test, 4);
	struct rig *rig = rig_make(test, "each", attrs);

	loop->gate = &rig->gate;
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 4, meet_fn, loop), 0);
	expect_all(loop);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->helped), 3);
	expect_counted(test, rig->pool, 3, 0);
}

/*
 * A caller that reclaims memory must not wait for more memory. Lockdep reports
 * it, and is silent from then on.
 */
static void loop_in_reclaim_does_not_reclaim(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 3, .flags = ANTS_MEM_RECLAIM,
	};
	struct loop *loop = loop_make(test, 1000);
	struct rig *rig = rig_make(test, "each", attrs);
	int err;

	KUNIT_EXPECT_TRUE(test, debug_locks);
	fs_reclaim_acquire(GFP_KERNEL);
	err = ants_for_each(rig->pool, loop->n, count_fn, loop);
	fs_reclaim_release(GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_TRUE(test, debug_locks);
	KUNIT_EXPECT_GT(test, stats_of(rig->pool).submitted, 0);
	expect_all(loop);
}

static void caller_does_all_if_the_pool_is_full(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct loop *loop = loop_make(test, 1000);
	struct rig *rig = rig_make_full(test, "each", attrs);

	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 1000, count_fn, loop),
			0);
	expect_all(loop);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->helped), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).submitted, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 0);
}

/* There is room for each helper, but no thread. */
static void helpers_that_never_started_are_cancelled(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 5 };
	struct loop *loop = loop_make(test, 1000);
	struct rig *rig = rig_make_full(test, "each", attrs);

	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 1000, count_fn, loop),
			0);
	expect_all(loop);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 5);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 6, 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->helped), 0);
}

static int fail_fn(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;

	count_fn(i, loop);
	return i >= loop->fail_at ? -(int)i : 0;
}

/* The error stops the caller in its own chunk, before the next number. */
static void first_error_stops_the_caller(struct kunit *test)
{
	static const unsigned long at[] = { 1, 10, 124, 125, 999 };
	struct ants_attrs attrs = { .capacity = 1 };
	struct loop *loop = loop_make(test, 1000);
	struct rig *rig = rig_make_full(test, "each", attrs);
	int i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		loop->fail_at = at[i];
		atomic_set(&loop->calls, 0);
		bitmap_zero(loop->seen, MOST);
		KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 1000, fail_fn,
						    loop), -(int)at[i]);
		KUNIT_EXPECT_EQ(test, atomic_read(&loop->calls),
				(int)at[i] + 1);
	}
}

/*
 * The helper fails once the caller has begun, and the caller stays in its first
 * number until the helper's error is known.
 */
static int fail_helper_fn(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;

	count_fn(i, loop);
	if (current != loop->caller) {
		if (!WAIT_FOR(atomic_read(&loop->gate->entered)))
			return -ETIMEDOUT;
		complete_all(&loop->gate->open);
		return -EIO;
	}
	atomic_inc(&loop->gate->entered);
	if (!wait_for_completion_timeout(&loop->gate->open, TEST_DEADLINE))
		return -ETIMEDOUT;
	return WAIT_FOR(!ants_nr_busy(loop->pool)) ? 0 : -ETIMEDOUT;
}

static void first_error_stops_the_others(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct loop *loop = loop_make(test, MOST);
	struct rig *rig = rig_make(test, "each", attrs);

	loop->gate = &rig->gate;
	loop->pool = rig->pool;
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, MOST, fail_helper_fn,
					    loop), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->calls), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->helped), 1);
}

/* A loop in its own pool, from inside a task. */
static void each_task(void *data)
{
	struct loop *loop = data;

	loop->caller = current;
	loop->result = ants_for_each(loop->pool, loop->n, count_fn, loop);
	WRITE_ONCE(loop->ended, true);
}

static void loop_inside_a_task(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct loop *loops[2] = { loop_make(test, 1000), loop_make(test, 1000) };
	struct rig *rig = rig_make(test, "each", attrs);
	int i;

	for (i = 0; i < 2; i++) {
		loops[i]->pool = rig->pool;
		loops[i]->result = 1;
		KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, each_task,
						  loops[i]), 0);
	}
	for (i = 0; i < 2; i++) {
		ASSERT_SOON(test, READ_ONCE(loops[i]->ended));
		KUNIT_EXPECT_EQ(test, loops[i]->result, 0);
		expect_all(loops[i]);
	}
}

/* Ten loops of ten numbers, each of which is a loop of ten. */
static int nested_fn(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;
	struct loop inner = { .pool = loop->pool, .n = loop->n / 10 };
	int err = 0;

	atomic_inc(&loop->calls);
	if (inner.n)
		err = ants_for_each(loop->pool, 10, nested_fn, &inner);
	atomic_add(atomic_read(&inner.calls), &loop->helped);
	atomic_add(atomic_read(&inner.helped), &loop->helped);
	return err;
}

static void nested_loops(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .queue_depth = 3 };
	struct loop *loop = loop_make(test, 100);
	struct rig *rig = rig_make(test, "each", attrs);

	loop->pool = rig->pool;
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 10, nested_fn, loop), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->calls), 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->helped), 1100);
}

static void released_pool_refuses(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct loop *loop = loop_make(test, 10);
	struct rig *rig = rig_make(test, "each", attrs);

	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 10, count_fn, loop),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 0, count_fn, loop),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->calls), 0);
}

static void bad_arguments_are_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct loop *loop = loop_make(test, 10);
	struct rig *rig = rig_make(test, "each", attrs);

	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 10, NULL, loop),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, LONG_MAX + 1UL, count_fn,
					    loop), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->calls), 0);
}

/* As many numbers as a long holds: the counter does not overflow. */
static int last_fn(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;

	return atomic_inc_return(&loop->calls) > 5000 ? -EINTR : 0;
}

static void most_numbers_there_are(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct loop *loop = loop_make(test, LONG_MAX);
	struct rig *rig = rig_make(test, "each", attrs);

	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, LONG_MAX, last_fn, loop),
			-EINTR);
	KUNIT_EXPECT_GT(test, atomic_read(&loop->calls), 5000);
}

/* The loop's memory is freed as soon as the loop has returned. */
static int brief_fn(unsigned long i, void *ctx)
{
	atomic_t *calls = ctx;

	if (i % 3 == 0)
		udelay(9);
	atomic_inc(calls);
	return 0;
}

static void nothing_runs_after_the_loop(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 3 };
	struct rig *rig = rig_make(test, "each", attrs);
	atomic_t *calls;
	int i;

	for (i = 0; i < 300; i++) {
		calls = kzalloc(sizeof(*calls), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, calls);
		KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, i % 20, brief_fn,
						    calls), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(calls), i % 20);
		kfree(calls);
	}
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 0);
	EXPECT_SOON(test, !ants_nr_busy(rig->pool));
}

/* The pool is closed and destroyed while loops run in it. */
static int do_each(struct async_call *call)
{
	struct loop *loop = call->data;
	int err;

	do {
		err = ants_for_each(call->pool, 100, brief_fn, &loop->calls);
	} while (!err);
	return err;
}

static void release_races_with_loops(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 2 };
	struct loop *loop = loop_make(test, 100);
	struct rig *rig = rig_make(test, "each", attrs);
	int i;

	for (i = 0; i < 3; i++)
		rig_async(rig, do_each, 0, loop);
	EXPECT_SOON(test, atomic_read(&loop->calls) > 5000);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE),
			0);
	expect_results(rig, 0, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&loop->calls) % 100, 0);
}

static struct kunit_case each_cases[] = {
	KUNIT_CASE(each_number_once),
	KUNIT_CASE(unlimited_pool_takes_part),
	KUNIT_CASE(caller_and_helpers_run_at_once),
	KUNIT_CASE(loop_in_reclaim_does_not_reclaim),
	KUNIT_CASE(caller_does_all_if_the_pool_is_full),
	KUNIT_CASE(helpers_that_never_started_are_cancelled),
	KUNIT_CASE(first_error_stops_the_caller),
	KUNIT_CASE(first_error_stops_the_others),
	KUNIT_CASE(loop_inside_a_task),
	KUNIT_CASE(nested_loops),
	KUNIT_CASE(released_pool_refuses),
	KUNIT_CASE(bad_arguments_are_refused),
	KUNIT_CASE(most_numbers_there_are),
	KUNIT_CASE(nothing_runs_after_the_loop),
	KUNIT_CASE(release_races_with_loops),
	{}
};

static struct kunit_suite each_suite = {
	.name = "ants_each",
	.test_cases = each_cases,
};

kunit_test_suite(each_suite);

MODULE_DESCRIPTION("ants: KUnit tests of loops");
MODULE_LICENSE("GPL");
