/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: a bounded pool of kernel threads.
 *
 * A pool owns at most &ants_attrs.capacity threads. If a task, fn(data), finds
 * the pool full, its submitter waits, fails or times out, as the mode of the
 * pool and the call say; no queue is unbounded. Idle threads exit after a time.
 * An administrator can change that time, and the capacity of a pool under load,
 * in /sys/kernel/ants/<pool>/.
 *
 * Errors have one meaning in every function:
 *
 *	-ESHUTDOWN	the pool is released
 *	-EAGAIN		the task would have to wait, and the pool or the call
 *			does not wait
 *	-EBUSY		as many callers wait as may; or, of a change, it is in use
 *	-ETIMEDOUT	the timeout has expired
 *	-EINTR		a fatal signal, or the calling kthread was told to stop
 *	-EDEADLK	the wait could never end
 *	-EINVAL		an argument is out of range; or, of a flush or a drain, it is
 *			the system pool
 *	-EEXIST		the name is taken
 *	-EPERM		not on the system pool, nor on one shard of a multi
 *	-ENOMEM		no memory, or a thread cannot be made
 *	-EALREADY	the work item is in a pool, or in the group, already
 *	-ECANCELED	the work item is or was cancelled
 *	-EINPROGRESS	the function runs, and the caller did not wait for it
 *	-ERANGE		there is no such shard
 *
 * An error from a submit means that the task is not accepted and will not run.
 * Success means that the task runs exactly once, or that its work item says
 * what became of it: it was cancelled, or, if it was to wait for its time, the
 * pool was released (-ESHUTDOWN).
 *
 * A timeout is in jiffies; with MAX_SCHEDULE_TIMEOUT a wait has no limit. A
 * wait ends early with -EINTR on a fatal signal, and when the calling kthread
 * is told to stop; a wait for another change of the pool ends early on a fatal
 * signal only. A wait of more than two minutes is logged.
 */
#ifndef _LINUX_ANTS_H
#define _LINUX_ANTS_H

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/types.h>

struct ants_pool;
struct device;

/**
 * typedef ants_fn_t - the function of a task
 * @data: the pointer that was submitted with the task
 *
 * Context: Process context, in a thread of the pool; in a kernel worker if the
 * pool has no thread and none can be made. May sleep. Must return with the
 * locks, the preemption count and the interrupt state with which it was called.
 */
typedef void (*ants_fn_t)(void *data);

/**
 * typedef ants_match_t - decides which tasks ants_cancel_pending() cancels
 * @fn: the function of a task; NULL for a work item
 * @data: the data of a task; the struct ants_work of a work item
 * @arg: the pointer that was passed to ants_cancel_pending()
 *
 * Context: Under a raw spinlock of the pool, with interrupts off. It may look
 * at what it is given, and collect it in a list, but may not sleep, take a
 * spinlock_t, or call ants.
 * Return: true if the task is to be cancelled.
 */
typedef bool (*ants_match_t)(ants_fn_t fn, void *data, void *arg);

/**
 * enum ants_prio - order in which pending tasks start
 * @ANTS_PRIO_NORMAL: in the order in which they were accepted
 * @ANTS_PRIO_HIGH: ahead of normal ones. Callers that wait with such a task are
 *	served ahead of others as well. But after 8 of them in a row one normal
 *	task, or one other caller, is next
 */
enum ants_prio {
	ANTS_PRIO_NORMAL,
	ANTS_PRIO_HIGH,
};

/**
 * struct ants_task - a task, for ants_submit_batch()
 * @fn: the function to run
 * @data: its argument; any value
 * @prio: its priority
 */
struct ants_task {
	ants_fn_t fn;
	void *data;
	enum ants_prio prio;
};

/* A capacity without a bound. */
#define ANTS_UNLIMITED		UINT_MAX

/* The most slots that a pool keeps for callers that may not allocate. */
#define ANTS_MAX_SPARE_SLOTS	65536

/* The most bytes of a pool's name, including the terminating NUL. */
#define ANTS_NAME_LEN		64

/**
 * enum ants_flags - the modes of a pool
 * @ANTS_NONBLOCKING: ants_submit() returns -EAGAIN instead of waiting
 * @ANTS_PREALLOC: all threads exist before the pool does, and none is reaped;
 *	ants_tune() either makes the threads before it grows, or changes nothing
 * @ANTS_NO_PURGE: idle threads never exit
 * @ANTS_THROUGHPUT: the threads run under SCHED_BATCH, so a submitter is not
 *	preempted by the task that it has just submitted
 * @ANTS_MEM_RECLAIM: the pool makes progress without memory: one thread and
 *	room for one pending task always exist. Not with
 *	&ants_attrs.worker_init, which may fail
 * @ANTS_ON_NODE: &ants_attrs.node is set
 * @ANTS_FREEZABLE: no task starts between suspend and resume; tasks that run
 *	are waited for. A caller that waits for the pool in a killable call may
 *	be frozen there, and must not hold a lock
 * @ANTS_CALLER_RUNS: a caller of ants_submit() that finds the pool full runs
 *	the task itself instead of waiting; but a task of the same pool waits
 * @ANTS_FIXED: the files capacity, queue_depth and nonblocking in sysfs are
 *	read-only; the owner may still call ants_tune()
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
	ANTS_FIXED		= 1 << 8,
};

/**
 * struct ants_attrs - attributes of a pool; zero is the default of every field
 * @capacity: the most threads, and the most tasks in flight before a submitter
 *	waits; 0 means num_online_cpus(), %ANTS_UNLIMITED no bound
 * @max_blocking: the most callers that may wait at once; 0 means no limit
 * @queue_depth: how many more tasks may be pending before a submitter waits
 * @min_workers: threads that are made with the pool and never reaped
 * @spare_slots: slots that are kept for callers that may not allocate: the
 *	longest burst of ants_try_submit() that never gets -ENOMEM, as far as
 *	the pool has room; 0 means 16, the most is %ANTS_MAX_SPARE_SLOTS
 * @expiry: how long a thread may stay idle, in jiffies; 0 means HZ, one second,
 *	and the most is INT_MAX milliseconds. With %ANTS_NO_PURGE it has no
 *	effect
 * @nice: nice value of the threads
 * @node: NUMA node of the threads' memory, with %ANTS_ON_NODE
 * @cpumask: the CPUs on which the threads run, isolated ones or not; copied.
 *	NULL means all CPUs, or with %ANTS_ON_NODE those of @node if it has any,
 *	in both cases without the isolated ones
 * @worker_init: called in each thread before its first task; for the tasks that
 *	the thread runs ants_worker_data() returns its result. If the result is
 *	an ERR_PTR, the thread exits, and another one is made later. NULL means
 *	none
 * @worker_exit: called in each thread after its last task, with the result of
 *	@worker_init; NULL means none. May block. The thread counts until this
 *	returns, so there are never more threads prepared by @worker_init than
 *	threads allowed
 * @space_available: called once when the pool has room again after a caller was
 *	refused with -EAGAIN; for a multi, when any shard has room. In an RCU
 *	read section, in process context or a softirq; may not sleep, may use
 *	ants_try_submit(). NULL means none
 * @private: any value, for ants_pool_private()
 * @flags: bits of enum ants_flags
 */
struct ants_attrs {
	unsigned int capacity;
	unsigned int max_blocking;
	unsigned int queue_depth;
	unsigned int min_workers;
	unsigned int spare_slots;
	unsigned long expiry;
	int nice;
	int node;
	const struct cpumask *cpumask;
	void *(*worker_init)(struct ants_pool *pool);
	void (*worker_exit)(struct ants_pool *pool, void *data);
	void (*space_available)(struct ants_pool *pool);
	void *private;
	unsigned int flags;
};

/**
 * struct ants_stats - one consistent snapshot of a pool
 * @capacity: the most threads and tasks in flight
 * @running: threads of the pool, whatever they do
 * @idle: threads that wait for a task
 * @busy: tasks that run
 * @pending: tasks that are accepted and not started
 * @waiting: callers that wait because the pool is full
 * @free: tasks that the pool would accept at once
 * @peak_running: the most threads there ever were
 * @peak_busy: the most tasks that ever ran at once
 * @peak_pending: the most tasks that were ever pending
 * @peak_waiting: the most callers that ever waited at once
 * @submitted: tasks accepted
 * @completed: tasks that have ended
 * @cancelled: accepted tasks that were cancelled before they started
 * @caller_runs: tasks that their submitters ran themselves, not in @submitted
 * @rejected: submits that the pool refused, except for a bad argument
 * @blocked: submits that had to wait, whatever their result
 * @spawned: threads made
 * @reaped: threads that exited because they were idle for too long
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
 * A pool of the module itself, created when ants is loaded, for tasks that need
 * no pool of their own. Its users may neither change, release, destroy, flush
 * nor drain it; its administrator may change it.
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
__printf(3, 4)
struct ants_pool *__ants_pool_create_ordered(struct module *owner,
					     const struct ants_attrs *attrs,
					     const char *fmt, ...);
__printf(4, 5)
struct ants_pool *__devm_ants_pool_create(struct device *dev,
					  struct module *owner,
					  const struct ants_attrs *attrs,
					  const char *fmt, ...);

/**
 * ants_pool_create() - create a pool
 * @attrs: its attributes; NULL for the defaults
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
 * ants_pool_create_func() - create a pool for one function, for ants_invoke()
 * @attrs: its attributes; NULL for the defaults
 * @fn: the function
 * @...: printf format and arguments of the name
 *
 * Context: Process context. May sleep.
 * Return: as ants_pool_create(); -EINVAL, before all else, if @fn is NULL.
 */
#define ants_pool_create_func(attrs, fn, ...)	\
	__ants_pool_create_func(THIS_MODULE, attrs, fn, __VA_ARGS__)

/**
 * ants_pool_create_ordered() - create a pool whose tasks run one after another
 * @attrs: its attributes; NULL for the defaults. &ants_attrs.capacity is 0 or 1
 * @...: printf format and arguments of the name
 *
 * The capacity is 1 and stays 1, and %ANTS_FIXED is implied. No two tasks of
 * the pool overlap, and each starts after all tasks that were accepted before
 * it have ended. A task of %ANTS_PRIO_HIGH goes first even here; its submitter
 * has chosen that.
 *
 * Context: Process context. May sleep.
 * Return: as ants_pool_create(). -EINVAL: also for a capacity above 1, and for
 * %ANTS_CALLER_RUNS, whose callers would overtake pending tasks.
 */
#define ants_pool_create_ordered(attrs, ...)	\
	__ants_pool_create_ordered(THIS_MODULE, attrs, __VA_ARGS__)

/**
 * devm_ants_pool_create() - create a pool that ends with the driver of a device
 * @dev: the device; ants_pool_destroy() is called when its driver is unbound
 * @attrs: its attributes; NULL for the defaults
 * @...: printf format and arguments of the name
 *
 * Whatever the tasks use must exist until then. Managed memory has to be
 * allocated before the pool, because resources are released in reverse order.
 *
 * Context: Process context. May sleep.
 * Return: as ants_pool_create().
 */
#define devm_ants_pool_create(dev, attrs, ...)	\
	__devm_ants_pool_create(dev, THIS_MODULE, attrs, __VA_ARGS__)

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
int ants_submit_prio(struct ants_pool *pool, ants_fn_t fn, void *data,
		     enum ants_prio prio, unsigned long timeout);
int ants_submit_batch(struct ants_pool *pool, const struct ants_task *tasks,
		      unsigned int nr);
int ants_invoke(struct ants_pool *pool, void *data);
int ants_invoke_timeout(struct ants_pool *pool, void *data,
			unsigned long timeout);
int ants_try_invoke(struct ants_pool *pool, void *data);
void *ants_worker_data(struct ants_pool *pool);
bool ants_in_pool(const struct ants_pool *pool);
struct ants_pool *ants_current_pool(void);
unsigned int ants_cancel_pending(struct ants_pool *pool, ants_match_t match,
				 void *arg);
int ants_flush(struct ants_pool *pool);
int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout);
int __must_check ants_drain(struct ants_pool *pool);
int __must_check ants_drain_timeout(struct ants_pool *pool,
				    unsigned long timeout);

/*
 * Numbers. Each is true for one moment; ants_pool_stats() reads all at the same
 * one. The functions that read a single word may be called in NMI: all except
 * ants_pool_stats(), ants_nr_free() and ants_congested().
 */

unsigned int ants_nr_running(const struct ants_pool *pool);
unsigned int ants_nr_idle(const struct ants_pool *pool);
unsigned int ants_nr_busy(const struct ants_pool *pool);
unsigned int ants_nr_pending(const struct ants_pool *pool);
unsigned int ants_nr_waiting(const struct ants_pool *pool);
unsigned int ants_nr_free(const struct ants_pool *pool);
unsigned int ants_capacity(const struct ants_pool *pool);
bool ants_is_released(const struct ants_pool *pool);
bool ants_congested(const struct ants_pool *pool);
void *ants_pool_private(const struct ants_pool *pool);
void ants_pool_stats(const struct ants_pool *pool, struct ants_stats *stats);

#include <linux/ants_work.h>
#include <linux/ants_multi.h>

#endif /* _LINUX_ANTS_H */
