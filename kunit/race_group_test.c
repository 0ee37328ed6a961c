// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of groups: a cancel against the end of the group, whose waiter frees it
 * at once. Each race is tried many times; outcomes are counted, never timed.
 *
 * The thread that cancels must know that the group exists. So each group has a
 * first member that does not end before the group is cancelled.
 */
#include <linux/module.h>

#include "repeats.h"
#include "work.h"

/* In parts, so that the guest is not silent for long. */
#define NR_ROUNDS	((int)(160 * repeats))
#define NR_RUNNING	((int)(240 * repeats))
/* Groups in a batch; few, so that the threads wait little for each other. */
#define BATCH		40
/* More members than a cancel ends in one round. */
#define NR_MEMBERS	(ANTS_HOLD_MAX + 1)

static const int parts[] = { 1, 2, 3 };

static void part_desc(const int *part, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "part %d of 3", *part);
}

KUNIT_ARRAY_PARAM(part, parts, part_desc);

/* A group that is freed with its members. */
struct squad {
	struct ants_group group;
	struct ants_delayed_work keeper;
	int nr;
	struct ants_work works[];
};

/*
 * The waiter makes groups in batches for the thread that cancels: @nr of them
 * up to now, of which @nr_ended have ended and are freed.
 */
struct duel {
	struct ants_pool *pool;
	struct squad *squads[BATCH];
	int nr;
	int nr_ended;
	int ran;
	int cancelled;
	int waited;
	int wrong;
};

static int nop_fn(struct ants_work *work)
{
	return 0;
}

/* Arms its timer again until the group is cancelled. */
static int keeper_fn(struct ants_work *work)
{
	struct squad *squad = container_of(work, struct squad, keeper.work);
	int err = ants_queue_delayed_work(squad->group.pool, &squad->keeper,
					  NEVER);

	return err == -ECANCELED ? 0 : err;
}

static struct squad *squad_make(struct ants_pool *pool, int nr)
{
	struct squad *squad = kmalloc(struct_size(squad, works, nr),
				      GFP_KERNEL);
	int i;

	if (!squad)
		return NULL;
	ants_group_init(&squad->group, pool, 0);
	INIT_ANTS_DELAYED_WORK(&squad->keeper, keeper_fn);
	squad->nr = nr;
	for (i = 0; i < nr; i++)
		INIT_ANTS_WORK(&squad->works[i], nop_fn);
	return squad;
}

static int squad_submit(struct squad *squad)
{
	int i, err = 0;

	for (i = 0; i < squad->nr && !err; i++)
		err = ants_group_submit(&squad->group, &squad->works[i]);
	return err;
}

/*
 * Give the waiter some time to reach the next group, so that both threads are
 * at it; correctness does not depend on that.
 */
static void approach(struct duel *d, int i)
{
	int patience = 500;

	while (READ_ONCE(d->nr_ended) < i && patience--)
		ndelay(200);
	ndelay(i % 32 * 500);
}

/* Cancel one group after the other. */
static int do_cancel_many(struct async_call *call)
{
	struct duel *d = call->data;
	int i = 0;

	while (!atomic_read(&call->rig->stop)) {
		cond_resched();
		/* Pairs with the release in fight_batch(). */
		if (i == smp_load_acquire(&d->nr))
			continue;
		approach(d, i);
		ants_group_cancel(&d->squads[i++ % BATCH]->group);
	}
	return 0;
}

/* Wait without sleeping: a waiter that is awake frees the group at once. */
static int poll(struct squad *squad)
{
	unsigned long end = jiffies + TEST_DEADLINE;
	int err;

	do {
		err = ants_group_wait_timeout(&squad->group, 0, NULL);
	} while (err == -ETIMEDOUT && time_before(jiffies, end));
	return err;
}

/* Take the members one by one until the group has ended. */
static int drain(struct squad *squad)
{
	struct ants_work *work;

	ants_group_seal(&squad->group);
	while (!IS_ERR_OR_NULL(work = ants_group_next(&squad->group,
						      TEST_DEADLINE)))
		;
	return PTR_ERR_OR_ZERO(work);
}

/* Each member has run or was cancelled. Count them and free the group. */
static void squad_end(struct duel *d, struct squad *squad)
{
	int i, result;

	for (i = 0; i < squad->nr; i++) {
		result = ants_work_result(&squad->works[i]);
		d->ran += !result;
		d->cancelled += result == -ECANCELED;
		d->wrong += result && result != -ECANCELED;
	}
	kfree(squad);
}

/* All members of the group are pending, and none runs. */
static struct squad *make_pending(struct ants_pool *pool, int i)
{
	struct squad *squad = squad_make(pool, i % 8 ? 1 : NR_MEMBERS);

	if (squad && squad_submit(squad))
		return NULL;
	return squad;
}

/* The members of the group run, except for the keeper, whose timer is armed. */
static struct squad *make_running(struct ants_pool *pool, int i)
{
	struct squad *squad = squad_make(pool, NR_MEMBERS);

	if (squad && (ants_group_submit(&squad->group, &squad->keeper.work) ||
		      squad_submit(squad)))
		return NULL;
	return squad;
}

/*
 * Wait for a group in one of several ways. Its last member has ended before, or
 * ends while the other thread walks through the group, or is ended by that.
 * After an error the group is still in use and must not be freed.
 */
static int squad_wait(struct duel *d, struct squad *squad, int i)
{
	if (squad->nr > 1)
		ants_work_cancel(&squad->works[squad->nr - 1]);
	d->waited += !!ants_peek(squad->group.nr_left);
	if (i % 3 == 0)
		return drain(squad);
	if (i % 3 == 1)
		return poll(squad);
	return ants_group_wait_timeout(&squad->group, TEST_DEADLINE, NULL);
}

static int end_batch(struct duel *d)
{
	int i, err = 0;

	for (i = 0; i < BATCH; i++) {
		err = squad_wait(d, d->squads[i], i);
		if (err)
			break;
		squad_end(d, d->squads[i]);
		WRITE_ONCE(d->nr_ended, d->nr_ended + 1);
	}
	return err;
}

static struct duel *duel_make(struct kunit *test, struct rig **rig)
{
	struct ants_attrs attrs = {
		.capacity = 1,
		.queue_depth = BATCH * (NR_MEMBERS + 1),
	};
	struct duel *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	*rig = rig_make(test, "duel", attrs);
	d->pool = (*rig)->pool;
	return d;
}

/*
 * Make one batch. Members that are to run are held until all three threads
 * begin; else a quick worker would have run them all before the others look.
 */
static int fight_batch(struct rig *rig, struct duel *d,
		       struct squad *(*make)(struct ants_pool *pool, int i))
{
	int i;

	if (make == make_running)
		fill_pool(rig->test, d->pool, &rig->gate, 1);
	for (i = 0; i < BATCH; i++) {
		d->squads[i] = make(d->pool, i);
		if (!d->squads[i])
			return -ENOMEM;
	}
	/* Pairs with the acquire in do_cancel_many(). */
	smp_store_release(&d->nr, d->nr + BATCH);
	if (make == make_running)
		gate_let_one(&rig->gate);
	return end_batch(d);
}

static void fight(struct rig *rig, struct duel *d, int nr,
		  struct squad *(*make)(struct ants_pool *pool, int i))
{
	struct kunit *test = rig->test;
	struct async_call *cancel;
	int err = 0;

	cancel = rig_async(rig, do_cancel_many, 0, d);
	while (d->nr < nr && !err)
		err = fight_batch(rig, d, make);
	atomic_set(&rig->stop, 1);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, async_result(cancel), 0);
	KUNIT_EXPECT_EQ(test, d->wrong, 0);
	/* The two threads did meet. */
	KUNIT_EXPECT_GT(test, d->cancelled, 0);
	KUNIT_EXPECT_GT(test, d->waited, 0);
	kunit_info(test, "%d groups, %d members ran, %d cancelled, %d waited for\n",
		   d->nr, d->ran, d->cancelled, d->waited);
}

static void cancel_against_the_waiter_that_frees(struct kunit *test)
{
	struct rig *rig;
	struct duel *d = duel_make(test, &rig);

	fill_pool(test, rig->pool, &rig->gate, 1);
	fight(rig, d, NR_ROUNDS, make_pending);
	KUNIT_EXPECT_EQ(test, d->ran, 0);
	KUNIT_EXPECT_EQ(test, d->cancelled,
			NR_ROUNDS / 8 * (NR_MEMBERS + 7));
	gate_open(&rig->gate);
	expect_counted(test, rig->pool, d->cancelled + 1, d->cancelled);
}

static void cancel_against_members_that_run(struct kunit *test)
{
	struct rig *rig;
	struct duel *d = duel_make(test, &rig);

	fight(rig, d, NR_RUNNING, make_running);
	KUNIT_EXPECT_EQ(test, d->ran + d->cancelled, NR_RUNNING * NR_MEMBERS);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->delayed.nr), 0);
}

static struct kunit_case race_group_cases[] = {
	KUNIT_CASE_PARAM(cancel_against_the_waiter_that_frees, part_gen_params),
	KUNIT_CASE(cancel_against_members_that_run),
	{}
};

static struct kunit_suite race_group_suite = {
	.name = "ants_race_group",
	.test_cases = race_group_cases,
};

kunit_test_suite(race_group_suite);

MODULE_DESCRIPTION("ants: KUnit tests of races of groups");
MODULE_LICENSE("GPL");
