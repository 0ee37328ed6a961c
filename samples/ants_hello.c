// SPDX-License-Identifier: GPL-2.0-only
/* ants_hello: the smallest client of ants. Ten tasks, a pool of four threads. */
#include <linux/ants.h>
#include <linux/err.h>
#include <linux/module.h>

static struct ants_pool *pool;

static void hello(void *data)
{
	pr_info("ants_hello: task %lu\n", (unsigned long)data);
}

static int __init ants_hello_init(void)
{
	struct ants_attrs attrs = { .capacity = 4 };
	unsigned long i;
	int err = 0;

	pool = ants_pool_create(&attrs, "hello");
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	for (i = 0; i < 10 && !err; i++)	/* waits when four are busy */
		err = ants_submit(pool, hello, (void *)i);
	if (err)
		ants_pool_destroy(pool);
	return err;
}
module_init(ants_hello_init);

static void __exit ants_hello_exit(void)
{
	ants_pool_destroy(pool);	/* waits for the tasks */
}
module_exit(ants_hello_exit);

MODULE_DESCRIPTION("ants: the smallest client");
MODULE_AUTHOR("The ants authors");
MODULE_LICENSE("GPL");
