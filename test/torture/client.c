// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_torture_client: submits work of all kinds, to a pool of its own and to
 * the system pool, and is unloaded in the midst of it. ants must wait for
 * whatever its exit function leaves behind. ants_torture keeps its accounts.
 */
#include <linux/ants.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "client.h"

#define NR_TASKS	16
#define NR_ITEMS	4

static uint act;
module_param(act, uint, 0444);
MODULE_PARM_DESC(act, "how it ends, a number: bit 0, with work of the system pool left behind; bit 1, with its own pool forgotten (default 0)");

static struct ants_pool *pool;

/**
 * struct client_item - a work item in static memory
 * @dwork: the item
 * @number: the number of its task in the accounts of ants_torture
 * @hops: how often it queues itself again
 */
static struct client_item {
	struct ants_delayed_work dwork;
	unsigned long number;
	unsigned int hops;
} items[NR_ITEMS];

static void client_task(void *number)
{
	usleep_range(100, 20000);
	torture_ran((unsigned long)number);
	/* The pool that all share would take no more tasks after too many. */
	if (ants_current_pool() != ants_system_pool)
		torture_end_thread((unsigned long)number);
}

static void submit(struct ants_pool *to)
{
	unsigned long number = torture_open();

	if (number)
		torture_close(number, ants_try_submit(to, client_task,
						      (void *)number));
}

static int client_item_run(struct ants_work *work)
{
	struct client_item *item =
		container_of(work, struct client_item, dwork.work);

	usleep_range(100, 5000);
	if (item->hops) {
		item->hops--;
		ants_queue_delayed_work(ants_system_pool, &item->dwork, 1);
	}
	return 0;
}

static int client_call(void *unused)
{
	usleep_range(1000, 30000);
	return 0;
}

static void client_release(void *unused)
{
}

static int __init client_init(void)
{
	struct ants_attrs attrs = { .capacity = 3, .queue_depth = NR_TASKS,
				    .max_faults = INT_MAX };
	unsigned int i;

	pool = ants_pool_create(&attrs, "torture-client");
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	for (i = 0; i < NR_TASKS; i++) {
		submit(pool);
		submit(ants_system_pool);
	}
	for (i = 0; i < NR_ITEMS; i++) {
		INIT_ANTS_DELAYED_WORK(&items[i].dwork, client_item_run);
		items[i].hops = 3;
		ants_queue_delayed_work(ants_system_pool, &items[i].dwork, i);
	}
	ants_call_release(ants_system_pool, client_call, NULL, 1,
			  client_release);
	return 0;
}
module_init(client_init);

static void __exit client_exit(void)
{
	unsigned int i;

	if (!(act & BIT(0)))
		for (i = 0; i < NR_ITEMS; i++)
			ants_work_cancel_sync(&items[i].dwork.work);
	if (!(act & BIT(1)))
		ants_pool_destroy(pool);
}
module_exit(client_exit);

MODULE_DESCRIPTION("ants: client that is unloaded during the torture");
MODULE_LICENSE("GPL");
