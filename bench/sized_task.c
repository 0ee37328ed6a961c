// SPDX-License-Identifier: GPL-2.0-only
/*
 * sized_task: tasks that compute for 1, 10 and 100 us. Empty tasks show nothing
 * but the cost of submitting them; this shows from which length on that cost
 * hardly matters. For comparison, the same function is called directly.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/processor.h>

#include "bench.h"

/* Iterations of the loop below, at one instruction for each nanosecond. */
#define LOOPS_PER_US	250

static unsigned int us, loops;

static noinline void compute_job(struct job *job)
{
	unsigned int i;

	for (i = 0; i < loops; i++)
		cpu_relax();
}

DEFINE_BODY(compute);

static const struct row rows[] = {
	{ &wq_unbound_subject },
	{ &wq_bound_subject },
	{ &kthread_worker_subject },
	{ &ants_submit_subject, 4 },
	{ &ants_submit_subject, 16 },
	{ &ants_submit_subject, 16, 256 },
	{ &ants_submit_subject, 256 },
};

/* How long a task is, and how many of them make a round. */
static const struct size {
	unsigned int us;
	unsigned int tasks;
} sizes[] = {
	{ 1, BENCH_TASKS / 2 },
	{ 10, BENCH_TASKS / 10 },
	{ 100, BENCH_TASKS / 50 },
};

static int prepare(struct row *row)
{
	snprintf(row->extra, sizeof(row->extra), "us=%u", us);
	return 0;
}

static u64 measure(struct row *row)
{
	return div_u64(row_burst(row), row->tasks);
}

static void call(const struct bench *bench, unsigned int tasks)
{
	unsigned int round, i;
	char param[16];
	u64 start;

	snprintf(param, sizeof(param), "us=%u", us);
	for (round = 1; round <= bench_rounds(bench); round++) {
		start = ktime_get_ns();
		for (i = 0; i < tasks; i++)
			compute_job(NULL);
		result(bench, "call", param, round,
		       div_u64(ktime_get_ns() - start, tasks), "instructions");
		cond_resched();
	}
}

static int run_size(const struct bench *bench, const struct size *size)
{
	const struct series series = {
		.rows = rows,
		.nr_rows = ARRAY_SIZE(rows),
		.body = &compute_body,
		.tasks = size->tasks,
		.prepare = prepare,
		.measure = measure,
	};

	us = size->us;
	loops = us * LOOPS_PER_US;
	if (bench_wants("call"))
		call(bench, size->tasks);
	return series_run(bench, &series);
}

static int run(const struct bench *bench)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(sizes) && !err; i++)
		err = run_size(bench, &sizes[i]);
	return err;
}

const struct bench sized_task_bench = {
	.name = "sized_task",
	.rounds = 3,
	.run = run,
};
