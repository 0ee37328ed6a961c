// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool's timer: the timer wheel fires late if a timer was armed far ahead.
 * Here a timer ages without time passing: its expiry is changed, and it stays
 * where the wheel has put it.
 */
#include <linux/module.h>

#include "rig.h"

#define NAME	"timer"

static bool is_far(struct ants_pool *pool)
{
	return timer_pending(&pool->timer.timer) &&
	       time_after(READ_ONCE(pool->timer.timer.expires), jiffies + 60 * HZ);
}

/* As if the timer had been armed an hour ago, and expired in @ticks. */
static void timer_gets_old(struct ants_pool *pool, unsigned int ticks)
{
	raw_spin_lock_irq(&pool->lock);
	pool->timer.timer.expires = jiffies + ticks;
	raw_spin_unlock_irq(&pool->lock);
}

/* Two workers are parked, and a wake-up is late while the timer is old. */
static void expect_noticed(struct kunit *test, unsigned int ticks)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 2);
	ASSERT_SOON(test, settled(rig->pool) && is_far(rig->pool));
	hold(rig, ANTS_PAUSE_ARRIVE);
	timer_gets_old(rig->pool, ticks);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), 0);
	held(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2);
}

static void late_wake_up_is_noticed_under_an_old_timer(struct kunit *test)
{
	expect_noticed(test, 1);
}

/* The new time equals the old one, but for a tick in between. */
static void timer_is_armed_anew_for_the_same_time(struct kunit *test)
{
	expect_noticed(test, ANTS_LATE_TICKS);
}

/*
 * A caller that a batch holds back is granted in time, too: there is room for
 * one of eight tasks.
 */
static void held_back_caller_is_granted_under_an_old_timer(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 4, .queue_depth = 4 });
	int i;

	/* Tasks that run have the timer armed for the time when they are long. */
	KUNIT_ASSERT_EQ(test, set_attr(rig->pool, "stall_ms", 3600 * MSEC_PER_SEC), 0);
	fill_pool(test, rig->pool, &rig->gate, 4);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	start_waiters(rig, 1);
	ASSERT_SOON(test, is_far(rig->pool));
	timer_gets_old(rig->pool, 1);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, !ants_nr_waiting(rig->pool));
	KUNIT_EXPECT_NE(test, ants_nr_pending(rig->pool), 0);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
}

/*
 * So far ahead that the wheel's error does not fit beside it: INT_MAX milliseconds
 * with 32-bit jiffies and HZ=1000.
 */
static void late_wake_up_is_noticed_under_the_farthest_timer(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	raw_spin_lock_irq(&rig->pool->lock);
	rig->pool->timer.expiry = LONG_MAX - 1;
	raw_spin_unlock_irq(&rig->pool->lock);
	park(rig, 0, 2);
	ASSERT_SOON(test, settled(rig->pool) && is_far(rig->pool));
	hold(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), 0);
	held(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 2);
}

/* A timer that would wake an idle CPU for nothing is not left behind. */
static void wake_up_in_time_leaves_no_timer(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	struct ants_pool *pool = rig->pool;
	unsigned long now;
	int i;

	park(rig, 0, 2);
	for (i = 0; i < 20; i++) {
		now = jiffies;
		EXPECT_SOON(test, time_after(jiffies, now));
		KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task,
						  &rig->count), 0);
		EXPECT_SOON(test, settled(pool));
		KUNIT_EXPECT_TRUE(test, is_far(pool));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 20);
}

/* Each arming records by when the timer will have fired, whatever it is for. */
static void arming_says_by_when_it_fires(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct ants_pool *pool = rig->pool;
	unsigned long expires, by;

	park(rig, 0, 1);
	ASSERT_SOON(test, settled(pool) && is_far(pool));
	raw_spin_lock_irq(&pool->lock);
	expires = pool->timer.timer.expires;
	by = pool->timer.by;
	raw_spin_unlock_irq(&pool->lock);
	KUNIT_EXPECT_TRUE(test, time_after_eq(by, expires +
					      msecs_to_jiffies(RIG_EXPIRY_MS) / 8));
}

/*
 * The rule of the wheel: from 63 * 8^(n-1) jiffies on it rounds up to the next
 * multiple of 8^n, one tick late even for exact multiples. A timer that is
 * armed while the wheel's clock lags counts from that clock.
 */
static unsigned long wheel_late(unsigned long distance)
{
	unsigned long granularity = 1;

	while (distance >= 63 * granularity)
		granularity *= 8;
	return granularity - 1;
}

static void expect_slack(struct kunit *test, unsigned long distance)
{
	unsigned long slack = ants_timer_slack(distance);

	KUNIT_EXPECT_GE_MSG(test, slack, wheel_late(distance),
			    "%lu jiffies ahead", distance);
	KUNIT_EXPECT_GE_MSG(test, slack, wheel_late(distance + 4),
			    "%lu jiffies ahead", distance);
	KUNIT_EXPECT_LE_MSG(test, slack, distance / 7 + 1,
			    "%lu jiffies ahead", distance);
}

/* Near each step of the wheel, and in between. */
static void slack_is_enough_for_the_wheel(struct kunit *test)
{
	unsigned long distance, start;
	int i;

	for (distance = 0; distance < 5000; distance++)
		expect_slack(test, distance);
	for (start = 63; start < 63UL << 24; start *= 8) {
		for (i = -5; i <= 5; i++)
			expect_slack(test, start + i);
		for (i = 2; i < 8; i++)
			expect_slack(test, start * i);
	}
	for (distance = 0; distance < 50; distance++)
		KUNIT_EXPECT_EQ(test, ants_timer_slack(distance), 0UL);
	/* Times that are over already. */
	KUNIT_EXPECT_EQ(test, ants_timer_slack(-1000), 0UL);
}

static struct kunit_case timer_cases[] = {
	KUNIT_CASE(late_wake_up_is_noticed_under_an_old_timer),
	KUNIT_CASE(timer_is_armed_anew_for_the_same_time),
	KUNIT_CASE(held_back_caller_is_granted_under_an_old_timer),
	KUNIT_CASE(late_wake_up_is_noticed_under_the_farthest_timer),
	KUNIT_CASE(wake_up_in_time_leaves_no_timer),
	KUNIT_CASE(arming_says_by_when_it_fires),
	KUNIT_CASE(slack_is_enough_for_the_wheel),
	{}
};

static struct kunit_suite timer_suite = {
	.name = "ants_timer",
	.test_cases = timer_cases,
};

kunit_test_suite(timer_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the pool's timer");
MODULE_LICENSE("GPL");
