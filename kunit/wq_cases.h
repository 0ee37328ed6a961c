/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What drivers rely on with workqueues. workqueue_test.c tries it on pools, with
 * <linux/ants_workqueue.h>, and workqueue_stock_test.c on workqueues, so that the
 * cases themselves are right.
 */
#ifndef _ANTS_KUNIT_WQ_CASES_H
#define _ANTS_KUNIT_WQ_CASES_H

#include "wq.h"

struct own_item {
	struct work_struct work;
	atomic_t *freed;
};

static void own_item_fn(struct work_struct *work)
{
	struct own_item *own = container_of(work, struct own_item, work);
	atomic_t *freed = own->freed;

	memset(own, 0x6b, sizeof(*own));
	kfree(own);
	atomic_inc(freed);
}

static void function_frees_the_item(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	atomic_t freed = ATOMIC_INIT(0);
	struct own_item *own;
	int i;

	for (i = 0; i < 1000; i++) {
		own = kzalloc(sizeof(*own), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, own);
		INIT_WORK(&own->work, own_item_fn);
		own->freed = &freed;
		KUNIT_EXPECT_TRUE(test, queue_work(wq, &own->work));
	}
	flush_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&freed), 1000);
}

static void item_that_runs_is_queued_once_more(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);
	struct gate *gate = wq_gate(test, shape);

	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_FALSE(test, work_pending(&shape->dwork.work));
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	KUNIT_EXPECT_FALSE(test, shape_queue(shape));
	KUNIT_EXPECT_TRUE(test, work_pending(&shape->dwork.work));
	KUNIT_EXPECT_EQ(test, work_busy(&shape->dwork.work),
			(unsigned int)(WORK_BUSY_PENDING | WORK_BUSY_RUNNING));
	gate_open(gate);
	flush_work(&shape->dwork.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 2);
	KUNIT_EXPECT_FALSE(test, shape->overlapped);
	KUNIT_EXPECT_FALSE(test, flush_work(&shape->dwork.work));
}

static void flush_of_all_sees_the_second_run(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct shape *shape = shape_make(test, wq, NULL);
	struct gate *gate = wq_gate(test, shape);

	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	gate_open(gate);
	flush_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 2);
}

static void cancel_takes_back_what_is_pending(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);
	struct gate *gate = wq_gate(test, shape);

	KUNIT_EXPECT_FALSE(test, cancel_work(&shape->dwork.work));
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_FALSE(test, cancel_work(&shape->dwork.work));
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	KUNIT_EXPECT_TRUE(test, cancel_work(&shape->dwork.work));
	gate_open(gate);
	KUNIT_EXPECT_FALSE(test, cancel_work_sync(&shape->dwork.work));
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 1);
}

static void cancel_sync_ends_an_item_that_goes_on(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);
	int runs;

	shape->again = INT_MAX;
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&shape->runs) > 100);
	cancel_delayed_work_sync(&shape->dwork);
	runs = atomic_read(&shape->runs);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->inside), 0);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&shape->dwork));
	KUNIT_EXPECT_FALSE(test, flush_delayed_work(&shape->dwork));
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), runs);
	KUNIT_EXPECT_FALSE(test, shape->overlapped);
	shape->again = 0;
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	flush_work(&shape->dwork.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), runs + 1);
}

static void drain_runs_what_goes_on(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct shape *shape = shape_make(test, wq, NULL);

	shape->again = 1;
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	drain_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 2);
}

/* A delay that no test lives to see. */
#define FAR_OFF	(100 * TEST_DEADLINE)

static void delay_is_changed(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct shape *shape = shape_make(test, wq, NULL);
	struct delayed_work *dwork = &shape->dwork;

	KUNIT_EXPECT_TRUE(test, queue_delayed_work(wq, dwork, FAR_OFF));
	KUNIT_EXPECT_FALSE(test, queue_delayed_work(wq, dwork, 0));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(dwork));
	flush_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 0);
	KUNIT_EXPECT_TRUE(test, mod_delayed_work(wq, dwork, 1));
	EXPECT_SOON(test, atomic_read(&shape->runs) == 1);
	KUNIT_EXPECT_FALSE(test, mod_delayed_work(wq, dwork, FAR_OFF));
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work(dwork));
	KUNIT_EXPECT_FALSE(test, mod_delayed_work(wq, dwork, FAR_OFF));
	flush_delayed_work(dwork);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 2);
}

static void mod_of_an_item_that_runs(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct shape *shape = shape_make(test, wq, NULL);
	struct gate *gate = wq_gate(test, shape);

	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_FALSE(test, mod_delayed_work(wq, &shape->dwork, FAR_OFF));
	KUNIT_EXPECT_TRUE(test, mod_delayed_work(wq, &shape->dwork, 1));
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(&shape->runs) == 2);
	KUNIT_EXPECT_FALSE(test, shape->overlapped);
}

/* An item that becomes another one while it runs. */
struct change {
	struct work_struct work;
	struct workqueue_struct *wq;
	struct gate *first;
	struct gate *second;
};

static void change_second_fn(struct work_struct *work)
{
	gate_task(container_of(work, struct change, work)->second);
}

static void change_first_fn(struct work_struct *work)
{
	struct change *change = container_of(work, struct change, work);

	INIT_WORK(work, change_second_fn);
	queue_work(change->wq, work);
	gate_task(change->first);
}

static int do_flush_item(struct async_call *call)
{
	struct work_struct *work = call->data;

	return flush_work(work);
}

static int do_flush_all(struct async_call *call)
{
	flush_workqueue(call->data);
	return 0;
}

static int do_cancel_item(struct async_call *call)
{
	struct delayed_work *dwork = call->data;

	return cancel_delayed_work_sync(dwork);
}

/* The end of the first one is not that of the second one. */
static void flush_waits_for_what_the_item_has_become(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct change *change = kunit_kzalloc(test, sizeof(*change), GFP_KERNEL);
	struct async_call *flush;

	KUNIT_ASSERT_NOT_NULL(test, change);
	change->wq = wq;
	change->first = test_gate(test);
	change->second = test_gate(test);
	INIT_WORK(&change->work, change_first_fn);
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &change->work));
	EXPECT_SOON(test, atomic_read(&change->second->entered) == 1);
	flush = async_start(test, do_flush_item, &change->work);
	expect_blocked(test, flush);
	gate_open(change->first);
	EXPECT_SOON(test, atomic_read(&change->first->passed) == 1);
	expect_blocked(test, flush);
	gate_open(change->second);
	expect_result(test, flush, true);
	flush_workqueue(wq);
}

/* An item that notes its turn. */
struct turn {
	struct delayed_work dwork;
	int *last;
	int nr;
	bool late;
};

static void turn_fn(struct work_struct *work)
{
	struct turn *turn = container_of(work, struct turn, dwork.work);

	turn->late = *turn->last != turn->nr - 1;
	usleep_range(100, 200);
	*turn->last = turn->nr;
}

#define TURNS	8

/* Queue items that expect to run in that order. */
static struct turn *turns_queue(struct kunit *test, struct workqueue_struct *wq)
{
	struct turn *turns = kunit_kcalloc(test, TURNS, sizeof(*turns), GFP_KERNEL);
	int *last = kunit_kzalloc(test, sizeof(*last), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, turns);
	KUNIT_ASSERT_NOT_NULL(test, last);
	*last = -1;
	for (i = 0; i < TURNS; i++) {
		turns[i].last = last;
		turns[i].nr = i;
		INIT_DELAYED_WORK(&turns[i].dwork, turn_fn);
		KUNIT_EXPECT_TRUE(test, queue_work(wq, &turns[i].dwork.work));
	}
	return turns;
}

static void turns_expect(struct kunit *test, struct turn *turns)
{
	int i;

	for (i = TURNS; i--;) {
		flush_work(&turns[i].dwork.work);
		KUNIT_EXPECT_FALSE(test, turns[i].late);
	}
}

static void ordered_items_take_turns(struct kunit *test)
{
	struct workqueue_struct *wq;

	wq = wq_own(test, alloc_ordered_workqueue("ordered", WQ_FREEZABLE));
	turns_expect(test, turns_queue(test, wq));
}

static int do_flush_delayed_item(struct async_call *call)
{
	struct delayed_work *dwork = call->data;

	return flush_delayed_work(dwork);
}

/* What is no longer delayed keeps its turn, and those that wait for it still do. */
static void flush_of_a_delayed_item_keeps_its_turn(struct kunit *test)
{
	struct workqueue_struct *wq;
	struct async_call *flush, *delayed;
	struct turn *turns;
	struct shape *shape;
	struct gate *gate;

	wq = wq_own(test, alloc_ordered_workqueue("keeps", 0));
	shape = shape_make(test, wq, NULL);
	gate = wq_gate(test, shape);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	turns = turns_queue(test, wq);
	flush = async_start(test, do_flush_item, &turns[0].dwork.work);
	expect_blocked(test, flush);
	delayed = async_start(test, do_flush_delayed_item, &turns[0].dwork);
	expect_blocked(test, delayed);
	expect_blocked(test, flush);
	gate_open(gate);
	expect_result(test, flush, true);
	expect_result(test, delayed, true);
	turns_expect(test, turns);
}

/* As above; an item that runs has its turn as if it did not run. */
static void item_that_runs_keeps_its_next_turn(struct kunit *test)
{
	struct workqueue_struct *wq = wq_own(test, alloc_ordered_workqueue("again", 0));
	struct shape *shape = shape_make(test, wq, NULL);
	struct gate *gate = wq_gate(test, shape);
	struct turn turn = { .nr = 1 };
	int last = 0;

	turn.last = &last;
	INIT_DELAYED_WORK_ONSTACK(&turn.dwork, turn_fn);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &turn.dwork.work));
	gate_let_one(gate);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2 || last);
	KUNIT_EXPECT_EQ_MSG(test, last, 0, "a later item has overtaken it");
	gate_open(gate);
	flush_work(&turn.dwork.work);
	destroy_delayed_work_on_stack(&turn.dwork);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 2);
}

/* The second workqueue has it, though its turn comes after the run in the first. */
static void item_that_runs_is_queued_elsewhere(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct shape *shape = shape_make(test, wq_make(test), NULL);
	struct gate *gate = wq_gate(test, shape);
	struct async_call *flush;

	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &shape->dwork.work));
	flush = async_start(test, do_flush_all, wq);
	expect_blocked(test, flush);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->entered), 1);
	gate_open(gate);
	expect_result(test, flush, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 2);
	KUNIT_EXPECT_FALSE(test, shape->overlapped);
}

/* Wait in another thread, so that a case whose item never ends does. */
static void expect_cancelled(struct kunit *test, struct shape *shape, bool pending)
{
	expect_result(test, async_start(test, do_cancel_item, &shape->dwork), pending);
}

/* It is cancelled as if nothing had been, and serves elsewhere. */
static void expect_usable(struct kunit *test, struct shape *shape, bool pending)
{
	struct workqueue_struct *wq = wq_make(test);
	int runs = atomic_read(&shape->runs);

	KUNIT_EXPECT_EQ(test, delayed_work_pending(&shape->dwork), pending);
	expect_cancelled(test, shape, pending);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&shape->dwork));
	expect_cancelled(test, shape, false);
	KUNIT_EXPECT_FALSE(test, work_busy(&shape->dwork.work));
	shape->gate = NULL;
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &shape->dwork.work));
	flush_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), runs + 1);
}

static void destroy_leaves_a_delayed_item(struct kunit *test)
{
	struct workqueue_struct *wq = alloc_workqueue("short", WQ_UNBOUND, 1);
	struct shape *shape = shape_make(test, wq, NULL);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	KUNIT_EXPECT_TRUE(test, queue_delayed_work(wq, &shape->dwork, FAR_OFF));
	destroy_workqueue(wq);
	expect_usable(test, shape, true);
}

static void item_on_a_stack(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct turn turn = { .nr = 1 };
	int last = 0;

	turn.last = &last;
	INIT_DELAYED_WORK_ONSTACK(&turn.dwork, turn_fn);
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &turn.dwork.work));
	flush_work(&turn.dwork.work);
	destroy_delayed_work_on_stack(&turn.dwork);
	KUNIT_EXPECT_EQ(test, last, 1);
}

static void one_name_serves_twice(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);

	KUNIT_EXPECT_PTR_NE(test, wq_make(test), shape->wq);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	flush_work(&shape->dwork.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 1);
}

#ifdef _LINUX_ANTS_WORKQUEUE_H
/* What becomes of the attributes. */
static void pool_is_what_was_asked_for(struct kunit *test)
{
	struct ants_pool *pool = wq_make(test), *ordered, *bound, *odd, *other;

	ordered = wq_own(test, alloc_ordered_workqueue("order", 0));
	bound = wq_own(test, alloc_workqueue("bound", WQ_HIGHPRI, 2));
	odd = wq_own(test, alloc_workqueue("a b\n\377%c", 0, 1, '\t'));
	other = wq_own(test, alloc_workqueue("system", 0, 1));
	KUNIT_EXPECT_STREQ(test, pool->name, "test!wq");
	KUNIT_EXPECT_STREQ(test, odd->name, "a b!!!");
	KUNIT_EXPECT_STREQ(test, other->name, "system~2");
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 8 * num_online_nodes());
	KUNIT_EXPECT_TRUE(test, pool->flags & ANTS_MEM_RECLAIM);
	KUNIT_EXPECT_FALSE(test, pool->flags & ANTS_FREEZABLE);
	KUNIT_EXPECT_EQ(test, ants_capacity(ordered), 1U);
	KUNIT_EXPECT_EQ(test, ants_tune(ordered, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_capacity(bound), 2 * num_online_cpus());
	KUNIT_EXPECT_TRUE(test, pool->flags & bound->flags & ANTS_FIXED);
}

/* As for a workqueue, a limit that makes no sense becomes one that does. */
static void limit_is_clamped(struct kunit *test)
{
	struct ants_pool *most, *least;

	most = wq_own(test, alloc_workqueue("most", WQ_UNBOUND, INT_MAX));
	least = wq_own(test, alloc_workqueue("least", WQ_UNBOUND, -1));
	KUNIT_EXPECT_EQ(test, ants_capacity(most), WQ_UNBOUND_MAX_ACTIVE * num_online_nodes());
	KUNIT_EXPECT_EQ(test, ants_capacity(least), num_online_nodes());
}

/* What the pool does to an item is what has been done to it. */
static void pool_cancels_an_item(struct kunit *test)
{
	struct ants_pool *pool = wq_own(test, alloc_ordered_workqueue("cancels", 0));
	struct shape *first = shape_make(test, pool, NULL);
	struct shape *shape = shape_make(test, pool, NULL);
	struct gate *gate = wq_gate(test, first);
	struct async_call *flush;

	KUNIT_EXPECT_TRUE(test, shape_queue(first));
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	flush = async_start(test, do_flush_item, &shape->dwork.work);
	expect_blocked(test, flush);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(pool, NULL, NULL), 1U);
	expect_result(test, flush, true);
	expect_usable(test, shape, false);
}

static void pool_is_released_before_an_item_is_due(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);

	KUNIT_EXPECT_TRUE(test, queue_delayed_work(shape->wq, &shape->dwork, FAR_OFF));
	KUNIT_EXPECT_EQ(test, ants_release(shape->wq), 0);
	KUNIT_EXPECT_FALSE(test, flush_work(&shape->dwork.work));
	expect_usable(test, shape, true);
}
#endif

static atomic_t declared_runs;

static void declared_fn(struct work_struct *work)
{
	atomic_inc(&declared_runs);
}

static DECLARE_WORK(declared, declared_fn);
static DECLARE_DELAYED_WORK(declared_later, declared_fn);

static void items_of_the_system(struct kunit *test)
{
	int i;

	atomic_set(&declared_runs, 0);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_TRUE(test, schedule_work(&declared));
		KUNIT_EXPECT_TRUE(test, schedule_delayed_work(&declared_later, 1));
		flush_delayed_work(&declared_later);
		flush_work(&declared);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&declared_runs), 200);
}

#if defined(_LINUX_ANTS_WORKQUEUE_H) || defined(devm_alloc_ordered_workqueue)
#define HAS_NEW_NAMES

static void disabled_item_is_not_queued(struct kunit *test)
{
	struct shape *shape = shape_make(test, wq_make(test), NULL);
	struct delayed_work *dwork = &shape->dwork;

	KUNIT_EXPECT_TRUE(test, queue_delayed_work(shape->wq, dwork, FAR_OFF));
	KUNIT_EXPECT_TRUE(test, disable_delayed_work_sync(dwork));
	KUNIT_EXPECT_FALSE(test, disable_delayed_work(dwork));
	KUNIT_EXPECT_FALSE(test, disable_work(&dwork->work));
	KUNIT_EXPECT_FALSE(test, disable_work_sync(&dwork->work));
	KUNIT_EXPECT_FALSE(test, shape_queue(shape));
	KUNIT_EXPECT_FALSE(test, mod_delayed_work(shape->wq, dwork, 0));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(dwork));
	KUNIT_EXPECT_FALSE(test, enable_delayed_work(dwork));
	KUNIT_EXPECT_FALSE(test, enable_work(&dwork->work));
	KUNIT_EXPECT_FALSE(test, enable_and_queue_work(shape->wq, &dwork->work));
	flush_workqueue(shape->wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 0);
	KUNIT_EXPECT_TRUE(test, enable_and_queue_work(shape->wq, &dwork->work));
	flush_workqueue(shape->wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), 1);
}

static void new_fn(struct work_struct *work)
{
	struct shape *shape = from_work(shape, work, dwork.work);

	atomic_inc(&shape->runs);
}

/* Sources for a new kernel are what they are on an old one. */
static void names_of_new_kernels(struct kunit *test)
{
	struct workqueue_struct *wq = wq_own(test, alloc_workqueue("percpu", WQ_PERCPU, 0));
	struct workqueue_struct *const system[] = {
		system_percpu_wq, system_dfl_wq, system_dfl_long_wq,
	};
	struct shape *shape = shape_make(test, wq, NULL);
	int i;

	INIT_DELAYED_WORK(&shape->dwork, new_fn);
	KUNIT_EXPECT_TRUE(test, shape_queue(shape));
	flush_workqueue(wq);
	for (i = 0; i < ARRAY_SIZE(system); i++) {
		KUNIT_EXPECT_TRUE(test, queue_work(system[i], &shape->dwork.work));
		flush_work(&shape->dwork.work);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&shape->runs), i + 1);
}
#endif

#define STORM_SHAPES	4
#define STORM_ACTS	(1000 * repeats)

struct storm {
	struct shape *shapes[STORM_SHAPES];
	struct completion done;
};

static void storm_act(struct shape *shape, unsigned int act)
{
	if (act < 6)
		shape_queue(shape);
	else if (act < 9)
		mod_delayed_work(shape->wq, &shape->dwork, act % 3);
	else if (act < 11)
		queue_delayed_work(shape->wq, &shape->dwork, act % 2);
	else if (act < 13)
		flush_work(&shape->dwork.work);
	else if (act < 14)
		flush_delayed_work(&shape->dwork);
	else if (act < 15)
		cancel_delayed_work(&shape->dwork);
	else
		cancel_delayed_work_sync(&shape->dwork);
}

static int storm_fn(void *data)
{
	struct storm *storm = data;
	unsigned int i;

	for (i = 0; i < STORM_ACTS; i++)
		storm_act(storm->shapes[get_random_u32() % STORM_SHAPES],
			  get_random_u32() % 16);
	complete(&storm->done);
	return 0;
}

/* Whatever comes together: no two runs of an item overlap, and each call returns. */
static void all_at_once(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	static struct storm storm;
	int i;

	init_completion(&storm.done);
	for (i = 0; i < STORM_SHAPES; i++)
		storm.shapes[i] = shape_make(test, wq, NULL);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(storm_fn, &storm, "storm")));
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&storm.done,
								  TEST_DEADLINE * repeats),
				0UL);
	for (i = 0; i < STORM_SHAPES; i++) {
		cancel_delayed_work_sync(&storm.shapes[i]->dwork);
		KUNIT_EXPECT_FALSE(test, storm.shapes[i]->overlapped);
		KUNIT_EXPECT_GT(test, atomic_read(&storm.shapes[i]->runs), 0);
	}
}

static struct kunit_case wq_cases[] = {
	KUNIT_CASE(function_frees_the_item),
	KUNIT_CASE(item_that_runs_is_queued_once_more),
	KUNIT_CASE(flush_of_all_sees_the_second_run),
	KUNIT_CASE(cancel_takes_back_what_is_pending),
	KUNIT_CASE(cancel_sync_ends_an_item_that_goes_on),
	KUNIT_CASE(drain_runs_what_goes_on),
	KUNIT_CASE(delay_is_changed),
	KUNIT_CASE(mod_of_an_item_that_runs),
	KUNIT_CASE(flush_waits_for_what_the_item_has_become),
	KUNIT_CASE(ordered_items_take_turns),
	KUNIT_CASE(flush_of_a_delayed_item_keeps_its_turn),
	KUNIT_CASE(item_that_runs_keeps_its_next_turn),
	KUNIT_CASE(item_that_runs_is_queued_elsewhere),
	KUNIT_CASE(destroy_leaves_a_delayed_item),
	KUNIT_CASE(item_on_a_stack),
	KUNIT_CASE(one_name_serves_twice),
	KUNIT_CASE(items_of_the_system),
	KUNIT_CASE(all_at_once),
#ifdef _LINUX_ANTS_WORKQUEUE_H
	KUNIT_CASE(pool_is_what_was_asked_for),
	KUNIT_CASE(limit_is_clamped),
	KUNIT_CASE(pool_cancels_an_item),
	KUNIT_CASE(pool_is_released_before_an_item_is_due),
#endif
#ifdef HAS_NEW_NAMES
	KUNIT_CASE(disabled_item_is_not_queued),
	KUNIT_CASE(names_of_new_kernels),
#endif
	{}
};

#endif /* _ANTS_KUNIT_WQ_CASES_H */
