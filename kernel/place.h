/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where workers run. affine.c is the part of the workers; place.c and hotplug.c
 * are the part of the callers and events that change it.
 */
#ifndef _ANTS_PLACE_H
#define _ANTS_PLACE_H

#include <linux/cpumask.h>
#include <linux/refcount.h>

/**
 * struct ants_place - nice value and CPUs of the workers of a pool
 * @users: the pool, and threads that look at it without the lock
 * @nice: I
 * @any: I: no CPUs were asked for
 * @given: I: @cpus were named one by one; otherwise ants chose them, for a node or
 *	a shard, and a thread leaves out those that are isolated when it takes
 *	them up
 * @cpus: I: a cpumask; with @any all possible CPUs
 */
struct ants_place {
	refcount_t users;
	int nice;
	bool any;
	bool given;
	unsigned long cpus[];
};

static inline struct cpumask *ants_place_cpus(struct ants_place *place)
{
	return to_cpumask(place->cpus);
}

/* Does @w have the last change still to apply? */
static inline bool ants_is_misplaced(const struct ants_worker *w)
{
	return w->placed != w->pool->placement;
}

/* To be called whenever capacity or nr_misplaced has changed. */
static inline void ants_update_calm(struct ants_pool *pool)
{
	pool->calm = pool->nr_misplaced ? 0 : pool->capacity;
}

/* affine.c */
struct ants_place *ants_place_alloc(int nice, const struct cpumask *cpus,
				    int node);
struct ants_place *ants_place_with_nice(const struct ants_pool *pool, int nice);
struct ants_place *ants_place_get(struct ants_pool *pool);
void ants_place_put(struct ants_place *place);
void ants_leave_out_isolated(struct cpumask *mask);
void ants_place_prefer(struct ants_worker *w);
void ants_place_forget(struct ants_worker *w);
void ants_place_note(struct ants_worker *w, struct ants_kick *kick);
void ants_place_take_up(struct ants_worker *w);
void ants_place_stranded(struct ants_pool *pool, struct ants_place *place,
			 unsigned int placement);

/* place.c: with pool->config held, but for ants_misplace() */
int __ants_set_nice(struct ants_pool *pool, int nice);
int __ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask);
void ants_place_change(struct ants_pool *pool, struct ants_place *place);
void ants_misplace(struct ants_pool *pool, struct ants_kick *kick);

/* hotplug.c: CPUs that come and go */
int ants_hotplug_init(void);
void ants_hotplug_exit(void);

#endif /* _ANTS_PLACE_H */
