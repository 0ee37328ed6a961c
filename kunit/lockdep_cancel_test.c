// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mutex that tasks take is held across ants_work_cancel_sync() of a work item
 * of their pool. Lockdep reports it although nothing hangs, and is off from
 * then on. Booted alone, see test/config/lockdep_cancel.boot.
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

static void mutex_of_a_task_across_a_cancel(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "mutex", (struct ants_attrs){
					.capacity = 2 });

	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, take_shared, &rig->count),
			0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool, &item->dwork,
						      NEVER), 0);
	KUNIT_EXPECT_TRUE(test, debug_locks);
	pr_info("ants-expect: possible circular locking dependency detected\n");
	mutex_lock(&shared);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel_sync(work_of(item)));
	mutex_unlock(&shared);
	KUNIT_EXPECT_FALSE(test, debug_locks);
	expect_ended(test, item, 0, -ECANCELED);
}

static struct kunit_case lockdep_cancel_cases[] = {
	KUNIT_CASE(mutex_of_a_task_across_a_cancel),
	{}
};

static struct kunit_suite lockdep_cancel_suite = {
	.name = "ants_lockdep_cancel",
	.init = needs_lockdep,
	.test_cases = lockdep_cancel_cases,
};

kunit_test_suite(lockdep_cancel_suite);

MODULE_DESCRIPTION("ants: KUnit test of a mutex held across a cancel");
MODULE_LICENSE("GPL");
