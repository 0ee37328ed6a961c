// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of all pools: how many there may be, making one, starting and retiring
 * it, and cleaning up after one that has died; and the other duties that cannot
 * be done on the submit path, because they sleep. A worker that runs is replaced by
 * worker.c, see worker->replace.
 *
 * Two work items of each pool do that. The upkeep work wakes idle workers to move
 * or to leave, fills the stock, ends the members of cancelled groups, and notifies
 * the callers that one lock hold did not reach. It waits neither for a thread
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
 *
 * Every thread that ends wakes the wait queue of its pid, so that poll() on a
 * pidfd returns; that includes a thread that has oopsed, and one that its task
 * has ended. A worker has an entry in that queue, so its death is noticed
 * without polling, and watching costs nothing while the thread lives. The thread
 * may have died with any lock held, so nothing is done then but to queue a
 * kernel work item, which cleans up: the place of the worker is free at
 * once, the tasks that ran in the thread end, and the creator of the pool is
 * told. The pool goes on as if the thread had left.
 *
 * What the thread held is lost: locks and memory, and the result of worker_init.
 * The reference to its task_struct is kept for good, because whoever waits for
 * a lock that it held may look at the owner.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/kmemleak.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../internal.h"

/* The most threads of all pools; 0: as many as they want. */
unsigned int ants_max_threads;
EXPORT_SYMBOL_FOR_TESTS(ants_max_threads);

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

/* Free @w, whose thread does not say by itself that it is gone. It is not counted. */
static void worker_free(struct ants_worker *w)
{
	kfree(w);
	complete(&ants_gone);
}

/*
 * Make a worker whose thread is counted, and which sleeps until it is started. After an
 * error, which this returns, the thread is not counted any more.
 */
static struct ants_worker *worker_make(struct ants_pool *pool)
{
	struct ants_worker *w = kzalloc_node(sizeof(*w), GFP_KERNEL, pool->node);
	struct task_struct *task = ERR_PTR(-ENOMEM);
	struct ants_affinity *affinity;

	if (w && !ants_inject(ANTS_FAIL_WORKER) && !ants_inject(ANTS_FAIL_THREAD)) {
		w->pool = pool;
		task = kthread_create_on_node(ants_worker_fn, w, pool->node,
					      "ants/%s", pool->name);
	}
	if (IS_ERR(task)) {
		atomic_dec(&ants_nr_threads);
		kfree(w);
		/*
		 * Reaching a limit of threads is not -EAGAIN, which means a
		 * full pool.
		 */
		return ERR_PTR(task == ERR_PTR(-EINTR) ? -EINTR : -ENOMEM);
	}
	w->task = get_task_struct(task);
	ants_gone_later();
	/*
	 * Tell the kernel which CPUs the thread prefers. When a cpuset isolates CPUs, or
	 * when CPUs come online, the kernel rebinds such kthreads. It accepts this once
	 * only, so a mask that is set later is up to the worker.
	 */
	affinity = ants_affinity_get(pool);
	if (!affinity->unbound)
		w->preferred = !kthread_affine_preferred(task, to_cpumask(affinity->cpus));
	ants_affinity_put(affinity);
	return w;
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
	w->pool->counts.spawned++;
	w->affinity_seq = w->pool->target.seq;
	list_add_tail(&w->member, &w->pool->workers.list);
	ants_todo_wake(todo, w->task);
	trace_ants_worker_make(w->pool, &w->task, NULL, NULL, 0, 0);
}

/*
 * Make @nr threads that a caller wants at once, and add them to the list
 * @prepared, without reserving workers. If one is refused, the pool does not wait
 * until it can be made. This takes time, so after each thread it checks whether
 * the pool was closed meanwhile. Return 0, -ESHUTDOWN or another error; the list
 * holds what was made.
 */
int ants_workers_prepare(struct ants_pool *pool, unsigned int nr,
			 struct list_head *prepared)
{
	unsigned int seq = READ_ONCE(pool->release.seq);
	struct ants_worker *w;
	bool taken;

	for (; nr; nr--) {
		if (ants_closed_since(pool, seq))
			return -ESHUTDOWN;
		raw_spin_lock_irq(&pool->lock);
		taken = count_thread(pool, !list_empty(prepared));
		ants_unlock_irq(pool);
		if (!taken)
			pr_warn_ratelimited("pool %s: cannot make a thread: max_threads=%u\n",
					    pool->name, READ_ONCE(ants_max_threads));
		w = taken ? worker_make(pool) : ERR_PTR(-ENOMEM);
		if (IS_ERR(w))
			return PTR_ERR(w);
		list_add(&w->node, prepared);
		ants_pause(ANTS_PAUSE_PREPARE, pool);
	}
	return 0;
}

/*
 * Start as many threads as one lock hold allows, and the capacity, but none if the pool
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
	struct ants_worker *w, *next;

	ants_rounds(pool, start_round, prepared);
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
 * Making a thread blocks until it gets its first time slice, and for memory. So the
 * upkeep work, which has other duties, leaves it to this work item.
 */
void ants_maker_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool, upkeep.maker);
	struct ants_wake_batch batch;
	struct ants_todo todo;
	struct ants_worker *w;

	ants_lock_batch(pool, &todo, &batch);
	while (ants_need_worker(pool) && !ants_backing_off(pool)) {
		if (!count_thread(pool, false)) {
			pool->upkeep.held_until = jiffies + HZ;
			break;
		}
		/* So it is not wanted twice. */
		worker_reserve(pool);
		pool->workers.nr_making = 1;
		ants_unlock(pool, &todo);
		ants_pause(ANTS_PAUSE_MAKE, pool);
		w = worker_make(pool);
		if (IS_ERR(w))
			pr_warn_ratelimited("pool %s: cannot make a thread: %pe\n",
					    pool->name, w);
		else
			ants_pause(ANTS_PAUSE_MADE, pool);
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
			continue;
		}
		worker_add(w, &todo);
		/*
		 * The start of a new worker is a wake-up like others: the worker checks for
		 * the next tasks when it arrives, so that no more threads are made than are
		 * of use. But a worker_init may sleep, so with one threads get ready side by
		 * side, unless the last try has failed.
		 */
		if (!pool->ops.worker_init || pool->upkeep.backoff) {
			ants_set_arriving(pool, w);
			pool->workers.nr_starting++;
		}
	}
	/* From here on it can be queued again. */
	pool->upkeep.making = false;
	ants_timer_arm_worker(pool);
	ants_job_ends(pool, &todo);
	ants_unlock(pool, &todo);
}

/*
 * Tell idle workers to leave, as many as one lock hold allows, first the one that has
 * been idle longest: those above the capacity, and those that have expired. Return
 * true if there are more.
 */
static bool retire_round(struct ants_pool *pool, struct ants_todo *todo,
			 void *unused)
{
	struct ants_worker *w;
	bool surplus;

	while (pool->workers.nr_idle) {
		surplus = ants_closed_error(pool) ||
			  ants_nr_staying(pool) > pool->limits.capacity;
		if (!surplus && !ants_idle_expired(pool))
			break;
		if (ants_todo_full(todo))
			return true;
		w = list_last_entry(&pool->workers.idle, struct ants_worker,
				    node);
		list_del(&w->node);
		pool->workers.nr_idle--;
		pool->workers.nr_leaving++;
		ants_worker_move(w, ANTS_LEAVING);
		w->expired = !surplus;
		ants_todo_wake(todo, w->task);
		trace_ants_worker_retire(pool, &w->task, NULL, NULL, 0, 0);
	}
	ants_timer_arm_reaper(pool);
	return false;
}

/* Retire the idle workers that are not to stay; all of them if the pool is released. */
void ants_retire_idle(struct ants_pool *pool)
{
	ants_rounds(pool, retire_round, NULL);
}

static void see_parked(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);

	if (w->state == ANTS_IDLE && ants_affinity_is_stale(w))
		ants_todo_wake(&walker->todo, w->task);
}

void ants_upkeep_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool, upkeep.work);
	struct ants_walker walker = { .see = see_parked };
	struct ants_todo todo;
	unsigned int level;
	bool rebind, idle;

	ants_lock(pool, &todo);
	/* As long as there is anything to do. */
	while (!hlist_empty(&pool->unnotified) || !list_empty(&pool->cancelled_groups) ||
	       pool->upkeep.stock_wanted || pool->target.rebind_wanted ||
	       ants_idle_expired(pool) || pool->nr_stock > pool->limits.stock) {
		/* For a caller that may not take the lock of the wait queue; see below. */
		todo.bits |= ANTS_TODO_WAITQ;
		pool->upkeep.stock_wanted = false;
		rebind = pool->target.rebind_wanted;
		pool->target.rebind_wanted = false;
		level = ants_stock_level(pool);
		idle = !pool->workers.nr && !pool->nr_pending;
		ants_unlock(pool, &todo);
		if (rebind) {
			/* Wake the parked workers that have a new affinity to apply. */
			ants_walk(pool, &pool->workers.list, UINT_MAX, &walker);
			ants_pause(ANTS_PAUSE_REBIND, pool);
		}
		ants_rounds(pool, ants_notify_round, NULL);
		ants_rounds(pool, ants_group_cancel_round, NULL);
		ants_retire_idle(pool);
		if (!idle)
			ants_stock_fill(pool, level);
		ants_stock_trim(pool, idle ? level : READ_ONCE(pool->limits.stock));
		ants_lock(pool, &todo);
	}
	/* The timer relies on this where an idle worker had expired as it fired. */
	ants_timer_arm_reaper(pool);
	/* From here on it can be queued again. */
	pool->upkeep.queued = false;
	ants_timer_quiesce(pool);
	/* For one that has come meanwhile, or if the pool waited for the end of this. */
	todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
}

/*
 * Clean up after a worker whose thread has died. The pid of the thread is given back once
 * nothing runs in thread_ends(). Nobody waits for the thread itself: it is gone, or
 * about to be.
 */
void ants_crash_fn(struct work_struct *work)
{
	struct ants_worker *w = container_of(work, struct ants_worker, cleanup);
	struct ants_pool *pool = w->pool;
	/* As that is handed to the client: the function of a plain task, else NULL. */
	ants_fn_t fn = NULL;
	/* The argument of the client's function; the work item if it is one. */
	const void *data = NULL;
	struct ants_own_work *call = NULL;
	char name[ANTS_FUNC_LEN];
	struct ants_todo todo;
	unsigned long func;

	/* From here on nothing runs in thread_ends(): the lock of the queue is held there. */
	remove_wait_queue(&w->pid->wait_pidfd, &w->exit);
	put_pid(w->pid);
	kmemleak_not_leak(w->task);
	/* It had left the pool, and called back as it dropped the lock. */
	if (w->state == ANTS_LEFT) {
		worker_free(w);
		return;
	}
	/* Note what it did. From here on the pool waits for the end of this. */
	raw_spin_lock_irq(&pool->lock);
	pool->faults.aborting++;
	pool->counts.faults++;
	if (READ_ONCE(pool->faults.caller) == w->task)
		func = (unsigned long)pool->ops.space_available;
	else if (w->depth)
		func = w->inner[w->depth - 1].func_addr;
	else if (w->state == ANTS_NEW)
		func = (unsigned long)pool->ops.worker_init;
	else if (w->state == ANTS_LEAVING)
		func = (unsigned long)pool->ops.worker_exit;
	else /* Without a task no function of a client has run. */
		func = w->fn ? ants_worker_func(w) : (unsigned long)ants_worker_fn;
	if (w->fn) {
		data = w->data;
		if (w->tag & ANTS_TAG_WORK) {
			call = ants_own_work(w->data);
			/* As in call_fn(), which may have looked before it died. */
			if (call && xchg(&call->left, ANTS_CALL_OVER) != ANTS_CALL_LEFT)
				call = NULL;
			ants_client_func(w->fn, &data);
		} else if (!(w->tag & ANTS_TAG_DETACHED)) {
			fn = w->fn;
		}
	}
	ants_unlock_irq(pool);
	/* The name is kept, for its module may go. To look it up may take long. */
	snprintf(name, sizeof(name), "%ps", (void *)func);
	/* Without a symbol %ps prints an address, which users must not see. */
	if (name[0] == '0' || name[0] == '(')
		strscpy(name, "unknown", sizeof(name));
	raw_spin_lock_irq(&pool->lock);
	memcpy(pool->faults.last, name, sizeof(name));
	ants_unlock_irq(pool);
	ants_rounds(pool, ants_inner_abort_round, w);
	ants_worker_abort(w);
	pr_err("pool %s: thread %d has died in %ps\n", pool->name,
	       task_pid_nr(w->task), (void *)func);

	ants_calls_abort(w, call);
	ants_inline_abort(w->task);
	if (pool->ops.fault)
		pool->ops.fault(pool, fn, (void *)data);

	worker_free(w);
	/* The pool may go from the end of this section on. */
	ants_lock(pool, &todo);
	pool->faults.aborting--;
	ants_job_ends(pool, &todo);
	ants_unlock(pool, &todo);
}
