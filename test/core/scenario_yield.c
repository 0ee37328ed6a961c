// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of tasks after which the CPU wants another thread. The only worker of a
 * pool yields before such a task counts as finished if it has more to do, and else
 * as it parks.
 */
#include "internal.h"
#include "scenario.h"

static const struct ants_attrs one = { .capacity = 1, .queue_depth = 2 };

static struct completion both;

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

static void end(void)
{
	tasks_drain();
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

static void yield_parked(void)
{
	tasks_begin(&one);
	shim_nr_resched = 0;
	explore_begin();
	explore_call(ask_one, (void *)0, "a");
	end();
	WARN(shim_nr_resched, "a worker that is about to park has yielded before");
}

static void yield_busy(void)
{
	tasks_begin(&one);
	shim_nr_resched = 0;
	init_completion(&both);
	explore_begin();
	WARN_ON(submit_fn(ask_later_fn, 0));
	WARN_ON(submit_fn(run_fn, 1));
	complete(&both);
	end();
	WARN(shim_nr_resched != 1, "a worker with more to do has yielded %u times",
	     shim_nr_resched);
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
	shim_nr_resched = 0;
	INIT_ANTS_WORK(&work, again_fn);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &work));
	accepted[0] = 3;
	WARN_ON(ants_work_wait(&work, NULL));
	end();
	WARN(shim_nr_resched != 2, "an item that goes on has yielded %u times",
	     shim_nr_resched);
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
	{ "yield-busy", yield_busy },
	{ "yield-again", yield_again },
	{ "yield-several", yield_several },
	{ "yield-release", yield_release },
	{}
};
