// SPDX-License-Identifier: GPL-2.0-only
/* Work items: every cell of the state table in kernel/work/work.c. */
#include <linux/module.h>

#include "work.h"

/* What a call returns, the state afterwards, and how often the item runs. */
struct outcome {
	int ret;
	enum ants_work_state then;
	int runs;
};

/*
 * One state, in a pool with one thread and room for one more task, and its
 * outcomes.
 */
struct row {
	const char *name;
	enum ants_work_state state;
	int ran;
	bool told;
	struct outcome queue;
	struct outcome delay;
	struct outcome cancel;
};

#define S(state)	ANTS_WORK_##state

static const struct row rows[] = {
	{ "fresh", S(IDLE), 0, false,
	  { 0, S(PENDING), 1 }, { 0, S(DELAYED), 0 }, { 0, S(IDLE), 0 } },
	{ "ended", S(IDLE), 1, false,
	  { 0, S(PENDING), 2 }, { 0, S(DELAYED), 1 }, { 0, S(IDLE), 1 } },
	{ "delayed", S(DELAYED), 0, false,
	  { -EALREADY, S(DELAYED), 0 }, { -EALREADY, S(DELAYED), 0 },
	  { 1, S(IDLE), 0 } },
	{ "due", S(DUE), 0, false,
	  { -EALREADY, S(DUE), 1 }, { -EALREADY, S(DUE), 1 },
	  { 1, S(IDLE), 0 } },
	{ "waiting", S(WAITING), 0, false,
	  { -EALREADY, S(WAITING), 1 }, { -EALREADY, S(WAITING), 1 },
	  { 1, S(IDLE), 0 } },
	{ "pending", S(PENDING), 0, false,
	  { -EALREADY, S(PENDING), 1 }, { -EALREADY, S(PENDING), 1 },
	  { 1, S(IDLE), 0 } },
	{ "running", S(RUNNING), 0, false,
	  { 0, S(AGAIN), 2 }, { 0, S(REARMED), 1 }, { 0, S(RUNNING), 1 } },
	{ "again", S(AGAIN), 0, false,
	  { -EALREADY, S(AGAIN), 2 }, { -EALREADY, S(AGAIN), 2 },
	  { 1, S(RUNNING), 1 } },
	{ "rearmed", S(REARMED), 0, false,
	  { -EALREADY, S(REARMED), 2 }, { -EALREADY, S(REARMED), 2 },
	  { 1, S(RUNNING), 1 } },
	{ "running, told", S(RUNNING), 0, true,
	  { 0, S(AGAIN), 2 }, { 0, S(REARMED), 1 }, { 0, S(RUNNING), 1 } },
};

/* One row under test: its item, its pool, and another pool. */
struct cell {
	const struct row *row;
	struct kunit *test;
	struct rig *rig;
	struct rig *other;
	struct item *item;
	struct async_call *submitter;
	bool cancelled;
};

static int delay(struct cell *c, unsigned long delay)
{
	return ants_queue_delayed_work(c->rig->pool, &c->item->dwork, delay);
}

static int queue(struct cell *c)
{
	return ants_queue_work(c->rig->pool, work_of(c->item));
}

static void enter_running(struct cell *c)
{
	item_start(c->rig, c->item, &c->rig->gate);
	if (c->row->state == S(AGAIN))
		KUNIT_ASSERT_EQ(c->test, queue(c), 0);
	if (c->row->state == S(REARMED))
		KUNIT_ASSERT_EQ(c->test, delay(c, 1), 0);
	if (c->row->told)
		KUNIT_ASSERT_FALSE(c->test, ants_work_cancel(work_of(c->item)));
}

/* A task runs already, and the pool has room for one more. */
static void enter_queued(struct cell *c)
{
	fill_pool(c->test, c->rig->pool, &c->rig->gate, 1);
	if (c->row->state == S(PENDING))
		KUNIT_ASSERT_EQ(c->test, queue(c), 0);
	if (c->row->state == S(DELAYED))
		KUNIT_ASSERT_EQ(c->test, delay(c, NEVER), 0);
	if (c->row->state == S(DUE) || c->row->state == S(WAITING))
		fill_up(c->rig);
	if (c->row->state == S(DUE))
		KUNIT_ASSERT_EQ(c->test, delay(c, 0), 0);
	if (c->row->state == S(WAITING))
		c->submitter = start_queue(c->rig, c->item, FOREVER);
}

/* Bring the item into the state of the row. */
static void enter(struct cell *c)
{
	item_init(c->item);
	c->submitter = NULL;
	c->cancelled = false;
	gate_init(&c->rig->gate);
	if (c->row->ran) {
		KUNIT_ASSERT_EQ(c->test, queue(c), 0);
		expect_ended(c->test, c->item, 1, RESULT(1));
	}
	if (c->row->state >= S(RUNNING))
		enter_running(c);
	else
		enter_queued(c);
	ASSERT_SOON(c->test, state_of(c->item) == c->row->state);
}

/* Everything runs to its end; an item that never becomes due is cancelled. */
static void leave(struct cell *c, int runs)
{
	gate_open(&c->rig->gate);
	if (c->submitter)
		KUNIT_EXPECT_EQ(c->test, async_result(c->submitter),
				c->cancelled ? -ECANCELED : 0);
	EXPECT_SOON(c->test, atomic_read(&c->item->ran) >= runs);
	EXPECT_SOON(c->test, state_of(c->item) == S(IDLE) ||
		    state_of(c->item) == S(DELAYED));
	if (ants_work_cancel_sync(work_of(c->item)))
		c->cancelled = true;
	expect_ended(c->test, c->item, runs,
		     c->cancelled ? -ECANCELED : runs ? RESULT(runs) : -EINVAL);
	KUNIT_ASSERT_EQ(c->test, ants_flush_timeout(c->rig->pool,
						    TEST_DEADLINE), 0);
}

/* The call returned @ret; check the state, and what follows. */
static void expect_outcome(struct cell *c, int ret, const struct outcome *o)
{
	KUNIT_EXPECT_EQ_MSG(c->test, ret, o->ret, "%s", c->row->name);
	KUNIT_EXPECT_EQ_MSG(c->test, state_of(c->item), o->then, "%s",
			    c->row->name);
	leave(c, o->runs);
}

static void each_row(struct kunit *test, void (*try)(struct cell *c))
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct cell c = { .test = test, .item = items_alloc(test, 1) };
	int i;

	c.rig = rig_make(test, "cell", attrs);
	c.other = rig_make(test, "cell-other", attrs);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c.row = &rows[i];
		enter(&c);
		try(&c);
	}
}

static void try_queue(struct cell *c)
{
	expect_outcome(c, queue(c), &c->row->queue);
}

static void table_queue(struct kunit *test)
{
	each_row(test, try_queue);
}

static void try_queue_timeout(struct cell *c)
{
	int ret = ants_queue_work_timeout(c->rig->pool, work_of(c->item), 0);

	expect_outcome(c, ret, &c->row->queue);
}

static void table_queue_timeout(struct kunit *test)
{
	each_row(test, try_queue_timeout);
}

static void try_delay(struct cell *c)
{
	expect_outcome(c, delay(c, NEVER), &c->row->delay);
}

static void table_queue_delayed(struct kunit *test)
{
	each_row(test, try_delay);
}

static void try_cancel(struct cell *c)
{
	bool ret = ants_work_cancel(work_of(c->item));

	c->cancelled = ret && c->row->state < S(RUNNING);
	expect_outcome(c, ret, &c->row->cancel);
}

static void table_cancel(struct kunit *test)
{
	each_row(test, try_cancel);
}

/* A running item is waited for, is told, and cannot be queued meanwhile. */
static void cancel_sync_running(struct cell *c)
{
	struct async_call *call = rig_async(c->rig, do_cancel_sync, 0, c->item);

	EXPECT_SOON(c->test, nr_waiters_of(c->item) == 1);
	KUNIT_EXPECT_EQ_MSG(c->test, state_of(c->item), S(RUNNING), "%s",
			    c->row->name);
	KUNIT_EXPECT_TRUE(c->test, ants_work_cancelled(work_of(c->item)));
	KUNIT_EXPECT_EQ(c->test, queue(c), -ECANCELED);
	KUNIT_EXPECT_EQ(c->test, delay(c, 1), -ECANCELED);
	expect_blocked(c->test, call);
	gate_open(&c->rig->gate);
	KUNIT_EXPECT_EQ_MSG(c->test, async_result(call), c->row->cancel.ret,
			    "%s", c->row->name);
	KUNIT_EXPECT_TRUE(c->test, c->item->told);
	leave(c, c->row->cancel.runs);
}

static void try_cancel_sync(struct cell *c)
{
	bool ret;

	if (c->row->state >= S(RUNNING)) {
		cancel_sync_running(c);
		return;
	}
	ret = ants_work_cancel_sync(work_of(c->item));
	c->cancelled = ret;
	expect_outcome(c, ret, &c->row->cancel);
}

static void table_cancel_sync(struct kunit *test)
{
	each_row(test, try_cancel_sync);
}

/* How often the item runs by itself is what a refused queue reports. */
static int runs_alone(const struct row *row)
{
	if (row->state == S(IDLE))
		return row->ran;
	return row->state == S(RUNNING) ? 1 : row->queue.runs;
}

/* Only an item that is in no pool has a result yet. */
static void try_wait(struct cell *c)
{
	const struct row *row = c->row;
	int ret, result = 0;

	ret = ants_work_wait_timeout(work_of(c->item), 1, &result);
	KUNIT_EXPECT_EQ_MSG(c->test, ret,
			    row->state == S(IDLE) ? 0 : -ETIMEDOUT, "%s",
			    row->name);
	if (row->state == S(IDLE))
		KUNIT_EXPECT_EQ(c->test, result,
				row->ran ? RESULT(row->ran) : -EINVAL);
	KUNIT_EXPECT_EQ(c->test, nr_waiters_of(c->item), 0);
	KUNIT_EXPECT_EQ_MSG(c->test, state_of(c->item), row->state, "%s",
			    row->name);
	leave(c, runs_alone(row));
}

static void table_wait(struct kunit *test)
{
	each_row(test, try_wait);
}

/* A wait covers the last of the runs that were asked for. */
static void try_wait_end(struct cell *c)
{
	int runs = runs_alone(c->row);
	struct async_call *call;

	if (c->row->state == S(IDLE) || c->row->state == S(DELAYED)) {
		leave(c, runs);
		return;
	}
	call = start_wait(c->rig, c->item, FOREVER);
	expect_blocked(c->test, call);
	gate_open(&c->rig->gate);
	expect_waited(c->test, call, RESULT(runs));
	leave(c, runs);
}

static void table_wait_end(struct kunit *test)
{
	each_row(test, try_wait_end);
}

/*
 * Another pool accepts an item that is in none, and refuses the others in each
 * way.
 */
static void try_other(struct cell *c)
{
	struct ants_pool *pool = c->other->pool;
	struct ants_work *work = work_of(c->item);

	if (c->row->state == S(IDLE)) {
		KUNIT_EXPECT_EQ(c->test, ants_queue_work(pool, work), 0);
		expect_ended(c->test, c->item, c->row->ran + 1,
			     RESULT(c->row->ran + 1));
		leave(c, c->row->ran + 1);
		return;
	}
	KUNIT_EXPECT_EQ(c->test, ants_queue_work(pool, work), -EALREADY);
	KUNIT_EXPECT_EQ(c->test, ants_queue_work_timeout(pool, work, FOREVER),
			-EALREADY);
	KUNIT_EXPECT_EQ(c->test, ants_queue_delayed_work(pool, &c->item->dwork,
							 0), -EALREADY);
	KUNIT_EXPECT_EQ_MSG(c->test, state_of(c->item), c->row->state, "%s",
			    c->row->name);
	leave(c, runs_alone(c->row));
}

static void table_other_pool(struct kunit *test)
{
	each_row(test, try_other);
}

/* A closed pool accepts no item; accepted ones run to their end. */
static void released_pool_refuses(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_make(test, "closed", attrs);

	item_start(rig, &items[0], &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[0])),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool,
						      work_of(&items[1]), 1),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool,
						      &items[1].dwork, 1),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 4);
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 0, -EINVAL);
}

static void null_function_is_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "nofn", attrs);

	INIT_ANTS_DELAYED_WORK(&item->dwork, NULL);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool, work_of(item),
						      1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &item->dwork,
						      1), -EINVAL);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 0);
	expect_ended(test, item, 0, -EINVAL);
}

/* Only its work item was initialised: no timer would ever queue it. */
static void delayed_item_without_a_timer(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "notimer", attrs);

	memset(&item->dwork, 0, sizeof(item->dwork));
	INIT_ANTS_WORK(work_of(item), item_fn);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &item->dwork,
						      1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork, 1),
			-EINVAL);
	expect_ended(test, item, 0, -EINVAL);
}

static struct kunit_case work_cases[] = {
	KUNIT_CASE(table_queue),
	KUNIT_CASE(table_queue_timeout),
	KUNIT_CASE(table_queue_delayed),
	KUNIT_CASE(table_cancel),
	KUNIT_CASE(table_cancel_sync),
	KUNIT_CASE(table_wait),
	KUNIT_CASE(table_wait_end),
	KUNIT_CASE(table_other_pool),
	KUNIT_CASE(released_pool_refuses),
	KUNIT_CASE(null_function_is_refused),
	KUNIT_CASE(delayed_item_without_a_timer),
	{}
};

static struct kunit_suite work_suite = {
	.name = "ants_work",
	.test_cases = work_cases,
};

kunit_test_suite(work_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the states of work items");
MODULE_LICENSE("GPL");
