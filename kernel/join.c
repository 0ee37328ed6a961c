// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that waits for a work item of its own pool, or for a group of them, joins:
 * while nobody else has started an item the waiting task takes it off the queue and
 * runs it itself, in its own thread. The item keeps its place among the tasks in
 * flight meanwhile.
 */
#include "internal.h"

/* A task that joins. */
struct join {
	const struct ants_work *work;
	const struct ants_work_waiter *waiter;
};

/*
 * Would @w wait for itself? An item that runs is waited for until its worker has
 * finished it, and that one may wait for an item, too. A chain that is longer
 * than a hold of the lock may be is not followed to its end.
 */
static bool never_ends(const struct ants_worker *w, const struct ants_work *work)
{
	const struct ants_worker *runner;
	unsigned int i;

	for (i = 0; work && i < ANTS_ROUND; i++) {
		runner = ants_work_runner(work);
		if (runner == w)
			return true;
		work = runner ? runner->waits_for : NULL;
	}
	return false;
}

static unsigned int depth_of(const struct ants_worker *w)
{
	const struct ants_frame *frame;
	unsigned int depth = 0;

	for (frame = w->frame; frame; frame = frame->outer)
		depth++;
	return depth;
}

/* The tasks of an ordered pool start in order, and the stack is finite. */
static bool may_join(const struct ants_worker *w)
{
	return !w->pool->ordered && depth_of(w) < ANTS_JOIN_DEPTH;
}

/* An item that has no place yet is not taken for one run only: it may go on. */
static bool has_no_place(const struct ants_work *work)
{
	return work->state == ANTS_WORK_LATE || work->state == ANTS_WORK_WAITING;
}

/* The task that @w runs waits for @work from now on, or must not. */
int ants_join_enter(struct ants_worker *w, struct ants_work *work,
		    struct ants_work_waiter *waiter)
{
	lockdep_assert_held(&w->pool->lock);
	if (never_ends(w, work) || !may_join(w))
		return -EDEADLK;
	if (waiter->until != ANTS_UNTIL_END && has_no_place(work))
		return -EDEADLK;
	waiter->joins = true;
	ants_work_await(work, waiter);
	return 0;
}

/* Has nobody started it? */
static bool can_take(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_PENDING)
		return true;
	return has_no_place(work) && !pool->released;
}

static bool join_ready(struct ants_pool *pool, const void *arg)
{
	const struct join *join = arg;

	lockdep_assert_held(&pool->lock);
	return join->waiter->done || can_take(pool, join->work);
}

/* It is accepted first if it is not yet, whether or not there is a place. */
static void take_off(struct ants_pool *pool, struct ants_work *work,
		     struct ants_kick *kick)
{
	if (work->state == ANTS_WORK_WAITING) {
		ants_waiter_end(pool, work->slot.data, 0, kick);
	} else if (work->state == ANTS_WORK_LATE) {
		ants_delayed_del(pool, container_of(work,
						    struct ants_delayed_work,
						    work));
		ants_work_pend(pool, work, kick);
	}
	ants_pending_del(pool, &work->slot);
}

static void frame_push(struct ants_worker *w, struct ants_frame *frame)
{
	frame->outer = w->frame;
	w->frame = frame;
}

static void frame_pop(struct ants_worker *w)
{
	w->frame = w->frame->outer;
}

/* @nr items more, or less, run inside tasks. */
static void count_joined(struct ants_pool *pool, int nr)
{
	pool->nr_joined += nr;
	ants_update_room(pool);
}

/* Runs @work inside the task that @w runs. Entered and left with the lock held. */
static void join_run(struct ants_worker *w, struct ants_work *work,
		     struct ants_kick *kick)
	__must_hold(&w->pool->lock)
{
	struct ants_pool *pool = w->pool;
	struct ants_frame frame = {
		.work = work,
		.text = { (unsigned long)work->fn },
	};
	unsigned int epoch;

	take_off(pool, work, kick);
	epoch = work->slot.tag & ANTS_TAG_EPOCH;
	frame_push(w, &frame);
	count_joined(pool, 1);
	ants_work_start(w, work);
	ants_dispatch(pool, kick);
	ants_unlock(pool, kick);
	ants_work_run(work);
	ants_lock(pool, kick);
	frame_pop(w);
	count_joined(pool, -1);
	ants_work_finish(pool, work, kick);
	if (ants_task_uncount(pool, epoch))
		kick->todo |= ANTS_TODO_WAITQ;
}

/* Runs it as long as nobody else does. Returns true if it has ended. */
static bool join_help(struct ants_worker *w, struct ants_work *work,
		      struct ants_work_waiter *waiter)
{
	struct ants_pool *pool = w->pool;
	struct ants_round round;
	struct ants_kick kick;
	bool done;

	ants_lock_round(pool, &kick, &round);
	w->waits_for = NULL;
	while (!waiter->done && can_take(pool, work))
		join_run(w, work, &kick);
	done = waiter->done;
	if (!done)
		w->waits_for = work;
	ants_dispatch(pool, &kick);
	ants_unlock(pool, &kick);
	return done;
}

static void waits_for_none(struct ants_worker *w)
{
	raw_spin_lock_irq(&w->pool->lock);
	w->waits_for = NULL;
	raw_spin_unlock_irq(&w->pool->lock);
}

/*
 * Waits as @waiter, which ants_join_enter() enrolled, says. The pool stays, for
 * the caller is a task of it. Returns 0, -ETIMEDOUT or -EINTR.
 */
int ants_join_work(struct ants_worker *w, struct ants_work *work,
		   struct ants_work_waiter *waiter, unsigned long timeout)
{
	const struct join join = { .work = work, .waiter = waiter };
	struct ants_pool *pool = w->pool;
	unsigned int state = ants_killable_state(pool, 0);
	unsigned long start = jiffies;
	int err = 0;

	while (!err && !join_help(w, work, waiter)) {
		err = ants_wait_ready(pool, join_ready, &join,
				      ants_time_left(start, timeout), state);
		waits_for_none(w);
	}
	return err && ants_work_withdraw(pool, waiter) ? err : 0;
}

/* Does @w run a member of the group, which would wait for its own end? */
static bool runs_member(const struct ants_worker *w,
			const struct ants_group *group)
{
	const struct ants_work *work = w->data;
	const struct ants_frame *frame;

	if (w->tag & ANTS_TAG_WORK && work->group == group)
		return true;
	for (frame = w->frame; frame; frame = frame->outer)
		if (frame->work && frame->work->group == group)
			return true;
	return false;
}

/* May the task that @w runs wait for the group? */
int ants_join_check(const struct ants_worker *w, const struct ants_group *group)
{
	lockdep_assert_held(&w->pool->lock);
	return runs_member(w, group) || !may_join(w) ? -EDEADLK : 0;
}

/*
 * The first member from @at on that nobody has started, or the list's head; a
 * round at most. No member leaves the list while the caller waits for the group.
 */
static struct list_head *find_member(struct ants_group *group,
				     struct list_head *at)
{
	const struct ants_work *work;
	unsigned int i;

	for (i = 0; i < ANTS_ROUND && at != &group->works; i++) {
		work = list_entry(at, struct ants_work, in_group);
		if (work->group == group && can_take(group->pool, work))
			break;
		at = at->next;
	}
	return at;
}

/* A hold of the lock, and a run if there is a member to run. NULL: all are seen. */
static struct list_head *help_round(struct ants_worker *w,
				    struct ants_group *group,
				    const struct ants_work_waiter *waiter,
				    struct list_head *at)
{
	struct ants_pool *pool = w->pool;
	struct ants_round round;
	struct ants_work *work;
	struct ants_kick kick;

	ants_lock_round(pool, &kick, &round);
	if (!waiter->done) {
		at = find_member(group, at ?: group->works.next);
		work = list_entry(at, struct ants_work, in_group);
		if (at != &group->works && can_take(pool, work))
			join_run(w, work, &kick);
	}
	if (waiter->done || at == &group->works)
		at = NULL;
	ants_dispatch(pool, &kick);
	ants_unlock(pool, &kick);
	return at;
}

/* Something of the group is new since @seen members were asked to be run. */
struct group_join {
	const struct ants_group *group;
	const struct ants_work_waiter *waiter;
	unsigned int seen;
};

static bool group_ready(struct ants_pool *pool, const void *arg)
{
	const struct group_join *join = arg;

	lockdep_assert_held(&pool->lock);
	return join->waiter->done || join->group->nr_offers != join->seen;
}

/*
 * Waits as @waiter, which is enrolled, says. A member that has become such that it
 * can be run is an offer; after each the members are looked through once more.
 * Returns 0, -ETIMEDOUT or -EINTR.
 */
int ants_join_group(struct ants_worker *w, struct ants_group *group,
		    struct ants_work_waiter *waiter, unsigned long timeout)
{
	struct group_join join = { .group = group, .waiter = waiter };
	unsigned int state = ants_killable_state(w->pool, 0);
	unsigned long start = jiffies;
	struct list_head *at = NULL;
	int err = 0;

	/* Pairs with smp_store_release() in ants_waiter_done(). */
	while (!err && !smp_load_acquire(&waiter->done)) {
		join.seen = READ_ONCE(group->nr_offers);
		do {
			at = help_round(w, group, waiter, at);
		} while (at);
		err = ants_wait_ready(w->pool, group_ready, &join,
				      ants_time_left(start, timeout), state);
	}
	return err && ants_work_withdraw(w->pool, waiter) ? err : 0;
}

static int call_enter(struct ants_worker *w, struct ants_frame *frame)
{
	int err = 0;

	raw_spin_lock_irq(&w->pool->lock);
	if (w->pool->released)
		err = -ESHUTDOWN;
	else if (depth_of(w) >= ANTS_JOIN_DEPTH)
		err = -EDEADLK;
	else
		frame_push(w, frame);
	raw_spin_unlock_irq(&w->pool->lock);
	return err;
}

static void call_leave(struct ants_worker *w)
{
	raw_spin_lock_irq(&w->pool->lock);
	frame_pop(w);
	raw_spin_unlock_irq(&w->pool->lock);
}

/*
 * A call from a task of the same pool: it is in a thread of the pool already. Then
 * @release, if there is one, takes @data. Returns what @fn returned, or -errno.
 */
int ants_call_inside(struct ants_worker *w, ants_call_fn_t fn, void *data,
		     ants_fn_t release)
{
	struct ants_frame frame = {
		.text = { (unsigned long)fn, (unsigned long)release },
	};
	int err = call_enter(w, &frame), ret = err ?: fn(data);

	if (release)
		release(data);
	if (!err)
		call_leave(w);
	return ret;
}
