// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_try_submit() in contexts that may neither sleep nor allocate. Allocating
 * a slot fails meanwhile, so a submit that tried to allocate would be refused.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/module.h>

#include "async.h"

/* One submit from some context, and what that context was. */
struct visit {
	struct ants_pool *pool;
	ants_fn_t fn;
	atomic_t count;
	struct ants_stats stats;
	struct irq_work irq_work;
	struct hrtimer hrtimer;
	struct timer_list timer;
	struct completion done;
	unsigned int nr;
	unsigned int accepted;
	int result;
	bool hard;
	bool soft;
	bool irqs_off;
	bool atomic;
	bool kept;
};

/* Submit as many tasks as asked for; that must not change the context. */
static void visit_now(struct visit *v)
{
	int preempt = preempt_count();
	unsigned int i;

	v->hard = in_hardirq();
	v->soft = in_serving_softirq();
	v->irqs_off = irqs_disabled();
	v->atomic = preempt_count();
	for (i = 0; i < v->nr; i++) {
		v->result = ants_try_submit(v->pool, v->fn, &v->count);
		v->accepted += !v->result;
	}
	ants_pool_stats(v->pool, &v->stats);
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

static void visit_timer(struct timer_list *timer)
{
	visit_now(container_of(timer, struct visit, timer));
}

static struct visit *visit_of(struct kunit *test, struct ants_pool *pool)
{
	struct visit *v = kunit_kzalloc(test, sizeof(*v), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, v);
	v->pool = pool;
	v->fn = count_task;
	v->nr = 1;
	init_completion(&v->done);
	v->irq_work = IRQ_WORK_INIT_HARD(visit_irq_work);
	hrtimer_setup(&v->hrtimer, visit_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	timer_setup(&v->timer, visit_timer, 0);
	return v;
}

static struct visit *visitor(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 100 };

	return visit_of(test, test_pool(test, &attrs, "visited"));
}

/* Submit from a hard interrupt on this CPU, and wait for its end. */
static void visit_from_irq(struct visit *v)
{
	reinit_completion(&v->done);
	irq_work_queue(&v->irq_work);
	irq_work_sync(&v->irq_work);
	wait_for_completion(&v->done);
}

static void expect_ran(struct kunit *test, struct visit *v)
{
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	KUNIT_EXPECT_EQ(test, v->result, 0);
	KUNIT_EXPECT_TRUE(test, v->kept);
	KUNIT_EXPECT_EQ(test, v->accepted, v->nr);
	KUNIT_EXPECT_EQ(test, v->stats.submitted, v->nr);
	KUNIT_EXPECT_EQ(test, ants_flush(v->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->count), v->nr);
}

static void from_hard_irq(struct kunit *test)
{
	struct visit *v = visitor(test);

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	/* No thread is made before the interrupt has ended. */
	ants_pause_arm(ANTS_PAUSE_MAKE, v->pool);
	visit_from_irq(v);
	ants_pause_resume(ANTS_PAUSE_MAKE);
	KUNIT_EXPECT_TRUE(test, v->hard);
	expect_ran(test, v);
}

static void from_hard_timer(struct kunit *test)
{
	struct visit *v = visitor(test);

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	hrtimer_start(&v->hrtimer, 1, HRTIMER_MODE_REL_HARD);
	wait_for_completion(&v->done);
	hrtimer_cancel(&v->hrtimer);
	KUNIT_EXPECT_TRUE(test, v->hard);
	expect_ran(test, v);
}

static void from_softirq(struct kunit *test)
{
	struct visit *v = visitor(test);

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	mod_timer(&v->timer, jiffies + 1);
	wait_for_completion(&v->done);
	timer_delete_sync(&v->timer);
	KUNIT_EXPECT_TRUE(test, v->soft);
	expect_ran(test, v);
}

/* Lockdep checks the nesting: only raw locks may be taken inside. */
static void under_a_raw_lock_with_irqs_off(struct kunit *test)
{
	static DEFINE_RAW_SPINLOCK(lock);
	struct visit *v = visitor(test);
	unsigned long flags;

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	raw_spin_lock_irqsave(&lock, flags);
	visit_now(v);
	raw_spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_TRUE(test, v->irqs_off);
	expect_ran(test, v);
}

static void under_a_spinlock(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	struct visit *v = visitor(test);

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	spin_lock_bh(&lock);
	visit_now(v);
	spin_unlock_bh(&lock);
	expect_ran(test, v);
}

static void with_irqs_off(struct kunit *test)
{
	struct visit *v = visitor(test);

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	local_irq_disable();
	visit_now(v);
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test, v->irqs_off);
	expect_ran(test, v);
}

static void with_preemption_off(struct kunit *test)
{
	struct visit *v = visitor(test);

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	preempt_disable();
	visit_now(v);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, v->atomic);
	expect_ran(test, v);
}

static void inside_an_rcu_section(struct kunit *test)
{
	struct visit *v = visitor(test);

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	rcu_read_lock();
	visit_now(v);
	rcu_read_unlock();
	expect_ran(test, v);
}

/* One interrupt uses the whole stock; the workers are made afterwards. */
static void stock_serves_one_interrupt(struct kunit *test)
{
	struct visit *v = visitor(test);

	v->nr = ANTS_SPARE_SLOTS;
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	ants_pause_arm(ANTS_PAUSE_MAKE, v->pool);
	visit_from_irq(v);
	ants_pause_resume(ANTS_PAUSE_MAKE);
	KUNIT_EXPECT_TRUE(test, v->hard);
	KUNIT_EXPECT_EQ(test, v->stats.pending, ANTS_SPARE_SLOTS);
	expect_ran(test, v);
}

#define NR_BURST	2000

/*
 * As many slots as the client asked for serve two bursts: the stock is refilled
 * after the first burst, while its tasks are pending.
 */
static void spare_slots_serve_a_burst(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 2, .queue_depth = 3 * NR_BURST,
		.spare_slots = NR_BURST,
	};
	struct visit *v = visit_of(test, test_pool(test, &attrs, "burst"));
	struct gate *gate = test_gate(test);

	fill_pool(test, v->pool, gate, 2);
	v->nr = NR_BURST;
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	visit_from_irq(v);
	KUNIT_EXPECT_TRUE(test, v->hard);
	KUNIT_EXPECT_EQ(test, v->accepted, NR_BURST);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	visit_from_irq(v);
	EXPECT_SOON(test, ants_peek(v->pool->nr_stock) >= NR_BURST);
	v->accepted = 0;
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	local_irq_disable();
	visit_now(v);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, v->accepted, NR_BURST);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(v->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->count) + 2,
			stats_of(v->pool).submitted);
	KUNIT_EXPECT_GE(test, ants_peek(v->pool->nr_stock), NR_BURST);
}

/*
 * An empty stock refuses the task; once there is memory the stock is refilled
 * without any other call.
 */
static void stock_is_refilled_behind_it(struct kunit *test)
{
	struct visit *v = visitor(test);
	struct gate *gate = test_gate(test);

	fill_pool(test, v->pool, gate, 2);
	EXPECT_SOON(test, !ants_peek(v->pool->upkeep.queued));
	v->nr = ants_peek(v->pool->nr_stock) + 1;
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	visit_from_irq(v);
	KUNIT_EXPECT_EQ(test, v->result, -ENOMEM);
	KUNIT_EXPECT_EQ(test, v->accepted, v->nr - 1);
	EXPECT_SOON(test, !ants_peek(v->pool->upkeep.queued));
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	v->nr = 1;
	visit_from_irq(v);
	EXPECT_SOON(test, ants_peek(v->pool->nr_stock) >= ANTS_SPARE_SLOTS);
	v->nr = 10;
	v->accepted = 0;
	visit_from_irq(v);
	KUNIT_EXPECT_EQ(test, v->accepted, 10);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(v->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->count),
			stats_of(v->pool).submitted - 2);
}

static void errors_are_told_in_interrupts(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct visit *v = visit_of(test, test_pool(test, &attrs, "errors"));
	struct gate *gate = test_gate(test);

	fill_pool(test, v->pool, gate, 1);
	visit_from_irq(v);
	KUNIT_EXPECT_EQ(test, v->result, -EAGAIN);
	KUNIT_EXPECT_EQ(test, v->stats.rejected, 1);
	v->fn = NULL;
	visit_from_irq(v);
	KUNIT_EXPECT_EQ(test, v->result, -EINVAL);
	v->fn = count_task;
	KUNIT_EXPECT_EQ(test, ants_release(v->pool), 0);
	visit_from_irq(v);
	KUNIT_EXPECT_EQ(test, v->result, -ESHUTDOWN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(v->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->count), 0);
}

/* One interrupt after the other wakes the parked worker of an idle pool. */
static void interrupt_wakes_a_parked_worker(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .min_workers = 1 };
	struct visit *v = visit_of(test, test_pool(test, &attrs, "parked"));
	int i;

	for (i = 1; i <= 50; i++) {
		EXPECT_SOON(test, ants_nr_idle(v->pool) == 1);
		visit_from_irq(v);
		EXPECT_SOON(test, atomic_read(&v->count) == i);
	}
	KUNIT_EXPECT_EQ(test, ants_flush(v->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(v->pool).spawned, 1);
}

#define NR_BOTH		500

/* A periodic interrupt whose submits come between those of the process. */
static enum hrtimer_restart submit_again(struct hrtimer *timer)
{
	struct visit *v = container_of(timer, struct visit, hrtimer);

	if (!ants_try_submit(v->pool, v->fn, &v->count))
		WRITE_ONCE(v->accepted, v->accepted + 1);
	hrtimer_forward_now(timer, 200 * NSEC_PER_USEC);
	return HRTIMER_RESTART;
}

static void interrupts_and_processes_share_a_pool(struct kunit *test)
{
	struct visit *v = visitor(test);
	int i;

	hrtimer_setup(&v->hrtimer, submit_again, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	hrtimer_start(&v->hrtimer, 1, HRTIMER_MODE_REL_HARD);
	for (i = 0; i < NR_BOTH; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(v->pool, count_task,
						  &v->count), 0);
	EXPECT_SOON(test, READ_ONCE(v->accepted) > 10);
	hrtimer_cancel(&v->hrtimer);
	KUNIT_EXPECT_EQ(test, ants_flush(v->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->count), NR_BOTH + v->accepted);
	KUNIT_EXPECT_EQ(test, stats_of(v->pool).submitted,
			NR_BOTH + v->accepted);
}

static void context_exit(struct kunit *test)
{
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
}

static struct kunit_case context_cases[] = {
	KUNIT_CASE(from_hard_irq),
	KUNIT_CASE(from_hard_timer),
	KUNIT_CASE(from_softirq),
	KUNIT_CASE(under_a_raw_lock_with_irqs_off),
	KUNIT_CASE(under_a_spinlock),
	KUNIT_CASE(with_irqs_off),
	KUNIT_CASE(with_preemption_off),
	KUNIT_CASE(inside_an_rcu_section),
	KUNIT_CASE(stock_serves_one_interrupt),
	KUNIT_CASE(spare_slots_serve_a_burst),
	KUNIT_CASE(stock_is_refilled_behind_it),
	KUNIT_CASE(errors_are_told_in_interrupts),
	KUNIT_CASE(interrupt_wakes_a_parked_worker),
	KUNIT_CASE(interrupts_and_processes_share_a_pool),
	{}
};

static struct kunit_suite context_suite = {
	.name = "ants_context",
	.exit = context_exit,
	.test_cases = context_cases,
};

kunit_test_suite(context_suite);

MODULE_DESCRIPTION("ants: KUnit tests of submits from any context");
MODULE_LICENSE("GPL");
