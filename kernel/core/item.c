// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items as the core sees them: how they become pending, start, finish and
 * end; and who is told of that: the group of an item, and callers that wait.
 */
#include <linux/export.h>

#include "../internal.h"

/* A member leaves. A cancel, or a task that joins, may be about to see it. */
static void group_leave(struct ants_group *group, struct ants_work *work)
{
	if (group->cancel_at == &work->in_group)
		group->cancel_at = work->in_group.next;
	if (group->join_at == &work->in_group)
		group->join_at = work->in_group.next;
	list_del(&work->in_group);
	WRITE_ONCE(work->group_stamp, 0);
}

/*
 * The group is cancelled: from here on no member starts. The context is unknown, so the
 * upkeep work ends those that have not started.
 */
void ants_group_stop(struct ants_group *group, struct ants_todo *todo)
{
	lockdep_assert_held(&group->pool->lock);
	if (!group->cancelled && group->nr_left) {
		group->cancel_at = group->works.next;
		list_add_tail(&group->node, &group->pool->cancelled_groups);
		ants_todo_upkeep(group->pool, todo);
	}
	group->cancelled = true;
}

/* A member has ended, or was refused after its submitter had waited. */
static void group_note(struct ants_group *group, struct ants_work *work,
		       struct ants_todo *todo)
{
	lockdep_assert_held(&group->pool->lock);
	/* Nothing is left to cancel, and the group may be freed. */
	if (!--group->nr_left && unlikely(!list_empty(&group->node)))
		list_del_init(&group->node);
	if (work->state == ANTS_WORK_WAITING) {
		group_leave(group, work);
		return;
	}
	list_add_tail(&work->finished, &group->finished);
	group->error = group->error ?: work->result;
	if (work->result && group->cancel_on_error)
		ants_group_stop(group, todo);
}

/*
 * If the event has happened that @waiter waits for, note in it what its caller gets: the
 * member that ended first, which leaves the group, and may be freed or submitted again as
 * soon as the lock is dropped; or that the group has ended, which it may free then. Only a
 * sealed group ends, and a wait for the end seals it.
 */
bool ants_group_serve(struct ants_group *group, struct ants_work_waiter *waiter)
{
	struct ants_work *work = NULL;

	lockdep_assert_held(&group->pool->lock);
	if (waiter->until == ANTS_UNTIL_MEMBER)
		work = list_first_entry_or_null(&group->finished, struct ants_work, finished);
	if (work) {
		list_del(&work->finished);
		group_leave(group, work);
	} else if (group->nr_left || !(group->sealed || waiter->until == ANTS_UNTIL_ALL)) {
		return false;
	}
	waiter->work = work;
	waiter->result = group->error;
	return true;
}

/*
 * Callers that wait for a work item or a group. All that wait for the same event form a
 * ring, but for the few that join, each of which is its own. One caller of the
 * ring, its leader, is in the item's list of rings. An item has few rings, so its
 * end takes few steps under the lock, however many callers wait. A ring that is too
 * long to be notified within one lock hold moves to the pool, together with
 * the result, and the upkeep work notifies the rest of it.
 */

/*
 * Enqueue the caller as a waiter for @waiter->work or @waiter->group, and for the event in
 * @waiter->until. It does not join if too many others do. Fields of @waiter that the caller
 * has not set are zero.
 */
void ants_work_await(struct ants_work_waiter *waiter)
{
	struct hlist_head *waiters = waiter->group ? &waiter->group->waiters :
						     &waiter->work->waiters;
	struct ants_work_waiter *leader, *ring = NULL;
	unsigned int nr_joiners = 0;

	waiter->task = current;
	INIT_LIST_HEAD(&waiter->node);
	hlist_for_each_entry(leader, waiters, link) {
		nr_joiners += leader->joins;
		if (leader->until == waiter->until && !leader->joins)
			ring = leader;
	}
	waiter->joins &= nr_joiners < ANTS_JOINERS;
	if (ring && !waiter->joins)
		list_add_tail(&waiter->node, &ring->node);
	else
		hlist_add_head(&waiter->link, waiters);
}

/*
 * A caller that waits for a work item or a group gives up, unless the wait has ended:
 * then return false. If it is the leader of a ring, the next waiter of the ring becomes
 * the leader.
 */
bool ants_waiter_withdraw(struct ants_work_waiter *waiter)
{
	struct ants_work_waiter *next;

	if (waiter->done)
		return false;
	next = list_next_entry(waiter, node);
	if (!hlist_unhashed(&waiter->link)) {
		if (next != waiter) {
			next->result = waiter->result;
			next->until = waiter->until;
			hlist_add_behind(&next->link, &waiter->link);
		}
		hlist_del_init(&waiter->link);
	}
	list_del(&waiter->node);
	waiter->done = true;
	return true;
}

/*
 * The event that a ring waits for has happened, with @result. Notify the waiters,
 * the leader last. Stop at half of what one lock hold may wake: the rest is for waiters
 * that are granted now that an item has ended. One that joins is notified at once,
 * since it may not touch the item any more, and so is the one of a group, which may
 * have been given a member. A caller may be gone as soon as @done is stored, so its task
 * is noted before; the RCU section of ants_unlock() keeps the task.
 */
static void ring_done(struct ants_pool *pool, struct ants_work_waiter *leader,
		      int result, struct ants_todo *todo)
{
	struct ants_work_waiter *waiter;

	lockdep_assert_held(&pool->lock);
	hlist_del_init(&leader->link);
	leader->result = result;
	while (leader->joins || leader->until >= ANTS_UNTIL_MEMBER ||
	       todo->nr_wake < ANTS_HOLD_MAX / 2) {
		waiter = list_next_entry(leader, node);
		ants_todo_wake(todo, waiter->task);
		list_del(&waiter->node);
		waiter->result = result;
		/* Pairs with smp_load_acquire() in wait.c. */
		smp_store_release(&waiter->done, true);
		if (waiter == leader)
			return;
	}
	hlist_add_head(&leader->link, &pool->unnotified);
	ants_todo_upkeep(pool, todo);
}

/* Notify the caller that waits for the group if its event has happened. */
void ants_group_wake(struct ants_group *group, struct ants_todo *todo)
{
	struct ants_work_waiter *waiter = hlist_entry_safe(group->waiters.first,
							   struct ants_work_waiter, link);

	if (waiter && ants_group_serve(group, waiter))
		ring_done(group->pool, waiter, waiter->result, todo);
}

static void wake_joiners(const struct hlist_head *waiters, struct ants_todo *todo)
{
	struct ants_work_waiter *waiter;

	hlist_for_each_entry(waiter, waiters, link) {
		if (waiter->joins) {
			WRITE_ONCE(waiter->offered, true);
			ants_todo_wake(todo, waiter->task);
		}
	}
}

/*
 * The item has become one that a task of the pool can run if it waits for the
 * item, or for its group.
 */
void ants_work_offer(struct ants_work *work, struct ants_todo *todo)
{
	wake_joiners(&work->waiters, todo);
	if (work->group)
		wake_joiners(&work->group->waiters, todo);
}

/* Notify waiters of ended items, on behalf of the upkeep work. */
bool ants_notify_round(struct ants_pool *pool, struct ants_todo *todo,
		       void *unused)
{
	struct ants_work_waiter *leader = hlist_entry_safe(pool->unnotified.first,
							   struct ants_work_waiter, link);

	if (leader)
		ring_done(pool, leader, leader->result, todo);
	return !hlist_empty(&pool->unnotified);
}

/*
 * Append an already counted work item to the pending tasks. A task of the pool
 * that waits for the item is woken, for there may be no other thread to run it.
 */
static void work_link(struct ants_pool *pool, struct ants_work *work,
		      struct ants_todo *todo)
{
	work->slot.fn = ants_work_run;
	work->slot.data = work;
	ants_work_move(work, ANTS_WORK_PENDING);
	ants_pending_link(pool, &work->slot, work->slot.tag & ANTS_TAG_HIGH);
	if (unlikely(work->group || !hlist_empty(&work->waiters)))
		ants_work_offer(work, todo);
}

/*
 * Take the item off the list that it is in, if any: it is admitted, put off, or ends. A run
 * that was accepted and has not started is taken back.
 */
void ants_work_dequeue(struct ants_pool *pool, struct ants_work *work, struct ants_todo *todo)
{
	struct ants_delayed_work *dwork = ants_to_delayed(work);

	lockdep_assert_held(&pool->lock);
	switch (work->state) {
	case ANTS_WORK_DELAYED:
	case ANTS_WORK_DROPPED:
	case ANTS_WORK_DUE:
		ants_cursors_skip(pool, &dwork->node);
		list_del(&dwork->node);
		pool->delayed.nr--;
		pool->space.has_due = !list_empty(&pool->delayed.due[ANTS_PRIO_NORMAL]) ||
				!list_empty(&pool->delayed.due[ANTS_PRIO_HIGH]);
		ants_update_admit_limit(pool);
		return;
	case ANTS_WORK_PENDING:
		ants_pending_del(pool, &work->slot);
		break;
	case ANTS_WORK_AGAIN:
		pool->nr_again--;
		break;
	default:
		return;
	}
	ants_cancelled(pool, ants_work_run, work);
	ants_task_uncount(pool, work->slot.tag & ANTS_TAG_EPOCH, todo);
}

/*
 * Accept a work item. The caller dispatches. One whose function is running becomes
 * pending once the function has returned; its run then takes over the admission of
 * the one that has ended.
 */
void ants_work_pend(struct ants_pool *pool, struct ants_work *work,
		    struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	work->slot.tag = pool->epoch | ANTS_TAG_WORK | work->prio * ANTS_TAG_HIGH;
	ants_task_count(pool);
	ants_trace(task_accept, pool, ants_work_run, work, work->state != ANTS_WORK_RUNNING);
	if (unlikely(work->state != ANTS_WORK_IDLE)) {
		if (work->state == ANTS_WORK_RUNNING) {
			ants_work_move(work, ANTS_WORK_AGAIN);
			pool->nr_again++;
			return;
		}
		ants_work_dequeue(pool, work, todo);
	}
	work_link(pool, work, todo);
}

/*
 * The function of a task that is a work item. A detached item, or a call, may be gone
 * when its function returns, so it is not touched after that.
 */
void ants_work_run(void *data)
{
	struct ants_work *work = data;
	unsigned int flags = READ_ONCE(work->flags);

	if (likely(!(flags & (ANTS_WORK_DETACHED | ANTS_WORK_OWN | ANTS_WORK_SKIPPED))))
		WRITE_ONCE(work->result, work->fn(work));
	else if (flags & ANTS_WORK_SKIPPED)
		WRITE_ONCE(work->result, -ECANCELED);
	else if (flags & ANTS_WORK_OWN)
		container_of(work, struct ants_own_work, work)->run(work);
	else
		work->fn(work);
}

/*
 * The detached item that @w runs is in no pool from here on: its function may free
 * it or queue it on any pool, and nothing can wait for it. Return false if that is
 * so already.
 */
bool ants_work_detach(struct ants_worker *w)
{
	if (!(w->tag & ANTS_TAG_WORK))
		return false;
	w->tag &= ~ANTS_TAG_WORK;
	ants_work_move(w->data, ANTS_WORK_IDLE);
	ants_work_unclaim(w->data);
	return true;
}

/* Mark @work as running in @w. If its group was cancelled, its function is skipped. */
void ants_work_start(struct ants_worker *w, struct ants_work *work)
{
	lockdep_assert_held(&w->pool->lock);
	ants_work_move(work, ANTS_WORK_RUNNING);
	work->slot.data = w;
	if (unlikely(ants_group_stops(work)))
		WRITE_ONCE(work->flags, work->flags | ANTS_WORK_SKIPPED);
	if (likely(!work->flags))
		return;
	WRITE_ONCE(work->flags, work->flags & ~ANTS_WORK_STOP);
	if (!(work->flags & ANTS_WORK_DETACHED))
		return;
	w->func_addr = (unsigned long)work->fn;
	w->tag |= ANTS_TAG_DETACHED;
	if (work->flags & ANTS_WORK_LATE)
		w->fn = work->late_fn;
	else
		ants_work_detach(w);
}

/*
 * End a work item that does not run (any more): it is in no pool from here on,
 * and its waiters are notified. A waiter need not take the lock to see that,
 * and may free the item at once.
 */
void ants_work_end(struct ants_pool *pool, struct ants_work *work, int result,
		   struct ants_todo *todo)
{
	struct ants_group *group = work->group;
	HLIST_HEAD(waiters);

	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(work->result, result);
	if (group)
		group_note(group, work, todo);
	ants_work_move(work, ANTS_WORK_IDLE);
	if (unlikely(work->flags))
		WRITE_ONCE(work->flags, work->flags &
			   (ANTS_WORK_KINDS | ANTS_WORK_OWN));
	work->group = NULL;
	if (unlikely(!hlist_empty(&work->waiters)))
		hlist_move_list(&work->waiters, &waiters);
	ants_work_unclaim(work);
	while (unlikely(!hlist_empty(&waiters)))
		ring_done(pool, hlist_entry(waiters.first,
					    struct ants_work_waiter, link),
			  result, todo);
	if (group)
		ants_group_wake(group, todo);
}

/*
 * Delayed work items: a timer queues them. From ants_queue_delayed_work() until
 * it is pending or has ended, such an item is in one of two lists of its pool:
 * in pool->delayed.list while its timer is armed or its timer function is about to
 * run, and in pool->delayed.due when its time has come and the pool has no room.
 *
 * While the timer function is about to run nothing else ends the item or arms
 * its timer, so the timer function never touches an item that has ended. What
 * is to be done is left in the state and in @when, and the timer function does
 * it.
 */

/*
 * Have a delayed work item due at dwork->when. A time that has come needs no timer: items
 * that are due at once keep their order. Then admit it, or append it to those that wait
 * for room. The caller dispatches.
 */
static void delayed_due(struct ants_pool *pool, struct ants_delayed_work *dwork,
			struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	if (time_before(jiffies, dwork->when)) {
		mod_timer(&dwork->timer, dwork->when);
		return;
	}
	if (ants_can_admit(pool)) {
		ants_work_pend(pool, &dwork->work, todo);
		return;
	}
	ants_work_move(&dwork->work, ANTS_WORK_DUE);
	ants_work_offer(&dwork->work, todo);
	ants_cursors_skip(pool, &dwork->node);
	list_move_tail(&dwork->node, &pool->delayed.due[dwork->work.prio]);
	pool->space.has_due = true;
	ants_update_admit_limit(pool);
	/*
	 * As for a caller that enrols: a batch may hold back the waiters before
	 * it.
	 */
	if (ants_nr_admissible(pool))
		ants_timer_arm_soon(pool, ANTS_LATE_TICKS);
}

/* The item joins the delayed ones. */
void ants_delayed_arm(struct ants_pool *pool, struct ants_delayed_work *dwork,
		      struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	if (unlikely(pool->scan_mod))
		ants_scan_hit(pool, (unsigned long)dwork->work.fn);
	ants_work_move(&dwork->work, ANTS_WORK_DELAYED);
	list_add_tail(&dwork->node, &pool->delayed.list);
	pool->delayed.nr++;
	delayed_due(pool, dwork, todo);
}

/*
 * The function of a work item has returned. If the item was queued again meanwhile,
 * a run has ended, and the callers that wait for it are notified. Callers that wait
 * for the run after it have one run less to wait for.
 */
void ants_work_finish(struct ants_pool *pool, struct ants_work *work,
		      struct ants_todo *todo)
{
	struct ants_work_waiter *leader;
	struct hlist_node *next;
	int err;

	lockdep_assert_held(&pool->lock);
	if (likely(work->state != ANTS_WORK_AGAIN &&
		   work->state != ANTS_WORK_REARMED)) {
		if (unlikely(work->flags & ANTS_WORK_SKIPPED))
			ants_cancelled(pool, ants_work_run, work);
		ants_work_end(pool, work, work->result, todo);
		return;
	}
	/* A run that was accepted takes place even if the pool was closed since. */
	err = ants_group_stops(work) ? -ECANCELED :
	      pool->released && work->state == ANTS_WORK_REARMED ? -ESHUTDOWN :
	      pool->faults.tripped ? -EIO : 0;
	if (err) {
		ants_work_dequeue(pool, work, todo);
		ants_work_end(pool, work, err, todo);
		return;
	}
	hlist_for_each_entry_safe(leader, next, &work->waiters, link)
		if (leader->until != ANTS_UNTIL_END && !--leader->until)
			ring_done(pool, leader, work->result, todo);
	if (work->state == ANTS_WORK_AGAIN) {
		pool->nr_again--;
		work_link(pool, work, todo);
	} else {
		ants_delayed_arm(pool, ants_to_delayed(work), todo);
	}
}

/*
 * End an item that does not run with @err: -ECANCELED, or why the pool is closed. Return
 * false if it runs or ends anyway.
 */
bool ants_work_cancel_waiting(struct ants_pool *pool, struct ants_work *work, int err,
			      struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	switch (work->state) {
	case ANTS_WORK_WAITING:
		ants_waiter_end(pool, work->slot.data, err, todo);
		return true;
	case ANTS_WORK_DELAYED:
	case ANTS_WORK_DUE:
	case ANTS_WORK_PENDING:
		/* If its timer function is about to run, that ends it. */
		if (work->state == ANTS_WORK_DELAYED &&
		    !timer_delete(&ants_to_delayed(work)->timer)) {
			if (err == -ECANCELED)
				ants_work_move(work, ANTS_WORK_DROPPED);
			return true;
		}
		ants_work_dequeue(pool, work, todo);
		ants_work_end(pool, work, err, todo);
		return true;
	default:
		return false;
	}
}

void ants_delayed_timer_fn(struct timer_list *timer)
{
	struct ants_delayed_work *dwork = timer_container_of(dwork, timer,
							     timer);
	/* Other threads may try to claim it. */
	struct ants_pool *pool = READ_ONCE(dwork->work.pool);
	struct ants_wake_batch batch;
	struct ants_todo todo;
	int err;

	ants_pause(ANTS_PAUSE_DUE, pool);
	ants_lock_batch(pool, &todo, &batch);
	err = dwork->work.state == ANTS_WORK_DROPPED ? -ECANCELED : ants_closed_error(pool);
	if (err) {
		ants_work_dequeue(pool, &dwork->work, &todo);
		ants_work_end(pool, &dwork->work, err, &todo);
	} else {
		delayed_due(pool, dwork, &todo);
	}
	ants_wake_next(pool, &todo);
	ants_job_ends(pool, &todo);
	ants_unlock(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_delayed_timer_fn);

/*
 * What a task runs: ants runs its own functions on behalf of a client, as those of calls
 * are, and then has the name of the client's function. These are called with the lock of
 * the pool held, or by the task itself: until the task has ended, what it refers to exists.
 */

/*
 * Return the address of the client's function in a task @fn(*@data), and set *@data to
 * the argument of that function.
 */
unsigned long ants_client_func(ants_fn_t fn, const void **data)
{
	const struct ants_work *work = *data;
	const struct ants_own_work *own;

	if (fn != ants_work_run)
		return (unsigned long)fn;
	own = ants_own_work(work);
	if (own)
		*data = own->data;
	return (unsigned long)work->fn;
}

/* As ants_scan_hit() for a task, which may run more than one function of a client. */
void ants_scan_task(struct ants_pool *pool, ants_fn_t fn, const void *data)
{
	const struct ants_own_work *own = fn == ants_work_run ? ants_own_work(data) : NULL;

	if (own)
		ants_scan_hit(pool, (unsigned long)own->release);
	ants_scan_hit(pool, ants_client_func(fn, &data));
}

/* The function that a worker runs, or 0. A detached work item may be gone. */
unsigned long ants_worker_func(const struct ants_worker *w)
{
	const void *data = w->data;

	return w->func_addr ?: ants_client_func(w->fn, &data);
}
