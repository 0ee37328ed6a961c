// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that run in their submitters. While one runs, a record on its caller's
 * stack says so. If the task then finds its own pool full, it must not run
 * another one inside itself, whether it runs in a thread of the pool or in a
 * submitter.
 */
#include <linux/hash.h>
#include <linux/sched.h>

#include "internal.h"

#define BUCKET_BITS	5

/**
 * struct inline_run - a caller that runs a task itself
 * @node: in a bucket
 * @task: I: the caller
 * @pool: I: the pool of the task
 */
struct inline_run {
	struct hlist_node node;
	struct task_struct *task;
	const struct ants_pool *pool;
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

static struct bucket *own_bucket(void)
{
	return &buckets[hash_ptr(current, BUCKET_BITS)];
}

/* Run a task of @pool in the caller, which is counted in. */
void ants_run_here(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	struct inline_run run = { .task = current, .pool = pool };
	struct bucket *bucket = own_bucket();

	raw_spin_lock_irq(&bucket->lock);
	hlist_add_head(&run.node, &bucket->runs);
	raw_spin_unlock_irq(&bucket->lock);
	trace_ants_task_start(pool, (unsigned long)fn, data);
	fn(data);
	trace_ants_task_end(pool, (unsigned long)fn, data);
	raw_spin_lock_irq(&bucket->lock);
	hlist_del(&run.node);
	raw_spin_unlock_irq(&bucket->lock);
}

/*
 * Does the caller run a task of @pool, in a thread of the pool or by itself?
 * May be called with the lock of the pool held.
 */
bool ants_runs_task_of(struct ants_pool *pool)
{
	struct bucket *bucket = own_bucket();
	const struct inline_run *run;
	unsigned long flags;
	bool found = false;

	if (ants_in_task_of(pool))
		return true;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_for_each_entry(run, &bucket->runs, node)
		found |= run->task == current && run->pool == pool;
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return found;
}
