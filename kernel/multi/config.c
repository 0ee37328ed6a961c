// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done to all shards of a multi: closing, opening again, flushing, and
 * dividing a capacity. Opening and dividing are serialised by multi->config.
 * Closing waits for neither, and makes an opening in progress fail. Only the
 * functions here close and open shards, and they do so in order.
 */
#include <linux/export.h>

#include "../internal.h"
#include "multi.h"

/* The shard that the caller is a task of, or NULL. */
static struct ants_pool *multi_own(const struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		if (ants_in_pool(pool))
			return pool;
	return NULL;
}

/* The same, or a shard of which the caller runs a task by itself. */
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

	if (!IS_ENABLED(CONFIG_LOCKDEP) || multi_own(multi))
		return;
	for_each_shard(pool, multi)
		ants_wait_touch(pool);
}

/*
 * Count in a caller that may sleep, with one of the shards, so that destroy
 * waits.
 */
static void multi_enter(struct ants_multi *multi)
{
	ants_caller_enter(multi->shards[0].pool);
}

static void multi_leave(struct ants_multi *multi)
{
	ants_caller_leave(multi->shards[0].pool);
}

/* Lock the configuration for a call that a user of the multi makes. */
static int multi_lock_user(struct ants_multi *multi, struct ants_visit *visit)
{
	ants_visit_begin(visit, multi->shards[0].pool);
	multi_enter(multi);
	if (!mutex_lock_killable(&multi->config))
		return 0;
	multi_leave(multi);
	return -EINTR;
}

static void multi_unlock(struct ants_multi *multi)
{
	mutex_unlock(&multi->config);
	multi_leave(multi);
}

static struct ants_pool *last_shard(const struct ants_multi *multi)
{
	return multi->shards[multi->nr_shards - 1].pool;
}

bool ants_multi_is_released(const struct ants_multi *multi)
{
	/* The last shard is the last one to be closed, and to be opened. */
	return ants_is_released(last_shard(multi));
}
EXPORT_SYMBOL_GPL(ants_multi_is_released);

bool ants_multi_is_drained(const struct ants_multi *multi)
{
	struct ants_pool *pool;
	bool drained = true;

	for_each_shard(pool, multi) {
		raw_spin_lock_irq(&pool->lock);
		drained &= ants_is_drained(pool);
		ants_unlock_irq(pool);
	}
	return drained;
}

/* Is there no shard that takes tasks? */
bool ants_multi_is_faulted(const struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		if (!READ_ONCE(pool->faults.tripped))
			return false;
	return true;
}

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
	DEFINE_ANTS_VISIT(visit);

	ants_visit_begin(&visit, multi->shards[0].pool);
	multi_enter(multi);
	close_all(multi);
	multi_leave(multi);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_multi_release);

/* What a caller that has closed a multi waits for. */
struct multi_end {
	const struct ants_pool *last;
	unsigned int generation;
};

/*
 * Is this shard drained, or were all shards drained and opened again meanwhile?
 * A reboot may fail after it has opened some shards, because this caller has
 * closed another one that the reboot had found drained. Then the reboot closes
 * again what it has opened.
 */
static bool shard_drained(struct ants_pool *pool, const void *arg)
{
	const struct multi_end *end = arg;

	lockdep_assert_held(&pool->lock);
	return READ_ONCE(end->last->release.generation) != end->generation ||
	       ants_is_drained(pool);
}

int ants_multi_release_timeout(struct ants_multi *multi, unsigned long timeout)
{
	unsigned long start = jiffies;
	struct ants_pool *pool;
	struct multi_end end;
	DEFINE_ANTS_VISIT(visit);
	int err = 0;

	ants_visit_begin(&visit, multi->shards[0].pool);
	might_sleep();
	if (multi_own(multi))
		return -EDEADLK;
	if (timeout)
		ants_multi_touch(multi);
	multi_enter(multi);
	end.last = last_shard(multi);
	end.generation = close_all(multi);
	ants_pause(ANTS_PAUSE_CLOSED, multi->shards[0].pool);
	for_each_shard(pool, multi) {
		err = ants_wait_until(pool, shard_drained, &end,
				      ants_time_left(start, timeout),
				      TASK_KILLABLE);
		if (err)
			break;
	}
	multi_leave(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_release_timeout);

/* Are all shards drained? From here on a release makes the reboot fail. */
static bool reboot_check(struct ants_multi *multi)
{
	struct ants_shard *shard;
	bool drained = true;
	unsigned int i;

	for (i = 0; i < multi->nr_shards; i++) {
		shard = &multi->shards[i];
		raw_spin_lock_irq(&shard->pool->lock);
		shard->seq = shard->pool->release.seq;
		drained &= ants_is_drained(shard->pool);
		ants_unlock_irq(shard->pool);
	}
	return drained;
}

static int reboot_shard(const struct ants_shard *shard)
{
	int err;

	mutex_lock(&shard->pool->config.lock);
	err = __ants_reboot(shard->pool, shard->seq);
	mutex_unlock(&shard->pool->config.lock);
	return err;
}

/*
 * Wake callers that have closed the multi, and have not seen that it was
 * drained.
 */
static void notify_opened(struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		wake_up_all(&pool->waitq);
}

/*
 * Open all shards or none: after an error those that were opened are closed
 * again.
 */
static int reboot_all(struct ants_multi *multi)
{
	unsigned int i;
	int err;

	lockdep_assert_held(&multi->config);
	if (!reboot_check(multi))
		return -EBUSY;
	for (i = 0; i < multi->nr_shards; i++) {
		err = reboot_shard(&multi->shards[i]);
		if (!err)
			continue;
		while (i--)
			ants_close(multi->shards[i].pool);
		return err;
	}
	notify_opened(multi);
	return 0;
}

int ants_multi_reboot(struct ants_multi *multi)
{
	DEFINE_ANTS_VISIT(visit);
	int err = multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = reboot_all(multi);
	multi_unlock(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_reboot);

int ants_multi_flush_timeout(struct ants_multi *multi, unsigned long timeout)
{
	unsigned long start = jiffies;
	struct ants_pool *pool;
	DEFINE_ANTS_VISIT(visit);
	int err = 0;

	ants_visit_begin(&visit, multi->shards[0].pool);
	might_sleep();
	if (multi_own(multi))
		return -EDEADLK;
	/*
	 * Checked here, because a short timeout may be used up before the last
	 * shard.
	 */
	if (timeout)
		ants_multi_touch(multi);
	multi_enter(multi);
	for_each_shard(pool, multi) {
		err = ants_flush_timeout(pool, ants_time_left(start, timeout));
		if (err)
			break;
	}
	multi_leave(multi);
	return err;
}
EXPORT_SYMBOL_GPL(ants_multi_flush_timeout);

int ants_multi_flush(struct ants_multi *multi)
{
	return ants_multi_flush_timeout(multi, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_multi_flush);

/*
 * Changing all shards of a live multi. Whatever can fail is done for each shard
 * before it takes effect in any, or is undone.
 */

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
	int err = multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = set(multi, total);
	multi_unlock(multi);
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
	int err = multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = ants_multi_set_place(multi, place);
	multi_unlock(multi);
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
