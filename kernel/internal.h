/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of ants.ko share. The structures, and what guards their
 * fields, are in pool.h, waiter.h, worker.h, item.h and affinity.h.
 *
 * A file calls functions of the files that stand before it here, and of those
 * on its own line, which tools/call-order checks:
 *
 *	debug, jitter
 *	slot, affinity
 *	item_wait, item, group_item, wake, dispatch, policy
 *	timer
 *	worker, stand_in, wait, caller, submit, invoke
 *	delayed, work, join, work_wait, work_cancel
 *	stats, call, each, group, cancel
 *	upkeep, flush, release, tune, affinity_set
 *	pool, devres
 *	multi_fit, multi_local, multi_config, multi_set, multi_submit, multi
 *	sysfs, multi_sysfs, hotplug, unload, main
 *
 * There are four exceptions. Checks in debug builds, and those for lockdep
 * below, ask worker.c and wake.c. While a module is unloaded, slot.c and call.c
 * ask unload.c for the functions of a task. pool.c and multi.c add their files
 * to sysfs. Functions that are called through a pointer, as those of work items
 * and timers are, may be anywhere.
 */
#ifndef _ANTS_INTERNAL_H
#define _ANTS_INTERNAL_H

#include <linux/ants.h>

#include "compat.h"
#include "pool.h"

/*
 * The first cache lines of a pool are full: a member that joins one has to push
 * another one out. The slab aligns pools to a line. Locks that are debugged, and
 * short pointers, change the layout.
 */
#define ANTS_LINE	64
#define ants_assert_line(line, first)					\
	static_assert(sizeof(raw_spinlock_t) != 4 || sizeof(long) != 8 || \
		      offsetof(struct ants_pool, first) == (line) * ANTS_LINE)

ants_assert_line(0, lock);
ants_assert_line(1, nr_waking);
ants_assert_line(2, admit_limit);
ants_assert_line(3, waiters);
ants_assert_line(4, timer);

/*
 * Look at a field of a pool without the lock that its writers hold. Stores to
 * numbers that every task changes are not marked, for that would cost an
 * instruction each. The value may be outdated, but it is never half of a
 * number.
 */
#define ants_peek(field)	data_race(READ_ONCE(field))

/* Count a task as refused with @err. */
static inline void ants_refused(struct ants_pool *pool, int err)
{
	pool->rejected++;
	if (err == -EAGAIN && pool->space_available)
		pool->congested = true;
}

/* The number of tasks that are admitted and have not ended. */
static inline unsigned int ants_in_flight(const struct ants_pool *pool)
{
	return pool->nr_busy + pool->nr_pending + pool->nr_joined;
}

/* The number of tasks that could be admitted if no caller waited. */
static inline unsigned int ants_nr_admissible(const struct ants_pool *pool)
{
	unsigned int used = ants_in_flight(pool);

	return used < pool->limit ? pool->limit - used : 0;
}

static inline bool ants_can_admit(const struct ants_pool *pool)
{
	return pool->nr_busy + pool->nr_pending < pool->admit_limit;
}

/*
 * To be called whenever limit, released, nr_waiting, has_due or nr_joined has
 * changed.
 */
static inline void ants_update_admit_limit(struct ants_pool *pool)
{
	if (pool->released || pool->nr_waiting || pool->has_due)
		pool->admit_limit = 0;
	else
		pool->admit_limit = pool->limit - min(pool->limit,
						      pool->nr_joined);
}

/*
 * The number of workers that stay: neither those that leave, which are as good
 * as gone, nor those whose thread is not made yet, which may take long.
 */
static inline unsigned int ants_nr_staying(const struct ants_pool *pool)
{
	return pool->nr_workers - pool->nr_leaving - pool->nr_making;
}

static inline bool ants_is_drained(const struct ants_pool *pool)
{
	return pool->released && !pool->nr_releasing && !pool->nr_workers &&
	       !pool->nr_pending && !pool->nr_waiting &&
	       list_empty(&pool->left) && !pool->nr_delayed &&
	       !pool->upkeep_queued && !pool->join_queued &&
	       !pool->stand_in_queued && !pool->nr_makers;
}

/* What is left of @timeout, which began at @start, in jiffies. */
static inline unsigned long ants_time_left(unsigned long start,
					   unsigned long timeout)
{
	if (timeout >= MAX_SCHEDULE_TIMEOUT)
		return MAX_SCHEDULE_TIMEOUT;
	return timeout - min(timeout, jiffies - start);
}

#include "debug.h"
#include "slot.h"
#include "dispatch.h"
#include "item.h"
#include "group.h"
#include "affinity.h"

/* wait.c: callers that sleep */

/* The condition that a caller waits for; called with the lock held. */
typedef bool (*ants_cond_t)(struct ants_pool *pool, const void *arg);

int ants_wait(struct ants_pool *pool, struct ants_waiter *waiter,
	      unsigned long timeout);
int ants_wait_enrol(struct ants_pool *pool, struct ants_waiter *waiter,
		    bool nested);
int ants_wait_until(struct ants_pool *pool, ants_cond_t cond, const void *arg,
		    unsigned long timeout, unsigned int state);
unsigned int ants_killable_state(const struct ants_pool *pool, int locks);
int ants_wait_done(struct ants_pool *pool, const bool *done,
		   unsigned long timeout, unsigned int state);
/*
 * The same for a caller that is woken by each change of what the function looks
 * at.
 */
typedef bool (*ants_ready_t)(struct ants_pool *pool, const void *arg);

int ants_wait_ready(struct ants_pool *pool, ants_ready_t ready, const void *arg,
		    unsigned long timeout, unsigned int state);
int ants_work_sleep(struct ants_pool *pool, struct ants_work_waiter *waiter,
		    unsigned long timeout, unsigned int state);
bool ants_work_withdraw(struct ants_pool *pool,
			struct ants_work_waiter *waiter);
void ants_caller_in(struct ants_pool *pool);
void ants_caller_enter(struct ants_pool *pool);
void ants_caller_leave(struct ants_pool *pool);
void ants_caller_out(struct ants_pool *pool, struct ants_todo *todo);
int ants_config_lock_killable(struct ants_pool *pool);
void ants_config_unlock(struct ants_pool *pool);

/* worker.c: one thread */
int ants_worker_fn(void *arg);
bool ants_in_task(void);
struct ants_worker *ants_worker_of(struct ants_pool *pool);
struct ants_pool *ants_thread_pool(void);
bool ants_in_task_of(const struct ants_pool *pool);
void ants_task_becomes(struct ants_pool *pool, ants_fn_t fn, void *data);
void ants_worker_act(struct ants_worker *w, struct ants_todo *todo);

/* stand_in.c: tasks that run although there is no thread */
void ants_stand_in_ask(struct ants_pool *pool);
void ants_stand_in_fn(struct work_struct *work);
int ants_stand_in_init(void);
void ants_stand_in_exit(void);

/*
 * Tell lockdep that the caller waits for tasks of @pool, even if it is one of
 * them.
 */
static inline void ants_wait_report(struct ants_pool *pool)
{
#ifdef CONFIG_LOCKDEP
	lock_map_acquire(&pool->map);
	lock_map_release(&pool->map);
#endif
}

/*
 * Tell lockdep that the caller waits for tasks of @pool. A caller that is a
 * task of the same pool is left out: where its wait could hang, it gets
 * -EDEADLK.
 */
static inline void ants_wait_touch(struct ants_pool *pool)
{
	if (IS_ENABLED(CONFIG_LOCKDEP) && !ants_in_task_of(pool))
		ants_wait_report(pool);
}

/* upkeep.c: making, retiring and joining threads */
void ants_upkeep_fn(struct work_struct *work);
void ants_maker_fn(struct work_struct *work);
void ants_join_fn(struct work_struct *work);
int ants_workers_prepare(struct ants_pool *pool, unsigned int nr,
			 unsigned int release_seq, struct list_head *prepared);
void ants_workers_start(struct ants_pool *pool, struct list_head *prepared);
void ants_workers_discard(struct list_head *prepared);
void ants_retire_above(struct ants_pool *pool);

/* timer.c: reaper, late wake-ups, end of a back-off, long waits */
bool ants_idle_expired(const struct ants_pool *pool);
bool ants_may_retire(const struct ants_pool *pool);
unsigned long ants_idle_deadline(const struct ants_pool *pool);
void ants_timer_take_back(struct ants_pool *pool);
void ants_timer_fn(struct timer_list *timer);

/* join.c: a task that waits for an item of its own pool */
int ants_join_enter(struct ants_worker *w, struct ants_work *work,
		    struct ants_work_waiter *waiter);
int ants_join_work(struct ants_worker *w, struct ants_work *work,
		   struct ants_work_waiter *waiter, unsigned long timeout);
int ants_join_check(const struct ants_worker *w,
		    const struct ants_group *group);
int ants_join_group(struct ants_worker *w, struct ants_group *group,
		    struct ants_work_waiter *waiter, unsigned long timeout);
int ants_call_inside(struct ants_worker *w, ants_call_fn_t fn, void *data,
		     ants_fn_t release);

/* work.c: work items */
int ants_work_queue(struct ants_pool *pool, struct ants_work *work,
		    struct ants_group *group, unsigned long timeout);

/* work_cancel.c */
bool ants_work_cancel_waiting(struct ants_pool *pool, struct ants_work *work,
			      struct ants_todo *todo);

/* group.c: groups */
void ants_group_cancel_next(struct ants_pool *pool);

/* delayed.c: work items with a timer */
void ants_delayed_cancel(struct ants_pool *pool, struct ants_work *work,
			 struct ants_todo *todo);
void ants_delayed_revive(struct ants_delayed_work *dwork, unsigned long when);
void ants_delayed_fail_all(struct ants_pool *pool);

/* call.c */
void ants_call_run(void *data);
unsigned long ants_call_func_addr(const void *data, const struct module *mod);

/* caller.c: tasks that run in their submitters */
void ants_run_here(struct ants_pool *pool, ants_fn_t fn, void *data);
bool ants_runs_task_of(struct ants_pool *pool);
bool ants_is_call(const struct ants_work *work);

/* each.c */
bool ants_is_helper(const struct ants_work *work);

/* submit.c: for a caller that can choose among pools */
int ants_submit_attempt(struct ants_pool *pool, ants_fn_t fn, void *data,
			bool stay);
int ants_try_attempt(struct ants_pool *pool, ants_fn_t fn, void *data);

/* release.c */
unsigned int ants_close_begin(struct ants_pool *pool);
void ants_close_end(struct ants_pool *pool);
unsigned int ants_close(struct ants_pool *pool);
int __ants_reboot(struct ants_pool *pool, unsigned int release_seq);
int ants_close_wait(struct ants_pool *pool, unsigned long timeout,
		    unsigned int state);
void ants_drain_for_good(struct ants_pool *pool);

/* tune.c: changes of a live pool, with pool->config held */
int __ants_tune(struct ants_pool *pool, unsigned int capacity);
int ants_set_queue_depth(struct ants_pool *pool, unsigned int depth);
int ants_set_max_blocking(struct ants_pool *pool, unsigned int max);
int ants_set_min_workers(struct ants_pool *pool, unsigned int min);
void ants_set_expiry(struct ants_pool *pool, unsigned long expiry);
int ants_set_expiry_ms(struct ants_pool *pool, unsigned int ms);
int ants_set_nonblocking(struct ants_pool *pool, bool on);
int ants_check_bounds(unsigned int capacity, unsigned int queue_depth,
		      unsigned int min_workers, unsigned int flags);
void ants_set_bounds(struct ants_pool *pool, unsigned int capacity,
		     unsigned int queue_depth, unsigned int min_workers);

/* pool.c */
extern struct list_head ants_pools;
extern struct list_head ants_multis;
extern struct mutex ants_registry_lock;
int ants_check_attrs(const struct ants_attrs *attrs);
__printf(2, 0)
int ants_set_name(char name[ANTS_NAME_LEN], const char *fmt, va_list args);
int ants_registry_add(const char *name, struct list_head *node,
		      struct list_head *list);
void ants_registry_del(struct list_head *node);
__printf(5, 0)
struct ants_pool *ants_pool_make(struct module *owner,
				 const struct ants_attrs *attrs, ants_fn_t fn,
				 bool ordered, const char *fmt, va_list args);
struct ants_pool *ants_shard_create(struct kobject *parent, const char *name,
				    unsigned int nr,
				    const struct ants_attrs *attrs, bool given);
void ants_pool_quiesce(struct ants_pool *pool);
void ants_pool_hide(struct ants_pool *pool);
void ants_pool_end(struct ants_pool *pool);
void __ants_pool_destroy(struct ants_pool *pool);
void ants_live_get(void);
void ants_live_put(void);
void ants_pools_wait_freed(void);

/* sysfs.c: /sys/kernel/ants */
extern const struct kobj_type ants_pool_ktype;
int ants_sysfs_init(void);
void ants_sysfs_exit(void);
int ants_sysfs_add(struct ants_pool *pool);
void ants_pool_free(struct kobject *kobj);

/* unload.c: a client that is unloaded while it has tasks here */
int ants_unload_init(void);
void ants_unload_exit(void);

#endif /* _ANTS_INTERNAL_H */
