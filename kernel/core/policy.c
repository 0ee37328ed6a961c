// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduling policy of workers. On a preemptible kernel the wake-up of a
 * worker preempts its submitter on the same CPU, and a stream of short tasks
 * costs two context switches per task: the worker runs one task, parks, and is
 * woken for the next. When a worker notices this, it changes to SCHED_BATCH,
 * which does not preempt: the submitter continues, and the worker then finds
 * many tasks. It changes back as soon as it finds few. Nothing changes for
 * tasks that come now and then: they start at once. A thread that runs in real
 * time stays as it is, see affinity.c.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/math64.h>
#include <linux/sched.h>
#include <uapi/linux/sched/types.h>

#include "../internal.h"

/*
 * Without kernel preemption a wake-up takes the CPU from the submitter only where
 * that would give it up anyway, which is not worth counting.
 */
#define PREEMPTS		IS_ENABLED(CONFIG_PREEMPTION)
/*
 * Number of threads preempted within a tick that makes SCHED_BATCH worth a try.
 */
#define FLOOD_PREEMPTED		(16000U / HZ)
#define PREEMPTED_MAX		(FLOOD_PREEMPTED << 10)
/* The least of them for a pool that gets a part of a stream. */
#define FLOOD_LEAST		4U
/*
 * The fewest tasks for each time that a worker parks, in sixteenths, with which
 * SCHED_BATCH is kept. A work item that only runs again is not a new task.
 */
#define TASKS_LEAST		32ULL
/* Number of times that workers park before SCHED_BATCH is judged. */
#define TRIAL_PARKS		64

static void window_begin(struct ants_pool *pool)
{
	struct ants_policy *p = &pool->policy;

	p->tick = jiffies;
	p->parks = 0;
	p->preempted = 0;
	p->submitted = pool->submitted;
}

void ants_policy_init(struct ants_pool *pool)
{
	pool->policy.tick = jiffies;
	pool->policy.flood = FLOOD_PREEMPTED;
	pool->policy.limit = FLOOD_PREEMPTED;
	pool->policy.batch = pool->flags & ANTS_THROUGHPUT;
}

/* The pool, which nobody uses yet, gets one of @nr parts of a stream. */
void ants_policy_share(struct ants_pool *pool, unsigned int nr)
{
	pool->policy.flood = max(FLOOD_PREEMPTED / nr, FLOOD_LEAST);
	pool->policy.limit = pool->policy.flood;
}

/*
 * The caller wakes a worker. If it also woke the last one, and was preempted
 * since, that wake-up is taken to be the reason.
 */
void ants_policy_wakes(struct ants_pool *pool)
{
	struct ants_policy *p = &pool->policy;

	lockdep_assert_held(&pool->lock);
	if (!PREEMPTS || !in_task())
		return;
	if (p->waker == current)
		p->preempted += p->switches != current->nivcsw;
	p->waker = current;
	p->switches = current->nivcsw;
}

/* The number of tasks for each time that a worker parked, in sixteenths. */
static u64 tasks_per_park(const struct ants_pool *pool)
{
	const struct ants_policy *p = &pool->policy;

	return div_u64((pool->submitted - p->submitted) * 16, p->parks);
}

/*
 * Try SCHED_BATCH if wake-ups preempt threads all the time. In a stream there are
 * at least as many tasks: a few long ones may be preempted as often by others.
 */
static void judge_normal(struct ants_pool *pool)
{
	struct ants_policy *p = &pool->policy;

	if (p->preempted < p->limit || pool->submitted - p->submitted < p->flood)
		return;
	WRITE_ONCE(p->batch, true);
	p->normal = tasks_per_park(pool);
	window_begin(pool);
}

/*
 * Keep SCHED_BATCH as long as workers find twice as many tasks as without it.
 */
static void judge_batch(struct ants_pool *pool)
{
	struct ants_policy *p = &pool->policy;

	if (p->parks < TRIAL_PARKS && time_before_eq(jiffies, p->tick + 1))
		return;
	WRITE_ONCE(p->batch, tasks_per_park(pool) >= max(2 * p->normal, TASKS_LEAST));
	if (p->batch)
		p->limit = p->flood;
	else if (p->parks >= TRIAL_PARKS)
		/* It did not help: the next try comes later each time. */
		p->limit = min(p->limit * 2, PREEMPTED_MAX);
	window_begin(pool);
}

/*
 * @w, the caller, is about to park. It applies the decision when it is woken.
 */
void ants_policy_parks(struct ants_worker *w)
{
	struct ants_pool *pool = w->pool;
	struct ants_policy *p = &pool->policy;

	lockdep_assert_held(&pool->lock);
	if (!PREEMPTS || pool->flags & ANTS_THROUGHPUT)
		return;
	if (!p->batch && time_after(jiffies, p->tick))
		window_begin(pool);
	p->parks++;
	/* A task that runs for long may be preempted any number of times. */
	p->preempted += current->nivcsw != w->switches;
	w->switches = current->nivcsw;
	if (p->batch)
		judge_batch(pool);
	else
		judge_normal(pool);
}

static int set_policy(unsigned int policy)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = policy,
		.sched_nice = task_nice(current),
	};

	return ants_setattr(current, &attr);
}

/* Set the policy of the calling worker. A policy that a task has set stays. */
void ants_policy_apply(struct ants_worker *w)
{
	bool batch = READ_ONCE(w->pool->policy.batch);

	if (likely(batch == w->batch))
		return;
	w->batch = batch;
	if (current->policy == (batch ? SCHED_NORMAL : SCHED_BATCH) &&
	    set_policy(batch ? SCHED_BATCH : SCHED_NORMAL))
		pr_warn_once("pool %s: no SCHED_BATCH\n", w->pool->name);
}
