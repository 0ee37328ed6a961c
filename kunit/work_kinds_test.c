// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items that are detached, static, or on a stack; postponing a run; and
 * waiting for one run of an item that goes on.
 */
#include <linux/debug_locks.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "work.h"

static struct rig *rig_of(struct kunit *test, unsigned int queue_depth)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = queue_depth };

	return rig_make(test, "kinds", attrs);
}

/* An item that frees itself. */
struct own {
	struct ants_delayed_work dwork;
	atomic_t *freed;
};

static int own_free(struct ants_work *work)
{
	struct own *own = container_of(work, struct own, dwork.work);
	atomic_t *freed = own->freed;

	memset(own, 0x6b, sizeof(*own));
	kfree(own);
	atomic_inc(freed);
	return 0;
}

static struct own *own_make(struct kunit *test, atomic_t *freed)
{
	struct own *own = kzalloc(sizeof(*own), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, own);
	INIT_ANTS_DELAYED_WORK_DETACHED(&own->dwork, own_free);
	own->freed = freed;
	return own;
}

static void detached_item_frees_itself(struct kunit *test)
{
	struct rig *rig = rig_of(test, 32);
	struct own *own;
	int i, err;

	for (i = 0; i < 1020; i++) {
		own = own_make(test, &rig->count);
		err = i < 1000 ? ants_queue_work_timeout(rig->pool,
							 &own->dwork.work,
							 FOREVER) :
				 ants_queue_delayed_work(rig->pool, &own->dwork,
							 i % 3);
		KUNIT_ASSERT_EQ(test, err, 0);
	}
	EXPECT_SOON(test, atomic_read(&rig->count) == 1020);
	expect_counted(test, rig->pool, 1020, 0);
}

static void detached_item_that_has_not_started(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct rig *rig = rig_make_full(test, "kinds", attrs);
	struct own *own = own_make(test, &rig->count);
	struct ants_group group;

	KUNIT_EXPECT_EQ(test, ants_group_init(&group, rig->pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_group_submit(&group, &own->dwork.work),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, &own->dwork.work), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, &own->dwork.work),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&own->dwork.work, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&own->dwork.work, 1, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ants_work_flush(&own->dwork.work), -EINVAL);
	KUNIT_EXPECT_TRUE(test, ants_work_pending(&own->dwork.work));
	KUNIT_EXPECT_TRUE(test, ants_work_cancel_sync(&own->dwork.work));
	KUNIT_EXPECT_FALSE(test, ants_work_pending(&own->dwork.work));
	kfree(own);
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, 2, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
}

static atomic_t static_runs;

static int static_fn(struct ants_work *work)
{
	return atomic_inc_return(&static_runs);
}

static DEFINE_ANTS_WORK(static_work, static_fn);
static DEFINE_ANTS_DELAYED_WORK(static_delayed, static_fn);

static void items_defined_statically(struct kunit *test)
{
	struct rig *rig = rig_of(test, 1);
	int result = 0;

	atomic_set(&static_runs, 0);
	KUNIT_EXPECT_EQ(test, ants_work_result(&static_work), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, &static_work), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&static_work, &result), 0);
	KUNIT_EXPECT_EQ(test, result, 1);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool,
						      &static_delayed, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&static_delayed.work, &result), 0);
	KUNIT_EXPECT_EQ(test, result, 2);
}

/* DEBUG_OBJECTS_TIMERS would report it. */
static void delayed_item_on_a_stack(struct kunit *test)
{
	struct rig *rig = rig_of(test, 0);
	struct ants_delayed_work dwork;
	int result = 0;

	INIT_ANTS_DELAYED_WORK_ONSTACK(&dwork, static_fn);
	atomic_set(&static_runs, 6);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &dwork, 2), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&dwork.work, &result), 0);
	KUNIT_EXPECT_EQ(test, result, 7);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &dwork, NEVER),
			0);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel_sync(&dwork.work));
	ants_destroy_delayed_work_on_stack(&dwork);
}

static int mod(struct rig *rig, struct item *item, unsigned long delay)
{
	return ants_mod_delayed_work(rig->pool, &item->dwork, delay);
}

/* One thread that is held, and @item queued behind it or about to be. */
static void mod_of_one_that_does_not_run(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 1);

	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, mod(rig, item, NEVER), 0);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_DELAYED);
	KUNIT_EXPECT_EQ(test, mod(rig, item, 0), 1);
	EXPECT_SOON(test, state_of(item) == ANTS_WORK_PENDING);
	KUNIT_EXPECT_EQ(test, mod(rig, item, NEVER), 1);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_DELAYED);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 0);
	fill_up(rig);
	KUNIT_EXPECT_EQ(test, mod(rig, item, 0), 1);
	EXPECT_SOON(test, state_of(item) == ANTS_WORK_DUE);
	KUNIT_EXPECT_EQ(test, mod(rig, item, NEVER), 1);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_DELAYED);
	KUNIT_EXPECT_EQ(test, mod(rig, item, 1), 1);
	gate_open(&rig->gate);
	expect_ended(test, item, 1, RESULT(1));
	expect_counted(test, rig->pool, 4, 1);
}

static void mod_of_one_that_runs(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 1);

	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, mod(rig, item, NEVER), 0);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_REARMED);
	KUNIT_EXPECT_EQ(test, mod(rig, item, 2), 1);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_AGAIN);
	KUNIT_EXPECT_EQ(test, mod(rig, item, 1), 1);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_REARMED);
	gate_open(&rig->gate);
	expect_ended(test, item, 2, RESULT(2));
	expect_counted(test, rig->pool, 3, 1);
}

static void mod_that_is_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct item *items = items_alloc(test, 3);
	struct rig *rig = rig_of(test, 0);
	struct rig *other = rig_make(test, "other", attrs);
	struct async_call *submitter, *cancel;

	item_start(rig, &items[0], &rig->gate);
	submitter = start_queue(rig, &items[1], FOREVER);
	KUNIT_EXPECT_EQ(test, mod(rig, &items[1], 0), -EALREADY);
	KUNIT_EXPECT_EQ(test, mod(other, &items[0], 0), -EALREADY);
	cancel = rig_async(rig, do_cancel_sync, 0, &items[0]);
	EXPECT_SOON(test, nr_waiters_of(&items[0]) == 1);
	KUNIT_EXPECT_EQ(test, mod(rig, &items[0], 0), -ECANCELED);
	KUNIT_EXPECT_EQ(test, ants_release(other->pool), 0);
	KUNIT_EXPECT_EQ(test, mod(other, &items[2], 0), -ESHUTDOWN);
	work_of(&items[2])->fn = NULL;
	KUNIT_EXPECT_EQ(test, mod(rig, &items[2], 0), -EINVAL);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(submitter), 0);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 0);
	expect_ended(test, &items[1], 1, RESULT(1));
}

static int do_work_flush(struct async_call *call)
{
	return ants_work_flush(work_of(call->data));
}

static struct async_call *start_flush(struct rig *rig, struct item *item)
{
	unsigned int nr = nr_waiters_of(item);
	struct async_call *call = rig_async(rig, do_work_flush, 0, item);

	EXPECT_SOON(rig->test, nr_waiters_of(item) == nr + 1);
	return call;
}

/* An item that queues itself for ever does not hold up a wait for one run. */
static void flush_waits_for_what_is_queued_now(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 0);
	struct async_call *first, *second, *end;

	item->pool = rig->pool;
	item_start(rig, item, &rig->gate);
	first = start_flush(rig, item);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	second = start_flush(rig, item);
	end = start_wait(rig, item, FOREVER);
	item->more = 1;
	gate_let_one(&rig->gate);
	expect_prompt(test, first);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 2);
	KUNIT_EXPECT_EQ(test, nr_waiters_of(item), 2);
	gate_let_one(&rig->gate);
	expect_prompt(test, second);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 3);
	KUNIT_EXPECT_EQ(test, nr_waiters_of(item), 1);
	gate_open(&rig->gate);
	expect_waited(test, end, RESULT(3));
	KUNIT_EXPECT_EQ(test, async_stop(first), 0);
	KUNIT_EXPECT_EQ(test, async_stop(second), 0);
}

static void flush_of_what_is_not_queued(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 0);

	KUNIT_EXPECT_EQ(test, ants_work_flush(work_of(item)), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &item->dwork,
						      NEVER), 0);
	KUNIT_EXPECT_EQ(test, ants_work_flush(work_of(item)), 0);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
}

static void flush_ends_with_a_cancel(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_of(test, 1);
	struct async_call *flush;

	item_start(rig, &items[0], &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])), 0);
	flush = start_flush(rig, &items[1]);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[1])));
	expect_prompt(test, flush);
	KUNIT_EXPECT_EQ(test, async_stop(flush), 0);
	flush = start_flush(rig, &items[0]);
	KUNIT_EXPECT_EQ(test, async_stop(flush), -EINTR);
	KUNIT_EXPECT_EQ(test, nr_waiters_of(&items[0]), 0);
}

/* Whether an item is pending or busy, in each state. */
static void busy_and_pending(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 0);

	KUNIT_EXPECT_EQ(test, ants_work_busy(work_of(item)), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &item->dwork,
						      NEVER), 0);
	KUNIT_EXPECT_EQ(test, ants_work_busy(work_of(item)),
			ANTS_WORK_BUSY_PENDING);
	KUNIT_EXPECT_TRUE(test, ants_work_pending(work_of(item)));
	KUNIT_EXPECT_TRUE(test, ants_work_cancel_sync(work_of(item)));
	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_work_busy(work_of(item)),
			ANTS_WORK_BUSY_RUNNING);
	KUNIT_EXPECT_FALSE(test, ants_work_pending(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	KUNIT_EXPECT_EQ(test, ants_work_busy(work_of(item)),
			ANTS_WORK_BUSY_PENDING | ANTS_WORK_BUSY_RUNNING);
	gate_open(&rig->gate);
	expect_ended(test, item, 2, RESULT(2));
	KUNIT_EXPECT_EQ(test, ants_work_busy(work_of(item)), 0);
}

/*
 * A task takes this mutex, so a caller that waits for a task must not hold it.
 */
static DEFINE_MUTEX(taken_in_a_task);

static void mutex_task(void *unused)
{
	mutex_lock(&taken_in_a_task);
	mutex_unlock(&taken_in_a_task);
}

/*
 * A call that does not wait is not a dependency: lockdep would report it here.
 */
static void calls_that_do_not_wait(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_of(test, 0);

	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, mutex_task, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	item_start(rig, &items[0], &rig->gate);
	mutex_lock(&taken_in_a_task);
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(rig->pool, mutex_task, NULL,
						  0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_submit_prio(rig->pool, mutex_task, NULL,
					       ANTS_PRIO_HIGH, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool,
						      work_of(&items[1]), 0),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(&items[0]), 0,
						     NULL), -ETIMEDOUT);
	mutex_unlock(&taken_in_a_task);
	KUNIT_EXPECT_TRUE(test, debug_locks);
	gate_open(&rig->gate);
}

/* An event that comes while the item is giving up is not lost. */
static void queued_again_after_a_cancel(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 0);

	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_FALSE(test, ants_work_cancel(work_of(item)));
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 2);
	KUNIT_EXPECT_TRUE(test, item->told);
	KUNIT_EXPECT_FALSE(test, ants_work_cancelled(work_of(item)));
	gate_open(&rig->gate);
	expect_ended(test, item, 2, RESULT(2));
	KUNIT_EXPECT_FALSE(test, item->told);
	expect_counted(test, rig->pool, 2, 0);
}

/*
 * A run that was accepted and cancelled shows in the return value and is
 * counted.
 */
static void cancel_sync_says_that_it_took_a_run_off(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 0);
	struct async_call *cancel;

	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	cancel = rig_async(rig, do_cancel_sync, 0, item);
	EXPECT_SOON(test, nr_waiters_of(item) == 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 1);
	expect_ended(test, item, 1, RESULT(1));
	expect_counted(test, rig->pool, 2, 1);
}

/*
 * The item becomes pending without a submit, and a scan for its module must
 * learn of it.
 */
static void requeued_item_leaves_a_mark(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_of(test, 1);
	struct ants_pool *pool = rig->pool;
	unsigned long hit;

	need_module(test);
	item_start(rig, item, &rig->gate);
	fill_up(rig);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, work_of(item)), 0);
	raw_spin_lock_irq(&pool->lock);
	pool->scan_mod = THIS_MODULE;
	pool->scan_hit = 0;
	raw_spin_unlock_irq(&pool->lock);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, state_of(item) == ANTS_WORK_PENDING);
	raw_spin_lock_irq(&pool->lock);
	hit = pool->scan_hit;
	pool->scan_mod = NULL;
	raw_spin_unlock_irq(&pool->lock);
	KUNIT_EXPECT_TRUE(test, within_module(hit, THIS_MODULE));
	gate_open(&rig->gate);
	expect_ended(test, item, 2, RESULT(2));
}

static struct kunit_case work_kinds_cases[] = {
	KUNIT_CASE(detached_item_frees_itself),
	KUNIT_CASE(detached_item_that_has_not_started),
	KUNIT_CASE(items_defined_statically),
	KUNIT_CASE(delayed_item_on_a_stack),
	KUNIT_CASE(mod_of_one_that_does_not_run),
	KUNIT_CASE(mod_of_one_that_runs),
	KUNIT_CASE(mod_that_is_refused),
	KUNIT_CASE(flush_waits_for_what_is_queued_now),
	KUNIT_CASE(flush_of_what_is_not_queued),
	KUNIT_CASE(flush_ends_with_a_cancel),
	KUNIT_CASE(busy_and_pending),
	KUNIT_CASE(calls_that_do_not_wait),
	KUNIT_CASE(queued_again_after_a_cancel),
	KUNIT_CASE(cancel_sync_says_that_it_took_a_run_off),
	KUNIT_CASE(requeued_item_leaves_a_mark),
	{}
};

static struct kunit_suite work_kinds_suite = {
	.name = "ants_work_kinds",
	.test_cases = work_kinds_cases,
};

kunit_test_suite(work_kinds_suite);

MODULE_DESCRIPTION("ants: KUnit tests of kinds of work items");
MODULE_LICENSE("GPL");
