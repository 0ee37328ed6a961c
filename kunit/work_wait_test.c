// SPDX-License-Identifier: GPL-2.0-only
/* Waiting for work items: which callers may, what they get, and giving up. */
#include <linux/module.h>

#include "work.h"

/* One item at the rig's gate. */
static struct rig *rig_one(struct kunit *test, struct item *item)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 4 };
	struct rig *rig = rig_make(test, "wait", attrs);

	item_start(rig, item, &rig->gate);
	return rig;
}

static void wait_may_time_out_and_be_repeated(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, item);
	int result = 7;

	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(item), 0, &result),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(item), 2, NULL),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, result, 7);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(item), NULL), 0);
	expect_ended(test, item, 1, RESULT(1));
	expect_ended(test, item, 1, RESULT(1));
}

/* More than one lock hold notifies. */
#define NR_MANY		40

/*
 * Any number of callers may wait, and cancel; the upkeep work notifies the last
 * ones.
 */
static void any_number_may_wait(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, item);
	struct async_call *cancel;
	unsigned int i;

	for (i = 0; i < NR_MANY; i++)
		start_wait(rig, item, FOREVER);
	cancel = rig_async(rig, do_cancel_sync, 0, item);
	EXPECT_SOON(test, nr_waiters_of(item) == NR_MANY + 1);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_RUNNING);
	gate_open(&rig->gate);
	for (i = 0; i < NR_MANY; i++)
		expect_waited(test, &rig->calls[i], RESULT(1));
	expect_prompt(test, cancel);
	KUNIT_EXPECT_EQ(test, async_stop(cancel), 0);
	expect_ended(test, item, 1, RESULT(1));
}

#define NR_FEW		8

/* Waiters that gave up are gone, the others stay. */
static void stopped_waiter_leaves_the_list(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, item);
	unsigned int i;

	for (i = 0; i < NR_FEW; i++)
		start_wait(rig, item, FOREVER);
	/* The first one to come leads the others. */
	KUNIT_EXPECT_EQ(test, async_stop(&rig->calls[0]), -EINTR);
	KUNIT_EXPECT_EQ(test, async_stop(&rig->calls[3]), -EINTR);
	KUNIT_EXPECT_EQ(test, nr_waiters_of(item), NR_FEW - 2);
	start_wait(rig, item, FOREVER);
	gate_open(&rig->gate);
	for (i = 0; i <= NR_FEW; i++)
		if (i && i != 3)
			expect_waited(test, &rig->calls[i], RESULT(1));
	expect_ended(test, item, 1, RESULT(1));
}

static void killed_waiter_gives_up(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, item);
	struct async_call *killed, *other;

	killed = rig_async(rig, do_work_wait, FOREVER, item);
	EXPECT_SOON(test, nr_waiters_of(item) == 1);
	other = start_wait(rig, item, FOREVER);
	send_sig(SIGUSR1, killed->task, 1);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(item), 2, NULL),
			-ETIMEDOUT);
	expect_blocked(test, killed);
	send_sig(SIGKILL, killed->task, 1);
	expect_prompt(test, killed);
	KUNIT_EXPECT_EQ(test, async_stop(killed), -EINTR);
	KUNIT_EXPECT_EQ(test, nr_waiters_of(item), 1);
	gate_open(&rig->gate);
	expect_waited(test, other, RESULT(1));
	expect_ended(test, item, 1, RESULT(1));
}

/* The call promises that the item may be freed, so it cannot be killed. */
static void cancel_sync_is_not_killed(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, item);
	struct async_call *call;

	call = rig_async(rig, do_cancel_sync, 0, item);
	EXPECT_SOON(test, nr_waiters_of(item) == 1);
	send_sig(SIGKILL, call->task, 1);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(item), 2, NULL),
			-ETIMEDOUT);
	expect_blocked(test, call);
	gate_open(&rig->gate);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), 0);
	expect_ended(test, item, 1, RESULT(1));
}

/* A waiter for the item is told at once that its submitter gave up. */
static void waiters_hear_of_a_submitter_that_gives_up(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_one(test, &items[0]);
	struct async_call *submitter, *waiters[NR_FEW];
	int i;

	fill_up(rig);
	submitter = start_queue(rig, &items[1], FOREVER);
	for (i = 0; i < NR_FEW; i++)
		waiters[i] = start_wait(rig, &items[1], FOREVER);
	KUNIT_EXPECT_EQ(test, async_stop(submitter), -EINTR);
	for (i = 0; i < NR_FEW; i++)
		expect_waited(test, waiters[i], -EINTR);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool,
						      work_of(&items[1]), 2),
			-ETIMEDOUT);
	expect_ended(test, &items[1], 0, -ETIMEDOUT);
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 1, RESULT(1));
}

/* Closing the pool ends the waits of submitter and waiter. */
static void release_ends_both_waits(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_one(test, &items[0]);
	struct async_call *submitter, *waiter;

	fill_up(rig);
	submitter = start_queue(rig, &items[1], FOREVER);
	waiter = start_wait(rig, &items[1], FOREVER);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	expect_waited(test, waiter, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, async_result(submitter), -ESHUTDOWN);
	expect_ended(test, &items[1], 0, -ESHUTDOWN);
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 1, RESULT(1));
}

/* --- waits inside a task of the same pool ---------------------------------------- */

/* What a task of the pool finds out about other items, and itself. */
struct insider {
	struct ants_work work;
	struct item *running;
	struct item *ended;
	struct item *pending;
	int wait_self;
	int cancel_self;
	int wait_running;
	int cancel_running;
	int wait_ended;
	int cancel_ended;
	int wait_pending;
	int cancel_pending;
	int wait_cancelled;
	int result;
};

static int insider_fn(struct ants_work *work)
{
	struct insider *in = container_of(work, struct insider, work);

	in->wait_self = ants_work_wait(work, NULL);
	in->wait_ended = ants_work_wait(work_of(in->ended), NULL);
	in->cancel_pending = ants_work_cancel_sync(work_of(in->pending));
	in->wait_cancelled = ants_work_wait(work_of(in->pending), &in->result);
	in->cancel_ended = ants_work_cancel_sync(work_of(in->ended));
	in->cancel_running = ants_work_cancel_sync(work_of(in->running));
	in->wait_running = ants_work_wait(work_of(in->running), NULL);
	return ants_work_cancelled(work);
}

static void expect_insider(struct kunit *test, const struct insider *in)
{
	KUNIT_EXPECT_EQ(test, in->wait_running, 0);
	KUNIT_EXPECT_EQ(test, in->cancel_running, 0);
	KUNIT_EXPECT_EQ(test, in->wait_ended, 0);
	KUNIT_EXPECT_EQ(test, in->cancel_ended, 0);
	KUNIT_EXPECT_EQ(test, in->cancel_pending, 1);
	KUNIT_EXPECT_EQ(test, in->wait_cancelled, 0);
	KUNIT_EXPECT_EQ(test, in->result, -ECANCELED);
	KUNIT_EXPECT_EQ(test, in->wait_self, -EDEADLK);
}

/* A task may cancel, and wait for, any item but itself. */
static void task_may_wait_for_its_own_pool(struct kunit *test)
{
	struct insider *in = kunit_kzalloc(test, sizeof(*in), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 2 };
	struct item *items = items_alloc(test, 3);
	struct rig *rig;
	int result = 1;

	KUNIT_ASSERT_NOT_NULL(test, in);
	rig = rig_make(test, "insider", attrs);
	INIT_ANTS_WORK(&in->work, insider_fn);
	in->running = &items[0];
	in->ended = &items[1];
	in->pending = &items[2];
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(in->ended)), 0);
	expect_ended(test, in->ended, 1, RESULT(1));
	item_start(rig, in->running, &rig->gate);
	fill_pool(test, rig->pool, &rig->late, 1);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, &in->work), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(in->pending)),
			0);
	gate_open(&rig->late);
	EXPECT_SOON(test, nr_waiters_of(in->running) == 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&in->work, &result), 0);
	KUNIT_EXPECT_EQ(test, result, 0);
	expect_insider(test, in);
	expect_ended(test, in->running, 1, RESULT(1));
	KUNIT_EXPECT_TRUE(test, in->running->told);
	expect_ended(test, in->pending, 0, -ECANCELED);
}

static int wait_for_other(struct ants_work *work)
{
	struct insider *in = container_of(work, struct insider, work);

	in->wait_running = ants_work_wait(work_of(in->running), &in->result);
	return in->wait_running;
}

static void task_may_wait_for_another_pool(struct kunit *test)
{
	struct insider *in = kunit_kzalloc(test, sizeof(*in), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 1 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig, *other;

	KUNIT_ASSERT_NOT_NULL(test, in);
	other = rig_make(test, "outsider", attrs);
	rig = rig_one(test, item);
	INIT_ANTS_WORK(&in->work, wait_for_other);
	in->running = item;
	KUNIT_EXPECT_EQ(test, ants_queue_work(other->pool, &in->work), 0);
	EXPECT_SOON(test, nr_waiters_of(item) == 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&in->work, NULL), 0);
	KUNIT_EXPECT_EQ(test, in->wait_running, 0);
	KUNIT_EXPECT_EQ(test, in->result, RESULT(1));
}

/* It was never queued, whatever memory it is in. */
static void item_that_is_all_zero(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct rig *rig = rig_make(test, "zero", attrs);
	struct item *item = kunit_kzalloc(test, sizeof(*item), GFP_KERNEL);
	int result = 1;

	KUNIT_ASSERT_NOT_NULL(test, item);
	KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(item), &result), 0);
	KUNIT_EXPECT_EQ(test, result, -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_work_result(work_of(item)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_work_flush(work_of(item)), 0);
	KUNIT_EXPECT_FALSE(test, ants_work_cancel_sync(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork, 1),
			-EINVAL);
}

static struct kunit_case work_wait_cases[] = {
	KUNIT_CASE(item_that_is_all_zero),
	KUNIT_CASE(wait_may_time_out_and_be_repeated),
	KUNIT_CASE(any_number_may_wait),
	KUNIT_CASE(stopped_waiter_leaves_the_list),
	KUNIT_CASE(killed_waiter_gives_up),
	KUNIT_CASE(cancel_sync_is_not_killed),
	KUNIT_CASE(waiters_hear_of_a_submitter_that_gives_up),
	KUNIT_CASE(release_ends_both_waits),
	KUNIT_CASE(task_may_wait_for_its_own_pool),
	KUNIT_CASE(task_may_wait_for_another_pool),
	{}
};

static struct kunit_suite work_wait_suite = {
	.name = "ants_work_wait",
	.test_cases = work_wait_cases,
};

kunit_test_suite(work_wait_suite);

MODULE_DESCRIPTION("ants: KUnit tests of waits for work items");
MODULE_LICENSE("GPL");
