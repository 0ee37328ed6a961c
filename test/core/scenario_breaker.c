// SPDX-License-Identifier: GPL-2.0-only
/* Scenarios of pools that take no more tasks after too many faults in a row. */
#include <linux/kthread.h>
#include <linux/slab.h>

#include "internal.h"
#include "scenario.h"

#define NR_ITEMS	2

static struct ants_delayed_work items[NR_ITEMS];
static unsigned int told, dropped, min_dropped;
static bool healed;

static void fault_fn(struct ants_pool *unused, ants_fn_t fn, void *data)
{
	told++;
}

/* The task will not run. */
static void drop_fn(ants_fn_t fn, void *data)
{
	unsigned int i = (unsigned int *)data - runs;

	dropped++;
	accepted[i]--;
}

static void die_fn(void *data)
{
	run_fn(data);
	kthread_exit(1);
}

static int item_fn(struct ants_work *work)
{
	return 0;
}

static int again_fn(struct ants_work *work)
{
	int err = ants_queue_work(pool, work);

	WARN(err && err != -EIO && err != -ESHUTDOWN, "error %d", err);
	kthread_exit(1);
}

static void *init_fn(struct ants_pool *unused)
{
	return healed ? NULL : ERR_PTR(-EIO);
}

static void begin(unsigned int capacity, unsigned int depth,
		  void *(*init)(struct ants_pool *pool))
{
	const struct ants_attrs attrs = { .capacity = capacity,
					  .queue_depth = depth,
					  .fault = fault_fn, .drop = drop_fn,
					  .max_faults = 2,
					  .worker_init = init };
	unsigned int i;

	told = 0;
	dropped = 0;
	min_dropped = 0;
	healed = false;
	for (i = 0; i < NR_ITEMS; i++)
		INIT_ANTS_DELAYED_WORK(&items[i], item_fn);
	tasks_begin(&attrs);
}

/* Nothing waits in the pool; it is of use again once it was opened. */
static void end(void)
{
	struct ants_stats stats;
	int err;

	explore_join();
	ants_pool_stats(pool, &stats);
	if (READ_ONCE(pool->faults.tripped)) {
		err = submit(7);
		WARN(err != -EIO, "error %d", err);
	}
	healed = true;
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	WARN(dropped < min_dropped, "%u dropped", dropped);
	WARN_ON(ants_reboot(pool));
	WARN(submit(7), "a pool that was opened is of no use");
	tasks_drain();
	ants_pool_stats(pool, &stats);
	WARN(stats.completed + stats.cancelled + stats.lost != stats.submitted,
	     "%llu + %llu + %llu of %llu", stats.completed, stats.cancelled,
	     stats.lost, stats.submitted);
	WARN(stats.faults != told, "told %u times of %llu", told, stats.faults);
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

static int submit_or_eio(void *nr)
{
	int err = submit((unsigned long)nr);

	WARN(err && err != -EIO, "error %d", err);
	return 0;
}

static int queue_or_eio(struct ants_work *work)
{
	int err = ants_queue_work(pool, work);

	WARN(err && err != -EIO, "error %d", err);
	return err;
}

static int expect_item(void *work)
{
	int result = 1;

	WARN_ON(ants_work_wait(work, &result));
	WARN(result && result != -EIO, "result %d", result);
	return 0;
}

/* Two tasks that die trip the breaker: what comes behind them may be refused. */
static void submit_deadly(void)
{
	WARN_ON(submit_fn(die_fn, 0) || submit_fn(die_fn, 1));
	submit_or_eio((void *)2);
}

/* What is pending behind two tasks that die. */
static void run_pending(void)
{
	begin(1, 5, NULL);
	explore_begin();
	submit_deadly();
	min_dropped = accepted[2];
	if (!queue_or_eio(&items[0].work))
		explore_call(expect_item, &items[0].work, "a");
	explore_call(submit_or_eio, (void *)3, "b");
	end();
}

/* A submitter waits, and an item for its time. */
static void run_waiting(void)
{
	int err;

	begin(1, 0, NULL);
	explore_begin();
	WARN_ON(ants_queue_delayed_work(pool, &items[0], 100));
	WARN_ON(submit_fn(die_fn, 0));
	explore_call(submit_or_eio, (void *)2, "a");
	explore_call(expect_item, &items[0].work, "b");
	err = submit_fn(die_fn, 1);
	WARN(err && err != -EIO, "error %d", err);
	end();
}

static int flush_fn(void *unused)
{
	WARN_ON(ants_flush(pool));
	return 0;
}

static void run_flush(void)
{
	begin(1, 3, NULL);
	explore_begin();
	submit_deadly();
	explore_call(flush_fn, NULL, "flush");
	explore_call(tune_fn, (void *)2, "tune");
	end();
}

/* The breaker trips while an item that was queued again runs. */
static void run_again(void)
{
	begin(1, 2, NULL);
	INIT_ANTS_DELAYED_WORK(&items[0], again_fn);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &items[0].work));
	WARN_ON(ants_work_wait(&items[0].work, NULL));
	end();
}

static bool has_tripped(void *unused)
{
	return READ_ONCE(pool->faults.tripped);
}

/* The other thread runs such an item when the breaker trips. */
static int slow_again_fn(struct ants_work *work)
{
	WARN_ON(ants_queue_work(pool, work));
	shim_wait_until(has_tripped, NULL);
	return 0;
}

static void run_again_two(void)
{
	begin(2, 2, NULL);
	INIT_ANTS_DELAYED_WORK(&items[0], slow_again_fn);
	WARN_ON(ants_queue_work(pool, &items[0].work));
	shim_wait_until(has_run, &pool->nr_again);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0) || submit_fn(die_fn, 1));
	WARN_ON(ants_work_wait(&items[0].work, NULL));
	end();
}

/* In a row: a task that ends well begins another one. */
static void run_good(void)
{
	begin(1, 5, NULL);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0) || submit(1) || submit_fn(die_fn, 2) ||
		submit(3));
	explore_call(submit_or_eio, (void *)4, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	WARN(has_tripped(NULL), "the faults were not in a row");
	end();
}

static int reboot_fn(void *unused)
{
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	WARN_ON(ants_reboot(pool));
	return 0;
}

/* The pool is closed and opened while the breaker trips. */
static void run_reboot(void)
{
	begin(1, 3, NULL);
	explore_begin();
	submit_deadly();
	explore_call(reboot_fn, NULL, "reboot");
	explore_join();
	WARN(has_tripped(NULL), "a pool that was opened is of no use");
	WARN(submit(3), "a pool that was opened takes no task");
	end();
}

static int give_fn(void *unused)
{
	return 0;
}

static void take_fn(void *data)
{
	(*(unsigned int *)data)++;
}

static int call_fn(void *taken)
{
	int ret = ants_call_release(pool, give_fn, taken, 2, take_fn);

	WARN(ret && ret != -EIO && ret != -ETIMEDOUT && ret != -EINPROGRESS,
	     "result %d", ret);
	return 0;
}

static int cancel_fn(void *unused)
{
	ants_work_cancel_sync(&items[0].work);
	return 0;
}

/* What is pending is cancelled, or its caller gives up, while it is dropped. */
static void run_cancel(void)
{
	unsigned int taken = 0;

	begin(1, 5, NULL);
	WARN_ON(submit_fn(die_fn, 0) || submit_fn(die_fn, 1) ||
		ants_queue_work(pool, &items[0].work));
	explore_begin();
	explore_call(cancel_fn, NULL, "cancel");
	explore_call(call_fn, &taken, "call");
	end();
	WARN(taken != 1, "the data was taken %u times", taken);
}

static int wait_group(void *group)
{
	int error = 0;

	WARN_ON(ants_group_wait(group, &error));
	WARN(error && error != -EIO, "error %d", error);
	return 0;
}

static void run_group(void)
{
	struct ants_group group;
	unsigned int i;

	begin(1, 5, NULL);
	WARN_ON(ants_group_init(&group, pool, 0));
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0) || submit_fn(die_fn, 1));
	for (i = 0; i < NR_ITEMS; i++) {
		int err = ants_group_submit(&group, &items[i].work);

		WARN_ON(err && err != -EIO);
	}
	explore_call(wait_group, &group, "wait");
	end();
}

static bool is_released(void *unused)
{
	return READ_ONCE(pool->released);
}

static void run_destroy(void)
{
	begin(1, 3, NULL);
	explore_begin();
	submit_deadly();
	explore_call(release_fn, NULL, "release");
	/* A pool may not be destroyed before a call for it has begun. */
	shim_wait_until(is_released, NULL);
	tasks_destroy();
}

/* No thread ever gets ready. */
static void run_init(void)
{
	begin(1, 3, init_fn);
	explore_begin();
	submit_or_eio((void *)0);
	if (!queue_or_eio(&items[0].work))
		explore_call(expect_item, &items[0].work, "a");
	explore_call(flush_fn, NULL, "flush");
	end();
}

static void run_init_destroy(void)
{
	begin(2, 3, init_fn);
	explore_begin();
	submit_or_eio((void *)0);
	queue_or_eio(&items[0].work);
	tasks_destroy();
}

const struct scenario scenarios_breaker[] = {
	{ "breaker-pending", run_pending },
	{ "breaker-waiting", run_waiting },
	{ "breaker-flush", run_flush },
	{ "breaker-again", run_again },
	{ "breaker-again-two", run_again_two },
	{ "breaker-good", run_good },
	{ "breaker-reboot", run_reboot },
	{ "breaker-cancel", run_cancel },
	{ "breaker-group", run_group },
	{ "breaker-destroy", run_destroy },
	{ "breaker-init", run_init },
	{ "breaker-init-destroy", run_init_destroy },
	{}
};
