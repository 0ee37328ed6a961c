// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a pool while other threads are inside calls that block. KASAN
 * catches a call that touches the pool too late.
 */
#include <linux/module.h>

#include "rig.h"

#define NAME	"destroy"

/* Destroy a busy pool, and let the rig forget it. */
static struct async_call *start_destroy(struct rig *rig)
{
	struct ants_pool *pool = rig->pool;
	struct async_call *call = rig_async(rig, do_destroy, 0, NULL);

	rig->pool = NULL;
	EXPECT_SOON(rig->test, ants_is_released(pool));
	return call;
}

static void destroy_ends_all_kinds_of_calls(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct async_call *flush, *drain, *destroy;

	start_waiters(rig, 2);
	flush = rig_async(rig, do_flush, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->flips));
	drain = rig_async(rig, do_release_timeout, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 2);
	destroy = start_destroy(rig);
	KUNIT_EXPECT_EQ(test, async_result(&rig->calls[0]), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, async_result(&rig->calls[1]), -ESHUTDOWN);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(flush), 0);
	KUNIT_EXPECT_EQ(test, async_result(drain), 0);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_EQ(test, flush->passed, 1);
	KUNIT_EXPECT_EQ(test, drain->passed, 1);
	KUNIT_EXPECT_EQ(test, destroy->passed, 1);
	EXPECT_SOON(test, nr_threads(NAME) == 0);
}

/* All tasks and threads have gone, but one caller has not. */
static void destroy_waits_for_a_caller(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct ants_pool *pool = rig->pool;
	struct async_call *flush, *destroy;

	hold(rig, ANTS_PAUSE_AWAIT);
	flush = rig_async(rig, do_flush, FOREVER, NULL);
	held(rig, ANTS_PAUSE_AWAIT);
	destroy = start_destroy(rig);
	gate_open(&rig->gate);
	EXPECT_SOON(test, silent(pool) && !ants_nr_running(pool));
	expect_blocked(test, destroy);
	/* This may take long, so an administrator still sees the pool. */
	KUNIT_EXPECT_TRUE(test, pool->kobj.state_in_sysfs);
	let_go(rig, ANTS_PAUSE_AWAIT);
	KUNIT_EXPECT_EQ(test, async_result(flush), 0);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
}

/* The pool is destroyed while a caller of ants_submit() is held at @point. */
static void expect_waiter_survives(struct kunit *test,
				   enum ants_pause_point point,
				   unsigned long timeout)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct async_call *waiter, *destroy;

	hold(rig, point);
	waiter = rig_async(rig, do_submit_count, timeout, NULL);
	held(rig, point);
	destroy = start_destroy(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	let_go(rig, point);
	KUNIT_EXPECT_EQ(test, async_result(waiter), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
}

static void waiter_that_does_not_sleep_yet_outlives_the_pool(struct kunit *test)
{
	expect_waiter_survives(test, ANTS_PAUSE_ENROLLED, FOREVER);
}

/*
 * The caller was about to time out when the release failed its wait and the
 * pool went.
 */
static void waiter_that_gives_up_outlives_the_pool(struct kunit *test)
{
	expect_waiter_survives(test, ANTS_PAUSE_WITHDRAW, 1);
}

/*
 * The call has dropped the lock and will come back: destroy goes as far as it
 * can and waits for the caller.
 */
static struct async_call *expect_destroy_waits(struct rig *rig)
{
	struct ants_pool *pool = rig->pool;
	struct async_call *destroy = start_destroy(rig);

	gate_open(&rig->gate);
	EXPECT_SOON(rig->test, silent(pool) && !ants_nr_running(pool));
	expect_blocked(rig->test, destroy);
	return destroy;
}

#define NR_BATCH	20

/* The first task stops at the gate in @data, the others count. */
static int do_batch(struct async_call *call)
{
	struct ants_task tasks[NR_BATCH];
	int i;

	for (i = 0; i < NR_BATCH; i++)
		tasks[i] = (struct ants_task){ count_task, &call->rig->count };
	tasks[0] = (struct ants_task){ gate_task, call->data };
	return ants_submit_batch(call->pool, tasks, NR_BATCH);
}

/* The caller of a batch runs one of its tasks, and others are left. */
static void batch_that_runs_a_task_keeps_the_pool(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1,
						.flags = ANTS_CALLER_RUNS });
	struct async_call *batch, *destroy;

	batch = rig_async(rig, do_batch, 0, &rig->late);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 1);
	destroy = expect_destroy_waits(rig);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, async_result(batch), 1);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
}

/*
 * The caller waited for its first task to be admitted and has not come back for
 * the second.
 */
static void batch_that_waited_keeps_the_pool(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct async_call *batch, *destroy;

	batch = rig_async(rig, do_batch, 0, &rig->gate);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	hold(rig, ANTS_PAUSE_SUBMIT);
	gate_open(&rig->gate);
	held(rig, ANTS_PAUSE_SUBMIT);
	destroy = expect_destroy_waits(rig);
	let_go(rig, ANTS_PAUSE_SUBMIT);
	KUNIT_EXPECT_EQ(test, async_result(batch), 1);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
}

/*
 * A batch of one is a submit: its task may use the pool, whichever thread runs
 * it.
 */
static int do_submit_late(struct async_call *call)
{
	return ants_submit(call->pool, gate_task, &call->rig->late);
}

static void caller_that_runs_a_task_keeps_the_pool(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1,
						.flags = ANTS_CALLER_RUNS });
	struct async_call *submit, *destroy;

	submit = rig_async(rig, do_submit_late, 0, NULL);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 1);
	destroy = expect_destroy_waits(rig);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, async_result(submit), 0);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
}

static int count_each(unsigned long i, void *count)
{
	atomic_inc(count);
	return 0;
}

static int do_each(struct async_call *call)
{
	return ants_for_each(call->pool, NR_BATCH, count_each,
			     &call->rig->count);
}

/* The loop has allocated its helpers, and has not queued any. */
static void loop_keeps_the_pool(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
						.capacity = 4 });
	struct async_call *each, *destroy;

	hold(rig, ANTS_PAUSE_EACH);
	each = rig_async(rig, do_each, 0, NULL);
	held(rig, ANTS_PAUSE_EACH);
	destroy = expect_destroy_waits(rig);
	let_go(rig, ANTS_PAUSE_EACH);
	KUNIT_EXPECT_EQ(test, async_result(each), 0);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), NR_BATCH);
}

static int count_call(void *count)
{
	atomic_inc(count);
	return 0;
}

/* The data is released once, whatever becomes of the call. */
static int do_call_release(struct async_call *call)
{
	return ants_call_release(call->pool, count_call, &call->rig->count,
				 FOREVER, count_task);
}

/* The call is allocated, and not submitted. */
static void call_keeps_the_pool(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct async_call *call, *destroy;

	hold(rig, ANTS_PAUSE_SUBMIT);
	call = rig_async(rig, do_call_release, 0, NULL);
	held(rig, ANTS_PAUSE_SUBMIT);
	destroy = expect_destroy_waits(rig);
	let_go(rig, ANTS_PAUSE_SUBMIT);
	KUNIT_EXPECT_EQ(test, async_result(call), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

/* One worker was woken for a task, and the others leave. */
static void destroy_collects_every_worker(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 20 });
	struct async_call *destroy;

	park(rig, 0, 20);
	hold(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	held(rig, ANTS_PAUSE_ARRIVE);
	destroy = start_destroy(rig);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	EXPECT_SOON(test, nr_threads(NAME) == 0);
}

static struct kunit_case destroy_cases[] = {
	KUNIT_CASE(destroy_ends_all_kinds_of_calls),
	KUNIT_CASE(destroy_waits_for_a_caller),
	KUNIT_CASE(waiter_that_does_not_sleep_yet_outlives_the_pool),
	KUNIT_CASE(waiter_that_gives_up_outlives_the_pool),
	KUNIT_CASE(batch_that_runs_a_task_keeps_the_pool),
	KUNIT_CASE(batch_that_waited_keeps_the_pool),
	KUNIT_CASE(caller_that_runs_a_task_keeps_the_pool),
	KUNIT_CASE(loop_keeps_the_pool),
	KUNIT_CASE(call_keeps_the_pool),
	KUNIT_CASE(destroy_collects_every_worker),
	{}
};

static struct kunit_suite destroy_suite = {
	.name = "ants_destroy",
	.test_cases = destroy_cases,
};

kunit_test_suite(destroy_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the end of a pool");
MODULE_LICENSE("GPL");
