// SPDX-License-Identifier: GPL-2.0-only
/* Sharded pools: how they are made, and which shard gets a task. */
#include <linux/module.h>

#include "multi.h"

static int create_error(const struct ants_attrs *attrs, unsigned int nr_shards,
			int strategy, const char *name)
{
	struct ants_multi *multi = ants_multi_create(attrs, nr_shards, strategy,
						     "%s", name);
	int err = PTR_ERR_OR_ZERO(multi);

	ants_multi_destroy(multi);
	return err;
}

static void bad_arguments_make_nothing(struct kunit *test)
{
	static const struct {
		struct ants_attrs attrs;
		unsigned int nr_shards;
		int strategy;
	} bad[] = {
		{ { .capacity = 10 }, 0, ANTS_ROUND_ROBIN },
		{ { .capacity = 10 }, 11, ANTS_ROUND_ROBIN },
		{ { .capacity = 10 }, 10, ANTS_LOCAL + 1 },
		{ { .capacity = 10 }, 10, -1 },
		{ { .capacity = ANTS_UNLIMITED }, ANTS_MAX_SHARDS + 1, 0 },
		{ { .capacity = ANTS_UNLIMITED }, UINT_MAX, 0 },
		{ { .capacity = 1U + INT_MAX }, 2, ANTS_LEAST_TASKS },
		{ { .capacity = 4, .min_workers = 5 }, 2, ANTS_LEAST_TASKS },
		{ { .capacity = 4, .queue_depth = 1U + INT_MAX }, 2, 0 },
		{ { .capacity = 4, .flags = 1U << 30 }, 2, ANTS_LOCAL },
		{ { .capacity = ANTS_UNLIMITED, .flags = ANTS_PREALLOC }, 2, 0 },
		{ { .capacity = 4, .nice = 20 }, 2, ANTS_LOCAL },
	};
	struct ants_attrs good = { .capacity = 10 };
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, create_error(&bad[i].attrs,
						       bad[i].nr_shards,
						       bad[i].strategy, "bad"),
				    -EINVAL, "row %d", i);
	KUNIT_EXPECT_EQ(test, create_error(&good, 10, 0, ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(&good, 10, 0, ".."), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(&good, 10, 0, "a/b"), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(&good, 10, 0, "a\nb"), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(&good, 10, 0, "bad"), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(ERR_PTR(-ENOMEM)), 0);
}

/* 54 characters, so that the names of the shards have 63 or 64. */
#define LONG	"0123456789abcdef0123456789abcdef0123456789-a-long-name"

/* The name must leave room for the shard's number. */
static void name_leaves_room_for_a_number(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 20 };

	KUNIT_EXPECT_EQ(test, create_error(&attrs, 10, 0, LONG "s-is-ok"), 0);
	KUNIT_EXPECT_EQ(test, create_error(&attrs, 11, 0, LONG "s-is-ok"),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(&attrs, 10, 0, LONG "s-is-not"),
			-EINVAL);
}

static void name_is_unique_among_pools_and_multis(struct kunit *test)
{
	struct ants_pool *pool = ants_pool_create(NULL, "taken");

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, create_error(NULL, 1, 0, "taken"), -EEXIST);
	KUNIT_EXPECT_EQ(test, create_error(NULL, 1, 0, "system"), -EEXIST);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	test_multi(test, NULL, 1, ANTS_LEAST_TASKS, "taken");
	KUNIT_EXPECT_EQ(test, create_error(NULL, 1, 0, "taken"), -EEXIST);
	pool = ants_pool_create(NULL, "taken");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EEXIST);
	ants_pool_destroy(pool);
}

static void totals_are_spread(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 11, .queue_depth = 4, .min_workers = 5,
		.max_blocking = 2, .flags = ANTS_NO_PURGE,
	};
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "totals");
	static const unsigned int expected[3][4] = {
		{ 4, 2, 2, 1 }, { 4, 1, 2, 1 }, { 3, 1, 1, 1 },
	};
	struct ants_pool *shard;
	int i;

	KUNIT_EXPECT_EQ(test, ants_multi_nr_shards(multi), 3);
	for (i = 0; i < 3; i++) {
		shard = ants_multi_shard(multi, i);
		KUNIT_EXPECT_EQ(test, ants_capacity(shard), expected[i][0]);
		KUNIT_EXPECT_EQ(test, shard->config.queue_depth, expected[i][1]);
		EXPECT_SOON(test, ants_nr_idle(shard) == expected[i][2]);
		KUNIT_EXPECT_EQ(test, shard->config.max_blocking, expected[i][3]);
	}
	KUNIT_EXPECT_EQ(test, sums_of(multi).capacity, 11);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, 15);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ants_multi_shard(multi, 3)), -ERANGE);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ants_multi_shard(multi, -1)), -ERANGE);
}

static void defaults_and_no_bound(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = ANTS_UNLIMITED };
	struct ants_multi *multi = test_multi(test, NULL, 1, 0, "defaults");

	KUNIT_EXPECT_EQ(test, sums_of(multi).capacity, num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_multi_shard(multi, 0)->config.max_blocking, 0);
	multi = test_multi(test, &attrs, 2, 0, "unbound");
	KUNIT_EXPECT_EQ(test, ants_capacity(ants_multi_shard(multi, 1)),
			ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, sums_of(multi).capacity, ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, ANTS_UNLIMITED);
}

/* B29, and test 42 of the original: even, full, closed, and all of it again. */
static void ten_by_five(struct kunit *test, enum ants_strategy strategy)
{
	struct ants_attrs attrs = { .capacity = 50 };
	struct ants_multi *multi = test_multi(test, &attrs, 10, strategy, "ten");
	atomic_t count = ATOMIC_INIT(0);
	struct ants_pool *shard;
	struct gate *gate;
	int i, round;

	for (round = 1; round <= 2; round++) {
		gate = test_gate(test);
		fill_multi(test, multi, gate, 50);
		for (i = 0; i < 10; i++) {
			shard = ants_multi_shard(multi, i);
			KUNIT_EXPECT_EQ(test, ants_nr_busy(shard), 5);
			KUNIT_EXPECT_EQ(test, ants_nr_free(shard), 0);
		}
		KUNIT_EXPECT_EQ(test, sums_of(multi).running, 50);
		KUNIT_EXPECT_EQ(test, sums_of(multi).free, 0);
		KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 2 * round - 2);
		KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, count_task,
							    &count), -EAGAIN);
		gate_open(gate);
		KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER),
				0);
		KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, 0), 0);
		KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task,
							&count), -ESHUTDOWN);
		KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 2 * round);
		KUNIT_EXPECT_EQ(test, sums_of(multi).running, 0);
		KUNIT_EXPECT_EQ(test, sums_of(multi).blocked, 0);
		KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 0);
}

static void ten_by_five_round_robin(struct kunit *test)
{
	ten_by_five(test, ANTS_ROUND_ROBIN);
}

static void ten_by_five_least_tasks(struct kunit *test)
{
	ten_by_five(test, ANTS_LEAST_TASKS);
}

static void ten_by_five_local(struct kunit *test)
{
	ten_by_five(test, ANTS_LOCAL);
}

/* On one CPU. */
static void round_robin_takes_turns(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 6, .queue_depth = 6 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, ANTS_ROUND_ROBIN,
					      "turns");
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 0; i < 9; i++) {
		KUNIT_EXPECT_EQ(test, i % 2 ?
				ants_multi_submit(multi, count_task, &count) :
				ants_multi_try_submit(multi, count_task, &count),
				0);
		KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
		KUNIT_EXPECT_EQ(test,
				stats_of(ants_multi_shard(multi, i % 3)).completed,
				i / 3 + 1);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 9);
}

/* Submit one task; returns the number of the shard that got it. */
static int goes_to(struct kunit *test, struct ants_multi *multi, int nr)
{
	static atomic_t count;
	u64 before[3];
	int i;

	for (i = 0; i < nr; i++)
		before[i] = stats_of(ants_multi_shard(multi, i)).submitted;
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task, &count), 0);
	for (i = 0; i < nr; i++)
		if (stats_of(ants_multi_shard(multi, i)).submitted > before[i])
			return i;
	return -1;
}

/* Shard 0 has idle threads, the other shards have none. */
static void idle_threads_do_not_count(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 6, .min_workers = 1, .flags = ANTS_NO_PURGE,
	};
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_LEAST_TASKS,
					      "idle");
	struct gate *gate = test_gate(test), *idle = test_gate(test);

	fill_pool(test, ants_multi_shard(multi, 0), idle, 3);
	gate_open(idle);
	EXPECT_SOON(test, ants_nr_idle(ants_multi_shard(multi, 0)) == 3);
	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	KUNIT_EXPECT_EQ(test, goes_to(test, multi, 2), 0);
}

/* Shard 0, which comes first, runs more tasks than shard 1. */
static void running_tasks_count(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 6 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_LEAST_TASKS,
					      "running");
	struct gate *gate = test_gate(test);

	fill_pool(test, ants_multi_shard(multi, 0), gate, 2);
	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	KUNIT_EXPECT_EQ(test, goes_to(test, multi, 2), 1);
}

static void pending_tasks_count(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 9, .queue_depth = 9 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, ANTS_LEAST_TASKS,
					      "pending");
	struct ants_pool *first = ants_multi_shard(multi, 0);
	struct gate *gate = test_gate(test);
	int i;

	KUNIT_ASSERT_EQ(test, ants_tune(first, 1), 0);
	fill_pool(test, first, gate, 1);
	/* Leave room for one task: a full shard would be skipped anyway. */
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(first, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(first), 1);
	fill_pool(test, ants_multi_shard(multi, 1), gate, 2);
	fill_pool(test, ants_multi_shard(multi, 2), gate, 3);
	KUNIT_EXPECT_EQ(test, goes_to(test, multi, 3), 1);
}

/*
 * The next shard in turn is full: the task goes to the other one without
 * waiting.
 */
static void full_shard_sends_on(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN,
					      "sendson");
	struct gate *gate = test_gate(test);

	fill_pool(test, ants_multi_shard(multi, 0), gate, 2);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_submit_timeout(multi, gate_task, gate,
							FOREVER), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).blocked, 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 0);
	EXPECT_SOON(test, ants_nr_busy(ants_multi_shard(multi, 1)) == 2);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, 0);
}

/* Each refusal counts once, not once for each shard. */
static void refusals_count_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .flags = ANTS_NONBLOCKING };
	struct ants_multi *multi = test_multi(test, &attrs, 3, ANTS_ROUND_ROBIN,
					      "refusals");
	struct gate *gate = test_gate(test);

	fill_multi(test, multi, gate, 3);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, NULL, gate), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, NULL, gate), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_submit_timeout(multi, NULL, gate, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, gate_task, gate),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, gate_task, gate),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 2);
	KUNIT_EXPECT_EQ(test, ants_multi_submit_timeout(multi, gate_task, gate,
							0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_multi_submit_timeout(multi, gate_task, gate,
							2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 4);
	KUNIT_EXPECT_EQ(test, sums_of(multi).blocked, 1);
	KUNIT_EXPECT_EQ(test, sums_of(multi).submitted, 3);
}

static void waits_when_all_are_full(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .max_blocking = 1 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN,
					      "waits");
	struct gate *gate[2] = { test_gate(test), test_gate(test) };
	atomic_t count = ATOMIC_INIT(0);
	struct async_call *waiter[2];
	int i;

	for (i = 0; i < 2; i++)
		fill_multi(test, multi, gate[i], 1);
	for (i = 0; i < 2; i++) {
		waiter[i] = multi_submit_async(test, multi, count_task, &count,
					       FOREVER);
		EXPECT_SOON(test, ants_nr_waiting(ants_multi_shard(multi, i)));
	}
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task, &count),
			-EBUSY);
	gate_open(gate[1]);
	KUNIT_EXPECT_EQ(test, async_result(waiter[1]), 0);
	expect_blocked(test, waiter[0]);
	gate_open(gate[0]);
	KUNIT_EXPECT_EQ(test, async_result(waiter[0]), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 2);
	KUNIT_EXPECT_EQ(test, sums_of(multi).blocked, 2);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 1);
}

struct nested {
	struct ants_multi *multi;
	struct gate gate;
	atomic_t ran;
	int result;
};

static void nested_task(void *data)
{
	struct nested *n = data;

	gate_task(&n->gate);
	stay_on_cpu(0);
	n->result = ants_multi_submit(n->multi, count_task, &n->ran);
	atomic_inc(&n->gate.passed);
}

/* The first choice is the other shard, where the task could wait for ever. */
static void task_waits_in_its_own_shard(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN,
					      "own");
	struct nested *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);
	struct gate *gate = test_gate(test);

	KUNIT_ASSERT_NOT_NULL(test, n);
	n->multi = multi;
	gate_init(&n->gate);
	fill_multi(test, multi, gate, 1);
	KUNIT_ASSERT_EQ(test, ants_multi_submit(multi, nested_task, n), 0);
	gate_open(&n->gate);
	EXPECT_SOON(test, atomic_read(&n->gate.passed) == 2);
	KUNIT_EXPECT_EQ(test, n->result, -EDEADLK);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
}

static void try_works_with_interrupts_off(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_LOCAL,
					      "irqsoff");
	struct gate *gate = test_gate(test);
	int i, err[3];

	local_irq_disable();
	for (i = 0; i < 3; i++)
		err[i] = ants_multi_try_submit(multi, gate_task, gate);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, err[0], 0);
	KUNIT_EXPECT_EQ(test, err[1], 0);
	KUNIT_EXPECT_EQ(test, err[2], -EAGAIN);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2);
}

static struct kunit_case multi_cases[] = {
	KUNIT_CASE(bad_arguments_make_nothing),
	KUNIT_CASE(name_leaves_room_for_a_number),
	KUNIT_CASE(name_is_unique_among_pools_and_multis),
	KUNIT_CASE(totals_are_spread),
	KUNIT_CASE(defaults_and_no_bound),
	KUNIT_CASE(ten_by_five_round_robin),
	KUNIT_CASE(ten_by_five_least_tasks),
	KUNIT_CASE(ten_by_five_local),
	KUNIT_CASE(round_robin_takes_turns),
	KUNIT_CASE(idle_threads_do_not_count),
	KUNIT_CASE(running_tasks_count),
	KUNIT_CASE(pending_tasks_count),
	KUNIT_CASE(full_shard_sends_on),
	KUNIT_CASE(refusals_count_once),
	KUNIT_CASE(waits_when_all_are_full),
	KUNIT_CASE(task_waits_in_its_own_shard),
	KUNIT_CASE(try_works_with_interrupts_off),
	{}
};

static struct kunit_suite multi_suite = {
	.name = "ants_multi",
	.test_cases = multi_cases,
};

kunit_test_suite(multi_suite);

MODULE_DESCRIPTION("ants: KUnit tests of sharded pools");
MODULE_LICENSE("GPL");
