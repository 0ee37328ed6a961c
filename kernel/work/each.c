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
#define MAX_HELPERS	64U
#define CHUNKS		8UL
/* The most numbers to take at a time. */
#define MAX_CHUNK	1024UL

/**
 * struct each - what the participants of a loop share
 * @next: first number that was not taken
 * @n: I: how many numbers
 * @chunk: I: how many to take at a time
 * @fn: I: what to run for each number
 * @ctx: I: its argument
 * @error: the first error
 */
struct each {
	atomic_long_t next;
	unsigned long n;
	unsigned long chunk;
	ants_each_fn_t fn;
	void *ctx;
	int error;
};

/* A helper. */
struct each_helper {
	struct ants_work work;
	struct each *each;
};

/**
 * struct ants_loop - a loop that has helpers
 * @each: what it shares with them
 * @pool: I: the pool, in which its caller is counted in
 * @outer: T: the loop around it in the same thread of a pool, or NULL
 * @nr: I: number of helpers that were queued
 * @helpers: the helpers
 */
struct ants_loop {
	struct each each;
	struct ants_pool *pool;
	struct ants_loop *outer;
	unsigned int nr;
	struct each_helper helpers[];
};

/* Run the numbers from @i to before @end, until one has failed. */
static void each_chunk(struct each *each, unsigned long i, unsigned long end)
{
	int err;

	for (; i < end && !READ_ONCE(each->error); i++) {
		err = each->fn(i, each->ctx);
		if (unlikely(err)) {
			cmpxchg(&each->error, 0, err);
			return;
		}
		/* A chunk may take for ever, and mostly takes no time. */
		if (unlikely(ants_wants_attention() || ants_holds_out()))
			ants_give_way();
	}
}

/* Take part until no number is left, or one has failed. */
static void each_run(struct each *each)
{
	unsigned long i, end;

	while (!READ_ONCE(each->error)) {
		i = atomic_long_fetch_add(each->chunk, &each->next);
		if (i >= each->n)
			break;
		end = min(each->n, i + each->chunk);
		each_chunk(each, i, end);
	}
}

static int helper_fn(struct ants_work *work)
{
	each_run(container_of(work, struct each_helper, work)->each);
	return 0;
}

/* Lets cancel.c and func.c recognise a helper. */
bool ants_is_helper(const struct ants_work *work)
{
	return work->fn == helper_fn;
}

/* For func.c: the function of the helper *@data, and its argument instead. */
unsigned long ants_helper_func(const void **data)
{
	const struct each_helper *helper = container_of(*data,
							struct each_helper,
							work);

	*data = helper->each->ctx;
	return (unsigned long)helper->each->fn;
}

/*
 * Count the caller in for the whole loop. Return how many helpers to ask for,
 * no more than the pool has room for and a loop of @n has work for, or
 * -ESHUTDOWN or -EIO.
 */
static int each_enter(struct ants_pool *pool, unsigned long n)
{
	struct ants_todo todo;
	int nr;

	ants_lock(pool, &todo);
	nr = ants_closed_error(pool);
	if (!nr) {
		nr = ants_can_admit(pool) ? min(ants_nr_admissible(pool),
						MAX_HELPERS) :
					    0;
		ants_caller_in(pool);
	}
	ants_unlock(pool, &todo);
	return nr > 0 ? min_t(unsigned long, nr, n ? n - 1 : 0) : nr;
}

/* Queue @nr helpers, or as many as the pool has room for. */
static void start_helpers(struct ants_loop *loop, unsigned int nr)
{
	struct each_helper *helper = loop->helpers;

	while (loop->nr < nr) {
		INIT_ANTS_WORK(&helper->work, helper_fn);
		helper->each = &loop->each;
		if (ants_queue_work(loop->pool, &helper->work))
			break;
		loop->nr++;
		helper++;
	}
}

/* Helpers are optional: a loop in memory reclaim does not wait for them. */
static gfp_t helper_gfp(const struct ants_pool *pool)
{
	return READ_ONCE(pool->flags) & ANTS_MEM_RECLAIM ? GFP_NOWAIT :
							   GFP_KERNEL;
}

/*
 * Wait for the helpers that run; the others do not start. Numbers are missing
 * if one of them has died.
 */
static void end_helpers(struct ants_loop *loop)
{
	struct ants_work *work;

	while (loop->nr) {
		work = &loop->helpers[--loop->nr].work;
		if (!ants_work_cancel_sync(work) && work->result == -EFAULT)
			cmpxchg(&loop->each.error, 0, -EFAULT);
	}
}

/* The caller takes part. If it is a task, it may die there. */
static void loop_run(struct ants_loop *loop)
{
	struct ants_worker *w = ants_this_worker();

	if (w) {
		loop->outer = w->estate->loops;
		w->estate->loops = loop;
	}
	each_run(&loop->each);
	if (w)
		w->estate->loops = loop->outer;
}

static struct ants_loop *loop_alloc(struct ants_pool *pool,
				    const struct each *each, unsigned int nr)
{
	struct ants_loop *loop;

	loop = kmalloc(struct_size(loop, helpers, nr),
		       helper_gfp(pool) | __GFP_NOWARN);
	if (!loop)
		return NULL;
	loop->each = *each;
	loop->each.chunk = clamp(each->n / ((nr + 1) * CHUNKS), 1UL, MAX_CHUNK);
	loop->pool = pool;
	loop->nr = 0;
	return loop;
}

static int loop_end(struct ants_loop *loop)
{
	int err;

	end_helpers(loop);
	err = loop->each.error;
	ants_caller_leave(loop->pool);
	kfree(loop);
	return err;
}

/* The thread has died inside of these loops. */
void ants_loops_bury(struct ants_estate *estate)
{
	struct ants_loop *loop;

	while ((loop = estate->loops)) {
		estate->loops = loop->outer;
		cmpxchg(&loop->each.error, 0, -EFAULT);
		loop_end(loop);
	}
}

/* Run the loop in the caller alone, which then does not need the pool. */
static int each_alone(struct ants_pool *pool, struct each *each)
{
	ants_caller_leave(pool);
	each->chunk = MAX_CHUNK;
	each_run(each);
	return each->error;
}

int ants_for_each(struct ants_pool *pool, unsigned long n, ants_each_fn_t fn,
		  void *ctx)
{
	struct each each = { .n = n, .fn = fn, .ctx = ctx };
	struct ants_loop *loop;
	int nr;

	might_sleep();
	if (!fn || n > LONG_MAX)
		return -EINVAL;
	nr = each_enter(pool, n);
	if (nr < 0)
		return nr;
	loop = nr ? loop_alloc(pool, &each, nr) : NULL;
	ants_pause(ANTS_PAUSE_EACH, pool);
	if (!loop)
		return each_alone(pool, &each);
	start_helpers(loop, nr);
	loop_run(loop);
	return loop_end(loop);
}
EXPORT_SYMBOL_GPL(ants_for_each);
