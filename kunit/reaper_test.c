// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reaper: which idle workers leave, when, and which never do. Most cases
 * age workers by hand, so that they do not depend on a clock.
 */
#include <linux/module.h>

#include "rig.h"

#define NAME	"reaper"

/* The timer is armed for the time when the next idle worker expires. */
static bool armed_for_deadline(struct ants_pool *pool)
{
	struct ants_worker *oldest;
	bool ret = false;

	raw_spin_lock_irq(&pool->lock);
	oldest = list_first_entry_or_null(&pool->workers.idle, struct ants_worker,
					  node);
	if (oldest) {
		oldest = list_last_entry(&pool->workers.idle, struct ants_worker, node);
		ret = timer_pending(&pool->timer.timer) &&
		      pool->timer.timer.expires ==
		      oldest->idle_since + pool->timer.expiry + 1;
	}
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/* Fire the timer in vain, and wait until everything it triggers is over. */
static void fire_in_vain(struct rig *rig)
{
	expire(rig->pool, 0);
	ASSERT_SOON(rig->test, armed_for_deadline(rig->pool));
	ASSERT_SOON(rig->test, settled(rig->pool));
}

static void nothing_expired_nothing_leaves(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3 });

	park(rig, 0, 3);
	fire_in_vain(rig);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 3);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 0);
}

/* B3: one, some and all; also more than one round of 16, and than two. */
static void exactly_the_expired_leave(struct kunit *test)
{
	static const unsigned int plan[] = { 1, 2, 17, 20 };
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 40 });
	unsigned int i, left = 40;

	park(rig, 0, 40);
	for (i = 0; i < ARRAY_SIZE(plan); i++) {
		expire(rig->pool, plan[i]);
		left -= plan[i];
		EXPECT_SOON(test, ants_nr_running(rig->pool) == left);
		EXPECT_SOON(test, settled(rig->pool));
		KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), left);
		KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 40 - left);
	}
	EXPECT_SOON(test, silent(rig->pool));
	EXPECT_SOON(test, nr_threads(NAME) == 0);
}

/* Three rounds, from one timer. */
static void forty_expire_at_once(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 40 });

	park(rig, 0, 40);
	expire(rig->pool, 40);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	EXPECT_SOON(test, silent(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 40);
}

/* All workers have expired, and @stay of five stay. */
static void expect_stay(struct kunit *test, struct ants_attrs attrs,
			unsigned int stay)
{
	struct rig *rig;

	attrs.capacity = 5;
	rig = rig_make(test, NAME, attrs);
	fill_pool(test, rig->pool, &rig->gate, 5);
	gate_open(&rig->gate);
	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 5);
	expire(rig->pool, 5);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == stay);
	/* No surplus is left: the timer has fired and is not armed. */
	EXPECT_SOON(test, silent(rig->pool));
	timer_delete_sync(&rig->pool->timer.timer);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), stay);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), stay);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 5 - stay);
}

static void all_leave_without_a_minimum(struct kunit *test)
{
	expect_stay(test, (struct ants_attrs){ .nice = 0 }, 0);
}

static void min_workers_stay(struct kunit *test)
{
	expect_stay(test, (struct ants_attrs){ .min_workers = 2 }, 2);
}

static void no_purge_keeps_all(struct kunit *test)
{
	expect_stay(test, (struct ants_attrs){ .flags = ANTS_NO_PURGE }, 5);
}

static void prealloc_keeps_all(struct kunit *test)
{
	expect_stay(test, (struct ants_attrs){ .flags = ANTS_PREALLOC }, 5);
}

static void mem_reclaim_keeps_one(struct kunit *test)
{
	expect_stay(test, (struct ants_attrs){ .flags = ANTS_MEM_RECLAIM }, 1);
}

/*
 * Hold the only worker just before it parks; return the time from then until it
 * left.
 */
static unsigned long idle_life(struct rig *rig, int phase)
{
	unsigned long start;

	hold(rig, ANTS_PAUSE_FINISH);
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task,
					       &rig->count), 0);
	held(rig, ANTS_PAUSE_FINISH);
	usleep_range(300 * phase, 300 * phase + 100);
	start = jiffies;
	let_go(rig, ANTS_PAUSE_FINISH);
	ASSERT_SOON(rig->test, ants_nr_running(rig->pool) == 0);
	return jiffies - start;
}

/*
 * B25. The start is taken before the worker can have parked and the end after
 * it has left, so that a slow machine cannot cause a failure.
 */
static void no_worker_expires_early(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1, .expiry = HZ / 25 });
	int i;

	for (i = 0; i < 24; i++)
		KUNIT_EXPECT_GE(test, idle_life(rig, i), HZ / 25 + 1UL);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 24);
}

/* B25: the same by the tick, which the case above may be too slow to see. */
static void idle_time_counts_from_the_park(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	unsigned long before, after, since, due;

	hold(rig, ANTS_PAUSE_FINISH);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	held(rig, ANTS_PAUSE_FINISH);
	before = jiffies;
	let_go(rig, ANTS_PAUSE_FINISH);
	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 1);
	after = jiffies;
	fire_in_vain(rig);
	raw_spin_lock_irq(&rig->pool->lock);
	since = list_first_entry(&rig->pool->workers.idle, struct ants_worker,
				 node)->idle_since;
	due = rig->pool->timer.timer.expires;
	raw_spin_unlock_irq(&rig->pool->lock);
	KUNIT_EXPECT_TRUE(test, time_in_range(since, before, after));
	/*
	 * One tick more than the expiry, since the first tick was not a whole
	 * one.
	 */
	KUNIT_EXPECT_EQ(test, due - since,
			msecs_to_jiffies(RIG_EXPIRY_MS) + 1);
}

/* The worker that would get the next task is the last to leave. */
static void longest_idle_leave_first(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3, .min_workers = 1 });
	struct ants_worker *w;

	fill_pool(test, rig->pool, &rig->gate, 1);
	post_start(rig, 0);
	post_start(rig, 1);
	gate_open(&rig->posts[0].gate);
	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 1);
	gate_open(&rig->posts[1].gate);
	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 2);
	gate_open(&rig->gate);
	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 3);
	expire(rig->pool, 3);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	raw_spin_lock_irq(&rig->pool->lock);
	w = list_first_entry(&rig->pool->workers.idle, struct ants_worker, node);
	raw_spin_unlock_irq(&rig->pool->lock);
	KUNIT_EXPECT_PTR_NE(test, w->task, rig->posts[0].thread);
	KUNIT_EXPECT_PTR_NE(test, w->task, rig->posts[1].thread);
}

static void busy_worker_stays(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	post_start(rig, 0);
	park(rig, 1, 1);
	expire(rig->pool, 2);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(rig->pool), 1);
	gate_open(&rig->posts[0].gate);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 1);
}

/* An idle pool whose workers have expired causes no wake-ups. */
static void expired_pool_is_silent(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3, .expiry = HZ / 50 });

	/* The worker may have left again before this case sees it parked. */
	post_start(rig, 0);
	gate_open(&rig->posts[0].gate);
	EXPECT_SOON(test, stats_of(rig->pool).completed == 1);
	fill_pool(test, rig->pool, &rig->gate, 3);
	gate_open(&rig->gate);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	EXPECT_SOON(test, silent(rig->pool));
	timer_delete_sync(&rig->pool->timer.timer);
	KUNIT_EXPECT_TRUE(test, silent(rig->pool));
}

static void shorter_expiry_takes_effect_at_once(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 2);
	fire_in_vain(rig);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "expiry_ms", 20), 0);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 2);
}

/* The timer fires once in vain, and then at the new time. */
static void longer_expiry_keeps_workers(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "expiry_ms",
				       2 * RIG_EXPIRY_MS), 0);
	/* Past the old expiry, but not the new one. */
	raw_spin_lock_irq(&rig->pool->lock);
	list_last_entry(&rig->pool->workers.idle, struct ants_worker,
			node)->idle_since -= rig->pool->timer.expiry * 3 / 4;
	raw_spin_unlock_irq(&rig->pool->lock);
	fire_in_vain(rig);
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 0);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "expiry_ms", 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "expiry_ms", 1U + INT_MAX),
			-EINVAL);
}

/* Park one worker and tell it to leave, which it has not noticed yet. */
static void make_leaving(struct rig *rig)
{
	park(rig, 0, 1);
	hold(rig, ANTS_PAUSE_ARRIVE);
	expire(rig->pool, 1);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_ASSERT_EQ(rig->test, ants_peek(rig->pool->workers.nr_leaving), 1);
}

/* A worker that was told to leave takes a task that comes meanwhile. */
static void leaving_worker_rescinds(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct ants_stats stats;

	make_leaving(rig);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, post_task, &rig->posts[1]),
			0);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	gate_open(&rig->posts[1].gate);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1 && settled(rig->pool));
	KUNIT_EXPECT_PTR_EQ(test, rig->posts[1].thread, rig->posts[0].thread);
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(test, stats.spawned, 1);
	KUNIT_EXPECT_EQ(test, stats.reaped, 0);
	/* It can be told to leave again. */
	expire(rig->pool, 1);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 1);
}

/* The same with the task of a waiting caller. */
static void leaving_worker_serves_a_waiter(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct async_call *call;

	make_leaving(rig);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	call = rig_async(rig, do_submit_count, MAX_SCHEDULE_TIMEOUT, NULL);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 2);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1);
}

/* A leaving worker is not relied on if another one can be made. */
static void leaving_worker_is_not_waited_for(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	make_leaving(rig);
	post_start(rig, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 1);
	gate_open(&rig->posts[1].gate);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
}

static void waking_worker_is_never_reaped(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct ants_worker *w;

	park(rig, 0, 1);
	hold(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	held(rig, ANTS_PAUSE_ARRIVE);
	raw_spin_lock_irq(&rig->pool->lock);
	w = list_first_entry(&rig->pool->workers.list, struct ants_worker, member);
	w->idle_since -= 2 * rig->pool->timer.expiry;
	raw_spin_unlock_irq(&rig->pool->lock);
	expire(rig->pool, 1);
	EXPECT_SOON(test, !timer_pending(&rig->pool->timer.timer));
	timer_delete_sync(&rig->pool->timer.timer);
	EXPECT_SOON(test, !ants_peek(rig->pool->upkeep.queued));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->workers.nr_leaving), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 1);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 0);
}

/*
 * After half of the time that jiffies can count the end of its expiry seems to lie
 * ahead: 25 days with 32-bit jiffies and HZ=1000.
 */
static void worker_idle_for_ages_leaves(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1, .min_workers = 1 });

	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 1);
	raw_spin_lock_irq(&rig->pool->lock);
	list_first_entry(&rig->pool->workers.idle, struct ants_worker,
			 node)->idle_since -= LONG_MAX + 2 * rig->pool->timer.expiry;
	raw_spin_unlock_irq(&rig->pool->lock);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "min_workers", 0), 0);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 1);
}

/*
 * An idle pool gives back the memory of its busy times as well, however many slots it
 * keeps to spare.
 */
static const unsigned int spare[] = { 0, ANTS_STOCK_MAX };

static void spare_desc(const unsigned int *nr, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u to spare", *nr);
}

KUNIT_ARRAY_PARAM(spare, spare, spare_desc);

static void stock_is_trimmed_when_all_left(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 200,
					.spare_slots = *(const unsigned int *)test->param_value });
	int i;

	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	gate_open(&rig->gate);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_GE(test, ants_peek(rig->pool->nr_stock), 90);
	expire(rig->pool, 2);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	EXPECT_SOON(test, silent(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->nr_stock), ants_stock_level(rig->pool));
}

/* Tasks come just when their worker is about to leave. */
static void reaper_and_submits_race(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .expiry = 1 });
	unsigned long end = jiffies + TEST_DEADLINE;
	struct ants_stats stats;
	int i;

	/* On a busy machine it takes longer until some have left. */
	for (i = 0; i < 120 || (stats_of(rig->pool).reaped < 2 && time_before(jiffies, end));
	     i++) {
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
		ASSERT_SOON(test, atomic_read(&rig->count) == i + 1);
		usleep_range(i % 30 * 400, i % 30 * 400 + 200);
	}
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 0);
	EXPECT_SOON(test, silent(rig->pool));
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(test, stats.running, 0);
	KUNIT_EXPECT_EQ(test, stats.spawned, stats.reaped);
	KUNIT_EXPECT_EQ(test, stats.completed, i);
	KUNIT_EXPECT_GT(test, stats.reaped, 1);
}

static struct kunit_case reaper_cases[] = {
	KUNIT_CASE(nothing_expired_nothing_leaves),
	KUNIT_CASE(exactly_the_expired_leave),
	KUNIT_CASE(forty_expire_at_once),
	KUNIT_CASE(all_leave_without_a_minimum),
	KUNIT_CASE(min_workers_stay),
	KUNIT_CASE(no_purge_keeps_all),
	KUNIT_CASE(prealloc_keeps_all),
	KUNIT_CASE(mem_reclaim_keeps_one),
	KUNIT_CASE(no_worker_expires_early),
	KUNIT_CASE(idle_time_counts_from_the_park),
	KUNIT_CASE(longest_idle_leave_first),
	KUNIT_CASE(busy_worker_stays),
	KUNIT_CASE(expired_pool_is_silent),
	KUNIT_CASE(shorter_expiry_takes_effect_at_once),
	KUNIT_CASE(longer_expiry_keeps_workers),
	KUNIT_CASE(leaving_worker_rescinds),
	KUNIT_CASE(leaving_worker_serves_a_waiter),
	KUNIT_CASE(leaving_worker_is_not_waited_for),
	KUNIT_CASE(waking_worker_is_never_reaped),
	KUNIT_CASE(worker_idle_for_ages_leaves),
	KUNIT_CASE_PARAM(stock_is_trimmed_when_all_left, spare_gen_params),
	KUNIT_CASE(reaper_and_submits_race),
	{}
};

static struct kunit_suite reaper_suite = {
	.name = "ants_reaper",
	.test_cases = reaper_cases,
};

kunit_test_suite(reaper_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the reaper");
MODULE_LICENSE("GPL");
