// SPDX-License-Identifier: GPL-2.0-only
/* Submitting a task to a pool. */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../internal.h"

/*
 * Tasks that run in their submitters. While one runs, a record says so. If the task
 * then finds its own pool full, it must not run another one inside itself, whether
 * it runs in a thread of the pool or in a submitter.
 *
 * The record is allocated, because the task may kill the thread that runs it, and
 * the stack of a dead thread is reused. If that is no thread of a pool, the record
 * stays, and so does the task_struct that it refers to: no other thread is taken for
 * the dead one.
 */

#define BUCKET_BITS	5

/**
 * struct inline_run - a caller that runs a task itself
 * @node: in a bucket
 * @task: I: the caller, with a reference
 * @pool: I: the pool of the task, to which the caller holds a reference, and to no other
 */
struct inline_run {
	struct hlist_node node;
	struct task_struct *task;
	struct ants_pool *pool;
};

/* The records of the callers whose task addresses have the same hash. */
static struct bucket {
	raw_spinlock_t lock;
	struct hlist_head runs;
} buckets[1 << BUCKET_BITS] = {
	[0 ... (1 << BUCKET_BITS) - 1] = {
		.lock = __RAW_SPIN_LOCK_UNLOCKED(bucket),
	},
};

static struct bucket *bucket_of(const struct task_struct *task)
{
	return &buckets[hash_ptr(task, BUCKET_BITS)];
}

/*
 * Run a task of @pool in the caller, which holds a reference, as a worker would. Wait instead
 * if there is no memory for a record: the threads of the pool need none. Without one the
 * task could run another one inside itself, and if it killed a thread of another pool,
 * @pool would wait for its caller for ever. This does not try hard to get memory: memory
 * reclaim may wait for the task. Return 0, or why the task does not run.
 */
int ants_run_here(struct ants_pool *pool, ants_fn_t fn, void *data, enum ants_prio prio)
{
	struct bucket *bucket = bucket_of(current);
	struct inline_run *run = NULL;
	int err;

	if (!ants_inject(ANTS_FAIL_INLINE))
		run = kmalloc(sizeof(*run), GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN);
	if (!run)
		return ants_submit_prio(pool, fn, data, prio, MAX_SCHEDULE_TIMEOUT);
	run->task = get_task_struct(current);
	run->pool = pool;
	raw_spin_lock_irq(&bucket->lock);
	hlist_add_head(&run->node, &bucket->runs);
	raw_spin_unlock_irq(&bucket->lock);
	raw_spin_lock_irq(&pool->lock);
	/* It may have been closed since it was full. */
	err = ants_closed_error(pool);
	if (err)
		ants_refused(pool, fn, data, err);
	else
		pool->counts.caller_runs++;
	ants_unlock_irq(pool);
	if (!err) {
		trace_ants_task_start(pool, NULL, fn, data, 0, 0);
		fn(data);
		trace_ants_task_end(pool, NULL, fn, data, 0, 0);
	}
	raw_spin_lock_irq(&bucket->lock);
	hlist_del(&run->node);
	raw_spin_unlock_irq(&bucket->lock);
	put_task_struct(run->task);
	kfree(run);
	return err;
}

/* The thread @task has died in what it ran as a submitter. */
__cold void ants_inline_abort(const struct task_struct *task)
{
	struct bucket *bucket = bucket_of(task);
	struct inline_run *run;
	struct hlist_node *next;
	HLIST_HEAD(dead);

	raw_spin_lock_irq(&bucket->lock);
	hlist_for_each_entry_safe(run, next, &bucket->runs, node) {
		if (run->task != task)
			continue;
		hlist_del(&run->node);
		hlist_add_head(&run->node, &dead);
	}
	raw_spin_unlock_irq(&bucket->lock);
	hlist_for_each_entry_safe(run, next, &dead, node) {
		ants_pool_put(run->pool);
		put_task_struct(run->task);
		kfree(run);
	}
}

/*
 * Does the caller run a task of @pool, in a thread of the pool or by itself?
 * May be called with the lock of the pool held.
 */
bool ants_runs_task_of(struct ants_pool *pool)
{
	struct bucket *bucket = bucket_of(current);
	const struct inline_run *run;
	unsigned long flags;
	bool found = false;

	if (ants_in_pool(pool))
		return true;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_for_each_entry(run, &bucket->runs, node)
		found |= run->task == current && run->pool == pool;
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return found;
}

/*
 * The fast path of ants_task_add(), for the first of @tasks, at most @nr; all of them have
 * normal priority. Return how many were accepted there.
 */
static __always_inline unsigned int tasks_add_fast(struct ants_pool *pool,
						   const struct ants_task *tasks,
						   unsigned int nr)
{
	struct list_head *last;
	struct ants_slot *slot;
	unsigned int epoch, i;

	lockdep_assert_held(&pool->lock);
	if (unlikely(!ants_may_add_fast(pool)))
		return 0;
	if (nr > 1)
		nr = min_t(unsigned int, nr, pool->fast_submits);
	/* First, so that nothing has to outlive the calls. */
	for (i = 0; trace_ants_task_accept_enabled() && i < nr; i++)
		ants_trace_task_accept(pool, tasks[i].fn, tasks[i].data, i + 1);
	epoch = pool->epoch;
	/* What links a free slot to the next one links a pending one to it as well. */
	static_assert(!offsetof(struct ants_slot, next) && !offsetof(struct ants_slot, node.next));
	slot = pool->stock;
	last = pool->pending.prev;
	last->next = &slot->node;
	for (i = 0; i < nr; i++, slot = list_entry(last->next, struct ants_slot, node)) {
		slot->fn = tasks[i].fn;
		slot->data = tasks[i].data;
		slot->tag = epoch;
		slot->node.prev = last;
		last = &slot->node;
	}
	pool->stock = slot;
	last->next = &pool->pending;
	pool->pending.prev = last;
	pool->nr_stock -= nr;
	ants_added_fast(pool, epoch, nr);
	return nr;
}

static __always_inline bool task_add_fast(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	const struct ants_task task = { .fn = fn, .data = data };

	return tasks_add_fast(pool, &task, 1);
}

/* Refuse the task. It is counted while the pool is sure to exist. */
static int submit_reject(struct ants_pool *pool, ants_fn_t fn, void *data,
			 struct ants_todo *todo, int err)
	__releases(&pool->lock)
{
	ants_refused(pool, fn, data, err);
	ants_unlock(pool, todo);
	return err;
}

/*
 * Accept the task if the pool has room, on the slow path. While callers wait, the
 * admission limit is zero, so a newcomer cannot overtake them.
 */
static noinline int accept_slow(struct ants_pool *pool, ants_fn_t fn, void *data,
				bool high, struct ants_todo *todo)
{
	struct ants_slot *slot;

	if (unlikely(!ants_can_admit(pool)))
		return ants_closed_error(pool) ?: -EAGAIN;
	slot = ants_stock_get(pool);
	if (unlikely(!slot))
		return -ENOMEM;
	ants_task_add(pool, slot, fn, data, high);
	ants_wake_for_submitter(pool, todo);
	ants_begin_fast_submits(pool);
	return 0;
}

/* Wait for room, unless the pool is closed. The lock is held on entry and dropped here. */
static noinline int submit_wait(struct ants_pool *pool, ants_fn_t fn,
				void *data, enum ants_prio prio,
				unsigned long timeout, struct ants_todo *todo)
	__releases(&pool->lock)
{
	bool nested = timeout >= MAX_SCHEDULE_TIMEOUT && ants_in_pool(pool);
	/* ants_wait_enrol() sets the rest. */
	struct ants_waiter waiter __uninitialized;
	int err;

	waiter.fn = fn;
	waiter.data = data;
	waiter.work = NULL;
	waiter.prio = prio;
	err = timeout ? ants_wait_enrol(pool, &waiter, nested) : -ETIMEDOUT;
	if (err)
		return submit_reject(pool, fn, data, todo, err);
	ants_unlock(pool, todo);
	ants_pause(ANTS_PAUSE_ENROLLED, pool);
	return ants_wait(pool, &waiter, timeout);
}

/* The pool is full or closed, or has no slot. @held: the caller holds a reference. */
static noinline int submit_full(struct ants_pool *pool, ants_fn_t fn, void *data,
				enum ants_prio prio, bool held,
				struct ants_todo *todo, int err)
	__releases(&pool->lock)
{
	if ((err != -EAGAIN && err != -ENOMEM) || pool->flags & ANTS_NONBLOCKING)
		return submit_reject(pool, fn, data, todo, err);
	/* Not inside another task of it: one that submits itself would use up the stack. */
	if (!(pool->flags & ANTS_CALLER_RUNS) || ants_runs_task_of(pool))
		return submit_wait(pool, fn, data, prio, MAX_SCHEDULE_TIMEOUT, todo);
	/* The task may use the pool. If it kills the caller, one reference is put. */
	if (!held)
		ants_pool_get_locked(pool);
	ants_unlock(pool, todo);
	err = ants_run_here(pool, fn, data, prio);
	if (!held)
		ants_pool_put(pool);
	return err;
}

/*
 * Allocate slots for this task and for callers that may not allocate. Without
 * memory the task takes one of the latter, or waits until one is returned. The
 * caller holds a reference while it has dropped the lock, because the allocation may
 * sleep. And say once, if @warn, that a task that frees memory depends on a thread that
 * needs memory; the console may not print under the lock.
 */
static noinline void fill_stock(struct ants_pool *pool, ants_fn_t fn, bool warn,
				struct ants_todo *todo)
	__must_hold(&pool->lock)
{
	pool->warned_reclaim |= warn;
	ants_pool_get_locked(pool);
	ants_unlock(pool, todo);
	if (warn)
		pr_warn("pool %s: %ps is submitted from reclaim, without ANTS_MEM_RECLAIM\n",
			pool->name, fn);
	ants_stock_fill(pool, pool->limits.spare_slots + ANTS_SLOT_BATCH);
	ants_lock(pool, todo);
	ants_pool_put_locked(pool, todo);
}

/*
 * The slow path into the pool of a caller that may sleep. The stock is looked at with
 * the lock held: a look before would take the line of the lock away from the CPU that
 * holds it.
 */
static __always_inline int accept_may_sleep(struct ants_pool *pool, ants_fn_t fn, void *data,
					    bool high, struct ants_todo *todo)
	__must_hold(&pool->lock)
{
	bool warn = unlikely(current->flags & PF_MEMALLOC) && !pool->warned_reclaim &&
		    !(pool->flags & ANTS_MEM_RECLAIM);

	if (unlikely((warn || pool->nr_stock <= pool->limits.spare_slots) && !pool->released))
		fill_stock(pool, fn, warn, todo);
	return accept_slow(pool, fn, data, high, todo);
}

/* Open a locked section and try to submit the task in it. */
static int submit_open(struct ants_pool *pool, ants_fn_t fn, void *data, bool high,
		       struct ants_todo *todo)
	__acquires(&pool->lock)
{
	ants_pause(ANTS_PAUSE_SUBMIT, pool);
	ants_lock(pool, todo);
	if (!high && task_add_fast(pool, fn, data))
		return 0;
	return accept_may_sleep(pool, fn, data, high, todo);
}

/* The slow path of ants_submit(). */
static noinline int submit_slow(struct ants_pool *pool, ants_fn_t fn, void *data)
	__releases(&pool->lock)
{
	struct ants_todo todo __uninitialized;
	int err;

	ants_todo_begin(&todo);
	err = accept_may_sleep(pool, fn, data, false, &todo);
	if (unlikely(err))
		return submit_full(pool, fn, data, ANTS_PRIO_NORMAL, false, &todo, err);
	ants_unlock(pool, &todo);
	return 0;
}

int ants_submit(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	ants_might_sleep();
	if (unlikely(!fn))
		return -EINVAL;
	if (IS_ENABLED(CONFIG_LOCKDEP) &&
	    !(READ_ONCE(pool->flags) & ANTS_NONBLOCKING))
		ants_wait_touch(pool);
	ants_pause(ANTS_PAUSE_SUBMIT, pool);
	raw_spin_lock_irq(&pool->lock);
	if (unlikely(!task_add_fast(pool, fn, data)))
		return submit_slow(pool, fn, data);
	ants_unlock_irq(pool);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_submit);

int ants_submit_prio(struct ants_pool *pool, ants_fn_t fn, void *data,
		     enum ants_prio prio, unsigned long timeout)
{
	struct ants_todo todo;
	int err;

	ants_might_sleep();
	if (unlikely(!fn || prio > ANTS_PRIO_HIGH))
		return -EINVAL;
	if (timeout)
		ants_wait_touch(pool);
	err = submit_open(pool, fn, data, prio == ANTS_PRIO_HIGH, &todo);
	if (err)
		return ants_closed_error(pool) ? submit_reject(pool, fn, data, &todo, err) :
		       submit_wait(pool, fn, data, prio, timeout, &todo);
	ants_unlock(pool, &todo);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_submit_prio);

int ants_submit_timeout(struct ants_pool *pool, ants_fn_t fn, void *data,
			unsigned long timeout)
{
	return ants_submit_prio(pool, fn, data, ANTS_PRIO_NORMAL, timeout);
}
EXPORT_SYMBOL_GPL(ants_submit_timeout);

int ants_submit_batch(struct ants_pool *pool, const struct ants_task *tasks,
		      unsigned int nr)
{
	unsigned int prios = ANTS_PRIO_NORMAL, i, end, done;
	struct ants_todo todo __uninitialized;
	const struct ants_task *task;
	bool held = false;
	int err = 0;

	ants_might_sleep();
	if (nr > INT_MAX)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (!tasks[i].fn)
			return -EINVAL;
		prios |= tasks[i].prio;
	}
	if (prios > ANTS_PRIO_HIGH)
		return -EINVAL;
	if (!(READ_ONCE(pool->flags) & ANTS_NONBLOCKING))
		ants_wait_touch(pool);
	for (i = 0; i < nr && !err;) {
		ants_pause(ANTS_PAUSE_SUBMIT, pool);
		ants_lock(pool, &todo);
		end = min(nr, i + ANTS_HOLD_MAX);
		do {
			task = &tasks[i];
			/* If one of them is urgent, none takes the fast path. */
			done = prios ? 0 : tasks_add_fast(pool, task, end - i);
			if (!done)
				err = accept_may_sleep(pool, task->fn, task->data, task->prio,
						       &todo);
			i += done ?: 1;
		} while (i < end && !err);
		/* If tasks are left after this section, the pool must stay until the next one. */
		if (i < nr && !held) {
			ants_pool_get_locked(pool);
			held = true;
		}
		/* If there is no room, the mode of the pool says what becomes of this one. */
		if (err)
			err = submit_full(pool, task->fn, task->data, task->prio, held, &todo, err);
		else
			ants_unlock(pool, &todo);
	}
	if (held)
		ants_pool_put(pool);
	i -= !!err;
	return i ?: err;
}
EXPORT_SYMBOL_GPL(ants_submit_batch);

/*
 * The slow path into the pool of a caller in any context. It may use the spare slots, and
 * may not allocate: the upkeep work refills them.
 */
static int accept_any(struct ants_pool *pool, ants_fn_t fn, void *data,
		      struct ants_todo *todo)
{
	int err = accept_slow(pool, fn, data, false, todo);

	if (unlikely(pool->nr_stock < pool->limits.spare_slots) &&
	    !pool->upkeep.stock_wanted && !pool->released) {
		pool->upkeep.stock_wanted = true;
		ants_todo_upkeep(pool, todo);
	}
	return err;
}

static noinline int try_submit_slow(struct ants_pool *pool, ants_fn_t fn, void *data,
				    unsigned long flags)
	__releases(&pool->lock)
{
	struct ants_todo todo __uninitialized;
	int err;

	ants_todo_begin(&todo);
	todo.flags = flags;
	err = accept_any(pool, fn, data, &todo);
	if (unlikely(err))
		ants_refused(pool, fn, data, err);
	ants_unlock_any(pool, &todo);
	return err;
}

int ants_try_submit(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	unsigned long flags;

	if (unlikely(!fn))
		return -EINVAL;
	raw_spin_lock_irqsave(&pool->lock, flags);
	if (unlikely(!task_add_fast(pool, fn, data)))
		return try_submit_slow(pool, fn, data, flags);
	ants_check(pool);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_try_submit);

/*
 * One try of a caller that can choose among pools: a full pool does not count
 * as a rejection. With @stay the caller holds a reference if the pool was full,
 * until ants_pool_put(): it will come back to wait here if no other pool
 * takes the task. Return 0, -ESHUTDOWN, -EIO, -EAGAIN or -ENOMEM.
 */
int ants_submit_attempt(struct ants_pool *pool, ants_fn_t fn, void *data,
			bool stay)
{
	struct ants_todo todo;
	int err;

	ants_might_sleep();
	err = submit_open(pool, fn, data, false, &todo);
	if (err == -ESHUTDOWN)
		return submit_reject(pool, fn, data, &todo, err);
	if (err && stay)
		ants_pool_get_locked(pool);
	ants_unlock(pool, &todo);
	return err;
}

/* The same in any context; the caller never holds a reference. */
int ants_try_attempt(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	struct ants_todo todo;
	int err = 0;

	ants_lock_any(pool, &todo);
	if (!task_add_fast(pool, fn, data))
		err = accept_any(pool, fn, data, &todo);
	if (err == -ESHUTDOWN)
		ants_refused(pool, fn, data, err);
	ants_unlock_any(pool, &todo);
	return err;
}
