/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work items for the suites about them. Items are allocated before their test's
 * rig is made, so that they outlive its pool. An item counts its runs, and each
 * run has a result of its own.
 */
#ifndef _ANTS_KUNIT_WORK_H
#define _ANTS_KUNIT_WORK_H

#include "rig.h"

/* A delay that never ends by itself. */
#define NEVER		(3600UL * HZ)
/* The result of run number @nr, from 1 on. */
#define RESULT(nr)	(100 + (nr))

struct item {
	struct ants_delayed_work dwork;
	struct ants_pool *pool;
	struct gate *gate;
	atomic_t inside;
	atomic_t ran;
	/* How many more runs it queues, and whether it was told to give up. */
	int more;
	unsigned long delay;
	bool delayed;
	int queued;
	bool told;
	bool twice;
	/* A post to submit after it has passed its gate. */
	struct post *submits;
	unsigned long started;
	int turn;
};

/* Items number themselves in the order in which they start. */
static atomic_t items_started;

static inline struct ants_work *work_of(struct item *item)
{
	return &item->dwork.work;
}

static inline int item_requeue(struct item *item)
{
	return item->delayed ?
	       ants_queue_delayed_work(item->pool, &item->dwork, item->delay) :
	       ants_queue_work(item->pool, work_of(item));
}

static inline int item_fn(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, dwork.work);
	int nr;

	if (atomic_inc_return(&item->inside) != 1)
		item->twice = true;
	item->started = jiffies;
	item->turn = atomic_inc_return(&items_started);
	if (item->more && item->more--)
		item->queued = item_requeue(item);
	if (item->gate)
		gate_task(item->gate);
	if (item->submits)
		item->submits->result = ants_submit(item->submits->pool,
						    post_task, item->submits);
	item->told = ants_work_cancelled(work);
	nr = atomic_read(&item->ran) + 1;
	atomic_dec(&item->inside);
	atomic_set(&item->ran, nr);
	return RESULT(nr);
}

static inline void item_init(struct item *item)
{
	memset(item, 0, sizeof(*item));
	INIT_ANTS_DELAYED_WORK(&item->dwork, item_fn);
}

static inline struct item *items_alloc(struct kunit *test, int nr)
{
	struct item *items = kunit_kcalloc(test, nr, sizeof(*items), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, items);
	atomic_set(&items_started, 0);
	while (nr--)
		item_init(&items[nr]);
	return items;
}

static inline enum ants_work_state state_of(struct item *item)
{
	return READ_ONCE(work_of(item)->state);
}

static inline unsigned int list_count(const struct list_head *list)
{
	const struct list_head *node;
	unsigned int nr = 0;

	list_for_each(node, list)
		nr++;
	return nr;
}

static inline unsigned int nr_waiters_of(struct item *item)
{
	struct ants_pool *pool = READ_ONCE(work_of(item)->pool);
	struct ants_work_waiter *leader;
	unsigned int nr = 0;

	if (!pool)
		return 0;
	raw_spin_lock_irq(&pool->lock);
	if (work_of(item)->pool == pool)
		hlist_for_each_entry(leader, &work_of(item)->waiters, link)
			nr += 1 + list_count(&leader->node);
	raw_spin_unlock_irq(&pool->lock);
	return nr;
}

/* The item has ended, after @runs runs, with @result. */
static inline void expect_ended(struct kunit *test, struct item *item, int runs,
				int result)
{
	int got = 0;

	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(item),
						     TEST_DEADLINE, &got), 0);
	KUNIT_EXPECT_EQ(test, got, result);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->ran), runs);
	KUNIT_EXPECT_FALSE(test, item->twice);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_IDLE);
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(work_of(item)->pool), NULL);
}

/* The item runs, and stops at @gate. */
static inline void item_start(struct rig *rig, struct item *item,
			      struct gate *gate)
{
	int goal = atomic_read(&gate->entered) + 1;

	item->gate = gate;
	KUNIT_ASSERT_EQ(rig->test, ants_queue_work(rig->pool, work_of(item)), 0);
	ASSERT_SOON(rig->test, atomic_read(&gate->entered) == goal);
}

/* Submit plain tasks, which stop at the rig's gate, until the pool is full. */
static inline void fill_up(struct rig *rig)
{
	int err;

	do {
		err = ants_try_submit(rig->pool, gate_task, &rig->gate);
	} while (!err);
	KUNIT_ASSERT_EQ(rig->test, err, -EAGAIN);
}

/* The pool has no task left, and each of its tasks is accounted for. */
static inline void expect_counted(struct kunit *test, struct ants_pool *pool,
				  u64 submitted, u64 cancelled)
{
	struct ants_stats stats;

	KUNIT_EXPECT_EQ(test, ants_flush_timeout(pool, TEST_DEADLINE), 0);
	ants_pool_stats(pool, &stats);
	KUNIT_EXPECT_EQ(test, stats.submitted, submitted);
	KUNIT_EXPECT_EQ(test, stats.cancelled, cancelled);
	KUNIT_EXPECT_EQ(test, stats.completed, submitted - cancelled);
}

/* Calls to start; @data is the item, @value its result. */

static inline int do_work_wait(struct async_call *call)
{
	return ants_work_wait_timeout(work_of(call->data), call->arg,
				      &call->value);
}

static inline int do_cancel_sync(struct async_call *call)
{
	return ants_work_cancel_sync(work_of(call->data));
}

static inline int do_queue_wait(struct async_call *call)
{
	return ants_queue_work_timeout(call->pool, work_of(call->data),
				       call->arg);
}

/* Start a caller that waits for the end of @item. */
static inline struct async_call *start_wait(struct rig *rig, struct item *item,
					    unsigned long timeout)
{
	unsigned int nr = nr_waiters_of(item);
	struct async_call *call;

	call = rig_async(rig, do_work_wait, timeout, item);
	EXPECT_SOON(rig->test, nr_waiters_of(item) == nr + 1);
	return call;
}

/* Start a submitter of @item, which has to wait for room. */
static inline struct async_call *start_queue(struct rig *rig, struct item *item,
					     unsigned long timeout)
{
	unsigned int nr = ants_nr_waiting(rig->pool);
	struct async_call *call;

	call = rig_async(rig, do_queue_wait, timeout, item);
	EXPECT_SOON(rig->test, ants_nr_waiting(rig->pool) == nr + 1);
	return call;
}

/*
 * A lost wake-up is made up for after 30 s, so anything prompt comes before
 * that.
 */
#define PROMPT		(20 * HZ)

static inline void expect_prompt(struct kunit *test, struct async_call *call)
{
	unsigned long end = jiffies + PROMPT;

	while (!async_returned(call) && time_before(jiffies, end))
		usleep_range(200, 1000);
	KUNIT_EXPECT_TRUE(test, async_returned(call));
}

static inline void expect_waited(struct kunit *test, struct async_call *call,
				 int result)
{
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_stop(call), 0);
	KUNIT_EXPECT_EQ(test, call->value, result);
}

#endif /* _ANTS_KUNIT_WORK_H */
