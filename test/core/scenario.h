/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What scenarios of plain tasks share: a pool, and tasks that count their runs.
 * Each file that includes this has copies of its own.
 */
#ifndef _SCENARIO_H
#define _SCENARIO_H

#include "explore.h"

#define MAX_TASKS	8

static struct ants_pool *pool;
static unsigned int runs[MAX_TASKS];
/* How often each task has to run. */
static unsigned int accepted[MAX_TASKS];

static inline void run_fn(void *data)
{
	(*(unsigned int *)data)++;
}

/* Without a pool. */
static inline void tasks_prepare(void)
{
	memset(runs, 0, sizeof(runs));
	memset(accepted, 0, sizeof(accepted));
	core_begin();
}

static inline void tasks_begin(const struct ants_attrs *attrs)
{
	tasks_prepare();
	pool = explore_pool(attrs);
}

static inline bool has_run(void *nr)
{
	return READ_ONCE(*(unsigned int *)nr);
}

static inline bool all_ran(void *unused)
{
	return !memcmp(runs, accepted, sizeof(runs));
}

/* To be called when the pool is gone. */
static inline void tasks_end(void)
{
	unsigned int i;

	for (i = 0; i < MAX_TASKS; i++)
		WARN(runs[i] != accepted[i], "task %u ran %u times, not %u", i,
		     runs[i], accepted[i]);
	core_end();
}

/* All tasks run before the pool is closed, which would wake every sleeper. */
static inline void tasks_drain(void)
{
	explore_join();
	shim_wait_until(all_ran, NULL);
	explore_end();
	explore_note(pool);
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
}

/* Destroy the pool while callers are inside. */
static inline void tasks_destroy(void)
{
	WARN_ON(ants_pool_destroy(pool));
	explore_join();
	explore_end();
	tasks_end();
}

/* Returns the error; the scenario knows which errors may occur. */
static inline int submit_fn(ants_fn_t fn, unsigned int i)
{
	int err = ants_submit(pool, fn, &runs[i]);

	accepted[i] += !err;
	return err;
}

static inline int submit(unsigned int i)
{
	return submit_fn(run_fn, i);
}

/*
 * Calls to start; for submits, with the number of the task, or of the first of
 * two.
 */

static inline int submit_one(void *data)
{
	int err = submit((unsigned long)data);

	WARN(err && err != -ESHUTDOWN, "error %d", err);
	return 0;
}

static inline int submit_two(void *data)
{
	unsigned int i = (unsigned long)data;
	int err = submit(i) ?: submit(i + 1);

	WARN(err && err != -ESHUTDOWN, "error %d", err);
	return 0;
}

static inline int tune_fn(void *capacity)
{
	WARN_ON(ants_tune(pool, (unsigned long)capacity));
	return 0;
}

/* Two workers are, or have just been, idle when the capacity falls to one. */
static inline void tune_idle(void)
{
	WARN_ON(submit(4) || submit(5) || ants_flush(pool));
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_one, (void *)2, "b");
	explore_call(tune_fn, (void *)1, "tune");
}

static inline int release_fn(void *unused)
{
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	return 0;
}

#endif
