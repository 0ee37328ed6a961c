// SPDX-License-Identifier: GPL-2.0-only
/* Other settings of a live pool, most of them an administrator's. */
#include <linux/module.h>

#include "rig.h"

#define NAME	"setting"

/* Open the gate; afterwards @running workers are left, all of them idle. */
static void expect_left(struct rig *rig, unsigned int running)
{
	struct ants_stats stats;

	gate_open(&rig->gate);
	EXPECT_SOON(rig->test, settled(rig->pool));
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(rig->test, stats.running, running);
	KUNIT_EXPECT_EQ(rig->test, stats.idle, running);
	KUNIT_EXPECT_EQ(rig->test, stats.completed, stats.submitted);
	EXPECT_SOON(rig->test, nr_threads(NAME) == running);
}

static void queue_depth_is_set_live(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	start_waiters(rig, 3);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 2), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth",
				       1U + INT_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 0), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 2);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, stats_of(rig->pool).completed == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 1);
}

/*
 * All of its slots are allocated at once, and the sum of both must not
 * overflow.
 */
static void preallocated_pool_refuses_too_high_a_sum(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 2, .flags = ANTS_PREALLOC });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", INT_MAX - 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 3), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, INT_MAX - 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 5);
	expect_left(rig, 2);
}

/* Neither a change that fails nor one that is taken back keeps their memory. */
static void preallocated_pool_keeps_no_slots_in_vain(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 2, .flags = ANTS_PREALLOC });
	struct ants_pool *pool = rig->pool;

	ants_fail_arm(ANTS_FAIL_THREAD, 1);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1000), -ENOMEM);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	KUNIT_EXPECT_LE(test, ants_peek(pool->nr_stock), pool->limits.stock);
	KUNIT_EXPECT_LT(test, pool->limits.stock, 200);
	KUNIT_EXPECT_EQ(test, set_attr(pool, "queue_depth", 1000), 0);
	KUNIT_EXPECT_GE(test, ants_peek(pool->nr_stock), 1002);
	KUNIT_EXPECT_EQ(test, set_attr(pool, "queue_depth", 0), 0);
	KUNIT_EXPECT_LE(test, ants_peek(pool->nr_stock), pool->limits.stock);
	expect_left(rig, 2);
}

static int do_deepen_killed(struct async_call *call)
{
	send_sig(SIGKILL, current, 1);
	return set_attr(call->pool, "queue_depth", 100000);
}

/* One that asked for more than there is need not be waited for. */
static void making_of_slots_can_be_killed(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .flags = ANTS_PREALLOC });
	struct async_call *call = rig_async(rig, do_deepen_killed, 0, NULL);

	KUNIT_EXPECT_EQ(test, async_result(call), -EINTR);
	KUNIT_EXPECT_LE(test, ants_peek(rig->pool->nr_stock),
			rig->pool->limits.stock);
	expect_left(rig, 1);
}

static int do_deepen_much(struct async_call *call)
{
	return set_attr(call->pool, "queue_depth", 100000);
}

/* Nor need a pool that is closed, and maybe destroyed: it lacks no slots. */
static void making_of_slots_ends_with_a_close(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .flags = ANTS_PREALLOC });
	struct async_call *call;

	hold(rig, ANTS_PAUSE_STOCK);
	call = rig_async(rig, do_deepen_much, 0, NULL);
	held(rig, ANTS_PAUSE_STOCK);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	/* No further slot is tried. */
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	let_go(rig, ANTS_PAUSE_STOCK);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
}

static void min_workers_are_made_and_kept(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 4 });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 5), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 3), 0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 3);
	expire(rig->pool, 3);
	EXPECT_SOON(test, silent(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 3);
	/*
	 * With fewer, workers that have expired meanwhile leave by themselves.
	 */
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 1), 0);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 2);
}

static void max_blocking_is_set_live(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	start_waiters(rig, 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_blocking", 2), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_blocking", 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_blocking", 0), 0);
	start_waiters(rig, 1);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 1);
}

static void nonblocking_is_set_live(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 1), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 0), 0);
	start_waiters(rig, 1);
	expect_left(rig, 1);
	expect_results(rig, 0, 0);
}

static atomic_t nr_room;
static int room_result;

static void task_returns(void *unused)
{
}

/* The callback for space: submit what was refused. */
static void note_room(struct ants_pool *pool)
{
	room_result = ants_try_submit(pool, task_returns, NULL);
	atomic_inc(&nr_room);
}

/*
 * As many tasks at a gate as the pool has room for, sixteen, and one refused.
 * No timer is armed any more that would find the space.
 */
static struct rig *rig_crammed(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 8, .queue_depth = 8,
						.space_available = note_room });
	int i;

	atomic_set(&nr_room, 0);
	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, task_returns, NULL),
			-EAGAIN);
	ASSERT_SOON(test, !timer_pending(&rig->pool->timer.timer));
	return rig;
}

/* Called once, before any task ends: only the growth has made space. */
static void expect_called_back(struct rig *rig)
{
	EXPECT_SOON(rig->test, atomic_read(&nr_room) == 1);
	KUNIT_EXPECT_EQ(rig->test, room_result, 0);
	KUNIT_EXPECT_EQ(rig->test, atomic_read(&rig->gate.passed), 0);
}

static void deeper_queue_calls_back(struct kunit *test)
{
	struct rig *rig = rig_crammed(test);

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 10), 0);
	expect_called_back(rig);
	/* No caller was refused since. */
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 12), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
}

static void higher_capacity_calls_back(struct kunit *test)
{
	struct rig *rig = rig_crammed(test);

	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 10), 0);
	expect_called_back(rig);
}

static int do_deepen(struct async_call *call)
{
	return set_attr(call->pool, "queue_depth", 10);
}

/* The caller that makes the change is held before it calls back. */
static void growth_that_is_held_up_calls_back(struct kunit *test)
{
	struct rig *rig = rig_crammed(test);
	struct async_call *change;

	hold(rig, ANTS_PAUSE_TUNE);
	change = rig_async(rig, do_deepen, 0, NULL);
	held(rig, ANTS_PAUSE_TUNE);
	expect_called_back(rig);
	let_go(rig, ANTS_PAUSE_TUNE);
	KUNIT_EXPECT_EQ(test, async_result(change), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
}

/* A client may not change what other clients rely on; an administrator may. */
static void system_pool_is_its_administrators(struct kunit *test)
{
	struct ants_pool *pool = ants_system_pool;

	KUNIT_EXPECT_EQ(test, ants_tune(pool, 255), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_set_nice(pool, 1), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_set_sched(pool, ANTS_SCHED_FIFO), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(pool, cpumask_of(0)), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(pool, NULL), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 256);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->target.affinity)->nice, 0);
	KUNIT_EXPECT_TRUE(test, ants_peek(pool->target.affinity)->unbound);
	KUNIT_EXPECT_EQ(test, set_attr(pool, "capacity", 255), 0);
	KUNIT_EXPECT_EQ(test, set_attr(pool, "nice", 1), 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 255);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->target.affinity)->nice, 1);
	KUNIT_EXPECT_EQ(test, set_attr(pool, "capacity", 256), 0);
	KUNIT_EXPECT_EQ(test, set_attr(pool, "nice", 0), 0);
}

/* A pool refuses tasks that have no room, or their callers run them; not both. */
static void callers_that_run_their_tasks_are_not_refused(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .flags = ANTS_CALLER_RUNS });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "nonblocking", 0), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	expect_left(rig, 1);
}

/* Lower bounds need no memory, although most slots are in use. */
static void lower_bounds_need_no_memory(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 2, .queue_depth = 100,
				.flags = ANTS_PREALLOC });
	int i;

	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 99), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 101),
			-ENOMEM);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	expect_left(rig, 1);
}

static struct kunit_case setting_cases[] = {
	KUNIT_CASE(queue_depth_is_set_live),
	KUNIT_CASE(preallocated_pool_refuses_too_high_a_sum),
	KUNIT_CASE(preallocated_pool_keeps_no_slots_in_vain),
	KUNIT_CASE(making_of_slots_can_be_killed),
	KUNIT_CASE(making_of_slots_ends_with_a_close),
	KUNIT_CASE(min_workers_are_made_and_kept),
	KUNIT_CASE(max_blocking_is_set_live),
	KUNIT_CASE(nonblocking_is_set_live),
	KUNIT_CASE(callers_that_run_their_tasks_are_not_refused),
	KUNIT_CASE(lower_bounds_need_no_memory),
	KUNIT_CASE(deeper_queue_calls_back),
	KUNIT_CASE(higher_capacity_calls_back),
	KUNIT_CASE(growth_that_is_held_up_calls_back),
	KUNIT_CASE(system_pool_is_its_administrators),
	{}
};

static struct kunit_suite setting_suite = {
	.name = "ants_setting",
	.test_cases = setting_cases,
};

kunit_test_suite(setting_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the settings of a live pool");
MODULE_LICENSE("GPL");
