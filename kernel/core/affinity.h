/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where workers run. affinity.c is the part of the workers; tune.c is the part
 * of the callers and events that change it.
 */
#ifndef _ANTS_AFFINITY_H
#define _ANTS_AFFINITY_H

#include <linux/cpumask.h>
#include <linux/refcount.h>

#include "pool.h"

struct ants_change;
struct ants_todo;

/**
 * struct ants_affinity - nice value, policy and CPUs of the workers of a pool
 * @users: the pool, and threads that look at it without the lock
 * @nice: I
 * @sched: I
 * @unbound: I: no CPUs were asked for
 * @explicit: I: @cpus were named one by one; otherwise ants chose them, for a node or
 *	a shard, and a thread leaves out those that are isolated when it takes
 *	them up
 * @cpus: I: a cpumask; with @unbound all possible CPUs
 */
struct ants_affinity {
	refcount_t users;
	int nice;
	enum ants_sched sched;
	bool unbound;
	bool explicit;
	unsigned long cpus[];
};

static inline struct cpumask *ants_affinity_cpus(struct ants_affinity *affinity)
{
	return to_cpumask(affinity->cpus);
}

/* Does @w have the last change still to apply? */
static inline bool ants_affinity_is_stale(const struct ants_worker *w)
{
	return w->affinity_seq != w->pool->target.seq;
}

/* To be called whenever capacity, nr_stale or tripped has changed. */
static inline void ants_update_stay_limit(struct ants_pool *pool)
{
	pool->limits.stay = pool->target.nr_stale || pool->faults.tripped ?
			    0 : pool->limits.capacity;
	ants_end_fast_path(pool);
}

/* affinity.c */
int ants_check_sched(const struct ants_attrs *attrs);
struct ants_affinity *ants_affinity_alloc(const struct ants_pool *pool,
					  const struct ants_attrs *attrs, bool explicit);
struct ants_affinity *ants_affinity_with(const struct ants_pool *pool,
					 const struct ants_change *change);
struct ants_affinity *ants_affinity_get(struct ants_pool *pool);
void ants_affinity_put(struct ants_affinity *affinity);
void ants_leave_out_isolated(struct cpumask *mask);
void ants_affinity_clear_stale(struct ants_worker *w);
void ants_affinity_note(struct ants_worker *w, struct ants_todo *todo);
void ants_affinity_apply(struct ants_worker *w);

/* tune.c: with pool->config.lock held */
void ants_affinity_change(struct ants_pool *pool,
			  struct ants_affinity *affinity);

/* tune.c: CPUs that come and go */
int ants_hotplug_init(void);
void ants_hotplug_exit(void);

#endif /* _ANTS_AFFINITY_H */
