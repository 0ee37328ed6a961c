// SPDX-License-Identifier: GPL-2.0-only
/* Porting from workqueues: what they are made with, on both sides; see port.h. */
#include <linux/module.h>
#include <linux/topology.h>

#include "file.h"
#include "port.h"

#define WQ_FILE(attr)	"/sys/devices/virtual/workqueue/port/" attr
#define POOL_FILE(attr)	"/sys/kernel/ants/port/" attr

static const struct side sides[] = { { "workqueue", WORKQUEUE }, { "ants", POOL } };

KUNIT_ARRAY_PARAM(side, sides, side_desc);

static enum side_kind kind_of(struct kunit *test)
{
	return ((const struct side *)test->param_value)->kind;
}

/* A port of a workqueue with @flags, or of a pool with @attrs and a long queue. */
static struct port *port_with(struct kunit *test, unsigned int flags, int max_active,
			      struct ants_attrs attrs)
{
	attrs.queue_depth = INT_MAX;
	if (kind_of(test) == POOL)
		return port_own(test, POOL, ants_pool_create(&attrs, "port"));
	return port_own(test, WORKQUEUE,
			alloc_workqueue("port", WQ_UNBOUND | flags, max_active));
}

static void run_all(struct port *port)
{
	int i;

	for (i = 0; i < PORT_JOBS; i++)
		port_queue(&port->jobs[i]);
	port_flush_all(port);
	for (i = 0; i < PORT_JOBS; i++)
		expect_runs(&port->jobs[i], 1);
}

/* The number in a file; -1: there is none. */
static long number_in(const char *path)
{
	struct file *f = sys_open(path, O_RDONLY);
	char text[16] = "";
	loff_t pos = 0;
	long nr = -1;

	if (IS_ERR(f))
		return -1;
	if (kernel_read(f, text, sizeof(text) - 1, &pos) > 0 && kstrtol(text, 10, &nr))
		nr = -1;
	filp_close(f, NULL);
	return nr;
}

static int modules_only(struct kunit *test)
{
	need_module(test);
	return 0;
}

/* As many items run as there may be, and no more. The default differs. */
static void bound(struct kunit *test)
{
	struct port *port = port_with(test, WQ_SYSFS, 2, (struct ants_attrs){ .capacity = 2 });
	int i;

	for (i = 0; i < PORT_JOBS; i++) {
		port->jobs[i].gate = &port->gate;
		port_queue(&port->jobs[i]);
	}
	EXPECT_SOON(test, atomic_read(&port->gate.entered) == 2);
	gate_open(&port->gate);
	port_flush_all(port);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->most), 2);
	KUNIT_EXPECT_EQ(test, number_in(is_pool(port) ? POOL_FILE("capacity") :
					WQ_FILE("max_active")), 2L);
	port_destroy(port);
	port = port_with(test, WQ_SYSFS, 0, (struct ants_attrs){});
	KUNIT_EXPECT_EQ(test, number_in(is_pool(port) ? POOL_FILE("capacity") :
					WQ_FILE("max_active")),
			is_pool(port) ? (long)num_online_cpus() : WQ_DFL_ACTIVE);
}

/* A bound workqueue has one item for each CPU, and they stay there. */
static void one_on_each_cpu(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = num_online_cpus(), .queue_depth = INT_MAX,
		.flags = ANTS_MEM_RECLAIM,
	};
	struct port *port;
	int cpu, i;

	if (kind_of(test) == POOL)
		port = port_own(test, POOL, ants_pool_create(&attrs, "port"));
	else
		port = port_own(test, WORKQUEUE, create_workqueue("port"));
	for (i = 0; i < PORT_JOBS; i++) {
		cpu = i % num_online_cpus();
		port->jobs[i].gate = &port->gate;
		if (is_pool(port))
			port_queue(&port->jobs[i]);
		else
			queue_work_on(cpu, port->wq, &port->jobs[i].wq.work);
	}
	EXPECT_SOON(test, atomic_read(&port->gate.entered) == num_online_cpus());
	gate_open(&port->gate);
	port_flush_all(port);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->most), (int)num_online_cpus());
	for (i = 0; i < PORT_JOBS; i++) {
		if (is_pool(port))
			KUNIT_EXPECT_GT(test, port->jobs[i].nr_cpus, 1);
		else
			KUNIT_EXPECT_EQ(test, port->jobs[i].cpu, i % (int)num_online_cpus());
	}
}

/* Items of an unbound workqueue, and of one that saves power, run on any CPU. */
static void any_cpu(struct kunit *test)
{
	struct port *port = port_with(test, WQ_POWER_EFFICIENT, 4, (struct ants_attrs){});
	int i;

	run_all(port);
	for (i = 0; i < PORT_JOBS; i++)
		KUNIT_EXPECT_GT(test, port->jobs[i].nr_cpus, 1);
}

static void chosen_cpu(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask), i;
	struct ants_attrs attrs = { .queue_depth = INT_MAX, .cpumask = cpumask_of(cpu) };
	struct port *port;

	if (kind_of(test) == POOL)
		port = port_own(test, POOL, ants_pool_create(&attrs, "port"));
	else
		port = port_own(test, WORKQUEUE, create_workqueue("port"));
	for (i = 0; i < 4; i++) {
		if (is_pool(port))
			port_queue(&port->jobs[i]);
		else
			queue_work_on(cpu, port->wq, &port->jobs[i].wq.work);
	}
	port_flush_all(port);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, port->jobs[i].cpu, cpu);
}

static void chosen_node(struct kunit *test)
{
	int node = first_online_node;
	struct port *port = port_with(test, 0, 4, (struct ants_attrs){
				.flags = ANTS_ON_NODE, .node = node });

	if (is_pool(port))
		port_queue(&port->jobs[0]);
	else
		queue_work_node(node, port->wq, &port->jobs[0].wq.work);
	port_flush_all(port);
	expect_runs(&port->jobs[0], 1);
	KUNIT_EXPECT_EQ(test, cpu_to_node(port->jobs[0].cpu), node);
}

/* Also the workqueue of the system that has this priority. */
static void high_priority(struct kunit *test)
{
	struct port *port = port_with(test, WQ_HIGHPRI, 2,
				      (struct ants_attrs){ .nice = MIN_NICE });

	run_all(port);
	KUNIT_EXPECT_EQ(test, port->jobs[0].nice, MIN_NICE);
	if (is_pool(port))
		return;
	queue_work(system_highpri_wq, &port->jobs[0].wq.work);
	flush_work(&port->jobs[0].wq.work);
	expect_runs(&port->jobs[0], 2);
	KUNIT_EXPECT_EQ(test, port->jobs[0].nice, MIN_NICE);
}

struct spinner {
	struct work_struct wq;
	struct ants_work ants;
	struct job *other;
	bool met;
};

static void spin_until_met(struct spinner *spinner)
{
	unsigned long end = jiffies + TEST_DEADLINE;

	while (!atomic_read(&spinner->other->runs) && time_before(jiffies, end))
		cond_resched();
	spinner->met = atomic_read(&spinner->other->runs);
}

static void spinner_wq_fn(struct work_struct *work)
{
	spin_until_met(container_of(work, struct spinner, wq));
}

static int spinner_ants_fn(struct ants_work *work)
{
	spin_until_met(container_of(work, struct spinner, ants));
	return 0;
}

/* An item that needs its CPU for long holds up no other one. */
static void busy_item_holds_up_nobody(struct kunit *test)
{
	struct spinner *spinner = kunit_kzalloc(test, sizeof(*spinner), GFP_KERNEL);
	struct port *port;

	KUNIT_ASSERT_NOT_NULL(test, spinner);
	port = port_with(test, WQ_CPU_INTENSIVE, 2, (struct ants_attrs){ .capacity = 2 });
	INIT_WORK(&spinner->wq, spinner_wq_fn);
	INIT_ANTS_WORK(&spinner->ants, spinner_ants_fn);
	spinner->other = &port->jobs[0];
	if (is_pool(port))
		ants_queue_work(port->pool, &spinner->ants);
	else
		queue_work(port->wq, &spinner->wq);
	port_queue(&port->jobs[0]);
	port_flush_all(port);
	KUNIT_EXPECT_TRUE(test, spinner->met);
}

/* What an administrator, or the owner, changes. */
static void attributes_are_changed(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);
	struct port *port = port_with(test, WQ_SYSFS, 2, (struct ants_attrs){ .capacity = 2 });
	char mask[24];

	if (is_pool(port)) {
		KUNIT_EXPECT_EQ(test, ants_set_nice(port->pool, 5), 0);
		KUNIT_EXPECT_EQ(test, ants_set_cpumask(port->pool, cpumask_of(cpu)), 0);
	} else {
		snprintf(mask, sizeof(mask), "%*pb", cpumask_pr_args(cpumask_of(cpu)));
		KUNIT_EXPECT_EQ(test, sys_write(WQ_FILE("nice"), "5"), 0);
		KUNIT_EXPECT_EQ(test, sys_write(WQ_FILE("cpumask"), mask), 0);
	}
	run_all(port);
	KUNIT_EXPECT_EQ(test, port->jobs[0].nice, 5);
	KUNIT_EXPECT_EQ(test, port->jobs[0].cpu, cpu);
}

/* What is queued starts as soon as more may run. */
static void bound_is_raised(struct kunit *test)
{
	struct port *port = port_with(test, 0, 2, (struct ants_attrs){ .capacity = 2 });
	int i;

	for (i = 0; i < 4; i++) {
		port->jobs[i].gate = &port->gate;
		port_queue(&port->jobs[i]);
	}
	EXPECT_SOON(test, atomic_read(&port->gate.entered) == 2);
	if (is_pool(port))
		KUNIT_EXPECT_EQ(test, ants_tune(port->pool, 4), 0);
	else
		workqueue_set_max_active(port->wq, 4);
	EXPECT_SOON(test, atomic_read(&port->gate.entered) == 4);
}

/* Congested: something waits until less runs. */
static bool port_congested(struct port *port)
{
	if (is_pool(port))
		return ants_nr_pending(port->pool) > 0;
	return workqueue_congested(WORK_CPU_UNBOUND, port->wq);
}

static void congestion(struct kunit *test)
{
	struct port *port = port_with(test, 0, 2, (struct ants_attrs){ .capacity = 2 });
	int i;

	for (i = 0; i < 2; i++)
		job_start(&port->jobs[i]);
	EXPECT_SOON(test, !port_congested(port));
	port_queue(&port->jobs[2]);
	KUNIT_EXPECT_TRUE(test, port_congested(port));
	/* A pool with so long a queue refuses nobody. */
	if (is_pool(port))
		KUNIT_EXPECT_FALSE(test, ants_congested(port->pool));
	gate_open(&port->gate);
	port_flush_all(port);
	KUNIT_EXPECT_FALSE(test, port_congested(port));
}

static bool names_port(const struct task_struct *task)
{
	return strstr(task->comm, "rescu");
}

/* There is a thread that needs none to be made. */
static void thread_for_reclaim(struct kunit *test)
{
	struct ants_attrs attrs = { .flags = ANTS_MEM_RECLAIM };
	struct task_struct *task;
	int nr = 0;

	if (kind_of(test) == POOL)
		port_own(test, POOL, ants_pool_create(&attrs, "rescue"));
	else
		port_own(test, WORKQUEUE,
			 alloc_workqueue("rescue", WQ_UNBOUND | WQ_MEM_RECLAIM, 2));
	rcu_read_lock();
	for_each_process(task)
		nr += names_port(task);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, nr, 1);
}

/* --- ordered ------------------------------------------------------------------ */

#define NR_ORDERED	4

/* Ways to make an ordered one; in 6.1 the last one is for a workqueue, too. */
static struct port *make_ordered(struct kunit *test, int way)
{
	struct ants_attrs attrs = { .queue_depth = INT_MAX };

	if (kind_of(test) == POOL) {
		attrs.flags = way ? ANTS_MEM_RECLAIM : 0;
		attrs.flags |= way == 2 ? ANTS_FREEZABLE : 0;
		return port_own(test, ORDERED_POOL,
				ants_pool_create_ordered(&attrs, "port"));
	}
	switch (way) {
	case 0:
		return port_own(test, ORDERED_WORKQUEUE,
				alloc_ordered_workqueue("port", 0));
	case 1:
		return port_own(test, ORDERED_WORKQUEUE,
				create_singlethread_workqueue("port"));
	case 2:
		return port_own(test, ORDERED_WORKQUEUE,
				create_freezable_workqueue("port"));
	default:
		return port_own(test, ORDERED_WORKQUEUE,
				alloc_workqueue("port", WQ_UNBOUND, 1));
	}
}

static void one_after_another(struct kunit *test)
{
	struct port *port;
	int way, i;

	for (way = 0; way < NR_ORDERED; way++) {
		port = make_ordered(test, way);
		for (i = 0; i < 8; i++)
			port_queue(&port->jobs[i]);
		port_flush_all(port);
		KUNIT_EXPECT_STREQ(test, port->turns, "01234567");
		KUNIT_EXPECT_EQ(test, atomic_read(&port->most), 1);
		port_destroy(port);
	}
}

/* --- the system's -------------------------------------------------------------- */

static void set_system_capacity(struct kunit *test, unsigned int capacity)
{
	KUNIT_EXPECT_EQ(test, set_attr(ants_system_pool, "capacity", capacity), 0);
}

/* What is refused waits by itself, as an item that is due. */
static void system_queue(struct job *job)
{
	int err;

	if (!is_pool(job->port)) {
		schedule_work(&job->wq.work);
		return;
	}
	err = ants_queue_work(ants_system_pool, &job->ants.work);
	if (err == -EAGAIN)
		err = ants_queue_delayed_work(ants_system_pool, &job->ants, 0);
	KUNIT_EXPECT_EQ(job->port->test, err, 0);
}

static void system_runs_all(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	unsigned int capacity = ants_capacity(ants_system_pool);
	int i;

	set_system_capacity(test, 1);
	port->jobs[0].gate = &port->gate;
	for (i = 0; i < PORT_JOBS; i++)
		system_queue(&port->jobs[i]);
	EXPECT_SOON(test, atomic_read(&port->gate.entered) == 1);
	if (is_pool(port))
		KUNIT_EXPECT_TRUE(test, ants_congested(ants_system_pool));
	gate_open(&port->gate);
	for (i = 0; i < PORT_JOBS; i++) {
		expect_runs(&port->jobs[i], 1);
		port_flush(&port->jobs[i]);
	}
	set_system_capacity(test, capacity);
	if (is_pool(port)) {
		KUNIT_EXPECT_EQ(test, ants_flush(ants_system_pool), -EINVAL);
		return;
	}
	queue_work(system_long_wq, &port->jobs[0].wq.work);
	port_flush(&port->jobs[0]);
	expect_runs(&port->jobs[0], 2);
}

static struct kunit_case port_make_cases[] = {
	KUNIT_CASE_PARAM(bound, side_gen_params),
	KUNIT_CASE_PARAM(one_on_each_cpu, side_gen_params),
	KUNIT_CASE_PARAM(any_cpu, side_gen_params),
	KUNIT_CASE_PARAM(chosen_cpu, side_gen_params),
	KUNIT_CASE_PARAM(chosen_node, side_gen_params),
	KUNIT_CASE_PARAM(high_priority, side_gen_params),
	KUNIT_CASE_PARAM(busy_item_holds_up_nobody, side_gen_params),
	KUNIT_CASE_PARAM(attributes_are_changed, side_gen_params),
	KUNIT_CASE_PARAM(bound_is_raised, side_gen_params),
	KUNIT_CASE_PARAM(congestion, side_gen_params),
	KUNIT_CASE_PARAM(thread_for_reclaim, side_gen_params),
	KUNIT_CASE_PARAM(one_after_another, side_gen_params),
	KUNIT_CASE_PARAM(system_runs_all, side_gen_params),
	{}
};

static struct kunit_suite port_make_suite = {
	.name = "ants_port_make",
	.init = modules_only,
	.test_cases = port_make_cases,
};

kunit_test_suite(port_make_suite);

MODULE_DESCRIPTION("ants: KUnit tests of ports from workqueues: their attributes");
MODULE_LICENSE("GPL");
