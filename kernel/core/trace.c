// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints that a task passes. They show the function that the client has asked for, and
 * its argument, whatever function of ants calls it: see trace.h. All of this is called only
 * while a tracepoint is on.
 */
#include "../internal.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

void ants_trace_task_accept(const struct ants_pool *pool, ants_fn_t fn,
			    const void *data, unsigned int more)
{
	trace_ants_task_accept(pool, NULL, fn, data, more, 0);
}

/*
 * The function of the innermost task of @w, and its argument, or what ants_client_func()
 * makes them of. NULL if that is an item that does not run: it will be cancelled.
 */
static ants_fn_t running_fn(const struct ants_worker *w, const void **data)
{
	const struct ants_work *work = w->depth ? w->inner[w->depth - 1].work : w->data;

	*data = work;
	/* No item, or a detached one that may be gone, but whose function is known. */
	if (!w->depth && (w->func_addr || !(w->tag & ANTS_TAG_WORK)))
		return (ants_fn_t)ants_worker_func(w);
	return READ_ONCE(work->flags) & ANTS_WORK_SKIPPED ? NULL : ants_work_run;
}

void ants_trace_task_start(const struct ants_worker *w)
{
	const void *data;
	ants_fn_t fn = running_fn(w, &data);

	if (fn)
		trace_ants_task_start(w->pool, NULL, fn, data, 0, 0);
}

void ants_trace_task_end(const struct ants_worker *w)
{
	const void *data;
	ants_fn_t fn = running_fn(w, &data);

	if (fn)
		trace_ants_task_end(w->pool, NULL, fn, data, 0, 0);
}
