// SPDX-License-Identifier: GPL-2.0-only
/* Sharded pools: shards by CPU, and callers that meet the end of a multi. */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/random.h>

#include "multi.h"

/*
 * Where a task ran, and where its thread may run; static because it is large.
 */
struct view {
	struct ants_multi *multi;
	unsigned int from;
	int cpu;
	struct cpumask cpus;
};

static struct view view;

static void view_task(void *unused)
{
	view.cpu = raw_smp_processor_id();
	cpumask_and(&view.cpus, current->cpus_ptr, cpu_online_mask);
}

static int do_submit_from(struct async_call *unused)
{
	return set_cpus_allowed_ptr(current, cpumask_of(view.from)) ?:
	       ants_multi_submit(view.multi, view_task, NULL);
}

/* Submit a task on @cpu and wait until it has run. */
static void look(struct kunit *test, struct ants_multi *multi, unsigned int cpu)
{
	view.multi = multi;
	view.from = cpu;
	view.cpu = -1;
	expect_result(test, async_start(test, do_submit_from, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
}

/* With @nr_shards shards the task stays on the caller's CPU, if @alone. */
static void expect_local(struct kunit *test, unsigned int nr_shards, bool alone)
{
	struct ants_attrs attrs = { .capacity = 2 * nr_shards };
	struct ants_multi *multi;
	unsigned int cpu;

	multi = ants_multi_create(&attrs, nr_shards, ANTS_LOCAL, "local");
	KUNIT_ASSERT_FALSE(test, IS_ERR(multi));
	for_each_online_cpu(cpu) {
		look(test, multi, cpu);
		KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(cpu, &view.cpus));
		if (alone)
			KUNIT_EXPECT_EQ(test, view.cpu, (int)cpu);
		KUNIT_EXPECT_EQ(test, cpumask_weight(&view.cpus),
				alone ? 1 : num_online_cpus());
	}
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static void task_runs_on_the_callers_cpu(struct kunit *test)
{
	expect_local(test, 1, num_online_cpus() == 1);
	expect_local(test, num_online_cpus(), true);
	expect_local(test, 2 * num_online_cpus() + 1, true);
}

/*
 * Each shard has a contiguous range of CPUs, and each possible CPU has a shard.
 */
static void cpus_are_spread_in_ranges(struct kunit *test)
{
	unsigned int cpu, last = 0, nr = num_online_cpus();
	struct ants_attrs attrs = { .capacity = nr };
	struct ants_multi *multi = test_multi(test, &attrs, nr, ANTS_LOCAL,
					      "ranges");

	for_each_online_cpu(cpu) {
		KUNIT_EXPECT_EQ(test, shard_of(multi, cpu), last);
		last++;
	}
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_LT(test, shard_of(multi, cpu), nr);
}

/* All shards share the only CPU that is allowed. */
static void shards_keep_to_the_cpumask(struct kunit *test)
{
	unsigned int cpu, i, only = cpumask_last(cpu_online_mask);
	struct ants_attrs attrs = {
		.capacity = 6, .cpumask = cpumask_of(only),
	};
	struct ants_multi *multi = test_multi(test, &attrs, 3, ANTS_LOCAL,
					      "keep");

	for_each_online_cpu(cpu) {
		look(test, multi, cpu);
		KUNIT_EXPECT_EQ(test, view.cpu, (int)only);
	}
	for (i = 0; i < 3; i++) {
		view.cpu = -1;
		KUNIT_EXPECT_EQ(test, ants_submit(ants_multi_shard(multi, i),
						  view_task, NULL), 0);
		KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
		KUNIT_EXPECT_EQ(test, view.cpu, (int)only);
		KUNIT_EXPECT_EQ(test, cpumask_weight(&view.cpus), 1);
	}
}

/* The CPUs are spread as if they were online, and tasks run where they can. */
static void cpus_asked_for_may_be_offline(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .cpumask = cpumask_of(1) };
	struct ants_multi *multi;

	if (num_online_cpus() != 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_EQ(test, remove_cpu(1), 0);
	multi = ants_multi_create(&attrs, 2, ANTS_LOCAL, "offline");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(multi), 0);
	if (!IS_ERR(multi)) {
		look(test, multi, 0);
		KUNIT_EXPECT_EQ(test, view.cpu, 0);
	}
	KUNIT_EXPECT_EQ(test, add_cpu(1), 0);
	if (IS_ERR(multi))
		return;
	look(test, multi, 0);
	KUNIT_EXPECT_EQ(test, view.cpu, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static bool is_empty(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = ants_is_drained(pool);
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/*
 * A caller has found the first shard full and is about to enter the second one,
 * which is empty by then: neither may be freed before the caller has left. It
 * counts as a caller of the first shard.
 */
static void destroy_waits_for_a_caller_between_shards(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct multi_res *r = test_multi_res(test, &attrs, 2, ANTS_ROUND_ROBIN,
					     "between");
	struct ants_pool *first = ants_multi_shard(r->multi, 0);
	struct ants_pool *second = ants_multi_shard(r->multi, 1);
	struct ants_multi *multi = r->multi;
	struct gate *gate = test_gate(test);
	struct async_call *submit, *destroy;

	fill_multi(test, multi, gate, 2);
	ants_pause_arm(ANTS_PAUSE_SUBMIT, second);
	submit = multi_submit_async(test, multi, gate_task, gate, FOREVER);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_SUBMIT,
						   TEST_DEADLINE));
	r->multi = NULL;
	destroy = multi_async(test, do_multi_destroy, multi, 0);
	gate_open(gate);
	EXPECT_SOON(test, is_empty(first) && is_empty(second));
	EXPECT_SOON(test, wq_has_sleeper(&first->waitq));
	expect_blocked(test, destroy);
	KUNIT_EXPECT_TRUE(test, wq_has_sleeper(&first->waitq));
	ants_pause_resume(ANTS_PAUSE_SUBMIT);
	KUNIT_EXPECT_EQ(test, async_result(submit), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
}

static void destroy_ends_waiters(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct multi_res *r = test_multi_res(test, &attrs, 2, ANTS_LEAST_TASKS,
					     "ends");
	struct ants_multi *multi = r->multi;
	struct gate *gate = test_gate(test);
	struct async_call *waiter[4], *destroy;
	int i;

	fill_multi(test, multi, gate, 2);
	for (i = 0; i < 4; i++)
		waiter[i] = multi_submit_async(test, multi, gate_task, gate,
					       FOREVER);
	EXPECT_SOON(test, sums_of(multi).waiting == 4);
	r->multi = NULL;
	destroy = multi_async(test, do_multi_destroy, multi, 0);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, async_result(waiter[i]),
				-ESHUTDOWN);
	expect_blocked(test, destroy);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
}

struct self {
	struct ants_multi *multi;
	struct completion done;
	int result[3];
};

static void self_task(void *data)
{
	struct self *s = data;

	s->result[0] = ants_multi_flush(s->multi);
	s->result[1] = ants_multi_flush_timeout(s->multi, 1);
	s->result[2] = ants_multi_release_timeout(s->multi, FOREVER);
	complete(&s->done);
}

static void task_cannot_wait_for_itself(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN,
					      "self");
	static struct self self;
	int i;

	self.multi = multi;
	init_completion(&self.done);
	KUNIT_ASSERT_EQ(test, ants_submit(ants_multi_shard(multi, 1), self_task,
					  &self), 0);
	wait_for_completion(&self.done);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, self.result[i], -EDEADLK);
	KUNIT_EXPECT_FALSE(test, ants_is_released(ants_multi_shard(multi, 0)));
}

static void flush_waits_for_all_shards(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN,
					      "flush");
	struct gate *gate = test_gate(test);

	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	fill_pool(test, ants_multi_shard(multi, 1), gate, 1);
	KUNIT_EXPECT_EQ(test, ants_multi_flush_timeout(multi, 2), -ETIMEDOUT);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 1);
}

struct flood {
	struct ants_multi *multi;
	atomic_t stop;
	atomic_t ran;
	atomic_t accepted;
};

/* Continues across releases. */
static int do_flood(struct async_call *call)
{
	struct flood *f = call->data;
	int err;

	do {
		err = ants_multi_submit(f->multi, count_task, &f->ran);
		if (!err)
			atomic_inc(&f->accepted);
		else
			usleep_range(100, 200);
	} while ((!err || err == -ESHUTDOWN) && !atomic_read(&f->stop));
	return err == -ESHUTDOWN ? 0 : err;
}

static void flood_over_tunes_and_reboots(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .queue_depth = 2 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, ANTS_ROUND_ROBIN,
					      "flood");
	static struct flood f;
	struct async_call *caller[3];
	int i;

	f.multi = multi;
	atomic_set(&f.stop, 0);
	for (i = 0; i < 3; i++)
		caller[i] = async_start(test, do_flood, &f);
	for (i = 0; i < 60; i++) {
		KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 3 +
						      get_random_u32() % 6), 0);
		if (i % 4)
			continue;
		KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, FOREVER),
				0);
		KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	}
	EXPECT_SOON(test, atomic_read(&f.accepted) > 300);
	atomic_set(&f.stop, 1);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, async_result(caller[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f.ran), atomic_read(&f.accepted));
	KUNIT_EXPECT_EQ(test, sums_of(multi).completed,
			atomic_read(&f.accepted));
}

static struct kunit_case multi_local_cases[] = {
	KUNIT_CASE(task_runs_on_the_callers_cpu),
	KUNIT_CASE(cpus_are_spread_in_ranges),
	KUNIT_CASE(shards_keep_to_the_cpumask),
	KUNIT_CASE(cpus_asked_for_may_be_offline),
	KUNIT_CASE(destroy_waits_for_a_caller_between_shards),
	KUNIT_CASE(destroy_ends_waiters),
	KUNIT_CASE(task_cannot_wait_for_itself),
	KUNIT_CASE(flush_waits_for_all_shards),
	KUNIT_CASE(flood_over_tunes_and_reboots),
	{}
};

static struct kunit_suite multi_local_suite = {
	.name = "ants_multi_local",
	.test_cases = multi_local_cases,
};

kunit_test_suite(multi_local_suite);

MODULE_DESCRIPTION("ants: KUnit tests of local shards and the end of a multi");
MODULE_LICENSE("GPL");
