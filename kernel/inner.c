// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that run inside a task of the same pool, in its thread: a work item for
 * which that task waits, a member of such a group, or a call. What is known of
 * them is not on the stack of the thread: see estate.h.
 */
#include "internal.h"

/* Return the record for a wait of the innermost task of @w. */
struct ants_inner *ants_inner_of(const struct ants_worker *w)
{
	return &w->estate->inner[w->depth];
}

/*
 * The innermost task of @w is about to wait. @counted: it is counted in as a
 * caller while it does. Return its waiter, all zero, which is not on its stack:
 * the task may die in what it runs meanwhile.
 */
struct ants_work_waiter *ants_inner_begin(struct ants_worker *w, bool counted)
{
	struct ants_inner *inner = ants_inner_of(w);

	memset(&inner->waiter, 0, sizeof(inner->waiter));
	inner->waits = true;
	inner->counted = counted;
	return &inner->waiter;
}

/* The wait is over, and nothing refers to the waiter any more. */
void ants_inner_end(struct ants_worker *w)
{
	ants_inner_of(w)->waits = false;
}

/* @nr more items, or fewer if negative, run inside tasks. */
static void count_joined(struct ants_pool *pool, int nr)
{
	pool->nr_joined += nr;
	ants_update_admit_limit(pool);
}

/* The innermost task of @w, a work item, has ended. */
static void inner_finish(struct ants_worker *w, struct ants_todo *todo)
{
	struct ants_inner *inner = &w->estate->inner[--w->depth];
	struct ants_pool *pool = w->pool;

	count_joined(pool, -1);
	ants_work_finish(pool, inner->work, todo);
	if (ants_task_uncount(pool, inner->epoch))
		todo->bits |= ANTS_TODO_WAITQ;
}

/*
 * Run @work, which was just taken off its list, inside the task that @w runs.
 * The lock is held on entry and on return.
 */
void ants_inner_run(struct ants_worker *w, struct ants_work *work,
		    struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	struct ants_inner *inner = ants_inner_of(w);
	struct ants_pool *pool = w->pool;

	inner->epoch = work->slot.tag & ANTS_TAG_EPOCH;
	inner->work = work;
	inner->func_addr = (unsigned long)work->fn;
	inner->release = NULL;
	w->depth++;
	count_joined(pool, 1);
	ants_work_start(w, work);
	ants_dispatch(pool, todo);
	ants_unlock(pool, todo);
	ants_trace(task_start, w);
	ants_work_run(work);
	ants_trace(task_end, w);
	/* An item that queues itself may run in here again and again. */
	ants_give_way();
	ants_lock(pool, todo);
	inner_finish(w, todo);
}

static int call_enter(struct ants_worker *w, const struct ants_inner *call)
{
	struct ants_pool *pool = w->pool;
	int err;

	raw_spin_lock_irq(&pool->lock);
	err = ants_closed_error(pool);
	if (!err && w->depth >= ANTS_JOIN_DEPTH)
		err = -EDEADLK;
	if (!err)
		w->estate->inner[w->depth++] = *call;
	/* A scan may have passed this worker already. */
	if (unlikely(pool->scan_mod)) {
		ants_scan_hit(pool, call->func_addr);
		ants_scan_hit(pool, (unsigned long)call->release);
	}
	ants_unlock_irq(pool);
	return err;
}

static void call_leave(struct ants_worker *w)
{
	raw_spin_lock_irq(&w->pool->lock);
	w->depth--;
	ants_unlock_irq(w->pool);
}

/*
 * The function has returned: from here on the one that takes the data runs, and
 * will not run again if it dies.
 */
static void call_releases(struct ants_worker *w)
{
	struct ants_inner *inner = &w->estate->inner[w->depth - 1];

	raw_spin_lock_irq(&w->pool->lock);
	inner->func_addr = (unsigned long)inner->release;
	inner->release = NULL;
	ants_unlock_irq(w->pool);
}

/*
 * A call from a task of the same pool runs here, in a thread of the pool. After
 * it @release, if any, takes @data. Return what @fn returned, or -errno.
 */
int ants_call_inside(struct ants_worker *w, ants_call_fn_t fn, void *data,
		     ants_fn_t release)
{
	const struct ants_inner call = {
		.func_addr = (unsigned long)fn,
		.release = release,
		.data = data,
	};
	int err = call_enter(w, &call), ret = err ?: fn(data);

	if (release) {
		if (!err)
			call_releases(w);
		release(data);
	}
	if (!err)
		call_leave(w);
	return ret;
}

/* A wait of a task that has died ends. */
static void wait_bury(struct ants_pool *pool, struct ants_inner *inner,
		      struct ants_todo *todo)
{
	if (!inner->waits)
		return;
	inner->waits = false;
	if (!inner->waiter.done)
		ants_waiter_withdraw(&inner->waiter, todo);
	if (inner->counted)
		ants_caller_out(pool, todo);
}

/*
 * The waits come first: what they wait for may end when the inner tasks do, and
 * their waiters must not be told.
 */
static void waits_bury(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	unsigned int i;

	ants_lock_batch(pool, &todo, &batch);
	w->waits_for = NULL;
	for (i = 0; i <= w->depth && i < ANTS_JOIN_DEPTH; i++)
		wait_bury(pool, &w->estate->inner[i], &todo);
	ants_dispatch(pool, &todo);
	ants_unlock(pool, &todo);
}

/* The innermost task has died. */
static void innermost_bury(struct ants_worker *w)
{
	struct ants_inner *inner = &w->estate->inner[w->depth - 1];
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;

	ants_lock_batch(pool, &todo, &batch);
	if (inner->work) {
		WRITE_ONCE(inner->work->result, -EFAULT);
		pool->counts.lost++;
		inner_finish(w, &todo);
	} else {
		w->depth--;
	}
	ants_dispatch(pool, &todo);
	ants_unlock(pool, &todo);
}

/*
 * The thread of @w has died. End what runs inside its task, from the innermost
 * task outwards: work items with -EFAULT. Return how many there were.
 */
unsigned int ants_inner_bury(struct ants_worker *w)
{
	unsigned int depth = w->depth;

	waits_bury(w);
	while (w->depth)
		innermost_bury(w);
	return depth;
}

/* Take the data of the @nr calls that have died inside of the task of @w. */
void ants_inner_release(struct ants_worker *w, unsigned int nr)
{
	struct ants_inner *inner;

	while (nr--) {
		inner = &w->estate->inner[nr];
		if (!inner->work && inner->release)
			inner->release(inner->data);
	}
}
