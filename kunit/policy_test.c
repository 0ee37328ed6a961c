// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduling policy of the workers: SCHED_BATCH is tried when wake-ups keep
 * preempting other threads, and kept only if it helps.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <uapi/linux/sched/types.h>

#include "multi.h"
#include "rig.h"

#define NAME	"policy"

static struct rig *rig_make_one(struct kunit *test, struct ants_attrs attrs)
{
	struct rig *rig;

	attrs.capacity = 1;
	rig = rig_make(test, NAME, attrs);
	park(rig, 0, 1);
	return rig;
}

struct look {
	unsigned int policy;
	int nice;
};

static void look_task(void *data)
{
	struct look *look = data;

	look->policy = current->policy;
	look->nice = task_nice(current);
}

/* Policy and nice value of one task, after which the worker parks again. */
static struct look look_at_worker(struct rig *rig)
{
	struct look look = { .policy = UINT_MAX };

	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, look_task, &look), 0);
	ASSERT_SOON(rig->test, settled(rig->pool));
	return look;
}

/* As if threads had been preempted @nr times since @tick, in @tasks tasks. */
static void preempt_in(struct rig *rig, unsigned int nr, unsigned int tasks, long tick)
{
	struct ants_policy *p = &rig->pool->policy;

	raw_spin_lock_irq(&rig->pool->lock);
	p->preempted = nr;
	p->parks = 0;
	p->submitted = rig->pool->submitted - tasks;
	p->tick = tick;
	raw_spin_unlock_irq(&rig->pool->lock);
}

/* The window does not end before the worker parks, whatever ticks come in between. */
static void preempt(struct rig *rig, unsigned int nr)
{
	preempt_in(rig, nr, nr, jiffies + TEST_DEADLINE);
}

static void set_parks(struct rig *rig, unsigned int parks, unsigned int tasks)
{
	struct ants_policy *p = &rig->pool->policy;

	raw_spin_lock_irq(&rig->pool->lock);
	p->parks = parks;
	p->submitted = rig->pool->submitted - tasks;
	p->tick = jiffies - 2;
	raw_spin_unlock_irq(&rig->pool->lock);
}

static unsigned int limit_of(struct rig *rig)
{
	return ants_peek(rig->pool->policy.limit);
}

/* The worker turns to SCHED_BATCH before its next task. */
static struct rig *rig_make_batch(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){});

	preempt(rig, limit_of(rig));
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_NORMAL);
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->policy.batch));
	return rig;
}

static void few_preemptions_change_nothing(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){});

	/* The worker itself may be preempted now and then. */
	preempt_in(rig, limit_of(rig) / 2, limit_of(rig), jiffies + TEST_DEADLINE);
	look_at_worker(rig);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->policy.batch));
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_NORMAL);
}

static bool is_tried(struct rig *rig)
{
	look_at_worker(rig);
	return ants_peek(rig->pool->policy.batch);
}

/* Other threads may want the CPU of a task that runs for long. */
static void preemptions_of_few_tasks_are_no_stream(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){});
	unsigned int nr = limit_of(rig);

	preempt_in(rig, 10 * nr, nr - 2, jiffies + TEST_DEADLINE);
	KUNIT_EXPECT_FALSE(test, is_tried(rig));
	preempt_in(rig, nr, nr - 1, jiffies + TEST_DEADLINE);
	KUNIT_EXPECT_TRUE(test, is_tried(rig));
}

static void preemptions_long_ago_do_not_count(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){});
	unsigned int nr = limit_of(rig);

	preempt_in(rig, nr, nr, jiffies - 1);
	KUNIT_EXPECT_FALSE(test, is_tried(rig));
	KUNIT_EXPECT_LT(test, ants_peek(rig->pool->policy.preempted), nr);
}

static void many_preemptions_lead_to_a_trial(struct kunit *test)
{
	struct rig *rig = rig_make_batch(test);

	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_BATCH);
}

static void trial_that_helps_is_kept(struct kunit *test)
{
	struct rig *rig = rig_make_batch(test);
	unsigned int limit = limit_of(rig), i;

	for (i = 0; i < 5; i++) {
		set_parks(rig, 3, 1000);
		KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_BATCH);
	}
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->policy.batch));
	KUNIT_EXPECT_EQ(test, limit_of(rig), limit);
}

static void trial_in_vain_ends_and_comes_later_next_time(struct kunit *test)
{
	struct rig *rig = rig_make_batch(test);
	unsigned int limit = limit_of(rig);

	set_parks(rig, 100, 100);
	look_at_worker(rig);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->policy.batch));
	KUNIT_EXPECT_EQ(test, limit_of(rig), 2 * limit);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_NORMAL);
}

/*
 * With a task now and then, at least the second one runs as SCHED_NORMAL again.
 */
static void stream_that_ends_ends_it(struct kunit *test)
{
	struct rig *rig = rig_make_batch(test);
	unsigned int limit = limit_of(rig);

	look_at_worker(rig);
	EXPECT_SOON(test, time_after(jiffies, ants_peek(rig->pool->policy.tick) + 1));
	look_at_worker(rig);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->policy.batch));
	KUNIT_EXPECT_EQ(test, limit_of(rig), limit);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_NORMAL);
}

/* Nor does SCHED_BATCH help where no tasks are submitted. */
static void items_that_run_again_are_no_stream(struct kunit *test)
{
	struct rig *rig = rig_make_batch(test);

	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->policy.normal = 0;
	raw_spin_unlock_irq(&rig->pool->lock);
	set_parks(rig, 100, 0);
	look_at_worker(rig);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->policy.batch));
}

static void nice_value_is_kept(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){ .nice = 7 });
	struct look look;

	preempt(rig, limit_of(rig));
	look_at_worker(rig);
	look = look_at_worker(rig);
	KUNIT_EXPECT_EQ(test, look.policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, look.nice, 7);
	set_parks(rig, 100, 100);
	look_at_worker(rig);
	look = look_at_worker(rig);
	KUNIT_EXPECT_EQ(test, look.policy, SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, look.nice, 7);
}

static void fifo_task(void *data)
{
	sched_set_fifo_low(current);
}

/* A policy that a task has given to its thread is left alone. */
static void real_time_thread_stays_one(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){});

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, fifo_task, NULL), 0);
	EXPECT_SOON(test, settled(rig->pool));
	preempt(rig, limit_of(rig));
	look_at_worker(rig);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_FIFO);
	set_parks(rig, 100, 100);
	look_at_worker(rig);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_FIFO);
}

static void throughput_pool_is_not_judged(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){
					.flags = ANTS_THROUGHPUT });

	set_parks(rig, 100, 100);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_BATCH);
}

/* The number of preemptions that has a shard of @nr try SCHED_BATCH. */
static unsigned int shard_limit(struct kunit *test, unsigned int nr,
				enum ants_strategy strategy, const char *name)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi = test_multi(test, &attrs, nr, strategy, name);

	return ants_peek(ants_multi_shard(multi, 0)->policy.limit);
}

/* A stream goes to all shards, or to those of the CPUs of its submitters. */
static void shards_share_a_stream(struct kunit *test)
{
	struct rig *rig = rig_make_one(test, (struct ants_attrs){});
	unsigned int limit = limit_of(rig);

	KUNIT_EXPECT_EQ(test, shard_limit(test, 4, ANTS_ROUND_ROBIN, "turns"),
			limit / 4);
	KUNIT_EXPECT_EQ(test, shard_limit(test, 4, ANTS_LEAST_TASKS, "least"),
			limit / 4);
	KUNIT_EXPECT_EQ(test, shard_limit(test, 0, ANTS_LOCAL, "local"), limit);
}

/* After a trial that has helped the next one begins with a part of a stream, too. */
static void shard_keeps_its_share(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi = test_multi(test, &attrs, 4, ANTS_ROUND_ROBIN, NAME);
	struct rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);
	unsigned int limit;

	KUNIT_ASSERT_NOT_NULL(test, rig);
	rig->test = test;
	rig->pool = ants_multi_shard(multi, 0);
	limit = limit_of(rig);
	look_at_worker(rig);
	preempt(rig, limit);
	look_at_worker(rig);
	set_parks(rig, 3, 1000);
	KUNIT_EXPECT_EQ(test, look_at_worker(rig).policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, limit_of(rig), limit);
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE(few_preemptions_change_nothing),
	KUNIT_CASE(many_preemptions_lead_to_a_trial),
	KUNIT_CASE(preemptions_of_few_tasks_are_no_stream),
	KUNIT_CASE(preemptions_long_ago_do_not_count),
	KUNIT_CASE(trial_that_helps_is_kept),
	KUNIT_CASE(trial_in_vain_ends_and_comes_later_next_time),
	KUNIT_CASE(stream_that_ends_ends_it),
	KUNIT_CASE(items_that_run_again_are_no_stream),
	KUNIT_CASE(nice_value_is_kept),
	KUNIT_CASE(real_time_thread_stays_one),
	KUNIT_CASE(throughput_pool_is_not_judged),
	KUNIT_CASE(shards_share_a_stream),
	KUNIT_CASE(shard_keeps_its_share),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "ants_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the workers' scheduling policy");
MODULE_LICENSE("GPL");
