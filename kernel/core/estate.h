/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a worker leaves behind if its thread dies inside a function of a client.
 * None of this is on the stack of that thread: the kernel writes over a stack
 * whose thread has died, and frees it. The letters in front of the fields are
 * explained in pool.h.
 */
#ifndef _ANTS_ESTATE_H
#define _ANTS_ESTATE_H

#include <linux/ants.h>
#include <linux/list.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct ants_loop;
struct ants_worker;
struct pid;
struct task_struct;

/* The most work items that a thread runs inside one another. */
#define ANTS_JOIN_DEPTH		8

/**
 * enum ants_until - what a caller waits for
 * @ANTS_UNTIL_END: the work item is in no pool
 * @ANTS_UNTIL_RUN: the run in progress has ended, or the one that starts next
 * @ANTS_UNTIL_NEXT: the run after that one has ended
 */
enum ants_until {
	ANTS_UNTIL_END,
	ANTS_UNTIL_RUN,
	ANTS_UNTIL_NEXT,
};

/**
 * struct ants_work_waiter - a caller that waits for a work item, or a group
 * @node: L: in a ring of callers that wait for the same event, one of which is
 *	the leader; or in the group's list of waiters
 * @link: L: of the leader: in &ants_work.waiters, or in pool->unnotified;
 *	unhashed for all others. So the end of an item takes one step for each
 *	ring, however many callers wait
 * @task: I: the caller
 * @worker: I: of one that joins an item: the worker that runs the caller, whose
 *	@waits_for is the item
 * @work: L: the next finished item of the group
 * @until: L: the event, the same for all in the ring
 * @result: L: the result of the work item; the first error of the group
 * @joins: I: the same for all in the ring: the caller is a task of the same
 *	pool, and runs the item itself if no other thread has started it. At
 *	most ANTS_JOINERS
 * @ended: L: of one that joins: the item may be gone, and @done is about to be
 *	set
 * @all: I: the caller waits for the whole group
 * @done: L: stored with release as the last access by another thread; pairs
 *	with the acquire in ants_wait_done(). Afterwards the caller touches only
 *	its own stack
 */
struct ants_work_waiter {
	struct list_head node;
	struct hlist_node link;
	struct task_struct *task;
	struct ants_worker *worker;
	struct ants_work *work;
	enum ants_until until;
	int result;
	bool joins;
	bool ended;
	bool all;
	bool done;
};

/**
 * struct ants_inner - a task that waits, and a task that runs inside of it
 * @waiter: L: the wait of the outer task for an item or a group of its own pool
 * @waits: T: the outer task waits like that
 * @counted: T: it is counted in as a caller while it waits
 * @epoch: L: of the inner task, a work item: the flush epoch of this run
 * @work: L: the item, NULL for a call
 * @func_addr: L: address of the function of the inner task
 * @release: L: of a call: what takes @data when it has ended, or NULL
 * @data: L: the argument of @release
 */
struct ants_inner {
	struct ants_work_waiter waiter;
	bool waits;
	bool counted;
	unsigned int epoch;
	struct ants_work *work;
	unsigned long func_addr;
	ants_fn_t release;
	void *data;
};

/**
 * struct ants_estate - what one worker leaves behind
 * @w: I: the worker
 * @exit: in the wait queue of @pid
 * @pid: T: that of the thread, with a reference; NULL until the thread has begun
 * @burial: removes the worker from the pool when its thread has died
 * @loops: T: the loops that its tasks have begun and take part in, the innermost
 *	first
 * @inner: the tasks that run inside its task: [0] has the wait of that task and
 *	the task that runs inside it meanwhile, [1] the wait of the latter and
 *	what runs inside that one, and so on
 */
struct ants_estate {
	struct ants_worker *w;
	struct wait_queue_entry exit;
	struct pid *pid;
	struct work_struct burial;
	struct ants_loop *loops;
	struct ants_inner inner[ANTS_JOIN_DEPTH];
};

#endif /* _ANTS_ESTATE_H */
