/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints; Documentation/tracepoints.rst says what each of them means. All
 * but those of a task that starts or ends are emitted with the lock of the pool
 * held: in the order in which things happen.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ants

#if !defined(_ANTS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _ANTS_TRACE_H

#include <linux/ants.h>
#include <linux/tracepoint.h>

#include "pool.h"

/*
 * Tasks, and waiters, of which the thread that grants one is not the one that waits:
 * @waiter is NULL for tasks. @func and @data are those of the client, @pending and @error
 * only of events that print them.
 */

#define TASK_PROTO							\
	TP_PROTO(const struct ants_pool *pool, const struct ants_waiter *waiter,\
		 unsigned long func, const void *data, unsigned int pending, int error)
#define TASK_ARGS	TP_ARGS(pool, waiter, func, data, pending, error)

DECLARE_EVENT_CLASS(ants_task, TASK_PROTO, TASK_ARGS,

	TP_STRUCT__entry(
		__array(char, pool, ANTS_NAME_LEN)
		__field(void *, function)
		__field(const void *, data)
		__field(pid_t, pid)
		__field(int, error)
		__field(unsigned int, busy)
		__field(unsigned int, pending)
		__field(unsigned int, waiting)
	),

	TP_fast_assign(
		memcpy(__entry->pool, pool->name, ANTS_NAME_LEN);
		__entry->function = (void *)func;
		__entry->data = data;
		__entry->pid = waiter ? waiter->task->pid : current->pid;
		__entry->error = error;
		/* Where these are printed, the lock is held. */
		__entry->busy = data_race(pool->nr_busy);
		__entry->pending = pending;
		/* The same goes for this one. */
		__entry->waiting = data_race(pool->space.nr_waiting);
	),

	TP_printk("pool=%s function=%ps data=%p", __entry->pool,
		  __entry->function, __entry->data)
);

DEFINE_EVENT(ants_task, ants_task_start, TASK_PROTO, TASK_ARGS);
DEFINE_EVENT(ants_task, ants_task_end, TASK_PROTO, TASK_ARGS);
DEFINE_EVENT(ants_task, ants_task_cancel, TASK_PROTO, TASK_ARGS);

DEFINE_EVENT_PRINT(ants_task, ants_task_accept, TASK_PROTO, TASK_ARGS,

	TP_printk("pool=%s function=%ps data=%p busy=%u pending=%u",
		  __entry->pool, __entry->function, __entry->data,
		  __entry->busy, __entry->pending)
);

DEFINE_EVENT_PRINT(ants_task, ants_task_refuse, TASK_PROTO, TASK_ARGS,

	TP_printk("pool=%s function=%ps data=%p error=%d busy=%u pending=%u waiting=%u",
		  __entry->pool, __entry->function, __entry->data,
		  __entry->error, __entry->busy, __entry->pending,
		  __entry->waiting)
);

#define WAITER_PRINTK							\
	TP_printk("pool=%s function=%ps data=%p pid=%d waiting=%u",	\
		  __entry->pool, __entry->function, __entry->data,	\
		  __entry->pid, __entry->waiting)

DEFINE_EVENT_PRINT(ants_task, ants_waiter_enrol, TASK_PROTO, TASK_ARGS, WAITER_PRINTK);
DEFINE_EVENT_PRINT(ants_task, ants_waiter_grant, TASK_PROTO, TASK_ARGS, WAITER_PRINTK);

DEFINE_EVENT_PRINT(ants_task, ants_waiter_give_up, TASK_PROTO, TASK_ARGS,

	TP_printk("pool=%s function=%ps data=%p pid=%d error=%d waiting=%u",
		  __entry->pool, __entry->function, __entry->data,
		  __entry->pid, __entry->error, __entry->waiting)
);

/*
 * Workers, and pools, for which @w is NULL. @was is the capacity before, only of the event
 * that prints it.
 */

#define POOL_PROTO							\
	TP_PROTO(const struct ants_pool *pool, const struct ants_worker *w,\
		 unsigned int was)
#define POOL_ARGS	TP_ARGS(pool, w, was)

DECLARE_EVENT_CLASS(ants_pool, POOL_PROTO, POOL_ARGS,

	TP_STRUCT__entry(
		__array(char, pool, ANTS_NAME_LEN)
		__field(pid_t, pid)
		__field(unsigned int, running)
		__field(unsigned int, idle)
		__field(unsigned int, busy)
		__field(unsigned int, pending)
		__field(unsigned int, waiting)
		__field(unsigned int, old_capacity)
		__field(unsigned int, capacity)
		__field(unsigned int, queue_depth)
		__field(unsigned int, min_workers)
	),

	TP_fast_assign(
		memcpy(__entry->pool, pool->name, ANTS_NAME_LEN);
		__entry->pid = w ? w->task->pid : current->pid;
		__entry->running = pool->workers.nr;
		__entry->idle = pool->workers.nr_idle;
		__entry->busy = pool->nr_busy;
		__entry->pending = pool->nr_pending;
		__entry->waiting = pool->space.nr_waiting;
		__entry->old_capacity = was;
		__entry->capacity = pool->limits.capacity;
		__entry->queue_depth = pool->config.queue_depth;
		__entry->min_workers = pool->config.min_workers;
	),

	TP_printk("pool=%s pid=%d running=%u idle=%u pending=%u", __entry->pool,
		  __entry->pid, __entry->running, __entry->idle,
		  __entry->pending)
);

DEFINE_EVENT(ants_pool, ants_worker_make, POOL_PROTO, POOL_ARGS);
DEFINE_EVENT(ants_pool, ants_worker_wake, POOL_PROTO, POOL_ARGS);
DEFINE_EVENT(ants_pool, ants_worker_park, POOL_PROTO, POOL_ARGS);
DEFINE_EVENT(ants_pool, ants_worker_retire, POOL_PROTO, POOL_ARGS);
DEFINE_EVENT(ants_pool, ants_worker_leave, POOL_PROTO, POOL_ARGS);

#define POOL_PRINTK							\
	TP_printk("pool=%s running=%u busy=%u pending=%u waiting=%u",	\
		  __entry->pool, __entry->running, __entry->busy,	\
		  __entry->pending, __entry->waiting)

DEFINE_EVENT_PRINT(ants_pool, ants_pool_release, POOL_PROTO, POOL_ARGS, POOL_PRINTK);
DEFINE_EVENT_PRINT(ants_pool, ants_pool_reboot, POOL_PROTO, POOL_ARGS, POOL_PRINTK);

DEFINE_EVENT_PRINT(ants_pool, ants_pool_tune, POOL_PROTO, POOL_ARGS,

	TP_printk("pool=%s old_capacity=%u capacity=%u queue_depth=%u min_workers=%u",
		  __entry->pool, __entry->old_capacity, __entry->capacity,
		  __entry->queue_depth, __entry->min_workers)
);

/* The arguments of some cost something. trace.c computes them while the event is on. */

void __cold ants_trace_task_accept(const struct ants_pool *pool, ants_fn_t fn,
				   const void *data, unsigned int pending);
void __cold ants_trace_task_refuse(const struct ants_pool *pool, ants_fn_t fn,
				   const void *data, int err);
void __cold ants_trace_task_cancel(const struct ants_pool *pool, ants_fn_t fn,
				   const void *data);
void __cold ants_trace_task_start(const struct ants_worker *w);
void __cold ants_trace_task_end(const struct ants_worker *w);
void __cold ants_trace_waiter(const struct ants_pool *pool,
			      const struct ants_waiter *waiter, int result);

/*
 * Emit ants_@event if it is on. Otherwise this is a nop, and the arguments are
 * not evaluated.
 */
#define ants_trace(event, ...)						\
do {									\
	if (unlikely(trace_ants_##event##_enabled()))			\
		ants_trace_##event(__VA_ARGS__);			\
} while (0)

#endif /* _ANTS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
