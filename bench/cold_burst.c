// SPDX-License-Identifier: GPL-2.0-only
/*
 * cold_burst: many empty tasks at once for a pool that has no thread yet and no
 * bound: what does a task cost, and how many threads does the pool make?
 */
#include <linux/math64.h>
#include <linux/sched.h>

#include "bench.h"

#define BURST	10000

static inline void empty_job(struct job *job)
{
}

DEFINE_BODY(empty);

static const struct row rows[] = {
	{ &ants_submit_subject, ANTS_UNLIMITED },
	{ &ants_throughput_subject, ANTS_UNLIMITED },
};

/* Each round has a new pool; round 0 is the warm-up. */
static int run_round(const struct bench *bench, struct row row,
		     unsigned int round)
{
	u64 cost;
	int err;

	row.body = &empty_body;
	row.tasks = BURST;
	err = row_open(&row);
	if (err)
		return err;
	cost = div_u64(row_burst(&row), row.tasks);
	if (round) {
		row_result(bench, &row, round, cost, "instructions");
		row_result(bench, &row, round, row.subject->threads(),
			   "threads");
	}
	row_close(&row);
	return row.err;
}

static int run_row(const struct bench *bench, const struct row *row)
{
	unsigned int round;
	int err = 0;

	for (round = 0; round <= bench_rounds(bench) && !err; round++) {
		err = run_round(bench, *row, round);
		cond_resched();
	}
	return err;
}

static int run(const struct bench *bench)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(rows) && !err; i++)
		if (bench_wants(rows[i].subject->name))
			err = run_row(bench, &rows[i]);
	return err;
}

const struct bench cold_burst_bench = {
	.name = "cold_burst",
	.rounds = 10,
	.run = run,
};
