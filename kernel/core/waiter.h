/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A submitter that waits. The letters in front of the fields are explained in
 * pool.h.
 */
#ifndef _ANTS_WAITER_H
#define _ANTS_WAITER_H

#include <linux/ants.h>
#include <linux/list.h>
#include <linux/sched.h>

/* The result of a waiter while it waits. */
#define ANTS_STILL_WAITING	1

/**
 * struct ants_waiter - a submitter that waits, on its own stack
 * @node: L: in a FIFO of pool->waiters.fifo
 * @task: I: the submitter
 * @slot: L: taken out of the stock in advance, so that it can be granted at any
 *	time; NULL if there was none
 * @fn: I: the function of its task
 * @data: I: the argument of that function
 * @work: I: the work item that it wants to submit instead, which brings its own
 *	slot; NULL if none
 * @since: I: jiffies when it was enqueued
 * @stamp: I: the clock at that time if pool->timed was set, else 0
 * @prio: I: the priority of its task
 * @sleep: I: the state that it sleeps in
 * @spun: L: it spins before it sleeps
 * @spins: it has not stopped spinning; set to false by the submitter, which does
 *	not hold the lock
 * @nested: L: in pool->waiters.nested if it is an untimed wait inside a task of the
 *	same pool, else empty
 * @result: L: ANTS_STILL_WAITING, then 0 or -errno. Stored with release as the
 *	last access to the waiter by another thread; pairs with the acquire in
 *	ants_wait(). Afterwards the waiter touches only its own stack: the pool
 *	may be gone
 */
struct ants_waiter {
	struct list_head node;
	struct task_struct *task;
	struct ants_slot *slot;
	ants_fn_t fn;
	void *data;
	struct ants_work *work;
	unsigned long since;
	unsigned int stamp;
	enum ants_prio prio;
	unsigned int sleep;
	bool spun;
	bool spins;
	struct list_head nested;
	int result;
};

#endif /* _ANTS_WAITER_H */
