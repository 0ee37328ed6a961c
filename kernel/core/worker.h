/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a worker consists of, and what a pool has for its workers. The letters
 * in front of the fields are explained in pool.h.
 */
#ifndef _ANTS_WORKER_H
#define _ANTS_WORKER_H

#include <linux/ants.h>
#include <linux/list.h>
#include <linux/sched.h>
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
 * @ANTS_UNTIL_MEMBER: a member of the group has ended
 * @ANTS_UNTIL_ALL: the group has ended
 *
 * The end of a run takes one off NEXT and RUN: what is 0 then is over.
 */
enum ants_until {
	ANTS_UNTIL_END,
	ANTS_UNTIL_RUN,
	ANTS_UNTIL_NEXT,
	ANTS_UNTIL_MEMBER,
	ANTS_UNTIL_ALL,
};

/**
 * struct ants_work_waiter - a caller that waits for a work item, or a group
 * @node: L: in a ring of callers that wait for the same event, one of which is
 *	the leader
 * @link: L: of the leader: in the waiters of the item or the group, or in
 *	pool->unnotified; unhashed for all others. So the end of an item takes one step for each
 *	ring, however many callers wait. One that joins is in no other's ring
 * @task: I: the caller
 * @group: I: the group, or NULL; no longer there when @done is set
 * @work: L: without one the work item, which another thread may look at while @done is
 *	not set if the caller joins; of one that waits for the next finished item of a
 *	group: that item
 * @until: L: the event, the same for all in the ring
 * @result: L: the result of the work item; the first error of the group
 * @joins: I: the caller is a task of the same pool, and runs the item itself if no
 *	other thread has started it. At most ANTS_JOINERS of an item
 * @offered: L: set since that caller has last looked for something to run, which there
 *	may be now
 * @done: L: stored with release as the last access by another thread; pairs
 *	with the acquire in ants_work_sleep(). Afterwards the caller touches only
 *	its own stack. Also set when the caller has given up
 */
struct ants_work_waiter {
	struct list_head node;
	struct hlist_node link;
	struct task_struct *task;
	struct ants_group *group;
	struct ants_work *work;
	enum ants_until until;
	int result;
	bool joins;
	bool offered;
	bool done;
};

/**
 * struct ants_inner - a task that waits, and a task that runs inside of it
 * @waiter: L: the wait of the outer task for an item or a group of its own pool; its
 *	@task is NULL before the first one
 * @epoch: L: of the inner task, a work item: the flush epoch of this run
 * @work: L: the item, NULL for a call
 * @func_addr: L: address of the function of the inner task
 * @release: L: of a call: what takes @data when it has ended, or NULL
 * @data: L: the argument of @release
 */
struct ants_inner {
	struct ants_work_waiter waiter;
	unsigned int epoch;
	struct ants_work *work;
	unsigned long func_addr;
	ants_fn_t release;
	void *data;
};

/**
 * enum ants_worker_state - where a worker is; changed by ants_worker_move() only
 * @ANTS_NEW: its thread has not arrived yet; a new worker begins here
 * @ANTS_IDLE: parked, in pool->workers.idle
 * @ANTS_WAKING: taken off pool->workers.idle for a task; has not taken the lock
 *	since
 * @ANTS_BUSY: runs a task, or looks for one
 * @ANTS_LEAVING: told to leave and has not taken the lock since, or in
 *	worker_exit
 * @ANTS_LEFT: has given its reservation back; its thread ends
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
 * @node: L: in pool->workers.idle; before the start in a private list
 * @member: L: in pool->workers.list
 * @pool: I: the pool it belongs to
 * @task: I: its thread, with a reference until that ends
 * @fn: L: the function of the task that it runs; NULL if it is parked
 * @data: L: the argument of that task
 * @started: L: the clock when it started that task, if the task is timed, else 0
 * @reported: L: its @started, if that task was reported as one that stalls
 * @func_addr: L: address of the function of a detached work item that it runs,
 *	else 0; the item may be gone
 * @depth: L: number of tasks that run inside its task, one inside the other
 * @local: T: what pool->ops.worker_init returned
 * @idle_since: L: jiffies when it last parked
 * @state: L: see enum ants_worker_state
 * @tag: L: tag of the task that it runs, see struct ants_slot
 * @wake_seq: L: pool->wakes.seq when it was woken, or started, for a task
 * @arriving: L: it was woken or started for a task, and has not taken the lock
 *	since
 * @helps: L: another worker woke it, for tasks that were pending beside its own
 * @expired: L: told to leave because it was idle for too long
 * @replace: L: it leaves before its next task: a task of it has left something behind.
 *	Until then its affinity counts as stale
 * @cpu: L: the CPU, modulo 256, on which it parked last; does not change while it
 *	is in flight
 * @bound: T: its thread was bound to CPUs
 * @preferred: I: the kernel was told the CPUs it prefers, and rebinds it to
 *	those when CPUs come online or are isolated
 * @affinity_seq: L: the change of the affinity that it has applied, or is about
 *	to apply
 * @sched: T: the policy of the pool that it has set, unless a task has set
 *	another one
 * @exit: in the wait queue of @pid
 * @pid: T: that of the thread, with a reference; NULL until the thread has begun
 * @cleanup: from when the thread runs: removes the worker from the pool
 *	if the thread has died
 * @loops: T: the loops that its tasks have begun and take part in, the innermost
 *	first
 * @inner: the tasks that run inside its task: [0] has the wait of that task and
 *	the task that runs inside it meanwhile, [1] the wait of the latter and
 *	what runs inside that one, and so on. In the last one nobody waits
 */
struct ants_worker {
	/* What each task and each wake-up needs is in the first cache line. */
	struct list_head node;
	struct ants_pool *pool;
	struct task_struct *task;
	ants_fn_t fn;
	void *data;
	enum ants_worker_state state;
	unsigned int tag;
	unsigned int wake_seq;
	bool arriving;
	bool helps;
	bool expired;
	u8 cpu;

	struct list_head member;
	u64 started;
	u64 reported;
	unsigned long func_addr;
	void *local;
	unsigned long idle_since;
	bool bound;
	bool preferred;
	bool replace;
	unsigned int affinity_seq;
	unsigned int depth;
	enum ants_sched sched;

	/*
	 * What it leaves behind if its thread dies inside a function of a client. None
	 * of this is on the stack of that thread: the kernel writes over a stack whose
	 * thread has died, and frees it.
	 */
	struct wait_queue_entry exit;
	struct pid *pid;
	struct work_struct cleanup;
	struct ants_loop *loops;
	struct ants_inner inner[ANTS_JOIN_DEPTH + 1];
};

/* The record for a wait of the innermost task of @w, and for what runs inside that. */
static inline struct ants_inner *ants_inner_of(struct ants_worker *w)
{
	return &w->inner[w->depth];
}

/* Wake-ups in flight: a worker that arrives checks for the next ones. */
struct ants_wakes {
	/*
	 * L: workers in state ANTS_WAKING, except those that were given up as
	 * late, plus the one of @deferred: at most 1, and those that
	 * ants_wake_for_submitter() adds for other CPUs
	 */
	u16 nr;
	/*
	 * L: a bit for each CPU, modulo 16, on which a worker parked that is in
	 * flight, unless another one of them has arrived since
	 */
	u16 waking_cpus;
	/* L: the CPU on which a caller sent the last one */
	u16 cpu;
	/*
	 * L: jiffies when the first worker that is in flight was woken or
	 * started, or when one of them arrived while no more than one was woken;
	 * they are late together if that is too long ago
	 */
	unsigned long since;
	/*
	 * L: jiffies when the wake-ups in flight become late: until then no other
	 * is needed. 0 if there are none
	 */
	unsigned long late;
	/* L: the worker in flight that arrived last; NULL if it has left */
	struct ants_worker *arrived;
	/* L: number of times that wake-ups in flight were given up */
	unsigned int seq;
	/*
	 * L: a wake-up is deferred, and counts in @nr: the worker that runs will
	 * probably have taken the pending tasks before another one could. It
	 * becomes late like any other
	 */
	bool deferred;
	/*
	 * L: number of wake-ups by workers that were spurious, in a row, up to
	 * ANTS_SPURIOUS_MAX: then the next ones are deferred
	 */
	u8 nr_spurious;
	/* L: number of wake-ups deferred since one was tried */
	u8 nr_deferred;
};

#endif /* _ANTS_WORKER_H */
