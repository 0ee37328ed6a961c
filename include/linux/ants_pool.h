/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: pools, from their creation to their end. Part of <linux/ants.h>, which
 * explains the errors.
 */
#ifndef _LINUX_ANTS_POOL_H
#define _LINUX_ANTS_POOL_H

#include <linux/export.h>
#include <linux/limits.h>
#include <linux/types.h>

struct ants_pool;
struct cpumask;
struct device;
struct module;

/**
 * typedef ants_fn_t - the function of a task
 * @data: the pointer that was submitted with the task
 *
 * Context: Process context, in a thread of the pool. May sleep. Must return with
 * the locks, the preemption count and the interrupt state with which it was called.
 * There is no user memory: copy_to_user() and copy_from_user() fail, or reach
 * another process, unless the function borrows an address space meanwhile, with
 * kthread_use_mm(). Or the submitter pins the pages before.
 * A function that does not return, because it oopses or ends its thread, is a
 * fault: see &ants_attrs.fault. Its stack is gone then, so nothing that others
 * still use may be there.
 */
typedef void (*ants_fn_t)(void *data);

/**
 * enum ants_prio - order in which pending tasks start
 * @ANTS_PRIO_NORMAL: in the order in which they were accepted
 * @ANTS_PRIO_HIGH: ahead of normal tasks; and a caller that waits with such a
 *	task is served ahead of other callers. But after 8 of either in a row
 *	one normal task, or one other caller, is next
 */
enum ants_prio {
	ANTS_PRIO_NORMAL,
	ANTS_PRIO_HIGH,
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
 * @ANTS_MEM_RECLAIM: the pool makes progress without memory. One thread is made
 *	with the pool, which is not created without it, and is never reaped; so is
 *	room for one pending task. If no other thread can be made, that one runs
 *	the tasks, one after another. Not with &ants_attrs.worker_init, which may
 *	fail
 * @ANTS_ON_NODE: &ants_attrs.node is set
 * @ANTS_FREEZABLE: no task starts between suspend and resume; tasks that run
 *	are waited for. A caller that waits for the pool in a killable call may
 *	be frozen there, and must not hold a lock
 * @ANTS_CALLER_RUNS: a caller of ants_submit() that finds the pool full runs
 *	the task itself instead of waiting; but a task of the same pool waits,
 *	and so does any caller while there is no memory to note that it runs one
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
 * enum ants_sched - how the threads of a pool compete for CPUs
 * @ANTS_SCHED_NORMAL: like other threads, by their nice value
 * @ANTS_SCHED_FIFO_LOW: in real time, with the lowest priority of all threads
 *	that run so: sched_set_fifo_low()
 * @ANTS_SCHED_FIFO: in real time, with the priority that the kernel gives its own
 *	threads: sched_set_fifo()
 *
 * Modules cannot choose another priority. A thread that runs in real time has
 * the nice value 0, and keeps its CPU from all normal threads as long as it has
 * tasks to run. What waits for a normal thread of that CPU, such as a grace period
 * of RCU or a CPU that goes offline, then depends on the kernel's own throttling of
 * real-time threads, and does not end if that is switched off.
 */
enum ants_sched {
	ANTS_SCHED_NORMAL,
	ANTS_SCHED_FIFO_LOW,
	ANTS_SCHED_FIFO,
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
 * @sched: one of enum ants_sched; must be %ANTS_SCHED_NORMAL if @nice is not 0
 *	or the pool is %ANTS_THROUGHPUT
 * @node: NUMA node of the threads' memory, with %ANTS_ON_NODE, and then it must be
 *	online; else 0
 * @cpumask: the CPUs on which the threads run, isolated ones or not; copied.
 *	NULL means all CPUs, or with %ANTS_ON_NODE those of @node if it has any,
 *	in both cases without the isolated ones
 * @fn: what ants_invoke() runs; NULL means none
 * @worker_init: called in each thread before its first task; for the tasks that
 *	the thread runs ants_worker_data() returns its result. If the result is
 *	an ERR_PTR, the thread exits, and another one is made later. If it
 *	waits for a work item or a call of the same pool, that may run in this
 *	thread, too, and finds no such result. NULL means none
 * @worker_exit: called in each thread after its last task, with the result of
 *	@worker_init; NULL means none. May block. The thread counts against the
 *	capacity until this returns, so the results of @worker_init in use are
 *	never more than the threads allowed
 * @space_available: called once when the pool has room again after a caller was
 *	refused with -EAGAIN; for a multi, when any shard has room. It is called
 *	in an RCU read section, in process context or a softirq; it may not
 *	sleep, but may use ants_try_submit(). NULL means none
 * @fault: called once for each thread of the pool that has died, because its
 *	task has oopsed or has ended the thread. It gets the function of the
 *	task and its data, if that was a plain task. Otherwise the function
 *	is NULL, and the data is the work item, which has ended with -EFAULT, or
 *	the argument of the call or loop; or NULL, if the thread has died in
 *	@worker_init or @worker_exit. What the function held is lost with the
 *	thread, and so is the result of @worker_init. The callers that waited
 *	for the task have been told before, and may have freed what they passed;
 *	so have those of ants_flush() and ants_drain(). It is called in process
 *	context, in a kernel worker; it may sleep, but not wait for the end of
 *	the pool. NULL means none
 * @drop: called for each pending plain task that will not run because the pool
 *	has had too many faults. It is called in process context, in a kernel
 *	worker; it may sleep, but wait neither for tasks of the pool, which are
 *	given up one after another, nor for its end. NULL means none
 * @max_faults: after this many faults in a row, with no task between them that
 *	has ended well, the pool takes no tasks until it is released and opened
 *	again with ants_reboot(). The same number of failures of @worker_init in
 *	a row, while the pool has no other thread, has the same effect; failures
 *	of threads that get ready side by side count as one. 0 means 16, the
 *	most is INT_MAX
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
	enum ants_sched sched;
	int node;
	const struct cpumask *cpumask;
	ants_fn_t fn;
	void *(*worker_init)(struct ants_pool *pool);
	void (*worker_exit)(struct ants_pool *pool, void *data);
	void (*space_available)(struct ants_pool *pool);
	void (*fault)(struct ants_pool *pool, ants_fn_t fn, void *data);
	void (*drop)(ants_fn_t fn, void *data);
	unsigned int max_faults;
	void *private;
	unsigned int flags;
};

/*
 * A pool of the module itself, created when ants is loaded, for tasks that need
 * no pool of their own. Its users may neither change, release, destroy, flush
 * nor drain it; its administrator may change it. It takes tasks however many
 * faults it has had.
 */
extern struct ants_pool *ants_system_pool;

/**
 * ants_pool_create() - create a pool
 * @attrs: its attributes; NULL for the defaults
 * @...: printf format and arguments of the name: printable ASCII characters
 *	without a slash, at least one and fewer than %ANTS_NAME_LEN; not "." or
 *	"..". No two pools have the same name
 *
 * Starts &ants_attrs.min_workers threads, all of them with %ANTS_PREALLOC. If
 * the module parameter max_threads does not allow that many, that is -ENOMEM.
 *
 * Context: Process context. May sleep.
 * Return: the pool, or an ERR_PTR: -EINVAL for attributes or a name out of
 * range or in contradiction, -EEXIST if the name is taken, -ENOMEM, -EINTR if
 * the caller was killed meanwhile.
 */
#define ants_pool_create(attrs, ...)	\
	__ants_pool_create(THIS_MODULE, NULL, false, attrs, __VA_ARGS__)

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
	__ants_pool_create(THIS_MODULE, NULL, true, attrs, __VA_ARGS__)

/**
 * devm_ants_pool_create() - create a pool that ends with the driver of a device
 * @dev: the device; ants_pool_destroy() is called when its driver is unbound
 * @attrs: its attributes; NULL for the defaults
 * @...: printf format and arguments of the name
 *
 * Whatever the tasks use must exist until then. Allocate the managed memory
 * that they use before the pool, because resources are released in reverse
 * order.
 *
 * Context: Process context. May sleep.
 * Return: as ants_pool_create().
 */
#define devm_ants_pool_create(dev, attrs, ...)	\
	__ants_pool_create(THIS_MODULE, dev, false, attrs, __VA_ARGS__)

/**
 * ants_pool_destroy() - destroy a pool
 * @pool: the pool; NULL or an ERR_PTR is ignored
 *
 * Releases the pool and waits for all of its tasks and threads, and for callers
 * that are inside it: those that sleep there, and those that run a task
 * themselves. Afterwards nothing that the client owns is in use any more, so
 * this may be the last call in a module's exit function. A call that has not
 * taken the pool's lock yet is not seen and not waited for: the client has to
 * make sure that no other call begins, or is about to begin, once this one has
 * begun. What is not accepted ends as with ants_release(): call ants_drain()
 * first if work items that are due are to run.
 *
 * Context: Process context. May sleep. No new call may be made meanwhile.
 * Return: 0. -EPERM: it is the system pool, or a shard. -EDEADLK, with a
 * warning: the caller is a task of the same pool. After an error the pool
 * stays.
 */
int ants_pool_destroy(struct ants_pool *pool);

/**
 * ants_release() - close a pool
 * @pool: the pool
 *
 * Refuses new tasks, fails the callers that wait with -ESHUTDOWN, and lets idle
 * threads leave. Accepted tasks still run; delayed work items that are not
 * accepted, even if they are due, end with -ESHUTDOWN. Does not wait for tasks;
 * may be called from a task of the pool, and more than once.
 *
 * Context: Process context. May sleep, for a short time.
 * Return: 0. -EPERM: it is the system pool, or a shard.
 */
int ants_release(struct ants_pool *pool);

/**
 * ants_release_timeout() - close a pool and wait until it is empty
 * @pool: the pool
 * @timeout: the longest time to wait, in jiffies
 *
 * May be called again, also after it has timed out. Changes of the pool that
 * are in progress, such as by ants_tune(), do not hold it up. While tasks are
 * left and no thread can be made, it waits until one can.
 *
 * Context: Process context. May sleep.
 * Return: 0: the last task has ended and the last thread has left. -ETIMEDOUT,
 * -EINTR: the pool is closed, but not empty. -EDEADLK: the caller is a task of
 * the same pool; it stays open. -EPERM: it is the system pool, or a shard.
 */
int ants_release_timeout(struct ants_pool *pool, unsigned long timeout);

/**
 * ants_reboot() - open a released pool again
 * @pool: the pool
 *
 * Context: Process context. May sleep.
 * Return: 0: it is open. Or an error, after which nothing has changed. -EBUSY:
 * it is not released, or not empty yet, see ants_release_timeout(); or it was
 * released once more meanwhile. -ENOMEM: its threads cannot be made. -EINTR:
 * the caller is being killed. -EPERM: it is the system pool, or a shard.
 */
int ants_reboot(struct ants_pool *pool);

/**
 * ants_tune() - change the capacity of a pool
 * @pool: the pool; it may be released
 * @capacity: the new capacity, or %ANTS_UNLIMITED
 *
 * Takes effect at once: callers that fit now are granted before it returns, and
 * &ants_attrs.space_available is called if a caller was refused that would fit
 * now. The threads that an %ANTS_PREALLOC pool lacks are made first, one by
 * one; if the pool is released meanwhile, no more of them are made. After a
 * shrink accepted tasks still run, the workers above the capacity leave when
 * they have nothing to run, and no task is accepted until the sums fit.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which nothing has changed. -EINVAL: 0, below
 * &ants_attrs.min_workers, beyond INT_MAX, no bound for an %ANTS_PREALLOC pool,
 * or not 1 for an ordered one. -ENOMEM: the threads of an %ANTS_PREALLOC pool
 * cannot be made. -EINTR: the caller is being killed. -EPERM: it is the system
 * pool, which only its administrator may tune.
 */
int ants_tune(struct ants_pool *pool, unsigned int capacity);

/**
 * ants_set_nice() - change the nice value of a pool's threads
 * @pool: the pool; it may be released
 * @nice: the new nice value
 *
 * Each thread applies it before its next task; a running task is left alone.
 * Threads that are made later get it as well.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which nothing has changed. -EINVAL: @nice is
 * out of range, or not 0 while the threads run in real time. -ENOMEM. -EINTR: the
 * caller is being killed. -EPERM: it is the system pool.
 */
int ants_set_nice(struct ants_pool *pool, int nice);

/**
 * ants_set_sched() - have a pool's threads run in real time, or no longer
 * @pool: the pool; it may be released
 * @sched: how they compete for CPUs from now on
 *
 * Each thread applies it before its next task; a running task is left alone.
 * Threads that are made later get it as well. A policy that a task has given to
 * its thread stays until then. Tasks that run in their submitters run as those do.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which nothing has changed. -EINVAL: @sched is
 * none of enum ants_sched, or it is not %ANTS_SCHED_NORMAL and the nice value of
 * the pool is not 0, or the pool has %ANTS_THROUGHPUT. -ENOMEM. -EINTR: the
 * caller is being killed. -EPERM: it is the system pool.
 */
int ants_set_sched(struct ants_pool *pool, enum ants_sched sched);

/**
 * ants_set_cpumask() - change the CPUs that a pool's threads run on
 * @pool: the pool; it may be released
 * @mask: the CPUs, isolated ones or not; NULL means all CPUs, or those of the
 *	node with %ANTS_ON_NODE, without the isolated ones. The mask is copied
 *
 * Each thread applies it before its next task; a running task is not moved.
 * Threads that are made later get it as well. While none of the CPUs is online,
 * the threads run on all CPUs that are not isolated, and the log says so once;
 * they return when one of the CPUs comes online.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which nothing has changed. -EINVAL: none of the
 * CPUs is possible. -ENOMEM. -EINTR: the caller is being killed. -EPERM: it is
 * the system pool.
 */
int ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask);

/**
 * ants_pool_private() - get &ants_attrs.private
 * @pool: the pool
 * Context: Any context.
 * Return: the value.
 */
void *ants_pool_private(const struct ants_pool *pool);

/* private: what the macros above call */

__printf(5, 6)
struct ants_pool *__ants_pool_create(struct module *owner, struct device *dev,
				     bool ordered,
				     const struct ants_attrs *attrs,
				     const char *fmt, ...);

#endif /* _LINUX_ANTS_POOL_H */
