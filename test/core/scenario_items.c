// SPDX-License-Identifier: GPL-2.0-only
/* Scenarios of work items, with a timer and without, and of calls. */
#include <linux/slab.h>

#include "explore.h"

/**
 * struct thing - a work item
 * @dwork: the item
 * @runs: how often it ran
 * @again: how often it queues itself
 * @requeued: how often that succeeded
 * @accepted: how often others queued it, or waited to
 * @taken_back: number of runs that were cancelled
 */
struct thing {
	struct ants_delayed_work dwork;
	unsigned int runs;
	unsigned int again;
	unsigned int requeued;
	unsigned int accepted;
	unsigned int taken_back;
};

static struct ants_pool *pool;
static struct thing *thing;

static int thing_fn(struct ants_work *work)
{
	struct thing *t = container_of(work, struct thing, dwork.work);

	t->runs++;
	if (t->again) {
		t->again--;
		t->requeued += !ants_queue_work(pool, work);
	}
	return 7;
}

static void begin(const struct ants_attrs *attrs, unsigned int again)
{
	core_begin();
	pool = explore_pool(attrs);
	thing = kzalloc(sizeof(*thing), GFP_KERNEL);
	INIT_ANTS_DELAYED_WORK(&thing->dwork, thing_fn);
	thing->again = again;
}

/* Each time the item was queued, it ran or was cancelled. */
static void check(void)
{
	WARN_ON(ants_work_wait(&thing->dwork.work, NULL));
	WARN(thing->runs + thing->taken_back !=
	     thing->accepted + thing->requeued,
	     "%u runs, %u taken back, %u accepted, %u queued again",
	     thing->runs, thing->taken_back, thing->accepted, thing->requeued);
}

static void end(void)
{
	explore_join();
	if (thing)
		check();
	explore_end();
	explore_note(pool);
	WARN_ON(ants_pool_destroy(pool));
	kfree(thing);
	core_end();
}

static int queue_fn(void *unused)
{
	int err = ants_queue_work(pool, &thing->dwork.work);

	thing->accepted += !err;
	WARN(err && err != -EALREADY && err != -EAGAIN && err != -ECANCELED,
	     "error %d", err);
	return 0;
}

static int queue_wait_fn(void *unused)
{
	int err = ants_queue_work_timeout(pool, &thing->dwork.work,
					  MAX_SCHEDULE_TIMEOUT);

	/* -ECANCELED: the item was cancelled while its submitter waited. */
	thing->accepted += !err || err == -ECANCELED;
	WARN(err && err != -EALREADY && err != -ECANCELED, "error %d", err);
	return 0;
}

static int cancel_fn(void *unused)
{
	thing->taken_back += ants_work_cancel(&thing->dwork.work);
	return 0;
}

static int cancel_sync_fn(void *unused)
{
	thing->taken_back += ants_work_cancel_sync(&thing->dwork.work);
	return 0;
}

static int wait_fn(void *unused)
{
	int result;

	WARN_ON(ants_work_wait(&thing->dwork.work, &result));
	/* The item may not have been queued yet. */
	WARN(result != 7 && result != -ECANCELED && result != -EINVAL,
	     "result %d", result);
	return 0;
}

static void plain_fn(void *data)
{
	(*(unsigned int *)data)++;
}

/* --- without a timer ---------------------------------------------------------------- */

static void cancel_finish(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	queue_fn(NULL);
	explore_begin();
	explore_call(cancel_fn, NULL, "cancel");
	explore_call(wait_fn, NULL, "wait");
	end();
}

/* The first thread to see the end frees the item. */
static void cancel_sync_free(void)
{
	begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 1 }, 0);
	explore_begin();
	queue_fn(NULL);
	ants_work_cancel_sync(&thing->dwork.work);
	kfree(thing);
	thing = NULL;
	end();
}

static void wait_free(void)
{
	begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 1 }, 1);
	explore_begin();
	queue_fn(NULL);
	wait_fn(NULL);
	WARN(thing->runs != 2, "it ran %u times", thing->runs);
	kfree(thing);
	thing = NULL;
	end();
}

static void requeue(void)
{
	begin(&(struct ants_attrs) { .capacity = 2 }, 1);
	explore_begin();
	explore_call(queue_fn, NULL, "queue");
	explore_call(cancel_sync_fn, NULL, "cancel");
	explore_call(wait_fn, NULL, "wait");
	end();
}

static void requeue_full(void)
{
	unsigned int runs = 0;

	begin(&(struct ants_attrs) { .capacity = 1 }, 1);
	explore_begin();
	WARN_ON(ants_submit(pool, plain_fn, &runs));
	explore_call(queue_wait_fn, NULL, "queue");
	explore_call(cancel_fn, NULL, "cancel");
	explore_call(cancel_fn, NULL, "cancel");
	end();
}

static int stubborn_fn(struct ants_work *work)
{
	bool told = ants_work_cancelled(work);
	unsigned int requeued = thing->requeued;

	thing_fn(work);
	WARN(told && thing->requeued != requeued,
	     "an item that is waited for was queued again");
	return 7;
}

/* The item queues itself as long as it may. */
static void requeue_stubborn(void)
{
	begin(&(struct ants_attrs) { .capacity = 2 }, 4);
	thing->dwork.work.fn = stubborn_fn;
	explore_begin();
	queue_fn(NULL);
	explore_call(cancel_sync_fn, NULL, "sync");
	explore_call(cancel_sync_fn, NULL, "sync");
	end();
}

static int flush_fn(void *unused)
{
	WARN_ON(ants_flush(pool));
	return 0;
}

/* The last task of a flush is cancelled while the upkeep work runs. */
static void cancel_flush(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	queue_fn(NULL);
	explore_call(flush_fn, NULL, "flush");
	explore_call(cancel_fn, NULL, "cancel");
	end();
}

/* A thread asks whether the item is in a pool, while the pool is destroyed. */
static void item_destroy(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	queue_fn(NULL);
	explore_call(cancel_fn, NULL, "cancel");
	explore_call(cancel_sync_fn, NULL, "sync");
	wait_fn(NULL);
	WARN_ON(ants_pool_destroy(pool));
	explore_join();
	explore_end();
	kfree(thing);
	core_end();
}

static int flush_item_fn(void *unused)
{
	WARN_ON(ants_work_flush(&thing->dwork.work));
	return 0;
}

static void item_flush(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 1);
	explore_begin();
	queue_fn(NULL);
	explore_call(flush_item_fn, NULL, "flush");
	explore_call(cancel_fn, NULL, "cancel");
	end();
}

/* --- with one ----------------------------------------------------------------------- */

static int delay_fn(void *delay)
{
	int err = ants_queue_delayed_work(pool, &thing->dwork,
					  (unsigned long)delay);

	thing->accepted += !err;
	WARN(err && err != -EALREADY && err != -ECANCELED && err != -ESHUTDOWN,
	     "error %d", err);
	return 0;
}

static int mod_fn(void *delay)
{
	int ret = ants_mod_delayed_work(pool, &thing->dwork,
					(unsigned long)delay);

	thing->accepted += ret == 0;
	WARN(ret < 0 && ret != -ECANCELED, "error %d", ret);
	return 0;
}

static void delayed_cancel(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	delay_fn((void *)1);
	explore_call(mod_fn, (void *)2, "mod");
	explore_call(cancel_sync_fn, NULL, "cancel");
	end();
}

static void delayed_cancel_twice(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	delay_fn((void *)1);
	explore_call(cancel_fn, NULL, "cancel");
	explore_call(delay_fn, (void *)1, "again");
	explore_call(cancel_sync_fn, NULL, "sync");
	end();
}

/* Due items go ahead of callers that wait. */
static void delayed_late(void)
{
	unsigned int runs = 0;

	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	delay_fn((void *)1);
	WARN_ON(ants_submit(pool, plain_fn, &runs));
	WARN_ON(ants_submit(pool, plain_fn, &runs));
	explore_call(cancel_sync_fn, NULL, "cancel");
	end();
}

/* The timer may fire meanwhile; what is to run at once runs before a drain ends. */
static void delayed_drain(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	delay_fn((void *)1);
	mod_fn(NULL);
	WARN_ON(ants_drain(pool));
	WARN(thing->runs != thing->accepted, "%u runs, %u accepted",
	     thing->runs, thing->accepted);
	end();
}

/* The timer may be about to queue the item that was cancelled. */
static void delayed_flush(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	delay_fn((void *)1);
	cancel_fn(NULL);
	queue_fn(NULL);
	WARN_ON(ants_work_flush(&thing->dwork.work));
	WARN_ON(ants_flush(pool));
	WARN(thing->runs + thing->taken_back != thing->accepted,
	     "%u runs, %u taken back, %u accepted", thing->runs,
	     thing->taken_back, thing->accepted);
	end();
}

static void delayed_destroy(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	explore_call(delay_fn, (void *)1, "delay");
	explore_join();
	WARN_ON(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT));
	WARN(ants_work_result(&thing->dwork.work) !=
	     (thing->runs ? 7 : -ESHUTDOWN), "result %d",
	     ants_work_result(&thing->dwork.work));
	thing->taken_back = !thing->runs;
	end();
}

/* --- calls and loops ------------------------------------------------------------------ */

static int called_fn(void *data)
{
	return 100 + (*(unsigned int *)data)++;
}

static void called_release(void *data)
{
	WARN(*(unsigned int *)data > 1, "a call ran twice");
	kfree(data);
}

static int call_timeout_fn(void *unused)
{
	unsigned int *data = kzalloc(sizeof(*data), GFP_KERNEL);
	int ret = ants_call_release(pool, called_fn, data, 1, called_release);

	WARN(ret != 100 && ret != -EINPROGRESS && ret != -ETIMEDOUT,
	     "result %d", ret);
	return 0;
}

static int call_fn(void *timeout)
{
	unsigned int runs = 0;
	int ret = ants_call(pool, called_fn, &runs, (unsigned long)timeout);

	WARN(ret != (runs ? 100 : -ETIMEDOUT), "result %d, %u runs", ret, runs);
	return 0;
}

/* The thread that gives up is gone when it would be woken. */
static void call_leave(void)
{
	begin(&(struct ants_attrs) { .capacity = 1, .min_workers = 1 }, 0);
	explore_begin();
	explore_call(call_timeout_fn, NULL, "release");
	end();
}

static void calls(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0);
	explore_begin();
	explore_call(call_timeout_fn, NULL, "release");
	explore_call(call_fn, (void *)MAX_SCHEDULE_TIMEOUT, "call");
	explore_call(call_fn, (void *)1, "timeout");
	end();
}

static unsigned int seen[4];

static int each_fn(unsigned long i, void *ctx)
{
	shim_point();
	seen[i]++;
	return 0;
}

static void loop(void)
{
	unsigned int i;

	memset(seen, 0, sizeof(seen));
	begin(&(struct ants_attrs) { .capacity = 2 }, 0);
	explore_begin();
	WARN_ON(ants_for_each(pool, ARRAY_SIZE(seen), each_fn, NULL));
	for (i = 0; i < ARRAY_SIZE(seen); i++)
		WARN(seen[i] != 1, "number %u was seen %u times", i, seen[i]);
	end();
}

const struct scenario scenarios_items[] = {
	{ "cancel-finish", cancel_finish },
	{ "cancel-sync-free", cancel_sync_free },
	{ "wait-free", wait_free },
	{ "requeue", requeue },
	{ "requeue-full", requeue_full },
	{ "requeue-stubborn", requeue_stubborn },
	{ "cancel-flush", cancel_flush },
	{ "item-destroy", item_destroy },
	{ "item-flush", item_flush },
	{ "delayed-cancel", delayed_cancel },
	{ "delayed-cancel-twice", delayed_cancel_twice },
	{ "delayed-late", delayed_late },
	{ "delayed-drain", delayed_drain },
	{ "delayed-flush", delayed_flush },
	{ "delayed-destroy", delayed_destroy },
	{ "call-leave", call_leave },
	{ "calls", calls },
	{ "loop", loop },
	{}
};
