/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the suites port_*: what a client sees of a workqueue or a kthread_worker, and of
 * the pool that Documentation/porting.rst puts in its place. A port is either of them,
 * a job is an item of it, and a call here is what a row of the page names for each
 * side. A case runs for each side and expects the same of all, but for what its row
 * says.
 */
#ifndef _ANTS_KUNIT_PORT_H
#define _ANTS_KUNIT_PORT_H

#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include "rig.h"

#define PORT_JOBS	16
/* A delay that no test lives to see. */
#define FAR_OFF		(100 * TEST_DEADLINE)

enum side_kind {
	WORKQUEUE,
	ORDERED_WORKQUEUE,
	WORKER,
	POOL,
	ORDERED_POOL,
	/* with detached items */
	DETACHED_POOL,
};

struct side {
	const char *name;
	enum side_kind kind;
};

static __maybe_unused void side_desc(const struct side *side, char *desc)
{
	strscpy(desc, side->name, KUNIT_PARAM_DESC_SIZE);
}

struct port;

/* An item that counts its runs, and may have to pass a gate in each. */
struct job {
	struct port *port;
	union {
		struct delayed_work wq;
		struct kthread_delayed_work worker;
		struct ants_delayed_work ants;
	};
	struct gate *gate;
	/* How many more runs it queues. */
	int more;
	atomic_t runs;
	atomic_t inside;
	bool overlapped;
	struct task_struct *thread;
	int cpu;
	int nice;
	int policy;
	int nr_cpus;
};

struct port {
	struct kunit *test;
	enum side_kind kind;
	struct workqueue_struct *wq;
	struct kthread_worker *worker;
	struct ants_pool *pool;
	struct gate gate;
	struct job jobs[PORT_JOBS];
	atomic_t inside;
	atomic_t most;
	/* The numbers of the jobs in the order of their starts, as digits. */
	char turns[2 * PORT_JOBS];
	atomic_t nr_turns;
};

static inline bool is_pool(const struct port *port)
{
	return port->kind >= POOL;
}

/* False is what the row says an error is. */
static inline bool pool_said(struct port *port, int err)
{
	if (err)
		KUNIT_EXPECT_TRUE_MSG(port->test, err == -EALREADY || err == -ECANCELED,
				      "%d", err);
	return !err;
}

static inline bool port_queue(struct job *job)
{
	struct port *port = job->port;

	switch (port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		return queue_work(port->wq, &job->wq.work);
	case WORKER:
		return kthread_queue_work(port->worker, &job->worker.work);
	default:
		return pool_said(port, ants_queue_work(port->pool, &job->ants.work));
	}
}

static inline bool port_queue_delayed(struct job *job, unsigned long delay)
{
	struct port *port = job->port;

	switch (port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		return queue_delayed_work(port->wq, &job->wq, delay);
	case WORKER:
		return kthread_queue_delayed_work(port->worker, &job->worker, delay);
	default:
		return pool_said(port, ants_queue_delayed_work(port->pool, &job->ants,
							       delay));
	}
}

/* True if the job was queued before. */
static inline bool port_mod(struct job *job, unsigned long delay)
{
	struct port *port = job->port;
	int ret;

	switch (port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		return mod_delayed_work(port->wq, &job->wq, delay);
	case WORKER:
		return kthread_mod_delayed_work(port->worker, &job->worker, delay);
	default:
		ret = ants_mod_delayed_work(port->pool, &job->ants, delay);
		KUNIT_EXPECT_GE(port->test, ret, 0);
		return ret;
	}
}

static inline bool port_cancel_sync(struct job *job)
{
	switch (job->port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		return cancel_work_sync(&job->wq.work);
	case WORKER:
		return kthread_cancel_work_sync(&job->worker.work);
	default:
		return ants_work_cancel_sync(&job->ants.work);
	}
}

static inline bool port_cancel_delayed_sync(struct job *job)
{
	switch (job->port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		return cancel_delayed_work_sync(&job->wq);
	case WORKER:
		return kthread_cancel_delayed_work_sync(&job->worker);
	default:
		return ants_work_cancel_sync(&job->ants.work);
	}
}

static inline void port_flush(struct job *job)
{
	switch (job->port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		flush_work(&job->wq.work);
		break;
	case WORKER:
		kthread_flush_work(&job->worker.work);
		break;
	default:
		KUNIT_EXPECT_EQ(job->port->test, ants_work_flush(&job->ants.work), 0);
	}
}

static inline void port_flush_all(struct port *port)
{
	switch (port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		flush_workqueue(port->wq);
		break;
	case WORKER:
		kthread_flush_worker(port->worker);
		break;
	default:
		KUNIT_EXPECT_EQ(port->test, ants_flush(port->pool), 0);
	}
}

static inline void port_destroy(struct port *port)
{
	if (port->wq)
		destroy_workqueue(port->wq);
	if (port->worker)
		kthread_destroy_worker(port->worker);
	if (port->pool) {
		KUNIT_EXPECT_EQ(port->test, ants_drain(port->pool), 0);
		KUNIT_EXPECT_EQ(port->test, ants_pool_destroy(port->pool), 0);
	}
	port->wq = NULL;
	port->worker = NULL;
	port->pool = NULL;
}

/* --- jobs -------------------------------------------------------------------- */

static inline void note_most(struct port *port)
{
	int now = atomic_inc_return(&port->inside), most = atomic_read(&port->most);

	while (now > most && !atomic_try_cmpxchg(&port->most, &most, now))
		;
}

static inline void job_run(struct job *job)
{
	struct port *port = job->port;

	if (atomic_inc_return(&job->inside) > 1)
		job->overlapped = true;
	note_most(port);
	port->turns[(atomic_inc_return(&port->nr_turns) - 1) % ARRAY_SIZE(port->turns)] =
		'0' + (job - port->jobs);
	job->cpu = raw_smp_processor_id();
	job->nice = task_nice(current);
	job->policy = current->policy;
	job->nr_cpus = current->nr_cpus_allowed;
	WRITE_ONCE(job->thread, current);
	if (job->gate)
		gate_task(job->gate);
	if (job->more && job->more--)
		port_queue(job);
	atomic_dec(&port->inside);
	atomic_dec(&job->inside);
	atomic_inc(&job->runs);
}

static inline void job_wq_fn(struct work_struct *work)
{
	job_run(container_of(work, struct job, wq.work));
}

static inline void job_worker_fn(struct kthread_work *work)
{
	job_run(container_of(work, struct job, worker.work));
}

static inline int job_ants_fn(struct ants_work *work)
{
	job_run(container_of(work, struct job, ants.work));
	return 0;
}

static inline void job_init(struct port *port, struct job *job)
{
	job->port = port;
	switch (port->kind) {
	case WORKQUEUE:
	case ORDERED_WORKQUEUE:
		INIT_DELAYED_WORK(&job->wq, job_wq_fn);
		break;
	case WORKER:
		kthread_init_delayed_work(&job->worker, job_worker_fn);
		break;
	case DETACHED_POOL:
		INIT_ANTS_DELAYED_WORK_DETACHED(&job->ants, job_ants_fn);
		break;
	default:
		INIT_ANTS_DELAYED_WORK(&job->ants, job_ants_fn);
	}
}

/* A job starts, and stops at the gate. */
static inline void job_start(struct job *job)
{
	struct gate *gate = &job->port->gate;
	int goal = atomic_read(&gate->entered) + 1;

	job->gate = gate;
	KUNIT_EXPECT_TRUE(job->port->test, port_queue(job));
	ASSERT_SOON(job->port->test, atomic_read(&gate->entered) == goal);
}

static inline void expect_runs(struct job *job, int runs)
{
	EXPECT_SOON(job->port->test, atomic_read(&job->runs) == runs);
	KUNIT_EXPECT_FALSE(job->port->test, job->overlapped);
}

/* --- ports ------------------------------------------------------------------- */

static inline void port_free(struct kunit_resource *res)
{
	struct port *port = res->data;
	int i;

	gate_open(&port->gate);
	for (i = 0; i < PORT_JOBS && (port->wq || port->worker || port->pool); i++) {
		port->jobs[i].more = 0;
		port_cancel_delayed_sync(&port->jobs[i]);
	}
	port_destroy(port);
}

/* What is made becomes a port of @kind, and ends with the case. */
static inline struct port *port_own(struct kunit *test, enum side_kind kind, void *made)
{
	struct port *port = kunit_kzalloc(test, sizeof(*port), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, port);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(made));
	port->test = test;
	port->kind = kind;
	port->wq = kind <= ORDERED_WORKQUEUE ? made : NULL;
	port->worker = kind == WORKER ? made : NULL;
	port->pool = kind >= POOL ? made : NULL;
	gate_init(&port->gate);
	for (i = 0; i < PORT_JOBS; i++)
		job_init(port, &port->jobs[i]);
	kunit_alloc_resource(test, test_pool_init, port_free, GFP_KERNEL, port);
	return port;
}

/* The worker of newer kernels has to be woken. */
static inline struct kthread_worker *awake(struct kthread_worker *worker)
{
	if (!IS_ERR(worker))
		wake_up_process(worker->task);
	return worker;
}

static inline struct kthread_worker *worker_make(const char *name)
{
	struct kthread_worker *worker;

	worker = kthread_create_worker(0, "%s", name);
	return awake(worker);
}

/* A port of the case's side. */
static inline struct port *port_make_named(struct kunit *test, const char *name,
					   int max_active)
{
	const struct side *side = test->param_value;
	struct ants_attrs attrs = { .queue_depth = INT_MAX };

	switch (side->kind) {
	case WORKQUEUE:
		return port_own(test, side->kind,
				alloc_workqueue("%s", WQ_UNBOUND, max_active, name));
	case ORDERED_WORKQUEUE:
		return port_own(test, side->kind,
				alloc_ordered_workqueue("%s", 0, name));
	case WORKER:
		return port_own(test, side->kind, worker_make(name));
	case POOL:
		attrs.capacity = max_active;
		return port_own(test, side->kind, ants_pool_create(&attrs, "%s", name));
	default:
		attrs.min_workers = 1;
		return port_own(test, side->kind,
				ants_pool_create_ordered(&attrs, "%s", name));
	}
}

static inline struct port *port_make(struct kunit *test, int max_active)
{
	return port_make_named(test, "port", max_active);
}

/* --- calls that wait, in a thread of their own --------------------------------- */

static inline int do_port_flush(struct async_call *call)
{
	port_flush(call->data);
	return 0;
}

static inline int do_port_flush_all(struct async_call *call)
{
	port_flush_all(call->data);
	return 0;
}

static inline int do_port_cancel_sync(struct async_call *call)
{
	return port_cancel_sync(call->data);
}

#endif /* _ANTS_KUNIT_PORT_H */
