/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites that force races share: pause points that are let go when a
 * case ends, and calls from a thread of their own.
 *
 * Once a thread is held or a call is on its way a case uses EXPECT only: what
 * ends it early would leave the cleaning up to others. A pause point is armed
 * once in a case, for the thread it holds may still be on its way out when the
 * next one is armed.
 */
#ifndef _ANTS_KUNIT_RACE_H
#define _ANTS_KUNIT_RACE_H

#include <linux/bottom_half.h>

#include "util.h"

#define FOREVER		MAX_SCHEDULE_TIMEOUT

static bool race_armed[ANTS_NR_PAUSE];

/* The next thread of @pool that comes to @point stops there. */
static inline void hold(enum ants_pause_point point, struct ants_pool *pool)
{
	race_armed[point] = true;
	ants_pause_arm(point, pool);
}

/* A thread is there, and stays until let_go(). */
static inline void expect_held(struct kunit *test, enum ants_pause_point point)
{
	KUNIT_EXPECT_TRUE_MSG(test, ants_pause_reached(point, TEST_DEADLINE),
			      "nobody came to pause point %d", point);
}

static inline void let_go(enum ants_pause_point point)
{
	ants_pause_resume(point);
}

/* The end of each case, before its calls are joined and its pools destroyed. */
static inline void race_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < ANTS_NR_PAUSE; i++) {
		if (race_armed[i])
			let_go(i);
		race_armed[i] = false;
	}
	for (i = 0; i < ANTS_NR_FAIL; i++)
		ants_fail_arm(i, 0);
	ants_late_arm(ANTS_LATE_TICKS);
}

/* No wake-up is late for as long as the case takes. */
static inline void never_late(void)
{
	ants_late_arm(100 * TEST_DEADLINE);
}

/*
 * One call from a thread of its own, which lives until the case ends. Then it
 * is told to stop, which ends most calls that still wait. A case that stops it
 * itself says so in @stopped: a thread can be joined once.
 */
struct call {
	struct ants_pool *pool;
	int (*fn)(struct call *call);
	ants_fn_t task_fn;
	void *data;
	unsigned long arg;
	struct task_struct *task;
	struct completion done;
	bool stopped;
	int result;
};

static inline int call_thread(void *arg)
{
	struct call *call = arg;

	call->result = call->fn(call);
	complete(&call->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static inline void call_free(struct kunit_resource *res)
{
	struct call *call = res->data;

	if (!call->stopped)
		kthread_stop(call->task);
	put_task_struct(call->task);
}

static inline struct call *call_start(struct kunit *test, struct call *call)
{
	init_completion(&call->done);
	call->task = kthread_create(call_thread, call, "race_call");
	KUNIT_ASSERT_FALSE(test, IS_ERR(call->task));
	get_task_struct(call->task);
	kunit_alloc_resource(test, test_pool_init, call_free, GFP_KERNEL, call);
	wake_up_process(call->task);
	return call;
}

static inline struct call *call_async(struct kunit *test,
				      struct ants_pool *pool,
				      int (*fn)(struct call *call),
				      unsigned long arg)
{
	struct call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	call->pool = pool;
	call->fn = fn;
	call->arg = arg;
	return call_start(test, call);
}

static inline int call_submit(struct call *call)
{
	if (call->arg == FOREVER)
		return ants_submit(call->pool, call->task_fn, call->data);
	return ants_submit_timeout(call->pool, call->task_fn, call->data,
				   call->arg);
}

/* A submit; FOREVER means ants_submit(). */
static inline struct call *submit_call(struct kunit *test,
				       struct ants_pool *pool,
				       ants_fn_t task_fn, void *data,
				       unsigned long timeout)
{
	struct call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	call->pool = pool;
	call->fn = call_submit;
	call->task_fn = task_fn;
	call->data = data;
	call->arg = timeout;
	return call_start(test, call);
}

static inline int call_release(struct call *call)
{
	return ants_release(call->pool);
}

static inline int call_drain(struct call *call)
{
	return ants_release_timeout(call->pool, call->arg);
}

static inline int call_reboot(struct call *call)
{
	return ants_reboot(call->pool);
}

static inline int call_tune(struct call *call)
{
	return ants_tune(call->pool, call->arg);
}

static inline int call_flush(struct call *call)
{
	return ants_flush_timeout(call->pool, call->arg);
}

static inline int call_destroy(struct call *call)
{
	return ants_pool_destroy(call->pool);
}

static inline bool call_returned(struct call *call)
{
	return completion_done(&call->done);
}

/* It waits inside the call, and has reason to. */
static inline void expect_blocked(struct kunit *test, struct call *call)
{
	KUNIT_EXPECT_TRUE_MSG(test, stays_inside(call->task, &call->done),
			      "the call has returned, or runs");
}

/* The call returns by itself, with @result. */
static inline void expect_result(struct kunit *test, struct call *call,
				 int result)
{
	EXPECT_SOON(test, call_returned(call));
	KUNIT_EXPECT_EQ(test, READ_ONCE(call->result), result);
}

/* Somebody flushes @pool or drains it. */
static inline bool somebody_drains(struct ants_pool *pool)
{
	/* A look, no more: nobody is woken, so no barrier is due. */
	return waitqueue_active(&pool->waitq);
}

/* A pool whose threads stay. */
static inline struct ants_pool *race_pool(struct kunit *test,
					  unsigned int capacity,
					  unsigned int queue_depth)
{
	struct ants_attrs attrs = {
		.capacity = capacity,
		.queue_depth = queue_depth,
		.flags = ANTS_NO_PURGE,
	};

	return test_pool(test, &attrs, "race");
}

/* The same, for a case that destroys it itself. */
static inline struct ants_pool *race_own_pool(struct kunit *test,
					      unsigned int capacity)
{
	struct ants_attrs attrs = {
		.capacity = capacity,
		.flags = ANTS_NO_PURGE,
	};
	struct ants_pool *pool = ants_pool_create(&attrs, "race_own");

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	return pool;
}

static inline atomic_t *counter(struct kunit *test)
{
	atomic_t *count = kunit_kzalloc(test, sizeof(*count), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, count);
	return count;
}

/* @nr workers, all parked. */
static inline void park_workers(struct kunit *test, struct ants_pool *pool,
				unsigned int nr)
{
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, nr);
	gate_open(gate);
	ASSERT_SOON(test, ants_nr_idle(pool) == nr);
}

static inline void expect_submitted(struct kunit *test, struct ants_pool *pool,
				    ants_fn_t fn, void *data)
{
	KUNIT_EXPECT_EQ(test, ants_submit(pool, fn, data), 0);
}

/* Submits, and nobody finds the wake-up late. */
static inline void submit_never_late(struct kunit *test, struct ants_pool *pool,
				     ants_fn_t fn, void *data)
{
	never_late();
	expect_submitted(test, pool, fn, data);
}

/* Nothing of the pool is left, and each counted task ran once. */
static inline void expect_drained(struct kunit *test, struct ants_pool *pool,
				  atomic_t *count, int ran)
{
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(count), ran);
}

static inline u64 stat_spawned(struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats.spawned;
}

static inline u64 stat_completed(struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats.completed;
}

static inline u64 stat_reaped(struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats.reaped;
}

/* What a write to a file of the pool in sysfs does; -ENOENT: no such file. */
static inline ssize_t sysfs_write(struct ants_pool *pool, const char *name,
				  const char *text)
{
	struct kobject *kobj = &pool->kobj;
	struct attribute **attr = kobj->ktype->default_groups[0]->attrs;

	for (; *attr; attr++)
		if (!strcmp((*attr)->name, name))
			return kobj->ktype->sysfs_ops->store(kobj, *attr, text,
							     strlen(text));
	return -ENOENT;
}

static inline void expect_written(struct kunit *test, struct ants_pool *pool,
				  const char *name, const char *text)
{
	KUNIT_EXPECT_EQ(test, sysfs_write(pool, name, text),
			(ssize_t)strlen(text));
}

#endif /* _ANTS_KUNIT_RACE_H */
