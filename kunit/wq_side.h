/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One side of workqueue_diff_test.c, which includes this file twice: on workqueues, and
 * on pools. SIDE(name) is what a name is on this side, SIDE_MAKE_FULL makes a
 * workqueue whose items wait for room.
 */

#define side_item	SIDE(item)

struct side_item {
	struct delayed_work dwork;
	void (*fn)(void *data);
	void *data;
};

static struct delayed_work *SIDE(of)(void *item)
{
	return &((struct side_item *)item)->dwork;
}

static void SIDE(fn)(struct work_struct *work)
{
	struct side_item *item = container_of(work, struct side_item, dwork.work);

	item->fn(item->data);
}

static void *SIDE(item_make)(void (*fn)(void *data), void *data)
{
	struct side_item *item = kzalloc(sizeof(*item), GFP_KERNEL);

	if (!item)
		return NULL;
	INIT_DELAYED_WORK(&item->dwork, SIDE(fn));
	item->fn = fn;
	item->data = data;
	return item;
}

static void SIDE(item_init)(void *item)
{
	INIT_DELAYED_WORK(SIDE(of)(item), SIDE(fn));
}

static void *SIDE(make)(unsigned int max, bool full)
{
	if (full)
		return SIDE_MAKE_FULL;
	if (max == 1)
		return alloc_ordered_workqueue("diff", 0);
	return alloc_workqueue("diff", WQ_UNBOUND, max);
}

static void SIDE(destroy)(void *wq)
{
	destroy_workqueue(wq);
}

static void SIDE(drain)(void *wq)
{
	drain_workqueue(wq);
}

static void SIDE(flush_all)(void *wq)
{
	struct workqueue_struct *queue = wq;

	flush_workqueue(queue);
}

static bool SIDE(queue)(void *wq, void *item)
{
	return queue_work(wq, &SIDE(of)(item)->work);
}

static bool SIDE(queue_delayed)(void *wq, void *item, unsigned long delay)
{
	return queue_delayed_work(wq, SIDE(of)(item), delay);
}

static bool SIDE(mod)(void *wq, void *item, unsigned long delay)
{
	return mod_delayed_work(wq, SIDE(of)(item), delay);
}

static bool SIDE(cancel)(void *item)
{
	return cancel_delayed_work(SIDE(of)(item));
}

static bool SIDE(cancel_sync)(void *item)
{
	return cancel_delayed_work_sync(SIDE(of)(item));
}

static bool SIDE(flush)(void *item)
{
	return flush_work(&SIDE(of)(item)->work);
}

static bool SIDE(flush_delayed)(void *item)
{
	return flush_delayed_work(SIDE(of)(item));
}

static unsigned int SIDE(busy)(void *item)
{
	return work_busy(&SIDE(of)(item)->work);
}

static struct timer_list *SIDE(timer)(void *item)
{
	return SIDE_TIMER(SIDE(of)(item));
}

static const struct wq_side SIDE(side) = {
	.item_make = SIDE(item_make),
	.item_init = SIDE(item_init),
	.make = SIDE(make),
	.destroy = SIDE(destroy),
	.drain = SIDE(drain),
	.flush_all = SIDE(flush_all),
	.queue = SIDE(queue),
	.queue_delayed = SIDE(queue_delayed),
	.mod = SIDE(mod),
	.cancel = SIDE(cancel),
	.cancel_sync = SIDE(cancel_sync),
	.flush = SIDE(flush),
	.flush_delayed = SIDE(flush_delayed),
	.busy = SIDE(busy),
	.timer = SIDE(timer),
};

#undef side_item
#undef SIDE
#undef SIDE_MAKE_FULL
#undef SIDE_TIMER
