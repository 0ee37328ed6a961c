// SPDX-License-Identifier: GPL-2.0-only
/*
 * late_wake: a worker was woken and does not run, because a SCHED_FIFO thread
 * has its CPU. How long does the next task wait for its start, while another
 * CPU and three workers are idle?
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>

#include "bench.h"

/* CPUs of the submitter, and of the SCHED_FIFO thread. */
#define HOME_CPU	0
#define HOG_CPU		1

/*
 * The tasks, in this order: NR_WORKERS at once, so that there are as many
 * workers; one that binds its worker to the hog's CPU; one for which that
 * worker is woken; and the one whose wait is measured.
 */
#define NR_WORKERS	4U
enum {
	BIND = NR_WORKERS,
	STUCK,
	NEXT,
	NR_TASKS,
};

/* After this time, workers whose tasks have ended are idle. */
#define SETTLE_MS	20

static const struct row rows[] = {
	{ &wq_unbound_subject, .own_threads = true },
	{ &ants_submit_subject, 16 },
	{ &ants_throughput_subject, 16 },
	{ &ants_worker_init_subject, 16 },
};

static const struct job *first;
static atomic_t to_start;
static struct completion all_run, gate, handed;

static void stand(void)
{
	if (atomic_dec_and_test(&to_start))
		complete(&all_run);
	wait_for_completion(&gate);
}

static inline void act_job(struct job *job)
{
	switch (job - first) {
	case BIND:
		set_cpus_allowed_ptr(current, cpumask_of(HOG_CPU));
		break;
	case STUCK:
		break;
	case NEXT:
		job->stamp = ktime_get_ns() - job->stamp;
		complete(&job->done);
		break;
	default:
		stand();
	}
}

DEFINE_BODY(act);

static void make_workers(struct row *row)
{
	atomic_set(&to_start, NR_WORKERS);
	init_completion(&all_run);
	init_completion(&gate);
	row_submit(row, row->jobs, NR_WORKERS);
	if (!row->err)
		wait_for_completion(&all_run);
	complete_all(&gate);
	row->subject->flush();
	msleep(SETTLE_MS);
}

/* The worker that parks last is the first to be woken. */
static void bind_one(struct row *row)
{
	row_submit(row, &row->jobs[BIND], 1);
	row->subject->flush();
	msleep(SETTLE_MS);
}

/* Wake the worker from the CPU that it would need. */
static int gives_way(void *data)
{
	struct row *row = data;

	row_submit(row, &row->jobs[STUCK], 1);
	complete(&handed);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int hogs(void *data)
{
	struct row *row = data;

	row_submit(row, &row->jobs[STUCK], 1);
	complete(&handed);
	while (!kthread_should_stop())
		cond_resched();
	return 0;
}

static int measure(struct row *row, bool hog)
{
	struct job *next = &row->jobs[NEXT];
	struct task_struct *task;

	task = kthread_create(hog ? hogs : gives_way, row, "ants_hog");
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, HOG_CPU);
	sched_set_fifo(task);
	init_completion(&handed);
	wake_up_process(task);
	wait_for_completion(&handed);
	next->stamp = ktime_get_ns();
	row_submit(row, next, 1);
	if (!row->err)
		wait_for_completion(&next->done);
	kthread_stop(task);
	row->subject->flush();
	return row->err;
}

static int run_one(const struct bench *bench, struct row row,
		   unsigned int round, bool hog)
{
	int err;

	row.tasks = NR_TASKS;
	row.body = &act_body;
	row.expiry_ms = BENCH_NO_EXPIRY;
	snprintf(row.extra, sizeof(row.extra), "hog=%s", hog ? "yes" : "no");
	err = row_open(&row);
	if (err)
		return err;
	first = row.jobs;
	make_workers(&row);
	bind_one(&row);
	err = row.err ?: measure(&row, hog);
	if (!err)
		row_result(bench, &row, round,
			   div_u64(row.jobs[NEXT].stamp, NSEC_PER_USEC), "us");
	row_close(&row);
	return err;
}

static int run_row(const struct bench *bench, struct row row,
		   unsigned int round)
{
	int err = run_one(bench, row, round, false);

	return err ?: run_one(bench, row, round, true);
}

static int run(const struct bench *bench)
{
	int err = num_online_cpus() > HOG_CPU ? 0 : -EINVAL;

	if (!err)
		err = set_cpus_allowed_ptr(current, cpumask_of(HOME_CPU));
	return err ?: rounds_run(bench, rows, ARRAY_SIZE(rows), 1, run_row);
}

const struct bench late_wake_bench = {
	.name = "late_wake",
	.rounds = 11,
	.parallel = true,
	.run = run,
};
