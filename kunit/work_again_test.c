// SPDX-License-Identifier: GPL-2.0-only
/* Work items that are queued again while they run, and their turn in a pool. */
#include <linux/module.h>

#include "work.h"

static struct rig *rig_one(struct kunit *test, unsigned int queue_depth)
{
	struct ants_attrs attrs = {
		.capacity = 1, .queue_depth = queue_depth,
	};

	return rig_make(test, "again", attrs);
}

/* An item that queues itself @more times. */
static void make_again(struct rig *rig, struct item *item, int more)
{
	item->pool = rig->pool;
	item->more = more;
	item->queued = -EINVAL;
}

/* One wait covers all three runs. */
static void item_queues_itself(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, 0);

	make_again(rig, item, 2);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_ended(test, item, 3, RESULT(3));
	KUNIT_EXPECT_EQ(test, item->queued, 0);
	expect_counted(test, rig->pool, 3, 0);
}

/* Several threads do not run it at the same time. */
static void item_runs_in_one_thread_at_a_time(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .queue_depth = 4 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "again", attrs);
	int i, err = 0;

	park(rig, 0, 4);
	for (i = 0; i < 2000 && !err; i++) {
		do {
			cond_resched();
			err = ants_queue_work(rig->pool, work_of(item));
		} while (err == -EALREADY);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	expect_ended(test, item, 2000, RESULT(2000));
	expect_counted(test, rig->pool, 2004, 0);
}

static void flush_waits_for_the_second_run(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, 0);
	struct async_call *call;

	make_again(rig, item, 1);
	item_start(rig, item, &rig->gate);
	call = rig_async(rig, do_flush, FOREVER, NULL);
	EXPECT_SOON(test, ants_peek(rig->pool->flips));
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 2);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(item), 2, NULL),
			-ETIMEDOUT);
	expect_blocked(test, call);
	gate_open(&rig->gate);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 2);
	expect_ended(test, item, 2, RESULT(2));
}

/* The item goes to the end of the queue each time. */
static void others_run_in_between(struct kunit *test)
{
	struct item *items = items_alloc(test, 3);
	struct rig *rig = rig_one(test, 3);
	int i;

	make_again(rig, &items[0], 2);
	fill_pool(test, rig->pool, &rig->gate, 1);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool,
						      work_of(&items[i])), 0);
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 3, RESULT(3));
	KUNIT_EXPECT_EQ(test, items[1].turn, 2);
	KUNIT_EXPECT_EQ(test, items[2].turn, 3);
	KUNIT_EXPECT_EQ(test, items[0].turn, 5);
	expect_counted(test, rig->pool, 6, 0);
}

/*
 * The second run inherits the admission of the first: the bound holds, and the
 * run is accepted.
 */
static void second_run_inherits_the_admission(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_one(test, 1);

	item_start(rig, &items[0], &rig->gate);
	fill_up(rig);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[0])), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, state_of(&items[0]) == ANTS_WORK_PENDING);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])),
			-EAGAIN);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[0])));
	expect_ended(test, &items[0], 1, -ECANCELED);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])), 0);
	gate_open(&rig->gate);
	expect_ended(test, &items[1], 1, RESULT(1));
	expect_counted(test, rig->pool, 4, 1);
}

/* An item that asks for another run when its gate is opened. */
static int queue_late_fn(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, dwork.work);

	gate_task(item->gate);
	if (!atomic_read(&item->ran))
		item->queued = ants_queue_work(item->pool, work);
	return RESULT(atomic_inc_return(&item->ran));
}

static void closed_pool_refuses_another_run(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, 0);

	INIT_ANTS_WORK(work_of(item), queue_late_fn);
	item->pool = rig->pool;
	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	gate_open(&rig->gate);
	expect_ended(test, item, 1, RESULT(1));
	KUNIT_EXPECT_EQ(test, item->queued, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, PROMPT), 0);
}

/*
 * The item cannot queue itself while ants_work_cancel_sync() waits for its end.
 * A cancel that does not wait would not prevent that.
 */
static void cancelled_item_cannot_ask_again(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, 0);
	struct async_call *cancel;

	INIT_ANTS_WORK(work_of(item), queue_late_fn);
	item->pool = rig->pool;
	item_start(rig, item, &rig->gate);
	cancel = rig_async(rig, do_cancel_sync, 0, item);
	EXPECT_SOON(test, nr_waiters_of(item) == 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 0);
	expect_ended(test, item, 1, RESULT(1));
	KUNIT_EXPECT_EQ(test, item->queued, -ECANCELED);
	item->gate = NULL;
	INIT_ANTS_WORK(work_of(item), item_fn);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_ended(test, item, 2, RESULT(2));
}

/* A run that was accepted before the pool is closed takes place. */
static void release_leaves_the_second_run(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_one(test, 0);

	make_again(rig, item, 1);
	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, PROMPT), 0);
	expect_ended(test, item, 2, RESULT(2));
}

#define NR_MIXED	6

/* Waiters are served in the order in which they came, whatever they submit. */
static void waiters_are_not_overtaken(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_MIXED + 1);
	struct rig *rig = rig_one(test, 1);
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	fill_up(rig);
	for (i = 0; i < NR_MIXED; i++) {
		start_queue(rig, &items[i], FOREVER);
		rig_async(rig, do_submit_count, FOREVER, NULL);
		ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 2 * i + 2);
	}
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[i])),
			-EAGAIN);
	gate_open(&rig->gate);
	for (i = 0; i < NR_MIXED; i++) {
		expect_ended(test, &items[i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(test, items[i].turn, i + 1);
	}
	expect_results(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), NR_MIXED);
	expect_counted(test, rig->pool, 2 + 2 * NR_MIXED, 0);
}

/* While a caller waits, free room belongs to that caller. */
static void free_room_belongs_to_the_waiter(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_one(test, 0);
	bool room;

	fill_pool(test, rig->pool, &rig->gate, 1);
	start_queue(rig, &items[0], FOREVER);
	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->limits.in_flight += 2;
	ants_update_admit_limit(rig->pool);
	room = ants_can_admit(rig->pool);
	rig->pool->limits.in_flight -= 2;
	ants_update_admit_limit(rig->pool);
	raw_spin_unlock_irq(&rig->pool->lock);
	KUNIT_EXPECT_FALSE(test, room);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool,
						      work_of(&items[1]), 2),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 0);
	expect_ended(test, &items[0], 1, RESULT(1));
}

static struct kunit_case work_again_cases[] = {
	KUNIT_CASE(item_queues_itself),
	KUNIT_CASE(item_runs_in_one_thread_at_a_time),
	KUNIT_CASE(flush_waits_for_the_second_run),
	KUNIT_CASE(others_run_in_between),
	KUNIT_CASE(second_run_inherits_the_admission),
	KUNIT_CASE(closed_pool_refuses_another_run),
	KUNIT_CASE(cancelled_item_cannot_ask_again),
	KUNIT_CASE(release_leaves_the_second_run),
	KUNIT_CASE(waiters_are_not_overtaken),
	KUNIT_CASE(free_room_belongs_to_the_waiter),
	{}
};

static struct kunit_suite work_again_suite = {
	.name = "ants_work_again",
	.test_cases = work_again_cases,
};

kunit_test_suite(work_again_suite);

MODULE_DESCRIPTION("ants: KUnit tests of work items that run again");
MODULE_LICENSE("GPL");
