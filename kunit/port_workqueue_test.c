// SPDX-License-Identifier: GPL-2.0-only
/* Porting from workqueues: items, on both sides; see port.h. */
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/module.h>

#include "port_cases.h"

static const struct side sides[] = { { "workqueue", WORKQUEUE }, { "ants", POOL } };
static const struct side in_order[] = {
	{ "workqueue", ORDERED_WORKQUEUE }, { "ants", ORDERED_POOL },
	{ "ants, detached", DETACHED_POOL },
};

KUNIT_ARRAY_PARAM(side, sides, side_desc);
KUNIT_ARRAY_PARAM(in_order, in_order, side_desc);

static bool port_cancel(struct job *job)
{
	return is_pool(job->port) ? ants_work_cancel(&job->ants.work) :
	       cancel_work(&job->wq.work);
}

static bool port_cancel_delayed(struct job *job)
{
	return is_pool(job->port) ? ants_work_cancel(&job->ants.work) :
	       cancel_delayed_work(&job->wq);
}

static bool port_pending(struct job *job)
{
	return is_pool(job->port) ? ants_work_pending(&job->ants.work) :
	       work_pending(&job->wq.work);
}

static unsigned int port_busy(struct job *job)
{
	return is_pool(job->port) ? ants_work_busy(&job->ants.work) :
	       work_busy(&job->wq.work);
}

static void port_drain(struct port *port)
{
	if (is_pool(port))
		KUNIT_EXPECT_EQ(port->test, ants_drain(port->pool), 0);
	else
		drain_workqueue(port->wq);
}

/* The run that was taken back is queued anew, so that no more runs come of it. */
static void port_flush_delayed(struct job *job)
{
	if (!is_pool(job->port)) {
		flush_delayed_work(&job->wq);
		return;
	}
	if (ants_work_cancel(&job->ants.work))
		ants_queue_delayed_work(job->port->pool, &job->ants, 0);
	port_flush(job);
}

static void cancel_takes_back_what_is_pending(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];

	KUNIT_EXPECT_FALSE(test, port_cancel(job));
	job_start(job);
	KUNIT_EXPECT_FALSE(test, port_cancel(job));
	KUNIT_EXPECT_TRUE(test, port_queue(job));
	KUNIT_EXPECT_TRUE(test, port_cancel(job));
	KUNIT_EXPECT_TRUE(test, port_queue_delayed(job, FAR_OFF));
	KUNIT_EXPECT_TRUE(test, port_cancel_delayed(job));
	KUNIT_EXPECT_FALSE(test, port_cancel_delayed(job));
	gate_open(&port->gate);
	expect_runs(job, 1);
}

static void cancel_sync_of_a_delay(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];

	KUNIT_EXPECT_TRUE(test, port_queue_delayed(job, FAR_OFF));
	KUNIT_EXPECT_TRUE(test, port_cancel_delayed_sync(job));
	KUNIT_EXPECT_FALSE(test, port_pending(job));
	expect_runs(job, 0);
}

/* Pending: queued or delayed, and that run has not started. */
static void pending_and_busy(struct kunit *test)
{
	unsigned int pending = WORK_BUSY_PENDING, running = WORK_BUSY_RUNNING;
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];

	if (is_pool(port)) {
		pending = ANTS_WORK_BUSY_PENDING;
		running = ANTS_WORK_BUSY_RUNNING;
	}
	KUNIT_EXPECT_FALSE(test, port_pending(job));
	KUNIT_EXPECT_EQ(test, port_busy(job), 0U);
	port_queue_delayed(job, FAR_OFF);
	KUNIT_EXPECT_TRUE(test, port_pending(job));
	KUNIT_EXPECT_EQ(test, port_busy(job), pending);
	port_cancel_delayed(job);
	job_start(job);
	KUNIT_EXPECT_FALSE(test, port_pending(job));
	KUNIT_EXPECT_EQ(test, port_busy(job), running);
	port_queue(job);
	KUNIT_EXPECT_TRUE(test, port_pending(job));
	KUNIT_EXPECT_EQ(test, port_busy(job), pending | running);
	gate_open(&port->gate);
	expect_runs(job, 2);
}

/* It ends a delay, and makes no run that there would not have been. */
static void flush_of_a_delayed_item(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];

	port_flush_delayed(job);
	expect_runs(job, 0);
	port_queue_delayed(job, FAR_OFF);
	port_flush_delayed(job);
	expect_runs(job, 1);
	job_start(job);
	port_queue_delayed(job, FAR_OFF);
	gate_open(&port->gate);
	port_flush_delayed(job);
	expect_runs(job, 3);
}

struct flush_of_many {
	struct job *job;
	atomic_t flushes;
	atomic_t stop;
};

static int do_flush_often(struct async_call *call)
{
	struct flush_of_many *many = call->data;

	while (!atomic_read(&many->stop)) {
		port_flush_delayed(many->job);
		atomic_inc(&many->flushes);
		cond_resched();
	}
	return 0;
}

/* The item may start while the flush looks at it. It runs no more often than queued. */
static void flush_of_a_delayed_item_that_starts(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];
	struct flush_of_many many = { .job = job };
	struct async_call *flush = async_start(test, do_flush_often, &many);
	unsigned long end = jiffies + TEST_DEADLINE;
	int queued = 0;

	EXPECT_SOON(test, atomic_read(&many.flushes) > 0);
	while (queued < 500 && time_before(jiffies, end)) {
		queued += port_queue(job);
		while (port_busy(job) && time_before(jiffies, end))
			cond_resched();
	}
	atomic_set(&many.stop, 1);
	expect_result(test, flush, 0);
	port_flush_delayed(job);
	KUNIT_EXPECT_FALSE(test, port_pending(job));
	KUNIT_EXPECT_GT(test, atomic_read(&job->runs), 0);
	KUNIT_EXPECT_LE(test, atomic_read(&job->runs), queued);
}

/* What a pool refuses waits for room by itself. */
static void queue_anyway(struct job *job)
{
	int err;

	if (!is_pool(job->port)) {
		queue_work(job->port->wq, &job->wq.work);
		return;
	}
	err = ants_queue_work(job->port->pool, &job->ants.work);
	if (err == -EAGAIN)
		err = ants_queue_delayed_work(job->port->pool, &job->ants, 0);
	KUNIT_EXPECT_EQ(job->port->test, err, 0);
}

/* Without room the order is that of a workqueue, too. */
static void order_without_room(struct kunit *test)
{
	const struct side *side = test->param_value;
	struct port *port;
	int i;

	if (side->kind == ORDERED_WORKQUEUE)
		port = port_make(test, 1);
	else
		port = port_own(test, side->kind, ants_pool_create_ordered(NULL, "port"));
	job_start(&port->jobs[0]);
	for (i = 1; i < 8; i++)
		queue_anyway(&port->jobs[i]);
	gate_open(&port->gate);
	for (i = 0; i < 8; i++)
		expect_runs(&port->jobs[i], 1);
	KUNIT_EXPECT_STREQ(test, port->turns, "01234567");
}

static void drain_waits_for_what_goes_on(struct kunit *test)
{
	struct port *port = port_make(test, 4);

	port_queue_delayed(&port->jobs[1], FAR_OFF);
	port->jobs[0].more = 5;
	port_queue(&port->jobs[0]);
	port_drain(port);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->jobs[0].runs), 6);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->jobs[1].runs), 0);
}

/* So does the end of a workqueue. That of a pool has to be told to. */
static void end_waits_for_what_goes_on(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];

	job->more = 5;
	port_queue(job);
	port_destroy(port);
	KUNIT_EXPECT_EQ(test, atomic_read(&job->runs), 6);
}

/* A workqueue takes an item that runs on another one. A pool refuses it. */
static void queue_elsewhere_while_it_runs(struct kunit *test)
{
	struct port *port = port_make(test, 4), *other = port_make_named(test, "other", 4);
	struct job *job = &port->jobs[0];

	job_start(job);
	if (is_pool(port))
		KUNIT_EXPECT_EQ(test, ants_queue_work(other->pool, &job->ants.work),
				-EALREADY);
	else
		KUNIT_EXPECT_TRUE(test, queue_work(other->wq, &job->wq.work));
	gate_open(&port->gate);
	EXPECT_SOON(test, atomic_read(&job->runs) == (is_pool(port) ? 1 : 2));
	port_flush(job);
}

/* Who frees an item whose function has begun. */
struct own {
	struct work_struct wq;
	struct ants_work ants;
	struct rcu_work rcu_wq;
	struct rcu_head rcu;
	struct ants_pool *pool;
	unsigned long queued;
	atomic_t *ran;
	struct task_struct **thread;
};

static void own_wq_fn(struct work_struct *work)
{
	struct own *own = container_of(work, struct own, wq);

	atomic_inc(own->ran);
	kfree(own);
}

static int own_ants_fn(struct ants_work *work)
{
	struct own *own = container_of(work, struct own, ants);

	atomic_inc(own->ran);
	kfree(own);
	return 0;
}

static struct own *own_make(struct kunit *test, atomic_t *ran)
{
	struct own *own = kzalloc(sizeof(*own), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, own);
	own->ran = ran;
	INIT_WORK(&own->wq, own_wq_fn);
	INIT_ANTS_WORK_DETACHED(&own->ants, own_ants_fn);
	return own;
}

static void function_frees_the_item(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	atomic_t ran = ATOMIC_INIT(0);
	int i;

	for (i = 0; i < 100; i++) {
		struct own *own = own_make(test, &ran);

		if (is_pool(port))
			KUNIT_EXPECT_EQ(test, ants_queue_work(port->pool, &own->ants), 0);
		else
			KUNIT_EXPECT_TRUE(test, queue_work(port->wq, &own->wq));
	}
	port_flush_all(port);
	KUNIT_EXPECT_EQ(test, atomic_read(&ran), 100);
}

static atomic_t static_runs;

static void static_wq_fn(struct work_struct *work)
{
	atomic_inc(&static_runs);
}

static int static_ants_fn(struct ants_work *work)
{
	atomic_inc(&static_runs);
	return 0;
}

static DECLARE_WORK(static_wq, static_wq_fn);
static DEFINE_ANTS_WORK(static_ants, static_ants_fn);

static void items_that_are_no_allocation(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct ants_delayed_work later;
	struct work_struct wq;
	struct ants_work ants;

	atomic_set(&static_runs, 0);
	if (is_pool(port)) {
		/* Again, which an item that is in no pool may be. */
		INIT_ANTS_WORK(&static_ants, static_ants_fn);
		INIT_ANTS_WORK_ONSTACK(&ants, static_ants_fn);
		INIT_ANTS_DELAYED_WORK_ONSTACK(&later, static_ants_fn);
		ants_queue_work(port->pool, &static_ants);
		ants_queue_work(port->pool, &ants);
		ants_queue_delayed_work(port->pool, &later, 1);
		KUNIT_EXPECT_EQ(test, ants_work_wait(&static_ants, NULL), 0);
		KUNIT_EXPECT_EQ(test, ants_work_wait(&ants, NULL), 0);
		KUNIT_EXPECT_EQ(test, ants_work_wait(&later.work, NULL), 0);
		ants_destroy_work_on_stack(&ants);
		ants_destroy_delayed_work_on_stack(&later);
	} else {
		INIT_WORK(&static_wq, static_wq_fn);
		INIT_WORK_ONSTACK(&wq, static_wq_fn);
		queue_work(port->wq, &static_wq);
		queue_work(port->wq, &wq);
		flush_work(&static_wq);
		flush_work(&wq);
		destroy_work_on_stack(&wq);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&static_runs), is_pool(port) ? 3 : 2);
}

/* --- after a grace period ------------------------------------------------------- */

static void rcu_wq_fn(struct work_struct *work)
{
	struct own *own = container_of(to_rcu_work(work), struct own, rcu_wq);

	atomic_inc(own->ran);
}

static int rcu_ants_fn(struct ants_work *work)
{
	atomic_inc(container_of(work, struct own, ants)->ran);
	return 0;
}

static void rcu_ants_ready(struct rcu_head *rcu)
{
	struct own *own = container_of(rcu, struct own, rcu);

	clear_bit(0, &own->queued);
	ants_queue_work(own->pool, &own->ants);
}

/* A second call before the grace period has ended must not touch the head. */
static bool own_queue_rcu(struct port *port, struct own *own)
{
	if (!is_pool(port))
		return queue_rcu_work(port->wq, &own->rcu_wq);
	if (test_and_set_bit(0, &own->queued))
		return false;
	call_rcu(&own->rcu, rcu_ants_ready);
	return true;
}

static void own_flush_rcu(struct port *port, struct own *own)
{
	if (!is_pool(port)) {
		flush_rcu_work(&own->rcu_wq);
		return;
	}
	rcu_barrier();
	KUNIT_EXPECT_EQ(port->test, ants_work_flush(&own->ants), 0);
}

static void after_a_grace_period(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	atomic_t ran = ATOMIC_INIT(0);
	struct own *own = own_make(test, &ran);

	INIT_RCU_WORK(&own->rcu_wq, rcu_wq_fn);
	INIT_ANTS_WORK(&own->ants, rcu_ants_fn);
	own->pool = port->pool;
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, own_queue_rcu(port, own));
	KUNIT_EXPECT_FALSE(test, own_queue_rcu(port, own));
	KUNIT_EXPECT_EQ(test, atomic_read(&ran), 0);
	rcu_read_unlock();
	own_flush_rcu(port, own);
	KUNIT_EXPECT_EQ(test, atomic_read(&ran), 1);
	KUNIT_EXPECT_TRUE(test, own_queue_rcu(port, own));
	own_flush_rcu(port, own);
	KUNIT_EXPECT_EQ(test, atomic_read(&ran), 2);
	kfree(own);
}

/* --- in whatever context -------------------------------------------------------- */

struct process {
	struct execute_work execute;
	struct ants_work ants;
	struct port *port;
	struct irq_work irq;
	struct task_struct *thread;
	bool later;
};

static void process_wq_fn(struct work_struct *work)
{
	struct process *p = container_of(work, struct process, execute.work);

	WRITE_ONCE(p->thread, current);
}

static int process_ants_fn(struct ants_work *work)
{
	WRITE_ONCE(container_of(work, struct process, ants)->thread, current);
	return 0;
}

/* Call the function, or where that cannot be, queue it. True: it was queued. */
static bool process_run(struct process *p)
{
	if (!is_pool(p->port))
		return execute_in_process_context(process_wq_fn, &p->execute);
	if (!in_interrupt()) {
		process_ants_fn(&p->ants);
		return false;
	}
	return !ants_queue_work(p->port->pool, &p->ants);
}

static void process_irq(struct irq_work *irq)
{
	struct process *p = container_of(irq, struct process, irq);

	p->later = process_run(p);
}

static void in_process_context(struct kunit *test)
{
	struct process *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->port = port_make(test, 4);
	INIT_ANTS_WORK(&p->ants, process_ants_fn);
	KUNIT_EXPECT_FALSE(test, process_run(p));
	KUNIT_EXPECT_PTR_EQ(test, p->thread, current);
	p->thread = NULL;
	p->irq = IRQ_WORK_INIT_HARD(process_irq);
	irq_work_queue(&p->irq);
	irq_work_sync(&p->irq);
	KUNIT_EXPECT_TRUE(test, p->later);
	EXPECT_SOON(test, READ_ONCE(p->thread));
	KUNIT_EXPECT_PTR_NE(test, p->thread, current);
	if (is_pool(p->port))
		KUNIT_EXPECT_EQ(test, ants_work_flush(&p->ants), 0);
	else
		flush_work(&p->execute.work);
}

/* --- what an item knows of itself ----------------------------------------------- */

struct self {
	struct work_struct wq;
	struct ants_work ants;
	struct ants_pool *pool;
	bool right;
};

static void self_wq_fn(struct work_struct *work)
{
	struct self *self = container_of(work, struct self, wq);

	self->right = current_work() == work && !ants_current_pool();
}

static int self_ants_fn(struct ants_work *work)
{
	struct self *self = container_of(work, struct self, ants);

	self->right = !current_work() && ants_in_pool(self->pool) &&
		      ants_current_pool() == self->pool;
	return 0;
}

static void who_am_i(struct kunit *test)
{
	struct self *self = kunit_kzalloc(test, sizeof(*self), GFP_KERNEL);
	struct port *port;

	KUNIT_ASSERT_NOT_NULL(test, self);
	INIT_WORK(&self->wq, self_wq_fn);
	INIT_ANTS_WORK(&self->ants, self_ants_fn);
	port = port_make(test, 4);
	self->pool = port->pool;
	if (is_pool(port))
		ants_queue_work(port->pool, &self->ants);
	else
		queue_work(port->wq, &self->wq);
	port_flush_all(port);
	KUNIT_EXPECT_TRUE(test, self->right);
}

static struct kunit_case port_workqueue_cases[] = {
	KUNIT_CASE_PARAM(queue_while_it_runs, side_gen_params),
	KUNIT_CASE_PARAM(place_of_the_second_run, in_order_gen_params),
	KUNIT_CASE_PARAM(flush_of_one, side_gen_params),
	KUNIT_CASE_PARAM(flush_of_all, side_gen_params),
	KUNIT_CASE_PARAM(delays, side_gen_params),
	KUNIT_CASE_PARAM(mod_while_it_runs, side_gen_params),
	KUNIT_CASE_PARAM(cancel_sync, side_gen_params),
	KUNIT_CASE_PARAM(cancel_sync_ends_what_goes_on, side_gen_params),
	KUNIT_CASE_PARAM(cancel_sync_of_a_delay, side_gen_params),
	KUNIT_CASE_PARAM(end_runs_what_is_queued, in_order_gen_params),
	KUNIT_CASE_PARAM(cancel_takes_back_what_is_pending, side_gen_params),
	KUNIT_CASE_PARAM(pending_and_busy, side_gen_params),
	KUNIT_CASE_PARAM(flush_of_a_delayed_item, side_gen_params),
	KUNIT_CASE_PARAM(flush_of_a_delayed_item_that_starts, side_gen_params),
	KUNIT_CASE_PARAM(order_without_room, in_order_gen_params),
	KUNIT_CASE_PARAM(drain_waits_for_what_goes_on, side_gen_params),
	KUNIT_CASE_PARAM(end_waits_for_what_goes_on, side_gen_params),
	KUNIT_CASE_PARAM(queue_elsewhere_while_it_runs, side_gen_params),
	KUNIT_CASE_PARAM(function_frees_the_item, side_gen_params),
	KUNIT_CASE_PARAM(items_that_are_no_allocation, side_gen_params),
	KUNIT_CASE_PARAM(after_a_grace_period, side_gen_params),
	KUNIT_CASE_PARAM(in_process_context, side_gen_params),
	KUNIT_CASE_PARAM(who_am_i, side_gen_params),
	{}
};

static struct kunit_suite port_workqueue_suite = {
	.name = "ants_port_workqueue",
	.test_cases = port_workqueue_cases,
};

kunit_test_suite(port_workqueue_suite);

MODULE_DESCRIPTION("ants: KUnit tests of ports from workqueues: items");
MODULE_LICENSE("GPL");
