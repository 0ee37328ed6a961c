// SPDX-License-Identifier: GPL-2.0-only
/*
 * contention: on each CPU a thread that submits a task and waits for it, again
 * and again, all to the same subject. As in tiny_task_smp only ratios within a
 * round are meaningful.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "bench.h"

/* Tasks of each submitter. */
#define ITEMS		2000

static inline void tell_job(struct job *job)
{
	complete(&job->done);
}

DEFINE_BODY(tell);

/* Capacity 0: as many as there are submitters. */
static const struct row rows[] = {
	{ &wq_unbound_subject, .scope = "default" },
	{ &ants_submit_subject },
	{ &ants_throughput_subject },
	{ &wq_unbound_subject, .scope = "cpu" },
	{ &wq_unbound_subject, .scope = "smt" },
	{ &wq_unbound_subject, .scope = "cache_shard" },
	{ &wq_unbound_subject, .scope = "cache" },
	{ &wq_unbound_subject, .scope = "numa" },
	{ &wq_unbound_subject, .scope = "system" },
	{ &wq_bound_subject },
	{ &kthread_worker_cpu_subject },
	{ &ants_submit_subject, 16 },
	{ &ants_throughput_subject, 16 },
	{ &ants_submit_subject, 256 },
	{ &ants_throughput_subject, 256 },
	{ &ants_local_subject },
	{ &ants_local_subject, 16 },
};

struct submitter {
	struct row *row;
	struct job *jobs;
};

static struct completion start, finished;

static int submitter_fn(void *data)
{
	struct submitter *self = data;
	struct job *job = self->jobs, *end = job + ITEMS;

	wait_for_completion(&start);
	for (; job < end && !self->row->err; job++) {
		job->stamp = ktime_get_ns();
		row_submit(self->row, job, 1);
		wait_for_completion(&job->done);
		job->stamp = ktime_get_ns() - job->stamp;
	}
	/* Not in this module's text, which may be unloaded right after. */
	kthread_complete_and_exit(&finished, 0);
}

static int start_submitter(struct submitter *self, int cpu)
{
	struct task_struct *task;

	task = kthread_create(submitter_fn, self, "ants_bench/%d", cpu);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

/*
 * Start all submitters, let them go, and wait for them. Returns nanoseconds or
 * -errno.
 */
static s64 run_submitters(struct row *row, struct submitter *submitters)
{
	unsigned int nr = 0;
	int cpu, err = 0;
	u64 begin;

	init_completion(&start);
	init_completion(&finished);
	for_each_online_cpu(cpu) {
		submitters[nr].row = row;
		submitters[nr].jobs = row->jobs + nr * ITEMS;
		err = start_submitter(&submitters[nr], cpu);
		if (err)
			break;
		nr++;
	}
	begin = ktime_get_ns();
	complete_all(&start);
	while (nr--)
		wait_for_completion(&finished);
	return err ?: ktime_get_ns() - begin;
}

static int measure(struct row *row, s64 *ns)
{
	struct submitter *submitters;

	submitters = kcalloc(num_online_cpus(), sizeof(*submitters), GFP_KERNEL);
	if (!submitters)
		return -ENOMEM;
	*ns = run_submitters(row, submitters);
	kfree(submitters);
	return *ns < 0 ? *ns : row->err;
}

static int print(const struct bench *bench, const struct row *row,
		 unsigned int round, s64 ns)
{
	u64 *times = vmalloc(array_size(row->tasks, sizeof(*times)));
	unsigned int i;

	if (!times)
		return -ENOMEM;
	for (i = 0; i < row->tasks; i++)
		times[i] = row->jobs[i].stamp;
	row_result(bench, row, round,
		   div64_s64(row->tasks * NSEC_PER_SEC, ns),
		   "items_per_second");
	row_percentiles(bench, row, round, times, row->tasks);
	vfree(times);
	return 0;
}

/* Skip affinity scopes that this kernel does not have. */
static int run_row(const struct bench *bench, struct row row,
		   unsigned int round)
{
	s64 ns;
	int err;

	row.body = &tell_body;
	row.tasks = num_online_cpus() * ITEMS;
	if (row.subject->bounded && !row.capacity)
		row.capacity = num_online_cpus();
	err = row_open(&row);
	if (err)
		return row.scope && (err == -ENOENT || err == -EINVAL) ? 0 : err;
	err = measure(&row, &ns);
	if (!err && round)
		err = print(bench, &row, round, ns);
	row_close(&row);
	return err;
}

/* Round 0 is the warm-up. */
static int run(const struct bench *bench)
{
	return rounds_run(bench, rows, ARRAY_SIZE(rows), 0, run_row);
}

const struct bench contention_bench = {
	.name = "contention",
	.rounds = 3,
	.parallel = true,
	.run = run,
};
