// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_loaded: how long a task waits for the CPU while its submitter and
 * another thread keep it busy. First, tasks submitted one by one, from submit
 * to start; then a task that sleeps and is woken again and again, like one that
 * serves a connection, from wake-up to run.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "bench.h"

#define SAMPLES		1000
/* The submitter's own work between two submits. */
#define SPIN_NS		(100 * NSEC_PER_USEC)

static const struct row rows[] = {
	{ &wq_unbound_subject },
	{ &ants_submit_subject, 16 },
	{ &ants_throughput_subject, 16 },
};

/* In this file a stamp is a time, and afterwards how long ago that was. */
static inline void start_job(struct job *job)
{
	job->stamp = ktime_get_ns() - job->stamp;
}

DEFINE_BODY(start);

static struct completion alarm;

/* Woken for each job in the array, which its own begins. */
static inline void echo_job(struct job *job)
{
	struct job *end = job + SAMPLES;

	for (; job < end; job++) {
		wait_for_completion(&alarm);
		start_job(job);
	}
}

DEFINE_BODY(echo);

static int burn(void *unused)
{
	while (!kthread_should_stop())
		cond_resched();
	return 0;
}

static void spin(void)
{
	u64 end = ktime_get_ns() + SPIN_NS;

	while (ktime_get_ns() < end)
		cond_resched();
}

static void submit_one_by_one(struct row *row)
{
	unsigned int i;

	for (i = 0; i < SAMPLES; i++) {
		spin();
		row->jobs[i].stamp = ktime_get_ns();
		row_submit(row, &row->jobs[i], 1);
	}
}

static void submit_and_wake(struct row *row)
{
	unsigned int i;

	init_completion(&alarm);
	row_submit(row, row->jobs, 1);
	for (i = 0; i < SAMPLES; i++) {
		spin();
		row->jobs[i].stamp = ktime_get_ns();
		complete(&alarm);
	}
}

/* Two ways to load a subject. */
static const struct variant {
	const char *extra;
	const struct body *body;
	void (*load)(struct row *row);
} variants[] = {
	{ "task=start", &start_body, submit_one_by_one },
	{ "task=sleep", &echo_body, submit_and_wake },
};

static int run_round(const struct bench *bench, const struct variant *variant,
		     struct row *row, unsigned int round, u64 *times)
{
	struct task_struct *burner;
	unsigned int i;

	burner = kthread_run(burn, NULL, "ants_burner");
	if (IS_ERR(burner))
		return PTR_ERR(burner);
	variant->load(row);
	row->subject->flush();
	kthread_stop(burner);
	for (i = 0; i < SAMPLES; i++)
		times[i] = row->jobs[i].stamp;
	if (round && !row->err)
		row_percentiles(bench, row, round, times, SAMPLES);
	return row->err;
}

/* Round 0 is the warm-up. */
static int run_row(const struct bench *bench, const struct variant *variant,
		   struct row row, u64 *times)
{
	unsigned int round;
	int err;

	row.body = variant->body;
	row.tasks = SAMPLES;
	strscpy(row.extra, variant->extra, sizeof(row.extra));
	err = row_open(&row);
	if (err)
		return err;
	for (round = 0; round <= bench_rounds(bench) && !err; round++)
		err = run_round(bench, variant, &row, round, times);
	row_close(&row);
	return err;
}

static int run_variant(const struct bench *bench, const struct variant *variant,
		       u64 *times)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(rows) && !err; i++)
		if (bench_wants(rows[i].subject->name))
			err = run_row(bench, variant, rows[i], times);
	return err;
}

static int run(const struct bench *bench)
{
	u64 *times = vmalloc(array_size(SAMPLES, sizeof(*times)));
	unsigned int i;
	int err = 0;

	if (!times)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(variants) && !err; i++)
		err = run_variant(bench, &variants[i], times);
	vfree(times);
	return err;
}

const struct bench latency_loaded_bench = {
	.name = "latency_loaded",
	.rounds = 3,
	.run = run,
};
