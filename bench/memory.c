// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory: what a pool, an idle thread and a waiter take. The first two as the
 * free pages that are missing while there are many of them: with the thread's
 * stack, its sysfs files, and whatever else the kernel keeps for it.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mm.h>

/* For the sizes of what is private; nothing else of it is used. */
#include "../kernel/internal.h"
#include "bench.h"
#include "meter.h"

#define POOLS		256
#define WORKERS		1024

static const struct {
	const char *param;
	size_t size;
} structs[] = {
	{ "struct=pool", sizeof(struct ants_pool) },
	{ "struct=worker", sizeof(struct ants_worker) },
	{ "struct=slot", sizeof(struct ants_slot) },
	{ "struct=waiter", sizeof(struct ants_waiter) },
};

static struct ants_pool *pools[POOLS];

static void destroy_pools(void)
{
	unsigned int i;

	for (i = 0; i < POOLS && pools[i]; i++) {
		ants_pool_destroy(pools[i]);
		pools[i] = NULL;
	}
}

static int create_pools(void)
{
	struct ants_pool *pool;
	unsigned int i;

	for (i = 0; i < POOLS; i++) {
		pool = ants_pool_create(NULL, "bench%u", i);
		if (IS_ERR(pool))
			return PTR_ERR(pool);
		pools[i] = pool;
	}
	return 0;
}

static void print_pages(const struct bench *bench, const char *param,
			unsigned int round, long pages, unsigned int nr)
{
	result(bench, "ants_pool", param, round,
	       div_s64((s64)pages * PAGE_SIZE, nr), "bytes");
}

static int measure_pools(const struct bench *bench, unsigned int round)
{
	long pages;
	int err;

	meter_settle();
	pages = meter_free_pages();
	err = create_pools();
	pages -= meter_free_pages();
	destroy_pools();
	if (!err && round)
		print_pages(bench, "object=pool", round, pages, POOLS);
	return err;
}

static int measure_workers(const struct bench *bench, unsigned int round)
{
	struct ants_attrs attrs = {
		.capacity = WORKERS,
		.expiry = msecs_to_jiffies(BENCH_NO_EXPIRY),
	};
	struct ants_pool *pool = ants_pool_create(&attrs, "bench");
	long pages;
	int err;

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	meter_settle();
	pages = meter_free_pages();
	err = pool_warm(pool, WORKERS);
	pages -= meter_free_pages();
	ants_pool_destroy(pool);
	if (!err && round)
		print_pages(bench, "object=idle_worker", round, pages, WORKERS);
	return err;
}

static void print_structs(const struct bench *bench, unsigned int round)
{
	unsigned int i;

	for (i = 0; round && i < ARRAY_SIZE(structs); i++)
		result(bench, "ants_pool", structs[i].param, round,
		       structs[i].size, "bytes");
}

/* Round 0 is the warm-up. */
static int run(const struct bench *bench)
{
	unsigned int round;
	int err = 0;

	for (round = 0; round <= bench_rounds(bench) && !err; round++) {
		print_structs(bench, round);
		err = measure_pools(bench, round) ?:
		      measure_workers(bench, round);
	}
	return err;
}

const struct bench memory_bench = {
	.name = "memory",
	.rounds = 3,
	.run = run,
};
