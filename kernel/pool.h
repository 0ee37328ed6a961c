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
 *    ANTS_ROUND list entries. The one exception: the match function of
 *    ants_cancel_pending() is called under it, at most ANTS_ROUND times a hold.
 * C: pool->config and pool->lock to write, either to read
 * R: ants_registry_lock
 * M: multi->config
 * T: only the thread that owns the object
 *
 * Some fields are looked at without their lock as well, as a hint or to be seen
 * again under it: numbers that each task changes by ants_peek(), others, whose
 * stores are WRITE_ONCE(), by READ_ONCE().
 *
 * Order: ants_registry_lock and pool->config are never held together;
 * multi->config is taken before the pool->config of one or all shards;
 * pool->cancel is taken before no other mutex; pool->lock is innermost but for
 * the timer base's and those of the buckets in caller.c.
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

#include "worker.h"

/* Most list entries, grants or wake-ups in one hold of a pool's lock. */
#define ANTS_ROUND		16
/*
 * Most of what goes first that has its turn in a row while others wait: tasks of
 * high priority, callers with one, and late work items before callers.
 */
#define ANTS_HIGH_RUN		8
/* Slots that stay in the stock for callers that may not allocate, by default. */
#define ANTS_SPARE_SLOTS	16
/* Slots that are made at a time: they and a word fill 2 KiB. */
#define ANTS_SLOT_BATCH		51
/* Most slots that a stock keeps, but for a batch, unless more are spare ones. */
#define ANTS_STOCK_MAX		1024U
/* Ticks without an arrival after which wake-ups are late: more than a whole one. */
#define ANTS_LATE_TICKS		2
/* Works of a pool that make threads beside the upkeep. */
#define ANTS_MAKERS		7
/* Most wake-ups in flight. */
#define ANTS_WAKE_MAX		16U
/* After how many wake-ups in vain the next ones are deferred. */
#define ANTS_VAIN_MAX		8U
/* How many are deferred in a row before one is tried. */
#define ANTS_DEFERRED_MAX		31U
/* Jiffies after which a wait is logged. */
#define ANTS_LONG_WAIT		(120 * HZ)
/* Bounds of the pause after a thread could not be made, in jiffies. */
#define ANTS_BACKOFF_MIN	max(HZ / 100, 1)
#define ANTS_BACKOFF_MAX	HZ
/* Largest finite capacity and queue_depth: their sum fits an unsigned int. */
#define ANTS_BOUND_MAX		INT_MAX
/* Longest and default time that a thread may stay idle, in jiffies. */
#define ANTS_EXPIRY_MAX		msecs_to_jiffies(INT_MAX)
#define ANTS_EXPIRY		HZ

#define ANTS_ALL_FLAGS		(ANTS_NONBLOCKING | ANTS_PREALLOC |	\
				 ANTS_NO_PURGE | ANTS_THROUGHPUT |	\
				 ANTS_MEM_RECLAIM | ANTS_ON_NODE |	\
				 ANTS_FREEZABLE | ANTS_CALLER_RUNS |	\
				 ANTS_FIXED)

struct ants_place;

/*
 * struct ants_slot stands in ants.h, for work items contain one. It is a task
 * that is accepted and not started, or a free slot:
 *
 * node: L: in pool->pending or pool->urgent
 * next: L: in pool->stock
 * fn, data: L: what to run, and with what; ants_work_run() for a work item
 * tag: L: index of the flush epoch that the task was accepted in, and
 *	ANTS_TAG_*: for most tasks nothing but the epoch, and so below 2
 */
#define ANTS_TAG_EPOCH		1U
#define ANTS_TAG_WORK		2U
#define ANTS_TAG_HIGH		4U
/* Of a worker: it runs a work item that it may not touch any more. */
#define ANTS_TAG_DETACHED	8U

/* A waiter's result while it waits. */
#define ANTS_STILL_WAITING	1

/**
 * struct ants_waiter - a submitter that waits, on its own stack
 * @node: L: in a FIFO of pool->waiters
 * @task: I: who waits
 * @slot: L: taken out of the stock for it, so that it can be granted at any
 *	time; NULL if there was none
 * @fn: I: the task it wants to hand over
 * @data: I: and with what
 * @work: I: the work item that it wants to hand over instead; it brings its
 *	slot. NULL if none
 * @since: I: jiffies when it was enrolled
 * @prio: I: of its task
 * @sleep: I: the state that it sleeps in
 * @nested: L: in pool->nested if it is an untimed wait inside a task of the same
 *	pool, else empty
 * @result: L: ANTS_STILL_WAITING, then 0 or -errno. Stored with release as the
 *	last access to the waiter by anyone else; pairs with the acquire in
 *	ants_wait(). Afterwards the waiter touches only its own stack: the pool
 *	may be gone.
 */
struct ants_waiter {
	struct list_head node;
	struct task_struct *task;
	struct ants_slot *slot;
	ants_fn_t fn;
	void *data;
	struct ants_work *work;
	unsigned long since;
	enum ants_prio prio;
	unsigned int sleep;
	struct list_head nested;
	int result;
};

/**
 * struct ants_fifo - waiters of one priority
 * @list: L: in the order in which they came
 * @unlogged: L: first of them whose wait is not logged as a long one, or NULL;
 *	waits begin in order, so those before it are
 */
struct ants_fifo {
	struct list_head list;
	struct ants_waiter *unlogged;
};

/**
 * struct ants_pool - a pool
 * @lock: guards what every decision depends on
 * @room: L: most tasks in flight at which one more is taken without waiting: 0
 *	while released or while anyone waits, else @limit
 * @calm: L: most workers with which none of them has to look closer whether it
 *	may stay: @capacity, or 0 while @nr_misplaced
 * @nr_busy: L: tasks that run
 * @nr_again: L: work items that run and are queued again
 * @nr_joined: L: work items that run inside tasks that wait for them; they are not
 *	in @nr_busy, and keep their places
 * @nr_joining: L: tasks that sleep, without a time limit, until a work item or a
 *	group of the pool has ended
 * @untold: L: rings of callers that wait for a work item that has ended, and have
 *	not all been told
 * @nr_pending: L: length of @pending
 * @nr_stock: L: length of @stock
 * @epoch: L: index into @in_epoch for tasks accepted now
 * @odd: L: something makes the next pending task another than the oldest:
 * @nr_high: L: length of @urgent
 * @scanning: L: unload.c looks through the pool
 * @cancel_scan: L: cancel.c does, and @cancel_at is its cursor
 * @nr_waking: L: wake-ups in flight: workers in state ANTS_WAKING, but for those
 *	that were given up as late, and the one of @wake_deferred. A worker that
 *	arrives looks after the next.
 * @wake_limit: L: most wake-ups in flight, at least 1. Doubled when a worker arrives
 *	and the one before it sleeps in its task while others are pending, one less
 *	when that one runs, halved when a worker arrives in vain.
 * @nr_starting: L: workers in state ANTS_NEW that were started for a task, but for
 *	those that were given up as late. They count against @wake_limit when
 *	another thread is wanted, but hold back no idle worker.
 * @waking_since: L: jiffies when the first of both was woken or started, or when one
 *	of them arrived; they are late together if that is too long ago
 * @wake_late: L: jiffies when the wake-ups in flight are late, if they are as many as
 *	allowed: until then no other is needed. Else 0.
 * @pending: L: FIFO of accepted tasks
 * @urgent: L: FIFO of accepted tasks of high priority, which go first
 * @high_run: L: how many of those started in a row while others were pending
 * @delayed: L: work items whose timer is armed, or about to look
 * @nr_delayed: L: work items in @delayed and @late
 * @stock: L: LIFO of free slots
 * @idle: L: LIFO of parked workers, the longest parked at the tail
 * @nr_idle: L: length of @idle
 * @nr_new: L: workers in state ANTS_NEW
 * @nr_late: L: those of them that were given up as late
 * @wake_seq: L: how often those in flight were given up
 * @arrived: L: the worker that came last of those in flight, NULL if it has left
 * @wake_deferred: L: a wake-up is deferred, and counts in @nr_waking: the worker that runs
 *	will probably have taken what is pending before another could. It becomes late
 *	like any other.
 * @nr_vain: L: how many wake-ups by workers were in vain in a row, up to
 *	ANTS_VAIN_MAX: then the next ones are deferred
 * @nr_deferred: L: how many were deferred since one was tried
 * @nr_workers: L: places taken, leaving workers included
 * @nr_leaving: L: workers in state ANTS_LEAVING
 * @nr_making: L: places whose thread is not made yet
 * @in_epoch: L: tasks of each epoch that have not ended
 * @nr_callers: L: callers that have dropped the lock and will come back, and
 *	whom destroy waits for
 * @nr_emptied: L: how often the last task ended while @nr_callers was not 0
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
 * @capacity: C: most workers
 * @limit: C: @capacity plus @queue_depth, saturated
 * @refill: C: fewer tasks in flight, and waiters are granted before pending has
 *	run dry
 * @queue_depth: C
 * @max_blocking: C
 * @min_workers: C: as configured
 * @floor: C: workers that are never reaped; %ANTS_PREALLOC: all
 * @expiry: C: how long a worker may be idle, in jiffies
 * @expiry_ms: C: the same in milliseconds, as written if it was in sysfs
 * @flags: C: bits of enum ants_flags
 * @spare_slots: I: slots that stay in @stock for callers that may not allocate
 * @stock_max: C: most slots in @stock: those that it is to keep, and a batch
 * @waiters: L: submitters that wait, by priority
 * @high_grants: L: how many of high priority were granted in a row while others
 *	waited
 * @late_grants: L: how many late work items were granted in a row while callers
 *	waited
 * @heed: L: somebody has to hear of a place that gets free:
 * @nr_waiting: L: length of both
 * @has_late: L: a list of @late is not empty
 * @congested: L: a caller was sent away; @room is to be called
 * @congested_all: L: a caller was sent away by all shards of the multi, this one
 *	included
 * @nested: L: FIFO of those of them that a task of the same pool waits in
 * @nr_nested: L: length of @nested
 * @high_late: L: how many late work items of high priority were granted in a row
 *	while others were late
 * @late: L: FIFOs of the work items whose time has come while there was no
 *	place, by priority
 * @workers: L: every worker that started and has not left
 * @left: L: workers that left and are not joined yet
 * @scan_mod: L: the module whose tasks unload.c looks for, NULL if it does not
 * @scan_hit: L: address of a function of @scan_mod that was accepted meanwhile
 * @scan_at: L: first entry that it has not seen of the list that it looks
 *	through, NULL if of none
 * @cancel_at: L: first entry that cancel.c has not seen of the list that it looks
 *	through, while @cancel_scan
 * @cancel: serialises those who look through
 * @timer: serves the reaper, late wake-ups, back-off and the log of long waits.
 *	Retires nobody itself.
 * @timer_by: L: the last jiffy for which @timer can be armed so that it fires no
 *	earlier than it will now; it is late if it was armed long before
 * @timer_waking: L: @timer is armed for those in flight alone, and for what can be
 *	told from the rest of the pool
 * @timer_back: L: jiffies when it was last taken back, as they had arrived
 * @upkeep: sends makers off, retires threads, fills the stock
 * @nr_makers: L: how many of @makers are queued or run
 * @upkeep_queued: L: @upkeep is queued or runs, and will look once more
 * @join_queued: L: so is @joiner
 * @stand_in_queued: L: @stand_in_work is queued or runs, and will wake @waitq
 * @stock_wanted: L: a caller that may not allocate found the stock low, or the
 *	last worker has left
 * @waitq_wanted: L: one that may not wake @waitq found that it should
 * @released: L: closed
 * @nr_releasing: L: callers that have closed it, and fail waiters and the like
 *	in rounds; destroy waits for them
 * @release_seq: L: how often it was closed
 * @generation: L: how often it was opened again
 * @dying: L: being destroyed; it is not opened again
 * @flushing: L: a flush waits for its epoch
 * @backoff: L: jiffies of the pause after the last failure, 0 if the last try
 *	went well
 * @backoff_until: L: no thread is made before
 * @joiner: joins threads that left
 * @stand_in_work: plays @stand_in
 * @waitq: callers that wait for tasks or threads to end
 * @config: serialises reboot, tune and every other change. Held while threads
 *	are made, so that who closes or destroys the pool does not take it.
 * @makers: make the threads that tasks and @floor want, one each at a time
 * @name: I
 * @owner: I: the module that made the pool
 * @fn: I: what ants_invoke() runs, NULL if not set
 * @worker_init: I: see struct ants_attrs, as the following ones
 * @worker_exit: I
 * @room_cb: I
 * @shared_congested: I: of a shard: 1 from the moment when all shards refused a
 *	caller until one of them calls back; NULL outside a multi
 * @private: I
 * @node: I: NUMA node, or NUMA_NO_NODE
 * @place: C: where the workers run
 * @placement: L: how often that has changed, or a CPU came
 * @preferred: L: some worker is, or was, @preferred
 * @nr_misplaced: L: workers that have not taken up the last such change
 * @stranded: L: no CPU of the mask was online, and that was said
 * @poke_wanted: L: some of them are parked and to be woken
 * @poke_next: L: the first that was not, NULL to begin
 * @cancelling: L: groups that an error cancelled, for the upkeep. Each has a
 *	member that has not ended, so that the list of a drained pool is empty.
 * @stand_in: T: the worker that is played if no thread can be made
 * @policy: see policy.c
 * @kobj: /sys/kernel/ants/<name>, or <parent>/shard<i>
 * @parent: I: the directory of what it is a shard of, NULL if it is none
 * @ordered: I: tasks run one at a time, in the order of their acceptance
 * @protected: I: not its users' to release, reboot or destroy
 * @registered: R: in ants_pools
 * @warned_reclaim: O: ANTS_MEM_RECLAIM was found missing, and said so
 * @map: held around each task, touched by each wait
 * @key: of @map
 * @seen_workers: L: @nr_workers at the last ants_check()
 * @seen_in_flight: L: tasks in flight at the last ants_check()
 */
struct ants_pool {
	raw_spinlock_t lock;
	unsigned int room;
	unsigned int calm;
	unsigned int nr_busy;
	unsigned int nr_pending;
	unsigned int nr_stock;
	unsigned int epoch;
	unsigned int nr_waking;
	unsigned int wake_limit;
	unsigned int nr_starting;
	unsigned long waking_since;
	unsigned long wake_late;
	struct list_head pending;
	struct list_head urgent;
	unsigned int high_run;
	unsigned int nr_again;
	unsigned int nr_joined;
	unsigned int nr_joining;
	struct hlist_head untold;
	struct list_head delayed;
	unsigned int nr_delayed;
	union {
		struct {
			unsigned int nr_high;
			bool scanning;
			bool cancel_scan;
		};
		u64 odd;
	};
	struct ants_slot *stock;
	struct list_head idle;
	unsigned int nr_idle;
	unsigned int nr_new;
	unsigned int nr_late;
	unsigned int wake_seq;
	struct ants_worker *arrived;
	bool wake_deferred;
	u8 nr_vain;
	u8 nr_deferred;
	unsigned int nr_workers;
	unsigned int nr_leaving;
	unsigned int nr_making;
	unsigned int in_epoch[2];
	unsigned int nr_callers;
	unsigned int nr_emptied;
	u64 submitted;
	u64 spawned;
	u64 reaped;
	u64 blocked;
	u64 rejected;
	u64 cancelled;
	u64 caller_runs;
	unsigned int peak_busy;
	unsigned int peak_pending;
	unsigned int peak_waiting;
	unsigned int peak_running;

	unsigned int capacity;
	unsigned int limit;
	unsigned int refill;
	unsigned int queue_depth;
	unsigned int max_blocking;
	unsigned int min_workers;
	unsigned int floor;
	unsigned int expiry_ms;
	unsigned long expiry;
	unsigned int flags;
	unsigned int spare_slots;
	unsigned int stock_max;

	struct ants_fifo waiters[2];
	unsigned int high_grants;
	unsigned int late_grants;
	union {
		struct {
			unsigned int nr_waiting;
			bool has_late;
			bool congested;
			bool congested_all;
		};
		u64 heed;
	};
	struct list_head nested;
	unsigned int nr_nested;
	unsigned int high_late;
	struct list_head late[2];
	struct list_head workers;
	struct list_head left;
	const struct module *scan_mod;
	unsigned long scan_hit;
	struct list_head *scan_at;
	struct list_head *cancel_at;
	/* Serialises the walks of cancel.c. */
	struct mutex cancel;

	struct timer_list timer;
	unsigned long timer_by;
	unsigned long timer_back;
	bool timer_waking;
	struct work_struct upkeep;
	unsigned int nr_makers;
	bool upkeep_queued;
	bool join_queued;
	bool stand_in_queued;
	bool stock_wanted;
	bool waitq_wanted;
	bool released;
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
	void *(*worker_init)(struct ants_pool *pool);
	void (*worker_exit)(struct ants_pool *pool, void *data);
	void (*room_cb)(struct ants_pool *pool);
	atomic_t *shared_congested;
	void *private;
	int node;
	struct ants_place *place;
	unsigned int placement;
	unsigned int nr_misplaced;
	bool preferred;
	bool stranded;
	bool poke_wanted;
	struct ants_worker *poke_next;
	struct list_head cancelling;
	struct ants_worker stand_in;
	struct ants_policy policy;
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
