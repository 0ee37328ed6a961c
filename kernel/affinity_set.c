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

/* After an error nothing has changed. */
int ants_set_place(struct ants_pool *pool, const struct ants_place *place)
{
	struct ants_affinity *affinity = ants_affinity_with(pool, place);

	if (IS_ERR(affinity))
		return PTR_ERR(affinity);
	ants_affinity_change(pool, affinity);
	return 0;
}

/* The same for a user of the pool. */
static int place_user(struct ants_pool *pool, const struct ants_place *place)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_config_lock_user(pool, &visit);

	if (err)
		return err;
	err = ants_set_place(pool, place);
	ants_config_unlock(pool);
	return err;
}

int ants_set_nice(struct ants_pool *pool, int nice)
{
	return place_user(pool, &(struct ants_place){
				.what = ANTS_PLACE_NICE, .value = nice });
}
EXPORT_SYMBOL_GPL(ants_set_nice);

int ants_set_sched(struct ants_pool *pool, enum ants_sched sched)
{
	return place_user(pool, &(struct ants_place){
				.what = ANTS_PLACE_SCHED, .value = sched });
}
EXPORT_SYMBOL_GPL(ants_set_sched);

int ants_set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	return place_user(pool, &(struct ants_place){
				.what = ANTS_PLACE_CPUS, .cpus = mask });
}
EXPORT_SYMBOL_GPL(ants_set_cpumask);
