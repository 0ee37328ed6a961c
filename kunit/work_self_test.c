// SPDX-License-Identifier: GPL-2.0-only
/*
 * A work item that cancels itself and would wait for its own end. Lockdep
 * reports it, and is off from then on. See test/config/work_self.boot.
 */
#include <linux/debug_locks.h>
#include <linux/module.h>

#include "work.h"

struct own {
	struct ants_work work;
	struct ants_pool *pool;
	bool cancelled;
	bool told;
	int queued;
};

static int cancel_own(struct ants_work *work)
{
	struct own *own = container_of(work, struct own, work);

	if (ants_work_cancelled(work))
		return 0;
	own->queued = ants_queue_work(own->pool, work);
	own->cancelled = ants_work_cancel_sync(work);
	own->told = ants_work_cancelled(work);
	return 1;
}

/*
 * The item is told to give up, its second run is cancelled, and it runs to its
 * end.
 */
static void item_cancels_itself(struct kunit *test)
{
	struct own *own = kunit_kzalloc(test, sizeof(*own), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 1 };
	int result = 0;

	KUNIT_ASSERT_NOT_NULL(test, own);
	own->pool = test_pool(test, &attrs, "self");
	INIT_ANTS_WORK(&own->work, cancel_own);
	KUNIT_EXPECT_TRUE(test, debug_locks);
	pr_info("ants-expect: possible recursive locking detected\n");
	KUNIT_ASSERT_EQ(test, ants_queue_work(own->pool, &own->work), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&own->work, TEST_DEADLINE,
						     &result), 0);
	KUNIT_EXPECT_EQ(test, result, 1);
	KUNIT_EXPECT_EQ(test, own->queued, 0);
	KUNIT_EXPECT_TRUE(test, own->cancelled);
	KUNIT_EXPECT_TRUE(test, own->told);
	KUNIT_EXPECT_FALSE(test, debug_locks);
	KUNIT_EXPECT_FALSE(test, ants_work_cancel_sync(&own->work));
}

static struct kunit_case work_self_cases[] = {
	KUNIT_CASE(item_cancels_itself),
	{}
};

static struct kunit_suite work_self_suite = {
	.name = "ants_work_self",
	.init = needs_lockdep,
	.test_cases = work_self_cases,
};

kunit_test_suite(work_self_suite);

MODULE_DESCRIPTION("ants: KUnit test of a work item that cancels itself");
MODULE_LICENSE("GPL");
