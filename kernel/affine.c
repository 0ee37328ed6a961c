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

/* From 7.0 on cpusets replace these masks, and free them after a grace period. */
static void leave_out(struct cpumask *mask, enum hk_type type)
{
	const struct cpumask *housekeeping;

	rcu_read_lock();
	housekeeping = housekeeping_cpumask(type);
	if (cpumask_intersects(mask, housekeeping))
		cpumask_and(mask, mask, housekeeping);
	rcu_read_unlock();
}

/*
 * Leaves out of @mask the CPUs that are isolated, unless it has no others. Those
 * that are isolated from load balancing are not always so from kthreads.
 */
void ants_leave_out_isolated(struct cpumask *mask)
{
	leave_out(mask, HK_TYPE_DOMAIN);
	leave_out(mask, HK_TYPE_KTHREAD);
}

/* CPUs of @node, or none if it has only memory. Those to come count, too. */
static void set_node_cpus(struct cpumask *cpus, int node)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (node != NUMA_NO_NODE && cpu_to_node(cpu) == node)
			cpumask_set_cpu(cpu, cpus);
	ants_leave_out_isolated(cpus);
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
	place->given = cpus;
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
		pr_warn("pool %s: no CPU of cpulist %*pbl is online, threads run on others\n",
			pool->name, cpumask_pr_args(ants_place_cpus(place)));
}

/*
 * Tells the kernel about the thread of @w, which was not started yet: when a
 * cpuset isolates CPUs later, or when CPUs come, the kernel binds its kthreads
 * anew. It can be told once; a mask that is set later is the worker's own affair.
 */
void ants_place_prefer(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_place *place;

	raw_spin_lock_irq(&pool->lock);
	place = ants_place_get(pool);
	pool->preferred |= !place->any;
	raw_spin_unlock_irq(&pool->lock);
	if (!place->any)
		w->preferred = !ants_affine_preferred(w->task,
						      ants_place_cpus(place));
	ants_place_put(place);
}

/* Binds the caller to those of @cpus that are not isolated. */
static int bind_unisolated(const struct cpumask *cpus)
{
	cpumask_var_t mask;
	int err;

	/* Memory reclaim may wait for a task of this worker. */
	if (!alloc_cpumask_var(&mask, GFP_NOIO | __GFP_NOWARN))
		return -ENOMEM;
	cpumask_copy(mask, cpus);
	ants_leave_out_isolated(mask);
	err = set_cpus_allowed_ptr(current, mask);
	free_cpumask_var(mask);
	return err;
}

static int bind_to(struct ants_place *place)
{
	const struct cpumask *cpus = ants_place_cpus(place);

	return place->given ? set_cpus_allowed_ptr(current, cpus) :
			      bind_unisolated(cpus);
}

/* A thread that was never bound is left as the kernel made it. */
static void take_up_cpus(struct ants_worker *w, struct ants_place *place)
{
	if (place->any && !w->bound && !w->preferred)
		return;
	w->bound = !place->any;
	if (!bind_to(place))
		return;
	if (bind_unisolated(cpu_possible_mask))
		set_cpus_allowed_ptr(current, cpu_possible_mask);
	if (!place->any)
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
