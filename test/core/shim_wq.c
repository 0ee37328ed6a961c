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

/* The next one that does not run still. */
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
	work->fn(work);
	might_sleep();
	raw_spin_lock_irq(&w->wq->lock);
	w->runs = NULL;
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

/* A thread that runs already serves as well as one that was made at once. */
static void add_worker(struct workqueue_struct *wq)
{
	struct wq_worker *w = shim_alloc(sizeof(*w), 0);

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
	struct workqueue_struct *wq = shim_alloc(sizeof(*wq), 0);

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

	shim_point();
	raw_spin_lock_irqsave(&wq->lock, flags);
	was = work->pending;
	if (!was) {
		WRITE_ONCE(work->wq, wq);
		work->pending = true;
		list_add_tail(&work->node, &wq->works);
		/* The thread that runs it looks again. */
		if (!runs(wq, work))
			kick_worker(wq);
	}
	raw_spin_unlock_irqrestore(&wq->lock, flags);
	return !was;
}

static bool is_through(void *arg)
{
	struct work_struct *work = arg;
	bool through;

	shim_lock(&work->wq->lock.lock);
	through = !runs(work->wq, work);
	shim_unlock(&work->wq->lock.lock);
	return through;
}

bool cancel_work_sync(struct work_struct *work)
{
	struct workqueue_struct *wq = READ_ONCE(work->wq);
	bool was;

	if (!wq)
		return false;
	raw_spin_lock_irq(&wq->lock);
	was = work->pending;
	if (was)
		list_del(&work->node);
	work->pending = false;
	raw_spin_unlock_irq(&wq->lock);
	shim_wait_until(is_through, work);
	return was;
}
