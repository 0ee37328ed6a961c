// SPDX-License-Identifier: GPL-2.0-only
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
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../internal.h"

#define BUCKET_BITS	5

/**
 * struct ants_inline - a caller that runs a task itself, or may do so
 * @node: in a bucket
 * @task: I: the caller, with a reference
 * @pool: I: the pool to which the caller holds a reference
 * @runs: I: the task is one of that pool
 */
struct ants_inline {
	struct hlist_node node;
	struct task_struct *task;
	struct ants_pool *pool;
	bool runs;
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
 * The caller, which has a reference to @pool, is about to run a task of it, or may
 * run one of another shard if not @runs. To be ended by ants_inline_end(). Return
 * NULL if there is no memory, for which this does not try hard: memory reclaim may
 * wait for the task.
 */
struct ants_inline *ants_inline_begin(struct ants_pool *pool, bool runs)
{
	struct bucket *bucket = bucket_of(current);
	struct ants_inline *run;

	if (ants_inject(ANTS_FAIL_INLINE))
		return NULL;
	run = kmalloc(sizeof(*run), GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN);
	if (!run)
		return NULL;
	run->task = get_task_struct(current);
	run->pool = pool;
	run->runs = runs;
	raw_spin_lock_irq(&bucket->lock);
	hlist_add_head(&run->node, &bucket->runs);
	raw_spin_unlock_irq(&bucket->lock);
	return run;
}

void ants_inline_end(struct ants_inline *run)
{
	struct bucket *bucket = bucket_of(current);

	if (!run)
		return;
	raw_spin_lock_irq(&bucket->lock);
	hlist_del(&run->node);
	raw_spin_unlock_irq(&bucket->lock);
	put_task_struct(run->task);
	kfree(run);
}

/*
 * Run a task of @pool in the caller, which holds a reference. Return false if there is
 * no memory for a record. Without one the task could run another one inside itself, and
 * if it killed a thread of another pool, @pool would wait for its caller for ever.
 */
bool ants_run_here(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	struct ants_inline *run = ants_inline_begin(pool, true);

	if (!run)
		return false;
	raw_spin_lock_irq(&pool->lock);
	pool->counts.caller_runs++;
	ants_unlock_irq(pool);
	trace_ants_task_start(pool, (unsigned long)fn, data);
	fn(data);
	trace_ants_task_end(pool, (unsigned long)fn, data);
	ants_inline_end(run);
	return true;
}

/* The thread @task has died in what it ran as a submitter. */
void ants_runs_bury(const struct task_struct *task)
{
	struct bucket *bucket = bucket_of(task);
	struct ants_inline *run;
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
		ants_caller_leave(run->pool);
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
	const struct ants_inline *run;
	unsigned long flags;
	bool found = false;

	if (ants_in_pool(pool))
		return true;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_for_each_entry(run, &bucket->runs, node)
		found |= run->runs && run->task == current && run->pool == pool;
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return found;
}
