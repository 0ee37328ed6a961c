// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submitting a task to the shard that suits it best. If that one is full, the
 * others are tried; if all are full, the caller waits in the first choice.
 */
#include "internal.h"
#include "multi.h"

/* A hint: the numbers are read without a lock. */
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

static unsigned int choose_shard(struct ants_multi *multi)
{
	switch (multi->strategy) {
	case ANTS_LEAST_TASKS:
		return least_tasks(multi);
	case ANTS_LOCAL:
		return multi->shard_of[raw_smp_processor_id()];
	default:
		return this_cpu_inc_return(*multi->turn) % multi->nr_shards;
	}
}

/**
 * ants_multi_choose() - choose the shard that suits a task of the caller best
 * @multi: the multi
 *
 * This is the shard that ants_multi_submit() tries first. It serves for
 * everything that a pool accepts and a multi does not: work items, delayed
 * ones, calls, loops, groups, batches, priorities. The pool ends with the
 * multi. The choice is right for one moment, and reserves nothing: a call on a
 * shard that is full waits there or is refused there, and no other shard is
 * tried. With %ANTS_ROUND_ROBIN each call takes the next turn.
 *
 * Context: Any context but NMI.
 * Return: the shard; a closed one if the multi is released.
 */
struct ants_pool *ants_multi_choose(struct ants_multi *multi)
{
	return multi->shards[choose_shard(multi)].pool;
}
EXPORT_SYMBOL_GPL(ants_multi_choose);

/* Try the other shards in turn, each once. A closed one ends this. */
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

/*
 * Mark a shard that refused the caller a moment ago. If it has room by now,
 * there may be no further event, so its timer calls back.
 */
static void mark_congested(struct ants_pool *pool)
{
	struct ants_todo todo;

	ants_lock_any(pool, &todo);
	if (!pool->released) {
		pool->congested_all = true;
		if (ants_can_admit(pool))
			ants_timer_arm_soon(pool, 1);
	}
	ants_unlock_any(pool, &todo);
}

/*
 * All shards refused the caller; count that in @pool. The shard that has room
 * first clears the flag of the multi and calls back. The flag is set before the
 * first shard is marked. So an event that finds a mark of this refusal finds
 * the flag set, unless another shard has cleared it after the refusal and calls
 * back. A mark that is left over when the flag is clear has no effect.
 */
static int multi_refuse(struct ants_multi *multi, struct ants_pool *pool,
			int err)
{
	struct ants_todo todo;
	unsigned int i;

	ants_lock_any(pool, &todo);
	pool->rejected++;
	ants_unlock_any(pool, &todo);
	if (err != -EAGAIN || !pool->space_available)
		return err;
	ants_pause(ANTS_PAUSE_REFUSED, pool);
	atomic_set(&multi->congested, 1);
	for (i = 0; (pool = ants_shard(multi, i)); i++)
		mark_congested(pool);
	return err;
}

/* How a caller waits, or does not wait, when all shards are full. */
typedef int (*last_resort_t)(struct ants_multi *multi, struct ants_pool *pool,
			     ants_fn_t fn, void *data, unsigned long timeout);

/*
 * Shard @nr is full, and the caller is counted in there, so no shard is freed
 * meanwhile. A task of the multi waits in its own shard only. So the rule that
 * leaves one worker of each shard that does not wait covers the whole multi.
 */
static noinline int submit_elsewhere(struct ants_multi *multi, unsigned int nr,
				     ants_fn_t fn, void *data,
				     unsigned long timeout, last_resort_t last)
{
	struct ants_pool *pool = multi->shards[nr].pool;
	int err = try_others(multi, nr, fn, data, attempt_once);

	if (err == -EAGAIN)
		err = last(multi, ants_multi_runs(multi) ?: pool, fn, data,
			   timeout);
	ants_caller_leave(pool);
	return err;
}

static int wait_as_configured(struct ants_multi *multi, struct ants_pool *pool,
			      ants_fn_t fn, void *data, unsigned long unused)
{
	int err;

	if (!(READ_ONCE(pool->flags) & ANTS_NONBLOCKING))
		return ants_submit(pool, fn, data);
	err = ants_submit_attempt(pool, fn, data, false);
	return err && err != -ESHUTDOWN ? multi_refuse(multi, pool, err) : err;
}

static int wait_for_room(struct ants_multi *multi, struct ants_pool *pool,
			 ants_fn_t fn, void *data, unsigned long timeout)
{
	return ants_submit_timeout(pool, fn, data, timeout);
}

/**
 * ants_multi_submit() - submit a task to one of the shards
 * @multi: the multi
 * @fn: the function to run
 * @data: its argument; any value
 *
 * The strategy chooses the shard. If it is full, each other one is tried; if
 * all are full, the caller waits for room in the first choice, unless that is
 * %ANTS_NONBLOCKING. A task of the multi waits in its own shard. A caller that
 * waits is not moved to a shard that has room earlier. Tasks start in the order
 * in which their shard has accepted them. If all shards have refused a caller
 * with -EAGAIN, the one that has room first calls &ants_attrs.space_available,
 * once.
 *
 * Context: Process context. May sleep.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the multi
 * is released. -EAGAIN: all shards are full and the first choice is
 * non-blocking. -ENOMEM: it is non-blocking and there is no memory. -EBUSY: as
 * many callers wait in it as its part of &ants_attrs.max_blocking allows.
 * -EDEADLK: the caller is a task of the multi, and so many tasks of its shard
 * wait that none could ever continue. -EINTR: the caller is being killed, or is
 * a kthread that was told to stop.
 */
int ants_multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data)
{
	unsigned int nr = choose_shard(multi);
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
 * ants_multi_submit_timeout() - submit a task to one of the shards, wait a
 * limited time
 * @multi: the multi
 * @fn: the function to run
 * @data: its argument; any value
 * @timeout: the longest time to wait, in jiffies, whatever the shards' mode; 0
 *	does not wait
 *
 * Context: Process context. May sleep.
 * Return: as ants_multi_submit(), but never -EAGAIN or -ENOMEM, and -EDEADLK
 * only if @timeout is MAX_SCHEDULE_TIMEOUT. -ETIMEDOUT: at first no shard had
 * room, and then the one to wait in had none until the end; the task will not
 * run.
 */
int ants_multi_submit_timeout(struct ants_multi *multi, ants_fn_t fn,
			      void *data, unsigned long timeout)
{
	unsigned int nr = choose_shard(multi);
	DEFINE_ANTS_VISIT(visit);
	int err;

	ants_visit_begin(&visit, multi->shards[nr].pool);
	if (unlikely(!fn))
		return -EINVAL;
	if (timeout)
		ants_multi_touch(multi);
	err = ants_submit_attempt(multi->shards[nr].pool, fn, data, true);
	if (likely(!err) || err == -ESHUTDOWN)
		return err;
	return submit_elsewhere(multi, nr, fn, data, timeout, wait_for_room);
}
EXPORT_SYMBOL_GPL(ants_multi_submit_timeout);

/**
 * ants_multi_try_submit() - submit a task to one of the shards, never wait
 * @multi: the multi
 * @fn: the function to run
 * @data: its argument; any value
 *
 * Tries each shard.
 *
 * Context: Any context but NMI and below the scheduler's own locks, as
 * ants_try_submit(). Does not enter the slab.
 * Return: 0: @fn runs exactly once. -EINVAL: @fn is NULL. -ESHUTDOWN: the multi
 * is released. -EAGAIN: all shards are full, or callers wait there. -ENOMEM:
 * all shards are full or short of spare slots, the first choice of slots; more
 * slots are being made.
 */
int ants_multi_try_submit(struct ants_multi *multi, ants_fn_t fn, void *data)
{
	unsigned int nr = choose_shard(multi);
	struct ants_pool *pool = multi->shards[nr].pool;
	int err, others;

	if (unlikely(!fn))
		return -EINVAL;
	err = ants_try_attempt(pool, fn, data);
	if (likely(!err) || err == -ESHUTDOWN)
		return err;
	others = try_others(multi, nr, fn, data, ants_try_attempt);
	return others == -EAGAIN ? multi_refuse(multi, pool, err) : others;
}
EXPORT_SYMBOL_GPL(ants_multi_try_submit);
