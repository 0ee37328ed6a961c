// SPDX-License-Identifier: GPL-2.0-only
/* Delayed work items: when they run, and what ends them before that. */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/module.h>

#include "work.h"

static int queue_in(struct rig *rig, struct item *item, unsigned long delay)
{
	return ants_queue_delayed_work(rig->pool, &item->dwork, delay);
}

static struct rig *rig_small(struct kunit *test, unsigned int queue_depth)
{
	struct ants_attrs attrs = {
		.capacity = 1, .queue_depth = queue_depth,
	};

	return rig_make(test, "delayed", attrs);
}

/* The pool is full, and items[0] to items[@nr - 1] are due. */
static struct rig *rig_late(struct kunit *test, struct item *items, int nr)
{
	struct rig *rig = rig_small(test, 0);
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, queue_in(rig, &items[i], 0), 0);
		KUNIT_ASSERT_EQ(test, state_of(&items[i]), ANTS_WORK_DUE);
	}
	return rig;
}

static void item_runs_not_before_its_time(struct kunit *test)
{
	static const unsigned long delays[] = { 0, 1, 2, 7, 30 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_small(test, 0);
	unsigned long start;
	int i;

	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		start = jiffies;
		KUNIT_EXPECT_EQ(test, queue_in(rig, item, delays[i]), 0);
		expect_ended(test, item, i + 1, RESULT(i + 1));
		KUNIT_EXPECT_TRUE(test, time_after_eq(item->started,
						      start + delays[i]));
	}
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->delayed.nr), 0);
	expect_counted(test, rig->pool, ARRAY_SIZE(delays), 0);
}

/* The item is accepted, or due, when the call returns. */
static void delay_of_0_is_no_timer(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_small(test, 1);

	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[0], 0), 0);
	KUNIT_EXPECT_EQ(test, state_of(&items[0]), ANTS_WORK_PENDING);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[1], 0), 0);
	KUNIT_EXPECT_EQ(test, state_of(&items[1]), ANTS_WORK_DUE);
	KUNIT_EXPECT_FALSE(test, timer_pending(&items[0].dwork.timer));
	KUNIT_EXPECT_FALSE(test, timer_pending(&items[1].dwork.timer));
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 1, RESULT(1));
	expect_counted(test, rig->pool, 3, 0);
}

#define NR_AT_ONCE	40

/* Some of them find room, and the others wait for it. */
static void items_due_at_once_keep_their_order(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_AT_ONCE);
	struct rig *rig = rig_small(test, 10);
	int i, behind = 0;

	fill_pool(test, rig->pool, &rig->gate, 1);
	for (i = 0; i < NR_AT_ONCE; i++)
		KUNIT_EXPECT_EQ(test, queue_in(rig, &items[i], 0), 0);
	gate_open(&rig->gate);
	for (i = 0; i < NR_AT_ONCE; i++) {
		expect_ended(test, &items[i], 1, RESULT(1));
		behind += i && items[i].turn > items[i - 1].turn;
	}
	KUNIT_EXPECT_EQ_MSG(test, behind, NR_AT_ONCE - 1,
			    "%d of %d items started behind the one before them",
			    behind, NR_AT_ONCE - 1);
	expect_counted(test, rig->pool, NR_AT_ONCE + 1, 0);
}

static int mod(struct rig *rig, struct item *item, unsigned long delay)
{
	return ants_mod_delayed_work(rig->pool, &item->dwork, delay);
}

/* One that is due already keeps its turn. */
static void mod_with_0_is_no_timer(struct kunit *test)
{
	struct item *items = items_alloc(test, 4);
	struct rig *rig = rig_small(test, 1);
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[0], NEVER), 0);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[2], NEVER), 0);
	KUNIT_EXPECT_EQ(test, mod(rig, &items[0], 0), 1);
	KUNIT_EXPECT_EQ(test, state_of(&items[0]), ANTS_WORK_PENDING);
	KUNIT_EXPECT_EQ(test, mod(rig, &items[1], 0), 0);
	KUNIT_EXPECT_EQ(test, state_of(&items[1]), ANTS_WORK_DUE);
	KUNIT_EXPECT_EQ(test, mod(rig, &items[2], 0), 1);
	KUNIT_EXPECT_EQ(test, state_of(&items[2]), ANTS_WORK_DUE);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[3], 0), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, mod(rig, &items[i], 0), 1);
	gate_open(&rig->gate);
	for (i = 0; i < 4; i++) {
		expect_ended(test, &items[i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(test, items[i].turn, i + 1);
	}
	expect_counted(test, rig->pool, 5, 0);
}

struct visit {
	struct irq_work irq_work;
	struct rig *rig;
	struct item *items;
	int ret[3];
};

/* One item finds room, one does not, and one had a delay. */
static void visit_now(struct irq_work *irq_work)
{
	struct visit *v = container_of(irq_work, struct visit, irq_work);

	v->ret[0] = queue_in(v->rig, &v->items[0], 0);
	v->ret[1] = queue_in(v->rig, &v->items[1], 0);
	v->ret[2] = mod(v->rig, &v->items[2], 0);
}

/* From a hard interrupt if @hard, else under a raw lock. */
static void visit_from(struct kunit *test, bool hard)
{
	static DEFINE_RAW_SPINLOCK(lock);
	struct visit v = { .items = items_alloc(test, 3) };
	int i;

	v.rig = rig_small(test, 1);
	v.irq_work = IRQ_WORK_INIT_HARD(visit_now);
	fill_pool(test, v.rig->pool, &v.rig->gate, 1);
	KUNIT_EXPECT_EQ(test, queue_in(v.rig, &v.items[2], NEVER), 0);
	if (hard) {
		irq_work_queue(&v.irq_work);
		irq_work_sync(&v.irq_work);
	} else {
		raw_spin_lock_irq(&lock);
		visit_now(&v.irq_work);
		raw_spin_unlock_irq(&lock);
	}
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, v.ret[i], i == 2);
	KUNIT_EXPECT_EQ(test, state_of(&v.items[0]), ANTS_WORK_PENDING);
	gate_open(&v.rig->gate);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(v.rig->pool, TEST_DEADLINE), 0);
	for (i = 0; i < 3; i++) {
		expect_ended(test, &v.items[i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(test, v.items[i].turn, i + 1);
	}
}

static void delay_of_0_in_a_hard_interrupt(struct kunit *test)
{
	visit_from(test, true);
}

static void delay_of_0_under_a_raw_lock(struct kunit *test)
{
	visit_from(test, false);
}

/* An item that runs is due when it has finished, behind what is due then. */
static void running_item_is_due_at_its_end(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_small(test, 0);

	item_start(rig, &items[0], &rig->gate);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[0], 0), 0);
	KUNIT_EXPECT_EQ(test, state_of(&items[0]), ANTS_WORK_REARMED);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[1], 0), 0);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_ended(test, &items[0], 2, RESULT(2));
	expect_ended(test, &items[1], 1, RESULT(1));
	KUNIT_EXPECT_EQ(test, items[1].turn, 2);
	KUNIT_EXPECT_EQ(test, items[0].turn, 3);
	expect_counted(test, rig->pool, 3, 0);
}

static void item_is_accepted_when_its_time_comes(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_small(test, 0);

	KUNIT_EXPECT_EQ(test, queue_in(rig, item, NEVER), 0);
	KUNIT_EXPECT_EQ(test, queue_in(rig, item, 0), -EALREADY);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).submitted, 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 2);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, PROMPT), 0);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork, 0),
			1);
	expect_ended(test, item, 1, RESULT(1));
	expect_counted(test, rig->pool, 1, 0);
}

static void cancel_stops_the_timer(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_small(test, 0);
	struct async_call *waiter;

	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[0], NEVER), 0);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[1], NEVER), 0);
	waiter = start_wait(rig, &items[0], FOREVER);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[0])));
	KUNIT_EXPECT_FALSE(test, ants_work_cancel(work_of(&items[0])));
	KUNIT_EXPECT_EQ(test, ants_work_cancel_sync(work_of(&items[1])), 1);
	KUNIT_EXPECT_FALSE(test, timer_pending(&items[0].dwork.timer));
	KUNIT_EXPECT_FALSE(test, timer_pending(&items[1].dwork.timer));
	expect_waited(test, waiter, -ECANCELED);
	expect_ended(test, &items[0], 0, -ECANCELED);
	expect_ended(test, &items[1], 0, -ECANCELED);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->delayed.nr), 0);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[0], 1), 0);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_counted(test, rig->pool, 1, 0);
}

/*
 * One of three due items is cancelled, later the last one, and the pool is
 * idle.
 */
static void due_item_can_be_cancelled(struct kunit *test)
{
	struct item *items = items_alloc(test, 4);
	struct rig *rig = rig_late(test, items, 3);

	KUNIT_EXPECT_EQ(test, ants_work_cancel_sync(work_of(&items[1])), 1);
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->space.has_due));
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 0, -ECANCELED);
	expect_ended(test, &items[2], 1, RESULT(1));
	fill_pool(test, rig->pool, &rig->late, 1);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[3], 0), 0);
	EXPECT_SOON(test, state_of(&items[3]) == ANTS_WORK_DUE);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[3])));
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->space.has_due));
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[3])), 0);
	expect_ended(test, &items[3], 1, RESULT(1));
	expect_counted(test, rig->pool, 5, 0);
}

#define NR_LATE		5

/*
 * Due items go in the order in which they became due, before callers that
 * waited earlier.
 */
static void due_items_go_first(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_LATE + 1);
	struct rig *rig = rig_late(test, items, NR_LATE - 1);
	struct async_call *submitter;
	int i;

	submitter = start_queue(rig, &items[NR_LATE], FOREVER);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[NR_LATE - 1], 0), 0);
	EXPECT_SOON(test, state_of(&items[NR_LATE - 1]) == ANTS_WORK_DUE);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).submitted, 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(submitter), 0);
	for (i = 0; i <= NR_LATE; i++) {
		expect_ended(test, &items[i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(test, items[i].turn, i + 1);
	}
	expect_counted(test, rig->pool, NR_LATE + 2, 0);
}

#define NR_CROWD	40
/* How many due items are granted before a waiting caller is. */
#define TURNS		8

/* @nr due items, and two callers that wait with the items behind those. */
static struct rig *rig_crowd(struct kunit *test, struct item *items, int nr)
{
	struct rig *rig = rig_late(test, items, nr);

	start_queue(rig, &items[nr], FOREVER);
	start_queue(rig, &items[nr + 1], FOREVER);
	return rig;
}

/* All have run, each caller after eight due items. */
static void expect_shared(struct rig *rig, struct item *items, int nr)
{
	int i, callers;

	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	for (i = 0; i < nr; i++) {
		callers = min(i / TURNS, 2);
		expect_ended(rig->test, &items[i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(rig->test, items[i].turn, i + 1 + callers);
	}
	for (i = 0; i < 2; i++) {
		expect_ended(rig->test, &items[nr + i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(rig->test, items[nr + i].turn,
				(TURNS + 1) * (i + 1));
	}
	expect_counted(rig->test, rig->pool, nr + 3, 0);
}

/* Room for a single task is granted again and again. */
static void due_items_and_callers_share_room_for_one(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_CROWD / 2 + 2);
	struct rig *rig = rig_crowd(test, items, NR_CROWD / 2);

	expect_shared(rig, items, NR_CROWD / 2);
}

/* More than one lock hold of grants, and room for everything. */
static void due_items_and_callers_share_room_for_many(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_CROWD + 2);
	struct rig *rig = rig_crowd(test, items, NR_CROWD);

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 60), 0);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->space.has_due));
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), NR_CROWD + 2);
	expect_shared(rig, items, NR_CROWD);
}

/* Due items of high priority came last and go first, eight in a row. */
static void due_items_know_priorities(struct kunit *test)
{
	struct item *items = items_alloc(test, 2 * TURNS + 4), *high;
	struct rig *rig;
	int i;

	high = &items[TURNS + 2];
	for (i = 0; i < TURNS + 2; i++)
		work_of(&high[i])->prio = ANTS_PRIO_HIGH;
	rig = rig_late(test, items, 2 * TURNS + 4);
	gate_open(&rig->gate);
	for (i = 0; i < TURNS + 2; i++) {
		expect_ended(test, &high[i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(test, high[i].turn, i + 1 + i / TURNS);
		expect_ended(test, &items[i], 1, RESULT(1));
		KUNIT_EXPECT_EQ(test, items[i].turn,
				TURNS + 1 + i + (i ? 2 : 0));
	}
	expect_counted(test, rig->pool, 2 * TURNS + 5, 0);
}

/* One due item of each priority is cancelled, then the pool is released. */
static void due_items_of_both_priorities_end(struct kunit *test)
{
	struct item *items = items_alloc(test, 4);
	struct rig *rig;
	int i;

	work_of(&items[2])->prio = ANTS_PRIO_HIGH;
	work_of(&items[3])->prio = ANTS_PRIO_HIGH;
	rig = rig_late(test, items, 4);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[0])));
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[2])));
	KUNIT_EXPECT_TRUE(test, ants_peek(rig->pool->space.has_due));
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	for (i = 0; i < 4; i++)
		expect_ended(test, &items[i], 0,
			     i % 2 ? -ESHUTDOWN : -ECANCELED);
	KUNIT_EXPECT_FALSE(test, ants_peek(rig->pool->space.has_due));
}

/* Runs so long that the other item becomes due, then queues itself again. */
static int slow_again(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, dwork.work);

	atomic_inc(&item->ran);
	msleep(20);
	ants_queue_delayed_work(item->pool, &item->dwork, 0);
	return 0;
}

/* Of two such items one is always due. */
static void items_that_come_again_stop_no_caller(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_small(test, 0);
	int i;

	for (i = 0; i < 2; i++) {
		INIT_ANTS_DELAYED_WORK(&items[i].dwork, slow_again);
		items[i].pool = rig->pool;
		KUNIT_EXPECT_EQ(test, queue_in(rig, &items[i], 0), 0);
	}
	EXPECT_SOON(test, atomic_read(&items[0].ran) &&
		    atomic_read(&items[1].ran));
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(rig->pool, count_task,
						  &rig->count, TEST_DEADLINE), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_GE(test, ants_work_cancel_sync(work_of(&items[i])),
				0);
}

/* Items that never run, both due and delayed, each with a caller that waits. */
static void release_ends_items(struct kunit *test)
{
	struct item *items = items_alloc(test, 3);
	struct rig *rig = rig_late(test, items, 2);
	struct async_call *calls[3];
	int i;

	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[2], NEVER), 0);
	for (i = 0; i < 3; i++)
		calls[i] = start_wait(rig, &items[i], FOREVER);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	for (i = 0; i < 3; i++) {
		expect_waited(test, calls[i], -ESHUTDOWN);
		expect_ended(test, &items[i], 0, -ESHUTDOWN);
	}
	KUNIT_EXPECT_FALSE(test, timer_pending(&items[2].dwork.timer));
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), -EBUSY);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, PROMPT), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, queue_in(rig, &items[i], i), 0);
	for (i = 0; i < 3; i++)
		expect_ended(test, &items[i], 1, RESULT(1));
	expect_counted(test, rig->pool, 4, 0);
}

/* An item that runs and has armed its timer again is ended, too. */
static void release_ends_a_rearmed_item(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_small(test, 0);

	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, queue_in(rig, item, 1), 0);
	KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_REARMED);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	gate_open(&rig->gate);
	expect_ended(test, item, 1, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, PROMPT), 0);
}

#define NR_FIRING	24

/*
 * Pools are destroyed while timers are far away, have fired or are about to
 * fire: all items end.
 */
static void destroy_ends_items(struct kunit *test)
{
	struct item *items = items_alloc(test, NR_FIRING);
	struct ants_attrs attrs = { .capacity = 2 };
	int i, round, result, ran = 0;
	struct ants_pool *pool;

	for (round = 0; round < 20; round++) {
		pool = ants_pool_create(&attrs, "firing");
		KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
		for (i = 0; i < NR_FIRING; i++)
			KUNIT_EXPECT_EQ(test,
					ants_queue_delayed_work(pool,
								&items[i].dwork,
								i % 3 ? i % 3 - 1 :
								NEVER), 0);
		udelay(round * 100);
		KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
		for (i = 0; i < NR_FIRING; i++) {
			KUNIT_EXPECT_EQ(test, state_of(&items[i]),
					ANTS_WORK_IDLE);
			KUNIT_EXPECT_FALSE(test,
					   timer_pending(&items[i].dwork.timer));
			KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[i]),
							     &result), 0);
			if (result == -ESHUTDOWN)
				continue;
			KUNIT_EXPECT_NE(test, i % 3, 0);
			KUNIT_EXPECT_EQ(test, result,
					RESULT(atomic_read(&items[i].ran)));
			ran++;
		}
	}
	KUNIT_EXPECT_GT(test, ran, 0);
}

/* The item queues itself until it is cancelled. */
static void periodic_item_is_ended_by_cancel_sync(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_small(test, 0);
	int round, ran;
	u64 cancelled;

	item->pool = rig->pool;
	item->delayed = true;
	for (round = 1; round <= 5; round++) {
		item->more = INT_MAX;
		item->delay = round % 2;
		ran = atomic_read(&item->ran);
		KUNIT_EXPECT_EQ(test, queue_in(rig, item, 0), 0);
		EXPECT_SOON(test, atomic_read(&item->ran) >= ran + 5);
		ants_work_cancel_sync(work_of(item));
		ran = atomic_read(&item->ran);
		KUNIT_EXPECT_EQ(test, state_of(item), ANTS_WORK_IDLE);
		KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->delayed.nr), 0);
		KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&item->ran), ran);
	}
	KUNIT_EXPECT_FALSE(test, item->twice);
	cancelled = stats_of(rig->pool).cancelled;
	expect_counted(test, rig->pool, ran + cancelled, cancelled);
}

/* When a run ends, an armed timer for the next one is not an admission. */
static void rearmed_item_gives_up_its_admission(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_small(test, 0);

	item_start(rig, &items[0], &rig->gate);
	KUNIT_EXPECT_EQ(test, queue_in(rig, &items[0], NEVER), 0);
	gate_open(&rig->gate);
	EXPECT_SOON(test, state_of(&items[0]) == ANTS_WORK_DELAYED);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])), 0);
	expect_ended(test, &items[1], 1, RESULT(1));
	KUNIT_EXPECT_EQ(test, ants_work_cancel_sync(work_of(&items[0])), 1);
	expect_ended(test, &items[0], 1, -ECANCELED);
	expect_counted(test, rig->pool, 2, 0);
}

static void item_that_runs_in_a_closed_pool_is_not_rearmed(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_small(test, 0);

	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool, &item->dwork, 1),
			-ESHUTDOWN);
	gate_open(&rig->gate);
	expect_ended(test, item, 1, RESULT(1));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->delayed.nr), 0);
}

static struct kunit_case delayed_cases[] = {
	KUNIT_CASE(item_runs_not_before_its_time),
	KUNIT_CASE(delay_of_0_is_no_timer),
	KUNIT_CASE(items_due_at_once_keep_their_order),
	KUNIT_CASE(mod_with_0_is_no_timer),
	KUNIT_CASE(delay_of_0_in_a_hard_interrupt),
	KUNIT_CASE(delay_of_0_under_a_raw_lock),
	KUNIT_CASE(running_item_is_due_at_its_end),
	KUNIT_CASE(item_is_accepted_when_its_time_comes),
	KUNIT_CASE(cancel_stops_the_timer),
	KUNIT_CASE(due_item_can_be_cancelled),
	KUNIT_CASE(due_items_go_first),
	KUNIT_CASE(due_items_and_callers_share_room_for_one),
	KUNIT_CASE(due_items_and_callers_share_room_for_many),
	KUNIT_CASE(due_items_know_priorities),
	KUNIT_CASE(due_items_of_both_priorities_end),
	KUNIT_CASE(items_that_come_again_stop_no_caller),
	KUNIT_CASE(release_ends_items),
	KUNIT_CASE(release_ends_a_rearmed_item),
	KUNIT_CASE(item_that_runs_in_a_closed_pool_is_not_rearmed),
	KUNIT_CASE(destroy_ends_items),
	KUNIT_CASE(periodic_item_is_ended_by_cancel_sync),
	KUNIT_CASE(rearmed_item_gives_up_its_admission),
	{}
};

static struct kunit_suite delayed_suite = {
	.name = "ants_delayed",
	.test_cases = delayed_cases,
};

kunit_test_suite(delayed_suite);

MODULE_DESCRIPTION("ants: KUnit tests of work items with a delay");
MODULE_LICENSE("GPL");
