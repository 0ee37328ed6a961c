// SPDX-License-Identifier: GPL-2.0-only
/* The numbers of a pool: what they count, and that they are consistent. */
#include <linux/module.h>

#include "async.h"

/* The getters and the snapshot of an idle pool agree. */
static void expect_agreement(struct kunit *test, const struct ants_pool *pool)
{
	struct ants_stats s;

	ants_pool_stats(pool, &s);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), s.capacity);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), s.running);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(pool), s.idle);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), s.busy);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), s.pending);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(pool), s.waiting);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), s.free);
	KUNIT_EXPECT_EQ(test, ants_congested(pool), !s.free);
	KUNIT_EXPECT_FALSE(test, s.free && ants_is_released(pool));
	KUNIT_EXPECT_PTR_EQ(test, ants_pool_private(pool), NULL);
}

static void expect_gauges(struct kunit *test, struct ants_pool *pool,
			  unsigned int busy, unsigned int pending,
			  unsigned int waiting, unsigned int free)
{
	struct ants_stats s;

	ants_pool_stats(pool, &s);
	KUNIT_EXPECT_EQ(test, s.busy, busy);
	KUNIT_EXPECT_EQ(test, s.pending, pending);
	KUNIT_EXPECT_EQ(test, s.waiting, waiting);
	KUNIT_EXPECT_EQ(test, s.free, free);
	expect_agreement(test, pool);
}

static void expect_final_counters(struct kunit *test, struct ants_pool *pool)
{
	struct ants_stats s;

	ants_pool_stats(pool, &s);
	KUNIT_EXPECT_EQ(test, s.submitted, 8);
	KUNIT_EXPECT_EQ(test, s.completed, 8);
	KUNIT_EXPECT_EQ(test, s.blocked, 1);
	KUNIT_EXPECT_EQ(test, s.rejected, 0);
	KUNIT_EXPECT_EQ(test, s.spawned, 3);
	KUNIT_EXPECT_EQ(test, s.reaped, 0);
	KUNIT_EXPECT_EQ(test, s.peak_running, 3);
	KUNIT_EXPECT_EQ(test, s.peak_busy, 3);
	KUNIT_EXPECT_EQ(test, s.peak_pending, 4);
	KUNIT_EXPECT_EQ(test, s.peak_waiting, 1);
}

static void numbers_follow_the_tasks(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 3, .queue_depth = 4, .flags = ANTS_NO_PURGE,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "numbers");
	struct gate *gate = test_gate(test);
	struct async_call *waiter;

	expect_gauges(test, pool, 0, 0, 0, 7);
	/* One at a time, so that no more than one is pending. */
	fill_pool(test, pool, gate, 1);
	fill_pool(test, pool, gate, 1);
	fill_pool(test, pool, gate, 1);
	expect_gauges(test, pool, 3, 0, 0, 4);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	expect_gauges(test, pool, 3, 2, 0, 2);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	expect_gauges(test, pool, 3, 4, 0, 0);
	waiter = submit_async(test, pool, gate_task, gate, MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	expect_gauges(test, pool, 3, 4, 1, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	EXPECT_SOON(test, ants_nr_idle(pool) == 3);
	expect_gauges(test, pool, 0, 0, 0, 7);
	expect_final_counters(test, pool);
}

/* B9, B19: more threads than the capacity, after a shrink, are not a debt. */
static void free_is_never_negative(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4, .queue_depth = 2, .flags = ANTS_NO_PURGE,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "shrunk");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 4);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 2);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	expect_gauges(test, pool, 4, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 4);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	expect_gauges(test, pool, 0, 0, 0, 3);
}

static void free_of_an_unlimited_pool_has_no_bound(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = ANTS_UNLIMITED };
	struct ants_pool *pool = test_pool(test, &attrs, "boundless");
	struct gate *gate = test_gate(test);

	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), ANTS_UNLIMITED);
	fill_pool(test, pool, gate, 5);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
}

static void released_pool_has_nothing_free(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "closed");

	KUNIT_ASSERT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	expect_gauges(test, pool, 0, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_ASSERT_EQ(test, ants_reboot(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), num_online_cpus());
}

/* A refusal is counted once, and is neither submitted nor pending. */
static void each_refusal_is_counted(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_NONBLOCKING };
	struct ants_pool *pool = test_pool(test, &attrs, "refusals");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), -EAGAIN);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &count), -EAGAIN);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, 2);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, &count, 0),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, 3);
	KUNIT_EXPECT_EQ(test, stats_of(pool).blocked, 0);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, &count, 1),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, 4);
	KUNIT_EXPECT_EQ(test, stats_of(pool).blocked, 1);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, 5);
	KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, 1);
	expect_gauges(test, pool, 1, 0, 0, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 0);
}

#define NR_LOADERS	3
#define NR_LOAD		1500

/* Keeps a pool full from several threads. */
struct load {
	struct ants_pool *pool;
	atomic_t count;
};

static int do_load(struct async_call *call)
{
	struct load *load = call->data;
	int i, err = 0;

	for (i = 0; i < NR_LOAD && !err; i++)
		err = ants_submit(load->pool, count_task, &load->count);
	return err;
}

/* Why the numbers of one snapshot contradict each other, or NULL. */
static const char *contradiction(const struct ants_stats *s,
				 unsigned int limit)
{
	unsigned int room = limit - s->busy - s->pending;

	if (s->submitted != s->completed + s->busy + s->pending)
		return "submitted is not completed + busy + pending";
	if (s->running > s->capacity)
		return "more threads than capacity";
	if (s->busy + s->idle > s->running)
		return "busy + idle is more than running";
	if (s->busy + s->pending > limit)
		return "more tasks in flight than allowed";
	if (s->free != (s->waiting ? 0 : room))
		return "free is not what is left";
	if (s->busy > s->peak_busy || s->pending > s->peak_pending ||
	    s->waiting > s->peak_waiting || s->running > s->peak_running)
		return "a peak is exceeded";
	return NULL;
}

static const char *goes_back(const struct ants_stats *s,
			     const struct ants_stats *last)
{
	if (s->submitted < last->submitted || s->completed < last->completed ||
	    s->blocked < last->blocked || s->spawned < last->spawned)
		return "a counter fell";
	if (s->peak_busy < last->peak_busy ||
	    s->peak_pending < last->peak_pending ||
	    s->peak_waiting < last->peak_waiting)
		return "a peak fell";
	return NULL;
}

/* Take snapshots until @nr tasks are done, or the deadline has passed. */
static const char *watch(struct ants_pool *pool, unsigned int limit, u64 nr)
{
	unsigned long end = jiffies + TEST_DEADLINE;
	struct ants_stats s, last = {};
	const char *why = NULL;

	while (!why && last.completed < nr && time_before(jiffies, end)) {
		ants_pool_stats(pool, &s);
		why = contradiction(&s, limit) ?: goes_back(&s, &last);
		last = s;
		cond_resched();
	}
	return why;
}

static void snapshots_are_consistent_under_load(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4, .queue_depth = 3, .flags = ANTS_NO_PURGE,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "load");
	struct load load = { .pool = pool };
	struct async_call *loaders[NR_LOADERS];
	const char *why;
	int i;

	for (i = 0; i < NR_LOADERS; i++)
		loaders[i] = async_start(test, do_load, &load);
	why = watch(pool, 7, NR_LOADERS * NR_LOAD);
	KUNIT_EXPECT_TRUE_MSG(test, !why, "%s", why);
	for (i = 0; i < NR_LOADERS; i++)
		KUNIT_EXPECT_EQ(test, async_result(loaders[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&load.count), NR_LOADERS * NR_LOAD);
	EXPECT_SOON(test, ants_nr_idle(pool) == ants_nr_running(pool));
	expect_gauges(test, pool, 0, 0, 0, 7);
}

/* All threads exist: those that do not run a task are idle. */
static void threads_of_a_preallocated_pool_add_up(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 3, .queue_depth = 2, .flags = ANTS_PREALLOC,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "sums");
	struct gate *gate = test_gate(test);
	unsigned int busy;

	for (busy = 0; busy < 3; busy++) {
		EXPECT_SOON(test, ants_nr_idle(pool) == 3 - busy);
		KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 3);
		expect_gauges(test, pool, busy, 0, 0, 5 - busy);
		fill_pool(test, pool, gate, 1);
	}
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 3);
	expect_gauges(test, pool, 3, 1, 0, 1);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_idle(pool) == 3);
	expect_gauges(test, pool, 0, 0, 0, 5);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 3ULL);
	KUNIT_EXPECT_EQ(test, stats_of(pool).peak_running, 3);
}

static struct kunit_case stats_cases[] = {
	KUNIT_CASE(numbers_follow_the_tasks),
	KUNIT_CASE(free_is_never_negative),
	KUNIT_CASE(free_of_an_unlimited_pool_has_no_bound),
	KUNIT_CASE(released_pool_has_nothing_free),
	KUNIT_CASE(each_refusal_is_counted),
	KUNIT_CASE(threads_of_a_preallocated_pool_add_up),
	KUNIT_CASE(snapshots_are_consistent_under_load),
	{}
};

static struct kunit_suite stats_suite = {
	.name = "ants_stats",
	.test_cases = stats_cases,
};

kunit_test_suite(stats_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the numbers of a pool");
MODULE_LICENSE("GPL");
