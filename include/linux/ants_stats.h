/* SPDX-License-Identifier: GPL-2.0-only */
/* ants: the numbers of a pool. Part of <linux/ants.h>. */
#ifndef _LINUX_ANTS_STATS_H
#define _LINUX_ANTS_STATS_H

#include <linux/types.h>

struct ants_pool;

/*
 * A new number is also in ants_multi_stats() (or that of a multi is 0), in the table of
 * kernel/files.c, Documentation/ABI and admin-guide.rst, in tools/antstat,
 * test/antstat/tree.py and tools/syzkaller.
 */

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
 * @completed: tasks that have ended, except for those in @lost
 * @cancelled: accepted tasks that were cancelled before they started
 * @caller_runs: tasks that their submitters ran themselves, not in @submitted
 * @rejected: submits that the pool refused, except for a bad argument
 * @blocked: submits that had to wait, whatever their result
 * @spawned: threads made
 * @reaped: threads that exited because they were idle for too long
 * @spurious_wakeups: threads that were woken, or made, for a task and found that
 *	others had taken it
 * @stalled: tasks that were reported because they ran for too long
 * @held_back: number of times that a thread was not made because all pools
 *	together had as many as the module parameter max_threads allows
 * @faults: threads that have died: their task has oopsed, or ended the thread
 * @lost: tasks that have ended with the thread in which they ran
 * @dirty: tasks that have returned with something begun and not ended, which was
 *	undone; but for the last one of some pools, their threads were replaced
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
	u64 spurious_wakeups;
	u64 stalled;
	u64 held_back;
	u64 faults;
	u64 lost;
	u64 dirty;
};

/*
 * Numbers. Each is true for one moment; ants_pool_stats() reads all at the same
 * one. The functions that read a single word may be called in NMI: all except
 * ants_pool_stats(), ants_nr_free() and ants_congested().
 */

/**
 * ants_nr_running() - number of threads of a pool, whatever they do
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_running(const struct ants_pool *pool);

/**
 * ants_nr_idle() - number of threads that wait for a task
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_idle(const struct ants_pool *pool);

/**
 * ants_nr_busy() - number of tasks that run
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_busy(const struct ants_pool *pool);

/**
 * ants_nr_pending() - number of tasks that are accepted and not started
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_pending(const struct ants_pool *pool);

/**
 * ants_nr_waiting() - number of callers that wait because the pool is full
 * @pool: the pool
 * Context: Any context.
 * Return: the number.
 */
unsigned int ants_nr_waiting(const struct ants_pool *pool);

/**
 * ants_nr_free() - number of tasks that a pool would accept at once
 * @pool: the pool
 * Context: Any context but NMI: takes the lock of the pool.
 * Return: the number; 0 if the pool is released or has had too many faults, or
 * if callers or due work items wait; otherwise %ANTS_UNLIMITED if it has no bound.
 */
unsigned int ants_nr_free(const struct ants_pool *pool);

/**
 * ants_capacity() - the most threads, and tasks in flight, of a pool
 * @pool: the pool
 * Context: Any context.
 * Return: the capacity; %ANTS_UNLIMITED if the pool has no bound.
 */
unsigned int ants_capacity(const struct ants_pool *pool);

/**
 * ants_is_released() - test whether a pool is closed
 * @pool: the pool
 * Context: Any context.
 * Return: true from ants_release() until ants_reboot().
 */
bool ants_is_released(const struct ants_pool *pool);

/**
 * ants_congested() - test whether a pool would refuse a caller that does not
 * wait
 * @pool: the pool
 * Context: Any context but NMI: takes the lock of the pool.
 * Return: true if it is full, or callers or due work items wait, or it is
 * released or has had too many faults.
 */
bool ants_congested(const struct ants_pool *pool);

/**
 * ants_pool_stats() - read all numbers of a pool at one moment
 * @pool: the pool
 * @stats: where to store them
 *
 * Context: Any context but NMI: takes the lock of the pool.
 */
void ants_pool_stats(const struct ants_pool *pool, struct ants_stats *stats);

#endif /* _LINUX_ANTS_STATS_H */
