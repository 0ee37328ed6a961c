// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_load: work whose figures are known, for test/guest/tests/recipes.sh. It
 * needs no KUnit and uses the public header only. It is done when insmod
 * returns:
 *
 *	pool "disk"	NR_SLOW tasks, each of which ends SLOW_MS after the next
 *			one waits to be submitted, and NR_QUICK that do nothing
 *			and that nobody waits for
 *	pool "burst"	NR_BURSTS threads that are made for one task each
 */
#include <linux/ants.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/module.h>

#define NR_SLOW		4
#define SLOW_MS		100
#define NR_QUICK	20
#define NR_BURSTS	5

static struct ants_pool *pool;

static void load_quick(void *unused)
{
}

/* However slow the machine is, each submit but the first one has to wait. */
static void load_slow(void *last)
{
	while (!last && !ants_nr_waiting(pool))
		usleep_range(500, 1000);
	msleep(SLOW_MS);
}

static int run_slow(void)
{
	unsigned long i;
	int err = 0;

	for (i = 1; i <= NR_SLOW && !err; i++)
		err = ants_submit(pool, load_slow, (void *)(i / NR_SLOW));
	return err ?: ants_flush(pool);
}

static int run_quick(void)
{
	int i, err = 0;

	for (i = 0; i < NR_QUICK && !err; i++)
		err = ants_submit(pool, load_quick, NULL) ?: ants_flush(pool);
	return err;
}

static int disk(void)
{
	return run_slow() ?: run_quick();
}

static int bursts(void)
{
	int i, err = 0;

	for (i = 0; i < NR_BURSTS && !err; i++) {
		err = ants_submit(pool, load_quick, NULL) ?: ants_flush(pool);
		while (ants_nr_running(pool))
			usleep_range(500, 1000);
	}
	return err;
}

static int with_pool(const char *name, unsigned long expiry, int (*work)(void))
{
	struct ants_attrs attrs = { .capacity = 1, .expiry = expiry };
	int err;

	pool = ants_pool_create(&attrs, "%s", name);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	err = work();
	ants_pool_destroy(pool);
	return err;
}

static int __init ants_load_init(void)
{
	return with_pool("disk", 60 * HZ, disk) ?: with_pool("burst", 1, bursts);
}

static void __exit ants_load_exit(void)
{
}

module_init(ants_load_init);
module_exit(ants_load_exit);

MODULE_DESCRIPTION("ants: work whose figures are known");
MODULE_AUTHOR("The ants authors");
MODULE_LICENSE("GPL");
