// SPDX-License-Identifier: GPL-2.0-only
/*
 * tiny_task: many empty tasks from one submitter, which leaves the cost of
 * submitting and dispatching them; with full shards, the cost of being refused
 * by as many of them as the capacity says.
 */
#include <linux/math64.h>

#include "bench.h"

static inline void empty_job(struct job *job)
{
}

DEFINE_BODY(empty);

static const struct row rows[] = {
	{ &wq_unbound_subject },
	{ &wq_unbound_subject, .max_active = 1 },
	{ &wq_unbound_subject, .max_active = 16 },
	{ &wq_bound_subject },
	{ &wq_ordered_subject },
	{ &kthread_worker_subject },
	{ &async_schedule_subject },
	{ &kthread_run_subject },
	{ &plain_port_subject, 1 },
	{ &plain_port_subject, 16 },
	{ &plain_port_subject, 256 },
	{ &ants_submit_subject, 1 },
	{ &ants_submit_subject, 4 },
	{ &ants_submit_subject, 16 },
	{ &ants_submit_subject, 256 },
	{ &ants_submit_subject, 1024 },
	{ &ants_submit_subject, ANTS_UNLIMITED },
	{ &ants_submit_subject, 1, 64 },
	{ &ants_submit_subject, 4, 64 },
	{ &ants_submit_subject, 16, 64 },
	{ &ants_submit_subject, 1, 256 },
	{ &ants_submit_subject, 4, 256 },
	{ &ants_submit_subject, 16, 256 },
	{ &ants_throughput_subject, 1 },
	{ &ants_throughput_subject, 4 },
	{ &ants_throughput_subject, 16 },
	{ &ants_throughput_subject, 256 },
	{ &ants_throughput_subject, 1024 },
	{ &ants_throughput_subject, ANTS_UNLIMITED },
	{ &ants_throughput_subject, 1, 64 },
	{ &ants_throughput_subject, 4, 64 },
	{ &ants_throughput_subject, 16, 64 },
	{ &ants_throughput_subject, 1, 256 },
	{ &ants_throughput_subject, 4, 256 },
	{ &ants_throughput_subject, 16, 256 },
	{ &ants_timed_subject, 256 },
	{ &ants_sampled_subject, 256 },
	{ &ants_try_submit_subject, 1024 },
	{ &ants_queue_work_subject, 256 },
	{ &ants_queue_work_subject, 1024 },
	{ &ants_queue_work_subject, ANTS_UNLIMITED },
	{ &ants_batch_subject, 256 },
	{ &ants_group_subject, 256 },
	{ &ants_group_subject, 16, 256 },
	{ &ants_multi_subject, 256 },
	{ &ants_multi_subject, 1024 },
	{ &ants_full_subject, 1 },
	{ &ants_full_subject, 4 },
	{ &ants_full_subject, 16 },
};

static u64 measure(struct row *row)
{
	return div_u64(row_burst(row), row->tasks);
}

static const struct series series = {
	.rows = rows,
	.nr_rows = ARRAY_SIZE(rows),
	.body = &empty_body,
	.tasks = BENCH_TASKS,
	.measure = measure,
};

static int run(const struct bench *bench)
{
	return series_run(bench, &series);
}

const struct bench tiny_task_bench = {
	.name = "tiny_task",
	.rounds = 10,
	.run = run,
};
