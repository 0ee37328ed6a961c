// SPDX-License-Identifier: GPL-2.0-only
/*
 * from_irq: empty tasks that a hard interrupt submits, as a driver's does. What
 * a submit costs there, while interrupts are off, and what a task costs until
 * it has ended.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/preempt.h>

#include "bench.h"

/*
 * The spare slots that a pool keeps by default for callers that may not
 * allocate.
 */
#define PER_INTERRUPT	16
#define INTERRUPTS	500

static inline void empty_job(struct job *job)
{
}

DEFINE_BODY(empty);

static const struct row rows[] = {
	{ &wq_unbound_subject },
	{ &wq_bound_subject },
	{ &kthread_worker_subject },
	{ &ants_queue_work_subject, 256 },
	{ &ants_try_submit_subject, 256 },
};

/* What the interrupt is to do, and its figures. */
static struct row *current_row;
static u64 in_interrupt;

static void interrupt(struct irq_work *work)
{
	u64 start = ktime_get_ns();

	if (!in_hardirq())
		current_row->err = -EPROTO;
	row_submit(current_row, current_row->jobs, PER_INTERRUPT);
	in_interrupt += ktime_get_ns() - start;
}

static struct irq_work irq_work = IRQ_WORK_INIT_HARD(interrupt);

static void print(const struct bench *bench, struct row *row,
		  const char *part, unsigned int round, u64 ns)
{
	snprintf(row->extra, sizeof(row->extra), "part=%s", part);
	row_result(bench, row, round, div_u64(ns, INTERRUPTS * PER_INTERRUPT),
		   "instructions");
}

/* Round 0 is the warm-up. */
static void run_round(const struct bench *bench, struct row *row,
		      unsigned int round)
{
	u64 start = ktime_get_ns();
	unsigned int i;

	in_interrupt = 0;
	for (i = 0; i < INTERRUPTS && !row->err; i++) {
		irq_work_queue(&irq_work);
		irq_work_sync(&irq_work);
		row->subject->flush();
	}
	start = ktime_get_ns() - start;
	if (!round || row->err)
		return;
	print(bench, row, "submit", round, in_interrupt);
	print(bench, row, "all", round, start);
}

static int run_row(const struct bench *bench, struct row row)
{
	unsigned int round;
	int err;

	row.body = &empty_body;
	row.tasks = PER_INTERRUPT;
	err = row_open(&row);
	if (err)
		return err;
	current_row = &row;
	for (round = 0; round <= bench_rounds(bench) && !row.err; round++) {
		run_round(bench, &row, round);
		cond_resched();
	}
	row_close(&row);
	return row.err;
}

static int run(const struct bench *bench)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(rows) && !err; i++)
		if (bench_wants(rows[i].subject->name))
			err = run_row(bench, rows[i]);
	return err;
}

const struct bench from_irq_bench = {
	.name = "from_irq",
	.rounds = 10,
	.run = run,
};
