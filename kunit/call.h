/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the suites about ants_call(). The argument of a call counts the runs and
 * the releases; it is allocated before the test's rig is made.
 */
#ifndef _ANTS_KUNIT_CALL_H
#define _ANTS_KUNIT_CALL_H

#include "work.h"

/* The argument of a call. */
struct call_arg {
	struct gate *gate;
	struct ants_pool *pool;
	struct task_struct *thread;
	atomic_t ran;
	atomic_t released;
	int result;
};

static inline struct call_arg *call_arg_make(struct kunit *test)
{
	struct call_arg *call_arg = kunit_kzalloc(test, sizeof(*call_arg),
						  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call_arg);
	return call_arg;
}

static inline int call_arg_fn(void *data)
{
	struct call_arg *call_arg = data;

	WRITE_ONCE(call_arg->thread, current);
	if (call_arg->gate)
		gate_task(call_arg->gate);
	atomic_inc(&call_arg->ran);
	return call_arg->result;
}

static inline void call_arg_release(void *data)
{
	struct call_arg *call_arg = data;

	atomic_inc(&call_arg->released);
}

static inline void expect_call_arg(struct kunit *test,
				   struct call_arg *call_arg, int ran,
				   int released)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&call_arg->ran), ran);
	/* The caller may have left before the pool has. */
	EXPECT_SOON(test, atomic_read(&call_arg->released) >= released);
	KUNIT_EXPECT_EQ(test, atomic_read(&call_arg->released), released);
}

/* Both kinds of calls, for what is the same with either. */
static inline int call_plain(struct ants_pool *pool, struct call_arg *call_arg,
			     unsigned long timeout)
{
	return ants_call(pool, call_arg_fn, call_arg, timeout);
}

static inline int call_given(struct ants_pool *pool, struct call_arg *call_arg,
			     unsigned long timeout)
{
	return ants_call_release(pool, call_arg_fn, call_arg, timeout,
				 call_arg_release);
}

typedef int (*call_t)(struct ants_pool *pool, struct call_arg *call_arg,
		      unsigned long timeout);

/* Run @try with either kind; @released is how often the second one releases. */
static inline void with_both(struct kunit *test,
			     void (*try)(struct kunit *test, call_t fn,
					 int released))
{
	try(test, call_plain, 0);
	try(test, call_given, 1);
}

/* Calls for rig_async(); @data is the call_arg. */
static inline int run_call(struct async_call *call, call_t fn)
{
	struct call_arg *call_arg = call->data;

	return fn(call_arg->pool ?: call->pool, call_arg, call->arg);
}

static inline int do_plain(struct async_call *call)
{
	return run_call(call, call_plain);
}

static inline int do_given(struct async_call *call)
{
	return run_call(call, call_given);
}

static inline struct async_call *start_call(struct rig *rig, call_t fn,
					    struct call_arg *call_arg)
{
	return rig_async(rig, fn == call_plain ? do_plain : do_given, FOREVER,
			 call_arg);
}

#endif /* _ANTS_KUNIT_CALL_H */
