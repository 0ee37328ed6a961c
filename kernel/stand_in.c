// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accepted tasks run even if the pool has no thread and none can be made. If a
 * caller waits for them, a kernel work item of the pool stands in for a worker,
 * one task at a time; its workqueue has a rescuer thread in reserve. The upkeep
 * work cannot do it, because a client's function may block for as long as it
 * likes.
 *
 * If such a task takes the thread along, the workqueue counts the work item as
 * running for ever. So the pool has no stand-in from then on, and neither the
 * workqueue nor the memory of the pool, where the work item is, is given back.
 */
#include <linux/export.h>
#include <linux/kmemleak.h>
#include <linux/sched/task.h>

#include "internal.h"

/* The stand-ins at work. */
static LIST_HEAD(stand_ins);
static DEFINE_RAW_SPINLOCK(stand_ins_lock);

/* For most pools, and for freezable ones. */
static struct workqueue_struct *stand_in_wq;
static struct workqueue_struct *freezable_wq;
/* The thread of a stand-in has died in a task. */
static bool lost;

/* Not if tasks need the result of worker_init: those wait for a thread. */
static bool stand_in_is_needed(const struct ants_pool *pool)
{
	return pool->upkeep.backoff && pool->nr_pending && !pool->workers.nr &&
	       !pool->ops.worker_init && !pool->faults.tripped &&
	       !pool->upkeep.stand_in_lost;
}

/*
 * Called by a caller that waits for tasks of @pool and is woken when the
 * back-off begins or a stand-in has finished.
 */
void ants_stand_in_ask(struct ants_pool *pool)
{
	bool ask;

	/* If a back-off begins later, the caller is woken and asks again. */
	if (likely(!READ_ONCE(pool->upkeep.backoff)))
		return;
	raw_spin_lock_irq(&pool->lock);
	ask = !pool->upkeep.stand_in_queued && stand_in_is_needed(pool);
	pool->upkeep.stand_in_queued |= ask;
	ants_unlock_irq(pool);
	if (ask)
		queue_work(READ_ONCE(pool->flags) & ANTS_FREEZABLE ?
			   freezable_wq : stand_in_wq, &pool->upkeep.stand_in);
}

/* From here on the current thread counts as a task of the pool. */
static void stand_in_begin(struct ants_worker *w)
{
	raw_spin_lock_irq(&stand_ins_lock);
	WRITE_ONCE(w->task, get_task_struct(current));
	list_add(&w->node, &stand_ins);
	raw_spin_unlock_irq(&stand_ins_lock);
	ants_watch_begin(w);
}

static void stand_in_unlist(struct ants_worker *w)
{
	raw_spin_lock_irq(&stand_ins_lock);
	list_del(&w->node);
	WRITE_ONCE(w->task, NULL);
	raw_spin_unlock_irq(&stand_ins_lock);
}

static void stand_in_end(struct ants_worker *w)
{
	ants_watch_end(w);
	stand_in_unlist(w);
	put_task_struct(current);
}

/* The thread has died, and the pool has buried the worker. */
void ants_stand_in_lose(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;

	WRITE_ONCE(lost, true);
	stand_in_unlist(w);
	raw_spin_lock_irq(&pool->lock);
	pool->upkeep.stand_in_queued = false;
	pool->upkeep.stand_in_lost = true;
	ants_unlock_irq(pool);
}

/*
 * Run one task if a stand-in is still needed. Return true if there are more.
 * After the back-off the upkeep work makes the next try, with the reservation
 * that the stand-in has given back.
 */
static bool stand_in_serve(struct ants_pool *pool)
{
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool more = false;

	ants_lock_batch(pool, &todo, &batch);
	if (stand_in_is_needed(pool)) {
		ants_worker_act(&pool->stand_in, &todo);
		more = stand_in_is_needed(pool) && ants_backing_off(pool);
	}
	ants_unlock(pool, &todo);
	return more;
}

/* The callers that wait ask again if tasks are left. */
static void stand_in_finish(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	pool->upkeep.stand_in_queued = false;
	ants_timer_quiesce(pool);
	todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}

/*
 * Destroy waits for stand_in_finish(), which may be the last that happens to the
 * pool before the grace period after which it is freed.
 */
void ants_stand_in_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool,
					      upkeep.stand_in);

	stand_in_begin(&pool->stand_in);
	while (stand_in_serve(pool))
		;
	stand_in_end(&pool->stand_in);
	stand_in_finish(pool);
}

/* The pool that the current thread stands in for, or NULL. */
static struct ants_pool *stand_in_pool(void)
{
	struct ants_pool *pool = NULL;
	const struct ants_worker *w;
	unsigned long flags;

	if (!(current->flags & PF_WQ_WORKER))
		return NULL;
	raw_spin_lock_irqsave(&stand_ins_lock, flags);
	list_for_each_entry(w, &stand_ins, node)
		if (w->task == current)
			pool = w->pool;
	raw_spin_unlock_irqrestore(&stand_ins_lock, flags);
	return pool;
}

/* The worker that the current thread is, or acts as, or NULL. */
struct ants_worker *ants_current_worker(void)
{
	struct ants_pool *pool = stand_in_pool();

	return pool ? &pool->stand_in : ants_this_worker();
}

bool ants_in_pool(const struct ants_pool *pool)
{
	return ants_in_task_of(pool);
}
EXPORT_SYMBOL_GPL(ants_in_pool);

struct ants_pool *ants_current_pool(void)
{
	return ants_thread_pool() ?: stand_in_pool();
}
EXPORT_SYMBOL_GPL(ants_current_pool);

/*
 * A task may flush a workqueue that has no rescuer, as it may in a thread of
 * the pool. Without __WQ_LEGACY the workqueue code would warn of that.
 */
static struct workqueue_struct *make_wq(const char *name, unsigned int flags)
{
	return alloc_workqueue("%s", flags | WQ_UNBOUND | WQ_MEM_RECLAIM |
			       __WQ_LEGACY, 0, name);
}

int ants_stand_in_init(void)
{
	stand_in_wq = make_wq("ants_stand_in", 0);
	if (!stand_in_wq)
		return -ENOMEM;
	freezable_wq = make_wq("ants_freezable", WQ_FREEZABLE);
	if (freezable_wq)
		return 0;
	destroy_workqueue(stand_in_wq);
	return -ENOMEM;
}

void ants_stand_in_exit(void)
{
	/* This would wait for that thread. */
	if (READ_ONCE(lost))
		return;
	destroy_workqueue(freezable_wq);
	destroy_workqueue(stand_in_wq);
}
