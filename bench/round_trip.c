// SPDX-License-Identifier: GPL-2.0-only
/*
 * round_trip: one task at a time is submitted, run, and waited for. For
 * comparison, the lower limit: two bare threads that wake each other.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched/task.h>

#include "bench.h"

#define TRIPS	10000

static inline void tell_job(struct job *job)
{
	complete(&job->done);
}

DEFINE_BODY(tell);

static const struct row rows[] = {
	{ &wq_unbound_subject },
	{ &wq_bound_subject },
	{ &wq_ordered_subject },
	{ &kthread_worker_subject },
	{ &plain_port_subject, 16 },
	{ &ants_submit_subject, 16 },
	{ &ants_throughput_subject, 16 },
	{ &ants_queue_work_subject, 16 },
	{ &ants_submit_subject, 1 },
	{ &ants_local_subject, 16 },
};

static u64 measure(struct row *row)
{
	struct job *job = row->jobs, *end = job + row->tasks;
	u64 start = ktime_get_ns();

	for (; job < end && !row->err; job++) {
		row_submit(row, job, 1);
		wait_for_completion(&job->done);
	}
	return div_u64(ktime_get_ns() - start, row->tasks);
}

static const struct series series = {
	.rows = rows,
	.nr_rows = ARRAY_SIZE(rows),
	.body = &tell_body,
	.tasks = TRIPS,
	.measure = measure,
};

/* ping_pong: two threads, and nothing between them but two completions. */

static struct completion ping, pong;
static bool over;

static int answer(void *unused)
{
	for (;;) {
		wait_for_completion(&ping);
		if (READ_ONCE(over))
			return 0;
		complete(&pong);
	}
}

static u64 measure_ping_pong(void)
{
	unsigned int trips = TRIPS;
	u64 start = ktime_get_ns();

	while (trips--) {
		complete(&ping);
		wait_for_completion(&pong);
	}
	return div_u64(ktime_get_ns() - start, TRIPS);
}

static int run_ping_pong(const struct bench *bench)
{
	struct task_struct *partner;
	unsigned int round;

	init_completion(&ping);
	init_completion(&pong);
	WRITE_ONCE(over, false);
	partner = kthread_run(answer, NULL, "ants_pong");
	if (IS_ERR(partner))
		return PTR_ERR(partner);
	/* The thread ends by itself. */
	get_task_struct(partner);
	measure_ping_pong();
	for (round = 1; round <= bench_rounds(bench); round++) {
		result(bench, "ping_pong", "", round, measure_ping_pong(),
		       "instructions");
		cond_resched();
	}
	WRITE_ONCE(over, true);
	complete(&ping);
	kthread_stop(partner);
	put_task_struct(partner);
	return 0;
}

static int run(const struct bench *bench)
{
	int err = bench_wants("ping_pong") ? run_ping_pong(bench) : 0;

	return err ?: series_run(bench, &series);
}

const struct bench round_trip_bench = {
	.name = "round_trip",
	.rounds = 10,
	.run = run,
};
