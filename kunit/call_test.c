// SPDX-License-Identifier: GPL-2.0-only
/* ants_call() and ants_call_release(): results, and data that is given away. */
#include <linux/module.h>

#include "call.h"

static void try_result(struct kunit *test, call_t fn, int released)
{
	static const int results[] = { 0, 1, -EIO, -ETIMEDOUT, INT_MIN };
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, released ? "given" : "plain", attrs);
	int i;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		call_arg->result = results[i];
		KUNIT_EXPECT_EQ(test, fn(rig->pool, call_arg, FOREVER),
				results[i]);
		KUNIT_EXPECT_PTR_NE(test, call_arg->thread, current);
		EXPECT_SOON(test, atomic_read(&call_arg->released) ==
			    released * (i + 1));
		KUNIT_EXPECT_EQ(test, atomic_read(&call_arg->ran), i + 1);
	}
	expect_counted(test, rig->pool, ARRAY_SIZE(results), 0);
}

static void result_is_the_functions(struct kunit *test)
{
	with_both(test, try_result);
}

static void bad_arguments_are_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, "call", attrs);

	KUNIT_EXPECT_EQ(test, ants_call(rig->pool, NULL, call_arg, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_call_release(rig->pool, NULL, call_arg, 1,
						call_arg_release), -EINVAL);
	KUNIT_EXPECT_EQ(test,
			ants_call_release(rig->pool, call_arg_fn, call_arg, 1,
					  NULL), -EINVAL);
	expect_call_arg(test, call_arg, 0, 0);
}

/* A task makes both kinds of calls to its own pool; both run in its thread. */
static int nested_fn(void *data)
{
	struct call_arg *call_arg = data;
	int plain, given;

	plain = call_plain(call_arg->pool, call_arg, FOREVER);
	if (call_arg->thread != current)
		return -EINVAL;
	given = call_given(call_arg->pool, call_arg, FOREVER);
	return plain == given ? plain : -EINVAL;
}

/* There is no other thread, and none is needed. */
static void task_of_the_pool_runs_it_itself(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, "call", attrs);

	call_arg->pool = rig->pool;
	call_arg->result = 7;
	KUNIT_EXPECT_EQ(test,
			ants_call(rig->pool, nested_fn, call_arg, FOREVER), 7);
	expect_call_arg(test, call_arg, 2, 1);
	expect_counted(test, rig->pool, 1, 0);
}

static int deep_fn(void *data)
{
	struct call_arg *call_arg = data;

	atomic_inc(&call_arg->ran);
	return ants_call(call_arg->pool, deep_fn, call_arg, FOREVER);
}

static int deep_given_fn(void *data)
{
	struct call_arg *call_arg = data;

	atomic_inc(&call_arg->ran);
	return ants_call_release(call_arg->pool, deep_given_fn, call_arg,
				 FOREVER, call_arg_release);
}

/* The stack is finite. A refused call releases its data, too. */
static void calls_inside_calls_are_bounded(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, "deep", attrs);

	call_arg->pool = rig->pool;
	KUNIT_EXPECT_EQ(test, ants_call(rig->pool, deep_fn, call_arg, FOREVER),
			-EDEADLK);
	expect_call_arg(test, call_arg, 1 + ANTS_JOIN_DEPTH, 0);
	atomic_set(&call_arg->ran, 0);
	KUNIT_EXPECT_EQ(test,
			ants_call_release(rig->pool, deep_given_fn, call_arg,
					  FOREVER, call_arg_release),
			-EDEADLK);
	/*
	 * The task of the first call may be the last one to release the data.
	 */
	EXPECT_SOON(test,
		    atomic_read(&call_arg->released) == 2 + ANTS_JOIN_DEPTH);
	KUNIT_EXPECT_EQ(test, atomic_read(&call_arg->ran), 1 + ANTS_JOIN_DEPTH);
	expect_counted(test, rig->pool, 2, 0);
}

static void try_released(struct kunit *test, call_t fn, int released)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, released ? "given" : "plain", attrs);

	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, fn(rig->pool, call_arg, FOREVER), -ESHUTDOWN);
	expect_call_arg(test, call_arg, 0, released);
}

static void released_pool_refuses(struct kunit *test)
{
	with_both(test, try_released);
}

/* The call is not accepted in time, and does not run later either. */
static void try_full(struct kunit *test, call_t fn, int released)
{
	struct ants_attrs attrs = { .capacity = 1, .max_blocking = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make_full(test, released ? "given" : "plain",
					attrs);

	KUNIT_EXPECT_EQ(test, fn(rig->pool, call_arg, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fn(rig->pool, call_arg, 2), -ETIMEDOUT);
	expect_call_arg(test, call_arg, 0, 2 * released);
	start_waiters(rig, 1);
	KUNIT_EXPECT_EQ(test, fn(rig->pool, call_arg, 2), -EBUSY);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_counted(test, rig->pool, 2, 0);
	expect_call_arg(test, call_arg, 0, 3 * released);
}

static void full_pool_times_out(struct kunit *test)
{
	with_both(test, try_full);
}

/* One thread, at the rig's gate, and room for one more task. */
static struct rig *rig_behind(struct kunit *test, const char *name)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct rig *rig = rig_make(test, name, attrs);

	fill_pool(test, rig->pool, &rig->gate, 1);
	return rig;
}

/* Its admission, and its data, are given back at once. */
static void try_pending(struct kunit *test, call_t fn, int released)
{
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_behind(test, released ? "given" : "plain");
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 1U);
		KUNIT_EXPECT_EQ(test, fn(rig->pool, call_arg, i), -ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, atomic_read(&call_arg->released),
				released * (i + 1));
	}
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 1U);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 4, 3);
	expect_call_arg(test, call_arg, 0, 3 * released);
}

static void pending_call_times_out(struct kunit *test)
{
	with_both(test, try_pending);
}

/* Return when the call runs, or was too late to begin. */
static struct async_call *start_timed(struct rig *rig,
				      struct call_arg *call_arg,
				      unsigned long timeout)
{
	struct async_call *call = rig_async(rig, do_plain, timeout, call_arg);

	EXPECT_SOON(rig->test, atomic_read(&call_arg->gate->entered) == 1 ||
		    async_returned(call));
	return call;
}

/* The time is over before the call ends. */
static void running_call_is_waited_for(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, "call", attrs);
	unsigned long end;
	struct async_call *call;
	int tries = 0;

	call_arg->gate = &rig->gate;
	call_arg->result = 7;
	do {
		call = start_timed(rig, call_arg, HZ / 4);
		end = jiffies + HZ / 4 + 4;
	} while (async_returned(call) && ++tries < 40);
	EXPECT_SOON(test, time_after(jiffies, end));
	expect_blocked(test, call);
	KUNIT_EXPECT_TRUE(test, ants_nr_busy(rig->pool) == 1);
	gate_open(&rig->gate);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), 7);
	expect_call_arg(test, call_arg, 1, 0);
}

static void running_call_is_left_behind(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, "given", attrs);
	struct async_call *call;

	call_arg->gate = &rig->gate;
	call = rig_async(rig, do_given, FOREVER, call_arg);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	send_sig(SIGUSR1, call->task, 1);
	expect_blocked(test, call);
	send_sig(SIGKILL, call->task, 1);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), -EINPROGRESS);
	expect_call_arg(test, call_arg, 0, 0);
	gate_open(&rig->gate);
	EXPECT_SOON(test, atomic_read(&call_arg->released));
	expect_counted(test, rig->pool, 1, 0);
	expect_call_arg(test, call_arg, 1, 1);
}

/*
 * A timeout ends the wait, too. Try again if the time was over before the call
 * began.
 */
static void running_call_times_out(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, "given", attrs);
	int ret, tries = 0;

	call_arg->gate = &rig->gate;
	do {
		gate_init(&rig->gate);
		atomic_set(&call_arg->ran, 0);
		atomic_set(&call_arg->released, 0);
		ret = call_given(rig->pool, call_arg, HZ / 4);
		if (ret == -EINPROGRESS)
			expect_call_arg(test, call_arg, 0, 0);
		gate_open(&rig->gate);
		EXPECT_SOON(test, atomic_read(&call_arg->released));
	} while (ret == -ETIMEDOUT && ++tries < 50);
	KUNIT_EXPECT_EQ(test, ret, -EINPROGRESS);
	expect_call_arg(test, call_arg, 1, 1);
}

/* The caller is killed, or told to stop, before its call has begun. */
static void try_killed(struct kunit *test, call_t fn, int released)
{
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_behind(test, released ? "given" : "plain");
	struct async_call *call;

	call = start_call(rig, fn, call_arg);
	EXPECT_SOON(test, ants_nr_pending(rig->pool) == 1);
	send_sig(SIGKILL, call->task, 1);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), -EINTR);
	expect_call_arg(test, call_arg, 0, released);
	fill_up(rig);
	call = start_call(rig, fn, call_arg);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, async_stop(call), -EINTR);
	gate_open(&rig->gate);
	EXPECT_SOON(test, atomic_read(&call_arg->released) == 2 * released);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_call_arg(test, call_arg, 0, 2 * released);
}

static void killed_caller_gives_up(struct kunit *test)
{
	with_both(test, try_killed);
}

/* O1: a pool that closes answers each of its callers, one way or the other. */
static void try_closing(struct kunit *test, call_t fn, int released)
{
	struct call_arg *accepted = call_arg_make(test);
	struct call_arg *refused = call_arg_make(test);
	struct rig *rig = rig_behind(test, released ? "given" : "plain");
	struct async_call *pending, *waiting;

	accepted->result = 7;
	pending = start_call(rig, fn, accepted);
	EXPECT_SOON(test, ants_nr_pending(rig->pool) == 1);
	waiting = start_call(rig, fn, refused);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, async_result(waiting), -ESHUTDOWN);
	expect_call_arg(test, refused, 0, released);
	expect_blocked(test, pending);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(pending), 7);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_call_arg(test, accepted, 1, released);
}

static void o01_closing_pool_answers_its_callers(struct kunit *test)
{
	with_both(test, try_closing);
}

/*
 * The call already runs: only a caller that gave its data away may leave it
 * behind.
 */
static void try_stopped(struct kunit *test, call_t fn, int released)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, released ? "given" : "plain", attrs);
	struct async_call *call;

	call_arg->gate = &rig->gate;
	call = start_call(rig, fn, call_arg);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	if (!released) {
		send_sig(SIGKILL, call->task, 1);
		expect_blocked(test, call);
		gate_open(&rig->gate);
	}
	KUNIT_EXPECT_EQ(test, async_stop(call), released ? -EINPROGRESS : 0);
	gate_open(&rig->gate);
	EXPECT_SOON(test, atomic_read(&call_arg->released) == released);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_call_arg(test, call_arg, 1, released);
}

static void running_call_is_not_killed(struct kunit *test)
{
	with_both(test, try_stopped);
}

static struct kunit_case call_cases[] = {
	KUNIT_CASE(result_is_the_functions),
	KUNIT_CASE(bad_arguments_are_refused),
	KUNIT_CASE(task_of_the_pool_runs_it_itself),
	KUNIT_CASE(calls_inside_calls_are_bounded),
	KUNIT_CASE(released_pool_refuses),
	KUNIT_CASE(full_pool_times_out),
	KUNIT_CASE(pending_call_times_out),
	KUNIT_CASE(running_call_is_waited_for),
	KUNIT_CASE(running_call_is_left_behind),
	KUNIT_CASE(running_call_times_out),
	KUNIT_CASE(killed_caller_gives_up),
	KUNIT_CASE(running_call_is_not_killed),
	KUNIT_CASE(o01_closing_pool_answers_its_callers),
	{}
};

static struct kunit_suite call_suite = {
	.name = "ants_call",
	.test_cases = call_cases,
};

kunit_test_suite(call_suite);

MODULE_DESCRIPTION("ants: KUnit tests of calls");
MODULE_LICENSE("GPL");
