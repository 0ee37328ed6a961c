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

/* Change a total for a user of the multi. */
static int set_user(struct ants_multi *multi,
		    int (*set)(struct ants_multi *multi, unsigned int total),
		    unsigned int total)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = set(multi, total);
	ants_multi_unlock(multi);
	return err;
}

int ants_multi_tune(struct ants_multi *multi, unsigned int capacity)
{
	return set_user(multi, __ants_multi_tune, capacity);
}
EXPORT_SYMBOL_GPL(ants_multi_tune);

int ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth)
{
	return set_user(multi, __ants_multi_set_queue_depth, depth);
}
EXPORT_SYMBOL_GPL(ants_multi_set_queue_depth);

static int make_affinities(struct ants_multi *multi,
			   const struct ants_place *place)
{
	struct ants_shard *shard;
	unsigned int i;

	for (i = 0; i < multi->nr_shards; i++) {
		shard = &multi->shards[i];
		shard->affinity = ants_inject(ANTS_FAIL_AFFINITY) ?
				  ERR_PTR(-ENOMEM) :
				  ants_affinity_with(shard->pool, place);
		if (!IS_ERR(shard->affinity))
			continue;
		while (i--)
			ants_affinity_put(multi->shards[i].affinity);
		return PTR_ERR(shard->affinity);
	}
	return 0;
}

/* Make all affinities before the first one is applied. */
int ants_multi_set_place(struct ants_multi *multi, const struct ants_place *place)
{
	struct ants_shard *shard;
	unsigned int i;
	int err;

	lockdep_assert_held(&multi->config);
	if (place->what == ANTS_PLACE_CPUS && multi->strategy == ANTS_LOCAL)
		return -EINVAL;
	lock_shards(multi);
	err = make_affinities(multi, place);
	for (i = 0; i < multi->nr_shards && !err; i++) {
		shard = &multi->shards[i];
		ants_affinity_change(shard->pool, shard->affinity);
	}
	unlock_shards(multi);
	return err;
}

static int place_user(struct ants_multi *multi, const struct ants_place *place)
{
	DEFINE_ANTS_VISIT(visit);
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = ants_multi_set_place(multi, place);
	ants_multi_unlock(multi);
	return err;
}

int ants_multi_set_nice(struct ants_multi *multi, int nice)
{
	return place_user(multi, &(struct ants_place){
				.what = ANTS_PLACE_NICE, .value = nice });
}
EXPORT_SYMBOL_GPL(ants_multi_set_nice);

int ants_multi_set_sched(struct ants_multi *multi, enum ants_sched sched)
{
	return place_user(multi, &(struct ants_place){
				.what = ANTS_PLACE_SCHED, .value = sched });
}
EXPORT_SYMBOL_GPL(ants_multi_set_sched);

int ants_multi_set_cpumask(struct ants_multi *multi, const struct cpumask *mask)
{
	return place_user(multi, &(struct ants_place){
				.what = ANTS_PLACE_CPUS, .cpus = mask });
}
EXPORT_SYMBOL_GPL(ants_multi_set_cpumask);
