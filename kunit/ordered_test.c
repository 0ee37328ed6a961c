// SPDX-License-Identifier: GPL-2.0-only
/* Ordered pools, and limits that an administrator cannot change. */
#include <linux/module.h>

#include "rig.h"

#include "../kernel/multi/multi.h"

#define NAME		"ordered"
#define NR_TASKS	200

static struct ants_pool *ordered_pool(struct kunit *test,
				      const struct ants_attrs *attrs)
{
	return test_pool_own(test, ants_pool_create_ordered(attrs, NAME), NAME);
}

/* The mode of one of the pool's files. */
static umode_t mode_of(struct ants_pool *pool, const char *name)
{
	const struct attribute_group *group;
	struct attribute **attr;

	group = ants_pool_groups[0];
	for (attr = group->attrs; *attr; attr++)
		if (!strcmp((*attr)->name, name))
			return group->is_visible ?
			       group->is_visible(&pool->kobj, *attr, 0) :
			       (*attr)->mode;
	return 0;
}

static const char * const limits[] = {
	"capacity", "queue_depth", "nonblocking",
};

static const char * const others[] = {
	"max_blocking", "min_workers", "expiry_ms", "nice",
};

static void expect_fixed(struct kunit *test, struct ants_pool *pool)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		KUNIT_EXPECT_EQ(test, mode_of(pool, limits[i]), 0444);
		KUNIT_EXPECT_EQ(test, set_attr(pool, limits[i], 1), -EPERM);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		KUNIT_EXPECT_EQ(test, mode_of(pool, others[i]), 0644);
		KUNIT_EXPECT_EQ(test, set_attr(pool, others[i], 1), 0);
	}
}

static void fixed_limits_are_the_owners(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 3, .queue_depth = 5, .flags = ANTS_FIXED,
	};
	struct ants_pool *pool = test_pool(test, &attrs, NAME);

	expect_fixed(test, pool);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 3);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 8);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 4), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 9);
}

static void other_pools_are_the_administrators(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, NAME);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		KUNIT_EXPECT_EQ(test, mode_of(pool, limits[i]), 0644);
		KUNIT_EXPECT_EQ(test, set_attr(pool, limits[i], 1), 0);
	}
}

/* A write to a file of the multi is refused, whatever its mode. */
static void expect_fixed_file(struct kunit *test, struct ants_multi *multi,
			      const char *name)
{
	const struct sysfs_ops *ops = get_ktype(&multi->kobj)->sysfs_ops;
	struct kernfs_node *node = sysfs_get_dirent(multi->kobj.sd, name);

	KUNIT_EXPECT_NOT_NULL(test, node);
	if (!node)
		return;
	KUNIT_EXPECT_EQ(test, node->mode & 0777, 0444);
	KUNIT_EXPECT_EQ(test, ops->store(&multi->kobj, node->priv, "8", 1),
			-EPERM);
	sysfs_put(node);
}

static void fixed_shards_are_the_owners(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .flags = ANTS_FIXED };
	struct ants_multi *multi;
	int i;

	multi = ants_multi_create(&attrs, 2, ANTS_ROUND_ROBIN, NAME);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(multi), 0);
	for (i = 0; i < 2; i++)
		expect_fixed(test, ants_multi_shard(multi, i));
	expect_fixed_file(test, multi, "capacity");
	expect_fixed_file(test, multi, "queue_depth");
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 4);
	KUNIT_EXPECT_EQ(test, ants_multi_tune(multi, 6), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_capacity(multi), 6);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static void ordered_pool_has_one_thread(struct kunit *test)
{
	struct ants_pool *pool = ordered_pool(test, NULL);

	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 1);
	expect_fixed(test, pool);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 1);
}

static void ordered_pool_stays_ordered(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool = ordered_pool(test, &attrs);

	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, ANTS_UNLIMITED), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), 1);
	KUNIT_ASSERT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 2), -EINVAL);
}

static void order_is_contradicted(struct kunit *test)
{
	static const struct ants_attrs wrong[] = {
		{ .capacity = 2 },
		{ .capacity = ANTS_UNLIMITED },
		{ .flags = ANTS_CALLER_RUNS },
		{ .capacity = 1, .min_workers = 2 },
	};
	struct ants_pool *pool;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		pool = ants_pool_create_ordered(&wrong[i], NAME);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
		ants_pool_destroy(pool);
	}
	pool = ants_pool_create_ordered(NULL, "%s", "");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
	test_pool(test, NULL, NAME);
	pool = ants_pool_create_ordered(NULL, NAME);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EEXIST);
}

/* A task that records when it ran. */
struct turn {
	struct rig *rig;
	int at;
};

static void turn_task(void *data)
{
	struct turn *turn = data;
	struct rig *rig = turn->rig;

	if (atomic_inc_return(&rig->inside) > 1)
		atomic_inc(&rig->most);
	turn->at = atomic_inc_return(&rig->count);
	cond_resched();
	atomic_dec(&rig->inside);
}

static void tasks_run_one_after_another(struct kunit *test)
{
	struct ants_attrs attrs = { .queue_depth = 10 };
	struct rig *rig = rig_alloc(test);
	struct turn *turns;
	int i;

	turns = kunit_kcalloc(test, NR_TASKS, sizeof(*turns), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, turns);
	rig->pool = ants_pool_create_ordered(&attrs, NAME);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(rig->pool), 0);
	for (i = 0; i < NR_TASKS; i++) {
		turns[i].rig = rig;
		KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, turn_task,
						  &turns[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	for (i = 0; i < NR_TASKS; i++)
		KUNIT_EXPECT_EQ(test, turns[i].at, i + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->most), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).peak_running, 1);
}

/* Priority is the submitter's choice, in an ordered pool as well. */
static void high_priority_goes_first(struct kunit *test)
{
	struct ants_attrs attrs = { .queue_depth = 2 };
	struct rig *rig = rig_alloc(test);
	struct turn normal = { .rig = rig }, high = { .rig = rig };

	rig->pool = ants_pool_create_ordered(&attrs, NAME);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(rig->pool), 0);
	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, turn_task, &normal), 0);
	KUNIT_EXPECT_EQ(test, ants_submit_prio(rig->pool, turn_task,
					       &high, ANTS_PRIO_HIGH, 0), 0);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, high.at, 1);
	KUNIT_EXPECT_EQ(test, normal.at, 2);
}

static struct kunit_case ordered_cases[] = {
	KUNIT_CASE(fixed_limits_are_the_owners),
	KUNIT_CASE(other_pools_are_the_administrators),
	KUNIT_CASE(fixed_shards_are_the_owners),
	KUNIT_CASE(ordered_pool_has_one_thread),
	KUNIT_CASE(ordered_pool_stays_ordered),
	KUNIT_CASE(order_is_contradicted),
	KUNIT_CASE(tasks_run_one_after_another),
	KUNIT_CASE(high_priority_goes_first),
	{}
};

static struct kunit_suite ordered_suite = {
	.name = "ants_ordered",
	.test_cases = ordered_cases,
};

kunit_test_suite(ordered_suite);

MODULE_DESCRIPTION("ants: KUnit tests of ordered pools and fixed limits");
MODULE_LICENSE("GPL");
