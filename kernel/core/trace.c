// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints of tasks and waiters. They show the function that the client has
 * asked for, and its argument, whatever function of ants calls it. All of this
 * is called only while a tracepoint is on.
 */
#include "../internal.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

void ants_trace_task_accept(const struct ants_pool *pool, ants_fn_t fn,
			    const void *data, unsigned int pending)
{
	unsigned long func = ants_client_func(fn, &data);

	trace_ants_task_accept(pool, NULL, func, data, pending, 0);
}

void ants_trace_task_refuse(const struct ants_pool *pool, ants_fn_t fn,
			    const void *data, int err)
{
	unsigned long func = ants_client_func(fn, &data);

	trace_ants_task_refuse(pool, NULL, func, data, ants_peek(pool->nr_pending), err);
}

void ants_trace_task_cancel(const struct ants_pool *pool, ants_fn_t fn,
			    const void *data)
{
	unsigned long func = ants_client_func(fn, &data);

	trace_ants_task_cancel(pool, NULL, func, data, 0, 0);
}

/*
 * The same as ants_client_func() for the innermost task of @w. Return 0 if that is
 * an item that does not run: it will be cancelled.
 */
static unsigned long running_func(const struct ants_worker *w,
				  const void **data)
{
	const struct ants_work *work = w->depth ? w->inner[w->depth - 1].work : w->data;

	*data = work;
	/* No item, or a detached one that may be gone, but whose function is known. */
	if (!w->depth && (w->func_addr || !(w->tag & ANTS_TAG_WORK)))
		return ants_worker_func(w);
	if (READ_ONCE(work->flags) & ANTS_WORK_SKIPPED)
		return 0;
	return ants_client_func(ants_work_run, data);
}

void ants_trace_task_start(const struct ants_worker *w)
{
	const void *data;
	unsigned long func = running_func(w, &data);

	if (func)
		trace_ants_task_start(w->pool, NULL, func, data, 0, 0);
}

void ants_trace_task_end(const struct ants_worker *w)
{
	const void *data;
	unsigned long func = running_func(w, &data);

	if (func)
		trace_ants_task_end(w->pool, NULL, func, data, 0, 0);
}

/* The wait begins, or has ended with @result. */
void ants_trace_waiter(const struct ants_pool *pool,
		       const struct ants_waiter *waiter, int result)
{
	const void *data;
	unsigned long func = ants_waiter_func(waiter, &data);

	if (result == ANTS_STILL_WAITING)
		trace_ants_waiter_enrol(pool, waiter, func, data, 0, 0);
	else if (result)
		trace_ants_waiter_give_up(pool, waiter, func, data, 0, result);
	else
		trace_ants_waiter_grant(pool, waiter, func, data, 0, 0);
}
