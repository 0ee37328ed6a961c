// SPDX-License-Identifier: GPL-2.0-only
/* Drain: waiting until a pool is empty, including what its tasks submit. */
#include <linux/module.h>

#include "work.h"

#define NAME		"drain"
#define NR_LINKS	20

/* Start a drain, which waits. */
static struct async_call *start_drain(struct rig *rig)
{
	unsigned int nr = ants_peek(rig->pool->nr_callers);
	struct async_call *call = rig_async(rig, do_drain, FOREVER, NULL);

	EXPECT_SOON(rig->test, ants_peek(rig->pool->nr_callers) == nr + 1);
	return call;
}

static struct rig *rig_of(struct kunit *test, unsigned int capacity,
			  unsigned int queue_depth)
{
	return rig_make(test, NAME, (struct ants_attrs){
			.capacity = capacity, .queue_depth = queue_depth });
}

static void empty_pool_is_drained_at_once(struct kunit *test)
{
	struct rig *rig = rig_of(test, 2, 0);

	KUNIT_EXPECT_EQ(test, ants_drain(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 0);
	park(rig, 0, 2);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 2);
	KUNIT_EXPECT_FALSE(test, ants_is_released(rig->pool));
}

static void drain_waits_for_running_and_pending_tasks(struct kunit *test)
{
	struct rig *rig = rig_of(test, 2, 3);
	struct async_call *call;
	int i;

	fill_pool(test, rig->pool, &rig->gate, 2);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	call = start_drain(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 5);
	KUNIT_EXPECT_FALSE(test, ants_is_released(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->nr_callers), 0);
}

/* A task that submits itself until the count is full. */
static void link_task(void *data)
{
	struct rig *rig = data;

	if (atomic_inc_return(&rig->count) == 1)
		gate_task(&rig->gate);
	if (atomic_read(&rig->count) < NR_LINKS)
		ants_try_submit(rig->pool, link_task, rig);
}

static void drain_waits_for_what_tasks_hand_over(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 1);
	struct async_call *call;

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, link_task, rig), 0);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	call = start_drain(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), NR_LINKS);
}

/* Waiters are admitted before the pool is empty. */
static void drain_waits_for_waiters(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);
	struct async_call *call;

	fill_pool(test, rig->pool, &rig->late, 1);
	start_waiters(rig, 3);
	call = start_drain(rig);
	gate_open(&rig->late);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	expect_blocked(test, call);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 3);
}

static void drain_waits_for_due_items_only(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);
	struct item *items = items_alloc(test, 2);
	struct async_call *call;
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, ants_queue_delayed_work(rig->pool,
							      &items[i].dwork,
							      i * 3600 * HZ), 0);
	call = start_drain(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	expect_ended(test, &items[0], 1, RESULT(1));
	KUNIT_EXPECT_EQ(test, state_of(&items[1]), ANTS_WORK_DELAYED);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[1])));
}

#define NR_ROUNDS	50

/* With a delay of 0 an item's time has come when the call returns. */
static void drain_waits_for_items_without_a_delay(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_ROUNDS);
	struct rig *rig = rig_of(test, 1, 0);
	int i, missed = 0;

	for (i = 0; i < NR_ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, ants_queue_delayed_work(rig->pool,
							      &items[i].dwork,
							      0), 0);
		KUNIT_ASSERT_EQ(test, ants_drain(rig->pool), 0);
		missed += !atomic_read(&items[i].ran);
	}
	KUNIT_EXPECT_EQ_MSG(test, missed, 0, "%d of %d drains were early",
			    missed, NR_ROUNDS);
}

/* A pool that was drained ends none of its items. */
static void drained_pool_has_no_item_to_end(struct kunit *test)
{
	struct item *items = items_alloc(test, 3);
	struct rig *rig = rig_of(test, 1, 0);
	struct async_call *call;
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &items[1].dwork,
						      3600 * HZ), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool,
							    &items[i].dwork, 0),
				i == 1);
	call = start_drain(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, FOREVER), 0);
	for (i = 0; i < 3; i++)
		expect_ended(test, &items[i], 1, RESULT(1));
}

/* The item queues itself, each time without a delay. */
static void drain_waits_for_items_that_come_again(struct kunit *test)
{
	struct rig *rig = rig_of(test, 2, 0);
	struct item *item = items_alloc(test, 1);
	struct async_call *call;

	item->pool = rig->pool;
	item->delayed = true;
	item->more = 3;
	item_start(rig, item, &rig->gate);
	call = start_drain(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	expect_ended(test, item, 4, RESULT(4));
}

static void drain_waits_for_second_runs(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);
	struct item *item = items_alloc(test, 1);
	struct async_call *call;

	item->pool = rig->pool;
	item->more = 2;
	item_start(rig, item, &rig->gate);
	call = start_drain(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	expect_ended(test, item, 3, RESULT(3));
}

/* The drain looks again only when the next task already runs. */
static void one_empty_moment_is_enough(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);
	struct async_call *call;

	fill_pool(test, rig->pool, &rig->gate, 1);
	hold(rig, ANTS_PAUSE_AWAIT);
	call = rig_async(rig, do_drain, FOREVER, NULL);
	held(rig, ANTS_PAUSE_AWAIT);
	gate_open(&rig->gate);
	EXPECT_SOON(test, settled(rig->pool));
	fill_pool(test, rig->pool, &rig->late, 1);
	let_go(rig, ANTS_PAUSE_AWAIT);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, 1), -ETIMEDOUT);
}

/* Being empty before the call does not count. */
static void earlier_moments_do_not_count(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);

	fill_pool(test, rig->pool, &rig->gate, 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_drain(rig->pool), 0);
	fill_pool(test, rig->pool, &rig->late, 1);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, 2), -ETIMEDOUT);
}

/*
 * The last task is cancelled while pending, since its thread has not arrived.
 */
static void cancel_ends_a_drain(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);
	struct item *item = items_alloc(test, 1);
	struct async_call *call;

	hold(rig, ANTS_PAUSE_NEW);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	held(rig, ANTS_PAUSE_NEW);
	call = start_drain(rig);
	expect_blocked(test, call);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	let_go(rig, ANTS_PAUSE_NEW);
}

static void drain_times_out(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);
	unsigned long start;

	fill_pool(test, rig->pool, &rig->gate, 1);
	start = jiffies;
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, 5), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, start + 5));
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, TEST_DEADLINE), 0);
}

static void drain_ends_when_its_kthread_shall_stop(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);

	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, async_stop(start_drain(rig)), -EINTR);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->nr_callers), 0);
}

static void drains_and_flushes_all_return(struct kunit *test)
{
	struct rig *rig = rig_of(test, 2, 0);
	int i;

	fill_pool(test, rig->pool, &rig->gate, 2);
	for (i = 0; i < 8; i++)
		rig_async(rig, i & 1 ? do_drain : do_flush, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 8);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, rig->calls[i].passed, 2);
}

static void released_pool_can_be_drained(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 1);
	struct async_call *call;

	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->gate), 0);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	call = start_drain(rig);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, call->passed, 2);
}

/* Destroy waits for the tasks, and for the callers that wait for them. */
static void destroy_waits_for_drains(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1, 0);
	struct async_call *drain, *destroy;

	fill_pool(test, rig->pool, &rig->gate, 1);
	drain = start_drain(rig);
	destroy = rig_async(rig, do_destroy, 0, NULL);
	ASSERT_SOON(test, ants_is_released(rig->pool));
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(drain), 0);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	rig->pool = NULL;
}

static void draining_task(void *data)
{
	struct post *post = data;

	post->result = ants_drain_timeout(post->pool, TEST_DEADLINE);
}

static void task_may_drain_other_pools_only(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct rig *rig = rig_of(test, 1, 0);
	struct ants_pool *other = test_pool(test, &attrs, "drain2");

	rig->posts[0].result = 1;
	rig->posts[1].result = 1;
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, draining_task,
					  &rig->posts[0]), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(other, draining_task,
					  &rig->posts[1]), 0);
	KUNIT_EXPECT_EQ(test, ants_drain(other), 0);
	KUNIT_EXPECT_EQ(test, ants_drain(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, rig->posts[0].result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, rig->posts[1].result, 0);
}

static void system_pool_is_not_drained(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ants_drain(ants_system_pool), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(ants_system_pool, 1), -EINVAL);
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE(empty_pool_is_drained_at_once),
	KUNIT_CASE(drain_waits_for_running_and_pending_tasks),
	KUNIT_CASE(drain_waits_for_what_tasks_hand_over),
	KUNIT_CASE(drain_waits_for_waiters),
	KUNIT_CASE(drain_waits_for_due_items_only),
	KUNIT_CASE(drain_waits_for_items_without_a_delay),
	KUNIT_CASE(drained_pool_has_no_item_to_end),
	KUNIT_CASE(drain_waits_for_items_that_come_again),
	KUNIT_CASE(drain_waits_for_second_runs),
	KUNIT_CASE(one_empty_moment_is_enough),
	KUNIT_CASE(earlier_moments_do_not_count),
	KUNIT_CASE(cancel_ends_a_drain),
	KUNIT_CASE(drain_times_out),
	KUNIT_CASE(drain_ends_when_its_kthread_shall_stop),
	KUNIT_CASE(drains_and_flushes_all_return),
	KUNIT_CASE(released_pool_can_be_drained),
	KUNIT_CASE(destroy_waits_for_drains),
	KUNIT_CASE(task_may_drain_other_pools_only),
	KUNIT_CASE(system_pool_is_not_drained),
	{}
};

static struct kunit_suite drain_suite = {
	.name = "ants_drain",
	.test_cases = drain_cases,
};

kunit_test_suite(drain_suite);

MODULE_DESCRIPTION("ants: KUnit tests of drain");
MODULE_LICENSE("GPL");
