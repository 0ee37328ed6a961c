// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of callers, held at pause points: submitters before the lock, enrolled,
 * and giving up; and release, tune and flush between their steps.
 */
#include <linux/module.h>

#include "race.h"

/* --- ANTS_PAUSE_SUBMIT: about to take the lock ------------------------------ */

static struct async_call *hold_submitter(struct kunit *test,
					 struct ants_pool *pool,
					 atomic_t *count)
{
	struct async_call *call;

	hold(ANTS_PAUSE_SUBMIT, pool);
	call = submit_async(test, pool, count_task, count, FOREVER);
	expect_held(test, ANTS_PAUSE_SUBMIT);
	return call;
}

static void submitter_meets_a_drained_pool(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *call = hold_submitter(test, pool, count);

	expect_drained(test, pool, count, 0);
	let_go(ANTS_PAUSE_SUBMIT);
	expect_result(test, call, -ESHUTDOWN);
	expect_drained(test, pool, count, 0);
}

static void submitter_meets_a_rebooted_pool(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	struct async_call *call = hold_submitter(test, pool, count);

	expect_drained(test, pool, count, 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	let_go(ANTS_PAUSE_SUBMIT);
	expect_result(test, call, 0);
	expect_drained(test, pool, count, 1);
}

/* The pool has lost the room it had when the call began. */
static void submitter_meets_a_full_pool(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call = hold_submitter(test, pool, count);

	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), 0);
	let_go(ANTS_PAUSE_SUBMIT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	gate_open(gate);
	expect_result(test, call, 0);
	expect_drained(test, pool, count, 1);
}

static void submitter_meets_a_shrunk_pool(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call;

	fill_pool(test, pool, gate, 1);
	call = hold_submitter(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	let_go(ANTS_PAUSE_SUBMIT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	gate_open(gate);
	expect_result(test, call, 0);
	expect_drained(test, pool, count, 1);
}

static void submitter_meets_a_grown_pool(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call;

	fill_pool(test, pool, gate, 1);
	call = hold_submitter(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), 0);
	let_go(ANTS_PAUSE_SUBMIT);
	expect_result(test, call, 0);
	EXPECT_SOON(test, atomic_read(count) == 1);
	KUNIT_EXPECT_EQ(test, pool->counts.blocked, 0ULL);
}

/* --- ANTS_PAUSE_ENROLLED: in the FIFO, not asleep --------------------------- */

/* @pool is full with one task at @gate; its one waiter is not asleep yet. */
static struct async_call *hold_enrolled(struct kunit *test,
					struct ants_pool *pool,
					struct gate *gate, atomic_t *count,
					unsigned long timeout)
{
	struct async_call *call;

	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_ENROLLED, pool);
	call = submit_async(test, pool, count_task, count, timeout);
	expect_held(test, ANTS_PAUSE_ENROLLED);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 1U);
	return call;
}

/* The result is there before the waiter looks: it must not sleep. */
static void enrolled_waiter_is_granted(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call;

	call = hold_enrolled(test, pool, gate, count, FOREVER);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 1);
	expect_blocked(test, call);
	let_go(ANTS_PAUSE_ENROLLED);
	expect_result(test, call, 0);
	expect_drained(test, pool, count, 1);
}

static void enrolled_waiter_is_released(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call;

	call = hold_enrolled(test, pool, gate, count, FOREVER);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 0U);
	let_go(ANTS_PAUSE_ENROLLED);
	expect_result(test, call, -ESHUTDOWN);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
}

/* B10: Tune to a larger capacity, while a submitter is about to sleep. */
static void enrolled_waiter_is_tuned_in(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call;

	call = hold_enrolled(test, pool, gate, count, FOREVER);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), 0U);
	EXPECT_SOON(test, atomic_read(count) == 1);
	let_go(ANTS_PAUSE_ENROLLED);
	expect_result(test, call, 0);
}

/* A grant counts even if the waiter's time was over before it looked. */
static void enrolled_waiter_is_granted_and_late(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call = hold_enrolled(test, pool, gate, count, 1);
	unsigned long late = jiffies + 2;

	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 1 &&
		    time_after(jiffies, late));
	let_go(ANTS_PAUSE_ENROLLED);
	expect_result(test, call, 0);
	KUNIT_EXPECT_EQ(test, pool->counts.rejected, 0ULL);
}

/* --- ANTS_PAUSE_WITHDRAW: decided to give up -------------------------------- */

/* The same, and the waiter's time is over. */
static struct async_call *hold_loser(struct kunit *test, struct ants_pool *pool,
				     struct gate *gate, atomic_t *count)
{
	struct async_call *call;

	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_WITHDRAW, pool);
	call = submit_async(test, pool, count_task, count, 1);
	expect_held(test, ANTS_PAUSE_WITHDRAW);
	return call;
}

static void loser_is_granted(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call = hold_loser(test, pool, gate, count);

	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 1);
	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, call, 0);
	KUNIT_EXPECT_EQ(test, pool->counts.rejected, 0ULL);
	expect_drained(test, pool, count, 1);
}

static void loser_is_not_granted(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call = hold_loser(test, pool, gate, count);

	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, call, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, pool->counts.rejected, 1ULL);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
}

static void loser_is_tuned_in(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call = hold_loser(test, pool, gate, count);

	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), 0);
	EXPECT_SOON(test, atomic_read(count) == 1);
	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, call, 0);
}

static void loser_is_released(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call = hold_loser(test, pool, gate, count);

	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, call, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, pool->counts.rejected, 1ULL);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
}

/* Join the thread of another call; return its result. */
static int do_stop(struct async_call *call)
{
	return async_stop(call->data);
}

/* A kthread is told to stop, and either @granted meanwhile or not. */
static void stop_a_waiter(struct kunit *test, bool granted)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *call, *stopper;

	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_WITHDRAW, pool);
	call = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	stopper = async_start(test, do_stop, call);
	expect_held(test, ANTS_PAUSE_WITHDRAW);
	if (granted)
		gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == granted);
	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, stopper, granted ? 0 : -EINTR);
	gate_open(gate);
	expect_drained(test, pool, count, granted);
}

static void stopped_kthread_is_granted(struct kunit *test)
{
	stop_a_waiter(test, true);
}

static void stopped_kthread_is_not_granted(struct kunit *test)
{
	stop_a_waiter(test, false);
}

/* A head that gave up no longer blocks the waiters behind it. */
static void head_that_gave_up_lets_the_next_one_in(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *lost = counter(test), *count = counter(test);
	struct async_call *first = hold_loser(test, pool, gate, lost);
	struct async_call *next;

	next = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 2);
	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, first, -ETIMEDOUT);
	expect_blocked(test, next);
	gate_open(gate);
	expect_result(test, next, 0);
	expect_drained(test, pool, count, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(lost), 0);
}

/* While the head is in the FIFO it is the first to be granted. */
static void head_that_gives_up_is_not_overtaken(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	struct gate *gate = test_gate(test), *second = test_gate(test);
	struct async_call *first, *next;
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_WITHDRAW, pool);
	first = submit_async(test, pool, gate_task, second, 1);
	expect_held(test, ANTS_PAUSE_WITHDRAW);
	next = submit_async(test, pool, count_task, count, FOREVER);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 2);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(&second->entered) == 1);
	expect_blocked(test, next);
	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, first, 0);
	gate_open(second);
	expect_result(test, next, 0);
	expect_drained(test, pool, count, 1);
}

/* More than the time after which a debug kernel frees a kobject. */
#define KOBJECT_FREED_MS	5000

/* Once its result is known, a waiter touches nothing but its own stack. */
static void pool_is_destroyed_under_waiters(struct kunit *test)
{
	struct ants_pool *pool = race_own_pool(test, 1);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);
	struct async_call *loser, *enrolled, *destroyer;

	loser = hold_loser(test, pool, gate, count);
	hold(ANTS_PAUSE_ENROLLED, pool);
	enrolled = submit_async(test, pool, count_task, count, FOREVER);
	expect_held(test, ANTS_PAUSE_ENROLLED);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 2);
	destroyer = async_start_on(test, do_destroy, pool, 0);
	expect_result(test, destroyer, 0);
	msleep(KOBJECT_FREED_MS);
	let_go(ANTS_PAUSE_ENROLLED);
	let_go(ANTS_PAUSE_WITHDRAW);
	expect_result(test, enrolled, 0);
	expect_result(test, loser, 0);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(submitter_meets_a_drained_pool),
	KUNIT_CASE(submitter_meets_a_rebooted_pool),
	KUNIT_CASE(submitter_meets_a_full_pool),
	KUNIT_CASE(submitter_meets_a_shrunk_pool),
	KUNIT_CASE(submitter_meets_a_grown_pool),
	KUNIT_CASE(enrolled_waiter_is_granted),
	KUNIT_CASE(enrolled_waiter_is_released),
	KUNIT_CASE(enrolled_waiter_is_tuned_in),
	KUNIT_CASE(enrolled_waiter_is_granted_and_late),
	KUNIT_CASE(loser_is_granted),
	KUNIT_CASE(loser_is_not_granted),
	KUNIT_CASE(loser_is_tuned_in),
	KUNIT_CASE(loser_is_released),
	KUNIT_CASE(stopped_kthread_is_granted),
	KUNIT_CASE(stopped_kthread_is_not_granted),
	KUNIT_CASE(head_that_gave_up_lets_the_next_one_in),
	KUNIT_CASE(head_that_gives_up_is_not_overtaken),
	KUNIT_CASE(pool_is_destroyed_under_waiters),
	{}
};

static struct kunit_suite race_suite = {
	.name = "ants_race",
	.exit = race_exit,
	.test_cases = race_cases,
};

kunit_test_suite(race_suite);

MODULE_DESCRIPTION("ants: KUnit tests of forced races of callers");
MODULE_LICENSE("GPL");
