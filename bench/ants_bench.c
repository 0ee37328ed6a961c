// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a task costs, beside the kernel's own ways to run something elsewhere.
 *
 * To be loaded in a guest where one instruction takes one virtual nanosecond,
 * so that ktime_get() counts instructions. All subjects stand behind one table
 * of operations and go through the same loop. The clock runs from before the
 * first task is handed over until all of them are known to have ended.
 *
 * Prints lines "ants_bench: <bench> <subject> <param> <value> <unit>", with
 * tabs between the columns.
 */
#define pr_fmt(fmt) "ants_bench: " fmt

#include <linux/ants.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define TASKS		20000
#define ROUNDS		10
/* A thread a task is so dear that fewer tell as much. */
#define KTHREAD_TASKS	500

static unsigned int rounds = ROUNDS;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "measured rounds of each row (default 10)");

/* One row of the table. */
struct row {
	const struct subject *subject;
	unsigned int capacity;
	unsigned int queue_depth;
};

/**
 * struct subject - something that runs tasks
 * @name: as in the results
 * @tasks: how many make a round
 * @setup: makes it ready for a row; 0 or -errno
 * @run: hands @tasks empty tasks over and returns when all of them have ended
 * @teardown: undoes @setup
 * @bounded: capacity and queue_depth mean something to it
 */
struct subject {
	const char *name;
	unsigned int tasks;
	int (*setup)(const struct row *row);
	void (*run)(unsigned int tasks);
	void (*teardown)(void);
	bool bounded;
};

/* ants */

static struct ants_pool *pool;

static void empty_task(void *data)
{
}

static int pool_setup(const struct row *row, unsigned int flags)
{
	struct ants_attrs attrs = {
		.capacity = row->capacity,
		.queue_depth = row->queue_depth,
		.flags = flags,
	};

	pool = ants_pool_create(&attrs, "bench");
	return PTR_ERR_OR_ZERO(pool);
}

static int ants_setup(const struct row *row)
{
	return pool_setup(row, 0);
}

static int ants_setup_throughput(const struct row *row)
{
	return pool_setup(row, ANTS_THROUGHPUT);
}

static void ants_run(unsigned int tasks)
{
	while (tasks--)
		ants_submit(pool, empty_task, NULL);
	ants_flush(pool);
}

static void ants_teardown(void)
{
	ants_pool_destroy(pool);
}

/* workqueue */

static struct workqueue_struct *wq;
static struct work_struct *works;

static void empty_work(struct work_struct *work)
{
}

static int wq_setup(const struct row *row)
{
	unsigned int i;

	works = vmalloc(array_size(TASKS, sizeof(*works)));
	if (!works)
		return -ENOMEM;
	for (i = 0; i < TASKS; i++)
		INIT_WORK(&works[i], empty_work);
	wq = alloc_workqueue("ants_bench", WQ_UNBOUND, row->capacity);
	if (wq)
		return 0;
	vfree(works);
	return -ENOMEM;
}

static void wq_run(unsigned int tasks)
{
	while (tasks--)
		queue_work(wq, &works[tasks]);
	flush_workqueue(wq);
}

static void wq_teardown(void)
{
	destroy_workqueue(wq);
	vfree(works);
}

/* a thread a task */

static atomic_t threads_left;
static DECLARE_COMPLETION(threads_done);

static int empty_thread(void *data)
{
	if (atomic_dec_and_test(&threads_left))
		complete(&threads_done);
	return 0;
}

static int kthread_setup(const struct row *row)
{
	return 0;
}

static void kthread_bench_run(unsigned int tasks)
{
	struct task_struct *task;

	atomic_set(&threads_left, tasks);
	reinit_completion(&threads_done);
	while (tasks--) {
		task = kthread_run(empty_thread, NULL, "ants_bench");
		if (IS_ERR(task))
			empty_thread(NULL);
	}
	wait_for_completion(&threads_done);
}

static void kthread_teardown(void)
{
}

/* the table */

static const struct subject ants_submit_subject = {
	.name = "ants_submit",
	.tasks = TASKS,
	.setup = ants_setup,
	.run = ants_run,
	.teardown = ants_teardown,
	.bounded = true,
};

static const struct subject ants_throughput_subject = {
	.name = "ants_throughput",
	.tasks = TASKS,
	.setup = ants_setup_throughput,
	.run = ants_run,
	.teardown = ants_teardown,
	.bounded = true,
};

static const struct subject wq_unbound_subject = {
	.name = "wq_unbound",
	.tasks = TASKS,
	.setup = wq_setup,
	.run = wq_run,
	.teardown = wq_teardown,
};

static const struct subject kthread_run_subject = {
	.name = "kthread_run",
	.tasks = KTHREAD_TASKS,
	.setup = kthread_setup,
	.run = kthread_bench_run,
	.teardown = kthread_teardown,
};

static const struct row rows[] = {
	{ &wq_unbound_subject },
	{ &kthread_run_subject },
	{ &ants_submit_subject, 1 },
	{ &ants_submit_subject, 16 },
	{ &ants_submit_subject, 256 },
	{ &ants_submit_subject, 1024 },
	{ &ants_submit_subject, 1, 256 },
	{ &ants_submit_subject, 4, 256 },
	{ &ants_submit_subject, 16, 256 },
	{ &ants_throughput_subject, 1 },
	{ &ants_throughput_subject, 16 },
	{ &ants_throughput_subject, 256 },
	{ &ants_throughput_subject, 1024 },
	{ &ants_throughput_subject, 1, 256 },
	{ &ants_throughput_subject, 4, 256 },
	{ &ants_throughput_subject, 16, 256 },
};

static void print_result(const struct row *row, unsigned int round, u64 value)
{
	char param[64];

	if (row->subject->bounded)
		snprintf(param, sizeof(param),
			 "capacity=%u queue_depth=%u round=%u", row->capacity,
			 row->queue_depth, round);
	else
		snprintf(param, sizeof(param), "round=%u", round);
	pr_info("tiny_task\t%s\t%s\t%llu\tinstructions\n", row->subject->name,
		param, value);
}

static u64 measure(const struct subject *subject)
{
	ktime_t start = ktime_get();

	subject->run(subject->tasks);
	return div_u64(ktime_to_ns(ktime_sub(ktime_get(), start)),
		       subject->tasks);
}

static int run_row(const struct row *row)
{
	unsigned int i;
	int err;

	err = row->subject->setup(row);
	if (err)
		return err;
	measure(row->subject);
	for (i = 1; i <= rounds; i++)
		print_result(row, i, measure(row->subject));
	row->subject->teardown();
	return 0;
}

static int __init ants_bench_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		err = run_row(&rows[i]);
		if (err)
			return err;
	}
	return 0;
}

static void __exit ants_bench_exit(void)
{
}

module_init(ants_bench_init);
module_exit(ants_bench_exit);

MODULE_DESCRIPTION("ants: what a task costs");
MODULE_LICENSE("GPL");
