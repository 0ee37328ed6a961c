// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing where the workers of a live pool run. The change itself is one step;
 * each worker applies it before its next task, see affinity.c. Parked workers
 * are woken to apply it: otherwise all others would have to check for it as long
 * as those sleep.
 *
 * CPU hotplug is such a change as well. When the last online CPU of a pool's
 * mask goes offline, the scheduler lets the workers run anywhere, isolated CPUs
 * included, so the workers have to rebind themselves; they have to do so again
 * when a CPU of the mask comes back. That waits for no pool.
 */
#include <linux/cpuhotplug.h>
#include <linux/export.h>

#include "../internal.h"

/* Every worker that exists has a change to apply. */
static void invalidate(struct ants_pool *pool, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	pool->target.seq++;
	pool->target.nr_stale = pool->workers.nr - pool->workers.nr_making;
	ants_update_stay_limit(pool);
	if (!pool->workers.nr_idle)
		return;
	WRITE_ONCE(pool->target.rebind_wanted, true);
	ants_todo_upkeep(pool, todo);
}

/* Make @affinity the pool's own and let the workers apply it. */
void ants_affinity_change(struct ants_pool *pool,
			  struct ants_affinity *affinity)
{
	struct ants_todo todo;

	lockdep_assert_held(&pool->config.lock);
	ants_lock(pool, &todo);
	swap(pool->target.affinity, affinity);
	pool->target.mask_offline = false;
	invalidate(pool, &todo);
	ants_unlock(pool, &todo);
	ants_affinity_put(affinity);
}

/* After an error nothing has changed. */
int ants_set_place(struct ants_pool *pool, const struct ants_change *change)
{
	struct ants_affinity *affinity = ants_affinity_with(pool, change);

	if (IS_ERR(affinity))
		return PTR_ERR(affinity);
	ants_affinity_change(pool, affinity);
	return 0;
}

/* The same for a user of the pool. */
static int place_user(struct ants_pool *pool, const struct ants_change *change)
{
	int err = ants_config_lock_user(pool);

	if (err)
		return err;
	err = ants_set_place(pool, change);
	ants_config_unlock(pool);
	return err;
}

int ants_set_nice(struct ants_pool *pool, int nice)
{
	return place_user(pool, &(struct ants_change){
				.what = ANTS_SET_NICE, .value = nice });
}
EXPORT_SYMBOL_GPL(ants_set_nice);

int ants_set_sched(struct ants_pool *pool, enum ants_sched sched)
{
	return place_user(pool, &(struct ants_change){
				.what = ANTS_SET_SCHED, .value = sched });
}
EXPORT_SYMBOL_GPL(ants_set_sched);

int ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	return place_user(pool, &(struct ants_change){
				.what = ANTS_SET_CPUS, .cpus = mask });
}
EXPORT_SYMBOL_GPL(ants_set_cpumask);

/*
 * A CPU has come, or has gone; only then can the workers see that they have to move.
 * This does not depend on which CPU it is: newer kernels move every thread that was
 * made for a NUMA node or a set of CPUs back to those when a CPU comes, whatever it
 * was bound to since.
 */
static int cpus_change(unsigned int cpu)
{
	struct ants_affinity *affinity;
	struct ants_pool *pool;
	struct ants_todo todo;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered) {
		ants_lock(pool, &todo);
		affinity = pool->target.affinity;
		if (!affinity->any || pool->target.preferred) {
			if (cpumask_intersects(ants_affinity_cpus(affinity), cpu_online_mask))
				pool->target.mask_offline = false;
			invalidate(pool, &todo);
		}
		ants_unlock(pool, &todo);
	}
	mutex_unlock(&ants_registry_lock);
	return 0;
}

static int online_state;
static int dead_state;

/* After an error ants_hotplug_exit() is called as well. */
int ants_hotplug_init(void)
{
	dead_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					       "ants:dead", NULL, cpus_change);
	if (dead_state < 0)
		return dead_state;
	online_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
						 "ants:online", cpus_change, NULL);
	return min(online_state, 0);
}

void ants_hotplug_exit(void)
{
	if (online_state > 0)
		cpuhp_remove_state_nocalls(online_state);
	if (dead_state > 0)
		cpuhp_remove_state_nocalls(dead_state);
}
