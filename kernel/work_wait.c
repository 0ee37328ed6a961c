// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for a work item: until it has ended, or until one run of it has. A
 * task that waits for an item of its own pool occupies a thread, and there may
 * be no other thread to run the item. So it joins: unless another thread has
 * started the item, it takes the item off the queue and runs it itself. Then
 * the only waits that could hang are those for the waiting task itself, and
 * those are refused.
 */
#include <linux/export.h>

#include "internal.h"

/* What ants_work_flush() has to wait for; nothing if ANTS_UNTIL_END. */
static enum ants_until until_flushed(const struct ants_work *work)
{
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_AGAIN:
		return ANTS_UNTIL_NEXT;
	case ANTS_WORK_DELAYED:
	case ANTS_WORK_DROPPED:
	case ANTS_WORK_SKIPPED:
		return ANTS_UNTIL_END;
	default:
		return ANTS_UNTIL_RUN;
	}
}

/*
 * Wait for the event in @waiter->until. The lock is held on entry and dropped
 * here.
 */
static int wait_for(struct ants_pool *pool, struct ants_work *work,
		    struct ants_work_waiter *waiter, unsigned long timeout,
		    struct ants_todo *todo)
{
	struct ants_worker *w = ants_worker_of(pool);
	unsigned int state;
	int err;

	if (w) {
		err = ants_join_enter(w, work, waiter);
		ants_work_unlock(pool, todo);
		return err ?: ants_join_work(w, work, waiter, timeout);
	}
	state = ants_killable_state(pool, 2);
	ants_work_await(work, waiter);
	ants_work_unlock_touch(pool, todo);
	return ants_work_sleep(pool, waiter, timeout, state);
}

/**
 * ants_work_wait_timeout() - wait until a work item has ended, a limited time
 * @work: the work item; the caller that gets 0 may free it if no other caller
 *	uses it
 * @timeout: the longest time to wait, in jiffies; 0 does not wait
 * @result: what its function returned; -ECANCELED if it was cancelled before it
 *	ran, -ESHUTDOWN if the pool was released before a delayed one was due,
 *	-EINVAL if it was never queued, and the error of
 *	ants_queue_work_timeout() if that waited and gave up. May be NULL.
 *
 * An item that is queued again while it runs ends with the run that follows. In
 * a task of the same pool the caller runs an item that has not been started;
 * then the call may take longer than @timeout.
 *
 * Context: Process context. May sleep.
 * Return: 0: it is in no pool, and @result is set. -ETIMEDOUT, -EINTR: it has
 * not ended yet. -EDEADLK: the caller is a task of the same pool, and the wait
 * could never end: the item runs in the caller, or waits for it; or the pool is
 * ordered; or 8 items run inside one another in the caller. -EINVAL: the item
 * is %ANTS_WORK_DETACHED.
 */
int ants_work_wait_timeout(struct ants_work *work, unsigned long timeout,
			   int *result)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_END };
	struct ants_pool *pool;
	struct ants_todo todo;
	int err;

	might_sleep();
	if (READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	pool = ants_work_lock(work, &todo);
	if (!pool) {
		if (result)
			*result = READ_ONCE(work->result);
		return 0;
	}
	if (!timeout) {
		ants_work_unlock(pool, &todo);
		return -ETIMEDOUT;
	}
	err = wait_for(pool, work, &waiter, timeout, &todo);
	if (!err && result)
		*result = waiter.result;
	return err;
}
EXPORT_SYMBOL_GPL(ants_work_wait_timeout);

/**
 * ants_work_wait() - wait until a work item has ended
 * @work: the work item; the caller that gets 0 may free it if no other caller
 *	uses it
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

/**
 * ants_work_flush() - wait for the run of a work item that is queued now
 * @work: the work item; must stay as long as the call lasts
 *
 * Waits for the run in progress and for a run that is queued behind it, but not
 * for later ones: an item that queues itself for ever does not hold up the
 * caller. A delay is not waited for, because an item whose timer is armed is
 * not queued yet. But if ants_mod_delayed_work() puts off a run that is being
 * waited for, the wait continues until that run has ended.
 *
 * Context: Process context. May sleep.
 * Return: 0: that run has ended, or was cancelled, or there was none. -EINTR,
 * -EDEADLK, -EINVAL: as ants_work_wait().
 */
int ants_work_flush(struct ants_work *work)
{
	struct ants_work_waiter waiter = {};
	struct ants_pool *pool;
	struct ants_todo todo;

	might_sleep();
	if (READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	pool = ants_work_lock(work, &todo);
	if (!pool)
		return 0;
	waiter.until = until_flushed(work);
	if (waiter.until == ANTS_UNTIL_END) {
		ants_work_unlock_touch(pool, &todo);
		return 0;
	}
	return wait_for(pool, work, &waiter, MAX_SCHEDULE_TIMEOUT, &todo);
}
EXPORT_SYMBOL_GPL(ants_work_flush);
