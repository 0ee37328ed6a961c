// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items that a timer queues. From ants_queue_delayed_work() until it is
 * pending, or has ended, such an item stands in one of two lists of its pool:
 * in pool->delayed while its timer is armed, or about to look, and in
 * pool->late when its time has come and there is no place. While its timer is
 * about to look nobody else ends the item or arms the timer, so that the timer
 * never touches an item that has ended: what is to be done is left in its state
 * and in @when, and the timer does it.
 */
#include <linux/export.h>

#include "internal.h"

static struct ants_delayed_work *to_delayed(struct ants_work *work)
{
	return container_of(work, struct ants_delayed_work, work);
}

/* Its next run is due at @when, not before the one in progress has ended. */
static void delayed_rearm(struct ants_delayed_work *dwork, unsigned long when)
{
	dwork->when = when;
	ants_work_move(&dwork->work, ANTS_WORK_REARMED);
}

/* One that was cancelled while its timer was about to look is queued again. */
void ants_delayed_revive(struct ants_delayed_work *dwork, unsigned long when)
{
	dwork->when = when;
	ants_work_move(&dwork->work, ANTS_WORK_DELAYED);
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
		ants_work_pend(pool, &dwork->work, kick);
		ants_wake_next(pool, kick);
		return;
	}
	ants_work_move(&dwork->work, ANTS_WORK_LATE);
	ants_work_offer(&dwork->work, kick);
	ants_scan_skip(pool, &dwork->node);
	list_move_tail(&dwork->node, &pool->late[dwork->work.prio]);
	pool->has_late = true;
	ants_update_room(pool);
	/* As for a caller that enrols: a batch may hold back who is before it. */
	if (ants_places(pool))
		ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
}

/**
 * ants_delayed_timer_fn() - what the timer of a delayed work item calls
 * @timer: the timer
 *
 * Exported for DEFINE_ANTS_DELAYED_WORK(), and for nothing else.
 *
 * Context: Softirq.
 */
void ants_delayed_timer_fn(struct timer_list *timer)
{
	struct ants_delayed_work *dwork = timer_container_of(dwork, timer,
							     timer);
	/* Others may try to claim it. */
	struct ants_pool *pool = READ_ONCE(dwork->work.pool);
	struct ants_round round;
	struct ants_kick kick;

	ants_pause_atomic(ANTS_PAUSE_DUE, pool);
	ants_lock_round(pool, &kick, &round);
	if (dwork->work.state == ANTS_WORK_DROPPED)
		delayed_end(pool, dwork, -ECANCELED, &kick);
	else if (pool->released)
		delayed_end(pool, dwork, -ESHUTDOWN, &kick);
	else if (time_before(jiffies, dwork->when))
		mod_timer(&dwork->timer, dwork->when);
	else
		delayed_due(pool, dwork, &kick);
	if (pool->released)
		kick.todo |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &kick);
}
EXPORT_SYMBOL_GPL(ants_delayed_timer_fn);

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
	unsigned int nr = ants_peek(pool->nr_delayed);

	while (nr)
		nr = fail_round(pool, nr);
}

/**
 * ants_delayed_work_init() - make one; see INIT_ANTS_DELAYED_WORK()
 * @dwork: the work item, in no pool
 * @fn: what it runs
 * @flags: bits of enum ants_work_flags
 *
 * Context: Any context.
 */
void ants_delayed_work_init(struct ants_delayed_work *dwork, ants_work_fn_t fn,
			    unsigned int flags)
{
	ants_work_init(&dwork->work, fn, flags);
	timer_setup(&dwork->timer, ants_delayed_timer_fn, 0);
}
EXPORT_SYMBOL_GPL(ants_delayed_work_init);

/**
 * ants_delayed_work_init_onstack() - make one on the stack; see
 *	INIT_ANTS_DELAYED_WORK_ONSTACK()
 * @dwork: the work item; ants_destroy_delayed_work_on_stack() before it goes
 * @fn: what it runs
 *
 * Context: Any context.
 */
void ants_delayed_work_init_onstack(struct ants_delayed_work *dwork,
				    ants_work_fn_t fn)
{
	ants_work_init(&dwork->work, fn, 0);
	timer_setup_on_stack(&dwork->timer, ants_delayed_timer_fn, 0);
}
EXPORT_SYMBOL_GPL(ants_delayed_work_init_onstack);

/**
 * ants_destroy_delayed_work_on_stack() - a delayed work item leaves the stack
 * @dwork: the work item, in no pool
 *
 * Tells the kernel's checkers of timers; without them it does nothing.
 *
 * Context: Any context.
 */
void ants_destroy_delayed_work_on_stack(struct ants_delayed_work *dwork)
{
	timer_destroy_on_stack(&dwork->timer);
}
EXPORT_SYMBOL_GPL(ants_destroy_delayed_work_on_stack);

/* The same for one that is in @pool already. */
static int queue_delayed_again(struct ants_pool *pool,
			       struct ants_delayed_work *dwork,
			       unsigned long when)
{
	int err = ants_work_may_run_again(pool, &dwork->work);

	if (err)
		return err;
	if (dwork->work.state == ANTS_WORK_DROPPED)
		ants_delayed_revive(dwork, when);
	else
		delayed_rearm(dwork, when);
	return 0;
}

static int queue_delayed(struct ants_pool *pool,
			 struct ants_delayed_work *dwork, unsigned long when)
{
	struct ants_work *work = &dwork->work;
	struct ants_pool *other = READ_ONCE(work->pool);

	if (other == pool)
		return queue_delayed_again(pool, dwork, when);
	/* As queue() in work.c: where the item is, before what this pool is. */
	if (other)
		return -EALREADY;
	if (pool->released)
		return -ESHUTDOWN;
	if (ants_work_claim(pool, work))
		return -EALREADY;
	dwork->when = when;
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
 * another pool. -ECANCELED: a caller of ants_work_cancel_sync() waits for its end,
 * or its group is cancelled. -ESHUTDOWN: the pool is released.
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
	err = queue_delayed(pool, dwork, jiffies + delay);
	if (err)
		ants_refused(pool, err);
	ants_unlock_any(pool, &kick);
	return err;
}
EXPORT_SYMBOL_GPL(ants_queue_delayed_work);

/* May the run that is queued be put off? It is in @pool. */
static int check_mod(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_WAITING)
		return -EALREADY;
	if (work->state == ANTS_WORK_SKIPPED ||
	    work->flags & ANTS_WORK_CLOSED || ants_group_stops(work))
		return -ECANCELED;
	return pool->released ? -ESHUTDOWN : 0;
}

/* Puts off one that does not run. */
static void mod_waiting(struct ants_pool *pool, struct ants_delayed_work *dwork,
			unsigned long when, struct ants_kick *kick)
{
	struct ants_work *work = &dwork->work;

	if (work->state == ANTS_WORK_DELAYED) {
		dwork->when = when;
		/* One that is about to look looks at @when. */
		if (timer_delete(&dwork->timer))
			mod_timer(&dwork->timer, when);
		return;
	}
	if (work->state == ANTS_WORK_LATE)
		ants_delayed_del(pool, dwork);
	else
		ants_work_take_off(pool, work, kick);
	dwork->when = when;
	ants_delayed_arm(pool, dwork);
}

/* Returns 1 if it was queued. */
static int mod_again(struct ants_pool *pool, struct ants_delayed_work *dwork,
		     unsigned long when, struct ants_kick *kick)
{
	struct ants_work *work = &dwork->work;
	int err = check_mod(pool, work);

	if (err)
		return err;
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_DROPPED:
		ants_delayed_revive(dwork, when);
		return 0;
	case ANTS_WORK_RUNNING:
		delayed_rearm(dwork, when);
		return 0;
	case ANTS_WORK_AGAIN:
		ants_work_take_off(pool, work, kick);
		delayed_rearm(dwork, when);
		return 1;
	case ANTS_WORK_REARMED:
		dwork->when = when;
		return 1;
	default:
		mod_waiting(pool, dwork, when, kick);
		return 1;
	}
}

/**
 * ants_mod_delayed_work() - queue a delayed work item, or put off its next run
 * @pool: the pool
 * @dwork: the work item
 * @delay: in how many jiffies from now it is due
 *
 * A run that is queued, and has not started, is due after @delay instead, be it
 * sooner or later than before. Else as ants_queue_delayed_work().
 *
 * Context: as ants_queue_work().
 * Return: 1: it was queued, and that run has been put off. 0: it was not, and is
 * queued now. -EALREADY: a caller of ants_queue_work_timeout() waits with it, or
 * it is in another pool. -EINVAL, -ECANCELED, -ESHUTDOWN: as
 * ants_queue_delayed_work(); nothing has changed.
 */
int ants_mod_delayed_work(struct ants_pool *pool,
			  struct ants_delayed_work *dwork, unsigned long delay)
{
	unsigned long when = jiffies + delay;
	struct ants_round round;
	struct ants_kick kick = { .round = &round };
	int ret;

	if (unlikely(!dwork->work.fn || dwork->work.prio > ANTS_PRIO_HIGH))
		return -EINVAL;
	ants_lock_any(pool, &kick);
	if (READ_ONCE(dwork->work.pool) == pool)
		ret = mod_again(pool, dwork, when, &kick);
	else
		ret = queue_delayed(pool, dwork, when);
	if (ret < 0)
		ants_refused(pool, ret);
	ants_place_freed(pool, &kick);
	ants_unlock_any(pool, &kick);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_mod_delayed_work);
