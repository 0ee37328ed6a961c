// SPDX-License-Identifier: GPL-2.0-only
/* Pools that end with the driver of a device. */
#include <linux/device.h>
#include <linux/module.h>

#include "rig.h"

#define NAME	"ants_devres"
/* As long as a pool's name may be. */
#define LONG	"a-device-whose-name-is-as-long-as-the-name-of-a-pool-can-be-63b"

/* A device with a group of resources, as a bound driver has them. */
struct bound {
	struct device *dev;
	void *group;
};

static void bind(struct kunit *test, struct bound *b)
{
	/* No owner: while its tests run a module is not in sysfs yet. */
	b->dev = __root_device_register(NAME, NULL);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(b->dev), 0);
	b->group = devres_open_group(b->dev, NULL, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, b->group);
}

static void unbind(struct bound *b)
{
	if (b->group)
		devres_release_group(b->dev, b->group);
	root_device_unregister(b->dev);
}

/* The name is free, so the pool is gone. */
static void expect_gone(struct kunit *test, const char *name)
{
	struct ants_pool *pool = ants_pool_create(NULL, "%s", name);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), 0);
	ants_pool_destroy(pool);
}

static void note_order(void *data)
{
	struct gate *gate = data;

	atomic_set(&gate->entered, atomic_read(&gate->passed));
}

/*
 * What was acquired before the pool exists until the pool's tasks have ended.
 */
static void pool_ends_with_the_driver(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 8 };
	struct gate *gate = test_gate(test);
	struct ants_pool *pool;
	struct bound b;
	int i;

	bind(test, &b);
	KUNIT_EXPECT_EQ(test, devm_add_action(b.dev, note_order, gate), 0);
	pool = devm_ants_pool_create(b.dev, &attrs, "%s", dev_name(b.dev));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), 0);
	if (!IS_ERR(pool)) {
		KUNIT_EXPECT_STREQ(test, pool->name, NAME);
		KUNIT_EXPECT_PTR_EQ(test, pool->owner, THIS_MODULE);
		KUNIT_EXPECT_EQ(test, ants_capacity(pool), 2);
		for (i = 0; i < 10; i++)
			KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task,
							  gate), 0);
	}
	gate_open(gate);
	unbind(&b);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->entered), 10);
	expect_gone(test, NAME);
}

static void errors_are_those_of_create(struct kunit *test)
{
	static const struct ants_attrs wrong = { .nice = 100 };
	struct ants_pool *pool;
	struct bound b;

	bind(test, &b);
	test_pool(test, NULL, NAME);
	pool = devm_ants_pool_create(b.dev, NULL, "a/b");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
	pool = devm_ants_pool_create(b.dev, &wrong, "wrong");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
	pool = devm_ants_pool_create(b.dev, NULL, NAME);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EEXIST);
	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	pool = devm_ants_pool_create(b.dev, NULL, "poor");
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -ENOMEM);
	unbind(&b);
	expect_gone(test, "poor");
}

static void long_names_of_devices_fit(struct kunit *test)
{
	struct ants_pool *pool;
	struct bound b;

	bind(test, &b);
	pool = devm_ants_pool_create(b.dev, NULL, "%s", LONG);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), 0);
	if (!IS_ERR(pool))
		KUNIT_EXPECT_STREQ(test, pool->name, LONG);
	unbind(&b);
	expect_gone(test, LONG);
}

static struct kunit_case devres_cases[] = {
	KUNIT_CASE(pool_ends_with_the_driver),
	KUNIT_CASE(errors_are_those_of_create),
	KUNIT_CASE(long_names_of_devices_fit),
	{}
};

static struct kunit_suite devres_suite = {
	.name = "ants_devres",
	.test_cases = devres_cases,
};

kunit_test_suite(devres_suite);

MODULE_DESCRIPTION("ants: KUnit tests of pools of drivers");
MODULE_LICENSE("GPL");
