// SPDX-License-Identifier: GPL-2.0-only
/*
 * The duties that cannot be done on the submit path, because they sleep. One
 * work item for each pool, the upkeep work, wakes idle workers to move or to
 * leave, fills the stock, ends the members of groups that an error cancelled,
 * and notifies the callers that one hold of the lock did not reach. It waits
 * neither for a thread nor for a function of a client.
 *
 * Making a thread takes until the thread has run for the first time. The upkeep
 * work leaves that to makers, which are work items as well, one for each thread
 * that is being made. Threads that have left may be slow to get a CPU, so a
 * further work item, the joiner, joins them. Before any of these ends, it
 * checks under the lock whether anything is left to do.
 */
#define pr_fmt(fmt) "ants: " fmt

#include "../internal.h"

/* Reserve a worker whose thread is yet to be made. */
static void worker_reserve(struct ants_pool *pool)
{
	pool->workers.nr_new++;
	if (++pool->workers.nr > pool->counts.peak_running)
		pool->counts.peak_running = pool->workers.nr;
}

static void worker_add(struct ants_worker *w, struct ants_todo *todo)
{
	w->pool->counts.spawned++;
	w->affinity_seq = w->pool->target.seq;
	list_add_tail(&w->member, &w->pool->workers.list);
	ants_todo_wake(todo, w->task);
	trace_ants_worker_make(w);
}

/*
 * Make @nr threads and add them to the list @prepared, without reserving
 * workers. This takes time, so after each thread it checks whether the pool was
 * closed since @release_seq was read. Return 0; or -ESHUTDOWN or another error,
 * with no thread left in the list.
 */
int ants_workers_prepare(struct ants_pool *pool, unsigned int nr,
			 unsigned int release_seq, struct list_head *prepared)
{
	struct ants_worker *w;

	while (nr--) {
		if (READ_ONCE(pool->release.seq) != release_seq) {
			ants_workers_discard(prepared);
			return -ESHUTDOWN;
		}
		w = ants_thread_prepare(pool, !list_empty(prepared));
		if (IS_ERR(w)) {
			ants_workers_discard(prepared);
			return PTR_ERR(w);
		}
		list_add(&w->node, prepared);
		ants_pause(ANTS_PAUSE_PREPARE, pool);
	}
	return 0;
}

void ants_workers_discard(struct list_head *prepared)
{
	struct ants_worker *w, *next;

	list_for_each_entry_safe(w, next, prepared, node) {
		list_del(&w->node);
		/* It was never woken, so it never enters its function. */
		ants_thread_join(w);
	}
}

/* May another worker be added? Not if the pool was closed meanwhile. */
static bool takes_worker(const struct ants_pool *pool)
{
	return pool->workers.nr < pool->limits.capacity &&
	       !ants_closed_error(pool);
}

static bool start_round(struct ants_pool *pool, struct ants_todo *todo,
			void *prepared)
{
	struct list_head *list = prepared;
	struct ants_worker *w;

	while (!list_empty(list) && !ants_todo_full(todo) &&
	       takes_worker(pool)) {
		w = list_first_entry(list, struct ants_worker, node);
		list_del(&w->node);
		worker_reserve(pool);
		worker_add(w, todo);
	}
	return !list_empty(list) && takes_worker(pool);
}

/*
 * Start as many of @prepared as the capacity allows; the others stay in the
 * list.
 */
void ants_workers_start(struct ants_pool *pool, struct list_head *prepared)
{
	ants_rounds(pool, start_round, prepared);
}

static bool wants_making(const struct ants_pool *pool)
{
	return ants_need_worker(pool) && !ants_backing_off(pool);
}

/*
 * Reserve a worker for a thread that is about to be made, so that it is not
 * wanted twice.
 */
static void make_reserve(struct ants_pool *pool)
{
	worker_reserve(pool);
	pool->workers.nr_making++;
}

/* Get a free maker if a thread is wanted. */
static struct ants_maker *maker_take(struct ants_pool *pool)
{
	struct ants_maker *maker = pool->upkeep.makers;

	if (pool->upkeep.nr_makers == ANTS_MAKERS || !wants_making(pool) ||
	    !ants_thread_reserve(pool))
		return NULL;
	while (maker->queued)
		maker++;
	maker->queued = true;
	pool->upkeep.nr_makers++;
	make_reserve(pool);
	return maker;
}

static bool start_maker(struct ants_pool *pool)
{
	struct ants_maker *maker;
	struct ants_todo todo;

	ants_lock(pool, &todo);
	maker = maker_take(pool);
	ants_unlock(pool, &todo);
	/* The pool stays until the maker has finished. */
	if (maker)
		queue_work(ants_makers_wq, &maker->work);
	return maker;
}

/*
 * Give the reservation back, and pause. The tasks stay: the workers that exist run
 * them, or else a thread that a later try makes.
 */
static void make_failed(struct ants_pool *pool)
{
	struct ants_wake_batch batch;
	struct ants_todo todo;

	ants_lock_batch(pool, &todo, &batch);
	pool->workers.nr_making--;
	pool->workers.nr--;
	pool->workers.nr_new--;
	ants_back_off(pool);
	ants_dispatch(pool, &todo);
	ants_unlock(pool, &todo);
}

/*
 * The start of a new worker is a wake-up like others: the worker checks for the
 * next tasks when it arrives, so that no more threads are made than are of use.
 * But a worker_init may sleep, so with one threads get ready side by side,
 * unless the last try has failed.
 */
static void make_done(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_todo todo;

	ants_lock(pool, &todo);
	pool->workers.nr_making--;
	worker_add(w, &todo);
	if (!pool->ops.worker_init || pool->upkeep.backoff) {
		ants_set_arriving(pool, w);
		pool->workers.nr_starting++;
	}
	ants_unlock(pool, &todo);
}

/*
 * Make one thread, for which a worker is reserved. This waits for its first
 * time slice.
 */
static void make_worker(struct ants_pool *pool)
{
	struct ants_worker *w;

	ants_pause(ANTS_PAUSE_MAKE, pool);
	w = ants_thread_make(pool);
	if (IS_ERR(w)) {
		pr_warn_ratelimited("pool %s: cannot make a thread: %pe\n",
				    pool->name, w);
		make_failed(pool);
		return;
	}
	ants_pause(ANTS_PAUSE_MADE, pool);
	make_done(w);
}

/*
 * A work item of the pool is about to end. If the pool is closed, this may have been
 * the last thing that it had to wait for, so callers that wait for that have to look.
 */
static void todo_drained(const struct ants_pool *pool, struct ants_todo *todo)
{
	todo->bits |= pool->released ? ANTS_TODO_WAITQ : 0;
}

/*
 * Continue with another thread? If not, the end of a closed pool may wait for
 * this maker.
 */
static bool maker_goes_on(struct ants_maker *maker)
{
	struct ants_pool *pool = maker->pool;
	struct ants_todo todo;
	bool wanted;

	ants_lock(pool, &todo);
	wanted = wants_making(pool) && ants_thread_reserve(pool);
	if (wanted) {
		make_reserve(pool);
	} else {
		maker->queued = false;
		pool->upkeep.nr_makers--;
		ants_timer_quiesce(pool);
		todo_drained(pool, &todo);
	}
	ants_unlock(pool, &todo);
	return wanted;
}

/*
 * Making a thread blocks as long as its CPU is busy. The upkeep work leaves it
 * to makers, because it has other duties, and further threads may be wanted
 * meanwhile.
 */
void ants_maker_fn(struct work_struct *work)
{
	struct ants_maker *maker = container_of(work, struct ants_maker, work);

	do {
		make_worker(maker->pool);
	} while (maker_goes_on(maker));
}

/* Tell the worker that has been idle longest to leave. */
static void retire_oldest(struct ants_pool *pool, bool expired,
			  struct ants_todo *todo)
{
	struct ants_worker *w;

	lockdep_assert_held(&pool->lock);
	w = list_last_entry(&pool->workers.idle, struct ants_worker, node);
	list_del(&w->node);
	pool->workers.nr_idle--;
	pool->workers.nr_leaving++;
	ants_worker_move(w, ANTS_LEAVING);
	w->expired = expired;
	ants_todo_wake(todo, w->task);
	trace_ants_worker_retire(w);
}

static bool idle_above(const struct ants_pool *pool)
{
	return pool->workers.nr_idle &&
	       (ants_closed_error(pool) || ants_nr_staying(pool) > pool->limits.capacity);
}

static bool above_round(struct ants_pool *pool, struct ants_todo *todo,
			void *unused)
{
	while (idle_above(pool) && !ants_todo_full(todo))
		retire_oldest(pool, false, todo);
	ants_timer_arm_reaper(pool);
	return idle_above(pool);
}

/*
 * Retire the idle workers above the capacity; all of them if the pool is
 * released.
 */
void ants_retire_above(struct ants_pool *pool)
{
	ants_rounds(pool, above_round, NULL);
}

static bool expired_round(struct ants_pool *pool, struct ants_todo *todo,
			  void *unused)
{
	while (ants_idle_expired(pool) && !ants_todo_full(todo))
		retire_oldest(pool, true, todo);
	ants_timer_arm_reaper(pool);
	return ants_idle_expired(pool);
}

static void see_parked(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);

	if (w->state == ANTS_IDLE && ants_affinity_is_stale(w))
		ants_todo_wake(&walker->todo, w->task);
}

/* Wake the parked workers that have a new affinity to apply. */
static void rebind_parked(struct ants_pool *pool)
{
	struct ants_walker walker = { .see = see_parked };

	raw_spin_lock_irq(&pool->lock);
	WRITE_ONCE(pool->target.rebind_wanted, false);
	ants_unlock_irq(pool);
	ants_walk(pool, &pool->workers.list, UINT_MAX, &walker);
	ants_pause(ANTS_PAUSE_REBIND, pool);
}

/* On behalf of a caller that may not take the lock of the wait queue. */
static void wake_waitq(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	if (pool->upkeep.waitq_wanted)
		todo.bits |= ANTS_TODO_WAITQ;
	pool->upkeep.waitq_wanted = false;
	ants_unlock(pool, &todo);
}

static void tend_stock(struct ants_pool *pool)
{
	unsigned int level;
	bool idle;

	raw_spin_lock_irq(&pool->lock);
	pool->upkeep.stock_wanted = false;
	level = ants_stock_level(pool);
	idle = !pool->workers.nr && !pool->nr_pending;
	ants_unlock_irq(pool);
	/* One batch stays: the next burst would only allocate it again. */
	if (idle)
		ants_stock_trim(pool, level + ANTS_SLOT_BATCH);
	else
		ants_stock_fill(pool, level);
}

/*
 * Return true if nothing is left to do; then the upkeep work can be queued
 * again. Set *@told if it has to tell the next pool, see thread.c.
 */
static bool upkeep_done(struct ants_pool *pool, bool *told)
{
	struct ants_todo todo;
	bool done;

	ants_lock(pool, &todo);
	done = hlist_empty(&pool->unnotified) && list_empty(&pool->cancelled_groups) &&
	       !pool->upkeep.stock_wanted && !pool->upkeep.waitq_wanted &&
	       !pool->target.rebind_wanted && !ants_idle_expired(pool) &&
	       !(wants_making(pool) && pool->upkeep.nr_makers < ANTS_MAKERS);
	*told = pool->upkeep.told;
	if (done) {
		pool->upkeep.queued = false;
		pool->upkeep.told = false;
		ants_timer_arm_worker(pool);
		ants_timer_quiesce(pool);
		todo_drained(pool, &todo);
	}
	ants_unlock(pool, &todo);
	return done;
}

void ants_upkeep_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool, upkeep.work);
	bool told;

	do {
		while (READ_ONCE(pool->target.rebind_wanted))
			rebind_parked(pool);
		if (!hlist_empty(&pool->unnotified))
			ants_rounds(pool, ants_notify_round, NULL);
		if (!list_empty(&pool->cancelled_groups))
			ants_rounds(pool, ants_group_cancel_round, NULL);
		while (start_maker(pool))
			;
		ants_rounds(pool, expired_round, NULL);
		wake_waitq(pool);
		tend_stock(pool);
	} while (!upkeep_done(pool, &told));
	if (told)
		ants_threads_tell();
}

/*
 * Join the workers that have left. Detach the whole list at once; that takes
 * constant time under the lock.
 */
static void join_left(struct ants_pool *pool)
{
	struct ants_worker *w, *next;
	LIST_HEAD(left);

	raw_spin_lock_irq(&pool->lock);
	list_splice_init(&pool->workers.left, &left);
	ants_unlock_irq(pool);
	ants_pause(ANTS_PAUSE_JOIN, pool);
	list_for_each_entry_safe(w, next, &left, node)
		ants_thread_join(w);
}

/*
 * Return true if no worker is left; the next one that leaves queues the work
 * again.
 */
static bool join_done(struct ants_pool *pool)
{
	struct ants_todo todo;
	bool done;

	ants_lock(pool, &todo);
	done = list_empty(&pool->workers.left);
	if (done) {
		pool->upkeep.join_queued = false;
		todo_drained(pool, &todo);
	}
	ants_unlock(pool, &todo);
	return done;
}

void ants_join_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool,
					      upkeep.joiner);

	do {
		join_left(pool);
	} while (!join_done(pool));
}
