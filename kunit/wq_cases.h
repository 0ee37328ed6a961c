/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What drivers rely on with workqueues. workqueue_test.c tries it on pools, with
 * <linux/ants_workqueue.h>, and workqueue_stock_test.c on workqueues, so that the
 * cases themselves are right.
 */
#ifndef _ANTS_KUNIT_WQ_CASES_H
#define _ANTS_KUNIT_WQ_CASES_H

/* An item that counts its runs, and may have to pass a gate in each. */
struct shape {
	struct delayed_work dwork;
	struct workqueue_struct *wq;
	struct gate *gate;
	atomic_t runs;
	atomic_t inside;
	bool overlapped;
	int again;
};

static void shape_fn(struct work_struct *work)
{
	struct shape *shape = container_of(work, struct shape, dwork.work);

	if (atomic_inc_return(&shape->inside) > 1)
		shape->overlapped = true;
	if (shape->gate)
		gate_task(shape->gate);
	if (shape->again) {
		shape->again--;
		queue_delayed_work(shape->wq, &shape->dwork, shape->again % 2);
	}
	atomic_dec(&shape->inside);
	atomic_inc(&shape->runs);
}

static void wq_free(struct kunit_resource *res)
{
	destroy_workqueue(res->data);
}

static struct workqueue_struct *wq_own(struct kunit *test,
				       struct workqueue_struct *wq)
{
	KUNIT_ASSERT_NOT_NULL(test, wq);
	kunit_alloc_resource(test, test_pool_init, wq_free, GFP_KERNEL, wq);
	return wq;
}

static struct workqueue_struct *wq_make(struct kunit *test)
{
	return wq_own(test, alloc_workqueue("test/%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 8,
					    "wq"));
}

/* The item goes before the workqueue does. */
static void shape_end(struct kunit_resource *res)
{
	struct shape *shape = res->data;

	cancel_delayed_work_sync(&shape->dwork);
	kfree(shape);
}

static struct shape *shape_make(struct kunit *test, struct workqueue_struct *wq,
				struct gate *gate)
{
	struct shape *shape = kzalloc(sizeof(*shape), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shape);
	INIT_DELAYED_WORK(&shape->dwork, shape_fn);
	shape->wq = wq;
	shape->gate = gate;
	kunit_alloc_resource(test, test_pool_init, shape_end, GFP_KERNEL, shape);
	return shape;
}

/* A closed gate that is opened before what waits for the items behind it. */
static struct gate *wq_gate(struct kunit *test, struct shape *shape)
{
	shape->gate = test_gate(test);
	return shape->gate;
}

static bool shape_queue(struct shape *shape)
{
	return queue_work(shape->wq, &shape->dwork.work);
}

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

/* An item that notes its turn. */
struct turn {
	struct work_struct work;
	int *last;
	int nr;
	bool late;
};

static void turn_fn(struct work_struct *work)
{
	struct turn *turn = container_of(work, struct turn, work);

	turn->late = *turn->last != turn->nr - 1;
	usleep_range(100, 200);
	*turn->last = turn->nr;
}

static void ordered_items_take_turns(struct kunit *test)
{
	struct turn *turns = kunit_kcalloc(test, 8, sizeof(*turns), GFP_KERNEL);
	struct workqueue_struct *wq;
	int i, last = -1;

	KUNIT_ASSERT_NOT_NULL(test, turns);
	wq = wq_own(test, alloc_ordered_workqueue("ordered", WQ_FREEZABLE));
	for (i = 0; i < 8; i++) {
		turns[i].last = &last;
		turns[i].nr = i;
		INIT_WORK(&turns[i].work, turn_fn);
		KUNIT_EXPECT_TRUE(test, queue_work(wq, &turns[i].work));
	}
	for (i = 8; i--;) {
		flush_work(&turns[i].work);
		KUNIT_EXPECT_FALSE(test, turns[i].late);
	}
}

static void item_on_a_stack(struct kunit *test)
{
	struct workqueue_struct *wq = wq_make(test);
	struct turn turn = { .nr = 1 };
	int last = 0;

	turn.last = &last;
	INIT_WORK_ONSTACK(&turn.work, turn_fn);
	KUNIT_EXPECT_TRUE(test, queue_work(wq, &turn.work));
	flush_work(&turn.work);
	destroy_work_on_stack(&turn.work);
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
	struct ants_pool *pool = wq_make(test), *ordered, *bound, *odd, *table;

	ordered = wq_own(test, alloc_ordered_workqueue("order", 0));
	bound = wq_own(test, alloc_workqueue("bound", WQ_HIGHPRI, 2));
	odd = wq_own(test, alloc_workqueue("a b\n\377%c", 0, 1, '\t'));
	table = wq_own(test, alloc_workqueue("summary", 0, 1));
	KUNIT_EXPECT_STREQ(test, pool->name, "test!wq");
	KUNIT_EXPECT_STREQ(test, odd->name, "a b!!!");
	KUNIT_EXPECT_STREQ(test, table->name, "summary~2");
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 8 * num_online_nodes());
	KUNIT_EXPECT_TRUE(test, pool->flags & ANTS_MEM_RECLAIM);
	KUNIT_EXPECT_FALSE(test, pool->flags & ANTS_FREEZABLE);
	KUNIT_EXPECT_EQ(test, ants_capacity(ordered), 1U);
	KUNIT_EXPECT_EQ(test, ants_tune(ordered, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_capacity(bound), 2 * num_online_cpus());
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
	KUNIT_CASE(ordered_items_take_turns),
	KUNIT_CASE(item_on_a_stack),
	KUNIT_CASE(one_name_serves_twice),
	KUNIT_CASE(items_of_the_system),
	KUNIT_CASE(all_at_once),
#ifdef _LINUX_ANTS_WORKQUEUE_H
	KUNIT_CASE(pool_is_what_was_asked_for),
#endif
	{}
};

#endif /* _ANTS_KUNIT_WQ_CASES_H */
