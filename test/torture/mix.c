// SPDX-License-Identifier: GPL-2.0-only
/* Which call is next. */
#include <linux/kernel.h>

#include "torture.h"

static const struct op ops[] = {
	{ op_submit, 14, OP_WAITS },
	{ op_try_submit, 10, OP_ATOMIC },
	{ op_batch, 4, OP_WAITS },
	{ op_invoke, 6, OP_ATOMIC },
	{ op_call, 5, OP_WAITS | OP_DIES },
	{ op_call_release, 4, OP_WAITS | OP_DIES },
	{ op_for_each, 3, OP_WAITS },
	{ op_own_item, 7, OP_WAITS | OP_DIES },
	{ op_stack_item, 2, OP_WAITS },
	{ op_fork, 6, OP_WAITS | OP_DIES },
	{ op_shared_item, 9, OP_ATOMIC },
	{ op_shared_wait, 4, OP_WAITS | OP_DIES },
	{ op_wanderer, 4, OP_ATOMIC },
	{ op_detached, 6, 0 },
	{ op_cancel_pending, 2, 0 },
	{ op_group, 8, OP_WAITS | OP_DIES },
	{ op_group_cancel, 5, OP_ATOMIC },
	{ op_tune, 2, 0 },
	{ op_affinity, 1, 0 },
	{ op_flush, 2, OP_WAITS | OP_THREAD },
	{ op_self_wait, 2, 0 },
	{ op_release, 1, 0 },
	{ op_reboot, 4, OP_THREAD },
	{ op_numbers, 3, OP_ATOMIC },
	{ op_forbidden, 1, OP_SYSTEM },
	{ op_renew, 1, OP_THREAD },
	{ op_short_life, 1, OP_THREAD },
	{ op_destroy_waiters, 1, OP_THREAD },
	{ op_multi_submit, 16, OP_WAITS | OP_MULTI },
	{ op_multi_try, 8, OP_ATOMIC | OP_MULTI },
	{ op_multi_change, 3, OP_MULTI },
	{ op_multi_numbers, 3, OP_ATOMIC | OP_MULTI },
	{ op_multi_release, 3, OP_THREAD | OP_MULTI },
};

/* True for operations that may not be applied to the pool that all share. */
static bool changes_pool(const struct op *op)
{
	return op->fn == op_tune || op->fn == op_affinity || op->fn == op_flush ||
	       op->fn == op_self_wait || op->fn == op_release ||
	       op->fn == op_reboot || op->fn == op_renew;
}

/* False for operations that a short-lived target is not used for. */
static bool fits_private(const struct op *op)
{
	return op->fn != op_renew && op->fn != op_short_life &&
	       op->fn != op_destroy_waiters;
}

static bool fits(const struct op *op, const struct actor *actor)
{
	const struct target *target = actor->target;

	if (actor->atomic && !(op->flags & OP_ATOMIC))
		return false;
	if (!actor->waits && (op->flags & OP_WAITS))
		return false;
	if (actor->depth && (op->flags & OP_THREAD))
		return false;
	if (!target->multi && (op->flags & OP_MULTI))
		return false;
	if (target == &system_target)
		return !changes_pool(op);
	if (op->flags & OP_SYSTEM)
		return false;
	return target->index != UINT_MAX || fits_private(op);
}

static const struct op *choose(struct actor *actor)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		sum += fits(&ops[i], actor) ? ops[i].weight : 0;
	at = rnd(actor, sum);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		unsigned int weight = fits(&ops[i], actor) ? ops[i].weight : 0;

		if (at < weight)
			return &ops[i];
		at -= weight;
	}
	return &ops[0];
}

/*
 * Make one random call for @actor, to @target, through @pool. It may wait there
 * only if it @waits.
 */
void act(struct actor *actor, struct target *target, struct ants_pool *pool,
	 bool waits)
{
	const struct op *op;

	actor->target = target;
	actor->pool = pool;
	actor->waits = waits;
	op = choose(actor);
	actor->mortal = op->flags & OP_DIES;
	op->fn(actor);
	actor->mortal = false;
}
