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
 * All events have the same fields, and print those that tell something. @thread is the member
 * with the thread of a worker or a waiter, which costs nothing while the event is off; NULL
 * stands for the caller. @fn and @data are those of a task, as they are handed to a worker;
 * @more: so many tasks are pending that are not counted yet. @value is an error, or the
 * capacity before, only of events that print it.
 */

#define EVENT_PROTO							\
	TP_PROTO(const struct ants_pool *pool, struct task_struct *const *thread, ants_fn_t fn,\
		 const void *data, unsigned int more, int value)
#define EVENT_ARGS	TP_ARGS(pool, thread, fn, data, more, value)

DECLARE_EVENT_CLASS(ants_event, EVENT_PROTO, EVENT_ARGS,

	TP_STRUCT__entry(
		__array(char, pool, ANTS_NAME_LEN)
		__field(void *, function)
		__field(const void *, data)
		__field(pid_t, pid)
		__field(int, error)
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
		__entry->data = data;
		__entry->function = (void *)ants_client_func(fn, &__entry->data);
		__entry->pid = thread ? (*thread)->pid : current->pid;
		__entry->error = value;
		/* Where these numbers are printed, the lock is held. */
		__entry->running = ants_peek(pool->workers.nr);
		__entry->idle = ants_peek(pool->workers.nr_idle);
		__entry->busy = ants_peek(pool->nr_busy);
		__entry->pending = ants_peek(pool->nr_pending) + more;
		__entry->waiting = ants_peek(pool->space.nr_waiting);
		__entry->old_capacity = value;
		__entry->capacity = ants_peek(pool->limits.capacity);
		__entry->queue_depth = ants_peek(pool->config.queue_depth);
		__entry->min_workers = ants_peek(pool->config.min_workers);
	),

	TP_printk("pool=%s function=%ps data=%p", __entry->pool,
		  __entry->function, __entry->data)
);

DEFINE_EVENT(ants_event, ants_task_start, EVENT_PROTO, EVENT_ARGS);
DEFINE_EVENT(ants_event, ants_task_end, EVENT_PROTO, EVENT_ARGS);
DEFINE_EVENT(ants_event, ants_task_cancel, EVENT_PROTO, EVENT_ARGS);

DEFINE_EVENT_PRINT(ants_event, ants_task_accept, EVENT_PROTO, EVENT_ARGS,

	TP_printk("pool=%s function=%ps data=%p busy=%u pending=%u",
		  __entry->pool, __entry->function, __entry->data,
		  __entry->busy, __entry->pending)
);

DEFINE_EVENT_PRINT(ants_event, ants_task_refuse, EVENT_PROTO, EVENT_ARGS,

	TP_printk("pool=%s function=%ps data=%p error=%d busy=%u pending=%u waiting=%u",
		  __entry->pool, __entry->function, __entry->data,
		  __entry->error, __entry->busy, __entry->pending,
		  __entry->waiting)
);

#define WAITER_PRINTK							\
	TP_printk("pool=%s function=%ps data=%p pid=%d waiting=%u",	\
		  __entry->pool, __entry->function, __entry->data,	\
		  __entry->pid, __entry->waiting)

DEFINE_EVENT_PRINT(ants_event, ants_waiter_enrol, EVENT_PROTO, EVENT_ARGS, WAITER_PRINTK);
DEFINE_EVENT_PRINT(ants_event, ants_waiter_grant, EVENT_PROTO, EVENT_ARGS, WAITER_PRINTK);

DEFINE_EVENT_PRINT(ants_event, ants_waiter_give_up, EVENT_PROTO, EVENT_ARGS,

	TP_printk("pool=%s function=%ps data=%p pid=%d error=%d waiting=%u",
		  __entry->pool, __entry->function, __entry->data,
		  __entry->pid, __entry->error, __entry->waiting)
);

#define WORKER_PRINTK							\
	TP_printk("pool=%s pid=%d running=%u idle=%u pending=%u",	\
		  __entry->pool, __entry->pid, __entry->running,	\
		  __entry->idle, __entry->pending)

DEFINE_EVENT_PRINT(ants_event, ants_worker_make, EVENT_PROTO, EVENT_ARGS, WORKER_PRINTK);
DEFINE_EVENT_PRINT(ants_event, ants_worker_wake, EVENT_PROTO, EVENT_ARGS, WORKER_PRINTK);
DEFINE_EVENT_PRINT(ants_event, ants_worker_park, EVENT_PROTO, EVENT_ARGS, WORKER_PRINTK);
DEFINE_EVENT_PRINT(ants_event, ants_worker_retire, EVENT_PROTO, EVENT_ARGS, WORKER_PRINTK);
DEFINE_EVENT_PRINT(ants_event, ants_worker_leave, EVENT_PROTO, EVENT_ARGS, WORKER_PRINTK);

#define POOL_PRINTK							\
	TP_printk("pool=%s running=%u busy=%u pending=%u waiting=%u",	\
		  __entry->pool, __entry->running, __entry->busy,	\
		  __entry->pending, __entry->waiting)

DEFINE_EVENT_PRINT(ants_event, ants_pool_release, EVENT_PROTO, EVENT_ARGS, POOL_PRINTK);
DEFINE_EVENT_PRINT(ants_event, ants_pool_reboot, EVENT_PROTO, EVENT_ARGS, POOL_PRINTK);

DEFINE_EVENT_PRINT(ants_event, ants_pool_tune, EVENT_PROTO, EVENT_ARGS,

	TP_printk("pool=%s old_capacity=%u capacity=%u queue_depth=%u min_workers=%u",
		  __entry->pool, __entry->old_capacity, __entry->capacity,
		  __entry->queue_depth, __entry->min_workers)
);

/*
 * What a task passes costs least behind one call; and what a worker runs takes some steps
 * to find. trace.c does that while the event is on.
 */

void __cold ants_trace_task_accept(const struct ants_pool *pool, ants_fn_t fn,
				   const void *data, unsigned int more);
void __cold ants_trace_task_start(const struct ants_worker *w);
void __cold ants_trace_task_end(const struct ants_worker *w);

/*
 * Emit ants_@event if it is on. Otherwise this is a nop, and the arguments are
 * not evaluated.
 */
#define ants_trace(event, ...)						\
do {									\
	if (tracepoint_enabled(ants_##event))				\
		ants_trace_##event(__VA_ARGS__);			\
} while (0)

#endif /* _ANTS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
