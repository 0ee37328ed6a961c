/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of ants.ko share.
 *
 * Lock legend, the letter in front of each field:
 *
 * I: set before the object is published, read-only after
 * O: a hint, read and written without a lock
 * L: pool->lock. A raw spinlock, taken with interrupts off. Nothing sleeps,
 *    allocates, wakes or calls back under it, and no hold touches more than
 *    ANTS_ROUND list entries.
 * C: pool->config and pool->lock to write, either to read
 * R: ants_registry_lock
 * T: only the thread that owns the object
 *
 * Order: ants_registry_lock and pool->config are never held together;
 * pool->lock is innermost but for the timer base's.
 *
 * Files from the bottom to the top, calls go downward only: debug, slot,
 * affine, dispatch, wait, worker, upkeep, timer, submit, flush, release, tune,
 * place, stats, pool, sysfs, hotplug, unload, main.
 */
#ifndef _ANTS_INTERNAL_H
#define _ANTS_INTERNAL_H

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

#include "compat.h"

/* Most list entries, grants or wake-ups in one hold of a pool's lock. */
#define ANTS_ROUND		16
/* Slots that stay in the stock for callers that may not allocate. */
#define ANTS_SPARE_SLOTS	16
/* Slots that are made at a time. */
#define ANTS_SLOT_BATCH		32
/* Most slots that a stock keeps, but for a round; the round is freed. */
#define ANTS_STOCK_MAX		1024U
/* Ticks after which a wake-up is late: more than one whole tick. */
#define ANTS_LATE_TICKS		2
/* Jiffies after which a wait is logged. */
#define ANTS_LONG_WAIT		(120 * HZ)
/* Bounds of the pause after a thread could not be made, in jiffies. */
#define ANTS_BACKOFF_MIN	max(HZ / 100, 1)
#define ANTS_BACKOFF_MAX	HZ
/* Largest finite capacity and queue_depth: their sum fits an unsigned int. */
#define ANTS_BOUND_MAX		INT_MAX
#define ANTS_EXPIRY_MS		1000

#define ANTS_ALL_FLAGS		(ANTS_NONBLOCKING | ANTS_PREALLOC |	\
				 ANTS_NO_PURGE | ANTS_THROUGHPUT |	\
				 ANTS_MEM_RECLAIM | ANTS_ON_NODE |	\
				 ANTS_FREEZABLE)

struct ants_place;

/**
 * struct ants_slot - a task that is accepted and not started, or a free slot
 * @node: L: in pool->pending
 * @next: L: in pool->stock
 * @fn: L: what to run
 * @data: L: and with what
 * @epoch: L: index of the flush epoch that the task was accepted in
 */
struct ants_slot {
	union {
		struct list_head node;
		struct ants_slot *next;
	};
	ants_fn_t fn;
	void *data;
	unsigned int epoch;
};

/**
 * enum ants_worker_state - where a worker is; changed under pool->lock only
 * @ANTS_NEW: its place is taken, its thread has not had the lock yet
 * @ANTS_IDLE: parked, in pool->idle
 * @ANTS_WAKING: taken off pool->idle for a task, has not had the lock since
 * @ANTS_BUSY: runs a task, or looks for one
 * @ANTS_LEAVING: told to leave, has not had the lock since
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
 * @node: L: in pool->idle, or in pool->left; before the start in a private list
 * @member: L: in pool->workers
 * @pool: I: whose it is
 * @task: I: its thread, with a reference until it is joined
 * @fn: L: the task that it runs, NULL if none
 * @data: L: and with what
 * @idle_since: L: jiffies when it parked last
 * @state: L: see enum ants_worker_state
 * @epoch: L: flush epoch of the task that it runs
 * @expired: L: told to leave because it was idle for too long
 * @bound: T: its thread was given CPUs
 * @placed: L: the pool's @placement that it has taken up, or is about to
 * @place: T: what it is about to take up
 */
struct ants_worker {
	struct list_head node;
	struct list_head member;
	struct ants_pool *pool;
	struct task_struct *task;
	ants_fn_t fn;
	void *data;
	unsigned long idle_since;
	enum ants_worker_state state;
	unsigned int epoch;
	bool expired;
	bool bound;
	unsigned int placed;
	struct ants_place *place;
};

/* A waiter's result while it waits. */
#define ANTS_STILL_WAITING	1

/**
 * struct ants_waiter - a submitter that waits, on its own stack
 * @node: L: in pool->waiters
 * @task: I: who waits
 * @slot: L: taken out of the stock for it, so that it can be granted at any
 *	time; NULL if there was none
 * @fn: I: the task it wants to hand over
 * @data: I: and with what
 * @since: I: jiffies when it was enrolled
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
	unsigned long since;
	struct list_head nested;
	int result;
};

/**
 * struct ants_pool - a pool
 * @lock: guards what every decision depends on
 * @room: L: most tasks in flight at which one more is taken without waiting: 0
 *	while released or while anyone waits, else @limit
 * @calm: L: most workers with which none of them has to look closer whether it
 *	may stay: @capacity, or 0 while @nr_misplaced
 * @nr_busy: L: tasks that run
 * @nr_pending: L: length of @pending
 * @nr_stock: L: length of @stock
 * @epoch: L: index into @in_epoch for tasks accepted now
 * @waking: L: the worker whose wake-up is in flight. Nobody wakes another one
 *	meanwhile; who clears it looks after the next.
 * @pending: L: FIFO of accepted tasks
 * @stock: L: LIFO of free slots
 * @idle: L: LIFO of parked workers, the longest parked at the tail
 * @nr_idle: L: length of @idle
 * @nr_new: L: workers in state ANTS_NEW
 * @nr_workers: L: places taken, leaving workers included
 * @nr_leaving: L: workers in state ANTS_LEAVING
 * @nr_making: L: places whose thread is not made yet
 * @in_epoch: L: tasks of each epoch that have not ended
 * @nr_callers: L: callers inside ants_flush() and its like
 * @submitted: L: see struct ants_stats, as the following ones
 * @spawned: L
 * @reaped: L
 * @blocked: L
 * @rejected: L
 * @peak_busy: L
 * @peak_pending: L
 * @peak_waiting: L
 * @peak_running: L
 * @waking_since: L: jiffies when @waking was set
 * @capacity: C: most workers
 * @limit: C: @capacity plus @queue_depth, saturated
 * @refill: C: fewer tasks in flight, and waiters are granted before pending has
 *	run dry
 * @queue_depth: C
 * @max_blocking: C
 * @min_workers: C: as configured
 * @floor: C: workers that are never reaped; %ANTS_PREALLOC: all
 * @expiry_ms: C: as configured
 * @expiry: C: the same in jiffies
 * @flags: C: bits of enum ants_flags
 * @stock_max: C: slots that @stock keeps; a round beyond, and that is freed
 * @waiters: L: FIFO of submitters that wait
 * @nr_waiting: L: length of @waiters
 * @unlogged: L: first of @waiters whose wait is not logged as a long one, or
 *	NULL; waits begin in order, so those before it are
 * @nested: L: FIFO of those of them that a task of the same pool waits in
 * @nr_nested: L: length of @nested
 * @workers: L: every worker that started and has not left
 * @left: L: workers that left and are not joined yet
 * @scan_mod: L: the module whose tasks unload.c looks for, NULL if it does not
 * @scan_hit: L: a function of @scan_mod that was accepted meanwhile
 * @scan_slot: L: first pending slot that it has not seen
 * @scan_worker: L: first worker that it has not seen
 * @timer: serves the reaper, late wake-ups, back-off and the log of long waits.
 *	Retires nobody itself.
 * @upkeep: makes, retires and joins threads, fills the stock
 * @upkeep_queued: L: @upkeep is queued or runs, and will look once more
 * @stock_wanted: L: a caller that may not allocate found the stock low
 * @released: L: closed
 * @generation: L: how often it was opened again
 * @dying: C: being destroyed
 * @flushing: L: a flush waits for its epoch
 * @backoff: L: jiffies of the pause after the last failure, 0 if the last try
 *	went well
 * @backoff_until: L: no thread is made before
 * @waitq: callers that wait for tasks or threads to end
 * @config: serialises release, reboot, tune and every other change
 * @name: I
 * @owner: I: the module that made the pool
 * @node: I: NUMA node, or NUMA_NO_NODE
 * @place: C: where the workers run
 * @placement: L: how often that has changed, or a CPU came
 * @nr_misplaced: L: workers that have not taken up the last such change
 * @stranded: L: no CPU of the mask was online, and that was said
 * @poke_wanted: L: some of them are parked and to be woken
 * @poke_next: L: the first that was not, NULL to begin
 * @stand_in: T: the worker that a draining caller plays if no thread can be made
 * @kobj: /sys/kernel/ants/<name>
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
	struct ants_worker *waking;
	struct list_head pending;
	struct ants_slot *stock;
	struct list_head idle;
	unsigned int nr_idle;
	unsigned int nr_new;
	unsigned int nr_workers;
	unsigned int nr_leaving;
	unsigned int nr_making;
	unsigned int in_epoch[2];
	unsigned int nr_callers;
	u64 submitted;
	u64 spawned;
	u64 reaped;
	u64 blocked;
	u64 rejected;
	unsigned int peak_busy;
	unsigned int peak_pending;
	unsigned int peak_waiting;
	unsigned int peak_running;
	unsigned long waking_since;

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
	unsigned int stock_max;

	struct list_head waiters;
	unsigned int nr_waiting;
	struct ants_waiter *unlogged;
	struct list_head nested;
	unsigned int nr_nested;
	struct list_head workers;
	struct list_head left;
	const struct module *scan_mod;
	ants_fn_t scan_hit;
	struct ants_slot *scan_slot;
	struct ants_worker *scan_worker;

	struct timer_list timer;
	struct work_struct upkeep;
	bool upkeep_queued;
	bool stock_wanted;
	bool released;
	unsigned int generation;
	bool dying;
	bool flushing;
	unsigned long backoff;
	unsigned long backoff_until;
	wait_queue_head_t waitq;
	/* Serialises every change of the configuration. */
	struct mutex config;

	char name[ANTS_NAME_LEN];
	struct module *owner;
	int node;
	struct ants_place *place;
	unsigned int placement;
	unsigned int nr_misplaced;
	bool stranded;
	bool poke_wanted;
	struct ants_worker *poke_next;
	struct ants_worker stand_in;
	struct kobject kobj;
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

/* Places that a new task would find, whoever waits before it. */
static inline unsigned int ants_places(const struct ants_pool *pool)
{
	unsigned int used = pool->nr_busy + pool->nr_pending;

	return used < pool->limit ? pool->limit - used : 0;
}

static inline bool ants_has_room(const struct ants_pool *pool)
{
	return pool->nr_busy + pool->nr_pending < pool->room;
}

/* To be called whenever limit, released or nr_waiting changed. */
static inline void ants_update_room(struct ants_pool *pool)
{
	pool->room = pool->released || pool->nr_waiting ? 0 : pool->limit;
}

/*
 * Workers that are there to stay: a leaving one is as good as gone, and one
 * that is yet to be made may take its time.
 */
static inline unsigned int ants_nr_staying(const struct ants_pool *pool)
{
	return pool->nr_workers - pool->nr_leaving - pool->nr_making;
}

static inline bool ants_is_drained(const struct ants_pool *pool)
{
	return pool->released && !pool->nr_workers && !pool->nr_pending &&
	       !pool->nr_waiting && list_empty(&pool->left) &&
	       !pool->upkeep_queued;
}

#include "debug.h"
#include "slot.h"
#include "dispatch.h"
#include "place.h"

/* wait.c: callers that sleep */

/* What is waited for; called with the lock held. */
typedef bool (*ants_met_t)(struct ants_pool *pool, unsigned int arg);

int ants_wait(struct ants_pool *pool, struct ants_waiter *waiter,
	      unsigned long timeout);
int ants_wait_enrol(struct ants_pool *pool, struct ants_waiter *waiter,
		    bool nested);
int ants_wait_until(struct ants_pool *pool, ants_met_t met, unsigned int arg,
		    unsigned long timeout, unsigned int state);
void ants_caller_enter(struct ants_pool *pool);
void ants_caller_leave(struct ants_pool *pool);
void ants_caller_out(struct ants_pool *pool, struct ants_kick *kick);
void ants_config_lock(struct ants_pool *pool);
int ants_config_lock_killable(struct ants_pool *pool);
void ants_config_unlock(struct ants_pool *pool);

/* worker.c: one thread */
int ants_worker_fn(void *arg);
bool ants_in_task(void);
bool ants_in_task_of(struct ants_pool *pool);
bool ants_stand_in(struct ants_pool *pool);

/*
 * Tells lockdep that the caller waits for tasks of @pool. A task of the same
 * pool does so too, and is answered with -EDEADLK where that can hang.
 */
static inline void ants_wait_touch(struct ants_pool *pool)
{
#ifdef CONFIG_LOCKDEP
	if (ants_in_task_of(pool))
		return;
	lock_map_acquire(&pool->map);
	lock_map_release(&pool->map);
#endif
}

/* upkeep.c: making, retiring and joining threads */
void ants_upkeep_fn(struct work_struct *work);
int ants_workers_prepare(struct ants_pool *pool, unsigned int nr,
			 struct list_head *prepared);
void ants_workers_start(struct ants_pool *pool, struct list_head *prepared);
void ants_workers_discard(struct list_head *prepared);
void ants_retire_above(struct ants_pool *pool);

/* timer.c: reaper, late wake-ups, back-off, long waits */
bool ants_idle_expired(const struct ants_pool *pool);
bool ants_may_retire(const struct ants_pool *pool);
unsigned long ants_idle_deadline(const struct ants_pool *pool);
void ants_timer_fn(struct timer_list *timer);

/* release.c */
int ants_drain(struct ants_pool *pool, unsigned long timeout,
	       unsigned int state);
void ants_drain_for_good(struct ants_pool *pool);

/* tune.c: every change of a live pool, with pool->config held */
int __ants_tune(struct ants_pool *pool, unsigned int capacity);
int ants_set_queue_depth(struct ants_pool *pool, unsigned int depth);
int ants_set_max_blocking(struct ants_pool *pool, unsigned int max);
int ants_set_min_workers(struct ants_pool *pool, unsigned int min);
void ants_set_expiry(struct ants_pool *pool, unsigned int ms);
int ants_set_expiry_ms(struct ants_pool *pool, unsigned int ms);
int ants_set_nonblocking(struct ants_pool *pool, bool on);
int ants_check_bounds(unsigned int capacity, unsigned int queue_depth,
		      unsigned int min_workers, unsigned int flags);
void ants_set_bounds(struct ants_pool *pool, unsigned int capacity,
		     unsigned int queue_depth, unsigned int min_workers);

/* pool.c */
extern struct list_head ants_pools;
extern struct mutex ants_registry_lock;
void __ants_pool_destroy(struct ants_pool *pool);
void ants_pools_wait_freed(void);

/* sysfs.c: /sys/kernel/ants */
extern const struct kobj_type ants_pool_ktype;
int ants_sysfs_init(void);
void ants_sysfs_exit(void);
int ants_sysfs_add(struct ants_pool *pool);
void ants_pool_free(struct kobject *kobj);

/* unload.c: a client that goes while its tasks are here */
int ants_unload_init(void);
void ants_unload_exit(void);

#endif /* _ANTS_INTERNAL_H */
