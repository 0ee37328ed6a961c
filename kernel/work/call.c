// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running a function in a pool and waiting for its result. The call is on the
 * caller's stack, and then the caller has to wait for a function that runs; or
 * it is allocated, and the caller may return before the function has.
 */
#include <linux/export.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../internal.h"

/* A call on the caller's stack. */
struct stack_call {
	struct ants_work work;
	ants_call_fn_t fn;
	void *data;
};

static int stack_call_fn(struct ants_work *work)
{
	struct stack_call *call = container_of(work, struct stack_call, work);

	return call->fn(call->data);
}

/* Lets cancel.c and func.c recognise a call. */
bool ants_is_call(const struct ants_work *work)
{
	return work->fn == stack_call_fn;
}

/* For func.c: the function of the call *@data, and its argument instead. */
unsigned long ants_stack_call_func(const void **data)
{
	const struct stack_call *call = container_of(*data, struct stack_call,
						     work);

	*data = call->data;
	return (unsigned long)call->fn;
}

int ants_call(struct ants_pool *pool, ants_call_fn_t fn, void *data,
	      unsigned long timeout)
{
	struct stack_call call = { .fn = fn, .data = data };
	struct ants_worker *w = ants_worker_of(pool);
	unsigned long start = jiffies;
	int ret;

	might_sleep();
	if (!fn)
		return -EINVAL;
	if (w)
		return ants_call_inside(w, fn, data, NULL);
	INIT_ANTS_WORK_ONSTACK(&call.work, stack_call_fn);
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

/* For unload.c: a function of the call that lies in @mod, or 0. */
unsigned long ants_call_func_addr(const void *data, const struct module *mod)
{
	const struct ants_call *call = data;

	return ants_addr_in((unsigned long)call->fn, mod) ?:
	       ants_addr_in((unsigned long)call->release, mod);
}

/* As ants_stack_call_func(), for an allocated call. */
unsigned long ants_call_func(const void **data)
{
	const struct ants_call *call = *data;

	*data = call->data;
	return (unsigned long)call->fn;
}

static int call_wait(struct ants_call *call, unsigned long timeout,
		     unsigned int state)
{
	int err = ants_wait_done(call->pool, &call->done, timeout, state);

	if (!err)
		return call->result;
	if (call_claim(call, CALL_GIVEN_UP))
		return err;
	xchg(&call->caller, NULL);
	/* Pairs with smp_store_release() in call_end(). */
	return smp_load_acquire(&call->done) ? call->result : -EINPROGRESS;
}

static int call_start(struct ants_call *call, unsigned long timeout)
{
	unsigned int state = ants_killable_state(call->pool, 0);
	unsigned long start = jiffies;
	int err;

	/* This one is for the task. */
	refcount_inc(&call->refs);
	err = ants_submit_timeout(call->pool, ants_call_run, call, timeout);
	if (err)
		refcount_dec(&call->refs);
	return err ?: call_wait(call, ants_time_left(start, timeout), state);
}

static struct ants_call *call_alloc(struct ants_pool *pool, ants_call_fn_t fn,
				    void *data, ants_fn_t release)
{
	struct ants_call *call = kzalloc(sizeof(*call), GFP_KERNEL);

	if (!call)
		return NULL;
	call->pool = pool;
	call->fn = fn;
	call->data = data;
	call->release = release;
	call->caller = current;
	refcount_set(&call->refs, 1);
	return call;
}

int ants_call_release(struct ants_pool *pool, ants_call_fn_t fn, void *data,
		      unsigned long timeout, ants_fn_t release)
{
	struct ants_worker *w = ants_worker_of(pool);
	struct ants_call *call;
	int ret;

	might_sleep();
	if (!fn || !release)
		return -EINVAL;
	if (w)
		return ants_call_inside(w, fn, data, release);
	/* The allocation may sleep, and so may the wait. */
	ants_caller_enter(pool);
	call = call_alloc(pool, fn, data, release);
	ret = call ? call_start(call, timeout) : -ENOMEM;
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
