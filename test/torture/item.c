// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items: some belong to one caller, some are queued and cancelled by many
 * callers at the same time, some free themselves. For each item that is in no
 * pool any more,
 *
 *	accepted = runs + cancelled
 *
 * except that a delayed run which its pool's release has ended may be missing.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "torture.h"

#define MOST_STEPS	6
#define MOST_AGAIN	5
#define MOST_FORKS	4

/* Belong to no target: they go from pool to pool. */
struct item wanderers[NR_SHARED];

static struct item *item_of(struct ants_work *work)
{
	return container_of(work, struct item, dwork.work);
}

static void hand_over(struct item *item, int err)
{
	if (err < 0)
		return;
	/*
	 * 1: ants_mod_delayed_work() has postponed a run that is already
	 * counted.
	 */
	if (err == 0) {
		atomic_inc(&item->accepted);
		count(COUNT_TASKS);
	}
}

static void note_cancel(struct item *item, bool taken)
{
	if (!taken)
		return;
	atomic_inc(&item->cancels);
	count(COUNT_CANCELLED);
}

/* The item was queued again by its own function. */
static void item_again(struct item *item)
{
	struct ants_pool *pool = ants_current_pool();
	int err;

	if (!pool || atomic_dec_if_positive(&item->again) < 0)
		return;
	if (READ_ONCE(item->delayed))
		err = ants_queue_delayed_work(pool, &item->dwork,
					      item->rnd % 4);
	else
		err = ants_queue_work(pool, &item->dwork.work);
	count(COUNT_CALLS);
	hand_over(item, err);
}

static int item_run(struct ants_work *work)
{
	struct item *item = item_of(work);

	atomic_inc(&item->runs);
	count(COUNT_RUN);
	if (!ants_work_cancelled(work))
		behave(READ_ONCE(item->rnd), item->depth);
	item_again(item);
	return item->result;
}

/* Choose what the item will do. All its other fields are 0. */
static void item_choose(struct item *item, struct actor *actor)
{
	item->dwork.work.prio = rnd(actor, 4) ? ANTS_PRIO_NORMAL :
						ANTS_PRIO_HIGH;
	item->rnd = rnd(actor, U32_MAX);
	item->depth = actor->depth + 1;
	item->result = rnd(actor, 2) ? 0 : -EREMOTEIO;
	if (chance(actor, 30))
		atomic_set(&item->again, 1 + rnd(actor, MOST_AGAIN));
}

void item_init(struct item *item, struct actor *actor)
{
	memset(item, 0, sizeof(*item));
	INIT_ANTS_DELAYED_WORK(&item->dwork, item_run);
	item_choose(item, actor);
}

/* The item is in no pool: its accounts must agree. */
void item_judge(struct item *item, bool closed, const char *what)
{
	int accepted = atomic_read(&item->accepted);
	int runs = atomic_read(&item->runs);
	int cancels = atomic_read(&item->cancels);
	int picked = atomic_read(&item->picked);
	int unsure = atomic_read(&item->unsure);
	int missing = accepted - runs - cancels - picked;

	if (ants_work_busy(&item->dwork.work))
		broken("%s item is busy after its end", what);
	if (missing < -unsure || (missing > 0 && !(closed && item->delayed)))
		broken("%s item: %d accepted, %d runs, %d cancelled, %d picked, %d unsure",
		       what, accepted, runs, cancels, picked, unsure);
	/* By a release, which is reported in the item's result only. */
	count_add(COUNT_CANCELLED, missing);
}

static void item_queue(struct item *item, struct actor *actor)
{
	struct ants_pool *pool = actor->pool;
	int err;

	switch (rnd(actor, actor->waits ? 4 : 3)) {
	case 0:
		err = CALL(actor, QUEUE_WORK,
			   ants_queue_work(pool, &item->dwork.work));
		break;
	case 1:
		WRITE_ONCE(item->delayed, true);
		err = CALL(actor, QUEUE_DELAYED,
			   ants_queue_delayed_work(pool, &item->dwork,
						   rnd(actor, 4)));
		break;
	case 2:
		WRITE_ONCE(item->delayed, true);
		err = CALL(actor, MOD_DELAYED,
			   ants_mod_delayed_work(pool, &item->dwork,
						 rnd(actor, 4)));
		break;
	default:
		err = CALL(actor, QUEUE_WORK_TIMEOUT,
			   ants_queue_work_timeout(pool, &item->dwork.work,
						   random_timeout(actor)));
		if (err == -ECANCELED)
			atomic_inc(&item->unsure);
	}
	hand_over(item, err);
}

static void item_cancel(struct item *item, struct actor *actor)
{
	note_cancel(item, CALL(actor, WORK_CANCEL,
			       ants_work_cancel(&item->dwork.work)));
}

static void item_cancel_sync(struct item *item, struct actor *actor)
{
	note_cancel(item, CALL(actor, WORK_CANCEL_SYNC,
			       ants_work_cancel_sync(&item->dwork.work)));
}

/* --- items of one caller ------------------------------------------------------ */

static void own_step(struct item *item, struct actor *actor)
{
	struct ants_work *work = &item->dwork.work;

	switch (rnd(actor, 6)) {
	case 0:
	case 1:
		item_queue(item, actor);
		break;
	case 2:
		item_cancel(item, actor);
		break;
	case 3:
		(void)CALL(actor, WORK_WAIT_TIMEOUT,
			   ants_work_wait_timeout(work, rnd(actor, 4), NULL));
		break;
	case 4:
		(void)CALL(actor, WORK_FLUSH, ants_work_flush(work));
		break;
	default:
		if (ants_work_pending(work))
			cond_resched();
	}
}

/* What the function returned, or why the item did not run last time. */
static bool may_be_result(const struct item *item, int result)
{
	switch (result) {
	case -ECANCELED:
	case -ESHUTDOWN:
	case -ETIMEDOUT:
	case -EBUSY:
	case -EDEADLK:
	case -EINTR:
		return true;
	case -EINVAL:
		return !atomic_read(&item->accepted);
	default:
		return result == item->result && atomic_read(&item->runs);
	}
}

/* Wait for the item's end in one of two ways; afterwards it may be freed. */
static void own_end(struct item *item, struct actor *actor)
{
	int err, result = 0;

	if (rnd(actor, 2)) {
		err = CALL(actor, WORK_WAIT,
			   ants_work_wait(&item->dwork.work, &result));
		if (!err && !may_be_result(item, result))
			broken("an item returned %d, its result is %d",
			       item->result, result);
		if (!err)
			return;
	}
	item_cancel_sync(item, actor);
}

static void own_life(struct item *item, struct actor *actor)
{
	unsigned int i, nr = 1 + rnd(actor, MOST_STEPS);

	item_queue(item, actor);
	for (i = 0; i < nr; i++)
		own_step(item, actor);
	own_end(item, actor);
	item_judge(item, atomic_read(&actor->target->closed), "own");
}

void op_own_item(struct actor *actor)
{
	struct item *item = kmalloc(sizeof(*item), GFP_KERNEL);

	if (!item)
		return;
	item_init(item, actor);
	own_life(item, actor);
	kfree(item);
}

void op_stack_item(struct actor *actor)
{
	struct item item = {};

	INIT_ANTS_DELAYED_WORK_ONSTACK(&item.dwork, item_run);
	item_choose(&item, actor);
	own_life(&item, actor);
	ants_destroy_delayed_work_on_stack(&item.dwork);
}

/* Queue some items and wait for all of them: fork and join, inside a task. */
void op_fork(struct actor *actor)
{
	unsigned int i, nr = 1 + rnd(actor, MOST_FORKS);
	struct item *items = kcalloc(nr, sizeof(*items), GFP_KERNEL);

	if (!items)
		return;
	for (i = 0; i < nr; i++) {
		item_init(&items[i], actor);
		hand_over(&items[i],
			  CALL(actor, QUEUE_WORK,
			       ants_queue_work(actor->pool,
					       &items[i].dwork.work)));
	}
	for (i = 0; i < nr; i++) {
		if (CALL(actor, WORK_WAIT,
			 ants_work_wait(&items[i].dwork.work, NULL)))
			item_cancel_sync(&items[i], actor);
		item_judge(&items[i], false, "forked");
	}
	kfree(items);
}

/* --- shared items ------------------------------------------------------------- */

static struct item *shared_of(struct actor *actor)
{
	return &actor->target->shared[rnd(actor, NR_SHARED)];
}

static void shared_step(struct item *item, struct actor *actor)
{
	if (rnd(actor, 3))
		item_queue(item, actor);
	else
		item_cancel(item, actor);
	if (rnd(actor, 4) == 0)
		atomic_set(&item->again, rnd(actor, MOST_AGAIN));
}

void op_shared_item(struct actor *actor)
{
	shared_step(shared_of(actor), actor);
}

void op_wanderer(struct actor *actor)
{
	bool waits = actor->waits;

	/* The item may be in a pool that waits for the caller's pool. */
	actor->waits = false;
	shared_step(&wanderers[rnd(actor, NR_SHARED)], actor);
	actor->waits = waits;
}

void op_shared_wait(struct actor *actor)
{
	struct item *item = shared_of(actor);

	switch (rnd(actor, 3)) {
	case 0:
		item_cancel_sync(item, actor);
		break;
	case 1:
		(void)CALL(actor, WORK_WAIT_TIMEOUT,
			   ants_work_wait_timeout(&item->dwork.work,
						  rnd(actor, 10), NULL));
		break;
	default:
		(void)CALL(actor, WORK_FLUSH,
			   ants_work_flush(&item->dwork.work));
	}
}

/* --- items that free themselves ----------------------------------------------- */

struct detached {
	struct ants_work work;
	unsigned long number;
	struct llist_node node;
};

static int detached_run(struct ants_work *work)
{
	struct detached *item = container_of(work, struct detached, work);
	unsigned long number = item->number;

	kfree(item);
	torture_task((void *)number);
	return 0;
}

void op_detached(struct actor *actor)
{
	struct detached *item = kmalloc(sizeof(*item), GFP_KERNEL);
	unsigned long number;
	int err;

	if (!item)
		return;
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

	if (work->fn == item_run) {
		atomic_inc(&item_of(work)->picked);
		count(COUNT_CANCELLED);
	} else if (work->fn == detached_run) {
		detached = container_of(work, struct detached, work);
		ticket_cancel(detached->number);
		llist_add(&detached->node, &picking->freed);
	} else if (!is_member(work)) {
		return false;
	}
	return true;
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
