// SPDX-License-Identifier: GPL-2.0-only
/* A submitter that waits: how its wait ends, and what becomes of its task. */
#include <linux/module.h>

#include "async.h"

/* A full pool with room for one task, and the timeout of its next submitter. */
struct full {
	struct ants_pool *pool;
	struct gate *gate;
	atomic_t count;
	unsigned long timeout;
};

static struct full *full_pool(struct kunit *test, const char *name)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct full *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pool = test_pool(test, &attrs, name);
	f->gate = test_gate(test);
	f->timeout = FOREVER;
	fill_pool(test, f->pool, f->gate, 1);
	return f;
}

static int submit_to(struct full *f)
{
	return submit_or_invoke(f->pool, count_task, &f->count, f->timeout);
}

static struct async_call *submit_to_async(struct kunit *test, struct full *f)
{
	return submit_async(test, f->pool, count_task, &f->count, f->timeout);
}

/* Start a waiter of @f; it is in the FIFO when this returns. */
static struct async_call *enrolled(struct kunit *test, struct full *f)
{
	unsigned int nr = ants_nr_waiting(f->pool) + 1;
	struct async_call *c = submit_to_async(test, f);

	EXPECT_SOON(test, ants_nr_waiting(f->pool) == nr);
	return c;
}

/* Open the gate; @nr tasks of waiters run, then nothing is left. */
static void expect_run(struct kunit *test, struct full *f, int nr)
{
	gate_open(f->gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(f->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->count), nr);
	KUNIT_EXPECT_EQ(test, stats_of(f->pool).completed, nr + 1);
}

static void no_time_is_no_wait(struct kunit *test)
{
	struct full *f = full_pool(test, "none");

	f->timeout = 0;
	KUNIT_EXPECT_EQ(test, submit_to(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, stats_of(f->pool).blocked, 0);
	KUNIT_EXPECT_EQ(test, stats_of(f->pool).peak_waiting, 0);
	gate_open(f->gate);
	KUNIT_EXPECT_EQ(test, ants_flush(f->pool), 0);
	KUNIT_EXPECT_EQ(test, submit_to(f), 0);
	expect_run(test, f, 1);
}

/*
 * The call does not return early; afterwards its task does not run, and no
 * caller waits.
 */
static void short_time_is_waited_out(struct kunit *test)
{
	struct full *f = full_pool(test, "short");
	unsigned long start = jiffies;

	f->timeout = 5;
	KUNIT_EXPECT_EQ(test, submit_to(f), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, start + 5));
	KUNIT_EXPECT_EQ(test, stats_of(f->pool).blocked, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(f->pool), 0);
	expect_run(test, f, 0);
}

static void long_time_ends_with_a_grant(struct kunit *test)
{
	struct full *f = full_pool(test, "long");
	struct async_call *waiter;

	f->timeout = 1000 * HZ;
	waiter = enrolled(test, f);
	gate_open(f->gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_run(test, f, 1);
}

/* P14: the time is over, but the grant came before the waiter gave up. */
static void grant_beats_timeout(struct kunit *test)
{
	struct full *f = full_pool(test, "late");
	struct async_call *waiter;

	f->timeout = 1;
	ants_pause_arm(ANTS_PAUSE_WITHDRAW, f->pool);
	waiter = submit_to_async(test, f);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_WITHDRAW,
						   TEST_DEADLINE));
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(f->pool), 1);
	gate_open(f->gate);
	EXPECT_SOON(test, atomic_read(&f->count) == 1);
	ants_pause_resume(ANTS_PAUSE_WITHDRAW);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_run(test, f, 1);
}

static void grant_beats_signal(struct kunit *test)
{
	struct full *f = full_pool(test, "signal");
	struct async_call *waiter;

	ants_pause_arm(ANTS_PAUSE_WITHDRAW, f->pool);
	waiter = enrolled(test, f);
	send_sig(SIGKILL, waiter->task, 1);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_WITHDRAW,
						   TEST_DEADLINE));
	gate_open(f->gate);
	EXPECT_SOON(test, atomic_read(&f->count) == 1);
	ants_pause_resume(ANTS_PAUSE_WITHDRAW);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_run(test, f, 1);
}

static void stopped_kthread_gives_up(struct kunit *test)
{
	struct full *f = full_pool(test, "stopped");
	struct async_call *waiter = enrolled(test, f);

	KUNIT_EXPECT_EQ(test, async_stop(waiter), -EINTR);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(f->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(f->pool).rejected, 1);
	expect_run(test, f, 0);
}

/*
 * The waiter is killed between its enrolment and its sleep, and still notices.
 */
static void kill_before_the_sleep_is_noticed(struct kunit *test)
{
	struct full *f = full_pool(test, "awake");
	struct async_call *waiter;

	ants_pause_arm(ANTS_PAUSE_ENROLLED, f->pool);
	waiter = submit_to_async(test, f);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_ENROLLED,
						   TEST_DEADLINE));
	send_sig(SIGKILL, waiter->task, 1);
	ants_pause_resume(ANTS_PAUSE_ENROLLED);
	KUNIT_EXPECT_EQ(test, async_result(waiter), -EINTR);
	expect_run(test, f, 0);
}

static void killed_thread_gives_up(struct kunit *test)
{
	struct full *f = full_pool(test, "killed");
	struct async_call *waiter = enrolled(test, f);

	send_sig(SIGKILL, waiter->task, 1);
	KUNIT_EXPECT_EQ(test, async_result(waiter), -EINTR);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(f->pool), 0);
	expect_run(test, f, 0);
}

/* Killable, not interruptible: the signal is pending throughout the wait. */
static void other_signals_do_not_end_the_wait(struct kunit *test)
{
	struct full *f = full_pool(test, "usr1");
	struct async_call *waiter = enrolled(test, f);

	send_sig(SIGUSR1, waiter->task, 1);
	KUNIT_EXPECT_TRUE(test, signal_pending(waiter->task));
	gate_open(f->gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_run(test, f, 1);
}

static void waiter_in_the_middle_leaves_no_hole(struct kunit *test)
{
	struct full *f = full_pool(test, "middle");
	struct async_call *first = enrolled(test, f);
	struct async_call *second = enrolled(test, f);
	struct async_call *third = enrolled(test, f);

	KUNIT_EXPECT_EQ(test, async_stop(second), -EINTR);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(f->pool), 2);
	gate_open(f->gate);
	KUNIT_EXPECT_EQ(test, async_result(first), 0);
	KUNIT_EXPECT_EQ(test, async_result(third), 0);
	expect_run(test, f, 2);
}

/* A newcomer is refused while any caller waits, and not any longer. */
static void last_waiter_takes_its_claim_along(struct kunit *test)
{
	struct full *f = full_pool(test, "claim");
	struct async_call *waiter = enrolled(test, f);

	KUNIT_EXPECT_EQ(test, async_stop(waiter), -EINTR);
	gate_open(f->gate);
	KUNIT_EXPECT_EQ(test, ants_flush(f->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(f->pool), 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(f->pool, count_task, &f->count),
			0);
	expect_run(test, f, 1);
}

/* B2: the waiter sleeps, and what happens to others does not wake it. */
static void waiter_sleeps(struct kunit *test)
{
	struct full *f = full_pool(test, "sleeps");
	struct async_call *first = enrolled(test, f);
	unsigned long switches;
	int i;

	expect_blocked(test, first);
	switches = first->task->nvcsw + first->task->nivcsw;
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, ants_try_submit(f->pool, count_task,
						      &f->count), -EAGAIN);
		KUNIT_EXPECT_EQ(test, async_stop(enrolled(test, f)), -EINTR);
	}
	KUNIT_EXPECT_EQ(test, READ_ONCE(first->task->__state), TASK_KILLABLE);
	KUNIT_EXPECT_EQ(test, first->task->nvcsw + first->task->nivcsw,
			switches);
	gate_open(f->gate);
	KUNIT_EXPECT_EQ(test, async_result(first), 0);
	expect_run(test, f, 1);
}

/* B10, B18: the grant comes before the waiter sleeps; no task has to end. */
static void tune_reaches_a_waiter_about_to_sleep(struct kunit *test)
{
	struct full *f = full_pool(test, "tuned");
	struct async_call *waiter;

	ants_pause_arm(ANTS_PAUSE_ENROLLED, f->pool);
	waiter = submit_to_async(test, f);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_ENROLLED,
						   TEST_DEADLINE));
	KUNIT_EXPECT_EQ(test, ants_tune(f->pool, 2), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(f->pool), 0);
	ants_pause_resume(ANTS_PAUSE_ENROLLED);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	EXPECT_SOON(test, atomic_read(&f->count) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->gate->passed), 0);
	expect_run(test, f, 1);
}

/* P3: the last task ends between the waiter's enrolment and its sleep. */
static void finish_reaches_a_waiter_about_to_sleep(struct kunit *test)
{
	struct full *f = full_pool(test, "finished");
	struct async_call *waiter;

	ants_pause_arm(ANTS_PAUSE_ENROLLED, f->pool);
	waiter = submit_to_async(test, f);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_ENROLLED,
						   TEST_DEADLINE));
	gate_open(f->gate);
	EXPECT_SOON(test, atomic_read(&f->count) == 1);
	ants_pause_resume(ANTS_PAUSE_ENROLLED);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_run(test, f, 1);
}

/*
 * P5: the waiter is refused although no other task is admitted: the gate is
 * closed.
 */
static void release_reaches_a_waiter_about_to_sleep(struct kunit *test)
{
	struct full *f = full_pool(test, "closing");
	struct async_call *waiter;

	ants_pause_arm(ANTS_PAUSE_ENROLLED, f->pool);
	waiter = submit_to_async(test, f);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_ENROLLED,
						   TEST_DEADLINE));
	KUNIT_EXPECT_EQ(test, ants_release(f->pool), 0);
	ants_pause_resume(ANTS_PAUSE_ENROLLED);
	KUNIT_EXPECT_EQ(test, async_result(waiter), -ESHUTDOWN);
	expect_run(test, f, 0);
}

/* A submitter that found the pool open submits to a closed one. */
static void release_beats_a_submit_before_the_lock(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "beaten");
	struct full *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct async_call *c;

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pool = pool;
	f->timeout = FOREVER;
	ants_pause_arm(ANTS_PAUSE_SUBMIT, pool);
	c = submit_to_async(test, f);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_SUBMIT,
						   TEST_DEADLINE));
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	ants_pause_resume(ANTS_PAUSE_SUBMIT);
	KUNIT_EXPECT_EQ(test, async_result(c), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->count), 0);
	KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, 0);
}

static struct kunit_case submit_wait_cases[] = {
	KUNIT_CASE(no_time_is_no_wait),
	KUNIT_CASE(short_time_is_waited_out),
	KUNIT_CASE(long_time_ends_with_a_grant),
	KUNIT_CASE(grant_beats_timeout),
	KUNIT_CASE(grant_beats_signal),
	KUNIT_CASE(stopped_kthread_gives_up),
	KUNIT_CASE(kill_before_the_sleep_is_noticed),
	KUNIT_CASE(killed_thread_gives_up),
	KUNIT_CASE(other_signals_do_not_end_the_wait),
	KUNIT_CASE(waiter_in_the_middle_leaves_no_hole),
	KUNIT_CASE(last_waiter_takes_its_claim_along),
	KUNIT_CASE(waiter_sleeps),
	KUNIT_CASE(tune_reaches_a_waiter_about_to_sleep),
	KUNIT_CASE(finish_reaches_a_waiter_about_to_sleep),
	KUNIT_CASE(release_reaches_a_waiter_about_to_sleep),
	KUNIT_CASE(release_beats_a_submit_before_the_lock),
	{}
};

static struct kunit_suite submit_wait_suite = {
	.name = "ants_submit_wait",
	.test_cases = submit_wait_cases,
};

kunit_test_suite(submit_wait_suite);

MODULE_DESCRIPTION("ants: KUnit tests of submitters that wait");
MODULE_LICENSE("GPL");
