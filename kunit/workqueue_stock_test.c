// SPDX-License-Identifier: GPL-2.0-only
/* The same source file on workqueues: is it right? See wq_cases.h. */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "async.h"
#include "repeats.h"
#include "wq_cases.h"

static struct kunit_suite workqueue_stock_suite = {
	.name = "ants_workqueue_stock",
	.test_cases = wq_cases,
};

kunit_test_suite(workqueue_stock_suite);

MODULE_DESCRIPTION("ants: KUnit tests of workqueues that are workqueues");
MODULE_LICENSE("GPL");
