// SPDX-License-Identifier: GPL-2.0-only
/*
 * ramp: n tasks that block are submitted at once. When does the last one run,
 * and how long does each wait for its start? Cold, without any thread left from
 * before, and warm; on an idle machine, and beside threads that keep CPUs busy.
 * A second bench asks the same on several CPUs.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "bench.h"
#include "load.h"
#include "meter.h"

/* Beside a load they would take most of the time of all rounds. */
#define MANY_TASKS	2048U
/* For this number of tasks, also print how many run after which time. */
#define CURVE_TASKS	256U
#define CURVE_POINTS	8U
#define SETTLE_MS	20

static const unsigned int sizes[] = { 16, CURVE_TASKS, MANY_TASKS };

static const struct row rows[] = {
	{ &wq_unbound_subject, .own_threads = true },
	{ &ants_submit_subject },
	{ &ants_throughput_subject },
	{ &ants_worker_init_subject },
	{ &kthread_run_subject },
};

/**
 * struct slope - what is climbed
 * @tasks: number of tasks
 * @warm: all threads exist before
 * @load: what else runs
 */
struct slope {
	unsigned int tasks;
	bool warm;
	enum load load;
};

/**
 * struct climb - how it was climbed; times in nanoseconds
 * @begin: before the first task was submitted
 * @end: when the last task ran
 * @busy: the time between, without the time that the CPU was idle
 * @handed: when each task was submitted
 * @values: an array for as many figures
 */
static struct climb {
	u64 begin;
	u64 end;
	u64 busy;
	u64 *handed;
	u64 *values;
} climb;

static atomic_t to_start;
static struct completion all_run, gate;

/* The stamp is when the task was started. */
static inline void block_job(struct job *job)
{
	job->stamp = ktime_get_ns();
	if (atomic_dec_and_test(&to_start)) {
		climb.end = job->stamp;
		complete(&all_run);
	}
	wait_for_completion(&gate);
}

DEFINE_BODY(block);

/* Remaining threads end, including those of a workqueue's pool. */
static void settle(void)
{
	msleep(SETTLE_MS);
	rcu_barrier();
	msleep(SETTLE_MS);
}

static void hand_over(struct row *row)
{
	unsigned int i;

	for (i = 0; i < row->tasks && !row->err; i++) {
		climb.handed[i] = ktime_get_ns();
		row_submit(row, &row->jobs[i], 1);
	}
}

/* Up, and down again once nothing else runs. */
static void run_climb(struct row *row)
{
	struct meter meter;

	atomic_set(&to_start, row->tasks);
	init_completion(&all_run);
	init_completion(&gate);
	meter_start(&meter);
	hand_over(row);
	if (!row->err)
		wait_for_completion(&all_run);
	meter_stop(&meter);
	climb.begin = climb.handed[0];
	climb.busy = meter.busy;
	load_stop();
	complete_all(&gate);
	row->subject->flush();
}

static void print_waits(const struct bench *bench, const struct row *row,
			unsigned int round)
{
	unsigned int i;

	for (i = 0; i < row->tasks; i++)
		climb.values[i] = row->jobs[i].stamp - climb.handed[i];
	row_percentiles(bench, row, round, climb.values, row->tasks);
}

static int compare(const void *a, const void *b)
{
	u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return left < right ? -1 : left > right;
}

/* Print after which time so many tasks were running. */
static void print_curve(const struct bench *bench, const struct row *row,
			unsigned int round)
{
	struct row point = *row;
	unsigned int i, nr;

	for (i = 0; i < row->tasks; i++)
		climb.values[i] = row->jobs[i].stamp - climb.begin;
	sort(climb.values, row->tasks, sizeof(*climb.values), compare, NULL);
	for (i = 1; i <= CURVE_POINTS; i++) {
		nr = row->tasks * i / CURVE_POINTS;
		scnprintf(point.extra, sizeof(point.extra), "%s running=%u",
			  row->extra, nr);
		row_result(bench, &point, round, climb.values[nr - 1], "ns");
	}
}

/*
 * Instructions are those of all threads, so they are printed only without a
 * load.
 */
static void print(const struct bench *bench, const struct row *row,
		  const struct slope *slope, unsigned int round)
{
	row_result(bench, row, round, climb.end - climb.begin, "ns");
	if (!bench->parallel && slope->load == LOAD_NONE)
		row_result(bench, row, round, div_u64(climb.busy, row->tasks),
			   "instructions");
	print_waits(bench, row, round);
	if (row->tasks == CURVE_TASKS && !slope->warm)
		print_curve(bench, row, round);
}

/* From here on as many idle threads exist as there are tasks. */
static int warm_up(struct row *row)
{
	if (row->subject->bounded)
		return pool_warm(bench_pool, row->capacity);
	run_climb(row);
	settle();
	return row->err;
}

static int measure(const struct slope *slope, struct row *row)
{
	int err = slope->warm ? warm_up(row) : 0;

	if (!err)
		err = load_start(slope->load);
	if (err)
		return err;
	run_climb(row);
	return row->err;
}

/*
 * A thread for each task has no idle threads; not every workqueue is wide
 * enough.
 */
static bool has_row(const struct slope *slope, const struct row *row)
{
	if (!bench_wants(row->subject->name))
		return false;
	if (row->subject == &kthread_run_subject)
		return !slope->warm;
	return row->subject->bounded || slope->tasks <= WQ_MAX_ACTIVE;
}

static void describe(const struct slope *slope, struct row *row)
{
	static const char *const loads[] = { "none", "normal", "fifo" };

	row->tasks = slope->tasks;
	row->body = &block_body;
	row->expiry_ms = BENCH_NO_EXPIRY;
	if (row->subject->bounded)
		row->capacity = slope->tasks;
	else if (row->own_threads)
		row->max_active = WQ_MAX_ACTIVE;
	snprintf(row->extra, sizeof(row->extra),
		 "cpus=%u tasks=%u start=%s load=%s", num_online_cpus(),
		 slope->tasks, slope->warm ? "warm" : "cold",
		 loads[slope->load]);
}

static int run_row(const struct bench *bench, const struct slope *slope,
		   struct row row, unsigned int round)
{
	int err;

	if (!has_row(slope, &row))
		return 0;
	describe(slope, &row);
	settle();
	err = row_open(&row);
	if (err)
		return err;
	err = measure(slope, &row);
	if (!err && round)
		print(bench, &row, slope, round);
	row_close(&row);
	return err;
}

/*
 * Each round runs all rows once, so that those of one round can be compared.
 * Round 0 warms up what all subjects share, such as the caches of the
 * allocator.
 */
static int run_slope(const struct bench *bench, const struct slope *slope)
{
	unsigned int round, i;
	unsigned int last = bench_rounds(bench);
	int err = 0;

	if (slope->tasks == MANY_TASKS && bench->parallel)
		last = 1;
	for (round = slope->warm || slope->load; round <= last && !err; round++)
		for (i = 0; i < ARRAY_SIZE(rows) && !err; i++)
			err = run_row(bench, slope, rows[i], round);
	return err;
}

static int run_size(const struct bench *bench, unsigned int tasks)
{
	enum load last = bench->parallel ? LOAD_FIFO : LOAD_NORMAL;
	struct slope slope = { tasks };
	int err = 0;

	if (tasks == MANY_TASKS)
		last = LOAD_NONE;
	for (; slope.load <= last && !err; slope.load++) {
		slope.warm = false;
		err = run_slope(bench, &slope);
		slope.warm = true;
		if (!err)
			err = run_slope(bench, &slope);
	}
	return err;
}

static int run_sizes(const struct bench *bench)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(sizes) && !err; i++)
		err = run_size(bench, sizes[i]);
	return err;
}

/* Stay away from the CPU that load_start() takes. */
static int run_parallel(const struct bench *bench)
{
	return set_cpus_allowed_ptr(current, cpumask_of(0)) ?: run_sizes(bench);
}

static int run_metered(const struct bench *bench)
{
	int err = meter_open();

	if (err)
		return err;
	err = run_sizes(bench);
	meter_close();
	return err;
}

static int run(const struct bench *bench)
{
	int err = -ENOMEM;

	climb.handed = vcalloc(MANY_TASKS, sizeof(*climb.handed));
	climb.values = vcalloc(MANY_TASKS, sizeof(*climb.values));
	if (climb.handed && climb.values)
		err = bench->parallel ? run_parallel(bench) : run_metered(bench);
	vfree(climb.values);
	vfree(climb.handed);
	return err;
}

const struct bench ramp_bench = {
	.name = "ramp",
	.rounds = 3,
	.run = run,
};

const struct bench ramp_smp_bench = {
	.name = "ramp_smp",
	.rounds = 5,
	.parallel = true,
	.run = run,
};
