// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items as the core sees them: they become pending, start, finish and end.
 */
#include "internal.h"

#define TO(state)	BIT(ANTS_WORK_##state)

/* Where a work item may go from each state. */
const unsigned int ants_work_next[] = {
	[ANTS_WORK_IDLE] = TO(DELAYED) | TO(WAITING) | TO(PENDING),
	[ANTS_WORK_DELAYED] = TO(DROPPED) | TO(LATE) | TO(PENDING) | TO(IDLE),
	[ANTS_WORK_DROPPED] = TO(DELAYED) | TO(IDLE),
	[ANTS_WORK_LATE] = TO(DELAYED) | TO(PENDING) | TO(IDLE),
	[ANTS_WORK_WAITING] = TO(PENDING) | TO(IDLE),
	[ANTS_WORK_PENDING] = TO(RUNNING) | TO(SKIPPED) | TO(DELAYED) |
			      TO(IDLE),
	[ANTS_WORK_RUNNING] = TO(AGAIN) | TO(REARMED) | TO(IDLE),
	[ANTS_WORK_REARMED] = TO(DELAYED) | TO(RUNNING) | TO(IDLE),
	[ANTS_WORK_AGAIN] = TO(PENDING) | TO(REARMED) | TO(RUNNING),
	[ANTS_WORK_SKIPPED] = TO(IDLE),
};

void ants_work_bad_move(const struct ants_work *work, enum ants_work_state to)
{
	WARN_ONCE(1, "ants: work item %ps goes from state %u to %u\n", work->fn,
		  work->state, to);
}

/* Counts a work item in that is accepted now. */
static void work_count(struct ants_pool *pool, struct ants_work *work)
{
	work->slot.tag = pool->epoch | ANTS_TAG_WORK |
			 (work->prio == ANTS_PRIO_HIGH ? ANTS_TAG_HIGH : 0);
	ants_task_count(pool);
}

/*
 * A work item that is counted becomes pending. A task of the pool that waits for
 * it is woken: there may be no other thread to run it.
 */
static void work_link(struct ants_pool *pool, struct ants_work *work,
		      struct ants_kick *kick)
{
	work->slot.fn = ants_work_run;
	work->slot.data = work;
	ants_work_move(work, ANTS_WORK_PENDING);
	ants_pending_link(pool, &work->slot, work->slot.tag & ANTS_TAG_HIGH);
	ants_work_offer(work, kick);
}

/* Accepts a work item. The caller dispatches. */
void ants_work_pend(struct ants_pool *pool, struct ants_work *work,
		    struct ants_kick *kick)
{
	lockdep_assert_held(&pool->lock);
	work_count(pool, work);
	if (work->group && work->state == ANTS_WORK_IDLE)
		ants_group_enter(work->group, work);
	work_link(pool, work, kick);
}

/*
 * Accepts a work item that runs. It becomes pending when it has finished, in the
 * place of the run that ends.
 */
void ants_work_again(struct ants_pool *pool, struct ants_work *work)
{
	lockdep_assert_held(&pool->lock);
	work_count(pool, work);
	ants_work_move(work, ANTS_WORK_AGAIN);
	pool->nr_again++;
}

/*
 * What a worker runs for a work item. One that is detached may be gone when its
 * function returns.
 */
void ants_work_run(void *data)
{
	struct ants_work *work = data;

	if (unlikely(READ_ONCE(work->flags) & ANTS_WORK_DETACHED))
		work->fn(work);
	else if (unlikely(READ_ONCE(work->state) == ANTS_WORK_SKIPPED))
		WRITE_ONCE(work->result, -ECANCELED);
	else
		WRITE_ONCE(work->result, work->fn(work));
}

/*
 * Its function may free it, or hand it to whatever pool: it is in none from here
 * on. Nobody waits for it.
 */
static void work_detach(struct ants_work *work)
{
	ants_work_move(work, ANTS_WORK_IDLE);
	WRITE_ONCE(work->flags, ANTS_WORK_DETACHED);
	/* Pairs with smp_load_acquire() in ants_work_lock(). */
	smp_store_release(&work->pool, NULL);
}

/* @w is about to run it, unless its group was cancelled. */
void ants_work_start(struct ants_worker *w, struct ants_work *work)
{
	lockdep_assert_held(&w->pool->lock);
	if (unlikely(ants_group_stops(work))) {
		ants_work_move(work, ANTS_WORK_SKIPPED);
		return;
	}
	ants_work_move(work, ANTS_WORK_RUNNING);
	work->slot.data = w;
	if (likely(!work->flags))
		return;
	WRITE_ONCE(work->flags, work->flags & ~ANTS_WORK_TOLD);
	if (work->flags & ANTS_WORK_DETACHED)
		work_detach(work);
}

/*
 * A work item ends, in whatever state it was but running: it is in no pool any
 * more, and the callers that wait for it are told. They need not take the lock to
 * see that, and may free it.
 */
void ants_work_end(struct ants_pool *pool, struct ants_work *work, int result,
		   struct ants_kick *kick)
{
	struct ants_group *group = work->group;
	HLIST_HEAD(waiters);

	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(work->result, result);
	if (group)
		ants_group_note(pool, group, work, kick);
	ants_work_move(work, ANTS_WORK_IDLE);
	if (unlikely(work->flags))
		WRITE_ONCE(work->flags, work->flags & ANTS_WORK_DETACHED);
	work->group = NULL;
	if (unlikely(!hlist_empty(&work->waiters)))
		hlist_move_list(&work->waiters, &waiters);
	/* Pairs with smp_load_acquire() in ants_work_lock(). May be freed now. */
	smp_store_release(&work->pool, NULL);
	if (unlikely(!hlist_empty(&waiters)))
		ants_work_tell_end(pool, &waiters, result, kick);
	if (group)
		ants_group_wake(group, kick);
}

/* Arms the timer of a work item for dwork->when. */
void ants_delayed_arm(struct ants_pool *pool, struct ants_delayed_work *dwork)
{
	lockdep_assert_held(&pool->lock);
	if (unlikely(pool->scan_mod))
		ants_scan_hit(pool, (unsigned long)dwork->work.fn);
	ants_work_move(&dwork->work, ANTS_WORK_DELAYED);
	list_add_tail(&dwork->node, &pool->delayed);
	pool->nr_delayed++;
	mod_timer(&dwork->timer, dwork->when);
}

/* It is due and has a place, or it ends. */
void ants_delayed_del(struct ants_pool *pool, struct ants_delayed_work *dwork)
{
	lockdep_assert_held(&pool->lock);
	ants_scan_skip(pool, &dwork->node);
	list_del(&dwork->node);
	pool->nr_delayed--;
	pool->has_late = !list_empty(&pool->late[ANTS_PRIO_NORMAL]) ||
			 !list_empty(&pool->late[ANTS_PRIO_HIGH]);
	ants_update_room(pool);
}

static void work_rearm(struct ants_pool *pool, struct ants_work *work,
		       struct ants_kick *kick)
{
	if (ants_group_stops(work))
		ants_work_end(pool, work, -ECANCELED, kick);
	else if (pool->released)
		ants_work_end(pool, work, -ESHUTDOWN, kick);
	else
		ants_delayed_arm(pool, container_of(work,
						    struct ants_delayed_work,
						    work));
}

/* Its function has returned. */
void ants_work_finish(struct ants_pool *pool, struct ants_work *work,
		      struct ants_kick *kick)
{
	lockdep_assert_held(&pool->lock);
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_AGAIN:
		pool->nr_again--;
		ants_work_tell_run(pool, work, kick);
		work_link(pool, work, kick);
		break;
	case ANTS_WORK_REARMED:
		ants_work_tell_run(pool, work, kick);
		work_rearm(pool, work, kick);
		break;
	default:
		pool->cancelled += work->state == ANTS_WORK_SKIPPED;
		ants_work_end(pool, work, work->result, kick);
	}
}

/* Wakes callers that wait, which needs a lock that may sleep: the upkeep does it. */
static void wake_waitq(struct ants_pool *pool, bool wanted,
		       struct ants_kick *kick)
{
	if (!wanted)
		return;
	pool->waitq_wanted = true;
	ants_kick_upkeep(pool, kick);
}

/* Takes back a run that is accepted and has not started. */
void ants_work_take_off(struct ants_pool *pool, struct ants_work *work,
			struct ants_kick *kick)
{
	lockdep_assert_held(&pool->lock);
	if (work->state == ANTS_WORK_AGAIN)
		pool->nr_again--;
	else
		ants_pending_del(pool, &work->slot);
	pool->cancelled++;
	wake_waitq(pool, ants_task_uncount(pool,
					   work->slot.tag & ANTS_TAG_EPOCH),
		   kick);
}

static bool is_empty_and_closed(const struct ants_pool *pool)
{
	return pool->released && !pool->nr_workers && !pool->nr_pending;
}

/* A place is free. Callbacks are for others: the caller may be in any context. */
void ants_place_freed(struct ants_pool *pool, struct ants_kick *kick)
{
	ants_grant(pool, kick);
	ants_wake_next(pool, kick);
	if ((pool->congested || pool->congested_all) && ants_has_room(pool))
		ants_timer_arm_soon(pool, 1);
	ants_timer_quiesce(pool);
	/* A closed pool may be empty now, and a caller wait for that. */
	wake_waitq(pool, is_empty_and_closed(pool), kick);
}

/*
 * May a work item that is in @pool be queued once more? Only one that runs, or
 * whose end the timer is about to see to.
 */
int ants_work_may_run_again(const struct ants_pool *pool,
			    const struct ants_work *work)
{
	if (work->state == ANTS_WORK_SKIPPED)
		return -ECANCELED;
	if (work->state != ANTS_WORK_RUNNING &&
	    work->state != ANTS_WORK_DROPPED)
		return -EALREADY;
	if (work->flags & ANTS_WORK_CLOSED || ants_group_stops(work))
		return -ECANCELED;
	return pool->released ? -ESHUTDOWN : 0;
}

/*
 * Locks the pool that @work is in. Returns NULL if it is in none; then it has
 * ended, and its result can be read. A pool that is being destroyed has ended
 * all of its work items, and stays until this RCU section is over.
 */
struct ants_pool *ants_work_lock(struct ants_work *work,
				 struct ants_kick *kick)
{
	struct ants_pool *pool;

	rcu_read_lock();
	/* Pairs with smp_store_release() in ants_work_end(). */
	while ((pool = smp_load_acquire(&work->pool))) {
		ants_lock_any(pool, kick);
		if (likely(READ_ONCE(work->pool) == pool)) {
			/* Sparse knows no locks that depend. */
			__release(&pool->lock);
			__release(RCU);
			return pool;
		}
		ants_unlock_any(pool, kick);
	}
	rcu_read_unlock();
	return NULL;
}

void ants_work_unlock(struct ants_pool *pool, struct ants_kick *kick)
{
	__acquire(RCU);
	__acquire(&pool->lock);
	ants_unlock_any(pool, kick);
	rcu_read_unlock();
}

/* The same before a wait. */
void ants_work_unlock_touch(struct ants_pool *pool, struct ants_kick *kick)
{
	__acquire(RCU);
	__acquire(&pool->lock);
	ants_unlock_any(pool, kick);
	ants_wait_touch(pool);
	rcu_read_unlock();
}
