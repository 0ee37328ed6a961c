// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups, which their waiters free, and tasks that wait for others of their
 * pool.
 */
#include <linux/slab.h>

#include "load.h"

#define MOST_MEMBERS	40

struct party;

struct member {
	struct ants_work work;
	struct party *party;
	unsigned int runs;
	bool accepted;
};

/**
 * struct party - a group and its members, freed by the caller that waits for it
 * @group: the group
 * @nr: how many members it has
 * @cancel_at: the member that cancels the group
 * @error_at: the member that fails
 * @go: the first member need not wait until the group is cancelled
 * @members: its members
 */
struct party {
	struct ants_group group;
	unsigned int nr;
	unsigned int cancel_at;
	unsigned int error_at;
	bool go;
	struct member members[MOST_MEMBERS];
};

static int member_fn(struct ants_work *work)
{
	struct member *member = container_of(work, struct member, work);
	struct party *party = member->party;
	unsigned int nr = member - party->members;

	load_run();
	member->runs++;
	if (nr == party->cancel_at)
		ants_group_cancel(&party->group);
	return nr == party->error_at ? -EIO : 0;
}

static struct party *party_make(struct submitter *s, struct ants_pool *pool,
				ants_work_fn_t fn)
{
	struct party *party = kzalloc(sizeof(*party), GFP_KERNEL);
	unsigned int i, flags = load_random(&s->random, 2) ?
				ANTS_GROUP_CANCEL_ON_ERROR : 0;

	WARN_ON(ants_group_init(&party->group, pool, flags));
	party->nr = 1 + load_random(&s->random, MOST_MEMBERS);
	party->cancel_at = load_random(&s->random, 2 * MOST_MEMBERS);
	party->error_at = load_random(&s->random, 2 * MOST_MEMBERS);
	for (i = 0; i < party->nr; i++) {
		INIT_ANTS_WORK(&party->members[i].work, fn);
		party->members[i].party = party;
	}
	return party;
}

static void party_submit(struct party *party)
{
	unsigned int i;
	int err;

	for (i = 0; i < party->nr; i++) {
		err = ants_group_submit(&party->group, &party->members[i].work);
		party->members[i].accepted = !err;
		if (err != -ECANCELED)
			load_expect(err, "group_submit");
	}
}

static void member_check(const struct member *member)
{
	int result = ants_work_result(&member->work);

	if (!member->accepted)
		WARN(member->runs, "a member was refused and ran");
	else if (result == -ECANCELED)
		WARN(member->runs, "a member was cancelled and ran");
	else
		WARN(member->runs != 1, "a member ran %u times", member->runs);
}

static unsigned int party_end(struct party *party)
{
	unsigned int i, runs = 0;

	for (i = 0; i < party->nr; i++) {
		member_check(&party->members[i]);
		runs += party->members[i].runs;
	}
	kfree(party);
	return runs;
}

unsigned int load_group(struct submitter *s)
{
	struct party *party = party_make(s, load_pool(s), member_fn);
	int error;

	party_submit(party);
	while (ants_group_wait_timeout(&party->group, 1, &error))
		;
	return party_end(party);
}

unsigned int load_group_next(struct submitter *s)
{
	struct party *party = party_make(s, load_pool(s), member_fn);
	struct ants_work *work;

	party_submit(party);
	ants_group_seal(&party->group);
	do {
		work = ants_group_next(&party->group, 1);
	} while (work);
	return party_end(party);
}

/* --- cancelled from outside, against the end ---------------------------------------- */

static int held_fn(struct ants_work *work)
{
	struct party *party = container_of(work, struct member, work)->party;

	while (!READ_ONCE(party->go) && !READ_ONCE(party->group.cancelled))
		shim_yield();
	return member_fn(work);
}

/* Begins while a member is held, so that the group exists. */
static void cancel_fn(void *data)
{
	struct party *party = data;

	load_run();
	ants_group_cancel(&party->group);
}

/* Does not wait: the first member may hold the room that it would wait for. */
static unsigned int submit_rest(struct party *party)
{
	unsigned int i;

	for (i = 1; i < party->nr; i++) {
		if (ants_congested(party->group.pool) ||
		    ants_group_submit(&party->group, &party->members[i].work))
			break;
		party->members[i].accepted = true;
	}
	return i - 1;
}

unsigned int load_group_race(struct submitter *s)
{
	unsigned int nr = load_random(&s->random, NR_POOLS - 1);
	struct ants_pool *pool = load_pools[nr], *other;
	struct party *party;

	/* In a pool further on, so that no two groups wait for each other. */
	other = load_pools[nr + 1 + load_random(&s->random, NR_POOLS - 1 - nr)];
	party = party_make(s, pool, member_fn);
	/*
	 * No other cancel, or the group could be gone when cancel_fn() begins.
	 */
	party->cancel_at = MOST_MEMBERS;
	party->error_at = MOST_MEMBERS;
	INIT_ANTS_WORK(&party->members[0].work, held_fn);
	if (ants_group_submit(&party->group, &party->members[0].work)) {
		kfree(party);
		return 0;
	}
	party->members[0].accepted = true;
	/*
	 * The first member holds the group until it is cancelled or told to go.
	 */
	if (ants_try_submit(other, cancel_fn, party))
		WRITE_ONCE(party->go, true);
	party->nr = 1 + submit_rest(party);
	WARN_ON(ants_group_wait(&party->group, NULL));
	return party_end(party);
}

/* --- fork and join in one pool -------------------------------------------------------- */

struct fork {
	struct ants_work work;
	struct ants_pool *pool;
	unsigned int depth;
	unsigned int runs;
};

static void fork_init(struct fork *fork, struct ants_pool *pool,
		      unsigned int depth, ants_work_fn_t fn)
{
	INIT_ANTS_WORK(&fork->work, fn);
	fork->pool = pool;
	fork->depth = depth;
	fork->runs = 0;
}

/* Two halves, as far as the pool has room, and the task waits for both. */
static int fork_fn(struct ants_work *work)
{
	struct fork *fork = container_of(work, struct fork, work);
	struct fork halves[2];
	bool queued[2] = {};
	unsigned int i;

	load_run();
	for (i = 0; fork->depth && i < 2; i++) {
		fork_init(&halves[i], fork->pool, fork->depth - 1, fork_fn);
		queued[i] = !ants_queue_work(fork->pool, &halves[i].work);
	}
	fork->runs = 1;
	for (i = 0; i < 2; i++) {
		if (!queued[i])
			continue;
		WARN_ON(ants_work_wait(&halves[i].work, NULL));
		WARN(halves[i].runs < 1, "a half did not run");
		fork->runs += halves[i].runs;
	}
	return 0;
}

unsigned int load_join(struct submitter *s)
{
	/* In an ordered pool a task may not wait for another one. */
	struct ants_pool *pool = load_pools[load_random(&s->random,
							NR_POOLS - 1)];
	struct fork fork;
	int err;

	fork_init(&fork, pool, 4, fork_fn);
	err = ants_queue_work_timeout(pool, &fork.work, MAX_SCHEDULE_TIMEOUT);
	load_expect(err, "queue_work_timeout");
	if (err)
		return 0;
	WARN_ON(ants_work_wait(&fork.work, NULL));
	return fork.runs;
}
