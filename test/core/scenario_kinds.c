// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of particular kinds of pools: whose threads cannot be made, whose
 * callers run tasks, with several shards; and of what is left in a closed pool.
 */
#include "internal.h"
#include "scenario.h"

static struct ants_multi *multi;

static void end(void)
{
	explore_end();
	tasks_end();
}

/* --- no thread can be made ---------------------------------------------------------- */

static int flush_fn(void *unused)
{
	WARN_ON(ants_flush(pool));
	return 0;
}

static int drain_fn(void *unused)
{
	WARN_ON(ants_drain(pool));
	return 0;
}

/* A caller waits for tasks of such a pool, and another one submits meanwhile. */
static void threads_fail(const struct ants_attrs *attrs, int times)
{
	tasks_begin(attrs);
	ants_fail_arm(ANTS_FAIL_THREAD, times);
	explore_begin();
	explore_call(submit_one, (void *)0, "a");
	explore_call(submit_one, (void *)1, "b");
	explore_call(flush_fn, NULL, "flush");
	explore_join();
	WARN_ON(ants_pool_destroy(pool));
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	end();
}

static void spawn_later(void)
{
	threads_fail(&(struct ants_attrs) { .capacity = 2 }, 2);
}

/* The one thread that the pool was made with runs all tasks. */
static void reclaim(void)
{
	threads_fail(&(struct ants_attrs) {
		.capacity = 2, .flags = ANTS_MEM_RECLAIM }, -1);
}

static void *context_make(struct ants_pool *p)
{
	return runs[MAX_TASKS - 1]++ ? p : ERR_PTR(-ENOMEM);
}

static void context_end(struct ants_pool *p, void *data)
{
	WARN(p != data, "not what worker_init returned");
	accepted[MAX_TASKS - 1]++;
}

/* The first thread fails to get ready; the contexts of the others are ended. */
static void worker_init(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 1, .queue_depth = 2,
		.worker_init = context_make, .worker_exit = context_end,
	});
	explore_begin();
	explore_call(submit_one, (void *)0, "a");
	explore_call(submit_one, (void *)1, "b");
	explore_call(drain_fn, NULL, "drain");
	explore_join();
	WARN_ON(ants_pool_destroy(pool));
	accepted[MAX_TASKS - 1]++;
	end();
}

/* --- kinds -------------------------------------------------------------------------- */

static bool three_have_run(void *unused)
{
	return runs[0] && runs[1] && runs[2];
}

/* A caller that runs a task itself is inside the pool when it is destroyed. */
static void caller_runs(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 1, .flags = ANTS_CALLER_RUNS,
	});
	explore_begin();
	explore_call(submit_one, (void *)0, "a");
	explore_call(submit_one, (void *)1, "b");
	explore_call(submit_one, (void *)2, "c");
	shim_wait_until(three_have_run, NULL);
	WARN_ON(ants_pool_destroy(pool));
	explore_join();
	end();
}

static bool second_has_run(void *unused)
{
	return runs[1];
}

static void behind_second_fn(void *data)
{
	shim_wait_until(second_has_run, NULL);
	run_fn(data);
}

static bool two_have_run(void *unused)
{
	return runs[0] && runs[1];
}

/* The same with one caller, which finds the pool full in any case. */
static void caller_stays(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 1, .flags = ANTS_CALLER_RUNS,
	});
	explore_begin();
	submit_fn(behind_second_fn, 0);
	explore_call(submit_one, (void *)1, "b");
	shim_wait_until(two_have_run, NULL);
	WARN_ON(ants_pool_destroy(pool));
	explore_join();
	end();
}

static unsigned int left, depth, deepest;

static bool is_next(void *unused)
{
	return runs[1] || ants_nr_waiting(pool);
}

/* Ends when its successor has begun or waits. */
static void before_fn(void *data)
{
	shim_wait_until(is_next, NULL);
	run_fn(data);
}

static void again_fn(void *data)
{
	run_fn(data);
	deepest = max(deepest, ++depth);
	if (left) {
		left--;
		accepted[1] += !ants_submit(pool, again_fn, data);
	}
	depth--;
}

static int submit_again(void *unused)
{
	WARN_ON(ants_submit(pool, again_fn, &runs[1]));
	accepted[1]++;
	return 0;
}

/* Nothing can be noted of a caller, which must not run a task inside another one. */
static void caller_waits(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 1, .flags = ANTS_CALLER_RUNS,
	});
	left = 2;
	deepest = 0;
	WARN_ON(submit_fn(before_fn, 0));
	ants_fail_arm(ANTS_FAIL_INLINE, -1);
	explore_begin();
	explore_call(submit_again, NULL, "a");
	explore_join();
	ants_fail_arm(ANTS_FAIL_INLINE, 0);
	WARN_ON(ants_pool_destroy(pool));
	WARN(deepest > 1, "%u tasks inside one another", deepest);
	end();
}

static void prealloc_tune(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 1, .flags = ANTS_PREALLOC,
	});
	explore_begin();
	explore_call(submit_one, (void *)0, "a");
	explore_call(tune_fn, (void *)2, "tune");
	explore_call(release_fn, NULL, "release");
	explore_join();
	WARN_ON(ants_pool_destroy(pool));
	end();
}

/* Ends when the next task has run. */
static void wait_fn(void *data)
{
	shim_wait_until(has_run, data + sizeof(*runs));
	run_fn(data);
}

/* The upkeep work, too, makes a thread for the new capacity. */
static void prealloc_busy(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 1, .queue_depth = 1, .flags = ANTS_PREALLOC,
	});
	WARN_ON(submit_fn(wait_fn, 0) || submit(1));
	explore_begin();
	tune_fn((void *)2);
	WARN_ON(ants_pool_destroy(pool));
	end();
}

static int lift_fn(void *unused)
{
	WRITE_ONCE(ants_max_threads, 0);
	return 0;
}

/* The second task needs a second thread, which is refused until there is no limit. */
static void limit_lifted(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 2 });
	WRITE_ONCE(ants_max_threads, 1);
	explore_begin();
	explore_call(lift_fn, NULL, "lift");
	WARN_ON(submit_fn(wait_fn, 0) || submit(1));
	explore_join();
	shim_wait_until(all_ran, NULL);
	WARN_ON(ants_pool_destroy(pool));
	end();
}

/* Ends when the second task has run. */
static int wait_work_fn(struct ants_work *work)
{
	shim_wait_until(has_run, &runs[1]);
	return 0;
}

static int queue_again_fn(void *work)
{
	ants_queue_work(pool, work);
	return 0;
}

/*
 * The same, and when the timer has fired, but not yet asked for the thread, the first item
 * is queued again: that section leaves the second task to the timer.
 */
static void limit_again(void)
{
	struct ants_work work;

	tasks_begin(&(struct ants_attrs) { .capacity = 2 });
	WRITE_ONCE(ants_max_threads, 1);
	INIT_ANTS_WORK_ONSTACK(&work, wait_work_fn);
	WARN_ON(ants_queue_work(pool, &work) || submit(1));
	explore_begin();
	explore_call(lift_fn, NULL, "lift");
	explore_call(queue_again_fn, &work, "queue");
	explore_join();
	shim_wait_until(has_run, &runs[1]);
	WARN_ON(ants_pool_destroy(pool));
	end();
}

static int destroy_fn(void *other)
{
	WARN_ON(ants_pool_destroy(other));
	return 0;
}

/* The same until the thread of another pool ends. */
static void limit_passed_on(void)
{
	const struct ants_attrs one = { .capacity = 1, .min_workers = 1 };
	struct ants_pool *other;

	tasks_begin(&(struct ants_attrs) { .capacity = 2 });
	other = ants_pool_create(&one, "other");
	WARN_ON(IS_ERR(other));
	WRITE_ONCE(ants_max_threads, 2);
	explore_begin();
	explore_call(destroy_fn, other, "destroy");
	WARN_ON(submit_fn(wait_fn, 0) || submit(1));
	explore_join();
	shim_wait_until(all_ran, NULL);
	WARN_ON(ants_pool_destroy(pool));
	WRITE_ONCE(ants_max_threads, 0);
	end();
}

static int nice_fn(void *unused)
{
	WARN_ON(ants_set_nice(pool, 5));
	return 0;
}

static bool all_moved(void *unused)
{
	return !pool->target.nr_stale;
}

/* Threads apply the change wherever they are; parked ones are woken for it. */
static void move(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 1, .min_workers = 1,
	});
	explore_begin();
	explore_call(submit_one, (void *)0, "a");
	explore_call(nice_fn, NULL, "nice");
	explore_call(nice_fn, NULL, "nice");
	explore_join();
	shim_wait_until(all_moved, NULL);
	WARN_ON(ants_pool_destroy(pool));
	end();
}

/* --- several shards ------------------------------------------------------------------ */

static int submit_multi_fn(void *nr)
{
	unsigned int i = (unsigned long)nr;
	int err = ants_multi_submit(multi, run_fn, &runs[i]);

	accepted[i] += !err;
	WARN(err && err != -ESHUTDOWN, "error %d", err);
	return 0;
}

static int tune_multi_fn(void *capacity)
{
	WARN_ON(ants_multi_tune(multi, (unsigned long)capacity));
	return 0;
}

static int release_multi_fn(void *unused)
{
	WARN_ON(ants_multi_release_timeout(multi, MAX_SCHEDULE_TIMEOUT));
	return 0;
}

static void multi_begin(void)
{
	const struct ants_attrs attrs = { .capacity = 2, .expiry = 100 * HZ };

	tasks_prepare();
	multi = ants_multi_create(&attrs, 2, ANTS_ROUND_ROBIN, "multi");
	WARN_ON(IS_ERR(multi));
	explore_begin();
	explore_call(submit_multi_fn, (void *)0, "a");
	explore_call(submit_multi_fn, (void *)1, "b");
	explore_call(submit_multi_fn, (void *)2, "c");
}

static void multi_end(void)
{
	explore_join();
	WARN_ON(ants_multi_destroy(multi));
	end();
}

static void multi_tune(void)
{
	multi_begin();
	explore_call(tune_multi_fn, (void *)3, "tune");
	multi_end();
}

static void multi_release(void)
{
	multi_begin();
	explore_call(release_multi_fn, NULL, "release");
	multi_end();
}

static void multi_destroy(void)
{
	multi_begin();
	shim_wait_until(three_have_run, NULL);
	WARN_ON(ants_multi_destroy(multi));
	explore_join();
	end();
}

/* --- closed and opened again ---------------------------------------------------------- */

/* Evaluated whenever no lock is held, so that no moment is missed. */
static bool is_quiet(void *unused)
{
	if (pool->lock.lock.owner || !ants_is_drained(pool))
		return false;
	WARN(pool->upkeep.queued || pool->release.nr,
	     "a drained pool has work queued");
	WARN(timer_pending(&pool->timer.timer), "a drained pool has its timer armed");
	return true;
}

static void release_quiet(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	explore_call(submit_one, (void *)0, "a");
	explore_call(submit_one, (void *)1, "b");
	WARN_ON(ants_release(pool));
	shim_wait_until(is_quiet, NULL);
	explore_join();
	WARN_ON(ants_pool_destroy(pool));
	end();
}

static int close_fn(void *unused)
{
	WARN_ON(ants_release(pool));
	return 0;
}

static bool both_have_closed(void *unused)
{
	return pool->release.seq == 2;
}

/*
 * Two callers close the pool, and one of them opens it again once both have.
 * The release of the other one must not fail submits to the open pool.
 */
static void reboot_submit(void)
{
	tasks_begin(&(struct ants_attrs) { .capacity = 1 });
	explore_begin();
	explore_call(close_fn, NULL, "close");
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	shim_wait_until(both_have_closed, NULL);
	if (!ants_reboot(pool)) {
		submit_one((void *)0);
		submit_one((void *)1);
		WARN(!accepted[0] || !accepted[1], "an open pool was closed");
	}
	explore_join();
	WARN_ON(ants_pool_destroy(pool));
	end();
}

static int reboot_fn(void *unused)
{
	int err = ants_reboot(pool);

	WARN(err && err != -EBUSY, "error %d", err);
	return 0;
}

static bool reboot_has_begun(void *unused)
{
	return shim_has_task("ants/pool");
}

/* A release wins over a reboot that first makes threads. */
static void reboot_close(void)
{
	tasks_begin(&(struct ants_attrs) {
		.capacity = 2, .min_workers = 2,
	});
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	explore_begin();
	explore_call(reboot_fn, NULL, "reboot");
	shim_wait_until(reboot_has_begun, NULL);
	WARN_ON(ants_release(pool));
	explore_join();
	WARN(!ants_is_released(pool), "a reboot has overtaken a release");
	WARN_ON(ants_pool_destroy(pool));
	end();
}

const struct scenario scenarios_kinds[] = {
	{ "spawn-later", spawn_later },
	{ "reclaim", reclaim },
	{ "worker-init", worker_init },
	{ "caller-runs", caller_runs },
	{ "caller-stays", caller_stays },
	{ "caller-waits", caller_waits },
	{ "prealloc-tune", prealloc_tune },
	{ "prealloc-busy", prealloc_busy },
	{ "limit-lifted", limit_lifted },
	{ "limit-again", limit_again },
	{ "limit-passed-on", limit_passed_on },
	{ "move", move },
	{ "multi-tune", multi_tune },
	{ "multi-release", multi_release },
	{ "multi-destroy", multi_destroy },
	{ "release-quiet", release_quiet },
	{ "reboot-submit", reboot_submit },
	{ "reboot-close", reboot_close },
	{}
};
