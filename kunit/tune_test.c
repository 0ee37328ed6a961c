// SPDX-License-Identifier: GPL-2.0-only
/* Tune: the capacity of a live pool. */
#include <linux/module.h>
#include <linux/random.h>

#include "rig.h"

#define NAME	"tune"

/* Open the gate; afterwards @running workers are left, all of them idle. */
static void expect_left(struct rig *rig, unsigned int running)
{
	struct ants_stats stats;

	gate_open(&rig->gate);
	EXPECT_SOON(rig->test, settled(rig->pool));
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(rig->test, stats.running, running);
	KUNIT_EXPECT_EQ(rig->test, stats.idle, running);
	KUNIT_EXPECT_EQ(rig->test, stats.completed, stats.submitted);
	EXPECT_SOON(rig->test, nr_threads(NAME) == running);
}

/* B18; no task has to end for it. */
static void growth_grants_waiters_before_it_returns(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	start_waiters(rig, 5);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 3), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 3);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 6), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 0);
	expect_results(rig, 0, 0);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 6);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 6);
	expect_left(rig, 6);
}

/* More than two rounds, and more waiters than spare slots. */
static void growth_grants_forty_waiters(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });

	start_waiters(rig, 40);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 41), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 0);
	expect_results(rig, 0, 0);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 41);
	expect_left(rig, 41);
}

static void no_bound_admits_all(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 2 });

	start_waiters(rig, 3);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, ANTS_UNLIMITED), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), ANTS_UNLIMITED);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), ANTS_UNLIMITED);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 5);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 3), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 0);
	expect_results(rig, 0, 0);
	expect_left(rig, 3);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 3);
}

/*
 * P10: idle workers leave at once, the longest idle first; none has "expired".
 */
static void shrink_sheds_the_longest_idle(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 6, .flags = ANTS_NO_PURGE });
	struct ants_worker *w;
	int i = 5;

	park(rig, 0, 6);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).reaped, 0);
	raw_spin_lock_irq(&rig->pool->lock);
	list_for_each_entry(w, &rig->pool->workers.idle, node)
		i -= w->task == rig->posts[i].thread;
	raw_spin_unlock_irq(&rig->pool->lock);
	KUNIT_EXPECT_EQ(test, i, 3);
	expect_left(rig, 2);
}

static void shrink_sheds_forty_idle(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 41 });

	park(rig, 0, 41);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	expect_left(rig, 1);
}

/* Tasks end, and as many workers leave as are too many. */
static void shrink_lets_busy_workers_finish(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
					.capacity = 6, .queue_depth = 4 });

	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_busy(rig->pool), 6);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), 2);
	expect_left(rig, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 6);
}

/* B10, B19, P10: two workers finish at once, and one of them is too many. */
static void shrink_to_one_leaves_one(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	int i;

	for (i = 0; i < 150; i++) {
		gate_init(&rig->gate);
		fill_pool(test, rig->pool, &rig->gate, 2);
		KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
		gate_open(&rig->gate);
		ASSERT_SOON(test, settled(rig->pool));
		KUNIT_ASSERT_EQ(test, ants_nr_running(rig->pool), 1);
		KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	}
	expect_left(rig, 1);
}

/* A worker finishes and is about to take the lock while Tune continues. */
static void shrink_between_finish_and_park(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });

	park(rig, 0, 1);
	hold(rig, ANTS_PAUSE_FINISH);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	held(rig, ANTS_PAUSE_FINISH);
	park(rig, 1, 1);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	let_go(rig, ANTS_PAUSE_FINISH);
	expect_left(rig, 1);
}

/*
 * A worker that was told to leave may not stay if the capacity does not allow
 * it.
 */
static void shed_worker_does_not_rescind(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 1 });

	park(rig, 0, 2);
	hold(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->workers.nr_leaving), 1);
	post_start(rig, 2);
	KUNIT_EXPECT_PTR_EQ(test, rig->posts[2].thread, rig->posts[1].thread);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	gate_open(&rig->posts[2].gate);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
}

/* Accepted tasks run; no task is admitted until the sum fits. */
static void shrink_below_what_is_pending(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
					.capacity = 2, .queue_depth = 4 });
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task,
						  &rig->gate), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "queue_depth", 3), 0);
	start_waiters(rig, 1);
	/*
	 * Six are in flight and four are allowed: 2 + 4, 1 + 4 and 1 + 3 are
	 * full.
	 */
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, stats_of(rig->pool).completed == 1);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 1);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, stats_of(rig->pool).completed == 2);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), -EAGAIN);
	gate_let_one(&rig->gate);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 0);
	expect_results(rig, 0, 0);
	expect_left(rig, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 7);
}

static void bad_capacities_change_nothing(struct kunit *test)
{
	static const unsigned int bad[] = {
		0, 1, 1U + INT_MAX, ANTS_UNLIMITED - 1
	};
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 4, .min_workers = 2 });
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, bad[i]), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), 4);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 4);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, INT_MAX), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), (unsigned int)INT_MAX);
	expect_left(rig, 2);
}

static void released_pool_is_tuned_for_later(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 2, .flags = ANTS_PREALLOC });

	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool,
						   MAX_SCHEDULE_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 5), 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), 5);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 5);
	fill_pool(test, rig->pool, &rig->gate, 5);
	expect_left(rig, 5);
}

static void prealloc_makes_threads_first(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 2, .flags = ANTS_PREALLOC });

	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, ANTS_UNLIMITED), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 5), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 5);
	EXPECT_SOON(test, nr_threads(NAME) == 5);
	ants_fail_arm(ANTS_FAIL_THREAD, 1);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 8), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), 5);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 5);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 3);
	expect_left(rig, 5);
}

/*
 * The failure comes when some threads exist already; try again if it was too
 * late.
 */
static void prealloc_takes_back_what_it_made(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 2, .flags = ANTS_PREALLOC });
	struct async_call *call;
	int tries = 40, result;

	do {
		ants_tune(rig->pool, 2);
		ASSERT_SOON(test, nr_threads(NAME) == 2);
		call = rig_async(rig, do_tune, 40, NULL);
		ASSERT_SOON(test, nr_threads(NAME) > 4 || async_returned(call));
		ants_fail_arm(ANTS_FAIL_THREAD, 1);
		result = async_result(call);
		ants_fail_arm(ANTS_FAIL_THREAD, 0);
	} while (!result && --tries);
	KUNIT_EXPECT_EQ(test, result, -ENOMEM);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), 2);
	KUNIT_EXPECT_EQ(test, ants_nr_running(rig->pool), 2);
	expect_left(rig, 2);
}

/* Threads on their way out count a little longer. */
static void prealloc_shrinks_and_grows_at_once(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 6, .flags = ANTS_PREALLOC });
	int i;

	for (i = 0; i < 20; i++) {
		KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1 + i % 3), 0);
		KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 6), 0);
		EXPECT_SOON(test, ants_nr_idle(rig->pool) == 6);
	}
	KUNIT_EXPECT_LE(test, stats_of(rig->pool).peak_running, 6);
	expect_left(rig, 6);
}

/* A task that submits another one to its own pool when its gate opens. */
static void nested_task(void *data)
{
	struct post *post = data;

	gate_task(&post->gate);
	post->result = ants_submit(post->pool, count_task, &post->gate.passed);
	WRITE_ONCE(post->thread, current);
}

/* P13: as many tasks wait as may run; the newest give up. */
static void shrink_refuses_the_newest_nested(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 4 });
	struct post *post = rig->posts;
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, nested_task,
						  &post[i]), 0);
	ASSERT_SOON(test, ants_nr_busy(rig->pool) == 4);
	for (i = 0; i < 3; i++) {
		gate_open(&post[i].gate);
		ASSERT_SOON(test, ants_nr_waiting(rig->pool) == i + 1);
	}
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(rig->pool), 1);
	EXPECT_SOON(test, READ_ONCE(post[2].thread));
	EXPECT_SOON(test, READ_ONCE(post[1].thread));
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(post[0].thread),
			    (struct task_struct *)NULL);
	expect_left(rig, 2);
	KUNIT_EXPECT_EQ(test, post[0].result, 0);
	KUNIT_EXPECT_EQ(test, post[1].result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, post[2].result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, atomic_read(&post[0].gate.passed), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&post[2].gate.passed), 1);
}

static void tuning_task(void *data)
{
	struct post *post = data;

	post->result = ants_tune(post->pool, 5);
	post->result = post->result ?: ants_tune(post->pool, 1);
	atomic_inc(&post->gate.passed);
}

static void task_tunes_its_own_pool(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 2 });

	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 3), 0);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, tuning_task,
					  &rig->posts[0]), 0);
	EXPECT_SOON(test, atomic_read(&rig->posts[0].gate.passed) == 1);
	KUNIT_EXPECT_EQ(test, rig->posts[0].result, 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(rig->pool), 1);
	expect_left(rig, 1);
}

static int do_tune_many(struct async_call *call)
{
	int i, err = 0;

	for (i = 0; i < 150 && !err; i++)
		err = ants_tune(call->pool, 1 + get_random_u32() % 6);
	return err;
}

/* B9: ants_check() verifies the bound all the time. */
static void tuners_race_under_load(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 3, .queue_depth = 2 });
	struct async_call *call[3];
	u64 accepted = 0;
	int i;

	for (i = 0; i < 3; i++)
		call[i] = rig_async(rig, do_submit_many, 0, NULL);
	EXPECT_SOON(test, atomic_read(&rig->count));
	for (i = 0; i < 2; i++)
		rig_async(rig, do_tune_many, 0, NULL);
	KUNIT_EXPECT_EQ(test, async_result(&rig->calls[3]), 0);
	KUNIT_EXPECT_EQ(test, async_result(&rig->calls[4]), 0);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	atomic_set(&rig->stop, 1);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, async_result(call[i]), 0);
		accepted += call[i]->accepted;
	}
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_GT(test, accepted, 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).completed, accepted);
	KUNIT_EXPECT_LE(test, stats_of(rig->pool).peak_running, 6);
	EXPECT_SOON(test, ants_nr_running(rig->pool) <= 2);
}

static struct kunit_case tune_cases[] = {
	KUNIT_CASE(growth_grants_waiters_before_it_returns),
	KUNIT_CASE(growth_grants_forty_waiters),
	KUNIT_CASE(no_bound_admits_all),
	KUNIT_CASE(shrink_sheds_the_longest_idle),
	KUNIT_CASE(shrink_sheds_forty_idle),
	KUNIT_CASE(shrink_lets_busy_workers_finish),
	KUNIT_CASE(shrink_to_one_leaves_one),
	KUNIT_CASE(shrink_between_finish_and_park),
	KUNIT_CASE(shed_worker_does_not_rescind),
	KUNIT_CASE(shrink_below_what_is_pending),
	KUNIT_CASE(bad_capacities_change_nothing),
	KUNIT_CASE(released_pool_is_tuned_for_later),
	KUNIT_CASE(prealloc_makes_threads_first),
	KUNIT_CASE(prealloc_takes_back_what_it_made),
	KUNIT_CASE(prealloc_shrinks_and_grows_at_once),
	KUNIT_CASE(shrink_refuses_the_newest_nested),
	KUNIT_CASE(task_tunes_its_own_pool),
	KUNIT_CASE(tuners_race_under_load),
	{}
};

static struct kunit_suite tune_suite = {
	.name = "ants_tune",
	.test_cases = tune_cases,
};

kunit_test_suite(tune_suite);

MODULE_DESCRIPTION("ants: KUnit tests of changes of a live pool");
MODULE_LICENSE("GPL");
