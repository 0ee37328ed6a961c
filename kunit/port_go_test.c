// SPDX-License-Identifier: GPL-2.0-only
/*
 * Porting from Go pools: what their calls become, where no other suite tries it. The
 * comment at a case names the library.
 */
#include <linux/module.h>

#include "group.h"
#include "multi.h"

/* ants: a pool of one function takes others as well. */
static void func_pool_takes_other_functions(struct kunit *test)
{
	struct ants_pool *pool;
	atomic_t one = ATOMIC_INIT(0);
	struct gate *gate = test_gate(test);

	pool = test_func_pool(test, NULL, gate_task, "func");
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &one), 0);
	KUNIT_EXPECT_EQ(test, ants_invoke(pool, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&one), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 1);
}

/* ants: MultiPool.IsClosed */
static void multi_says_that_it_is_closed(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = ants_multi_create(&attrs, 2, ANTS_ROUND_ROBIN, "go");

	KUNIT_ASSERT_FALSE(test, IS_ERR(multi));
	KUNIT_EXPECT_FALSE(test, ants_multi_is_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_release(multi), 0);
	KUNIT_EXPECT_TRUE(test, ants_multi_is_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(multi, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(multi), 0);
	KUNIT_EXPECT_FALSE(test, ants_multi_is_released(multi));
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

/* pool, pond: WorkUnit.Value, Task.Wait; a field beside the item holds what is no int. */
struct value {
	struct ants_work work;
	const char *text;
};

static int value_fn(struct ants_work *work)
{
	container_of(work, struct value, work)->text = "value";
	return 7;
}

static void value_beside_the_item(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "go");
	struct value value = {};
	int result;

	INIT_ANTS_WORK(&value.work, value_fn);
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, &value.work), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&value.work, &result), 0);
	KUNIT_EXPECT_EQ(test, result, 7);
	KUNIT_EXPECT_EQ(test, ants_work_result(&value.work), 7);
	KUNIT_EXPECT_STREQ(test, value.text, "value");
}

/* pool, pond: no submit is refused or waits, however many are queued. */
static void queue_without_a_bound(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 2, .min_workers = 2, .queue_depth = INT_MAX,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "go");
	struct gate *gate = test_gate(test);
	atomic_t count = ATOMIC_INIT(0);
	int i;

	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2);
	fill_pool(test, pool, gate, 2);
	for (i = 0; i < 2000; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 0);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 2000);
}

/* pool: Close and Cancel refuse what is new, and what is pending does not run. */
static void close_drops_what_is_pending(struct kunit *test)
{
	struct item *items = items_alloc(test, 4);
	struct rig *rig = rig_make_full(test, "go", (struct ants_attrs){
				.capacity = 1, .queue_depth = 8 });
	int i, result;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[i])), 0);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 4U);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), -ESHUTDOWN);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[i]), &result), 0);
		KUNIT_EXPECT_EQ(test, result, -ECANCELED);
	}
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

/* pond: a member of a group that runs is told, and asks. */
static void member_is_told(struct kunit *test)
{
	struct item *items = items_alloc(test, 1);
	struct rig *rig = rig_make(test, "go", (struct ants_attrs){ .capacity = 1 });
	struct ants_group group;

	KUNIT_ASSERT_EQ(test, ants_group_init(&group, rig->pool, 0), 0);
	items[0].gate = &rig->gate;
	KUNIT_ASSERT_EQ(test, ants_group_submit(&group, work_of(&items[0])), 0);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	ants_group_cancel(&group);
	KUNIT_EXPECT_FALSE(test, ants_work_cancelled(work_of(&items[0])));
	KUNIT_EXPECT_FALSE(test, ants_work_cancel(work_of(&items[0])));
	KUNIT_EXPECT_TRUE(test, ants_work_cancelled(work_of(&items[0])));
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_group_wait(&group, NULL), 0);
	KUNIT_EXPECT_TRUE(test, items[0].told);
}

static struct kunit_case port_go_cases[] = {
	KUNIT_CASE(func_pool_takes_other_functions),
	KUNIT_CASE(multi_says_that_it_is_closed),
	KUNIT_CASE(value_beside_the_item),
	KUNIT_CASE(queue_without_a_bound),
	KUNIT_CASE(close_drops_what_is_pending),
	KUNIT_CASE(member_is_told),
	{}
};

static struct kunit_suite port_go_suite = {
	.name = "ants_port_go",
	.test_cases = port_go_cases,
};

kunit_test_suite(port_go_suite);

MODULE_DESCRIPTION("ants: KUnit tests of ports from Go pools");
MODULE_LICENSE("GPL");
