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
 *    ANTS_HOLD_MAX list entries. The one exception is the match function of
 *    ants_cancel_pending(), which is called under it, at most ANTS_HOLD_MAX
 *    times a hold.
 * C: pool->config.lock and pool->lock to write, either to read
 * R: ants_registry_lock
 * M: multi->config
 * T: only the thread that owns the object
 *
 * Some fields are also read without their lock, as a hint or before they are
 * read again under it. Numbers that every task changes are read by ants_peek();
 * other fields, which are stored by WRITE_ONCE(), are read by READ_ONCE().
 *
 * Order: ants_registry_lock and pool->config.lock are never held together;
 * multi->config is taken before the pool->config.lock of one or all shards;
 * pool->lock is innermost, except for the lock of the timer base, that of
 * upkeep.c, and those of the buckets in caller.c and debug.c.
 */
#ifndef _ANTS_POOL_H
#define _ANTS_POOL_H

#include <linux/ants.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "pool_parts.h"
#include "worker.h"

/* The most list entries, grants or wake-ups in one hold of a pool's lock. */
#define ANTS_HOLD_MAX		16
/*
 * How many may go first in a row while others wait: tasks of high priority,
 * callers with such a task, and due work items ahead of callers.
 */
#define ANTS_HIGH_RUN		8
/* Default number of slots in stock for callers that may not allocate. */
#define ANTS_SPARE_SLOTS	16
/* Slots are allocated in batches of this size: they and one word fill 2 KiB. */
#define ANTS_SLOT_BATCH		51
/*
 * A stock keeps at most this many slots, or as many as there are spare slots if
 * those are more; and a batch beyond that.
 */
#define ANTS_STOCK_MAX		1024U
/*
 * Wake-ups are late this many ticks after &ants_wakes.since: more than one full
 * tick.
 */
#define ANTS_LATE_TICKS		2
/* The most wake-ups in flight. */
#define ANTS_WAKE_MAX		16U
/* The most idle workers that are looked at to find one of a certain CPU. */
#define ANTS_LOOK_MAX		4U
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
/* Default number of faults in a row after which a pool takes no more tasks. */
#define ANTS_MAX_FAULTS		16
/* The longest and the default time that a thread may stay idle, in jiffies. */
#define ANTS_EXPIRY_MAX		msecs_to_jiffies(INT_MAX)
#define ANTS_EXPIRY		HZ

#define ANTS_ALL_FLAGS		(ANTS_NONBLOCKING | ANTS_PREALLOC |	\
				 ANTS_NO_PURGE | ANTS_THROUGHPUT |	\
				 ANTS_MEM_RECLAIM | ANTS_ON_NODE |	\
				 ANTS_FREEZABLE | ANTS_CALLER_RUNS |	\
				 ANTS_FIXED | ANTS_CHARGE)

/*
 * struct ants_slot is defined in ants_work.h, because a work item contains one.
 * A slot either holds a task that is accepted and not started, or is free:
 *
 * node: L: in pool->pending or pool->urgent
 * next: L: in pool->stock
 * fn, data: L: the function and its argument; ants_work_run() for a work item
 * tag: L: index of the flush epoch in which the task was accepted, and
 *	ANTS_TAG_*: for most tasks nothing but the epoch, and so below 2
 * stamp: L: if pool->timed, the clock when the task was handed over
 */
#define ANTS_TAG_EPOCH		1U
#define ANTS_TAG_WORK		2U
#define ANTS_TAG_HIGH		4U
/*
 * In the tag of a worker: it runs a detached work item, which may be gone. ANTS_TAG_WORK
 * is set as well as long as the item is in the pool.
 */
#define ANTS_TAG_DETACHED	8U
/* The task is charged to its submitter: see charge.c. */
#define ANTS_TAG_CHARGED	16U
/* The task is one of the few whose times are taken: see times.c. */
#define ANTS_TAG_SAMPLED	32U

struct ants_pool {
	/* What each task writes: line 0. */

	/* guards everything that decisions depend on */
	raw_spinlock_t lock;
	/* L: tasks that run */
	unsigned int nr_busy;
	/* L: length of @pending */
	unsigned int nr_pending;
	/* L: length of @stock */
	unsigned int nr_stock;
	/* L: FIFO of accepted tasks */
	struct list_head pending;
	/* L: LIFO of free slots */
	struct ants_slot *stock;
	/* L: tasks of each epoch that have not ended */
	unsigned int in_epoch[2];
	/* L: see struct ants_stats, as the next two */
	u64 submitted;
	/* L */
	unsigned int peak_busy;
	/* L */
	unsigned int peak_pending;

	/* What each task only reads, as long as it is admitted at once: line 1. */

	struct ants_limits limits;
	/* L: index into @in_epoch for tasks that are accepted now */
	unsigned int epoch;
	union ants_pick pick;
	union ants_space space;
	/* L: the module whose tasks unload.c scans for, else NULL */
	const struct module *scan_mod;
	/* C: bits of enum ants_flags */
	unsigned int flags;
	/* L: the pool is closed */
	bool released;
	/*
	 * C: ANTS_TIMED_*; 0 unless an administrator has asked for the times of
	 * tasks, or they are charged to their submitters
	 */
	u8 timed;

	/* A task wakes a worker, or one parks: lines 2 to 4. */

	struct ants_wakes wakes;
	struct ants_workers workers;
	/*
	 * L: work items that run inside tasks that wait for them; they are not in
	 * @nr_busy, and count as tasks in flight
	 */
	unsigned int nr_joined;
	/*
	 * L: callers that have dropped the lock and will come back; destroy waits
	 * for them
	 */
	unsigned int nr_callers;
	struct ants_timer timer;

	/* No task is admitted at once: line 5. */

	struct ants_waiters waiters;

	/* The rest. */

	struct ants_urgent urgent;
	struct ants_delayed delayed;
	struct ants_counts counts;
	struct ants_times times;
	struct ants_stall stall;
	struct ants_faults faults;
	struct ants_notice notice;
	struct ants_upkeep upkeep;
	struct ants_config config;
	struct ants_release release;
	struct ants_target target;
	struct ants_ops ops;
	/* L: the walks over lists of the pool: see walk.c */
	struct hlist_head cursors;
	/*
	 * L: groups that an error has cancelled, for the upkeep work. Each has a
	 * member that has not ended, so the list of a drained pool is empty
	 */
	struct list_head cancelled_groups;
	/* L: address of a function of @scan_mod that was found, or accepted */
	unsigned long scan_hit;
	/* L: work items that run and are queued again */
	unsigned int nr_again;
	/*
	 * L: tasks that sleep without a time limit until a work item or a group
	 * of the pool has ended
	 */
	unsigned int nr_joining;
	/*
	 * L: rings of callers that wait for a work item that has ended, and that
	 * are not all notified yet
	 */
	struct hlist_head unnotified;
	/*
	 * L: number of times that the last task ended while @nr_callers was not 0
	 */
	unsigned int nr_emptied;
	/* L: a flush waits for its epoch */
	bool flushing;
	/* callers that wait for tasks or threads to end */
	wait_queue_head_t waitq;

	/* I */
	char name[ANTS_NAME_LEN];
	/* I: the module that created the pool */
	struct module *owner;
	/* I: NUMA node, or NUMA_NO_NODE */
	int node;
	/* I: tasks run one at a time, in the order of acceptance */
	bool ordered;
	/* I: its users may not release, reboot or destroy it */
	bool protected;
	/* O: ANTS_MEM_RECLAIM was found missing, and this was logged */
	bool warned_reclaim;
	/* /sys/kernel/ants/<name>, or <parent>/shard<i> */
	struct kobject kobj;
	/* I: the directory of the multi that it is a shard of, or NULL */
	struct kobject *parent;
	/* R: in ants_pools */
	struct list_head registered;
#ifdef CONFIG_LOCKDEP
	/* lockdep map; held around each task, touched by each wait */
	struct lockdep_map map;
	/* lock class of @map */
	struct lock_class_key key;
#endif
#ifdef ANTS_DEBUG
	/* L: workers.nr at the last ants_check() */
	unsigned int seen_workers;
	/* L: tasks in flight at the last ants_check() */
	unsigned int seen_in_flight;
#endif
};

#endif /* _ANTS_POOL_H */
