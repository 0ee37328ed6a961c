// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios in which a thread of the pool dies: in each kind of task, and in what
 * a thread calls on its own.
 */
#include <linux/slab.h>

#include "scenario_fault.h"

static struct ants_work items[3];

static int good_item(struct ants_work *work)
{
	return 0;
}

static void begin(unsigned int capacity, unsigned int depth)
{
	const struct ants_attrs attrs = { .capacity = capacity,
					  .queue_depth = depth };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(items); i++)
		INIT_ANTS_WORK(&items[i], i ? good_item : die_item);
	faults_begin(&attrs);
}

static int submit_dying(void *data)
{
	WARN_ON(submit_fn(die_fn, (unsigned long)data));
	return 0;
}

static int expect_item(void *work)
{
	int result = 1;

	WARN_ON(ants_work_wait(work, &result));
	WARN(result != (work == items ? -EFAULT : 0), "result %d", result);
	return 0;
}

/* Tasks wait behind one that dies, and so does a submitter. */
static void run_plain(void)
{
	begin(1, 1);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0));
	explore_call(submit_one, (void *)1, "a");
	explore_call(submit_one, (void *)2, "b");
	end(1, 1);
}

static void run_both(void)
{
	begin(2, 0);
	explore_begin();
	explore_call(submit_dying, (void *)0, "a");
	explore_call(submit_dying, (void *)1, "b");
	explore_call(submit_one, (void *)2, "c");
	end(2, 2);
}

/* The pool is closed while a thread dies. */
static void run_destroy(void)
{
	begin(2, 2);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0) || submit(1));
	tasks_destroy();
}

static void run_flush(void)
{
	begin(1, 3);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0) || submit_fn(die_fn, 1) || submit(2));
	explore_call(flush_fn, NULL, "flush");
	explore_call(tune_fn, (void *)2, "tune");
	end(2, 2);
}

static void run_reboot(void)
{
	begin(1, 1);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0));
	explore_call(reboot_fn, NULL, "reboot");
	end(1, 1);
}

static void run_item(void)
{
	begin(1, 2);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &items[0]) ||
		ants_queue_work(pool, &items[1]));
	explore_call(expect_item, &items[0], "a");
	explore_call(expect_item, &items[0], "b");
	explore_call(expect_item, &items[1], "c");
	end(1, 1);
}

/* The item may be queued again while it runs: then it runs, and dies, twice. */
static int queue_again(void *nr)
{
	*(unsigned int *)nr += !ants_queue_work(pool, &items[0]);
	return 0;
}

static void run_again(void)
{
	unsigned int nr = 1;

	begin(1, 1);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &items[0]));
	explore_call(queue_again, &nr, "a");
	explore_call(expect_item, &items[0], "b");
	explore_join();
	WARN_ON(ants_work_wait(&items[0], NULL));
	end(nr, nr);
}

static int cancel_sync_fn(void *taken)
{
	*(bool *)taken = ants_work_cancel_sync(&items[0]);
	return 0;
}

static void run_cancel(void)
{
	bool taken;

	begin(1, 1);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &items[0]));
	explore_call(cancel_sync_fn, &taken, "cancel");
	explore_join();
	end(!taken, !taken);
}

static void submit_group(struct ants_group *group, unsigned int first)
{
	unsigned int i;

	WARN_ON(ants_group_init(group, pool, 0));
	for (i = first; i < ARRAY_SIZE(items); i++)
		WARN_ON(ants_group_submit(group, &items[i]));
}

static void run_group(void)
{
	struct ants_group group;
	int error = 0;

	begin(2, 1);
	explore_begin();
	submit_group(&group, 0);
	WARN_ON(ants_group_wait(&group, &error));
	WARN(error != -EFAULT, "error %d", error);
	end(1, 1);
}

static int call_fn(void *unused)
{
	int ret = ants_call(pool, die_call, NULL, MAX_SCHEDULE_TIMEOUT);

	WARN(ret != -EFAULT, "result %d", ret);
	return 0;
}

static int call_release_fn(void *timeout)
{
	int ret = ants_call_release(pool, die_call, NULL,
				    (unsigned long)timeout, release_data);

	WARN(ret != -EFAULT && (ret != -EINPROGRESS || !timeout), "result %d",
	     ret);
	return 0;
}

static void run_call(void)
{
	begin(1, 1);
	explore_begin();
	explore_call(call_fn, NULL, "a");
	explore_call(call_release_fn, (void *)MAX_SCHEDULE_TIMEOUT, "b");
	explore_join();
	end(2, 2);
	WARN_ON(released != 1);
}

/* The caller may give up before the task starts, and after that. */
static int call_timeout_fn(void *unused)
{
	int ret = ants_call_release(pool, die_call, NULL, 2, release_data);

	WARN(ret != -EFAULT && ret != -EINPROGRESS && ret != -ETIMEDOUT,
	     "result %d", ret);
	return 0;
}

static void run_call_timeout(void)
{
	struct ants_stats stats;

	begin(1, 1);
	explore_begin();
	explore_call(call_timeout_fn, NULL, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	ants_pool_stats(pool, &stats);
	end(stats.faults, stats.faults);
	WARN_ON(released != 1);
}

static struct task_struct *looper;

/* Whoever is not the caller dies. */
static int die_helper(unsigned long i, void *unused)
{
	if (current != looper)
		kthread_exit(1);
	return 0;
}

static void run_loop(void)
{
	struct ants_stats stats;
	int err;

	begin(2, 0);
	looper = current;
	explore_begin();
	err = ants_for_each(pool, 4, die_helper, NULL);
	WARN_ON(ants_flush(pool));
	ants_pool_stats(pool, &stats);
	WARN(err != (stats.faults ? -EFAULT : 0), "error %d, %llu faults", err,
	     stats.faults);
	end(stats.faults, stats.faults);
}

/* The caller of the loop is a task, and dies as the first one. */
static int die_looper(unsigned long i, void *unused)
{
	if (current == looper)
		kthread_exit(1);
	return 0;
}

static void loop_task(void *unused)
{
	looper = current;
	ants_for_each(pool, 4, die_looper, NULL);
	accepted[1]++;
}

static void run_loop_task(void)
{
	struct ants_stats stats;

	begin(3, 0);
	explore_begin();
	WARN_ON(ants_submit(pool, loop_task, NULL));
	WARN_ON(ants_flush(pool));
	ants_pool_stats(pool, &stats);
	/* The helpers may have done everything. */
	WARN_ON(accepted[1] + stats.faults != 1);
	accepted[1] = 0;
	end(stats.faults, stats.faults);
}

static void join_task(void *unused)
{
	WARN_ON(ants_queue_work(pool, &items[0]));
	WARN_ON(ants_work_wait(&items[0], NULL));
}

/*
 * A task runs the item that it waits for, and dies in it; or another thread
 * does.
 */
static void inner(ants_fn_t fn, unsigned int capacity, unsigned int depth)
{
	struct ants_stats stats;

	begin(capacity, depth);
	explore_begin();
	WARN_ON(ants_submit(pool, fn, NULL));
	explore_call(submit_one, (void *)1, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	ants_pool_stats(pool, &stats);
	WARN(stats.faults != 1, "%llu faults", stats.faults);
	WARN(ants_work_busy(&items[0]), "the item has not ended");
	end(1, stats.lost);
}

static void run_join(void)
{
	inner(join_task, 1, 4);
}

static void run_join_two(void)
{
	inner(join_task, 2, 4);
}

static struct ants_group shared_group;

static void group_task(void *unused)
{
	submit_group(&shared_group, 0);
	WARN_ON(ants_group_wait(&shared_group, NULL));
}

static void run_join_group(void)
{
	inner(group_task, 1, 4);
	WARN_ON(shared_group.nr_left || !hlist_empty(&shared_group.waiters));
}

static void run_join_group_two(void)
{
	inner(group_task, 2, 4);
	WARN_ON(shared_group.nr_left || !hlist_empty(&shared_group.waiters));
}

/* There is no room for a member, so the task dies before it waits. */
static void run_fork(void)
{
	inner(group_task, 1, 0);
	WARN_ON(shared_group.nr_left || !hlist_empty(&shared_group.waiters));
}

static void call_task(void *unused)
{
	ants_call_release(pool, die_call, NULL, MAX_SCHEDULE_TIMEOUT,
			  release_data);
}

static void run_inner_call(void)
{
	begin(1, 1);
	explore_begin();
	WARN_ON(ants_submit(pool, call_task, NULL));
	explore_call(submit_one, (void *)1, "a");
	end(1, 1);
	WARN_ON(released != 1);
}

static struct ants_pool *full;

/* Occupies the thread of that pool until the task behind it has run. */
static void wait_fn(void *data)
{
	shim_wait_until(has_run, data + sizeof(*runs));
	run_fn(data);
}

static void join_there(void *data)
{
	run_fn(data);
	join_task(NULL);
}

static void run_there(void *unused)
{
	ants_submit(full, join_there, &runs[1]);
}

/*
 * A task runs one of another pool, which is full; that one waits for an item of the
 * first pool, and the thread dies in it.
 */
static void run_nested(void)
{
	begin(1, 4);
	full = ants_pool_create(&(struct ants_attrs) {
			.capacity = 1, .flags = ANTS_CALLER_RUNS }, "full");
	WARN_ON(ants_submit(full, wait_fn, &runs[0]));
	explore_begin();
	WARN_ON(ants_submit(pool, run_there, NULL));
	explore_call(submit_one, (void *)2, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	WARN_ON(ants_pool_destroy(full));
	accepted[0]++;
	accepted[1]++;
	end(1, 2);
}

static void hook(unsigned int dying, unsigned int nr)
{
	const struct ants_attrs attrs = { .capacity = 1,
					  .worker_init = init_fn,
					  .worker_exit = exit_fn };

	faults_begin(&attrs);
	doomed = dying;
	explore_begin();
	WARN_ON(submit(0));
	explore_call(submit_one, (void *)1, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	doomed += nr;
	tasks_drain();
	WARN(told != dying + nr, "told %u times", told);
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

static void run_init(void)
{
	hook(1, 0);
}

static void run_exit(void)
{
	hook(0, 1);
}

const struct scenario scenarios_fault[] = {
	{ "fault-plain", run_plain },
	{ "fault-both", run_both },
	{ "fault-destroy", run_destroy },
	{ "fault-flush", run_flush },
	{ "fault-reboot", run_reboot },
	{ "fault-item", run_item },
	{ "fault-again", run_again },
	{ "fault-cancel", run_cancel },
	{ "fault-group", run_group },
	{ "fault-call", run_call },
	{ "fault-call-timeout", run_call_timeout },
	{ "fault-loop", run_loop },
	{ "fault-loop-task", run_loop_task },
	{ "fault-join", run_join },
	{ "fault-join-two", run_join_two },
	{ "fault-join-group", run_join_group },
	{ "fault-join-group-two", run_join_group_two },
	{ "fault-fork", run_fork },
	{ "fault-inner-call", run_inner_call },
	{ "fault-nested", run_nested },
	{ "fault-init", run_init },
	{ "fault-exit", run_exit },
	{}
};
