// SPDX-License-Identifier: GPL-2.0-only
/*
 * reap, tune: what it costs to get rid of idle threads, a thread: because they
 * expire, or because the capacity shrinks to 1. And what it costs to grow back,
 * all in all, while nobody waits.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "bench.h"
#include "meter.h"

#define EXPIRY_MS	300
#define REAP_MS		1000
#define TUNE_MS		500

static const unsigned int workers[] = { 1, 100, 2000 };

static void print(const struct bench *bench, const char *subject,
		  const char *what, unsigned int nr, unsigned int round,
		  s64 value)
{
	char param[40];

	snprintf(param, sizeof(param), "%sworkers=%u", what, nr);
	result(bench, subject, param, round, value, "instructions");
}

static struct ants_pool *make_pool(unsigned int nr, unsigned int expiry_ms)
{
	struct ants_attrs attrs = { .capacity = nr, .expiry_ms = expiry_ms };
	struct ants_pool *pool;
	int err;

	pool = ants_pool_create(&attrs, "bench");
	if (IS_ERR(pool))
		return pool;
	err = pool_warm(pool, nr);
	if (!err)
		return pool;
	ants_pool_destroy(pool);
	return ERR_PTR(err);
}

/* Round 0 is the warm-up. */
static int reap_round(const struct bench *bench, unsigned int nr,
		      unsigned int round)
{
	struct ants_pool *pool;
	s64 cost;
	int err;

	meter_settle();
	cost = -meter_sleep(REAP_MS);
	pool = make_pool(nr, EXPIRY_MS);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	cost += meter_sleep(REAP_MS);
	err = ants_nr_running(pool) ? -ETIMEDOUT : 0;
	ants_pool_destroy(pool);
	if (!err && round)
		print(bench, "ants_expiry", "", nr, round, div_s64(cost, nr));
	return err;
}

/* Down to one; the threads leave and are joined after ants_tune() returned. */
static int shrink(struct ants_pool *pool, s64 *cost)
{
	struct meter meter;
	int err;

	*cost = -meter_sleep(TUNE_MS);
	meter_start(&meter);
	err = ants_tune(pool, 1);
	meter_stop(&meter);
	*cost += meter.busy + meter_sleep(TUNE_MS);
	if (!err && ants_nr_running(pool) != 1)
		err = -ETIMEDOUT;
	return err;
}

static int grow(struct ants_pool *pool, unsigned int nr, s64 *cost)
{
	u64 start = ktime_get_ns();
	int err = ants_tune(pool, nr);

	*cost = ktime_get_ns() - start;
	return err;
}

static int tune_round(const struct bench *bench, unsigned int nr,
		      unsigned int round)
{
	struct ants_pool *pool = make_pool(nr + 1, BENCH_NO_EXPIRY);
	s64 down, up;
	int err;

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	meter_settle();
	err = shrink(pool, &down) ?: grow(pool, nr + 1, &up);
	ants_pool_destroy(pool);
	if (err || !round)
		return err;
	print(bench, "ants_tune", "direction=down ", nr, round,
	      div_s64(down, nr));
	print(bench, "ants_tune", "direction=up ", nr, round, up);
	return 0;
}

static int run_rounds(const struct bench *bench,
		      int (*run_round)(const struct bench *bench,
				       unsigned int nr, unsigned int round))
{
	unsigned int i, round;
	int err = meter_open();

	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		for (round = 0; round <= bench_rounds(bench) && !err; round++)
			err = run_round(bench, workers[i], round);
	meter_close();
	return err;
}

static int run_reap(const struct bench *bench)
{
	return run_rounds(bench, reap_round);
}

static int run_tune(const struct bench *bench)
{
	return run_rounds(bench, tune_round);
}

const struct bench reap_bench = {
	.name = "reap",
	.rounds = 3,
	.run = run_reap,
};

const struct bench tune_bench = {
	.name = "tune",
	.rounds = 3,
	.run = run_tune,
};
