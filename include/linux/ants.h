/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: a bounded pool of kernel threads.
 *
 * A pool owns at most &ants_attrs.capacity threads. A task, fn(data), that
 * finds the pool full makes its submitter wait, fail or time out, as the
 * pool's mode and the call say; nothing queues without a bound. Idle threads
 * go away after a time. The administrator can change that time, and the capacity
 * of a pool under load, in /sys/kernel/ants/<pool>/.
 *
 * Errors have one meaning in every function:
 *
 *	-ESHUTDOWN	the pool is released
 *	-EAGAIN		the task would have to wait, and the pool or the call
 *			does not wait
 *	-EBUSY		as many callers wait as may; or, of a change, it is in use
 *	-ETIMEDOUT	the time is over
 *	-EINTR		a fatal signal, or the calling kthread was told to stop
 *	-EDEADLK	the wait could never end
 *	-EINVAL		an argument is out of range; or, of a flush or a drain, it is
 *			the system pool
 *	-EEXIST		the name is taken
 *	-EPERM		not on the system pool, nor on one shard of a multi
 *	-ENOMEM		no memory, or no thread to be had
 *	-EALREADY	the work item is in a pool, or in the group, already
 *	-ECANCELED	the work item is or was cancelled
 *	-EINPROGRESS	the function runs, and the caller did not wait for it
 *	-ERANGE		there is no such shard
 *
 * An error from a submit means: not accepted, will not run. Success means that
 * the task runs exactly once, or that its work item says what became of it: it
 * was cancelled, or, if it was to wait for its time, the pool was released
 * (-ESHUTDOWN).
 *
 * A timeout is in jiffies; MAX_SCHEDULE_TIMEOUT waits for ever. A wait ends
 * early with -EINTR on a fatal signal, or when the calling kthread is told to
 * stop, but behind another change of the pool on a fatal signal alone; a wait of
 * more than two minutes is logged.
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
 * typedef ants_fn_t - what a task runs
 * @data: the pointer that was handed over with the task
 *
 * Context: Process context, in a thread of the pool; in a kernel worker if the
 * pool has no thread and none can be made. May sleep. Returns with the locks,
 * the preemption count and the interrupt state it was entered with.
 */
typedef void (*ants_fn_t)(void *data);

/**
 * typedef ants_match_t - which tasks ants_cancel_pending() cancels
 * @fn: the function of a task; NULL for a work item
 * @data: the data of a task; the struct ants_work of a work item
 * @arg: the pointer that was handed over
 *
 * Context: Under a raw spinlock of the pool, with interrupts off, so that it may
 * look at what it is given, and collect it in a list, but do no more: no sleep,
 * no spinlock_t, no call of ants.
 * Return: true if the task is to be cancelled.
 */
typedef bool (*ants_match_t)(ants_fn_t fn, void *data, void *arg);

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

/* Most slots that a pool keeps for callers that may not allocate. */
#define ANTS_MAX_SPARE_SLOTS	65536

/* Most bytes of a pool's name, the terminating NUL included. */
#define ANTS_NAME_LEN		64

/**
 * enum ants_flags - the modes of a pool
 * @ANTS_NONBLOCKING: ants_submit() returns -EAGAIN rather than wait
 * @ANTS_PREALLOC: all threads exist before the pool does, and none is reaped;
 *	ants_tune() makes the threads before it grows, or changes nothing
 * @ANTS_NO_PURGE: idle threads stay for ever
 * @ANTS_THROUGHPUT: the threads run SCHED_BATCH: a submitter is not preempted
 *	by the task that it just submitted
 * @ANTS_MEM_RECLAIM: the pool makes progress when no memory can be had: one
 *	thread and one place for a pending task always exist. Not with
 *	&ants_attrs.worker_init, which may fail
 * @ANTS_ON_NODE: &ants_attrs.node is set
 * @ANTS_FREEZABLE: no task starts between suspend and resume; tasks that run
 *	are waited for. Who waits for the pool with a call that can be killed
 *	may be frozen there, and must hold no lock.
 * @ANTS_CALLER_RUNS: a caller of ants_submit() that finds the pool full runs the
 *	task itself rather than wait; but a task of the same pool waits
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
 * struct ants_attrs - how a pool is made; zero is the default of every field
 * @capacity: most threads, and most tasks in flight beyond which a submitter
 *	waits; 0 = num_online_cpus(), %ANTS_UNLIMITED = no bound
 * @max_blocking: most callers that may wait at once; 0 = no limit
 * @queue_depth: how many more tasks may be pending before a submitter waits
 * @min_workers: threads that are made with the pool and never reaped
 * @spare_slots: slots that are kept for callers that may not allocate, so the
 *	longest burst of ants_try_submit() that is sure not to get -ENOMEM, as far
 *	as the pool has room; 0 = 16, most %ANTS_MAX_SPARE_SLOTS
 * @expiry: how long a thread may stay idle, in jiffies; 0 = HZ, one second, most
 *	INT_MAX milliseconds. %ANTS_NO_PURGE is for ever
 * @nice: nice value of the threads
 * @node: NUMA node of the threads' memory, with %ANTS_ON_NODE
 * @cpumask: CPUs on which the threads run, isolated ones or not; NULL = all, or
 *	those of @node with %ANTS_ON_NODE, if it has any, but for isolated ones.
 *	Copied.
 * @worker_init: called in each thread before its first task; what it returns is
 *	ants_worker_data() of the tasks that the thread runs. After an ERR_PTR
 *	the thread goes, and another one is made later. NULL = none
 * @worker_exit: called in each thread after its last task, with what
 *	@worker_init returned; NULL = none. May block. The thread counts until it
 *	returns, so that there are never more threads that @worker_init prepared
 *	than threads at most
 * @room: called when there is room again after a caller was sent away with
 *	-EAGAIN, once; on a multi, when any shard has room. In an RCU read
 *	section, in process context or a softirq; may not sleep, may use
 *	ants_try_submit(). NULL = none
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
 * no pool of their own. Its users may neither change, release nor destroy it, nor
 * flush or drain it; its administrator may change it.
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

/**
 * ants_pool_create_ordered() - make a pool whose tasks run one after another
 * @attrs: how; NULL for the defaults. &ants_attrs.capacity is 0 or 1
 * @...: printf format and arguments of the name
 *
 * The capacity is 1 and stays 1, and %ANTS_FIXED is implied. No two tasks of the
 * pool overlap, and each starts after all that were accepted before it have
 * ended. A task of %ANTS_PRIO_HIGH goes first even here: who submits such a task
 * chooses so.
 *
 * Context: Process context. May sleep.
 * Return: as ants_pool_create(). -EINVAL: also for a capacity above 1, and for
 * %ANTS_CALLER_RUNS, whose callers would overtake tasks that are pending.
 */
#define ants_pool_create_ordered(attrs, ...)	\
	__ants_pool_create_ordered(THIS_MODULE, attrs, __VA_ARGS__)

/**
 * devm_ants_pool_create() - make a pool that ends with the driver of a device
 * @dev: the device; ants_pool_destroy() is called when its driver is unbound
 * @attrs: how; NULL for the defaults
 * @...: printf format and arguments of the name
 *
 * What the tasks use has to be there until then: managed memory that was
 * allocated before the pool is, for resources go in the opposite order.
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
 * numbers; each is true for one moment, ants_pool_stats() for the same one. Not
 * in NMI, but for those that read one word: all except ants_pool_stats(),
 * ants_nr_free() and ants_congested().
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
