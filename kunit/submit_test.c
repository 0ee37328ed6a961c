// SPDX-License-Identifier: GPL-2.0-only
/* Submitting tasks: refusals and their reasons, the order, and the bounds. */
#include <linux/module.h>

#include "async.h"

/* All three ways to submit a task; the timed one does not wait. */
static void expect_all(struct kunit *test, struct ants_pool *pool, ants_fn_t fn,
		       void *data, int submit, int timeout, int try)
{
	KUNIT_EXPECT_EQ(test, ants_submit(pool, fn, data), submit);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, fn, data, 0), timeout);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, fn, data), try);
}

/* B30: a NULL function is an error, and not a message to the worker. */
static void null_function_is_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 2 };
	struct ants_pool *pool = test_pool(test, &attrs, "null");
	struct gate *gate = test_gate(test);

	expect_all(test, pool, NULL, NULL, -EINVAL, -EINVAL, -EINVAL);
	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	expect_all(test, pool, NULL, gate, -EINVAL, -EINVAL, -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	expect_all(test, pool, NULL, gate, -EINVAL, -EINVAL, -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), 2);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	expect_all(test, pool, NULL, NULL, -EINVAL, -EINVAL, -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 3);
	KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, 3);
	KUNIT_EXPECT_EQ(test, stats_of(pool).completed, 3);
}

#define NR_ODD	5

static void *odd_seen[NR_ODD];
static int nr_odd_seen;

static void odd_task(void *data)
{
	if (nr_odd_seen < NR_ODD)
		odd_seen[nr_odd_seen] = data;
	nr_odd_seen++;
}

/* B30: no value of the data has a meaning for the pool. */
static void any_data_is_legal(struct kunit *test)
{
	void *odd[NR_ODD] = {
		NULL, (void *)1, ERR_PTR(-ESHUTDOWN), (void *)-1UL, odd_task,
	};
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = NR_ODD };
	struct ants_pool *pool = test_pool(test, &attrs, "odd");
	int i;

	nr_odd_seen = 0;
	for (i = 0; i < NR_ODD; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, odd_task, odd[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, nr_odd_seen, NR_ODD);
	for (i = 0; i < NR_ODD; i++)
		KUNIT_EXPECT_PTR_EQ(test, odd_seen[i], odd[i]);
}

static void full_nonblocking_pool_says_again(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .flags = ANTS_NONBLOCKING };
	struct ants_pool *pool = test_pool(test, &attrs, "again");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 2);
	expect_all(test, pool, gate_task, gate, -EAGAIN, -ETIMEDOUT, -EAGAIN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 3);
}

/* Whether the call waits depends on its timeout, not on the pool's mode. */
static void timed_submit_waits_in_a_nonblocking_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_NONBLOCKING };
	struct ants_pool *pool = test_pool(test, &attrs, "patient");
	struct gate *gate = test_gate(test);
	struct async_call *waiter;

	fill_pool(test, pool, gate, 1);
	waiter = submit_async(test, pool, gate_task, gate,
			      MAX_SCHEDULE_TIMEOUT - 1);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
}

/* B28: "gone" differs from "try later", in every mode, full or not. */
static void released_pool_says_shutdown(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .max_blocking = 1 };
	struct ants_attrs nonblocking = {
		.capacity = 1, .flags = ANTS_NONBLOCKING,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "shut");
	struct ants_pool *nb = test_pool(test, &nonblocking, "shut-nb");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	fill_pool(test, nb, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_release(nb), 0);
	expect_all(test, pool, gate_task, gate, -ESHUTDOWN, -ESHUTDOWN,
		   -ESHUTDOWN);
	expect_all(test, nb, gate_task, gate, -ESHUTDOWN, -ESHUTDOWN,
		   -ESHUTDOWN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(nb, TEST_DEADLINE), 0);
	expect_all(test, pool, gate_task, gate, -ESHUTDOWN, -ESHUTDOWN,
		   -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->entered), 2);
}

#define NR_LOGGED	100

/* The order in which tasks start; written by one worker at a time. */
struct order {
	int nr;
	int log[NR_LOGGED];
};

struct logged {
	struct order *order;
	int id;
};

static void log_task(void *data)
{
	struct logged *task = data;
	struct order *order = task->order;

	if (order->nr < NR_LOGGED)
		order->log[order->nr] = task->id;
	order->nr++;
}

static struct logged *logged_tasks(struct kunit *test, int nr)
{
	struct order *order = kunit_kzalloc(test, sizeof(*order), GFP_KERNEL);
	struct logged *tasks = kunit_kcalloc(test, nr, sizeof(*tasks), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, order);
	KUNIT_ASSERT_NOT_NULL(test, tasks);
	for (i = 0; i < nr; i++) {
		tasks[i].order = order;
		tasks[i].id = i;
	}
	return tasks;
}

static void expect_in_order(struct kunit *test, const struct order *order,
			    int nr)
{
	int i;

	KUNIT_EXPECT_EQ(test, order->nr, nr);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, order->log[i], i);
}

static void tasks_start_in_order(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = NR_LOGGED };
	struct logged *tasks = logged_tasks(test, NR_LOGGED);
	struct ants_pool *pool = test_pool(test, &attrs, "fifo");
	struct gate *gate = test_gate(test);
	int i;

	fill_pool(test, pool, gate, 1);
	for (i = 0; i < NR_LOGGED; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, log_task, &tasks[i]), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	expect_in_order(test, tasks->order, NR_LOGGED);
}

#define NR_QUEUED	12

/* P4: in the order of enrolment, behind tasks that were accepted before. */
static void waiters_are_granted_in_order(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 2 };
	struct logged *tasks = logged_tasks(test, NR_QUEUED);
	struct ants_pool *pool = test_pool(test, &attrs, "enrol");
	struct gate *gate = test_gate(test);
	struct async_call *waiters[NR_QUEUED];
	int i;

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, log_task, &tasks[0]), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, log_task, &tasks[1]), 0);
	for (i = 2; i < NR_QUEUED; i++) {
		waiters[i] = submit_async(test, pool, log_task, &tasks[i],
					  i % 2 ? MAX_SCHEDULE_TIMEOUT :
					  MAX_SCHEDULE_TIMEOUT - 1);
		EXPECT_SOON(test, ants_nr_waiting(pool) == i - 1);
	}
	gate_open(gate);
	for (i = 2; i < NR_QUEUED; i++)
		KUNIT_EXPECT_EQ(test, async_result(waiters[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	expect_in_order(test, tasks->order, NR_QUEUED);
}

/* What a task found out about free room while a caller waits for it. */
struct intruder {
	struct ants_pool *pool;
	atomic_t *count;
	bool room_and_waiter;
	int result;
};

/*
 * A worker that takes a task from the queue makes room. The waiter, which last
 * ran on the same CPU, gets it when the queue has run dry, or from the timer.
 * Softirqs are off on the timer's CPU, which keeps the timer away.
 */
static void intruder_task(void *data)
{
	struct intruder *i = data;

	local_bh_disable();
	i->room_and_waiter = ants_nr_waiting(i->pool) &&
			      ants_nr_admissible(i->pool);
	i->result = ants_try_submit(i->pool, count_task, i->count);
	i->room_and_waiter = i->room_and_waiter && ants_nr_waiting(i->pool);
	local_bh_enable();
}

/* The waiter goes to the CPU of the pool's threads before it waits. */
static int do_wait_there(struct async_call *call)
{
	struct intruder *i = call->data;
	int err;

	err = set_cpus_allowed_ptr(current,
				   to_cpumask(i->pool->target.affinity->cpus));
	return err ?: ants_submit(i->pool, count_task, i->count);
}

/*
 * One try: a busy gate, the intruder and two more tasks in the queue, and one
 * waiter.
 */
static bool intrude(struct kunit *test, struct ants_pool *pool,
		    struct intruder *i)
{
	struct gate *gate = test_gate(test);
	struct async_call *waiter;

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, intruder_task, i), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, i->count), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, i->count), 0);
	waiter = async_start(test, do_wait_there, i);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(waiter), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	return i->room_and_waiter;
}

static void free_room_belongs_to_the_waiter(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 1, .queue_depth = 3, .cpumask = cpumask_of(0),
	};
	struct ants_pool *pool = test_pool(test, &attrs, "intrude");
	atomic_t count = ATOMIC_INIT(0);
	struct intruder i = { .pool = pool, .count = &count };
	int tries = 0;

	while (!intrude(test, pool, &i) && ++tries < 20)
		;
	KUNIT_EXPECT_TRUE(test, i.room_and_waiter);
	KUNIT_EXPECT_EQ(test, i.result, -EAGAIN);
}

/* In a thread of its own: if the limit did not hold, the call would wait. */
static void expect_busy(struct kunit *test, struct ants_pool *pool,
			struct gate *gate)
{
	struct async_call *s = submit_async(test, pool, gate_task, gate,
					    MAX_SCHEDULE_TIMEOUT);

	KUNIT_EXPECT_EQ(test, async_result(s), -EBUSY);
}

/* P18: the limit counts callers, exactly, and never tasks. */
static void max_blocking_is_exact(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 1, .queue_depth = 1, .max_blocking = 3,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "three");
	struct gate *gate = test_gate(test);
	struct async_call *waiters[3];
	int i;

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, gate), 0);
	for (i = 0; i < 3; i++)
		waiters[i] = submit_async(test, pool, gate_task, gate,
					  MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 3);
	expect_busy(test, pool, gate);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate, HZ),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate, 0),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), -EAGAIN);
	KUNIT_EXPECT_EQ(test, async_stop(waiters[1]), -EINTR);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate, 1),
			-ETIMEDOUT);
	waiters[1] = submit_async(test, pool, gate_task, gate,
				  MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 3);
	expect_busy(test, pool, gate);
	gate_open(gate);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, async_result(waiters[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 5);
	KUNIT_EXPECT_EQ(test, stats_of(pool).peak_waiting, 3);
}

static void zero_max_blocking_is_no_limit(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, "crowd");
	struct gate *gate = test_gate(test);
	struct async_call *waiters[40];
	int i;

	fill_pool(test, pool, gate, 1);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		waiters[i] = submit_async(test, pool, gate_task, gate,
					  MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == ARRAY_SIZE(waiters));
	gate_open(gate);
	for (i = 0; i < ARRAY_SIZE(waiters); i++)
		KUNIT_EXPECT_EQ(test, async_result(waiters[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed),
			ARRAY_SIZE(waiters) + 1);
}

static void queue_depth_adds_to_capacity(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 3 };
	struct ants_pool *pool = test_pool(test, &attrs, "deep");
	struct gate *gate = test_gate(test);
	int i;

	fill_pool(test, pool, gate, 2);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate,
							  0), 0);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate, 0),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), 3);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2);
	gate_let_one(gate);
	EXPECT_SOON(test, ants_nr_pending(pool) == 2);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, gate_task, gate, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), -EAGAIN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 6);
	KUNIT_EXPECT_EQ(test, stats_of(pool).peak_running, 2);
}

static void unlimited_pool_runs_all_at_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = ANTS_UNLIMITED };
	struct ants_pool *pool = test_pool(test, &attrs, "all");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 40);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), 40);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 40);
	KUNIT_EXPECT_EQ(test, stats_of(pool).blocked, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

#define NR_CROWD	4
#define NR_EACH		300

/* Tasks that count how many of them run at once. */
struct crowd {
	struct ants_pool *pool;
	atomic_t running;
	atomic_t most;
	atomic_t done;
};

static void crowd_task(void *data)
{
	struct crowd *crowd = data;
	int now = atomic_inc_return(&crowd->running);
	int most = atomic_read(&crowd->most);

	while (now > most && !atomic_try_cmpxchg(&crowd->most, &most, now))
		;
	usleep_range(50, 100);
	atomic_dec(&crowd->running);
	atomic_inc(&crowd->done);
}

static int do_crowd(struct async_call *call)
{
	struct crowd *crowd = call->data;
	int i, err = 0;

	for (i = 0; i < NR_EACH && !err; i++)
		err = ants_submit(crowd->pool, crowd_task, crowd);
	return err;
}

/*
 * B9: the bound is checked and the task admitted in one step, as seen by the
 * tasks.
 */
static void capacity_holds_under_concurrent_submits(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3 };
	struct ants_pool *pool = test_pool(test, &attrs, "crowded");
	struct crowd crowd = { .pool = pool };
	struct async_call *callers[NR_CROWD];
	int i;

	for (i = 0; i < NR_CROWD; i++)
		callers[i] = async_start(test, do_crowd, &crowd);
	for (i = 0; i < NR_CROWD; i++)
		KUNIT_EXPECT_EQ(test, async_result(callers[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd.done), NR_CROWD * NR_EACH);
	KUNIT_EXPECT_LE(test, atomic_read(&crowd.most), 3);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_running, 3);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_busy, 3);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_pending, 3);
}

static struct kunit_case submit_cases[] = {
	KUNIT_CASE(null_function_is_refused),
	KUNIT_CASE(any_data_is_legal),
	KUNIT_CASE(full_nonblocking_pool_says_again),
	KUNIT_CASE(timed_submit_waits_in_a_nonblocking_pool),
	KUNIT_CASE(released_pool_says_shutdown),
	KUNIT_CASE(tasks_start_in_order),
	KUNIT_CASE(waiters_are_granted_in_order),
	KUNIT_CASE(free_room_belongs_to_the_waiter),
	KUNIT_CASE(max_blocking_is_exact),
	KUNIT_CASE(zero_max_blocking_is_no_limit),
	KUNIT_CASE(queue_depth_adds_to_capacity),
	KUNIT_CASE(unlimited_pool_runs_all_at_once),
	KUNIT_CASE(capacity_holds_under_concurrent_submits),
	{}
};

static struct kunit_suite submit_suite = {
	.name = "ants_submit",
	.test_cases = submit_cases,
};

kunit_test_suite(submit_suite);

MODULE_DESCRIPTION("ants: KUnit tests of handing over tasks");
MODULE_LICENSE("GPL");
