// SPDX-License-Identifier: GPL-2.0-only
/* Threads that cannot be made: no task is lost, and nothing is left behind. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"spawn"

/* P16: nothing is lost, and no further call is needed. */
static void threads_that_failed_are_made_later(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	struct async_call *call;
	int i;

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	ASSERT_SOON(test, READ_ONCE(rig->pool->upkeep.backoff));
	ants_fail_arm(ANTS_FAIL_THREAD, 3);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 3);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, READ_ONCE(rig->pool->upkeep.backoff), 0UL);
	KUNIT_EXPECT_GE(test, stats_of(rig->pool).spawned, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned,
			ants_nr_running(rig->pool));
}

static void existing_worker_serves_when_no_thread_can_be_made(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 4 });
	struct async_call *call;
	int i;

	seldom_late();
	post_start(rig, 0);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	for (i = 1; i < 4; i++) {
		gate_open(&rig->posts[i].gate);
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, post_task,
						  &rig->posts[i]), 0);
	}
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	ASSERT_SOON(test, READ_ONCE(rig->pool->upkeep.backoff));
	gate_open(&rig->posts[0].gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_PTR_EQ(test, rig->posts[i].thread,
				    rig->posts[0].thread);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1);
}

/* A task that waits for its own pool. */
static void selfish_task(void *data)
{
	struct post *post = data;

	WRITE_ONCE(post->thread, current);
	post->kworker = current->flags & PF_KTHREAD &&
			current->flags & PF_WQ_WORKER;
	post->inside = ants_in_pool(post->pool) &&
		       ants_current_pool() == post->pool;
	post->result = ants_flush(post->pool);
	if (post->result == -EDEADLK)
		post->result = ants_release_timeout(post->pool, 0);
	atomic_inc(&post->gate.passed);
}

/* Submit @nr such tasks while no thread can be made. */
static void submit_without_threads(struct rig *rig, int nr)
{
	int i;

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(rig->test,
				ants_submit(rig->pool, selfish_task,
					    &rig->posts[i]), 0);
}

/* A kernel worker, not the caller, ran @nr tasks as tasks of the pool. */
static void expect_stood_in(struct rig *rig, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(rig->test,
				atomic_read(&rig->posts[i].gate.passed), 1);
		KUNIT_EXPECT_PTR_NE(rig->test, rig->posts[i].thread,
				    (struct task_struct *)current);
		KUNIT_EXPECT_TRUE(rig->test, rig->posts[i].kworker);
		KUNIT_EXPECT_TRUE(rig->test, rig->posts[i].inside);
		KUNIT_EXPECT_EQ(rig->test, rig->posts[i].result, -EDEADLK);
	}
}

static void expect_flush_stands_in(struct kunit *test, unsigned int flags)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2,
					.flags = flags });

	submit_without_threads(rig, 4);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	expect_stood_in(rig, 4);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	KUNIT_EXPECT_FALSE(test, ants_is_released(rig->pool));
	/* The stand-in has notified waiting callers that it has ended. */
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 0);
	KUNIT_EXPECT_NULL(test, ants_current_pool());
}

static void flush_stands_in_for_threads(struct kunit *test)
{
	expect_flush_stands_in(test, 0);
}

static void flush_stands_in_for_threads_that_freeze(struct kunit *test)
{
	expect_flush_stands_in(test, ANTS_FREEZABLE);
}

static void release_timeout_stands_in_for_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2 });

	submit_without_threads(rig, 4);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool,
						   MAX_SCHEDULE_TIMEOUT), 0);
	expect_stood_in(rig, 4);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).completed, 4);
}

/* A reopened pool begins without a pause, whatever failed before. */
static void reboot_ends_the_pause(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2 });

	submit_without_threads(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool,
						   MAX_SCHEDULE_TIMEOUT), 0);
	KUNIT_EXPECT_GT(test, READ_ONCE(rig->pool->upkeep.backoff), 0UL);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(rig->pool->upkeep.backoff), 0UL);
}

static void destroy_stands_in_for_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2 });

	submit_without_threads(rig, 4);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(rig->pool), 0);
	rig->pool = NULL;
	expect_stood_in(rig, 4);
}

/* A task that blocks delays only callers without a time limit. */
static void flush_ends_in_time_without_threads(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct async_call *call;

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->gate), 0);
	ASSERT_SOON(test, READ_ONCE(rig->pool->upkeep.backoff));
	call = rig_async(rig, do_flush, HZ, NULL);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	EXPECT_SOON(test, async_returned(call));
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_stop(call), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 1);
}

/* Once threads can be made again, they do not wait for the stand-in. */
static void thread_is_made_beside_the_stand_in(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	struct async_call *call;

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->gate), 0);
	call = rig_async(rig, do_flush, MAX_SCHEDULE_TIMEOUT, NULL);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	seldom_late();
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	expect_blocked(test, call);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 1);
}

static void no_work(struct work_struct *work)
{
}

static DECLARE_WORK(any_work, no_work);

/* As in a thread, any workqueue may be flushed and any other pool destroyed. */
static void busy_task(void *data)
{
	struct post *post = data;
	struct ants_pool *pool = ants_pool_create(NULL, "other");

	schedule_work(&any_work);
	flush_work(&any_work);
	post[1].pool = pool;
	post->result = ants_submit(pool, selfish_task, post + 1) ?:
		       ants_pool_destroy(pool);
	atomic_inc(&post->gate.passed);
}

static void stand_in_does_what_a_thread_does(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, busy_task, rig->posts), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, rig->posts[0].result, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->posts[0].gate.passed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->posts[1].gate.passed), 1);
	KUNIT_EXPECT_TRUE(test, rig->posts[1].kworker);
}

/* The stand-in counts as a worker, and the room it makes is granted. */
static void stand_in_serves_waiters(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct async_call *call;

	submit_without_threads(rig, 1);
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	expect_stood_in(rig, 1);
}

/*
 * The pause grows by itself up to its limit, and ends when a thread can be
 * made.
 */
static void back_off_grows_and_ends(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	EXPECT_SOON(test, READ_ONCE(rig->pool->upkeep.backoff) ==
		    (unsigned long)ANTS_BACKOFF_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, READ_ONCE(rig->pool->upkeep.backoff), 0UL);
}

/* A pool whose first threads cannot be made leaves nothing behind. */
static void expect_create_fails(struct kunit *test, struct ants_attrs attrs)
{
	struct ants_pool *pool;

	ants_fail_arm(ANTS_FAIL_THREAD, 1);
	pool = ants_pool_create(&attrs, NAME);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	KUNIT_ASSERT_TRUE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, PTR_ERR(pool), (long)-ENOMEM);
	EXPECT_SOON(test, nr_threads(NAME) == 0);
	/* The name is free. */
	pool = ants_pool_create(&attrs, NAME);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 3);
	ants_pool_destroy(pool);
}

static void prealloc_create_fails_as_a_whole(struct kunit *test)
{
	expect_create_fails(test, (struct ants_attrs){
				.capacity = 3, .flags = ANTS_PREALLOC });
}

static void min_workers_create_fails_as_a_whole(struct kunit *test)
{
	expect_create_fails(test, (struct ants_attrs){
				.capacity = 5, .min_workers = 3 });
}

static int do_create_prealloc(struct async_call *call)
{
	struct ants_attrs attrs = { .capacity = 40, .flags = ANTS_PREALLOC };
	struct ants_pool *pool = ants_pool_create(&attrs, NAME);

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	ants_pool_destroy(pool);
	return 0;
}

/*
 * The failure comes when some threads exist already; try again if it was too
 * late.
 */
static void prealloc_create_takes_back_what_it_made(struct kunit *test)
{
	struct rig *rig = rig_alloc(test);
	struct async_call *call;
	int tries = 40, result;

	do {
		call = rig_async(rig, do_create_prealloc, 0, NULL);
		ASSERT_SOON(test,
			    nr_threads(NAME) >= 3 || async_returned(call));
		ants_fail_arm(ANTS_FAIL_THREAD, 1);
		result = async_result(call);
		ants_fail_arm(ANTS_FAIL_THREAD, 0);
	} while (!result && --tries);
	KUNIT_EXPECT_EQ(test, result, -ENOMEM);
	EXPECT_SOON(test, nr_threads(NAME) == 0);
}

/* Pools whose tasks want so many threads at once that a workqueue could be full. */
#define NR_CROWD	37
#define NR_WANTED	8
#define NR_MAKERS	256

static void *init_at_once(struct ants_pool *pool)
{
	return NULL;
}

static void crowd_make(struct kunit *test, struct ants_pool **pools,
		       atomic_t *count)
{
	struct ants_attrs attrs = {
		.capacity = NR_WANTED, .worker_init = init_at_once,
	};
	int i, j;

	for (i = 0; i < NR_CROWD; i++) {
		pools[i] = test_pool_own(test, ants_pool_create(&attrs, NAME "%d", i),
					 NAME);
		for (j = 0; j < NR_WANTED; j++)
			KUNIT_ASSERT_EQ(test, ants_submit(pools[i], count_task,
							  count), 0);
	}
}

/* While threads cannot be made, which may take long, other pools go on. */
static void makers_hold_back_no_other_pool(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct ants_pool *pools[NR_CROWD];
	int i;

	park(rig, 0, 1);
	rig->held |= BIT(ANTS_PAUSE_MAKE);
	ants_pause_arm(ANTS_PAUSE_MAKE, ANTS_ALL_POOLS);
	crowd_make(test, pools, &rig->count);
	/* So many fill a workqueue of 6.1; if fewer come, the case shows less. */
	for (i = 0; i < NR_MAKERS; i++)
		if (!ants_pause_reached(ANTS_PAUSE_MAKE, TEST_DEADLINE / 4))
			break;
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	let_go(rig, ANTS_PAUSE_MAKE);
	EXPECT_SOON(test, atomic_read(&rig->count) == NR_CROWD * NR_WANTED);
}

static struct kunit_case spawn_cases[] = {
	KUNIT_CASE(threads_that_failed_are_made_later),
	KUNIT_CASE(existing_worker_serves_when_no_thread_can_be_made),
	KUNIT_CASE(flush_stands_in_for_threads),
	KUNIT_CASE(flush_stands_in_for_threads_that_freeze),
	KUNIT_CASE(release_timeout_stands_in_for_threads),
	KUNIT_CASE(reboot_ends_the_pause),
	KUNIT_CASE(destroy_stands_in_for_threads),
	KUNIT_CASE(flush_ends_in_time_without_threads),
	KUNIT_CASE(thread_is_made_beside_the_stand_in),
	KUNIT_CASE(stand_in_does_what_a_thread_does),
	KUNIT_CASE(stand_in_serves_waiters),
	KUNIT_CASE(back_off_grows_and_ends),
	KUNIT_CASE(prealloc_create_fails_as_a_whole),
	KUNIT_CASE(min_workers_create_fails_as_a_whole),
	KUNIT_CASE(prealloc_create_takes_back_what_it_made),
	KUNIT_CASE(makers_hold_back_no_other_pool),
	{}
};

static struct kunit_suite spawn_suite = {
	.name = "ants_spawn",
	.test_cases = spawn_cases,
};

kunit_test_suite(spawn_suite);

MODULE_DESCRIPTION("ants: KUnit tests of threads that cannot be made");
MODULE_LICENSE("GPL");
