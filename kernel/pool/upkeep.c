// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of all pools: how many there may be, making one, starting,
 * retiring and ending it; and the other duties that cannot be done on the
 * submit path, because they sleep.
 *
 * Two work items of each pool do that. The upkeep work wakes idle workers to move
 * or to leave, fills the stock, ends the members of cancelled groups, and notifies
 * the callers that one hold of the lock did not reach. It waits neither for a thread
 * nor for a function of a client. Making a thread takes until the thread has run for
 * the first time, so that is left to the maker, which makes one after the other.
 * Before either of them ends, it checks under the lock whether anything is left to
 * do. A thread that has left its pool ends by itself, and only the exit of this
 * module waits for that.
 *
 * An administrator may limit the number of threads. A pool without a thread that
 * stays may make one all the same: its tasks would never run otherwise, and those
 * of other pools may wait for them. When any other thread is refused, its pool
 * tries again a second later.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/completion.h>
#include <linux/kmemleak.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../internal.h"

/* The most threads of all pools; 0: as many as they want. */
unsigned int ants_max_threads;
EXPORT_SYMBOL_FOR_TESTS(ants_max_threads);

/* Each thread that has started completes this when it has left the module's code. */
static DECLARE_COMPLETION(thread_gone);
/* Threads that have started, and that nobody has seen complete it. */
static atomic_t nr_unseen;

/*
 * Count a thread that is about to be made for @pool, which may always have one.
 * @others: it has one that is not a worker yet. Return false if there are too many
 * threads in all.
 */
static bool count_thread(struct ants_pool *pool, bool others)
{
	unsigned int max = READ_ONCE(ants_max_threads);
	int nr = atomic_read(&ants_nr_threads);

	lockdep_assert_held(&pool->lock);
	if (!max || (!others && !ants_has_thread(pool)))
		max = UINT_MAX;
	do {
		if (nr >= max) {
			pool->counts.held_back++;
			return false;
		}
	} while (!atomic_try_cmpxchg(&ants_nr_threads, &nr, nr + 1));
	return true;
}

/*
 * Allocate a worker whose thread is counted, and not made yet. If there is no
 * memory return NULL; then the thread is not counted any more.
 */
static struct ants_worker *worker_alloc(struct ants_pool *pool)
{
	struct ants_worker *w = kzalloc_node(sizeof(*w), GFP_KERNEL, pool->node);
	struct ants_estate *estate = kmalloc_node(sizeof(*estate), GFP_KERNEL,
						  pool->node);
	unsigned int i;

	if (!w || !estate || ants_inject(ANTS_FAIL_WORKER)) {
		kfree(estate);
		kfree(w);
		atomic_dec(&ants_nr_threads);
		return NULL;
	}
	w->pool = pool;
	w->estate = estate;
	estate->w = w;
	estate->pid = NULL;
	estate->loops = NULL;
	/* Of the records of inner tasks, only this is read before it is set. */
	for (i = 0; i < ANTS_JOIN_DEPTH; i++)
		estate->inner[i].waits = false;
	return w;
}

/* Free @w, whose thread needs it no more, or was never started, and is not counted. */
static void worker_free(struct ants_worker *w)
{
	ants_affinity_put(w->affinity);
	kfree(w->estate);
	kfree(w);
}

/* A thread of a pool. Once it has left that, the pool may be gone. */
int ants_worker_fn(void *arg)
{
	struct ants_worker *w = arg;

	ants_worker_live(w);
	ants_pause(ANTS_PAUSE_LEFT, w->pool);
	ants_watch_end(w);
	put_task_struct(current);
	worker_free(w);
	/* Then the module may go, so there is no return to it. */
	kthread_complete_and_exit(&thread_gone, 0);
}

/* The thread of @w has died, and is buried. */
void ants_thread_dead(struct ants_worker *w)
{
	kmemleak_not_leak(w->task);
	worker_free(w);
	complete(&thread_gone);
}

/* Wait until all threads have ended, for this module's exit: no pool is left. */
void ants_threads_wait_gone(void)
{
	while (atomic_read(&nr_unseen)) {
		wait_for_completion(&thread_gone);
		atomic_dec(&nr_unseen);
	}
}

/* Make the thread of @w, which sleeps until it is started; or free @w. */
static int thread_make(struct ants_worker *w)
{
	struct task_struct *task = ERR_PTR(-ENOMEM);
	struct ants_pool *pool = w->pool;

	/* One thread is made, and one that has ended is seen: so they do not add up. */
	if (try_wait_for_completion(&thread_gone))
		atomic_dec(&nr_unseen);
	if (!ants_inject(ANTS_FAIL_THREAD))
		task = kthread_create_on_node(ants_worker_fn, w, pool->node,
					      "ants/%s", pool->name);
	if (IS_ERR(task)) {
		atomic_dec(&ants_nr_threads);
		worker_free(w);
		/*
		 * Reaching a limit of threads is not -EAGAIN, which means a
		 * full pool.
		 */
		return task == ERR_PTR(-EINTR) ? -EINTR : -ENOMEM;
	}
	w->task = get_task_struct(task);
	ants_affinity_prefer(w);
	return 0;
}

/* Reserve a worker whose thread is yet to be made. */
static void worker_reserve(struct ants_pool *pool)
{
	pool->workers.nr_new++;
	if (++pool->workers.nr > pool->counts.peak_running)
		pool->counts.peak_running = pool->workers.nr;
}

static void worker_add(struct ants_worker *w, struct ants_todo *todo)
{
	atomic_inc(&nr_unseen);
	w->pool->counts.spawned++;
	w->affinity_seq = w->pool->target.seq;
	list_add_tail(&w->member, &w->pool->workers.list);
	ants_todo_wake(todo, w->task);
	trace_ants_worker_make(w);
}

void ants_workers_discard(struct list_head *prepared)
{
	struct ants_worker *w, *next;

	list_for_each_entry_safe(w, next, prepared, node) {
		list_del(&w->node);
		/* It was never woken, so it never enters its function. */
		kthread_stop(w->task);
		put_task_struct(w->task);
		atomic_dec(&ants_nr_threads);
		worker_free(w);
	}
}

/*
 * Make @nr threads that a caller wants at once, and add them to the list
 * @prepared, without reserving workers. If one is refused, the pool does not wait
 * until it can be made. This takes time, so after each thread it checks whether
 * the pool was closed since @release_seq was read. Return 0; or -ESHUTDOWN or
 * another error, with no thread left in the list.
 */
int ants_workers_prepare(struct ants_pool *pool, unsigned int nr,
			 unsigned int release_seq, struct list_head *prepared)
{
	struct ants_worker *w;
	bool taken;
	int err;

	for (; nr; nr--) {
		if (READ_ONCE(pool->release.seq) != release_seq) {
			ants_workers_discard(prepared);
			return -ESHUTDOWN;
		}
		raw_spin_lock_irq(&pool->lock);
		taken = count_thread(pool, !list_empty(prepared));
		ants_unlock_irq(pool);
		if (!taken)
			pr_warn_ratelimited("pool %s: cannot make a thread: max_threads=%u\n",
					    pool->name, READ_ONCE(ants_max_threads));
		w = taken ? worker_alloc(pool) : NULL;
		err = w ? thread_make(w) : -ENOMEM;
		if (err) {
			ants_workers_discard(prepared);
			return err;
		}
		list_add(&w->node, prepared);
		ants_pause(ANTS_PAUSE_PREPARE, pool);
	}
	return 0;
}

/*
 * Start as many threads as one hold allows, and the capacity, but none if the pool
 * was closed meanwhile. Return true if more may be started.
 */
static bool start_round(struct ants_pool *pool, struct ants_todo *todo,
			void *prepared)
{
	struct ants_worker *w, *next;

	list_for_each_entry_safe(w, next, (struct list_head *)prepared, node) {
		if (pool->workers.nr >= pool->limits.capacity ||
		    ants_closed_error(pool))
			return false;
		if (ants_todo_full(todo))
			return true;
		list_del(&w->node);
		worker_reserve(pool);
		worker_add(w, todo);
	}
	return false;
}

/* Start as many of @prepared as the capacity allows, and discard the others. */
void ants_workers_start(struct ants_pool *pool, struct list_head *prepared)
{
	ants_rounds(pool, start_round, prepared);
	ants_workers_discard(prepared);
}

/* The thread of @w, which was reserved, is made; or @w is the error instead. */
static void make_end(struct ants_pool *pool, struct ants_worker *w)
{
	struct ants_wake_batch batch;
	struct ants_todo todo;

	if (IS_ERR(w))
		pr_warn_ratelimited("pool %s: cannot make a thread: %pe\n",
				    pool->name, w);
	ants_lock_batch(pool, &todo, &batch);
	pool->workers.nr_making = 0;
	if (IS_ERR(w)) {
		/*
		 * Give the reservation back, and pause. The tasks stay: the
		 * workers that exist run them, or else a thread that a later
		 * try makes.
		 */
		pool->workers.nr--;
		pool->workers.nr_new--;
		ants_end_fast_path(pool);
		ants_back_off(pool);
		ants_dispatch(pool, &todo);
	} else {
		worker_add(w, &todo);
		/*
		 * The start of a new worker is a wake-up like others: the
		 * worker checks for the next tasks when it arrives, so that no
		 * more threads are made than are of use. But a worker_init may
		 * sleep, so with one threads get ready side by side, unless the
		 * last try has failed.
		 */
		if (!pool->ops.worker_init || pool->upkeep.backoff) {
			ants_set_arriving(pool, w);
			pool->workers.nr_starting++;
		}
	}
	ants_unlock(pool, &todo);
}

/*
 * Reserve a worker, if a thread is wanted, and may be made: so it is not wanted twice.
 * Return false if none is to be made; then the maker can be queued again.
 */
static bool make_begin(struct ants_pool *pool)
{
	struct ants_todo todo;
	bool begin;

	ants_lock(pool, &todo);
	begin = ants_need_worker(pool) && !ants_backing_off(pool);
	if (begin && !count_thread(pool, false)) {
		pool->upkeep.held_until = jiffies + HZ;
		begin = false;
	}
	if (begin) {
		worker_reserve(pool);
		pool->workers.nr_making = 1;
	} else {
		pool->upkeep.making = false;
		ants_timer_arm_worker(pool);
		ants_job_ends(pool, &todo);
	}
	ants_unlock(pool, &todo);
	return begin;
}

/*
 * Making a thread blocks until it gets its first time slice, and for memory. So the
 * upkeep work, which has other duties, leaves it to this work item.
 */
static void maker_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool, upkeep.maker);
	struct ants_worker *w;
	int err;

	ants_pause(ANTS_PAUSE_MAKER, pool);
	while (make_begin(pool)) {
		ants_pause(ANTS_PAUSE_MAKE, pool);
		w = worker_alloc(pool);
		err = w ? thread_make(w) : -ENOMEM;
		if (!err)
			ants_pause(ANTS_PAUSE_MADE, pool);
		make_end(pool, err ? ERR_PTR(err) : w);
	}
}

/*
 * Tell idle workers to leave, as many as one hold allows, first the one that has
 * been idle longest: those that have expired, or those above the capacity. Return
 * true if there are more.
 */
static bool retire_round(struct ants_pool *pool, struct ants_todo *todo,
			 void *arg)
{
	bool expired = *(bool *)arg, more;
	struct ants_worker *w;

	for (;;) {
		if (expired)
			more = ants_idle_expired(pool);
		else
			more = pool->workers.nr_idle &&
			       (ants_closed_error(pool) ||
				ants_nr_staying(pool) > pool->limits.capacity);
		if (!more || ants_todo_full(todo))
			break;
		w = list_last_entry(&pool->workers.idle, struct ants_worker,
				    node);
		list_del(&w->node);
		pool->workers.nr_idle--;
		pool->workers.nr_leaving++;
		ants_worker_move(w, ANTS_LEAVING);
		w->expired = expired;
		ants_todo_wake(todo, w->task);
		trace_ants_worker_retire(w);
	}
	ants_timer_arm_reaper(pool);
	return more;
}

/*
 * Retire the idle workers above the capacity; all of them if the pool is
 * released.
 */
void ants_retire_above(struct ants_pool *pool)
{
	bool expired = false;

	ants_rounds(pool, retire_round, &expired);
}

static void see_parked(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);

	if (w->state == ANTS_IDLE && ants_affinity_is_stale(w))
		ants_todo_wake(&walker->todo, w->task);
}

/*
 * Return true if nothing is left to do; then the upkeep work can be queued
 * again.
 */
static bool upkeep_done(struct ants_pool *pool)
{
	struct ants_todo todo;
	bool done;

	ants_lock(pool, &todo);
	done = hlist_empty(&pool->unnotified) && list_empty(&pool->cancelled_groups) &&
	       !pool->upkeep.stock_wanted && !pool->upkeep.waitq_wanted &&
	       !pool->target.rebind_wanted && !ants_idle_expired(pool) &&
	       pool->nr_stock <= pool->limits.stock;
	if (done) {
		pool->upkeep.queued = false;
		ants_job_ends(pool, &todo);
	}
	ants_unlock(pool, &todo);
	return done;
}

static void upkeep_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool, upkeep.work);
	struct ants_walker walker = { .see = see_parked };
	bool expired = true, idle;
	struct ants_todo todo;
	unsigned int level;

	do {
		/* Wake the parked workers that have a new affinity to apply. */
		while (READ_ONCE(pool->target.rebind_wanted)) {
			raw_spin_lock_irq(&pool->lock);
			WRITE_ONCE(pool->target.rebind_wanted, false);
			ants_unlock_irq(pool);
			ants_walk(pool, &pool->workers.list, UINT_MAX, &walker);
			ants_pause(ANTS_PAUSE_REBIND, pool);
		}
		if (!hlist_empty(&pool->unnotified))
			ants_rounds(pool, ants_notify_round, NULL);
		if (!list_empty(&pool->cancelled_groups))
			ants_rounds(pool, ants_group_cancel_round, NULL);
		ants_rounds(pool, retire_round, &expired);

		ants_lock(pool, &todo);
		/* For a caller that may not take the lock of the wait queue. */
		if (pool->upkeep.waitq_wanted)
			todo.bits |= ANTS_TODO_WAITQ;
		pool->upkeep.waitq_wanted = false;
		pool->upkeep.stock_wanted = false;
		level = ants_stock_level(pool);
		idle = !pool->workers.nr && !pool->nr_pending;
		ants_unlock(pool, &todo);
		if (!idle)
			ants_stock_fill(pool, level);
		ants_stock_trim(pool, idle ? level : READ_ONCE(pool->limits.stock));
	} while (!upkeep_done(pool));
}

void ants_upkeep_init(struct ants_pool *pool)
{
	INIT_WORK(&pool->upkeep.work, upkeep_fn);
	INIT_WORK(&pool->upkeep.maker, maker_fn);
}
