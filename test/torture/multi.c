// SPDX-License-Identifier: GPL-2.0-only
/* Calls of sharded pools. */
#include <linux/cpumask.h>
#include <linux/err.h>

#include "torture.h"

#define MOST_CAPACITY	12

static unsigned long open_for(struct actor *actor)
{
	return ticket_open(actor->target, rnd(actor, U32_MAX),
			   actor->depth + 1);
}

void op_multi_submit(struct actor *actor)
{
	struct ants_multi *multi = actor->target->multi;
	unsigned long number = open_for(actor);
	void *data = (void *)number;
	int err;

	if (!number)
		return;
	if (rnd(actor, 2))
		err = CALL(actor, MULTI_SUBMIT,
			   ants_multi_submit(multi, torture_task, data));
	else
		err = CALL(actor, MULTI_SUBMIT_TIMEOUT,
			   ants_multi_submit_timeout(multi, torture_task, data,
						     random_timeout(actor)));
	ticket_close(number, err);
}

void op_multi_try(struct actor *actor)
{
	unsigned long number = open_for(actor);

	if (!number)
		return;
	ticket_close(number,
		     CALL(actor, MULTI_TRY_SUBMIT,
			  ants_multi_try_submit(actor->target->multi,
						torture_task,
						(void *)number)));
}

static void change_cpus(struct ants_multi *multi, struct actor *actor)
{
	const struct cpumask *mask = rnd(actor, 2) ? cpu_possible_mask : NULL;

	if (actor->target->flavour->strategy == ANTS_LOCAL)
		(void)CALL(actor, MULTI_LOCAL_CPUMASK,
			   ants_multi_set_cpumask(multi, mask));
	else
		(void)CALL(actor, MULTI_SET,
			   ants_multi_set_cpumask(multi, mask));
}

void op_multi_change(struct actor *actor)
{
	struct ants_multi *multi = actor->target->multi;
	unsigned int least = ants_multi_nr_shards(multi);

	switch (rnd(actor, 4)) {
	case 0:
		(void)CALL(actor, MULTI_TUNE,
			   ants_multi_tune(multi, least +
					   rnd(actor, MOST_CAPACITY)));
		break;
	case 1:
		(void)CALL(actor, MULTI_SET,
			   ants_multi_set_queue_depth(multi, rnd(actor, 24)));
		break;
	case 2:
		(void)CALL(actor, MULTI_SET,
			   ants_multi_set_nice(multi, (int)rnd(actor, 8) - 4));
		break;
	default:
		change_cpus(multi, actor);
	}
}

void op_multi_numbers(struct actor *actor)
{
	struct ants_multi *multi = actor->target->multi;
	unsigned int nr = ants_multi_nr_shards(multi);
	struct ants_stats stats;
	struct ants_pool *shard;

	ants_multi_stats(multi, &stats);
	if (!ants_multi_capacity(multi) || !stats.capacity)
		broken("the capacity of a multi is 0");
	if (ants_multi_shard(multi, nr) != ERR_PTR(-ERANGE))
		broken("there is one more shard than there are");
	shard = ants_multi_shard(multi, rnd(actor, nr));
	if (IS_ERR(shard))
		broken("a shard is not there: %ld", PTR_ERR(shard));
	else if (!actor->atomic)
		(void)CALL(actor, SHARD_FORBIDDEN, ants_release(shard));
}

void op_multi_release(struct actor *actor)
{
	struct target *target = actor->target;
	struct ants_multi *multi = target->multi;

	switch (rnd(actor, 6)) {
	case 0:
		atomic_inc(&target->closed);
		(void)CALL(actor, MULTI_RELEASE, ants_multi_release(multi));
		break;
	case 1:
		atomic_inc(&target->closed);
		(void)CALL(actor, MULTI_RELEASE_TIMEOUT,
			   ants_multi_release_timeout(multi, HZ / 10));
		break;
	case 2:
		(void)CALL(actor, MULTI_FLUSH, ants_multi_flush(multi));
		break;
	default:
		(void)CALL(actor, MULTI_FLUSH_TIMEOUT,
			   ants_multi_flush_timeout(multi, rnd(actor, 20)));
	}
	if (atomic_read(&target->tripped)) {
		atomic_inc(&target->closed);
		(void)CALL(actor, MULTI_RELEASE, ants_multi_release(multi));
	}
	if (!ants_multi_is_released(multi))
		return;
	if (CALL(actor, MULTI_RELEASE_TIMEOUT,
		 ants_multi_release_timeout(multi, HZ)))
		return;
	atomic_set(&target->tripped, 0);
	(void)CALL(actor, MULTI_REBOOT, ants_multi_reboot(multi));
}
