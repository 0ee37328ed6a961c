/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * item.c: what the core does with a work item. All of it under the lock of the
 * pool that the item is in.
 *
 * work->pool says whose lock that is. It is set by whoever queues the item and
 * finds it in no pool, with the lock held, and cleared as the last access when
 * the item ends: then it may be freed.
 */
#ifndef _ANTS_ITEM_H
#define _ANTS_ITEM_H

/**
 * struct ants_work_waiter - a caller that waits for a work item, or a group
 * @node: L: in their list of waiters
 * @task: I: who waits
 * @result: L: that of the work item; the first error of the group
 * @work: L: the next one of the group
 * @all: I: waits for all of the group
 * @done: L: stored with release as the last access by anyone else; pairs with
 *	the acquire in ants_wait_done(). Afterwards the caller touches only its
 *	own stack.
 */
struct ants_work_waiter {
	struct list_head node;
	struct task_struct *task;
	int result;
	struct ants_work *work;
	bool all;
	bool done;
};

void ants_work_move(struct ants_work *work, enum ants_work_state to);
void ants_work_pend(struct ants_pool *pool, struct ants_work *work);
void ants_work_again(struct ants_pool *pool, struct ants_work *work);
bool ants_work_unpend(struct ants_pool *pool, struct ants_work *work);
bool ants_work_not_again(struct ants_pool *pool, struct ants_work *work);
void ants_work_start(struct ants_pool *pool, struct ants_work *work);
void ants_work_finish(struct ants_pool *pool, struct ants_work *work,
		      struct ants_kick *kick);
void ants_work_end(struct ants_pool *pool, struct ants_work *work, int result,
		   struct ants_kick *kick);
void ants_waiter_done(struct ants_work_waiter *waiter, int result,
		      struct ants_kick *kick);
void ants_delayed_arm(struct ants_pool *pool, struct ants_delayed_work *dwork);
void ants_delayed_del(struct ants_pool *pool, struct ants_delayed_work *dwork);
void ants_work_run(void *data);

/* Was it cancelled, and has not ended yet? */
static inline bool ants_work_ends(const struct ants_work *work)
{
	return work->state == ANTS_WORK_CANCELLING ||
	       work->state == ANTS_WORK_DROPPED ||
	       work->state == ANTS_WORK_SKIPPED;
}

static inline struct ants_work *ants_slot_work(struct ants_slot *slot)
{
	return container_of(slot, struct ants_work, slot);
}

/* The caller waits from now on. */
static inline void ants_work_enrol(struct list_head *waiters,
				   struct ants_work_waiter *waiter)
{
	waiter->task = current;
	waiter->done = false;
	list_add_tail(&waiter->node, waiters);
}

/*
 * Makes @pool the one that @work is in. Returns the pool that it is in already,
 * or NULL.
 */
static inline struct ants_pool *ants_work_claim(struct ants_pool *pool,
						struct ants_work *work)
{
	lockdep_assert_held(&pool->lock);
	return cmpxchg(&work->pool, NULL, pool);
}

#endif /* _ANTS_ITEM_H */
