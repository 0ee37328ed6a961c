// SPDX-License-Identifier: GPL-2.0-only
/* Subjects: ants, in the ways to submit a task. */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "bench.h"

struct ants_pool *bench_pool;
static ants_fn_t call;

static int pool_create(const struct row *row, const struct ants_attrs *attrs)
{
	call = row->body->call;
	bench_pool = ants_pool_create(attrs, "bench");
	return PTR_ERR_OR_ZERO(bench_pool);
}

static struct ants_attrs attrs_of(const struct row *row)
{
	return (struct ants_attrs){
		.capacity = row->capacity,
		.queue_depth = row->queue_depth,
		.expiry = msecs_to_jiffies(row->expiry_ms),
	};
}

static int pool_setup(const struct row *row, unsigned int flags)
{
	struct ants_attrs attrs = attrs_of(row);

	attrs.flags = flags;
	return pool_create(row, &attrs);
}

static int default_setup(const struct row *row)
{
	return pool_setup(row, 0);
}

static int throughput_setup(const struct row *row)
{
	return pool_setup(row, ANTS_THROUGHPUT);
}

/* An administrator has asked how long one task in @every waits and runs. */
static int set_timing(const struct row *row, const char *every)
{
	struct file *file;
	int err = default_setup(row);

	if (err)
		return err;
	file = filp_open("/sys/kernel/ants/bench/stats/timing", O_WRONLY, 0);
	if (IS_ERR(file))
		goto fail;
	err = kernel_write(file, every, strlen(every), NULL) > 0 ? 0 : -EIO;
	filp_close(file, NULL);
	if (!err)
		return 0;
fail:
	ants_pool_destroy(bench_pool);
	return err ?: PTR_ERR(file);
}

static int timed_setup(const struct row *row)
{
	return set_timing(row, "1");
}

static int sampled_setup(const struct row *row)
{
	return set_timing(row, "64");
}

/* The data of a thread: none, here. */
static void *worker_init(struct ants_pool *pool)
{
	return NULL;
}

static int worker_init_setup(const struct row *row)
{
	struct ants_attrs attrs = attrs_of(row);

	attrs.worker_init = worker_init;
	return pool_create(row, &attrs);
}

static int submit(struct job *jobs, unsigned int nr)
{
	struct ants_pool *pool = bench_pool;
	ants_fn_t fn = call;
	int err = 0;

	for (; nr; nr--, jobs++)
		err = ants_submit(pool, fn, jobs) ?: err;
	return err;
}

static int try_submit_one(struct job *job)
{
	int err;

	for (;;) {
		err = ants_try_submit(bench_pool, call, job);
		if (likely(!err) || (err != -EAGAIN && err != -ENOMEM) ||
		    in_hardirq())
			return err;
		ants_flush(bench_pool);
	}
}

/*
 * A caller that may not wait, and finds no room or no slot, tries again later.
 */
static int try_submit(struct job *jobs, unsigned int nr)
{
	int err = 0;

	for (; nr; nr--, jobs++)
		err = try_submit_one(jobs) ?: err;
	return err;
}

static void flush(void)
{
	ants_flush(bench_pool);
}

static void teardown(void)
{
	ants_pool_destroy(bench_pool);
}

static unsigned int threads(void)
{
	struct ants_stats stats;

	ants_pool_stats(bench_pool, &stats);
	return stats.peak_running;
}

const struct subject ants_submit_subject = {
	.name = "ants_submit",
	.bounded = true,
	.setup = default_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
	.threads = threads,
};

const struct subject ants_throughput_subject = {
	.name = "ants_throughput",
	.bounded = true,
	.setup = throughput_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
	.threads = threads,
};

const struct subject ants_timed_subject = {
	.name = "ants_timed",
	.bounded = true,
	.setup = timed_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
	.threads = threads,
};

const struct subject ants_sampled_subject = {
	.name = "ants_sampled",
	.bounded = true,
	.setup = sampled_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
	.threads = threads,
};

const struct subject ants_worker_init_subject = {
	.name = "ants_worker_init",
	.bounded = true,
	.setup = worker_init_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
	.threads = threads,
};

const struct subject ants_try_submit_subject = {
	.name = "ants_try_submit",
	.bounded = true,
	.setup = default_setup,
	.submit = try_submit,
	.flush = flush,
	.teardown = teardown,
	.threads = threads,
};

/* Workers that exist and have nothing to do. */

static DECLARE_COMPLETION(gate);

static void stand_at_gate(void *data)
{
	wait_for_completion(&gate);
}

static int wait_for_number(unsigned int (*number)(const struct ants_pool *pool),
			   struct ants_pool *pool, unsigned int wanted)
{
	unsigned int tries = 3000;

	while (number(pool) != wanted && --tries)
		usleep_range(10000, 11000);
	return tries ? 0 : -ETIMEDOUT;
}

/* Keep so many tasks running at once, then let all of them go. */
int pool_warm(struct ants_pool *pool, unsigned int workers)
{
	unsigned int i;
	int err = 0, late;

	reinit_completion(&gate);
	for (i = 0; i < workers && !err; i++)
		err = ants_submit(pool, stand_at_gate, NULL);
	if (!err)
		err = wait_for_number(ants_nr_busy, pool, workers);
	complete_all(&gate);
	ants_flush(pool);
	late = wait_for_number(ants_nr_idle, pool, workers);
	return err ?: late;
}
