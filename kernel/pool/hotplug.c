// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU hotplug. When the last online CPU of a pool's mask goes offline, the
 * scheduler lets the workers run anywhere, isolated CPUs included, so the
 * workers have to rebind themselves; they have to do so again when a CPU of the
 * mask comes back. Nothing here waits for a pool.
 */
#include <linux/cpuhotplug.h>

#include "../internal.h"

static int hotplug_state;
static int dead_state;

/*
 * This does not depend on which CPU comes online: newer kernels then move every
 * thread that was made for a NUMA node or a set of CPUs back to those, whatever
 * it was bound to since.
 */
static void cpu_comes_for(struct ants_pool *pool, unsigned int cpu)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	if (!pool->target.affinity->any || pool->target.preferred) {
		if (cpumask_test_cpu(cpu, ants_affinity_cpus(pool->target.affinity)))
			pool->target.mask_offline = false;
		ants_affinity_invalidate(pool, &todo);
	}
	ants_unlock(pool, &todo);
}

static bool other_is_online(const struct cpumask *cpus, unsigned int cpu)
{
	unsigned int other;

	for_each_cpu_and(other, cpus, cpu_online_mask)
		if (other != cpu)
			return true;
	return false;
}

static void cpu_goes_for(struct ants_pool *pool, unsigned int cpu)
{
	struct ants_affinity *affinity;
	unsigned int affinity_seq;

	raw_spin_lock_irq(&pool->lock);
	affinity = ants_affinity_get(pool);
	affinity_seq = pool->target.seq;
	ants_unlock_irq(pool);
	if (!affinity->any &&
	    !other_is_online(ants_affinity_cpus(affinity), cpu))
		ants_affinity_warn_offline(pool, affinity, affinity_seq);
	ants_affinity_put(affinity);
}

/* The CPU is offline: only now can the workers see that they have to move. */
static void cpu_is_gone_for(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock(pool, &todo);
	if (!cpumask_intersects(ants_affinity_cpus(pool->target.affinity),
				cpu_online_mask))
		ants_affinity_invalidate(pool, &todo);
	ants_unlock(pool, &todo);
}

static int cpu_comes(unsigned int cpu)
{
	struct ants_pool *pool;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		cpu_comes_for(pool, cpu);
	mutex_unlock(&ants_registry_lock);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	struct ants_pool *pool;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		cpu_goes_for(pool, cpu);
	mutex_unlock(&ants_registry_lock);
	return 0;
}

static int cpu_is_gone(unsigned int cpu)
{
	struct ants_pool *pool;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		cpu_is_gone_for(pool);
	mutex_unlock(&ants_registry_lock);
	return 0;
}

int ants_hotplug_init(void)
{
	dead_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					       "ants:dead", NULL, cpu_is_gone);
	if (dead_state < 0)
		return dead_state;
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
						  "ants:online", cpu_comes,
						  cpu_goes);
	if (hotplug_state >= 0)
		return 0;
	cpuhp_remove_state_nocalls(dead_state);
	return hotplug_state;
}

void ants_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	cpuhp_remove_state_nocalls(dead_state);
}
