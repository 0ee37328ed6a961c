// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that waits for a work item of its own pool, or for a group of them,
 * joins: if no other thread has started an item, the waiting task takes it off
 * the queue and runs it itself, in its own thread. Meanwhile the item still
 * counts as a task in flight: see inner.c.
 *
 * A task that submits an item and finds no room runs it at once, as it would
 * if it waited for the item. So no task sleeps for room that it could only get
 * from tasks like itself, and nothing is queued beyond the bound.
 */
#include "internal.h"

/**
 * struct join - a task that waits for a work item of its own pool
 * @w: the worker of the task
 * @work: the item, as long as neither @done nor @ended of the waiter is set, if
 *	it joins; otherwise the item may be gone
 * @waiter: the waiter
 * @for_good: the wait has no time limit
 */
struct join {
	struct ants_worker *w;
	struct ants_work *work;
	struct ants_work_waiter *waiter;
	bool for_good;
};

/*
 * Would @w wait for itself? A wait for a running item lasts until its worker
 * has finished the item, and that worker may itself wait for an item. A chain
 * of such waits that is longer than one hold allows is not followed to its end.
 */
static bool never_ends(const struct ants_worker *w, const struct ants_work *work)
{
	const struct ants_worker *runner;
	unsigned int i;

	for (i = 0; work && i < ANTS_HOLD_MAX; i++) {
		runner = ants_work_runner(work);
		if (runner == w)
			return true;
		work = runner ? runner->waits_for : NULL;
	}
	return false;
}

/* The tasks of an ordered pool start in order, and a stack is finite. */
static bool may_join(const struct ants_worker *w)
{
	return !w->pool->ordered && w->depth < ANTS_JOIN_DEPTH;
}

/* An item not admitted yet is not taken for a single run: it may go on. */
static bool is_not_admitted(const struct ants_work *work)
{
	return work->state == ANTS_WORK_DUE || work->state == ANTS_WORK_WAITING;
}

static unsigned int nr_joiners(const struct ants_work *work)
{
	const struct ants_work_waiter *leader, *waiter;
	unsigned int nr = 0;

	hlist_for_each_entry(leader, &work->waiters, link) {
		if (!leader->joins)
			continue;
		nr++;
		list_for_each_entry(waiter, &leader->node, node)
			nr++;
	}
	return nr;
}

/* Enqueue the task that @w runs as a waiter for @work, if it may wait. */
int ants_join_enter(struct ants_worker *w, struct ants_work *work,
		    enum ants_until until)
{
	struct ants_work_waiter *waiter;

	lockdep_assert_held(&w->pool->lock);
	if (never_ends(w, work) || !may_join(w))
		return -EDEADLK;
	if (until != ANTS_UNTIL_END && is_not_admitted(work))
		return -EDEADLK;
	waiter = ants_inner_begin(w, false);
	waiter->until = until;
	waiter->joins = nr_joiners(work) < ANTS_JOINERS;
	waiter->worker = w;
	/*
	 * This is set in the section that checks: of two tasks that wait for
	 * each other, the second one sees the first.
	 */
	if (waiter->joins)
		w->waits_for = work;
	ants_work_await(work, waiter);
	return 0;
}

/* Has the item not been started? */
static bool can_take(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_PENDING)
		return true;
	return is_not_admitted(work) && !ants_closed_error(pool);
}

/* Is there anything that the task can run? */
static bool can_help(const struct join *join)
{
	const struct ants_work_waiter *waiter = join->waiter;

	return waiter->joins && !waiter->done && !waiter->ended &&
	       can_take(join->w->pool, join->work);
}

static bool join_ready(struct ants_pool *pool, const void *arg)
{
	const struct join *join = arg;

	lockdep_assert_held(&pool->lock);
	return join->waiter->done || can_help(join);
}

/*
 * A task is about to sleep until others have made progress. As for callers that
 * wait for room in their own pool, one worker must be left that does not wait.
 * If this was the last one, the newest of those callers gives up.
 */
static void sleep_begin(struct ants_pool *pool, struct ants_todo *todo)
{
	struct ants_waiter *waiter;

	pool->nr_joining++;
	if (!pool->waiters.nr_nested ||
	    pool->waiters.nr_nested + pool->nr_joining < pool->limits.capacity)
		return;
	waiter = list_last_entry(&pool->waiters.nested, struct ants_waiter, nested);
	ants_waiter_end(pool, waiter, -EDEADLK, todo);
}

/* Does the item make progress by its own timer? */
static bool comes_by_itself(const struct ants_work *work)
{
	return work->state == ANTS_WORK_DELAYED ||
	       work->state == ANTS_WORK_DROPPED;
}

/*
 * Does the task, which is about to sleep, depend on other workers? Of a task that does
 * not join nothing says that the item has ended, and so may be gone.
 */
static bool needs_others(const struct join *join)
{
	const struct ants_work_waiter *waiter = join->waiter;

	if (!join->for_good || waiter->done || waiter->ended)
		return false;
	return !waiter->joins || !comes_by_itself(join->work);
}

/*
 * Take an item off its list. One that is not admitted yet is admitted first,
 * whether or not the pool has room: it needs no further thread. If it is queued
 * again while it runs, it keeps that admission, even if the wait ends and leaves
 * it pending.
 */
static void take_off(struct ants_pool *pool, struct ants_work *work,
		     struct ants_todo *todo)
{
	if (is_not_admitted(work))
		ants_check_over(pool);
	if (work->state == ANTS_WORK_WAITING) {
		ants_waiter_end(pool, work->slot.data, 0, todo);
	} else if (work->state == ANTS_WORK_DUE) {
		ants_delayed_del(pool, ants_to_delayed(work));
		ants_work_pend(pool, work, todo);
	}
	ants_pending_del(pool, &work->slot);
}

/*
 * Run @work inside the task that @w runs. The lock is held on entry and on
 * return.
 */
static void join_run(struct ants_worker *w, struct ants_work *work,
		     struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	take_off(w->pool, work, todo);
	ants_inner_run(w, work, todo);
}

/*
 * May the caller run @work, which it submits to @pool? A detached item may be
 * gone before inner.c has counted its end. In worker_init and worker_exit there
 * is no task around it.
 */
bool ants_join_may_run(struct ants_pool *pool, const struct ants_work *work)
{
	const struct ants_worker *w = ants_worker_of(pool);

	return w && w->fn && may_join(w) && !(work->flags & ANTS_WORK_DETACHED);
}

/*
 * Run @work, which was just accepted beyond the bound, inside the task that
 * submits it. The lock is held on entry and on return.
 */
void ants_join_at_once(struct ants_pool *pool, struct ants_work *work,
		       struct ants_todo *todo)
	__must_hold(&pool->lock)
{
	ants_check_over(pool);
	join_run(ants_worker_of(pool), work, todo);
	ants_dispatch(pool, todo);
}

/* Run the item; while it runs here, the task does not wait for it. */
static void join_once(const struct join *join, struct ants_todo *todo)
	__must_hold(&join->w->pool->lock)
{
	struct ants_worker *w = join->w;

	w->waits_for = NULL;
	join_run(w, join->work, todo);
	if (!join->waiter->done && !join->waiter->ended)
		w->waits_for = join->work;
}

/*
 * Run the item as long as no other thread does. Return true if it has ended.
 * Otherwise the task is about to sleep; *@counted says whether nr_joining
 * counts it.
 */
static bool join_help(const struct join *join, bool *counted)
{
	struct ants_worker *w = join->w;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool done;

	ants_lock_batch(w->pool, &todo, &batch);
	while (can_help(join))
		join_once(join, &todo);
	done = join->waiter->done || join->waiter->ended;
	*counted = needs_others(join);
	if (*counted)
		sleep_begin(w->pool, &todo);
	ants_dispatch(w->pool, &todo);
	done = join->waiter->done;
	/*
	 * The caller that gave up for it may have been the submitter of the
	 * item.
	 */
	w->pool->nr_joining -= done && *counted;
	ants_unlock(w->pool, &todo);
	return done;
}

static void sleep_end(struct ants_pool *pool, bool counted)
{
	raw_spin_lock_irq(&pool->lock);
	pool->nr_joining -= counted;
	ants_unlock_irq(pool);
}

/* The wait is over. If the item has ended, this was done then. */
static void waits_for_none(struct ants_worker *w)
{
	raw_spin_lock_irq(&w->pool->lock);
	w->waits_for = NULL;
	ants_unlock_irq(w->pool);
}

static int join_work(struct ants_worker *w, struct ants_work *work,
		     struct ants_work_waiter *waiter, unsigned long timeout)
{
	const struct join join = {
		.w = w,
		.work = work,
		.waiter = waiter,
		.for_good = timeout >= MAX_SCHEDULE_TIMEOUT,
	};
	unsigned int state = ants_killable_state(w->pool, 0);
	unsigned long start = jiffies;
	bool counted = false;
	int err = 0;

	while (!err && !join_help(&join, &counted)) {
		err = ants_wait_ready(w->pool, join_ready, &join,
				      ants_time_left(start, timeout), state);
		sleep_end(w->pool, counted);
	}
	if (!err)
		return 0;
	waits_for_none(w);
	return ants_work_withdraw(w->pool, waiter) ? err : 0;
}

/*
 * Wait for the event that ants_join_enter() was told, and store the result of
 * the item. The pool stays, because the caller is one of its tasks. Return 0,
 * -ETIMEDOUT or -EINTR.
 */
int ants_join_work(struct ants_worker *w, struct ants_work *work,
		   unsigned long timeout, int *result)
{
	struct ants_work_waiter *waiter = &ants_inner_of(w)->waiter;
	int err = join_work(w, work, waiter, timeout);

	*result = waiter->result;
	ants_inner_end(w);
	return err;
}

/* Does @w run a member of the group? It would wait for its own end. */
static bool runs_member(const struct ants_worker *w,
			const struct ants_group *group)
{
	const struct ants_work *work = w->data;
	unsigned int i;

	/* In worker_exit the item that ran last may be gone. */
	if (w->fn && w->tag & ANTS_TAG_WORK && work->group == group)
		return true;
	for (i = 0; i < w->depth; i++) {
		work = w->estate->inner[i].work;
		if (work && work->group == group)
			return true;
	}
	return false;
}

/* Check whether the task that @w runs may wait for the group. */
int ants_join_check(const struct ants_worker *w, const struct ants_group *group)
{
	lockdep_assert_held(&w->pool->lock);
	return runs_member(w, group) || !may_join(w) ? -EDEADLK : 0;
}

/**
 * struct group_join - a task that waits for a group of its own pool
 * @w: the worker of the task
 * @group: the group, as long as @done of the waiter is not set
 * @waiter: the waiter
 * @seen: nr_offers of the group before its members were scanned
 */
struct group_join {
	struct ants_worker *w;
	struct ants_group *group;
	struct ants_work_waiter *waiter;
	unsigned int seen;
};

/*
 * Return the next member that has not been started, or NULL; scan no more
 * members than one hold allows. A member that leaves the list moves the cursor,
 * as it moves that of a cancel.
 */
static struct ants_work *find_member(struct ants_group *group)
{
	struct ants_work *work;
	unsigned int i;

	for (i = 0; i < ANTS_HOLD_MAX && group->join_at != &group->works; i++) {
		work = list_entry(group->join_at, struct ants_work, in_group);
		if (work->group == group && can_take(group->pool, work))
			return work;
		group->join_at = work->in_group.next;
	}
	return NULL;
}

static bool group_done(const struct group_join *join)
{
	return join->waiter->done;
}

/* One hold of the lock. Return true if there are members it has not seen. */
static bool help_round(struct group_join *join, bool first)
{
	struct ants_pool *pool = join->w->pool;
	struct ants_group *group = join->group;
	struct ants_work *work;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool more;

	ants_lock_batch(pool, &todo, &batch);
	if (first && !group_done(join)) {
		join->seen = group->nr_offers;
		group->join_at = group->works.next;
	}
	while (!group_done(join) && (work = find_member(group)))
		join_run(join->w, work, &todo);
	more = !group_done(join) && group->join_at != &group->works;
	ants_dispatch(pool, &todo);
	ants_unlock(pool, &todo);
	return more;
}

/* Can another member be run since the members were scanned? */
static bool group_ready(struct ants_pool *pool, const void *arg)
{
	const struct group_join *join = arg;

	lockdep_assert_held(&pool->lock);
	return group_done(join) || join->group->nr_offers != join->seen;
}

/*
 * The task is about to sleep, unless there is something to run. Return true if
 * nr_joining counts it.
 */
static bool group_sleep_begin(const struct group_join *join, bool for_good)
{
	struct ants_pool *pool = join->w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	bool counted;

	/*
	 * May wake the caller that gives up, and those that wait for its work
	 * item.
	 */
	ants_lock_batch(pool, &todo, &batch);
	counted = for_good && !group_ready(pool, join);
	if (counted)
		sleep_begin(pool, &todo);
	ants_unlock(pool, &todo);
	return counted;
}

/* Wait as @waiter, which is enqueued, says. Return 0, -ETIMEDOUT or -EINTR. */
int ants_join_group(struct ants_worker *w, struct ants_group *group,
		    struct ants_work_waiter *waiter, unsigned long timeout)
{
	struct group_join join = { .w = w, .group = group, .waiter = waiter };
	bool counted, for_good = timeout >= MAX_SCHEDULE_TIMEOUT;
	unsigned int state = ants_killable_state(w->pool, 0);
	unsigned long start = jiffies;
	int err = 0;

	/* Pairs with smp_store_release() in ants_waiter_done(). */
	while (!err && !smp_load_acquire(&waiter->done)) {
		if (help_round(&join, true))
			while (help_round(&join, false))
				;
		counted = group_sleep_begin(&join, for_good);
		err = ants_wait_ready(w->pool, group_ready, &join,
				      ants_time_left(start, timeout), state);
		sleep_end(w->pool, counted);
	}
	return err && ants_work_withdraw(w->pool, waiter) ? err : 0;
}
