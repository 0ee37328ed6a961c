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
#include <linux/workqueue.h>

#include "estate.h"

struct ants_affinity;
struct cgroup_subsys_state;

/**
 * enum ants_worker_state - where a worker is; changed by ants_worker_move() only
 * @ANTS_NEW: its thread has not arrived yet; a new worker begins here
 * @ANTS_IDLE: parked, in pool->workers.idle
 * @ANTS_WAKING: taken off pool->workers.idle for a task; has not taken the lock
 *	since
 * @ANTS_BUSY: runs a task, or looks for one
 * @ANTS_LEAVING: told to leave and has not taken the lock since, or in
 *	worker_exit
 * @ANTS_LEFT: has given its reservation back; to be joined
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
 * struct ants_charge - to whom a task is charged, with references
 * @memory: for memory; NULL for the root
 * @blocks: for block I/O; NULL for the root
 */
struct ants_charge {
	struct cgroup_subsys_state *memory;
	struct cgroup_subsys_state *blocks;
};

/**
 * struct ants_worker - one thread of a pool
 * @node: L: in pool->workers.idle or in pool->workers.left; before the start in
 *	a private list
 * @member: L: in pool->workers.list
 * @pool: I: the pool it belongs to
 * @task: I: its thread, with a reference until it is joined
 * @fn: L: the function of the task that it runs; NULL if it is parked
 * @data: L: the argument of that task
 * @started: L: the clock when it started that task, if pool->timed was set then
 * @told: L: its @started, if that task was reported as one that stalls
 * @func_addr: L: address of the function of a detached work item that it runs,
 *	else 0; the item may be gone
 * @depth: L: number of tasks that run inside its task, one inside the other
 * @estate: I: those tasks, and what else is needed if the thread dies
 * @waits_for: L: the work item of the pool for which its task waits, NULL if
 *	none
 * @local: T: what pool->ops.worker_init returned
 * @idle_since: L: jiffies when it last parked
 * @state: L: see enum ants_worker_state
 * @tag: L: tag of the task that it runs, see struct ants_slot
 * @wake_seq: L: pool->wakes.seq when it was woken, or started, for a task
 * @arriving: L: it was woken or started for a task, and has not taken the lock
 *	since
 * @helps: L: another worker woke it, for tasks that were pending beside its own
 * @expired: L: told to leave because it was idle for too long
 * @dirty: L: a task has left something behind, so it is to be replaced
 * @cpu: L: the CPU, modulo 256, on which it parked last; does not change while it
 *	is in flight
 * @bound: T: its thread was bound to CPUs
 * @preferred: I: the kernel was told the CPUs it prefers, and rebinds it to
 *	those when CPUs come online or are isolated
 * @affinity_seq: L: the change of the affinity that it has applied, or is about
 *	to apply
 * @affinity: T: the affinity that it is about to apply
 * @sched: T: the policy of the pool that it has set, unless a task has set
 *	another one
 * @charge: T: to whom it is charged now
 * @next_charge: T: to whom it is charged once it has dropped the lock, if that
 *	is to change
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
	u64 told;
	unsigned long func_addr;
	struct ants_estate *estate;
	struct ants_work *waits_for;
	void *local;
	unsigned long idle_since;
	bool bound;
	bool preferred;
	bool dirty;
	unsigned int affinity_seq;
	unsigned int depth;
	struct ants_affinity *affinity;
	enum ants_sched sched;
	struct ants_charge charge;
	struct ants_charge next_charge;
};

/* Wake-ups in flight: a worker that arrives checks for the next ones. */
struct ants_wakes {
	/*
	 * L: workers in state ANTS_WAKING, except those that were given up as
	 * late, plus the one of @deferred
	 */
	u16 nr;
	/*
	 * L: the most of them, not counting those that ants_wake_here() adds; at
	 * least 1. Doubled when a worker arrives and the one before it sleeps in
	 * its task while others are pending; one less when that one runs; halved
	 * when a worker comes in vain
	 */
	u16 limit;
	/*
	 * L: a bit for each CPU, modulo 16, on which a worker parked that is in
	 * flight, unless another one of them has arrived since
	 */
	u16 waking_cpus;
	/*
	 * L: jiffies when the first worker that is in flight was woken or
	 * started, or when one of them arrived while no more than @limit were in
	 * flight; they are late together if that is too long ago
	 */
	unsigned long since;
	/*
	 * L: jiffies when the wake-ups in flight become late, if no more are
	 * allowed: until then no other is needed. Otherwise 0
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
	 * L: number of wake-ups by workers that were in vain in a row, up to
	 * ANTS_VAIN_MAX: then the next ones are deferred
	 */
	u8 nr_vain;
	/* L: number of wake-ups deferred since one was tried */
	u8 nr_deferred;
	/* L: the CPU, modulo 256, on which a caller sent the last one */
	u8 cpu;
};

/**
 * struct ants_maker - makes one thread after the other
 * @work: runs as long as threads are wanted
 * @pool: I
 * @queued: L: @work is queued or runs
 */
struct ants_maker {
	struct work_struct work;
	struct ants_pool *pool;
	bool queued;
};

#endif /* _ANTS_WORKER_H */
