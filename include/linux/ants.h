/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: a bounded pool of kernel threads.
 *
 * A pool owns at most &ants_attrs.capacity threads. A task, fn(data), that
 * finds the pool full makes its submitter wait, fail or time out, as the
 * pool's mode and the call say; nothing queues without a bound. Idle threads
 * go away after a time that the administrator can change, as he can change
 * the capacity of a pool under load, in /sys/kernel/ants/<pool>/.
 *
 * Errors have one meaning in every function:
 *
 *	-ESHUTDOWN	the pool is released
 *	-EAGAIN		the task would have to wait, and the pool or the call
 *			does not wait
 *	-EBUSY		max_blocking callers wait already
 *	-ETIMEDOUT	the time is over
 *	-EINTR		a fatal signal, or the calling kthread was told to stop
 *	-EDEADLK	the wait could never end
 *	-EINVAL		an argument is out of range
 *	-EEXIST		the name is taken
 *	-EPERM		not on the system pool, nor on one shard of a multi
 *	-ENOMEM		no memory, or no thread to be had
 *	-EALREADY	the work item is in a pool already
 *	-ECANCELED	the work item is or was cancelled
 *
 * An error from a submit means: not accepted, will not run. Success means that
 * the task runs exactly once, or that its work item says that it was cancelled.
 *
 * A timeout is in jiffies; MAX_SCHEDULE_TIMEOUT waits for ever. A wait ends
 * early with -EINTR on a fatal signal, or when the calling kthread is told to
 * stop; a wait of more than two minutes is logged.
 */
#ifndef _LINUX_ANTS_H
#define _LINUX_ANTS_H

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/timer.h>
#include <linux/types.h>

struct ants_pool;

/**
 * typedef ants_fn_t - what a task runs
 * @data: the pointer that was handed over with the task
 *
 * Context: Process context, in a thread of the pool. May sleep. Returns with
 * the locks, the preemption count and the interrupt state it was entered with.
 */
typedef void (*ants_fn_t)(void *data);

/**
 * enum ants_prio - which of the tasks that wait starts first
 * @ANTS_PRIO_NORMAL: in the order in which they came
 * @ANTS_PRIO_HIGH: ahead of normal ones, and callers that want to hand over such
 *	a task are served ahead of others; but after 8 of them in a row one normal
 *	task, and one other caller, has its turn
 */
enum ants_prio {
	ANTS_PRIO_NORMAL,
	ANTS_PRIO_HIGH,
};

/**
 * struct ants_task - a task, for ants_submit_batch()
 * @fn: what to run
 * @data: and with what; any value
 * @prio: which is first
 */
struct ants_task {
	ants_fn_t fn;
	void *data;
	enum ants_prio prio;
};

/* A capacity without a bound. */
#define ANTS_UNLIMITED		UINT_MAX

/* Most bytes of a pool's name, the terminating NUL included. */
#define ANTS_NAME_LEN		32

/**
 * enum ants_flags - the modes of a pool
 * @ANTS_NONBLOCKING: ants_submit() returns -EAGAIN rather than wait
 * @ANTS_PREALLOC: all threads exist before the pool does, and none is reaped;
 *	ants_tune() makes the threads before it grows, or changes nothing
 * @ANTS_NO_PURGE: idle threads stay for ever
 * @ANTS_THROUGHPUT: the threads run SCHED_BATCH: a submitter is not preempted
 *	by the task that it just submitted
 * @ANTS_MEM_RECLAIM: the pool makes progress when no memory can be had: one
 *	thread and one place for a pending task always exist
 * @ANTS_ON_NODE: &ants_attrs.node is set
 * @ANTS_FREEZABLE: no task starts between suspend and resume; tasks that run
 *	are waited for. Who waits for the pool with a call that can be killed
 *	may be frozen there, and must hold no lock.
 * @ANTS_CALLER_RUNS: a caller of ants_submit() that finds the pool full runs the
 *	task itself rather than wait
 */
enum ants_flags {
	ANTS_NONBLOCKING	= 1 << 0,
	ANTS_PREALLOC		= 1 << 1,
	ANTS_NO_PURGE		= 1 << 2,
	ANTS_THROUGHPUT		= 1 << 3,
	ANTS_MEM_RECLAIM	= 1 << 4,
	ANTS_ON_NODE		= 1 << 5,
	ANTS_FREEZABLE		= 1 << 6,
	ANTS_CALLER_RUNS	= 1 << 7,
};

/**
 * struct ants_attrs - how a pool is made; zero is the default of every field
 * @capacity: most threads, and most tasks in flight beyond which a submitter
 *	waits; 0 = num_online_cpus(), %ANTS_UNLIMITED = no bound
 * @max_blocking: most callers that may wait at once; 0 = no limit
 * @queue_depth: how many more tasks may be pending before a submitter waits
 * @min_workers: threads that are made with the pool and never reaped
 * @expiry_ms: how long a thread may stay idle, in milliseconds; 0 = 1000
 * @nice: nice value of the threads
 * @node: NUMA node of the threads' memory, with %ANTS_ON_NODE
 * @cpumask: CPUs on which the threads run; NULL = all, or those of @node with
 *	%ANTS_ON_NODE, if it has any. Copied.
 * @worker_init: called in each thread before its first task; what it returns is
 *	ants_worker_data() of the tasks that the thread runs. After an ERR_PTR
 *	the thread goes, and another one is made later. NULL = none
 * @worker_exit: called in each thread after its last task, with what
 *	@worker_init returned; NULL = none
 * @room: called when there is room again after a caller was sent away with
 *	-EAGAIN, once. In an RCU read section, in process context or a softirq;
 *	may not sleep, may use ants_try_submit(). NULL = none
 * @private: any value, for ants_pool_private()
 * @flags: bits of enum ants_flags
 */
struct ants_attrs {
	unsigned int capacity;
	unsigned int max_blocking;
	unsigned int queue_depth;
	unsigned int min_workers;
	unsigned int expiry_ms;
	int nice;
	int node;
	const struct cpumask *cpumask;
	void *(*worker_init)(struct ants_pool *pool);
	void (*worker_exit)(struct ants_pool *pool, void *data);
	void (*room)(struct ants_pool *pool);
	void *private;
	unsigned int flags;
};

/**
 * struct ants_stats - one consistent snapshot of a pool
 * @capacity: most threads and tasks in flight
 * @running: threads of the pool, whatever they do
 * @idle: threads that wait for a task
 * @busy: tasks that run
 * @pending: tasks that are accepted and not started
 * @waiting: callers that wait because the pool is full
 * @free: tasks that the pool would take at once
 * @peak_running: most threads there ever were
 * @peak_busy: most tasks that ever ran at once
 * @peak_pending: most tasks that were ever pending
 * @peak_waiting: most callers that ever waited at once
 * @submitted: tasks accepted
 * @completed: tasks that ended
 * @cancelled: tasks accepted that were cancelled before they started
 * @caller_runs: tasks that their submitters ran themselves, not in @submitted
 * @rejected: submits that the pool refused, a bad argument not counted
 * @blocked: submits that had to wait, whatever came of it
 * @spawned: threads made
 * @reaped: threads that went away because they were idle for too long
 */
struct ants_stats {
	unsigned int capacity;
	unsigned int running;
	unsigned int idle;
	unsigned int busy;
	unsigned int pending;
	unsigned int waiting;
	unsigned int free;
	unsigned int peak_running;
	unsigned int peak_busy;
	unsigned int peak_pending;
	unsigned int peak_waiting;
	u64 submitted;
	u64 completed;
	u64 cancelled;
	u64 caller_runs;
	u64 rejected;
	u64 blocked;
	u64 spawned;
	u64 reaped;
};

/*
 * A pool of the module itself, made when ants is loaded, for tasks that need
 * no pool of their own. Its users may neither release nor destroy nor flush it.
 */
extern struct ants_pool *ants_system_pool;

/* pool.c: making and ending a pool */

__printf(3, 4)
struct ants_pool *__ants_pool_create(struct module *owner,
				     const struct ants_attrs *attrs,
				     const char *fmt, ...);
__printf(4, 5)
struct ants_pool *__ants_pool_create_func(struct module *owner,
					  const struct ants_attrs *attrs,
					  ants_fn_t fn, const char *fmt, ...);

/**
 * ants_pool_create() - make a pool
 * @attrs: how; NULL for the defaults
 * @...: printf format and arguments of the name: unique, without a slash,
 *	shorter than %ANTS_NAME_LEN
 *
 * Starts &ants_attrs.min_workers threads, all of them with %ANTS_PREALLOC.
 *
 * Context: Process context. May sleep.
 * Return: the pool, or an ERR_PTR: -EINVAL for attributes or a name out of
 * range or in contradiction, -EEXIST if the name is taken, -ENOMEM, -EINTR if
 * the caller was killed meanwhile.
 */
#define ants_pool_create(attrs, ...)	\
	__ants_pool_create(THIS_MODULE, attrs, __VA_ARGS__)

/**
 * ants_pool_create_func() - make a pool for one function, for ants_invoke()
 * @attrs: how; NULL for the defaults
 * @fn: the function
 * @...: printf format and arguments of the name
 *
 * Context: Process context. May sleep.
 * Return: as ants_pool_create(); -EINVAL, before all else, if @fn is NULL.
 */
#define ants_pool_create_func(attrs, fn, ...)	\
	__ants_pool_create_func(THIS_MODULE, attrs, fn, __VA_ARGS__)

int ants_pool_destroy(struct ants_pool *pool);
int ants_release(struct ants_pool *pool);
int ants_release_timeout(struct ants_pool *pool, unsigned long timeout);
int ants_reboot(struct ants_pool *pool);
int ants_tune(struct ants_pool *pool, unsigned int capacity);
int ants_set_nice(struct ants_pool *pool, int nice);
int ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask);

/* handing it tasks */

int ants_submit(struct ants_pool *pool, ants_fn_t fn, void *data);
int ants_submit_timeout(struct ants_pool *pool, ants_fn_t fn, void *data,
			unsigned long timeout);
int ants_try_submit(struct ants_pool *pool, ants_fn_t fn, void *data);
int ants_submit_prio(struct ants_pool *pool, enum ants_prio prio, ants_fn_t fn,
		     void *data, unsigned long timeout);
int ants_submit_batch(struct ants_pool *pool, const struct ants_task *tasks,
		      unsigned int nr);
int ants_invoke(struct ants_pool *pool, void *data);
int ants_invoke_timeout(struct ants_pool *pool, void *data,
			unsigned long timeout);
int ants_try_invoke(struct ants_pool *pool, void *data);
void *ants_worker_data(void);
int ants_flush(struct ants_pool *pool);
int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout);

/* numbers; each is true for one moment, ants_pool_stats() for the same one */

unsigned int ants_nr_running(struct ants_pool *pool);
unsigned int ants_nr_idle(struct ants_pool *pool);
unsigned int ants_nr_busy(struct ants_pool *pool);
unsigned int ants_nr_pending(struct ants_pool *pool);
unsigned int ants_nr_waiting(struct ants_pool *pool);
unsigned int ants_nr_free(struct ants_pool *pool);
unsigned int ants_capacity(struct ants_pool *pool);
bool ants_is_released(struct ants_pool *pool);
bool ants_congested(struct ants_pool *pool);
void *ants_pool_private(struct ants_pool *pool);
void ants_pool_stats(struct ants_pool *pool, struct ants_stats *stats);

/*
 * work.c: work items. A work item is a task with a handle: it is memory of the
 * caller's, so that it is queued without any, in whatever context; it can be
 * waited for, cancelled, and has a result. It is in one pool at most, and runs
 * in one thread at a time.
 */

struct ants_work;
struct ants_work_waiter;
struct ants_group;

/**
 * typedef ants_work_fn_t - what a work item runs
 * @work: the work item; may be queued again from inside
 *
 * Context: as ants_fn_t.
 * Return: its result, any value.
 */
typedef int (*ants_work_fn_t)(struct ants_work *work);

/* Most callers that can wait for one work item at once. */
#define ANTS_WORK_WAITERS	8

/* private: a task that is accepted and not started, see kernel/slot.h */
struct ants_slot {
	union {
		struct list_head node;
		struct ants_slot *next;
	};
	ants_fn_t fn;
	void *data;
	unsigned int tag;
};

/**
 * struct ants_work - a work item
 * @fn: what it runs
 * @prio: which is first; may be set while the item is in no pool
 *
 * To be made with INIT_ANTS_WORK(). It may be freed when it is in no pool: as
 * soon as ants_work_wait(), or ants_work_cancel_sync() returned, or before it
 * was ever queued.
 */
struct ants_work {
	ants_work_fn_t fn;
	enum ants_prio prio;
	/* private: */
	struct ants_slot slot;
	struct ants_pool *pool;
	unsigned int state;
	unsigned int nr_waiters;
	struct list_head waiters;
	struct ants_group *group;
	struct list_head in_group;
	struct list_head finished;
	int result;
};

void ants_work_init(struct ants_work *work, ants_work_fn_t fn);

#define INIT_ANTS_WORK(work, fn)	ants_work_init(work, fn)

/**
 * struct ants_delayed_work - a work item that is queued by a timer
 * @work: the work item, for all calls but ants_queue_delayed_work()
 */
struct ants_delayed_work {
	struct ants_work work;
	/* private: */
	struct timer_list timer;
	unsigned long when;
	struct list_head node;
};

void ants_delayed_work_init(struct ants_delayed_work *dwork, ants_work_fn_t fn);

#define INIT_ANTS_DELAYED_WORK(dwork, fn)	ants_delayed_work_init(dwork, fn)

int ants_queue_work(struct ants_pool *pool, struct ants_work *work);
int ants_queue_work_timeout(struct ants_pool *pool, struct ants_work *work,
			    unsigned long timeout);
int ants_queue_delayed_work(struct ants_pool *pool,
			    struct ants_delayed_work *dwork,
			    unsigned long delay);
int ants_work_wait(struct ants_work *work, int *result);
int ants_work_wait_timeout(struct ants_work *work, unsigned long timeout,
			   int *result);
bool ants_work_cancel(struct ants_work *work);
int ants_work_cancel_sync(struct ants_work *work);
bool ants_work_cancelled(const struct ants_work *work);

/* The result of a work item that has ended. */
static inline int ants_work_result(const struct ants_work *work)
{
	return work->result;
}

/*
 * call.c, each.c: a function in a pool, as if it were called here
 */

/**
 * typedef ants_call_fn_t - what ants_call() runs
 * @data: the pointer that was handed over
 *
 * Context: as ants_fn_t.
 * Return: what ants_call() returns.
 */
typedef int (*ants_call_fn_t)(void *data);

/**
 * typedef ants_each_fn_t - what ants_for_each() runs
 * @i: which one
 * @ctx: the pointer that was handed over
 *
 * Context: Process context: the caller's, or a task of the pool.
 * Return: 0, or an error, after which no further ones are begun.
 */
typedef int (*ants_each_fn_t)(unsigned long i, void *ctx);

int ants_call(struct ants_pool *pool, ants_call_fn_t fn, void *data,
	      unsigned long timeout);
int ants_call_release(struct ants_pool *pool, ants_call_fn_t fn, void *data,
		      unsigned long timeout, ants_fn_t release);
int ants_for_each(struct ants_pool *pool, unsigned long n, ants_each_fn_t fn,
		  void *ctx);

/*
 * group.c: many work items, one wait
 */

/**
 * enum ants_group_flags - the modes of a group
 * @ANTS_GROUP_CANCEL_ON_ERROR: after a result other than 0 nothing more starts
 */
enum ants_group_flags {
	ANTS_GROUP_CANCEL_ON_ERROR	= 1 << 0,
};

/**
 * struct ants_group - work items that belong together, in one pool
 *
 * To be made with ants_group_init(). It and its work items may be freed when
 * ants_group_wait() returned 0, or before any was submitted.
 */
struct ants_group {
	/* private: */
	struct ants_pool *pool;
	struct list_head works;
	struct list_head finished;
	struct ants_work_waiter *waiter;
	unsigned int nr_left;
	int error;
	bool sealed;
	bool cancelled;
	bool cancel_on_error;
};

int ants_group_init(struct ants_group *group, struct ants_pool *pool,
		    unsigned int flags);
int ants_group_submit(struct ants_group *group, struct ants_work *work);
void ants_group_seal(struct ants_group *group);
int ants_group_wait(struct ants_group *group, int *error);
int ants_group_wait_timeout(struct ants_group *group, unsigned long timeout,
			    int *error);
struct ants_work *ants_group_next(struct ants_group *group,
				  unsigned long timeout);
void ants_group_cancel(struct ants_group *group);
int ants_group_reset(struct ants_group *group);

/**
 * ants_group_for_each() - the work items of a group, as they were accepted
 * @work: the struct ants_work to iterate with
 * @group: the group; all of its work items have ended
 */
#define ants_group_for_each(work, group)	\
	list_for_each_entry(work, &(group)->works, in_group)

/* multi.c: pools behind one handle, for more submitters than one lock bears */

/* Most shards of a multi. */
#define ANTS_MAX_SHARDS		1024

/**
 * enum ants_strategy - which shard is the first choice for a task
 * @ANTS_ROUND_ROBIN: the one after the last
 * @ANTS_LEAST_TASKS: the one with the fewest tasks that run or are pending;
 *	idle threads do not count
 * @ANTS_LOCAL: that of the caller's CPU. CPUs are spread over the shards in
 *	contiguous ranges, or by node if there are as many nodes as shards, and
 *	the threads of a shard run on its CPUs alone
 */
enum ants_strategy {
	ANTS_ROUND_ROBIN,
	ANTS_LEAST_TASKS,
	ANTS_LOCAL,
};

struct ants_multi;

__printf(5, 6)
struct ants_multi *__ants_multi_create(struct module *owner,
				       const struct ants_attrs *attrs,
				       unsigned int nr_shards,
				       enum ants_strategy strategy,
				       const char *fmt, ...);

/**
 * ants_multi_create() - make a number of pools behind one handle
 * @attrs: how; NULL for the defaults. &ants_attrs.capacity,
 *	&ants_attrs.max_blocking, &ants_attrs.queue_depth and
 *	&ants_attrs.min_workers are totals: each shard gets its part, and the
 *	first ones what is left over. %ANTS_UNLIMITED is no bound for each. Of a
 *	max_blocking that is not 0 each shard gets at least 1. The others are for
 *	each shard.
 * @nr_shards: how many pools; most %ANTS_MAX_SHARDS
 * @strategy: which of them is the first choice for a task
 * @...: printf format and arguments of the name: unique among pools and
 *	multis, without a slash; with a slash and the highest shard's number
 *	after it still shorter than %ANTS_NAME_LEN
 *
 * Context: Process context. May sleep.
 * Return: the multi, or an ERR_PTR: -EINVAL for a number of shards that is 0,
 * too high or above the capacity, an unknown strategy, attributes or a name out
 * of range or in contradiction, -EEXIST if the name is taken, -ENOMEM, -EINTR
 * if the caller was killed meanwhile.
 */
#define ants_multi_create(attrs, nr_shards, strategy, ...)		\
	__ants_multi_create(THIS_MODULE, attrs, nr_shards, strategy,	\
			    __VA_ARGS__)

int ants_multi_destroy(struct ants_multi *multi);
int ants_multi_release(struct ants_multi *multi);
int ants_multi_release_timeout(struct ants_multi *multi, unsigned long timeout);
int ants_multi_reboot(struct ants_multi *multi);
int ants_multi_tune(struct ants_multi *multi, unsigned int capacity);
int ants_multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data);
int ants_multi_submit_timeout(struct ants_multi *multi, ants_fn_t fn,
			      void *data, unsigned long timeout);
int ants_multi_try_submit(struct ants_multi *multi, ants_fn_t fn, void *data);
int ants_multi_flush(struct ants_multi *multi);
int ants_multi_flush_timeout(struct ants_multi *multi, unsigned long timeout);
void ants_multi_stats(const struct ants_multi *multi, struct ants_stats *stats);
unsigned int ants_multi_nr_shards(const struct ants_multi *multi);
struct ants_pool *ants_multi_shard(const struct ants_multi *multi,
				   unsigned int nr);

#endif /* _LINUX_ANTS_H */
