// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items: queued without memory, waited for, cancelled.
 *
 *	state		queue		cancel		wait
 *	idle		accepted	false		the last result
 *	delayed, late	-EALREADY	true, ends	waits
 *	waiting		-EALREADY	true, ends	waits
 *	pending		-EALREADY	true, ends	waits
 *	running		accepted again	false, is told	waits
 *	again		-EALREADY	false, is told,	waits for both runs
 *					one run is left
 *	cancelling	-ECANCELED	false		waits
 *	dropped, skipped
 *
 * In any state but idle another pool's queue is refused with -EALREADY. What is
 * accepted above is refused with -ESHUTDOWN by a pool that is released.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/export.h>

#include "internal.h"

/**
 * ants_work_init() - make a work item; see INIT_ANTS_WORK()
 * @work: the work item, in no pool
 * @fn: what it runs
 *
 * Context: Any context.
 */
void ants_work_init(struct ants_work *work, ants_work_fn_t fn)
{
	memset(work, 0, sizeof(*work));
	INIT_LIST_HEAD(&work->waiters);
	work->fn = fn;
	work->result = -EINVAL;
}
EXPORT_SYMBOL_GPL(ants_work_init);

/*
 * Locks the pool that @work is in. Returns NULL if it is in none; then it has
 * ended, and its result can be read. A pool that is being destroyed has ended
 * all of its work items, and stays until this RCU section is over.
 */
static struct ants_pool *work_lock(struct ants_work *work,
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

static void work_unlock(struct ants_pool *pool, struct ants_kick *kick)
{
	__acquire(RCU);
	__acquire(&pool->lock);
	ants_unlock_any(pool, kick);
	rcu_read_unlock();
}

/* The same before a wait. */
static void work_unlock_wait(struct ants_pool *pool, struct ants_kick *kick)
{
	__acquire(RCU);
	__acquire(&pool->lock);
	ants_unlock_any(pool, kick);
	ants_wait_touch(pool);
	rcu_read_unlock();
}

/* Queues a work item that is in @pool already: only a running one can be. */
static int queue_again(struct ants_pool *pool, struct ants_work *work)
{
	if (ants_work_ends(work))
		return -ECANCELED;
	if (work->state != ANTS_WORK_RUNNING)
		return -EALREADY;
	if (pool->released)
		return -ESHUTDOWN;
	ants_work_again(pool, work);
	return 0;
}

/* As accept() in submit.c: nobody is overtaken, since then there is no room. */
static int queue(struct ants_pool *pool, struct ants_work *work,
		 struct ants_group *group, struct ants_kick *kick)
{
	if (READ_ONCE(work->pool) == pool)
		return group ? -EALREADY : queue_again(pool, work);
	if (!ants_has_room(pool))
		return pool->released ? -ESHUTDOWN : -EAGAIN;
	if (ants_work_claim(pool, work))
		return -EALREADY;
	work->group = group;
	ants_work_pend(pool, work);
	ants_wake_next(pool, kick);
	return 0;
}

/**
 * ants_queue_work() - hand a work item to a pool, never wait
 * @pool: the pool
 * @work: the work item
 *
 * A work item that runs, in this pool, runs once more when it has finished. It
 * takes over its own place then: nobody else gets that as long as it goes on.
 *
 * Context: as ants_try_submit(). Uses no memory.
 * Return: 0: it runs, unless it is cancelled before. -EINVAL: it has no
 * function, or no priority that there is. -EALREADY: it is queued, or in another
 * pool. -ECANCELED: it runs and was told to give up. -ESHUTDOWN: the pool is
 * released. -EAGAIN: it is full, or callers wait.
 */
int ants_queue_work(struct ants_pool *pool, struct ants_work *work)
{
	struct ants_kick kick;
	int err;

	if (unlikely(!work->fn || work->prio > ANTS_PRIO_HIGH))
		return -EINVAL;
	ants_lock_any(pool, &kick);
	err = queue(pool, work, NULL, &kick);
	if (unlikely(err))
		ants_refused(pool, err);
	ants_unlock_any(pool, &kick);
	return err;
}
EXPORT_SYMBOL_GPL(ants_queue_work);

/* Enters the FIFO of those who wait; and a group, that it waits for him. */
static int queue_enrol(struct ants_pool *pool, struct ants_waiter *waiter,
		       struct ants_group *group, bool nested)
{
	struct ants_work *work = waiter->work;
	int err;

	if (ants_work_claim(pool, work))
		return -EALREADY;
	err = ants_wait_enrol(pool, waiter, nested);
	if (err) {
		WRITE_ONCE(work->pool, NULL);
		return err;
	}
	work->slot.data = waiter;
	work->group = group;
	if (group)
		group->nr_left++;
	ants_work_move(work, ANTS_WORK_WAITING);
	return 0;
}

/* The pool is full. Entered with the lock held, left without. */
static int queue_wait(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, unsigned long timeout,
		      struct ants_kick *kick)
	__releases(&pool->lock)
{
	bool nested = timeout >= MAX_SCHEDULE_TIMEOUT && ants_in_task_of(pool);
	struct ants_waiter waiter = { .work = work, .prio = work->prio };
	int err = -ETIMEDOUT;

	if (timeout)
		err = queue_enrol(pool, &waiter, group, nested);
	if (err)
		ants_refused(pool, err);
	ants_unlock(pool, kick);
	return err ?: ants_wait(pool, &waiter, timeout);
}

static int check_group(const struct ants_group *group,
		       const struct ants_work *work)
{
	if (!group)
		return 0;
	if (work->group_stamp == group->stamp)
		return -EALREADY;
	return group->sealed ? -ESHUTDOWN : group->cancelled ? -ECANCELED : 0;
}

/* Hands over a work item, of @group if not NULL; waits for a place. */
int ants_work_queue(struct ants_pool *pool, struct ants_work *work,
		    struct ants_group *group, unsigned long timeout)
{
	struct ants_kick kick;
	int err;

	if (unlikely(!work->fn || work->prio > ANTS_PRIO_HIGH))
		return -EINVAL;
	ants_wait_touch(pool);
	ants_lock(pool, &kick);
	err = check_group(group, work) ?: queue(pool, work, group, &kick);
	if (err == -EAGAIN && !(group && pool->flags & ANTS_NONBLOCKING))
		return queue_wait(pool, work, group, timeout, &kick);
	if (err)
		ants_refused(pool, err);
	ants_unlock(pool, &kick);
	return err;
}

/**
 * ants_queue_work_timeout() - hand a work item to a pool, wait a limited time
 * @pool: the pool
 * @work: the work item
 * @timeout: how long to wait at most, in jiffies, whatever the pool's mode; 0
 *	does not wait
 *
 * Context: Process context. May sleep.
 * Return: as ants_queue_work(), but never -EAGAIN; and -ETIMEDOUT: the pool was
 * full all the time. -EBUSY, -EDEADLK, -EINTR: as ants_submit(). -ECANCELED: it
 * was cancelled meanwhile, too.
 */
int ants_queue_work_timeout(struct ants_pool *pool, struct ants_work *work,
			    unsigned long timeout)
{
	might_sleep();
	return ants_work_queue(pool, work, NULL, timeout);
}
EXPORT_SYMBOL_GPL(ants_queue_work_timeout);

/* Do as many wait for it as can be told in one hold of the lock? */
static bool is_crowded(const struct ants_work *work)
{
	const struct list_head *node;
	unsigned int nr = 0;

	list_for_each(node, &work->waiters)
		nr++;
	return nr >= ANTS_WORK_WAITERS;
}

/*
 * Waits until @work, which is in @pool, has ended. Entered with the lock held,
 * left without.
 */
static int wait_end(struct ants_pool *pool, struct ants_work *work,
		    struct ants_kick *kick, unsigned long timeout,
		    unsigned int state, int *result)
{
	struct ants_work_waiter waiter;
	int err;

	if (is_crowded(work)) {
		work_unlock(pool, kick);
		return -EBUSY;
	}
	ants_work_enrol(&work->waiters, &waiter);
	work_unlock_wait(pool, kick);
	err = ants_work_sleep(pool, &waiter, timeout, state);
	if (!err)
		*result = waiter.result;
	return err;
}

/**
 * ants_work_wait_timeout() - wait until a work item has ended, a limited time
 * @work: the work item; may be freed by whoever gets 0
 * @timeout: how long at most, in jiffies
 * @result: what its function returned; -ECANCELED if it was cancelled before it
 *	ran, -ESHUTDOWN if the pool was released before a delayed one was due,
 *	-EINVAL if it was never queued, and the error of
 *	ants_queue_work_timeout() if that waited and gave up. May be NULL.
 *
 * One that is queued again while it runs has ended after the run that follows.
 *
 * Context: Process context. May sleep.
 * Return: 0: it is in no pool, @result is set. -ETIMEDOUT, -EINTR: not yet.
 * -EDEADLK: the caller is a task of the same pool. -EBUSY: %ANTS_WORK_WAITERS
 * callers wait for it already.
 */
int ants_work_wait_timeout(struct ants_work *work, unsigned long timeout,
			   int *result)
{
	struct ants_pool *pool;
	struct ants_kick kick;
	int unused;

	might_sleep();
	result = result ?: &unused;
	pool = work_lock(work, &kick);
	if (!pool) {
		*result = work->result;
		return 0;
	}
	if (ants_in_task_of(pool)) {
		work_unlock(pool, &kick);
		return -EDEADLK;
	}
	return wait_end(pool, work, &kick, timeout,
			ants_killable_state(pool, 2), result);
}
EXPORT_SYMBOL_GPL(ants_work_wait_timeout);

/**
 * ants_work_wait() - wait until a work item has ended
 * @work: the work item; may be freed by whoever gets 0
 * @result: see ants_work_wait_timeout()
 *
 * Context: Process context. May sleep.
 * Return: as ants_work_wait_timeout(), but never -ETIMEDOUT.
 */
int ants_work_wait(struct ants_work *work, int *result)
{
	return ants_work_wait_timeout(work, MAX_SCHEDULE_TIMEOUT, result);
}
EXPORT_SYMBOL_GPL(ants_work_wait);

/* The last task of a flush epoch may be gone; its waiters need a sleeping lock. */
static void wake_flush(struct ants_pool *pool, bool last,
		       struct ants_kick *kick)
{
	if (!last || !pool->nr_callers)
		return;
	pool->waitq_wanted = true;
	ants_kick_upkeep(pool, kick);
}

/* A place is free. Callbacks are for others: the caller may be in whatever context. */
void ants_place_freed(struct ants_pool *pool, struct ants_kick *kick)
{
	ants_grant(pool, kick);
	ants_wake_next(pool, kick);
	if (pool->congested && ants_has_room(pool))
		ants_timer_arm(pool, jiffies + 1);
	ants_timer_quiesce(pool);
}

/* Ends one that does not run, or sees to it. False: it runs, or ends anyway. */
bool ants_work_cancel_waiting(struct ants_pool *pool, struct ants_work *work,
			      struct ants_kick *kick)
{
	lockdep_assert_held(&pool->lock);
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_DELAYED:
	case ANTS_WORK_LATE:
		ants_delayed_cancel(pool, work, kick);
		return true;
	case ANTS_WORK_WAITING:
		ants_waiter_end(pool, work->slot.data, -ECANCELED, kick);
		return true;
	case ANTS_WORK_PENDING:
		wake_flush(pool, ants_work_unpend(pool, work), kick);
		ants_work_end(pool, work, -ECANCELED, kick);
		return true;
	default:
		return false;
	}
}

static void tell(struct ants_pool *pool, struct ants_work *work,
		 struct ants_kick *kick)
{
	if (work->state == ANTS_WORK_AGAIN)
		wake_flush(pool, ants_work_not_again(pool, work), kick);
	ants_work_move(work, ANTS_WORK_CANCELLING);
}

/* Returns true if it will not run, and has ended or is about to. */
static bool cancel(struct ants_pool *pool, struct ants_work *work,
		   struct ants_kick *kick)
{
	if (ants_work_cancel_waiting(pool, work, kick))
		return true;
	/* If it ends anyway it was cancelled before, by somebody else. */
	if (!ants_work_ends(work))
		tell(pool, work, kick);
	return false;
}

static bool is_running(const struct ants_work *work)
{
	return work->state >= ANTS_WORK_RUNNING;
}

/**
 * ants_work_cancel() - see to it that a work item does not run
 * @work: the work item
 *
 * One that runs is told to give up, see ants_work_cancelled(), and does not run
 * again if it was queued meanwhile.
 *
 * Context: as ants_queue_work().
 * Return: true: it was queued, and will not run. false: it is not queued, or runs.
 */
bool ants_work_cancel(struct ants_work *work)
{
	struct ants_round round;
	struct ants_kick kick = { .round = &round };
	struct ants_pool *pool;
	bool ret;

	pool = work_lock(work, &kick);
	if (!pool)
		return false;
	ret = cancel(pool, work, &kick);
	ants_place_freed(pool, &kick);
	work_unlock(pool, &kick);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_work_cancel);

/* See ants_work_cancel_sync(); @inside: also from a task of the same pool. */
int ants_work_stop(struct ants_work *work, bool inside)
{
	struct ants_round round;
	struct ants_kick kick = { .round = &round };
	struct ants_pool *pool;
	int unused, err;
	bool ret;

	might_sleep();
	pool = work_lock(work, &kick);
	if (!pool)
		return 0;
	ret = cancel(pool, work, &kick);
	ants_place_freed(pool, &kick);
	if (READ_ONCE(work->pool) != pool) {
		work_unlock(pool, &kick);
		return ret;
	}
	if (!inside && is_running(work) && ants_in_task_of(pool)) {
		work_unlock(pool, &kick);
		return -EDEADLK;
	}
	err = wait_end(pool, work, &kick, MAX_SCHEDULE_TIMEOUT,
		       TASK_UNINTERRUPTIBLE, &unused);
	return err ?: ret;
}

/**
 * ants_work_cancel_sync() - cancel a work item and wait until it has ended
 * @work: the work item; afterwards it is in no pool, and may be freed
 *
 * Waits, whatever signal comes, for one that runs.
 *
 * Context: Process context. May sleep.
 * Return: 1: it was queued, and did not run. 0: it was not queued, or has run, or
 * was cancelled by somebody else.
 * -EDEADLK: it runs, and the caller is a task of the same pool. -EBUSY:
 * %ANTS_WORK_WAITERS callers wait for it already. In error it is told to give
 * up, and runs.
 */
int ants_work_cancel_sync(struct ants_work *work)
{
	return ants_work_stop(work, false);
}
EXPORT_SYMBOL_GPL(ants_work_cancel_sync);

/**
 * ants_work_cancelled() - was a running work item told to give up?
 * @work: the work item; to be asked by its own function
 *
 * Context: Any context.
 * Return: true from the first cancel on.
 */
bool ants_work_cancelled(const struct ants_work *work)
{
	return READ_ONCE(work->state) == ANTS_WORK_CANCELLING;
}
EXPORT_SYMBOL_GPL(ants_work_cancelled);
