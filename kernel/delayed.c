// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items that a timer queues. From ants_queue_delayed_work() until it is
 * pending, or has ended, such an item stands in a list of its pool: in
 * pool->delayed while its timer is armed, or about to look, and in the list of
 * pool->late that its priority has when its time has come and there is no place.
 * Whoever ends one whose timer is about to look leaves that to the timer, so that
 * nobody touches it after it has ended.
 */
#include <linux/export.h>

#include "internal.h"

static struct ants_delayed_work *to_delayed(struct ants_work *work)
{
	return container_of(work, struct ants_delayed_work, work);
}

/* It leaves its list, and ends. */
static void delayed_end(struct ants_pool *pool, struct ants_delayed_work *dwork,
			int result, struct ants_kick *kick)
{
	ants_delayed_del(pool, dwork);
	ants_work_end(pool, &dwork->work, result, kick);
}

/* Its time has come: a place, or a place in the FIFO of those that want one. */
static void delayed_due(struct ants_pool *pool, struct ants_delayed_work *dwork,
			struct ants_kick *kick)
{
	if (ants_has_room(pool)) {
		ants_delayed_del(pool, dwork);
		ants_work_pend(pool, &dwork->work);
		ants_wake_next(pool, kick);
		return;
	}
	ants_work_move(&dwork->work, ANTS_WORK_LATE);
	ants_scan_skip(pool, &dwork->node);
	list_move_tail(&dwork->node, &pool->late[dwork->work.prio]);
	pool->has_late = true;
	ants_update_room(pool);
	/* As for a caller that enrols: a batch may hold back who is before it. */
	if (ants_places(pool))
		ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
}

static void delayed_fn(struct timer_list *timer)
{
	struct ants_delayed_work *dwork = timer_container_of(dwork, timer,
							     timer);
	struct ants_pool *pool = dwork->work.pool;
	struct ants_round round;
	struct ants_kick kick;

	ants_lock_round(pool, &kick, &round);
	if (dwork->work.state == ANTS_WORK_DROPPED)
		delayed_end(pool, dwork, -ECANCELED, &kick);
	else if (pool->released)
		delayed_end(pool, dwork, -ESHUTDOWN, &kick);
	else
		delayed_due(pool, dwork, &kick);
	if (pool->released)
		kick.todo |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &kick);
}

/* Ends an item of either list. */
void ants_delayed_cancel(struct ants_pool *pool, struct ants_work *work,
			 struct ants_kick *kick)
{
	struct ants_delayed_work *dwork = to_delayed(work);

	lockdep_assert_held(&pool->lock);
	if (work->state == ANTS_WORK_LATE || timer_delete(&dwork->timer))
		delayed_end(pool, dwork, -ECANCELED, kick);
	else
		ants_work_move(work, ANTS_WORK_DROPPED);
}

static struct ants_delayed_work *first_delayed(struct ants_pool *pool)
{
	struct list_head *list = &pool->delayed;

	if (pool->has_late)
		list = &pool->late[list_empty(&pool->late[ANTS_PRIO_NORMAL])];
	return list_first_entry_or_null(list, struct ants_delayed_work, node);
}

/*
 * Ends an item of a released pool. One whose timer is about to look ends itself,
 * and gets out of the way of the others.
 */
static void fail_one(struct ants_pool *pool, struct ants_delayed_work *dwork,
		     struct ants_kick *kick)
{
	if (dwork->work.state == ANTS_WORK_LATE || timer_delete(&dwork->timer)) {
		delayed_end(pool, dwork, -ESHUTDOWN, kick);
		return;
	}
	/* A scan that comes to the last one has to see it. */
	if (list_is_last(&dwork->node, &pool->delayed))
		return;
	ants_scan_skip(pool, &dwork->node);
	list_move_tail(&dwork->node, &pool->delayed);
}

/* One round of at most @nr items. Returns how many are still to be seen. */
static unsigned int fail_round(struct ants_pool *pool, unsigned int nr)
{
	struct ants_delayed_work *dwork;
	struct ants_round round;
	struct ants_kick kick;
	unsigned int seen;

	ants_lock_round(pool, &kick, &round);
	for (seen = 0; seen < min_t(unsigned int, nr, ANTS_ROUND); seen++) {
		dwork = first_delayed(pool);
		if (!dwork || ants_kick_full(&kick))
			break;
		fail_one(pool, dwork, &kick);
	}
	nr = first_delayed(pool) ? nr - seen : 0;
	kick.todo |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &kick);
	return nr;
}

/* Ends all items of a released pool: none is added any more. */
void ants_delayed_fail_all(struct ants_pool *pool)
{
	unsigned int nr = READ_ONCE(pool->nr_delayed);

	while (nr)
		nr = fail_round(pool, nr);
}

/**
 * ants_delayed_work_init() - make one; see INIT_ANTS_DELAYED_WORK()
 * @dwork: the work item, in no pool
 * @fn: what it runs
 *
 * Context: Any context.
 */
void ants_delayed_work_init(struct ants_delayed_work *dwork, ants_work_fn_t fn)
{
	ants_work_init(&dwork->work, fn);
	timer_setup(&dwork->timer, delayed_fn, 0);
}
EXPORT_SYMBOL_GPL(ants_delayed_work_init);

static int queue_delayed(struct ants_pool *pool,
			 struct ants_delayed_work *dwork, unsigned long delay)
{
	struct ants_work *work = &dwork->work;
	bool again = READ_ONCE(work->pool) == pool;

	if (again && ants_work_ends(work))
		return -ECANCELED;
	if (again && work->state != ANTS_WORK_RUNNING)
		return -EALREADY;
	if (pool->released)
		return -ESHUTDOWN;
	if (!again && ants_work_claim(pool, work))
		return -EALREADY;
	dwork->when = jiffies + delay;
	if (again)
		ants_work_move(work, ANTS_WORK_REARMED);
	else
		ants_delayed_arm(pool, dwork);
	return 0;
}

/**
 * ants_queue_delayed_work() - hand a work item to a pool after a time
 * @pool: the pool
 * @dwork: the work item
 * @delay: in how many jiffies
 *
 * If there is no place then it waits for one. Such items go ahead of callers that
 * wait, but after 8 of them in a row one caller is served. If the pool is
 * released before the item is accepted it ends with the result -ESHUTDOWN. A
 * work item that runs, in this pool, is queued once more, not before it has
 * finished.
 *
 * Context: as ants_queue_work().
 * Return: 0: it will be queued, unless it is cancelled before. -EINVAL: it has
 * no function, or no priority that there is. -EALREADY: it is queued, or in
 * another pool. -ECANCELED: it runs and was told to give up. -ESHUTDOWN: the pool
 * is released.
 */
int ants_queue_delayed_work(struct ants_pool *pool,
			    struct ants_delayed_work *dwork,
			    unsigned long delay)
{
	struct ants_kick kick;
	int err;

	if (unlikely(!dwork->work.fn || dwork->work.prio > ANTS_PRIO_HIGH))
		return -EINVAL;
	ants_lock_any(pool, &kick);
	err = queue_delayed(pool, dwork, delay);
	if (err)
		ants_refused(pool, err);
	ants_unlock_any(pool, &kick);
	return err;
}
EXPORT_SYMBOL_GPL(ants_queue_delayed_work);
