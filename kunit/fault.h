/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways for a task to die, for suites in a guest of their own: see
 * test/config/fault.boot. Each of them announces what will be in the log.
 */
#ifndef _ANTS_KUNIT_FAULT_H
#define _ANTS_KUNIT_FAULT_H

#include <linux/bug.h>
#include <linux/debug_locks.h>
#include <linux/spinlock.h>

#include "rig.h"

#define NAME	"fault"

#define announce(text)	pr_info("ants-expect: " text "\n")

/* What the pool says of a thread that has died, in the function of that name. */
static inline void announce_death(const char *function)
{
	pr_info("ants-expect: ^ants: pool " NAME ": thread .* has died in %s\n",
		function);
}

/*
 * The kernel reports the first thread that ends with locks, unless it has reported
 * something else before. Of two threads that end at once each may find it willing.
 */
static inline void end_thread(void)
{
	static atomic_t announced;

	if (IS_ENABLED(CONFIG_LOCKDEP) && debug_locks && !atomic_xchg(&announced, 1))
		announce("WARNING: .* still has locks held");
	kthread_complete_and_exit(NULL, 1);
}

static inline void write_null(void)
{
	announce("NULL pointer dereference");
	WRITE_ONCE(*(int *)NULL, 0);
}

static inline void null_task(void *data)
{
	write_null();
}

static inline void run_bug(void)
{
	announce("kernel BUG at");
	BUG();
}

/* What a pool told its client, in ants_attrs.fault(). */
struct told {
	atomic_t nr;
	struct ants_pool *pool;
	ants_fn_t fn;
	void *data;
	bool atomic;
};

static struct told told;

static inline void hear(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	told.pool = pool;
	told.fn = fn;
	told.data = data;
	told.atomic = preempt_count() || irqs_disabled();
	atomic_inc(&told.nr);
}

/* A pool that tells what happens to it. */
static inline struct rig *fault_rig(struct kunit *test, struct ants_attrs attrs)
{
	memset(&told, 0, sizeof(told));
	attrs.fault = hear;
	return rig_make(test, NAME, attrs);
}

/* The pool has told of @nr faults, last of that task. */
static inline void expect_told(struct rig *rig, int nr, ants_fn_t fn,
			       void *data)
{
	struct kunit *test = rig->test;

	EXPECT_SOON(test, atomic_read(&told.nr) == nr);
	KUNIT_EXPECT_PTR_EQ(test, told.pool, rig->pool);
	KUNIT_EXPECT_TRUE(test, told.fn == fn);
	KUNIT_EXPECT_PTR_EQ(test, told.data, data);
	KUNIT_EXPECT_FALSE(test, told.atomic);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).faults, (u64)nr);
}

/* What a file of the pool shows. */
static inline const char *show(struct kunit *test, struct ants_pool *pool,
			       const char *name)
{
	struct attribute *attr = find_attr(name);
	char *buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	const struct sysfs_ops *ops = get_ktype(&pool->kobj)->sysfs_ops;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_EXPECT_GT(test, ops->show(&pool->kobj, attr, buf), 0L);
	return buf;
}

/*
 * Nothing is left of @nr faults, in which @lost tasks were lost: the pool runs as
 * many tasks at once as it may, and it can be closed and opened.
 */
static inline void expect_well(struct rig *rig, u64 nr, u64 lost)
{
	unsigned int capacity = ants_capacity(rig->pool);
	struct kunit *test = rig->test;
	struct ants_stats stats;

	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	EXPECT_SOON(test, settled(rig->pool));
	fill_pool(test, rig->pool, &rig->late, capacity);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), capacity);
	gate_open(&rig->late);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(test, stats.faults, nr);
	KUNIT_EXPECT_EQ(test, stats.lost, lost);
	KUNIT_EXPECT_EQ(test, stats.completed + stats.cancelled + stats.lost,
			stats.submitted);
	KUNIT_EXPECT_EQ(test, atomic_read(&told.nr), (int)nr);
	/* One that has died may still be in the list of all threads. */
	EXPECT_SOON(test, !nr_threads(NAME));
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
}

#endif /* _ANTS_KUNIT_FAULT_H */
