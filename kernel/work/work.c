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
 *
 * While a caller of ants_work_cancel_sync() waits for a running item, or if its group
 * was cancelled, -ECANCELED takes the place of "accepted". In any state but idle, queueing on
 * another pool is refused with -EALREADY. A released pool refuses with
 * -ESHUTDOWN what is accepted above.
 */
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
	ants_task_uncount(pool, inner->epoch, todo);
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

	if (work->state != ANTS_WORK_PENDING)
		ants_check_over(pool);
	if (work->state == ANTS_WORK_WAITING)
		ants_waiter_end(pool, work->slot.data, 0, todo);
	else if (work->state != ANTS_WORK_PENDING)
		ants_work_pend(pool, work, todo);
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

/* Is it an item that can be queued? Not called with a lock of a pool held. */
static bool work_is_valid(struct ants_work *work)
{
	bool valid = work->fn && work->prio <= ANTS_PRIO_HIGH;

	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK) && valid)
		debug_object_assert_init(work, &ants_work_descr);
	return valid;
}

/* Make @pool the one that @work is in. Return -EALREADY if it is in one already. */
static __always_inline int work_claim(struct ants_pool *pool, struct ants_work *work)
{
	lockdep_assert_held(&pool->lock);
	if (cmpxchg(&work->pool, NULL, pool))
		return -EALREADY;
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK))
		debug_object_activate(work, &ants_work_descr);
	return 0;
}

/* The states in which the function of an item runs, or is skipped. */
#define RUNS_STATES	(BIT(ANTS_WORK_RUNNING) | BIT(ANTS_WORK_AGAIN) | BIT(ANTS_WORK_REARMED))
/*
 * The states in which an item of a pool has no queued run: its function runs, or it was
 * cancelled and its timer function is about to end it.
 */
#define UNQUEUED_STATES	(BIT(ANTS_WORK_RUNNING) | BIT(ANTS_WORK_DROPPED))
/* The states of an item with a run that has not started. */
#define QUEUED_STATES	(BIT(ANTS_WORK_DELAYED) | BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_WAITING) | \
			 BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN) | BIT(ANTS_WORK_REARMED))
/* The states of an item with a run that is due. */
#define DUE_STATES	(BIT(ANTS_WORK_DUE) | BIT(ANTS_WORK_PENDING) | BIT(ANTS_WORK_AGAIN))

/* May a run of @work, which is in a pool, be queued: is it in @pool, in one of @states? */
static int may_run_again(const struct ants_pool *pool, const struct ants_work *work,
			 unsigned long states)
{
	if (READ_ONCE(work->pool) != pool || !(BIT(work->state) & states))
		return -EALREADY;
	if (work->flags & ANTS_WORK_CLOSED || ants_group_stops(work))
		return -ECANCELED;
	return ants_closed_error(pool);
}

/*
 * Have an item due at @when, if it is in no pool, or in @pool in one of @states. Return 1
 * if it was queued.
 */
static int delay_until(struct ants_pool *pool, struct ants_delayed_work *dwork,
		       unsigned long when, unsigned long states, struct ants_todo *todo)
{
	struct ants_work *work = &dwork->work;
	int err, queued;

	/* As ants_queue_work(): where the item is comes before what this pool is. */
	err = READ_ONCE(work->pool) ? may_run_again(pool, work, states) :
				      ants_closed_error(pool) ?: work_claim(pool, work);
	if (err)
		return err;
	queued = !!(BIT(work->state) & QUEUED_STATES);
	/* What is due, and is to be due at once, keeps its turn. */
	if (BIT(work->state) & DUE_STATES && !time_before(jiffies, when))
		return queued;
	if (work->state == ANTS_WORK_DROPPED ||
	    (work->state == ANTS_WORK_DELAYED && !timer_delete(&dwork->timer))) {
		/*
		 * Its timer function is about to run, and makes it due at @when. That is
		 * within an RCU section that has begun, so a caller that waits for all
		 * tasks can wait for it: see wait_tasks() in pool.c.
		 */
		dwork->when = when;
		WRITE_ONCE(pool->delayed.firing, get_state_synchronize_rcu());
		ants_work_move(work, ANTS_WORK_DELAYED);
		return queued;
	}
	ants_work_dequeue(pool, work, todo);
	dwork->when = when;
	/* One that runs is due when it has ended, or later. */
	if (BIT(work->state) & RUNS_STATES)
		ants_work_move(work, ANTS_WORK_REARMED);
	else
		ants_delayed_arm(pool, dwork, todo);
	return queued;
}

/*
 * A work item that has entered the pool enters its group, if any: it was accepted, or its
 * submitter waits for room. In no pool it was in no group.
 */
static inline void group_enter(struct ants_group *group, struct ants_work *work)
{
	if (!group)
		return;
	work->group = group;
	list_add_tail(&work->in_group, &group->works);
	WRITE_ONCE(work->group_stamp, group->stamp);
	group->nr_left++;
}

/*
 * As accept_slow() in submit.c: while callers wait the pool has no room, so a
 * newcomer cannot overtake them.
 */
static int work_accept(struct ants_pool *pool, struct ants_work *work,
		       struct ants_group *group, struct ants_todo *todo)
{
	int err;

	if (unlikely(READ_ONCE(work->pool))) {
		err = may_run_again(pool, work, group ? 0 : UNQUEUED_STATES);
		if (!err && work->state == ANTS_WORK_DROPPED)
			return delay_until(pool, ants_to_delayed(work), jiffies,
					   UNQUEUED_STATES, todo);
		if (!err)
			ants_work_pend(pool, work, todo);
		return err;
	}
	if (!ants_can_admit(pool))
		return ants_closed_error(pool) ?: -EAGAIN;
	err = work_claim(pool, work);
	if (err)
		return err;
	group_enter(group, work);
	ants_work_pend(pool, work, todo);
	ants_wake_for_submitter(pool, todo);
	return 0;
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
	if (unlikely((group && (!hlist_empty(&group->waiters) || check_group(group, work))) ||
		     work_claim(pool, work)))
		return false;
	ants_trace(task_accept, pool, ants_work_run, work, 1);
	group_enter(group, work);
	epoch = pool->epoch;
	ants_work_move(work, ANTS_WORK_PENDING);
	work->slot.fn = ants_work_run;
	work->slot.data = work;
	work->slot.tag = epoch | ANTS_TAG_WORK;
	ants_link_tail(&work->slot.node, &pool->pending);
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
 * The slow path of work_queue(). If the pool is full, a task of it that would wait without a
 * limit runs the item, unless that is detached, and may be gone before its end is counted;
 * in worker_init and worker_exit there is no task around it. Any other caller becomes a
 * waiter, for which the group has to wait as well.
 */
static noinline int work_queue_slow(struct ants_pool *pool, struct ants_work *work,
				    struct ants_group *group, unsigned long timeout)
	__releases(&pool->lock)
{
	bool endless = timeout >= MAX_SCHEDULE_TIMEOUT;
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	struct ants_waiter waiter;
	struct ants_worker *w;
	int err;

	err = (group ? check_group(group, work) : 0) ?:
	      work_accept(pool, work, group, &todo);
	if (err != -EAGAIN || (group && pool->flags & ANTS_NONBLOCKING))
		goto out;
	err = timeout ? work_claim(pool, work) : -ETIMEDOUT;
	if (err)
		goto out;
	w = ants_worker_of(pool);
	if (endless && w && w->fn && may_join(w) && !(work->flags & ANTS_WORK_DETACHED)) {
		group_enter(group, work);
		join_run(w, work, &todo);
		ants_dispatch(pool, &todo);
		goto out;
	}
	waiter = (struct ants_waiter){
		.fn = ants_work_run, .data = work, .work = work, .prio = work->prio,
	};
	err = ants_wait_enrol(pool, &waiter, endless && w);
	if (!err) {
		work->slot.data = &waiter;
		group_enter(group, work);
		ants_work_move(work, ANTS_WORK_WAITING);
		ants_work_offer(work, &todo);
		ants_unlock(pool, &todo);
		return ants_wait(pool, &waiter, timeout);
	}
	ants_work_unclaim(work);
out:
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
	if (unlikely(!work_is_valid(work) ||
		     (group && READ_ONCE(work->flags) & ANTS_WORK_DETACHED)))
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
 * then, and its result can be read. Lockdep is told of a caller that waits, or would if
 * the item ran. The pool cannot be freed under the caller: before a pool is destroyed all
 * of its work items have ended, and it is freed after a grace period. The RCU section
 * holds that off, and then the section of the lock, in which interrupts are off.
 */
static struct ants_pool *work_lock(struct ants_work *work, struct ants_todo *todo, bool waits)
{
	struct ants_pool *pool;

	rcu_read_lock();
	/* Pairs with smp_store_release() in ants_work_unclaim(). */
	while ((pool = smp_load_acquire(&work->pool))) {
		if (waits)
			ants_wait_touch(pool);
		ants_lock_any(pool, todo);
		if (likely(READ_ONCE(work->pool) == pool)) {
			/* Sparse cannot follow a lock that is taken conditionally. */
			__release(&pool->lock);
			break;
		}
		ants_unlock_any(pool, todo);
	}
	rcu_read_unlock();
	return pool;
}

/*
 * Waiting for a work item: until it has ended, or until one run of it has; or for a
 * group of them. A task that waits for an item of its own pool occupies a thread, and
 * there may be no other thread to run the item. So it joins: unless another thread has
 * started the item, it takes the item off the queue and runs it itself. Then the only
 * waits that could hang are those for the waiting task itself, and those are refused.
 */

/* The worker that runs the item, or NULL. */
static struct ants_worker *work_runner(const struct ants_work *work)
{
	return BIT(work->state) & RUNS_STATES ? work->slot.data : NULL;
}

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
		runner = work_runner(work);
		if (!runner || runner == w)
			return runner;
		waiter = &ants_inner_of(runner)->waiter;
		work = waiter->joins && !waiter->done ? waiter->work : NULL;
	}
	return false;
}

/* Is the task of @w, or one that runs inside it, a member of @group? */
static bool runs_member(const struct ants_worker *w, const struct ants_group *group)
{
	/* In worker_exit the item that ran last may be gone. */
	const struct ants_work *work = w->fn && w->tag & ANTS_TAG_WORK ? w->data : NULL;
	unsigned int i = 0;

	while (!work || work->group != group) {
		if (i == w->depth)
			return false;
		work = w->inner[i++].work;
	}
	return true;
}

/* Is the task that @w runs refused as a waiter, because the wait may never end? */
static bool must_not_wait(const struct ants_worker *w, const struct ants_work_waiter *waiter)
{
	lockdep_assert_held(&w->pool->lock);
	if (!may_join(w))
		return true;
	if (waiter->group)
		return runs_member(w, waiter->group);
	return never_ends(w, waiter->work) ||
	       (waiter->until != ANTS_UNTIL_END && is_not_admitted(waiter->work));
}

/* Has the item not been started? */
static bool can_take(const struct ants_pool *pool, const struct ants_work *work)
{
	if (work->state == ANTS_WORK_PENDING)
		return true;
	return is_not_admitted(work) && !ants_closed_error(pool);
}

/*
 * Return the next item that the task can run, or NULL. Of a group no more members are
 * scanned than one lock hold allows. A member that leaves the group moves the cursor, as
 * it moves that of a cancel.
 */
static struct ants_work *next_item(const struct ants_pool *pool,
				   const struct ants_work_waiter *waiter)
{
	struct ants_group *group = waiter->group;
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
 * the item makes progress. A task that does not join may not look at the item.
 */
static bool needs_others(const struct ants_work_waiter *waiter)
{
	if (waiter->done || waiter->offered)
		return false;
	return waiter->group || !waiter->joins ||
	       (waiter->work->state != ANTS_WORK_DELAYED &&
		waiter->work->state != ANTS_WORK_DROPPED);
}

/*
 * Wait for the event that @own says, and store there what was waited for. The lock is
 * held on entry, and dropped here. Return 0, -ETIMEDOUT or -EINTR.
 *
 * @w: the caller is a task of the pool, which stays, and joins: run what no other thread
 * has started, and sleep, until the wait has ended. As for callers that wait for room in their
 * own pool, one worker must be left that does not wait: pool->nr_joining has those that sleep
 * for good. If this was the last one, the newest of those callers gives up. Before that they
 * are given the room that items have left, so a look that has run one is followed by another.
 */
static int wait_for(struct ants_pool *pool, struct ants_worker *w, struct ants_work_waiter *own,
		    unsigned long timeout)
	__releases(&pool->lock)
{
	/* Not on the stack: the task may die in what it runs meanwhile. */
	struct ants_work_waiter *waiter = w ? &ants_inner_of(w)->waiter : own;
	unsigned int state = ants_killable_state(pool, 1);
	struct ants_group *group = own->group;
	struct ants_wake_batch batch __uninitialized;
	bool counted, more = false;
	unsigned long start = jiffies;
	struct ants_todo todo = { .batch = &batch };
	struct ants_work *work;
	int err = 0;

	own->joins = w;
	if (w)
		*waiter = *own;
	ants_work_await(waiter);
	if (!w) {
		ants_unlock_irq(pool);
		/* For an item lockdep was told before, and then the pool may be gone. */
		if (group)
			ants_wait_touch(pool);
		return ants_work_sleep(pool, own, timeout, state);
	}
	while (!waiter->done) {
		if (!more) {
			WRITE_ONCE(waiter->offered, false);
			if (group)
				group->join_at = group->works.next;
		}
		for (more = false; (work = next_item(pool, waiter)); more = true)
			join_run(w, work, &todo);
		more |= group && !waiter->done && group->join_at != &group->works;
		counted = timeout >= MAX_SCHEDULE_TIMEOUT && !more && needs_others(waiter);
		pool->nr_joining += counted;
		/* The caller that gives up may be the submitter of the item, which ends then. */
		if (counted && pool->waiters.nr_nested &&
		    pool->waiters.nr_nested + pool->nr_joining >= pool->limits.capacity)
			ants_waiter_end(pool, list_last_entry(&pool->waiters.nested,
							      struct ants_waiter, nested),
					-EDEADLK, &todo);
		pool->nr_joining -= counted && waiter->done;
		counted &= !waiter->done;
		ants_dispatch(pool, &todo);
		ants_unlock(pool, &todo);
		if (!more)
			err = ants_work_sleep(pool, waiter, ants_time_left(start, timeout), state);
		ants_lock_batch(pool, &todo, &batch);
		pool->nr_joining -= counted;
	}
	ants_unlock(pool, &todo);
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

	return work->state != ANTS_WORK_DROPPED &&
	       (work->state != ANTS_WORK_DELAYED ||
		(!timer_pending(&dwork->timer) && !time_before(jiffies, dwork->when)));
}

static int work_wait(struct ants_work *work, bool flush, unsigned long timeout, int *result)
{
	struct ants_work_waiter waiter = { .work = work, .until = ANTS_UNTIL_END };
	struct ants_worker *w;
	struct ants_pool *pool;
	struct ants_todo todo;
	int err = 0;

	might_sleep();
	if (READ_ONCE(work->flags) & ANTS_WORK_DETACHED)
		return -EINVAL;
	pool = work_lock(work, &todo, timeout);
	if (!pool) {
		waiter.result = ants_work_result(work);
		goto ended;
	}
	__acquire(&pool->lock);
	if (flush)
		waiter.until = work->state == ANTS_WORK_AGAIN ? ANTS_UNTIL_NEXT : ANTS_UNTIL_RUN;
	w = ants_worker_of(pool);
	if (!timeout || (flush && !has_run(work))) {
		err = timeout ? 0 : -ETIMEDOUT;
	} else if (w && must_not_wait(w, &waiter)) {
		err = -EDEADLK;
	} else {
		err = wait_for(pool, w, &waiter, timeout);
		goto ended;
	}
	ants_unlock_any(pool, &todo);
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
static bool cancel(struct ants_work *work, bool sync)
{
	struct ants_work_waiter waiter = { .work = work, .until = ANTS_UNTIL_END };
	struct ants_wake_batch batch;
	struct ants_todo todo = { .batch = &batch };
	const struct ants_worker *w;
	struct ants_pool *pool;
	bool queued, self, waits;

	pool = work_lock(work, &todo, sync);
	if (!pool)
		return false;
	__acquire(&pool->lock);
	if (!work_runner(work)) {
		queued = ants_work_cancel_waiting(pool, work, -ECANCELED, &todo);
	} else if (work->flags & ANTS_WORK_DETACHED) {
		/* One that is ANTS_WORK_LATE: its function has not begun. */
		queued = ants_work_detach(work->slot.data);
	} else {
		/* A run may be queued behind the one in progress. */
		queued = work->state != ANTS_WORK_RUNNING;
		ants_work_dequeue(pool, work, &todo);
		if (queued)
			ants_work_move(work, ANTS_WORK_RUNNING);
		WRITE_ONCE(work->flags, work->flags | ANTS_WORK_STOP);
	}
	ants_room_freed(pool, &todo);
	/*
	 * Is it the task that the caller runs, or does that task run inside it? A plain
	 * cancel may interrupt a thread whose worker is freed.
	 */
	w = sync ? ants_worker_of(pool) : NULL;
	self = w && work_runner(work) == w;
	waits = sync && !self && READ_ONCE(work->pool) == pool;
	if (waits) {
		WRITE_ONCE(work->flags, work->flags | ANTS_WORK_CLOSED);
		ants_work_await(&waiter);
	}
	ants_unlock_any(pool, &todo);
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
	return queued;
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

unsigned int ants_work_busy(const struct ants_work *work)
{
	unsigned int state = BIT(READ_ONCE(work->state));

	return (state & QUEUED_STATES ? ANTS_WORK_BUSY_PENDING : 0) |
	       (state & RUNS_STATES ? ANTS_WORK_BUSY_RUNNING : 0);
}
EXPORT_SYMBOL_GPL(ants_work_busy);

void ants_destroy_delayed_work_on_stack(struct ants_delayed_work *dwork)
{
	ants_destroy_work_on_stack(&dwork->work);
	timer_destroy_on_stack(&dwork->timer);
}
EXPORT_SYMBOL_GPL(ants_destroy_delayed_work_on_stack);

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

/*
 * Groups: many work items of one pool, and one wait for them all. The pool's
 * lock guards a group. A caller that waits is given all it asked for under the
 * lock, and afterwards touches neither the group nor its members, which may be
 * freed then.
 *
 * When a group is cancelled the upkeep work ends the members that have not started, in
 * several holds of the lock. Until it has, the group is in pool->cancelled_groups; it
 * leaves that list when its last member ends, so no group waits for the upkeep work.
 */

/*
 * A group that begins has no members. The stamp distinguishes those that it gets from those
 * of all others, and its own of an earlier time. An item that has never been in a group
 * has 0.
 */
static void group_begin(struct ants_group *group)
{
	static atomic64_t stamps;

	INIT_LIST_HEAD(&group->works);
	INIT_LIST_HEAD(&group->finished);
	group->stamp = atomic64_inc_return(&stamps);
	group->error = 0;
	group->sealed = false;
	group->cancelled = false;
}

int ants_group_init(struct ants_group *group, struct ants_pool *pool,
		    unsigned int flags)
{
	if (flags & ~ANTS_GROUP_CANCEL_ON_ERROR)
		return -EINVAL;
	memset(group, 0, sizeof(*group));
	INIT_LIST_HEAD(&group->node);
	group->pool = pool;
	group->cancel_on_error = flags & ANTS_GROUP_CANCEL_ON_ERROR;
	group_begin(group);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_group_init);

void ants_group_seal(struct ants_group *group)
{
	struct ants_pool *pool = group->pool;
	struct ants_todo todo;

	ants_lock(pool, &todo);
	group->sealed = true;
	ants_group_wake(group, &todo);
	ants_unlock(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_group_seal);

/*
 * Wait for the event that @own says, and store what was waited for in @own. A wait for
 * the whole group seals it, unless the caller may not wait. A caller that is no task of
 * the pool holds a reference to it meanwhile, for the last member may have ended, and
 * then no item keeps the pool.
 */
static int group_wait(struct ants_group *group, struct ants_work_waiter *own,
		      unsigned long timeout)
{
	struct ants_worker *w = ants_worker_of(group->pool);
	bool all = own->until == ANTS_UNTIL_ALL;
	struct ants_pool *pool = group->pool;
	struct ants_todo todo;
	int err = 0;

	might_sleep();
	own->group = group;
	ants_lock(pool, &todo);
	if (ants_group_serve(group, own)) {
		group->sealed |= all;
		/* A caller in ants_group_next() must not be left behind. */
		ants_group_wake(group, &todo);
	} else if (!hlist_empty(&group->waiters)) {
		/* Only one caller may wait at a time. */
		err = -EBUSY;
	} else if (w && must_not_wait(w, own)) {
		err = -EDEADLK;
	} else if (!timeout) {
		group->sealed |= all;
		err = -ETIMEDOUT;
	} else {
		group->sealed |= all;
		if (!w)
			ants_pool_get_locked(pool);
		err = wait_for(pool, w, own, timeout);
		if (!w)
			ants_pool_put(pool);
		return err;
	}
	ants_unlock(pool, &todo);
	return err;
}

int ants_group_wait_timeout(struct ants_group *group, unsigned long timeout,
			    int *error)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_ALL };
	int err = group_wait(group, &waiter, timeout);

	if (!err && error)
		*error = waiter.result;
	return err;
}
EXPORT_SYMBOL_GPL(ants_group_wait_timeout);

struct ants_work *ants_group_next(struct ants_group *group,
				  unsigned long timeout)
{
	struct ants_work_waiter waiter = { .until = ANTS_UNTIL_MEMBER };
	int err = group_wait(group, &waiter, timeout);

	return err ? ERR_PTR(err) : waiter.work;
}
EXPORT_SYMBOL_GPL(ants_group_next);

/*
 * One section for the upkeep work: end members of the first cancelled group that do not
 * run, as many as one lock hold allows. Return true if there is more to do.
 */
bool ants_group_cancel_round(struct ants_pool *pool, struct ants_todo *todo,
			     void *unused)
{
	struct ants_group *group;
	struct ants_work *work;
	unsigned int nr;

	group = list_first_entry_or_null(&pool->cancelled_groups,
					 struct ants_group, node);
	if (!group)
		return false;
	/* When its last member ends, the group stays until the lock is dropped. */
	for (nr = 0; nr < ANTS_HOLD_MAX && !ants_todo_full(todo) && group->nr_left &&
	     group->cancel_at != &group->works; nr++) {
		work = list_entry(group->cancel_at, struct ants_work, in_group);
		/* When it ends, a caller in ants_group_next() may take it. */
		group->cancel_at = work->in_group.next;
		/* A caller that waits for room with one finds out by itself. */
		if (work->group == group && work->state != ANTS_WORK_WAITING)
			ants_work_cancel_waiting(pool, work, -ECANCELED, todo);
	}
	if (group->cancel_at == &group->works)
		list_del_init(&group->node);
	ants_room_freed(pool, todo);
	return !list_empty(&pool->cancelled_groups);
}

void ants_group_cancel(struct ants_group *group)
{
	struct ants_pool *pool = group->pool;
	struct ants_todo todo;

	ants_lock_any(pool, &todo);
	ants_group_stop(group, &todo);
	ants_unlock_any(pool, &todo);
}
EXPORT_SYMBOL_GPL(ants_group_cancel);

int ants_group_reset(struct ants_group *group)
{
	int err = -EBUSY;

	raw_spin_lock_irq(&group->pool->lock);
	if (!group->nr_left && hlist_empty(&group->waiters)) {
		/* Not the pool: a caller that cancels the group reads it without the lock. */
		group_begin(group);
		err = 0;
	}
	ants_unlock_irq(group->pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_group_reset);
