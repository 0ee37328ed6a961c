/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of ants in threads of their own, for calls that wait: the case goes on
 * meanwhile, and may stop or kill the thread.
 *
 * A thread is joined by async_stop() or async_result(), or when the case ends.
 * In the last case it is told to stop, which makes most calls that still wait
 * return -EINTR.
 */
#ifndef _ANTS_KUNIT_ASYNC_H
#define _ANTS_KUNIT_ASYNC_H

#include <linux/sched/signal.h>

#include "util.h"

#define FOREVER		MAX_SCHEDULE_TIMEOUT

struct rig;

/**
 * struct async_call - a call in a thread of its own
 * @fn: makes the call
 * @pool: for @fn, as the following ones; each may be unused
 * @multi: a sharded pool
 * @task_fn: the task to submit, or NULL, see submit_or_invoke()
 * @data: the task's data, or any other pointer
 * @arg: a number, for most calls the timeout
 * @rig: the rig that the call belongs to, or NULL
 * @gate: the gate whose passed tasks are counted, or NULL
 * @test: the case that made the call
 * @task: the thread; NULL once it is joined
 * @done: completed when @fn has returned
 * @result: what @fn has returned
 * @passed: how many tasks had passed @gate by then
 * @returned: jiffies at that moment
 * @value: a second result, stored by @fn
 * @accepted: how many tasks the pool has accepted from @fn, counted by @fn
 */
struct async_call {
	int (*fn)(struct async_call *call);
	struct ants_pool *pool;
	struct ants_multi *multi;
	ants_fn_t task_fn;
	void *data;
	unsigned long arg;
	struct rig *rig;
	struct gate *gate;
	struct kunit *test;
	struct task_struct *task;
	struct completion done;
	int result;
	int passed;
	unsigned long returned;
	int value;
	int accepted;
};

/* Kernel threads ignore signals unless they ask for them. */
static inline int async_thread(void *arg)
{
	struct async_call *call = arg;

	allow_signal(SIGKILL);
	allow_signal(SIGUSR1);
	call->result = call->fn(call);
	call->returned = jiffies;
	if (call->gate)
		call->passed = atomic_read(&call->gate->passed);
	flush_signals(current);
	complete_all(&call->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

/* Start the thread of a call whose fields for @fn are set. */
static inline void async_run(struct kunit *test, struct async_call *call)
{
	struct task_struct *task;

	call->test = test;
	init_completion(&call->done);
	task = kthread_run(async_thread, call, "caller");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	call->task = task;
}

/*
 * Join the thread; a call that still waits returns -EINTR. Returns the call's
 * result.
 */
static inline int async_stop(struct async_call *call)
{
	kthread_stop(call->task);
	call->task = NULL;
	return call->result;
}

static inline bool async_returned(struct async_call *call)
{
	return completion_done(&call->done);
}

/* Wait until the call has returned by itself; return its result. */
static inline int async_result(struct async_call *call)
{
	EXPECT_SOON(call->test, async_returned(call));
	return async_stop(call);
}

/* The call returns by itself, with @result. */
static inline void expect_result(struct kunit *test, struct async_call *call,
				 int result)
{
	KUNIT_EXPECT_EQ(test, async_result(call), result);
}

/* The call waits, and continues to wait. */
static inline void expect_blocked(struct kunit *test, struct async_call *call)
{
	KUNIT_EXPECT_TRUE_MSG(test, stays_inside(call->task, &call->done),
			      "the call has returned, or runs");
}

static inline void async_free(struct kunit_resource *res)
{
	struct async_call *call = res->data;

	if (call->task)
		async_stop(call);
}

static inline struct async_call *
async_alloc(struct kunit *test, int (*fn)(struct async_call *call))
{
	struct async_call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	call->fn = fn;
	return call;
}

/* As async_run(), and join the call when the case ends, if not before. */
static inline struct async_call *async_begin(struct kunit *test,
					     struct async_call *call)
{
	async_run(test, call);
	kunit_alloc_resource(test, test_pool_init, async_free, GFP_KERNEL, call);
	return call;
}

/* Start a call that needs nothing but @data. */
static inline struct async_call *async_start(struct kunit *test,
					     int (*fn)(struct async_call *call),
					     void *data)
{
	struct async_call *call = async_alloc(test, fn);

	call->data = data;
	return async_begin(test, call);
}

/* Start a call on @pool. */
static inline struct async_call *
async_start_on(struct kunit *test, int (*fn)(struct async_call *call),
	       struct ants_pool *pool, unsigned long arg)
{
	struct async_call *call = async_alloc(test, fn);

	call->pool = pool;
	call->arg = arg;
	return async_begin(test, call);
}

/*
 * Submit a task; with @fn NULL invoke the pool's own function with @data.
 * FOREVER means the call without a timeout.
 */
static inline int submit_or_invoke(struct ants_pool *pool, ants_fn_t fn,
				   void *data, unsigned long timeout)
{
	if (timeout == FOREVER)
		return fn ? ants_submit(pool, fn, data) :
		       ants_invoke(pool, data);
	return fn ? ants_submit_timeout(pool, fn, data, timeout) :
	       ants_invoke_timeout(pool, data, timeout);
}

static inline int do_submit_or_invoke(struct async_call *call)
{
	return submit_or_invoke(call->pool, call->task_fn, call->data,
				call->arg);
}

/* Start a submit; the arguments are those of submit_or_invoke(). */
static inline struct async_call *submit_async(struct kunit *test,
					      struct ants_pool *pool,
					      ants_fn_t fn, void *data,
					      unsigned long timeout)
{
	struct async_call *call = async_alloc(test, do_submit_or_invoke);

	call->pool = pool;
	call->task_fn = fn;
	call->data = data;
	call->arg = timeout;
	return async_begin(test, call);
}

/* Other calls to start; @arg is the timeout, or the new capacity. */

static inline int do_flush(struct async_call *call)
{
	return ants_flush_timeout(call->pool, call->arg);
}

static inline int do_drain(struct async_call *call)
{
	return ants_drain_timeout(call->pool, call->arg);
}

static inline int do_release(struct async_call *call)
{
	return ants_release(call->pool);
}

static inline int do_release_timeout(struct async_call *call)
{
	return ants_release_timeout(call->pool, call->arg);
}

static inline int do_reboot(struct async_call *call)
{
	return ants_reboot(call->pool);
}

static inline int do_tune(struct async_call *call)
{
	return ants_tune(call->pool, call->arg);
}

static inline int do_destroy(struct async_call *call)
{
	return ants_pool_destroy(call->pool);
}

#endif /* _ANTS_KUNIT_ASYNC_H */
