// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants.ko: a bounded pool of kernel threads. The module itself, and its clients
 * that are unloaded.
 *
 * Unload safety: nothing pins a client, because a module that pins itself can
 * never be removed. Instead, between its exit function and the freeing of its
 * text, ants waits for the tasks of the module that are pending or run in any
 * pool, and destroys the pools that the module has made and forgotten. Memory
 * that its exit function has freed is beyond help.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"
#include "multi/multi.h"

static unsigned int system_capacity = 256;
module_param(system_capacity, uint, 0444);
MODULE_PARM_DESC(system_capacity,
		 "capacity of the system pool, in threads (default 256)");

module_param_named(max_threads, ants_max_threads, uint, 0644);
MODULE_PARM_DESC(max_threads,
		 "most threads of all pools; each pool may always have one (default 0, no limit)");

struct ants_pool *ants_system_pool;
EXPORT_SYMBOL_GPL(ants_system_pool);

#define POLL_MS		10
#define REPORT		(10 * HZ)

static void see_slot(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_slot *slot = list_entry(entry, struct ants_slot,
						  node);

	ants_scan_task(walker->pool, slot->fn, slot->data);
}

/* A task may run inside another one; both are looked at. */
static void see_worker(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);
	const struct ants_inner *inner = w->inner;
	unsigned int i;

	/* A detached work item may be gone already. */
	if (w->tag & ANTS_TAG_DETACHED)
		ants_scan_hit(w->pool, ants_worker_func(w));
	else
		ants_scan_task(w->pool, w->fn, w->data);
	for (i = 0; i < w->depth; i++) {
		ants_scan_hit(w->pool, inner[i].func_addr);
		ants_scan_hit(w->pool, (unsigned long)inner[i].release);
	}
}

static void see_delayed(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_delayed_work *dwork;

	dwork = list_entry(entry, struct ants_delayed_work, node);
	ants_scan_hit(walker->pool, (unsigned long)dwork->work.fn);
}

/* One function is enough. */
static bool none_found(struct ants_walker *walker)
{
	return !ants_peek(walker->pool->scan_hit);
}

/*
 * Find a function of @mod in any pool, and copy the name of the pool to @name.
 * Before the first pool is scanned, all of them begin to note a function of @mod
 * that is accepted. So a chain of tasks, each of which submits the next to some
 * pool, is not missed. A pool may also call functions of a client that no list
 * shows: while it cleans up after a dead thread, and while it gives up pending tasks, whose
 * data it hands back.
 */
static unsigned long scan_all(const struct module *mod, char *name)
{
	struct ants_walker walker = { .rest = none_found };
	unsigned long hit, found = 0;
	struct ants_pool *pool;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered) {
		raw_spin_lock_irq(&pool->lock);
		pool->scan_mod = mod;
		pool->scan_hit = 0;
		ants_end_fast_path(pool);
		ants_unlock_irq(pool);
	}
	list_for_each_entry(pool, &ants_pools, registered) {
		ants_pause(ANTS_PAUSE_SCAN, pool);
		/*
		 * In the order in which a task moves through the lists, so that one that
		 * moves on meanwhile is found.
		 */
		walker.see = see_delayed;
		ants_walk(pool, &pool->delayed.list, UINT_MAX, &walker);
		ants_walk(pool, &pool->delayed.due[ANTS_PRIO_HIGH], UINT_MAX, &walker);
		ants_walk(pool, &pool->delayed.due[ANTS_PRIO_NORMAL], UINT_MAX, &walker);
		walker.see = see_slot;
		ants_walk(pool, &pool->urgent.list, UINT_MAX, &walker);
		ants_walk(pool, &pool->pending, UINT_MAX, &walker);
		walker.see = see_worker;
		ants_walk(pool, &pool->workers.list, UINT_MAX, &walker);
	}
	list_for_each_entry(pool, &ants_pools, registered) {
		raw_spin_lock_irq(&pool->lock);
		hit = pool->scan_hit;
		if (!hit && pool->faults.aborting)
			hit = (unsigned long)ants_crash_fn;
		else if (!hit && pool->faults.queued)
			hit = (unsigned long)ants_drop_fn;
		pool->scan_mod = NULL;
		ants_unlock_irq(pool);
		if (hit) {
			strscpy(name, pool->name, ANTS_NAME_LEN);
			found = hit;
		}
	}
	mutex_unlock(&ants_registry_lock);
	return found;
}

/*
 * Wait until no pool knows a function of @mod. This polls, because otherwise
 * each task that ends would have to check for a waiter. The notifier chain is
 * locked meanwhile: if another notifier is to be added or removed, no module
 * can be loaded or removed until this ends. There is no other point to wait
 * between the exit function and the end of the text, so the log says what is
 * being waited for.
 */
static void wait_for_tasks(const struct module *mod)
{
	unsigned long report_at = jiffies + REPORT;
	char name[ANTS_NAME_LEN];
	unsigned long addr;

	while ((addr = scan_all(mod, name))) {
		if (time_after_eq(jiffies, report_at)) {
			pr_warn("module %s: unload waits for %ps in pool %s; loading and removing modules may wait for it\n",
				mod->name, (void *)addr, name);
			report_at = jiffies + REPORT;
		}
		msleep(POLL_MS);
	}
}

/*
 * Called first, so that a task that submits itself again comes to an end. To close a
 * pool calls no client. All shards of a multi are closed before one can be opened again.
 */
static void close_forgotten(const struct module *mod)
{
	struct ants_pool *pool;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		if (pool->owner == mod)
			ants_close_begin(pool, false);
	list_for_each_entry(pool, &ants_pools, registered)
		if (pool->owner == mod)
			ants_close_end(pool);
	mutex_unlock(&ants_registry_lock);
}

/*
 * The module that made them is gone, so this is up to ants. A multi, which has shards as
 * long as it can be used, goes with the first of them.
 */
static void destroy_forgotten(const struct module *mod)
{
	struct ants_multi *multi;
	struct ants_pool *pool;

again:
	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		if (pool->owner == mod) {
			mutex_unlock(&ants_registry_lock);
			multi = pool->parent ? container_of(pool->parent, struct ants_multi,
							    kobj) : NULL;
			pr_err("module %s did not destroy %s %s\n", mod->name,
			       multi ? "multi" : "pool", multi ? multi->name : pool->name);
			if (multi)
				ants_multi_destroy(multi);
			else
				ants_pool_destroy(pool);
			goto again;
		}
	mutex_unlock(&ants_registry_lock);
}

static int unload_notify(struct notifier_block *nb, unsigned long state,
			 void *data)
{
	const struct module *mod = data;

	if (state == MODULE_STATE_GOING) {
		close_forgotten(mod);
		wait_for_tasks(mod);
		destroy_forgotten(mod);
		ants_dirt_forget();
	}
	return NOTIFY_DONE;
}

/* Called before other notifiers, which may already take the module apart. */
static struct notifier_block unload_nb = {
	.notifier_call = unload_notify,
	.priority = INT_MAX,
};

static int __init system_pool_init(void)
{
	struct ants_attrs attrs = { .capacity = system_capacity };

	ants_system_pool = system_capacity ?
			   __ants_pool_create(NULL, NULL, false, &attrs, "system") :
			   ERR_PTR(-EINVAL);
	if (IS_ERR(ants_system_pool))
		pr_err("cannot make the system pool with system_capacity=%u: %pe\n",
		       system_capacity, ants_system_pool);
	return PTR_ERR_OR_ZERO(ants_system_pool);
}

/* Undo what ants_init() has done, or the part of it that has succeeded. */
static void ants_exit(void)
{
	struct ants_pool *pool = ants_system_pool;

	unregister_module_notifier(&unload_nb);
	/* From here on it is a pool like others. */
	ants_system_pool = NULL;
	ants_pool_destroy(pool);
	ants_wait_gone();
	ants_hotplug_exit();
	ants_files_exit();
	if (ants_notice_wq)
		destroy_workqueue(ants_notice_wq);
	if (ants_makers_wq)
		destroy_workqueue(ants_makers_wq);
	if (ants_wq)
		destroy_workqueue(ants_wq);
	kmem_cache_destroy(ants_slot_cache);
	kmem_cache_destroy(ants_pool_cache);
}

static int __init ants_init(void)
{
	int err;

	/*
	 * A client's function may flush a workqueue here that has no rescuer. Without
	 * __WQ_LEGACY the workqueue code would warn of that.
	 */
	ants_wq = alloc_workqueue("ants", WQ_UNBOUND | WQ_MEM_RECLAIM |
				  __WQ_LEGACY, 0);
	ants_makers_wq = alloc_workqueue("ants_makers",
					 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	ants_notice_wq = alloc_workqueue("ants_notice", WQ_UNBOUND, 0);
	ants_slot_cache = KMEM_CACHE(ants_slot, 0);
	/* Of kmalloc() it would get a third more than it needs. */
	ants_pool_cache = KMEM_CACHE(ants_pool, SLAB_HWCACHE_ALIGN);
	err = ants_wq && ants_makers_wq && ants_notice_wq && ants_slot_cache &&
	      ants_pool_cache ? 0 : -ENOMEM;
	err = err ?: ants_files_init() ?:
	      ants_hotplug_init() ?:
	      register_module_notifier(&unload_nb) ?:
	      system_pool_init();
	if (err)
		ants_exit();
	return err;
}

module_init(ants_init);
module_exit(ants_exit);

MODULE_DESCRIPTION("Bounded pool of kernel threads");
MODULE_AUTHOR("The ants authors");
MODULE_VERSION("0.1.0");
MODULE_LICENSE("GPL");
