// SPDX-License-Identifier: GPL-2.0-only
/*
 * scale_workers: small bursts for a pool that has few or many idle workers.
 * Their number must not show in the cost of a task.
 */
#include <linux/math64.h>

#include "bench.h"

#define BURST		16
#define BURSTS		3000

static const unsigned int workers[] = { 16, 64, 256, 1024, 4096 };

static inline void empty_job(struct job *job)
{
}

DEFINE_BODY(empty);

static const struct row rows[] = {
	{ &ants_submit_subject, ANTS_UNLIMITED, .expiry_ms = BENCH_NO_EXPIRY },
	{ &ants_throughput_subject, ANTS_UNLIMITED,
	  .expiry_ms = BENCH_NO_EXPIRY },
};

static unsigned int nr_workers;

static int prepare(struct row *row)
{
	snprintf(row->extra, sizeof(row->extra), "workers=%u", nr_workers);
	return pool_warm(bench_pool, nr_workers);
}

static u64 measure(struct row *row)
{
	unsigned int i;
	u64 cost = 0;

	for (i = 0; i < BURSTS; i++)
		cost += row_burst(row);
	return div_u64(cost, BURSTS * BURST);
}

static const struct series series = {
	.rows = rows,
	.nr_rows = ARRAY_SIZE(rows),
	.body = &empty_body,
	.tasks = BURST,
	.prepare = prepare,
	.measure = measure,
};

static int run(const struct bench *bench)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(workers) && !err; i++) {
		nr_workers = workers[i];
		err = series_run(bench, &series);
	}
	return err;
}

const struct bench scale_workers_bench = {
	.name = "scale_workers",
	.rounds = 10,
	.run = run,
};
