/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What scenarios of threads that die share. Each file that includes this has
 * copies of its own.
 */
#ifndef _SCENARIO_FAULT_H
#define _SCENARIO_FAULT_H

#include <linux/kthread.h>

#include "internal.h"
#include "scenario.h"

/* How often the client was told, and how often a call has given its data back. */
static unsigned int told, released;
/* How many of the next calls of worker_init or worker_exit die. */
static unsigned int doomed;

static inline void fault_fn(struct ants_pool *unused, ants_fn_t fn, void *data)
{
	told++;
}

static inline void die_fn(void *data)
{
	run_fn(data);
	kthread_exit(1);
}

static inline int die_item(struct ants_work *work)
{
	kthread_exit(1);
}

static inline int die_call(void *unused)
{
	kthread_exit(1);
}

static inline void release_data(void *unused)
{
	released++;
}

static inline void die_sometimes(void)
{
	if (!doomed)
		return;
	doomed--;
	kthread_exit(1);
}

static inline void *init_fn(struct ants_pool *unused)
{
	die_sometimes();
	return NULL;
}

static inline void exit_fn(struct ants_pool *unused, void *data)
{
	die_sometimes();
}

static inline void faults_begin(const struct ants_attrs *attrs)
{
	struct ants_attrs own = *attrs;

	told = 0;
	released = 0;
	doomed = 0;
	own.fault = fault_fn;
	tasks_begin(&own);
}

/* How many there have been. The pool may be told of them only later. */
static inline unsigned int nr_faults(void)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats.faults;
}

/* The pool works as before, and was told of @nr faults. */
static inline void end(unsigned int nr, unsigned int lost)
{
	struct ants_stats stats;

	explore_join();
	WARN(submit(7), "a pool is of no use after a fault");
	WARN_ON(ants_flush(pool));
	ants_pool_stats(pool, &stats);
	WARN(stats.lost != lost, "%llu lost, not %u", stats.lost, lost);
	WARN(stats.completed + stats.cancelled + stats.lost != stats.submitted,
	     "%llu + %llu + %llu of %llu", stats.completed, stats.cancelled,
	     stats.lost, stats.submitted);
	tasks_drain();
	WARN(nr_faults() != nr, "%u faults, not %u", nr_faults(), nr);
	WARN(told != nr, "told %u times, not %u", told, nr);
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

static inline int flush_fn(void *unused)
{
	WARN_ON(ants_flush(pool));
	return 0;
}

static inline int reboot_fn(void *unused)
{
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	WARN_ON(ants_reboot(pool));
	return 0;
}

#endif
