/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints whose arguments cost something: what computes them is in trace.c,
 * and called while the tracepoint is on.
 */
#ifndef _ANTS_TRACE_TASK_H
#define _ANTS_TRACE_TASK_H

#include <linux/ants.h>

#include "trace.h"
#include "waiter.h"
#include "worker.h"

void __cold ants_trace_task_accept(const struct ants_pool *pool, ants_fn_t fn,
				   const void *data, unsigned int pending);
void __cold ants_trace_task_refuse(const struct ants_pool *pool, ants_fn_t fn,
				   const void *data, int err);
void __cold ants_trace_task_cancel(const struct ants_pool *pool, ants_fn_t fn,
				   const void *data);
void __cold ants_trace_task_start(const struct ants_worker *w);
void __cold ants_trace_task_end(const struct ants_worker *w);
void __cold ants_trace_waiter_enrol(const struct ants_pool *pool,
				    const struct ants_waiter *waiter);
void __cold ants_trace_waiter_grant(const struct ants_pool *pool,
				    const struct ants_waiter *waiter,
				    int result);
void __cold ants_trace_waiter_give_up(const struct ants_pool *pool,
				      const struct ants_waiter *waiter,
				      int result);

/*
 * Emit ants_@event if it is on. Otherwise this is a nop, and the arguments are
 * not evaluated.
 */
#define ants_trace(event, ...)						\
do {									\
	if (unlikely(trace_ants_##event##_enabled()))			\
		ants_trace_##event(__VA_ARGS__);			\
} while (0)

#endif /* _ANTS_TRACE_TASK_H */
