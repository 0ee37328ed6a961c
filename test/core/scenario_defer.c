// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of a wake-up that is deferred because earlier ones were in vain.
 * Workers are idle, and tasks are submitted in one section: in each run the
 * worker that takes the first task defers the wake-up for the others. Except in
 * the first scenario no wake-up is ever late, so something else has to end the
 * deferral.
 */
#include "internal.h"
#include "scenario.h"

#define NEVER		(1000 * HZ)

static struct completion gate;
static unsigned int nr_waiting;

static void wait_fn(void *data)
{
	nr_waiting++;
	wait_for_completion(&gate);
	run_fn(data);
}

static void open_fn(void *data)
{
	complete(&gate);
	run_fn(data);
}

static bool all_wait(void *nr)
{
	return nr_waiting == (unsigned long)nr;
}

static bool all_idle(void *nr)
{
	return pool->workers.nr_idle == (unsigned long)nr;
}

static bool is_deferred(void *unused)
{
	return pool->wakes.deferred;
}

/* All @capacity workers are idle, and the next wake-up will be deferred. */
static void begin(unsigned long capacity, unsigned long late_ticks)
{
	unsigned int i;

	nr_waiting = 0;
	init_completion(&gate);
	tasks_begin(&(struct ants_attrs) { .capacity = capacity, .queue_depth = 4 });
	for (i = 0; i < capacity; i++)
		WARN_ON(submit_fn(wait_fn, i));
	shim_wait_until(all_wait, (void *)capacity);
	while (i--)
		complete(&gate);
	shim_wait_until(all_idle, (void *)capacity);
	raw_spin_lock_irq(&pool->lock);
	pool->wakes.nr_spurious = ANTS_SPURIOUS_MAX;
	raw_spin_unlock_irq(&pool->lock);
	ants_late_arm(late_ticks);
	explore_begin();
}

static void end(void)
{
	tasks_drain();
	WARN(pool->wakes.nr || pool->wakes.deferred,
	     "something is in flight in an empty pool");
	WARN_ON(ants_pool_destroy(pool));
	ants_late_arm(ANTS_LATE_TICKS);
	tasks_end();
}

/* In one section: both tasks are pending when a worker comes. */
static void submit_both(ants_fn_t first, ants_fn_t second)
{
	const struct ants_task tasks[] = {
		{ first, &runs[0] }, { second, &runs[1] },
	};

	WARN_ON(ants_submit_batch(pool, tasks, ARRAY_SIZE(tasks)) !=
		ARRAY_SIZE(tasks));
	accepted[0]++;
	accepted[1]++;
}

/* The running task waits for the pending one. */
static void defer_late(void)
{
	begin(2, ANTS_LATE_TICKS);
	submit_both(wait_fn, open_fn);
	explore_call(submit_two, (void *)2, "a");
	end();
}

/* The worker takes all other tasks, or finds none. */
static void defer_submit(void)
{
	begin(2, NEVER);
	submit_both(run_fn, run_fn);
	explore_call(submit_two, (void *)2, "a");
	end();
}

/* The worker may not stay. */
static void defer_leave(void)
{
	begin(3, NEVER);
	submit_both(run_fn, run_fn);
	explore_call(tune_fn, (void *)1, "tune");
	explore_call(submit_two, (void *)2, "a");
	end();
}

static int tune_deferred(void *capacity)
{
	shim_wait_until(is_deferred, NULL);
	return tune_fn(capacity);
}

static void defer_tune(void)
{
	begin(2, NEVER);
	submit_both(wait_fn, open_fn);
	explore_call(tune_deferred, (void *)3, "tune");
	explore_call(submit_two, (void *)2, "a");
	end();
}

static int release_deferred(void *unused)
{
	shim_wait_until(is_deferred, NULL);
	return release_fn(NULL);
}

static void defer_release(void)
{
	begin(2, NEVER);
	submit_both(wait_fn, open_fn);
	explore_call(release_deferred, NULL, "release");
	explore_call(submit_two, (void *)2, "a");
	end();
}

/*
 * The task to wake up for is cancelled; the running task ends, and the next one
 * comes.
 */
static int cancel_deferred(void *unused)
{
	shim_wait_until(is_deferred, NULL);
	accepted[1] -= ants_cancel_pending(pool, NULL, NULL);
	complete(&gate);
	shim_wait_until(all_idle, (void *)2);
	return submit_two((void *)2);
}

static void defer_cancel(void)
{
	begin(2, NEVER);
	submit_both(wait_fn, run_fn);
	explore_call(cancel_deferred, NULL, "cancel");
	end();
}

static struct ants_work item;

static int item_fn(struct ants_work *work)
{
	runs[4]++;
	return 0;
}

/* The task removes its work item from the queue, and runs it itself. */
static void join_fn(void *data)
{
	INIT_ANTS_WORK(&item, item_fn);
	if (!ants_queue_work(pool, &item)) {
		accepted[4]++;
		WARN_ON(ants_work_wait(&item, NULL));
	}
	run_fn(data);
}

static void defer_join(void)
{
	begin(2, NEVER);
	submit_both(join_fn, run_fn);
	explore_call(submit_two, (void *)2, "a");
	end();
}

const struct scenario scenarios_defer[] = {
	{ "defer-late", defer_late },
	{ "defer-submit", defer_submit },
	{ "defer-leave", defer_leave },
	{ "defer-tune", defer_tune },
	{ "defer-release", defer_release },
	{ "defer-cancel", defer_cancel },
	{ "defer-join", defer_join },
	{}
};
