// SPDX-License-Identifier: GPL-2.0-only
/* Scenarios of plain tasks: submits, threads that come and go, and the end. */
#include "internal.h"
#include "scenario.h"

/* Everything accepted has run. */
static void end(void)
{
	explore_join();
	explore_end();
	explore_note(pool);
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

/* --- submitters wait, tasks are handed over ----------------------------------------- */

static void submit_block(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_two, (void *)2, "b");
	end();
}

static void hand_off(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 2, .queue_depth = 1 });
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_two, (void *)2, "b");
	explore_call(submit_two, (void *)4, "c");
	end();
}

static int submit_late(void *data)
{
	unsigned int i = (unsigned long)data;
	int err = ants_submit_timeout(pool, run_fn, &runs[i], 2);

	accepted[i] += !err;
	WARN(err && err != -ETIMEDOUT, "error %d", err);
	return 0;
}

static void timeout(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_late, (void *)2, "b");
	explore_call(submit_late, (void *)3, "c");
	end();
}

static int submit_killed(void *data)
{
	int err = submit((unsigned long)data);

	WARN(err && err != -EINTR, "error %d", err);
	return 0;
}

static void killed(void)
{
	struct task_struct *victim;

	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	victim = shim_run(submit_killed, (void *)2, "victim");
	explore_call(submit_two, (void *)0, "a");
	shim_kill(victim);
	shim_join(victim);
	end();
}

/* --- threads come and go ------------------------------------------------------------ */

static void reap_submit(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 2, .expiry = 1 });
	WARN_ON(submit(4) || ants_flush(pool));
	explore_begin();
	explore_call(submit_one, (void *)0, "a");
	explore_call(submit_two, (void *)2, "b");
	end();
}

/* The only thread is told to leave while a task comes. */
static void reap_last(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1, .expiry = 1 });
	WARN_ON(submit(4) || ants_flush(pool));
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	end();
}

static void tune_grow(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_two, (void *)2, "b");
	explore_call(tune_fn, (void *)2, "tune");
	end();
}

static void tune_shrink(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 2, .min_workers = 1 });
	tune_idle();
	end();
}

static bool waiter_waits(void *unused)
{
	return READ_ONCE(pool->space.nr_waiting);
}

static bool gate_is_open(void *unused)
{
	return READ_ONCE(runs[7]);
}

static bool waiter_is_through(void *unused)
{
	return READ_ONCE(accepted[6]);
}

static void gate_fn(void *data)
{
	shim_wait_until(gate_is_open, NULL);
	run_fn(data);
}

static void after_waiter_fn(void *data)
{
	shim_wait_until(waiter_is_through, NULL);
	run_fn(data);
}

/* On the CPU of the only worker, which need not hurry to have room for its caller. */
static int submit_beside(void *nr)
{
	current->cpu = list_first_entry(&pool->workers.list, struct ants_worker,
					member)->task->cpu;
	return submit_one(nr);
}

/*
 * The pool is above its new bound. Later there is room, and only the timer says so: a
 * task that waits for the submitter is running, and another one is pending.
 */
static void shrink_waiter(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 5 });
	WARN_ON(submit_fn(gate_fn, 0) || submit(1) || submit(2) || submit(3) ||
		submit_fn(after_waiter_fn, 4) || submit(5));
	explore_begin();
	explore_call(submit_beside, (void *)6, "waiter");
	shim_wait_until(waiter_waits, NULL);
	mutex_lock(&pool->config.lock);
	WARN_ON(ants_set(pool, &(struct ants_change) {
			.what = ANTS_SET_QUEUE_DEPTH, .value = 2 }));
	mutex_unlock(&pool->config.lock);
	accepted[7] = 1;
	WRITE_ONCE(runs[7], 1);
	end();
}

static unsigned int nr_called;

static void called_back(struct ants_pool *unused)
{
	WRITE_ONCE(nr_called, nr_called + 1);
}

static bool was_called(void *unused)
{
	return READ_ONCE(nr_called);
}

/* It may be armed again for idle threads. */
static bool timer_has_fired(void *unused)
{
	return !timer_pending(&pool->timer.timer) ||
	       time_after(pool->timer.timer.expires, jiffies + EXPLORE_FAR);
}

/* A newcomer fills the pool again before the timer looks whether there is room. */
static void refill_fn(void *data)
{
	run_fn(data);
	accepted[6] += !ants_try_submit(pool, run_fn, &runs[6]);
	shim_wait_until(timer_has_fired, NULL);
}

static void after_call_fn(void *data)
{
	shim_wait_until(was_called, NULL);
	run_fn(data);
}

/*
 * A caller was refused, and no other waits. There is room again, then there is none when
 * the timer fires, and then there is: three workers wait for the callback, and the fourth
 * one, which goes on, has to see to it.
 */
static void callback_refill(void)
{
	const struct ants_attrs attrs = { .capacity = 4, .queue_depth = 4,
					  .space_available = called_back };
	unsigned int i;

	nr_called = 0;
	tasks_begin(&attrs);
	for (i = 0; i < 3; i++)
		WARN_ON(submit_fn(after_call_fn, i));
	WARN_ON(submit_fn(gate_fn, 3) || submit_fn(refill_fn, 4) ||
		submit_fn(after_call_fn, 5));
	WARN_ON(ants_submit(pool, run_fn, &runs[6]) || ants_submit(pool, run_fn, &runs[6]));
	accepted[6] = 2;
	explore_begin();
	WARN_ON(ants_try_submit(pool, run_fn, &runs[6]) != -EAGAIN);
	accepted[7] = 1;
	WRITE_ONCE(runs[7], 1);
	/* A pool that is closed calls nobody back. */
	shim_wait_until(all_ran, NULL);
	end();
}

/* --- the end ------------------------------------------------------------------------ */

static void release_submit(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(submit_two, (void *)2, "b");
	explore_call(release_fn, NULL, "release");
	end();
}

static int reopen_fn(void *unused)
{
	int err;

	release_fn(NULL);
	err = ants_reboot(pool);
	WARN(err && err != -EBUSY, "error %d", err);
	return 0;
}

static void reboot(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1, .min_workers = 1 });
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(reopen_fn, NULL, "reopen");
	explore_call(release_fn, NULL, "release");
	end();
}

/*
 * A task tells the destroyer that the caller has reached the pool, while the
 * caller is still inside.
 */
static void destroy_after(unsigned int i)
{
	shim_wait_until(has_run, &runs[i]);
	tasks_destroy();
}

static int batch_fn(void *unused)
{
	const struct ants_task tasks[] = {
		{ run_fn, &runs[0], }, { run_fn, &runs[1] }, { run_fn, &runs[2] },
	};
	int i, ret = ants_submit_batch(pool, tasks, ARRAY_SIZE(tasks));

	WARN(ret <= 0, "result %d", ret);
	for (i = 0; i < ret; i++)
		accepted[i] = 1;
	return 0;
}

static void batch_destroy(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	explore_call(batch_fn, NULL, "batch");
	destroy_after(0);
}

static void batch_destroy_last(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 2, .queue_depth = 1 });
	explore_begin();
	explore_call(batch_fn, NULL, "batch");
	destroy_after(2);
}

static unsigned int nr_returned;

static int submit_closed(void *nr)
{
	unsigned int i = (unsigned long)nr;
	int err = ants_submit_timeout(pool, run_fn, &runs[i], 1);

	nr_returned++;
	accepted[i] += !err;
	WARN(err && err != -ETIMEDOUT && err != -ESHUTDOWN, "error %d", err);
	return 0;
}

static bool both_have_come(void *unused)
{
	return ants_nr_waiting(pool) + nr_returned >= 2;
}

/* When the pool is destroyed, waiting callers give up or are refused. */
static void timeout_destroy(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	nr_returned = 0;
	explore_begin();
	WARN_ON(submit(0));
	explore_call(submit_closed, (void *)1, "a");
	explore_call(submit_closed, (void *)2, "b");
	shim_wait_until(both_have_come, NULL);
	tasks_destroy();
}

static int submit_last(void *unused)
{
	accepted[2] += !ants_submit(pool, run_fn, &runs[2]);
	return 0;
}

static void submit_destroy(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 1 });
	explore_begin();
	explore_call(submit_last, NULL, "submit");
	destroy_after(2);
}

static int flush_fn(void *unused)
{
	WARN_ON(ants_flush(pool));
	return 0;
}

static void flush_two(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 2 });
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_call(flush_fn, NULL, "flush");
	explore_call(flush_fn, NULL, "flush");
	end();
}

/* A flush waits for all tasks that its caller has submitted before. */
static int submit_flush(void *data)
{
	unsigned int i = (unsigned long)data;

	WARN_ON(submit(i) || ants_flush(pool));
	WARN(!runs[i], "a flush has not waited for task %u", i);
	return 0;
}

static void flush_own(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 2, .queue_depth = 1 });
	explore_begin();
	explore_call(submit_flush, (void *)0, "a");
	explore_call(submit_flush, (void *)1, "b");
	end();
}

#define NR_URGENT	12

static unsigned int nr_urgent;

static void urgent_fn(void *left)
{
	nr_urgent++;
	if (left)
		WARN_ON(ants_submit_prio(pool, urgent_fn, left - 1,
					 ANTS_PRIO_HIGH, 0));
}

static void modest_fn(void *unused)
{
	WARN(nr_urgent > 9, "%u tasks of high priority went first", nr_urgent);
}

static void both_fn(void *unused)
{
	WARN_ON(ants_submit(pool, modest_fn, NULL));
	urgent_fn((void *)NR_URGENT);
}

static bool urgent_are_over(void *unused)
{
	return nr_urgent > NR_URGENT;
}

/* Tasks of high priority that keep coming do not starve the others. */
static void starve(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 3 });
	nr_urgent = 0;
	explore_begin();
	WARN_ON(ants_submit(pool, both_fn, NULL));
	shim_wait_until(urgent_are_over, NULL);
	end();
}

const struct scenario scenarios_tasks[] = {
	{ "submit-block", submit_block },
	{ "hand-off", hand_off },
	{ "timeout", timeout },
	{ "killed", killed },
	{ "reap-submit", reap_submit },
	{ "reap-last", reap_last },
	{ "tune-grow", tune_grow },
	{ "tune-shrink", tune_shrink },
	{ "shrink-waiter", shrink_waiter },
	{ "callback-refill", callback_refill },
	{ "release-submit", release_submit },
	{ "reboot", reboot },
	{ "batch-destroy", batch_destroy },
	{ "batch-destroy-last", batch_destroy_last },
	{ "submit-destroy", submit_destroy },
	{ "timeout-destroy", timeout_destroy },
	{ "flush-two", flush_two },
	{ "flush-own", flush_own },
	{ "starve", starve },
	{}
};
