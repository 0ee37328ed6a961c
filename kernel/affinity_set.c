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
	ants_affinity_invalidate(pool, &todo);
	ants_unlock(pool, &todo);
	ants_affinity_put(affinity);
}

/* @affinity: NULL if there was no memory for it, an ERR_PTR if it is refused. */
static int change_affinity(struct ants_pool *pool,
			   struct ants_affinity *affinity)
{
	if (IS_ERR_OR_NULL(affinity))
		return affinity ? PTR_ERR(affinity) : -ENOMEM;
	ants_affinity_change(pool, affinity);
	return 0;
}

int __ants_set_nice(struct ants_pool *pool, int nice)
{
	lockdep_assert_held(&pool->config.lock);
	return change_affinity(pool, ants_affinity_with_nice(pool, nice));
}

int __ants_set_sched(struct ants_pool *pool, enum ants_sched sched)
{
	lockdep_assert_held(&pool->config.lock);
	return change_affinity(pool, ants_affinity_with_sched(pool, sched));
}

int __ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	lockdep_assert_held(&pool->config.lock);
	if (mask && !cpumask_intersects(mask, cpu_possible_mask))
		return -EINVAL;
	return change_affinity(pool, ants_affinity_with_cpus(pool, mask));
}

int ants_set_nice(struct ants_pool *pool, int nice)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_config_lock_user(pool, &visit);

	if (err)
		return err;
	err = __ants_set_nice(pool, nice);
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_set_nice);

int ants_set_sched(struct ants_pool *pool, enum ants_sched sched)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_config_lock_user(pool, &visit);

	if (err)
		return err;
	err = __ants_set_sched(pool, sched);
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_set_sched);

int ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_config_lock_user(pool, &visit);

	if (err)
		return err;
	err = __ants_set_cpumask(pool, mask);
	ants_config_unlock(pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_set_cpumask);
