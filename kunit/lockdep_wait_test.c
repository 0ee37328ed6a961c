// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mutex that tasks take is held across a wait for a work item of their pool.
 * Lockdep reports it although nothing hangs, and is off from then on. Booted
 * alone, see test/config/lockdep_wait.boot.
 */
#include <linux/debug_locks.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "work.h"

static DEFINE_MUTEX(shared);

static void take_shared(void *count)
{
	mutex_lock(&shared);
	mutex_unlock(&shared);
	count_task(count);
}

static void mutex_of_a_task_across_a_wait(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "mutex", (struct ants_attrs){
					.capacity = 2 });

	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, take_shared, &rig->count),
			0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	item_start(rig, item, &rig->gate);
	KUNIT_EXPECT_TRUE(test, debug_locks);
	pr_info("ants-expect: possible circular locking dependency detected\n");
	mutex_lock(&shared);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(work_of(item), 1, NULL),
			-ETIMEDOUT);
	mutex_unlock(&shared);
	KUNIT_EXPECT_FALSE(test, debug_locks);
	gate_open(&rig->gate);
	expect_ended(test, item, 1, RESULT(1));
}

static struct kunit_case lockdep_wait_cases[] = {
	KUNIT_CASE(mutex_of_a_task_across_a_wait),
	{}
};

static struct kunit_suite lockdep_wait_suite = {
	.name = "ants_lockdep_wait",
	.init = needs_lockdep,
	.test_cases = lockdep_wait_cases,
};

kunit_test_suite(lockdep_wait_suite);

MODULE_DESCRIPTION("ants: KUnit test of a mutex held across a wait");
MODULE_LICENSE("GPL");
