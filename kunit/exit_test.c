// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker_exit takes its time: the pool goes on, the worker stays reserved, and
 * only callers that have to wait for it do.
 */
#include <linux/module.h>

#include "repeats.h"
#include "work.h"

#define NAME	"exit"

/* Contexts that worker_init has made and worker_exit has not taken apart. */
static atomic_t contexts;
static int most_contexts;
/* The gate at which worker_exit stops, and what else it does. */
static struct gate *exit_gate;
static void (*exit_does)(struct ants_pool *pool);

static void *make_context(struct ants_pool *pool)
{
	int nr = atomic_inc_return(&contexts);
	int seen = READ_ONCE(most_contexts);

	while (nr > seen && !try_cmpxchg(&most_contexts, &seen, nr))
		;
	return NULL;
}

static void take_apart(struct ants_pool *pool, void *data)
{
	if (exit_does)
		exit_does(pool);
	if (exit_gate)
		gate_task(exit_gate);
	atomic_dec(&contexts);
}

static int exit_init(struct kunit *test)
{
	atomic_set(&contexts, 0);
	most_contexts = 0;
	exit_gate = NULL;
	exit_does = NULL;
	return 0;
}

/* A rig whose threads stop in worker_exit, at its late gate. */
static struct rig *rig_of(struct kunit *test, struct ants_attrs attrs)
{
	struct rig *rig;

	attrs.worker_init = make_context;
	attrs.worker_exit = take_apart;
	rig = rig_make(test, NAME, attrs);
	exit_gate = &rig->late;
	return rig;
}

/* @nr threads expire and stop in worker_exit. */
static void expire_into_exit(struct rig *rig, int nr)
{
	park(rig, 0, nr);
	expire(rig->pool, nr);
	ASSERT_SOON(rig->test, atomic_read(&rig->late.entered) == nr);
}

static void submit_count(struct rig *rig)
{
	KUNIT_EXPECT_EQ(rig->test, ants_submit(rig->pool, count_task,
					       &rig->count), 0);
}

static void next_task_starts_during_an_exit(struct kunit *test)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){ .capacity = 4 });

	expire_into_exit(rig, 1);
	submit_count(rig);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->late.passed), 0);
	gate_open(&rig->late);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 1);
}

/* The only worker is in worker_exit; it counts until it is gone. */
static void last_worker_counts_during_an_exit(struct kunit *test)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){ .capacity = 1 });
	struct async_call *call;

	expire_into_exit(rig, 1);
	submit_count(rig);
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	EXPECT_SOON(test, !ants_peek(rig->pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 2);
	KUNIT_EXPECT_EQ(test, most_contexts, 1);
}

/* Capacity that comes back is not used twice while surplus threads leave. */
static void growth_makes_no_thread_during_an_exit(struct kunit *test)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){
					.capacity = 3, .flags = ANTS_PREALLOC });

	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 3);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 2);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 3), 0);
	EXPECT_SOON(test, !ants_peek(rig->pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&contexts), 3);
	gate_open(&rig->late);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&contexts), 3);
	KUNIT_EXPECT_EQ(test, most_contexts, 3);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 0);
}

/* Workers in worker_exit do not count as workers that stay. */
static void floor_is_made_up_after_an_exit(struct kunit *test)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){ .capacity = 2 });

	expire_into_exit(rig, 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 2), 0);
	EXPECT_SOON(test, !ants_peek(rig->pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2);
	gate_open(&rig->late);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 4);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 2);
	KUNIT_EXPECT_EQ(test, most_contexts, 2);
}

static atomic_t exits;

/* Takes longer than making a thread. */
static void short_exit(struct ants_pool *pool)
{
	atomic_inc(&exits);
	msleep(50);
}

/* Grow while some workers may be in worker_exit. */
static void tune_around(struct rig *rig, int rounds)
{
	int i, before;

	while (rounds--) {
		before = atomic_read(&exits);
		KUNIT_EXPECT_EQ(rig->test, ants_tune(rig->pool, 1), 0);
		for (i = 0; i < 50 && atomic_read(&exits) == before; i++)
			usleep_range(200, 1000);
		KUNIT_EXPECT_EQ(rig->test, ants_tune(rig->pool, 4), 0);
		usleep_range(200, 2000);
	}
}

/* True however threads come and go. */
static void expect_contexts_within_capacity(struct kunit *test,
					    unsigned int flags)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){
					.capacity = 4, .expiry = 1,
					.flags = flags });
	int i;

	exit_gate = NULL;
	exit_does = short_exit;
	for (i = 0; i < 8; i++)
		rig_async(rig, do_submit_many, 0, NULL);
	tune_around(rig, 20 * repeats);
	atomic_set(&rig->stop, 1);
	expect_results(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE),
			0);
	KUNIT_EXPECT_EQ(test, atomic_read(&contexts), 0);
	KUNIT_EXPECT_GT(test, most_contexts, 0);
	KUNIT_EXPECT_LE(test, most_contexts, 4);
}

static void contexts_stay_within_capacity(struct kunit *test)
{
	expect_contexts_within_capacity(test, 0);
}

/* Here the threads are made by the growth itself. */
static void contexts_stay_within_capacity_prealloc(struct kunit *test)
{
	expect_contexts_within_capacity(test, ANTS_PREALLOC);
}

/* A full pool to which worker_exit submits. */
static struct ants_pool *busy_pool;
static int submitted, called;
static bool inside;

static int call_fn(void *data)
{
	return 7;
}

static void use_the_other(struct ants_pool *pool)
{
	submitted = ants_submit(busy_pool, count_task, &contexts);
	called = ants_call(busy_pool, call_fn, NULL, MAX_SCHEDULE_TIMEOUT);
	inside = ants_in_pool(pool) && ants_current_pool() == pool;
}

/* The thread is told to stop only when it has nothing left to do. */
static void exit_waits_for_another_pool(struct kunit *test)
{
	struct ants_attrs one = { .capacity = 1 };
	struct rig *rig = rig_of(test, (struct ants_attrs){ .capacity = 1 });
	struct gate *gate;

	busy_pool = test_pool(test, &one, "busy");
	gate = test_gate(test);
	fill_pool(test, busy_pool, gate, 1);
	exit_gate = NULL;
	exit_does = use_the_other;
	park(rig, 0, 1);
	expire(rig->pool, 1);
	EXPECT_SOON(test, ants_nr_waiting(busy_pool) == 1);
	gate_open(gate);
	EXPECT_SOON(test, settled(rig->pool) && !ants_nr_running(rig->pool));
	KUNIT_EXPECT_EQ(test, submitted, 0);
	KUNIT_EXPECT_EQ(test, called, 7);
	KUNIT_EXPECT_TRUE(test, inside);
}

static int flushed, waited, queued;

static int count_item(struct ants_work *work)
{
	atomic_inc(&contexts);
	return 0;
}

static DEFINE_ANTS_WORK(exit_item, count_item);

/*
 * The worker would wait for room that only its own exit makes. It runs no task
 * any more, and so no item of its own.
 */
static void use_its_own(struct ants_pool *pool)
{
	flushed = ants_flush(pool);
	waited = ants_submit(pool, count_task, &contexts) ?:
		 ants_submit(pool, count_task, &contexts);
	queued = ants_queue_work_timeout(pool, &exit_item,
					 MAX_SCHEDULE_TIMEOUT);
	exit_does = NULL;
}

static void exit_does_not_wait_for_its_pool(struct kunit *test)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){ .capacity = 1 });

	exit_gate = NULL;
	exit_does = use_its_own;
	park(rig, 0, 1);
	expire(rig->pool, 1);
	EXPECT_SOON(test, atomic_read(&contexts) == 2);
	KUNIT_EXPECT_EQ(test, flushed, -EDEADLK);
	KUNIT_EXPECT_EQ(test, waited, -EDEADLK);
	KUNIT_EXPECT_EQ(test, queued, -EDEADLK);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2);
}

/* A thread in worker_exit is not gone. */
static void release_waits_for_an_exit(struct kunit *test)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){ .capacity = 2 });

	park(rig, 0, 2);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	ASSERT_SOON(test, atomic_read(&rig->late.entered) == 2);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -EBUSY);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 2);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE),
			0);
	KUNIT_EXPECT_EQ(test, atomic_read(&contexts), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
}

static void destroy_waits_for_an_exit(struct kunit *test)
{
	struct rig *rig = rig_of(test, (struct ants_attrs){ .capacity = 1 });
	struct ants_pool *pool = rig->pool;
	struct async_call *call;

	park(rig, 0, 1);
	call = rig_async(rig, do_destroy, 0, NULL);
	rig->pool = NULL;
	EXPECT_SOON(test, atomic_read(&rig->late.entered) == 1);
	/* A hint only, no wake-up depends on it: no barrier is needed. */
	EXPECT_SOON(test, waitqueue_active(&pool->waitq));
	expect_blocked(test, call);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&contexts), 0);
}

static struct kunit_case exit_cases[] = {
	KUNIT_CASE(next_task_starts_during_an_exit),
	KUNIT_CASE(last_worker_counts_during_an_exit),
	KUNIT_CASE(growth_makes_no_thread_during_an_exit),
	KUNIT_CASE(floor_is_made_up_after_an_exit),
	KUNIT_CASE(contexts_stay_within_capacity),
	KUNIT_CASE(contexts_stay_within_capacity_prealloc),
	KUNIT_CASE(exit_waits_for_another_pool),
	KUNIT_CASE(exit_does_not_wait_for_its_pool),
	KUNIT_CASE(release_waits_for_an_exit),
	KUNIT_CASE(destroy_waits_for_an_exit),
	{}
};

static struct kunit_suite exit_suite = {
	.name = "ants_exit",
	.init = exit_init,
	.test_cases = exit_cases,
};

kunit_test_suite(exit_suite);

MODULE_DESCRIPTION("ants: KUnit tests of a slow worker_exit");
MODULE_LICENSE("GPL");
