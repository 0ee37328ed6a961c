// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the files that are left out provide to the rest: the module begins and
 * ends, and has no files in sysfs.
 */
/* Of this only what looks after clients that are unloaded is used. */
#include "main.c"

#include "shim.h"

const struct attribute_group *ants_pool_groups[1];
const struct sysfs_ops kobj_sysfs_ops;
struct kset *ants_kset;

bool shim_dirt_expected;

void ants_notify_fn(struct work_struct *work)
{
}

int ants_sysfs_show(struct kobject *kobj)
{
	return 0;
}

void core_begin(void)
{
	shim_tasks_begin();
	shim_timers_begin();
	ants_slot_cache = KMEM_CACHE(ants_slot, 0);
	ants_pool_cache = KMEM_CACHE(ants_pool, 0);
	ants_wq = alloc_workqueue("ants", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	ants_makers_wq = alloc_workqueue("ants_makers", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	WARN_ON(register_module_notifier(&unload_nb));
}

void core_end(void)
{
	WARN(!list_empty(&ants_pools), "a pool is left");
	WARN(!list_empty(&ants_multis), "a multi is left");
	unregister_module_notifier(&unload_nb);
	ants_wait_gone();
	destroy_workqueue(ants_makers_wq);
	destroy_workqueue(ants_wq);
	kmem_cache_destroy(ants_slot_cache);
	kmem_cache_destroy(ants_pool_cache);
	shim_timers_end();
	shim_tasks_end();
	put_task_struct(shim_self);
	shim_self = NULL;
	WARN(shim_nr_allocated(), "%ld pieces of memory are left",
	     shim_nr_allocated());
}
