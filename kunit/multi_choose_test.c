// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharded pools: the shard that ants_multi_choose() returns, and what a caller
 * can do with a shard but not with a multi.
 */
#include <linux/irqflags.h>
#include <linux/module.h>

#include "multi.h"

/* Two shards of two threads; on this CPU they take turns. */
static struct ants_multi *two_shards(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .queue_depth = 8 };

	return test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN, "choose");
}

static unsigned int nr_of(struct ants_multi *multi, struct ants_pool *pool)
{
	unsigned int i = 0;

	while (ants_shard(multi, i) && ants_shard(multi, i) != pool)
		i++;
	return i;
}

/* Each shard was given @each tasks, which have ended. */
static void expect_spread(struct kunit *test, struct ants_multi *multi,
			  u64 each)
{
	struct ants_pool *pool;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	for (i = 0; (pool = ants_shard(multi, i)); i++) {
		KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, each);
		KUNIT_EXPECT_EQ(test, stats_of(pool).completed, each);
	}
}

/*
 * CPUs that submit at the same time neither push each other on nor keep in
 * step.
 */
static void each_cpu_takes_turns_by_itself(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 6, .queue_depth = 60 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, ANTS_ROUND_ROBIN,
					      "turns");
	static atomic_t count;
	unsigned int cpu, i;
	struct ants_pool *next;
	u64 before;

	for_each_online_cpu(cpu) {
		stay_on_cpu(cpu);
		/*
		 * After five submits a turn shared by all CPUs would not be the
		 * next CPU's.
		 */
		for (i = 0; i < 5; i++) {
			next = ants_multi_shard(multi, (cpu + i) % 3);
			before = stats_of(next).submitted;
			KUNIT_EXPECT_EQ(test, ants_multi_submit(multi,
								count_task,
								&count), 0);
			KUNIT_EXPECT_EQ(test, stats_of(next).submitted,
					before + 1);
		}
	}
}

static void round_robin_gives_the_next(struct kunit *test)
{
	struct ants_multi *multi = two_shards(test);
	static atomic_t count;
	unsigned int i;

	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, nr_of(multi, ants_multi_choose(multi)),
				i % 2);
	/* A submit takes a turn, too. */
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, nr_of(multi, ants_multi_choose(multi)), 1);
}

static void least_tasks_gives_the_emptiest(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 9 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, ANTS_LEAST_TASKS,
					      "least");
	struct gate *gate = test_gate(test);

	fill_pool(test, ants_multi_shard(multi, 0), gate, 2);
	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	KUNIT_EXPECT_EQ(test, nr_of(multi, ants_multi_choose(multi)), 2);
	fill_pool(test, ants_multi_shard(multi, 2), gate, 3);
	KUNIT_EXPECT_EQ(test, nr_of(multi, ants_multi_choose(multi)), 1);
}

static void local_gives_that_of_the_cpu(struct kunit *test)
{
	unsigned int cpu, nr = num_online_cpus();
	struct ants_attrs attrs = { .capacity = nr };
	struct ants_multi *multi = test_multi(test, &attrs, nr, ANTS_LOCAL,
					      "local");

	for_each_online_cpu(cpu) {
		stay_on_cpu(cpu);
		KUNIT_EXPECT_EQ(test, nr_of(multi, ants_multi_choose(multi)),
				shard_of(multi, cpu));
	}
}

static void any_context_will_do(struct kunit *test)
{
	static const enum ants_strategy strategies[] = {
		ANTS_ROUND_ROBIN, ANTS_LEAST_TASKS, ANTS_LOCAL,
	};
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi;
	struct ants_pool *pool;
	int i;

	for (i = 0; i < ARRAY_SIZE(strategies); i++) {
		multi = ants_multi_create(&attrs, 2, strategies[i], "any");
		KUNIT_ASSERT_FALSE(test, IS_ERR(multi));
		local_irq_disable();
		pool = ants_multi_choose(multi);
		local_irq_enable();
		KUNIT_EXPECT_LT(test, nr_of(multi, pool), 2);
		KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
	}
}

/* The caller decides whether to try another shard. */
static void full_shard_is_not_left(struct kunit *test)
{
	struct ants_multi *multi = two_shards(test);
	struct ants_pool *pool = ants_multi_choose(multi);
	struct gate *gate = test_gate(test);
	int err;

	do {
		err = ants_try_submit(pool, gate_task, gate);
	} while (!err);
	KUNIT_EXPECT_EQ(test, err, -EAGAIN);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, 6);
	KUNIT_EXPECT_PTR_NE(test, ants_multi_choose(multi), pool);
}

struct work_item {
	struct ants_delayed_work dwork;
	int result;
};

static int answer(struct ants_work *work)
{
	return container_of(work, struct work_item, dwork.work)->result;
}

static struct work_item *work_items(struct kunit *test, int nr)
{
	struct work_item *items = kunit_kcalloc(test, nr, sizeof(*items),
						GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, items);
	for (i = 0; i < nr; i++) {
		items[i].result = 100 + i;
		INIT_ANTS_DELAYED_WORK(&items[i].dwork, answer);
	}
	return items;
}

static void expect_answers(struct kunit *test, struct work_item *items, int nr)
{
	int i, result;

	for (i = 0; i < nr; i++) {
		result = 0;
		KUNIT_EXPECT_EQ(test,
				ants_work_wait_timeout(&items[i].dwork.work,
						       TEST_DEADLINE, &result),
				0);
		KUNIT_EXPECT_EQ(test, result, 100 + i);
	}
}

static void work_items_by_it(struct kunit *test)
{
	struct work_item *items = work_items(test, 4);
	struct ants_multi *multi = two_shards(test);
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, ants_queue_work(ants_multi_choose(multi),
						      &items[i].dwork.work), 0);
	expect_answers(test, items, 4);
	expect_spread(test, multi, 2);
}

static void delayed_items_by_it(struct kunit *test)
{
	struct work_item *items = work_items(test, 4);
	struct ants_multi *multi = two_shards(test);
	struct ants_pool *pool;
	int i;

	for (i = 0; i < 4; i++) {
		pool = ants_multi_choose(multi);
		KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(pool,
							      &items[i].dwork,
							      1 + i), 0);
	}
	expect_answers(test, items, 4);
	expect_spread(test, multi, 2);
}

static int count_and_answer(void *data)
{
	return atomic_inc_return(data);
}

static void calls_by_it(struct kunit *test)
{
	struct ants_multi *multi = two_shards(test);
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, ants_call(ants_multi_choose(multi),
						count_and_answer, &count,
						FOREVER), i);
	expect_spread(test, multi, 2);
}

static int note_index(unsigned long i, void *seen)
{
	atomic_inc((atomic_t *)seen + i);
	return 0;
}

static void loops_by_it(struct kunit *test)
{
	struct ants_multi *multi = two_shards(test);
	static atomic_t seen[100];
	int i, round;

	for (i = 0; i < ARRAY_SIZE(seen); i++)
		atomic_set(&seen[i], 0);
	for (round = 1; round <= 2; round++) {
		KUNIT_EXPECT_EQ(test, ants_for_each(ants_multi_choose(multi),
						    ARRAY_SIZE(seen),
						    note_index, seen), 0);
		for (i = 0; i < ARRAY_SIZE(seen); i++)
			KUNIT_EXPECT_EQ(test, atomic_read(&seen[i]), round);
	}
}

static void groups_by_it(struct kunit *test)
{
	struct work_item *items = work_items(test, 6);
	struct ants_multi *multi = two_shards(test);
	struct ants_group group[2];
	int i;

	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ants_group_init(&group[i],
						      ants_multi_choose(multi),
						      0), 0);
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, ants_group_submit(&group[i % 2],
							&items[i].dwork.work),
				0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ants_group_wait(&group[i], NULL), 0);
	expect_answers(test, items, 6);
	expect_spread(test, multi, 3);
}

static void batches_by_it(struct kunit *test)
{
	struct ants_multi *multi = two_shards(test);
	atomic_t count = ATOMIC_INIT(0);
	struct ants_task tasks[5];
	int i;

	for (i = 0; i < 5; i++)
		tasks[i] = (struct ants_task){ count_task, &count };
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test,
				ants_submit_batch(ants_multi_choose(multi),
						  tasks, 5), 5);
	expect_spread(test, multi, 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 10);
}

struct turn {
	atomic_t *starts;
	int start;
};

static void take_turn(void *data)
{
	struct turn *turn = data;

	turn->start = atomic_inc_return(turn->starts);
}

static void priorities_by_it(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 8 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN,
					      "prio");
	atomic_t starts = ATOMIC_INIT(0);
	struct turn normal = { &starts }, high = { &starts };
	struct ants_pool *pool = ants_multi_choose(multi);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, take_turn, &normal), 0);
	KUNIT_EXPECT_EQ(test, ants_submit_prio(pool, take_turn, &high,
					       ANTS_PRIO_HIGH, 0), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, high.start, 1);
	KUNIT_EXPECT_EQ(test, normal.start, 2);
}

static struct kunit_case choose_cases[] = {
	KUNIT_CASE(each_cpu_takes_turns_by_itself),
	KUNIT_CASE(round_robin_gives_the_next),
	KUNIT_CASE(least_tasks_gives_the_emptiest),
	KUNIT_CASE(local_gives_that_of_the_cpu),
	KUNIT_CASE(any_context_will_do),
	KUNIT_CASE(full_shard_is_not_left),
	KUNIT_CASE(work_items_by_it),
	KUNIT_CASE(delayed_items_by_it),
	KUNIT_CASE(calls_by_it),
	KUNIT_CASE(loops_by_it),
	KUNIT_CASE(groups_by_it),
	KUNIT_CASE(batches_by_it),
	KUNIT_CASE(priorities_by_it),
	{}
};

static struct kunit_suite choose_suite = {
	.name = "ants_multi_choose",
	.test_cases = choose_cases,
};

kunit_test_suite(choose_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the choice of a shard");
MODULE_LICENSE("GPL");
