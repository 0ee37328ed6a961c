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
 *	-EIO		the pool has had too many faults, and is not released
 *	-EFAULT		the function has oopsed or has ended its thread
 *	-EAGAIN		the task would have to wait, and the pool or the call
 *			does not wait
 *	-EBUSY		no more callers may wait; or what the call is to change
 *			is in use
 *	-ETIMEDOUT	the timeout has expired
 *	-EINTR		a fatal signal, or the calling kthread was told to stop
 *	-EDEADLK	the wait could never end
 *	-EINVAL		an argument is out of range; or the system pool, which
 *			no caller can flush or drain
 *	-EEXIST		the name is taken
 *	-EPERM		not allowed on the system pool, or on one shard of a
 *			multi
 *	-ENOMEM		no memory, or a thread cannot be made
 *	-EALREADY	the work item is already in a pool or in the group
 *	-ECANCELED	the work item is or was cancelled
 *	-EINPROGRESS	the function runs, and the caller did not wait for it
 *	-ERANGE		there is no such shard
 *
 * An error from a submit means that the task is not accepted and will not run.
 * Success means that the task runs exactly once, unless the result of its work
 * item says otherwise: the item was cancelled (-ECANCELED); or the pool was
 * released before a delayed item was due (-ESHUTDOWN); or the pool has had too
 * many faults (-EIO).
 *
 * A timeout is in jiffies; with MAX_SCHEDULE_TIMEOUT a wait has no limit. A
 * wait ends early with -EINTR on a fatal signal, and when the calling kthread
 * is told to stop; a wait for another change of the pool ends early on a fatal
 * signal only. Who waits for room, and for how long, is in debugfs.
 */
#ifndef _LINUX_ANTS_H
#define _LINUX_ANTS_H

#include <linux/ants_group.h>
#include <linux/ants_multi.h>
#include <linux/ants_pool.h>
#include <linux/ants_stats.h>
#include <linux/ants_submit.h>
#include <linux/ants_work.h>

#endif /* _LINUX_ANTS_H */
