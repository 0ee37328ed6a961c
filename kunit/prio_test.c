// SPDX-License-Identifier: GPL-2.0-only
/*
 * Priorities and batches. The order of starts is that of a pool with one
 * worker, which is held at a gate until all tasks are pending or their
 * submitters wait.
 */
#include "async.h"

#define NR	40

/* The order in which tasks started; those of high priority are positive. */
static int order[NR + 8];
static atomic_t nr_started;

static void note_fn(void *data)
{
	int at = atomic_inc_return(&nr_started) - 1;

	if (at < ARRAY_SIZE(order))
		order[at] = (long)data;
}

static int note_work(struct ants_work *work)
{
	note_fn((void *)1L);
	return 0;
}

static int prio_init(struct kunit *test)
{
	atomic_set(&nr_started, 0);
	memset(order, 0, sizeof(order));
	return 0;
}

/* A pool whose only worker is at @gate. */
static struct ants_pool *held_pool(struct kunit *test, unsigned int depth,
				   struct gate **gate)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = depth };
	struct ants_pool *pool = test_pool(test, &attrs, "held");

	*gate = test_gate(test);
	fill_pool(test, pool, *gate, 1);
	return pool;
}

static void run_all(struct kunit *test, struct ants_pool *pool,
		    struct gate *gate, int nr)
{
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(&nr_started) == nr);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

static void high_goes_ahead(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = held_pool(test, 8, &gate);
	long i;

	for (i = 1; i <= 3; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(pool, note_fn, (void *)-i),
				0);
	for (i = 1; i <= 3; i++)
		KUNIT_ASSERT_EQ(test, ants_submit_prio(pool, note_fn,
						       (void *)i,
						       ANTS_PRIO_HIGH, 0),
				0);
	run_all(test, pool, gate, 6);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, order[i], (int)i + 1);
		KUNIT_EXPECT_EQ(test, order[3 + i], (int)-i - 1);
	}
}

/* Of NR + 1 starts every ninth is a normal task, while there are any. */
static void eight_in_a_row_then_another(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = held_pool(test, 2 * NR, &gate);
	long i;

	for (i = 1; i <= 4; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(pool, note_fn, (void *)-i),
				0);
	for (i = 1; i <= NR; i++)
		KUNIT_ASSERT_EQ(test, ants_submit_prio(pool, note_fn,
						       (void *)i,
						       ANTS_PRIO_HIGH, 0),
				0);
	run_all(test, pool, gate, NR + 4);
	for (i = 0; i < NR + 4; i++)
		KUNIT_EXPECT_EQ_MSG(test, order[i] < 0,
				    i % 9 == 8 && i / 9 < 4, "start %ld", i);
}

/* A work item has a priority, too, and a cancelled one leaves no gap. */
static void work_items_have_a_priority(struct kunit *test)
{
	struct gate *gate;
	struct ants_pool *pool = held_pool(test, 8, &gate);
	static struct ants_work first, second;

	INIT_ANTS_WORK(&first, note_work);
	INIT_ANTS_WORK(&second, note_work);
	first.prio = ANTS_PRIO_HIGH;
	second.prio = ANTS_PRIO_HIGH;
	KUNIT_EXPECT_EQ(test, ants_submit(pool, note_fn, (void *)-1L), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, &first), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, &second), 0);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(&first));
	run_all(test, pool, gate, 2);
	KUNIT_EXPECT_EQ(test, order[0], 1);
	KUNIT_EXPECT_EQ(test, order[1], -1);
}

struct prio_call {
	struct ants_pool *pool;
	enum ants_prio prio;
	long id;
};

static int do_prio(struct async_call *call)
{
	struct prio_call *c = call->data;

	return ants_submit_prio(c->pool, note_fn, (void *)c->id, c->prio,
				FOREVER);
}

/* Start @nr callers that wait, one after the other. */
static void queue_callers(struct kunit *test, struct ants_pool *pool,
			  struct async_call **callers, struct prio_call *calls,
			  enum ants_prio prio, int nr)
{
	unsigned int before = ants_nr_waiting(pool);
	int i;

	for (i = 0; i < nr; i++) {
		calls[i].pool = pool;
		calls[i].prio = prio;
		calls[i].id = prio == ANTS_PRIO_HIGH ? i + 1 : -i - 1;
		callers[i] = async_start(test, do_prio, &calls[i]);
		EXPECT_SOON(test, ants_nr_waiting(pool) == before + i + 1);
	}
}

/*
 * 20 callers of high priority came last and go first, except for every ninth
 * grant.
 */
static void callers_of_high_priority_are_served_first(struct kunit *test)
{
	static struct prio_call normal[4], high[20];
	struct async_call *callers[24];
	struct gate *gate;
	struct ants_pool *pool = held_pool(test, 0, &gate);
	int i;

	queue_callers(test, pool, callers, normal, ANTS_PRIO_NORMAL, 4);
	queue_callers(test, pool, callers + 4, high, ANTS_PRIO_HIGH, 20);
	run_all(test, pool, gate, 24);
	for (i = 0; i < 24; i++)
		KUNIT_EXPECT_EQ(test, async_result(callers[i]), 0);
	for (i = 0; i < 22; i++)
		KUNIT_EXPECT_EQ_MSG(test, order[i] < 0, i % 9 == 8,
				    "start %d", i);
	KUNIT_EXPECT_LT(test, order[22], 0);
}

/* However many they are, callers that wait hold no slots. */
static void waiters_hold_no_slots(struct kunit *test)
{
	static struct prio_call normal[64], high[2], late;
	struct async_call *callers[67];
	struct gate *gate;
	struct ants_pool *pool = held_pool(test, 0, &gate);
	int i, nr = ants_peek(pool->nr_stock);

	KUNIT_ASSERT_LE(test, nr, 64);
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	queue_callers(test, pool, callers, normal, ANTS_PRIO_NORMAL, nr);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->nr_stock), (unsigned int)nr);
	queue_callers(test, pool, callers + nr, high, ANTS_PRIO_HIGH, 2);
	queue_callers(test, pool, callers + nr + 2, &late, ANTS_PRIO_NORMAL, 1);
	gate_open(gate);
	for (i = 0; i < nr + 3; i++)
		KUNIT_EXPECT_EQ(test, async_result(callers[i]), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, order[0], 1);
	KUNIT_EXPECT_EQ(test, order[1], 2);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
}

static void unknown_priorities_are_refused(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "unknown");
	struct ants_task task = { .fn = note_fn, .prio = 2 };
	struct ants_work work;

	KUNIT_EXPECT_EQ(test, ants_submit_prio(pool, note_fn, NULL, 2, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, &task, 1), -EINVAL);
	INIT_ANTS_WORK(&work, note_work);
	work.prio = 2;
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, &work), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_started), 0);
}

static void fill_tasks(struct ants_task *tasks, int nr)
{
	long i;

	for (i = 0; i < nr; i++)
		tasks[i] = (struct ants_task){ note_fn, (void *)(i + 1) };
}

/* As many tasks were pending before, so the fast path is open behind the first one. */
static struct ants_pool *batch_pool(struct kunit *test, struct ants_task *tasks,
				    struct gate **gate)
{
	struct ants_pool *pool = held_pool(test, NR, gate);

	fill_tasks(tasks, NR);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, NR), NR);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(pool, NULL, NULL), (unsigned int)NR);
	return pool;
}

static void batch_is_accepted_in_order(struct kunit *test)
{
	static struct ants_task tasks[NR];
	struct gate *gate;
	struct ants_pool *pool = batch_pool(test, tasks, &gate);
	int i;

	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, NR), NR);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), (unsigned int)NR);
	run_all(test, pool, gate, NR);
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_EQ(test, order[i], i + 1);
}

/* Wherever they are in it, also behind those that could take the fast path. */
static void urgent_tasks_of_a_batch_go_first(struct kunit *test)
{
	static struct ants_task tasks[NR];
	struct gate *gate;
	struct ants_pool *pool = batch_pool(test, tasks, &gate);
	int i;

	tasks[NR / 2].prio = ANTS_PRIO_HIGH;
	tasks[NR - 1].prio = ANTS_PRIO_HIGH;
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, NR), NR);
	run_all(test, pool, gate, NR);
	KUNIT_EXPECT_EQ(test, order[0], NR / 2 + 1);
	KUNIT_EXPECT_EQ(test, order[1], NR);
	for (i = 2; i < NR; i++)
		KUNIT_EXPECT_EQ(test, order[i], i - 1 + (i - 2 >= NR / 2));
}

static void batch_stops_where_the_pool_is_full(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 5,
				    .flags = ANTS_NONBLOCKING };
	struct ants_pool *pool = test_pool(test, &attrs, "part");
	struct gate *gate = test_gate(test);
	static struct ants_task tasks[NR];

	fill_tasks(tasks, NR);
	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, NR), 5);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, NR), -EAGAIN);
	run_all(test, pool, gate, 5);
	KUNIT_EXPECT_EQ(test, stats_of(pool).submitted, 6ULL);
}

static void batch_waits_for_room(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 3 };
	struct ants_pool *pool = test_pool(test, &attrs, "waits");
	static struct ants_task tasks[NR];

	fill_tasks(tasks, NR);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, NR), NR);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_started), NR);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_busy, 2U);
}

static void bad_batch_is_refused_whole(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "bad");
	struct ants_task tasks[3];

	fill_tasks(tasks, 3);
	tasks[2].fn = NULL;
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, 3), -EINVAL);
	tasks[1].prio = 2;
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, 2), -EINVAL);
	tasks[1].prio = ANTS_PRIO_NORMAL;
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, tasks, 2), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_started), 0);
}

/* A count that could not be told from an error; no task is examined. */
static void batch_that_is_too_long(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "long");

	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, NULL, 1U + INT_MAX),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_submit_batch(pool, NULL, UINT_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, stats_of(pool).rejected, 0ULL);
}

static struct kunit_case prio_cases[] = {
	KUNIT_CASE(high_goes_ahead),
	KUNIT_CASE(eight_in_a_row_then_another),
	KUNIT_CASE(work_items_have_a_priority),
	KUNIT_CASE(callers_of_high_priority_are_served_first),
	KUNIT_CASE(waiters_hold_no_slots),
	KUNIT_CASE(unknown_priorities_are_refused),
	KUNIT_CASE(batch_is_accepted_in_order),
	KUNIT_CASE(urgent_tasks_of_a_batch_go_first),
	KUNIT_CASE(batch_stops_where_the_pool_is_full),
	KUNIT_CASE(batch_waits_for_room),
	KUNIT_CASE(bad_batch_is_refused_whole),
	KUNIT_CASE(batch_that_is_too_long),
	{}
};

static struct kunit_suite prio_suite = {
	.name = "ants_prio",
	.init = prio_init,
	.test_cases = prio_cases,
};

kunit_test_suite(prio_suite);

MODULE_DESCRIPTION("ants: KUnit tests of priorities and batches");
MODULE_LICENSE("GPL");
