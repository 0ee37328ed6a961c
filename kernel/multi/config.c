// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done to all shards of a multi: closing, flushing, opening again, and
 * changing how large they are and where they run. Opening and changing are
 * serialised by multi->config. Closing waits for neither, and makes an opening in
 * progress fail. Only the functions here close and open shards, and they do so in
 * order.
 *
 * A caller that may sleep holds a reference on the first shard, so that destroy
 * waits for it.
 */
#include <linux/export.h>

#include "../internal.h"
#include "multi.h"

static struct ants_shard *part_of(struct ants_multi *multi, unsigned int nr)
{
	return nr < multi->nr_shards ? &multi->shards[nr] : NULL;
}

/* Walk the shards, with what is noted about each of them during a change. */
#define for_each_part(shard, multi)					\
	for (unsigned int __i = 0; ((shard) = part_of(multi, __i)); __i++)

/* Is the caller a task of a shard? */
static bool is_own_task(const struct ants_multi *multi)
{
	const struct ants_pool *pool = ants_current_pool();

	return pool && pool->parent == &multi->kobj;
}

/* The shard that the caller is a task of, or of which it runs a task by itself. */
struct ants_pool *ants_multi_runs(const struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		if (ants_runs_task_of(pool))
			return pool;
	return NULL;
}

/*
 * ants_wait_touch() for a caller that may have to wait for tasks of any shard.
 */
void ants_multi_touch(const struct ants_multi *multi)
{
	struct ants_pool *pool;

	if (!IS_ENABLED(CONFIG_LOCKDEP) || is_own_task(multi))
		return;
	for_each_shard(pool, multi)
		ants_wait_touch(pool);
}

/* It is the last one to be closed, and to be opened. */
static const struct ants_pool *last_shard(const struct ants_multi *multi)
{
	return multi->shards[multi->nr_shards - 1].pool;
}

bool ants_multi_is_released(const struct ants_multi *multi)
{
	return ants_is_released(last_shard(multi));
}
EXPORT_SYMBOL_GPL(ants_multi_is_released);

/*
 * Close all shards before any of them is waited for. Return the generation of
 * the last one: it changes when all shards are open again.
 */
static unsigned int close_all(struct ants_multi *multi)
{
	struct ants_pool *pool;
	unsigned int generation = 0;

	for_each_shard(pool, multi)
		generation = ants_close_begin(pool);
	/* No reboot can open one of them before the last one is closed. */
	for_each_shard(pool, multi)
		ants_close_end(pool);
	return generation;
}

int ants_multi_release(struct ants_multi *multi)
{
	struct ants_pool *first = multi->shards[0].pool;

	ants_caller_enter(first);
	close_all(multi);
	ants_caller_leave(first);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_multi_release);

/*
 * Begin to wait for all shards; after 0, end with ants_caller_leave() on the first
 * one. Lockdep is told of all of them here, because a short timeout may be used up
 * before the last one.
 */
static int wait_enter(struct ants_multi *multi, unsigned long timeout)
{
	might_sleep();
	if (is_own_task(multi))
		return -EDEADLK;
	if (timeout)
		ants_multi_touch(multi);
	ants_caller_enter(multi->shards[0].pool);
	return 0;
}

/*
 * Is this shard drained, or were all shards drained and opened again since the end
 * of @generation? A reboot may fail after it has opened some shards, because this
 * caller has closed another one that the reboot had found drained. Then the reboot
 * closes again what it has opened.
 */
static bool shard_drained(struct ants_pool *pool, const void *generation)
{
	const struct ants_pool *last;

	lockdep_assert_held(&pool->lock);
	last = last_shard(container_of(pool->parent, struct ants_multi, kobj));
	return READ_ONCE(last->release.generation) !=
	       *(const unsigned int *)generation || ants_is_drained(pool);
}

int ants_multi_release_timeout(struct ants_multi *multi, unsigned long timeout)
{
	unsigned long start = jiffies;
	struct ants_pool *pool;
	unsigned int generation;
	int err = wait_enter(multi, timeout);

	if (err)
		return err;
	generation = close_all(multi);
	ants_pause(ANTS_PAUSE_CLOSED, multi->shards[0].pool);
	for_each_shard(pool, multi) {
		err = ants_wait_until(pool, shard_drained, &generation,
				      ants_time_left(start, timeout),
				      TASK_KILLABLE);
		if (err)
			break;
	}
	ants_caller_leave(multi->shards[0].pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_release_timeout);

int ants_multi_flush_timeout(struct ants_multi *multi, unsigned long timeout)
{
	unsigned long start = jiffies;
	struct ants_pool *pool;
	int err = wait_enter(multi, timeout);

	if (err)
		return err;
	for_each_shard(pool, multi) {
		err = ants_flush_timeout(pool, ants_time_left(start, timeout));
		if (err)
			break;
	}
	ants_caller_leave(multi->shards[0].pool);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_flush_timeout);

int ants_multi_flush(struct ants_multi *multi)
{
	return ants_multi_flush_timeout(multi, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_multi_flush);

/*
 * Opening the shards of a closed multi, and changing those of a live one: all of
 * them or none. Whatever can fail is done for each shard before it takes effect in
 * any, or is undone.
 */

static int reboot_all(struct ants_multi *multi, unsigned int unused)
{
	struct ants_shard *shard;
	bool drained = true;
	int err;

	lockdep_assert_held(&multi->config);
	/* From here on a release makes the reboot fail. */
	for_each_part(shard, multi) {
		raw_spin_lock_irq(&shard->pool->lock);
		shard->seq = shard->pool->release.seq;
		drained &= ants_is_drained(shard->pool);
		ants_unlock_irq(shard->pool);
	}
	if (!drained)
		return -EBUSY;
	for_each_part(shard, multi) {
		mutex_lock(&shard->pool->config.lock);
		err = __ants_reboot(shard->pool, shard->seq);
		mutex_unlock(&shard->pool->config.lock);
		if (!err)
			continue;
		while (shard-- != multi->shards)
			ants_close(shard->pool);
		return err;
	}
	/*
	 * Wake callers that have closed the multi, and have not seen that it was
	 * drained.
	 */
	for_each_part(shard, multi)
		wake_up_all(&shard->pool->waitq);
	return 0;
}

/* While all of these are held, a bound that was checked does not change. */
static void lock_shards(struct ants_multi *multi)
{
	struct ants_pool *pool;

	lockdep_assert_held(&multi->config);
	for_each_shard(pool, multi)
		mutex_lock_nest_lock(&pool->config.lock, &multi->config);
}

static void unlock_shards(struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		mutex_unlock(&pool->config.lock);
}

/* The bounds of which each shard has its part. */
enum bound {
	CAPACITY,
	QUEUE_DEPTH,
};

static int set_bound(struct ants_pool *pool, enum bound bound,
		     unsigned int value)
{
	return bound == CAPACITY ? __ants_tune(pool, value) :
				   ants_set_queue_depth(pool, value);
}

/*
 * Give each shard its part of another total. First all parts are checked. Then
 * those shards change whose part grows, which may fail; then the earlier ones get
 * back what they had. With parts that were checked a shrink does not fail, so the
 * others change last.
 */
static int divide(struct ants_multi *multi, enum bound bound, unsigned int total)
{
	bool capacity = bound == CAPACITY;
	struct ants_shard *shard;
	struct ants_pool *pool;
	unsigned int nr = 0;
	int err = 0;

	lock_shards(multi);
	for_each_part(shard, multi) {
		pool = shard->pool;
		shard->share = ants_share(multi, total, nr++);
		shard->was = capacity ? pool->limits.capacity :
					pool->config.queue_depth;
		err = ants_check_bounds(capacity ? shard->share : pool->limits.capacity,
					capacity ? pool->config.queue_depth : shard->share,
					pool->config.min_workers, pool->flags);
		if (err)
			goto unlock;
	}
	for_each_part(shard, multi) {
		if (shard->share < shard->was)
			continue;
		err = set_bound(shard->pool, bound, shard->share);
		if (!err)
			continue;
		while (shard-- != multi->shards)
			set_bound(shard->pool, bound, shard->was);
		goto unlock;
	}
	for_each_part(shard, multi)
		if (shard->share < shard->was)
			WARN_ON_ONCE(set_bound(shard->pool, bound, shard->share));
unlock:
	unlock_shards(multi);
	return err;
}

int __ants_multi_tune(struct ants_multi *multi, unsigned int capacity)
{
	return capacity < multi->nr_shards ? -EINVAL :
					     divide(multi, CAPACITY, capacity);
}

int __ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth)
{
	return depth > ANTS_BOUND_MAX ? -EINVAL :
					divide(multi, QUEUE_DEPTH, depth);
}

/* All affinities are made before the first one is applied. */
int ants_multi_set_place(struct ants_multi *multi, const struct ants_place *place)
{
	struct ants_shard *shard;
	int err = 0;

	if (place->what == ANTS_PLACE_CPUS && multi->strategy == ANTS_LOCAL)
		return -EINVAL;
	lock_shards(multi);
	for_each_part(shard, multi) {
		shard->affinity = ants_inject(ANTS_FAIL_AFFINITY) ?
				  ERR_PTR(-ENOMEM) :
				  ants_affinity_with(shard->pool, place);
		err = PTR_ERR_OR_ZERO(shard->affinity);
		if (!err)
			continue;
		while (shard-- != multi->shards)
			ants_affinity_put(shard->affinity);
		goto unlock;
	}
	for_each_part(shard, multi)
		ants_affinity_change(shard->pool, shard->affinity);
unlock:
	unlock_shards(multi);
	return err;
}

/*
 * What a user of the multi asks for: that a function is called with the
 * configuration locked, or, if @set is NULL, that the threads of all shards have
 * another place.
 */
static int change_user(struct ants_multi *multi,
		       int (*set)(struct ants_multi *multi, unsigned int value),
		       unsigned int value, const struct ants_place *place)
{
	struct ants_pool *first = multi->shards[0].pool;
	int err;

	ants_caller_enter(first);
	err = mutex_lock_killable(&multi->config);
	if (!err) {
		err = place ? ants_multi_set_place(multi, place) : set(multi, value);
		mutex_unlock(&multi->config);
	}
	ants_caller_leave(first);
	return err;
}

int ants_multi_reboot(struct ants_multi *multi)
{
	return change_user(multi, reboot_all, 0, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_reboot);

int ants_multi_tune(struct ants_multi *multi, unsigned int capacity)
{
	return change_user(multi, __ants_multi_tune, capacity, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_tune);

int ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth)
{
	return change_user(multi, __ants_multi_set_queue_depth, depth, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_set_queue_depth);

int ants_multi_set_nice(struct ants_multi *multi, int nice)
{
	return change_user(multi, NULL, 0, &(struct ants_place){
				.what = ANTS_PLACE_NICE, .value = nice });
}
EXPORT_SYMBOL_GPL(ants_multi_set_nice);

int ants_multi_set_sched(struct ants_multi *multi, enum ants_sched sched)
{
	return change_user(multi, NULL, 0, &(struct ants_place){
				.what = ANTS_PLACE_SCHED, .value = sched });
}
EXPORT_SYMBOL_GPL(ants_multi_set_sched);

int ants_multi_set_cpumask(struct ants_multi *multi, const struct cpumask *mask)
{
	return change_user(multi, NULL, 0, &(struct ants_place){
				.what = ANTS_PLACE_CPUS, .cpus = mask });
}
EXPORT_SYMBOL_GPL(ants_multi_set_cpumask);
