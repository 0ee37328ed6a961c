// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running a function in a pool and waiting for its result. The call is on the
 * caller's stack, and then the caller has to wait for a function that runs; or
 * it is allocated, and the caller may return before the function has.
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
	ret = ants_closed_error(pool);
	if (!ret && w->depth >= ANTS_JOIN_DEPTH)
		ret = -EDEADLK;
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
void ants_call_drop(struct ants_own_work *call)
{
	ants_fn_t release = call->release;
	void *data = call->data;

	/* Before a function of the client, which can take the thread along. */
	kfree(call);
	release(data);
}

/*
 * The client's function in @work, which runs, has returned or died. From here on no caller
 * leaves it. If it is a call that was left behind, return that: it is to be dropped.
 */
struct ants_own_work *ants_call_over(struct ants_work *work)
{
	struct ants_own_work *call = ants_own_work(work);

	return call && xchg(&call->left, 1) ? call : NULL;
}

/*
 * A call. One that was left behind ends here: what its task still runs is the function
 * that takes the data, so that a scan for the functions of a module finds that.
 */
static int call_fn(struct ants_work *work)
{
	struct ants_own_work *call = ants_own_work(work);
	struct ants_worker *w = work->slot.data;

	WRITE_ONCE(work->result, ((ants_call_fn_t)(void *)work->fn)(call->data));
	if (!ants_call_over(work))
		return 0;
	raw_spin_lock_irq(&w->pool->lock);
	ants_work_detach(w);
	w->fn = call->release;
	w->data = call->data;
	ants_unlock_irq(w->pool);
	ants_call_drop(call);
	return 0;
}

/*
 * Hand the call over to the pool, and wait for its end. Return true if its result is
 * known, and false if it was left behind: then the caller may not touch it.
 */
static bool call_run(struct ants_pool *pool, struct ants_own_work *call, unsigned long timeout)
{
	struct ants_work *work = &call->work;
	unsigned long start = jiffies;
	int err;

	work->flags = ANTS_WORK_OWN;
	err = ants_queue_work_timeout(pool, work, timeout);
	if (!err) {
		err = ants_work_wait_timeout(work, ants_time_left(start, timeout), NULL);
		if (!err)
			return true;
		if (!ants_work_cancel(work)) {
			/* It has ended, or it runs, and the caller leaves it behind. */
			if (call->release && READ_ONCE(work->pool) && !xchg(&call->left, 1))
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
	struct ants_own_work call = { .run = call_fn, .data = data };
	struct ants_worker *w = ants_worker_of(pool);

	might_sleep();
	if (!fn)
		return -EINVAL;
	if (w)
		return call_inside(w, fn, data, NULL);
	INIT_ANTS_WORK_ONSTACK(&call.work, (void *)fn);
	call_run(pool, &call, timeout);
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
	call->run = call_fn;
	call->data = data;
	call->release = release;
	INIT_ANTS_WORK(&call->work, (void *)fn);
	ants_pause(ANTS_PAUSE_SUBMIT, pool);
	ended = call_run(pool, call, timeout);
	ants_pool_put(pool);
	if (!ended)
		return -EINPROGRESS;
	ret = call->work.result;
	ants_call_drop(call);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_call_release);

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
