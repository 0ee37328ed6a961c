/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites share. Every suite is a module of its own, so these are
 * static functions in a header.
 *
 * A test waits for a condition with a generous deadline, never for a time. No
 * KUNIT_ASSERT in a task: it would end the pool's thread. A pool made by
 * test_pool() is destroyed when its test ends, whatever way that is; gates that
 * are still closed are opened first.
 */
#ifndef _ANTS_KUNIT_UTIL_H
#define _ANTS_KUNIT_UTIL_H

#include <kunit/test.h>
#include <linux/ants.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../kernel/internal.h"

#define TEST_DEADLINE	(40 * HZ)

/* Waits until @cond holds; true if it does. May be evaluated many times. */
#define WAIT_FOR(cond)							\
({									\
	unsigned long __end = jiffies + TEST_DEADLINE;			\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && time_before(jiffies, __end))		\
		usleep_range(200, 1000);				\
	__ok;								\
})

#define EXPECT_SOON(test, cond)	KUNIT_EXPECT_TRUE_MSG(test, WAIT_FOR(cond), \
						      "never: " #cond)
#define ASSERT_SOON(test, cond)	KUNIT_ASSERT_TRUE_MSG(test, WAIT_FOR(cond), \
						      "never: " #cond)

/* Off its CPU, and not woken. */
static inline bool sleeps(struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

	return state != TASK_RUNNING && state != TASK_WAKING &&
	       !READ_ONCE(task->on_rq);
}

/*
 * Is @task blocked in a call that completes @done when it returns? True once it
 * was found asleep ten times in a row: a wake-up that it should not get, and that
 * was on its way, has come by then.
 */
static inline bool stays_inside(struct task_struct *task,
				struct completion *done)
{
	unsigned long end = jiffies + TEST_DEADLINE;
	unsigned int asleep = 0;

	while (asleep < 10 && !completion_done(done) &&
	       time_before(jiffies, end)) {
		usleep_range(1000, 2000);
		asleep = sleeps(task) ? asleep + 1 : 0;
	}
	return asleep == 10 && !completion_done(done);
}

/* A gate: tasks that pass it stop until it is opened. */
struct gate {
	struct completion open;
	atomic_t entered;
	atomic_t passed;
};

static inline void gate_init(struct gate *gate)
{
	init_completion(&gate->open);
	atomic_set(&gate->entered, 0);
	atomic_set(&gate->passed, 0);
}

static inline void gate_open(struct gate *gate)
{
	complete_all(&gate->open);
}

/* Lets one task pass. */
static inline void gate_let_one(struct gate *gate)
{
	complete(&gate->open);
}

/* A task; data is its gate. */
static inline void gate_task(void *data)
{
	struct gate *gate = data;

	atomic_inc(&gate->entered);
	wait_for_completion(&gate->open);
	atomic_inc(&gate->passed);
}

/* A task; data is an atomic_t. */
static inline void count_task(void *data)
{
	atomic_inc(data);
}

static inline int test_pool_init(struct kunit_resource *res, void *pool)
{
	res->data = pool;
	return 0;
}

static inline void test_pool_free(struct kunit_resource *res)
{
	ants_pool_destroy(res->data);
}

/* @pool, if there is one, is destroyed when the test ends. */
static inline struct ants_pool *test_pool_own(struct kunit *test,
					      struct ants_pool *pool,
					      const char *name)
{
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(pool), "pool %s: %ld", name,
			       PTR_ERR(pool));
	kunit_alloc_resource(test, test_pool_init, test_pool_free, GFP_KERNEL,
			     pool);
	return pool;
}

static inline struct ants_pool *test_pool(struct kunit *test,
					  const struct ants_attrs *attrs,
					  const char *name)
{
	return test_pool_own(test, ants_pool_create(attrs, "%s", name), name);
}

/* A pool of one function. */
static inline struct ants_pool *test_func_pool(struct kunit *test,
					       const struct ants_attrs *attrs,
					       ants_fn_t fn, const char *name)
{
	return test_pool_own(test, ants_pool_create_func(attrs, fn, "%s", name),
			     name);
}

static inline void test_gate_free(struct kunit_resource *res)
{
	gate_open(res->data);
}

/* Gates are never freed: a task may still be at one when its test has ended. */
static struct gate test_gates[128];
static unsigned int nr_test_gates;

/* A closed gate that is opened when the test ends, before older pools go. */
static inline struct gate *test_gate(struct kunit *test)
{
	struct gate *gate;

	KUNIT_ASSERT_LT(test, nr_test_gates,
			(unsigned int)ARRAY_SIZE(test_gates));
	gate = &test_gates[nr_test_gates++];
	gate_init(gate);
	kunit_alloc_resource(test, test_pool_init, test_gate_free, GFP_KERNEL,
			     gate);
	return gate;
}

/* As if the pool had adapted to what it runs. */
/* For a pool without a wake-up in flight. */
static inline void set_wake_limit(struct ants_pool *pool, unsigned int limit)
{
	raw_spin_lock_irq(&pool->lock);
	pool->wake_limit = limit;
	raw_spin_unlock_irq(&pool->lock);
}

/*
 * Occupies @nr workers of @pool; returns when all of them are at the gate. None is
 * late meanwhile, or a slow machine would make more threads than there are tasks.
 */
static inline void fill_pool(struct kunit *test, struct ants_pool *pool,
			     struct gate *gate, unsigned int nr)
{
	int goal = atomic_read(&gate->entered) + nr, err = 0;
	unsigned long late = ants_late_ticks();
	bool full;

	ants_late_arm(100 * TEST_DEADLINE);
	while (nr-- && !err)
		err = ants_submit(pool, gate_task, gate);
	full = !err && WAIT_FOR(atomic_read(&gate->entered) == goal);
	ants_late_arm(late);
	/* It is armed for late ones as it was said above: as it would be now. */
	raw_spin_lock_irq(&pool->lock);
	if (timer_pending(&pool->timer))
		mod_timer(&pool->timer, jiffies);
	raw_spin_unlock_irq(&pool->lock);
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_TRUE(test, full);
}

/*
 * Hands over a task; with @fn NULL its data, to the pool's own function.
 * MAX_SCHEDULE_TIMEOUT means the call without a timeout.
 */
static inline int submit_or_invoke(struct ants_pool *pool, ants_fn_t fn,
				   void *data, unsigned long timeout)
{
	if (timeout == MAX_SCHEDULE_TIMEOUT)
		return fn ? ants_submit(pool, fn, data) :
		       ants_invoke(pool, data);
	return fn ? ants_submit_timeout(pool, fn, data, timeout) :
	       ants_invoke_timeout(pool, data, timeout);
}

/*
 * A submit from a thread of its own, for calls that wait. Its thread lives
 * until test_join(), so that it can be told to stop.
 */
struct submitter {
	struct ants_pool *pool;
	ants_fn_t fn;
	void *data;
	unsigned long timeout;
	struct task_struct *task;
	struct completion done;
	int result;
};

static inline int submitter_fn(void *arg)
{
	struct submitter *s = arg;

	s->result = submit_or_invoke(s->pool, s->fn, s->data, s->timeout);
	complete(&s->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

/* Starts a submitter; the arguments are those of submit_or_invoke(). */
static inline struct submitter *submit_async(struct kunit *test,
					     struct ants_pool *pool,
					     ants_fn_t fn, void *data,
					     unsigned long timeout)
{
	struct submitter *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->pool = pool;
	s->fn = fn;
	s->data = data;
	s->timeout = timeout;
	init_completion(&s->done);
	s->task = kthread_run(submitter_fn, s, "submitter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(s->task));
	return s;
}

static inline bool submitter_returned(struct submitter *s)
{
	return completion_done(&s->done);
}

/*
 * The result of the call. Tells the thread to stop, which makes a call that
 * still waits return -EINTR: wait for submitter_returned() first if the call is
 * to end by itself.
 */
static inline int submitter_join(struct submitter *s)
{
	kthread_stop(s->task);
	return s->result;
}

/* Waits until the call has returned by itself; its result. */
static inline int submitter_result(struct kunit *test, struct submitter *s)
{
	EXPECT_SOON(test, submitter_returned(s));
	return submitter_join(s);
}

#endif /* _ANTS_KUNIT_UTIL_H */
