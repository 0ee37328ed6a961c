// SPDX-License-Identifier: GPL-2.0-only
/* Sharded pools: nice value, CPUs and queue depth of all shards, or of none. */
#include <linux/cpumask.h>
#include <linux/module.h>

#include "multi.h"

/* What a thread of a shard found out; static because it is large. */
struct view {
	int nice;
	struct cpumask cpus;
};

static struct view view;

static void view_task(void *unused)
{
	view.nice = task_nice(current);
	cpumask_and(&view.cpus, current->cpus_ptr, cpu_online_mask);
}

static struct view *look(struct kunit *test, struct ants_multi *multi,
			 unsigned int nr)
{
	struct ants_pool *pool = ants_multi_shard(multi, nr);

	memset(&view, 0xff, sizeof(view));
	KUNIT_EXPECT_EQ(test, ants_submit(pool, view_task, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	return &view;
}

static void expect_nice(struct kunit *test, struct ants_multi *multi, int nice)
{
	unsigned int i;

	for (i = 0; i < ants_multi_nr_shards(multi); i++)
		KUNIT_EXPECT_EQ(test, look(test, multi, i)->nice, nice);
}

static void expect_cpus(struct kunit *test, struct ants_multi *multi,
			const struct cpumask *cpus)
{
	unsigned int i;

	for (i = 0; i < ants_multi_nr_shards(multi); i++)
		KUNIT_EXPECT_TRUE(test, cpumask_equal(&look(test, multi, i)->cpus,
						      cpus));
}

static void expect_depths(struct kunit *test, struct ants_multi *multi,
			  unsigned int a, unsigned int b, unsigned int c)
{
	KUNIT_EXPECT_EQ(test, ants_multi_shard(multi, 0)->config.queue_depth, a);
	KUNIT_EXPECT_EQ(test, ants_multi_shard(multi, 1)->config.queue_depth, b);
	KUNIT_EXPECT_EQ(test, ants_multi_shard(multi, 2)->config.queue_depth, c);
}

static void nice_is_that_of_all_shards(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 6, .flags = ANTS_NO_PURGE };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "nice");

	expect_nice(test, multi, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 5), 0);
	expect_nice(test, multi, 5);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, MAX_NICE + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, MIN_NICE - 1), -EINVAL);
	expect_nice(test, multi, 5);
	/* Shards that were changed by themselves change, too. */
	KUNIT_EXPECT_EQ(test, ants_set_nice(ants_multi_shard(multi, 1), 7), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, -5), 0);
	expect_nice(test, multi, -5);
}

static void cpus_are_those_of_all_shards(struct kunit *test)
{
	unsigned int last = cpumask_last(cpu_online_mask);
	struct ants_attrs attrs = { .capacity = 6, .nice = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "cpus");

	KUNIT_EXPECT_EQ(test, ants_multi_set_cpumask(multi, cpumask_of(last)),
			0);
	expect_cpus(test, multi, cpumask_of(last));
	KUNIT_EXPECT_EQ(test, ants_multi_set_cpumask(multi, cpu_none_mask),
			-EINVAL);
	expect_cpus(test, multi, cpumask_of(last));
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 4), 0);
	expect_cpus(test, multi, cpumask_of(last));
	KUNIT_EXPECT_EQ(test, ants_multi_set_cpumask(multi, NULL), 0);
	expect_cpus(test, multi, cpu_online_mask);
	expect_nice(test, multi, 4);
}

static void local_shards_keep_their_cpus(struct kunit *test)
{
	unsigned int cpu, nr = num_online_cpus();
	struct ants_attrs attrs = { .capacity = 2 * nr };
	struct ants_multi *multi = test_multi(test, &attrs, nr, ANTS_LOCAL,
					      "keep");

	need_module(test);
	KUNIT_EXPECT_EQ(test, ants_multi_set_cpumask(multi, cpumask_of(0)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_multi_set_cpumask(multi, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_file("keep/cpulist", "0\n"), -EACCES);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 2), 0);
	for_each_online_cpu(cpu) {
		look(test, multi, shard_of(multi, cpu));
		KUNIT_EXPECT_TRUE(test, cpumask_equal(&view.cpus,
						      cpumask_of(cpu)));
		KUNIT_EXPECT_EQ(test, view.nice, 2);
	}
}

/* No shard has changed, whichever shard got no memory. */
static void no_memory_changes_no_shard(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 6 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "noplace");
	int i;

	for (i = 0; i < 3; i++) {
		ants_fail_arm_after(ANTS_FAIL_AFFINITY, i, 1);
		KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 5), -ENOMEM);
		ants_fail_arm_after(ANTS_FAIL_AFFINITY, i, 1);
		KUNIT_EXPECT_EQ(test,
				ants_multi_set_cpumask(multi, cpumask_of(0)),
				-ENOMEM);
		expect_nice(test, multi, 0);
		expect_cpus(test, multi, cpu_online_mask);
	}
	ants_fail_arm(ANTS_FAIL_AFFINITY, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 5), 0);
	expect_nice(test, multi, 5);
}

static void depth_is_spread(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "depth");

	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 11), 0);
	expect_depths(test, multi, 4, 4, 3);
	KUNIT_EXPECT_EQ(test, sums_of(multi).free, 14);
	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 1), 0);
	expect_depths(test, multi, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 1U + INT_MAX),
			-EINVAL);
	expect_depths(test, multi, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 0), 0);
	expect_depths(test, multi, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).capacity, 3);
}

static void depth_grants_waiters(struct kunit *test)
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
	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 2), 0);
	KUNIT_EXPECT_EQ(test, sums_of(multi).waiting, 0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, async_result(waiter[i]), 0);
}

/* One shard cannot have its share: no shard changes. */
static void depth_is_refused_for_one_shard(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 6, .queue_depth = 6,
				    .flags = ANTS_PREALLOC };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "refused");
	struct ants_pool *last = ants_multi_shard(multi, 2);
	unsigned int flags = last->flags;
	int i;

	/*
	 * Only the last shard counts all of its slots, and has too many
	 * threads.
	 */
	for (i = 0; i < 3; i++)
		ants_multi_shard(multi, i)->flags &= ~ANTS_PREALLOC;
	KUNIT_EXPECT_EQ(test, ants_tune(last, INT_MAX - 1), 0);
	last->flags = flags;
	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 12), -EINVAL);
	expect_depths(test, multi, 2, 2, 2);
	last->flags &= ~ANTS_PREALLOC;
	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 12), 0);
	expect_depths(test, multi, 4, 4, 4);
}

/*
 * However far the call gets, a shard that grew before the failure shrinks
 * again.
 */
static void depth_is_rolled_back(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 3,
				    .flags = ANTS_PREALLOC };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "rollback");
	int skip, err = -ENOMEM;

	for (skip = 0; skip < 40 && err; skip++) {
		ants_fail_arm_after(ANTS_FAIL_SLOT, skip, -1);
		err = ants_multi_set_queue_depth(multi, 600);
		ants_fail_arm(ANTS_FAIL_SLOT, 0);
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		expect_depths(test, multi, 1, 1, 1);
		KUNIT_EXPECT_EQ(test, sums_of(multi).free, 6);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, skip, 3);
	expect_depths(test, multi, 200, 200, 200);
}

static int do_set_nice(struct async_call *call)
{
	return ants_multi_set_nice(call->multi, 5);
}

static int do_set_cpumask(struct async_call *call)
{
	return ants_multi_set_cpumask(call->multi, cpumask_of(0));
}

static int do_set_queue_depth(struct async_call *call)
{
	return ants_multi_set_queue_depth(call->multi, 9);
}

/* The caller waits behind another change that takes long. */
static void caller_can_be_killed(struct kunit *test)
{
	static int (* const calls[])(struct async_call *call) = {
		do_set_nice, do_set_cpumask, do_set_queue_depth,
	};
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "killed");
	struct async_call *caller[ARRAY_SIZE(calls)];
	int i;

	mutex_lock(&multi->config);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		caller[i] = multi_async(test, calls[i], multi, 0);
		EXPECT_SOON(test, READ_ONCE(caller[i]->task->__state) ==
				  TASK_KILLABLE);
		send_sig(SIGKILL, caller[i]->task, 1);
		EXPECT_SOON(test, async_returned(caller[i]));
		KUNIT_EXPECT_EQ(test, caller[i]->result, -EINTR);
	}
	mutex_unlock(&multi->config);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		async_stop(caller[i]);
	expect_nice(test, multi, 0);
	expect_cpus(test, multi, cpu_online_mask);
	expect_depths(test, multi, 1, 1, 1);
}

/* A setting made while the multi is released holds after the reboot. */
static void released_multi_can_be_changed(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 3 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "released");

	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, TEST_DEADLINE),
			0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_nice(multi, 5), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_cpumask(multi, cpumask_of(0)), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_set_queue_depth(multi, 6), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	expect_nice(test, multi, 5);
	expect_cpus(test, multi, cpumask_of(0));
	expect_depths(test, multi, 2, 2, 2);
}

static void files_say_it_and_change_it(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = 4 };
	struct ants_multi *multi = test_multi(test, &attrs, 3, 0, "files");

	need_module(test);
	KUNIT_EXPECT_STREQ(test, read_file("files/queue_depth"), "4");
	KUNIT_EXPECT_EQ(test, write_file("files/queue_depth", "7\n"), 0);
	KUNIT_EXPECT_STREQ(test, read_file("files/queue_depth"), "7");
	expect_depths(test, multi, 3, 2, 2);
	KUNIT_EXPECT_STREQ(test, read_file("files/nice"), "0");
	KUNIT_EXPECT_EQ(test, write_file("files/nice", "-3\n"), 0);
	KUNIT_EXPECT_STREQ(test, read_file("files/nice"), "-3");
	expect_nice(test, multi, -3);
	KUNIT_EXPECT_EQ(test, write_file("files/cpulist", "0\n"), 0);
	KUNIT_EXPECT_STREQ(test, read_file("files/cpulist"), "0");
	expect_cpus(test, multi, cpumask_of(0));
}

static void files_refuse_what_does_not_fit(struct kunit *test)
{
	static const struct {
		const char *file;
		const char *text;
		int err;
	} bad[] = {
		{ "files/capacity", "2\n", -EINVAL },
		{ "files/capacity", "2147483648\n", -ERANGE },
		{ "files/queue_depth", "max\n", -EINVAL },
		{ "files/queue_depth", "2147483648\n", -EINVAL },
		{ "files/queue_depth", "4294967296\n", -ERANGE },
		{ "files/nice", "20\n", -EINVAL },
		{ "files/sched", "fifo\n", -EINVAL },
		{ "files/sched", "batch\n", -EINVAL },
		{ "files/nice", "2147483648\n", -ERANGE },
		{ "files/cpulist", "\n", -EINVAL },
		{ "files/cpulist", "4096\n", -ERANGE },
	};
	struct ants_attrs attrs = {
		.capacity = 3, .queue_depth = 4, .nice = -3,
		.cpumask = cpumask_of(0),
	};
	int i;

	need_module(test);
	test_multi(test, &attrs, 3, 0, "files");
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, write_file(bad[i].file, bad[i].text),
				    bad[i].err, "row %d", i);
	KUNIT_EXPECT_STREQ(test, read_file("files/capacity"), "3");
	KUNIT_EXPECT_STREQ(test, read_file("files/queue_depth"), "4");
	KUNIT_EXPECT_STREQ(test, read_file("files/nice"), "-3");
	KUNIT_EXPECT_STREQ(test, read_file("files/sched"), "normal");
	KUNIT_EXPECT_STREQ(test, read_file("files/cpulist"), "0");
}

static void files_say_what_cannot_be_made(struct kunit *test)
{
	static const struct {
		const char *file;
		const char *text;
		enum ants_fail_point point;
	} rows[] = {
		{ "files/capacity", "6\n", ANTS_FAIL_THREAD },
		{ "files/queue_depth", "600\n", ANTS_FAIL_SLOT },
		{ "files/sched", "fifo\n", ANTS_FAIL_AFFINITY },
		{ "files/sched", "normal\n", ANTS_FAIL_AFFINITY },
		{ "files/nice", "5\n", ANTS_FAIL_AFFINITY },
		{ "files/cpulist", "0\n", ANTS_FAIL_AFFINITY },
	};
	struct ants_attrs attrs = { .capacity = 3, .flags = ANTS_PREALLOC };
	int i;

	need_module(test);
	test_multi(test, &attrs, 3, 0, "files");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ants_fail_arm(rows[i].point, -1);
		KUNIT_EXPECT_EQ_MSG(test,
				    write_file(rows[i].file, rows[i].text),
				    -ENOMEM, "row %d", i);
		ants_fail_arm(rows[i].point, 0);
		KUNIT_EXPECT_EQ(test, write_file(rows[i].file, rows[i].text), 0);
	}
}

static struct kunit_case set_cases[] = {
	KUNIT_CASE(nice_is_that_of_all_shards),
	KUNIT_CASE(cpus_are_those_of_all_shards),
	KUNIT_CASE(local_shards_keep_their_cpus),
	KUNIT_CASE(no_memory_changes_no_shard),
	KUNIT_CASE(depth_is_spread),
	KUNIT_CASE(depth_grants_waiters),
	KUNIT_CASE(depth_is_refused_for_one_shard),
	KUNIT_CASE(depth_is_rolled_back),
	KUNIT_CASE(caller_can_be_killed),
	KUNIT_CASE(released_multi_can_be_changed),
	KUNIT_CASE(files_say_it_and_change_it),
	KUNIT_CASE(files_refuse_what_does_not_fit),
	KUNIT_CASE(files_say_what_cannot_be_made),
	{}
};

static struct kunit_suite set_suite = {
	.name = "ants_multi_set",
	.test_cases = set_cases,
};

kunit_test_suite(set_suite);

MODULE_DESCRIPTION("ants: KUnit tests of changes of all shards");
MODULE_LICENSE("GPL");
