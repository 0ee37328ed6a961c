// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of all pools: making one, joining it, and how many there are.
 *
 * An administrator may limit their number. A pool without a thread that stays
 * may make one all the same: its tasks would never run otherwise, and those of
 * other pools may wait for them. When any other thread is refused, its pool
 * joins a list, and wants no further thread until it is told to try again. A
 * pool is told, the one that has waited longest first, whenever a thread can be
 * made again. It takes what it needs, and then tells the next one, because it
 * may need less than it could have. So while a thread can be made, either the
 * list is empty or some pool is about to look.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../internal.h"

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
static struct ants_worker *worker_alloc(struct ants_pool *pool)
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

static void worker_free(struct ants_worker *w)
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

/* Guards what follows; taken inside the lock of a pool, or without one. */
static DEFINE_RAW_SPINLOCK(threads_lock);
/* Threads that exist, or are about to be made. */
static unsigned int nr_threads;
/* The most of them; 0: as many as the pools want. */
static unsigned int max_threads;
/* The pools that wait until another thread can be made, by upkeep.held_node. */
static LIST_HEAD(held_pools);

static bool may_make(void)
{
	return !max_threads || nr_threads < max_threads;
}

/*
 * Count a thread, @needed or not; the caller holds the lock of a pool. If there are
 * too many, @held, unless NULL, waits until it can be made.
 */
static bool count_thread(bool needed, struct ants_pool *held)
{
	bool taken;

	raw_spin_lock(&threads_lock);
	taken = needed || may_make();
	nr_threads += taken;
	if (!taken && held)
		list_add_tail(&held->upkeep.held_node, &held_pools);
	raw_spin_unlock(&threads_lock);
	return taken;
}

/*
 * Count a thread that is about to be made for a worker of @pool, or let the pool
 * wait until it can be made.
 */
bool ants_thread_reserve(struct ants_pool *pool)
{
	bool taken;

	lockdep_assert_held(&pool->lock);
	taken = count_thread(!ants_has_thread(pool), pool);
	pool->upkeep.held = !taken || pool->upkeep.held;
	pool->counts.held_back += !taken;
	return taken;
}

/* The thread has ended, or was not made. */
static void unreserve(void)
{
	raw_spin_lock_irq(&threads_lock);
	nr_threads--;
	raw_spin_unlock_irq(&threads_lock);
	ants_threads_tell();
}

/* The pool that has waited longest, if it could make a thread now. */
static struct ants_pool *held_pop(void)
{
	struct ants_pool *pool = NULL;

	raw_spin_lock_irq(&threads_lock);
	if (may_make() && !list_empty(&held_pools)) {
		pool = list_first_entry(&held_pools, struct ants_pool,
					upkeep.held_node);
		list_del_init(&pool->upkeep.held_node);
	}
	raw_spin_unlock_irq(&threads_lock);
	return pool;
}

/*
 * Let @pool try again. Return false if it needs no thread any more; otherwise
 * its upkeep work tells the next one.
 */
static bool tell(struct ants_pool *pool)
{
	struct ants_todo todo;
	bool needed;

	ants_lock(pool, &todo);
	pool->upkeep.held = false;
	needed = ants_need_worker(pool);
	if (needed) {
		pool->upkeep.told = true;
		ants_todo_upkeep(pool, &todo);
	}
	ants_unlock(pool, &todo);
	return needed;
}

/*
 * If another thread can be made, tell a pool that needs one. A pool that is
 * taken off the list stays until this RCU section ends.
 */
void ants_threads_tell(void)
{
	struct ants_pool *pool;

	rcu_read_lock();
	do {
		pool = held_pop();
	} while (pool && !tell(pool));
	rcu_read_unlock();
}

/* @pool has ended, and needs no thread. */
void ants_threads_forget(struct ants_pool *pool)
{
	raw_spin_lock_irq(&threads_lock);
	list_del_init(&pool->upkeep.held_node);
	raw_spin_unlock_irq(&threads_lock);
}

unsigned int ants_max_threads(void)
{
	return READ_ONCE(max_threads);
}
EXPORT_SYMBOL_FOR_TESTS(ants_max_threads);

/* Threads beyond a lower limit stay until their pools retire them. */
void ants_set_max_threads(unsigned int max)
{
	raw_spin_lock_irq(&threads_lock);
	WRITE_ONCE(max_threads, max);
	raw_spin_unlock_irq(&threads_lock);
	ants_threads_tell();
}
EXPORT_SYMBOL_FOR_TESTS(ants_set_max_threads);

/* Make a thread, without a reservation. It sleeps until it is started. */
static struct ants_worker *thread_create(struct ants_pool *pool)
{
	struct ants_worker *w;
	struct task_struct *task;

	if (ants_inject(ANTS_FAIL_THREAD))
		return ERR_PTR(-ENOMEM);
	w = worker_alloc(pool);
	if (!w)
		return ERR_PTR(-ENOMEM);
	task = kthread_create_on_node(ants_worker_fn, w, pool->node,
				      "ants/%s", pool->name);
	if (IS_ERR(task)) {
		worker_free(w);
		/*
		 * Reaching a limit of threads is not -EAGAIN, which means a
		 * full pool.
		 */
		return task == ERR_PTR(-EINTR) ? ERR_CAST(task) :
						 ERR_PTR(-ENOMEM);
	}
	w->task = get_task_struct(task);
	ants_affinity_prefer(w);
	return w;
}

/* Make the thread that is reserved; after an error it is not any more. */
struct ants_worker *ants_thread_make(struct ants_pool *pool)
{
	struct ants_worker *w = thread_create(pool);

	if (IS_ERR(w))
		unreserve();
	return w;
}

/*
 * Count a thread that a caller wants at once; if it is refused, the pool does
 * not wait until it can be made. @others: the pool has a thread, or is about
 * to.
 */
static bool reserve_now(struct ants_pool *pool, bool others)
{
	bool taken;

	raw_spin_lock_irq(&pool->lock);
	taken = count_thread(!others && !ants_has_thread(pool), NULL);
	pool->counts.held_back += !taken;
	ants_unlock_irq(pool);
	return taken;
}

/* Make a thread for which no worker is reserved. */
struct ants_worker *ants_thread_prepare(struct ants_pool *pool, bool others)
{
	if (reserve_now(pool, others))
		return ants_thread_make(pool);
	pr_warn_ratelimited("pool %s: cannot make a thread: max_threads=%u\n",
			    pool->name, ants_max_threads());
	return ERR_PTR(-ENOMEM);
}

/* Wait until the thread is gone: once for each thread, with no task left. */
void ants_thread_join(struct ants_worker *w)
{
	kthread_stop(w->task);
	put_task_struct(w->task);
	ants_watch_end(w);
	worker_free(w);
	unreserve();
}

/* The thread has died: nothing is left to wait for. */
void ants_thread_bury(struct ants_worker *w)
{
	worker_free(w);
	unreserve();
}
