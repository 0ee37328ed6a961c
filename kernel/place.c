// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing where the workers of a live pool run. The change is one step; each
 * worker takes it up before its next task. Parked ones are woken to do so, or
 * the pool would not be calm for as long as they sleep.
 */
#include <linux/export.h>

#include "internal.h"

/* Every worker that exists has something to take up. */
void ants_misplace(struct ants_pool *pool, struct ants_kick *kick)
{
	lockdep_assert_held(&pool->lock);
	pool->placement++;
	pool->nr_misplaced = pool->nr_workers - pool->nr_making;
	ants_update_calm(pool);
	pool->poke_next = NULL;
	if (!pool->nr_idle)
		return;
	WRITE_ONCE(pool->poke_wanted, true);
	ants_kick_upkeep(pool, kick);
}

/* Let the workers take up @place, which is the pool's from here on. */
void ants_place_change(struct ants_pool *pool, struct ants_place *place)
{
	struct ants_kick kick;

	lockdep_assert_held(&pool->config);
	ants_lock(pool, &kick);
	swap(pool->place, place);
	pool->stranded = false;
	ants_misplace(pool, &kick);
	ants_unlock(pool, &kick);
	ants_place_put(place);
}

static int change_place(struct ants_pool *pool, int nice,
			const struct cpumask *cpus)
{
	struct ants_place *place = ants_place_alloc(nice, cpus, pool->node);

	if (!place)
		return -ENOMEM;
	ants_place_change(pool, place);
	return 0;
}

int __ants_set_nice(struct ants_pool *pool, int nice)
{
	struct ants_place *place = pool->place;

	lockdep_assert_held(&pool->config);
	if (nice < MIN_NICE || nice > MAX_NICE)
		return -EINVAL;
	return change_place(pool, nice,
			    place->given ? ants_place_cpus(place) : NULL);
}

int __ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	lockdep_assert_held(&pool->config);
	if (mask && !cpumask_intersects(mask, cpu_possible_mask))
		return -EINVAL;
	return change_place(pool, pool->place->nice, mask);
}

/**
 * ants_set_nice() - change the nice value of a pool's threads
 * @pool: the pool; released ones, too
 * @nice: the new nice value
 *
 * Each thread takes it up before its next task; a task that runs is left alone.
 * It serves for threads that are made later, too.
 *
 * Context: Process context. May sleep.
 * Return: 0. -EINVAL: @nice is out of range. -ENOMEM. -EINTR: the caller is
 * being killed. -EPERM: it is the system pool. In error nothing has changed.
 */
int ants_set_nice(struct ants_pool *pool, int nice)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	if (pool == ants_system_pool)
		return -EPERM;
	err = ants_config_lock_killable(pool);
	if (err)
		return err;
	err = __ants_set_nice(pool, nice);
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_set_nice);

/**
 * ants_set_cpumask() - change the CPUs that a pool's threads run on
 * @pool: the pool; released ones, too
 * @mask: the CPUs, isolated ones or not; NULL for all, or for those of the node
 *	with %ANTS_ON_NODE, but for isolated ones. Copied
 *
 * Each thread takes it up before its next task; a task that runs is not moved.
 * It serves for threads that are made later, too. While none of the CPUs is
 * online the threads run on all that are not isolated, and the log says so once;
 * they go back when one of them comes.
 *
 * Context: Process context. May sleep.
 * Return: 0. -EINVAL: none of the CPUs is possible. -ENOMEM. -EINTR: the caller
 * is being killed. -EPERM: it is the system pool. In error nothing has changed.
 */
int ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	if (pool == ants_system_pool)
		return -EPERM;
	err = ants_config_lock_killable(pool);
	if (err)
		return err;
	err = __ants_set_cpumask(pool, mask);
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_set_cpumask);
