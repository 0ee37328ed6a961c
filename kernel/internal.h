/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of ants.ko share. The structures, and what guards their
 * fields, are in pool.h, worker.h and item.h.
 *
 * A file calls functions of the files that stand before it here, and of those
 * on its own line, which tools/call-order checks:
 *
 *	core/	debug, trace
 *	core/	affinity
 *	core/	item, wake, dispatch
 *	core/	times
 *	core/	worker, wait, submit
 *	work/	work
 *	work/	call
 *	pool/	registry, upkeep, tune, pool
 *	multi/	multi
 *	./	files
 *	./	main
 *
 * There are some exceptions. Checks in debug builds, and those for lockdep
 * below, ask worker.c and wake.c. trace.c asks item.c for the function of a client.
 * pool.c and multi.c add their files to sysfs. dispatch.h asks times.c to stamp a task.
 * Functions that are called through a pointer, as those of work items and timers are,
 * may be anywhere.
 */
#ifndef _ANTS_INTERNAL_H
#define _ANTS_INTERNAL_H

#include <linux/ants.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "compat.h"
#include "core/debug.h"
#include "core/dispatch.h"
#include "core/item.h"
#include "core/pool.h"
#include "core/times.h"
#include "core/trace.h"

/* Priorities are combined, and multiplied with what the tag of the urgent ones has. */
static_assert(ANTS_PRIO_NORMAL == 0 && ANTS_PRIO_HIGH == 1);

/*
 * Which members share a cache line is part of the cost of a task: a member that
 * joins one of these lines may push another one out. The slab aligns pools to a
 * line. Locks that are debugged, and short pointers, change the layout.
 */
#define ANTS_LINE	64
#define ants_assert_layout(cond)						\
	static_assert(sizeof(raw_spinlock_t) != 4 || sizeof(long) != 8 || (cond))
#define ants_begins(member, line)					\
	ants_assert_layout(offsetof(struct ants_pool, member) ==	\
			   (line) * ANTS_LINE)
#define ants_ends(member, line)						\
	ants_assert_layout(offsetofend(struct ants_pool, member) <=	\
			   ((line) + 1) * ANTS_LINE)

ants_begins(lock, 0);
ants_ends(fast_above, 0);
ants_begins(limits, 1);
ants_ends(timed, 1);
ants_begins(wakes, 2);
ants_ends(workers.idle, 2);
ants_begins(timer, 4);
ants_ends(timer.waking, 4);

/*
 * Look at a field of a pool without the lock that its writers hold. Stores to
 * numbers that every task changes are not marked, for that would cost an
 * instruction each. The value may be outdated, but it is never half of a
 * number.
 */
#define ants_peek(field)	data_race(READ_ONCE(field))

/*
 * The number of workers that stay: neither those that leave, which are as good
 * as gone, nor those whose thread is not made yet, which may take long.
 */
static inline unsigned int ants_nr_staying(const struct ants_pool *pool)
{
	return pool->workers.nr - pool->workers.nr_leaving - pool->workers.nr_making;
}

/* Does the pool have a thread that stays, or is one about to be made? */
static inline bool ants_has_thread(const struct ants_pool *pool)
{
	return pool->workers.nr > pool->workers.nr_leaving;
}

static inline bool ants_is_drained(const struct ants_pool *pool)
{
	return pool->released && !pool->release.nr && !pool->workers.nr &&
	       !pool->nr_pending && !pool->space.nr_waiting &&
	       !pool->delayed.nr && !pool->faults.aborting &&
	       !pool->faults.queued && !pool->upkeep.queued && !pool->upkeep.making;
}

/* What is left of @timeout, which began at @start, in jiffies. */
static inline unsigned long ants_time_left(unsigned long start,
					   unsigned long timeout)
{
	if (timeout >= MAX_SCHEDULE_TIMEOUT)
		return MAX_SCHEDULE_TIMEOUT;
	return timeout - min(timeout, jiffies - start);
}

/* Does @w have the last change still to apply? */
static inline bool ants_affinity_is_stale(const struct ants_worker *w)
{
	return w->affinity_seq != w->pool->target.seq;
}

/* To be called whenever capacity, nr_stale or tripped has changed. */
static inline void ants_update_stay_limit(struct ants_pool *pool)
{
	pool->limits.stay = pool->target.nr_stale || pool->faults.tripped ?
			    0 : pool->limits.capacity;
	ants_end_fast_path(pool);
}

/* dispatch.c: a look at all entries of one list of a pool */

/**
 * struct ants_walker - what a walk does
 * @see: called for each entry with the lock of the pool held, at most
 *	ANTS_HOLD_MAX times a hold; may take the entry out of the list
 * @end: called at the end of each hold, with the lock held. NULL if there is
 *	nothing to do
 * @rest: called after each hold, without the lock; may sleep, and returns false
 *	to end the walk. NULL if there is nothing to do. Like the others it must
 *	not call a client: a thread that dies there leaves its cursor behind
 * @pool: the pool; set by ants_walk(), as all that follows
 * @todo: what the hold has decided; a hold ends when it is full
 * @batch: a part of it
 * @node: L: in pool->cursors
 * @at: L: the first entry that was not seen
 */
struct ants_walker {
	void (*see)(struct ants_walker *walker, struct list_head *entry);
	void (*end)(struct ants_pool *pool, struct ants_todo *todo);
	bool (*rest)(struct ants_walker *walker);
	struct ants_pool *pool;
	struct ants_todo todo;
	struct ants_wake_batch batch;
	struct hlist_node node;
	struct list_head *at;
};

unsigned int ants_walk(struct ants_pool *pool, struct list_head *list,
		       unsigned int most, struct ants_walker *walker);

/*
 * wait.c: callers that sleep.
 *
 * ants_wait()		a submitter, in the FIFO of the pool: the task is handed over
 * ants_wait_until()	a condition of the pool, looked at with the lock held; on waitq
 * ants_work_sleep()	a flag that another thread stores, before it wakes this one
 */

/* The condition that a caller waits for; called with the lock held. */
typedef bool (*ants_cond_t)(struct ants_pool *pool, const void *arg);

int ants_wait(struct ants_pool *pool, struct ants_waiter *waiter,
	      unsigned long timeout);
int ants_wait_enrol(struct ants_pool *pool, struct ants_waiter *waiter,
		    bool nested);
int ants_wait_until(struct ants_pool *pool, ants_cond_t cond, const void *arg,
		    unsigned long timeout, unsigned int state);
unsigned int ants_killable_state(const struct ants_pool *pool, int locks);
int ants_work_sleep(struct ants_pool *pool, struct ants_work_waiter *waiter,
		    unsigned long timeout, unsigned int state);
void ants_pool_get_locked(struct ants_pool *pool);
void ants_pool_get(struct ants_pool *pool);
void ants_pool_put(struct ants_pool *pool);
void ants_pool_put_locked(struct ants_pool *pool, struct ants_todo *todo);
int ants_config_lock_user(struct ants_pool *pool, struct mutex *config);
void ants_config_unlock(struct ants_pool *pool, struct mutex *config);

/* worker.c: one thread */
extern atomic_t ants_nr_threads;
int ants_worker_fn(void *arg);
void ants_worker_abort(struct ants_worker *w);
struct ants_worker *ants_this_worker(void);
struct ants_worker *ants_worker_of(struct ants_pool *pool);
void ants_give_way(void);
void ants_dirt_forget(void);

/*
 * Does a grace period of RCU Tasks wait for this thread? That ends when the thread
 * sleeps, or says that it might have; being preempted is not enough, and yielding
 * neither. A worker that always finds another task does not sleep.
 */
#ifdef CONFIG_TASKS_RCU
#define ants_holds_out()	READ_ONCE(current->rcu_tasks_holdout)
#else
#define ants_holds_out()	0
#endif

/*
 * Does the CPU want another thread, was a signal not taken, or does a livepatch wait
 * for this thread?
 */
static __always_inline bool ants_wants_attention(void)
{
	/* What is set just now is seen after the next task. */
	return data_race(current_thread_info()->flags) &
	       (BIT(TIF_NEED_RESCHED) | BIT(TIF_SIGPENDING) | BIT(TIF_PATCH_PENDING));
}

/*
 * Tell lockdep that the caller waits for tasks of @pool. A caller that is a
 * task of the same pool is left out: where its wait could hang, it gets
 * -EDEADLK.
 */
static inline void ants_wait_touch(struct ants_pool *pool)
{
	if (IS_ENABLED(CONFIG_LOCKDEP) && !ants_in_pool(pool)) {
		lock_map_acquire(&pool->map);
		lock_map_release(&pool->map);
	}
}

/* upkeep.c: the threads of all pools */
extern unsigned int ants_max_threads;
int ants_workers_prepare(struct ants_pool *pool, unsigned int nr,
			 struct list_head *prepared);
void ants_workers_start(struct ants_pool *pool, struct list_head *prepared);
void ants_retire_idle(struct ants_pool *pool);
void ants_maker_fn(struct work_struct *work);
void ants_upkeep_fn(struct work_struct *work);
void ants_crash_fn(struct work_struct *work);

/* wake.c: the timer */
bool ants_idle_expired(const struct ants_pool *pool);
void ants_timer_arm_reaper(struct ants_pool *pool);
void ants_timer_take_back(struct ants_pool *pool);
void ants_timer_fn(struct timer_list *timer);

/* work.c: tasks that run inside others, and groups */
bool ants_inner_abort_round(struct ants_pool *pool, struct ants_todo *todo, void *dead);
bool ants_group_cancel_round(struct ants_pool *pool, struct ants_todo *todo,
			     void *unused);

/* call.c: calls and loops */
void ants_calls_abort(struct ants_worker *w, struct ants_own_work *call);

/* submit.c: tasks that run in their submitters */
int ants_run_here(struct ants_pool *pool, ants_fn_t fn, void *data, enum ants_prio prio);
bool ants_runs_task_of(struct ants_pool *pool);
void ants_inline_abort(const struct task_struct *task);

/* submit.c: for a caller that can choose among pools */
int ants_submit_attempt(struct ants_pool *pool, ants_fn_t fn, void *data,
			bool stay);
int ants_try_attempt(struct ants_pool *pool, ants_fn_t fn, void *data);

/*
 * What may be set of a live pool; the first ones and the places also of a multi. A new one
 * is also in ants_set(), or in set_number() if it is no more than a number, and in files.c.
 * If it is an attribute: in ants_check_attrs(), pool_alloc(), tools/antstat,
 * userspace-test/fuzz_rules.h and SECURITY.md.
 */
enum ants_setting {
	ANTS_SET_CAPACITY = 1,
	ANTS_SET_QUEUE_DEPTH,
	ANTS_SET_MIN_WORKERS,
	ANTS_SET_MAX_BLOCKING,
	ANTS_SET_NONBLOCKING,
	ANTS_SET_EXPIRY_MS,
	ANTS_SET_STALL_MS,
	ANTS_SET_MAX_FAULTS,
	ANTS_SET_TIMING,
	ANTS_SET_NICE,
	ANTS_SET_SCHED,
	ANTS_SET_CPUS,
	/* No setting, but done to all shards or none as well: they are opened. */
	ANTS_REBOOT,
};

/**
 * struct ants_change - a change of one of these; the others stay
 * @what: which one
 * @value: the new value, as sysfs shows it; one of enum ants_sched
 * @cpus: the CPUs, NULL for those that ants chooses
 */
struct ants_change {
	enum ants_setting what;
	unsigned int value;
	const struct cpumask *cpus;
};

/* affinity.c */
int ants_check_sched(const struct ants_attrs *attrs);
struct ants_affinity *ants_affinity_alloc(const struct ants_pool *pool,
					  const struct ants_attrs *attrs, bool explicit);
struct ants_affinity *ants_affinity_with(const struct ants_pool *pool,
					 const struct ants_change *change);
struct ants_affinity *ants_affinity_get(struct ants_pool *pool);
void ants_affinity_put(struct ants_affinity *affinity);
void ants_leave_out_isolated(struct cpumask *mask);
void ants_affinity_clear_stale(struct ants_worker *w);
void ants_affinity_note(struct ants_worker *w, struct ants_todo *todo);
void ants_affinity_apply(struct ants_worker *w);

/* tune.c: with pool->config.lock held */
int ants_set(struct ants_pool *pool, const struct ants_change *change);
int ants_check_bounds(unsigned int capacity, unsigned int queue_depth,
		      unsigned int min_workers, unsigned int flags);
void ants_set_bounds(struct ants_pool *pool, unsigned int capacity,
		     unsigned int queue_depth, unsigned int min_workers);
void ants_affinity_change(struct ants_pool *pool, struct ants_affinity *affinity);

/* tune.c: CPUs that come and go */
int ants_hotplug_init(void);
void ants_hotplug_exit(void);

/* registry.c: all pools and multis, and their names */
extern struct list_head ants_pools;
extern struct list_head ants_multis;
extern struct mutex ants_registry_lock;
extern struct completion ants_gone;
__printf(2, 0)
int ants_set_name(char name[ANTS_NAME_LEN], const char *fmt, va_list args);
int ants_registry_add(const char *name, struct list_head *node,
		      struct list_head *list);
void ants_registry_del(struct list_head *node);
void ants_object_init(struct kobject *kobj, const struct kobj_type *type);
void ants_gone_later(void);
void ants_wait_gone(void);

/* Was the pool closed since @release_seq was read, or for ever? */
static inline bool ants_closed_since(const struct ants_pool *pool, unsigned int release_seq)
{
	return READ_ONCE(pool->release.seq) != release_seq || READ_ONCE(pool->release.dying);
}

/* pool.c */
extern struct kmem_cache *ants_pool_cache;
int ants_check_attrs(const struct ants_attrs *attrs);
struct ants_pool *ants_shard_create(struct module *owner, struct kobject *parent,
				    const char *name, unsigned int nr,
				    const struct ants_attrs *attrs, bool explicit);
unsigned int ants_close_begin(struct ants_pool *pool, bool dying);
bool ants_close_end(struct ants_pool *pool);
unsigned int ants_close(struct ants_pool *pool);
int __ants_reboot(struct ants_pool *pool, unsigned int release_seq);
void ants_pool_quiesce(struct ants_pool *pool);
void ants_pool_end(struct ants_pool *pool, unsigned long seen);
void ants_drop_fn(struct work_struct *work);

/* files.c: /sys/kernel/ants, and what programs are told */
extern const struct attribute_group *ants_pool_groups[];
extern struct kset *ants_kset;
int ants_files_init(void);
void ants_files_exit(void);
int ants_sysfs_show(struct kobject *kobj);
void ants_notify_fn(struct work_struct *work);

/* files.c: the tables in debugfs, which are the private data of their files */
enum {
	ANTS_SUMMARY,
	ANTS_WORKERS,
	ANTS_WAITERS,
	ANTS_PENDING,
};

/* A list shows at most so many entries of a pool, and then how many are left. */
#define ANTS_DEBUGFS_MOST	1024U

extern const struct seq_operations ants_tables_sops;

#endif /* _ANTS_INTERNAL_H */
