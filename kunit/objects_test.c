// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a kernel that checks work items (CONFIG_DEBUG_OBJECTS_WORK) says of those
 * of ants, one case for each complaint. The kernel reports five and no more, so
 * nothing before this suite may provoke one.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "rig.h"

#define NAME	"objects"

static atomic_t runs;

static int object_fn(struct ants_work *work)
{
	return atomic_inc_return(&runs);
}

/* The kernel is about to say @what of an item. */
static void announce(const char *what)
{
	pr_info("ants-expect: ^ODEBUG: %s .* object type: ants_work hint: object_fn\n",
		what);
	pr_info("ants-expect: WARNING: .* debug_print_object\n");
}

/* A pool whose thread is at a gate. */
static struct rig *rig_of(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 4 };

	if (!IS_ENABLED(CONFIG_DEBUG_OBJECTS_WORK))
		kunit_skip(test, "needs CONFIG_DEBUG_OBJECTS_WORK");
	atomic_set(&runs, 0);
	return rig_make_full(test, NAME, attrs);
}

static struct ants_work *work_make(struct kunit *test)
{
	struct ants_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, work);
	INIT_ANTS_WORK(work, object_fn);
	return work;
}

static void expect_runs(struct kunit *test, struct rig *rig, int nr)
{
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_drain_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&runs), nr);
}

/* It is taken off its list first, so nothing else comes to harm. */
static void item_initialised_while_it_is_queued(struct kunit *test)
{
	struct rig *rig = rig_of(test);
	struct ants_work *work = work_make(test), *other = work_make(test);

	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, other), 0);
	announce("init active");
	INIT_ANTS_WORK(work, object_fn);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work), 0);
	expect_runs(test, rig, 2);
	kfree(work);
	kfree(other);
}

static void item_freed_while_it_is_queued(struct kunit *test)
{
	struct rig *rig = rig_of(test);
	struct ants_work *work = work_make(test), *other = work_make(test);

	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, other), 0);
	announce("free active");
	kfree(work);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 1);
	expect_runs(test, rig, 1);
	kfree(other);
}

static noinline void leave_behind(struct kunit *test, struct rig *rig)
{
	struct ants_work work;

	INIT_ANTS_WORK_ONSTACK(&work, object_fn);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, &work), 0);
	ants_destroy_work_on_stack(&work);
}

static void item_left_behind_on_a_stack(struct kunit *test)
{
	struct rig *rig = rig_of(test);

	announce("free active");
	leave_behind(test, rig);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 0);
	expect_runs(test, rig, 0);
}

/* It works all the same. */
static void item_that_was_never_initialised(struct kunit *test)
{
	struct rig *rig = rig_of(test);
	struct ants_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, work);
	work->fn = object_fn;
	announce("assert_init not available");
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work), 0);
	expect_runs(test, rig, 1);
	kfree(work);
}

static DEFINE_ANTS_WORK(static_item, object_fn);

static void use(struct kunit *test, struct rig *rig, struct ants_work *work)
{
	KUNIT_EXPECT_EQ(test, ants_queue_work_timeout(rig->pool, work, FOREVER),
			0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(work, NULL), 0);
}

static int called(void *unused)
{
	return atomic_inc_return(&runs);
}

/* Nothing is said of items that are used as they are to be. */
static void items_that_keep_the_rules(struct kunit *test)
{
	struct rig *rig = rig_of(test);
	struct ants_work *work = work_make(test), onstack;
	struct ants_delayed_work dwork;
	int i;

	gate_open(&rig->gate);
	INIT_ANTS_WORK_ONSTACK(&onstack, object_fn);
	INIT_ANTS_DELAYED_WORK_ONSTACK(&dwork, object_fn);
	for (i = 0; i < 3; i++) {
		use(test, rig, &static_item);
		use(test, rig, &onstack);
		use(test, rig, &dwork.work);
		use(test, rig, work);
		INIT_ANTS_WORK(work, object_fn);
		KUNIT_EXPECT_GT(test, ants_call(rig->pool, called, NULL, FOREVER), 0);
	}
	ants_destroy_work_on_stack(&onstack);
	ants_destroy_delayed_work_on_stack(&dwork);
	kfree(work);
	expect_runs(test, rig, 15);
}

static struct kunit_case objects_cases[] = {
	KUNIT_CASE(items_that_keep_the_rules),
	KUNIT_CASE(item_initialised_while_it_is_queued),
	KUNIT_CASE(item_freed_while_it_is_queued),
	KUNIT_CASE(item_left_behind_on_a_stack),
	KUNIT_CASE(item_that_was_never_initialised),
	{}
};

static struct kunit_suite objects_suite = {
	.name = "ants_objects",
	.test_cases = objects_cases,
};

kunit_test_suite(objects_suite);

MODULE_DESCRIPTION("ants: KUnit tests of what debugobjects says of work items");
MODULE_LICENSE("GPL");
