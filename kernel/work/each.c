// SPDX-License-Identifier: GPL-2.0-only
/*
 * A loop that a pool takes part in. The caller and some helpers, which are
 * tasks of the pool, take numbers from one counter, a chunk at a time. The
 * caller never waits for a helper that has not started: it cancels it.
 *
 * If the caller is a task, it may die in the loop, and the helpers with it. So
 * what they share is not on the stack of the caller.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "../internal.h"

/* The most helpers, and the number of chunks for each participant. */
#define MAX_HELPERS	64UL
#define CHUNKS		8UL
/* The most numbers to take at a time. */
#define MAX_CHUNK	1024UL

/* A helper. */
struct each_helper {
	struct ants_own_work own;
	struct ants_loop *loop;
};

/**
 * struct ants_loop - a loop, as its caller and its helpers share it
 * @next: first number that was not taken
 * @n: I: how many numbers
 * @chunk: I: how many to take at a time
 * @fn: I: what to run for each number
 * @ctx: I: its argument
 * @error: the first error
 * @pool: I: the pool, to which the caller of a loop with helpers holds a reference
 * @outer: T: the loop around it in the same thread of a pool, or NULL
 * @nr: I: number of helpers that were queued
 * @helpers: the helpers
 */
struct ants_loop {
	atomic_long_t next;
	unsigned long n;
	unsigned long chunk;
	ants_each_fn_t fn;
	void *ctx;
	int error;
	struct ants_pool *pool;
	struct ants_loop *outer;
	unsigned int nr;
	struct each_helper helpers[];
};

/* Take part until no number is left, or one has failed. */
static void each_run(struct ants_loop *loop)
{
	unsigned long i, end;
	int err;

	while (!READ_ONCE(loop->error)) {
		i = atomic_long_fetch_add(loop->chunk, &loop->next);
		if (i >= loop->n)
			return;
		end = min(loop->n, i + loop->chunk);
		for (; i < end && !READ_ONCE(loop->error); i++) {
			err = loop->fn(i, loop->ctx);
			if (unlikely(err)) {
				cmpxchg(&loop->error, 0, err);
				return;
			}
			/* A chunk may take for ever, and mostly takes no time. */
			if (unlikely(ants_wants_attention() || ants_holds_out()))
				ants_give_way();
		}
	}
}

static int helper_fn(struct ants_work *work)
{
	each_run(container_of(work, struct each_helper, own.work)->loop);
	return 0;
}

/*
 * Queue @nr helpers, or as many as the pool has room for, and take part. If the
 * caller is a task, it may die there.
 */
static void loop_run(struct ants_loop *loop, unsigned int nr)
{
	struct each_helper *helper = loop->helpers;
	struct ants_worker *w = ants_this_worker();

	for (; loop->nr < nr; loop->nr++, helper++) {
		*helper = (struct each_helper){
			.own.run = helper_fn,
			.own.data = loop->ctx,
			.loop = loop,
		};
		INIT_ANTS_WORK(&helper->own.work, (void *)loop->fn);
		helper->own.work.flags = ANTS_WORK_OWN;
		if (ants_queue_work(loop->pool, &helper->own.work))
			break;
	}
	if (w) {
		loop->outer = w->loops;
		w->loops = loop;
	}
	each_run(loop);
	if (w)
		w->loops = loop->outer;
}

/*
 * Wait for the helpers that run; the others do not start. Numbers are missing
 * if one of them has died.
 */
static int loop_end(struct ants_loop *loop)
{
	struct ants_work *work;
	int err;

	while (loop->nr) {
		work = &loop->helpers[--loop->nr].own.work;
		if (!ants_work_cancel_sync(work) && work->result == -EFAULT)
			cmpxchg(&loop->error, 0, -EFAULT);
	}
	err = loop->error;
	ants_pool_put(loop->pool);
	kfree(loop);
	return err;
}

/* The thread has died inside of these loops. */
void ants_loops_abort(struct ants_worker *w)
{
	struct ants_loop *loop;

	while ((loop = w->loops)) {
		w->loops = loop->outer;
		cmpxchg(&loop->error, 0, -EFAULT);
		loop_end(loop);
	}
}

int ants_for_each(struct ants_pool *pool, unsigned long n, ants_each_fn_t fn,
		  void *ctx)
{
	struct ants_loop alone = {
		.n = n, .chunk = MAX_CHUNK, .fn = fn, .ctx = ctx, .pool = pool,
	};
	struct ants_loop *loop = NULL;
	struct ants_todo todo;
	unsigned long nr;
	gfp_t gfp;
	int err;

	might_sleep();
	if (!fn || n > LONG_MAX)
		return -EINVAL;
	/* Hold a reference to the pool for the whole loop. */
	ants_lock(pool, &todo);
	err = ants_closed_error(pool);
	nr = ants_can_admit(pool) ? ants_nr_admissible(pool) : 0;
	if (!err)
		ants_pool_get_locked(pool);
	ants_unlock(pool, &todo);
	if (err)
		return err;
	/* No more helpers than the pool has room for, and the loop has work for. */
	nr = min3(n ? n - 1 : 0UL, nr, MAX_HELPERS);
	/* Helpers are optional: a loop in memory reclaim does not wait for them. */
	gfp = READ_ONCE(pool->flags) & ANTS_MEM_RECLAIM ? GFP_NOWAIT : GFP_KERNEL;
	if (nr)
		loop = kmalloc(struct_size(loop, helpers, nr), gfp | __GFP_NOWARN);
	ants_pause(ANTS_PAUSE_EACH, pool);
	if (!loop) {
		/* The caller alone does not need the pool. */
		ants_pool_put(pool);
		each_run(&alone);
		return alone.error;
	}
	*loop = alone;
	loop->chunk = clamp(n / ((nr + 1) * CHUNKS), 1UL, MAX_CHUNK);
	loop_run(loop, nr);
	return loop_end(loop);
}
EXPORT_SYMBOL_GPL(ants_for_each);
