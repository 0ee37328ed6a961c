// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_client: a client of ants that behaves as act=NAME says, well or badly,
 * when it is loaded and when it is unloaded. Its tasks wait at the gate of
 * ants_ctl and count in its progress, which outlives the client.
 */
#define pr_fmt(fmt) "ants_client: " fmt

#include <linux/ants.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/string.h>

#include "ants_ctl.h"

static char *act = "idle";
module_param(act, charp, 0444);
MODULE_PARM_DESC(act, "what to do (default idle)");

static uint tasks = 6;
module_param(tasks, uint, 0444);
MODULE_PARM_DESC(tasks, "how many tasks (default 6)");

struct behaviour {
	const char *act;
	int (*load)(void);
	void (*unload)(void);
};

static const struct behaviour *behaviour;
static struct ants_pool *pool;
static struct ants_multi *multi;
static struct task_struct *submitter;
static atomic_t hops_left;

static void held(void *unused)
{
	ants_ctl_pass();
	atomic_inc(&ants_ctl_progress);
}

static int submit_held(struct ants_pool *to, unsigned int nr)
{
	int err = 0;

	while (nr-- && !err)
		err = ants_submit(to, held, NULL);
	return err;
}

/* Two threads that always exist and up to two more; up to 64 pending tasks. */
static int make_pool(void)
{
	struct ants_attrs attrs = {
		.capacity = 4,
		.min_workers = 2,
		.queue_depth = 64,
	};

	pool = ants_pool_create(&attrs, "client");
	return PTR_ERR_OR_ZERO(pool);
}

static int make_busy_pool(void)
{
	return make_pool() ?: submit_held(pool, tasks);
}

/* Three shards that share four threads, 64 pending tasks and the name. */
static int make_shards(enum ants_strategy strategy)
{
	struct ants_attrs attrs = { .capacity = 4, .queue_depth = 64 };

	multi = ants_multi_create(&attrs, 3, strategy, "client");
	return PTR_ERR_OR_ZERO(multi);
}

static int make_multi(void)
{
	return make_shards(ANTS_ROUND_ROBIN);
}

static int make_local_multi(void)
{
	return make_shards(ANTS_LOCAL);
}

/* Each CPU takes turns by itself: calls from one CPU spread evenly. */
static int make_busy_multi(void)
{
	unsigned int nr = tasks;
	int err = make_multi();

	migrate_disable();
	while (nr-- && !err)
		err = ants_multi_submit(multi, held, NULL);
	migrate_enable();
	return err;
}

static void destroy_multi(void)
{
	ants_multi_destroy(multi);
}

static void destroy_pool(void)
{
	ants_pool_destroy(pool);
}

static void do_nothing(void)
{
}

static int use_system_pool(void)
{
	return submit_held(ants_system_pool, tasks);
}

static int use_other_pool(void)
{
	struct ants_pool *other = ants_ctl_pool("other");

	return other ? submit_held(other, tasks) : -ENOENT;
}

static void released(void *unused)
{
	atomic_inc(&ants_ctl_progress);
}

/* Only the function that releases the data is the client's. */
static int call_other(void)
{
	unsigned int nr = tasks;
	int err = -EINPROGRESS;

	while (nr-- && err == -EINPROGRESS)
		err = ants_call_release(ants_system_pool, ants_ctl_call, NULL,
					HZ, released);
	return err == -EINPROGRESS ? 0 : -EIO;
}

/* Fail to load, leaving the pool and its tasks behind. */
static int fail(void)
{
	return make_busy_pool() ?: -ENODEV;
}

static int fail_clean(void)
{
	int err = make_pool();

	if (!err)
		ants_pool_destroy(pool);
	return err ?: -ENODEV;
}

static int submitter_fn(void *unused)
{
	int err = ants_submit(pool, held, NULL);

	pr_info("the submitter got %d\n", err);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return err;
}

/* A thread of the client waits for room in the client's pool. */
static int block_submitter(void)
{
	struct ants_attrs attrs = { .capacity = 1 };
	int err;

	pool = ants_pool_create(&attrs, "client");
	err = PTR_ERR_OR_ZERO(pool) ?: submit_held(pool, 1);
	if (err)
		return err;
	submitter = kthread_run(submitter_fn, NULL, "client_submit");
	return PTR_ERR_OR_ZERO(submitter);
}

static void stop_then_destroy(void)
{
	kthread_stop(submitter);
	ants_pool_destroy(pool);
}

static void release_then_stop(void)
{
	ants_release(pool);
	kthread_stop(submitter);
	ants_pool_destroy(pool);
}

/* The pool is destroyed while the submitter is still leaving it. */
static void destroy_then_stop(void)
{
	ants_pool_destroy(pool);
	kthread_stop(submitter);
}

/* The submitter is stopped, the pool is not destroyed. */
static void stop_then_forget(void)
{
	kthread_stop(submitter);
}

/* One task at a time, which submits the next one to the other pool. */
static void hop(void *to)
{
	struct ants_pool *other = ants_ctl_pool("other");
	int err = 0;

	ants_ctl_pass();
	atomic_inc(&ants_ctl_progress);
	if (atomic_dec_return(&hops_left) > 0)
		err = ants_try_submit(to, hop, to == other ? ants_system_pool :
							     other);
	if (err)
		pr_err("the chain broke: %d\n", err);
}

static int start_chain(void)
{
	struct ants_pool *other = ants_ctl_pool("other");

	atomic_set(&hops_left, tasks);
	return other ? ants_submit(other, hop, ants_system_pool) : -ENOENT;
}

/*
 * The item queues itself again and again, each time behind a task of another
 * module.
 */
static int come_again(struct ants_work *work)
{
	struct ants_pool *other = ants_ctl_pool("other");
	int err;

	ants_ctl_pass();
	atomic_inc(&ants_ctl_progress);
	if (atomic_dec_return(&hops_left) <= 0)
		return 0;
	err = ants_try_submit(other, ants_ctl_task, NULL);
	if (err && err != -ENOMEM)
		pr_err("the other task was refused: %d\n", err);
	err = ants_queue_work(other, work);
	if (err)
		pr_err("the item was refused: %d\n", err);
	return err;
}

static DEFINE_ANTS_WORK(coming, come_again);

static int start_coming(void)
{
	struct ants_pool *other = ants_ctl_pool("other");

	atomic_set(&hops_left, tasks);
	return other ? ants_queue_work(other, &coming) : -ENOENT;
}

static int held_item(struct ants_work *work)
{
	held(NULL);
	return 0;
}

static DEFINE_ANTS_DELAYED_WORK(late, held_item);

/* An item has become due, and the other pool has no room for it. */
static int be_late(void)
{
	struct ants_pool *other = ants_ctl_pool("other");
	int err;

	err = other ? ants_queue_delayed_work(other, &late, 0) : -ENOENT;
	while (timer_pending(&late.timer))
		schedule_timeout_idle(1);
	/* Nor is the timer's function about to run. */
	timer_delete_sync(&late.timer);
	return err;
}

static DEFINE_ANTS_WORK(inner, held_item);

/* The item runs in the same thread, since there is no other one. */
static void fork_and_join(void *other)
{
	int err = ants_queue_work(other, &inner) ?:
		  ants_work_wait(&inner, NULL);

	if (err)
		pr_err("the inner item failed: %d\n", err);
}

/* A task of the other pool, with an item inside it. */
static int run_inside(void)
{
	struct ants_pool *other = ants_ctl_pool("other");

	return other ? ants_submit(other, fork_and_join, other) : -ENOENT;
}

static int be_late_with_high_priority(void)
{
	late.work.prio = ANTS_PRIO_HIGH;
	return be_late();
}

static const struct behaviour behaviours[] = {
	{ "idle", make_pool, destroy_pool },
	{ "busy", make_busy_pool, destroy_pool },
	{ "forget", make_pool, do_nothing },
	{ "forget_busy", make_busy_pool, do_nothing },
	{ "system", use_system_pool, do_nothing },
	{ "other", use_other_pool, do_nothing },
	{ "inside", run_inside, do_nothing },
	{ "call_other", call_other, do_nothing },
	{ "fail", fail, do_nothing },
	{ "fail_clean", fail_clean, do_nothing },
	{ "stop", block_submitter, stop_then_destroy },
	{ "release", block_submitter, release_then_stop },
	{ "destroy", block_submitter, destroy_then_stop },
	{ "stop_forget", block_submitter, stop_then_forget },
	{ "chain", start_chain, do_nothing },
	{ "come_again", start_coming, do_nothing },
	{ "late", be_late, do_nothing },
	{ "late_high", be_late_with_high_priority, do_nothing },
	{ "multi", make_busy_multi, destroy_multi },
	{ "multi_local", make_local_multi, destroy_multi },
	{ "multi_forget", make_multi, do_nothing },
	{ "multi_forget_busy", make_busy_multi, do_nothing },
};

static int __init ants_client_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(behaviours); i++)
		if (!strcmp(act, behaviours[i].act))
			behaviour = &behaviours[i];
	if (!behaviour)
		return -EINVAL;
	return behaviour->load();
}
module_init(ants_client_init);

static void __exit ants_client_exit(void)
{
	behaviour->unload();
}
module_exit(ants_client_exit);

MODULE_DESCRIPTION("ants: a client that behaves as it is told");
MODULE_LICENSE("GPL");
