// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a worker runs. A worker moves itself, between two tasks; no other
 * thread knows when that is. While any worker has a change still to apply, each
 * worker checks for one after its task; otherwise this costs a task nothing.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/sched/isolation.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "internal.h"

/*
 * Since 7.0 cpusets replace these masks, and free the old ones after a grace
 * period.
 */
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
 * Remove the isolated CPUs from @mask, unless no CPU would be left. A CPU
 * isolated from load balancing need not be isolated from kthreads, so both are
 * asked.
 */
void ants_leave_out_isolated(struct cpumask *mask)
{
	leave_out(mask, HK_TYPE_DOMAIN);
	leave_out(mask, HK_TYPE_KTHREAD);
}

/* Set the possible CPUs of @node, online or not; it may have memory only. */
static void set_node_cpus(struct cpumask *cpus, int node)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (node != NUMA_NO_NODE && cpu_to_node(cpu) == node)
			cpumask_set_cpu(cpu, cpus);
	ants_leave_out_isolated(cpus);
}

/* @cpus, if not NULL, has a possible CPU. NULL means those of @node, or all. */
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

/* The CPUs of the pool's place, be they given or chosen. */
struct ants_place *ants_place_with_nice(const struct ants_pool *pool, int nice)
{
	struct ants_place *place = pool->place, *other;

	other = ants_place_alloc(nice, place->any ? NULL : ants_place_cpus(place),
				 pool->node);
	if (other)
		other->given = place->given;
	return other;
}

struct ants_place *ants_place_get(struct ants_pool *pool)
{
	lockdep_assert_held(&pool->lock);
	refcount_inc(&pool->place->users);
	return pool->place;
}

/* Not under a raw lock, for this may free. */
void ants_place_put(struct ants_place *place)
{
	if (place && refcount_dec_and_test(&place->users))
		kfree(place);
}

/*
 * @w has no change to apply any more: it has applied the last one, or it
 * leaves.
 */
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

/* The caller is @w: let it apply the last change when it drops the lock. */
void ants_place_note(struct ants_worker *w, struct ants_kick *kick)
{
	w->place = ants_place_get(w->pool);
	ants_place_forget(w);
	kick->misplaced = w;
	kick->todo |= ANTS_TODO_PLACE;
}

/*
 * Warn once that no CPU of the mask is online. @placement is the change for
 * which that was found.
 */
void ants_place_stranded(struct ants_pool *pool, struct ants_place *place,
			 unsigned int placement)
{
	bool first;

	raw_spin_lock_irq(&pool->lock);
	first = !pool->stranded && pool->placement == placement;
	pool->stranded |= first;
	ants_unlock_irq(pool);
	if (first)
		pr_warn("pool %s: no CPU of cpulist %*pbl is online, threads run on others\n",
			pool->name, cpumask_pr_args(ants_place_cpus(place)));
}

/*
 * Tell the kernel which CPUs the thread of @w, not started yet, prefers. When a
 * cpuset isolates CPUs, or when CPUs come online, the kernel rebinds such
 * kthreads. It accepts this once only, so a mask that is set later is up to the
 * worker.
 */
void ants_place_prefer(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_place *place;

	raw_spin_lock_irq(&pool->lock);
	place = ants_place_get(pool);
	pool->preferred |= !place->any;
	ants_unlock_irq(pool);
	if (!place->any)
		w->preferred = !ants_affine_preferred(w->task,
						      ants_place_cpus(place));
	ants_place_put(place);
}

/* Bind the caller to those of @cpus that are not isolated. */
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

/* A thread that was never bound stays as the kernel created it. */
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
 * Apply the change that ants_place_note() has noted; no lock is held. The
 * caller may be about to park. It must not sleep here in the state for that, so
 * it becomes running again and then checks once more whether it may park.
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
