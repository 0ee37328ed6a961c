// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delayed work items whose timer has fired, while another CPU takes the pool's
 * lock before the timer's function does.
 */
#include <linux/module.h>

#include "file.h"
#include "work.h"

/* So late that the case has done its part by then. */
#define LATER	HZ

/*
 * Late enough that the time has not come before the timer is armed: then there
 * would be none, and no timer's function to hold.
 */
#define SOON	(HZ / 2)

/*
 * A timer's function that is held at a pause point keeps its CPU busy, so it
 * must not run on the test's CPU. A timer fires where it was armed, provided
 * that this CPU is not idle: hence the loop.
 */
static int do_arm(struct async_call *call)
{
	struct item *item = call->data;
	int err;

	set_cpus_allowed_ptr(current, cpumask_of(1));
	err = ants_queue_delayed_work(call->pool, &item->dwork, SOON);
	while (!err && !READ_ONCE(call->value) && !kthread_should_stop())
		cond_resched();
	return err;
}

/*
 * The timer of items[0] has fired, and its function does not take the lock
 * before let_go(). The thread that armed it stays on the other CPU, while
 * KUnit's thread ends with the case.
 */
static struct rig *rig_due(struct kunit *test, struct item *items)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 2 };
	struct rig *rig;
	struct async_call *call;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	rig = rig_make(test, "due", attrs);
	set_cpus_allowed_ptr(current, cpumask_of(0));
	hold(rig, ANTS_PAUSE_DUE);
	call = rig_async(rig, do_arm, 0, items);
	held(rig, ANTS_PAUSE_DUE);
	WRITE_ONCE(call->value, 1);
	return rig;
}

static void expect_nothing_delayed(struct kunit *test, struct rig *rig)
{
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->delayed.nr), 0);
}

/* The item runs once more, and not before @start + LATER. */
static void expect_later(struct kunit *test, struct rig *rig, struct item *item,
			 unsigned long start)
{
	let_go(rig, ANTS_PAUSE_DUE);
	expect_ended(test, item, 1, RESULT(1));
	KUNIT_EXPECT_TRUE(test, time_after_eq(item->started, start + LATER));
	expect_nothing_delayed(test, rig);
	expect_counted(test, rig->pool, 1, 0);
}

static void cancel_is_first(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);
	struct async_call *sync;

	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_DROPPED);
	KUNIT_EXPECT_FALSE(test, ants_work_cancel(work_of(item)));
	/*
	 * The item belongs to the timer until the timer's function has looked
	 * at it.
	 */
	sync = rig_async(rig, do_cancel_sync, 0, item);
	expect_blocked(test, sync);
	let_go(rig, ANTS_PAUSE_DUE);
	KUNIT_EXPECT_EQ(test, async_result(sync), 0);
	expect_ended(test, item, 0, -ECANCELED);
	expect_nothing_delayed(test, rig);
	expect_counted(test, rig->pool, 0, 0);
}

static void cancelled_and_queued_again(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);

	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_DELAYED);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)),
			-EALREADY);
	let_go(rig, ANTS_PAUSE_DUE);
	expect_ended(test, item, 1, RESULT(1));
	expect_nothing_delayed(test, rig);
	expect_counted(test, rig->pool, 1, 0);
}

static void cancelled_and_queued_for_later(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);
	unsigned long start = jiffies;

	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &item->dwork,
						      LATER), 0);
	expect_later(test, rig, item, start);
}

static void cancelled_and_put_off(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);
	unsigned long start = jiffies;

	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork,
						    LATER), 0);
	expect_later(test, rig, item, start);
}

static void put_off_in_time(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);
	unsigned long start = jiffies;

	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork,
						    LATER), 1);
	expect_later(test, rig, item, start);
}

static int do_flush_item(struct async_call *call)
{
	return ants_work_flush(work_of(call->data));
}

/* The timer's function queues @item, and @call waits for that, and for the run. */
static void expect_waits(struct kunit *test, struct rig *rig, struct item *item,
			 struct async_call *call)
{
	expect_blocked(test, call);
	let_go(rig, ANTS_PAUSE_DUE);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->ran), 1);
	expect_ended(test, item, 1, RESULT(1));
	expect_nothing_delayed(test, rig);
	expect_counted(test, rig->pool, 1, 0);
}

/* The time of the item has come, so it is no delay that is waited for. */
static void flush_of_one_that_is_due(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);

	expect_waits(test, rig, item, rig_async(rig, do_flush_item, 0, item));
}

static void flush_of_one_that_is_put_off(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);
	unsigned long start = jiffies;

	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork,
						    LATER), 1);
	KUNIT_EXPECT_EQ(test, ants_work_flush(work_of(item)), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->ran), 0);
	expect_later(test, rig, item, start);
}

static void drain_of_one_that_is_to_run_at_once(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);

	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork, 0),
			1);
	expect_waits(test, rig, item, rig_async(rig, do_drain, FOREVER, NULL));
}

static void flush_of_all_after_it_was_queued_again(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);

	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_waits(test, rig, item, rig_async(rig, do_flush, FOREVER, NULL));
}

/* Accepted tasks run, although the pool is being released. */
static void release_of_one_that_was_queued_again(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_due(test, item);

	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_waits(test, rig, item,
		     rig_async(rig, do_release_timeout, FOREVER, NULL));
}

/*
 * The release ends the other items at once, and this one when its timer's
 * function has looked.
 */
static void release_is_first(struct kunit *test)
{
	struct item *items = items_alloc(test, 3);
	struct rig *rig = rig_due(test, items);
	struct async_call *drain;
	int i;

	for (i = 1; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool,
							      &items[i].dwork,
							      NEVER), 0);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	for (i = 1; i < 3; i++)
		expect_ended(test, &items[i], 0, -ESHUTDOWN);
	drain = rig_async(rig, do_release_timeout, FOREVER, NULL);
	expect_blocked(test, drain);
	let_go(rig, ANTS_PAUSE_DUE);
	KUNIT_EXPECT_EQ(test, async_result(drain), 0);
	expect_ended(test, items, 0, -ESHUTDOWN);
	expect_nothing_delayed(test, rig);
}

static int set_jitter(const char *us)
{
	return sys_write("/sys/module/ants/parameters/pause_jitter_us", us);
}

/*
 * Of four threads one is delayed at a pause point; one that may not sleep must
 * not be: the kernel would report it.
 */
static void timers_that_are_delayed_keep_their_cpu(struct kunit *test)
{
	const int nr = 32;
	struct item *items = items_alloc(test, nr);
	struct rig *rig = rig_make(test, "jitter", (struct ants_attrs){
					.capacity = 2 });
	int i;

	need_module(test);
	KUNIT_ASSERT_EQ(test, set_jitter("500"), 0);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool,
							      &items[i].dwork,
							      1), 0);
	for (i = 0; i < nr; i++)
		expect_ended(test, &items[i], 1, RESULT(1));
	KUNIT_EXPECT_EQ(test, set_jitter("0"), 0);
}

static struct kunit_case due_cases[] = {
	KUNIT_CASE(cancel_is_first),
	KUNIT_CASE(cancelled_and_queued_again),
	KUNIT_CASE(cancelled_and_queued_for_later),
	KUNIT_CASE(cancelled_and_put_off),
	KUNIT_CASE(put_off_in_time),
	KUNIT_CASE(flush_of_one_that_is_due),
	KUNIT_CASE(flush_of_one_that_is_put_off),
	KUNIT_CASE(drain_of_one_that_is_to_run_at_once),
	KUNIT_CASE(flush_of_all_after_it_was_queued_again),
	KUNIT_CASE(release_of_one_that_was_queued_again),
	KUNIT_CASE(release_is_first),
	KUNIT_CASE(timers_that_are_delayed_keep_their_cpu),
	{}
};

static struct kunit_suite due_suite = {
	.name = "ants_due",
	.test_cases = due_cases,
};

kunit_test_suite(due_suite);

MODULE_DESCRIPTION("ants: KUnit tests of delayed work items that are just due");
MODULE_LICENSE("GPL");
