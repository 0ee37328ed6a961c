// SPDX-License-Identifier: GPL-2.0-only
/*
 * for_each: what a loop costs for each number if its function does next to
 * nothing; for comparison, the same loop without a pool.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "bench.h"

#define NUMBERS		100000UL
#define CAPACITY	16

static unsigned long seen[CAPACITY];

static noinline int note(unsigned long i, void *ctx)
{
	WRITE_ONCE(seen[i % CAPACITY], i);
	return 0;
}

/* Called through a pointer, as in the pool. */
static int plain_loop(ants_each_fn_t fn)
{
	unsigned long i;
	int err = 0;

	for (i = 0; i < NUMBERS && !err; i++)
		err = fn(i, NULL);
	return err;
}

static u64 measure(struct ants_pool *pool)
{
	ants_each_fn_t fn = note;
	u64 start;

	OPTIMIZER_HIDE_VAR(fn);
	start = ktime_get_ns();
	if (pool)
		ants_for_each(pool, NUMBERS, fn, NULL);
	else
		plain_loop(fn);
	return div_u64(ktime_get_ns() - start, NUMBERS);
}

static void measure_all(const struct bench *bench, struct ants_pool *pool,
			const char *subject, const char *param)
{
	unsigned int round;

	if (!bench_wants(subject))
		return;
	measure(pool);
	for (round = 1; round <= bench_rounds(bench); round++) {
		result(bench, subject, param, round, measure(pool),
		       "instructions");
		cond_resched();
	}
}

static int run(const struct bench *bench)
{
	struct ants_attrs attrs = { .capacity = CAPACITY };
	struct ants_pool *pool = ants_pool_create(&attrs, "bench");

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	measure_all(bench, NULL, "plain_loop", "");
	measure_all(bench, pool, "ants_for_each", "capacity=16");
	ants_pool_destroy(pool);
	return 0;
}

const struct bench for_each_bench = {
	.name = "for_each",
	.rounds = 10,
	.run = run,
};
