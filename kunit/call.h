/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls for the suites about them: what a call is given counts its runs and its
 * ends; allocated before the rig of its test is made.
 */
#ifndef _ANTS_KUNIT_CALL_H
#define _ANTS_KUNIT_CALL_H

#include "work.h"

/* What a call is given. */
struct gift {
	struct gate *gate;
	struct ants_pool *pool;
	struct task_struct *thread;
	atomic_t ran;
	atomic_t released;
	int result;
};

static inline struct gift *gift_make(struct kunit *test)
{
	struct gift *gift = kunit_kzalloc(test, sizeof(*gift), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, gift);
	return gift;
}

static inline int gift_fn(void *data)
{
	struct gift *gift = data;

	WRITE_ONCE(gift->thread, current);
	if (gift->gate)
		gate_task(gift->gate);
	atomic_inc(&gift->ran);
	return gift->result;
}

static inline void gift_release(void *data)
{
	struct gift *gift = data;

	atomic_inc(&gift->released);
}

static inline void expect_gift(struct kunit *test, struct gift *gift, int ran,
			       int released)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&gift->ran), ran);
	KUNIT_EXPECT_EQ(test, atomic_read(&gift->released), released);
}

/* Both calls, for what is the same with either. */
static inline int call_plain(struct ants_pool *pool, struct gift *gift,
			     unsigned long timeout)
{
	return ants_call(pool, gift_fn, gift, timeout);
}

static inline int call_given(struct ants_pool *pool, struct gift *gift,
			     unsigned long timeout)
{
	return ants_call_release(pool, gift_fn, gift, timeout, gift_release);
}

typedef int (*call_t)(struct ants_pool *pool, struct gift *gift,
		      unsigned long timeout);

/* Runs @try with either call; @released is how often the second releases. */
static inline void with_both(struct kunit *test,
			     void (*try)(struct kunit *test, call_t fn,
					 int released))
{
	try(test, call_plain, 0);
	try(test, call_given, 1);
}

/* Calls to start; data is the gift. Signals as in caller.h. */
static inline int run_async(struct call *call, call_t fn)
{
	struct gift *gift = call->data;
	int ret;

	allow_signal(SIGKILL);
	allow_signal(SIGUSR1);
	ret = fn(gift->pool ?: call->pool, gift, call->timeout);
	flush_signals(current);
	return ret;
}

static inline int do_plain(struct call *call)
{
	return run_async(call, call_plain);
}

static inline int do_given(struct call *call)
{
	return run_async(call, call_given);
}

static inline struct call *start(struct rig *rig, call_t fn, struct gift *gift)
{
	return call_start(rig, fn == call_plain ? do_plain : do_given, FOREVER,
			  gift);
}

#endif /* _ANTS_KUNIT_CALL_H */
