// SPDX-License-Identifier: GPL-2.0-only
/* Nice value and CPUs of the workers of a live pool. */
#include <linux/module.h>
#include <linux/sched/task.h>

#include "affinity.h"

#define NAME	"affinity"

/*
 * What a task found out about its thread; the task stops at the gate of its
 * post.
 */
struct spot {
	struct gate *gate;
	struct task_struct *thread;
	int nice;
	int cpu;
	unsigned int policy;
};

static void spot_task(void *data)
{
	struct spot *spot = data;

	spot->thread = current;
	spot->nice = task_nice(current);
	spot->cpu = raw_smp_processor_id();
	spot->policy = current->policy;
	gate_task(spot->gate);
}

static struct spot spots[RIG_MAX];

static struct rig *affinity_rig(struct kunit *test, struct ants_attrs attrs)
{
	struct rig *rig;
	int i;

	if (num_online_cpus() < 2 || !cpu_online(0) || !cpu_online(1))
		kunit_skip(test, "needs CPUs 0 and 1");
	rig = rig_make(test, NAME, attrs);
	for (i = 0; i < RIG_MAX; i++)
		spots[i].gate = &rig->posts[i].gate;
	return rig;
}

static void spot_start(struct rig *rig, int nr)
{
	KUNIT_ASSERT_EQ(rig->test,
			ants_submit(rig->pool, spot_task, &spots[nr]), 0);
	EXPECT_SOON(rig->test, atomic_read(&spots[nr].gate->entered) == 1);
}

static void spot_end(struct rig *rig, int nr)
{
	gate_open(spots[nr].gate);
	EXPECT_SOON(rig->test, atomic_read(&spots[nr].gate->passed) == 1);
}

/* Start a task, which must run with this nice value on this CPU. */
static void expect_spot(struct rig *rig, int nr, int nice, int cpu)
{
	spot_start(rig, nr);
	KUNIT_EXPECT_EQ(rig->test, spots[nr].nice, nice);
	KUNIT_EXPECT_EQ(rig->test, spots[nr].cpu, cpu);
}

static void set_nice_and_cpu(struct rig *rig, int nice, int cpu)
{
	KUNIT_EXPECT_EQ(rig->test, ants_set_nice(rig->pool, nice), 0);
	KUNIT_EXPECT_EQ(rig->test,
			ants_set_cpumask(rig->pool, cpumask_of(cpu)), 0);
}

static void new_workers_start_where_told(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 2, .nice = 3,
					.cpumask = cpumask_of(1) });

	KUNIT_EXPECT_TRUE(test, all_applied(rig->pool));
	expect_spot(rig, 0, 3, 1);
	set_nice_and_cpu(rig, -4, 0);
	expect_spot(rig, 1, -4, 0);
	spot_end(rig, 0);
	spot_end(rig, 1);
}

/*
 * The change comes after a new worker's setup and before it first takes the
 * lock.
 */
static void new_worker_is_not_missed(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 1 });

	hold(rig, ANTS_PAUSE_NEW);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, spot_task, &spots[0]), 0);
	held(rig, ANTS_PAUSE_NEW);
	set_nice_and_cpu(rig, 7, 1);
	KUNIT_EXPECT_FALSE(test, all_applied(rig->pool));
	let_go(rig, ANTS_PAUSE_NEW);
	EXPECT_SOON(test, atomic_read(&spots[0].gate->entered) == 1);
	KUNIT_EXPECT_EQ(test, spots[0].nice, 7);
	KUNIT_EXPECT_EQ(test, spots[0].cpu, 1);
	KUNIT_EXPECT_TRUE(test, all_applied(rig->pool));
	spot_end(rig, 0);
}

/*
 * Idle workers need no task to apply a change. Forty take more than two holds.
 */
static void idle_workers_move_at_once(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 40, .flags = ANTS_NO_PURGE });
	int i;

	park(rig, 0, 40);
	set_nice_and_cpu(rig, 5, 1);
	EXPECT_SOON(test, all_applied(rig->pool));
	for (i = 0; i < 40; i++) {
		EXPECT_SOON(test, task_nice(rig->posts[i].thread) == 5);
		EXPECT_SOON(test, runs_on(rig->posts[i].thread, cpumask_of(1)));
	}
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_nr_idle(rig->pool), 40);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 40);
	expect_spot(rig, 40, 5, 1);
	spot_end(rig, 40);
}

static int nr_with_nice(struct rig *rig, int nr, int nice)
{
	int i, sum = 0;

	for (i = 0; i < nr; i++)
		sum += task_nice(rig->posts[i].thread) == nice;
	return sum;
}

/*
 * Workers that have applied the first change must apply the second one as well.
 */
static void second_change_begins_anew(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 40, .flags = ANTS_NO_PURGE });

	park(rig, 0, 40);
	EXPECT_SOON(test, settled(rig->pool));
	hold(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, 5), 0);
	held(rig, ANTS_PAUSE_WALK);
	EXPECT_SOON(test, nr_with_nice(rig, 40, 5) == ANTS_HOLD_MAX);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, 6), 0);
	let_go(rig, ANTS_PAUSE_WALK);
	EXPECT_SOON(test, all_applied(rig->pool));
	EXPECT_SOON(test, nr_with_nice(rig, 40, 6) == 40);
}

/*
 * The walk continues behind the worker that leaves, as if that had not been its
 * next one. Tune retires the worker that has been idle longest, and its thread
 * may end at any time.
 */
static void worker_leaves_under_the_walk(struct kunit *test)
{
	const int nr = ANTS_HOLD_MAX + 4;
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = nr, .flags = ANTS_NO_PURGE });
	int i;

	for (i = 0; i < nr; i++) {
		post_start(rig, i);
		get_task_struct(rig->posts[i].thread);
	}
	for (i = 0; i < nr; i++)
		if (i != ANTS_HOLD_MAX)
			gate_open(&rig->posts[i].gate);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == nr - 1);
	hold(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, 5), 0);
	held(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, nr - 1), 0);
	gate_open(&rig->posts[ANTS_HOLD_MAX].gate);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == nr - 1);
	let_go(rig, ANTS_PAUSE_WALK);
	EXPECT_SOON(test, all_applied(rig->pool));
	EXPECT_SOON(test, nr_with_nice(rig, nr, 5) >= nr - 1);
	for (i = 0; i < nr; i++)
		put_task_struct(rig->posts[i].thread);
}

/*
 * A running task is left alone: its worker applies the change before the next
 * task.
 */
static void busy_worker_moves_at_its_next_task(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 2, .queue_depth = 2,
					.cpumask = cpumask_of(0) });

	expect_spot(rig, 0, 0, 0);
	set_nice_and_cpu(rig, 6, 1);
	expect_spot(rig, 1, 6, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, spot_task, &spots[2]), 0);
	KUNIT_EXPECT_EQ(test, task_nice(spots[0].thread), 0);
	KUNIT_EXPECT_TRUE(test, runs_on(spots[0].thread, cpumask_of(0)));
	KUNIT_EXPECT_FALSE(test, all_applied(rig->pool));
	spot_end(rig, 0);
	EXPECT_SOON(test, atomic_read(&spots[2].gate->entered) == 1);
	KUNIT_EXPECT_PTR_EQ(test, spots[2].thread, spots[0].thread);
	KUNIT_EXPECT_EQ(test, spots[2].nice, 6);
	KUNIT_EXPECT_EQ(test, spots[2].cpu, 1);
	KUNIT_EXPECT_TRUE(test, all_applied(rig->pool));
	spot_end(rig, 1);
	spot_end(rig, 2);
}

/* A worker without a next task applies the change before it parks. */
static void worker_moves_before_it_parks(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 1 });

	spot_start(rig, 0);
	set_nice_and_cpu(rig, 1, 1);
	KUNIT_EXPECT_FALSE(test, all_applied(rig->pool));
	spot_end(rig, 0);
	EXPECT_SOON(test, all_applied(rig->pool) &&
		    ants_nr_idle(rig->pool) == 1);
	EXPECT_SOON(test, runs_on(spots[0].thread, cpumask_of(1)));
	KUNIT_EXPECT_EQ(test, task_nice(spots[0].thread), 1);
	set_nice_and_cpu(rig, 0, 0);
	expect_spot(rig, 1, 0, 0);
	spot_end(rig, 1);
}

/* A worker that leaves does not count as stale any longer. */
static void leaving_workers_are_forgotten(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 6 });

	fill_pool(test, rig->pool, &rig->gate, 6);
	set_nice_and_cpu(rig, 2, 1);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 2), 0);
	KUNIT_EXPECT_EQ(test, rig->pool->limits.stay, 0);
	gate_open(&rig->gate);
	EXPECT_SOON(test, all_applied(rig->pool) &&
		    ants_nr_running(rig->pool) == 2);
	set_nice_and_cpu(rig, 3, 0);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_TRUE(test, all_applied(rig->pool));
	set_nice_and_cpu(rig, 4, 1);
	KUNIT_EXPECT_TRUE(test, all_applied(rig->pool));
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	expect_spot(rig, 0, 4, 1);
	spot_end(rig, 0);
}

static void bad_values_change_nothing(struct kunit *test)
{
	static struct cpumask impossible;
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 1, .nice = 1,
					.cpumask = cpumask_of(1) });
	struct ants_affinity *affinity = rig->pool->target.affinity;

	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, MIN_NICE - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, MAX_NICE + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, INT_MIN), -EINVAL);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, INT_MAX), -EINVAL);
	cpumask_clear(&impossible);
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(rig->pool, &impossible), -EINVAL);
	cpumask_andnot(&impossible, cpu_all_mask, cpu_possible_mask);
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(rig->pool, &impossible), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, rig->pool->target.affinity, affinity);
	KUNIT_EXPECT_EQ(test, rig->pool->target.seq, 0);
	expect_spot(rig, 0, 1, 1);
	spot_end(rig, 0);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, MIN_NICE), 0);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, MAX_NICE), 0);
}

/* Without a mask, workers run where kthreads run by default. */
static void no_mask_means_all(struct kunit *test)
{
	const struct cpumask *all = housekeeping();
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 1, .cpumask = cpumask_of(1) });

	expect_spot(rig, 0, 0, 1);
	KUNIT_EXPECT_TRUE(test, runs_on(spots[0].thread, cpumask_of(1)));
	KUNIT_EXPECT_EQ(test, ants_set_cpumask(rig->pool, NULL), 0);
	KUNIT_EXPECT_TRUE(test, rig->pool->target.affinity->unbound);
	spot_end(rig, 0);
	spot_start(rig, 1);
	KUNIT_EXPECT_TRUE(test, runs_on(spots[1].thread, all));
	/* A new nice value must not bind it again. */
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, 2), 0);
	KUNIT_EXPECT_TRUE(test, rig->pool->target.affinity->unbound);
	spot_end(rig, 1);
	spot_start(rig, 2);
	KUNIT_EXPECT_EQ(test, spots[2].nice, 2);
	KUNIT_EXPECT_TRUE(test, runs_on(spots[2].thread, all));
	spot_end(rig, 2);
}

static void policy_is_kept(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 1, .nice = 4,
					.flags = ANTS_THROUGHPUT });

	spot_start(rig, 0);
	KUNIT_EXPECT_EQ(test, spots[0].policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, spots[0].nice, 4);
	KUNIT_EXPECT_EQ(test, ants_set_nice(rig->pool, -2), 0);
	spot_end(rig, 0);
	spot_start(rig, 1);
	KUNIT_EXPECT_EQ(test, spots[1].policy, SCHED_BATCH);
	KUNIT_EXPECT_EQ(test, spots[1].nice, -2);
	spot_end(rig, 1);
}

static void set_from_inside(void *data)
{
	struct rig *rig = data;

	atomic_add(!ants_set_nice(rig->pool, 9), &rig->count);
	atomic_add(!ants_set_cpumask(rig->pool, cpumask_of(1)), &rig->count);
	atomic_add(!task_nice(current), &rig->count);
}

/*
 * A task may change its own pool; it is left alone like any other running task.
 */
static void task_may_change_its_pool(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 1 });

	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, set_from_inside, rig), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 3);
	expect_spot(rig, 0, 9, 1);
	spot_end(rig, 0);
}

/* Submitters keep submitting while nice value and CPUs change. */
static void burst_while_it_changes(struct kunit *test)
{
	struct rig *rig = affinity_rig(test, (struct ants_attrs){
					.capacity = 4, .queue_depth = 4 });
	int i, accepted = 0;

	for (i = 0; i < 4; i++)
		rig_async(rig, do_submit_many, 0, NULL);
	EXPECT_SOON(test, atomic_read(&rig->count));
	for (i = 0; i < 150; i++) {
		set_nice_and_cpu(rig, i % 20, i % 2);
		if (i % 3 == 0)
			KUNIT_EXPECT_EQ(test, ants_set_cpumask(rig->pool, NULL), 0);
		KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1 + i % 4), 0);
	}
	set_nice_and_cpu(rig, 8, 1);
	atomic_set(&rig->stop, 1);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, async_result(&rig->calls[i]), 0);
		accepted += rig->calls[i].accepted;
	}
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_GT(test, accepted, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), accepted);
	EXPECT_SOON(test, all_applied(rig->pool));
	expect_spot(rig, 0, 8, 1);
	spot_end(rig, 0);
}

static struct kunit_case affinity_cases[] = {
	KUNIT_CASE(new_workers_start_where_told),
	KUNIT_CASE(new_worker_is_not_missed),
	KUNIT_CASE(idle_workers_move_at_once),
	KUNIT_CASE(second_change_begins_anew),
	KUNIT_CASE(worker_leaves_under_the_walk),
	KUNIT_CASE(busy_worker_moves_at_its_next_task),
	KUNIT_CASE(worker_moves_before_it_parks),
	KUNIT_CASE(leaving_workers_are_forgotten),
	KUNIT_CASE(bad_values_change_nothing),
	KUNIT_CASE(no_mask_means_all),
	KUNIT_CASE(policy_is_kept),
	KUNIT_CASE(task_may_change_its_pool),
	KUNIT_CASE(burst_while_it_changes),
	{}
};

static struct kunit_suite affinity_suite = {
	.name = "ants_affinity",
	.test_cases = affinity_cases,
};

kunit_test_suite(affinity_suite);

MODULE_DESCRIPTION("ants: KUnit tests of nice and cpumask");
MODULE_LICENSE("GPL");
