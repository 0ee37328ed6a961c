// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups that their waiters free as soon as possible, while members, threads
 * and interrupts cancel them.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "torture.h"

#define MOST_MEMBERS	12
#define NR_BOXES	4

struct box;
struct party;

/**
 * struct member - a work item of a group
 * @work: the item
 * @party: the group
 * @seed: decides what it does
 * @depth: how many tasks it is nested in
 * @cancels: it cancels its own group
 * @again: it queues itself once more
 * @result: what it returns
 * @accepted: how often it was submitted
 * @runs: how often it ran
 * @taken: its second run was cancelled while the first one went on
 * @died: its last run has taken the thread along
 */
struct member {
	struct ants_work work;
	struct party *party;
	u32 seed;
	unsigned int depth;
	bool cancels;
	bool again;
	int result;
	atomic_t accepted;
	atomic_t runs;
	bool taken;
	bool died;
};

/**
 * struct party - a group with its members
 * @orphan: it is left behind if a task that waits for it dies
 * @group: the group
 * @nr: number of members
 * @box: where other actors find the group, or NULL
 * @member: the members that have not been freed
 */
struct party {
	struct orphan orphan;
	struct ants_group group;
	unsigned int nr;
	struct box *box;
	struct member *member[MOST_MEMBERS];
};

/**
 * struct box - where other actors find a group to cancel
 * @lock: held by an actor that cancels the group, and by the waiter before it
 *	frees the group
 * @group: the group, or NULL
 */
struct box {
	raw_spinlock_t lock;
	struct ants_group *group;
};

static struct box boxes[NR_BOXES] = {
	[0 ... NR_BOXES - 1] = {
		.lock = __RAW_SPIN_LOCK_UNLOCKED(torture_box),
	},
};

static void publish(struct party *party, struct actor *actor)
{
	struct box *box = &boxes[rnd(actor, NR_BOXES)];

	raw_spin_lock_irq(&box->lock);
	if (!box->group) {
		box->group = &party->group;
		party->box = box;
	}
	raw_spin_unlock_irq(&box->lock);
}

static void withdraw(struct party *party)
{
	struct box *box = party->box;

	if (!box)
		return;
	raw_spin_lock_irq(&box->lock);
	box->group = NULL;
	raw_spin_unlock_irq(&box->lock);
	party->box = NULL;
}

/* Cancel a group that another actor waits for. */
void op_group_cancel(struct actor *actor)
{
	struct box *box = &boxes[rnd(actor, NR_BOXES)];
	bool atomic = actor->atomic;
	unsigned long flags;

	raw_spin_lock_irqsave(&box->lock, flags);
	if (box->group) {
		actor->atomic = true;
		call_enter(actor, CALL_GROUP_CANCEL);
		ants_group_cancel(box->group);
		call_leave(actor, 0);
		actor->atomic = atomic;
	}
	raw_spin_unlock_irqrestore(&box->lock, flags);
}

static void member_end(struct member *member)
{
	if (member->cancels)
		ants_group_cancel(&member->party->group);
	if (!member->again || !ants_current_pool())
		return;
	member->again = false;
	if (!ants_queue_work(ants_current_pool(), &member->work)) {
		atomic_inc(&member->accepted);
		count(COUNT_TASKS);
	}
}

static void member_dies(void *data)
{
	struct member *member = data;

	WRITE_ONCE(member->died, true);
	member_end(member);
}

static int member_run(struct ants_work *work)
{
	struct member *member = container_of(work, struct member, work);
	const struct deed deed = {
		.seed = member->seed,
		.fate = member->seed + 7 * atomic_inc_return(&member->runs),
		.depth = member->depth,
		.target = target_of_caller(),
		.data = work,
		.dies = member_dies,
		.arg = member,
	};

	WRITE_ONCE(member->died, false);
	count(COUNT_RUN);
	behave(&deed);
	member_end(member);
	if (knob_fault_permille.value)
		leave_dirt(&deed);
	return member->result;
}

bool is_member(const struct ants_work *work)
{
	return work->fn == member_run;
}

static struct member *member_new(struct party *party, struct actor *actor)
{
	struct member *member = kzalloc(sizeof(*member), GFP_KERNEL);

	if (!member)
		return NULL;
	INIT_ANTS_WORK(&member->work, member_run);
	member->party = party;
	member->seed = rnd(actor, U32_MAX);
	member->depth = actor->depth + 1;
	member->cancels = chance(actor, 5);
	member->again = chance(actor, 10);
	member->result = chance(actor, 15) ? -EREMOTEIO : 0;
	return member;
}

/*
 * The member has ended: it ran as often as it was accepted, or its last run was
 * cancelled, or dropped by its pool, that of @target.
 */
static void member_judge(struct member *member, const struct target *target)
{
	int expected = member->died ? -EFAULT : member->result;
	int accepted = atomic_read(&member->accepted);
	int runs = atomic_read(&member->runs);
	int result = ants_work_result(&member->work);

	if (accepted == runs && result == expected)
		return;
	if (accepted == runs + 1 &&
	    (member->taken || result == -ECANCELED || (result == -EIO && target->may_trip))) {
		count(COUNT_CANCELLED);
		return;
	}
	broken("a member was accepted %d times, ran %d times, has result %d, should have %d",
	       accepted, runs, result, expected);
}

/* Submit one more member. Returns 0 or -errno. */
static int party_add(struct party *party, struct actor *actor)
{
	struct member *member = member_new(party, actor);
	int err;

	if (!member)
		return -ENOMEM;
	/*
	 * The member may run before the call returns: then it may queue itself, or
	 * the caller may die in it.
	 */
	atomic_inc(&member->accepted);
	count(COUNT_TASKS);
	party->member[party->nr++] = member;
	err = CALL(actor, GROUP_SUBMIT,
		   ants_group_submit(&party->group, &member->work));
	if (!err)
		return 0;
	party->nr--;
	count_add(COUNT_TASKS, -1);
	kfree(member);
	return err;
}

static void party_free_members(struct party *party,
			       const struct target *target)
{
	unsigned int i;

	for (i = 0; i < party->nr; i++) {
		if (party->member[i])
			member_judge(party->member[i], target);
		kfree(party->member[i]);
	}
	party->nr = 0;
}

static void party_orphaned(struct orphan *orphan, struct target *target)
{
	struct party *party = container_of(orphan, struct party, orphan);

	withdraw(party);
	party_free_members(party, target);
	kfree(party);
}

/* The wait failed: end the members one by one. */
static void party_break_up(struct party *party, struct actor *actor)
{
	unsigned int i;

	withdraw(party);
	call_enter(actor, CALL_GROUP_CANCEL);
	ants_group_cancel(&party->group);
	call_leave(actor, 0);
	for (i = 0; i < party->nr; i++) {
		struct member *member = party->member[i];

		if (!member)
			continue;
		member->taken = CALL(actor, WORK_CANCEL_SYNC,
				     ants_work_cancel_sync(&member->work));
	}
	party_free_members(party, actor->target);
}

/* Wait once for all members. Returns 0 if the group has ended. */
static int wait_all(struct party *party, struct actor *actor)
{
	int err, error = 0;

	if (rnd(actor, 2))
		return CALL(actor, GROUP_WAIT,
			    ants_group_wait(&party->group, &error));
	do {
		unsigned long timeout = rnd(actor, 5);

		err = CALL(actor, GROUP_WAIT_TIMEOUT,
			   ants_group_wait_timeout(&party->group, timeout,
						   &error));
	} while (err == -ETIMEDOUT);
	return err;
}

static void free_one(struct party *party, struct ants_work *work,
		     const struct target *target)
{
	struct member *member = container_of(work, struct member, work);
	unsigned int i;

	for (i = 0; i < party->nr; i++)
		if (party->member[i] == member)
			party->member[i] = NULL;
	member_judge(member, target);
	kfree(member);
}

/* Take the members one after another, as they end, and free each at once. */
static int take_each(struct party *party, struct actor *actor)
{
	struct ants_work *work;
	int err;

	ants_group_seal(&party->group);
	do {
		call_enter(actor, CALL_GROUP_NEXT);
		work = ants_group_next(&party->group, random_timeout(actor));
		err = call_leave(actor, PTR_ERR_OR_ZERO(work));
		if (!err && work)
			free_one(party, work, actor->target);
	} while (err == -ETIMEDOUT || (!err && work));
	return err;
}

/* A sealed group accepts no member. */
static void knock(struct party *party, struct actor *actor)
{
	struct member *member = member_new(party, actor);

	if (!member)
		return;
	ants_group_seal(&party->group);
	(void)CALL(actor, GROUP_SUBMIT_SEALED,
		   ants_group_submit(&party->group, &member->work));
	kfree(member);
}

/* Reset a group that has ended, and use it once more. */
static void party_again(struct party *party, struct actor *actor)
{
	int err;

	do {
		err = CALL(actor, GROUP_RESET, ants_group_reset(&party->group));
		cond_resched();
	} while (err == -EBUSY);
	party_free_members(party, actor->target);
	if (party_add(party, actor))
		return;
	if (CALL(actor, GROUP_WAIT, ants_group_wait(&party->group, NULL)))
		party_break_up(party, actor);
}

void op_group(struct actor *actor)
{
	struct party *party = kzalloc(sizeof(*party), GFP_KERNEL);
	unsigned int i, nr = rnd(actor, MOST_MEMBERS);

	if (!party)
		return;
	ants_group_init(&party->group, actor->pool,
			rnd(actor, 2) ? ANTS_GROUP_CANCEL_ON_ERROR : 0);
	party->orphan.end = party_orphaned;
	actor->orphan = &party->orphan;
	if (rnd(actor, 2))
		publish(party, actor);
	for (i = 0; i < nr && !party_add(party, actor); i++)
		;
	if (chance(actor, 10))
		knock(party, actor);
	if (rnd(actor, 2) ? wait_all(party, actor) : take_each(party, actor))
		party_break_up(party, actor);
	else if (chance(actor, 20))
		party_again(party, actor);
	actor->orphan = NULL;
	withdraw(party);
	party_free_members(party, actor->target);
	kfree(party);
}
