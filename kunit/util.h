/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for all suites. Every suite is a module of its own, so these are
 * static functions in a header.
 *
 * A test waits for a condition with a generous deadline, never for a time. No
 * KUNIT_ASSERT in a task: it would end the pool's thread. A pool made by
 * test_pool() is destroyed when its test ends, however that is; gates that are
 * still closed are opened first.
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
#include "test_compat.h"

#define TEST_DEADLINE	(40 * HZ)

/* Wait until @cond holds; true if it does. Evaluates @cond many times. */
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

/* What follows the names of the functions of a suite in files and messages. */
#ifdef MODULE
#define IN_SUITE	" [" KBUILD_MODNAME "]"
#else
#define IN_SUITE	""
#endif

/*
 * For cases that need the text of a module or a mounted file system: a kernel
 * that contains the suites runs them before it has either.
 */
static inline void need_module(struct kunit *test)
{
#ifndef MODULE
	kunit_skip(test, "built in");
#endif
}

/*
 * Before each case of a suite that lockdep has to report something in: the first
 * report is the last one, and a kernel that contains the suites runs them all.
 */
static inline int needs_lockdep(struct kunit *test)
{
	need_module(test);
	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		kunit_skip(test, "no lockdep");
	return 0;
}

/* True if @task is off its CPU and not woken. */
static inline bool sleeps(struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

	return state != TASK_RUNNING && state != TASK_WAKING &&
	       !READ_ONCE(task->on_rq);
}

/*
 * True if @task blocks in a call that completes @done on return. It must be
 * found asleep ten times in a row, so that a spurious wake-up on its way would
 * have arrived by then.
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

/* A gate: tasks that come to it stop until it is opened. */
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

/* Let one task pass. */
static inline void gate_let_one(struct gate *gate)
{
	complete(&gate->open);
}

/* A task; its data is a gate. */
static inline void gate_task(void *data)
{
	struct gate *gate = data;

	atomic_inc(&gate->entered);
	wait_for_completion(&gate->open);
	atomic_inc(&gate->passed);
}

/* A task; its data is an atomic_t. */
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

/* Destroy @pool, if there is one, when the test ends. */
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
	struct ants_attrs all = attrs ? *attrs : (struct ants_attrs){};

	all.fn = fn;
	return test_pool(test, &all, name);
}

static inline void test_gate_free(struct kunit_resource *res)
{
	gate_open(res->data);
}

/* Gates are never freed: a task may still be at one when its test has ended. */
static struct gate test_gates[128];
static unsigned int nr_test_gates;

/* A closed gate, opened when the test ends before older pools are destroyed. */
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

/* From now on the case is on @cpu, and so is the caller of the pool. */
static inline void stay_on(struct kunit *test, int cpu)
{
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
}

/* As if the last caller that woke a worker had been on @cpu. */
static inline void set_last_caller(struct ants_pool *pool, int cpu)
{
	raw_spin_lock_irq(&pool->lock);
	pool->wakes.cpu = cpu;
	ants_end_fast_path(pool);
	raw_spin_unlock_irq(&pool->lock);
}

/* The case is the only caller of @pool, and stays where it is. */
static inline void be_only_caller(struct kunit *test, struct ants_pool *pool)
{
	stay_on(test, cpumask_first(cpu_online_mask));
	set_last_caller(pool, cpumask_first(cpu_online_mask));
}

/* As if no wake-up had been in vain: the next ones are not deferred. */
static inline void forget_vain(struct ants_pool *pool)
{
	raw_spin_lock_irq(&pool->lock);
	pool->wakes.nr_spurious = 0;
	raw_spin_unlock_irq(&pool->lock);
}

/*
 * From now on no wake-up is late: on a slow machine more threads would be made than
 * there are tasks. The end of a rig and race_exit() take this back.
 */
static inline void never_late(void)
{
	ants_late_arm(100 * TEST_DEADLINE);
}

/*
 * The same for a second, where a worker may defer a wake-up: only when that is late
 * does another one come. As never_late(), this is taken back.
 */
static inline void seldom_late(void)
{
	ants_late_arm(HZ);
}

/*
 * Wake-ups are late after @late ticks again. If the timer is armed for those of
 * @pool, its time may be far ahead; fire it now.
 */
static inline void late_again(struct ants_pool *pool, unsigned long late)
{
	ants_late_arm(late);
	raw_spin_lock_irq(&pool->lock);
	if (timer_pending(&pool->timer.timer))
		mod_timer(&pool->timer.timer, jiffies);
	raw_spin_unlock_irq(&pool->lock);
}

/*
 * Occupy @nr workers of @pool; return when all of them are at the gate. No
 * wake-up is late meanwhile; nor is one deferred, which would have to become
 * late.
 */
static inline void fill_pool(struct kunit *test, struct ants_pool *pool,
			     struct gate *gate, unsigned int nr)
{
	int goal = atomic_read(&gate->entered) + nr, err = 0;
	unsigned long late = ants_late_ticks();
	bool full;

	forget_vain(pool);
	never_late();
	while (nr-- && !err)
		err = ants_submit(pool, gate_task, gate);
	full = !err && WAIT_FOR(atomic_read(&gate->entered) == goal);
	late_again(pool, late);
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_TRUE(test, full);
}

static inline struct ants_stats stats_of(struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats;
}

#endif /* _ANTS_KUNIT_UTIL_H */
