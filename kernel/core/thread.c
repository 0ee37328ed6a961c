// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that die: noticing that, and how many may do so in a row.
 *
 * Every thread that ends wakes the wait queue of its pid, so that poll() on a
 * pidfd returns; that includes a thread that has oopsed, and one that its task
 * has ended. A worker has an entry in that queue, so its death is noticed
 * without polling, and watching costs nothing while the thread lives. The thread
 * may have died with any lock held, so nothing is done then but to queue a
 * kernel work item, which buries the worker: see fault.c.
 *
 * The breaker of a pool trips after too many such faults in a row, with no task
 * between them that has ended well; then the pool takes no more tasks until it
 * is closed and opened again. It also trips if worker_init fails that often in
 * a row while the pool has no other thread. What was accepted by then is given
 * up: see cancel.c.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "../internal.h"

/* Threads that pools have, or that are about to be made. */
atomic_t ants_nr_threads;

/*
 * Called in the thread that ends, on its way out of the kernel. Once a worker has left
 * it is not watched for long, so this one has died.
 */
static int thread_ends(struct wait_queue_entry *entry, unsigned int mode,
		       int flags, void *key)
{
	struct ants_estate *estate = container_of(entry, struct ants_estate,
						  exit);

	list_del_init(&entry->entry);
	queue_work(ants_wq, &estate->work);
	return 0;
}

/* From here on the end of the current thread, that of @w, is noticed. */
void ants_watch_begin(struct ants_worker *w)
{
	struct ants_estate *estate = w->estate;

	init_waitqueue_func_entry(&estate->exit, thread_ends);
	INIT_WORK(&estate->work, ants_burial_fn);
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

/*
 * Trip the breaker; a kernel work item does the rest. The system pool is left
 * alone: no client can open it again, so the faults of one client must not close
 * it for all.
 */
static void trip(struct ants_pool *pool, struct ants_todo *todo)
{
	if (pool->faults.tripped || pool == ants_system_pool)
		return;
	WRITE_ONCE(pool->faults.tripped, true);
	ants_update_admit_limit(pool);
	ants_update_stay_limit(pool);
	pool->faults.queued = true;
	todo->bits |= ANTS_TODO_TRIP | ANTS_TODO_NOTICE;
}

/* A thread has died in a task. */
void ants_breaker_count(struct ants_pool *pool, struct ants_todo *todo)
{
	struct ants_faults *faults = &pool->faults;
	u64 completed = ants_nr_completed(pool);

	lockdep_assert_held(&pool->lock);
	if (faults->completed != completed)
		faults->row = 0;
	faults->completed = completed;
	if (++faults->row >= faults->max)
		trip(pool, todo);
}

/*
 * A thread has failed to get ready: worker_init has returned an error, or the
 * thread has died in it. Pause before the next one is made. Threads that get
 * ready side by side and fail count as one try, here and for the pause. Nothing
 * is counted while another thread is ready; the one that has failed still counts
 * as that.
 */
void ants_init_failed(struct ants_pool *pool, struct ants_todo *todo)
{
	bool counted = ants_backing_off(pool);

	lockdep_assert_held(&pool->lock);
	ants_back_off(pool);
	if (counted || pool->workers.nr - pool->workers.nr_new -
		       pool->workers.nr_leaving > 1)
		return;
	if (++pool->faults.row_init >= pool->faults.max)
		trip(pool, todo);
}
