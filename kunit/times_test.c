// SPDX-License-Identifier: GPL-2.0-only
/* How long tasks wait and run, once an administrator has asked for it. */
#include <linux/module.h>

#include "show.h"

#define NAME	"times"
/* Long beside what a task costs, and the first power of two that is shorter. */
#define LONG_MS		40
#define LONG_BUCKET	15
/* Times that are made up would be longer than any test: 2^27 us are 134 s. */
#define WRONG_BUCKET	27

/* How many tasks have waited for 2^@from us or longer. */
static noinline u64 nr_waited(struct ants_pool *pool, int from)
{
	struct ants_histograms counts;
	u64 nr = 0;

	ants_times_read(pool, &counts);
	for (; from < ANTS_TIMES; from++)
		nr += counts.wait[from];
	return nr;
}

/* How many have run for so long. */
static noinline u64 nr_ran(struct ants_pool *pool, int from)
{
	struct ants_histograms counts;
	u64 nr = 0;

	ants_times_read(pool, &counts);
	for (; from < ANTS_TIMES; from++)
		nr += counts.run[from];
	return nr;
}

static void expect_timed(struct kunit *test, struct ants_pool *pool,
			 u64 nr_wait, u64 nr_run)
{
	EXPECT_SOON(test, settled(pool));
	KUNIT_EXPECT_EQ(test, nr_waited(pool, 0), nr_wait);
	KUNIT_EXPECT_EQ(test, nr_ran(pool, 0), nr_run);
	KUNIT_EXPECT_EQ(test, nr_waited(pool, WRONG_BUCKET), 0ULL);
	KUNIT_EXPECT_EQ(test, nr_ran(pool, WRONG_BUCKET), 0ULL);
}

static void submit_counts(struct rig *rig, int nr)
{
	while (nr--)
		KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task,
						       &rig->count), 0);
}

/* Have one task in @every timed. */
static void switch_to(struct rig *rig, unsigned int every)
{
	KUNIT_ASSERT_EQ(rig->test, set_attr(rig->pool, "timing", every), 0);
}

static void switch_on(struct rig *rig)
{
	switch_to(rig, 1);
}

static void nothing_is_counted_by_default(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 2, .queue_depth = 8 });

	submit_counts(rig, 10);
	expect_timed(test, rig->pool, 0, 0);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->timed), 0);
}

static void every_task_is_counted_once(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 2, .queue_depth = 8 });

	switch_on(rig);
	submit_counts(rig, 100);
	expect_timed(test, rig->pool, 100, 100);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	KUNIT_EXPECT_EQ(test, ants_submit_prio(rig->pool, count_task,
					       &rig->count, ANTS_PRIO_HIGH, 0),
			0);
	expect_timed(test, rig->pool, 102, 102);
}

static void sleep_task(void *unused)
{
	msleep(LONG_MS);
}

static void run_counts_as_long_as_it_is(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });

	switch_on(rig);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, sleep_task, NULL), 0);
	submit_counts(rig, 1);
	expect_timed(test, rig->pool, 2, 2);
	KUNIT_EXPECT_GE(test, nr_ran(rig->pool, LONG_BUCKET), 1ULL);
}

static void wait_counts_from_the_acceptance(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });

	switch_on(rig);
	submit_counts(rig, 1);
	msleep(LONG_MS);
	gate_open(&rig->gate);
	expect_timed(test, rig->pool, 1, 1);
	KUNIT_EXPECT_EQ(test, nr_waited(rig->pool, LONG_BUCKET), 1ULL);
}

static int wait_for_room(struct async_call *call)
{
	return ants_queue_work_timeout(call->pool, call->data, FOREVER);
}

/* A caller that is held up has handed its task over when it came. */
static void wait_counts_from_the_call(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });

	switch_on(rig);
	start_waiters(rig, 1);
	rig_async(rig, wait_for_room, 0, work_of(item));
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 2);
	msleep(LONG_MS);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_timed(test, rig->pool, 2, 2);
	KUNIT_EXPECT_EQ(test, nr_waited(rig->pool, LONG_BUCKET), 2ULL);
}

/* What was accepted before does not count. */
static void switch_finds_tasks(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 40 });

	submit_counts(rig, 39);
	KUNIT_ASSERT_EQ(test, ants_submit_prio(rig->pool, count_task,
					       &rig->count, ANTS_PRIO_HIGH, 0),
			0);
	switch_on(rig);
	gate_open(&rig->gate);
	expect_timed(test, rig->pool, 0, 0);
	submit_counts(rig, 3);
	expect_timed(test, rig->pool, 3, 3);
}

/* Its task is accepted later, and counts from then on. */
static void switch_finds_a_caller_that_waits(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });

	start_waiters(rig, 1);
	switch_on(rig);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_timed(test, rig->pool, 1, 1);
}

static void switched_off_and_on_again(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 8 });

	switch_on(rig);
	submit_counts(rig, 5);
	expect_timed(test, rig->pool, 5, 5);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 0), 0);
	submit_counts(rig, 5);
	expect_timed(test, rig->pool, 5, 5);
	switch_on(rig);
	submit_counts(rig, 5);
	expect_timed(test, rig->pool, 10, 10);
}

/* What was timed when it was accepted counts. */
static void task_runs_across_both_switches(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	switch_on(rig);
	post_start(rig, 0);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 0), 0);
	switch_on(rig);
	gate_open(&rig->posts[0].gate);
	expect_timed(test, rig->pool, 1, 1);
}

/* For how long the first worker has been doing what it does, or -1. */
static long age_of_worker(struct kunit *test, struct ants_pool *pool)
{
	const char *text = shown(test, pool, ANTS_WORKERS);
	unsigned int cpu;
	char state[16];
	int pid;
	long ms;

	if (sscanf(line_of(text, 1), "%*s %d %15s %u %ld", &pid, state, &cpu,
		   &ms) != 4)
		return -1;
	return ms;
}

static void one_task_in_so_many_is_counted(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 2, .queue_depth = 8 });

	switch_to(rig, 4);
	submit_counts(rig, 40);
	expect_timed(test, rig->pool, 10, 10);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_timed(test, rig->pool, 11, 11);
	switch_to(rig, ANTS_SAMPLE_MAX);
	submit_counts(rig, 40);
	expect_timed(test, rig->pool, 12, 12);
}

static void sampled_task_counts_as_long_as_it_is(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 2 });

	switch_to(rig, 2);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, sleep_task, NULL), 0);
	submit_counts(rig, 1);
	msleep(LONG_MS);
	gate_open(&rig->gate);
	expect_timed(test, rig->pool, 1, 1);
	KUNIT_EXPECT_EQ(test, nr_waited(rig->pool, LONG_BUCKET), 1ULL);
	KUNIT_EXPECT_EQ(test, nr_ran(rig->pool, LONG_BUCKET), 1ULL);
}

/* Of those that are pending when all are to be counted, one in so many counts. */
static void samples_end_while_tasks_are_pending(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 40 });

	switch_to(rig, 2);
	submit_counts(rig, 10);
	switch_on(rig);
	gate_open(&rig->gate);
	expect_timed(test, rig->pool, 5, 5);
}

static void samples_begin_while_tasks_are_pending(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 40 });

	switch_on(rig);
	submit_counts(rig, 10);
	switch_to(rig, 2);
	submit_counts(rig, 10);
	gate_open(&rig->gate);
	expect_timed(test, rig->pool, 15, 15);
}

static void samples_end_while_one_runs(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	switch_to(rig, 2);
	post_start(rig, 0);
	KUNIT_EXPECT_EQ(test, age_of_worker(test, rig->pool), -1L);
	switch_on(rig);
	gate_open(&rig->posts[0].gate);
	expect_timed(test, rig->pool, 1, 1);
	submit_counts(rig, 3);
	expect_timed(test, rig->pool, 4, 4);
}

/* What looks for tasks that stall has to know all of them. */
static void stall_limit_has_all_counted(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 8 });

	switch_to(rig, 4);
	KUNIT_ASSERT_EQ(test, set_attr(rig->pool, "stall_ms", 100000), 0);
	submit_counts(rig, 8);
	expect_timed(test, rig->pool, 8, 8);
	KUNIT_ASSERT_EQ(test, set_attr(rig->pool, "stall_ms", 0), 0);
	submit_counts(rig, 8);
	expect_timed(test, rig->pool, 10, 10);
}

static void other_values_are_refused(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", ANTS_SAMPLE_MAX + 1), -EINVAL);
	switch_on(rig);
	switch_on(rig);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", ANTS_SAMPLE_MAX + 1), -EINVAL);
	submit_counts(rig, 1);
	expect_timed(test, rig->pool, 1, 1);
}

static void longest_run_is_known_by_name(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	const char *text;

	seldom_late();
	switch_on(rig);
	post_start(rig, 0);
	msleep(LONG_MS);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_task, &rig->gate), 0);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	KUNIT_EXPECT_GE(test, age_of_worker(test, rig->pool), (long)LONG_MS);
	text = strstr(shown(test, NULL, ANTS_SUMMARY), "\n" NAME " ");
	KUNIT_ASSERT_NOT_NULL(test, text);
	expect_in(test, line_of(text, 1), "  post_task" IN_SUITE);
}

/* For how long it runs is known from the switch on. */
static void age_is_known_from_the_switch_on(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });

	KUNIT_EXPECT_EQ(test, age_of_worker(test, rig->pool), -1L);
	msleep(LONG_MS);
	switch_on(rig);
	KUNIT_EXPECT_GE(test, age_of_worker(test, rig->pool), 0L);
	msleep(LONG_MS);
	KUNIT_EXPECT_GE(test, age_of_worker(test, rig->pool), (long)LONG_MS);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 0), 0);
	KUNIT_EXPECT_EQ(test, age_of_worker(test, rig->pool), -1L);
}

/* A task that was pending at the switch on has run from its start on, not from there. */
static void age_of_a_pending_task_is_from_its_start(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });
	struct ants_pool *pool = rig->pool;
	struct ants_worker *w;
	u64 started, since;

	KUNIT_ASSERT_EQ(test, ants_submit(pool, post_task, &rig->posts[0]), 0);
	switch_on(rig);
	since = ants_clock();
	/* The clock of some guests moves with the tick. */
	ASSERT_SOON(test, ants_clock() > since);
	gate_open(&rig->gate);
	ASSERT_SOON(test, atomic_read(&rig->posts[0].gate.entered) == 1);
	raw_spin_lock_irq(&pool->lock);
	w = list_first_entry(&pool->workers.list, struct ants_worker, member);
	started = ants_time_started(w);
	raw_spin_unlock_irq(&pool->lock);
	KUNIT_EXPECT_GT(test, started, since);
}

static void pending_tasks_have_an_age(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });
	char prio[16];
	int found;
	long ms;

	switch_on(rig);
	submit_counts(rig, 1);
	msleep(LONG_MS);
	found = sscanf(line_of(shown(test, rig->pool, ANTS_PENDING), 1),
		       "%*s %15s %ld", prio, &ms);
	KUNIT_ASSERT_EQ(test, found, 2);
	KUNIT_EXPECT_GE(test, ms, (long)LONG_MS);
	gate_open(&rig->gate);
}

/* The task is called off while the worker that was woken for it comes. */
static void wake_up_in_vain_is_counted(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	park(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spurious_wakeups, 0ULL);
	hold(rig, ANTS_PAUSE_ARRIVE);
	submit_counts(rig, 1);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL), 1U);
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(test, stats_of(rig->pool).spurious_wakeups == 1);
}

/* Without memory nothing is switched on, and to switch nothing off needs none. */
static void no_memory_is_refused(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	ants_fail_arm(ANTS_FAIL_TIMES, 2);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 0), 0);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "stall_ms", 0), 0);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "stall_ms", 1000), -ENOMEM);
	KUNIT_EXPECT_EQ(test, READ_ONCE(rig->pool->timed), 0);
	KUNIT_EXPECT_EQ(test, set_attr(rig->pool, "timing", 1), 0);
}

static struct kunit_case times_cases[] = {
	KUNIT_CASE(nothing_is_counted_by_default),
	KUNIT_CASE(every_task_is_counted_once),
	KUNIT_CASE(run_counts_as_long_as_it_is),
	KUNIT_CASE(wait_counts_from_the_acceptance),
	KUNIT_CASE(wait_counts_from_the_call),
	KUNIT_CASE(switch_finds_tasks),
	KUNIT_CASE(switch_finds_a_caller_that_waits),
	KUNIT_CASE(switched_off_and_on_again),
	KUNIT_CASE(task_runs_across_both_switches),
	KUNIT_CASE(one_task_in_so_many_is_counted),
	KUNIT_CASE(sampled_task_counts_as_long_as_it_is),
	KUNIT_CASE(samples_end_while_tasks_are_pending),
	KUNIT_CASE(samples_begin_while_tasks_are_pending),
	KUNIT_CASE(samples_end_while_one_runs),
	KUNIT_CASE(stall_limit_has_all_counted),
	KUNIT_CASE(other_values_are_refused),
	KUNIT_CASE(no_memory_is_refused),
	KUNIT_CASE(longest_run_is_known_by_name),
	KUNIT_CASE(age_is_known_from_the_switch_on),
	KUNIT_CASE(age_of_a_pending_task_is_from_its_start),
	KUNIT_CASE(pending_tasks_have_an_age),
	KUNIT_CASE(wake_up_in_vain_is_counted),
	{}
};

static struct kunit_suite times_suite = {
	.name = "ants_times",
	.test_cases = times_cases,
};

kunit_test_suite(times_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the times of tasks");
MODULE_LICENSE("GPL");
