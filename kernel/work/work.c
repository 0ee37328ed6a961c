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
static void object_init(struct ants_work *work)
{
	if (!IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK))
		return;
	if (object_is_on_stack(work))
		debug_object_init_on_stack(work, &ants_work_descr);
	else
		debug_object_init(work, &ants_work_descr);
}

#ifdef CONFIG_DEBUG_OBJECTS_WORK
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

/*
 * Tasks that run inside a task of the same pool, in its thread: a call, or a work
 * item.
 *
 * A task that waits for a work item of its own pool, or for a group of them,
 * joins: if no other thread has started an item, the waiting task takes it off
 * the queue and runs it itself. Meanwhile the item still counts as a task in
 * flight.
 *
 * A task that submits an item and finds no room runs it at once, as it would
 * if it waited for the item. So no task sleeps for room that it could only get
 * from tasks like itself, and nothing is queued beyond the bound.
 *
 * What is known of inner tasks is not on the stack of the thread: see worker.h.
 */

/* The innermost task of @w, a work item, has ended. */
static void inner_finish(struct ants_worker *w, struct ants_todo *todo)
{
	struct ants_inner *inner = &w->inner[--w->depth];
	struct ants_pool *pool = w->pool;

	pool->nr_joined--;
	ants_update_admit_limit(pool);
	ants_work_finish(pool, inner->work, todo);
	if (ants_task_uncount(pool, inner->epoch))
		todo->bits |= ANTS_TODO_WAITQ;
}

/* An item not admitted yet is not taken for a single run: it may go on. */
static bool is_not_admitted(const struct ants_work *work)
{
	return work->state == ANTS_WORK_DUE || work->state == ANTS_WORK_WAITING;
}

/*
 * Take @work off its list, and run it inside the task that @w runs. The lock is
 * held on entry and on return. An item that is not admitted yet is admitted
 * first, whether or not the pool has room: it needs no further thread. If it is
 * queued again while it runs, it keeps that admission, even if the wait ends and
 * leaves it pending.
 */
static void join_run(struct ants_worker *w, struct ants_work *work,
		     struct ants_todo *todo)
	__must_hold(&w->pool->lock)
{
	struct ants_inner *inner = ants_inner_of(w);
	struct ants_pool *pool = w->pool;

	if (is_not_admitted(work))
		ants_check_over(pool);
	if (work->state == ANTS_WORK_WAITING) {
		ants_waiter_end(pool, work->slot.data, 0, todo);
	} else if (work->state == ANTS_WORK_DUE) {
		ants_delayed_del(pool, ants_to_delayed(work));
		ants_work_pend(pool, work, todo);
	}
	ants_pending_del(pool, &work->slot);
	inner->epoch = work->slot.tag & ANTS_TAG_EPOCH;
	inner->work = work;
	inner->func_addr = (unsigned long)work->fn;
	w->depth++;
	pool->nr_joined++;
	ants_update_admit_limit(pool);
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

/*
 * The thread of a worker has died. One section of several: end what runs inside its task,
 * from the innermost task outwards: work items with -EFAULT. The waits of the thread end
 * first: what they wait for may end when the inner tasks do, and their waiters must not be
 * told.
 */
bool ants_inner_abort_round(struct ants_pool *pool, struct ants_todo *todo, void *dead)
{
	struct ants_worker *w = dead;
	struct ants_inner *inner = w->inner;
	unsigned int i;

	for (i = 0; i <= w->depth; i++)
		if (inner[i].waiter.task)
			ants_waiter_withdraw(&inner[i].waiter);
	if (!w->depth)
		return false;
	inner += w->depth - 1;
	if (inner->work) {
		WRITE_ONCE(inner->work->result, -EFAULT);
		pool->counts.lost++;
		inner_finish(w, todo);
	} else {
		w->depth--;
	}
	ants_dispatch(pool, todo);
	return true;
}

/* The tasks of an ordered pool start in order, and a stack is finite. */
static bool may_join(const struct ants_worker *w)
{
	return !w->pool->ordered && w->depth < ANTS_JOIN_DEPTH;
}

/*
 * May the caller run @work, which it submits to @pool? A detached item may be
 * gone before its end is counted. In worker_init and worker_exit there
 * is no task around it.
 */
static bool may_run_inside(struct ants_pool *pool, const struct ants_work *work)
{
	const struct ants_worker *w = ants_worker_of(pool);

	return w && w->fn && may_join(w) && !(work->flags & ANTS_WORK_DETACHED);
}

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
 * wait_tasks() in pool.c.
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

/* The slow path of work_queue(). */
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
		if (timeout >= MAX_SCHEDULE_TIMEOUT && may_run_inside(pool, work)) {
			err = work_enter(pool, work, group, &todo);
			if (!err) {
				/* It was accepted beyond the bound. */
				ants_check_over(pool);
				join_run(ants_worker_of(pool), work, &todo);
				ants_dispatch(pool, &todo);
			}
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
static int work_queue(struct ants_pool *pool, struct ants_work *work,
		      struct ants_group *group, unsigned long timeout)
{
	might_sleep();
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
	return work_queue(pool, work, NULL, timeout);
}
EXPORT_SYMBOL_GPL(ants_queue_work_timeout);

int ants_group_submit(struct ants_group *group, struct ants_work *work)
{
	return work_queue(group->pool, work, group, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_group_submit);

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
 * Would @w wait for itself? A wait for a running item lasts until its worker
 * has finished the item, and that worker may itself wait for an item. A chain
 * of such waits that is longer than one lock hold allows is not followed to its end.
 */
static bool never_ends(const struct ants_worker *w, const struct ants_work *work)
{
	const struct ants_work_waiter *waiter;
	struct ants_worker *runner;
	unsigned int i;

	for (i = 0; work && i < ANTS_HOLD_MAX; i++) {
		runner = ants_work_runner(work);
		if (!runner || runner == w)
			return runner;
		waiter = &ants_inner_of(runner)->waiter;
		work = waiter->done ? NULL : waiter->work;
	}
	return false;
}

/* Has the item not been started? */
static bool can_take(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_PENDING)
		return true;
	return is_not_admitted(work) && !ants_closed_error(pool);
}

/*
 * Return the next item that the task can run, or NULL: of @group if not NULL. Of a group
 * no more members are scanned than one lock hold allows. A member that leaves the group
 * moves the cursor, as it moves that of a cancel.
 */
static struct ants_work *next_item(const struct ants_pool *pool,
				   const struct ants_work_waiter *waiter,
				   struct ants_group *group)
{
	struct ants_work *work = waiter->work;
	unsigned int i;

	if (!waiter->joins || waiter->done)
		return NULL;
	if (!group)
		return can_take(pool, work) ? work : NULL;
	for (i = 0; i < ANTS_HOLD_MAX && group->join_at != &group->works; i++) {
		work = list_entry(group->join_at, struct ants_work, in_group);
		if (work->group == group && can_take(pool, work))
			return work;
		group->join_at = work->in_group.next;
	}
	return NULL;
}

/*
 * The task has nothing to run: does its wait depend on other workers? Not if the timer of
 * the item makes progress. A task that does not join has not noted the item.
 */
static bool needs_others(const struct ants_work_waiter *waiter, const struct ants_group *group)
{
	if (waiter->done || waiter->offered)
		return false;
	return group || !waiter->joins ||
	       (waiter->work->state != ANTS_WORK_DELAYED &&
		waiter->work->state != ANTS_WORK_DROPPED);
}

/* Enqueue the task that @w runs as a waiter for @work, if it may wait. */
static int join_enter(struct ants_worker *w, struct ants_work *work, enum ants_until until)
{
	struct ants_work_waiter *waiter = &ants_inner_of(w)->waiter;
	const struct ants_work_waiter *leader;
	unsigned int nr_joiners = 0;

	lockdep_assert_held(&w->pool->lock);
	if (never_ends(w, work) || !may_join(w) ||
	    (until != ANTS_UNTIL_END && is_not_admitted(work)))
		return -EDEADLK;
	hlist_for_each_entry(leader, &work->waiters, link)
		nr_joiners += leader->joins;
	*waiter = (struct ants_work_waiter){ .until = until };
	/*
	 * This is set in the section that checks: of two tasks that wait for
	 * each other, the second one sees the first.
	 */
	if (nr_joiners < ANTS_JOINERS) {
		waiter->joins = true;
		waiter->work = work;
	}
	ants_work_await(&work->waiters, waiter);
	return 0;
}

/*
 * Check whether the task that @w runs may wait for the group. A member of it would
 * wait for its own end.
 */
int ants_join_check(const struct ants_worker *w, const struct ants_group *group)
{
	const struct ants_work *work = w->data;
	unsigned int i;

	lockdep_assert_held(&w->pool->lock);
	if (!may_join(w))
		return -EDEADLK;
	/* In worker_exit the item that ran last may be gone. */
	if (w->fn && w->tag & ANTS_TAG_WORK && work->group == group)
		return -EDEADLK;
	for (i = 0; i < w->depth; i++) {
		work = w->inner[i].work;
		if (work && work->group == group)
			return -EDEADLK;
	}
	return 0;
}

/*
 * The waiter of the innermost task of @w is enqueued, for @group if not NULL, else for an
 * item. Run what no other thread has started, and sleep, until it is notified, and copy it
 * to @own. The pool stays, because the caller is one of its tasks. Return 0, -ETIMEDOUT or
 * -EINTR.
 *
 * As for callers that wait for room in their own pool, one worker must be left that does
 * not wait: pool->nr_joining has those that sleep for good. If this was the last one, the
 * newest of those callers gives up. Before that they are given the room that items have
 * left, so a look that has run one is followed by another.
 */
int ants_join_wait(struct ants_worker *w, struct ants_group *group, unsigned long timeout,
		   struct ants_work_waiter *own)
{
	struct ants_work_waiter *waiter = &ants_inner_of(w)->waiter;
	struct ants_pool *pool = w->pool;
	unsigned int state = ants_killable_state(pool, 0);
	bool counted = false, more = false, done;
	unsigned long start = jiffies;
	struct ants_wake_batch batch;
	struct ants_work *work;
	struct ants_todo todo;
	int err = 0;

	for (;;) {
		/* May wake a caller that gives up, and those that wait for its item. */
		ants_lock_batch(pool, &todo, &batch);
		pool->nr_joining -= counted;
		if (!more) {
			WRITE_ONCE(waiter->offered, false);
			if (group && !waiter->done)
				group->join_at = group->works.next;
		}
		for (more = false; (work = next_item(pool, waiter, group)); more = true)
			join_run(w, work, &todo);
		more |= group && !waiter->done && group->join_at != &group->works;
		counted = timeout >= MAX_SCHEDULE_TIMEOUT && !more && needs_others(waiter, group);
		pool->nr_joining += counted;
		if (counted && pool->waiters.nr_nested &&
		    pool->waiters.nr_nested + pool->nr_joining >= pool->limits.capacity)
			ants_waiter_end(pool, list_last_entry(&pool->waiters.nested,
							      struct ants_waiter, nested),
					-EDEADLK, &todo);
		ants_dispatch(pool, &todo);
		done = waiter->done;
		/* The caller that gave up may have been the submitter of the item. */
		pool->nr_joining -= done && counted;
		ants_unlock(pool, &todo);
		if (done)
			break;
		if (!more)
			err = ants_work_sleep(pool, waiter, ants_time_left(start, timeout), state);
	}
	*own = *waiter;
	return err;
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
	unsigned int state = TASK_KILLABLE;
	struct ants_worker *w;
	struct ants_pool *pool;
	struct ants_todo todo;
	int err = 0;

	might_sleep();
	if (READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	pool = work_lock(work, &todo);
	if (!pool) {
		waiter.result = ants_work_result(work);
		goto ended;
	}
	if (!timeout || (flush && !has_run(work))) {
		work_unlock(pool, &todo, flush);
		return timeout ? 0 : -ETIMEDOUT;
	}
	if (flush)
		waiter.until = work->state == ANTS_WORK_AGAIN ? ANTS_UNTIL_NEXT : ANTS_UNTIL_RUN;
	w = ants_worker_of(pool);
	if (w) {
		err = join_enter(w, work, waiter.until);
	} else {
		state = ants_killable_state(pool, 2);
		ants_work_await(&work->waiters, &waiter);
	}
	work_unlock(pool, &todo, !w);
	if (!err)
		err = w ? ants_join_wait(w, NULL, timeout, &waiter) :
			  ants_work_sleep(pool, &waiter, timeout, state);
ended:
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

int ants_work_flush(struct ants_work *work)
{
	return work_wait(work, true, MAX_SCHEDULE_TIMEOUT, NULL);
}
EXPORT_SYMBOL_GPL(ants_work_flush);

/* Cancelling work items, and querying their state. */

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
	if (self) {
		/*
		 * It would wait for its own end. If lockdep is there, its report
		 * on the pool's map says that in full.
		 */
		lock_map_acquire(&pool->map);
		lock_map_release(&pool->map);
		WARN_ONCE(!IS_ENABLED(CONFIG_LOCKDEP),
			  "ants: %ps cancels itself and would wait for its own end\n",
			  work->fn);
	}
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

void ants_destroy_delayed_work_on_stack(struct ants_delayed_work *dwork)
{
	ants_destroy_work_on_stack(&dwork->work);
	timer_destroy_on_stack(&dwork->timer);
}
EXPORT_SYMBOL_GPL(ants_destroy_delayed_work_on_stack);

/* The states of an item with a run that is due. */
#define DUE_STATES	(BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN))

/*
 * Have an item due at @when, if it is in no pool, or in @pool in one of @states. Return 1
 * if it was queued.
 */
static int delay_until(struct ants_pool *pool, struct ants_delayed_work *dwork,
		       unsigned long when, unsigned long states, struct ants_todo *todo)
{
	struct ants_work *work = &dwork->work;
	struct ants_pool *other = READ_ONCE(work->pool);
	int err, queued;

	/* As ants_queue_work(): where the item is comes before what this pool is. */
	if (other == pool)
		err = may_run_again(pool, work, states);
	else
		err = other ? -EALREADY : ants_closed_error(pool);
	if (!err && !other && work_claim(pool, work))
		err = -EALREADY;
	if (err)
		return err;
	queued = !!(BIT(work->state) & QUEUED_STATES);
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
	else if (work->state == ANTS_WORK_DELAYED || work->state == ANTS_WORK_DUE)
		ants_delayed_del(pool, dwork);
	dwork->when = when;
	/* One that runs is due when it has ended, or later. */
	if (ants_work_runs(work))
		ants_work_move(work, ANTS_WORK_REARMED);
	else
		ants_delayed_arm(pool, dwork, todo);
	return queued;
}

static int work_delay(struct ants_pool *pool, struct ants_delayed_work *dwork,
		      unsigned long delay, unsigned long states)
{
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	int ret;

	if (unlikely(!work_is_valid(&dwork->work) || !dwork->timer.function))
		return -EINVAL;
	ants_lock_any(pool, &todo);
	ret = delay_until(pool, dwork, jiffies + delay, states, &todo);
	if (ret < 0)
		ants_refused(pool, ants_work_run, &dwork->work, ret);
	else if (ret)
		/* A run that was put off may have left room. */
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
