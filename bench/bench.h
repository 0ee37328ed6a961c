/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of ants_bench.ko share.
 *
 * A bench is a list of rows; a row is a subject with its settings. All subjects
 * implement struct subject, so that the same code runs around each of them, and
 * each gets its tasks in its native form.
 */
#ifndef _ANTS_BENCH_H
#define _ANTS_BENCH_H

#include <linux/ants.h>
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>

/* Tasks in a round, unless a bench or a subject says otherwise. */
#define BENCH_TASKS	20000
/* An expiry that no bench runs long enough to see. */
#define BENCH_NO_EXPIRY	(3600 * MSEC_PER_SEC)

/**
 * struct body - what a task does, in the form that each subject calls
 * @call: for ants, the plain port, and threads
 * @work: for workqueues
 * @kwork: for kthread_worker
 * @ants_work: for work items of ants
 */
struct body {
	ants_fn_t call;
	work_func_t work;
	kthread_work_func_t kwork;
	ants_work_fn_t ants_work;
};

/**
 * struct job - one task
 * @work: its handle for a workqueue
 * @kwork: its handle for a kthread_worker
 * @ants_work: its handle for ants
 * @body: what it does
 * @done: completed by some bodies
 * @stamp: a time, or a difference of times, in nanoseconds
 */
struct job {
	union {
		struct work_struct work;
		struct kthread_work kwork;
		struct ants_work ants_work;
	};
	const struct body *body;
	struct completion done;
	u64 stamp;
};

/* Define struct body name##_body by an inline function name##_job(job). */
#define DEFINE_BODY(name)						\
static void name##_call(void *data)					\
{									\
	name##_job(data);						\
}									\
									\
static void name##_work(struct work_struct *work)			\
{									\
	name##_job(container_of(work, struct job, work));		\
}									\
									\
static void name##_kwork(struct kthread_work *work)			\
{									\
	name##_job(container_of(work, struct job, kwork));		\
}									\
									\
static int name##_ants_work(struct ants_work *work)			\
{									\
	name##_job(container_of(work, struct job, ants_work));		\
	return 0;							\
}									\
									\
static const struct body name##_body = {				\
	.call = name##_call,						\
	.work = name##_work,						\
	.kwork = name##_kwork,						\
	.ants_work = name##_ants_work,					\
}

/**
 * struct row - a subject with its settings, and what a bench needs to run it
 * @subject: the subject
 * @capacity: the capacity of a pool, if the subject is &subject.bounded
 * @queue_depth: the queue depth of a pool
 * @max_active: the max_active of a workqueue; 0 = its default
 * @own_threads: a workqueue shares no threads, and its threads end with it
 * @scope: the affinity scope of a workqueue; NULL or "default" = not touched
 * @expiry_ms: the expiry of a pool's idle threads
 * @tasks: number of tasks in a round
 * @body: what the tasks do
 * @jobs: the tasks themselves
 * @extra: further text about the row in the results
 * @err: the error of a submit
 */
struct row {
	const struct subject *subject;
	unsigned int capacity;
	unsigned int queue_depth;
	unsigned int max_active;
	bool own_threads;
	const char *scope;
	unsigned int expiry_ms;
	unsigned int tasks;
	const struct body *body;
	struct job *jobs;
	char extra[80];
	int err;
};

/**
 * struct subject - something that runs tasks; one row at a time
 * @name: its name in the results
 * @bounded: it uses capacity and queue_depth
 * @dear: a task is so expensive that fewer of them are enough
 * @setup: prepares it for a row; 0 or -errno
 * @submit: submits @nr tasks; 0 or -errno. One call for many tasks, so that the
 *	measured loop is the subject's own. From a hard interrupt, no more than
 *	there is room for.
 * @flush: returns when all of them have ended
 * @teardown: undoes @setup
 * @threads: the most threads that it had since @setup, if it knows better than
 *	a count of its running tasks
 */
struct subject {
	const char *name;
	bool bounded;
	bool dear;
	int (*setup)(const struct row *row);
	int (*submit)(struct job *jobs, unsigned int nr);
	void (*flush)(void);
	void (*teardown)(void);
	unsigned int (*threads)(void);
};

extern const struct subject ants_submit_subject;
extern const struct subject ants_throughput_subject;
extern const struct subject ants_timed_subject;
extern const struct subject ants_sampled_subject;
extern const struct subject ants_worker_init_subject;
extern const struct subject ants_try_submit_subject;
extern const struct subject ants_queue_work_subject;
extern const struct subject ants_batch_subject;
extern const struct subject ants_group_subject;
extern const struct subject ants_multi_subject;
extern const struct subject ants_full_subject;
extern const struct subject ants_local_subject;
extern const struct subject wq_unbound_subject;
extern const struct subject wq_bound_subject;
extern const struct subject wq_ordered_subject;
extern const struct subject kthread_worker_subject;
extern const struct subject kthread_worker_cpu_subject;
extern const struct subject kthread_run_subject;
extern const struct subject async_schedule_subject;
extern const struct subject plain_port_subject;

/*
 * subject_ants.c: the pool of a row, if it has one, for benches that examine it
 */
extern struct ants_pool *bench_pool;
int pool_warm(struct ants_pool *pool, unsigned int workers);

/**
 * struct bench - a question and how to answer it
 * @name: its name in the results and in the module's parameter
 * @rounds: how often each row is measured unless the user says otherwise
 * @parallel: needs several CPUs, and does not count instructions
 * @run: answers the question; 0 or -errno
 */
struct bench {
	const char *name;
	unsigned int rounds;
	bool parallel;
	int (*run)(const struct bench *bench);
};

extern const struct bench tiny_task_bench;
extern const struct bench round_trip_bench;
extern const struct bench for_each_bench;
extern const struct bench cold_burst_bench;
extern const struct bench scale_workers_bench;
extern const struct bench idle_cost_bench;
extern const struct bench reap_bench;
extern const struct bench tune_bench;
extern const struct bench sized_task_bench;
extern const struct bench from_irq_bench;
extern const struct bench blocking_bench;
extern const struct bench latency_loaded_bench;
extern const struct bench memory_bench;
extern const struct bench lines_bench;
extern const struct bench ramp_bench;
extern const struct bench tiny_task_smp_bench;
extern const struct bench ramp_smp_bench;
extern const struct bench late_wake_bench;
extern const struct bench contention_bench;
extern const struct bench life_bench;

/* main.c */
unsigned int bench_rounds(const struct bench *bench);
unsigned int bench_seed(void);
bool bench_wants(const char *subject);

/* results.c */
void result(const struct bench *bench, const char *subject, const char *param,
	    unsigned int round, s64 value, const char *unit);
void row_result(const struct bench *bench, const struct row *row,
		unsigned int round, s64 value, const char *unit);
void row_percentiles(const struct bench *bench, const struct row *row,
		     unsigned int round, u64 *values, unsigned int nr);

/* row.c */
int row_make_jobs(struct row *row);
void row_free_jobs(struct row *row);
int row_open(struct row *row);
void row_close(struct row *row);
void row_submit(struct row *row, struct job *jobs, unsigned int nr);
u64 row_burst(struct row *row);

/**
 * struct series - rows that are all measured in the same way
 * @rows: the rows
 * @nr_rows: number of rows
 * @body: what the tasks do
 * @tasks: number of tasks in a round; fewer for an expensive subject
 * @prepare: called once a row is set up, may be NULL; 0 or -errno
 * @measure: measures a round, in instructions for each task
 */
struct series {
	const struct row *rows;
	unsigned int nr_rows;
	const struct body *body;
	unsigned int tasks;
	int (*prepare)(struct row *row);
	u64 (*measure)(struct row *row);
};

int series_run(const struct bench *bench, const struct series *series);

/* One round of one row; the last argument is its number. */
typedef int (*row_round_t)(const struct bench *bench, struct row row,
			   unsigned int round);

int rounds_run(const struct bench *bench, const struct row *rows,
	       unsigned int nr_rows, unsigned int first, row_round_t run_row);

#endif /* _ANTS_BENCH_H */
