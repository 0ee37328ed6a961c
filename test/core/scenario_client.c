// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios in which a thread dies elsewhere than in a task of its own pool: in a
 * task of another pool that it runs for itself, and in a callback.
 */
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "internal.h"
#include "scenario.h"

static struct ants_pool *other;
static struct ants_multi *multi;
static unsigned int told, opened;

static void fault_fn(struct ants_pool *unused, ants_fn_t fn, void *data)
{
	told++;
}

static void gate_fn(void *unused)
{
	shim_wait_until(has_run, &opened);
}

static void die_fn(void *unused)
{
	kthread_exit(1);
}

static void hand_over_fn(void *data)
{
	run_fn(data);
	if (multi)
		ants_multi_submit(multi, die_fn, NULL);
	else
		ants_submit(other, die_fn, NULL);
	WARN(true, "the task was not run here");
}

static void begin(unsigned int flags, void (*room)(struct ants_pool *pool))
{
	const struct ants_attrs attrs = { .capacity = 1, .flags = flags,
					  .fault = fault_fn,
					  .space_available = room };

	told = 0;
	opened = 0;
	tasks_begin(&attrs);
}

static void hand_over(void)
{
	explore_begin();
	WARN_ON(submit_fn(hand_over_fn, 0));
	explore_call(submit_one, (void *)1, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	opened = 1;
}

static void end(void)
{
	tasks_drain();
	WARN(told != 1, "told %u times", told);
	WARN_ON(ants_pool_destroy(pool));
	tasks_end();
}

/* The other pool is full, so a task runs in the thread that submits it, and dies. */
static void run_inline(void)
{
	begin(0, NULL);
	other = ants_pool_create(&(struct ants_attrs) {
		.capacity = 1, .flags = ANTS_CALLER_RUNS }, "other");
	WARN_ON(ants_submit(other, gate_fn, NULL));
	hand_over();
	WARN_ON(ants_pool_destroy(other));
	end();
}

/* The same with all shards of a multi. */
static void run_inline_multi(void)
{
	begin(0, NULL);
	multi = ants_multi_create(&(struct ants_attrs) {
		.capacity = 2, .flags = ANTS_CALLER_RUNS }, 2, ANTS_ROUND_ROBIN,
		"multi");
	WARN_ON(ants_multi_submit(multi, gate_fn, NULL));
	WARN_ON(ants_multi_submit(multi, gate_fn, NULL));
	hand_over();
	WARN_ON(ants_multi_destroy(multi));
	multi = NULL;
	end();
}

/* It is called in an RCU section, which a thread leaves at its end. */
static void die_in_room(struct ants_pool *unused)
{
	if (!ants_this_worker())
		return;
	while (rcu_read_lock_held())
		rcu_read_unlock();
	kthread_exit(1);
}

static int try_fn(void *nr)
{
	int err = submit((unsigned long)nr);

	WARN(err && err != -EAGAIN, "error %d", err);
	return 0;
}

static int nice_fn(void *nice)
{
	WARN_ON(ants_set_nice(pool, (long)nice));
	return 0;
}

/* The callback for room takes the thread along that has made it. */
static void run_room(void)
{
	struct ants_stats stats;

	begin(ANTS_NONBLOCKING, die_in_room);
	explore_begin();
	WARN_ON(submit(0));
	explore_call(try_fn, (void *)1, "a");
	explore_call(try_fn, (void *)2, "b");
	explore_call(nice_fn, (void *)1, "nice");
	explore_join();
	WARN_ON(ants_flush(pool));
	explore_end();
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	ants_pool_stats(pool, &stats);
	WARN(stats.faults != told, "%llu faults, told %u times", stats.faults, told);
	/* A task that was to be the next one of that thread has not begun. */
	WARN(stats.completed + stats.lost != stats.submitted, "%llu + %llu of %llu",
	     stats.completed, stats.lost, stats.submitted);
	WARN_ON(ants_pool_destroy(pool));
	core_end();
}

const struct scenario scenarios_client[] = {
	{ "client-inline", run_inline },
	{ "client-inline-multi", run_inline_multi },
	{ "client-room", run_room },
	{}
};
