// SPDX-License-Identifier: GPL-2.0-only
/*
 * idle_cost: what a pool costs while it is not used, for a minute: with idle
 * threads that do not expire yet, and after the last one has left.
 */
#include <linux/delay.h>

#include "bench.h"
#include "meter.h"

#define WORKERS		16
#define MINUTE_MS	(60 * MSEC_PER_SEC)
#define SHORT_MS	200

static inline void empty_job(struct job *job)
{
}

DEFINE_BODY(empty);

static const struct row rows[] = {
	{ &ants_submit_subject, WORKERS, .expiry_ms = BENCH_NO_EXPIRY,
	  .extra = "phase=before_expiry" },
	{ &ants_submit_subject, WORKERS, .expiry_ms = SHORT_MS,
	  .extra = "phase=after_expiry" },
};

/*
 * Counting instructions costs something itself, so they get a minute of their
 * own.
 */
static int measure(struct watched *watched, s64 *busy)
{
	int err = watch_start();

	if (err)
		return err;
	meter_sleep(MINUTE_MS);
	watch_stop(watched);
	*busy = meter_sleep(MINUTE_MS);
	return 0;
}

static int prepare(const struct row *row)
{
	int err = pool_warm(bench_pool, WORKERS);

	/* The work that the last task leaves behind is not idleness. */
	ssleep(2);
	if (!err && row->expiry_ms == SHORT_MS && ants_nr_running(bench_pool))
		err = -ETIMEDOUT;
	return err;
}

static int run_row(const struct bench *bench, struct row row,
		   unsigned int round, s64 without)
{
	struct watched watched;
	s64 busy;
	int err;

	row.body = &empty_body;
	row.tasks = 1;
	err = row_open(&row);
	if (err)
		return err;
	err = prepare(&row) ?: measure(&watched, &busy);
	row_close(&row);
	if (err)
		return err;
	row_result(bench, &row, round, watched.wakeups, "wakeups");
	row_result(bench, &row, round, watched.timers, "timers");
	row_result(bench, &row, round, busy - without, "instructions");
	return 0;
}

/* The same minute without a pool, once earlier activity has calmed down. */
static int run_round(const struct bench *bench, unsigned int round)
{
	unsigned int i;
	s64 without;
	int err = 0;

	meter_settle();
	without = meter_sleep(MINUTE_MS);
	result(bench, "no_pool", "", round, without, "instructions");
	for (i = 0; i < ARRAY_SIZE(rows) && !err; i++)
		err = run_row(bench, rows[i], round, without);
	return err;
}

static int run_all(const struct bench *bench)
{
	unsigned int round;
	int err = 0;

	for (round = 1; round <= bench_rounds(bench) && !err; round++)
		err = run_round(bench, round);
	return err;
}

static int run(const struct bench *bench)
{
	int err = meter_open();

	if (err)
		return err;
	err = run_all(bench);
	meter_close();
	return err;
}

const struct bench idle_cost_bench = {
	.name = "idle_cost",
	.rounds = 3,
	.run = run,
};
