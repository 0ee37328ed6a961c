// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants.ko: a bounded pool of kernel threads.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/module.h>

#include "internal.h"

static unsigned int system_capacity = 256;
module_param(system_capacity, uint, 0444);
MODULE_PARM_DESC(system_capacity,
		 "capacity of the system pool, in threads (default 256)");

module_param_named(max_threads, ants_max_threads, uint, 0644);
MODULE_PARM_DESC(max_threads,
		 "most threads of all pools; each pool may always have one (default 0, no limit)");

struct ants_pool *ants_system_pool;
EXPORT_SYMBOL_GPL(ants_system_pool);

static int __init system_pool_init(void)
{
	struct ants_attrs attrs = { .capacity = system_capacity };
	struct ants_pool *pool;

	pool = system_capacity ?
	       __ants_pool_create(NULL, NULL, false, &attrs, "system") :
	       ERR_PTR(-EINVAL);
	if (IS_ERR(pool)) {
		pr_err("cannot make the system pool with system_capacity=%u: %pe\n",
		       system_capacity, pool);
		return PTR_ERR(pool);
	}
	pool->protected = true;
	ants_system_pool = pool;
	return 0;
}

static int __init ants_init(void)
{
	int err;

	err = ants_slot_cache_init();
	if (err)
		return err;
	err = -ENOMEM;
	/*
	 * A client's function may flush a workqueue here that has no rescuer. Without
	 * __WQ_LEGACY the workqueue code would warn of that.
	 */
	ants_wq = alloc_workqueue("ants", WQ_UNBOUND | WQ_MEM_RECLAIM |
				  __WQ_LEGACY, 0);
	if (!ants_wq)
		goto err_cache;
	ants_makers_wq = alloc_workqueue("ants_makers",
					 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ants_makers_wq)
		goto err_ants_wq;
	err = ants_sysfs_init();
	if (err)
		goto err_wq;
	err = ants_hotplug_init();
	if (err)
		goto err_sysfs;
	err = ants_unload_init();
	if (err)
		goto err_hotplug;
	err = system_pool_init();
	if (err)
		goto err_unload;
	return 0;

err_unload:
	ants_unload_exit();
	ants_pools_wait_freed();
err_hotplug:
	ants_hotplug_exit();
err_sysfs:
	ants_sysfs_exit();
err_wq:
	destroy_workqueue(ants_makers_wq);
err_ants_wq:
	destroy_workqueue(ants_wq);
err_cache:
	ants_slot_cache_exit();
	return err;
}

static void __exit ants_exit(void)
{
	ants_unload_exit();
	__ants_pool_destroy(ants_system_pool);
	ants_pools_wait_freed();
	ants_hotplug_exit();
	ants_sysfs_exit();
	destroy_workqueue(ants_makers_wq);
	destroy_workqueue(ants_wq);
	ants_slot_cache_exit();
}

module_init(ants_init);
module_exit(ants_exit);

MODULE_DESCRIPTION("Bounded pool of kernel threads");
MODULE_AUTHOR("The ants authors");
MODULE_VERSION("0.1.0");
MODULE_LICENSE("GPL");
