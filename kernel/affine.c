// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a worker runs. It moves itself, between two tasks: nobody else knows
 * when it has none. While some worker has a change still to take up the pool is
 * not calm, and each looks closer; else none of this is on a task's way.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "internal.h"

/* CPUs of @node, or none if it has only memory. Those to come count, too. */
static void set_node_cpus(struct cpumask *cpus, int node)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (node != NUMA_NO_NODE && cpu_to_node(cpu) == node)
			cpumask_set_cpu(cpu, cpus);
}

/* @cpus: some of them are possible; NULL for those of @node, or all. */
struct ants_place *ants_place_alloc(int nice, const struct cpumask *cpus,
				    int node)
{
	struct ants_place *place = kzalloc(sizeof(*place) + cpumask_size(),
					   GFP_KERNEL);
	struct cpumask *mask;

	if (!place)
		return NULL;
	refcount_set(&place->users, 1);
	place->nice = nice;
	mask = ants_place_cpus(place);
	if (cpus)
		cpumask_and(mask, cpus, cpu_possible_mask);
	else
		set_node_cpus(mask, node);
	place->any = cpumask_empty(mask);
	if (place->any)
		cpumask_copy(mask, cpu_possible_mask);
	return place;
}

struct ants_place *ants_place_get(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	refcount_inc(&pool->place->users);
	return pool->place;
}

/* Not under a raw lock: it frees. */
void ants_place_put(struct ants_place *place)
{
	if (place && refcount_dec_and_test(&place->users))
		kfree(place);
}

/* @w needs to take up nothing any more, be it that it has or that it leaves. */
void ants_place_forget(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;

	lockdep_assert_held(&pool->lock);
	if (!ants_is_misplaced(w))
		return;
	w->placed = pool->placement;
	pool->nr_misplaced--;
	ants_update_calm(pool);
}

/* The caller is @w: it takes up the last change when it drops the lock. */
void ants_place_note(struct ants_worker *w, struct ants_kick *kick)
{
	w->place = ants_place_get(w->pool);
	ants_place_forget(w);
	kick->misplaced = w;
	kick->todo |= ANTS_TODO_PLACE;
}

/* Says once that the mask is of no use. @placement: when that was found. */
void ants_place_stranded(struct ants_pool *pool, struct ants_place *place,
			 unsigned int placement)
{
	bool first;

	raw_spin_lock_irq(&pool->lock);
	first = !pool->stranded && pool->placement == placement;
	pool->stranded |= first;
	raw_spin_unlock_irq(&pool->lock);
	if (first)
		pr_warn("pool %s: no CPU of cpulist %*pbl is online, threads run on all\n",
			pool->name, cpumask_pr_args(ants_place_cpus(place)));
}

/* A thread that was never bound is left as the kernel made it. */
static void take_up_cpus(struct ants_worker *w, struct ants_place *place)
{
	const struct cpumask *cpus = ants_place_cpus(place);

	if (place->any && !w->bound)
		return;
	if (place->any)
		cpus = housekeeping_cpumask(HK_TYPE_KTHREAD);
	w->bound = !place->any;
	if (!set_cpus_allowed_ptr(current, cpus))
		return;
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	ants_place_stranded(w->pool, place, w->placed);
}

/*
 * What ants_place_note() promised, no lock held. A worker on its way to park
 * may not sleep here in that state; it looks once more instead.
 */
void ants_place_take_up(struct ants_worker *w)
{
	struct ants_place *place = w->place;

	__set_current_state(TASK_RUNNING);
	set_user_nice(current, place->nice);
	take_up_cpus(w, place);
	w->place = NULL;
	ants_place_put(place);
}
