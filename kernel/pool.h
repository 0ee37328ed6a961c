/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a pool consists of.
 *
 * Lock legend, the letter in front of each field:
 *
 * I: set before the object is published, read-only after
 * O: a hint, read and written without a lock
 * L: pool->lock. A raw spinlock, taken with interrupts off. Nothing sleeps,
 *    allocates, wakes or calls back under it, and no hold touches more than
 *    ANTS_HOLD_MAX list entries. The one exception: the match function of
 * ants_cancel_pending() is called under it, at most ANTS_HOLD_MAX times a hold.
 * C: pool->config and pool->lock to write, either to read R: ants_registry_lock
 * M: multi->config T: only the thread that owns the object
 *
 * Some fields are also read without their lock, as a hint or before they are
 * read again under it. Numbers that every task changes are read by ants_peek();
 * other fields, which are stored by WRITE_ONCE(), are read by READ_ONCE().
 *
 * Order: ants_registry_lock and pool->config are never held together;
 * multi->config is taken before the pool->config of one or all shards;
 * pool->cancel is taken before no other mutex; pool->lock is innermost, except
 * for the lock of the timer base and those of the buckets in caller.c and
 * debug.c.
 */
#ifndef _ANTS_POOL_H
#define _ANTS_POOL_H

#include <linux/ants.h>
#include <linux/cpumask.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "waiter.h"
#include "worker.h"

/* The most list entries, grants or wake-ups in one hold of a pool's lock. */
#define ANTS_HOLD_MAX		16
/*
 * How often in a row the ones that go first may do so while others wait: tasks
 * of high priority, callers with such a task, and due work items before
 * callers.
 */
#define ANTS_HIGH_RUN		8
/* Default number of slots in stock for callers that may not allocate. */
#define ANTS_SPARE_SLOTS	16
/* Slots are allocated in batches of this size: they and one word fill 2 KiB. */
#define ANTS_SLOT_BATCH		51
/*
 * A stock keeps at most so many slots, or the spare slots if those are more, and a
 * batch.
 */
#define ANTS_STOCK_MAX		1024U
/*
 * Wake-ups are late after this many ticks without an arrival: more than one
 * full tick.
 */
#define ANTS_LATE_TICKS		2
/* Makers of a pool: its work items that make threads. */
#define ANTS_MAKERS		7
/* The most wake-ups in flight. */
#define ANTS_WAKE_MAX		16U
/* After this many wake-ups in vain the next ones are deferred. */
#define ANTS_VAIN_MAX		8U
/* The most wake-ups deferred in a row before one is tried. */
#define ANTS_DEFERRED_MAX		31U
/* A wait is logged after this many jiffies. */
#define ANTS_LONG_WAIT		(120 * HZ)
/* Bounds of the pause after a thread could not be made, in jiffies. */
#define ANTS_BACKOFF_MIN	max(HZ / 100, 1)
#define ANTS_BACKOFF_MAX	HZ
/*
 * The largest finite capacity and queue_depth: their sum fits in an unsigned
 * int.
 */
#define ANTS_BOUND_MAX		INT_MAX
/* The longest and the default time that a thread may stay idle, in jiffies. */
#define ANTS_EXPIRY_MAX		msecs_to_jiffies(INT_MAX)
#define ANTS_EXPIRY		HZ

#define ANTS_ALL_FLAGS		(ANTS_NONBLOCKING | ANTS_PREALLOC |	\
				 ANTS_NO_PURGE | ANTS_THROUGHPUT |	\
				 ANTS_MEM_RECLAIM | ANTS_ON_NODE |	\
				 ANTS_FREEZABLE | ANTS_CALLER_RUNS |	\
				 ANTS_FIXED)

struct ants_affinity;

/*
 * struct ants_slot is defined in ants_work.h, because a work item contains one.
 * A slot is a task that is accepted and not started, or it is free:
 *
 * node: L: in pool->pending or pool->urgent
 * next: L: in pool->stock
 * fn, data: L: the function and its argument; ants_work_run() for a work item
 * tag: L: index of the flush epoch in which the task was accepted, and
 *	ANTS_TAG_*: for most tasks nothing but the epoch, and so below 2
 */
#define ANTS_TAG_EPOCH		1U
#define ANTS_TAG_WORK		2U
#define ANTS_TAG_HIGH		4U
/*
 * In the tag of a worker: it runs a work item that it may not touch any more.
 */
#define ANTS_TAG_DETACHED	8U

/**
 * struct ants_pool - a pool
 * @lock: guards everything that decisions depend on
 * @admit_limit: L: while fewer tasks are busy or pending, one more is accepted
 *	at once: 0 while the pool is released or callers wait, else @limit less
 *	@nr_joined
 * @stay_limit: L: while no more workers exist, each of them may stay without a
 *	closer look: @capacity, or 0 while @nr_stale
 * @nr_busy: L: tasks that run
 * @nr_again: L: work items that run and are queued again
 * @nr_joined: L: work items that run inside tasks that wait for them; they are
 *	not in @nr_busy, and count as tasks in flight
 * @nr_joining: L: tasks that sleep without a time limit until a work item or a
 *	group of the pool has ended
 * @unnotified: L: rings of callers that wait for a work item that has ended,
 *	and that are not all notified yet
 * @nr_pending: L: length of @pending
 * @nr_stock: L: length of @stock
 * @epoch: L: index into @in_epoch for tasks that are accepted now
 * @pick_needed: L: not 0 if the next pending task may not be the oldest one.
 *	Covers the next three:
 * @nr_high: L: length of @urgent
 * @scanning: L: unload.c scans the pool
 * @cancel_scan: L: cancel.c scans the pending tasks; its cursor is @cancel_at
 * @nr_waking: L: wake-ups in flight: workers in state ANTS_WAKING, except those
 *	that were given up as late, plus the one of @wake_deferred. A worker
 *	that arrives checks for the next ones
 * @wake_limit: L: the most wake-ups in flight, at least 1. Doubled when a
 *	worker arrives and the one before it sleeps in its task while others are
 *	pending; one less when that one runs; halved when a worker comes in vain
 * @nr_starting: L: workers in state ANTS_NEW that were started for a task,
 *	except those that were given up as late. They count against @wake_limit
 *	when another thread is wanted, but do not keep idle workers from being
 *	woken
 * @waking_since: L: jiffies when the first of both was woken or started, or
 *	when one of them arrived; they are late together if that is too long ago
 * @wake_late: L: jiffies when the wake-ups in flight become late, if they are
 *	as many as allowed: until then no other is needed. Else 0
 * @pending: L: FIFO of accepted tasks
 * @urgent: L: FIFO of accepted tasks of high priority, which go first
 * @high_run: L: number of those started in a row while others were pending
 * @delayed: L: work items whose timer is armed, or whose timer function is
 *	about to run
 * @nr_delayed: L: work items in @delayed and @due
 * @stock: L: LIFO of free slots
 * @idle: L: LIFO of parked workers; the one parked longest is at the tail
 * @nr_idle: L: length of @idle
 * @nr_new: L: workers in state ANTS_NEW
 * @nr_late: L: those of them that were given up as late
 * @wake_seq: L: number of times that wake-ups in flight were given up
 * @arrived: L: the worker in flight that arrived last; NULL if it has left
 * @wake_deferred: L: a wake-up is deferred, and counts in @nr_waking: the
 *	worker that runs will probably have taken the pending tasks before
 *	another one could. It becomes late like any other
 * @nr_vain: L: number of wake-ups by workers that were in vain in a row, up to
 *	ANTS_VAIN_MAX: then the next ones are deferred
 * @nr_deferred: L: number of wake-ups deferred since one was tried
 * @nr_workers: L: reserved workers, leaving ones included
 * @nr_leaving: L: workers in state ANTS_LEAVING
 * @nr_making: L: reserved workers whose thread is not made yet
 * @in_epoch: L: tasks of each epoch that have not ended
 * @nr_callers: L: callers that have dropped the lock and will come back;
 *	destroy waits for them
 * @nr_emptied: L: number of times that the last task ended while @nr_callers
 *	was not 0
 * @submitted: L: see struct ants_stats, as the following ones
 * @spawned: L
 * @reaped: L
 * @blocked: L
 * @rejected: L
 * @cancelled: L
 * @caller_runs: L
 * @peak_busy: L
 * @peak_pending: L
 * @peak_waiting: L
 * @peak_running: L
 * @capacity: C: the most workers
 * @limit: C: @capacity plus @queue_depth, saturated
 * @grant_below: C: with fewer tasks in flight waiters are granted while tasks
 *	are pending
 * @queue_depth: C
 * @max_blocking: C
 * @min_workers: C: as configured
 * @floor: C: number of workers that are never reaped; %ANTS_PREALLOC: all
 * @expiry: C: how long a worker may be idle, in jiffies
 * @expiry_ms: C: the same in milliseconds; as written, if in sysfs
 * @flags: C: bits of enum ants_flags
 * @spare_slots: I: slots that stay in @stock for callers that may not allocate
 * @stock_max: C: the most slots in @stock: those that it is to keep, and a
 *	batch
 * @waiters: L: submitters that wait, by priority
 * @high_grants: L: waiters of high priority granted in a row while others
 *	waited
 * @due_grants: L: due work items granted in a row while callers waited
 * @space_wanted: L: not 0 if a caller or a work item waits for room. Covers
 *	the next four:
 * @nr_waiting: L: length of both lists
 * @has_due: L: a list of @due is not empty
 * @congested: L: a caller was refused; @space_available is to be called
 * @congested_all: L: a caller was refused by all shards of the multi
 * @nested: L: FIFO of those waiters that are inside tasks of the same pool
 * @nr_nested: L: length of @nested
 * @high_due_grants: L: those of high priority granted in a row while others
 *	waited
 * @due: L: FIFOs of work items whose time has come while there was no room, by
 *	priority
 * @workers: L: every worker that was started and has not left
 * @left: L: workers that have left and are not joined yet
 * @scan_mod: L: the module whose tasks unload.c scans for, else NULL
 * @scan_hit: L: address of a function of @scan_mod that was accepted meanwhile
 * @scan_at: L: cursor of unload.c: the first entry that it has not seen of the
 *	list that it scans; NULL if it scans none
 * @cancel_at: L: cursor of cancel.c: the first entry that it has not seen,
 *	while @cancel_scan
 * @cancel: serialises the callers of cancel.c
 * @timer: serves the reaper, late wake-ups, back-off and the log of long waits.
 *	It does not retire workers itself
 * @timer_by: L: the last jiffy for which @timer can be armed such that it fires
 *	no earlier than it will now; it is late if it was armed long before
 * @timer_waking: L: @timer is armed for wake-ups in flight only, and for what
 *	can be told from the rest of the pool
 * @timer_back: L: jiffies when it was last taken back because they had arrived
 * @upkeep: starts makers, retires threads, fills the stock, see upkeep.c
 * @nr_makers: L: number of @makers that are queued or run
 * @upkeep_queued: L: @upkeep is queued or runs, and will check once more before
 *	it ends
 * @join_queued: L: the same for @joiner
 * @stand_in_queued: L: @stand_in_work is queued or runs, and will wake @waitq
 * @stock_wanted: L: a caller that may not allocate has found the stock low, or
 *	the last worker has left
 * @waitq_wanted: L: a caller that may not wake @waitq has found that it should
 *	be woken
 * @released: L: the pool is closed
 * @nr_releasing: L: callers that have closed the pool and are still failing
 *	waiters and the like; destroy waits for them
 * @release_seq: L: number of times it was closed
 * @generation: L: number of times it was opened again
 * @dying: L: the pool is being destroyed, and is not opened again
 * @flushing: L: a flush waits for its epoch
 * @backoff: L: the pause after the last failure to make a thread, in jiffies; 0
 *	if the last try has succeeded
 * @backoff_until: L: no thread is made before
 * @joiner: joins threads that have left
 * @stand_in_work: acts as @stand_in
 * @waitq: callers that wait for tasks or threads to end
 * @config: serialises reboot, tune and every other change. Held while threads
 *	are made, so closing and destroying the pool do not take it
 * @makers: make the threads that tasks and @floor want, each one at a time
 * @name: I
 * @owner: I: the module that created the pool
 * @fn: I: what ants_invoke() runs, NULL if not set
 * @worker_init: I: see struct ants_attrs, as the following ones
 * @worker_exit: I
 * @space_available: I
 * @shared_congested: I: of a shard: 1 from the moment when all shards have
 *	refused a caller until one of them calls back; NULL outside a multi
 * @private: I
 * @node: I: NUMA node, or NUMA_NO_NODE
 * @affinity: C: nice value and CPUs of the workers
 * @affinity_seq: L: number of times that @affinity has changed, or that a CPU
 *	came
 * @preferred: L: some worker is, or was, @preferred
 * @nr_stale: L: workers that have not applied the last such change
 * @mask_offline: L: no CPU of the mask was online, and that was logged
 * @rebind_wanted: L: some of them are parked and are to be woken
 * @rebind_next: L: the first one that was not woken; NULL to begin
 * @cancelling: L: groups that an error has cancelled, for the upkeep work. Each
 *	has a member that has not ended, so the list of a drained pool is empty
 * @stand_in: T: the worker that a kernel work item acts as if no thread can be
 *	made
 * @policy: see policy.c
 * @kobj: /sys/kernel/ants/<name>, or <parent>/shard<i>
 * @parent: I: the directory of the multi that it is a shard of, or NULL
 * @ordered: I: tasks run one at a time, in the order of acceptance
 * @protected: I: its users may not release, reboot or destroy it
 * @registered: R: in ants_pools
 * @warned_reclaim: O: ANTS_MEM_RECLAIM was found missing, and this was logged
 * @map: lockdep map; held around each task, touched by each wait
 * @key: lock class of @map
 * @seen_workers: L: @nr_workers at the last ants_check()
 * @seen_in_flight: L: tasks in flight at the last ants_check()
 */
struct ants_pool {
	/* What each task writes, in line 0: the lock, admission and the queue. */
	raw_spinlock_t lock;
	unsigned int nr_busy;
	unsigned int nr_pending;
	unsigned int nr_stock;
	struct list_head pending;
	struct ants_slot *stock;
	unsigned int in_epoch[2];
	u64 submitted;
	unsigned int peak_busy;
	unsigned int peak_pending;

	/* What each task reads, and a worker that is woken or parks writes: line 1. */
	unsigned int nr_waking;
	unsigned int nr_idle;
	unsigned int nr_workers;
	unsigned int wake_limit;
	unsigned long waking_since;
	unsigned long wake_late;
	struct list_head idle;
	struct ants_worker *arrived;
	unsigned int wake_seq;
	bool wake_deferred;
	u8 nr_vain;
	u8 nr_deferred;
	bool upkeep_queued;

	/* What each task only reads, as long as there is room: line 2. */
	unsigned int admit_limit;
	unsigned int stay_limit;
	unsigned int epoch;
	unsigned int capacity;
	union {
		struct {
			unsigned int nr_high;
			bool scanning;
			bool cancel_scan;
		};
		u64 pick_needed;
	};
	union {
		struct {
			unsigned int nr_waiting;
			bool has_due;
			bool congested;
			bool congested_all;
		};
		u64 space_wanted;
	};
	const struct module *scan_mod;
	void *(*worker_init)(struct ants_pool *pool);
	unsigned int nr_starting;
	unsigned int nr_making;
	unsigned int spare_slots;
	unsigned int stock_max;

	/* The pool is full, or a flush waits: line 3. */
	struct ants_fifo waiters[2];
	unsigned int limit;
	unsigned int grant_below;
	unsigned int nr_joined;
	unsigned int nr_callers;

	/* A worker is woken, arrives or parks: lines 4 and 5, beside line 1. */
	struct timer_list timer;
	unsigned long timer_by;
	unsigned long expiry;
	bool timer_waking;
	bool released;
	unsigned int flags;
	struct ants_policy policy;

	/* The rest. */
	unsigned long timer_back;
	unsigned int nr_new;
	unsigned int nr_late;
	unsigned int nr_emptied;
	unsigned int nr_leaving;
	unsigned int floor;
	unsigned int high_grants;
	unsigned int due_grants;
	u64 blocked;
	unsigned int peak_waiting;
	unsigned int max_blocking;
	struct list_head urgent;
	unsigned int high_run;
	unsigned int nr_again;
	unsigned int nr_joining;
	struct hlist_head unnotified;
	struct list_head delayed;
	unsigned int nr_delayed;
	u64 spawned;
	u64 reaped;
	u64 rejected;
	u64 cancelled;
	u64 caller_runs;
	unsigned int peak_running;
	unsigned int queue_depth;
	unsigned int min_workers;
	unsigned int expiry_ms;
	struct list_head nested;
	unsigned int nr_nested;
	unsigned int high_due_grants;
	struct list_head due[2];
	struct list_head workers;
	struct list_head left;
	unsigned long scan_hit;
	struct list_head *scan_at;
	struct list_head *cancel_at;
	/* Serialises the walks of cancel.c. */
	struct mutex cancel;

	struct work_struct upkeep;
	unsigned int nr_makers;
	bool join_queued;
	bool stand_in_queued;
	bool stock_wanted;
	bool waitq_wanted;
	unsigned int nr_releasing;
	unsigned int release_seq;
	unsigned int generation;
	bool dying;
	bool flushing;
	unsigned long backoff;
	unsigned long backoff_until;
	struct work_struct joiner;
	struct work_struct stand_in_work;
	wait_queue_head_t waitq;
	/* Serialises every change of the configuration, but not the end. */
	struct mutex config;
	struct ants_maker makers[ANTS_MAKERS];

	char name[ANTS_NAME_LEN];
	struct module *owner;
	ants_fn_t fn;
	void (*worker_exit)(struct ants_pool *pool, void *data);
	void (*space_available)(struct ants_pool *pool);
	atomic_t *shared_congested;
	void *private;
	int node;
	struct ants_affinity *affinity;
	unsigned int affinity_seq;
	unsigned int nr_stale;
	bool preferred;
	bool mask_offline;
	bool rebind_wanted;
	struct ants_worker *rebind_next;
	struct list_head cancelling;
	struct ants_worker stand_in;
	struct kobject kobj;
	struct kobject *parent;
	bool ordered;
	bool protected;
	struct list_head registered;
	bool warned_reclaim;
#ifdef CONFIG_LOCKDEP
	struct lockdep_map map;
	struct lock_class_key key;
#endif
#ifdef ANTS_DEBUG
	unsigned int seen_workers;
	unsigned int seen_in_flight;
#endif
};

#endif /* _ANTS_POOL_H */
