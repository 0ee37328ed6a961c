// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of a task that the pool has no room for: its caller runs it, or
 * is called back when there is space. Waiting and failing have suites of their
 * own.
 */
#include "async.h"

static atomic_t nr_room;
static int room_result;
static bool room_in_rcu;
static bool room_in_irq;

/* The callback, in whatever context: submit what was refused. */
static void hand_over(struct ants_pool *pool)
{
	room_in_rcu = rcu_read_lock_held();
	room_in_irq = in_hardirq() || irqs_disabled();
	room_result = ants_try_submit(pool, count_task,
				      ants_pool_private(pool));
	atomic_inc(&nr_room);
}

static int overflow_init(struct kunit *test)
{
	atomic_set(&nr_room, 0);
	room_result = 1;
	room_in_rcu = false;
	room_in_irq = true;
	return 0;
}

struct witness {
	struct task_struct *thread;
	int ran;
};

static void note_thread(void *data)
{
	struct witness *witness = data;

	witness->thread = current;
	witness->ran++;
}

static void caller_runs_what_does_not_fit(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2,
				    .flags = ANTS_CALLER_RUNS };
	struct ants_pool *pool = test_pool(test, &attrs, "runs");
	struct gate *gate = test_gate(test);
	struct witness witness = { };

	fill_pool(test, pool, gate, 2);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, note_thread, &witness), 0);
	KUNIT_EXPECT_PTR_EQ(test, witness.thread, current);
	KUNIT_EXPECT_EQ(test, witness.ran, 1);
	KUNIT_EXPECT_EQ(test, stats_of(pool).caller_runs, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, 2ULL);
	gate_open(gate);
	EXPECT_SOON(test, !ants_nr_busy(pool));
	KUNIT_EXPECT_EQ(test, ants_submit(pool, note_thread, &witness), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_PTR_NE(test, witness.thread, current);
	KUNIT_EXPECT_EQ(test, witness.ran, 2);
}

/* Only ants_submit() runs the task in its caller. */
static void only_ants_submit_runs_it_here(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1,
				    .flags = ANTS_CALLER_RUNS };
	struct ants_pool *pool = test_pool(test, &attrs, "alone");
	struct gate *gate = test_gate(test);
	struct witness witness = { };

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, note_thread, &witness),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, note_thread, &witness,
						  1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, note_thread, &witness),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, witness.ran, 0);
}

struct nest {
	struct ants_pool *pool;
	struct witness inner;
	struct task_struct *outer;
	int result;
};

static void submit_inside(void *data)
{
	struct nest *nest = data;

	nest->outer = current;
	nest->result = ants_submit(nest->pool, note_thread, &nest->inner);
}

/* As in any other pool. */
static void task_does_not_run_what_it_submits(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1,
				    .flags = ANTS_CALLER_RUNS };
	struct nest nest = { .pool = test_pool(test, &attrs, "nest") };

	KUNIT_EXPECT_EQ(test, ants_submit(nest.pool, submit_inside, &nest), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(nest.pool), 0);
	KUNIT_EXPECT_EQ(test, nest.result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, nest.inner.ran, 0);
}

/* For this pool, a task of another one is a caller like any other. */
static void task_of_another_pool_runs_what_it_submits(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1,
				    .flags = ANTS_CALLER_RUNS };
	struct ants_pool *host = test_pool(test, &attrs, "host");
	struct nest nest = { .pool = test_pool(test, &attrs, "guest") };
	struct gate *gate = test_gate(test);

	fill_pool(test, nest.pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(host, submit_inside, &nest), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(host), 0);
	KUNIT_EXPECT_EQ(test, nest.result, 0);
	KUNIT_EXPECT_PTR_EQ(test, nest.inner.thread, nest.outer);
}

/* So deep that a task nested in itself is noticed, and harmless. */
#define DEEP	8
#define AGAIN	200

/*
 * A task that submits itself again, @left times at most, alone or in a batch.
 * @depth: how often @thread, or any thread if that is NULL, is inside it now.
 */
struct again {
	struct ants_pool *pool;
	struct task_struct *thread;
	unsigned int batch;
	atomic_t left;
	atomic_t ran;
	int depth;
	int deepest;
	int result;
};

static void again_task(void *data);

static int hand_over_again(struct again *again)
{
	struct ants_task tasks[4];
	unsigned int i;

	if (!again->batch)
		return ants_submit(again->pool, again_task, again);
	for (i = 0; i < again->batch; i++)
		tasks[i] = (struct ants_task){ again_task, again };
	return ants_submit_batch(again->pool, tasks, again->batch);
}

static void again_task(void *data)
{
	struct again *again = data;
	bool watched = !again->thread || again->thread == current;
	int result;

	atomic_inc(&again->ran);
	if (watched) {
		WRITE_ONCE(again->depth, again->depth + 1);
		WRITE_ONCE(again->deepest, max(again->deepest, again->depth));
	}
	if (READ_ONCE(again->depth) < DEEP &&
	    atomic_dec_if_positive(&again->left) >= 0) {
		result = hand_over_again(again);
		if (watched)
			again->result = result;
	}
	if (watched)
		WRITE_ONCE(again->depth, again->depth - 1);
}

static struct again *again_of(struct kunit *test, unsigned int capacity,
			      unsigned int batch)
{
	struct ants_attrs attrs = { .capacity = capacity,
				    .flags = ANTS_CALLER_RUNS };
	struct again *again = kunit_kzalloc(test, sizeof(*again), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, again);
	again->pool = test_pool(test, &attrs, batch ? "again" : "again_one");
	again->batch = batch;
	atomic_set(&again->left, AGAIN);
	return again;
}

/* In a thread of the pool: the submit fails at once, since it cannot wait. */
static void expect_no_depth_in_a_worker(struct kunit *test, unsigned int batch)
{
	struct again *again = again_of(test, 1, batch);

	KUNIT_EXPECT_EQ(test, ants_submit(again->pool, again_task, again), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(again->pool), 0);
	KUNIT_EXPECT_EQ(test, again->deepest, 1);
	KUNIT_EXPECT_EQ(test, again->result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, atomic_read(&again->ran), 1);
	KUNIT_EXPECT_EQ(test, stats_of(again->pool).caller_runs, 0ULL);
}

static void task_is_not_run_inside_itself(struct kunit *test)
{
	expect_no_depth_in_a_worker(test, 0);
	expect_no_depth_in_a_worker(test, 3);
}

static int do_again(struct async_call *call)
{
	struct again *again = call->data;

	again->thread = current;
	return hand_over_again(again);
}

/* In its caller: it waits for room, as the caller would in another pool. */
static void expect_no_depth_in_a_caller(struct kunit *test, unsigned int batch)
{
	struct again *again = again_of(test, 1, batch);
	struct gate *gate = test_gate(test);
	struct async_call *caller;

	fill_pool(test, again->pool, gate, 1);
	caller = async_start(test, do_again, again);
	EXPECT_SOON(test, ants_nr_waiting(again->pool) == 1 ||
		    READ_ONCE(again->deepest) > 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(caller), (int)batch);
	KUNIT_EXPECT_EQ(test, ants_flush(again->pool), 0);
	KUNIT_EXPECT_EQ(test, again->deepest, 1);
	KUNIT_EXPECT_GT(test, stats_of(again->pool).caller_runs, 0ULL);
	KUNIT_EXPECT_EQ(test, (u64)atomic_read(&again->ran),
			stats_of(again->pool).submitted - 1 +
			stats_of(again->pool).caller_runs);
}

static void task_that_its_caller_runs_waits(struct kunit *test)
{
	expect_no_depth_in_a_caller(test, 0);
	expect_no_depth_in_a_caller(test, 3);
}

/* The pool has no task left that could submit another one. */
static bool all_ended(struct ants_pool *pool)
{
	struct ants_stats stats = stats_of(pool);

	return stats.completed == stats.submitted;
}

/* Many such tasks in few threads: all that are accepted run, and none hangs. */
static void tasks_that_go_on_come_to_an_end(struct kunit *test)
{
	struct again *again = again_of(test, 4, 2);
	int i;

	/* Measure the depth in this thread. */
	again->thread = current;
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(again->pool, again_task,
						  again), 0);
	EXPECT_SOON(test, all_ended(again->pool));
	KUNIT_EXPECT_LE(test, again->deepest, 1);
	KUNIT_EXPECT_EQ(test, (u64)atomic_read(&again->ran),
			stats_of(again->pool).submitted +
			stats_of(again->pool).caller_runs);
}

static void batch_is_run_here_too(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1,
				    .flags = ANTS_CALLER_RUNS };
	struct ants_pool *pool = test_pool(test, &attrs, "batch");
	struct gate *gate = test_gate(test);
	struct witness witness = { };
	struct ants_task tasks[] = {
		{ note_thread, &witness }, { note_thread, &witness },
	};

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, 2), 2);
	KUNIT_EXPECT_EQ(test, witness.ran, 2);
}

static struct ants_pool *room_pool(struct kunit *test, atomic_t *count,
				   unsigned int flags)
{
	struct ants_attrs attrs = { .capacity = 1, .space_available = hand_over,
				    .private = count, .flags = flags };

	return test_pool(test, &attrs, "room");
}

static void callback_comes_once_when_there_is_room(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	struct ants_pool *pool = room_pool(test, &count, 0);
	struct gate *gate = test_gate(test);

	KUNIT_EXPECT_FALSE(test, ants_congested(pool));
	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_TRUE(test, ants_congested(pool));
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(&count) == 1);
	KUNIT_EXPECT_EQ(test, room_result, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
	EXPECT_SOON(test, !ants_congested(pool));
}

/* The callback may submit, and may not sleep. */
static void callback_is_in_an_rcu_section(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	struct ants_pool *pool = room_pool(test, &count, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &count),
			-EAGAIN);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(&nr_room) == 1);
	KUNIT_EXPECT_TRUE(test, room_in_rcu);
	KUNIT_EXPECT_FALSE(test, room_in_irq);
	EXPECT_SOON(test, atomic_read(&count) == 1);
}

static int never_runs(struct ants_work *work)
{
	return 0;
}

/* The same for a work item that was refused. */
static void refused_work_item_is_called_back(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	struct ants_pool *pool = room_pool(test, &count, 0);
	struct gate *gate = test_gate(test);
	static struct ants_work work;

	INIT_ANTS_WORK(&work, never_runs);
	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, &work), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(&count) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
}

static void no_refusal_no_callback(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	struct ants_pool *pool = room_pool(test, &count, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
}

static void growth_calls_back(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	struct ants_pool *pool = room_pool(test, &count, ANTS_NONBLOCKING);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), 0);
	EXPECT_SOON(test, atomic_read(&count) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
}

/* A cancel may come from any context, so the timer calls back. */
static void cancel_calls_back(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1,
				    .space_available = hand_over };
	atomic_t count = ATOMIC_INIT(0);
	struct gate *gate = test_gate(test);
	static struct ants_work work;
	struct ants_pool *pool;

	attrs.private = &count;
	pool = test_pool(test, &attrs, "cancel");
	INIT_ANTS_WORK(&work, never_runs);
	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, &work), 0);
	/* A timer armed for another reason would hide a missing one. */
	raw_spin_lock_irq(&pool->lock);
	timer_delete(&pool->timer.timer);
	raw_spin_unlock_irq(&pool->lock);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &count),
			-EAGAIN);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(&work));
	EXPECT_SOON(test, atomic_read(&nr_room) == 1);
	KUNIT_EXPECT_EQ(test, room_result, 0);
	KUNIT_EXPECT_TRUE(test, room_in_rcu);
	KUNIT_EXPECT_FALSE(test, room_in_irq);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

/* Waiting callers are admitted before refused callers are called back. */
static void waiting_callers_are_first(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0), waited = ATOMIC_INIT(0);
	struct ants_pool *pool = room_pool(test, &count, 0);
	struct gate *gate = test_gate(test), *second = test_gate(test);
	struct async_call *s;

	fill_pool(test, pool, gate, 1);
	s = submit_async(test, pool, gate_task, second, MAX_SCHEDULE_TIMEOUT);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &waited),
			-EAGAIN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, async_result(s), 0);
	EXPECT_SOON(test, atomic_read(&second->entered) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
	gate_open(second);
	EXPECT_SOON(test, atomic_read(&nr_room) == 1);
	EXPECT_SOON(test, atomic_read(&count) == 1);
}

static void released_pool_does_not_call(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	struct ants_pool *pool = room_pool(test, &count, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, &count),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
}

static struct kunit_case overflow_cases[] = {
	KUNIT_CASE(caller_runs_what_does_not_fit),
	KUNIT_CASE(only_ants_submit_runs_it_here),
	KUNIT_CASE(task_does_not_run_what_it_submits),
	KUNIT_CASE(task_of_another_pool_runs_what_it_submits),
	KUNIT_CASE(task_is_not_run_inside_itself),
	KUNIT_CASE(task_that_its_caller_runs_waits),
	KUNIT_CASE(tasks_that_go_on_come_to_an_end),
	KUNIT_CASE(batch_is_run_here_too),
	KUNIT_CASE(callback_comes_once_when_there_is_room),
	KUNIT_CASE(callback_is_in_an_rcu_section),
	KUNIT_CASE(refused_work_item_is_called_back),
	KUNIT_CASE(no_refusal_no_callback),
	KUNIT_CASE(growth_calls_back),
	KUNIT_CASE(cancel_calls_back),
	KUNIT_CASE(waiting_callers_are_first),
	KUNIT_CASE(released_pool_does_not_call),
	{}
};

static struct kunit_suite overflow_suite = {
	.name = "ants_overflow",
	.init = overflow_init,
	.test_cases = overflow_cases,
};

kunit_test_suite(overflow_suite);

MODULE_DESCRIPTION("ants: KUnit tests of what does not fit");
MODULE_LICENSE("GPL");
