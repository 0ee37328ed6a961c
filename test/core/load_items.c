// SPDX-License-Identifier: GPL-2.0-only
/* Work items and calls. */
#include <linux/slab.h>

#include "load.h"

/**
 * struct item - a work item that counts its runs
 * @work: the item
 * @pool: where it is queued
 * @runs: how often it ran
 * @again: how often it queues itself
 * @requeued: how often that succeeded
 */
struct item {
	struct ants_work work;
	struct ants_pool *pool;
	unsigned int runs;
	unsigned int again;
	unsigned int requeued;
};

static int item_fn(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, work);

	load_run();
	item->runs++;
	if (item->again) {
		item->again--;
		item->requeued += !ants_queue_work(item->pool, work);
	}
	return 7;
}

static struct item *item_make(struct submitter *s, unsigned int again)
{
	struct item *item = kzalloc(sizeof(*item), GFP_KERNEL);

	INIT_ANTS_WORK(&item->work, item_fn);
	item->work.prio = load_random(&s->random, 2);
	item->pool = load_pool(s);
	item->again = again;
	return item;
}

/* Some items may wait for room, others may not. */
static int item_queue(struct submitter *s, struct item *item)
{
	int err;

	if (load_random(&s->random, 2))
		err = ants_queue_work(item->pool, &item->work);
	else
		err = ants_queue_work_timeout(item->pool, &item->work, 3);
	load_expect(err, "queue_work");
	return err;
}

static unsigned int item_end(struct item *item, unsigned int expected)
{
	WARN(item->runs != expected, "an item ran %u times, not %u", item->runs,
	     expected);
	kfree(item);
	return expected;
}

unsigned int load_item_wait(struct submitter *s)
{
	struct item *item = item_make(s, 0);
	int result = 0;

	if (item_queue(s, item))
		return item_end(item, 0);
	while (ants_work_wait_timeout(&item->work, 1, &result))
		;
	WARN(result != 7, "result %d", result);
	return item_end(item, 1);
}

unsigned int load_item_cancel(struct submitter *s)
{
	struct item *item = item_make(s, 0);
	bool cancelled;

	if (item_queue(s, item))
		return item_end(item, 0);
	cancelled = ants_work_cancel_sync(&item->work);
	WARN(ants_work_result(&item->work) != (cancelled ? -ECANCELED : 7),
	     "result %d", ants_work_result(&item->work));
	return item_end(item, !cancelled);
}

/* An item that is cancelled while it is queued again has run at least once. */
unsigned int load_item_again(struct submitter *s)
{
	struct item *item = item_make(s, 1 + load_random(&s->random, 4));
	unsigned int expected;
	bool taken_back = false;

	if (item_queue(s, item))
		return item_end(item, 0);
	if (load_random(&s->random, 2))
		taken_back = ants_work_cancel_sync(&item->work);
	else
		WARN_ON(ants_work_wait(&item->work, NULL));
	expected = 1 + item->requeued - taken_back;
	return item_end(item, expected);
}

static int detached_fn(struct ants_work *work)
{
	load_run();
	kfree(container_of(work, struct item, work));
	return 0;
}

unsigned int load_item_detached(struct submitter *s)
{
	struct item *item = item_make(s, 0);

	INIT_ANTS_WORK_DETACHED(&item->work, detached_fn);
	if (!item_queue(s, item))
		return 1;
	kfree(item);
	return 0;
}

/* --- delayed ones ------------------------------------------------------------------ */

struct delayed {
	struct ants_delayed_work dwork;
	unsigned int runs;
};

static int delayed_fn(struct ants_work *work)
{
	struct delayed *d = container_of(work, struct delayed, dwork.work);

	load_run();
	d->runs++;
	return 7;
}

static unsigned int delayed_end(struct delayed *d, bool cancelled)
{
	int result = ants_work_result(&d->dwork.work);
	unsigned int runs = d->runs;

	/* If its pool was released it did not run either. */
	WARN(runs > 1, "a delayed item ran %u times", runs);
	WARN(runs != (result == 7), "%u runs, result %d", runs, result);
	WARN(runs && cancelled, "cancelled, and it ran");
	ants_destroy_delayed_work_on_stack(&d->dwork);
	kfree(d);
	return runs;
}

unsigned int load_item_delayed(struct submitter *s)
{
	struct delayed *d = kzalloc(sizeof(*d), GFP_KERNEL);
	struct ants_pool *pool = load_pool(s);
	bool cancelled = false;
	int err;

	INIT_ANTS_DELAYED_WORK_ONSTACK(&d->dwork, delayed_fn);
	err = ants_queue_delayed_work(pool, &d->dwork,
				      load_random(&s->random, 3));
	load_expect(err, "queue_delayed_work");
	if (err) {
		kfree(d);
		return 0;
	}
	/* If the item has run by now, this would be a second run. */
	if (load_random(&s->random, 3) == 0)
		cancelled = ants_work_cancel_sync(&d->dwork.work);
	else
		WARN_ON(ants_work_wait(&d->dwork.work, NULL));
	return delayed_end(d, cancelled);
}

/* --- calls ------------------------------------------------------------------------- */

static int call_fn(void *data)
{
	unsigned int *runs = data;

	load_run();
	return 100 + (*runs)++;
}

unsigned int load_call(struct submitter *s)
{
	unsigned int runs = 0;
	int ret = ants_call(load_pool(s), call_fn, &runs,
			    load_random(&s->random, 2) ?
			    MAX_SCHEDULE_TIMEOUT : 1);

	if (ret == 100) {
		WARN(runs != 1, "a call ran %u times", runs);
		return 1;
	}
	load_expect(ret, "call");
	WARN(runs, "a call that failed ran");
	return 0;
}

static void call_release(void *data)
{
	unsigned int *runs = data;

	WARN(*runs > 1, "a call ran %u times", *runs);
	kfree(data);
}

unsigned int load_call_timeout(struct submitter *s)
{
	unsigned int *runs = kzalloc(sizeof(*runs), GFP_KERNEL);
	int ret = ants_call_release(load_pool(s), call_fn, runs,
				    load_random(&s->random, 3), call_release);

	if (ret != 100 && ret != -EINPROGRESS)
		load_expect(ret, "call_release");
	return ret == 100;
}

#define MOST_NUMBERS	200

struct each_load {
	unsigned int seen[MOST_NUMBERS];
	unsigned long fail_at;
};

static int each_fn(unsigned long i, void *ctx)
{
	struct each_load *load = ctx;

	load_run();
	__atomic_fetch_add(&load->seen[i], 1, __ATOMIC_RELAXED);
	return i == load->fail_at ? -EAGAIN : 0;
}

unsigned int load_each(struct submitter *s)
{
	unsigned long i, n = load_random(&s->random, MOST_NUMBERS);
	struct each_load load = {
		.fail_at = load_random(&s->random, 4) ? MOST_NUMBERS : n / 2,
	};
	int err = ants_for_each(load_pool(s), n, each_fn, &load);

	load_expect(err, "for_each");
	for (i = 0; i < n; i++)
		WARN(err ? load.seen[i] > 1 : load.seen[i] != 1,
		     "number %lu was seen %u times", i, load.seen[i]);
	return err ? 0 : n;
}
