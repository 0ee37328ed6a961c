// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharded pools: pools behind one handle, each with a lock, threads and a
 * directory of its own. Creating and destroying them, and their numbers.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "../internal.h"
#include "multi.h"

static unsigned int saturated_add(unsigned int a, unsigned int b)
{
	return b < ANTS_UNLIMITED - a ? a + b : ANTS_UNLIMITED;
}

/*
 * Make a multi of @nr_shards shards, or of as many as fit, with at most one for each
 * unit of capacity. It has what its strategy needs, but no name and no shards yet.
 */
static struct ants_multi *multi_alloc(struct module *owner,
				      const struct ants_attrs *total,
				      unsigned int nr_shards,
				      enum ants_strategy strategy)
{
	unsigned int most = min_t(unsigned int, total->capacity,
				  ANTS_MAX_SHARDS);
	unsigned int cpu, *shard_of = NULL;
	struct ants_multi *multi;

	if (strategy == ANTS_LOCAL) {
		shard_of = ants_local_map(total->cpumask, &nr_shards, most);
		if (!shard_of)
			return NULL;
	}
	multi = kzalloc(struct_size(multi, shards, nr_shards), GFP_KERNEL);
	if (!multi) {
		kfree(shard_of);
		return NULL;
	}
	ants_live_get();
	multi->shard_of = shard_of;
	multi->owner = owner;
	multi->strategy = strategy;
	multi->nr_shards = nr_shards;
	mutex_init(&multi->config);
	INIT_LIST_HEAD(&multi->registered);
	ants_kobject_init(&multi->kobj, &ants_multi_ktype);
	if (strategy != ANTS_ROUND_ROBIN)
		return multi;
	/*
	 * Each CPU counts its own choices, so that no submit writes what another CPU
	 * reads. CPU n begins with shard n; otherwise all CPUs would choose the same
	 * shards in step.
	 */
	multi->turn = alloc_percpu(unsigned int);
	if (!multi->turn) {
		kobject_put(&multi->kobj);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		per_cpu(*multi->turn, cpu) = cpu - 1;
	return multi;
}

/* Make the shards, each with its part of the totals. */
static int make_shards(struct ants_multi *multi, const struct ants_attrs *total)
{
	struct ants_attrs attrs;
	struct ants_pool *pool;
	cpumask_var_t mask;
	unsigned int i;
	int err = 0;

	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for (i = 0; i < multi->nr_shards; i++) {
		attrs = *total;
		attrs.capacity = ants_share(multi, total->capacity, i);
		attrs.queue_depth = ants_share(multi, total->queue_depth, i);
		attrs.min_workers = ants_share(multi, total->min_workers, i);
		/* A limit on waiters must not become 0, which is no limit. */
		if (total->max_blocking)
			attrs.max_blocking =
				max(ants_share(multi, total->max_blocking, i), 1U);
		if (multi->shard_of)
			ants_local_attrs(multi, i, &attrs, mask);
		pool = ants_shard_create(&multi->kobj, multi->name, i, &attrs,
					 total->cpumask);
		err = PTR_ERR_OR_ZERO(pool);
		if (err)
			break;
		/* No shard is marked congested before the multi can be used. */
		pool->ops.shared_congested = &multi->congested;
		multi->shards[i].pool = pool;
	}
	free_cpumask_var(mask);
	return err;
}

/*
 * Wait until the shards that were made are empty. All are, before the first one
 * ends: a caller that holds a reference on one shard may be about to use another.
 */
static void quiesce_shards(struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		ants_pool_doom(pool);
	for_each_shard(pool, multi)
		ants_pool_quiesce(pool);
}

static void end_shards(struct ants_multi *multi)
{
	struct ants_pool *pool;
	bool called_back = false;

	for_each_shard(pool, multi) {
		ants_pool_hide(pool);
		called_back |= READ_ONCE(pool->release.called_back);
	}
	if (called_back)
		synchronize_rcu();
	for_each_shard(pool, multi)
		ants_pool_end(pool);
}

/* Reserve the name, add the directory, make the shards and add the files. */
static int multi_publish(struct ants_multi *multi,
			 const struct ants_attrs *total)
{
	int err = ants_registry_add(multi->name, &multi->registered,
				    &ants_multis);

	if (err)
		return err;
	err = ants_multi_sysfs_add(multi);
	if (err)
		goto err_name;
	err = make_shards(multi, total) ?: ants_multi_sysfs_show(multi);
	if (!err)
		return 0;
	quiesce_shards(multi);
	end_shards(multi);
	kobject_del(&multi->kobj);
err_name:
	ants_registry_del(&multi->registered);
	return err;
}

/**
 * __ants_multi_create() - create sharded pools; see ants_multi_create()
 * @owner: the module that creates them, NULL if built in
 * @attrs: their attributes; NULL for the defaults
 * @nr_shards: the number of pools, or 0
 * @strategy: how the pool for a task is chosen
 * @fmt: printf format of the name
 *
 * Context: Process context. May sleep.
 * Return: the multi, or an ERR_PTR.
 */
struct ants_multi *__ants_multi_create(struct module *owner,
				       const struct ants_attrs *attrs,
				       unsigned int nr_shards,
				       enum ants_strategy strategy,
				       const char *fmt, ...)
{
	struct ants_attrs total = attrs ? *attrs : (struct ants_attrs){};
	struct ants_multi *multi;
	va_list args;
	int err;

	total.capacity = total.capacity ?: num_online_cpus();
	if ((unsigned int)strategy > ANTS_LOCAL ||
	    nr_shards > min_t(unsigned int, total.capacity, ANTS_MAX_SHARDS) ||
	    (!nr_shards && strategy != ANTS_LOCAL))
		return ERR_PTR(-EINVAL);
	err = ants_check_attrs(&total);
	if (err)
		return ERR_PTR(err);
	multi = multi_alloc(owner, &total, nr_shards, strategy);
	if (!multi)
		return ERR_PTR(-ENOMEM);
	va_start(args, fmt);
	err = ants_set_name(multi->name, fmt, args);
	va_end(args);
	/* A shard has the name of the multi, a slash and its number. */
	if (!err && snprintf(NULL, 0, "%s/%u", multi->name,
			     multi->nr_shards - 1) >= ANTS_NAME_LEN)
		err = -EINVAL;
	err = err ?: multi_publish(multi, &total);
	if (err) {
		kobject_put(&multi->kobj);
		return ERR_PTR(err);
	}
	return multi;
}
EXPORT_SYMBOL_GPL(__ants_multi_create);

/* The multi's own files are removed before the shards that they are about. */
void __ants_multi_destroy(struct ants_multi *multi)
{
	ants_multi_touch(multi);
	quiesce_shards(multi);
	ants_multi_sysfs_hide(multi);
	end_shards(multi);
	kobject_del(&multi->kobj);
	ants_registry_del(&multi->registered);
	kobject_put(&multi->kobj);
}

int ants_multi_destroy(struct ants_multi *multi)
{
	might_sleep();
	if (IS_ERR_OR_NULL(multi))
		return 0;
	if (WARN(ants_multi_runs(multi),
		 "ants: multi %s destroyed by its task\n", multi->name))
		return -EDEADLK;
	__ants_multi_destroy(multi);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_multi_destroy);

/* The last reference to the kobject has been dropped. */
void ants_multi_free(struct kobject *kobj)
{
	struct ants_multi *multi = container_of(kobj, struct ants_multi, kobj);

	free_percpu(multi->turn);
	kfree(multi->shard_of);
	kfree(multi);
	ants_live_put();
}

unsigned int ants_multi_nr_shards(const struct ants_multi *multi)
{
	return multi->nr_shards;
}
EXPORT_SYMBOL_GPL(ants_multi_nr_shards);

struct ants_pool *ants_multi_shard(const struct ants_multi *multi,
				   unsigned int nr)
{
	return nr < multi->nr_shards ? multi->shards[nr].pool :
				       ERR_PTR(-ERANGE);
}
EXPORT_SYMBOL_GPL(ants_multi_shard);

unsigned int ants_multi_capacity(const struct ants_multi *multi)
{
	struct ants_pool *pool;
	unsigned int sum = 0;

	for_each_shard(pool, multi)
		sum = saturated_add(sum, ants_capacity(pool));
	return sum;
}
EXPORT_SYMBOL_GPL(ants_multi_capacity);

void ants_multi_stats(const struct ants_multi *multi, struct ants_stats *stats)
{
	struct ants_stats one;
	struct ants_pool *pool;

	memset(stats, 0, sizeof(*stats));
	for_each_shard(pool, multi) {
		ants_pool_stats(pool, &one);
		stats->capacity = saturated_add(stats->capacity, one.capacity);
		stats->free = saturated_add(stats->free, one.free);
		stats->running += one.running;
		stats->idle += one.idle;
		stats->busy += one.busy;
		stats->pending += one.pending;
		stats->waiting += one.waiting;
		stats->peak_running += one.peak_running;
		stats->peak_busy += one.peak_busy;
		stats->peak_pending += one.peak_pending;
		stats->peak_waiting += one.peak_waiting;
		stats->submitted += one.submitted;
		stats->completed += one.completed;
		stats->cancelled += one.cancelled;
		stats->caller_runs += one.caller_runs;
		stats->rejected += one.rejected;
		stats->blocked += one.blocked;
		stats->spawned += one.spawned;
		stats->reaped += one.reaped;
		stats->wakeups_in_vain += one.wakeups_in_vain;
		stats->stalled += one.stalled;
		stats->held_back += one.held_back;
		stats->faults += one.faults;
		stats->lost += one.lost;
		stats->dirty += one.dirty;
	}
}
EXPORT_SYMBOL_GPL(ants_multi_stats);
