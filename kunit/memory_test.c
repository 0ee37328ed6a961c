// SPDX-License-Identifier: GPL-2.0-only
/* Submits without memory, and from threads that reclaim memory. */
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "multi.h"

/* Slots can be allocated again; undoes fail_begin() when the test ends. */
static void fail_end(struct kunit_resource *res)
{
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
}

static void fail_begin(struct kunit *test, enum ants_fail_point point)
{
	kunit_alloc_resource(test, test_pool_init, fail_end, GFP_KERNEL, NULL);
	ants_fail_arm(point, -1);
}

/* A pool of one thread, at the gate, with a long queue and without memory. */
static struct ants_pool *poor_pool(struct kunit *test, unsigned int flags,
				   struct gate **gate)
{
	struct ants_attrs attrs = {
		.capacity = 1, .queue_depth = 100, .flags = flags,
	};
	struct ants_pool *pool = test_func_pool(test, &attrs, gate_task, "poor");

	*gate = test_gate(test);
	fill_pool(test, pool, *gate, 1);
	/* The upkeep work has made the worker, and then fills the stock. */
	EXPECT_SOON(test, !ants_peek(pool->upkeep.queued));
	fail_begin(test, ANTS_FAIL_SLOT);
	return pool;
}

static void expect_passed(struct kunit *test, struct ants_pool *pool,
			  struct gate *gate, int nr)
{
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), nr);
}

/*
 * The stock is used first; then the submit fails, and with memory it works
 * again.
 */
static void nonblocking_submit_uses_up_the_stock(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = poor_pool(test, ANTS_NONBLOCKING, &gate);
	const struct ants_task task = { .fn = gate_task, .data = gate };
	unsigned int stock = pool->nr_stock, i;

	KUNIT_EXPECT_GE(test, stock, ANTS_SPARE_SLOTS);
	for (i = 0; i < stock; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, &task, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_invoke(pool, gate), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_try_invoke(pool, gate), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), stock);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	expect_passed(test, pool, gate, stock + 2);
}

/* All slots are in use, and one more submitter waits. */
static struct async_call *wait_for_a_slot(struct kunit *test, struct ants_pool *pool,
					  struct gate *gate)
{
	unsigned int i, stock = pool->nr_stock;
	struct async_call *waiter;

	for (i = 0; i < stock; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	waiter = submit_async(test, pool, gate_task, gate, MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	return waiter;
}

/*
 * Whether or not the pool has room, the submitter waits for a slot to come
 * back.
 */
static void blocking_submit_waits_for_a_slot(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = poor_pool(test, 0, &gate);
	unsigned int stock = pool->nr_stock;
	struct async_call *waiter;

	waiter = wait_for_a_slot(test, pool, gate);
	KUNIT_EXPECT_LT(test, ants_nr_pending(pool), 100);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate, 1),
			-ETIMEDOUT);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_passed(test, pool, gate, stock + 2);
}

/* No task ends, but there is memory again: the timer has to look more than once. */
static void waiter_gets_a_slot_that_is_made(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = poor_pool(test, 0, &gate);
	unsigned int stock = pool->nr_stock;
	struct async_call *waiter;
	unsigned long armed;

	waiter = wait_for_a_slot(test, pool, gate);
	/* The timer has looked in vain, and is armed anew. */
	armed = READ_ONCE(pool->timer.timer.expires);
	EXPECT_SOON(test, READ_ONCE(pool->timer.timer.expires) != armed);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	/* It is refused, and has the stock filled. */
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), -EAGAIN);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_passed(test, pool, gate, stock + 2);
}

/* Work items need no slot, but the fast path is for pools that have some to spare. */
static void new_pool_has_slots_to_spare(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "new");

	KUNIT_EXPECT_GT(test, ants_peek(pool->nr_stock), ANTS_SPARE_SLOTS);
}

/* The pool has room, but no caller is admitted ahead of those that wait. */
static void congested_while_callers_wait(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = poor_pool(test, 0, &gate);
	unsigned int stock = pool->nr_stock, i;
	struct async_call *waiter;

	for (i = 0; i < stock; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_FALSE(test, ants_congested(pool));
	waiter = submit_async(test, pool, gate_task, gate, MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_LT(test, ants_nr_pending(pool), 100);
	KUNIT_EXPECT_TRUE(test, ants_congested(pool));
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	KUNIT_EXPECT_FALSE(test, ants_congested(pool));
	expect_passed(test, pool, gate, stock + 2);
}

/* Two shards with room and without slots; how many tasks they have. */
static int poor_multi(struct kunit *test, struct gate *gate,
		      struct ants_multi **multi)
{
	struct ants_attrs attrs = {
		.capacity = 2, .queue_depth = 200, .flags = ANTS_NONBLOCKING,
	};
	int nr = 2;

	*multi = test_multi(test, &attrs, 2, ANTS_ROUND_ROBIN, "poor");
	fill_multi(test, *multi, gate, 2);
	EXPECT_SOON(test, !ants_peek(ants_shard(*multi, 0)->upkeep.queued));
	EXPECT_SOON(test, !ants_peek(ants_shard(*multi, 1)->upkeep.queued));
	fail_begin(test, ANTS_FAIL_SLOT);
	while (nr < 200 && !ants_multi_try_submit(*multi, gate_task, gate))
		nr++;
	KUNIT_EXPECT_LT(test, nr, 200);
	return nr;
}

/*
 * The error is that of the first choice, which is this shard at every other
 * submit.
 */
static void multi_says_what_its_first_choice_lacks(struct kunit *test)
{
	struct gate *gate = test_gate(test);
	struct ants_multi *multi;
	int nr, err;

	need_module(test);
	nr = poor_multi(test, gate, &multi);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 1ULL);
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, gate_task, gate),
			-ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, gate_task, gate),
			-ENOMEM);
	KUNIT_EXPECT_EQ(test, write_file("poor/shard1/queue_depth", "0\n"), 0);
	err = ants_multi_try_submit(multi, gate_task, gate);
	KUNIT_EXPECT_TRUE(test, err == -ENOMEM || err == -EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(multi, gate_task, gate),
			err == -ENOMEM ? -EAGAIN : -ENOMEM);
	KUNIT_EXPECT_EQ(test, sums_of(multi).submitted, nr);
	KUNIT_EXPECT_EQ(test, sums_of(multi).rejected, 5ULL);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, gate_task, gate), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), nr + 1);
}

/* While callers wait nothing is free, although the pool has no bound. */
static void boundless_pool_without_a_slot_is_congested(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = poor_pool(test, 0, &gate);
	struct async_call *waiter;
	int err, nr = 0;

	fail_begin(test, ANTS_FAIL_THREAD);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, ANTS_UNLIMITED), 0);
	while (!(err = ants_try_submit(pool, gate_task, gate)))
		nr++;
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), ANTS_UNLIMITED);
	waiter = submit_async(test, pool, gate_task, gate, MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 0);
	KUNIT_EXPECT_TRUE(test, ants_congested(pool));
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), -EAGAIN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	expect_passed(test, pool, gate, nr + 2);
}

#define NR_TASKS	400
#define NR_THREADS	3

struct work {
	struct ants_pool *pool;
	atomic_t count;
};

static int do_submits(struct async_call *call)
{
	struct work *work = call->data;
	int i, err = 0;

	for (i = 0; i < NR_TASKS && !err; i++)
		err = ants_submit(work->pool, count_task, &work->count);
	return err;
}

static void expect_all_run(struct kunit *test, struct ants_pool *pool)
{
	struct async_call *callers[NR_THREADS];
	struct work work = { .pool = pool };
	int i;

	for (i = 0; i < NR_THREADS; i++)
		callers[i] = async_start(test, do_submits, &work);
	for (i = 0; i < NR_THREADS; i++)
		KUNIT_EXPECT_EQ(test, async_result(callers[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&work.count), NR_THREADS * NR_TASKS);
}

static void blocking_pool_runs_all_without_memory(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 200 };
	struct ants_pool *pool = test_pool(test, &attrs, "poor");
	unsigned int stock = pool->nr_stock;

	fail_begin(test, ANTS_FAIL_SLOT);
	expect_all_run(test, pool);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_pending, stock);
}

#define MOST_WAITERS	64

/* Waiters that enrol one after another, in the order of the array. */
struct queue {
	struct ants_pool *pool;
	struct gate *gate;
	unsigned int nr;
	struct async_call *waiters[MOST_WAITERS];
};

static void enrol(struct kunit *test, struct queue *q)
{
	unsigned int nr = ants_nr_waiting(q->pool) + 1;

	q->waiters[q->nr++] = submit_async(test, q->pool, gate_task, q->gate,
					   MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(q->pool) == nr);
}

static void expect_all_granted(struct kunit *test, struct queue *q)
{
	unsigned int i;

	gate_open(q->gate);
	for (i = 0; i < q->nr; i++)
		KUNIT_EXPECT_EQ(test, async_result(q->waiters[i]), 0);
}

/*
 * Waiters that found the stock empty are ahead of some that found a slot which
 * came back; they must be served all the same.
 */
static void waiter_without_a_slot_is_not_forgotten(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct queue *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);
	unsigned int first, i;

	KUNIT_ASSERT_NOT_NULL(test, q);
	q->pool = test_pool(test, &attrs, "herds");
	q->gate = test_gate(test);
	fill_pool(test, q->pool, q->gate, 1);
	EXPECT_SOON(test, !ants_peek(q->pool->upkeep.queued));
	fail_begin(test, ANTS_FAIL_SLOT);
	first = min_t(unsigned int, q->pool->nr_stock, MOST_WAITERS / 2 - 3);
	for (i = 0; i < first + 3; i++)
		enrol(test, q);
	for (i = 1; i <= first; i++) {
		gate_let_one(q->gate);
		EXPECT_SOON(test, atomic_read(&q->gate->entered) == i + 1);
		enrol(test, q);
	}
	expect_all_granted(test, q);
	expect_passed(test, q->pool, q->gate, q->nr + 1);
}

/*
 * No slot and no thread can be allocated: what the pool was made with is
 * enough.
 */
static void reclaim_pool_makes_progress_without_memory(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4, .queue_depth = 50, .flags = ANTS_MEM_RECLAIM,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "reclaim");

	fail_begin(test, ANTS_FAIL_SLOT);
	fail_begin(test, ANTS_FAIL_THREAD);
	expect_all_run(test, pool);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1);
}

static void preallocated_pool_needs_no_memory(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4, .queue_depth = 40,
		.flags = ANTS_PREALLOC | ANTS_NONBLOCKING,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "prepared");
	struct gate *gate = test_gate(test);
	int i;

	fail_begin(test, ANTS_FAIL_SLOT);
	fail_begin(test, ANTS_FAIL_THREAD);
	for (i = 0; i < 44; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), -EAGAIN);
	expect_passed(test, pool, gate, 44);
}

/* The task is accepted while no thread can be made, and runs when one can. */
static void task_outlives_failing_threads(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_pool *pool = test_pool(test, &attrs, "threadless");
	atomic_t count = ATOMIC_INIT(0);

	fail_begin(test, ANTS_FAIL_THREAD);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	EXPECT_SOON(test, ants_peek(pool->upkeep.backoff));
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 0);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	EXPECT_SOON(test, atomic_read(&count) == 1);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

/* Logged once per pool. */
static void submit_from_reclaim_is_noticed(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_MEM_RECLAIM };
	struct ants_pool *fit = test_pool(test, &attrs, "fit");
	struct ants_pool *unfit = test_pool(test, NULL, "unfit");
	atomic_t count = ATOMIC_INIT(0);
	unsigned int flags;

	KUNIT_EXPECT_EQ(test, ants_submit(unfit, count_task, &count), 0);
	KUNIT_EXPECT_FALSE(test, unfit->warned_reclaim);
	flags = memalloc_noreclaim_save();
	KUNIT_EXPECT_EQ(test, ants_submit(unfit, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(unfit, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(fit, count_task, &count), 0);
	memalloc_noreclaim_restore(flags);
	KUNIT_EXPECT_TRUE(test, unfit->warned_reclaim);
	KUNIT_EXPECT_FALSE(test, fit->warned_reclaim);
	KUNIT_EXPECT_EQ(test, ants_flush(unfit), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(fit), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 4);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(nonblocking_submit_uses_up_the_stock),
	KUNIT_CASE(blocking_submit_waits_for_a_slot),
	KUNIT_CASE(waiter_gets_a_slot_that_is_made),
	KUNIT_CASE(new_pool_has_slots_to_spare),
	KUNIT_CASE(congested_while_callers_wait),
	KUNIT_CASE(multi_says_what_its_first_choice_lacks),
	KUNIT_CASE(boundless_pool_without_a_slot_is_congested),
	KUNIT_CASE(blocking_pool_runs_all_without_memory),
	KUNIT_CASE(waiter_without_a_slot_is_not_forgotten),
	KUNIT_CASE(reclaim_pool_makes_progress_without_memory),
	KUNIT_CASE(preallocated_pool_needs_no_memory),
	KUNIT_CASE(task_outlives_failing_threads),
	KUNIT_CASE(submit_from_reclaim_is_noticed),
	{}
};

static struct kunit_suite memory_suite = {
	.name = "ants_memory",
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);

MODULE_DESCRIPTION("ants: KUnit tests of submits without memory");
MODULE_LICENSE("GPL");
