// SPDX-License-Identifier: GPL-2.0-only
/* Scenarios of fork and join: tasks that wait for others of their pool. */
#include <linux/slab.h>

#include "internal.h"
#include "explore.h"

struct member {
	struct ants_work work;
	unsigned int runs;
};

static struct ants_pool *pool;

static int member_fn(struct ants_work *work)
{
	container_of(work, struct member, work)->runs++;
	return 0;
}

static void end(void)
{
	explore_join();
	explore_end();
	explore_note(pool);
	WARN_ON(ants_pool_destroy(pool));
	core_end();
}

static unsigned int forked;

struct fork {
	struct ants_work work;
	unsigned int depth;
};

static int fork_fn(struct ants_work *work)
{
	struct fork *fork = container_of(work, struct fork, work);
	struct fork halves[2];
	bool queued[2] = {};
	unsigned int i;

	forked++;
	for (i = 0; fork->depth && i < 2; i++) {
		INIT_ANTS_WORK(&halves[i].work, fork_fn);
		halves[i].depth = fork->depth - 1;
		queued[i] = !ants_queue_work(pool, &halves[i].work);
	}
	for (i = 0; i < 2; i++)
		if (queued[i])
			WARN_ON(ants_work_wait(&halves[i].work, NULL));
	return 0;
}

static int fork_root(void *unused)
{
	struct fork root = { .depth = 1 };

	INIT_ANTS_WORK(&root.work, fork_fn);
	WARN_ON(ants_queue_work_timeout(pool, &root.work,
					MAX_SCHEDULE_TIMEOUT));
	WARN_ON(ants_work_wait(&root.work, NULL));
	return 0;
}

static void fork_join(void)
{
	const struct ants_attrs attrs = { .capacity = 2, .queue_depth = 1 };

	core_begin();
	forked = 0;
	pool = explore_pool(&attrs);
	explore_begin();
	explore_call(fork_root, NULL, "root");
	explore_call(fork_root, NULL, "root");
	end();
	WARN(forked < 2, "%u forked", forked);
}

/*
 * Submits members that the pool may have no room for, and waits for them. The
 * pool may be closed meanwhile.
 */
static void fork_members(void *unused)
{
	struct member members[2] = {};
	struct ants_group group;
	unsigned int i;
	int err[2];

	WARN_ON(ants_group_init(&group, pool, 0));
	for (i = 0; i < 2; i++) {
		INIT_ANTS_WORK(&members[i].work, member_fn);
		err[i] = ants_group_submit(&group, &members[i].work);
		WARN(err[i] && err[i] != -ESHUTDOWN, "submit: %d", err[i]);
	}
	WARN_ON(ants_group_wait(&group, NULL));
	for (i = 0; i < 2; i++)
		WARN(members[i].runs != !err[i], "%u runs", members[i].runs);
	forked++;
}

static int submit_fork(void *unused)
{
	WARN_ON(ants_submit(pool, fork_members, NULL));
	return 0;
}

/*
 * More tasks fork than there are threads. Each of them would wait for room that
 * only the others can make.
 */
static void fork_full_of(unsigned int capacity)
{
	const struct ants_attrs attrs = { .capacity = capacity };

	core_begin();
	forked = 0;
	pool = explore_pool(&attrs);
	explore_begin();
	explore_call(submit_fork, NULL, "submit");
	explore_call(submit_fork, NULL, "submit");
	if (capacity > 1)
		WARN_ON(ants_tune(pool, capacity - 1));
	end();
	WARN(forked != 2, "%u forked", forked);
}

static void fork_full(void)
{
	fork_full_of(1);
}

static void fork_shrink(void)
{
	fork_full_of(2);
}

static struct ants_delayed_work later;

static int later_fn(struct ants_work *work)
{
	forked++;
	return 0;
}

static void join_later(void *unused)
{
	WARN_ON(ants_work_wait(&later.work, NULL));
	WARN(!forked, "it has ended and did not run");
}

/*
 * A task waits for an item that is not due yet, and no other thread can run it.
 */
static void join_later_in(unsigned int depth)
{
	const struct ants_attrs attrs = { .capacity = 1, .queue_depth = depth };

	core_begin();
	forked = 0;
	pool = explore_pool(&attrs);
	INIT_ANTS_DELAYED_WORK(&later, later_fn);
	explore_begin();
	WARN_ON(ants_queue_delayed_work(pool, &later, 1));
	WARN_ON(ants_submit(pool, join_later, NULL));
	WARN_ON(ants_flush(pool));
	WARN_ON(ants_work_wait(&later.work, NULL));
	end();
}

static void join_delayed(void)
{
	join_later_in(1);
}

static void join_late(void)
{
	join_later_in(0);
}

static struct ants_group first, stream;
static struct member inner;

static void take_from_stream(void *unused)
{
	WARN_ON(ants_group_next(&stream, MAX_SCHEDULE_TIMEOUT) != &inner.work);
}

static bool one_joins(void *unused)
{
	return pool->nr_joining == 1;
}

/*
 * The only thread sleeps in a task that waits for a group, and a member comes.
 */
static void join_stream(void)
{
	const struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };

	core_begin();
	pool = explore_pool(&attrs);
	WARN_ON(ants_group_init(&stream, pool, 0));
	INIT_ANTS_WORK(&inner.work, member_fn);
	explore_begin();
	WARN_ON(ants_submit(pool, take_from_stream, NULL));
	shim_wait_until(one_joins, NULL);
	WARN_ON(ants_group_submit(&stream, &inner.work));
	WARN_ON(ants_flush(pool));
	end();
}

static struct ants_work twice;
static bool both;

/* Queues itself once. */
static int twice_fn(struct ants_work *work)
{
	if (!forked++)
		WARN_ON(ants_queue_work(pool, work));
	return 0;
}

static void twice_begin(unsigned int capacity, ants_work_fn_t fn)
{
	const struct ants_attrs attrs = { .capacity = capacity };

	core_begin();
	forked = 0;
	inner.runs = 0;
	both = false;
	pool = explore_pool(&attrs);
	WARN_ON(ants_group_init(&stream, pool, 0));
	INIT_ANTS_WORK(&twice, fn);
	INIT_ANTS_WORK(&inner.work, member_fn);
	explore_begin();
}

static void twice_end(void)
{
	WARN_ON(ants_flush(pool));
	WARN_ON(ants_work_wait(&twice, NULL));
	end();
	WARN(forked != 2, "%u runs", forked);
}

static void flush_twice(void *unused)
{
	WARN_ON(ants_work_flush(&twice));
}

/* The pool shrinks while an item that runs inside a task queues itself. */
static void join_shrink(void)
{
	twice_begin(2, twice_fn);
	WARN_ON(ants_submit(pool, flush_twice, NULL));
	WARN_ON(ants_queue_work_timeout(pool, &twice, MAX_SCHEDULE_TIMEOUT));
	WARN_ON(ants_tune(pool, 1));
	twice_end();
}

static bool member_has_run(void *unused)
{
	return inner.runs;
}

static int slow_fn(struct ants_work *work)
{
	shim_wait_until(member_has_run, NULL);
	return twice_fn(work);
}

static int submit_member(void *work)
{
	WARN_ON(ants_group_submit(&stream, work));
	return 0;
}

/* Have both submitters waited? */
static bool two_wait(void *unused)
{
	both |= pool->space.nr_waiting == 2;
	return both;
}

static void take_from_two(void *unused)
{
	shim_wait_until(two_wait, NULL);
	WARN_ON(!ants_group_next(&stream, MAX_SCHEDULE_TIMEOUT));
}

static void wait_for_member(void *unused)
{
	shim_wait_until(two_wait, NULL);
	WARN_ON(ants_work_wait(&inner.work, NULL));
}

/*
 * Two tasks fill the pool, and each runs an item that was not admitted. The end
 * of the one ends both waits, and the other one, which has queued itself, is
 * left to a third task.
 */
static void join_over(void)
{
	twice_begin(2, slow_fn);
	WARN_ON(ants_submit(pool, take_from_two, NULL));
	WARN_ON(ants_submit(pool, wait_for_member, NULL));
	explore_call(submit_member, &twice, "twice");
	explore_call(submit_member, &inner.work, "once");
	twice_end();
}

static int wait_for_inner(void *unused)
{
	int err = ants_work_wait(&inner.work, NULL);

	WARN_ON(err);
	return 0;
}

static void wait_for_stream(void *unused)
{
	WARN_ON(ants_group_next(&stream, MAX_SCHEDULE_TIMEOUT));
}

/* Only so deep does a task wait for room with an item. */
static int submit_deep(void *depth)
{
	int err;

	if (depth)
		return ants_call(pool, submit_deep, depth - 1,
				 MAX_SCHEDULE_TIMEOUT);
	err = ants_group_submit(&first, &inner.work);
	WARN(err && err != -EDEADLK, "submit: %d", err);
	ants_group_seal(&stream);
	return 0;
}

static void submit_inner(void *unused)
{
	WARN_ON(submit_deep(NULL + ANTS_JOIN_DEPTH));
}

/*
 * One of two tasks waits for room, the other one for a group: one of them gives
 * up, and so do two callers that wait for the work item it wanted to queue.
 */
static void join_last(void)
{
	const struct ants_attrs attrs = { .capacity = 2 };

	core_begin();
	pool = explore_pool(&attrs);
	WARN_ON(ants_group_init(&first, pool, 0));
	WARN_ON(ants_group_init(&stream, pool, 0));
	INIT_ANTS_WORK(&inner.work, member_fn);
	explore_begin();
	WARN_ON(ants_submit(pool, submit_inner, NULL));
	explore_call(wait_for_inner, NULL, "wait");
	explore_call(wait_for_inner, NULL, "wait");
	WARN_ON(ants_submit(pool, wait_for_stream, NULL));
	WARN_ON(ants_flush(pool));
	end();
}

static struct member *popular;
static struct ants_worker *crowd[ANTS_JOINERS + 1];
static unsigned int nr_waits;

/* The item may be freed once it has ended, so no wait may begin after that. */
static bool all_wait(void *unused)
{
	unsigned int i;

	for (i = 0; i < nr_waits; i++)
		if (!READ_ONCE(crowd[i]->inner[0].waiter.task))
			return false;
	return nr_waits == ARRAY_SIZE(crowd);
}

static int popular_fn(struct ants_work *work)
{
	shim_wait_until(all_wait, NULL);
	return 0;
}

static void wait_for_popular(void *unused)
{
	crowd[nr_waits++] = ants_this_worker();
	WARN_ON(ants_work_wait(&popular->work, NULL));
}

static int end_popular(void *unused)
{
	WARN_ON(ants_group_wait(&first, NULL));
	kfree(popular);
	return 0;
}

/*
 * More tasks wait for an item than may join it. The last one has enqueued itself and
 * does not sleep yet, when the group of the item ends and is freed.
 */
static void join_crowd(void)
{
	const struct ants_attrs attrs = { .capacity = ANTS_JOINERS + 2 };
	unsigned int i;

	core_begin();
	nr_waits = 0;
	pool = explore_pool(&attrs);
	popular = kzalloc(sizeof(*popular), GFP_KERNEL);
	WARN_ON(ants_group_init(&first, pool, 0));
	INIT_ANTS_WORK(&popular->work, popular_fn);
	WARN_ON(ants_group_submit(&first, &popular->work));
	for (i = 0; i < ANTS_JOINERS; i++)
		WARN_ON(ants_submit(pool, wait_for_popular, NULL));
	explore_call(end_popular, NULL, "end");
	explore_begin();
	WARN_ON(ants_submit(pool, wait_for_popular, NULL));
	WARN_ON(ants_flush(pool));
	end();
}

const struct scenario scenarios_join[] = {
	{ "fork-join", fork_join },
	{ "fork-full", fork_full },
	{ "fork-shrink", fork_shrink },
	{ "join-delayed", join_delayed },
	{ "join-late", join_late },
	{ "join-stream", join_stream },
	{ "join-shrink", join_shrink },
	{ "join-over", join_over },
	{ "join-last", join_last },
	{ "join-crowd", join_crowd },
	{}
};
