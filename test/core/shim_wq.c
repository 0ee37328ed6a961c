// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workqueues, unbound: there is always a thread for a work item, and no item
 * runs in two threads at a time.
 */
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "shim.h"

struct wq_worker {
	struct list_head node;
	struct workqueue_struct *wq;
	struct task_struct *task;
	struct work_struct *runs;
	bool idle;
};

struct workqueue_struct {
	raw_spinlock_t lock;
	struct list_head works;
	struct list_head workers;
	unsigned int nr_ended;
	bool stopping;
};

static bool runs(struct workqueue_struct *wq, struct work_struct *work)
{
	struct wq_worker *w;

	list_for_each_entry(w, &wq->workers, node)
		if (w->runs == work)
			return true;
	return false;
}

/* The next item that is not running. */
static struct work_struct *take_work(struct workqueue_struct *wq)
{
	struct work_struct *work;

	list_for_each_entry(work, &wq->works, node) {
		if (runs(wq, work))
			continue;
		list_del(&work->node);
		WRITE_ONCE(work->pending, false);
		return work;
	}
	return NULL;
}

/* Entered and left with the lock held. */
static void run_work(struct wq_worker *w)
{
	struct work_struct *work = w->runs;

	raw_spin_unlock_irq(&w->wq->lock);
	if (work->after_rcu)
		synchronize_rcu();
	work->fn(work);
	might_sleep();
	raw_spin_lock_irq(&w->wq->lock);
	w->runs = NULL;
	WRITE_ONCE(w->wq->nr_ended, w->wq->nr_ended + 1);
}

static int worker_fn(void *data)
{
	struct wq_worker *w = data;
	struct workqueue_struct *wq = w->wq;

	current->flags |= PF_WQ_WORKER;
	raw_spin_lock_irq(&wq->lock);
	for (;;) {
		while ((w->runs = take_work(wq)))
			run_work(w);
		if (wq->stopping)
			break;
		w->idle = true;
		set_current_state(TASK_IDLE);
		raw_spin_unlock_irq(&wq->lock);
		schedule();
		raw_spin_lock_irq(&wq->lock);
		w->idle = false;
	}
	raw_spin_unlock_irq(&wq->lock);
	return 0;
}

/* A thread that already runs serves as well as one that is made at once. */
static void add_worker(struct workqueue_struct *wq)
{
	struct wq_worker *w = shim_alloc(sizeof(*w));

	w->wq = wq;
	w->task = get_task_struct(shim_task_alloc(worker_fn, w, PF_KTHREAD,
						  "wq"));
	list_add_tail(&w->node, &wq->workers);
	shim_thread_make(w->task);
	wake_up_process(w->task);
}

static void kick_worker(struct workqueue_struct *wq)
{
	struct wq_worker *w;

	list_for_each_entry(w, &wq->workers, node) {
		if (!w->idle)
			continue;
		w->idle = false;
		wake_up_process(w->task);
		return;
	}
	add_worker(wq);
}

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags,
					 int max_active, ...)
{
	struct workqueue_struct *wq = shim_alloc(sizeof(*wq));

	raw_spin_lock_init(&wq->lock);
	wq->lock.lock.quiet = true;
	INIT_LIST_HEAD(&wq->works);
	INIT_LIST_HEAD(&wq->workers);
	return wq;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	struct wq_worker *w, *next;

	raw_spin_lock_irq(&wq->lock);
	wq->stopping = true;
	raw_spin_unlock_irq(&wq->lock);
	list_for_each_entry_safe(w, next, &wq->workers, node) {
		wake_up_process(w->task);
		shim_join(w->task);
		kfree(w);
	}
	WARN(!list_empty(&wq->works), "work is left");
	kfree(wq);
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned long flags;
	bool was;

	/* ants_notice_wq: there are no programs to be told. */
	if (!wq)
		return false;
	shim_point();
	raw_spin_lock_irqsave(&wq->lock, flags);
	was = work->pending;
	if (!was) {
		WRITE_ONCE(work->wq, wq);
		work->pending = true;
		list_add_tail(&work->node, &wq->works);
		/* The thread that runs it checks again. */
		if (!runs(wq, work))
			kick_worker(wq);
	}
	raw_spin_unlock_irqrestore(&wq->lock, flags);
	return !was;
}

bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork)
{
	return queue_work(wq, &rwork->work);
}

struct ending {
	struct workqueue_struct *wq;
	unsigned int nr_ended;
};

static bool some_ended(void *arg)
{
	struct ending *ending = arg;

	return READ_ONCE(ending->wq->nr_ended) != ending->nr_ended;
}

static bool take_back(struct workqueue_struct *wq, struct work_struct *work)
{
	bool was = work->pending;

	if (was)
		list_del(&work->node);
	work->pending = false;
	return was;
}

bool cancel_work_sync(struct work_struct *work)
{
	struct workqueue_struct *wq = READ_ONCE(work->wq);
	struct ending ending = { .wq = wq };
	bool was = false, busy;

	if (!wq)
		return false;
	for (;;) {
		raw_spin_lock_irq(&wq->lock);
		was |= take_back(wq, work);
		busy = runs(wq, work);
		ending.nr_ended = wq->nr_ended;
		raw_spin_unlock_irq(&wq->lock);
		if (!busy)
			return was;
		shim_wait_until(some_ended, &ending);
	}
}
