// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making and ending pools: which threads they own, and what the end waits for.
 */
#include <linux/mm.h>
#include <linux/module.h>

#include "async.h"

static void default_attrs(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "defaults");

	KUNIT_EXPECT_EQ(test, ants_capacity(pool), num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
}

static void runs_each_task_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_pool *pool = test_pool(test, &attrs, "once");
	struct ants_stats stats;
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1000);
	ants_pool_stats(pool, &stats);
	KUNIT_EXPECT_EQ(test, stats.submitted, 1000);
	KUNIT_EXPECT_EQ(test, stats.completed, 1000);
	KUNIT_EXPECT_LE(test, stats.peak_running, 4);
}

/* What a task sees of its own thread. */
struct view {
	struct completion done;
	char comm[TASK_COMM_LEN];
	struct cpumask cpus;
	unsigned int policy;
	unsigned int flags;
	int nice;
	int cpu;
};

static void view_task(void *data)
{
	struct view *view = data;

	get_task_comm(view->comm, current);
	cpumask_copy(&view->cpus, current->cpus_ptr);
	view->policy = current->policy;
	view->flags = current->flags;
	view->nice = task_nice(current);
	view->cpu = raw_smp_processor_id();
	complete(&view->done);
}

/* Make a thread of @pool describe itself. */
static struct view *view_of(struct kunit *test, struct ants_pool *pool)
{
	struct view *view = kunit_kzalloc(test, sizeof(*view), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, view);
	init_completion(&view->done);
	KUNIT_ASSERT_EQ(test, ants_submit(pool, view_task, view), 0);
	KUNIT_ASSERT_EQ(test, ants_flush(pool), 0);
	KUNIT_ASSERT_TRUE(test, completion_done(&view->done));
	return view;
}

static void threads_carry_the_pools_name(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "namesake");
	struct view *view = view_of(test, pool);

	KUNIT_EXPECT_STREQ(test, view->comm, "ants/namesake");
	KUNIT_EXPECT_TRUE(test, view->flags & PF_KTHREAD);
}

static void threads_are_normal_by_default(struct kunit *test)
{
	struct view *view = view_of(test, test_pool(test, NULL, "normal"));

	KUNIT_EXPECT_EQ(test, view->policy, SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, view->nice, 0);
	KUNIT_EXPECT_TRUE(test, cpumask_subset(cpu_online_mask, &view->cpus));
}

static void threads_have_the_nice_value(struct kunit *test)
{
	struct ants_attrs below = { .nice = -5 };
	struct ants_attrs above = { .nice = 7 };
	struct view *view = view_of(test, test_pool(test, &below, "below"));

	KUNIT_EXPECT_EQ(test, view->nice, -5);
	view = view_of(test, test_pool(test, &above, "above"));
	KUNIT_EXPECT_EQ(test, view->nice, 7);
	KUNIT_EXPECT_EQ(test, view->policy, SCHED_NORMAL);
}

static void throughput_threads_are_batch(struct kunit *test)
{
	struct ants_attrs attrs = { .nice = 3, .flags = ANTS_THROUGHPUT };
	struct view *view = view_of(test, test_pool(test, &attrs, "batch"));

	KUNIT_EXPECT_EQ(test, view->policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, view->nice, 3);
}

/*
 * The mask belongs to the caller: it may change or be freed once the pool is
 * made.
 */
static void threads_keep_to_a_copy_of_the_cpumask(struct kunit *test)
{
	struct cpumask *mask = kunit_kzalloc(test, sizeof(*mask), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 2, .cpumask = mask };
	int cpu = cpumask_last(cpu_online_mask);
	struct ants_pool *pool;
	struct view *view;

	KUNIT_ASSERT_NOT_NULL(test, mask);
	cpumask_set_cpu(cpu, mask);
	pool = test_pool(test, &attrs, "masked");
	cpumask_clear(mask);
	cpumask_set_cpu(cpumask_first(cpu_online_mask), mask);
	view = view_of(test, pool);
	KUNIT_EXPECT_EQ(test, cpumask_weight(&view->cpus), 1);
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(cpu, &view->cpus));
	KUNIT_EXPECT_EQ(test, view->cpu, cpu);
}

static void min_workers_start_with_the_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 5, .min_workers = 3 };
	struct ants_pool *pool = test_pool(test, &attrs, "min");
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	KUNIT_EXPECT_EQ(test, stats.running, 3);
	KUNIT_EXPECT_EQ(test, stats.spawned, 3);
	EXPECT_SOON(test, ants_nr_idle(pool) == 3);
}

static void preallocated_pool_starts_whole(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 20, .queue_depth = 7, .flags = ANTS_PREALLOC,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "whole");
	struct gate *gate = test_gate(test);

	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 20);
	/* Slots are allocated in batches. */
	KUNIT_EXPECT_EQ(test, pool->nr_stock,
			roundup(27 + ANTS_SPARE_SLOTS, ANTS_SLOT_BATCH));
	EXPECT_SOON(test, ants_nr_idle(pool) == 20);
	fill_pool(test, pool, gate, 20);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 20);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

static void reclaim_pool_has_one_thread_always(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .flags = ANTS_MEM_RECLAIM };
	struct ants_pool *pool = test_pool(test, &attrs, "reclaim");

	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1);
}

/* B4, B21, B24: an idle pool owns no thread, no timer and no work. */
static bool owns_nothing(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = !pool->workers.nr && !timer_pending(&pool->timer.timer) &&
	      !pool->upkeep.queued && !pool->upkeep.making;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

#define NR_POOLS	30

static void many_idle_pools_own_nothing(struct kunit *test)
{
	struct ants_attrs attrs = { .expiry = 1 };
	struct ants_pool **pools;
	atomic_t count = ATOMIC_INIT(0);
	char name[ANTS_NAME_LEN];
	int i;

	pools = kunit_kcalloc(test, NR_POOLS, sizeof(*pools), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pools);
	for (i = 0; i < NR_POOLS; i++) {
		snprintf(name, sizeof(name), "idle%d", i);
		pools[i] = test_pool(test, &attrs, name);
		KUNIT_EXPECT_TRUE(test, owns_nothing(pools[i]));
	}
	for (i = 0; i < NR_POOLS; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pools[i], count_task, &count),
				0);
	for (i = 0; i < NR_POOLS; i++) {
		KUNIT_EXPECT_EQ(test, ants_flush(pools[i]), 0);
		EXPECT_SOON(test, owns_nothing(pools[i]));
		/*
		 * More than one, if another thread made up for one that was
		 * late.
		 */
		KUNIT_EXPECT_GE(test, stats_of(pools[i]).reaped, 1);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&count), NR_POOLS);
}

static void destroy_ignores_what_is_no_pool(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(ERR_PTR(-ENOMEM)), 0);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(ERR_PTR(-EINVAL)), 0);
}

static void destroy_takes_any_idle_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .min_workers = 2 };
	struct ants_pool *pool = ants_pool_create(&attrs, "fresh");

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	pool = ants_pool_create(&attrs, "closed");
	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	pool = ants_pool_create(&attrs, "drained");
	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
}

/*
 * The pool belongs to the thread that destroys it: this case may look at it
 * only while the gate keeps it from being freed.
 */
static void destroy_runs_what_was_accepted(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 20 };
	struct ants_pool *pool = ants_pool_create(&attrs, "loaded");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct async_call *destroyer;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	fill_pool(test, pool, gate, 2);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	destroyer = async_start_on(test, do_destroy, pool, 0);
	EXPECT_SOON(test, ants_is_released(pool));
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), -ESHUTDOWN);
	expect_blocked(test, destroyer);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(destroyer), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 20);
}

/*
 * B14, B28: every waiter learns at once that the pool is gone, and not just
 * full.
 */
static void destroy_fails_every_waiter(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = ants_pool_create(&attrs, "waited");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	struct async_call *waiters[20];
	struct async_call *destroyer;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	fill_pool(test, pool, gate, 1);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i] = submit_async(test, pool, count_task, &count,
					  MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == ARRAY_SIZE(waiters));
	destroyer = async_start_on(test, do_destroy, pool, 0);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		KUNIT_EXPECT_EQ(test, async_result(waiters[i]),
				-ESHUTDOWN);
	expect_blocked(test, destroyer);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(destroyer), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 0);
}

/* A flush that has nothing left to wait for is still inside the pool. */
static void destroy_waits_for_callers_inside(struct kunit *test)
{
	struct ants_pool *pool = ants_pool_create(NULL, "inside");
	struct async_call *flusher, *destroyer;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	ants_pause_arm(ANTS_PAUSE_AWAIT, pool);
	flusher = async_start_on(test, do_flush, pool, FOREVER);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_AWAIT,
						   TEST_DEADLINE));
	destroyer = async_start_on(test, do_destroy, pool, 0);
	EXPECT_SOON(test, ants_is_released(pool));
	/* The pool is drained: destroy sleeps for that one caller. */
	EXPECT_SOON(test, waitqueue_active(&pool->waitq));
	expect_blocked(test, destroyer);
	ants_pause_resume(ANTS_PAUSE_AWAIT);
	KUNIT_EXPECT_EQ(test, async_result(flusher), 0);
	KUNIT_EXPECT_EQ(test, async_result(destroyer), 0);
}

static void system_pool_runs_tasks(struct kunit *test)
{
	struct view *view = kunit_kzalloc(test, sizeof(*view), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, view);
	KUNIT_ASSERT_NOT_NULL(test, ants_system_pool);
	init_completion(&view->done);
	KUNIT_ASSERT_EQ(test, ants_submit(ants_system_pool, view_task, view), 0);
	/* No deadline: the task uses this memory until it is done. */
	wait_for_completion(&view->done);
	KUNIT_EXPECT_STREQ(test, view->comm, "ants/system");
	KUNIT_EXPECT_EQ(test, ants_capacity(ants_system_pool), 256);
}

static void system_pool_has_no_owner(struct kunit *test)
{
	struct ants_pool *pool = ants_system_pool, *other;

	KUNIT_EXPECT_EQ(test, ants_release(pool), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, HZ), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(pool, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), -EPERM);
	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
	other = ants_pool_create(NULL, "system");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(other), -EEXIST);
	ants_pool_destroy(other);
}

/* A pending task costs a slot, and a thread costs a worker. */
static void structures_stay_small(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, sizeof(struct ants_slot), 48);
	/* What follows is for a thread that dies; together they are one object of the slab. */
	KUNIT_EXPECT_LE(test, offsetof(struct ants_worker, exit), 256);
	KUNIT_EXPECT_LE(test, sizeof(struct ants_worker), 2048);
	kunit_info(test, "slot %zu, worker %zu, waiter %zu, pool %zu bytes with debug options",
		   sizeof(struct ants_slot), sizeof(struct ants_worker),
		   sizeof(struct ants_waiter), sizeof(struct ants_pool));
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(default_attrs),
	KUNIT_CASE(runs_each_task_once),
	KUNIT_CASE(threads_carry_the_pools_name),
	KUNIT_CASE(threads_are_normal_by_default),
	KUNIT_CASE(threads_have_the_nice_value),
	KUNIT_CASE(throughput_threads_are_batch),
	KUNIT_CASE(threads_keep_to_a_copy_of_the_cpumask),
	KUNIT_CASE(min_workers_start_with_the_pool),
	KUNIT_CASE(preallocated_pool_starts_whole),
	KUNIT_CASE(reclaim_pool_has_one_thread_always),
	KUNIT_CASE(many_idle_pools_own_nothing),
	KUNIT_CASE(destroy_ignores_what_is_no_pool),
	KUNIT_CASE(destroy_takes_any_idle_pool),
	KUNIT_CASE(destroy_runs_what_was_accepted),
	KUNIT_CASE(destroy_fails_every_waiter),
	KUNIT_CASE(destroy_waits_for_callers_inside),
	KUNIT_CASE(system_pool_runs_tasks),
	KUNIT_CASE(system_pool_has_no_owner),
	KUNIT_CASE(structures_stay_small),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "ants_pool",
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);

MODULE_DESCRIPTION("ants: KUnit tests of making and ending pools");
MODULE_LICENSE("GPL");
