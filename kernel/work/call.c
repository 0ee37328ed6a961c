// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running a function in a pool and waiting for its result. The call is on the
 * caller's stack, and then the caller has to wait for a function that runs; or
 * it is allocated, and the caller may return before the function has.
 *
 * The end of the file tells whose function a task runs: what ants runs on behalf of
 * a client, as calls are, has the name of the client's function.
 */
#include <linux/export.h>
#include <linux/refcount.h>
#include <linux/sched.h>
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

/* A call on the caller's stack. */
static int stack_call_fn(struct ants_work *work)
{
	const struct ants_own_work *call = container_of(work, struct ants_own_work,
							work);

	return ((ants_call_fn_t)call->func_addr)(call->data);
}

int ants_call(struct ants_pool *pool, ants_call_fn_t fn, void *data,
	      unsigned long timeout)
{
	struct ants_own_work call = { .func_addr = (unsigned long)fn, .data = data };
	struct ants_worker *w = ants_worker_of(pool);
	unsigned long start = jiffies;
	int ret;

	might_sleep();
	if (!fn)
		return -EINVAL;
	if (w)
		return call_inside(w, fn, data, NULL);
	INIT_ANTS_WORK_ONSTACK(&call.work, stack_call_fn);
	call.work.flags = ANTS_WORK_OWN;
	ret = ants_queue_work_timeout(pool, &call.work, timeout);
	if (!ret) {
		ret = ants_work_wait_timeout(&call.work,
					     ants_time_left(start, timeout), NULL);
		if (!ret || !ants_work_cancel_sync(&call.work))
			ret = call.work.result;
	}
	ants_destroy_work_on_stack(&call.work);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_call);

/* Which side owns an allocated call. */
enum call_state {
	CALL_PENDING,
	CALL_RUNNING,
	CALL_GIVEN_UP,
};

/*
 * struct ants_call - an allocated call
 * @pool: I: the pool that runs it
 * @fn: I: the function
 * @data: I: its argument
 * @release: I: takes @data when neither the task nor the caller uses it any
 *	more
 * @state: changes once, from CALL_PENDING
 * @result: of @fn
 * @caller: the thread that waits; NULL once it was woken or has given up
 * @done: @fn has returned. Stored with release; pairs with the acquire in
 *	ants_wait_done()
 * @refs: those of the task and of the caller
 */
struct ants_call {
	struct ants_pool *pool;
	ants_call_fn_t fn;
	void *data;
	ants_fn_t release;
	atomic_t state;
	int result;
	struct task_struct *caller;
	bool done;
	refcount_t refs;
};

static void call_put(struct ants_call *call)
{
	ants_fn_t release = call->release;
	void *data = call->data;

	if (!refcount_dec_and_test(&call->refs))
		return;
	/* Before a function of the client, which can take the thread along. */
	kfree(call);
	release(data);
}

/* Return true for the first to claim the call: the task or the caller. */
static bool call_claim(struct ants_call *call, enum call_state state)
{
	return atomic_cmpxchg(&call->state, CALL_PENDING, state) ==
	       CALL_PENDING;
}

/*
 * A caller that still waits when this section begins cannot vanish before its
 * end.
 */
static void call_end(struct ants_call *call, int result)
{
	struct task_struct *caller;

	call->result = result;
	rcu_read_lock();
	/* Pairs with smp_load_acquire() in wait.c. */
	smp_store_release(&call->done, true);
	caller = xchg(&call->caller, NULL);
	if (caller)
		wake_up_process(caller);
	rcu_read_unlock();
}

/* The task that an allocated call is. */
void ants_call_run(void *data)
{
	struct ants_call *call = data;

	if (call_claim(call, CALL_RUNNING))
		call_end(call, call->fn(call->data));
	/* The call may be freed from here on. */
	ants_task_becomes(call->pool, call->release, call->data);
	call_put(call);
}

/* The call has died, with -EFAULT, or will not run, with another error. */
void ants_call_fail(void *data, int err)
{
	struct ants_call *call = data;

	call_claim(call, CALL_RUNNING);
	if (atomic_read(&call->state) == CALL_RUNNING)
		call_end(call, err);
	call_put(call);
}

/* Hand the call over to the pool, and wait for its end. */
static int call_wait(struct ants_call *call, unsigned long timeout)
{
	unsigned int state = ants_killable_state(call->pool, 0);
	unsigned long start = jiffies;
	int err;

	/* This one is for the task. */
	refcount_inc(&call->refs);
	err = ants_submit_timeout(call->pool, ants_call_run, call, timeout);
	if (err) {
		refcount_dec(&call->refs);
		return err;
	}
	err = ants_wait_done(call->pool, &call->done,
			     ants_time_left(start, timeout), state);
	if (!err)
		return call->result;
	if (call_claim(call, CALL_GIVEN_UP))
		return err;
	xchg(&call->caller, NULL);
	/* Pairs with smp_store_release() in call_end(). */
	return smp_load_acquire(&call->done) ? call->result : -EINPROGRESS;
}

int ants_call_release(struct ants_pool *pool, ants_call_fn_t fn, void *data,
		      unsigned long timeout, ants_fn_t release)
{
	struct ants_worker *w = ants_worker_of(pool);
	struct ants_call *call;
	int ret = -ENOMEM;

	might_sleep();
	if (!fn || !release)
		return -EINVAL;
	if (w)
		return call_inside(w, fn, data, release);
	/* The allocation may sleep, and so may the wait. */
	ants_caller_enter(pool);
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	if (call) {
		call->pool = pool;
		call->fn = fn;
		call->data = data;
		call->release = release;
		call->caller = current;
		refcount_set(&call->refs, 1);
		ret = call_wait(call, timeout);
	}
	ants_caller_leave(pool);
	if (call)
		call_put(call);
	else
		release(data);
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

/*
 * Return the address of the client's function in a task @fn(*@data), and set
 * *@data to the argument of that function. To be called with the lock of the pool
 * held, or by the task itself: until the task has ended, what it refers to exists.
 */
unsigned long ants_client_func(ants_fn_t fn, const void **data)
{
	const struct ants_own_work *own;
	const struct ants_call *call;
	const struct ants_work *work;

	if (fn == ants_call_run) {
		call = *data;
		*data = call->data;
		return (unsigned long)call->fn;
	}
	if (fn != ants_work_run)
		return (unsigned long)fn;
	work = *data;
	if (!(READ_ONCE(work->flags) & ANTS_WORK_OWN))
		return (unsigned long)work->fn;
	own = container_of(work, struct ants_own_work, work);
	*data = own->data;
	return own->func_addr;
}

/* The function of a task that waits, is pending, or runs. */
unsigned long ants_task_func(ants_fn_t fn, const void *data)
{
	return ants_client_func(fn, &data);
}

/* As ants_scan_hit() for a task, which may run more than one function of a client. */
void ants_scan_task(struct ants_pool *pool, ants_fn_t fn, const void *data)
{
	const struct ants_call *call = data;

	ants_scan_hit(pool, ants_task_func(fn, data));
	if (fn == ants_call_run)
		ants_scan_hit(pool, (unsigned long)call->release);
}

/* The function that a submitter waits to hand over, and its argument. */
unsigned long ants_waiter_func(const struct ants_waiter *waiter,
			       const void **data)
{
	*data = waiter->work ?: waiter->data;
	return ants_client_func(waiter->work ? ants_work_run : waiter->fn, data);
}

/* The function that a worker runs, or 0. A detached work item may be gone. */
unsigned long ants_worker_func(const struct ants_worker *w)
{
	return w->tag & ANTS_TAG_DETACHED && w->fn ? w->func_addr :
						     ants_task_func(w->fn, w->data);
}
