// SPDX-License-Identifier: GPL-2.0-only
/* Porting from kthread_workers, on both sides; see port.h. */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "port_cases.h"

static const struct side sides[] = {
	{ "kthread_worker", WORKER }, { "ants", ORDERED_POOL },
};

static const struct side in_order[] = {
	{ "kthread_worker", WORKER }, { "ants", ORDERED_POOL },
	{ "ants, detached", DETACHED_POOL },
};

KUNIT_ARRAY_PARAM(side, sides, side_desc);
KUNIT_ARRAY_PARAM(in_order, in_order, side_desc);

/* One thread, which is there from the beginning, runs all, one after another. */
static void one_thread_runs_all(struct kunit *test)
{
	struct port *port = port_make(test, 1);
	int i;

	for (i = 0; i < 8; i++)
		port_queue(&port->jobs[i]);
	port_flush_all(port);
	KUNIT_EXPECT_STREQ(test, port->turns, "01234567");
	KUNIT_EXPECT_EQ(test, atomic_read(&port->most), 1);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_PTR_EQ(test, port->jobs[i].thread, port->jobs[0].thread);
	if (is_pool(port))
		KUNIT_EXPECT_EQ(test, stats_of(port->pool).spawned, 1);
	else
		KUNIT_EXPECT_PTR_EQ(test, port->jobs[0].thread, port->worker->task);
}

static struct port *port_on(struct kunit *test, int cpu)
{
	const struct side *side = test->param_value;
	struct ants_attrs attrs = { .queue_depth = INT_MAX, .cpumask = cpumask_of(cpu) };

	if (side->kind == WORKER)
		return port_own(test, WORKER,
				awake(kthread_create_worker_on_cpu(cpu, 0, "port")));
	return port_own(test, ORDERED_POOL, ants_pool_create_ordered(&attrs, "port"));
}

static void jobs_stay_on_the_cpu(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask), i;
	struct port *port = port_on(test, cpu);

	for (i = 0; i < 8; i++)
		port_queue(&port->jobs[i]);
	port_flush_all(port);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, port->jobs[i].cpu, cpu);
}

static struct port *port_in_real_time(struct kunit *test)
{
	const struct side *side = test->param_value;
	struct ants_attrs attrs = { .queue_depth = INT_MAX, .sched = ANTS_SCHED_FIFO };
	struct kthread_worker *worker;

	if (side->kind != WORKER)
		return port_own(test, ORDERED_POOL,
				ants_pool_create_ordered(&attrs, "port"));
	worker = worker_make("port");
	if (!IS_ERR(worker))
		sched_set_fifo(worker->task);
	return port_own(test, WORKER, worker);
}

static struct port *port_nice(struct kunit *test)
{
	const struct side *side = test->param_value;
	struct ants_attrs attrs = { .queue_depth = INT_MAX, .nice = -7 };
	struct kthread_worker *worker;

	if (side->kind != WORKER)
		return port_own(test, ORDERED_POOL,
				ants_pool_create_ordered(&attrs, "port"));
	worker = worker_make("port");
	if (!IS_ERR(worker))
		set_user_nice(worker->task, -7);
	return port_own(test, WORKER, worker);
}

/* What is done to worker->task. */
static void thread_is_as_told(struct kunit *test)
{
	struct port *fifo = port_in_real_time(test), *nice;

	port_queue(&fifo->jobs[0]);
	port_flush_all(fifo);
	KUNIT_EXPECT_EQ(test, fifo->jobs[0].policy, SCHED_FIFO);
	port_destroy(fifo);
	nice = port_nice(test);
	port_queue(&nice->jobs[0]);
	port_flush_all(nice);
	KUNIT_EXPECT_EQ(test, nice->jobs[0].policy, SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, nice->jobs[0].nice, -7);
}

/* A job that works for another process, while it does. */
struct guest {
	struct kthread_work worker;
	struct ants_work ants;
	struct mm_struct *mm;
	bool had;
	bool has;
};

static void guest_run(struct guest *guest)
{
	kthread_use_mm(guest->mm);
	kthread_associate_blkcg(NULL);
	guest->had = current->mm == guest->mm;
	kthread_unuse_mm(guest->mm);
	guest->has = current->mm;
}

static void guest_worker_fn(struct kthread_work *work)
{
	guest_run(container_of(work, struct guest, worker));
}

static int guest_ants_fn(struct ants_work *work)
{
	guest_run(container_of(work, struct guest, ants));
	return 0;
}

static struct mm_struct *mm_of_init(void)
{
	struct mm_struct *mm = NULL;
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_vpid(1), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (task) {
		mm = get_task_mm(task);
		put_task_struct(task);
	}
	return mm;
}

static void job_uses_an_mm(struct kunit *test)
{
	struct guest *guest = kunit_kzalloc(test, sizeof(*guest), GFP_KERNEL);
	struct port *port;

	need_module(test);
	KUNIT_ASSERT_NOT_NULL(test, guest);
	port = port_make(test, 1);
	guest->mm = mm_of_init();
	KUNIT_ASSERT_NOT_NULL(test, guest->mm);
	kthread_init_work(&guest->worker, guest_worker_fn);
	INIT_ANTS_WORK(&guest->ants, guest_ants_fn);
	if (is_pool(port))
		KUNIT_EXPECT_EQ(test, ants_queue_work(port->pool, &guest->ants), 0);
	else
		KUNIT_EXPECT_TRUE(test, kthread_queue_work(port->worker, &guest->worker));
	port_flush_all(port);
	KUNIT_EXPECT_TRUE(test, guest->had);
	KUNIT_EXPECT_FALSE(test, guest->has);
	mmput(guest->mm);
}

static struct kunit_case port_kthread_cases[] = {
	KUNIT_CASE_PARAM(queue_while_it_runs, side_gen_params),
	KUNIT_CASE_PARAM(place_of_the_second_run, in_order_gen_params),
	KUNIT_CASE_PARAM(flush_of_one, side_gen_params),
	KUNIT_CASE_PARAM(flush_of_all, side_gen_params),
	KUNIT_CASE_PARAM(delays, side_gen_params),
	KUNIT_CASE_PARAM(mod_while_it_runs, side_gen_params),
	KUNIT_CASE_PARAM(cancel_sync, side_gen_params),
	KUNIT_CASE_PARAM(cancel_sync_ends_what_goes_on, side_gen_params),
	KUNIT_CASE_PARAM(end_runs_what_is_queued, side_gen_params),
	KUNIT_CASE_PARAM(one_thread_runs_all, side_gen_params),
	KUNIT_CASE_PARAM(jobs_stay_on_the_cpu, side_gen_params),
	KUNIT_CASE_PARAM(thread_is_as_told, side_gen_params),
	KUNIT_CASE_PARAM(job_uses_an_mm, side_gen_params),
	{}
};

static struct kunit_suite port_kthread_suite = {
	.name = "ants_port_kthread",
	.test_cases = port_kthread_cases,
};

kunit_test_suite(port_kthread_suite);

MODULE_DESCRIPTION("ants: KUnit tests of ports from kthread_workers");
MODULE_LICENSE("GPL");
