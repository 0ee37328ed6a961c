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

/* Is there still a delay? Otherwise the timer function is about to queue it. */
static bool is_early(const struct ants_delayed_work *dwork)
{
	return timer_pending(&dwork->timer) || time_before(jiffies, dwork->when);
}

/* What ants_work_flush() has to wait for; nothing if ANTS_UNTIL_END. */
static enum ants_until until_flushed(const struct ants_work *work)
{
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_AGAIN:
		return ANTS_UNTIL_NEXT;
	case ANTS_WORK_DELAYED:
		return is_early(ants_to_delayed(work)) ? ANTS_UNTIL_END : ANTS_UNTIL_RUN;
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
		err = ants_join_enter(w, work, waiter->until);
		ants_work_unlock(pool, todo);
		return err ?: ants_join_work(w, work, timeout,
					     &waiter->result);
	}
	state = ants_killable_state(pool, 2);
	ants_work_await(work, waiter);
	ants_work_unlock_touch(pool, todo);
	return ants_work_sleep(pool, waiter, timeout, state);
}

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
			*result = ants_work_result(work);
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

int ants_work_wait(struct ants_work *work, int *result)
{
	return ants_work_wait_timeout(work, MAX_SCHEDULE_TIMEOUT, result);
}
EXPORT_SYMBOL_GPL(ants_work_wait);

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
