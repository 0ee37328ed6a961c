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

#include "../internal.h"

/*
 * Remove the isolated CPUs from @mask, unless no CPU would be left. A CPU
 * isolated from load balancing need not be isolated from kthreads, so both are
 * asked. Since 7.0 cpusets replace these masks, and free the old ones after a
 * grace period.
 */
void ants_leave_out_isolated(struct cpumask *mask)
{
	static const enum hk_type types[] = { HK_TYPE_DOMAIN, HK_TYPE_KTHREAD };
	const struct cpumask *housekeeping;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		housekeeping = housekeeping_cpumask(types[i]);
		if (cpumask_intersects(mask, housekeeping))
			cpumask_and(mask, mask, housekeeping);
	}
	rcu_read_unlock();
}

/* Only normal threads have a nice value, or run under SCHED_BATCH. */
int ants_check_sched(const struct ants_attrs *attrs)
{
	if (attrs->nice < MIN_NICE || attrs->nice > MAX_NICE ||
	    attrs->sched > ANTS_SCHED_FIFO ||
	    (attrs->sched != ANTS_SCHED_NORMAL &&
	     (attrs->nice || attrs->flags & ANTS_THROUGHPUT)) ||
	    (attrs->cpumask && !cpumask_intersects(attrs->cpumask, cpu_possible_mask)))
		return -EINVAL;
	return 0;
}

/*
 * @attrs were checked. Without a mask the CPUs are those of the pool's node, or all.
 * Return NULL if there is no memory.
 */
struct ants_affinity *ants_affinity_alloc(const struct ants_pool *pool,
					  const struct ants_attrs *attrs, bool explicit)
{
	struct ants_affinity *affinity =
		kzalloc(sizeof(*affinity) + cpumask_size(), GFP_KERNEL);
	struct cpumask *mask;
	unsigned int cpu;

	if (!affinity)
		return NULL;
	refcount_set(&affinity->users, 1);
	affinity->nice = attrs->nice;
	affinity->sched = attrs->sched;
	mask = to_cpumask(affinity->cpus);
	affinity->explicit = explicit;
	if (attrs->cpumask) {
		cpumask_and(mask, attrs->cpumask, cpu_possible_mask);
	} else {
		/* Online or not. A node that has memory only has none. */
		for_each_possible_cpu(cpu)
			if (pool->node != NUMA_NO_NODE && cpu_to_node(cpu) == pool->node)
				cpumask_set_cpu(cpu, mask);
		ants_leave_out_isolated(mask);
	}
	affinity->unbound = cpumask_empty(mask);
	if (affinity->unbound)
		cpumask_copy(mask, cpu_possible_mask);
	return affinity;
}

/* A copy of the pool's affinity with one change; an ERR_PTR if it is refused. */
struct ants_affinity *ants_affinity_with(const struct ants_pool *pool,
					 const struct ants_change *change)
{
	struct ants_affinity *old = pool->target.affinity;
	struct ants_attrs attrs = {
		.flags = pool->flags, .nice = old->nice, .sched = old->sched,
		.cpumask = old->unbound ? NULL : to_cpumask(old->cpus),
	};
	bool explicit = old->explicit;

	lockdep_assert_held(&pool->config.lock);
	if (change->what == ANTS_SET_NICE) {
		attrs.nice = change->value;
	} else if (change->what == ANTS_SET_SCHED) {
		attrs.sched = change->value;
	} else {
		attrs.cpumask = change->cpus;
		explicit = change->cpus;
	}
	if (ants_check_sched(&attrs))
		return ERR_PTR(-EINVAL);
	return ants_affinity_alloc(pool, &attrs, explicit) ?: ERR_PTR(-ENOMEM);
}

/* That of @pool now, which stays until ants_affinity_put(). */
struct ants_affinity *ants_affinity_get(struct ants_pool *pool)
{
	struct ants_affinity *affinity;

	raw_spin_lock_irq(&pool->lock);
	affinity = pool->target.affinity;
	refcount_inc(&affinity->users);
	ants_unlock_irq(pool);
	return affinity;
}

/* Not under a raw lock, for this may free. */
void ants_affinity_put(struct ants_affinity *affinity)
{
	if (affinity && refcount_dec_and_test(&affinity->users))
		kfree(affinity);
}

/*
 * @w has no change to apply any more: it has applied the last one, or it
 * leaves.
 */
void ants_affinity_clear_stale(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;

	lockdep_assert_held(&pool->lock);
	if (!ants_affinity_is_stale(w))
		return;
	w->affinity_seq = pool->target.seq;
	pool->target.nr_stale--;
	ants_update_stay_limit(pool);
}

/* The caller is @w: let it apply the last change when it drops the lock. */
void ants_affinity_note(struct ants_worker *w, struct ants_todo *todo)
{
	ants_affinity_clear_stale(w);
	todo->bits |= ANTS_TODO_REBIND;
}

/* Bind the caller to those of @cpus that are not isolated; without memory, to all of them. */
static int bind_unisolated(const struct cpumask *cpus)
{
	cpumask_var_t mask;
	int err;

	/* Memory reclaim may wait for a task of this worker. */
	if (!alloc_cpumask_var(&mask, GFP_NOIO | __GFP_NOWARN))
		return set_cpus_allowed_ptr(current, cpus);
	cpumask_copy(mask, cpus);
	ants_leave_out_isolated(mask);
	err = set_cpus_allowed_ptr(current, mask);
	free_cpumask_var(mask);
	return err;
}

/*
 * A thread that was never bound stays as the kernel created it. If no CPU of the mask is
 * online, that is logged once.
 */
static void apply_cpus(struct ants_worker *w, struct ants_affinity *affinity)
{
	const struct cpumask *cpus = to_cpumask(affinity->cpus);
	struct ants_target *target = &w->pool->target;
	bool first;
	int err;

	if (affinity->unbound && !w->bound && !w->preferred)
		return;
	w->bound = !affinity->unbound;
	err = affinity->explicit ? set_cpus_allowed_ptr(current, cpus) :
				bind_unisolated(cpus);
	if (!err)
		return;
	bind_unisolated(cpu_possible_mask);
	raw_spin_lock_irq(&w->pool->lock);
	first = !target->mask_offline && target->seq == w->affinity_seq &&
		!cpumask_intersects(cpus, cpu_online_mask);
	target->mask_offline |= first;
	ants_unlock_irq(w->pool);
	if (first)
		pr_warn("pool %s: no CPU of cpulist %*pbl is online, threads run on others\n",
			w->pool->name, cpumask_pr_args(cpus));
}

/*
 * Apply the change that ants_affinity_note() has noted, or a later one, which the worker
 * then applies once more; no lock is held. If the caller is about to park, it has set its
 * state for that already, in which it must not sleep here. So it becomes running again,
 * and later checks once more whether it may park.
 */
void ants_affinity_apply(struct ants_worker *w)
{
	struct ants_affinity *affinity = ants_affinity_get(w->pool);

	__set_current_state(TASK_RUNNING);
	set_user_nice(current, affinity->nice);
	/*
	 * Set the policy if the pool's has changed, for a task may have set
	 * another one.
	 */
	if (w->sched != affinity->sched) {
		w->sched = affinity->sched;
		if (w->sched == ANTS_SCHED_FIFO)
			sched_set_fifo(current);
		else if (w->sched == ANTS_SCHED_FIFO_LOW)
			sched_set_fifo_low(current);
		else
			sched_set_normal(current, affinity->nice);
	}
	apply_cpus(w, affinity);
	ants_affinity_put(affinity);
}
