// SPDX-License-Identifier: GPL-2.0-only
/*
 * lines: how many cache lines a task reads and writes, and how many atomic
 * instructions it executes; for comparison, the same for a work item. This file
 * runs tasks, and marks where the parts of each begin and end, and which memory
 * is what. lines_plugin.c counts from outside, and lines_rows puts both
 * together.
 *
 * Many tasks in a row are submitted, most of them without a wake-up; a task on
 * its own wakes an idle worker.
 */
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

/* For the sizes of private structures, and to find the slots and workers. */
#include "../kernel/internal.h"
#include "bench.h"
#include "lines.h"

#define TASKS		2000
#define WARM_UP_ROUNDS	3

/* Tasks come one at a time. */
static bool single;
/* Tasks are not counted yet, and report where their stacks are. */
static bool warm;

/* On other architectures the tasks run, and nothing is counted. */
static __always_inline void mark(enum lines_mark what, const void *at)
{
#ifdef CONFIG_X86_64
	unsigned long base = (unsigned long)at - LINES_MAGIC - what;

	asm volatile("movb %c1(%%rax), %%al"
		     : "+a" (base) : "i" (LINES_MAGIC + what) : "memory");
#endif
}

static __always_inline void mark_memory(enum lines_mark what, const void *first,
					size_t size)
{
	mark(LINES_FIRST, first);
	mark(what, first + size - 1);
}

static void mark_stack(void)
{
	mark_memory(LINES_STACK, task_stack_page(current), THREAD_SIZE);
}

static inline void lines_job(struct job *job)
{
	mark(LINES_RUN, job);
	if (warm)
		mark_stack();
	if (single)
		complete(&job->done);
	mark(LINES_RAN, job);
}

DEFINE_BODY(lines);

static const struct row rows[] = {
	{ &ants_submit_subject, 256 },
	{ &ants_submit_subject, 16, 256 },
	{ &ants_queue_work_subject, 256 },
	{ &wq_unbound_subject },
	{ &wq_bound_subject },
	{ &kthread_worker_subject },
};

/* The free slots are those that tasks will take. */
static void mark_pool(struct ants_pool *pool)
{
	struct ants_worker *w;
	struct ants_slot *slot;

	mark_memory(LINES_POOL, pool, sizeof(*pool));
	raw_spin_lock_irq(&pool->lock);
	list_for_each_entry(w, &pool->workers.list, member)
		mark_memory(LINES_WORKER, w, sizeof(*w));
	for (slot = pool->stock; slot; slot = slot->next)
		mark_memory(LINES_TASK, slot, sizeof(*slot));
	raw_spin_unlock_irq(&pool->lock);
}

static void mark_all(const struct row *row)
{
	mark_stack();
	mark_memory(LINES_TASK, row->jobs, row->tasks * sizeof(*row->jobs));
	if (row->subject->bounded)
		mark_pool(bench_pool);
}

static void run_tasks(struct row *row)
{
	struct job *job = row->jobs, *end = job + row->tasks;

	for (; job < end && !row->err; job++) {
		mark(LINES_SUBMIT, job);
		row_submit(row, job, 1);
		mark(LINES_SUBMITTED, job);
		if (single)
			wait_for_completion(&job->done);
	}
	row->subject->flush();
}

static void measure(struct row *row)
{
	unsigned int i;

	mark(LINES_ROW, row);
	warm = true;
	for (i = 0; i < WARM_UP_ROUNDS; i++)
		run_tasks(row);
	warm = false;
	mark_all(row);
	mark(LINES_COUNT, row);
	run_tasks(row);
	mark(LINES_END, row);
}

/* The plugin knows the row by its number. */
static int run_row(const struct bench *bench, struct row row,
		   unsigned int round)
{
	static unsigned int number;
	int err;

	strscpy(row.extra, single ? "tasks=single" : "tasks=many",
		sizeof(row.extra));
	row.body = &lines_body;
	row.tasks = TASKS;
	err = row_open(&row);
	if (err)
		return err;
	measure(&row);
	row_result(bench, &row, round, ++number, "row");
	row_close(&row);
	return row.err;
}

static int run_rows(const struct bench *bench, bool one_at_a_time)
{
	single = one_at_a_time;
	return rounds_run(bench, rows, ARRAY_SIZE(rows), 1, run_row);
}

static int run(const struct bench *bench)
{
	return run_rows(bench, false) ?: run_rows(bench, true);
}

const struct bench lines_bench = {
	.name = "lines",
	.rounds = 1,
	.run = run,
};
