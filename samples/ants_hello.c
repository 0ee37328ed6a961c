// SPDX-License-Identifier: GPL-2.0-only
/* ants_hello: the smallest client: ten tasks, and a pool of four threads. */
#include <linux/ants.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/module.h>

static struct ants_pool *pool;

static void hello(void *data)
{
	msleep(20);
	pr_info("task %lu\n", (unsigned long)data);
}

static int __init hello_init(void)
{
	struct ants_attrs attrs = { .capacity = 4 };
	unsigned long i;
	int err = 0;

	pool = ants_pool_create(&attrs, "hello");
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	for (i = 0; i < 10 && !err; i++)
		err = ants_submit(pool, hello, (void *)i);	/* the fifth waits for the first */
	if (err)
		ants_pool_destroy(pool);
	return err;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
	ants_pool_destroy(pool);	/* waits for all tasks */
}
module_exit(hello_exit);

MODULE_DESCRIPTION("ants: the smallest client");
MODULE_AUTHOR("The ants authors");
MODULE_LICENSE("GPL");
