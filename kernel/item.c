// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items as the core sees them: they become pending, start, finish and end.
 */
#include "internal.h"

#define TO(state)	BIT(ANTS_WORK_##state)

/* Where a work item may go from each state. */
static const unsigned long work_next[] = {
	[ANTS_WORK_IDLE] = TO(DELAYED) | TO(WAITING) | TO(PENDING),
	[ANTS_WORK_DELAYED] = TO(DROPPED) | TO(LATE) | TO(PENDING) | TO(IDLE),
	[ANTS_WORK_DROPPED] = TO(IDLE),
	[ANTS_WORK_LATE] = TO(PENDING) | TO(IDLE),
	[ANTS_WORK_WAITING] = TO(PENDING) | TO(IDLE),
	[ANTS_WORK_PENDING] = TO(RUNNING) | TO(SKIPPED) | TO(IDLE),
	[ANTS_WORK_RUNNING] = TO(AGAIN) | TO(REARMED) | TO(CANCELLING) |
			      TO(IDLE),
	[ANTS_WORK_REARMED] = TO(DELAYED) | TO(CANCELLING) | TO(IDLE),
	[ANTS_WORK_AGAIN] = TO(PENDING) | TO(CANCELLING),
	[ANTS_WORK_CANCELLING] = TO(IDLE),
	[ANTS_WORK_SKIPPED] = TO(IDLE),
};

/* The one place where a work item changes its state. */
void ants_work_move(struct ants_work *work, enum ants_work_state to)
{
	WARN_ONCE(!(work_next[work->state] & BIT(to)),
		  "ants: work item %ps goes from state %u to %u\n", work->fn,
		  work->state, to);
	WRITE_ONCE(work->state, to);
}

/* Counts a work item in that is accepted now. */
static void work_count(struct ants_pool *pool, struct ants_work *work)
{
	if (unlikely(pool->scan_mod))
		ants_scan_hit(pool, (unsigned long)work->fn);
	work->slot.tag = pool->epoch | ANTS_TAG_WORK |
			 (work->prio == ANTS_PRIO_HIGH ? ANTS_TAG_HIGH : 0);
	ants_task_count(pool);
}

static void work_link(struct ants_pool *pool, struct ants_work *work)
{
	ants_work_move(work, ANTS_WORK_PENDING);
	ants_pending_link(pool, &work->slot, work->slot.tag & ANTS_TAG_HIGH);
}

/*
 * A work item of a group is accepted. Its submitter is counted if he waited; one
 * whose timer it armed itself is in the group.
 */
static void group_add(struct ants_group *group, struct ants_work *work)
{
	if (work->state != ANTS_WORK_IDLE && work->state != ANTS_WORK_WAITING)
		return;
	list_add_tail(&work->in_group, &group->works);
	work->group_stamp = group->stamp;
	group->nr_left += work->state != ANTS_WORK_WAITING;
}

/* Accepts a work item. The caller dispatches. */
void ants_work_pend(struct ants_pool *pool, struct ants_work *work)
{
	lockdep_assert_held(&pool->lock);
	work->slot.fn = ants_work_run;
	work->slot.data = work;
	work_count(pool, work);
	if (work->group)
		group_add(work->group, work);
	work_link(pool, work);
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
 * Counts one out that was accepted and will not run. Returns true if that was
 * the last task of a flush epoch.
 */
static bool work_uncount(struct ants_pool *pool, struct ants_work *work)
{
	pool->cancelled++;
	return !--pool->in_epoch[work->slot.tag & ANTS_TAG_EPOCH];
}

/* Takes ants_work_again() back. Returns as work_uncount(). */
bool ants_work_not_again(struct ants_pool *pool, struct ants_work *work)
{
	lockdep_assert_held(&pool->lock);
	pool->nr_again--;
	return work_uncount(pool, work);
}

/* Takes ants_work_pend() back. Returns as work_uncount(). */
bool ants_work_unpend(struct ants_pool *pool, struct ants_work *work)
{
	lockdep_assert_held(&pool->lock);
	ants_pending_del(pool, &work->slot);
	return work_uncount(pool, work);
}

/* What a worker runs for a work item. */
void ants_work_run(void *data)
{
	struct ants_work *work = data;

	/* Written by the thread that runs this. */
	if (unlikely(work->state == ANTS_WORK_SKIPPED))
		work->result = -ECANCELED;
	else
		work->result = work->fn(work);
}

/* It is about to run, unless its group was cancelled. */
void ants_work_start(struct ants_pool *pool, struct ants_work *work)
{
	lockdep_assert_held(&pool->lock);
	if (likely(!work->group || !work->group->cancelled)) {
		ants_work_move(work, ANTS_WORK_RUNNING);
		return;
	}
	ants_work_move(work, ANTS_WORK_SKIPPED);
}

static void waiter_done(struct ants_work_waiter *waiter, int result,
			struct ants_kick *kick)
{
	ants_kick_wake(kick, waiter->task);
	list_del(&waiter->node);
	waiter->result = result;
	/* Pairs with smp_load_acquire() in wait.c. */
	smp_store_release(&waiter->done, true);
}

/* One has ended, or is refused after its submitter waited. */
static void group_note(struct ants_group *group, struct ants_work *work)
{
	group->nr_left--;
	if (work->state == ANTS_WORK_WAITING)
		return;
	list_add_tail(&work->finished, &group->finished);
	if (!work->result)
		return;
	group->error = group->error ?: work->result;
	group->cancelled |= group->cancel_on_error;
}

/* Takes the one that ended first, if there is one. */
struct ants_work *ants_group_take(struct ants_group *group)
{
	struct ants_work *work;

	work = list_first_entry_or_null(&group->finished, struct ants_work,
					finished);
	if (work)
		list_del_init(&work->finished);
	return work;
}

bool ants_group_done(const struct ants_group *group)
{
	return group->sealed && !group->nr_left;
}

/* Tells who waits for the group, if it is what he waits for. */
void ants_group_wake(struct ants_group *group, struct ants_kick *kick)
{
	struct ants_work_waiter *waiter;

	waiter = list_first_entry_or_null(&group->waiters,
					  struct ants_work_waiter, node);
	if (!waiter)
		return;
	if (!ants_group_done(group) &&
	    (waiter->all || list_empty(&group->finished)))
		return;
	waiter->work = waiter->all ? NULL : ants_group_take(group);
	waiter_done(waiter, group->error, kick);
}

/*
 * A work item ends, in whatever state it was but running: it is in no pool any
 * more, and its waiters, at most ANTS_WORK_WAITERS, are told. They need not take
 * the lock to see that, and may free it.
 */
void ants_work_end(struct ants_pool *pool, struct ants_work *work, int result,
		   struct ants_kick *kick)
{
	struct ants_work_waiter *waiter, *next;
	struct ants_group *group = work->group;
	LIST_HEAD(waiters);

	lockdep_assert_held(&pool->lock);
	work->result = result;
	if (group)
		group_note(group, work);
	ants_work_move(work, ANTS_WORK_IDLE);
	work->group = NULL;
	list_splice_init(&work->waiters, &waiters);
	/* Pairs with smp_load_acquire() in work_lock(). May be freed now. */
	smp_store_release(&work->pool, NULL);
	list_for_each_entry_safe(waiter, next, &waiters, node)
		waiter_done(waiter, result, kick);
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
	if (pool->released)
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
		work_link(pool, work);
		break;
	case ANTS_WORK_REARMED:
		work_rearm(pool, work, kick);
		break;
	default:
		pool->cancelled += work->state == ANTS_WORK_SKIPPED;
		ants_work_end(pool, work, work->result, kick);
	}
}
