// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cancelling pending tasks of a pool: all of them, or those that a function
 * picks.
 */
#include <linux/module.h>

#include "cancel.h"

#define NAME		"pending"
#define NR_MANY		3000

static void nothing_is_pending(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 2);

	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(rig->pool), 1);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 1, 0);
}

static void all_pending_tasks_are_cancelled(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_MANY);
	unsigned int i;

	for (i = 0; i < NR_MANY; i++)
		if (i % 3)
			submit_counts(rig, &rig->count, 1);
		else
			submit_high(rig, &rig->count);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL),
			NR_MANY);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), NR_MANY);
	KUNIT_EXPECT_LE(test, ants_peek(rig->pool->nr_stock),
			rig->pool->limits.stock);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, NR_MANY + 1, NR_MANY);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	submit_counts(rig, &rig->count, 5);
	expect_counted(test, rig->pool, NR_MANY + 6, NR_MANY);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 5);
}

static void match_picks_by_function_and_data(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 100);
	struct picker p = { .fn = count_task, .data = &rig->inside };
	int i;

	for (i = 0; i < 10; i++) {
		submit_counts(rig, &rig->count, 1);
		submit_counts(rig, &rig->inside, 1);
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	}
	submit_high(rig, &rig->inside);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, pick, &p), 11);
	KUNIT_EXPECT_EQ(test, p.asked, 31);
	KUNIT_EXPECT_TRUE(test, p.held);
	p.asked = 0;
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, pick, &p), 0);
	KUNIT_EXPECT_EQ(test, p.asked, 20);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 32, 11);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->inside), 0);
}

/*
 * The match function can collect what it cancels: nothing else tells the owner.
 */
static void match_sees_what_it_cancels(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, NR_TASKS);
	struct picker p = { .all = true };
	int i;

	for (i = 0; i < NR_TASKS; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, post_task,
						  &rig->posts[i % RIG_MAX]), 0);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, pick, &p),
			NR_TASKS);
	KUNIT_EXPECT_EQ(test, p.asked, NR_TASKS);
	for (i = 0; i < ARRAY_SIZE(p.seen); i++)
		KUNIT_EXPECT_PTR_EQ(test, p.seen[i], (void *)&rig->posts[i]);
}

static void work_items_end_cancelled(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 20);
	struct item *items = items_alloc(test, 4);
	struct picker p = { .works = true };
	struct async_call *wait;
	int i;

	submit_counts(rig, &rig->count, 1);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool,
						      work_of(&items[i])), 0);
	KUNIT_ASSERT_EQ(test, ants_queue_delayed_work(rig->pool,
						      &items[3].dwork,
						      3600 * HZ), 0);
	wait = start_wait(rig, &items[1], FOREVER);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, pick, &p), 3);
	expect_waited(test, wait, -ECANCELED);
	KUNIT_EXPECT_EQ(test, p.asked, 4);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_PTR_EQ(test, p.seen[i + 1],
				    (void *)work_of(&items[i]));
		expect_ended(test, &items[i], 0, -ECANCELED);
	}
	KUNIT_EXPECT_EQ(test, state_of(&items[3]), ANTS_WORK_DELAYED);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 5, 3);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[3])));
}

static void what_runs_goes_on(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2 });
	struct item *item = items_alloc(test, 1);

	item->pool = rig->pool;
	item->more = 1;
	fill_pool(test, rig->pool, &rig->gate, 1);
	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_AGAIN);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 0);
	gate_open(&rig->gate);
	expect_ended(test, item, 2, RESULT(2));
	KUNIT_EXPECT_FALSE(test, item->told);
	expect_counted(test, rig->pool, 3, 0);
}

static void members_of_a_group_end_cancelled(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 20);
	struct item *items = items_alloc(test, 10);
	struct ants_group group;
	int i, error = 0;

	KUNIT_ASSERT_EQ(test, ants_group_init(&group, rig->pool, 0), 0);
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, ants_group_submit(&group,
							work_of(&items[i])), 0);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 10);
	KUNIT_EXPECT_EQ(test, ants_group_wait_timeout(&group, TEST_DEADLINE,
						      &error), 0);
	KUNIT_EXPECT_EQ(test, error, -ECANCELED);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 11, 10);
}

/*
 * Waiters are not pending yet; they are admitted in place of the cancelled
 * tasks.
 */
static void waiters_are_admitted_instead(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 2);

	submit_counts(rig, &rig->count, 2);
	start_waiters(rig, 3);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 2);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 2);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_counted(test, rig->pool, 6, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 4);
}

/* The tasks are still pending, because the thread has not arrived. */
static void flushes_and_drains_end(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1, .queue_depth = 2 });
	struct async_call *flush, *drain;

	hold(rig, ANTS_PAUSE_NEW);
	submit_counts(rig, &rig->count, 3);
	held(rig, ANTS_PAUSE_NEW);
	flush = rig_async(rig, do_flush, FOREVER, NULL);
	drain = rig_async(rig, do_drain, FOREVER, NULL);
	ASSERT_SOON(test, ants_peek(rig->pool->nr_callers) == 2);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 3);
	expect_prompt(test, flush);
	expect_prompt(test, drain);
	KUNIT_EXPECT_EQ(test, async_result(flush), 0);
	KUNIT_EXPECT_EQ(test, async_result(drain), 0);
	let_go(rig, ANTS_PAUSE_NEW);
	expect_counted(test, rig->pool, 3, 3);
}

static void released_pool_ends_at_once(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 5);

	submit_counts(rig, &rig->count, 5);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 5);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).cancelled, 5);
}

/* No thread can be made and the last task is cancelled: the pool is empty. */
static void pool_without_threads_ends_at_once(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1, .queue_depth = 2 });
	struct async_call *call;

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	submit_counts(rig, &rig->count, 3);
	EXPECT_SOON(test, ants_peek(rig->pool->upkeep.backoff));
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 3);
	call = rig_async(rig, do_release_timeout, TEST_DEADLINE, NULL);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
}

static int seven(void *data)
{
	return 7;
}

static int do_call(struct async_call *call)
{
	return ants_call(call->pool, seven, NULL, FOREVER);
}

static int do_call_release(struct async_call *call)
{
	return ants_call_release(call->pool, seven, &call->rig->count, FOREVER,
				 count_task);
}

static int nothing(unsigned long i, void *ctx)
{
	return 0;
}

static void calls_are_left_alone(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 10);
	struct picker p = { .all = true };

	rig_async(rig, do_call, 0, NULL);
	rig_async(rig, do_call_release, 0, NULL);
	ASSERT_SOON(test, ants_nr_pending(rig->pool) == 2);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, pick, &p), 0);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, p.asked, 0);
	gate_open(&rig->gate);
	expect_results(rig, 0, 7);
	/* The task may be the last one to release the data. */
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 100, nothing, NULL), 0);
}

/* The loop's first number stops at the gate while the helpers are pending. */
static int each_gate(unsigned long i, void *ctx)
{
	if (!i)
		gate_task(ctx);
	return 0;
}

static int do_each(struct async_call *call)
{
	return ants_for_each(call->pool, 100, each_gate, call->data);
}

static void helpers_are_left_alone(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 3);
	struct picker p = { .all = true };

	rig_async(rig, do_each, 0, &rig->late);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 3);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, pick, &p), 0);
	KUNIT_EXPECT_EQ(test, p.asked, 0);
	gate_open(&rig->late);
	expect_results(rig, 0, 0);
}

static void cancelling_task(void *data)
{
	struct post *post = data;

	post->result = ants_cancel_pending(post->pool, NULL, NULL);
}

static void task_may_cancel_its_own_pool(struct kunit *test)
{
	struct rig *rig = rig_busy(test, NAME, 10);

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, cancelling_task,
					  &rig->posts[0]), 0);
	submit_counts(rig, &rig->count, 5);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 7, 5);
	KUNIT_EXPECT_EQ(test, rig->posts[0].result, 5);
}

static atomic_t nr_room = ATOMIC_INIT(0);

static void count_room(struct ants_pool *pool)
{
	atomic_inc(&nr_room);
}

static void refused_caller_is_called_back(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1,
				.space_available = count_room });

	submit_counts(rig, &rig->count, 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 1);
	EXPECT_SOON(test, atomic_read(&nr_room) == 1);
}

static bool match_ours(ants_fn_t fn, void *data, void *arg)
{
	return fn == count_task;
}

static void system_pool_is_shared(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(ants_system_pool, NULL, NULL),
			0);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(ants_system_pool, match_ours,
						  NULL), 0);
}

static struct kunit_case cancel_pending_cases[] = {
	KUNIT_CASE(nothing_is_pending),
	KUNIT_CASE(all_pending_tasks_are_cancelled),
	KUNIT_CASE(match_picks_by_function_and_data),
	KUNIT_CASE(match_sees_what_it_cancels),
	KUNIT_CASE(work_items_end_cancelled),
	KUNIT_CASE(what_runs_goes_on),
	KUNIT_CASE(members_of_a_group_end_cancelled),
	KUNIT_CASE(waiters_are_admitted_instead),
	KUNIT_CASE(flushes_and_drains_end),
	KUNIT_CASE(released_pool_ends_at_once),
	KUNIT_CASE(pool_without_threads_ends_at_once),
	KUNIT_CASE(calls_are_left_alone),
	KUNIT_CASE(helpers_are_left_alone),
	KUNIT_CASE(task_may_cancel_its_own_pool),
	KUNIT_CASE(refused_caller_is_called_back),
	KUNIT_CASE(system_pool_is_shared),
	{}
};

static void cancel_pending_exit(struct kunit *test)
{
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
}

static struct kunit_suite cancel_pending_suite = {
	.name = "ants_cancel_pending",
	.exit = cancel_pending_exit,
	.test_cases = cancel_pending_cases,
};

kunit_test_suite(cancel_pending_suite);

MODULE_DESCRIPTION("ants: KUnit tests of cancelling pending tasks");
MODULE_LICENSE("GPL");
