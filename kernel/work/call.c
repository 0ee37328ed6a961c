// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that run in a pool as if they were called here. The first is a call of one
 * function: it is on the caller's stack, and then the caller has to wait for a function
 * that runs; or it is allocated, and the caller may return before the function has.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "../internal.h"

/*
 * A call from a task of the same pool runs here, in a thread of the pool. After
 * it @release, if any, takes @data. Return what @fn returned, or -errno.
 */
static int call_inside(struct ants_worker *w, ants_call_fn_t fn, void *data,
		       ants_fn_t release)
{
	struct ants_inner *inner = ants_inner_of(w);
	struct ants_pool *pool = w->pool;
	int ret;

	raw_spin_lock_irq(&pool->lock);
	ret = ants_closed_error(pool) ?: w->depth >= ANTS_JOIN_DEPTH ? -EDEADLK : 0;
	/* A scan may have passed this worker already. */
	if (unlikely(pool->scan_mod)) {
		ants_scan_hit(pool, (unsigned long)fn);
		ants_scan_hit(pool, (unsigned long)release);
	}
	if (ret) {
		ants_unlock_irq(pool);
		if (release)
			release(data);
		return ret;
	}
	*inner = (struct ants_inner){
		.func_addr = (unsigned long)fn,
		.release = release,
		.data = data,
	};
	w->depth++;
	ants_unlock_irq(pool);
	ret = fn(data);
	if (release) {
		/*
		 * From here on the function that takes the data runs, and will
		 * not run again if it dies.
		 */
		raw_spin_lock_irq(&pool->lock);
		inner->func_addr = (unsigned long)release;
		inner->release = NULL;
		ants_unlock_irq(pool);
		release(data);
	}
	raw_spin_lock_irq(&pool->lock);
	w->depth--;
	ants_unlock_irq(pool);
	return ret;
}

/* The task has ended and the caller does not wait: @data of the call is given away. */
static void call_drop(struct ants_own_work *call)
{
	ants_fn_t release = call->release;
	void *data = call->data;

	/* Before a function of the client, which can take the thread along. */
	kfree(call);
	release(data);
}

/*
 * A call. One that was left behind ends here: what its task still runs is the function
 * that takes the data, so that a scan for the functions of a module finds that.
 */
static int call_fn(struct ants_work *work)
{
	struct ants_own_work *call = container_of(work, struct ants_own_work, work);
	struct ants_worker *w = work->slot.data;

	WRITE_ONCE(work->result, ((ants_call_fn_t)(void *)work->fn)(call->data));
	/* From here on the caller does not leave it. */
	if (xchg(&call->left, ANTS_CALL_OVER) != ANTS_CALL_LEFT)
		return 0;
	raw_spin_lock_irq(&w->pool->lock);
	ants_work_detach(w);
	w->fn = call->release;
	w->data = call->data;
	ants_unlock_irq(w->pool);
	call_drop(call);
	return 0;
}

/*
 * Hand the call over to the pool, and wait for its end. Return true if its result is
 * known, and false if it was left behind: then the caller may not touch it.
 */
static bool call_run(struct ants_pool *pool, struct ants_own_work *call, ants_call_fn_t fn,
		     unsigned long timeout)
{
	struct ants_work *work = &call->work;
	unsigned long start = jiffies;
	int err;

	INIT_ANTS_WORK(work, (void *)fn);
	work->flags = ANTS_WORK_OWN;
	call->run = call_fn;
	err = ants_queue_work_timeout(pool, work, timeout);
	if (!err) {
		err = ants_work_wait_timeout(work, ants_time_left(start, timeout), NULL);
		if (!err)
			return true;
		if (!ants_work_cancel(work)) {
			/* It has ended, or it runs, and the caller leaves it behind. */
			if (call->release && READ_ONCE(work->pool) &&
			    !cmpxchg(&call->left, 0, ANTS_CALL_LEFT))
				return false;
			ants_work_cancel_sync(work);
			return true;
		}
	}
	work->result = err;
	return true;
}

int ants_call(struct ants_pool *pool, ants_call_fn_t fn, void *data,
	      unsigned long timeout)
{
	struct ants_own_work call = { .data = data };
	struct ants_worker *w = ants_worker_of(pool);

	might_sleep();
	if (!fn)
		return -EINVAL;
	if (w)
		return call_inside(w, fn, data, NULL);
	call_run(pool, &call, fn, timeout);
	ants_destroy_work_on_stack(&call.work);
	return call.work.result;
}
EXPORT_SYMBOL_GPL(ants_call);

int ants_call_release(struct ants_pool *pool, ants_call_fn_t fn, void *data,
		      unsigned long timeout, ants_fn_t release)
{
	struct ants_worker *w = ants_worker_of(pool);
	struct ants_own_work *call;
	bool ended;
	int ret;

	might_sleep();
	if (!fn || !release)
		return -EINVAL;
	if (w)
		return call_inside(w, fn, data, release);
	/* The allocation may sleep, and a caller that leaves the call needs the pool. */
	ants_pool_get(pool);
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	if (!call) {
		ants_pool_put(pool);
		release(data);
		return -ENOMEM;
	}
	call->data = data;
	call->release = release;
	ants_pause(ANTS_PAUSE_SUBMIT, pool);
	ended = call_run(pool, call, fn, timeout);
	ants_pool_put(pool);
	if (!ended)
		return -EINPROGRESS;
	ret = call->work.result;
	call_drop(call);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_call_release);

/*
 * The second is a loop that a pool takes part in. The caller and some helpers, which are
 * tasks of the pool, take numbers from one counter, a chunk at a time. The
 * caller never waits for a helper that has not started: it cancels it.
 *
 * If the caller is a task, it may die in the loop, and the helpers with it. So
 * what they share is not on the stack of the caller.
 */

/* The most helpers, and the number of chunks for each participant. */
#define MAX_HELPERS	64UL
#define CHUNKS		8UL
/* The most numbers to take at a time. */
#define MAX_CHUNK	1024UL

/* A helper. */
struct each_helper {
	struct ants_own_work own;
	struct ants_loop *loop;
};

/**
 * struct ants_loop - a loop, as its caller and its helpers share it
 * @next: first number that was not taken
 * @n: I: how many numbers
 * @chunk: I: how many to take at a time
 * @fn: I: what to run for each number
 * @ctx: I: its argument
 * @error: the first error
 * @pool: I: the pool, to which the caller of a loop with helpers holds a reference
 * @outer: T: the loop around it in the same thread of a pool, or NULL
 * @nr: I: number of helpers that were queued
 * @helpers: the helpers
 */
struct ants_loop {
	atomic_long_t next;
	unsigned long n;
	unsigned long chunk;
	ants_each_fn_t fn;
	void *ctx;
	int error;
	struct ants_pool *pool;
	struct ants_loop *outer;
	unsigned int nr;
	struct each_helper helpers[];
};

/* Take part until no number is left, or one has failed. */
static void each_run(struct ants_loop *loop)
{
	unsigned long i, end;
	int err;

	while (!READ_ONCE(loop->error)) {
		i = atomic_long_fetch_add(loop->chunk, &loop->next);
		if (i >= loop->n)
			return;
		end = min(loop->n, i + loop->chunk);
		for (; i < end && !READ_ONCE(loop->error); i++) {
			err = loop->fn(i, loop->ctx);
			if (unlikely(err)) {
				cmpxchg(&loop->error, 0, err);
				return;
			}
			/* A chunk may take for ever, and mostly takes no time. */
			if (unlikely(ants_wants_attention() || ants_holds_out()))
				ants_give_way();
		}
	}
}

static int helper_fn(struct ants_work *work)
{
	each_run(container_of(work, struct each_helper, own.work)->loop);
	return 0;
}

/*
 * Wait for the helpers that run; the others do not start. Numbers are missing
 * if one of them has died.
 */
static int loop_end(struct ants_loop *loop)
{
	struct ants_work *work;
	int err;

	while (loop->nr) {
		work = &loop->helpers[--loop->nr].own.work;
		if (!ants_work_cancel_sync(work) && work->result == -EFAULT)
			cmpxchg(&loop->error, 0, -EFAULT);
	}
	err = loop->error;
	ants_pool_put(loop->pool);
	kfree(loop);
	return err;
}

/*
 * The thread of @w has died. Do for others what its calls and loops were to do; @call was
 * left behind. The calls inside its task that have ended have released their data, and are
 * marked so. May block.
 */
void ants_calls_abort(struct ants_worker *w, struct ants_own_work *call)
{
	unsigned int i = ANTS_JOIN_DEPTH;
	struct ants_loop *loop;

	if (call)
		call_drop(call);
	while (i--)
		if (w->inner[i].release)
			w->inner[i].release(w->inner[i].data);
	while ((loop = w->loops)) {
		w->loops = loop->outer;
		cmpxchg(&loop->error, 0, -EFAULT);
		loop_end(loop);
	}
}

int ants_for_each(struct ants_pool *pool, unsigned long n, ants_each_fn_t fn,
		  void *ctx)
{
	struct ants_loop alone = {
		.n = n, .chunk = MAX_CHUNK, .fn = fn, .ctx = ctx, .pool = pool,
	};
	struct ants_worker *w = ants_this_worker();
	struct ants_loop *loop = NULL;
	struct each_helper *helper;
	unsigned long nr;
	int err;

	might_sleep();
	if (!fn || n > LONG_MAX)
		return -EINVAL;
	/* Hold a reference to the pool for the whole loop. */
	raw_spin_lock_irq(&pool->lock);
	err = ants_closed_error(pool);
	nr = ants_can_admit(pool) ? ants_nr_admissible(pool) : 0;
	if (!err)
		ants_pool_get_locked(pool);
	ants_unlock_irq(pool);
	if (err)
		return err;
	/* No more helpers than the pool has room for, and the loop has work for. */
	nr = min3(n ? n - 1 : 0UL, nr, MAX_HELPERS);
	/* Helpers are optional: a loop in memory reclaim does not wait for them. */
	if (nr)
		loop = kzalloc(struct_size(loop, helpers, nr), __GFP_NOWARN |
			       (READ_ONCE(pool->flags) & ANTS_MEM_RECLAIM ? GFP_NOWAIT :
									    GFP_KERNEL));
	ants_pause(ANTS_PAUSE_EACH, pool);
	if (!loop) {
		/* The caller alone does not need the pool. */
		ants_pool_put(pool);
		each_run(&alone);
		return alone.error;
	}
	*loop = alone;
	loop->chunk = clamp(n / ((nr + 1) * CHUNKS), 1UL, MAX_CHUNK);
	for (helper = loop->helpers; loop->nr < nr; loop->nr++, helper++) {
		helper->loop = loop;
		helper->own.run = helper_fn;
		helper->own.data = ctx;
		INIT_ANTS_WORK(&helper->own.work, (void *)fn);
		helper->own.work.flags = ANTS_WORK_OWN;
		if (ants_queue_work(pool, &helper->own.work))
			break;
	}
	/* A caller that is a task may die in the loop. */
	if (w) {
		loop->outer = w->loops;
		w->loops = loop;
	}
	each_run(loop);
	if (w)
		w->loops = loop->outer;
	return loop_end(loop);
}
EXPORT_SYMBOL_GPL(ants_for_each);

/* Submitting to a pool that was made for one function. */

int ants_invoke(struct ants_pool *pool, void *data)
{
	return ants_submit(pool, pool->ops.fn, data);
}
EXPORT_SYMBOL_GPL(ants_invoke);

int ants_invoke_timeout(struct ants_pool *pool, void *data,
			unsigned long timeout)
{
	return ants_submit_timeout(pool, pool->ops.fn, data, timeout);
}
EXPORT_SYMBOL_GPL(ants_invoke_timeout);

int ants_try_invoke(struct ants_pool *pool, void *data)
{
	return ants_try_submit(pool, pool->ops.fn, data);
}
EXPORT_SYMBOL_GPL(ants_try_invoke);
