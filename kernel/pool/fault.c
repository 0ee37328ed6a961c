// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults: a task that oopses, or that ends its thread, leaves a worker without
 * a thread. A kernel work item buries it: the place of the worker is free at
 * once, the tasks that ran in the thread end, and the creator of the pool is
 * told. The pool goes on as if the thread had left.
 *
 * What the thread held is lost: locks and memory, and the result of worker_init.
 * The reference to its task_struct is kept for good, because whoever waits for
 * a lock that it held may look at the owner.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/pid.h>

#include "../internal.h"

/**
 * struct death - what a thread did when it died
 * @func: address of the function of a client, 0 if none
 * @fn: what it ran, as that is handed to the client: the function of a plain task,
 *	else NULL
 * @data: the argument of the client's function; the work item if it is one
 * @call: the argument of ants_call_run(), if it ran that
 * @nr_inner: number of tasks that ran inside of it
 */
struct death {
	unsigned long func;
	ants_fn_t fn;
	const void *data;
	void *call;
	unsigned int nr_inner;
};

/* The function of the client that the thread of @w runs. */
static unsigned long client_func(const struct ants_worker *w)
{
	const struct ants_pool *pool = w->pool;

	if (READ_ONCE(pool->faults.caller) == w->task)
		return (unsigned long)pool->ops.space_available;
	if (w->depth)
		return w->estate->inner[w->depth - 1].func_addr;
	if (w->state == ANTS_NEW)
		return (unsigned long)pool->ops.worker_init;
	if (w->state == ANTS_LEAVING)
		return (unsigned long)pool->ops.worker_exit;
	/* Else no function of a client has run. */
	return w->fn ? ants_worker_func(w) : (unsigned long)ants_worker_fn;
}

/*
 * Count the fault, and note what @w did. From here on the pool waits for the end
 * of the burial. The name of the function is kept, for its module may go.
 */
static void burial_begin(struct ants_worker *w, struct death *death)
{
	struct ants_pool *pool = w->pool;
	char name[ANTS_FUNC_LEN];

	raw_spin_lock_irq(&pool->lock);
	pool->faults.burying++;
	pool->counts.faults++;
	death->func = client_func(w);
	if (w->fn) {
		death->call = w->fn == ants_call_run ? w->data : NULL;
		death->data = w->data;
		if (w->fn == ants_call_run || w->tag & ANTS_TAG_WORK)
			ants_client_func(w->fn, &death->data);
		else if (!(w->tag & ANTS_TAG_DETACHED))
			death->fn = w->fn;
	}
	ants_unlock_irq(pool);
	snprintf(name, sizeof(name), "%ps", (void *)death->func);
	/* Without a symbol %ps prints an address, which users must not see. */
	if (name[0] == '0' || name[0] == '(')
		strscpy(name, "unknown", sizeof(name));
	raw_spin_lock_irq(&pool->lock);
	memcpy(pool->faults.last, name, sizeof(name));
	ants_unlock_irq(pool);
}

/* Copy the name of the function in which a thread has died last, or "none". */
void ants_last_fault(struct ants_pool *pool, char name[ANTS_FUNC_LEN])
{
	raw_spin_lock_irq(&pool->lock);
	memcpy(name, pool->faults.last, ANTS_FUNC_LEN);
	ants_unlock_irq(pool);
	if (!name[0])
		strscpy(name, "none", ANTS_FUNC_LEN);
}

/* Give back what @w has in the pool. */
static void worker_bury(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool is_new;

	ants_lock_batch(pool, &todo, &batch);
	is_new = w->state == ANTS_NEW;
	/* If it was in flight, it has arrived now. */
	if (w->arriving)
		ants_worker_arrived(w);
	/* Put it into a state from which it can leave the pool. */
	if (w->state == ANTS_LEAVING) {
		pool->workers.nr_leaving--;
	} else if (w->state == ANTS_IDLE) {
		list_del(&w->node);
		pool->workers.nr_idle--;
		ants_worker_move(w, ANTS_LEAVING);
	} else if (w->state != ANTS_BUSY) {
		pool->workers.nr_new -= is_new;
		ants_worker_move(w, ANTS_BUSY);
	}
	/* The task that it ran has died with it. */
	if (w->fn) {
		pool->nr_busy--;
		pool->counts.lost++;
		if (w->tag & ANTS_TAG_TIMED)
			ants_time_end(w);
		if (w->tag & ANTS_TAG_WORK) {
			WRITE_ONCE(((struct ants_work *)w->data)->result, -EFAULT);
			ants_work_finish(pool, w->data, &todo);
		}
		if (ants_task_uncount(pool, w->tag & ANTS_TAG_EPOCH))
			todo.bits |= ANTS_TODO_WAITQ;
	}
	/* If it died in worker_init, the next thread is made after a pause. */
	if (is_new)
		ants_init_failed(pool, &todo);
	else
		ants_breaker_count(pool, &todo);
	ants_worker_unlist(w, &todo);
	todo.bits |= ANTS_TODO_WAITQ | ANTS_TODO_NOTICE;
	ants_unlock(pool, &todo);
}

/*
 * Bury a worker whose thread has died. The pid of the thread is given back once
 * nothing runs in thread_ends(). Nobody waits for the thread itself: it is gone, or
 * about to be.
 */
void ants_burial_fn(struct work_struct *work)
{
	struct ants_worker *w = container_of(work, struct ants_estate, work)->w;
	struct ants_pool *pool = w->pool;
	struct death death = {};
	struct ants_todo todo;

	ants_watch_end(w);
	/* It had left the pool, and called back as it dropped the lock. */
	if (w->state == ANTS_LEFT) {
		ants_thread_dead(w);
		return;
	}
	burial_begin(w, &death);
	death.nr_inner = ants_inner_bury(w);
	worker_bury(w);
	pr_err("pool %s: thread %d has died in %ps\n", pool->name,
	       task_pid_nr(w->task), (void *)death.func);

	/* Do for others what its tasks were to do; may block. */
	if (death.call)
		ants_call_fail(death.call, -EFAULT);
	ants_inner_release(w, death.nr_inner);
	ants_loops_bury(w->estate);
	ants_runs_bury(w->task);
	if (pool->ops.fault)
		pool->ops.fault(pool, death.fn, (void *)death.data);

	ants_thread_dead(w);
	/* The pool may go from the end of this section on. */
	ants_lock(pool, &todo);
	pool->faults.burying--;
	ants_job_ends(pool, &todo);
	ants_unlock(pool, &todo);
}
