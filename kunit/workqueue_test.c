// SPDX-License-Identifier: GPL-2.0-only
/* A source file written for workqueues, on pools; see wq_cases.h. */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "async.h"
#include "repeats.h"

#include <linux/ants_workqueue.h>

#include "wq_cases.h"

static struct kunit_suite workqueue_suite = {
	.name = "ants_workqueue",
	.test_cases = wq_cases,
};

kunit_test_suite(workqueue_suite);

MODULE_DESCRIPTION("ants: KUnit tests of workqueues that are pools");
MODULE_LICENSE("GPL");
