/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any call in a thread of its own, which can be told to stop, or killed. Its
 * thread lives until caller_result() or caller_stop(): expect, do not assert,
 * in between.
 */
#ifndef _ANTS_KUNIT_CALLER_H
#define _ANTS_KUNIT_CALLER_H

#include <linux/sched/signal.h>

#include "util.h"

struct caller {
	int (*call)(void *arg);
	void *arg;
	struct task_struct *task;
	struct completion done;
	int result;
};

/* Kernel threads ignore signals unless they ask for them. */
static inline int caller_fn(void *arg)
{
	struct caller *c = arg;

	allow_signal(SIGKILL);
	allow_signal(SIGUSR1);
	c->result = c->call(c->arg);
	flush_signals(current);
	complete(&c->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static inline struct caller *call_async(struct kunit *test,
					int (*call)(void *arg), void *arg)
{
	struct caller *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->call = call;
	c->arg = arg;
	init_completion(&c->done);
	c->task = kthread_run(caller_fn, c, "caller");
	KUNIT_ASSERT_FALSE(test, IS_ERR(c->task));
	return c;
}

static inline bool caller_returned(struct caller *c)
{
	return completion_done(&c->done);
}

/* It waits inside the call, and has reason to. */
static inline void expect_blocked(struct kunit *test, struct caller *call)
{
	KUNIT_EXPECT_TRUE_MSG(test, stays_inside(call->task, &call->done),
			      "the call has returned, or runs");
}

/* Tells the thread to stop, which ends most waits; the result of the call. */
static inline int caller_stop(struct caller *c)
{
	kthread_stop(c->task);
	return c->result;
}

/* Waits until the call has returned by itself; its result. */
static inline int caller_result(struct kunit *test, struct caller *c)
{
	EXPECT_SOON(test, caller_returned(c));
	return caller_stop(c);
}

static inline struct ants_stats stats_of(struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats;
}

static inline int call_destroy(void *pool)
{
	return ants_pool_destroy(pool);
}

static inline int call_flush(void *pool)
{
	return ants_flush(pool);
}

#endif /* _ANTS_KUNIT_CALLER_H */
