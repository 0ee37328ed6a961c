// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing where the workers of a live pool run. The change itself is one step;
 * each worker applies it before its next task. Parked workers are woken to
 * apply it: otherwise all others would have to check for it as long as those
 * sleep.
 */
#include <linux/export.h>

#include "internal.h"

/* Every worker that exists has a change to apply. */
void ants_affinity_invalidate(struct ants_pool *pool, struct ants_todo *todo)
{
	lockdep_assert_held(&pool->lock);
	pool->affinity_seq++;
	pool->nr_stale = pool->nr_workers - pool->nr_making;
	ants_update_stay_limit(pool);
	pool->rebind_next = NULL;
	if (!pool->nr_idle)
		return;
	WRITE_ONCE(pool->rebind_wanted, true);
	ants_todo_upkeep(pool, todo);
}

/* Make @affinity the pool's own and let the workers apply it. */
void ants_affinity_change(struct ants_pool *pool,
			  struct ants_affinity *affinity)
{
	struct ants_todo todo;

	lockdep_assert_held(&pool->config);
	ants_lock(pool, &todo);
	swap(pool->affinity, affinity);
	pool->mask_offline = false;
	ants_affinity_invalidate(pool, &todo);
	ants_unlock(pool, &todo);
	ants_affinity_put(affinity);
}

/* @affinity: NULL if there was no memory for it. */
static int change_affinity(struct ants_pool *pool,
			   struct ants_affinity *affinity)
{
	if (!affinity)
		return -ENOMEM;
	ants_affinity_change(pool, affinity);
	return 0;
}

int __ants_set_nice(struct ants_pool *pool, int nice)
{
	lockdep_assert_held(&pool->config);
	if (nice < MIN_NICE || nice > MAX_NICE)
		return -EINVAL;
	return change_affinity(pool, ants_affinity_with_nice(pool, nice));
}

int __ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	lockdep_assert_held(&pool->config);
	if (mask && !cpumask_intersects(mask, cpu_possible_mask))
		return -EINVAL;
	return change_affinity(pool,
			       ants_affinity_alloc(pool->affinity->nice, mask,
						   pool->node));
}

/**
 * ants_set_nice() - change the nice value of a pool's threads
 * @pool: the pool; it may be released
 * @nice: the new nice value
 *
 * Each thread applies it before its next task; a running task is left alone.
 * Threads that are made later get it as well.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which nothing has changed. -EINVAL: @nice is
 * out of range. -ENOMEM. -EINTR: the caller is being killed. -EPERM: it is the
 * system pool.
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
 * @pool: the pool; it may be released
 * @mask: the CPUs, isolated ones or not; NULL means all CPUs, or those of the
 *	node with %ANTS_ON_NODE, without the isolated ones. The mask is copied
 *
 * Each thread applies it before its next task; a running task is not moved.
 * Threads that are made later get it as well. While none of the CPUs is online,
 * the threads run on all CPUs that are not isolated, and the log says so once;
 * they return when one of the CPUs comes online.
 *
 * Context: Process context. May sleep.
 * Return: 0, or an error, after which nothing has changed. -EINVAL: none of the
 * CPUs is possible. -ENOMEM. -EINTR: the caller is being killed. -EPERM: it is
 * the system pool.
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
