// SPDX-License-Identifier: GPL-2.0-only
/* Work items that free themselves, and ants_cancel_pending(). */
#include <linux/llist.h>
#include <linux/slab.h>

#include "torture.h"

struct detached {
	struct ants_work work;
	unsigned long number;
	struct llist_node node;
};

static int detached_run(struct ants_work *work)
{
	struct detached *item = container_of(work, struct detached, work);
	unsigned long number = item->number;
	/* That the pool will name it like that is all that it is used for. */
	const void *name = work;

	kfree(item);
	task_run(number, NULL, name);
	return 0;
}

void op_detached(struct actor *actor)
{
	struct detached *item = kmalloc(sizeof(*item), GFP_KERNEL);
	unsigned long number;
	int err;

	if (!item)
		return;
	/* Nobody is told of those that are dropped. */
	if (actor->target->may_trip) {
		kfree(item);
		return;
	}
	number = ticket_open(actor->target, rnd(actor, U32_MAX),
			     actor->depth + 1);
	if (!number) {
		kfree(item);
		return;
	}
	INIT_ANTS_WORK_DETACHED(&item->work, detached_run);
	item->number = number;
	if (rnd(actor, 4) == 0)
		(void)CALL(actor, WORK_WAIT_DETACHED,
			   ants_work_wait(&item->work, NULL));
	err = CALL(actor, QUEUE_WORK, ants_queue_work(actor->pool, &item->work));
	ticket_close(number, err);
	if (err)
		kfree(item);
}

/* --- ants_cancel_pending() ---------------------------------------------------- */

/**
 * struct picking - one call of ants_cancel_pending()
 * @actor: the caller
 * @percent: the share of tasks to pick
 * @picked: number of picked tasks
 * @freed: number of detached items among these
 */
struct picking {
	struct actor *actor;
	unsigned int percent;
	unsigned int picked;
	struct llist_head freed;
};

/*
 * Note that a work item will not run. Returns false for items that are left
 * alone.
 */
static bool pick_work(struct picking *picking, struct ants_work *work)
{
	struct detached *detached;

	if (work->fn == detached_run) {
		detached = container_of(work, struct detached, work);
		ticket_cancel(detached->number);
		llist_add(&detached->node, &picking->freed);
		return true;
	}
	return item_pick(work) || is_member(work);
}

static bool pick(ants_fn_t fn, void *data, void *arg)
{
	struct picking *picking = arg;

	if (!chance(picking->actor, picking->percent))
		return false;
	if (!fn) {
		if (!pick_work(picking, data))
			return false;
	} else if (fn == torture_task) {
		ticket_cancel((unsigned long)data);
	} else {
		return false;
	}
	picking->picked++;
	return true;
}

void op_cancel_pending(struct actor *actor)
{
	struct picking picking = {
		.actor = actor,
		.percent = rnd(actor, 2) ? 100 : 30,
	};
	struct detached *item, *next;
	unsigned int nr;

	nr = CALL(actor, CANCEL_PENDING,
		  ants_cancel_pending(actor->pool, pick, &picking));
	if (nr != picking.picked)
		broken("ants_cancel_pending() says %u, %u were picked", nr,
		       picking.picked);
	llist_for_each_entry_safe(item, next, picking.freed.first, node)
		kfree(item);
}
