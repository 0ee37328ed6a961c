// SPDX-License-Identifier: GPL-2.0-only
/*
 * A submitter that waits for more than two minutes is logged, once. The waits
 * are made to look old; a console of the suite's own counts what is logged.
 */
#include <linux/console.h>
#include <linux/module.h>

#include "rig.h"

#define NAME	"long_wait"

static atomic_t nr_logged = ATOMIC_INIT(0);

static void count_logged(struct console *console, const char *text,
			 unsigned int len)
{
	if (strnstr(text, "pool " NAME ": ", len) &&
	    strnstr(text, "has waited for more than 120 s", len))
		atomic_inc(&nr_logged);
}

static struct console log_console = {
	.name = "ants",
	.write = count_logged,
	.flags = CON_ENABLED,
	.index = -1,
};

/* All waits have begun @seconds earlier, and the timer is due. */
static void age(struct ants_pool *pool, unsigned int seconds)
{
	struct ants_waiter *waiter;

	raw_spin_lock_irq(&pool->lock);
	list_for_each_entry(waiter,
			    &pool->waiters[ANTS_PRIO_NORMAL].list, node)
		waiter->since -= seconds * HZ;
	mod_timer(&pool->timer, jiffies);
	raw_spin_unlock_irq(&pool->lock);
}

static bool unlogged(struct ants_pool *pool)
{
	return READ_ONCE(pool->waiters[ANTS_PRIO_NORMAL].unlogged);
}

/* The timer has looked, and is armed for the next time. */
static bool timer_is_later(struct ants_pool *pool)
{
	return timer_pending(&pool->timer) &&
	       time_after(READ_ONCE(pool->timer.expires), jiffies + HZ);
}

static struct rig *make_waiting(struct kunit *test, unsigned int waiters)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });

	atomic_set(&nr_logged, 0);
	start_waiters(rig, waiters);
	return rig;
}

static void each_long_wait_is_logged_once(struct kunit *test)
{
	struct rig *rig = make_waiting(test, 3);

	age(rig->pool, 121);
	EXPECT_SOON(test, atomic_read(&nr_logged) == 3);
	KUNIT_EXPECT_FALSE(test, unlogged(rig->pool));
	age(rig->pool, 121);
	EXPECT_SOON(test, !timer_pending(&rig->pool->timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_logged), 3);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
}

static void short_wait_is_not_logged(struct kunit *test)
{
	struct rig *rig = make_waiting(test, 2);

	age(rig->pool, 60);
	EXPECT_SOON(test, timer_is_later(rig->pool));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_logged), 0);
	KUNIT_EXPECT_TRUE(test, unlogged(rig->pool));
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	KUNIT_EXPECT_FALSE(test, unlogged(rig->pool));
}

/* The oldest waiter goes before its time; the next one is logged in its turn. */
static void next_waiter_is_logged(struct kunit *test)
{
	struct rig *rig = make_waiting(test, 2);

	gate_let_one(&rig->gate);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	age(rig->pool, 121);
	EXPECT_SOON(test, atomic_read(&nr_logged) == 1);
	KUNIT_EXPECT_FALSE(test, unlogged(rig->pool));
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
}

/* A timer that is armed for a long wait must not keep the reaper waiting. */
static void reaper_does_not_wait_for_it(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1,
						.expiry = 20 * HZ });
	struct timer_list *timer = &rig->pool->timer;

	start_waiters(rig, 1);
	/* What the start of the worker has armed is over. */
	EXPECT_SOON(test, timer_is_later(rig->pool));
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	KUNIT_EXPECT_TRUE(test, timer_pending(timer));
	KUNIT_EXPECT_TRUE(test, time_before_eq(READ_ONCE(timer->expires),
					       jiffies + 21 * HZ));
}

static int long_wait_init(struct kunit_suite *suite)
{
	register_console(&log_console);
	return 0;
}

static void long_wait_exit(struct kunit_suite *suite)
{
	unregister_console(&log_console);
}

static struct kunit_case long_wait_cases[] = {
	KUNIT_CASE(each_long_wait_is_logged_once),
	KUNIT_CASE(short_wait_is_not_logged),
	KUNIT_CASE(next_waiter_is_logged),
	KUNIT_CASE(reaper_does_not_wait_for_it),
	{}
};

static struct kunit_suite long_wait_suite = {
	.name = "ants_long_wait",
	.suite_init = long_wait_init,
	.suite_exit = long_wait_exit,
	.test_cases = long_wait_cases,
};

kunit_test_suite(long_wait_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the log of long waits");
MODULE_LICENSE("GPL");
