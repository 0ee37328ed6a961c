// SPDX-License-Identifier: GPL-2.0-only
/* Cancelling groups, by hand or on the first error. */
#include <linux/irq_work.h>
#include <linux/module.h>

#include "group.h"
#include "repeats.h"

/* More than two holds of the lock take. */
#define MANY	40
#define NR_ROUNDS	((int)(80 * repeats))

/*
 * One thread, in which member 0 is at the rig's gate; the other members are
 * pending.
 */
static struct team *team_of_many(struct kunit *test, unsigned int flags)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = MANY };
	struct team *team = team_make(test, MANY + 2, attrs, flags);

	start_at(team, 0, &team->rig->gate);
	submit_range(team, 1, MANY + 1);
	return team;
}

/* Cancel, and wait until the upkeep work has ended what had not started. */
static void cancel(struct team *team)
{
	ants_group_cancel(&team->group);
	EXPECT_SOON(team->test, !ants_peek(team->rig->pool->upkeep.queued));
}

static void cancel_ends_what_is_pending(struct kunit *test)
{
	struct team *team = team_of_many(test, 0);
	int i;

	cancel(team);
	expect_members(team, 1, MANY + 1, 0, -ECANCELED);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(team->rig->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(team->rig->pool).cancelled, MANY);
	KUNIT_EXPECT_EQ(test, READ_ONCE(work_at(team, 0)->state),
			ANTS_WORK_RUNNING);
	for (i = 1; i <= MANY; i++)
		expect_next(team, i);
	expect_none(team, 1, ERR_PTR(-ETIMEDOUT));
	gate_open(&team->rig->gate);
	expect_next(team, 0);
	expect_wait(team, -ECANCELED);
	expect_member(team, 0, 1, 0);
	expect_counted(test, team->rig->pool, MANY + 1, MANY);
}

/* A second cancel, and one after the group's end, change nothing. */
static void cancel_again_is_harmless(struct kunit *test)
{
	struct team *team = team_of_many(test, 0);

	ants_group_cancel(&team->group);
	ants_group_cancel(&team->group);
	gate_open(&team->rig->gate);
	expect_wait(team, -ECANCELED);
	ants_group_cancel(&team->group);
	expect_member(team, 0, 1, 0);
	expect_members(team, 1, MANY + 1, 0, -ECANCELED);
	expect_counted(test, team->rig->pool, MANY + 1, MANY);
}

/* A caller that waits for the group returns at once. */
static void cancel_wakes_the_waiter(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = MANY };
	struct team *team = team_make(test, MANY, attrs, 0);
	struct async_call *call;

	fill_pool(test, team->rig->pool, &team->rig->gate, 1);
	submit_range(team, 0, MANY);
	call = start_group(team, do_group_wait, FOREVER);
	ants_group_cancel(&team->group);
	expect_waited(test, call, -ECANCELED);
	expect_members(team, 0, MANY, 0, -ECANCELED);
}

/* The room is given to a waiting caller. */
static void cancel_grants_others(struct kunit *test)
{
	struct team *team = team_of_many(test, 0);
	struct async_call *call;

	call = rig_async(team->rig, do_submit_count, FOREVER, NULL);
	EXPECT_SOON(test, ants_nr_waiting(team->rig->pool) == 1);
	cancel(team);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(team->rig->pool), 0);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	gate_open(&team->rig->gate);
	expect_wait(team, -ECANCELED);
	EXPECT_SOON(test, atomic_read(&team->rig->count) == 1);
}

/* Cancels a group in a hard interrupt, and records what followed. */
struct irq_cancel {
	struct irq_work work;
	struct team *team;
	bool hard;
	bool kept;
};

static void cancel_in_irq(struct irq_work *work)
{
	struct irq_cancel *c = container_of(work, struct irq_cancel, work);

	c->hard = in_hardirq();
	ants_group_cancel(&c->team->group);
	c->kept = in_hardirq() && irqs_disabled();
}

/*
 * The cancel takes more than one lock hold, and a waiting caller is admitted
 * instead.
 */
static void cancel_from_a_hard_interrupt(struct kunit *test)
{
	struct team *team = team_of_many(test, 0);
	struct irq_cancel c = { .team = team,
				.work = IRQ_WORK_INIT_HARD(cancel_in_irq) };
	struct async_call *call;

	call = rig_async(team->rig, do_submit_count, FOREVER, NULL);
	EXPECT_SOON(test, ants_nr_waiting(team->rig->pool) == 1);
	irq_work_queue(&c.work);
	irq_work_sync(&c.work);
	KUNIT_EXPECT_TRUE(test, c.hard);
	KUNIT_EXPECT_TRUE(test, c.kept);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	EXPECT_SOON(test, !ants_peek(team->rig->pool->upkeep.queued));
	expect_members(team, 1, MANY + 1, 0, -ECANCELED);
	gate_open(&team->rig->gate);
	expect_wait(team, -ECANCELED);
	EXPECT_SOON(test, atomic_read(&team->rig->count) == 1);
	expect_counted(test, team->rig->pool, MANY + 2, MANY);
}

/* Only members of the group are cancelled. */
static void cancel_spares_others(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 4 };
	struct team *team = team_make(test, 3, attrs, 0);
	struct ants_work *other = work_at(team, 2);

	start_at(team, 0, &team->rig->gate);
	submit_range(team, 1, 2);
	KUNIT_EXPECT_EQ(test, ants_queue_work(team->rig->pool, other), 0);
	ants_group_cancel(&team->group);
	gate_open(&team->rig->gate);
	expect_wait(team, -ECANCELED);
	KUNIT_EXPECT_EQ(test, ants_work_wait(other, NULL), 0);
	expect_member(team, 1, 0, -ECANCELED);
	expect_member(team, 2, 1, 0);
}

/*
 * The submitter continues to wait for room; when it has some, the item does not
 * run.
 */
static void cancel_while_a_submitter_waits(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 1, attrs, 0);
	struct async_call *submitter, *waiter;

	fill_pool(test, team->rig->pool, &team->rig->gate, 1);
	submitter = start_submit(team, 0);
	waiter = start_group(team, do_group_wait, FOREVER);
	ants_group_cancel(&team->group);
	expect_blocked(test, waiter);
	gate_open(&team->rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(submitter), 0);
	expect_waited(test, waiter, -ECANCELED);
	expect_member(team, 0, 0, -ECANCELED);
	expect_counted(test, team->rig->pool, 2, 1);
}

/* A submitter that gave up is not waited for, and leaves no result. */
static void submitter_that_gives_up_is_not_waited_for(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 2, attrs, 0);
	struct async_call *submitter, *waiter;

	fill_pool(test, team->rig->pool, &team->rig->gate, 1);
	submitter = start_submit(team, 0);
	waiter = start_group(team, do_group_wait, FOREVER);
	KUNIT_EXPECT_EQ(test, async_stop(submitter), -EINTR);
	expect_waited(test, waiter, 0);
	expect_member(team, 0, 0, -EINTR);
	expect_none(team, 0, NULL);
	KUNIT_EXPECT_TRUE(test, list_empty(&team->group.works));
}

/* A member that a worker has taken, but not started, still runs. */
static void cancel_spares_what_was_taken(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct team *team = team_make(test, 2, attrs, 0);

	hold(team->rig, ANTS_PAUSE_RUN);
	submit_range(team, 0, 1);
	held(team->rig, ANTS_PAUSE_RUN);
	submit_range(team, 1, 2);
	ants_group_cancel(&team->group);
	let_go(team->rig, ANTS_PAUSE_RUN);
	expect_wait(team, -ECANCELED);
	expect_member(team, 0, 1, 0);
	expect_member(team, 1, 0, -ECANCELED);
}

static void first_error_cancels(struct kunit *test)
{
	struct team *team = team_of_many(test, ANTS_GROUP_CANCEL_ON_ERROR);
	struct ants_work *work;
	int i;

	team->members[0].result = -EIO;
	gate_open(&team->rig->gate);
	expect_next(team, 0);
	/*
	 * The worker and the upkeep work end the other members at the same
	 * time.
	 */
	for (i = 1; i <= MANY; i++) {
		work = ants_group_next(&team->group, PROMPT);
		KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(work));
	}
	KUNIT_EXPECT_EQ(test, submit(team, MANY + 1), -ECANCELED);
	expect_wait(team, -EIO);
	expect_member(team, 0, 1, -EIO);
	expect_members(team, 1, MANY + 1, 0, -ECANCELED);
	expect_counted(test, team->rig->pool, MANY + 1, MANY);
}

/*
 * Members that run when the first one fails go on; one whose submitter waits is
 * too late.
 */
static void first_error_spares_what_runs(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct team *team = team_make(test, 3, attrs,
				      ANTS_GROUP_CANCEL_ON_ERROR);
	struct async_call *submitter;

	start_at(team, 0, &team->rig->gate);
	start_at(team, 1, &team->rig->late);
	submitter = start_submit(team, 2);
	team->members[0].result = 1;
	gate_open(&team->rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(submitter), 0);
	expect_next(team, 0);
	expect_next(team, 2);
	gate_open(&team->rig->late);
	expect_wait(team, 1);
	expect_member(team, 1, 1, 0);
	expect_member(team, 2, 0, -ECANCELED);
}

static void success_cancels_nothing(struct kunit *test)
{
	struct team *team = team_of_many(test, ANTS_GROUP_CANCEL_ON_ERROR);

	gate_open(&team->rig->gate);
	expect_wait(team, 0);
	expect_members(team, 0, MANY + 1, 1, 0);
}

static void error_alone_cancels_nothing(struct kunit *test)
{
	struct team *team = team_of_many(test, 0);

	team->members[0].result = -EIO;
	gate_open(&team->rig->gate);
	expect_wait(team, -EIO);
	expect_members(team, 1, MANY + 1, 1, 0);
}

/* A member that queues itself again ends once. */
static int again_fn(struct ants_work *work)
{
	struct member *m = member_of(work);

	if (atomic_inc_return(&m->ran) == 1)
		m->result = ants_queue_work(m->group->pool, work);
	return m->result;
}

static void member_that_runs_again_ends_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct team *team = team_make(test, 1, attrs, 0);

	INIT_ANTS_WORK(work_at(team, 0), again_fn);
	submit_range(team, 0, 1);
	expect_wait(team, 0);
	expect_member(team, 0, 2, 0);
	expect_next(team, 0);
	expect_none(team, 0, NULL);
}

/* The same for a member that arms its own timer. */
static void member_that_is_delayed_ends_once(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct item *item = items_alloc(test, 1);
	struct team *team = team_make(test, 1, attrs, 0);

	item->pool = team->rig->pool;
	item->more = 3;
	item->delayed = true;
	item->delay = 1;
	/*
	 * The pool has room for one task: the item gets it when this member has
	 * ended.
	 */
	submit_range(team, 0, 1);
	KUNIT_EXPECT_EQ(test, ants_group_submit(&team->group, work_of(item)),
			0);
	expect_wait(team, RESULT(4));
	expect_ended(test, item, 4, RESULT(4));
	expect_next(team, 0);
	KUNIT_EXPECT_PTR_EQ(test, ants_group_next(&team->group, 0),
			    work_of(item));
	expect_none(team, 0, NULL);
}

static int do_group_cancel(struct async_call *call)
{
	int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		wait_for_completion(&call->rig->gate.open);
		ants_group_cancel(call->data);
		complete(&call->rig->late.open);
	}
	return 0;
}

/* Each member has run or was cancelled. Returns how many were cancelled. */
static int check_round(struct team *team, int round)
{
	int i, ran, cancelled = 0;

	for (i = 0; i < team->nr; i++) {
		ran = atomic_xchg(&team->members[i].ran, 0);
		KUNIT_EXPECT_EQ_MSG(team->test, work_at(team, i)->result,
				    ran ? 0 : -ECANCELED, "round %d", round);
		KUNIT_EXPECT_LE(team->test, ran, 1);
		cancelled += !ran;
	}
	return cancelled;
}

/* Cancel against starts and ends, and against submits, which it refuses. */
static void cancel_races_with_ends(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = MANY };
	struct team *team = team_make(test, MANY, attrs, 0);
	int round, i, err, cancelled, refused = 0, seen = 0;
	struct async_call *call;

	call = rig_async(team->rig, do_group_cancel, 0, &team->group);
	for (round = 0; round < NR_ROUNDS; round++) {
		for (i = 0; i < MANY; i++) {
			if (i == round % MANY)
				gate_let_one(&team->rig->gate);
			work_at(team, i)->result = -ECANCELED;
			err = submit(team, i);
			KUNIT_EXPECT_TRUE(test, !err || err == -ECANCELED);
			refused += !!err;
		}
		KUNIT_EXPECT_EQ(test, ants_group_wait(&team->group, NULL), 0);
		wait_for_completion(&team->rig->late.open);
		cancelled = check_round(team, round);
		seen += cancelled;
		KUNIT_ASSERT_EQ(test, ants_group_reset(&team->group), 0);
	}
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	expect_counted(test, team->rig->pool, NR_ROUNDS * MANY - refused,
		       seen - refused);
}

static struct kunit_case group_cancel_cases[] = {
	KUNIT_CASE(cancel_ends_what_is_pending),
	KUNIT_CASE(cancel_again_is_harmless),
	KUNIT_CASE(cancel_wakes_the_waiter),
	KUNIT_CASE(cancel_grants_others),
	KUNIT_CASE(cancel_from_a_hard_interrupt),
	KUNIT_CASE(cancel_spares_others),
	KUNIT_CASE(cancel_while_a_submitter_waits),
	KUNIT_CASE(submitter_that_gives_up_is_not_waited_for),
	KUNIT_CASE(cancel_spares_what_was_taken),
	KUNIT_CASE(first_error_cancels),
	KUNIT_CASE(first_error_spares_what_runs),
	KUNIT_CASE(success_cancels_nothing),
	KUNIT_CASE(error_alone_cancels_nothing),
	KUNIT_CASE(member_that_runs_again_ends_once),
	KUNIT_CASE(member_that_is_delayed_ends_once),
	KUNIT_CASE(cancel_races_with_ends),
	{}
};

static struct kunit_suite group_cancel_suite = {
	.name = "ants_group_cancel",
	.test_cases = group_cancel_cases,
};

kunit_test_suite(group_cancel_suite);

MODULE_DESCRIPTION("ants: KUnit tests of cancelled groups");
MODULE_LICENSE("GPL");
