// SPDX-License-Identifier: GPL-2.0-only
/* Cancelling work items: its effect on others, and from any context. */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/module.h>

#include "work.h"

/* One thread, held at the rig's gate by a plain task, and room for one more. */
static struct rig *rig_busy(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct rig *rig = rig_make(test, "cancel", attrs);

	fill_pool(test, rig->pool, &rig->gate, 1);
	return rig;
}

static void expect_queued(struct rig *rig, struct item *item)
{
	KUNIT_EXPECT_EQ(rig->test, ants_queue_work(rig->pool, work_of(item)), 0);
}

/* In the same locked section, without the timer. */
static void cancel_grants_a_waiter(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_busy(test);
	enum ants_work_state state;
	struct async_call *submitter;
	unsigned int waiting;
	bool cancelled;

	expect_queued(rig, &items[0]);
	submitter = start_queue(rig, &items[1], FOREVER);
	local_bh_disable();
	cancelled = ants_work_cancel(work_of(&items[0]));
	waiting = ants_nr_waiting(rig->pool);
	state = state_of(&items[1]);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, cancelled);
	KUNIT_EXPECT_EQ(test, waiting, 0);
	KUNIT_EXPECT_EQ(test, state, ANTS_WORK_PENDING);
	expect_prompt(test, submitter);
	KUNIT_EXPECT_EQ(test, async_stop(submitter), 0);
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 0, -ECANCELED);
	expect_ended(test, &items[1], 1, RESULT(1));
	expect_counted(test, rig->pool, 3, 1);
}

/* A waiter behind a submitter whose item is cancelled moves up. */
static void cancelled_submitter_leaves_the_queue(struct kunit *test)
{
	struct item *items = items_alloc(test, 3);
	struct rig *rig = rig_busy(test);
	struct async_call *calls[2];

	expect_queued(rig, &items[0]);
	calls[0] = start_queue(rig, &items[1], FOREVER);
	calls[1] = start_queue(rig, &items[2], FOREVER);
	KUNIT_EXPECT_EQ(test, ants_work_cancel_sync(work_of(&items[1])), 1);
	expect_prompt(test, calls[0]);
	KUNIT_EXPECT_EQ(test, async_stop(calls[0]), -ECANCELED);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	expect_blocked(test, calls[1]);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).rejected, 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(calls[1]), 0);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 0, -ECANCELED);
	expect_ended(test, &items[2], 1, RESULT(1));
	expect_counted(test, rig->pool, 3, 0);
}

/* The only task that a flush waits for is cancelled before it starts. */
static void cancel_ends_a_flush(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "cancel", attrs);
	struct async_call *call;

	park(rig, 0, 1);
	hold(rig, ANTS_PAUSE_ARRIVE);
	expect_queued(rig, item);
	held(rig, ANTS_PAUSE_ARRIVE);
	call = rig_async(rig, do_flush, FOREVER, NULL);
	EXPECT_SOON(test, ants_peek(rig->pool->flips));
	/* A hint only, no wake-up depends on it: no barrier is needed. */
	EXPECT_SOON(test, waitqueue_active(&rig->pool->waitq));
	expect_blocked(test, call);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	expect_prompt(test, call);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	expect_ended(test, item, 0, -ECANCELED);
	expect_counted(test, rig->pool, 2, 1);
}

/* A flush does not wait for a second run that was cancelled. */
static void called_off_run_ends_a_flush(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "cancel", attrs);
	struct async_call *call;

	item_start(rig, item, &rig->gate);
	expect_queued(rig, item);
	call = rig_async(rig, do_flush, FOREVER, NULL);
	EXPECT_SOON(test, ants_peek(rig->pool->flips));
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(item)));
	expect_blocked(test, call);
	gate_open(&rig->gate);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	expect_ended(test, item, 1, RESULT(1));
	expect_counted(test, rig->pool, 2, 1);
}

/* The last task of a closed pool is cancelled: the pool is drained. */
static void cancel_lets_a_closed_pool_drain(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "cancel", attrs);
	struct async_call *call;

	hold(rig, ANTS_PAUSE_NEW);
	expect_queued(rig, item);
	held(rig, ANTS_PAUSE_NEW);
	call = rig_async(rig, do_release_timeout, FOREVER, NULL);
	EXPECT_SOON(test, ants_is_released(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_work_cancel_sync(work_of(item)), 1);
	let_go(rig, ANTS_PAUSE_NEW);
	expect_prompt(test, call);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	expect_queued(rig, item);
	expect_ended(test, item, 1, RESULT(1));
	expect_counted(test, rig->pool, 2, 1);
}

/* True if no timer is armed and no upkeep work is queued. */
static bool is_quiet(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = pool->upkeep.queued || !timer_pending(&pool->timer.timer);
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/*
 * No thread can be made: the item ends all the same, and no timer stays armed.
 */
static void cancel_without_a_thread(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "cancel", attrs);

	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	expect_queued(rig, item);
	EXPECT_SOON(test, ants_peek(rig->pool->upkeep.backoff) == ANTS_BACKOFF_MAX);
	EXPECT_SOON(test, !ants_peek(rig->pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_work_cancel_sync(work_of(item)), 1);
	KUNIT_EXPECT_TRUE(test, is_quiet(rig->pool));
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, PROMPT), 0);
	expect_ended(test, item, 0, -ECANCELED);
}

static void all_are_counted(struct kunit *test)
{
	struct item *items = items_alloc(test, 4);
	struct rig *rig = rig_busy(test);
	struct ants_stats stats;

	expect_queued(rig, &items[0]);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[0])),
			-EALREADY);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel(work_of(&items[0])));
	KUNIT_EXPECT_FALSE(test, ants_work_cancel(work_of(&items[0])));
	expect_queued(rig, &items[0]);
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(test, stats.submitted, 3);
	KUNIT_EXPECT_EQ(test, stats.cancelled, 1);
	KUNIT_EXPECT_EQ(test, stats.completed, 0);
	KUNIT_EXPECT_EQ(test, stats.rejected, 2);
	KUNIT_EXPECT_EQ(test, stats.pending, 1);
	KUNIT_EXPECT_EQ(test, stats.busy, 1);
	gate_open(&rig->gate);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 0, -EINVAL);
	expect_counted(test, rig->pool, 3, 1);
}

static int until_told_fn(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, dwork.work);
	bool told = WAIT_FOR(ants_work_cancelled(work));

	atomic_inc(&item->ran);
	return told ? RESULT(1) : -ETIMEDOUT;
}

/*
 * O17: a task runs until it is told to end, and the submitter that would tell
 * it waits for room: the submitter can give up, and cancel the task itself.
 */
static void o17_submitter_can_cancel_what_it_waits_for(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_make(test, "cancel", attrs);

	INIT_ANTS_DELAYED_WORK(&items[0].dwork, until_told_fn);
	expect_queued(rig, &items[0]);
	EXPECT_SOON(test, state_of(&items[0]) == ANTS_WORK_RUNNING);
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool,
						      work_of(&items[1]), 2),
			-ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, ants_work_cancel(work_of(&items[0])));
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool,
						      work_of(&items[1]),
						      TEST_DEADLINE), 0);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 1, RESULT(1));
	expect_counted(test, rig->pool, 2, 0);
}

/* --- from whatever context -------------------------------------------------------- */

/* Calls made in some context, and what they returned. */
struct visit {
	struct rig *rig;
	struct item *items;
	struct irq_work irq_work;
	struct hrtimer hrtimer;
	struct completion done;
	bool hard;
	bool irqs_off;
	bool kept;
	int queued;
	int again;
	bool cancelled;
	bool told;
	int delayed;
	bool delay_cancelled;
};

/*
 * items[0] is pending and has waiters, and a submitter waits for its room;
 * items[1] runs; items[2] and [3] are in no pool.
 */
static void visit_now(struct visit *v)
{
	struct ants_pool *pool = v->rig->pool;
	int preempt = preempt_count();

	v->hard = in_hardirq();
	v->irqs_off = irqs_disabled();
	v->again = ants_queue_work(pool, work_of(&v->items[1]));
	v->told = ants_work_cancel(work_of(&v->items[1]));
	v->cancelled = ants_work_cancel(work_of(&v->items[0]));
	v->queued = ants_queue_work(pool, work_of(&v->items[2]));
	v->delayed = ants_queue_delayed_work(pool, &v->items[3].dwork, NEVER);
	v->delay_cancelled = ants_work_cancel(work_of(&v->items[3]));
	v->kept = irqs_disabled() == v->irqs_off && preempt_count() == preempt;
	complete(&v->done);
}

static void visit_irq_work(struct irq_work *work)
{
	visit_now(container_of(work, struct visit, irq_work));
}

static enum hrtimer_restart visit_hrtimer(struct hrtimer *timer)
{
	visit_now(container_of(timer, struct visit, hrtimer));
	return HRTIMER_NORESTART;
}

#define NR_VISITED	5

static struct visit *visit_make(struct kunit *test)
{
	struct visit *v = kunit_kzalloc(test, sizeof(*v), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };

	KUNIT_ASSERT_NOT_NULL(test, v);
	v->items = items_alloc(test, NR_VISITED);
	init_completion(&v->done);
	v->irq_work = IRQ_WORK_INIT_HARD(visit_irq_work);
	hrtimer_setup(&v->hrtimer, visit_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	v->rig = rig_make(test, "visited", attrs);
	return v;
}

/* More waiters than one lock hold wakes. */
#define NR_WAITING	20

/* All of these are woken: waiters for the item, a submitter and a flush. */
static void visit_with(struct kunit *test, void (*visit)(struct visit *v))
{
	struct visit *v = visit_make(test);
	struct item *items = v->items;
	struct rig *rig = v->rig;
	int i;

	item_start(rig, &items[1], &rig->gate);
	expect_queued(rig, &items[0]);
	for (i = 0; i < NR_WAITING; i++)
		start_wait(rig, &items[0], FOREVER);
	start_queue(rig, &items[4], FOREVER);
	visit(v);
	wait_for_completion(&v->done);
	for (i = 0; i < NR_WAITING; i++)
		expect_waited(test, &rig->calls[i], -ECANCELED);
	expect_prompt(test, &rig->calls[i]);
	KUNIT_EXPECT_EQ(test, async_stop(&rig->calls[i]), 0);
	KUNIT_EXPECT_EQ(test, v->again, 0);
	KUNIT_EXPECT_TRUE(test, v->told);
	KUNIT_EXPECT_TRUE(test, v->cancelled);
	KUNIT_EXPECT_EQ(test, v->queued, -EAGAIN);
	KUNIT_EXPECT_EQ(test, v->delayed, 0);
	KUNIT_EXPECT_TRUE(test, v->delay_cancelled);
	KUNIT_EXPECT_TRUE(test, v->irqs_off);
	KUNIT_EXPECT_TRUE(test, v->kept);
	gate_open(&rig->gate);
	expect_ended(test, &items[1], 1, RESULT(1));
	expect_ended(test, &items[3], 0, -ECANCELED);
	expect_ended(test, &items[4], 1, RESULT(1));
	expect_counted(test, rig->pool, 4, 2);
}

static void visit_from_irq(struct visit *v)
{
	irq_work_queue(&v->irq_work);
	irq_work_sync(&v->irq_work);
	KUNIT_EXPECT_TRUE(v->rig->test, v->hard);
}

static void from_hard_irq(struct kunit *test)
{
	visit_with(test, visit_from_irq);
}

static void visit_from_timer(struct visit *v)
{
	hrtimer_start(&v->hrtimer, 1, HRTIMER_MODE_REL_HARD);
	wait_for_completion(&v->done);
	hrtimer_cancel(&v->hrtimer);
	complete(&v->done);
	KUNIT_EXPECT_TRUE(v->rig->test, v->hard);
}

static void from_hard_timer(struct kunit *test)
{
	visit_with(test, visit_from_timer);
}

/* Lockdep checks the nesting: only raw locks may be taken inside. */
static void visit_under_lock(struct visit *v)
{
	static DEFINE_RAW_SPINLOCK(lock);
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	visit_now(v);
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void under_a_raw_lock_with_irqs_off(struct kunit *test)
{
	visit_with(test, visit_under_lock);
}

static void work_cancel_exit(struct kunit *test)
{
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
}

static struct kunit_case work_cancel_cases[] = {
	KUNIT_CASE(cancel_grants_a_waiter),
	KUNIT_CASE(cancelled_submitter_leaves_the_queue),
	KUNIT_CASE(cancel_ends_a_flush),
	KUNIT_CASE(called_off_run_ends_a_flush),
	KUNIT_CASE(cancel_lets_a_closed_pool_drain),
	KUNIT_CASE(cancel_without_a_thread),
	KUNIT_CASE(all_are_counted),
	KUNIT_CASE(o17_submitter_can_cancel_what_it_waits_for),
	KUNIT_CASE(from_hard_irq),
	KUNIT_CASE(from_hard_timer),
	KUNIT_CASE(under_a_raw_lock_with_irqs_off),
	{}
};

static struct kunit_suite work_cancel_suite = {
	.name = "ants_work_cancel",
	.exit = work_cancel_exit,
	.test_cases = work_cancel_cases,
};

kunit_test_suite(work_cancel_suite);

MODULE_DESCRIPTION("ants: KUnit tests of cancelled work items");
MODULE_LICENSE("GPL");
