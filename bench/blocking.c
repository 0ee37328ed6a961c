// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocking: many tasks that sleep for 10 ms, submitted as fast as possible: how
 * long until the last one has ended, and what each task costs, how many threads
 * it takes, and how much memory. A workqueue runs at most max_active of them at
 * once, which older kernels limit to 512; a pool runs as many as its capacity.
 * Rows of the same width are to be compared.
 */
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include "bench.h"
#include "meter.h"

#define FEW		20000
#define MANY		100000
/* Longer than a workqueue keeps idle threads. */
#define WQ_EXPIRY_MS	(610 * MSEC_PER_SEC)

static atomic_t asleep;
static int most_asleep;

/* A task that sleeps occupies a thread. */
static inline void nap_job(struct job *job)
{
	int nr = atomic_inc_return(&asleep);

	if (nr > READ_ONCE(most_asleep))
		WRITE_ONCE(most_asleep, nr);
	usleep_range(10000, 10050);
	atomic_dec(&asleep);
}

DEFINE_BODY(nap);

static const struct row peers[] = {
	{ &wq_unbound_subject, .max_active = 512 },
	{ &wq_unbound_subject, .max_active = 2048 },
	{ &kthread_run_subject },
};

/*
 * A pool without a queue wakes its submitter for each task. The last ones have a
 * queue for all tasks, like a workqueue.
 */
static const struct row pools[] = {
	{ &ants_submit_subject, 64 },
	{ &ants_submit_subject, 256 },
	{ &ants_submit_subject, 512 },
	{ &ants_submit_subject, 1024 },
	{ &ants_submit_subject, 2048 },
	{ &ants_submit_subject, 4096 },
	{ &ants_submit_subject, 512, FEW },
	{ &ants_submit_subject, 2048, FEW },
};

/**
 * struct plan - which rounds to run of a row
 * @tasks: number of tasks in each round
 * @first: the first round; 0 is a warm-up, which is not printed
 * @last: the last round
 * @warm: all threads of a pool exist before the first task comes
 */
struct plan {
	unsigned int tasks;
	unsigned int first;
	unsigned int last;
	bool warm;
};

/* The figures of a round. */
struct figures {
	struct meter meter;
	unsigned int threads;
	long pages;
};

static void measure(struct row *row, struct figures *figures)
{
	most_asleep = 0;
	meter_start(&figures->meter);
	row_burst(row);
	meter_stop(&figures->meter);
	figures->threads = most_asleep;
	if (row->subject->threads)
		figures->threads = row->subject->threads();
}

static void print(const struct bench *bench, const struct row *row,
		  unsigned int round, const struct figures *figures)
{
	row_result(bench, row, round,
		   div_u64(figures->meter.elapsed, NSEC_PER_MSEC), "ms");
	row_result(bench, row, round,
		   div_s64(figures->meter.busy, row->tasks), "instructions");
	row_result(bench, row, round, figures->threads, "threads");
	row_result(bench, row, round, figures->pages * (long)(PAGE_SIZE / SZ_1K),
		   "kB");
}

/* Memory is counted against the free pages @before. */
static int run_round(struct row *row, bool warm, unsigned long before,
		     struct figures *figures)
{
	int err;

	meter_settle();
	sampler_start();
	err = row->subject->setup(row);
	if (!err) {
		if (warm)
			err = pool_warm(bench_pool, row->capacity);
		if (!err)
			measure(row, figures);
		row->subject->teardown();
	}
	figures->pages = before - sampler_stop();
	return err ?: row->err;
}

/*
 * The jobs belong to the caller and exist before; memory that the subject takes
 * for itself is counted. Idle threads of a workqueue stay during its rounds,
 * and end before those of the next row.
 */
static int run_row(const struct bench *bench, struct row row,
		   const struct plan *plan)
{
	struct figures figures;
	unsigned long before;
	unsigned int round;
	int err;

	row.tasks = plan->tasks;
	row.body = &nap_body;
	row.expiry_ms = BENCH_NO_EXPIRY;
	snprintf(row.extra, sizeof(row.extra), "tasks=%u%s", plan->tasks,
		 !row.subject->bounded ? "" :
		 plan->warm ? " pool=warm" : " pool=cold");
	err = row_make_jobs(&row);
	meter_settle();
	before = meter_free_pages();
	for (round = plan->first; round <= plan->last && !err; round++) {
		err = run_round(&row, plan->warm, before, &figures);
		if (!err && round)
			print(bench, &row, round, &figures);
	}
	row_free_jobs(&row);
	if (row.subject == &wq_unbound_subject)
		meter_sleep(WQ_EXPIRY_MS);
	return err;
}

static bool has_row(const struct row *row)
{
	return row->max_active <= WQ_MAX_ACTIVE &&
	       bench_wants(row->subject->name);
}

static int run_rows(const struct bench *bench, const struct row *rows,
		    unsigned int nr, const struct plan *plan)
{
	int err = 0;

	for (; nr && !err; nr--, rows++)
		if (has_row(rows))
			err = run_row(bench, *rows, plan);
	return err;
}

/*
 * Rounds of many tasks take long, and each says as much as several small ones.
 */
static int run_all(const struct bench *bench)
{
	const struct plan plans[] = {
		{ FEW, 0, bench_rounds(bench), false },
		{ FEW, 1, bench_rounds(bench), true },
		{ MANY, 1, 1, false },
		{ MANY, 1, 1, true },
	};
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(plans) && !err; i++) {
		if (!plans[i].warm)
			err = run_rows(bench, peers, ARRAY_SIZE(peers),
				       &plans[i]);
		if (!err)
			err = run_rows(bench, pools, ARRAY_SIZE(pools),
				       &plans[i]);
	}
	return err;
}

static int run(const struct bench *bench)
{
	int err = meter_open();

	if (err)
		return err;
	err = run_all(bench);
	meter_close();
	return err;
}

const struct bench blocking_bench = {
	.name = "blocking",
	.rounds = 3,
	.run = run,
};
