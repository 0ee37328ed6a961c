// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done to all shards of a multi: closing, opening again, flushing, and
 * dividing a capacity. Opening and dividing are serialised by multi->config.
 * Closing waits for neither, and makes an opening in progress fail. Only the
 * functions here close and open shards, and they do so in order.
 */
#include "internal.h"
#include "multi.h"

/* The shard that the caller is a task of, or NULL. */
struct ants_pool *ants_multi_own(const struct ants_multi *multi)
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

	if (!IS_ENABLED(CONFIG_LOCKDEP) || ants_multi_own(multi))
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
int ants_multi_lock_user(struct ants_multi *multi, struct ants_visit *visit)
{
	ants_visit_begin(visit, multi->shards[0].pool);
	multi_enter(multi);
	if (!mutex_lock_killable(&multi->config))
		return 0;
	multi_leave(multi);
	return -EINTR;
}

void ants_multi_unlock(struct ants_multi *multi)
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
	if (ants_multi_own(multi))
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
	int err = ants_multi_lock_user(multi, &visit);

	if (err)
		return err;
	err = reboot_all(multi);
	ants_multi_unlock(multi);
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
	if (ants_multi_own(multi))
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
