// SPDX-License-Identifier: GPL-2.0-only
/* Sharded pools: changes that are made to all shards or to none. */
#include <linux/module.h>

#include "multi.h"

static void expect_capacities(struct kunit *test, struct ants_multi *multi,
			      unsigned int a, unsigned int b, unsigned int c)
{
	KUNIT_EXPECT_EQ(test, ants_capacity(ants_multi_shard(multi, 0)), a);
	KUNIT_EXPECT_EQ(test, ants_capacity(ants_multi_shard(multi, 1)), b);
	KUNIT_EXPECT_EQ(test, ants_capacity(ants_multi_shard(multi, 2)), c);
}

static bool any_released(struct ants_multi *multi)
{
	struct ants_pool *pool;
	unsigned int i;

	for (i = 0; (pool = ants_shard(multi, i)); i++)
		if (ants_is_released(pool))
			return true;
	return false;
}

static bool all_released(struct ants_multi *multi)
{
	struct ants_pool *pool;
	unsigned int i;

	for (i = 0; (pool = ants_shard(multi, i)); i++)
		if (!ants_is_released(pool))
			return false;
	return true;
}

static void tune_spreads_the_total(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "spread");

	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 11), 0);
	expect_capacities(test, multi, 4, 4, 3);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, ANTS_UNLIMITED), 0);
	expect_capacities(test, multi, ANTS_UNLIMITED, ANTS_UNLIMITED,
			  ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 4), 0);
	expect_capacities(test, multi, 2, 1, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 0), -EINVAL);
	expect_capacities(test, multi, 2, 1, 1);
	/* One shard is changed by itself, then all of them again. */
	KUNIT_EXPECT_EQ(test, ants_tune(ants_multi_shard(multi, 2), 7), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).capacity, 10);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 6), 0);
	expect_capacities(test, multi, 2, 2, 2);
}

static void tune_grants_waiters(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "grants");
	struct gate *gate = test_gate(test);
	struct async_call *waiter[2];
	int i;

	fill_multi(test, multi, gate, 2);
	for (i = 0; i < 2; i++)
		waiter[i] = multi_submit_async(test, multi, gate_task, gate,
					       FOREVER);
	EXPECT_SOON(test, sums_of(multi).waiting == 2);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 4), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).waiting, 0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, async_result(waiter[i]), 0);
}

/* One shard's min_workers is higher than its share: no shard changes. */
static void tune_refuses_for_one_shard(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 9, .min_workers = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "refuses");

	need_module(test);
	KUNIT_EXPECT_EQ(test, write_file("refuses/shard2/min_workers", "3\n"), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 6), -EINVAL);
	expect_capacities(test, multi, 3, 3, 3);
	KUNIT_EXPECT_EQ(test, write_file("refuses/capacity", "6\n"), -EINVAL);
	expect_capacities(test, multi, 3, 3, 3);
	KUNIT_EXPECT_EQ(test, write_file("refuses/capacity", "10\n"), 0);
	expect_capacities(test, multi, 4, 3, 3);
}

/* The share of each shard is what counts, not the total. */
static void tune_refuses_a_share_beyond_int_max(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 1, 0, "one");

	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 1U + INT_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, ANTS_UNLIMITED - 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 3);
	multi = test_multi(test, &attrs, 3, 0, "three");
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 1U + INT_MAX), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 1U + INT_MAX);
}

/* A part that no shard may have is refused, also if it is less than the shard has. */
static void shrink_to_too_much_is_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = ANTS_UNLIMITED };
	struct ants_multi *multi = test_multi(test, &attrs, 1, 0, "toomuch");

	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 1U + INT_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, INT_MAX), 0);
}

/* True if no thread is being made or joined behind the test's back. */
static bool at_rest(struct ants_multi *multi)
{
	struct ants_pool *pool;
	unsigned int i;

	for (i = 0; (pool = ants_shard(multi, i)); i++)
		if (ants_peek(pool->upkeep.queued))
			return false;
	return true;
}

/* The second shard fails half way: the first one gives back what it made. */
static void tune_rolls_back(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 14, .flags = ANTS_PREALLOC };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "rollback");

	KUNIT_ASSERT_EQ(test, ants_tune(ants_multi_shard(multi, 0), 2), 0);
	KUNIT_ASSERT_EQ(test, ants_tune(ants_multi_shard(multi, 1), 2), 0);
	EXPECT_SOON(test, sums_of(multi).running == 2 + 2 + 4);
	EXPECT_SOON(test, at_rest(multi));
	KUNIT_EXPECT_EQ(test, sums_of(multi).spawned, 14);
	ants_fail_arm_after(ANTS_FAIL_THREAD, 1, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 9), -ENOMEM);
	KUNIT_EXPECT_EQ(test, sums_of(multi).spawned, 15);
	expect_capacities(test, multi, 2, 2, 4);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, 8);
	EXPECT_SOON(test, sums_of(multi).running == 8);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 9), 0);
	EXPECT_SOON(test, sums_of(multi).idle == 9);
}

/* Shrinking a shard cannot fail, even without memory. */
static void shrink_needs_no_memory(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 60, .queue_depth = 60, .flags = ANTS_PREALLOC,
	};
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "shrink");
	struct gate *gate = test_gate(test);
	int i;

	fill_multi(test, multi, gate, 60);
	for (i = 0; i < 60; i++)
		KUNIT_ASSERT_EQ(test, ants_multi_submit(multi, gate_task, gate),
				0);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 57), 0);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	expect_capacities(test, multi, 19, 19, 19);
}

static void release_times_out_and_is_repeatable(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "release");
	struct gate *gate = test_gate(test);

	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, 0), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, all_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, 2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_multi_release(multi), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), -EBUSY);
	KUNIT_EXPECT_TRUE(test, all_released(multi));
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, gate_task, gate),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_multi_submit_timeout(multi, gate_task, gate,
							1), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 2);
}

/* All shards are closed, including those after the one that is waited for. */
static void release_closes_all_before_it_waits(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "closes");
	struct gate *gate = test_gate(test);
	struct async_call *release, *waiter;

	fill_multi(test, multi, gate, 3);
	waiter = multi_submit_async(test, multi, gate_task, gate, FOREVER);
	EXPECT_SOON(test, sums_of(multi).waiting == 1);
	release = multi_async(test, do_multi_release_timeout, multi, FOREVER);
	EXPECT_SOON(test, all_released(multi));
	KUNIT_EXPECT_EQ(test, async_result(waiter), -ESHUTDOWN);
	expect_blocked(test, release);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(release), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).running, 0);
}

/*
 * The first shard takes three quarters of the time, the second never ends: a
 * quarter is left for it, not the whole time.
 */
static void release_has_one_deadline(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "deadline");
	struct gate *first = test_gate(test), *second = test_gate(test);
	struct async_call *release;
	unsigned long started, opened;

	fill_multi(test, multi, first, 1);
	fill_multi(test, multi, second, 1);
	started = jiffies;
	release = multi_async(test, do_multi_release_timeout, multi, 4 * HZ);
	EXPECT_SOON(test, all_released(multi));
	EXPECT_SOON(test, time_after(jiffies, started + 3 * HZ));
	opened = jiffies;
	gate_open(first);
	KUNIT_EXPECT_EQ(test, async_result(release), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, time_before(release->returned,
					    opened + 4 * HZ));
}

struct summand {
	atomic_t *sum;
	int value;
};

static void sum_task(void *data)
{
	struct summand *summand = data;

	atomic_add(summand->value, summand->sum);
}

static void sums_twice_over_a_reboot(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 20, .queue_depth = 20 };
	struct ants_multi *multi = test_multi(test, &attrs, 10, 0, "sum");
	static atomic_t sum;
	struct summand *summands;
	int i, round;

	summands = kunit_kcalloc(test, 1000, sizeof(*summands), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, summands);
	for (i = 0; i < 1000; i++)
		summands[i] = (struct summand){ .sum = &sum, .value = i };
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), -EBUSY);
	for (round = 1; round <= 2; round++) {
		for (i = 0; i < 1000; i++)
			KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, sum_task,
								&summands[i]),
					0);
		KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER),
				0);
		KUNIT_EXPECT_EQ(test, atomic_read(&sum), round * 499500);
		KUNIT_EXPECT_EQ(test, sums_of(multi).completed, round * 1000);
		KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	}
	KUNIT_EXPECT_FALSE(test, any_released(multi));
}

/*
 * The second shard cannot make its threads: no shard is opened, and a later
 * reboot works.
 */
static void reboot_opens_all_or_none(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 6, .flags = ANTS_PREALLOC };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "allornone");

	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER), 0);
	ants_fail_arm_after(ANTS_FAIL_THREAD, 3, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, all_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).running, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	EXPECT_SOON(test, sums_of(multi).idle == 6);
}

static void shard_is_not_its_users(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "eperm");
	struct ants_pool *shard = ants_multi_shard(multi, 1);
	static atomic_t count;

	KUNIT_EXPECT_EQ(test, ants_release(shard), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(shard, 1), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_reboot(shard), -EPERM);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(shard), -EPERM);
	KUNIT_EXPECT_FALSE(test, ants_is_released(shard));
	KUNIT_EXPECT_EQ(test, ants_submit(shard, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(shard), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(shard), -EPERM);
	KUNIT_EXPECT_TRUE(test, all_released(multi));
}

/*
 * The third of four shards cannot be made: nothing is left, not even the name.
 */
static void failed_create_leaves_nothing(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 8, .flags = ANTS_PREALLOC };
	struct ants_multi *multi;
	struct ants_pool *pool;
	int i;

	for (i = 0; i < 8; i++) {
		ants_fail_arm_after(ANTS_FAIL_THREAD, i, 1);
		multi = ants_multi_create(&attrs, 4, ANTS_LOCAL, "unwind");
		ants_fail_arm(ANTS_FAIL_THREAD, 0);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(multi), -ENOMEM);
		ants_multi_destroy(multi);
	}
	pool = ants_pool_create(NULL, "unwind");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), 0);
	ants_pool_destroy(pool);
	test_multi(test, &attrs, 4, ANTS_LOCAL, "unwind");
}

static int no_work(struct ants_work *work)
{
	return 0;
}

static void stats_sum_what_did_not_run(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 2, .queue_depth = 2, .flags = ANTS_CALLER_RUNS,
	};
	struct ants_multi *multi = test_multi(test, &attrs, 2, 0, "sums");
	struct gate *gate = test_gate(test);
	static struct ants_work work;
	static atomic_t count;

	fill_multi(test, multi, gate, 2);
	INIT_ANTS_WORK(&work, no_work);
	KUNIT_EXPECT_EQ(test, ants_queue_work(ants_multi_shard(multi, 1), &work),
			0);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
	KUNIT_EXPECT_EQ(test, sums_of(multi).caller_runs, 1);
	KUNIT_EXPECT_EQ(test, sums_of(multi).cancelled, 0);
	ants_work_cancel(&work);
	KUNIT_EXPECT_EQ(test, sums_of(multi).cancelled, 1);
}

/*
 * Nothing could tell that the caller, which has a reference to the shard of its first
 * choice, runs a task there or in another shard. So it waits.
 */
static void caller_that_cannot_run_it_waits(struct kunit *test)
{
	const struct ants_attrs attrs = {
		.capacity = 2, .flags = ANTS_CALLER_RUNS,
	};
	struct ants_multi *multi = test_multi(test, &attrs, 2,
					      ANTS_ROUND_ROBIN, "waits");
	struct gate *gate = test_gate(test);
	struct async_call *call;

	fill_multi(test, multi, gate, 2);
	ants_fail_arm(ANTS_FAIL_INLINE, 1);
	call = async_alloc(test, do_multi_submit);
	call->multi = multi;
	call->task_fn = gate_task;
	call->data = gate;
	call->arg = FOREVER;
	async_begin(test, call);
	EXPECT_SOON(test, sums_of(multi).waiting == 1);
	gate_open(gate);
	expect_result(test, call, 0);
	EXPECT_SOON(test, atomic_read(&gate->passed) == 3);
	KUNIT_EXPECT_EQ(test, sums_of(multi).caller_runs, 0ULL);
}

/* Not inlined: the numbers of two pools are much for one frame of a kernel with KASAN. */
static noinline u64 submitted_to_shards(struct ants_multi *multi)
{
	struct ants_stats one;
	u64 submitted = 0;
	unsigned int i;

	for (i = 0; i < ants_multi_nr_shards(multi); i++) {
		ants_pool_stats(ants_multi_shard(multi, i), &one);
		submitted += one.submitted;
	}
	return submitted;
}

static void expect_capacity(struct kunit *test, struct ants_multi *multi,
			    unsigned int capacity)
{
	KUNIT_EXPECT_EQ(test, sums_of(multi).capacity, capacity);
}

static void stats_are_sums(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "sums");
	struct gate *gate = test_gate(test);
	struct ants_stats sum;
	unsigned int i;

	fill_pool(test, ants_multi_shard(multi, 0), gate, 1);
	fill_pool(test, ants_multi_shard(multi, 2), gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(ants_multi_shard(multi, 2), gate_task,
					  gate), 0);
	sum = sums_of(multi);
	KUNIT_EXPECT_EQ(test, sum.capacity, 3);
	KUNIT_EXPECT_EQ(test, sum.busy, 2);
	KUNIT_EXPECT_EQ(test, sum.pending, 1);
	KUNIT_EXPECT_EQ(test, sum.running, 2);
	KUNIT_EXPECT_EQ(test, sum.free, 3);
	KUNIT_EXPECT_EQ(test, sum.peak_busy, 2);
	KUNIT_EXPECT_EQ(test, sum.submitted, submitted_to_shards(multi));
	KUNIT_EXPECT_EQ(test, sum.submitted, 3ULL);
	KUNIT_EXPECT_EQ(test, sum.completed, 0);
	KUNIT_EXPECT_EQ(test, sum.spawned, 2);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ants_tune(ants_multi_shard(multi, i),
						INT_MAX), 0);
	expect_capacity(test, multi, ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, ants_tune(ants_multi_shard(multi, 2), 1), 0);
	expect_capacity(test, multi, ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, ants_tune(ants_multi_shard(multi, 1), 1), 0);
	expect_capacity(test, multi, 2U + INT_MAX);
}

static struct kunit_case multi_config_cases[] = {
	KUNIT_CASE(tune_spreads_the_total),
	KUNIT_CASE(tune_grants_waiters),
	KUNIT_CASE(tune_refuses_for_one_shard),
	KUNIT_CASE(tune_refuses_a_share_beyond_int_max),
	KUNIT_CASE(shrink_to_too_much_is_refused),
	KUNIT_CASE(tune_rolls_back),
	KUNIT_CASE(shrink_needs_no_memory),
	KUNIT_CASE(release_times_out_and_is_repeatable),
	KUNIT_CASE(release_closes_all_before_it_waits),
	KUNIT_CASE(release_has_one_deadline),
	KUNIT_CASE(sums_twice_over_a_reboot),
	KUNIT_CASE(reboot_opens_all_or_none),
	KUNIT_CASE(shard_is_not_its_users),
	KUNIT_CASE(failed_create_leaves_nothing),
	KUNIT_CASE(stats_sum_what_did_not_run),
	KUNIT_CASE(caller_that_cannot_run_it_waits),
	KUNIT_CASE(stats_are_sums),
	{}
};

static struct kunit_suite multi_config_suite = {
	.name = "ants_multi_config",
	.test_cases = multi_config_cases,
};

kunit_test_suite(multi_config_suite);

MODULE_DESCRIPTION("ants: KUnit tests of changes of sharded pools");
MODULE_LICENSE("GPL");
