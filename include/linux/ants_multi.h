/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: pools behind one handle, for more submitters than one lock can serve. Part
 * of <linux/ants.h>, which explains the errors.
 */
#ifndef _LINUX_ANTS_MULTI_H
#define _LINUX_ANTS_MULTI_H

#include <linux/ants_pool.h>
#include <linux/types.h>

struct ants_multi;
struct ants_stats;
struct cpumask;
struct module;

/* The most shards of a multi. */
#define ANTS_MAX_SHARDS		1024

/**
 * enum ants_strategy - which shard is the first choice for a task
 * @ANTS_ROUND_ROBIN: the one after the last choice; each CPU takes turns by
 *	itself
 * @ANTS_LEAST_TASKS: the one with the fewest running and pending tasks; idle
 *	threads do not count
 * @ANTS_LOCAL: that of the caller's CPU. CPUs are divided among the shards in
 *	ranges, in the order of their nodes, caches and cores, or by node if there
 *	are as many nodes as shards; or there are as many shards as fit, see
 *	ants_multi_create(). The threads of a shard run on its CPUs. Without
 *	&ants_attrs.cpumask this is a preference: isolated CPUs have no threads,
 *	and kernels from 6.17 on are told the preference
 */
enum ants_strategy {
	ANTS_ROUND_ROBIN,
	ANTS_LEAST_TASKS,
	ANTS_LOCAL,
};

/**
 * ants_multi_create() - create a number of pools behind one handle
 * @attrs: their attributes; NULL for the defaults. &ants_attrs.capacity,
 *	&ants_attrs.max_blocking, &ants_attrs.queue_depth and
 *	&ants_attrs.min_workers are totals: each shard gets its part, and the
 *	first ones share the remainder. %ANTS_UNLIMITED means no bound for each
 *	shard. If max_blocking is not 0, each shard gets at least 1. The other
 *	fields apply to each shard. If all shards have refused a caller, the one
 *	that has room first calls &ants_attrs.space_available, once
 * @nr_shards: the number of pools; the most is %ANTS_MAX_SHARDS. 0, with
 *	%ANTS_LOCAL: as many as fit the CPUs that are online and that threads may
 *	run on. The CPUs of a shard share a last-level cache and a node and are at
 *	most 8; those of a core are in one shard, and the CPUs of a cache are divided
 *	evenly. Where modules cannot learn about caches, the package is taken
 *	instead. There are never more shards than capacity: if need be, neighbours
 *	share one, even across caches
 * @strategy: which of them is the first choice for a task
 * @...: printf format and arguments of the name, as for ants_pool_create();
 *	unique among pools and multis; with a slash and the highest shard's
 *	number after it still shorter than %ANTS_NAME_LEN
 *
 * Context: Process context. May sleep.
 * Return: the multi, or an ERR_PTR: -EINVAL for a number of shards that is too
 * high, above the capacity, or 0 with another strategy than %ANTS_LOCAL, an
 * unknown strategy, attributes or a name out of range or in contradiction,
 * -EEXIST if the name is taken, -ENOMEM, -EINTR if the caller was killed
 * meanwhile.
 */
#define ants_multi_create(attrs, nr_shards, strategy, ...)		\
	__ants_multi_create(THIS_MODULE, attrs, nr_shards, strategy,	\
			    __VA_ARGS__)

/**
 * ants_multi_destroy() - destroy sharded pools
 * @multi: the multi; NULL or an ERR_PTR is ignored
 *
 * Does what ants_pool_destroy() does, for all shards. All are closed before the
 * first one is waited for.
 *
 * Context: Process context. May sleep. No new call may be made meanwhile.
 * Return: 0. -EDEADLK, with a warning: the caller is a task of a shard; the
 * multi stays.
 */
int ants_multi_destroy(struct ants_multi *multi);

/**
 * ants_multi_release() - close all shards
 * @multi: the multi
 *
 * Does what ants_release() does, one shard after another. Until all are closed,
 * a submit may get -ESHUTDOWN, or be accepted by a shard that is still open.
 *
 * Context: Process context. May sleep, for a short time.
 * Return: 0.
 */
int ants_multi_release(struct ants_multi *multi);

/**
 * ants_multi_release_timeout() - close all shards and wait until they are empty
 * @multi: the multi
 * @timeout: the longest time to wait for all of them, in jiffies
 *
 * Does what ants_release_timeout() does. All shards are closed before the first
 * one is waited for. May be called again.
 *
 * Context: Process context. May sleep.
 * Return: 0: the last task has ended and the last thread is gone. -ETIMEDOUT,
 * -EINTR: all are closed, but not all empty. -EDEADLK: the caller is a task of a
 * shard; they stay open.
 */
int ants_multi_release_timeout(struct ants_multi *multi, unsigned long timeout);

/**
 * ants_multi_reboot() - open a released multi again
 * @multi: the multi
 *
 * Context: Process context. May sleep.
 * Return: 0: all shards are open. Or an error, after which all are closed, or
 * as they were; but tasks may have been accepted in between, and those run.
 * -EBUSY: the multi is not released, or a shard is not empty yet, see
 * ants_multi_release_timeout(); or it was released once more meanwhile.
 * -ENOMEM: the threads of a shard cannot be made. -EINTR: the caller is being
 * killed.
 */
int ants_multi_reboot(struct ants_multi *multi);

/**
 * ants_multi_tune() - change the capacity of a multi
 * @multi: the multi; it may be released
 * @capacity: the new total, or %ANTS_UNLIMITED for each shard
 *
 * Divides it anew, as ants_multi_create() did, whatever capacities single
 * shards were given meanwhile. Each shard changes as by ants_tune().
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which each shard has the capacity it had.
 * -EINVAL: below the number of shards, a part below &ants_attrs.min_workers of
 * its shard, a part beyond INT_MAX, or no bound for %ANTS_PREALLOC. -ENOMEM:
 * the threads of such shards cannot be made. -EINTR: the caller is being
 * killed.
 */
int ants_multi_tune(struct ants_multi *multi, unsigned int capacity);

/**
 * ants_multi_set_queue_depth() - change the queue depth of a multi
 * @multi: the multi; it may be released
 * @depth: the new total
 *
 * Divides it anew, as ants_multi_create() did, whatever depths single shards
 * were given meanwhile. Callers that fit now are granted before it returns.
 * After a shrink accepted tasks still run.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which each shard has the depth it had. -EINVAL:
 * @depth is beyond INT_MAX, or beyond what an %ANTS_PREALLOC shard can have
 * beside its capacity. -ENOMEM: the slots of such shards cannot be made.
 * -EINTR: the caller is being killed.
 */
int ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth);

/**
 * ants_multi_set_nice() - change the nice value of the threads of all shards
 * @multi: the multi; it may be released
 * @nice: the new nice value
 *
 * Each shard changes as by ants_set_nice().
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which no shard has changed. -EINVAL: @nice is
 * out of range, or one shard refuses it. -ENOMEM. -EINTR: the caller is being
 * killed.
 */
int ants_multi_set_nice(struct ants_multi *multi, int nice);

/**
 * ants_multi_set_sched() - have the threads of all shards run in real time, or
 * no longer
 * @multi: the multi; it may be released
 * @sched: how they compete for CPUs from now on
 *
 * Each shard changes as by ants_set_sched().
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which no shard has changed. -EINVAL: one shard
 * refuses it. -ENOMEM. -EINTR: the caller is being killed.
 */
int ants_multi_set_sched(struct ants_multi *multi, enum ants_sched sched);

/**
 * ants_multi_set_cpumask() - change the CPUs of the threads of all shards
 * @multi: the multi; it may be released, but may not be %ANTS_LOCAL: the shards
 *	of such a multi get their CPUs when it is created
 * @mask: the CPUs, for each shard; NULL means all CPUs, or those of the node
 *	with %ANTS_ON_NODE. The mask is copied
 *
 * Each shard changes as by ants_set_cpumask().
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which no shard has changed. -EINVAL: none of
 * the CPUs is possible, or the multi is %ANTS_LOCAL. -ENOMEM. -EINTR: the
 * caller is being killed.
 */
int ants_multi_set_cpumask(struct ants_multi *multi,
			   const struct cpumask *mask);

/**
 * ants_multi_choose() - choose the shard that suits a task of the caller best
 * @multi: the multi
 *
 * This is the shard that ants_multi_submit() tries first. Use it for everything
 * that a pool accepts and ants_multi_submit() does not: work items, delayed
 * ones, calls, loops, groups, batches, priorities. The pool ends with the
 * multi. The choice is right for one moment and reserves nothing: a call on a
 * shard that is full waits there or is refused there, and no other shard is
 * tried. With %ANTS_ROUND_ROBIN each call takes the next turn.
 *
 * Context: Any context but NMI.
 * Return: the shard; a closed one if the multi is released.
 */
struct ants_pool *ants_multi_choose(struct ants_multi *multi);

/**
 * ants_multi_submit() - submit a task to one of the shards
 * @multi: the multi
 * @fn: the function to run
 * @data: its argument; any value
 *
 * The strategy chooses the shard. If it is full, each other one is tried; if
 * all are full, the caller waits for room in the first choice, unless that is
 * %ANTS_NONBLOCKING. A task of the multi waits in its own shard. A caller that
 * waits is not moved to a shard that has room earlier. Tasks start in the order
 * in which their shard has accepted them. If all shards have refused a caller
 * with -EAGAIN, the one that has room first calls &ants_attrs.space_available,
 * once.
 *
 * Context: Process context. May sleep.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the multi
 * is released. -EIO: all shards have had too many faults; one that has is
 * passed over. -EAGAIN: the others are full and the first choice is
 * non-blocking. -ENOMEM: it is non-blocking and there is no memory. -EBUSY: as
 * many callers wait in it as its part of &ants_attrs.max_blocking allows.
 * -EDEADLK: the caller is a task of the multi, and so many tasks of its shard
 * wait that none could ever continue. -EINTR: the caller is being killed, or is
 * a kthread that was told to stop.
 */
int ants_multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data);

/**
 * ants_multi_submit_timeout() - submit a task to one of the shards, wait a
 * limited time
 * @multi: the multi
 * @fn: the function to run
 * @data: its argument; any value
 * @timeout: the longest time to wait, in jiffies, whatever the shards' mode; 0
 *	does not wait
 *
 * Context: Process context. May sleep.
 * Return: as ants_multi_submit(), but never -EAGAIN or -ENOMEM, and -EDEADLK
 * only if @timeout is MAX_SCHEDULE_TIMEOUT. -ETIMEDOUT: at first no shard had
 * room, and then the one to wait in had none until the end; the task will not
 * run.
 */
int ants_multi_submit_timeout(struct ants_multi *multi, ants_fn_t fn,
			      void *data, unsigned long timeout);

/**
 * ants_multi_try_submit() - submit a task to one of the shards, never wait
 * @multi: the multi
 * @fn: the function to run
 * @data: its argument; any value
 *
 * Tries each shard.
 *
 * Context: Any context but NMI and below the scheduler's own locks, as
 * ants_try_submit(). Does not enter the slab.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the multi
 * is released. -EIO: all shards have had too many faults. -EAGAIN: the others
 * are full, or callers wait there. -ENOMEM: no shard has both room and a spare
 * slot, and the first choice lacks the slot; more slots are being made.
 */
int ants_multi_try_submit(struct ants_multi *multi, ants_fn_t fn, void *data);

/**
 * ants_multi_flush() - wait for all tasks accepted so far
 * @multi: the multi; it stays open
 *
 * Context: Process context. May sleep.
 * Return: as ants_multi_flush_timeout(), but never -ETIMEDOUT.
 */
int ants_multi_flush(struct ants_multi *multi);

/**
 * ants_multi_flush_timeout() - wait for all tasks accepted so far, a limited
 * time
 * @multi: the multi; it stays open
 * @timeout: the longest time to wait for all shards, in jiffies
 *
 * The shards are flushed one after another, so this may also wait for tasks
 * that the later ones accept meanwhile.
 *
 * Context: Process context. May sleep.
 * Return: 0: they have ended. -ETIMEDOUT, -EINTR: perhaps not. -EDEADLK: the
 * caller is a task of a shard.
 */
int ants_multi_flush_timeout(struct ants_multi *multi, unsigned long timeout);

/**
 * ants_multi_stats() - read the sums of all numbers of the shards
 * @multi: the multi
 * @stats: where to store them
 *
 * The numbers of one shard are of the same moment, those of different shards
 * are not. &ants_stats.capacity and &ants_stats.free are %ANTS_UNLIMITED if one
 * of them is, or if the sum does not fit. The peaks of the shards may be of
 * different moments, so their sum is an upper bound. A submit that all shards
 * refused counts once in &ants_stats.rejected.
 *
 * Context: Any context but NMI.
 */
void ants_multi_stats(const struct ants_multi *multi, struct ants_stats *stats);

/**
 * ants_multi_capacity() - the sum of the capacities of all shards
 * @multi: the multi
 *
 * Context: Any context.
 * Return: the sum; %ANTS_UNLIMITED if the shards have no bound.
 */
unsigned int ants_multi_capacity(const struct ants_multi *multi);

/**
 * ants_multi_is_released() - test whether a multi is closed
 * @multi: the multi
 *
 * Context: Any context.
 * Return: true from the end of ants_multi_release() until ants_multi_reboot().
 */
bool ants_multi_is_released(const struct ants_multi *multi);

/**
 * ants_multi_nr_shards() - number of shards of a multi
 * @multi: the multi
 * Context: Any context.
 * Return: the number; it never changes.
 */
unsigned int ants_multi_nr_shards(const struct ants_multi *multi);

/**
 * ants_multi_shard() - get one shard, in order to look at its numbers
 * @multi: the multi
 * @nr: its number, from 0
 *
 * The pool ends with the multi. It also accepts tasks, and can be tuned; but
 * ants_release(), ants_release_timeout(), ants_reboot() and ants_pool_destroy()
 * return -EPERM. To get a shard for a task use ants_multi_choose().
 *
 * Context: Any context.
 * Return: the pool, or ERR_PTR(-ERANGE): there is no such shard.
 */
struct ants_pool *ants_multi_shard(const struct ants_multi *multi,
				   unsigned int nr);

/* private: what ants_multi_create() calls */

__printf(5, 6)
struct ants_multi *__ants_multi_create(struct module *owner,
				       const struct ants_attrs *attrs,
				       unsigned int nr_shards,
				       enum ants_strategy strategy,
				       const char *fmt, ...);

#endif /* _LINUX_ANTS_MULTI_H */
