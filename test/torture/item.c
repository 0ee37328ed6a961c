// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items: some belong to one caller, some are queued and cancelled by many
 * callers at the same time. For each item that is in no
 * pool any more,
 *
 *	accepted = runs + cancelled
 *
 * except that a delayed run which its pool's release has ended may be missing, and
 * one that was pending when its pool had too many faults.
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

static int item_run(struct ants_work *work);

static struct item *item_of(struct ants_work *work)
{
	return container_of(work, struct item, dwork.work);
}

/*
 * Is @work such an item? Then note that ants_cancel_pending() has cancelled its
 * run.
 */
bool item_pick(struct ants_work *work)
{
	if (work->fn != item_run)
		return false;
	atomic_inc(&item_of(work)->picked);
	count(COUNT_CANCELLED);
	return true;
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

/* It may have a further run. */
static void item_dies(void *data)
{
	struct item *item = data;

	WRITE_ONCE(item->died, true);
	item_again(item);
}

static int item_run(struct ants_work *work)
{
	struct item *item = item_of(work);
	u32 seed = READ_ONCE(item->rnd);
	const struct deed deed = {
		.seed = seed,
		.fate = seed + 7 * atomic_inc_return(&item->runs),
		.depth = item->depth,
		.target = target_of_caller(),
		.data = work,
		.dies = item_dies,
		.arg = item,
	};

	WRITE_ONCE(item->died, false);
	count(COUNT_RUN);
	if (!ants_work_cancelled(work))
		behave(&deed);
	item_again(item);
	if (knob_fault_permille.value)
		leave_dirt(&deed);
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

/* May a run in @target, or in any target if NULL, have been dropped? */
static bool may_be_dropped(const struct target *target)
{
	return target ? target->may_trip : knob_fault_permille.value;
}

/* The item is in no pool: its accounts must agree. */
void item_judge(struct item *item, const struct target *target, bool closed,
		const char *what)
{
	bool may_miss = (closed && item->delayed) || may_be_dropped(target);
	int accepted = atomic_read(&item->accepted);
	int runs = atomic_read(&item->runs);
	int cancels = atomic_read(&item->cancels);
	int picked = atomic_read(&item->picked);
	int unsure = atomic_read(&item->unsure);
	int missing = accepted - runs - cancels - picked;

	if (ants_work_busy(&item->dwork.work))
		broken("%s item is busy after its end", what);
	if (missing < -unsure || (missing > 0 && !may_miss))
		broken("%s item: %d accepted, %d runs, %d cancelled, %d picked, %d unsure",
		       what, accepted, runs, cancels, picked, unsure);
	/* That is reported in the item's result only. */
	count_add(COUNT_CANCELLED, missing);
}

/* The caller may run the item before the call returns, and die in it. */
static void item_queue_wait(struct item *item, struct actor *actor)
{
	int err;

	hand_over(item, 0);
	err = CALL(actor, QUEUE_WORK_TIMEOUT,
		   ants_queue_work_timeout(actor->pool, &item->dwork.work,
					   random_timeout(actor)));
	if (!err)
		return;
	atomic_dec(&item->accepted);
	count_add(COUNT_TASKS, -1);
	if (err == -ECANCELED)
		atomic_inc(&item->unsure);
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
		item_queue_wait(item, actor);
		return;
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
static bool may_be_result(const struct item *item, const struct target *target,
			  int result)
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
	case -EIO:
		return may_be_dropped(target);
	case -EFAULT:
		return READ_ONCE(item->died);
	default:
		return result == item->result && !READ_ONCE(item->died) &&
		       atomic_read(&item->runs);
	}
}

/* Wait for the item's end in one of two ways; afterwards it may be freed. */
static void own_end(struct item *item, struct actor *actor)
{
	int err, result = 0;

	if (rnd(actor, 2)) {
		err = CALL(actor, WORK_WAIT,
			   ants_work_wait(&item->dwork.work, &result));
		if (!err && !may_be_result(item, actor->target, result))
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
	item_judge(item, actor->target, atomic_read(&actor->target->closed),
		   "own");
}

/* An item that a task waits for, and that is left behind if the task dies. */
struct own {
	struct orphan orphan;
	struct item item;
};

static void own_orphaned(struct orphan *orphan, struct target *target)
{
	struct own *own = container_of(orphan, struct own, orphan);

	item_judge(&own->item, target, true, "orphaned");
	kfree(own);
}

void op_own_item(struct actor *actor)
{
	struct own *own = kmalloc(sizeof(*own), GFP_KERNEL);

	if (!own)
		return;
	own->orphan.end = own_orphaned;
	item_init(&own->item, actor);
	actor->orphan = &own->orphan;
	own_life(&own->item, actor);
	actor->orphan = NULL;
	kfree(own);
}

void op_stack_item(struct actor *actor)
{
	struct item item = {};

	INIT_ANTS_DELAYED_WORK_ONSTACK(&item.dwork, item_run);
	item_choose(&item, actor);
	own_life(&item, actor);
	ants_destroy_delayed_work_on_stack(&item.dwork);
}

/* Items that a task waits for, of which it has joined some. */
struct fork {
	struct orphan orphan;
	unsigned int nr;
	unsigned int joined;
	struct item items[MOST_FORKS];
};

static void fork_orphaned(struct orphan *orphan, struct target *target)
{
	struct fork *fork = container_of(orphan, struct fork, orphan);
	unsigned int i;

	for (i = fork->joined; i < fork->nr; i++)
		item_judge(&fork->items[i], target, true, "orphaned");
	kfree(fork);
}

static void fork_join(struct item *item, struct actor *actor)
{
	if (CALL(actor, WORK_WAIT, ants_work_wait(&item->dwork.work, NULL)))
		item_cancel_sync(item, actor);
	item_judge(item, actor->target, false, "forked");
}

/* Queue some items and wait for all of them: fork and join, inside a task. */
void op_fork(struct actor *actor)
{
	unsigned int i, nr = 1 + rnd(actor, MOST_FORKS);
	struct fork *fork = kzalloc(sizeof(*fork), GFP_KERNEL);

	if (!fork)
		return;
	fork->orphan.end = fork_orphaned;
	fork->nr = nr;
	for (i = 0; i < nr; i++) {
		item_init(&fork->items[i], actor);
		hand_over(&fork->items[i],
			  CALL(actor, QUEUE_WORK,
			       ants_queue_work(actor->pool,
					       &fork->items[i].dwork.work)));
	}
	actor->orphan = &fork->orphan;
	for (; fork->joined < nr; fork->joined++)
		fork_join(&fork->items[fork->joined], actor);
	actor->orphan = NULL;
	kfree(fork);
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
