// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that run inside a task of the same pool, in its thread: a call, or a work
 * item.
 *
 * A task that waits for a work item of its own pool, or for a group of them,
 * joins: if no other thread has started an item, the waiting task takes it off
 * the queue and runs it itself. Meanwhile the item still counts as a task in
 * flight.
 *
 * A task that submits an item and finds no room runs it at once, as it would
 * if it waited for the item. So no task sleeps for room that it could only get
 * from tasks like itself, and nothing is queued beyond the bound.
 *
 * What is known of inner tasks is not on the stack of the thread: see worker.h.
 */
#include "../internal.h"

/* The innermost task of @w, a work item, has ended. */
static void inner_finish(struct ants_worker *w, struct ants_todo *todo)
{
	struct ants_inner *inner = &w->inner[--w->depth];
	struct ants_pool *pool = w->pool;

	pool->nr_joined--;
	ants_update_admit_limit(pool);
	ants_work_finish(pool, inner->work, todo);
	if (ants_task_uncount(pool, inner->epoch))
		todo->bits |= ANTS_TODO_WAITQ;
}

/* An item not admitted yet is not taken for a single run: it may go on. */
static bool is_not_admitted(const struct ants_work *work)
{
	return work->state == ANTS_WORK_DUE || work->state == ANTS_WORK_WAITING;
}

/*
 * Take @work off its list, and run it inside the task that @w runs. The lock is
 * held on entry and on return. An item that is not admitted yet is admitted
 * first, whether or not the pool has room: it needs no further thread. If it is
 * queued again while it runs, it keeps that admission, even if the wait ends and
 * leaves it pending.
 */
static void join_run(struct ants_worker *w, struct ants_work *work,
		     struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	struct ants_inner *inner = ants_inner_of(w);
	struct ants_pool *pool = w->pool;

	if (is_not_admitted(work))
		ants_check_over(pool);
	if (work->state == ANTS_WORK_WAITING) {
		ants_waiter_end(pool, work->slot.data, 0, todo);
	} else if (work->state == ANTS_WORK_DUE) {
		ants_delayed_del(pool, ants_to_delayed(work));
		ants_work_pend(pool, work, todo);
	}
	ants_pending_del(pool, &work->slot);
	inner->epoch = work->slot.tag & ANTS_TAG_EPOCH;
	inner->work = work;
	inner->func_addr = (unsigned long)work->fn;
	w->depth++;
	pool->nr_joined++;
	ants_update_admit_limit(pool);
	ants_work_start(w, work);
	ants_dispatch(pool, todo);
	ants_unlock(pool, todo);
	ants_trace(task_start, w);
	ants_work_run(work);
	ants_trace(task_end, w);
	/* An item that queues itself may run in here again and again. */
	ants_give_way();
	ants_lock(pool, todo);
	inner_finish(w, todo);
}

/*
 * The thread of @w has died. End what runs inside its task, from the innermost
 * task outwards: work items with -EFAULT. The waits of the thread end first: what they
 * wait for may end when the inner tasks do, and their waiters must not be told.
 */
void ants_inner_abort(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_inner *inner = w->inner;
	struct ants_todo todo;
	unsigned int i;

	raw_spin_lock_irq(&pool->lock);
	for (i = 0; i <= w->depth; i++)
		if (inner[i].waiter.task)
			ants_waiter_withdraw(&inner[i].waiter);
	ants_unlock_irq(pool);
	while (w->depth) {
		inner = &w->inner[w->depth - 1];
		ants_lock_batch(pool, &todo, &batch);
		if (inner->work) {
			WRITE_ONCE(inner->work->result, -EFAULT);
			pool->counts.lost++;
			inner_finish(w, &todo);
		} else {
			w->depth--;
		}
		ants_dispatch(pool, &todo);
		ants_unlock(pool, &todo);
	}
}

/*
 * Would @w wait for itself? A wait for a running item lasts until its worker
 * has finished the item, and that worker may itself wait for an item. A chain
 * of such waits that is longer than one lock hold allows is not followed to its end.
 */
static bool never_ends(const struct ants_worker *w, const struct ants_work *work)
{
	const struct ants_work_waiter *waiter;
	struct ants_worker *runner;
	unsigned int i;

	for (i = 0; work && i < ANTS_HOLD_MAX; i++) {
		runner = ants_work_runner(work);
		if (!runner || runner == w)
			return runner;
		waiter = &ants_inner_of(runner)->waiter;
		work = waiter->done ? NULL : waiter->work;
	}
	return false;
}

/* The tasks of an ordered pool start in order, and a stack is finite. */
static bool may_join(const struct ants_worker *w)
{
	return !w->pool->ordered && w->depth < ANTS_JOIN_DEPTH;
}

/*
 * May the caller run @work, which it submits to @pool? A detached item may be
 * gone before join.c has counted its end. In worker_init and worker_exit there
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

/**
 * struct join - a task that waits for a work item or a group of its own pool
 * @w: the worker of the task
 * @waiter: the waiter. Its item is there as long as @done of the waiter is not set
 * @group: the group, as long as @done of the waiter is not set, or NULL
 * @seen: nr_offers of the group before its members were scanned
 * @for_good: the wait has no time limit
 * @counted: the task sleeps, and pool->nr_joining counts it
 */
struct join {
	struct ants_worker *w;
	struct ants_work_waiter *waiter;
	struct ants_group *group;
	unsigned int seen;
	bool for_good;
	bool counted;
};

/* Has the item not been started? */
static bool can_take(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_PENDING)
		return true;
	return is_not_admitted(work) && !ants_closed_error(pool);
}

/*
 * Return the next item that the task can run, or NULL. Of a group no more members
 * are scanned than one lock hold allows. A member that leaves the group moves the
 * cursor, as it moves that of a cancel.
 */
static struct ants_work *next_item(const struct join *join)
{
	const struct ants_work_waiter *waiter = join->waiter;
	const struct ants_pool *pool = join->w->pool;
	struct ants_group *group = join->group;
	struct ants_work *work = waiter->work;
	unsigned int i;

	if (!waiter->joins || waiter->done)
		return NULL;
	if (!group)
		return can_take(pool, work) ? work : NULL;
	for (i = 0; i < ANTS_HOLD_MAX && group->join_at != &group->works; i++) {
		work = list_entry(group->join_at, struct ants_work, in_group);
		if (work->group == group && can_take(pool, work))
			return work;
		group->join_at = work->in_group.next;
	}
	return NULL;
}

/*
 * Has the wait ended, or can something be run: the item, or a member that was not
 * seen when the members were scanned?
 */
static bool join_ready(struct ants_pool *pool, const void *arg)
{
	const struct join *join = arg;

	lockdep_assert_held(&pool->lock);
	if (join->waiter->done)
		return true;
	return join->group ? join->group->nr_offers != join->seen :
			     !!next_item(join);
}

/*
 * The task has nothing to run: does its wait depend on other workers? Not if it
 * has a time limit, or if the timer of the item makes progress. A task that does not
 * join has not noted the item.
 */
static bool needs_others(const struct join *join)
{
	const struct ants_work_waiter *waiter = join->waiter;

	if (!join->for_good || join_ready(join->w->pool, join))
		return false;
	return join->group || !waiter->joins ||
	       (waiter->work->state != ANTS_WORK_DELAYED &&
		waiter->work->state != ANTS_WORK_DROPPED);
}

/*
 * Run what no other thread has started. Return true if the wait has ended.
 * Otherwise the task is about to sleep until others have made progress. As for
 * callers that wait for room in their own pool, one worker must be left that does
 * not wait. If this was the last one, the newest of those callers gives up.
 */
static bool join_help(struct join *join)
{
	struct ants_work_waiter *waiter = join->waiter;
	struct ants_group *group = join->group;
	struct ants_worker *w = join->w;
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_work *work;
	struct ants_todo todo;
	bool done, more;

	/* May wake a caller that gives up, and those that wait for its item. */
	ants_lock_batch(pool, &todo, &batch);
	if (group && !waiter->done) {
		join->seen = group->nr_offers;
		group->join_at = group->works.next;
	}
	for (;;) {
		while ((work = next_item(join)))
			join_run(w, work, &todo);
		if (!group || waiter->done)
			break;
		/*
		 * The room that members have left goes to callers that wait before
		 * one of them has to give up. The next hold goes on with the members.
		 */
		more = group->join_at != &group->works;
		ants_dispatch(pool, &todo);
		ants_unlock(pool, &todo);
		ants_lock(pool, &todo);
		if (!more)
			break;
	}
	join->counted = needs_others(join);
	if (join->counted) {
		pool->nr_joining++;
		if (pool->waiters.nr_nested &&
		    pool->waiters.nr_nested + pool->nr_joining >= pool->limits.capacity)
			ants_waiter_end(pool, list_last_entry(&pool->waiters.nested,
							      struct ants_waiter,
							      nested),
					-EDEADLK, &todo);
	}
	ants_dispatch(pool, &todo);
	done = waiter->done;
	/*
	 * The caller that gave up for it may have been the submitter of the
	 * item.
	 */
	pool->nr_joining -= done && join->counted;
	ants_unlock(pool, &todo);
	return done;
}

/* Enqueue the task that @w runs as a waiter for @work, if it may wait. */
int ants_join_enter(struct ants_worker *w, struct ants_work *work,
		    enum ants_until until)
{
	struct ants_work_waiter *waiter = &ants_inner_of(w)->waiter;
	const struct ants_work_waiter *leader;
	unsigned int nr_joiners = 0;

	lockdep_assert_held(&w->pool->lock);
	if (never_ends(w, work) || !may_join(w))
		return -EDEADLK;
	if (until != ANTS_UNTIL_END && is_not_admitted(work))
		return -EDEADLK;
	hlist_for_each_entry(leader, &work->waiters, link)
		nr_joiners += leader->joins;
	*waiter = (struct ants_work_waiter){ .until = until };
	/*
	 * This is set in the section that checks: of two tasks that wait for
	 * each other, the second one sees the first.
	 */
	if (nr_joiners < ANTS_JOINERS) {
		waiter->joins = true;
		waiter->work = work;
	}
	ants_work_await(&work->waiters, waiter);
	return 0;
}

/*
 * Check whether the task that @w runs may wait for the group. A member of it would
 * wait for its own end.
 */
int ants_join_check(const struct ants_worker *w, const struct ants_group *group)
{
	const struct ants_work *work = w->data;
	unsigned int i;

	lockdep_assert_held(&w->pool->lock);
	if (!may_join(w))
		return -EDEADLK;
	/* In worker_exit the item that ran last may be gone. */
	if (w->fn && w->tag & ANTS_TAG_WORK && work->group == group)
		return -EDEADLK;
	for (i = 0; i < w->depth; i++) {
		work = w->inner[i].work;
		if (work && work->group == group)
			return -EDEADLK;
	}
	return 0;
}

/*
 * The waiter of the innermost task of @w is enqueued, for @group if not NULL, else for an
 * item. Help, and sleep, until it is notified, and copy it to @own. The pool stays,
 * because the caller is one of its tasks. Return 0, -ETIMEDOUT or -EINTR.
 */
int ants_join_wait(struct ants_worker *w, struct ants_group *group, unsigned long timeout,
		   struct ants_work_waiter *own)
{
	struct join join = {
		.w = w,
		.waiter = &ants_inner_of(w)->waiter,
		.group = group,
		.for_good = timeout >= MAX_SCHEDULE_TIMEOUT,
	};
	struct ants_pool *pool = w->pool;
	unsigned int state = ants_killable_state(pool, 0);
	unsigned long start = jiffies;
	int err = 0;

	while (!err && !join_help(&join)) {
		err = ants_wait_ready(pool, join_ready, &join,
				      ants_time_left(start, timeout), state);
		raw_spin_lock_irq(&pool->lock);
		pool->nr_joining -= join.counted;
		ants_unlock_irq(pool);
	}
	if (err && !ants_work_withdraw(pool, join.waiter))
		err = 0;
	*own = *join.waiter;
	return err;
}
