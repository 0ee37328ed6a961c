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

#include <linux/kmemleak.h>
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

static void note_task(const struct ants_worker *w, struct death *death)
{
	death->call = w->fn == ants_call_run ? w->data : NULL;
	death->data = w->data;
	if (w->fn == ants_call_run || w->tag & ANTS_TAG_WORK)
		ants_client_func(w->fn, &death->data);
	else if (!(w->tag & ANTS_TAG_DETACHED))
		death->fn = w->fn;
}

/* Count the fault. From here on the pool waits for the end of the burial. */
static void burial_begin(struct ants_worker *w, struct death *death)
{
	struct ants_pool *pool = w->pool;

	raw_spin_lock_irq(&pool->lock);
	pool->faults.burying++;
	pool->counts.faults++;
	death->func = client_func(w);
	if (w->fn)
		note_task(w, death);
	ants_unlock_irq(pool);
}

/* Keep the name of the function, whose module may go. */
static void note_name(struct ants_pool *pool, const struct death *death)
{
	char name[ANTS_FUNC_LEN];

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

/*
 * Put @w into a state from which it can leave the pool. If it was in flight, it
 * has arrived now.
 */
static void lay_out(struct ants_worker *w)
{
	struct ants_workers *workers = &w->pool->workers;

	if (w->arriving)
		ants_worker_arrived(w);
	if (w->state == ANTS_LEAVING) {
		workers->nr_leaving--;
	} else if (w->state == ANTS_IDLE) {
		list_del(&w->node);
		workers->nr_idle--;
		ants_worker_move(w, ANTS_LEAVING);
	} else if (w->state != ANTS_BUSY) {
		workers->nr_new -= w->state == ANTS_NEW;
		ants_worker_move(w, ANTS_BUSY);
	}
}

/* The task that @w ran has died. */
static void task_bury(struct ants_worker *w, struct ants_todo *todo)
{
	struct ants_pool *pool = w->pool;

	pool->nr_busy--;
	pool->counts.lost++;
	if (w->tag & ANTS_TAG_SAMPLED)
		ants_sample_end(w);
	if (w->tag & ANTS_TAG_WORK) {
		WRITE_ONCE(((struct ants_work *)w->data)->result, -EFAULT);
		ants_work_finish(pool, w->data, todo);
	}
	if (ants_task_uncount(pool, w->tag & ANTS_TAG_EPOCH))
		todo->bits |= ANTS_TODO_WAITQ;
}

/*
 * Give back what @w has in the pool. As after a failure of worker_init, another
 * thread is made only after a pause, if the thread has died there.
 */
static void worker_bury(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool is_new;

	ants_lock_batch(pool, &todo, &batch);
	is_new = w->state == ANTS_NEW;
	lay_out(w);
	if (w->fn)
		task_bury(w, &todo);
	if (is_new)
		ants_init_failed(pool, &todo);
	else
		ants_breaker_count(pool, &todo);
	ants_worker_unlist(w);
	trace_ants_worker_leave(w);
	ants_worker_move(w, ANTS_LEFT);
	pool->upkeep.stock_wanted |= !pool->workers.nr;
	ants_todo_upkeep(pool, &todo);
	todo.bits |= ANTS_TODO_WAITQ | ANTS_TODO_NOTICE;
	ants_dispatch(pool, &todo);
	ants_unlock(pool, &todo);
}

static void report(const struct ants_worker *w, const struct death *death)
{
	pr_err("pool %s: thread %d has died in %ps\n", w->pool->name,
	       task_pid_nr(w->task), (void *)death->func);
}

/* Do for others what the tasks of the dead thread were to do; may block. */
static void settle(struct ants_worker *w, struct death *death)
{
	struct ants_pool *pool = w->pool;

	if (death->call)
		ants_call_fail(death->call, -EFAULT);
	ants_inner_release(w, death->nr_inner);
	ants_loops_bury(w->estate);
	ants_runs_bury(w->task);
	if (pool->ops.fault)
		pool->ops.fault(pool, death->fn, (void *)death->data);
}

/* The pool may go from here on. */
static void burial_end(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	pool->faults.burying--;
	ants_timer_quiesce(pool);
	todo.bits |= pool->released ? ANTS_TODO_WAITQ : 0;
	ants_unlock(pool, &todo);
}

/*
 * The pid of a thread that has died is given back once nothing runs in
 * thread_ends(). The thread itself is never joined: it is gone, or about to be.
 */
void ants_burial_fn(struct work_struct *work)
{
	struct ants_estate *estate = container_of(work, struct ants_estate,
						  burial);
	struct ants_worker *w = estate->w;
	struct ants_pool *pool = w->pool;
	struct death death = {};

	ants_watch_end(w);
	burial_begin(w, &death);
	note_name(pool, &death);
	death.nr_inner = ants_inner_bury(w);
	worker_bury(w);
	report(w, &death);
	settle(w, &death);
	kmemleak_not_leak(w->task);
	ants_charge_put(&w->charge);
	/* Noted, and not applied any more: space_available comes before that. */
	ants_charge_put(&w->next_charge);
	ants_affinity_put(w->affinity);
	ants_thread_bury(w);
	burial_end(pool);
}
