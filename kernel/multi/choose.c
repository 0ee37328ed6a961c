// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submitting a task to the shard that suits it best. If that one is full, the
 * others are tried; if all are full, the caller waits in the first choice.
 */
#include <linux/export.h>
#include <linux/smp.h>

#include "../internal.h"
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

struct ants_pool *ants_multi_choose(struct ants_multi *multi)
{
	return multi->shards[choose_shard(multi)].pool;
}
EXPORT_SYMBOL_GPL(ants_multi_choose);

/*
 * The first shard has refused with @refusal; try the others in turn, each once.
 * A closed one ends this. Return -EIO if none takes tasks after too many faults;
 * one that does and is full can be waited for. @may_sleep: the caller may.
 */
static __always_inline int
try_others(const struct ants_multi *multi, unsigned int first, ants_fn_t fn,
	   void *data, int refusal, bool may_sleep)
{
	unsigned int i, nr = first;
	struct ants_pool *pool;
	int err;

	for (i = 1; i < multi->nr_shards; i++) {
		if (++nr == multi->nr_shards)
			nr = 0;
		pool = multi->shards[nr].pool;
		err = may_sleep ? ants_submit_attempt(pool, fn, data, false) :
				  ants_try_attempt(pool, fn, data);
		if (!err || err == -ESHUTDOWN)
			return err;
		if (err != -EIO)
			refusal = err;
	}
	return refusal == -EIO ? -EIO : -EAGAIN;
}

/*
 * All shards refused the caller; count that in @pool. The shard that has room
 * first clears the flag of the multi and calls back. The flag is set before the
 * first shard is marked. So an event that finds a mark of this refusal finds
 * the flag set, unless another shard has cleared it after the refusal and calls
 * back. A mark that is left over when the flag is clear has no effect. A shard
 * that is marked may have room by now, and then there may be no further event, so
 * its timer calls back.
 */
static int multi_refuse(struct ants_multi *multi, struct ants_pool *pool,
			ants_fn_t fn, void *data, int err)
{
	struct ants_todo todo;

	ants_lock_any(pool, &todo);
	ants_trace(task_refuse, pool, fn, data, err);
	pool->counts.rejected++;
	ants_unlock_any(pool, &todo);
	if (err != -EAGAIN || !pool->ops.space_available)
		return err;
	ants_pause(ANTS_PAUSE_REFUSED, pool);
	atomic_set(&multi->congested, 1);
	for_each_shard(pool, multi) {
		ants_lock_any(pool, &todo);
		if (!pool->released) {
			pool->space.congested_all = true;
			ants_end_fast_path(pool);
			if (ants_can_admit(pool))
				ants_timer_arm_soon(pool, 1);
		}
		ants_unlock_any(pool, &todo);
	}
	return err;
}

/*
 * A shard to wait in: @pool, unless that takes no tasks after too many faults. A
 * task of the multi waits in its own shard only. So the rule that leaves one worker
 * of each shard that does not wait covers the whole multi.
 */
static struct ants_pool *shard_to_wait_in(struct ants_multi *multi,
					  struct ants_pool *pool)
{
	struct ants_pool *other = ants_multi_runs(multi);

	if (other)
		return other;
	if (likely(!READ_ONCE(pool->faults.tripped)))
		return pool;
	for_each_shard(other, multi)
		if (!READ_ONCE(other->faults.tripped))
			return other;
	return pool;
}

/*
 * Shard @nr is full, and the caller holds a reference on it, so no shard is freed
 * meanwhile. If all are full, the caller waits for @timeout if @timed; otherwise it
 * does what the shard that it would wait in is configured for.
 */
static noinline int submit_elsewhere(struct ants_multi *multi, unsigned int nr,
				     ants_fn_t fn, void *data, int refusal,
				     unsigned long timeout, bool timed)
{
	struct ants_pool *pool = multi->shards[nr].pool, *last;
	struct ants_inline *run = NULL;
	int err;

	if (READ_ONCE(pool->flags) & ANTS_CALLER_RUNS) {
		/*
		 * A caller for which there is no memory waits instead of running the
		 * task: see submit.c.
		 */
		run = ants_inline_begin(pool, false);
		timed |= !run;
	}
	err = try_others(multi, nr, fn, data, refusal, true);
	if (err == -EAGAIN) {
		last = shard_to_wait_in(multi, pool);
		if (timed) {
			err = ants_submit_timeout(last, fn, data, timeout);
		} else if (!(READ_ONCE(last->flags) & ANTS_NONBLOCKING)) {
			err = ants_submit(last, fn, data);
		} else {
			err = ants_submit_attempt(last, fn, data, false);
			if (err && err != -ESHUTDOWN)
				multi_refuse(multi, last, fn, data, err);
		}
	} else if (err == -EIO) {
		multi_refuse(multi, pool, fn, data, err);
	}
	ants_inline_end(run);
	ants_caller_leave(pool);
	return err;
}

static __always_inline int multi_submit(struct ants_multi *multi, ants_fn_t fn,
					void *data, unsigned long timeout,
					bool timed)
{
	unsigned int nr = choose_shard(multi);
	struct ants_pool *pool = multi->shards[nr].pool;
	int err;

	if (unlikely(!fn))
		return -EINVAL;
	if (IS_ENABLED(CONFIG_LOCKDEP) && timeout &&
	    (timed || !(READ_ONCE(pool->flags) & ANTS_NONBLOCKING)))
		ants_multi_touch(multi);
	err = ants_submit_attempt(pool, fn, data, true);
	if (likely(!err) || err == -ESHUTDOWN)
		return err;
	return submit_elsewhere(multi, nr, fn, data, err, timeout, timed);
}

int ants_multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data)
{
	return multi_submit(multi, fn, data, MAX_SCHEDULE_TIMEOUT, false);
}
EXPORT_SYMBOL_GPL(ants_multi_submit);

int ants_multi_submit_timeout(struct ants_multi *multi, ants_fn_t fn,
			      void *data, unsigned long timeout)
{
	return multi_submit(multi, fn, data, timeout, true);
}
EXPORT_SYMBOL_GPL(ants_multi_submit_timeout);

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
	others = try_others(multi, nr, fn, data, err, false);
	if (!others || others == -ESHUTDOWN)
		return others;
	/* What the first choice lacks, unless that takes no tasks and others do. */
	return multi_refuse(multi, pool, fn, data, err == -EIO ? others : err);
}
EXPORT_SYMBOL_GPL(ants_multi_try_submit);
