// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of a client whose module is unloaded while its tasks are in a pool
 * of another module, or in one that it forgot.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"
#include "explore.h"

/**
 * struct client - the module's static data, which goes with its text
 * @dwork: the item that it has queued
 * @again: how often the item queues itself
 */
struct client {
	struct ants_delayed_work dwork;
	unsigned int again;
};

static struct ants_pool *pool, *other;
static struct client *client;
static unsigned int runs;

static void begin(const struct ants_attrs *attrs, ants_work_fn_t fn)
{
	core_begin();
	runs = 0;
	pool = explore_pool(attrs);
	client = kzalloc(sizeof(*client), GFP_KERNEL);
	INIT_ANTS_DELAYED_WORK(&client->dwork, fn);
}

/* When this returns, nothing of the module is in use. */
static int unload_fn(void *unused)
{
	shim_module_going(&shim_client);
	kfree(client);
	client = NULL;
	return 0;
}

static void unload(void)
{
	explore_call(unload_fn, NULL, "rmmod");
	explore_join();
}

static void end(void)
{
	explore_end();
	WARN_ON(ants_pool_destroy(pool));
	core_end();
}

static void check_text(void)
{
	WARN(!client, "a function runs whose module is gone");
	runs++;
}

static SHIM_CLIENT void task_fn(void *unused)
{
	check_text();
	shim_point();
}

static SHIM_CLIENT int again_fn(struct ants_work *work)
{
	check_text();
	shim_point();
	if (client->again) {
		client->again--;
		WARN_ON(ants_queue_work(pool, work));
	}
	return 0;
}

static void foreign_fn(void *unused)
{
	shim_point();
}

/*
 * A work item runs and is queued again while the pools are scanned. A task of
 * another module is ahead of it, so no worker runs it meanwhile.
 */
static void unload_requeue(void)
{
	begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 1 },
	      again_fn);
	client->again = 1;
	explore_begin();
	WARN_ON(ants_queue_work(pool, &client->dwork.work));
	WARN_ON(ants_submit(pool, foreign_fn, NULL));
	unload();
	WARN(runs != 2, "it ran %u times", runs);
	end();
}

/* A scan and a cancel see them in two holds of the lock. */
#define MANY	(ANTS_HOLD_MAX + 3)

/* The entry at which both are between these holds. */
static struct ants_work middle;

static int foreign_item_fn(struct ants_work *work)
{
	shim_point();
	return 0;
}

/* Is the pending task one that is to be cancelled? Count those looked at. */
static bool pick_marked(ants_fn_t fn, void *data, void *seen)
{
	++*(unsigned int *)seen;
	return fn && data;
}

static int cancel_marked_fn(void *unused)
{
	unsigned int seen = 0, nr;

	nr = ants_cancel_pending(pool, pick_marked, &seen);
	WARN(nr > 1, "%u tasks were cancelled", nr);
	return 0;
}

/* The entry moves behind all others. */
static int move_middle_fn(void *unused)
{
	if (!ants_work_cancel(&middle))
		return 0;
	ants_work_init(&middle, foreign_item_fn, 0);
	WARN_ON(ants_queue_work(pool, &middle));
	return 0;
}

/*
 * A scan and a cancel walk over the pending tasks while the entry that both
 * would see next goes. Behind it is a task of the module.
 */
static void unload_cancel(void)
{
	const struct ants_attrs attrs = { .capacity = 1, .queue_depth = MANY };
	unsigned int i;

	begin(&attrs, again_fn);
	ants_work_init(&middle, foreign_item_fn, 0);
	for (i = 0; i < ANTS_HOLD_MAX; i++)
		WARN_ON(ants_submit(pool, foreign_fn, NULL));
	WARN_ON(ants_queue_work(pool, &middle));
	WARN_ON(ants_submit(pool, task_fn, NULL));
	WARN_ON(ants_submit(pool, foreign_fn, "marked"));
	explore_begin();
	explore_call(cancel_marked_fn, NULL, "cancel");
	explore_call(move_middle_fn, NULL, "move");
	unload();
	WARN(runs != 1, "it ran %u times", runs);
	end();
}

static SHIM_CLIENT int rearm_fn(struct ants_work *work)
{
	check_text();
	shim_point();
	if (client->again) {
		client->again--;
		WARN_ON(ants_queue_delayed_work(pool, &client->dwork, 1));
	}
	return 0;
}

static void unload_delayed(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, rearm_fn);
	client->again = 1;
	explore_begin();
	WARN_ON(ants_queue_delayed_work(pool, &client->dwork, 1));
	unload();
	WARN(runs != 2, "it ran %u times", runs);
	end();
}

static SHIM_CLIENT void hand_on_fn(void *to)
{
	check_text();
	if (to)
		WARN_ON(ants_submit(to, task_fn, NULL));
}

/* Each task submits the next one, to a pool that was already scanned. */
static void unload_hand_on(void)
{
	const struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };

	begin(&attrs, again_fn);
	other = ants_pool_create(&attrs, "other");
	explore_begin();
	WARN_ON(ants_submit(other, hand_on_fn, pool));
	WARN_ON(ants_submit(pool, hand_on_fn, other));
	unload();
	WARN(runs != 4, "they ran %u times", runs);
	WARN_ON(ants_pool_destroy(other));
	end();
}

static SHIM_CLIENT int call_fn(void *unused)
{
	check_text();
	return 0;
}

static SHIM_CLIENT void release_fn(void *unused)
{
	check_text();
	shim_point();
}

/* The caller belongs to another module, and never runs a function of the client. */
static int wait_for_call_fn(void *unused)
{
	WARN_ON(ants_call(pool, call_fn, NULL, MAX_SCHEDULE_TIMEOUT));
	return 0;
}

static bool is_called(void *unused)
{
	return runs || ants_nr_pending(pool) || ants_nr_busy(pool);
}

/* A call of another module for a function of the client is pending, or runs. */
static void unload_call(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, again_fn);
	explore_begin();
	explore_call(wait_for_call_fn, NULL, "call");
	shim_wait_until(is_called, NULL);
	unload();
	WARN(runs != 1, "it ran %u times", runs);
	end();
}

static int give_up_fn(void *unused)
{
	int ret = ants_call_release(pool, call_fn, NULL, 1, release_fn);

	WARN(ret && ret != -EIO && ret != -ETIMEDOUT && ret != -EINPROGRESS,
	     "result %d", ret);
	return 0;
}

static SHIM_CLIENT void die_fn(void *unused)
{
	check_text();
	kthread_exit(1);
}

/* A call whose caller has left is pending when the breaker trips. */
static void unload_drop(void)
{
	const struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1,
					  .max_faults = 1 };

	begin(&attrs, again_fn);
	explore_begin();
	WARN_ON(ants_submit(pool, die_fn, NULL));
	explore_call(give_up_fn, NULL, "call");
	explore_join();
	unload();
	end();
}

static SHIM_CLIENT void hear_fn(struct ants_pool *from, ants_fn_t fn, void *data)
{
	check_text();
	shim_point();
}

/* The client of a pool is told of the death while it goes. */
static void unload_fault(void)
{
	const struct ants_attrs attrs = { .capacity = 1, .fault = hear_fn };

	begin(&attrs, again_fn);
	explore_begin();
	WARN_ON(ants_submit(pool, die_fn, NULL));
	unload();
	WARN(runs != 2, "they ran %u times", runs);
	end();
}

static SHIM_CLIENT int die_call(void *unused)
{
	check_text();
	kthread_exit(1);
}

/* Its caller has left, so a kernel work item gives the data of the call back. */
static void unload_fault_call(void)
{
	int ret;

	begin(&(struct ants_attrs) { .capacity = 1 }, again_fn);
	explore_begin();
	ret = ants_call_release(pool, die_call, NULL, 1, release_fn);
	WARN(ret != -EFAULT && ret != -EINPROGRESS && ret != -ETIMEDOUT,
	     "result %d", ret);
	unload();
	end();
}

const struct scenario scenarios_unload[] = {
	{ "unload-requeue", unload_requeue },
	{ "unload-cancel", unload_cancel },
	{ "unload-delayed", unload_delayed },
	{ "unload-hand-on", unload_hand_on },
	{ "unload-call", unload_call },
	{ "unload-drop", unload_drop },
	{ "unload-fault", unload_fault },
	{ "unload-fault-call", unload_fault_call },
	{}
};
