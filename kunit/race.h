/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the suites that force races: pause points, which are let go when a case
 * ends.
 *
 * Once a thread is held or a call has started, a case uses EXPECT only: an
 * ASSERT would end it without the rest of its steps. A case arms each pause
 * point once, since the thread that was held there may still be leaving it.
 */
#ifndef _ANTS_KUNIT_RACE_H
#define _ANTS_KUNIT_RACE_H

#include <linux/bottom_half.h>

#include "async.h"

static bool race_armed[ANTS_NR_PAUSE];

/* Make the next thread of @pool that comes to @point stop there. */
static inline void hold(enum ants_pause_point point, struct ants_pool *pool)
{
	race_armed[point] = true;
	ants_pause_arm(point, pool);
}

/* A thread is there, and stays until let_go(). */
static inline void expect_held(struct kunit *test, enum ants_pause_point point)
{
	KUNIT_EXPECT_TRUE_MSG(test, ants_pause_reached(point, TEST_DEADLINE),
			      "no thread came to pause point %d", point);
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

/* True if a caller waits to flush or drain @pool. */
static inline bool has_drainer(struct ants_pool *pool)
{
	/* A hint only, no wake-up depends on it: no barrier is needed. */
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

/* The same, for a case that destroys the pool itself. */
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

/* @nr workers, all of them parked. */
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

/* Submit; the wake-up is not late while the case lasts. */
static inline void submit_never_late(struct kunit *test, struct ants_pool *pool,
				     ants_fn_t fn, void *data)
{
	never_late();
	expect_submitted(test, pool, fn, data);
}

/* Nothing of the pool is left, and each counted task has run once. */
static inline void expect_drained(struct kunit *test, struct ants_pool *pool,
				  atomic_t *count, int ran)
{
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(count), ran);
}

/* Write to one of the pool's files; -ENOENT: there is no such file. */
static inline ssize_t sysfs_write(struct ants_pool *pool, const char *name,
				  const char *text)
{
	struct kobject *kobj = &pool->kobj;
	struct attribute **attr = ants_pool_groups[0]->attrs;

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
