// SPDX-License-Identifier: GPL-2.0-only
/*
 * Noticing that the thread of a worker has died. Every thread that ends wakes
 * the wait queue of its pid, so that poll() on a pidfd returns; that includes a
 * thread that has oopsed, and one that its task has ended. A worker has an
 * entry in that queue, so the death is noticed without polling, and watching
 * costs nothing while the thread lives.
 *
 * The thread may have died with any lock held, so nothing is done then but to
 * queue a kernel work item, which buries the worker: see fault.c.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "internal.h"

/*
 * Called in the thread that ends, on its way out of the kernel. A worker that
 * has left is joined; any other worker has died.
 */
static int thread_ends(struct wait_queue_entry *entry, unsigned int mode,
		       int flags, void *key)
{
	struct ants_estate *estate = container_of(entry, struct ants_estate,
						  exit);

	list_del_init(&entry->entry);
	/* No other thread moves a worker that runs a function of a client. */
	if (data_race(estate->w->state) != ANTS_LEFT)
		queue_work(ants_wq, &estate->burial);
	return 0;
}

static void estate_init(struct ants_estate *estate, struct ants_worker *w)
{
	unsigned int i;

	estate->w = w;
	estate->pid = NULL;
	estate->loops = NULL;
	/* Of the records of inner tasks, only this is read before it is set. */
	for (i = 0; i < ANTS_JOIN_DEPTH; i++)
		estate->inner[i].waits = false;
	init_waitqueue_func_entry(&estate->exit, thread_ends);
	INIT_LIST_HEAD(&estate->exit.entry);
	INIT_WORK(&estate->burial, ants_burial_fn);
}

/* Allocate a worker without a thread. Return NULL if there is no memory. */
struct ants_worker *ants_worker_alloc(struct ants_pool *pool)
{
	struct ants_worker *w = kzalloc_node(sizeof(*w), GFP_KERNEL,
					     pool->node);

	if (!w)
		return NULL;
	w->estate = kmalloc_node(sizeof(*w->estate), GFP_KERNEL, pool->node);
	if (!w->estate) {
		kfree(w);
		return NULL;
	}
	w->pool = pool;
	estate_init(w->estate, w);
	return w;
}

void ants_worker_free(struct ants_worker *w)
{
	kfree(w->estate);
	kfree(w);
}

/* From here on the end of the current thread, that of @w, is noticed. */
void ants_watch_begin(struct ants_worker *w)
{
	struct ants_estate *estate = w->estate;

	estate->pid = get_pid(task_pid(current));
	add_wait_queue(&estate->pid->wait_pidfd, &estate->exit);
}

/*
 * Stop watching the thread of @w. When this returns, the thread is not in
 * thread_ends() and will not enter it: the lock of the queue is held there.
 */
void ants_watch_end(struct ants_worker *w)
{
	struct ants_estate *estate = w->estate;

	if (!estate->pid)
		return;
	remove_wait_queue(&estate->pid->wait_pidfd, &estate->exit);
	put_pid(estate->pid);
	estate->pid = NULL;
}
