// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of wake-ups: several in flight at once, and late ones; and of the
 * makers of threads.
 */
#include "internal.h"
#include "scenario.h"

/* An empty pool has nothing in flight. */
static void end(void)
{
	tasks_drain();
	WARN(pool->wakes.nr || pool->workers.nr_starting || pool->workers.nr_late ||
	     pool->wakes.waking_cpus || pool->wakes.arrived,
	     "something is in flight in an empty pool");
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

/* When an earlier wake-up is late, and perhaps not noticed yet. */
static int submit_later(void *data)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(ANTS_LATE_TICKS);
	return submit_two(data);
}

static const struct ants_attrs warm = {
	.capacity = 3, .queue_depth = 1, .min_workers = 3,
};

/* Workers are idle: two submitters wake them at the same time. */
static void wake_several(void)
{
	tasks_begin(&warm);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_two, (void *)2, "b");
	end();
}

/* Each worker that arrives wakes the next one. */
static int submit_batch(void *unused)
{
	const struct ants_task tasks[] = {
		{ run_fn, &runs[0] }, { run_fn, &runs[1] },
		{ run_fn, &runs[2] }, { run_fn, &runs[3] },
	};
	int i, ret = ants_submit_batch(pool, tasks, ARRAY_SIZE(tasks));

	WARN(ret != ARRAY_SIZE(tasks), "result %d", ret);
	for (i = 0; i < ret; i++)
		accepted[i] = 1;
	return 0;
}

static void wake_batch(void)
{
	tasks_begin(&warm);
	explore_begin();
	explore_call(submit_batch, NULL, "a");
	explore_call(submit_one, (void *)4, "b");
	end();
}

/* A worker is idle on each CPU, and so each caller has one of its own. */
static void wake_callers(void)
{
	const struct ants_attrs four = {
		.capacity = 4, .queue_depth = 1, .min_workers = 4,
	};

	tasks_begin(&four);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_one, (void *)2, "b");
	explore_call(submit_later, (void *)3, "later");
	end();
}

/* A worker is idle beside a thread that starts. */
static void start_beside(void)
{
	const struct ants_attrs one = {
		.capacity = 2, .queue_depth = 1, .min_workers = 1,
	};

	tasks_begin(&one);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_two, (void *)2, "b");
	end();
}

/*
 * A submitter gives up late wake-ups, or the timer does; then the workers come.
 */
static void late_woken(void)
{
	const struct ants_attrs two = {
		.capacity = 2, .queue_depth = 4, .min_workers = 2,
	};

	tasks_begin(&two);
	explore_begin();
	explore_call(submit_later, (void *)0, "later");
	explore_call(submit_one, (void *)2, "a");
	end();
}

static void late_started(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 2, .queue_depth = 4 });
	explore_begin();
	explore_call(submit_later, (void *)0, "later");
	explore_call(submit_two, (void *)2, "a");
	end();
}

static bool all_idle(void *unused)
{
	return pool->workers.nr_idle == warm.min_workers;
}

/*
 * A wake-up is late at once, in the same section, whose list has room for one.
 */
static void late_batch(void)
{
	tasks_begin(&warm);
	shim_wait_until(all_idle, NULL);
	ants_late_arm(0);
	explore_begin();
	explore_call(submit_batch, NULL, "a");
	explore_call(submit_one, (void *)4, "b");
	end();
	ants_late_arm(ANTS_LATE_TICKS);
}

static void wake_tune(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 3, .min_workers = 1 });
	tune_idle();
	end();
}

static void wake_release(void)
{
	tasks_begin(&warm);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_one, (void *)2, "b");
	explore_call(release_fn, NULL, "release");
	end();
}

/* The threads get ready side by side. */
static void *init_fn(struct ants_pool *unused)
{
	return NULL;
}

static const struct ants_attrs cold = {
	.capacity = 3, .queue_depth = 1, .worker_init = init_fn,
};

static void fail_twice(enum ants_fail_point point)
{
	tasks_begin(&cold);
	ants_fail_arm(point, 2);
	explore_begin();
	explore_call(submit_batch, NULL, "a");
	end();
}

/* Making a thread fails twice in a row. */
static void makers_fail(void)
{
	fail_twice(ANTS_FAIL_THREAD);
}

/* There is no memory for a maker, twice. */
static void makers_memory(void)
{
	fail_twice(ANTS_FAIL_WORKER);
}

static void makers_tune(void)
{
	tasks_begin(&cold);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(tune_fn, (void *)1, "tune");
	end();
}

static void makers_release(void)
{
	tasks_begin(&cold);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(release_fn, NULL, "release");
	end();
}

/* From now on the maker of the calling thread waits for all other threads. */
static void *lag_init(struct ants_pool *unused)
{
	explore_lag(current->parent);
	return NULL;
}

static const struct ants_attrs lagging = {
	.capacity = 3, .queue_depth = 1, .worker_init = lag_init,
};

/* A thread that gets ready is not in flight: the next one is made beside it. */
static void makers_init(void)
{
	tasks_begin(&lagging);
	explore_begin();
	explore_call(submit_batch, NULL, "a");
	explore_call(submit_one, (void *)4, "b");
	end();
}

/*
 * The tasks have ended, and the threads are gone, before a maker returns.
 */
static void makers_quiet(void)
{
	tasks_begin(&lagging);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	shim_wait_until(has_run, &runs[1]);
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	end();
}

static void makers_destroy(void)
{
	tasks_begin(&lagging);
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	shim_wait_until(has_run, &runs[1]);
	tasks_destroy();
}

const struct scenario scenarios_wake[] = {
	{ "wake-several", wake_several },
	{ "wake-batch", wake_batch },
	{ "wake-callers", wake_callers },
	{ "start-beside", start_beside },
	{ "late-woken", late_woken },
	{ "late-started", late_started },
	{ "late-batch", late_batch },
	{ "wake-tune", wake_tune },
	{ "wake-release", wake_release },
	{ "makers-fail", makers_fail },
	{ "makers-memory", makers_memory },
	{ "makers-tune", makers_tune },
	{ "makers-release", makers_release },
	{ "makers-init", makers_init },
	{ "makers-quiet", makers_quiet },
	{ "makers-destroy", makers_destroy },
	{}
};
