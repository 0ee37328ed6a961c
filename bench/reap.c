// SPDX-License-Identifier: GPL-2.0-only
/*
 * reap, tune: what it costs, for each thread, to end a pool's idle threads:
 * because they expire, or because the capacity shrinks to 1. And what it costs,
 * for each pool, to grow back while there are no waiters.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "bench.h"
#include "meter.h"

#define EXPIRY_MS	3000
#define REAP_MS		5000
#define TUNE_MS		500

/* At least so many threads end in a round; so this is also the most pools. */
#define MANY		100

static const unsigned int workers[] = { 1, 100, 2000 };
static struct ants_pool *pools[MANY];

static void print(const struct bench *bench, const char *subject,
		  const char *what, unsigned int nr, unsigned int round,
		  s64 value)
{
	char param[40];

	snprintf(param, sizeof(param), "%sworkers=%u", what, nr);
	result(bench, subject, param, round, value, "instructions");
}

/* So many pools that the kernel's other activity matters little. */
static unsigned int nr_pools(unsigned int nr)
{
	return nr < MANY ? DIV_ROUND_UP(MANY, nr) : 1;
}

static int make_pool(struct ants_pool **slot, unsigned int nr,
		     unsigned int expiry_ms)
{
	struct ants_attrs attrs = {
		.capacity = nr,
		.expiry = msecs_to_jiffies(expiry_ms),
	};
	struct ants_pool *pool;

	pool = ants_pool_create(&attrs, "bench%td", slot - pools);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	*slot = pool;
	return pool_warm(pool, nr);
}

static void destroy_pools(void)
{
	unsigned int i;

	for (i = 0; i < MANY && pools[i]; i++) {
		ants_pool_destroy(pools[i]);
		pools[i] = NULL;
	}
}

static int make_pools(unsigned int nr_made, unsigned int nr,
		      unsigned int expiry_ms)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr_made && !err; i++)
		err = make_pool(&pools[i], nr, expiry_ms);
	if (err)
		destroy_pools();
	return err;
}

static int check_running(unsigned int wanted)
{
	unsigned int i;

	for (i = 0; i < MANY && pools[i]; i++)
		if (ants_nr_running(pools[i]) != wanted)
			return -ETIMEDOUT;
	return 0;
}

/* Round 0 is the warm-up. */
static int reap_round(const struct bench *bench, unsigned int nr,
		      unsigned int round)
{
	unsigned int all = nr * nr_pools(nr);
	s64 cost;
	int err;

	meter_settle();
	cost = -meter_sleep(REAP_MS);
	err = make_pools(nr_pools(nr), nr, EXPIRY_MS);
	if (err)
		return err;
	cost += meter_sleep(REAP_MS);
	err = check_running(0);
	destroy_pools();
	if (!err && round)
		print(bench, "ants_expiry", "", nr, round, div_s64(cost, all));
	return err;
}

static int tune_pools(unsigned int capacity)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < MANY && pools[i] && !err; i++)
		err = ants_tune(pools[i], capacity);
	return err;
}

/*
 * Shrink to one; the threads leave and are joined after ants_tune() has
 * returned.
 */
static int shrink(s64 *cost)
{
	struct meter meter;
	int err;

	*cost = -meter_sleep(TUNE_MS);
	meter_start(&meter);
	err = tune_pools(1);
	meter_stop(&meter);
	*cost += meter.busy + meter_sleep(TUNE_MS);
	return err ?: check_running(1);
}

static int grow(unsigned int nr, s64 *cost)
{
	u64 start = ktime_get_ns();
	int err = tune_pools(nr);

	*cost = ktime_get_ns() - start;
	return err;
}

static int tune_round(const struct bench *bench, unsigned int nr,
		      unsigned int round)
{
	unsigned int made = nr_pools(nr);
	s64 down, up;
	int err;

	err = make_pools(made, nr + 1, BENCH_NO_EXPIRY);
	if (err)
		return err;
	meter_settle();
	err = shrink(&down) ?: grow(nr + 1, &up);
	destroy_pools();
	if (err || !round)
		return err;
	print(bench, "ants_tune", "direction=down ", nr, round,
	      div_s64(down, nr * made));
	print(bench, "ants_tune", "direction=up ", nr, round,
	      div_s64(up, made));
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
