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

/*
 * Do for shard @nr whatever can fail. A bound that grows is set at once. With a part
 * that was checked a shrink does not fail, so it is left to finish().
 */
static int try_change(struct ants_multi *multi, unsigned int nr,
		      const struct ants_change *change)
{
	struct ants_shard *shard = &multi->shards[nr];
	struct ants_pool *pool = shard->pool;

	switch (change->what) {
	case ANTS_SET_CAPACITY:
	case ANTS_SET_QUEUE_DEPTH:
		shard->part = (struct ants_change){
			.what = change->what,
			.value = ants_share(multi, change->value, nr),
		};
		shard->was = pool->config.queue_depth;
		if (change->what == ANTS_SET_CAPACITY) {
			if (shard->part.value < pool->config.min_workers)
				return -EINVAL;
			shard->was = pool->limits.capacity;
		}
		return shard->part.value < shard->was ? 0 : ants_set(pool, &shard->part);
	case ANTS_REBOOT:
		return __ants_reboot(pool, shard->was);
	default:
		shard->affinity = ants_inject(ANTS_FAIL_AFFINITY) ?
				  ERR_PTR(-ENOMEM) :
				  ants_affinity_with(pool, change);
		return PTR_ERR_OR_ZERO(shard->affinity);
	}
}

/* Another shard has failed. */
static void undo_change(struct ants_shard *shard, const struct ants_change *change)
{
	switch (change->what) {
	case ANTS_SET_CAPACITY:
	case ANTS_SET_QUEUE_DEPTH:
		if (shard->part.value < shard->was)
			break;
		shard->part.value = shard->was;
		WARN_ON_ONCE(ants_set(shard->pool, &shard->part));
		break;
	case ANTS_REBOOT:
		ants_close(shard->pool);
		break;
	default:
		ants_affinity_put(shard->affinity);
	}
}

/* No shard has failed. */
static void finish_change(struct ants_shard *shard, const struct ants_change *change)
{
	switch (change->what) {
	case ANTS_SET_CAPACITY:
	case ANTS_SET_QUEUE_DEPTH:
		if (shard->part.value < shard->was)
			WARN_ON_ONCE(ants_set(shard->pool, &shard->part));
		break;
	case ANTS_REBOOT:
		/*
		 * Callers that have closed the multi may not have seen that it was
		 * drained.
		 */
		wake_up_all(&shard->pool->waitq);
		break;
	default:
		ants_affinity_change(shard->pool, shard->affinity);
	}
}

/* Is the multi drained? Note for each shard how often it was closed. */
static bool note_drained(struct ants_multi *multi)
{
	struct ants_shard *shard = multi->shards;
	bool drained = true;

	for (; shard < multi->shards + multi->nr_shards; shard++) {
		raw_spin_lock_irq(&shard->pool->lock);
		shard->was = shard->pool->release.seq;
		drained &= ants_is_drained(shard->pool);
		ants_unlock_irq(shard->pool);
	}
	return drained;
}

/* Change all shards or none; with multi->config held. */
int ants_multi_set(struct ants_multi *multi, const struct ants_change *change)
{
	struct ants_pool *pool;
	unsigned int nr;
	int err = 0;

	lockdep_assert_held(&multi->config);
	if ((change->what == ANTS_SET_CAPACITY && change->value < multi->nr_shards) ||
	    (change->what == ANTS_SET_QUEUE_DEPTH && change->value > ANTS_BOUND_MAX) ||
	    (change->what == ANTS_SET_CPUS && multi->strategy == ANTS_LOCAL))
		return -EINVAL;
	/* From here on a release makes a reboot fail. */
	if (change->what == ANTS_REBOOT && !note_drained(multi))
		return -EBUSY;
	/* While all of these are held, a bound that was checked does not change. */
	for_each_shard(pool, multi)
		mutex_lock_nest_lock(&pool->config.lock, &multi->config);
	for (nr = 0; nr < multi->nr_shards && !err; nr++)
		err = try_change(multi, nr, change);
	if (err) {
		/* The last of these has failed. */
		while (--nr)
			undo_change(&multi->shards[nr - 1], change);
	} else {
		while (nr--)
			finish_change(&multi->shards[nr], change);
	}
	for_each_shard(pool, multi)
		mutex_unlock(&pool->config.lock);
	return err;
}

/* The same for a user of the multi. */
static int set_user(struct ants_multi *multi, enum ants_setting what,
		    unsigned int value, const struct cpumask *cpus)
{
	struct ants_change change = { what, value, cpus };
	struct ants_pool *first = multi->shards[0].pool;
	int err;

	ants_caller_enter(first);
	err = mutex_lock_killable(&multi->config);
	if (!err) {
		err = ants_multi_set(multi, &change);
		mutex_unlock(&multi->config);
	}
	ants_caller_leave(first);
	return err;
}

int ants_multi_reboot(struct ants_multi *multi)
{
	return set_user(multi, ANTS_REBOOT, 0, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_reboot);

int ants_multi_tune(struct ants_multi *multi, unsigned int capacity)
{
	return set_user(multi, ANTS_SET_CAPACITY, capacity, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_tune);

int ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth)
{
	return set_user(multi, ANTS_SET_QUEUE_DEPTH, depth, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_set_queue_depth);

int ants_multi_set_nice(struct ants_multi *multi, int nice)
{
	return set_user(multi, ANTS_SET_NICE, nice, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_set_nice);

int ants_multi_set_sched(struct ants_multi *multi, enum ants_sched sched)
{
	return set_user(multi, ANTS_SET_SCHED, sched, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_set_sched);

int ants_multi_set_cpumask(struct ants_multi *multi, const struct cpumask *mask)
{
	return set_user(multi, ANTS_SET_CPUS, 0, mask);
}
EXPORT_SYMBOL_GPL(ants_multi_set_cpumask);
