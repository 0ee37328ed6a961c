// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that waits for a work item of its own pool, or for a group of them,
 * joins: if no other thread has started an item, the waiting task takes it off
 * the queue and runs it itself, in its own thread. Meanwhile the item still
 * counts as a task in flight: see join.c.
 *
 * A task that submits an item and finds no room runs it at once, as it would
 * if it waited for the item. So no task sleeps for room that it could only get
 * from tasks like itself, and nothing is queued beyond the bound.
 */
#include "../internal.h"

/*
 * Tasks that run inside a task of the same pool, in its thread: a work item for
 * which that task waits, a member of such a group, or a call. What is known of
 * them is not on the stack of the thread: see estate.h.
 */

/* Return the record for a wait of the innermost task of @w. */
static struct ants_inner *inner_of(const struct ants_worker *w)
{
	return &w->estate->inner[w->depth];
}

/*
 * The innermost task of @w is about to wait. @counted: it is counted in as a
 * caller while it does. Return its waiter, all zero, which is not on its stack:
 * the task may die in what it runs meanwhile.
 */
struct ants_work_waiter *ants_inner_begin(struct ants_worker *w, bool counted)
{
	struct ants_inner *inner = inner_of(w);

	memset(&inner->waiter, 0, sizeof(inner->waiter));
	inner->waits = true;
	inner->counted = counted;
	return &inner->waiter;
}

/* The wait is over, and nothing refers to the waiter any more. */
void ants_inner_end(struct ants_worker *w)
{
	inner_of(w)->waits = false;
}

/* @nr more items, or fewer if negative, run inside tasks. */
static void count_joined(struct ants_pool *pool, int nr)
{
	pool->nr_joined += nr;
	ants_update_admit_limit(pool);
}

/* The innermost task of @w, a work item, has ended. */
static void inner_finish(struct ants_worker *w, struct ants_todo *todo)
{
	struct ants_inner *inner = &w->estate->inner[--w->depth];
	struct ants_pool *pool = w->pool;

	count_joined(pool, -1);
	ants_work_finish(pool, inner->work, todo);
	if (ants_task_uncount(pool, inner->epoch))
		todo->bits |= ANTS_TODO_WAITQ;
}

/*
 * Run @work, which was just taken off its list, inside the task that @w runs.
 * The lock is held on entry and on return.
 */
static void inner_run(struct ants_worker *w, struct ants_work *work,
		      struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	struct ants_inner *inner = inner_of(w);
	struct ants_pool *pool = w->pool;

	inner->epoch = work->slot.tag & ANTS_TAG_EPOCH;
	inner->work = work;
	inner->func_addr = (unsigned long)work->fn;
	inner->release = NULL;
	w->depth++;
	count_joined(pool, 1);
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

static int call_enter(struct ants_worker *w, const struct ants_inner *call)
{
	struct ants_pool *pool = w->pool;
	int err;

	raw_spin_lock_irq(&pool->lock);
	err = ants_closed_error(pool);
	if (!err && w->depth >= ANTS_JOIN_DEPTH)
		err = -EDEADLK;
	if (!err)
		w->estate->inner[w->depth++] = *call;
	/* A scan may have passed this worker already. */
	if (unlikely(pool->scan_mod)) {
		ants_scan_hit(pool, call->func_addr);
		ants_scan_hit(pool, (unsigned long)call->release);
	}
	ants_unlock_irq(pool);
	return err;
}

static void call_leave(struct ants_worker *w)
{
	raw_spin_lock_irq(&w->pool->lock);
	w->depth--;
	ants_unlock_irq(w->pool);
}

/*
 * The function has returned: from here on the one that takes the data runs, and
 * will not run again if it dies.
 */
static void call_releases(struct ants_worker *w)
{
	struct ants_inner *inner = &w->estate->inner[w->depth - 1];

	raw_spin_lock_irq(&w->pool->lock);
	inner->func_addr = (unsigned long)inner->release;
	inner->release = NULL;
	ants_unlock_irq(w->pool);
}

/*
 * A call from a task of the same pool runs here, in a thread of the pool. After
 * it @release, if any, takes @data. Return what @fn returned, or -errno.
 */
int ants_call_inside(struct ants_worker *w, ants_call_fn_t fn, void *data,
		     ants_fn_t release)
{
	const struct ants_inner call = {
		.func_addr = (unsigned long)fn,
		.release = release,
		.data = data,
	};
	int err = call_enter(w, &call), ret = err ?: fn(data);

	if (release) {
		if (!err)
			call_releases(w);
		release(data);
	}
	if (!err)
		call_leave(w);
	return ret;
}

/* A wait of a task that has died ends. */
static void wait_bury(struct ants_pool *pool, struct ants_inner *inner,
		      struct ants_todo *todo)
{
	if (!inner->waits)
		return;
	inner->waits = false;
	if (!inner->waiter.done)
		ants_waiter_withdraw(&inner->waiter, todo);
	if (inner->counted)
		ants_caller_out(pool, todo);
}

/*
 * The waits come first: what they wait for may end when the inner tasks do, and
 * their waiters must not be told.
 */
static void waits_bury(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	unsigned int i;

	ants_lock_batch(pool, &todo, &batch);
	w->waits_for = NULL;
	for (i = 0; i <= w->depth && i < ANTS_JOIN_DEPTH; i++)
		wait_bury(pool, &w->estate->inner[i], &todo);
	ants_dispatch(pool, &todo);
	ants_unlock(pool, &todo);
}

/* The innermost task has died. */
static void innermost_bury(struct ants_worker *w)
{
	struct ants_inner *inner = &w->estate->inner[w->depth - 1];
	struct ants_pool *pool = w->pool;
	struct ants_wake_batch batch;
	struct ants_todo todo;

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

/*
 * The thread of @w has died. End what runs inside its task, from the innermost
 * task outwards: work items with -EFAULT. Return how many there were.
 */
unsigned int ants_inner_bury(struct ants_worker *w)
{
	unsigned int depth = w->depth;

	waits_bury(w);
	while (w->depth)
		innermost_bury(w);
	return depth;
}

/* Take the data of the @nr calls that have died inside of the task of @w. */
void ants_inner_release(struct ants_worker *w, unsigned int nr)
{
	struct ants_inner *inner;

	while (nr--) {
		inner = &w->estate->inner[nr];
		if (!inner->work && inner->release)
			inner->release(inner->data);
	}
}

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
	inner_run(w, work, todo);
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
	struct ants_work_waiter *waiter = &inner_of(w)->waiter;
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

	/* Pairs with smp_store_release() in waiter_done(). */
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
