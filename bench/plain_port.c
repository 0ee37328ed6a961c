// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subject: a literal port of the pool of goroutines to threads. A submitter
 * pops the worker that became idle last, stores the task in it and wakes it;
 * without an idle worker it makes one, or waits if the capacity is reached. A
 * worker that has finished goes back to the idle ones and wakes a waiter. This
 * shows what the design of ants is worth.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "bench.h"

struct port_worker {
	struct list_head node;
	struct task_struct *task;
	ants_fn_t fn;
	void *data;
};

static struct {
	/* Guards everything here, and the fields of idle workers. */
	spinlock_t lock;
	struct list_head idle;
	unsigned int nr_idle;
	unsigned int nr_workers;
	unsigned int capacity;
	ants_fn_t call;
	wait_queue_head_t room;
	wait_queue_head_t drained;
} port = {
	.lock = __SPIN_LOCK_UNLOCKED(port.lock),
	.idle = LIST_HEAD_INIT(port.idle),
	.room = __WAIT_QUEUE_HEAD_INITIALIZER(port.room),
	.drained = __WAIT_QUEUE_HEAD_INITIALIZER(port.drained),
};

static void give_back(struct port_worker *w)
{
	spin_lock_irq(&port.lock);
	w->fn = NULL;
	list_add(&w->node, &port.idle);
	port.nr_idle++;
	wake_up(&port.room);
	if (port.nr_idle == port.nr_workers)
		wake_up(&port.drained);
	spin_unlock_irq(&port.lock);
}

/* False if the worker is to end. */
static bool wait_for_task(struct port_worker *w)
{
	for (;;) {
		set_current_state(TASK_IDLE);
		/* Pairs with the release in hand_over(). */
		if (smp_load_acquire(&w->fn) || kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return w->fn;
}

static int worker_fn(void *data)
{
	struct port_worker *w = data;

	while (wait_for_task(w)) {
		w->fn(w->data);
		give_back(w);
	}
	return 0;
}

static void hand_over(struct port_worker *w, ants_fn_t fn, void *data)
{
	w->data = data;
	/* Pairs with the acquire in wait_for_task(). */
	smp_store_release(&w->fn, fn);
	wake_up_process(w->task);
}

static struct port_worker *make_worker(void)
{
	struct port_worker *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return ERR_PTR(-ENOMEM);
	w->task = kthread_create(worker_fn, w, "ants_port");
	if (IS_ERR(w->task)) {
		struct task_struct *failure = w->task;

		kfree(w);
		return ERR_CAST(failure);
	}
	return w;
}

static bool has_room(void)
{
	return port.nr_idle || port.nr_workers < port.capacity;
}

/* An idle worker; NULL if a new one may be made. */
static struct port_worker *take_idle(void)
{
	struct port_worker *w = NULL;

	spin_lock_irq(&port.lock);
	wait_event_lock_irq(port.room, has_room(), port.lock);
	if (port.nr_idle) {
		w = list_first_entry(&port.idle, struct port_worker, node);
		list_del(&w->node);
		port.nr_idle--;
	} else {
		port.nr_workers++;
	}
	spin_unlock_irq(&port.lock);
	return w;
}

static int submit_one(struct job *job)
{
	struct port_worker *w = take_idle() ?: make_worker();

	if (IS_ERR(w)) {
		spin_lock_irq(&port.lock);
		port.nr_workers--;
		spin_unlock_irq(&port.lock);
		return PTR_ERR(w);
	}
	hand_over(w, port.call, job);
	return 0;
}

static int submit(struct job *jobs, unsigned int nr)
{
	int err = 0;

	for (; nr; nr--, jobs++)
		err = submit_one(jobs) ?: err;
	return err;
}

static void flush(void)
{
	spin_lock_irq(&port.lock);
	wait_event_lock_irq(port.drained, port.nr_idle == port.nr_workers,
			    port.lock);
	spin_unlock_irq(&port.lock);
}

static int setup(const struct row *row)
{
	port.capacity = row->capacity;
	port.call = row->body->call;
	return 0;
}

static void teardown(void)
{
	struct port_worker *w, *next;

	flush();
	list_for_each_entry_safe(w, next, &port.idle, node) {
		kthread_stop(w->task);
		kfree(w);
	}
	INIT_LIST_HEAD(&port.idle);
	port.nr_idle = 0;
	port.nr_workers = 0;
}

static unsigned int threads(void)
{
	return port.nr_workers;
}

const struct subject plain_port_subject = {
	.name = "plain_port",
	.bounded = true,
	.setup = setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
	.threads = threads,
};
