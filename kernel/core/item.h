/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * item.c: what the core does with work items and groups of them, all under the
 * lock of the pool that they are in.
 *
 * work->pool says which lock that is. A caller that queues the item and finds
 * it in no pool sets it, with the lock held. It is cleared as the last access
 * when the item ends: then the item may be freed.
 */
#ifndef _ANTS_ITEM_H
#define _ANTS_ITEM_H

#include <linux/ants.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/debugobjects.h>
#include <linux/list.h>

#include "debug.h"
#include "worker.h"
#include "pool.h"

struct ants_todo;

/**
 * enum ants_work_state - where a work item is; changed by ants_work_move() only
 * @ANTS_WORK_IDLE: in no pool; not queued yet, or ended
 * @ANTS_WORK_DELAYED: its timer is armed, or its timer function is about to run
 * @ANTS_WORK_DROPPED: cancelled while its timer function was about to run
 * @ANTS_WORK_DUE: its time has come, and the pool has no room
 * @ANTS_WORK_WAITING: its submitter waits for room
 * @ANTS_WORK_PENDING: accepted, not started
 * @ANTS_WORK_RUNNING: runs
 * @ANTS_WORK_AGAIN: runs, and is queued again
 * @ANTS_WORK_REARMED: runs, and its timer will be armed when it has finished
 */
enum ants_work_state {
	ANTS_WORK_IDLE,
	ANTS_WORK_DELAYED,
	ANTS_WORK_DROPPED,
	ANTS_WORK_DUE,
	ANTS_WORK_WAITING,
	ANTS_WORK_PENDING,
	ANTS_WORK_RUNNING,
	ANTS_WORK_AGAIN,
	ANTS_WORK_REARMED,
};

/* Private bits of &ants_work.flags, beside those of enum ants_work_flags. */
#define ANTS_WORK_STOP		BIT(16)	/* runs, and was asked to stop */
#define ANTS_WORK_CLOSED	BIT(17)	/* not to be queued again until it ends */
#define ANTS_WORK_OWN		BIT(18)	/* see struct ants_own_work */
#define ANTS_WORK_SKIPPED	BIT(19)	/* taken, and not run: its group was cancelled */
#define ANTS_WORK_KINDS		(ANTS_WORK_DETACHED | ANTS_WORK_LATE)

/*
 * The most tasks that join one work item; others that wait for it do not run
 * it.
 */
#define ANTS_JOINERS		8

/**
 * struct ants_own_work - an item that ants queues itself, in order to run a function
 *	of a client: a call, or a helper of a loop
 * @work: the item, with ANTS_WORK_OWN set. Its function is that of the client, whatever
 *	arguments that has
 * @run: I: calls it
 * @data: I: the argument of the client's function
 * @release: I: takes @data when neither the task nor the caller uses it any more; NULL
 *	if the caller waits for the end in any case
 * @left: 0; %ANTS_CALL_LEFT if the caller has left the call behind before the function
 *	had ended, which then drops the call; %ANTS_CALL_OVER once the function has ended
 */
struct ants_own_work {
	struct ants_work work;
	ants_work_fn_t run;
	void *data;
	ants_fn_t release;
	unsigned int left;
#define ANTS_CALL_LEFT	1
#define ANTS_CALL_OVER	2
};

/* The item that @work is if it is one of these, else NULL. */
static inline struct ants_own_work *ants_own_work(const struct ants_work *work)
{
	return READ_ONCE(work->flags) & ANTS_WORK_OWN ?
	       container_of(work, struct ants_own_work, work) : NULL;
}

/* work.c, in kernels with debugobjects for work items */
extern const struct debug_obj_descr ants_work_descr;

/* The one place where a work item changes its state. */
static inline void ants_work_move(struct ants_work *work,
				  enum ants_work_state to)
{
	ants_check_work_move(work, to);
	WRITE_ONCE(work->state, to);
}

void ants_work_pend(struct ants_pool *pool, struct ants_work *work,
		    struct ants_todo *todo);
void ants_work_dequeue(struct ants_pool *pool, struct ants_work *work,
		       struct ants_todo *todo);
bool ants_work_detach(struct ants_worker *w);
void ants_work_start(struct ants_worker *w, struct ants_work *work);
void ants_work_run(void *data);
void ants_work_finish(struct ants_pool *pool, struct ants_work *work,
		      struct ants_todo *todo);
void ants_work_end(struct ants_pool *pool, struct ants_work *work, int result,
		   struct ants_todo *todo);
bool ants_work_cancel_waiting(struct ants_pool *pool, struct ants_work *work, int err,
			      struct ants_todo *todo);

/* The function of a client */
unsigned long ants_client_func(ants_fn_t fn, const void **data);
unsigned long ants_worker_func(const struct ants_worker *w);

/* Callers that wait for a work item */
void ants_work_await(struct ants_work_waiter *waiter);
bool ants_waiter_withdraw(struct ants_work_waiter *waiter);
void ants_work_offer(struct ants_work *work, struct ants_todo *todo);
bool ants_notify_round(struct ants_pool *pool, struct ants_todo *todo,
		       void *unused);

/* Items with a timer */
void ants_delayed_arm(struct ants_pool *pool, struct ants_delayed_work *dwork,
		      struct ants_todo *todo);

/* Groups, under the lock of their pool */
void ants_group_stop(struct ants_group *group, struct ants_todo *todo);
bool ants_group_serve(struct ants_group *group, struct ants_work_waiter *waiter);
void ants_group_wake(struct ants_group *group, struct ants_todo *todo);

/* Is @work in a group that was cancelled? */
static inline bool ants_group_stops(const struct ants_work *work)
{
	return work->group && work->group->cancelled;
}

#define ants_to_delayed(item)	container_of(item, struct ants_delayed_work, work)

/* The item is in no pool from here on, and may go. */
static inline void ants_work_unclaim(struct ants_work *work)
{
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK))
		debug_object_deactivate(work, &ants_work_descr);
	/* Pairs with smp_load_acquire() in work_lock(). */
	smp_store_release(&work->pool, NULL);
}

#endif /* _ANTS_ITEM_H */
