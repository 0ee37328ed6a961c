// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items: queued without memory.
 *
 *	state		queue		cancel		wait
 *	idle		accepted	false		the last result
 *	delayed, due	-EALREADY	true, ends	waits
 *	waiting		-EALREADY	true, ends	waits
 *	pending		-EALREADY	true, ends	waits, or runs it
 *	running		accepted again	false, flagged	waits
 *	again, rearmed	-EALREADY	true, flagged,	waits for both runs
 *					one run is left
 *	dropped		accepted	false		waits
 *	skipped		-ECANCELED	false		waits
 *
 * While a caller of ants_work_cancel_sync() waits for a running item,
 * -ECANCELED takes the place of "accepted". In any state but idle, queueing on
 * another pool is refused with -EALREADY. A released pool refuses with
 * -ESHUTDOWN what is accepted above.
 */
#include <linux/export.h>

#include "../internal.h"

/*
 * The timer function of an item is about to run: have it make the item due at
 * @when, even if the item was cancelled. It runs within an RCU section that has
 * begun, so a caller that waits for all tasks can wait for it: see
 * ants_wait_enter().
 */
static void delayed_revive(struct ants_pool *pool,
			   struct ants_delayed_work *dwork, unsigned long when)
{
	dwork->when = when;
	WRITE_ONCE(pool->delayed.firing, get_state_synchronize_rcu());
	ants_work_move(&dwork->work, ANTS_WORK_DELAYED);
}

/* Remove an item from its list and end it. */
static void delayed_end(struct ants_pool *pool, struct ants_delayed_work *dwork,
			int result, struct ants_todo *todo)
{
	ants_delayed_del(pool, dwork);
	ants_work_end(pool, &dwork->work, result, todo);
}

/* End an item that is in either list, or leave that to its timer function. */
static void delayed_cancel(struct ants_pool *pool, struct ants_work *work,
			   struct ants_todo *todo)
{
	struct ants_delayed_work *dwork = ants_to_delayed(work);

	lockdep_assert_held(&pool->lock);
	if (work->state == ANTS_WORK_DUE || timer_delete(&dwork->timer))
		delayed_end(pool, dwork, -ECANCELED, todo);
	else
		ants_work_move(work, ANTS_WORK_DROPPED);
}

void ants_work_init(struct ants_work *work, ants_work_fn_t fn,
		    unsigned int flags)
{
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK))
		ants_object_init(work);
	memset(work, 0, sizeof(*work));
	work->fn = fn;
	work->flags = flags & ANTS_WORK_KINDS;
	work->result = -EINVAL;
}
EXPORT_SYMBOL_GPL(ants_work_init);

/* Queue a work item that is in @pool already. */
static int queue_again(struct ants_pool *pool, struct ants_work *work)
{
	int err = ants_work_may_run_again(pool, work);

	if (err)
		return err;
	if (work->state == ANTS_WORK_DROPPED)
		delayed_revive(pool, ants_to_delayed(work), jiffies);
	else
		ants_work_again(pool, work);
	return 0;
}

/* Accept @work, which was in no pool a moment ago. */
static int work_enter(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, struct ants_todo *todo)
{
	if (ants_work_claim(pool, work))
		return -EALREADY;
	work->group = group;
	ants_work_pend(pool, work, todo);
	return 0;
}

/*
 * As submit_accept() in submit.c: while callers wait the pool has no room, so a
 * newcomer cannot overtake them.
 */
static int work_accept(struct ants_pool *pool, struct ants_work *work,
		       struct ants_group *group, struct ants_todo *todo)
{
	struct ants_pool *other = READ_ONCE(work->pool);
	int err;

	if (unlikely(other)) {
		if (other != pool || group)
			return -EALREADY;
		return queue_again(pool, work);
	}
	if (!ants_can_admit(pool))
		return ants_closed_error(pool) ?: -EAGAIN;
	err = work_enter(pool, work, group, todo);
	if (!err)
		ants_wake_for_caller(pool, todo);
	return err;
}

int ants_queue_work(struct ants_pool *pool, struct ants_work *work)
{
	struct ants_todo todo __uninitialized;
	int err;

	if (unlikely(!ants_work_is_valid(work)))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	err = work_accept(pool, work, NULL, &todo);
	if (unlikely(err))
		ants_refused(pool, ants_work_run, work, err);
	ants_unlock_any(pool, &todo);
	return err;
}
EXPORT_SYMBOL_GPL(ants_queue_work);

/*
 * Enqueue the caller as a waiter. If the item belongs to a group, the group
 * must wait for this caller as well.
 */
static int queue_enrol(struct ants_pool *pool, struct ants_waiter *waiter,
		       struct ants_group *group, bool nested,
		       struct ants_todo *todo)
{
	struct ants_work *work = waiter->work;
	int err;

	if (ants_work_claim(pool, work))
		return -EALREADY;
	err = ants_wait_enrol(pool, waiter, nested);
	if (err) {
		ants_work_unclaim(work);
		return err;
	}
	work->slot.data = waiter;
	work->group = group;
	if (group)
		ants_group_enter(group, work);
	ants_work_move(work, ANTS_WORK_WAITING);
	ants_work_offer(work, todo);
	return 0;
}

/* The pool is full. The lock is held on entry and dropped here. */
static int queue_wait(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, unsigned long timeout,
		      struct ants_todo *todo)
	__releases(&pool->lock)
{
	bool nested = timeout >= MAX_SCHEDULE_TIMEOUT && ants_in_pool(pool);
	struct ants_waiter waiter = { .work = work, .prio = work->prio };
	int err = -ETIMEDOUT;

	if (timeout)
		err = queue_enrol(pool, &waiter, group, nested, todo);
	if (err)
		ants_refused(pool, ants_work_run, work, err);
	ants_unlock(pool, todo);
	return err ?: ants_wait(pool, &waiter, timeout);
}

static int check_group(const struct ants_group *group,
		       const struct ants_work *work)
{
	if (!group)
		return 0;
	/*
	 * The item may be in a group of another pool, under the lock of that
	 * one.
	 */
	if (READ_ONCE(work->group_stamp) == group->stamp)
		return -EALREADY;
	return group->sealed ? -ESHUTDOWN : group->cancelled ? -ECANCELED : 0;
}

/*
 * Submit a work item, of @group if not NULL; wait for room. A task of the pool
 * does not wait without a limit, but runs the item itself.
 */
int ants_work_queue(struct ants_pool *pool, struct ants_work *work,
		    struct ants_group *group, unsigned long timeout)
{
	struct ants_wake_batch batch;
	struct ants_todo todo;
	int err;

	if (unlikely(!ants_work_is_valid(work)))
		return -EINVAL;
	if (group && READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	if (timeout && !(group && READ_ONCE(pool->flags) & ANTS_NONBLOCKING))
		ants_wait_touch(pool);
	/* May wake a task that joins the group, and a worker. */
	ants_lock_batch(pool, &todo, &batch);
	err = check_group(group, work) ?: work_accept(pool, work, group, &todo);
	if (err == -EAGAIN && !(group && pool->flags & ANTS_NONBLOCKING)) {
		if (timeout < MAX_SCHEDULE_TIMEOUT ||
		    !ants_join_may_run(pool, work))
			return queue_wait(pool, work, group, timeout, &todo);
		err = work_enter(pool, work, group, &todo);
		if (!err)
			ants_join_at_once(pool, work, &todo);
	}
	if (err)
		ants_refused(pool, ants_work_run, work, err);
	ants_unlock(pool, &todo);
	return err;
}

int ants_queue_work_timeout(struct ants_pool *pool, struct ants_work *work,
			    unsigned long timeout)
{
	might_sleep();
	return ants_work_queue(pool, work, NULL, timeout);
}
EXPORT_SYMBOL_GPL(ants_queue_work_timeout);

/*
 * An item that is ANTS_WORK_LATE is detached here, or by a caller that has cancelled
 * it since a worker has taken it.
 */
bool ants_work_begin(void)
{
	struct ants_worker *w = ants_this_worker();
	bool ret;

	raw_spin_lock(&w->pool->lock);
	ret = ants_work_detach(w);
	raw_spin_unlock(&w->pool->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_work_begin);

/*
 * Waiting for a work item: until it has ended, or until one run of it has. A
 * task that waits for an item of its own pool occupies a thread, and there may
 * be no other thread to run the item. So it joins: unless another thread has
 * started the item, it takes the item off the queue and runs it itself. Then
 * the only waits that could hang are those for the waiting task itself, and
 * those are refused.
 */

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

/* Cancelling work items, and querying their state. */

/* Cancel an item that does not run. Return false if it runs or ends anyway. */
bool ants_work_cancel_waiting(struct ants_pool *pool, struct ants_work *work,
			      struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_DELAYED:
	case ANTS_WORK_DUE:
		delayed_cancel(pool, work, todo);
		return true;
	case ANTS_WORK_WAITING:
		ants_waiter_end(pool, work->slot.data, -ECANCELED, todo);
		return true;
	case ANTS_WORK_PENDING:
		ants_work_take_off(pool, work, todo);
		ants_work_end(pool, work, -ECANCELED, todo);
		return true;
	default:
		return false;
	}
}

/*
 * Return true if a run was queued behind the one in progress, and is cancelled
 * now.
 */
static bool cancel_running(struct ants_pool *pool, struct ants_work *work,
			   struct ants_todo *todo)
{
	bool queued = work->state != ANTS_WORK_RUNNING;

	/* One that is ANTS_WORK_LATE: its function has not begun. */
	if (work->flags & ANTS_WORK_DETACHED)
		return ants_work_detach(work->slot.data);
	if (work->state == ANTS_WORK_AGAIN)
		ants_work_take_off(pool, work, todo);
	if (queued)
		ants_work_move(work, ANTS_WORK_RUNNING);
	WRITE_ONCE(work->flags, work->flags | ANTS_WORK_STOP);
	return queued;
}

/* Return true if a run was queued, and will not start. */
static bool cancel_item(struct ants_pool *pool, struct ants_work *work,
			struct ants_todo *todo)
{
	bool ret = ants_work_runs(work) ?
		   cancel_running(pool, work, todo) :
		   ants_work_cancel_waiting(pool, work, todo);

	ants_room_freed(pool, todo);
	return ret;
}

bool ants_work_cancel(struct ants_work *work)
{
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	struct ants_pool *pool;
	bool ret;

	pool = ants_work_lock(work, &todo);
	if (!pool)
		return false;
	ret = cancel_item(pool, work, &todo);
	ants_work_unlock(pool, &todo);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_work_cancel);

/*
 * An item waits for its own end. If lockdep is there, its report on the pool's
 * map says that in full.
 */
static void report_self(struct ants_pool *pool, struct ants_work *work)
{
	ants_wait_report(pool);
	WARN_ONCE(!IS_ENABLED(CONFIG_LOCKDEP),
		  "ants: %ps cancels itself and would wait for its own end\n",
		  work->fn);
}

/* Is @work the task that the caller runs, or does that task run inside it? */
static bool runs_inside(struct ants_pool *pool, const struct ants_work *work)
{
	const struct ants_worker *w = ants_worker_of(pool);

	return w && ants_work_runner(work) == w;
}

bool ants_work_cancel_sync(struct ants_work *work)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_END };
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	struct ants_pool *pool;
	bool ret, self;

	might_sleep();
	pool = ants_work_lock(work, &todo);
	if (!pool)
		return false;
	ret = cancel_item(pool, work, &todo);
	self = runs_inside(pool, work);
	if (READ_ONCE(work->pool) != pool || self) {
		ants_work_unlock_touch(pool, &todo);
		if (self)
			report_self(pool, work);
		return ret;
	}
	WRITE_ONCE(work->flags, work->flags | ANTS_WORK_CLOSED);
	ants_work_await(work, &waiter);
	ants_work_unlock_touch(pool, &todo);
	ants_work_sleep(pool, &waiter, MAX_SCHEDULE_TIMEOUT,
			TASK_UNINTERRUPTIBLE);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_work_cancel_sync);

bool ants_work_cancelled(const struct ants_work *work)
{
	return READ_ONCE(work->flags) & ANTS_WORK_STOP;
}
EXPORT_SYMBOL_GPL(ants_work_cancelled);

/* The states of an item with a run that has not started. */
#define QUEUED_STATES	(BIT(ANTS_WORK_DELAYED) | BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_WAITING) | \
			 BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN) | BIT(ANTS_WORK_REARMED))

unsigned int ants_work_busy(const struct ants_work *work)
{
	unsigned int state = BIT(READ_ONCE(work->state));

	return (state & QUEUED_STATES ? ANTS_WORK_BUSY_PENDING : 0) |
	       (state & ANTS_WORK_RUNS ? ANTS_WORK_BUSY_RUNNING : 0);
}
EXPORT_SYMBOL_GPL(ants_work_busy);

bool ants_work_pending(const struct ants_work *work)
{
	return ants_work_busy(work) & ANTS_WORK_BUSY_PENDING;
}
EXPORT_SYMBOL_GPL(ants_work_pending);

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

void ants_delayed_timer_fn(struct timer_list *timer)
{
	struct ants_delayed_work *dwork = timer_container_of(dwork, timer,
							     timer);
	/* Other threads may try to claim it. */
	struct ants_pool *pool = READ_ONCE(dwork->work.pool);
	struct ants_wake_batch batch;
	struct ants_todo todo;

	ants_pause_atomic(ANTS_PAUSE_DUE, pool);
	ants_lock_batch(pool, &todo, &batch);
	if (dwork->work.state == ANTS_WORK_DROPPED)
		delayed_end(pool, dwork, -ECANCELED, &todo);
	else if (ants_closed_error(pool))
		delayed_end(pool, dwork, ants_closed_error(pool), &todo);
	else if (time_before(jiffies, dwork->when))
		mod_timer(&dwork->timer, dwork->when);
	else
		ants_delayed_due(pool, dwork, &todo);
	ants_wake_next(pool, &todo);
	if (pool->released)
		todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_delayed_timer_fn);

/* End an item, unless its timer function is about to run, which ends it. */
static void see_delayed(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_pool *pool = walker->pool;
	struct ants_delayed_work *dwork;

	dwork = list_entry(entry, struct ants_delayed_work, node);
	if (dwork->work.state != ANTS_WORK_DUE && !timer_delete(&dwork->timer))
		return;
	delayed_end(pool, dwork, ants_closed_error(pool), &walker->todo);
	walker->todo.bits |= ANTS_TODO_WAITQ;
}

/*
 * End all items of a pool that takes no tasks any more; no more are added, and
 * none becomes due.
 */
void ants_delayed_fail_all(struct ants_pool *pool)
{
	struct ants_walker walker = { .see = see_delayed };

	if (!ants_peek(pool->delayed.nr))
		return;
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_HIGH], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_NORMAL], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.list, UINT_MAX, &walker);
}

void ants_delayed_work_init(struct ants_delayed_work *dwork, ants_work_fn_t fn,
			    unsigned int flags)
{
	ants_work_init(&dwork->work, fn, flags);
	timer_setup(&dwork->timer, ants_delayed_timer_fn, 0);
}
EXPORT_SYMBOL_GPL(ants_delayed_work_init);

void ants_delayed_work_init_onstack(struct ants_delayed_work *dwork,
				    ants_work_fn_t fn)
{
	ants_work_init(&dwork->work, fn, 0);
	timer_setup_on_stack(&dwork->timer, ants_delayed_timer_fn, 0);
}
EXPORT_SYMBOL_GPL(ants_delayed_work_init_onstack);

void ants_destroy_delayed_work_on_stack(struct ants_delayed_work *dwork)
{
	ants_destroy_work_on_stack(&dwork->work);
	timer_destroy_on_stack(&dwork->timer);
}
EXPORT_SYMBOL_GPL(ants_destroy_delayed_work_on_stack);

/*
 * The same for an item that is in @pool already. One that runs is due when it
 * has ended, or later.
 */
static int queue_delayed_again(struct ants_pool *pool,
			       struct ants_delayed_work *dwork,
			       unsigned long when)
{
	int err = ants_work_may_run_again(pool, &dwork->work);

	if (err)
		return err;
	dwork->when = when;
	if (dwork->work.state == ANTS_WORK_DROPPED)
		delayed_revive(pool, dwork, when);
	else
		ants_work_move(&dwork->work, ANTS_WORK_REARMED);
	return 0;
}

static int queue_delayed(struct ants_pool *pool,
			 struct ants_delayed_work *dwork, unsigned long when,
			 struct ants_todo *todo)
{
	struct ants_work *work = &dwork->work;
	struct ants_pool *other = READ_ONCE(work->pool);

	if (other == pool)
		return queue_delayed_again(pool, dwork, when);
	/* As ants_queue_work(): where the item is comes before what this pool is. */
	if (other)
		return -EALREADY;
	if (ants_closed_error(pool))
		return ants_closed_error(pool);
	if (ants_work_claim(pool, work))
		return -EALREADY;
	dwork->when = when;
	ants_delayed_arm(pool, dwork, todo);
	return 0;
}

int ants_queue_delayed_work(struct ants_pool *pool,
			    struct ants_delayed_work *dwork,
			    unsigned long delay)
{
	struct ants_todo todo;
	int err;

	if (unlikely(!ants_work_is_valid(&dwork->work) || !dwork->timer.function))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	err = queue_delayed(pool, dwork, jiffies + delay, &todo);
	if (err)
		ants_refused(pool, ants_work_run, &dwork->work, err);
	ants_wake_next(pool, &todo);
	ants_unlock_any(pool, &todo);
	return err;
}
EXPORT_SYMBOL_GPL(ants_queue_delayed_work);

/* Check whether the queued run of an item in @pool may be put off. */
static int check_mod(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_WAITING)
		return -EALREADY;
	if (work->state == ANTS_WORK_SKIPPED ||
	    work->flags & ANTS_WORK_CLOSED || ants_group_stops(work))
		return -ECANCELED;
	return ants_closed_error(pool);
}

/* The states of an item with a run that is due. */
#define DUE_STATES	(BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN))

/* Return 1 if the item was queued. */
static int mod_again(struct ants_pool *pool, struct ants_delayed_work *dwork,
		     unsigned long when, struct ants_todo *todo)
{
	struct ants_work *work = &dwork->work;
	int err = check_mod(pool, work);

	if (err)
		return err;
	if (work->state == ANTS_WORK_RUNNING || work->state == ANTS_WORK_DROPPED)
		return queue_delayed_again(pool, dwork, when);
	/* What is due, and is to be due at once, keeps its turn. */
	if (BIT(work->state) & DUE_STATES && !time_before(jiffies, when))
		return 1;
	if (work->state == ANTS_WORK_DELAYED && !timer_delete(&dwork->timer)) {
		delayed_revive(pool, dwork, when);
		return 1;
	}
	if (work->state == ANTS_WORK_PENDING || work->state == ANTS_WORK_AGAIN)
		ants_work_take_off(pool, work, todo);
	else if (work->state != ANTS_WORK_REARMED)
		ants_delayed_del(pool, dwork);
	dwork->when = when;
	if (ants_work_runs(work))
		ants_work_move(work, ANTS_WORK_REARMED);
	else
		ants_delayed_arm(pool, dwork, todo);
	return 1;
}

int ants_mod_delayed_work(struct ants_pool *pool,
			  struct ants_delayed_work *dwork, unsigned long delay)
{
	unsigned long when = jiffies + delay;
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	int ret;

	if (unlikely(!ants_work_is_valid(&dwork->work) || !dwork->timer.function))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	if (READ_ONCE(dwork->work.pool) == pool)
		ret = mod_again(pool, dwork, when, &todo);
	else
		ret = queue_delayed(pool, dwork, when, &todo);
	if (ret < 0)
		ants_refused(pool, ants_work_run, &dwork->work, ret);
	ants_room_freed(pool, &todo);
	ants_unlock_any(pool, &todo);
	return ret;
}
EXPORT_SYMBOL_GPL(ants_mod_delayed_work);
