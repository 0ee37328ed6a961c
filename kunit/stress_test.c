// SPDX-License-Identifier: GPL-2.0-only
/*
 * Storms: several submitters, and a thread that changes the pool meanwhile.
 * Each task has an id and a byte that counts its runs; each accepted submit
 * counts in another byte. In the end both arrays must be equal: nothing is
 * lost, run twice, or run although it was refused. ants_check() at each unlock
 * verifies the bounds.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/vmalloc.h>

#include "race.h"
#include "repeats.h"

#define NR_SUBMITTERS	4
#define MAX_CAPACITY	64

struct storm;

/* One submitter and its ids. */
struct part {
	struct storm *storm;
	unsigned int first;
	unsigned int nr;
	struct task_struct *task;
};

/**
 * struct storm - tasks with ids, their submitters, and a thread that meddles
 * @pool: the pool
 * @nr: number of ids; the submitters take equal parts of them
 * @task: the task; its data is a byte of @ran
 * @submit: tries to submit one id
 * @meddle: what is done to the pool again and again, or NULL
 * @again: true if the task is to be tried again after this error
 * @ran: how often each task ran
 * @accepted: how often each task was accepted
 * @at_work: number of submitters that are not done
 * @part: the submitters
 * @meddler: the thread that meddles
 * @meddled: how often it has meddled
 * @failed: how often it was refused, although it was not told to stop
 */
struct storm {
	struct ants_pool *pool;
	unsigned int nr;
	ants_fn_t task;
	int (*submit)(struct storm *storm, unsigned int id);
	void (*meddle)(struct storm *storm);
	bool (*again)(int err);
	u8 *ran;
	u8 *accepted;
	atomic_t at_work;
	struct part part[NR_SUBMITTERS];
	struct task_struct *meddler;
	unsigned int meddled;
	unsigned int failed;
};

static void tick_off(void *data)
{
	u8 *byte = data;

	WRITE_ONCE(*byte, READ_ONCE(*byte) + 1);
}

/* The same; takes about as long as a timed submitter waits. */
static void tick_off_slowly(void *data)
{
	usleep_range(500, 3000);
	tick_off(data);
}

static bool always(int err)
{
	return true;
}

static bool never(int err)
{
	return false;
}

static int wait_stopped(void)
{
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static void submit_one(struct storm *storm, unsigned int id)
{
	int err;

	do {
		err = storm->submit(storm, id);
		if (!err)
			storm->accepted[id]++;
		else
			usleep_range(50, 200);
	} while (err && storm->again(err) && !kthread_should_stop());
}

static int storm_submitter(void *arg)
{
	const struct part *part = arg;
	unsigned int i;

	for (i = 0; i < part->nr && !kthread_should_stop(); i++)
		submit_one(part->storm, part->first + i);
	atomic_dec(&part->storm->at_work);
	return wait_stopped();
}

static int storm_meddler(void *arg)
{
	struct storm *storm = arg;

	while (!kthread_should_stop()) {
		storm->meddle(storm);
		storm->meddled++;
		usleep_range(500, 2000);
	}
	return 0;
}

static bool start_submitter(struct storm *storm, unsigned int index)
{
	struct part *part = &storm->part[index];
	struct task_struct *task;

	part->storm = storm;
	part->nr = storm->nr / NR_SUBMITTERS;
	part->first = index * part->nr;
	atomic_inc(&storm->at_work);
	task = kthread_run(storm_submitter, part, "storm%u", index);
	if (IS_ERR(task))
		return false;
	part->task = task;
	return true;
}

static bool storm_start(struct storm *storm)
{
	unsigned int i;

	storm->ran = vzalloc(storm->nr);
	storm->accepted = vzalloc(storm->nr);
	if (!storm->ran || !storm->accepted)
		return false;
	for (i = 0; i < NR_SUBMITTERS; i++)
		if (!start_submitter(storm, i))
			return false;
	if (!storm->meddle)
		return true;
	storm->meddler = kthread_run(storm_meddler, storm, "meddler");
	return !IS_ERR(storm->meddler);
}

/* End the threads; a submitter that still waits gives up. */
static void storm_stop(struct storm *storm)
{
	unsigned int i;

	if (!IS_ERR_OR_NULL(storm->meddler))
		kthread_stop(storm->meddler);
	for (i = 0; i < NR_SUBMITTERS; i++)
		if (storm->part[i].task)
			kthread_stop(storm->part[i].task);
	memset(storm->part, 0, sizeof(storm->part));
	storm->meddler = NULL;
}

static void storm_free(struct storm *storm)
{
	storm_stop(storm);
	ants_pool_destroy(storm->pool);
	vfree(storm->ran);
	vfree(storm->accepted);
}

static void storm_end(struct kunit_resource *res)
{
	storm_free(res->data);
}

/* The number of accepted submits. */
static unsigned int storm_sum(const struct storm *storm)
{
	unsigned int i, sum = 0;

	for (i = 0; i < storm->nr; i++)
		sum += storm->accepted[i];
	return sum;
}

/* The threads are done and the pool is drained: now the arrays must agree. */
static void storm_judge(struct kunit *test, struct storm *storm)
{
	struct ants_stats stats;

	EXPECT_SOON(test, atomic_read(&storm->at_work) == 0);
	storm_stop(storm);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(storm->pool, TEST_DEADLINE),
			0);
	ants_pool_stats(storm->pool, &stats);
	KUNIT_EXPECT_EQ(test, memcmp(storm->ran, storm->accepted, storm->nr), 0);
	KUNIT_EXPECT_EQ(test, stats.submitted, (u64)storm_sum(storm));
	/*
	 * A submitter that tries again has all its tasks accepted, others only
	 * some.
	 */
	KUNIT_EXPECT_GE(test, stats.submitted,
			storm->again == always ? (u64)storm->nr : 1ULL);
	KUNIT_EXPECT_EQ(test, stats.completed, stats.submitted);
	KUNIT_EXPECT_EQ(test, stats.running, 0U);
	KUNIT_EXPECT_EQ(test, storm->meddled > 0, !!storm->meddle);
	KUNIT_EXPECT_EQ(test, storm->failed, 0U);
	kunit_info(test, "%llu run, %llu refused, %llu waited, %llu threads made, at most %u",
		   stats.completed, stats.rejected, stats.blocked,
		   stats.spawned, stats.peak_running);
}

/* A storm that one case runs from beginning to end. */
static void storm_run(struct kunit *test, const struct storm *how,
		      const struct ants_attrs *attrs)
{
	struct storm *storm = kunit_kzalloc(test, sizeof(*storm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, storm);
	*storm = *how;
	storm->pool = ants_pool_create(attrs, "storm");
	KUNIT_ASSERT_FALSE(test, IS_ERR(storm->pool));
	kunit_alloc_resource(test, test_pool_init, storm_end, GFP_KERNEL,
			     storm);
	KUNIT_ASSERT_TRUE(test, storm_start(storm));
	storm_judge(test, storm);
}

/* --- ways to submit ----------------------------------------------------------- */

static int submit_blocking(struct storm *storm, unsigned int id)
{
	return ants_submit(storm->pool, storm->task, &storm->ran[id]);
}

static int submit_timed(struct storm *storm, unsigned int id)
{
	return ants_submit_timeout(storm->pool, storm->task, &storm->ran[id],
				   1 + id % 4);
}

/* A few tries; a pool that has waiters never accepts the task. */
static int submit_trying(struct storm *storm, unsigned int id)
{
	int i, err = -EAGAIN;

	for (i = 0; i < 2 && err; i++)
		err = ants_try_submit(storm->pool, storm->task,
				      &storm->ran[id]);
	return err ? submit_blocking(storm, id) : 0;
}

static int submit_any_way(struct storm *storm, unsigned int id)
{
	switch (id % 3) {
	case 0:
		return submit_blocking(storm, id);
	case 1:
		return submit_timed(storm, id);
	default:
		return submit_trying(storm, id);
	}
}

/* Bursts, with pauses in which threads expire. */
static int submit_in_bursts(struct storm *storm, unsigned int id)
{
	if (id % 32 == 0)
		usleep_range(2000, 12000);
	return submit_any_way(storm, id);
}

/* --- ways to meddle ------------------------------------------------------------- */

/*
 * A thread that is told to stop waits no longer; the errors that causes are no
 * failures.
 */
static void note(struct storm *storm, int err)
{
	storm->failed += err && !kthread_should_stop();
}

static void write_random(struct storm *storm, const char *name,
			 unsigned int from, unsigned int to)
{
	char text[16];

	snprintf(text, sizeof(text), "%u",
		 from + get_random_u32() % (to - from + 1));
	note(storm, min(sysfs_write(storm->pool, name, text), 0));
}

static void meddle_tune(struct storm *storm)
{
	note(storm, ants_tune(storm->pool,
			      1 + get_random_u32() % MAX_CAPACITY));
	write_random(storm, "queue_depth", 0, 512);
	write_random(storm, "expiry_ms", 1, 20);
	/* Making and ending threads costs most in a debug kernel. */
	usleep_range(5000, 30000);
}

static void meddle_reboot(struct storm *storm)
{
	if (get_random_u32() % 2)
		note(storm, ants_release(storm->pool));
	note(storm, ants_release_timeout(storm->pool, TEST_DEADLINE));
	note(storm, ants_reboot(storm->pool));
	usleep_range(2000, 20000);
}

static void meddle_fail(struct storm *storm)
{
	ants_fail_arm(ANTS_FAIL_THREAD, get_random_u32() % 4);
	ants_fail_arm(ANTS_FAIL_SLOT, get_random_u32() % 4);
	write_random(storm, "expiry_ms", 1, 5);
}

/* --- many tasks -------------------------------------------------------------------- */

#define NR_TASKS	(10000 * repeats)

/*
 * One storm in steps, one for each case: insmod waits for a case without a
 * break, and the hung task detector watches it.
 */
static struct storm many = {
	.task = tick_off,
	.submit = submit_any_way,
	.meddle = meddle_tune,
	.again = always,
};

static const unsigned int steps[] = { 20, 40, 60, 80, 100 };

static void describe_step(const unsigned int *percent, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u %% of the tasks", *percent);
}

KUNIT_ARRAY_PARAM(step, steps, describe_step);

static void many_start(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = MAX_CAPACITY };
	struct ants_pool *pool = ants_pool_create(&attrs, "many");

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	many.nr = NR_TASKS;
	many.pool = pool;
	KUNIT_ASSERT_TRUE(test, storm_start(&many));
}

static void many_tasks_run_once_each(struct kunit *test)
{
	const unsigned int *percent = test->param_value;
	u64 goal = NR_TASKS / 100 * *percent;

	if (!many.pool)
		many_start(test);
	EXPECT_SOON(test, stats_of(many.pool).completed >= goal);
	kunit_info(test, "%llu tasks run", stats_of(many.pool).completed);
	if (goal < NR_TASKS)
		return;
	storm_judge(test, &many);
	KUNIT_EXPECT_NULL(test, memchr_inv(many.ran, 1, NR_TASKS));
	KUNIT_EXPECT_LE(test, many.pool->counts.peak_running,
			(unsigned int)MAX_CAPACITY);
}

static void stress_exit(struct kunit_suite *suite)
{
	if (many.pool)
		storm_free(&many);
}

/* --- other storms ------------------------------------------------------------------- */

/* A grant beats a timeout, and a submit that timed out never runs. */
static void timeouts_around_grants_are_exact(struct kunit *test)
{
	const struct storm storm = {
		.nr = 2000,
		.task = tick_off_slowly,
		.submit = submit_timed,
		.again = never,
	};
	struct ants_attrs attrs = { .capacity = 1 };

	storm_run(test, &storm, &attrs);
}

static bool while_closed(int err)
{
	return err == -ESHUTDOWN;
}

static void release_and_reboot_lose_nothing(struct kunit *test)
{
	const struct storm storm = {
		.nr = 2000,
		.task = tick_off,
		.submit = submit_any_way,
		.meddle = meddle_reboot,
		.again = while_closed,
	};
	struct ants_attrs attrs = { .capacity = 4, .min_workers = 1 };

	storm_run(test, &storm, &attrs);
}

static void bursts_and_expiry_lose_nothing(struct kunit *test)
{
	const struct storm storm = {
		.nr = 4000,
		.task = tick_off,
		.submit = submit_in_bursts,
		.again = always,
	};
	struct ants_attrs attrs = { .capacity = 8, .expiry = 1 };

	storm_run(test, &storm, &attrs);
}

static void failing_creation_loses_nothing(struct kunit *test)
{
	const struct storm storm = {
		.nr = 4000,
		.task = tick_off,
		.submit = submit_in_bursts,
		.meddle = meddle_fail,
		.again = always,
	};
	struct ants_attrs attrs = {
		.capacity = 8,
		.queue_depth = 8,
		.expiry = 1,
	};

	storm_run(test, &storm, &attrs);
}

/* Pools that are destroyed as soon as the last task was accepted. */
static void destroy_runs_what_is_in_flight(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .queue_depth = 60 };
	atomic_t *count = counter(test);
	struct ants_pool *pool;
	int i, round;

	for (round = 1; round <= 20; round++) {
		pool = ants_pool_create(&attrs, "round%d", round);
		KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
		for (i = 0; i < 50; i++)
			expect_submitted(test, pool, count_task, count);
		KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(count), 50 * round);
	}
}

static struct kunit_case stress_cases[] = {
	KUNIT_CASE(timeouts_around_grants_are_exact),
	KUNIT_CASE(release_and_reboot_lose_nothing),
	KUNIT_CASE(bursts_and_expiry_lose_nothing),
	KUNIT_CASE(failing_creation_loses_nothing),
	KUNIT_CASE(destroy_runs_what_is_in_flight),
	KUNIT_CASE_PARAM(many_tasks_run_once_each, step_gen_params),
	{}
};

static struct kunit_suite stress_suite = {
	.name = "ants_stress",
	.suite_exit = stress_exit,
	.exit = race_exit,
	.test_cases = stress_cases,
};

kunit_test_suite(stress_suite);

MODULE_DESCRIPTION("ants: KUnit stress tests");
MODULE_LICENSE("GPL");
