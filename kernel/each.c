// SPDX-License-Identifier: GPL-2.0-only
/*
 * A loop that a pool takes part in. The caller and some helpers, which are
 * tasks of the pool, take numbers from one counter, a chunk at a time. The
 * caller never waits for a helper that has not started: it cancels it.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "internal.h"

/* The most helpers, and the number of chunks for each participant. */
#define MAX_HELPERS	64U
#define CHUNKS		8UL
/* The most numbers between two points where the CPU can be rescheduled. */
#define MAX_CHUNK	1024UL

/**
 * struct each - a loop, on the caller's stack
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
		cond_resched();
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
 * -ESHUTDOWN.
 */
static int each_enter(struct ants_pool *pool, unsigned long n)
{
	struct ants_todo todo;
	int nr = -ESHUTDOWN;

	ants_lock(pool, &todo);
	if (!pool->released) {
		nr = ants_can_admit(pool) ? min(ants_nr_admissible(pool),
						MAX_HELPERS) :
					    0;
		ants_caller_in(pool);
	}
	ants_unlock(pool, &todo);
	return nr > 0 ? min_t(unsigned long, nr, n ? n - 1 : 0) : nr;
}

/* Queue helpers as long as the pool has room. Return how many were queued. */
static unsigned int start_helpers(struct ants_pool *pool, struct each *each,
				  struct each_helper *helpers, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		INIT_ANTS_WORK(&helpers[i].work, helper_fn);
		helpers[i].each = each;
		if (ants_queue_work(pool, &helpers[i].work))
			break;
	}
	return i;
}

/* Helpers are optional: a loop in memory reclaim does not wait for them. */
static gfp_t helper_gfp(const struct ants_pool *pool)
{
	return READ_ONCE(pool->flags) & ANTS_MEM_RECLAIM ? GFP_NOWAIT :
							   GFP_KERNEL;
}

/* Run the loop with up to @nr helpers. */
static void each_all(struct ants_pool *pool, struct each *each, unsigned int nr)
{
	struct each_helper *helpers = NULL;

	if (nr)
		helpers = kmalloc_array(nr, sizeof(*helpers),
					helper_gfp(pool) | __GFP_NOWARN);
	ants_pause(ANTS_PAUSE_EACH, pool);
	each->chunk = clamp(each->n / ((nr + 1) * CHUNKS), 1UL, MAX_CHUNK);
	nr = helpers ? start_helpers(pool, each, helpers, nr) : 0;
	each_run(each);
	while (nr--)
		ants_work_cancel_sync(&helpers[nr].work);
	kfree(helpers);
}

int ants_for_each(struct ants_pool *pool, unsigned long n, ants_each_fn_t fn,
		  void *ctx)
{
	struct each each = { .n = n, .fn = fn, .ctx = ctx };
	DEFINE_ANTS_VISIT(visit);
	int nr;

	ants_visit_begin(&visit, pool);
	might_sleep();
	if (!fn || n > LONG_MAX)
		return -EINVAL;
	nr = each_enter(pool, n);
	if (nr < 0)
		return nr;
	each_all(pool, &each, nr);
	ants_caller_leave(pool);
	return each.error;
}
EXPORT_SYMBOL_GPL(ants_for_each);
