// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subjects: kthread_worker, alone and one on each CPU; async_schedule(); a
 * thread for each task.
 */
#include <linux/async.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/percpu.h>

#include "bench.h"

static struct kthread_worker *worker;

static int worker_setup(const struct row *row)
{
	unsigned int i;

	for (i = 0; i < row->tasks; i++)
		kthread_init_work(&row->jobs[i].kwork, row->body->kwork);
	worker = kthread_create_worker(0, "ants_bench");
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	/*
	 * Newer kernels leave this to the caller; on older ones it has no
	 * effect.
	 */
	wake_up_process(worker->task);
	return 0;
}

static int worker_submit(struct job *jobs, unsigned int nr)
{
	struct kthread_worker *to = worker;

	for (; nr; nr--, jobs++)
		kthread_queue_work(to, &jobs->kwork);
	return 0;
}

static void worker_flush(void)
{
	kthread_flush_worker(worker);
}

static void worker_teardown(void)
{
	kthread_destroy_worker(worker);
}

const struct subject kthread_worker_subject = {
	.name = "kthread_worker",
	.setup = worker_setup,
	.submit = worker_submit,
	.flush = worker_flush,
	.teardown = worker_teardown,
};

/*
 * A kthread_worker on each CPU, as clients use them in place of a bound
 * workqueue.
 */

static DEFINE_PER_CPU(struct kthread_worker *, local_worker);

static void local_teardown(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (per_cpu(local_worker, cpu))
			kthread_destroy_worker(per_cpu(local_worker, cpu));
		per_cpu(local_worker, cpu) = NULL;
	}
}

static int add_local_worker(int cpu)
{
	struct kthread_worker *w;

	w = kthread_create_worker_on_cpu(cpu, 0, "ants_bench");
	if (IS_ERR(w))
		return PTR_ERR(w);
	per_cpu(local_worker, cpu) = w;
	wake_up_process(w->task);
	return 0;
}

static int local_setup(const struct row *row)
{
	unsigned int i;
	int cpu, err = 0;

	for (i = 0; i < row->tasks; i++)
		kthread_init_work(&row->jobs[i].kwork, row->body->kwork);
	for_each_online_cpu(cpu)
		err = err ?: add_local_worker(cpu);
	if (err)
		local_teardown();
	return err;
}

static int local_submit(struct job *jobs, unsigned int nr)
{
	for (; nr; nr--, jobs++)
		kthread_queue_work(raw_cpu_read(local_worker), &jobs->kwork);
	return 0;
}

static void local_flush(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		kthread_flush_worker(per_cpu(local_worker, cpu));
}

const struct subject kthread_worker_cpu_subject = {
	.name = "kthread_worker_cpu",
	.setup = local_setup,
	.submit = local_submit,
	.flush = local_flush,
	.teardown = local_teardown,
};

static int nothing_to_setup(const struct row *row)
{
	return 0;
}

static void nothing_to_teardown(void)
{
}

static void async_task(void *data, async_cookie_t cookie)
{
	struct job *job = data;

	job->body->call(job);
}

static int async_submit(struct job *jobs, unsigned int nr)
{
	for (; nr; nr--, jobs++)
		async_schedule(async_task, jobs);
	return 0;
}

static void async_flush(void)
{
	async_synchronize_full();
}

const struct subject async_schedule_subject = {
	.name = "async_schedule",
	.setup = nothing_to_setup,
	.submit = async_submit,
	.flush = async_flush,
	.teardown = nothing_to_teardown,
};

static DECLARE_COMPLETION(ended);
static unsigned int started;

/* Ends outside of this module's text, which may be unloaded right after. */
static int one_task(void *data)
{
	struct job *job = data;

	job->body->call(job);
	kthread_complete_and_exit(&ended, 0);
}

static int thread_submit(struct job *jobs, unsigned int nr)
{
	struct task_struct *task;

	for (; nr; nr--, jobs++) {
		task = kthread_run(one_task, jobs, "ants_bench");
		if (IS_ERR(task))
			return PTR_ERR(task);
		started++;
	}
	return 0;
}

static void thread_flush(void)
{
	for (; started; started--)
		wait_for_completion(&ended);
}

const struct subject kthread_run_subject = {
	.name = "kthread_run",
	.dear = true,
	.setup = nothing_to_setup,
	.submit = thread_submit,
	.flush = thread_flush,
	.teardown = nothing_to_teardown,
};
