// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handing a task to the shard that suits it best. If that one is full the
 * others are tried, and only if all are full it is the one to wait in.
 */
#include "internal.h"
#include "multi.h"

/* A hint, read without any lock. */
static unsigned int least_tasks(const struct ants_multi *multi)
{
	unsigned int i, tasks, least = UINT_MAX, best = 0;
	struct ants_pool *pool;

	for (i = 0; (pool = ants_shard(multi, i)); i++) {
		tasks = ants_nr_busy(pool) + ants_nr_pending(pool);
		if (tasks >= least)
			continue;
		best = i;
		least = tasks;
		if (!least)
			break;
	}
	return best;
}

static unsigned int choose(struct ants_multi *multi)
{
	switch (multi->strategy) {
	case ANTS_LEAST_TASKS:
		return least_tasks(multi);
	case ANTS_LOCAL:
		return multi->shard_of[raw_smp_processor_id()];
	default:
		return (unsigned int)atomic_inc_return(&multi->next) %
		       multi->nr_shards;
	}
}

/* The other shards in turn, each once. One that is closed ends it. */
static __always_inline int
try_others(const struct ants_multi *multi, unsigned int first, ants_fn_t fn,
	   void *data, int (*attempt)(struct ants_pool *pool, ants_fn_t fn,
				      void *data))
{
	unsigned int i, nr = first;
	int err = -EAGAIN;

	for (i = 1; i < multi->nr_shards; i++) {
		if (++nr == multi->nr_shards)
			nr = 0;
		err = attempt(multi->shards[nr].pool, fn, data);
		if (!err || err == -ESHUTDOWN)
			return err;
	}
	return -EAGAIN;
}

static inline int attempt_once(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	return ants_submit_attempt(pool, fn, data, false);
}

/* How a caller waits, or does not, when all shards are full. */
typedef int (*last_resort_t)(struct ants_pool *pool, ants_fn_t fn, void *data,
			     unsigned long timeout);

/*
 * Shard @nr is full, and the caller counted in there, so that no shard is freed
 * meanwhile. A task of the multi waits in its own shard, and only there: so the
 * rule that leaves one worker of each shard to go on serves for all of them.
 */
static noinline int submit_elsewhere(struct ants_multi *multi, unsigned int nr,
				     ants_fn_t fn, void *data,
				     unsigned long timeout, last_resort_t last)
{
	struct ants_pool *pool = multi->shards[nr].pool;
	int err = try_others(multi, nr, fn, data, attempt_once);

	if (err == -EAGAIN)
		err = last(ants_multi_runs(multi) ?: pool, fn, data, timeout);
	ants_caller_leave(pool);
	return err;
}

static int wait_as_configured(struct ants_pool *pool, ants_fn_t fn, void *data,
			      unsigned long unused)
{
	return ants_submit(pool, fn, data);
}

/**
 * ants_multi_submit() - hand a task to one of the shards
 * @multi: the multi
 * @fn: what to run
 * @data: and with what; any value
 *
 * The strategy says which shard. If it is full each other one is tried; if all
 * are, the caller waits for a place in the first choice, unless that is
 * %ANTS_NONBLOCKING. A task of the multi waits in its own shard. Who waits is
 * not moved to a shard that has room earlier. Tasks start in the order in which
 * their shard accepted them.
 *
 * Context: Process context. May sleep.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the multi
 * is released. -EAGAIN: all shards are full and the first choice is
 * non-blocking. -ENOMEM: it is non-blocking and there is no memory. -EBUSY: as
 * many callers as its share of &ants_attrs.max_blocking wait in it already.
 * -EDEADLK: the caller is a task of the multi, and so many of its shard's tasks
 * wait that none could ever go on. -EINTR: the caller is being killed, or is a
 * kthread that was told to stop.
 */
int ants_multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data)
{
	unsigned int nr = choose(multi);
	struct ants_pool *pool = multi->shards[nr].pool;
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, pool);
	if (unlikely(!fn))
		return -EINVAL;
	if (IS_ENABLED(CONFIG_LOCKDEP) &&
	    !(READ_ONCE(pool->flags) & ANTS_NONBLOCKING))
		ants_multi_touch(multi);
	err = ants_submit_attempt(pool, fn, data, true);
	if (likely(!err) || err == -ESHUTDOWN)
		return err;
	return submit_elsewhere(multi, nr, fn, data, MAX_SCHEDULE_TIMEOUT,
				wait_as_configured);
}
EXPORT_SYMBOL_GPL(ants_multi_submit);

/**
 * ants_multi_submit_timeout() - hand a task to one of the shards, wait a
 *	limited time
 * @multi: the multi
 * @fn: what to run
 * @data: and with what; any value
 * @timeout: how long to wait at most, in jiffies, whatever the shards' mode; 0
 *	does not wait
 *
 * Context: Process context. May sleep.
 * Return: as ants_multi_submit(), but never -EAGAIN; and -ETIMEDOUT: all shards
 * were full at first, and the one to wait in all the time; the task will not
 * run.
 */
int ants_multi_submit_timeout(struct ants_multi *multi, ants_fn_t fn,
			      void *data, unsigned long timeout)
{
	unsigned int nr = choose(multi);
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, multi->shards[nr].pool);
	if (unlikely(!fn))
		return -EINVAL;
	ants_multi_touch(multi);
	err = ants_submit_attempt(multi->shards[nr].pool, fn, data, true);
	if (likely(!err) || err == -ESHUTDOWN)
		return err;
	return submit_elsewhere(multi, nr, fn, data, timeout,
				ants_submit_timeout);
}
EXPORT_SYMBOL_GPL(ants_multi_submit_timeout);

/**
 * ants_multi_try_submit() - hand a task to one of the shards, never wait
 * @multi: the multi
 * @fn: what to run
 * @data: and with what; any value
 *
 * Tries each shard.
 *
 * Context: Any context but NMI and below the scheduler's own locks, as
 * ants_try_submit(). Does not enter the slab.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the multi
 * is released. -EAGAIN: all shards are full, or callers wait there. -ENOMEM:
 * all are full or short of spare slots, the first choice of slots; more are on
 * their way.
 */
int ants_multi_try_submit(struct ants_multi *multi, ants_fn_t fn, void *data)
{
	unsigned int nr = choose(multi);
	struct ants_pool *pool = multi->shards[nr].pool;
	int err;

	if (unlikely(!fn))
		return -EINVAL;
	err = ants_try_attempt(pool, fn, data);
	if (likely(!err) || err == -ESHUTDOWN)
		return err;
	err = try_others(multi, nr, fn, data, ants_try_attempt);
	/* Once more: who refuses for all of them counts it. */
	return err == -EAGAIN ? ants_try_submit(pool, fn, data) : err;
}
EXPORT_SYMBOL_GPL(ants_multi_try_submit);
