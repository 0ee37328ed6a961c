// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory: what a pool, an idle thread and a waiter take; for comparison, a
 * workqueue, one of its threads, and a kthread_worker. All but the waiter are
 * measured by the free pages that are missing while there are many of them: so
 * the thread's stack, the sysfs files, and whatever else the kernel allocates
 * are included.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>

/* For the sizes of private structures; nothing else of it is used. */
#include "../kernel/internal.h"
#include "bench.h"
#include "meter.h"

#define POOLS		256
#define WORKERS		1024
/* The limit of a workqueue on every kernel. */
#define WQ_WORKERS	512
/* Longer than a workqueue keeps idle threads. */
#define WQ_EXPIRY_MS	(610 * MSEC_PER_SEC)

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

static void print_pages(const struct bench *bench, const char *subject,
			const char *param, unsigned int round, long pages,
			unsigned int nr)
{
	result(bench, subject, param, round,
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
		print_pages(bench, "ants_pool", "object=pool", round, pages,
			    POOLS);
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
		print_pages(bench, "ants_pool", "object=idle_worker", round,
			    pages, WORKERS);
	return err;
}

/* Ways to make many of the alternatives. */

static void *make_wq(void)
{
	return alloc_workqueue("ants_bench", WQ_UNBOUND, 0) ?: ERR_PTR(-ENOMEM);
}

static void end_wq(void *wq)
{
	destroy_workqueue(wq);
}

static void *make_kworker(void)
{
	struct kthread_worker *w = kthread_create_worker(0, "ants_bench");

	if (!IS_ERR(w))
		wake_up_process(w->task);
	return w;
}

static void end_kworker(void *w)
{
	kthread_destroy_worker(w);
}

static const struct other {
	const char *name;
	void *(*make)(void);
	void (*end)(void *it);
} others[] = {
	{ "wq_unbound", make_wq, end_wq },
	{ "kthread_worker", make_kworker, end_kworker },
};

static int make_others(const struct other *other, void **made)
{
	unsigned int i;

	for (i = 0; i < POOLS; i++) {
		made[i] = other->make();
		if (IS_ERR(made[i]))
			return PTR_ERR(made[i]);
	}
	return 0;
}

static void end_others(const struct other *other, void **made)
{
	unsigned int i;

	for (i = 0; i < POOLS && !IS_ERR_OR_NULL(made[i]); i++)
		other->end(made[i]);
}

static int measure_others(const struct bench *bench, unsigned int round,
			  const struct other *other)
{
	void **made = kcalloc(POOLS, sizeof(*made), GFP_KERNEL);
	long pages;
	int err;

	if (!made)
		return -ENOMEM;
	meter_settle();
	pages = meter_free_pages();
	err = make_others(other, made);
	pages -= meter_free_pages();
	end_others(other, made);
	kfree(made);
	if (!err && round)
		print_pages(bench, other->name, "object=pool", round, pages,
			    POOLS);
	return err;
}

/* A workqueue's threads, each of which runs a task. */

static struct completion gate;
static atomic_t to_start;

static inline void stand_job(struct job *job)
{
	atomic_dec(&to_start);
	wait_for_completion(&gate);
}

DEFINE_BODY(stand);

static int run_all(struct row *row)
{
	unsigned int tries = 3000;

	init_completion(&gate);
	atomic_set(&to_start, row->tasks);
	row_submit(row, row->jobs, row->tasks);
	while (atomic_read(&to_start) && --tries)
		usleep_range(10000, 11000);
	return row->err ?: tries ? 0 : -ETIMEDOUT;
}

static int measure_wq_workers(const struct bench *bench, unsigned int round)
{
	struct row row = {
		.subject = &wq_unbound_subject,
		.max_active = WQ_WORKERS,
		.tasks = WQ_WORKERS,
		.body = &stand_body,
	};
	int err = row_open(&row);
	long pages;

	if (err)
		return err;
	/* An idle sleep, or it would look like a hung task. */
	meter_sleep(WQ_EXPIRY_MS);
	pages = meter_free_pages();
	err = run_all(&row);
	pages -= meter_free_pages();
	complete_all(&gate);
	row_close(&row);
	if (!err && round)
		print_pages(bench, "wq_unbound", "object=idle_worker", round,
			    pages, WQ_WORKERS);
	return err;
}

static int measure_peers(const struct bench *bench, unsigned int round)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(others) && !err; i++)
		err = measure_others(bench, round, &others[i]);
	return err ?: measure_wq_workers(bench, round);
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
		      measure_workers(bench, round) ?:
		      measure_peers(bench, round);
	}
	return err;
}

const struct bench memory_bench = {
	.name = "memory",
	.rounds = 3,
	.run = run,
};
