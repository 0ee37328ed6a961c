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
#include <linux/debugobjects.h>
#include <linux/export.h>
#include <linux/sched/task_stack.h>

#include "../internal.h"

/*
 * In kernels that check their own work items (CONFIG_DEBUG_OBJECTS_WORK) an item of
 * ants is an object as well, which is active from when it enters a pool until it
 * leaves. The kernel complains about an item that is initialised, or whose memory is
 * freed, while it is active, and about one that is queued and was never initialised.
 * It does so before the pool's lock is taken, because the console may not print under
 * a raw lock.
 */
#ifdef CONFIG_DEBUG_OBJECTS_WORK
static void object_init(struct ants_work *work)
{
	if (object_is_on_stack(work))
		debug_object_init_on_stack(work, &ants_work_descr);
	else
		debug_object_init(work, &ants_work_descr);
}

static void *object_hint(void *work)
{
	return ((struct ants_work *)work)->fn;
}

/* Is it as __ANTS_WORK_INITIALIZER() leaves it? */
static bool object_is_static(void *work)
{
	return ((struct ants_work *)work)->result == -EINVAL;
}

/*
 * The owner of an active item is about to overwrite it. Take it off the list
 * that it is in, which is all that can be done in every context; it may still
 * run.
 */
static bool object_withdraw(void *work, enum debug_obj_state state)
{
	ants_work_cancel(work);
	debug_object_deactivate(work, &ants_work_descr);
	return true;
}

/* An item is queued that was never initialised: be told once. */
static bool object_track(void *work, enum debug_obj_state state)
{
	object_init(work);
	return true;
}

const struct debug_obj_descr ants_work_descr = {
	.name = "ants_work",
	.debug_hint = object_hint,
	.is_static_object = object_is_static,
	.fixup_init = object_withdraw,
	.fixup_free = object_withdraw,
	.fixup_assert_init = object_track,
};

void ants_destroy_work_on_stack(struct ants_work *work)
{
	debug_object_free(work, &ants_work_descr);
}
EXPORT_SYMBOL_GPL(ants_destroy_work_on_stack);
#else
static void object_init(struct ants_work *work)
{
}
#endif

void ants_work_init(struct ants_work *work, ants_work_fn_t fn,
		    unsigned int flags)
{
	object_init(work);
	memset(work, 0, sizeof(*work));
	work->fn = fn;
	work->flags = flags & ANTS_WORK_KINDS;
	work->result = -EINVAL;
}
EXPORT_SYMBOL_GPL(ants_work_init);

/* Is it an item that can be queued? Not called with a lock of a pool held. */
static bool work_is_valid(struct ants_work *work)
{
	bool valid = work->fn && work->prio <= ANTS_PRIO_HIGH;

	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK) && valid)
		debug_object_assert_init(work, &ants_work_descr);
	return valid;
}

/*
 * Make @pool the one that @work is in. Return the pool that it is in already,
 * or NULL.
 */
static struct ants_pool *work_claim(struct ants_pool *pool,
				    struct ants_work *work)
{
	struct ants_pool *other = cmpxchg(&work->pool, NULL, pool);

	lockdep_assert_held(&pool->lock);
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK) && !other)
		debug_object_activate(work, &ants_work_descr);
	return other;
}

/*
 * The timer function of an item is about to run: have it make the item due at
 * @when, even if the item was cancelled. It runs within an RCU section that has
 * begun, so a caller that waits for all tasks can wait for it: see
 * wait_tasks_enter() in pool.c.
 */
static void delayed_revive(struct ants_pool *pool,
			   struct ants_delayed_work *dwork, unsigned long when)
{
	dwork->when = when;
	WRITE_ONCE(pool->delayed.firing, get_state_synchronize_rcu());
	ants_work_move(&dwork->work, ANTS_WORK_DELAYED);
}

/*
 * The states in which an item of a pool has no queued run: its function runs, or it was
 * cancelled and its timer function is about to end it.
 */
#define UNQUEUED_STATES	(BIT(ANTS_WORK_RUNNING) | BIT(ANTS_WORK_DROPPED))

/* Check whether a run of @work, which is in @pool, may be queued in one of @states. */
static int may_run_again(const struct ants_pool *pool, const struct ants_work *work,
			 unsigned long states)
{
	if (work->state == ANTS_WORK_SKIPPED)
		return -ECANCELED;
	if (!(BIT(work->state) & states))
		return -EALREADY;
	if (work->flags & ANTS_WORK_CLOSED || ants_group_stops(work))
		return -ECANCELED;
	return ants_closed_error(pool);
}

/* Accept @work, which was in no pool a moment ago. */
static int work_enter(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, struct ants_todo *todo)
{
	if (work_claim(pool, work))
		return -EALREADY;
	work->group = group;
	ants_work_pend(pool, work, todo);
	return 0;
}

/*
 * As accept_slow() in submit.c: while callers wait the pool has no room, so a
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
		err = may_run_again(pool, work, UNQUEUED_STATES);
		if (err)
			return err;
		if (work->state == ANTS_WORK_DROPPED)
			delayed_revive(pool, ants_to_delayed(work), jiffies);
		else
			ants_work_pend(pool, work, todo);
		return 0;
	}
	if (!ants_can_admit(pool))
		return ants_closed_error(pool) ?: -EAGAIN;
	err = work_enter(pool, work, group, todo);
	if (!err)
		ants_wake_for_submitter(pool, todo);
	return err;
}

static int check_group(const struct ants_group *group,
		       const struct ants_work *work)
{
	/*
	 * The item may be in a group of another pool, under the lock of that
	 * one.
	 */
	if (READ_ONCE(work->group_stamp) == group->stamp)
		return -EALREADY;
	return group->sealed ? -ESHUTDOWN : group->cancelled ? -ECANCELED : 0;
}

/*
 * The fast path of work_accept(), as that of a task: see task_add_fast() in
 * submit.c. Return false if it may not be taken.
 */
static __always_inline bool work_accept_fast(struct ants_pool *pool, struct ants_work *work,
					     struct ants_group *group)
{
	unsigned int epoch;

	if (unlikely(!ants_may_add_fast(pool) || work->prio != ANTS_PRIO_NORMAL))
		return false;
	if (group && unlikely(!hlist_empty(&group->waiters) || check_group(group, work)))
		return false;
	if (unlikely(work_claim(pool, work)))
		return false;
	ants_trace(task_accept, pool, ants_work_run, work, pool->nr_pending + 1);
	work->group = group;
	if (group)
		ants_group_enter(group, work);
	epoch = pool->epoch;
	ants_work_move(work, ANTS_WORK_PENDING);
	ants_link_fast(pool, &work->slot, ants_work_run, work, epoch | ANTS_TAG_WORK);
	ants_added_fast(pool, epoch, 1);
	return true;
}

static noinline int queue_work_slow(struct ants_pool *pool, struct ants_work *work,
				    unsigned long flags)
	__releases(&pool->lock)
{
	struct ants_todo todo __uninitialized;
	int err;

	ants_todo_begin(&todo);
	todo.flags = flags;
	err = work_accept(pool, work, NULL, &todo);
	if (unlikely(err))
		ants_refused(pool, ants_work_run, work, err);
	else
		ants_begin_fast_submits(pool);
	ants_unlock_any(pool, &todo);
	return err;
}

int ants_queue_work(struct ants_pool *pool, struct ants_work *work)
{
	unsigned long flags;

	if (unlikely(!work_is_valid(work)))
		return -EINVAL;
	raw_spin_lock_irqsave(&pool->lock, flags);
	if (unlikely(!work_accept_fast(pool, work, NULL)))
		return queue_work_slow(pool, work, flags);
	ants_check(pool);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_queue_work);

/*
 * The pool is full: enqueue the caller as a waiter. If the item belongs to a group,
 * the group must wait for this caller as well.
 */
static int work_enrol(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, unsigned long timeout,
		      struct ants_waiter *waiter, struct ants_todo *todo)
{
	bool nested = timeout >= MAX_SCHEDULE_TIMEOUT && ants_in_pool(pool);
	int err;

	if (!timeout)
		return -ETIMEDOUT;
	if (work_claim(pool, work))
		return -EALREADY;
	*waiter = (struct ants_waiter){ .work = work, .prio = work->prio };
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

/* The slow path of ants_work_queue(). */
static noinline int work_queue_slow(struct ants_pool *pool, struct ants_work *work,
				    struct ants_group *group, unsigned long timeout)
	__releases(&pool->lock)
{
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	struct ants_waiter waiter;
	int err;

	err = (group ? check_group(group, work) : 0) ?:
	      work_accept(pool, work, group, &todo);
	if (err == -EAGAIN && !(group && pool->flags & ANTS_NONBLOCKING)) {
		if (timeout >= MAX_SCHEDULE_TIMEOUT && ants_join_may_run(pool, work)) {
			err = work_enter(pool, work, group, &todo);
			if (!err)
				ants_join_at_once(pool, work, &todo);
		} else {
			err = work_enrol(pool, work, group, timeout, &waiter, &todo);
			if (!err) {
				ants_unlock(pool, &todo);
				return ants_wait(pool, &waiter, timeout);
			}
		}
	}
	if (err)
		ants_refused(pool, ants_work_run, work, err);
	else
		ants_begin_fast_submits(pool);
	ants_unlock(pool, &todo);
	return err;
}

/*
 * Submit a work item, of @group if not NULL; wait for room. A task of the pool
 * does not wait without a limit, but runs the item itself.
 */
int ants_work_queue(struct ants_pool *pool, struct ants_work *work,
		    struct ants_group *group, unsigned long timeout)
{
	if (unlikely(!work_is_valid(work)))
		return -EINVAL;
	if (group && READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	if (timeout && !(group && READ_ONCE(pool->flags) & ANTS_NONBLOCKING))
		ants_wait_touch(pool);
	raw_spin_lock_irq(&pool->lock);
	if (unlikely(!work_accept_fast(pool, work, group)))
		return work_queue_slow(pool, work, group, timeout);
	ants_unlock_irq(pool);
	return 0;
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
 * Lock the pool that @work is in. Return NULL if it is in none; it has ended
 * then, and its result can be read. The pool cannot be freed under the caller:
 * before a pool is destroyed all of its work items have ended, and it is freed
 * after a grace period, which this RCU section holds off.
 */
static struct ants_pool *work_lock(struct ants_work *work,
				   struct ants_todo *todo)
{
	struct ants_pool *pool;

	rcu_read_lock();
	/* Pairs with smp_store_release() in ants_work_unclaim(). */
	while ((pool = smp_load_acquire(&work->pool))) {
		ants_lock_any(pool, todo);
		if (likely(READ_ONCE(work->pool) == pool)) {
			/*
			 * Sparse cannot follow a lock that is taken
			 * conditionally.
			 */
			__release(&pool->lock);
			__release(RCU);
			return pool;
		}
		ants_unlock_any(pool, todo);
	}
	rcu_read_unlock();
	return NULL;
}

/* Drop the lock. Lockdep is told of a caller that waits, or would if the item ran. */
static void work_unlock(struct ants_pool *pool, struct ants_todo *todo, bool waits)
{
	__acquire(RCU);
	__acquire(&pool->lock);
	ants_unlock_any(pool, todo);
	if (waits)
		ants_wait_touch(pool);
	rcu_read_unlock();
}

/*
 * Waiting for a work item: until it has ended, or until one run of it has. A
 * task that waits for an item of its own pool occupies a thread, and there may
 * be no other thread to run the item. So it joins: unless another thread has
 * started the item, it takes the item off the queue and runs it itself. Then
 * the only waits that could hang are those for the waiting task itself, and
 * those are refused.
 */

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
		work_unlock(pool, todo, false);
		return err ?: ants_join_wait(w, NULL, timeout, waiter);
	}
	state = ants_killable_state(pool, 2);
	ants_work_await(&work->waiters, waiter);
	work_unlock(pool, todo, true);
	return ants_work_sleep(pool, waiter, timeout, state);
}

/*
 * Is there a run that a flush waits for? Not if it was given up, or still has a delay.
 * Without a delay the timer function is about to queue it.
 */
static bool has_run(const struct ants_work *work)
{
	const struct ants_delayed_work *dwork = ants_to_delayed(work);

	return work->state != ANTS_WORK_DROPPED && work->state != ANTS_WORK_SKIPPED &&
	       (work->state != ANTS_WORK_DELAYED ||
		(!timer_pending(&dwork->timer) && !time_before(jiffies, dwork->when)));
}

static int work_wait(struct ants_work *work, bool flush, unsigned long timeout, int *result)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_END };
	struct ants_pool *pool;
	struct ants_todo todo;
	int err = 0;

	might_sleep();
	if (READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	pool = work_lock(work, &todo);
	if (!pool) {
		waiter.result = ants_work_result(work);
	} else if (!timeout || (flush && !has_run(work))) {
		work_unlock(pool, &todo, flush);
		err = timeout ? 0 : -ETIMEDOUT;
	} else {
		if (flush)
			waiter.until = work->state == ANTS_WORK_AGAIN ? ANTS_UNTIL_NEXT :
									ANTS_UNTIL_RUN;
		err = wait_for(pool, work, &waiter, timeout, &todo);
	}
	if (!err && result)
		*result = waiter.result;
	return err;
}

int ants_work_wait_timeout(struct ants_work *work, unsigned long timeout,
			   int *result)
{
	return work_wait(work, false, timeout, result);
}
EXPORT_SYMBOL_GPL(ants_work_wait_timeout);

int ants_work_wait(struct ants_work *work, int *result)
{
	return ants_work_wait_timeout(work, MAX_SCHEDULE_TIMEOUT, result);
}
EXPORT_SYMBOL_GPL(ants_work_wait);

int ants_work_flush(struct ants_work *work)
{
	return work_wait(work, true, MAX_SCHEDULE_TIMEOUT, NULL);
}
EXPORT_SYMBOL_GPL(ants_work_flush);

/* Cancelling work items, and querying their state. */

/* Remove an item from its list and end it. */
static void delayed_end(struct ants_pool *pool, struct ants_delayed_work *dwork,
			int result, struct ants_todo *todo)
{
	ants_delayed_del(pool, dwork);
	ants_work_end(pool, &dwork->work, result, todo);
}

/*
 * End an item that does not run with @err: -ECANCELED, or why the pool is closed. Return
 * false if it runs or ends anyway.
 */
bool ants_work_cancel_waiting(struct ants_pool *pool, struct ants_work *work, int err,
			      struct ants_todo *todo)
{
	struct ants_delayed_work *dwork = ants_to_delayed(work);

	lockdep_assert_held(&pool->lock);
	switch ((enum ants_work_state)work->state) {
	case ANTS_WORK_DELAYED:
	case ANTS_WORK_DUE:
		/* If its timer function is about to run, that ends it. */
		if (work->state == ANTS_WORK_DUE || timer_delete(&dwork->timer))
			delayed_end(pool, dwork, err, todo);
		else if (err == -ECANCELED)
			ants_work_move(work, ANTS_WORK_DROPPED);
		return true;
	case ANTS_WORK_WAITING:
		ants_waiter_end(pool, work->slot.data, err, todo);
		return true;
	case ANTS_WORK_PENDING:
		ants_work_dequeue(pool, work, todo);
		ants_work_end(pool, work, err, todo);
		return true;
	default:
		return false;
	}
}

/* Return true if a run was queued, and will not start. */
static bool cancel_item(struct ants_pool *pool, struct ants_work *work,
			struct ants_todo *todo)
{
	bool queued;

	if (!ants_work_runs(work)) {
		queued = ants_work_cancel_waiting(pool, work, -ECANCELED, todo);
	} else if (work->flags & ANTS_WORK_DETACHED) {
		/* One that is ANTS_WORK_LATE: its function has not begun. */
		queued = ants_work_detach(work->slot.data);
	} else {
		/* A run may be queued behind the one in progress. */
		queued = work->state != ANTS_WORK_RUNNING;
		if (work->state == ANTS_WORK_AGAIN)
			ants_work_dequeue(pool, work, todo);
		if (queued)
			ants_work_move(work, ANTS_WORK_RUNNING);
		WRITE_ONCE(work->flags, work->flags | ANTS_WORK_STOP);
	}
	ants_room_freed(pool, todo);
	return queued;
}

static bool cancel(struct ants_work *work, bool sync)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_END };
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	const struct ants_worker *w;
	struct ants_pool *pool;
	bool ret, self, waits;

	pool = work_lock(work, &todo);
	if (!pool)
		return false;
	ret = cancel_item(pool, work, &todo);
	/*
	 * Is it the task that the caller runs, or does that task run inside it? A plain
	 * cancel may interrupt a thread whose worker is freed.
	 */
	w = sync ? ants_worker_of(pool) : NULL;
	self = w && ants_work_runner(work) == w;
	waits = sync && !self && READ_ONCE(work->pool) == pool;
	if (waits) {
		WRITE_ONCE(work->flags, work->flags | ANTS_WORK_CLOSED);
		ants_work_await(&work->waiters, &waiter);
	}
	work_unlock(pool, &todo, sync);
	if (waits)
		ants_work_sleep(pool, &waiter, MAX_SCHEDULE_TIMEOUT, TASK_UNINTERRUPTIBLE);
	if (!self)
		return ret;
	/*
	 * It would wait for its own end. If lockdep is there, its report
	 * on the pool's map says that in full.
	 */
	ants_wait_report(pool);
	WARN_ONCE(!IS_ENABLED(CONFIG_LOCKDEP),
		  "ants: %ps cancels itself and would wait for its own end\n",
		  work->fn);
	return ret;
}

bool ants_work_cancel(struct ants_work *work)
{
	return cancel(work, false);
}
EXPORT_SYMBOL_GPL(ants_work_cancel);

bool ants_work_cancel_sync(struct ants_work *work)
{
	might_sleep();
	return cancel(work, true);
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
	int err;

	ants_pause(ANTS_PAUSE_DUE, pool);
	ants_lock_batch(pool, &todo, &batch);
	err = dwork->work.state == ANTS_WORK_DROPPED ? -ECANCELED : ants_closed_error(pool);
	if (err)
		delayed_end(pool, dwork, err, &todo);
	else
		ants_delayed_due(pool, dwork, &todo);
	ants_wake_next(pool, &todo);
	ants_job_ends(pool, &todo);
	ants_unlock(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_delayed_timer_fn);

static void see_delayed(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_delayed_work *dwork = list_entry(entry, struct ants_delayed_work, node);

	ants_work_cancel_waiting(walker->pool, &dwork->work,
				 ants_closed_error(walker->pool), &walker->todo);
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

/* The states of an item with a run that is due. */
#define DUE_STATES	(BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN))

/*
 * Have an item that is in @pool already due at @when, if it is in one of @states. Return
 * 1 if it was queued.
 */
static int delay_again(struct ants_pool *pool, struct ants_delayed_work *dwork,
		       unsigned long when, unsigned long states, struct ants_todo *todo)
{
	struct ants_work *work = &dwork->work;
	int queued = !(BIT(work->state) & UNQUEUED_STATES);
	int err = may_run_again(pool, work, states);

	if (err)
		return err;
	/* What is due, and is to be due at once, keeps its turn. */
	if (BIT(work->state) & DUE_STATES && !time_before(jiffies, when))
		return queued;
	if (work->state == ANTS_WORK_DROPPED ||
	    (work->state == ANTS_WORK_DELAYED && !timer_delete(&dwork->timer))) {
		delayed_revive(pool, dwork, when);
		return queued;
	}
	if (work->state == ANTS_WORK_PENDING || work->state == ANTS_WORK_AGAIN)
		ants_work_dequeue(pool, work, todo);
	else if (!ants_work_runs(work))
		ants_delayed_del(pool, dwork);
	dwork->when = when;
	/* One that runs is due when it has ended, or later. */
	if (ants_work_runs(work))
		ants_work_move(work, ANTS_WORK_REARMED);
	else
		ants_delayed_arm(pool, dwork, todo);
	return queued;
}

/* Have @dwork due after @delay, if it is in no pool, or in @pool in one of @states. */
static int work_delay(struct ants_pool *pool, struct ants_delayed_work *dwork,
		      unsigned long delay, unsigned long states)
{
	unsigned long when = jiffies + delay;
	struct ants_pool *other;
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	int ret;

	if (unlikely(!work_is_valid(&dwork->work) || !dwork->timer.function))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	other = READ_ONCE(dwork->work.pool);
	if (other == pool) {
		ret = delay_again(pool, dwork, when, states, &todo);
	} else {
		/* As ants_queue_work(): where the item is comes before what this pool is. */
		ret = other ? -EALREADY : ants_closed_error(pool);
		if (!ret && work_claim(pool, &dwork->work))
			ret = -EALREADY;
		if (!ret) {
			dwork->when = when;
			ants_delayed_arm(pool, dwork, &todo);
		}
	}
	if (ret < 0)
		ants_refused(pool, ants_work_run, &dwork->work, ret);
	/* A run that was put off may have left room. */
	if (ret > 0)
		ants_room_freed(pool, &todo);
	else
		ants_wake_next(pool, &todo);
	ants_unlock_any(pool, &todo);
	return ret;
}

int ants_queue_delayed_work(struct ants_pool *pool,
			    struct ants_delayed_work *dwork,
			    unsigned long delay)
{
	return work_delay(pool, dwork, delay, UNQUEUED_STATES);
}
EXPORT_SYMBOL_GPL(ants_queue_delayed_work);

int ants_mod_delayed_work(struct ants_pool *pool,
			  struct ants_delayed_work *dwork, unsigned long delay)
{
	return work_delay(pool, dwork, delay, ~BIT(ANTS_WORK_WAITING));
}
EXPORT_SYMBOL_GPL(ants_mod_delayed_work);
