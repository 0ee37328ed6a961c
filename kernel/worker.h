/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a worker consists of, and what pools have for theirs. The letters in front of
 * the fields are explained in pool.h.
 */
#ifndef _ANTS_WORKER_H
#define _ANTS_WORKER_H

#include <linux/ants.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

struct ants_place;
struct ants_frame;

/**
 * enum ants_worker_state - where a worker is; changed under pool->lock only
 * @ANTS_NEW: its place is taken, its thread has not arrived yet
 * @ANTS_IDLE: parked, in pool->idle
 * @ANTS_WAKING: taken off pool->idle for a task, has not had the lock since
 * @ANTS_BUSY: runs a task, or looks for one
 * @ANTS_LEAVING: told to leave, has not had the lock since; or in worker_exit
 * @ANTS_LEFT: gave its place back, to be joined
 */
enum ants_worker_state {
	ANTS_NEW,
	ANTS_IDLE,
	ANTS_WAKING,
	ANTS_BUSY,
	ANTS_LEAVING,
	ANTS_LEFT,
};

/**
 * struct ants_worker - one thread of a pool
 * @node: L: in pool->idle, or in pool->left; before the start in a private list.
 *	That of pool->stand_in is in stand_in.c's list of those at work
 * @member: L: in pool->workers
 * @pool: I: whose it is
 * @task: I: its thread, with a reference until it is joined
 * @fn: L: the task that it runs, NULL if it is parked
 * @data: L: and with what
 * @text: L: address of the function that a work item is for, else 0; the item
 *	may be gone
 * @frame: L: the innermost of the tasks that run inside the one that it runs, NULL
 *	if there is none
 * @waits_for: L: the work item of the pool that the task waits for, NULL if none
 * @local: T: what pool->worker_init returned
 * @idle_since: L: jiffies when it parked last
 * @state: L: see enum ants_worker_state
 * @tag: L: flush epoch of the task that it runs, and ANTS_TAG_WORK
 * @wake_seq: L: pool->wake_seq when it was woken, or started, for a task
 * @coming: L: it was, and has not had the lock since
 * @helps: L: another worker woke it, for the tasks that were pending beside its own
 * @expired: L: told to leave because it was idle for too long
 * @bound: T: its thread was given CPUs
 * @preferred: I: the kernel was told which ones, and rebinds it to those when CPUs
 *	come or are isolated
 * @placed: L: the pool's @placement that it has taken up, or is about to
 * @place: T: what it is about to take up
 * @switches: T: how often its thread had been preempted when it parked last
 * @batch: T: it runs under SCHED_BATCH, as far as it was told to
 */
struct ants_worker {
	struct list_head node;
	struct list_head member;
	struct ants_pool *pool;
	struct task_struct *task;
	ants_fn_t fn;
	void *data;
	unsigned long text;
	struct ants_frame *frame;
	struct ants_work *waits_for;
	void *local;
	unsigned long idle_since;
	enum ants_worker_state state;
	unsigned int tag;
	unsigned int wake_seq;
	bool coming;
	bool helps;
	bool expired;
	bool bound;
	bool preferred;
	unsigned int placed;
	struct ants_place *place;
	unsigned long switches;
	bool batch;
};

/**
 * struct ants_maker - makes one thread after the other
 * @work: for as long as threads are wanted
 * @pool: I
 * @queued: L: @work is queued or runs
 */
struct ants_maker {
	struct work_struct work;
	struct ants_pool *pool;
	bool queued;
};

/**
 * struct ants_policy - the workers' scheduling policy, and what it follows from
 * @tick: L: jiffies when the window began in which it is judged
 * @submitted: L: pool->submitted then
 * @parks: L: how often a worker has parked since
 * @preempted: L: how often workers, and submitters that wake them, were preempted
 * @limit: L: how often is too often
 * @normal: L: tasks for each time that a worker parked before SCHED_BATCH was tried,
 *	in sixteenths
 * @waker: L: the task that woke a worker last; it may be gone
 * @switches: L: how often it had been preempted by then
 * @batch: L: the workers shall run under SCHED_BATCH. They read it without the lock:
 *	a new value waits for the next time.
 */
struct ants_policy {
	unsigned long tick;
	u64 submitted;
	unsigned int parks;
	unsigned int preempted;
	unsigned int limit;
	u64 normal;
	const struct task_struct *waker;
	unsigned long switches;
	bool batch;
};

#endif /* _ANTS_WORKER_H */
