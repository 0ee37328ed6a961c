// SPDX-License-Identifier: GPL-2.0-only
/* Calls against their timeouts, and against the end of their pool. */
#include <linux/module.h>

#include "call.h"
#include "repeats.h"

/*
 * The end of the call is the end of the pool, which its caller no longer needs.
 */
static void caller_outlives_the_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct call_arg *call_arg = call_arg_make(test);
	struct rig *rig = rig_make(test, "call", attrs);
	struct async_call *caller, *destroyer;
	struct ants_pool *pool;
	int i;

	call_arg->gate = &rig->gate;
	for (i = 0; i < 8; i++) {
		gate_init(&rig->gate);
		pool = ants_pool_create(&attrs, "gone");
		KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
		call_arg->pool = pool;
		caller = start_call(rig, i % 2 ? call_plain : call_given,
				    call_arg);
		EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
		destroyer = async_start_on(test, do_destroy, pool, 0);
		EXPECT_SOON(test, ants_is_released(pool));
		gate_open(&rig->gate);
		KUNIT_EXPECT_EQ(test, async_result(caller), 0);
		KUNIT_EXPECT_EQ(test, async_result(destroyer), 0);
	}
	expect_call_arg(test, call_arg, 8, 4);
}

/* Data for the race below, each in memory of its own. */
struct racer {
	struct ants_pool *pool;
	atomic_t *ran;
	atomic_t *released;
	unsigned int us;
	int magic;
};

#define RACE_ROUNDS	((int)(400 * repeats))
#define RACE_TIME	(30 * HZ)
#define MAGIC		0x5eed

static int racer_fn(void *data)
{
	struct racer *racer = data;

	udelay(racer->us);
	atomic_inc(racer->ran);
	return racer->magic;
}

static void racer_release(void *data)
{
	struct racer *racer = data;

	atomic_inc(racer->released);
	kfree(racer);
}

/* How the calls of one thread ended. */
struct race {
	atomic_t ran;
	atomic_t released;
	int calls;
	int ended;
	int refused;
	int left;
	int wrong;
};

static void race_count(struct race *race, int ret)
{
	race->calls++;
	if (ret == MAGIC)
		race->ended++;
	else if (ret == -ETIMEDOUT)
		race->refused++;
	else if (ret == -EINPROGRESS)
		race->left++;
	else
		race->wrong++;
}

/* Each end that a call can have was seen, and no other. */
static void race_judge(struct kunit *test, const struct race *race, bool leaves)
{
	const struct race *other = &race[1];

	kunit_info(test, "%d calls: %d ended, %d not begun, %d left\n",
		   race->calls + other->calls, race->ended + other->ended,
		   race->refused + other->refused, race->left + other->left);
	KUNIT_EXPECT_EQ(test, race->wrong + other->wrong, 0);
	KUNIT_EXPECT_GT(test, race->ended + other->ended, 0);
	KUNIT_EXPECT_GT(test, race->refused + other->refused, 0);
	KUNIT_EXPECT_EQ(test, race->left + other->left > 0, leaves);
}

static int race_once(struct ants_pool *pool, struct race *race, int nr)
{
	struct racer *racer = kzalloc(sizeof(*racer), GFP_KERNEL);

	if (!racer)
		return -ENOMEM;
	racer->ran = &race->ran;
	racer->released = &race->released;
	racer->us = nr % 7 * 40;
	racer->magic = MAGIC;
	return ants_call_release(pool, racer_fn, racer, nr % 3, racer_release);
}

/* Calls are seldom left, and by chance none is for long. */
static bool is_over(const struct race *race)
{
	return race->calls >= RACE_ROUNDS / 2 && race->left;
}

static int do_race(struct async_call *call)
{
	unsigned long end = jiffies + RACE_TIME;
	struct race *race = call->data;
	int i;

	for (i = 0; !is_over(race) && time_before(jiffies, end); i++)
		race_count(race, race_once(call->pool, race, i));
	return 0;
}

/* Two callers, each against the start of its own call. */
static void timeout_races_with_the_start(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct race *race = kunit_kcalloc(test, 2, sizeof(*race), GFP_KERNEL);
	struct rig *rig = rig_make(test, "race", attrs);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, race);
	for (i = 0; i < 2; i++)
		rig_async(rig, do_race, 0, &race[i]);
	expect_results(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&race[i].released),
				race[i].calls);
		KUNIT_EXPECT_EQ(test, atomic_read(&race[i].ran),
				race[i].ended + race[i].left);
	}
	race_judge(test, race, true);
}

/*
 * The same with data on the caller's stack: such a call is never left behind.
 */
static int do_race_plain(struct async_call *call)
{
	unsigned long end = jiffies + RACE_TIME / 4;
	struct race *race = call->data;
	struct racer racer = { .ran = &race->ran, .magic = MAGIC };
	int i;

	for (i = 0; i < RACE_ROUNDS / 4 && time_before(jiffies, end); i++) {
		racer.us = i % 7 * 40;
		race_count(race, ants_call(call->pool, racer_fn, &racer,
					   i % 3));
	}
	return 0;
}

static void plain_timeout_races_with_the_start(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct race *race = kunit_kcalloc(test, 2, sizeof(*race), GFP_KERNEL);
	struct rig *rig = rig_make(test, "race", attrs);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, race);
	for (i = 0; i < 2; i++)
		rig_async(rig, do_race_plain, 0, &race[i]);
	expect_results(rig, 0, 0);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&race[i].ran), race[i].ended);
	race_judge(test, race, false);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(rig->pool), 0);
}

static struct kunit_case call_race_cases[] = {
	KUNIT_CASE(caller_outlives_the_pool),
	KUNIT_CASE(timeout_races_with_the_start),
	KUNIT_CASE(plain_timeout_races_with_the_start),
	{}
};

static struct kunit_suite call_race_suite = {
	.name = "ants_call_race",
	.test_cases = call_race_cases,
};

kunit_test_suite(call_race_suite);

MODULE_DESCRIPTION("ants: KUnit tests of races of calls");
MODULE_LICENSE("GPL");
