// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of tasks after which the CPU wants another thread. A worker yields before
 * such a task counts as finished, while the pool is full; but if one task fills the
 * pool and no other one is there, then as it parks, when there is room.
 */
#include "internal.h"
#include "scenario.h"

static const struct ants_attrs one = { .capacity = 1 };
static const struct ants_attrs queue = { .capacity = 1, .queue_depth = 2 };
static const struct ants_attrs two = { .capacity = 2 };

static struct completion both;
/* How often a worker has yielded, and how often of those its task still counted. */
static unsigned int nr_yields, nr_busy_yields;

static void note_yield(void)
{
	nr_yields++;
	nr_busy_yields += pool->nr_busy;
}

static void count_yields(void)
{
	nr_yields = 0;
	nr_busy_yields = 0;
	shim_on_resched = note_yield;
}

/* A submitter that it has woken wants the CPU. */
static void ask_fn(void *data)
{
	set_tsk_need_resched(current);
	run_fn(data);
}

static void ask_later_fn(void *data)
{
	wait_for_completion(&both);
	ask_fn(data);
}

static int ask_one(void *data)
{
	WARN_ON(submit_fn(ask_fn, (unsigned long)data));
	return 0;
}

/* The second task is pending, or its submitter waits. */
static bool is_there(void *unused)
{
	return pool->nr_pending + pool->space.nr_waiting == 1 && pool->nr_busy == 1;
}

static void end(void)
{
	tasks_drain();
	shim_on_resched = NULL;
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

static bool has_yielded(void *unused)
{
	return nr_yields;
}

/* One task asks, and nothing else is there. */
static void one_asks(const struct ants_attrs *attrs)
{
	tasks_begin(attrs);
	count_yields();
	explore_begin();
	explore_call(ask_one, (void *)0, "a");
	/* Otherwise it may leave instead of parking. */
	shim_wait_until(has_yielded, NULL);
	end();
	WARN(nr_yields != 1, "a worker has yielded %u times", nr_yields);
}

static void yield_parked(void)
{
	one_asks(&one);
	WARN(nr_busy_yields, "a worker has yielded before there was room");
}

static void yield_queue(void)
{
	one_asks(&queue);
	WARN(!nr_busy_yields, "a worker has yielded late");
}

static void yield_two(void)
{
	one_asks(&two);
	WARN(!nr_busy_yields, "a worker of two has yielded late");
}

/* Another one is pending, or its submitter waits: then it is busy as it yields. */
static void other_comes(const struct ants_attrs *attrs)
{
	tasks_begin(attrs);
	count_yields();
	init_completion(&both);
	explore_begin();
	WARN_ON(submit_fn(ask_later_fn, 0));
	explore_call(submit_one, (void *)1, "b");
	shim_wait_until(is_there, NULL);
	complete(&both);
	end();
	WARN(nr_yields != 1 || !nr_busy_yields,
	     "a worker with more to do has yielded %u times", nr_yields);
}

static void yield_pending(void)
{
	other_comes(&queue);
}

static void yield_waiter(void)
{
	other_comes(&one);
}

static int again_fn(struct ants_work *work)
{
	set_tsk_need_resched(current);
	if (++runs[0] < 3)
		WARN_ON(ants_queue_work(pool, work));
	return 0;
}

static void yield_again(void)
{
	struct ants_work work;

	tasks_begin(&one);
	count_yields();
	INIT_ANTS_WORK(&work, again_fn);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &work));
	accepted[0] = 3;
	WARN_ON(ants_work_wait(&work, NULL));
	end();
	WARN(nr_yields != 3 || nr_busy_yields != 2,
	     "an item that goes on has yielded %u times", nr_yields);
}

/* Tasks come while the worker that parks is awake. */
static void yield_several(void)
{
	tasks_begin(&one);
	explore_begin();
	explore_call(ask_one, (void *)0, "a");
	explore_call(ask_one, (void *)1, "b");
	explore_call(submit_one, (void *)2, "c");
	end();
}

static int set_nice(void *unused)
{
	WARN_ON(ants_set_nice(pool, 5));
	return 0;
}

static bool all_changed(void *unused)
{
	return !pool->target.nr_stale;
}

/* The change may come while the worker has parked and is awake: then it wakes nobody. */
static void yield_nice(void)
{
	tasks_begin(&one);
	count_yields();
	explore_begin();
	explore_call(ask_one, (void *)0, "a");
	shim_wait_until(has_yielded, NULL);
	explore_call(set_nice, NULL, "nice");
	explore_join();
	shim_wait_until(all_changed, NULL);
	end();
}

static void yield_release(void)
{
	tasks_begin(&one);
	explore_begin();
	explore_call(ask_one, (void *)0, "a");
	shim_wait_until(has_run, &runs[0]);
	tasks_destroy();
}

const struct scenario scenarios_yield[] = {
	{ "yield-parked", yield_parked },
	{ "yield-queue", yield_queue },
	{ "yield-two", yield_two },
	{ "yield-pending", yield_pending },
	{ "yield-waiter", yield_waiter },
	{ "yield-again", yield_again },
	{ "yield-several", yield_several },
	{ "yield-nice", yield_nice },
	{ "yield-release", yield_release },
	{}
};
