// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plain tasks that wait for a work item of their own pool, beside other
 * callers.
 */
#include <linux/module.h>

#include "work.h"

/* Waits for the item, then stops at the gate, if there is one. */
struct waiting {
	struct item *item;
	struct gate *gate;
	unsigned long timeout;
	int err;
	struct completion done;
};

static void wait_task(void *data)
{
	struct waiting *w = data;

	w->err = ants_work_wait_timeout(work_of(w->item), w->timeout, NULL);
	complete(&w->done);
	if (w->gate)
		gate_task(w->gate);
}

static void waiting_init(struct waiting *w, struct item *item,
			 unsigned long timeout)
{
	*w = (struct waiting){ .item = item, .timeout = timeout, .err = 1 };
	init_completion(&w->done);
}

static void expect_waiting(struct kunit *test, struct waiting *w, int err)
{
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&w->done,
							  TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, w->err, err);
}

/*
 * The flush waits for an item that runs inside a task of high priority. That
 * task was submitted after the flush began, and outlasts it.
 */
static void flush_ends_before_the_waiter(struct kunit *test)
{
	struct waiting *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 2 };
	struct item *item = items_alloc(test, 1);
	struct async_call *flush;
	struct rig *rig;

	KUNIT_ASSERT_NOT_NULL(test, w);
	waiting_init(w, item, FOREVER);
	rig = rig_make_full(test, "join_task", attrs);
	w->gate = &rig->late;
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	flush = rig_async(rig, do_flush, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->flips));
	KUNIT_EXPECT_EQ(test, ants_submit_prio(rig->pool, wait_task, w,
					       ANTS_PRIO_HIGH, 0), 0);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(flush), 0);
	expect_waiting(test, w, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->ran), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(rig->pool), 1U);
	gate_open(&rig->late);
	expect_counted(test, rig->pool, 3, 0);
}

/* The first of two tasks that wait for the same item gives up. */
static void other_waiter_goes_on(struct kunit *test)
{
	struct waiting *w = kunit_kcalloc(test, 2, sizeof(*w), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 3 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	waiting_init(&w[0], item, 5 * HZ);
	waiting_init(&w[1], item, FOREVER);
	rig = rig_make(test, "join_task", attrs);
	item_start(rig, item, &rig->gate);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, wait_task, &w[i]),
				0);
		EXPECT_SOON(test, nr_waiters_of(item) == i + 1);
	}
	expect_waiting(test, &w[0], -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nr_waiters_of(item), 1U);
	KUNIT_EXPECT_FALSE(test, completion_done(&w[1].done));
	gate_open(&rig->gate);
	expect_waiting(test, &w[1], 0);
	expect_ended(test, item, 1, RESULT(1));
}

static struct kunit_case join_task_cases[] = {
	KUNIT_CASE(flush_ends_before_the_waiter),
	KUNIT_CASE(other_waiter_goes_on),
	{}
};

static struct kunit_suite join_task_suite = {
	.name = "ants_join_task",
	.test_cases = join_task_cases,
};

kunit_test_suite(join_task_suite);

MODULE_DESCRIPTION("ants: KUnit tests of plain tasks that wait for their own pool");
MODULE_LICENSE("GPL");
