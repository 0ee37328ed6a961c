// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pool with too many faults in a row takes no more tasks until it is opened
 * again, and ends what it had accepted.
 */
#include <linux/module.h>

#include "call.h"
#include "fault.h"
#include "group.h"
#include "multi.h"

static atomic_t nr_dropped;
static ants_fn_t dropped_fn;
static void *dropped_data;

static void take_back(ants_fn_t fn, void *data)
{
	dropped_fn = fn;
	dropped_data = data;
	atomic_inc(&nr_dropped);
}

static void die_task(void *data)
{
	end_thread();
}

static struct rig *breaker_rig(struct kunit *test, struct ants_attrs attrs)
{
	atomic_set(&nr_dropped, 0);
	attrs.drop = take_back;
	attrs.max_faults = attrs.max_faults ?: 2;
	return fault_rig(test, attrs);
}

static void announce_trip(void)
{
	announce("^ants: pool " NAME ": too many faults in a row");
}

static void die(struct rig *rig, int nr)
{
	while (nr--) {
		announce_death("die_task");
		KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, die_task, rig),
				0);
	}
}

static bool has_tripped(struct ants_pool *pool)
{
	return READ_ONCE(pool->faults.tripped);
}

/* The pool is closed and opened, and works. */
static void heal(struct rig *rig)
{
	struct kunit *test = rig->test;

	KUNIT_EXPECT_STREQ(test, show(test, rig->pool, "state"), "faulted\n");
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_FALSE(test, has_tripped(rig->pool));
	fill_pool(test, rig->pool, &rig->late, ants_capacity(rig->pool));
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
}

static void pool_refuses_after_too_many(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
			.capacity = 1, .queue_depth = 4, .max_faults = 3 });
	struct item *item = items_alloc(test, 1);
	struct ants_pool *pool = rig->pool;

	announce_trip();
	die(rig, 3);
	EXPECT_SOON(test, has_tripped(pool));
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &rig->count), -EIO);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, &rig->count,
						  HZ), -EIO);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &rig->count),
			-EIO);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, work_of(item)), -EIO);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(pool, &item->dwork, 1),
			-EIO);
	KUNIT_EXPECT_EQ(test, ants_call(pool, call_arg_fn, NULL, FOREVER), -EIO);
	KUNIT_EXPECT_EQ(test, ants_for_each(pool, 1, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0U);
	EXPECT_SOON(test, !ants_nr_running(pool));
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	heal(rig);
}

static void each_call_is_refused(struct kunit *test)
{
	const struct ants_task task = { .fn = count_task };
	struct ants_attrs attrs = { .capacity = 1, .max_faults = 1 };
	struct ants_pool *pool = test_func_pool(test, &attrs, die_task, "calls");
	struct team *team = team_make(test, 1, (struct ants_attrs){
					.capacity = 1, .max_faults = 1 }, 0);
	struct item *item = items_alloc(test, 1);

	announce("^ants: pool calls: thread .* has died in die_task");
	announce("^ants: pool calls: too many faults in a row");
	KUNIT_ASSERT_EQ(test, ants_invoke(pool, NULL), 0);
	EXPECT_SOON(test, has_tripped(pool));
	KUNIT_EXPECT_EQ(test, ants_invoke(pool, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, ants_invoke_timeout(pool, NULL, HZ), -EIO);
	KUNIT_EXPECT_EQ(test, ants_try_invoke(pool, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, ants_submit_prio(pool, count_task, NULL,
					       ANTS_PRIO_HIGH, HZ), -EIO);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, &task, 1), -EIO);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(pool, work_of(item), HZ),
			-EIO);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(pool, &item->dwork, 1),
			-EIO);
	announce("^ants: pool group: thread .* has died in die_task");
	announce("^ants: pool group: too many faults in a row");
	KUNIT_ASSERT_EQ(test, ants_submit(team->rig->pool, die_task, NULL), 0);
	EXPECT_SOON(test, has_tripped(team->rig->pool));
	KUNIT_EXPECT_EQ(test, ants_group_submit(&team->group, work_at(team, 0)),
			-EIO);
}

/* In a row: a task that ends well begins another one. */
static void good_task_is_a_new_beginning(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
					.capacity = 1, .queue_depth = 8 });
	int i;

	for (i = 0; i < 4; i++) {
		die(rig, 1);
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	}
	EXPECT_SOON(test, atomic_read(&rig->count) == 4);
	expect_told(rig, 4, die_task, rig);
	KUNIT_EXPECT_FALSE(test, has_tripped(rig->pool));
}

static void gate_then_die(void *data)
{
	gate_task(data);
	end_thread();
}

/* Behind the task that is the last straw. */
static void pending_tasks_are_given_back(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
			.capacity = 1, .queue_depth = 40, .max_faults = 1 });
	struct item *item = items_alloc(test, 1);
	int i;

	announce_trip();
	announce_death("gate_then_die");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_then_die, &rig->gate),
			0);
	for (i = 0; i < 35; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	gate_open(&rig->gate);
	expect_ended(test, item, 0, -EIO);
	EXPECT_SOON(test, atomic_read(&nr_dropped) == 35);
	KUNIT_EXPECT_TRUE(test, dropped_fn == count_task);
	KUNIT_EXPECT_PTR_EQ(test, dropped_data, (void *)&rig->count);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).cancelled, 36ULL);
	heal(rig);
}

/* Callers that wait for room, calls, groups, and items with a timer. */
static void everyone_is_told(struct kunit *test)
{
	struct team *team = team_make(test, 3, (struct ants_attrs){
			.capacity = 1, .queue_depth = 6, .max_faults = 1 }, 0);
	struct rig *rig = team->rig;
	struct item *item = items_alloc(test, 1);
	struct call_arg arg = {};

	announce("^ants: pool group: too many faults in a row");
	announce("^ants: pool group: thread .* has died in gate_then_die");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_then_die, &rig->gate),
			0);
	submit_range(team, 0, 3);
	KUNIT_ASSERT_EQ(test, ants_queue_delayed_work(rig->pool, &item->dwork,
						      NEVER), 0);
	start_call(rig, call_plain, &arg);
	start_call(rig, call_given, &arg);
	EXPECT_SOON(test, ants_nr_busy(rig->pool) == 1 &&
		    ants_nr_pending(rig->pool) == 5);
	fill_up(rig);
	start_waiters(rig, 3);
	gate_open(&rig->gate);
	expect_wait(team, -EIO);
	expect_members(team, 0, 3, 0, -EIO);
	expect_results(rig, 0, -EIO);
	expect_ended(test, item, 0, -EIO);
	expect_call_arg(test, &arg, 0, 1);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
}

/* An item that runs, and was queued again before, does not run again. */
static void item_does_not_run_again(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
			.capacity = 2, .max_faults = 1 });
	struct item *item = items_alloc(test, 1);

	announce_trip();
	item->pool = rig->pool;
	item->more = 1;
	item_start(rig, item, &rig->gate);
	die(rig, 1);
	EXPECT_SOON(test, has_tripped(rig->pool));
	KUNIT_EXPECT_EQ(test, item->queued, 0);
	gate_open(&rig->gate);
	expect_ended(test, item, 1, -EIO);
	heal(rig);
}

static void number_can_be_set(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
					.capacity = 1, .queue_depth = 4 });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_faults", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_faults", 1U + INT_MAX),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "max_faults", 4), 0);
	die(rig, 3);
	expect_told(rig, 3, die_task, rig);
	KUNIT_EXPECT_FALSE(test, has_tripped(rig->pool));
	announce_trip();
	die(rig, 1);
	EXPECT_SOON(test, has_tripped(rig->pool));
	heal(rig);
}

static atomic_t nr_init, init_fails;

static void *fail_init(struct ants_pool *pool)
{
	atomic_inc(&nr_init);
	return atomic_read(&init_fails) ? ERR_PTR(-EIO) : NULL;
}

/* Nothing else would ever end those tasks. */
static void worker_init_fails_for_good(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
			.capacity = 1, .queue_depth = 4, .max_faults = 4,
			.worker_init = fail_init });
	struct item *item = items_alloc(test, 1);

	announce_trip();
	atomic_set(&nr_init, 0);
	atomic_set(&init_fails, 1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	rig_async(rig, do_flush, FOREVER, NULL);
	expect_ended(test, item, 0, -EIO);
	expect_results(rig, 0, 0);
	/* The flush does not wait until the client has taken it back. */
	EXPECT_SOON(test, atomic_read(&nr_dropped) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_init), 4);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).faults, 0ULL);
	atomic_set(&init_fails, 0);
	heal(rig);
}

/* There is a thread for them. */
static void worker_init_fails_beside_a_thread(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
			.capacity = 2, .queue_depth = 4,
			.worker_init = fail_init });

	atomic_set(&nr_init, 0);
	atomic_set(&init_fails, 0);
	fill_pool(test, rig->pool, &rig->gate, 1);
	atomic_set(&init_fails, 1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	EXPECT_SOON(test, atomic_read(&nr_init) > 4);
	KUNIT_EXPECT_FALSE(test, has_tripped(rig->pool));
	gate_open(&rig->gate);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
}

static void *fail_together(struct ants_pool *pool)
{
	if (atomic_inc_return(&nr_init) > 8)
		return NULL;
	if (!WAIT_FOR(atomic_read(&nr_init) >= 8))
		pr_err("the others do not come\n");
	return ERR_PTR(-ENOMEM);
}

/* A moment without memory is one failure, however many threads it meets. */
static void worker_init_fails_side_by_side(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
			.capacity = 8, .max_faults = 8,
			.worker_init = fail_together });
	int i;

	atomic_set(&nr_init, 0);
	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 8);
	KUNIT_EXPECT_FALSE(test, has_tripped(rig->pool));
}

static void slow_work(struct work_struct *work)
{
	msleep(20);
}

static DECLARE_WORK(other_work, slow_work);

/* A workqueue without a thread in reserve. */
static void flush_other(ants_fn_t fn, void *data)
{
	schedule_work(&other_work);
	flush_work(&other_work);
	take_back(fn, data);
}

/* The functions of a client may flush any workqueue, as they may in a task. */
static void drop_may_flush(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .max_faults = 1,
				    .worker_init = fail_init,
				    .drop = flush_other };
	struct ants_pool *pool = test_pool(test, &attrs, NAME);

	announce_trip();
	atomic_set(&nr_dropped, 0);
	atomic_set(&init_fails, 1);
	KUNIT_ASSERT_EQ(test, ants_submit(pool, count_task, NULL), 0);
	EXPECT_SOON(test, atomic_read(&nr_dropped) == 1);
}

static atomic_t runs;

static void end_in_system_pool(void *data)
{
	end_thread();
}

/* No client can open it again, and all of them use it. */
static void system_pool_does_not_trip(struct kunit *test)
{
	unsigned int max = READ_ONCE(ants_system_pool->faults.max);
	u64 before = READ_ONCE(ants_system_pool->counts.faults);

	KUNIT_ASSERT_EQ(test, set_attr(ants_system_pool, "max_faults", 1), 0);
	announce("^ants: pool system: thread .* has died in end_in_system_pool");
	KUNIT_EXPECT_EQ(test, ants_submit(ants_system_pool, end_in_system_pool, NULL),
			0);
	EXPECT_SOON(test, READ_ONCE(ants_system_pool->counts.faults) > before);
	EXPECT_SOON(test, !READ_ONCE(ants_system_pool->faults.aborting));
	atomic_set(&runs, 0);
	KUNIT_EXPECT_EQ(test, ants_submit(ants_system_pool, count_task, &runs), 0);
	EXPECT_SOON(test, atomic_read(&runs) == 1);
	KUNIT_EXPECT_EQ(test, set_attr(ants_system_pool, "max_faults", max), 0);
}

/* The test ends with tasks that no thread will ever run. */
static void destroy_ends(struct kunit *test)
{
	struct rig *rig = breaker_rig(test, (struct ants_attrs){
			.capacity = 1, .worker_init = fail_init });

	announce_trip();
	atomic_set(&init_fails, 1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
}

/* A shard that takes no tasks is passed over. */
static void other_shards_go_on(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .max_faults = 1 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_LEAST_TASKS,
					      "shards");
	atomic_t count = ATOMIC_INIT(0);
	struct gate *gate = test_gate(test);
	char state[32];

	announce("^ants: pool shards/0: too many faults in a row");
	announce("^ants: pool shards/0: thread .* has died in die_task");
	KUNIT_ASSERT_EQ(test, ants_submit(ants_multi_shard(multi, 0), die_task,
					  NULL), 0);
	EXPECT_SOON(test, has_tripped(ants_multi_shard(multi, 0)));
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, count_task, &count),
			-EAGAIN);
	/* It waits where there will be room. */
	KUNIT_EXPECT_EQ(test, ants_multi_submit_timeout(multi, count_task, &count,
							1), -ETIMEDOUT);
	announce("^ants: pool shards/1: too many faults in a row");
	announce("^ants: pool shards/1: thread .* has died in die_task");
	gate_open(gate);
	KUNIT_ASSERT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_ASSERT_EQ(test, ants_submit(ants_multi_shard(multi, 1), die_task,
					  NULL), 0);
	EXPECT_SOON(test, has_tripped(ants_multi_shard(multi, 1)));
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task, &count), -EIO);
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, count_task, &count),
			-EIO);
	KUNIT_EXPECT_EQ(test, sys_read("/sys/kernel/ants/shards/state", state,
				       sizeof(state)), 0);
	KUNIT_EXPECT_STREQ(test, state, "faulted\n");
}

static struct kunit_case breaker_cases[] = {
	KUNIT_CASE(pool_refuses_after_too_many),
	KUNIT_CASE(each_call_is_refused),
	KUNIT_CASE(good_task_is_a_new_beginning),
	KUNIT_CASE(pending_tasks_are_given_back),
	KUNIT_CASE(everyone_is_told),
	KUNIT_CASE(item_does_not_run_again),
	KUNIT_CASE(number_can_be_set),
	KUNIT_CASE(worker_init_fails_for_good),
	KUNIT_CASE(worker_init_fails_beside_a_thread),
	KUNIT_CASE(worker_init_fails_side_by_side),
	KUNIT_CASE(drop_may_flush),
	KUNIT_CASE(system_pool_does_not_trip),
	KUNIT_CASE(destroy_ends),
	KUNIT_CASE(other_shards_go_on),
	{}
};

static int breaker_init(struct kunit *test)
{
	need_module(test);
	return 0;
}

static struct kunit_suite breaker_suite = {
	.name = "ants_breaker",
	.init = breaker_init,
	.test_cases = breaker_cases,
};

kunit_test_suite(breaker_suite);

MODULE_DESCRIPTION("ants: KUnit tests of pools with too many faults");
MODULE_LICENSE("GPL");
