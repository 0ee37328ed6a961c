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
 * pool->lock is innermost, except for the lock of the timer base, and those of the
 * buckets in submit.c.
 */
#ifndef _ANTS_POOL_H
#define _ANTS_POOL_H

#include <linux/ants.h>
#include <linux/build_bug.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "worker.h"

/* The result of a waiter while it waits. */
#define ANTS_STILL_WAITING	1

/**
 * struct ants_waiter - a submitter that waits, on its own stack
 * @node: L: in a FIFO of pool->waiters.fifo
 * @task: I: the submitter
 * @fn: I: the function of its task, as a slot has it
 * @data: I: the argument of that function
 * @work: I: the work item that it wants to submit, which brings its own slot; NULL if
 *	none
 * @since: I: jiffies when it was enqueued
 * @stamp: I: the clock at that time if pool->timed was set, else 0
 * @prio: I: the priority of its task
 * @sleep: I: the state that it sleeps in
 * @spun: L: it spins before it sleeps
 * @spins: it has not stopped spinning; set to false by the submitter, which does
 *	not hold the lock
 * @is_nested: L: it is an untimed wait inside a task of the same pool
 * @nested: L: then in pool->waiters.nested
 * @result: L: ANTS_STILL_WAITING, then 0 or -errno. Stored with release as the
 *	last access to the waiter by another thread; pairs with the acquire in
 *	ants_wait(). Afterwards the waiter touches only its own stack: the pool
 *	may be gone
 */
struct ants_waiter {
	struct list_head node;
	struct task_struct *task;
	ants_fn_t fn;
	void *data;
	struct ants_work *work;
	unsigned long since;
	unsigned int stamp;
	enum ants_prio prio;
	unsigned int sleep;
	bool spun;
	bool spins;
	bool is_nested;
	struct list_head nested;
	int result;
};

/*
 * The parts of a pool. Those that a task reads or writes come first in struct
 * ants_pool; within a part, the members that a task needs most come first. The
 * letters in front of the fields are explained in pool.h.
 */

/* The most waits in a row that do not spin although they could. */
#define ANTS_SPIN_SKIP_MAX	63U
/* At least one task in so many is timed, if any is. */
#define ANTS_SAMPLE_MAX		1000000U
/* Times are counted by their power of two, up to this one. */
#define ANTS_TIMES		32

/* What bounds a pool; each task reads it. */
struct ants_limits {
	/*
	 * L: while fewer tasks are busy or pending, one more is accepted at
	 * once: 0 while the pool is released, or callers or due items wait,
	 * else @in_flight less nr_joined
	 */
	unsigned int admit;
	/*
	 * L: as long as there are no more workers than this, each of them may
	 * stay without a closer look: @capacity, or 0 while some are stale, or
	 * if none may stay after too many faults
	 */
	unsigned int stay;
	/* C: the most workers */
	unsigned int capacity;
	/* C: the most tasks in flight: @capacity plus queue_depth, saturated */
	unsigned int in_flight;
	/*
	 * C: waiters are granted although tasks are pending if fewer tasks than
	 * this are in flight
	 */
	unsigned int grant_below;
	/* I: slots that stay in the stock for callers that may not allocate */
	unsigned int spare_slots;
	/* C: the most slots in the stock: those that it is to keep, and a batch */
	unsigned int stock;
};

/*
 * Why the next pending task may not be the oldest one. It is a union so that a
 * worker asks for all of the reasons at once.
 */
union ants_pick {
	struct {
		/* L: length of the list of urgent tasks */
		unsigned int nr_high;
		/* L: length of the list of cursors, of walks over any list */
		unsigned int nr_cursors;
	};
	/* L: not 0 if there is a reason */
	u64 needed;
};

static_assert(sizeof(union ants_pick) == sizeof(u64));

/*
 * What waits until fewer tasks are in flight. It is a union so that a task that
 * ends asks for all of them at once.
 */
union ants_space {
	struct {
		/* L: number of waiters of both priorities */
		unsigned int nr_waiting;
		/* L: a list of due work items is not empty */
		bool has_due;
		/* L: a caller was refused; ops.space_available is to be called */
		bool congested;
		/* L: a caller was refused by all shards of the multi */
		bool congested_all;
	};
	/* L: not 0 if there is one */
	u64 wanted;
};

static_assert(sizeof(union ants_space) == sizeof(u64));

/* The threads, and how many are in which state. */
struct ants_workers {
	/* L: reserved workers, leaving ones included */
	unsigned int nr;
	/* L: length of @idle */
	unsigned int nr_idle;
	/* L: LIFO of parked workers; the one parked longest is at the tail */
	struct list_head idle;
	/* L: reserved workers whose thread is not made yet: at most one */
	unsigned int nr_making;
	/*
	 * L: workers in state ANTS_NEW that were started for a task, except those
	 * that were given up as late. They count as wake-ups in flight when another
	 * thread is wanted, but do not keep idle workers from being woken
	 */
	unsigned int nr_starting;
	/* L: workers in state ANTS_NEW */
	unsigned int nr_new;
	/* L: those of them that were given up as late */
	unsigned int nr_late;
	/* L: workers in state ANTS_LEAVING */
	unsigned int nr_leaving;
	/* L: every worker that was started and has not left */
	struct list_head list;
};

/*
 * The timer serves the reaper, late wake-ups, back-off, batches that hold waiters
 * back, and tasks that stall. It does not retire workers itself.
 */
struct ants_timer {
	/* armed and taken back with the pool's lock held */
	struct timer_list timer;
	/*
	 * L: the last jiffy for which @timer can be armed such that it fires no
	 * earlier than it will now; it is late if it was armed long before
	 */
	unsigned long by;
	/* C: how long a worker may be idle, in jiffies */
	unsigned long expiry;
	/*
	 * L: @timer is armed for wake-ups in flight only, and for what can be
	 * told from the rest of the pool
	 */
	bool waking;
	/* L: jiffies when it was last taken back because they had arrived */
	unsigned long back;
};

/* Submitters that wait; how many they are is in space.nr_waiting. */
struct ants_waiters {
	/* L: FIFOs, by priority */
	struct list_head fifo[2];
	/* L: those of high priority granted in a row while others waited */
	unsigned int high_grants;
	/*
	 * L: number of waits that do not spin after one that has spun in vain,
	 * up to ANTS_SPIN_SKIP_MAX; and how many of them are left
	 */
	unsigned int spin_skip;
	unsigned int spin_left;
	/* L: length of @nested */
	unsigned int nr_nested;
	/* L: FIFO of those that are inside tasks of the same pool */
	struct list_head nested;
};

/* Work items with a timer. */
struct ants_delayed {
	/* L: those whose timer is armed, or whose timer function is about to run */
	struct list_head list;
	/* L: FIFOs, by priority, of those that are due and not admitted yet */
	struct list_head due[2];
	/* L: number of work items in all these lists */
	unsigned int nr;
	/* L: items in @due granted in a row while callers waited */
	unsigned int due_grants;
	/* L: those of high priority granted in a row while others waited */
	unsigned int high_due_grants;
	/*
	 * L: RCU's state when a timer function that was about to run was last left
	 * to queue an item; 0 if never
	 */
	unsigned long firing;
};

/* Tasks of high priority. */
struct ants_urgent {
	/* L: FIFO of those that are accepted and not started */
	struct list_head list;
	/* L: number of those started in a row while others were pending */
	unsigned int run;
};

/* What kernel work items do for a pool: see upkeep.c. */
struct ants_upkeep {
	/* retires threads, fills the stock */
	struct work_struct work;
	/* makes threads */
	struct work_struct maker;
	/* L: @work is queued or runs, and will check once more before it ends */
	bool queued;
	/* L: the same for @maker */
	bool making;
	/*
	 * L: a caller that may not allocate has found the stock low, or the last
	 * worker has left
	 */
	bool stock_wanted;
	/*
	 * L: the pause after the last failure to make a thread, in jiffies; 0 if
	 * the last try has succeeded
	 */
	unsigned long backoff;
	/* L: jiffies before which no thread is made */
	unsigned long backoff_until;
	/*
	 * L: jiffies before which no other thread is made, since one was refused:
	 * there are too many in all pools
	 */
	unsigned long held_until;
};

/* As configured; what is derived from it for each task is in struct ants_limits. */
struct ants_config {
	/*
	 * serialises reboot, tune and every other change; held while threads are
	 * made, so closing and destroying the pool do not take it
	 */
	struct mutex lock;
	/* C */
	unsigned int queue_depth;
	/* C */
	unsigned int max_blocking;
	/* C */
	unsigned int min_workers;
	/* C: number of workers that are never reaped; %ANTS_PREALLOC: all */
	unsigned int floor;
	/* C: timer.expiry in milliseconds; as written, if in sysfs */
	unsigned int expiry_ms;
};

/* How many tasks took how long. */
struct ants_histograms {
	/*
	 * L: number of tasks by the binary logarithm of their wait, which lasts
	 * from the call that submitted them to their start
	 */
	u64 wait[ANTS_TIMES];
	/* L: the same for the time that they run */
	u64 run[ANTS_TIMES];
};

/* How long tasks wait and run, if that was asked for: see times.h. */
struct ants_times {
	/* C: allocated when times are first asked for, before @timed says so; NULL before */
	struct ants_histograms *counts;
	/* L: the clock when those of all tasks were last asked for */
	u64 since;
	/* C: one task in so many is to be timed, 0 for none; all are if stall.ms is not 0 */
	unsigned int every;
	/* L: accepted tasks until the next one that is timed */
	unsigned int left;
};

/* Tasks that run for too long are reported: see times.c. */
struct ants_stall {
	/* C: how many milliseconds are too long; 0 for no limit */
	unsigned int ms;
	/* L: jiffies when to look for such tasks, if @armed */
	unsigned long at;
	/* L: the timer is armed for @at or earlier */
	bool armed;
};

/* The most bytes of the name of a function, with that of its module. */
#define ANTS_FUNC_LEN		128

/* Threads that have died: see breaker_count(), upkeep.c and ants_drop_fn(). */
struct ants_faults {
	/* ends what the pool had accepted, and callers that wait */
	struct work_struct work;
	/* L: @work is queued or runs */
	bool queued;
	/* L: there were too many faults: the pool takes no tasks until it is opened */
	bool tripped;
	/* C: how many faults in a row are too many */
	unsigned int max;
	/* L: number of faults in a row so far */
	unsigned int row;
	/* L: the same for failures of worker_init without another thread */
	unsigned int row_init;
	/* L: tasks that were completed when the last fault was counted */
	u64 completed;
	/* L: dead threads that are being cleaned up after; the pool waits for them */
	unsigned int aborting;
	/* T: a thread that calls ops.space_available, NULL if none does */
	const struct task_struct *caller;
	/* L: name of the function in which a thread has died last, or "none" */
	char last[ANTS_FUNC_LEN];
};

/* What programs are told: see files.c. */
struct ants_notices {
	/* tells programs; does nothing any more once the files are gone */
	struct work_struct work;
	/* O: the state that programs were told last; NULL if it is open, and not looked at */
	const char *state;
	/* T: the number of stalls that programs were told last */
	u64 stalled;
	/* T: the same for faults */
	u64 faults;
	/* O: the files are being removed; set before the work is cancelled */
	bool gone;
};

/* The pool is closed, opened again, and destroyed. */
struct ants_lifecycle {
	/*
	 * L: callers that have closed the pool and are still failing waiters and
	 * the like; destroy waits for them
	 */
	unsigned int nr;
	/* L: number of times it was closed */
	unsigned int seq;
	/* L: number of times it was opened again */
	unsigned int generation;
	/* L: the pool is being destroyed, and is not opened again */
	bool dying;
	/* L: ops.space_available was called, or is about to be */
	bool called_back;
	/* frees the pool after a grace period */
	struct rcu_work end;
};

/**
 * struct ants_affinity - nice value, policy and CPUs of the workers of a pool
 * @users: the pool, and threads that look at it without the lock
 * @nice: I
 * @sched: I
 * @unbound: I: no CPUs were asked for
 * @explicit: I: @cpus were named one by one; otherwise ants chose them, for a node or
 *	a shard, and a thread leaves out those that are isolated when it takes
 *	them up
 * @cpus: I: a cpumask; with @unbound all possible CPUs
 */
struct ants_affinity {
	refcount_t users;
	int nice;
	enum ants_sched sched;
	bool unbound;
	bool explicit;
	unsigned long cpus[];
};

/* Where the workers run, and how many of them have not applied a change yet. */
struct ants_target {
	/* C: nice value, policy and CPUs of the workers */
	struct ants_affinity *affinity;
	/* L: number of times that @affinity has changed, or that a CPU came */
	unsigned int seq;
	/* L: workers that have not applied the last such change, or are to be replaced */
	unsigned int nr_stale;
	/* L: an earlier @affinity had CPUs that were asked for: workers may be bound to some */
	bool was_bound;
	/* L: no CPU of the mask was online, and that was logged */
	bool mask_offline;
	/* L: some of the stale ones are parked and are to be woken */
	bool rebind_wanted;
};

/* I: what the creator of the pool has given, see struct ants_attrs. */
struct ants_ops {
	ants_fn_t fn;
	void *(*worker_init)(struct ants_pool *pool);
	void (*worker_exit)(struct ants_pool *pool, void *data);
	void (*space_available)(struct ants_pool *pool);
	void (*fault)(struct ants_pool *pool, ants_fn_t fn, void *data);
	void (*drop)(ants_fn_t fn, void *data);
	void *private;
};

/* The most list entries, grants or wake-ups in one lock hold. */
#define ANTS_HOLD_MAX		16
/*
 * How many may go first in a row while others wait: tasks of high priority,
 * callers with such a task, and due work items ahead of callers.
 */
#define ANTS_HIGH_RUN		8
/* Default number of slots in stock for callers that may not allocate. */
#define ANTS_SPARE_SLOTS	16
/* Slots are allocated in batches of this size. */
#define ANTS_SLOT_BATCH		ANTS_HOLD_MAX
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
/* The most wake-ups in flight, and threads that get ready at once. */
#define ANTS_WAKE_MAX		16U
/* The most idle workers that are looked at to find one of a certain CPU. */
#define ANTS_LOOK_MAX		4U
/* After this many spurious wake-ups in a row the next ones are deferred. */
#define ANTS_SPURIOUS_MAX	8U
/* The most wake-ups deferred in a row before one is tried. */
#define ANTS_DEFERRED_MAX		31U
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
				 ANTS_FIXED)

/*
 * struct ants_slot is defined in ants_work.h, because a work item contains one.
 * A slot either holds a task that is accepted and not started, or is free:
 *
 * node: L: in pool->pending or pool->urgent
 * next: L: in pool->stock
 * fn, data: L: the function and its argument; ants_work_run() for a work item
 * tag: L: index of the flush epoch in which the task was accepted, and
 *	ANTS_TAG_*: for most tasks nothing but the epoch, and so below 2
 * stamp: L: with ANTS_TAG_TIMED, the clock when the task was handed over
 */
#define ANTS_TAG_EPOCH		1U
#define ANTS_TAG_WORK		2U
#define ANTS_TAG_HIGH		4U
/*
 * In the tag of a worker: it runs a detached work item, which may be gone. ANTS_TAG_WORK
 * is set as well as long as the item is in the pool.
 */
#define ANTS_TAG_DETACHED	8U
/* The times of the task are taken: see times.c. */
#define ANTS_TAG_TIMED		16U

/* No CPU has this number. */
#define ANTS_NO_CPU		USHRT_MAX

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
	/* L: FIFO of accepted tasks of normal priority; the others are in urgent.list */
	struct list_head pending;
	/* L: LIFO of free slots */
	struct ants_slot *stock;
	/* L: tasks of each epoch that have not ended */
	unsigned int in_epoch[2];
	/* L: see struct ants_stats */
	u64 submitted;
	/*
	 * L: so many tasks are accepted on the fast path, from callers on @fast_cpu, unless
	 * that is %ANTS_NO_CPU; and while more than @fast_above are pending, a worker
	 * takes the next one there: see ants_end_fast_path()
	 */
	u16 fast_submits;
	/* L: that of wakes.cpu, or %ANTS_NO_CPU */
	u16 fast_cpu;
	/* L */
	unsigned int fast_above;

	/* What each task only reads, as long as it is admitted at once: line 1. */

	struct ants_limits limits;
	/* L: index into @in_epoch for tasks that are accepted now */
	unsigned int epoch;
	union ants_pick pick;
	union ants_space space;
	/* L: the module whose tasks main.c scans for, else NULL */
	const struct module *scan_mod;
	/* C: bits of enum ants_flags */
	unsigned int flags;
	/* L: the pool is closed */
	bool released;
	/*
	 * C: ANTS_TIMED_*; 0 unless an administrator has asked for the times of
	 * tasks
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
	 * for them. If there is one, the end of the last task of an epoch wakes @waitq
	 */
	unsigned int nr_callers;
	/* L: work items that run and are queued again */
	unsigned int nr_again;
	/*
	 * L: tasks that sleep without a time limit until a work item or a group
	 * of the pool has ended
	 */
	unsigned int nr_joining;
	/* L: the walks over lists of the pool: see ants_walk() */
	struct hlist_head cursors;
	struct ants_timer timer;

	/* No task is admitted at once: line 5. */

	struct ants_waiters waiters;

	/* The rest. */

	struct ants_urgent urgent;
	struct ants_delayed delayed;
	/*
	 * L: what is counted, and the peaks. The other members are unused: those numbers
	 * are elsewhere in this struct
	 */
	struct ants_stats counts;
	struct ants_times times;
	struct ants_stall stall;
	struct ants_faults faults;
	struct ants_notices notice;
	struct ants_upkeep upkeep;
	struct ants_config config;
	struct ants_lifecycle release;
	struct ants_target target;
	struct ants_ops ops;
	/*
	 * I: of a shard: 1 from the moment when all shards have refused a caller
	 * until one of them calls back; NULL outside a multi
	 */
	atomic_t *shared_congested;
	/*
	 * L: groups that were cancelled, for the upkeep work. Each has a
	 * member that has not ended, so the list of a drained pool is empty
	 */
	struct list_head cancelled_groups;
	/* L: address of a function of @scan_mod that was found, or accepted */
	unsigned long scan_hit;
	/*
	 * L: rings of callers that wait for a work item that has ended, and that
	 * are not all notified yet
	 */
	struct hlist_head unnotified;
	/*
	 * L: number of times that the last task ended while @nr_callers was not 0
	 */
	unsigned int nr_emptied;
	/* L: number of times that a flush has changed @epoch */
	unsigned int flips;
	/*
	 * Callers in ants_wait_until(). Whoever makes their condition true under the
	 * lock sets ANTS_TODO_WAITQ: then all of them look again. Closing sets it at the end
	 * of ants_close_end(), a trip at the end of ants_drop_fn(). A condition has to
	 * become true when the pool is closed, or destroy waits for its caller for ever.
	 */
	wait_queue_head_t waitq;

	/* I */
	char name[ANTS_NAME_LEN];
	/* I: the module that created the pool, or its multi */
	struct module *owner;
	/* I: NUMA node, or NUMA_NO_NODE */
	int node;
	/* I: tasks run one at a time, in the order of acceptance */
	bool ordered;
	/* L: ANTS_MEM_RECLAIM was found missing, and this was logged */
	bool warned_reclaim;
	/* /sys/kernel/ants/<name>, or <parent>/shard<i> */
	struct kobject kobj;
	/* I: the directory of the multi that it is a shard of, or NULL */
	struct kobject *parent;
	/* R: in ants_pools */
	struct list_head registered;
	/* lockdep map; held around each task, touched by each wait */
	struct lockdep_map map;
	/* lock class of @map */
	struct lock_class_key key;
#ifdef ANTS_DEBUG
	/* L: workers.nr at the last ants_check() */
	unsigned int seen_workers;
	/* L: tasks in flight at the last ants_check() */
	unsigned int seen_in_flight;
#endif
};

/*
 * The fast path. Most tasks are accepted as the one before was, and most are taken by a
 * worker that has just run another one. Then pool->fast_cpu and pool->fast_above say
 * that there is nothing else to know: ants_fast_submits() and fast_above() have the
 * reasons. Whoever changes one of those calls this. The next submit and the next worker
 * take the slow path, and find out whether the fast one may be taken again.
 */
static inline void ants_end_fast_path(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	pool->fast_submits = 0;
	pool->fast_cpu = ANTS_NO_CPU;
	pool->fast_above = UINT_MAX;
}

#endif /* _ANTS_POOL_H */
