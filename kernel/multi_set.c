// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing all shards of a live multi. Whatever can fail is done for each shard
 * before it takes effect in any, or is undone.
 */
#include "internal.h"
#include "multi.h"

/* While all of these are held, a bound that was checked does not change. */
static void lock_shards(struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		mutex_lock_nest_lock(&pool->config.lock, &multi->config);
}

static void unlock_shards(struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		mutex_unlock(&pool->config.lock);
}

/**
 * struct quota - a bound of which each shard has its part
 * @get: returns the part of a shard
 * @check: returns 0 if a shard may have another part, or -EINVAL
 * @set: gives a shard another part. If @check has succeeded, only growing can
 *	fail
 */
struct quota {
	unsigned int (*get)(const struct ants_pool *pool);
	int (*check)(const struct ants_pool *pool, unsigned int share);
	int (*set)(struct ants_pool *pool, unsigned int share);
};

static int check_shares(const struct ants_multi *multi,
			const struct quota *quota, unsigned int total)
{
	struct ants_pool *pool;
	unsigned int i;
	int err = 0;

	for (i = 0; (pool = ants_shard(multi, i)); i++)
		err = err ?: quota->check(pool, ants_capacity_share(multi,
								    total, i));
	return err;
}

/*
 * Change the shards whose part grows. This may fail; then they get back what
 * they had.
 */
static int grow_shards(struct ants_multi *multi, const struct quota *quota,
		       unsigned int total)
{
	struct ants_shard *shard;
	unsigned int i, share;
	int err;

	for (i = 0; i < multi->nr_shards; i++) {
		shard = &multi->shards[i];
		shard->was = quota->get(shard->pool);
		share = ants_capacity_share(multi, total, i);
		err = share < shard->was ? 0 : quota->set(shard->pool, share);
		if (!err)
			continue;
		while (i--) {
			shard = &multi->shards[i];
			quota->set(shard->pool, shard->was);
		}
		return err;
	}
	return 0;
}

/*
 * Change the other shards. With parts that were checked a shrink does not fail.
 */
static void shrink_shards(struct ants_multi *multi, const struct quota *quota,
			  unsigned int total)
{
	struct ants_pool *pool;
	unsigned int i, share;

	for (i = 0; (pool = ants_shard(multi, i)); i++) {
		share = ants_capacity_share(multi, total, i);
		if (share < quota->get(pool))
			WARN_ON_ONCE(quota->set(pool, share));
	}
}

static int change_quota(struct ants_multi *multi, const struct quota *quota,
			unsigned int total)
{
	int err;

	lockdep_assert_held(&multi->config);
	lock_shards(multi);
	err = check_shares(multi, quota, total) ?:
	      grow_shards(multi, quota, total);
	if (!err)
		shrink_shards(multi, quota, total);
	unlock_shards(multi);
	return err;
}

static unsigned int shard_capacity(const struct ants_pool *pool)
{
	return pool->limits.capacity;
}

static int check_capacity(const struct ants_pool *pool, unsigned int share)
{
	return ants_check_bounds(share, pool->config.queue_depth, pool->config.min_workers,
				 pool->flags);
}

int __ants_multi_tune(struct ants_multi *multi, unsigned int capacity)
{
	static const struct quota quota = {
		shard_capacity, check_capacity, __ants_tune,
	};

	if (capacity < multi->nr_shards)
		return -EINVAL;
	return change_quota(multi, &quota, capacity);
}

int ants_multi_tune(struct ants_multi *multi, unsigned int capacity)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = __ants_multi_tune(multi, capacity);
	ants_multi_unlock(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_tune);

static unsigned int get_queue_depth(const struct ants_pool *pool)
{
	return pool->config.queue_depth;
}

static int check_queue_depth(const struct ants_pool *pool, unsigned int share)
{
	return ants_check_bounds(pool->limits.capacity, share, pool->config.min_workers,
				 pool->flags);
}

int __ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth)
{
	static const struct quota quota = {
		get_queue_depth, check_queue_depth, ants_set_queue_depth,
	};

	if (depth > ANTS_BOUND_MAX)
		return -EINVAL;
	return change_quota(multi, &quota, depth);
}

int ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = __ants_multi_set_queue_depth(multi, depth);
	ants_multi_unlock(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_set_queue_depth);

/*
 * Makes a new affinity for a shard; NULL if there is no memory, an ERR_PTR if the
 * shard refuses it.
 */
typedef struct ants_affinity *(*make_affinity_t)(const struct ants_pool *pool,
						 const void *arg);

static int make_affinities(struct ants_multi *multi, make_affinity_t make,
			   const void *arg)
{
	struct ants_shard *shard;
	unsigned int i;
	int err;

	for (i = 0; i < multi->nr_shards; i++) {
		shard = &multi->shards[i];
		shard->affinity = ants_inject(ANTS_FAIL_AFFINITY) ?
				  NULL : make(shard->pool, arg);
		if (!IS_ERR_OR_NULL(shard->affinity))
			continue;
		err = shard->affinity ? PTR_ERR(shard->affinity) : -ENOMEM;
		while (i--)
			ants_affinity_put(multi->shards[i].affinity);
		return err;
	}
	return 0;
}

/* Make all affinities before the first one is applied. */
static int change_affinities(struct ants_multi *multi, make_affinity_t make,
			     const void *arg)
{
	struct ants_shard *shard;
	unsigned int i;
	int err;

	lockdep_assert_held(&multi->config);
	lock_shards(multi);
	err = make_affinities(multi, make, arg);
	for (i = 0; i < multi->nr_shards && !err; i++) {
		shard = &multi->shards[i];
		ants_affinity_change(shard->pool, shard->affinity);
	}
	unlock_shards(multi);
	return err;
}

static struct ants_affinity *affinity_with_nice(const struct ants_pool *pool,
						const void *nice)
{
	return ants_affinity_with_nice(pool, *(const int *)nice);
}

int __ants_multi_set_nice(struct ants_multi *multi, int nice)
{
	return change_affinities(multi, affinity_with_nice, &nice);
}

int ants_multi_set_nice(struct ants_multi *multi, int nice)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = __ants_multi_set_nice(multi, nice);
	ants_multi_unlock(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_set_nice);

static struct ants_affinity *affinity_with_sched(const struct ants_pool *pool,
						 const void *sched)
{
	return ants_affinity_with_sched(pool, *(const enum ants_sched *)sched);
}

int __ants_multi_set_sched(struct ants_multi *multi, enum ants_sched sched)
{
	return change_affinities(multi, affinity_with_sched, &sched);
}

int ants_multi_set_sched(struct ants_multi *multi, enum ants_sched sched)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = __ants_multi_set_sched(multi, sched);
	ants_multi_unlock(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_set_sched);

static struct ants_affinity *affinity_with_cpus(const struct ants_pool *pool,
						const void *mask)
{
	return ants_affinity_with_cpus(pool, mask);
}

int __ants_multi_set_cpumask(struct ants_multi *multi,
			     const struct cpumask *mask)
{
	if (multi->strategy == ANTS_LOCAL)
		return -EINVAL;
	if (mask && !cpumask_intersects(mask, cpu_possible_mask))
		return -EINVAL;
	return change_affinities(multi, affinity_with_cpus, mask);
}

int ants_multi_set_cpumask(struct ants_multi *multi, const struct cpumask *mask)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = __ants_multi_set_cpumask(multi, mask);
	ants_multi_unlock(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_set_cpumask);
