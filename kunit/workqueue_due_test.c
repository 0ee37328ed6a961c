// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workqueues that are pools: an item whose timer has fired, and is about to look at it,
 * and one that a thread has taken, and is about to run.
 */
#include <linux/module.h>
#include <linux/workqueue.h>

#include "race.h"

#include <linux/ants_workqueue.h>

#include "wq.h"

/*
 * Late enough that the time has not come before the timer is armed: then there
 * would be none, and no timer's function to hold.
 */
#define SOON	(HZ / 2)

/* Arms a timer that fires on the second CPU, which must not be idle then. */
static int do_arm(struct async_call *call)
{
	struct shape *shape = call->data;

	set_cpus_allowed_ptr(current, cpumask_of(1));
	queue_delayed_work(shape->wq, &shape->dwork, SOON);
	while (!READ_ONCE(call->value) && !kthread_should_stop())
		cond_resched();
	return 0;
}

/* The timer of the item has fired, and its function has not looked at it yet. */
static struct shape *shape_due(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);
	struct async_call *arm;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	set_cpus_allowed_ptr(current, cpumask_of(0));
	hold(ANTS_PAUSE_DUE, shape->wq);
	arm = async_start(test, do_arm, shape);
	expect_held(test, ANTS_PAUSE_DUE);
	WRITE_ONCE(arm->value, 1);
	return shape;
}

/* Who is told that the item was taken back may free it, so nobody is. */
static void item_that_a_timer_looks_at_cannot_be_had(struct kunit *test)
{
	struct shape *shape = shape_due(test);

	KUNIT_EXPECT_FALSE(test, cancel_delayed_work(&shape->dwork));
	KUNIT_EXPECT_TRUE(test, work_pending(&shape->dwork.work));
	let_go(ANTS_PAUSE_DUE);
	EXPECT_SOON(test, atomic_read(&shape->runs) == 1);
	KUNIT_EXPECT_FALSE(test, cancel_delayed_work_sync(&shape->dwork));
}

/* The timer belongs to another workqueue; there the item stays. */
static void item_is_put_off_while_a_timer_looks_at_it(struct kunit *test)
{
	struct workqueue_struct *other = wq_make(test);
	struct shape *shape = shape_due(test);

	KUNIT_EXPECT_TRUE(test, mod_delayed_work(other, &shape->dwork, 1));
	let_go(ANTS_PAUSE_DUE);
	EXPECT_SOON(test, atomic_read(&shape->runs) == 1);
	KUNIT_EXPECT_FALSE(test, cancel_delayed_work_sync(&shape->dwork));
}

/* A thread has taken the item, and is about to run it. */
static void shape_take(struct kunit *test, struct shape *shape)
{
	hold(ANTS_PAUSE_RUN, shape->wq);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	expect_held(test, ANTS_PAUSE_RUN);
}

/* The same for an item whose other run has not ended. */
static struct shape *shape_taken(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);
	struct gate *gate = wq_gate(test, shape);

	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	shape_take(test, shape);
	return shape;
}

static void expect_runs(struct kunit *test, struct shape *shape, int runs)
{
	flush_workqueue(shape->wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), runs);
	KUNIT_EXPECT_FALSE(test, shape->overlapped);
	KUNIT_EXPECT_EQ(test, work_busy(&shape->dwork.work), 0U);
}

static void second_run_that_a_thread_has_taken_is_taken_back(struct kunit *test)
{
	struct shape *shape = shape_taken(test);

	KUNIT_EXPECT_EQ(test, work_busy(&shape->dwork.work),
			(unsigned int)(WORK_BUSY_PENDING | WORK_BUSY_RUNNING));
	KUNIT_EXPECT_TRUE(test, cancel_work(&shape->dwork.work));
	KUNIT_EXPECT_FALSE(test, cancel_work(&shape->dwork.work));
	let_go(ANTS_PAUSE_RUN);
	gate_open(shape->gate);
	expect_runs(test, shape, 1);
}

static void run_that_a_thread_has_taken_is_taken_back(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);

	shape_take(test, shape);
	KUNIT_EXPECT_TRUE(test, work_pending(&shape->dwork.work));
	KUNIT_EXPECT_FALSE(test, shape_queue(shape));
	KUNIT_EXPECT_TRUE(test, cancel_work_sync(&shape->dwork.work));
	let_go(ANTS_PAUSE_RUN);
	expect_runs(test, shape, 0);
}

/* The thread that has taken it does not run it when it is queued elsewhere. */
static void run_that_a_thread_has_taken_goes_elsewhere(struct kunit *test)
{
	struct workqueue_struct *other = wq_make(test);
	struct shape *shape = shape_taken(test);

	KUNIT_EXPECT_TRUE(test, mod_delayed_work(other, &shape->dwork, 0));
	let_go(ANTS_PAUSE_RUN);
	EXPECT_SOON(test, ants_nr_busy(shape->wq) == 1);
	KUNIT_EXPECT_TRUE(test, work_pending(&shape->dwork.work));
	gate_open(shape->gate);
	flush_workqueue(other);
	expect_runs(test, shape, 2);
}

/* An item that the last of those that have a reference frees. */
struct counted {
	struct work_struct work;
	struct gate *gate;
	atomic_t refs;
	atomic_t *freed;
};

static void counted_put(struct counted *counted)
{
	if (!atomic_dec_and_test(&counted->refs))
		return;
	atomic_inc(counted->freed);
	kfree(counted);
}

static void counted_fn(struct work_struct *work)
{
	struct counted *counted = container_of(work, struct counted, work);

	gate_task(counted->gate);
	counted_put(counted);
}

/* The thread that has taken a run must not look at the item when that was taken back. */
static void item_goes_before_a_thread_that_has_taken_it(struct kunit *test)
{
	struct counted *counted = kzalloc(sizeof(*counted), GFP_KERNEL);
	struct workqueue_struct *wq = wq_make(test);
	struct gate *gate = test_gate(test);
	atomic_t *freed = counter(test);

	KUNIT_ASSERT_NOT_NULL(test, counted);
	INIT_WORK(&counted->work, counted_fn);
	counted->gate = gate;
	counted->freed = freed;
	atomic_set(&counted->refs, 2);
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &counted->work));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	hold(ANTS_PAUSE_RUN, wq);
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &counted->work));
	expect_held(test, ANTS_PAUSE_RUN);
	if (cancel_work(&counted->work))
		counted_put(counted);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(freed) == 1);
	let_go(ANTS_PAUSE_RUN);
	flush_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(freed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->entered), 1);
}

#define NR_LATE		40

/* Shapes number themselves in the order in which they start. */
static atomic_t nr_started;

struct late {
	struct work_struct work;
	int turn;
};

static void late_fn(struct work_struct *work)
{
	container_of(work, struct late, work)->turn = atomic_inc_return(&nr_started);
}

/* A pool with a bound, as that of the system is, has no room for the items. */
static void items_that_wait_for_room_keep_their_order(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "bound");
	struct late *late = kunit_kcalloc(test, NR_LATE, sizeof(*late), GFP_KERNEL);
	struct gate *gate = test_gate(test);
	int i, behind = 0;

	KUNIT_ASSERT_NOT_NULL(test, late);
	atomic_set(&nr_started, 0);
	fill_pool(test, pool, gate, 1);
	for (i = 0; i < NR_LATE; i++) {
		INIT_WORK(&late[i].work, late_fn);
		KUNIT_EXPECT_TRUE(test, queue_work(pool, &late[i].work));
	}
	gate_open(gate);
	drain_workqueue(pool);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_started), NR_LATE);
	for (i = 0; i < NR_LATE; i++) {
		flush_work(&late[i].work);
		behind += i && late[i].turn > late[i - 1].turn;
	}
	KUNIT_EXPECT_EQ_MSG(test, behind, NR_LATE - 1,
			    "%d of %d items started behind the one before them",
			    behind, NR_LATE - 1);
}

static struct kunit_case workqueue_due_cases[] = {
	KUNIT_CASE(item_that_a_timer_looks_at_cannot_be_had),
	KUNIT_CASE(item_is_put_off_while_a_timer_looks_at_it),
	KUNIT_CASE(second_run_that_a_thread_has_taken_is_taken_back),
	KUNIT_CASE(run_that_a_thread_has_taken_is_taken_back),
	KUNIT_CASE(run_that_a_thread_has_taken_goes_elsewhere),
	KUNIT_CASE(item_goes_before_a_thread_that_has_taken_it),
	KUNIT_CASE(items_that_wait_for_room_keep_their_order),
	{}
};

static struct kunit_suite workqueue_due_suite = {
	.name = "ants_workqueue_due",
	.exit = race_exit,
	.test_cases = workqueue_due_cases,
};

kunit_test_suite(workqueue_due_suite);

MODULE_DESCRIPTION("ants: KUnit tests of items of workqueues whose timer has fired");
MODULE_LICENSE("GPL");
