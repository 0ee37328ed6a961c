// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of a worker that is held at pause points: woken but not arrived, and
 * with a task that has not started. For tasks that have ended see
 * race_finish_test.c.
 */
#include <linux/module.h>

#include "race.h"

/* --- ANTS_PAUSE_ARRIVE: came back from its sleep, has not had the lock -------- */

/* @pool has idle workers; the one that is woken for a counted task is held. */
static void hold_woken(struct kunit *test, struct ants_pool *pool,
		       atomic_t *count)
{
	hold(ANTS_PAUSE_ARRIVE, pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_ARRIVE);
}

/* The timer wakes the next worker; the late one finds nothing and parks. */
static void late_wake_up_delays_no_task(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	atomic_t *count = counter(test);

	park_workers(test, pool, 2);
	hold_woken(test, pool, count);
	EXPECT_SOON(test, atomic_read(count) == 1);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_idle(pool) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
	expect_submitted(test, pool, count_task, count);
	expect_drained(test, pool, count, 2);
}

/* The only worker is late, and the capacity allows another one. */
static void late_wake_up_makes_a_thread(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	atomic_t *count = counter(test);

	park_workers(test, pool, 1);
	hold_woken(test, pool, count);
	EXPECT_SOON(test, atomic_read(count) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_idle(pool) == 2);
	expect_drained(test, pool, count, 1);
}

/* True if the timer, fired @ticks after the wake-up, finds it late. */
static bool late_after(struct ants_pool *pool, long ticks)
{
	bool late;

	local_bh_disable();
	raw_spin_lock_irq(&pool->lock);
	pool->wakes.since = jiffies - ticks;
	raw_spin_unlock_irq(&pool->lock);
	pool->timer.timer.function(&pool->timer.timer);
	late = !ants_peek(pool->wakes.nr);
	local_bh_enable();
	return late;
}

/* The timer fires in time, too; a tick may come while it is armed. */
static void wake_up_is_late_after_two_ticks(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);
	bool early;
	long by;

	park_workers(test, pool, 1);
	hold(ANTS_PAUSE_ARRIVE, pool);
	/* If it is armed, it may be on another CPU; this CPU runs no timers. */
	timer_delete_sync(&pool->timer.timer);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, count_task, count), 0);
	by = ants_peek(pool->timer.by) - ants_peek(pool->wakes.since);
	early = late_after(pool, -TEST_DEADLINE);
	local_bh_enable();
	expect_held(test, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_LE(test, by, 3L);
	KUNIT_EXPECT_FALSE(test, early);
	KUNIT_EXPECT_TRUE(test, late_after(pool, 2));
	let_go(ANTS_PAUSE_ARRIVE);
	expect_drained(test, pool, count, 1);
}

/*
 * A worker that has taken the lock has arrived, and the next one can be woken.
 */
static void arrived_worker_frees_the_wake_up(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);

	park_workers(test, pool, 2);
	submit_never_late(test, pool, gate_task, gate);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->wakes.nr), 0U);
	expect_submitted(test, pool, gate_task, gate);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
}

/* One wake-up is in flight: the woken worker wakes the next one. */
static void woken_worker_wakes_the_next_one(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);

	park_workers(test, pool, 2);
	be_only_caller(test, pool);
	hold(ANTS_PAUSE_ARRIVE, pool);
	submit_never_late(test, pool, gate_task, gate);
	expect_held(test, ANTS_PAUSE_ARRIVE);
	expect_submitted(test, pool, gate_task, gate);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(pool), 1U);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->entered), 0);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
}

/* A submitter on the slow path gives up the wake-up; the timer is far away. */
static void late_wake_up_is_given_up_by_a_submitter(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	atomic_t *count = counter(test);
	unsigned int seq;

	park_workers(test, pool, 2);
	hold(ANTS_PAUSE_ARRIVE, pool);
	submit_never_late(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->wakes.nr), 1U);
	raw_spin_lock_irq(&pool->lock);
	seq = pool->wakes.seq;
	pool->wakes.since = jiffies - ANTS_LATE_TICKS;
	pool->wakes.late = jiffies;
	ants_end_fast_path(pool);
	raw_spin_unlock_irq(&pool->lock);
	ants_late_arm(ANTS_LATE_TICKS);
	expect_submitted(test, pool, count_task, count);
	KUNIT_EXPECT_NE(test, ants_peek(pool->wakes.seq), seq);
	EXPECT_SOON(test, atomic_read(count) == 2);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->wakes.nr), 0U);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_idle(pool) == 2);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->wakes.nr), 0U);
	expect_drained(test, pool, count, 2);
}

static void pool_is_released_under_a_woken_worker(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);

	park_workers(test, pool, 1);
	hold_woken(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	let_go(ANTS_PAUSE_ARRIVE);
	expect_drained(test, pool, count, 1);
}

/* The idle worker is the surplus and leaves; the woken worker stays. */
static void shrink_spares_a_woken_worker(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);

	park_workers(test, pool, 2);
	hold(ANTS_PAUSE_ARRIVE, pool);
	submit_never_late(test, pool, gate_task, gate);
	expect_held(test, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
}

/* The woken worker exceeds the capacity and leaves its task to the others. */
static void shrink_overtakes_a_woken_worker(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	park_workers(test, pool, 2);
	fill_pool(test, pool, gate, 1);
	hold(ANTS_PAUSE_ARRIVE, pool);
	submit_never_late(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2U);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->wakes.nr), 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(count), 0);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 1);
	expect_drained(test, pool, count, 1);
}

/* The woken worker's idle time is over, but it is no longer idle. */
static void woken_worker_is_not_reaped(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .expiry = 60 * HZ };
	struct ants_pool *pool = test_pool(test, &attrs, "race");
	atomic_t *count = counter(test);
	unsigned long later;

	park_workers(test, pool, 1);
	hold_woken(test, pool, count);
	expect_written(test, pool, "expiry_ms", "1");
	later = jiffies + 10;
	EXPECT_SOON(test, time_after(jiffies, later));
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 0ULL);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, stats_of(pool).reaped == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(count), 1);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
}

/*
 * One worker was idle for too long and is held on its way out. No other worker
 * expires from now on.
 */
static struct ants_pool *hold_leaving(struct kunit *test, unsigned int capacity,
				      unsigned int queue_depth)
{
	struct ants_attrs attrs = {
		.capacity = capacity,
		.queue_depth = queue_depth,
		.expiry = 60 * HZ,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "race");

	park_workers(test, pool, 1);
	hold(ANTS_PAUSE_ARRIVE, pool);
	expect_written(test, pool, "expiry_ms", "1");
	expect_held(test, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_leaving), 1U);
	expect_written(test, pool, "expiry_ms", "60000");
	return pool;
}

/*
 * A task that comes before the worker is gone makes it stay: no thread is made.
 */
static void leaving_worker_takes_a_task_after_all(struct kunit *test)
{
	struct ants_pool *pool = hold_leaving(test, 1, 0);
	atomic_t *count = counter(test);

	expect_submitted(test, pool, count_task, count);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(count) == 1);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	EXPECT_SOON(test, ants_peek(pool->workers.nr_leaving) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 0ULL);
	expect_drained(test, pool, count, 1);
}

/* The worker leaves later, when the pool is released and it was not idle. */
static void worker_that_stayed_does_not_count_as_reaped(struct kunit *test)
{
	struct ants_pool *pool = hold_leaving(test, 1, 0);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	expect_submitted(test, pool, gate_task, gate);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	gate_open(gate);
	expect_drained(test, pool, count, 0);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 0ULL);
}

static void leaving_worker_leaves(struct kunit *test)
{
	struct ants_pool *pool = hold_leaving(test, 1, 0);
	atomic_t *count = counter(test);

	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_running(pool) == 0);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_leaving), 0U);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 1ULL);
	expect_drained(test, pool, count, 0);
}

/* A shrink left capacity for the other worker only, so this one goes. */
static void leaving_worker_finds_the_capacity_used(struct kunit *test)
{
	struct ants_pool *pool = hold_leaving(test, 2, 1);
	struct gate *gate = test_gate(test);
	atomic_t *count = counter(test);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	expect_submitted(test, pool, count_task, count);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(count), 0);
	gate_open(gate);
	EXPECT_SOON(test, atomic_read(count) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1U);
	expect_drained(test, pool, count, 1);
}

/*
 * The leaving worker counts against the capacity, so no thread may be made
 * instead.
 */
static void leaving_worker_takes_what_no_other_may(struct kunit *test)
{
	struct ants_pool *pool = hold_leaving(test, 2, 0);
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	expect_submitted(test, pool, gate_task, gate);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 2U);
	let_go(ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(pool).spawned, 2ULL);
}

static void pool_is_released_under_a_leaving_worker(struct kunit *test)
{
	struct ants_pool *pool = hold_leaving(test, 1, 0);
	atomic_t *count = counter(test);

	expect_submitted(test, pool, count_task, count);
	KUNIT_EXPECT_EQ(test, ants_release(pool), 0);
	let_go(ANTS_PAUSE_ARRIVE);
	expect_drained(test, pool, count, 1);
}

/* --- ANTS_PAUSE_RUN: a task is taken, not started ----------------------------- */

static void hold_taken(struct kunit *test, struct ants_pool *pool,
		       atomic_t *count)
{
	hold(ANTS_PAUSE_RUN, pool);
	expect_submitted(test, pool, count_task, count);
	expect_held(test, ANTS_PAUSE_RUN);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(pool), 1U);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(pool), 0U);
}

static void release_waits_for_a_taken_task(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);

	hold_taken(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ants_reboot(pool), -EBUSY);
	let_go(ANTS_PAUSE_RUN);
	expect_drained(test, pool, count, 1);
}

static void flush_waits_for_a_taken_task(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 1, 0);
	atomic_t *count = counter(test);

	hold_taken(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(pool, 1), -ETIMEDOUT);
	let_go(ANTS_PAUSE_RUN);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(count), 1);
}

static void shrink_never_touches_a_taken_task(struct kunit *test)
{
	struct ants_pool *pool = race_pool(test, 2, 0);
	atomic_t *count = counter(test);

	park_workers(test, pool, 2);
	hold_taken(test, pool, count);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
	let_go(ANTS_PAUSE_RUN);
	EXPECT_SOON(test, atomic_read(count) == 1);
	EXPECT_SOON(test, ants_nr_idle(pool) == 1);
	expect_drained(test, pool, count, 1);
}

static struct kunit_case race_worker_cases[] = {
	KUNIT_CASE(late_wake_up_delays_no_task),
	KUNIT_CASE(late_wake_up_makes_a_thread),
	KUNIT_CASE(wake_up_is_late_after_two_ticks),
	KUNIT_CASE(arrived_worker_frees_the_wake_up),
	KUNIT_CASE(woken_worker_wakes_the_next_one),
	KUNIT_CASE(late_wake_up_is_given_up_by_a_submitter),
	KUNIT_CASE(pool_is_released_under_a_woken_worker),
	KUNIT_CASE(shrink_spares_a_woken_worker),
	KUNIT_CASE(shrink_overtakes_a_woken_worker),
	KUNIT_CASE(woken_worker_is_not_reaped),
	KUNIT_CASE(leaving_worker_takes_a_task_after_all),
	KUNIT_CASE(worker_that_stayed_does_not_count_as_reaped),
	KUNIT_CASE(leaving_worker_leaves),
	KUNIT_CASE(leaving_worker_finds_the_capacity_used),
	KUNIT_CASE(leaving_worker_takes_what_no_other_may),
	KUNIT_CASE(pool_is_released_under_a_leaving_worker),
	KUNIT_CASE(release_waits_for_a_taken_task),
	KUNIT_CASE(flush_waits_for_a_taken_task),
	KUNIT_CASE(shrink_never_touches_a_taken_task),
	{}
};

static struct kunit_suite race_worker_suite = {
	.name = "ants_race_worker",
	.exit = race_exit,
	.test_cases = race_worker_cases,
};

kunit_test_suite(race_worker_suite);

MODULE_DESCRIPTION("ants: KUnit tests of forced races of a worker");
MODULE_LICENSE("GPL");
