// SPDX-License-Identifier: GPL-2.0-only
/* Calls that change a pool, close it, open it, wait for it, and end it. */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "torture.h"

#define MOST_CAPACITY	8
#define NR_WAITERS	3

void op_tune(struct actor *actor)
{
	const struct flavour *flavour = actor->target->flavour;
	unsigned int least = max(flavour->attrs.min_workers, 1U);
	unsigned int capacity = least + rnd(actor, MOST_CAPACITY - least + 1);

	if (flavour->kind == KIND_ORDERED)
		capacity = 1;
	(void)CALL(actor, TUNE, ants_tune(actor->pool, capacity));
}

/* A random mask of possible CPUs, online or not. */
static bool random_mask(struct cpumask *mask, struct actor *actor)
{
	unsigned int cpu;

	cpumask_clear(mask);
	for_each_possible_cpu(cpu)
		if (rnd(actor, 2))
			cpumask_set_cpu(cpu, mask);
	return !cpumask_empty(mask);
}

void op_affinity(struct actor *actor)
{
	struct ants_pool *pool = actor->pool;
	cpumask_var_t mask;

	if (rnd(actor, 2)) {
		(void)CALL(actor, SET_NICE,
			   ants_set_nice(pool, (int)rnd(actor, 8) - 4));
		return;
	}
	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return;
	if (random_mask(mask, actor))
		(void)CALL(actor, SET_CPUMASK, ants_set_cpumask(pool, mask));
	else
		(void)CALL(actor, SET_CPUMASK, ants_set_cpumask(pool, NULL));
	free_cpumask_var(mask);
}

void op_flush(struct actor *actor)
{
	struct ants_pool *pool = actor->pool;

	switch (rnd(actor, 3)) {
	case 0:
		(void)CALL(actor, FLUSH, ants_flush(pool));
		break;
	case 1:
		(void)CALL(actor, FLUSH_TIMEOUT,
			   ants_flush_timeout(pool, rnd(actor, 10)));
		break;
	default:
		/*
		 * Others may go on submitting, so this call needs a time limit.
		 */
		if (actor->target->index == UINT_MAX)
			(void)CALL(actor, DRAIN, ants_drain(pool));
		else
			(void)CALL(actor, DRAIN_TIMEOUT,
				   ants_drain_timeout(pool, rnd(actor, 20)));
	}
}

/* The call would wait for its own task. */
void op_self_wait(struct actor *actor)
{
	struct ants_pool *pool = actor->pool;

	if (!actor->depth || !ants_in_pool(pool))
		return;
	switch (rnd(actor, 3)) {
	case 0:
		(void)CALL(actor, WAIT_FOR_ITSELF, ants_flush(pool));
		break;
	case 1:
		(void)CALL(actor, WAIT_FOR_ITSELF,
			   ants_drain_timeout(pool, HZ));
		break;
	default:
		if (actor->target->multi)
			break;
		(void)CALL(actor, WAIT_FOR_ITSELF,
			   ants_release_timeout(pool, HZ));
	}
}

/*
 * Open a closed pool as soon as it is empty. One that takes no more tasks has to
 * be closed for that.
 */
void op_reboot(struct actor *actor)
{
	struct target *target = actor->target;

	if (!target->pool)
		return;
	if (atomic_read(&target->tripped)) {
		atomic_inc(&target->closed);
		(void)CALL(actor, RELEASE, ants_release(target->pool));
	}
	if (!ants_is_released(target->pool))
		return;
	if (CALL(actor, RELEASE_TIMEOUT,
		 ants_release_timeout(target->pool, HZ)))
		return;
	atomic_set(&target->tripped, 0);
	(void)CALL(actor, REBOOT, ants_reboot(target->pool));
}

void op_release(struct actor *actor)
{
	struct target *target = actor->target;

	if (!target->pool)
		return;
	atomic_inc(&target->closed);
	if (rnd(actor, 2) || actor->depth) {
		(void)CALL(actor, RELEASE, ants_release(target->pool));
		return;
	}
	(void)CALL(actor, RELEASE_TIMEOUT,
		   ants_release_timeout(target->pool, random_timeout(actor)));
	op_reboot(actor);
}

/* The numbers of one snapshot must fit each other. */
static void check_stats(const struct ants_stats *stats)
{
	if (stats->submitted <
	    stats->completed + stats->cancelled + stats->lost)
		broken("%llu submitted, %llu completed, %llu cancelled, %llu lost",
		       stats->submitted, stats->completed, stats->cancelled,
		       stats->lost);
	if (stats->busy > stats->peak_busy ||
	    stats->pending > stats->peak_pending ||
	    stats->running > stats->peak_running)
		broken("a number is above its peak");
	if (stats->idle + stats->busy > stats->running)
		broken("%u idle and %u busy of %u threads", stats->idle,
		       stats->busy, stats->running);
}

void op_numbers(struct actor *actor)
{
	struct ants_pool *pool = actor->pool;
	struct ants_stats stats;

	call_enter(actor, CALL_STATS);
	ants_pool_stats(pool, &stats);
	call_leave(actor, 0);
	check_stats(&stats);
	if (ants_nr_busy(pool) + ants_nr_idle(pool) + ants_nr_pending(pool) +
	    ants_nr_waiting(pool) + ants_nr_running(pool) > INT_MAX)
		broken("a number is negative");
	if (!ants_capacity(pool))
		broken("a capacity is 0");
	(void)ants_nr_free(pool);
	(void)ants_congested(pool);
}

/* The system pool may not be changed by its users. */
void op_forbidden(struct actor *actor)
{
	struct ants_pool *pool = ants_system_pool;

	switch (rnd(actor, 5)) {
	case 0:
		(void)CALL(actor, SYSTEM_FORBIDDEN, ants_tune(pool, 1));
		break;
	case 1:
		(void)CALL(actor, SYSTEM_FORBIDDEN, ants_release(pool));
		break;
	case 2:
		(void)CALL(actor, SYSTEM_FORBIDDEN, ants_pool_destroy(pool));
		break;
	case 3:
		(void)CALL(actor, SYSTEM_FLUSH, ants_flush(pool));
		break;
	default:
		(void)CALL(actor, SYSTEM_FLUSH, ants_drain_timeout(pool, 1));
	}
}

/* End the target and put another one in its place. */
void op_renew(struct actor *actor)
{
	target_renew(actor->target, actor);
}

/* --- pools that live for a moment --------------------------------------------- */

static struct target *private_target(struct actor *actor)
{
	struct target *target = kzalloc(sizeof(*target), GFP_KERNEL);

	if (!target)
		return NULL;
	target->index = UINT_MAX;
	if (!target_make(target, actor))
		return target;
	kfree(target);
	return NULL;
}

static void private_end(struct target *target, struct actor *actor)
{
	struct target *before = actor->target;

	actor->target = target;
	target_end(target, actor, rnd(actor, 2));
	target_judge(target);
	actor->target = before;
	kfree(target);
}

/* Make a pool, load it, and destroy it with everything in flight. */
void op_short_life(struct actor *actor)
{
	struct target *target = private_target(actor), *before = actor->target;
	unsigned int i, nr = 1 + rnd(actor, 6);

	if (!target)
		return;
	for (i = 0; i < nr; i++)
		act(actor, target, target_pool(target), true);
	actor->target = before;
	private_end(target, actor);
}

/**
 * struct queue - callers that are known to sleep in a pool
 * @target: the pool's target
 * @seed: decides what the callers do
 * @left: number of callers that have not returned
 */
struct queue {
	struct target *target;
	u32 seed;
	atomic_t left;
};

/* A task of the system pool. */
static void submit_for_queue(void *data)
{
	struct queue *queue = data;
	struct actor *actor = actor_claim(queue->seed, MAX_DEPTH);

	if (actor) {
		actor->target = queue->target;
		actor->pool = queue->target->pool;
		actor->waits = true;
		op_submit(actor);
		actor_drop(actor);
	}
	atomic_dec(&queue->left);
}

static void busy_for_a_while(void *unused)
{
	schedule_timeout_uninterruptible(HZ / 5);
}

/* Is that a task of no account? */
bool is_filler(ants_fn_t fn)
{
	return fn == busy_for_a_while;
}

/* True if @nr callers sleep in the pool before the time is over. */
static bool wait_for_queue(const struct queue *queue, unsigned int nr)
{
	unsigned long end = jiffies + HZ / 10;

	while (ants_nr_waiting(queue->target->pool) < nr) {
		if (time_after(jiffies, end))
			return false;
		schedule_timeout_uninterruptible(1);
	}
	return true;
}

static void queue_up(struct queue *queue)
{
	unsigned int i;

	for (i = 0; i < NR_WAITERS; i++) {
		atomic_inc(&queue->left);
		if (ants_try_submit(ants_system_pool, submit_for_queue, queue))
			atomic_dec(&queue->left);
	}
}

/* Destroy a pool while callers are known to wait for room in it. */
void op_destroy_waiters(struct actor *actor)
{
	static const struct flavour single = {
		.name = "waiters",
		.attrs = { .capacity = 1 },
	};
	struct target *before = actor->target;
	struct queue queue = { .seed = rnd(actor, U32_MAX) };
	struct target *target = kzalloc(sizeof(*target), GFP_KERNEL);

	if (!target)
		return;
	target->index = UINT_MAX;
	target->flavour = &single;
	actor->target = target;
	if (target_make(target, actor)) {
		actor->target = before;
		kfree(target);
		return;
	}
	queue.target = target;
	atomic_set(&queue.left, 0);
	(void)ants_try_submit(target->pool, busy_for_a_while, NULL);
	queue_up(&queue);
	if (!wait_for_queue(&queue, NR_WAITERS))
		while (atomic_read(&queue.left))
			schedule_timeout_uninterruptible(1);
	target_end(target, actor, false);
	while (atomic_read(&queue.left))
		schedule_timeout_uninterruptible(1);
	actor->target = before;
	target_judge(target);
	kfree(target);
}
