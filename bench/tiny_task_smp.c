// SPDX-License-Identifier: GPL-2.0-only
/*
 * tiny_task_smp: many empty tasks from one submitter on several CPUs, where a
 * wake-up costs most. Time is that of the machine, so only ratios within a
 * round are meaningful: each round runs all subjects once.
 */
#include <linux/math64.h>
#include <linux/sched.h>

#include "bench.h"

#define WARM_UP		2000

static inline void empty_job(struct job *job)
{
}

DEFINE_BODY(empty);

static const struct row rows[] = {
	{ &wq_unbound_subject },
	{ &wq_bound_subject },
	{ &ants_submit_subject, 256 },
	{ &ants_throughput_subject, 256 },
	{ &ants_submit_subject, 16, 256 },
	{ &ants_throughput_subject, 16, 256 },
	{ &ants_submit_subject, 16 },
	{ &ants_throughput_subject, 16 },
};

static int run_row(const struct bench *bench, struct row row,
		   unsigned int round)
{
	u64 ns;
	int err;

	row.body = &empty_body;
	row.tasks = BENCH_TASKS;
	err = row_open(&row);
	if (err)
		return err;
	row_submit(&row, row.jobs, WARM_UP);
	row.subject->flush();
	ns = row_burst(&row);
	row_close(&row);
	if (!row.err)
		row_result(bench, &row, round,
			   div64_u64(row.tasks * (u64)NSEC_PER_SEC, ns),
			   "items_per_second");
	cond_resched();
	return row.err;
}

static int run(const struct bench *bench)
{
	return rounds_run(bench, rows, ARRAY_SIZE(rows), 1, run_row);
}

const struct bench tiny_task_smp_bench = {
	.name = "tiny_task_smp",
	.rounds = 3,
	.parallel = true,
	.run = run,
};
