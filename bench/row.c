// SPDX-License-Identifier: GPL-2.0-only
/* Running rows: the code around the subjects, the same for each of them. */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "bench.h"

/* Tasks in a round of a subject whose tasks are expensive. */
#define DEAR_TASKS	500U
#define WARM_UP_ROUNDS	5
/* The most rows that can be run in any order. */
#define MAX_ROWS	32

int row_make_jobs(struct row *row)
{
	unsigned int i;

	row->jobs = vcalloc(row->tasks, sizeof(*row->jobs));
	if (!row->jobs)
		return -ENOMEM;
	for (i = 0; i < row->tasks; i++) {
		row->jobs[i].body = row->body;
		init_completion(&row->jobs[i].done);
	}
	return 0;
}

void row_free_jobs(struct row *row)
{
	vfree(row->jobs);
}

int row_open(struct row *row)
{
	int err = row_make_jobs(row);

	if (err)
		return err;
	err = row->subject->setup(row);
	if (err)
		row_free_jobs(row);
	return err;
}

void row_close(struct row *row)
{
	row->subject->teardown();
	row_free_jobs(row);
}

void row_submit(struct row *row, struct job *jobs, unsigned int nr)
{
	int err = row->subject->submit(jobs, nr);

	if (unlikely(err))
		row->err = err;
}

/* Nanoseconds from before the first submit until all tasks have ended. */
u64 row_burst(struct row *row)
{
	u64 start = ktime_get_ns();

	row_submit(row, row->jobs, row->tasks);
	row->subject->flush();
	return ktime_get_ns() - start;
}

static void measure_row(const struct bench *bench, const struct series *series,
			struct row *row)
{
	u64 cost, warm_up[WARM_UP_ROUNDS];
	unsigned int round;

	/*
	 * Until the pool has the threads that it keeps; cold_burst does
	 * without.
	 */
	for (round = 0; round < WARM_UP_ROUNDS; round++)
		warm_up[round] = series->measure(row);
	for (round = 0; round < WARM_UP_ROUNDS; round++)
		row_result(bench, row, round + 1, warm_up[round], "warm_up");
	for (round = 1; round <= bench_rounds(bench) && !row->err; round++) {
		cost = series->measure(row);
		row_result(bench, row, round, cost, "instructions");
		cond_resched();
	}
}

static int run_row(const struct bench *bench, const struct series *series,
		   struct row row)
{
	int err;

	row.body = series->body;
	row.tasks = series->tasks;
	if (row.subject->dear)
		row.tasks = min(row.tasks, DEAR_TASKS);
	err = row_open(&row);
	if (err)
		return err;
	if (series->prepare)
		row.err = series->prepare(&row);
	if (!row.err)
		measure_row(bench, series, &row);
	row_close(&row);
	return row.err;
}

int series_run(const struct bench *bench, const struct series *series)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < series->nr_rows && !err; i++)
		if (bench_wants(series->rows[i].subject->name))
			err = run_row(bench, series, series->rows[i]);
	return err;
}

/* A random order if the user wants that, else the order of the rows. */
static void choose_order(u8 *order, unsigned int nr, unsigned int round)
{
	u32 seed = bench_seed();
	unsigned int i, j;

	for (i = 0; i < nr; i++)
		order[i] = i;
	if (!seed)
		return;
	seed += round;
	for (i = nr - 1; i; i--) {
		seed = seed * 1664525 + 1013904223;
		j = (seed >> 16) % (i + 1);
		swap(order[i], order[j]);
	}
}

static int run_round(const struct bench *bench, const struct row *rows,
		     unsigned int nr_rows, unsigned int round,
		     row_round_t run_row)
{
	u8 order[MAX_ROWS];
	unsigned int i;
	int err = 0;

	if (WARN_ON(!nr_rows || nr_rows > MAX_ROWS))
		return -EINVAL;
	choose_order(order, nr_rows, round);
	for (i = 0; i < nr_rows && !err; i++)
		if (bench_wants(rows[order[i]].subject->name))
			err = run_row(bench, rows[order[i]], round);
	return err;
}

/* Each round runs all rows once, so that those of one round can be compared. */
int rounds_run(const struct bench *bench, const struct row *rows,
	       unsigned int nr_rows, unsigned int first, row_round_t run_row)
{
	unsigned int round;
	int err = 0;

	for (round = first; round <= bench_rounds(bench) && !err; round++)
		err = run_round(bench, rows, nr_rows, round, run_row);
	return err;
}
