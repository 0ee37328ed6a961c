// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unload safety. Nothing pins a client, because a module that pins itself can
 * never be removed. Instead, between its exit function and the freeing of its
 * text, ants waits for the tasks of the module that are pending or run in any
 * pool, and destroys the pools that the module has made and forgotten. Memory
 * that its exit function has freed is beyond help.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/delay.h>
#include <linux/module.h>

#include "internal.h"
#include "multi.h"

#define POLL_MS		10
#define REPORT		(10 * HZ)

/*
 * Return the address of a function of @mod that an entry of one of the pool's
 * lists runs, or 0.
 */
typedef unsigned long (*func_addr_fn_t)(struct list_head *entry,
					const struct module *mod);

/* Return @addr if it lies in @mod, else 0. */
unsigned long ants_addr_in(unsigned long addr, const struct module *mod)
{
	return within_module(addr, mod) ? addr : 0;
}

/*
 * A task may run more than one function: one that ants runs on behalf of a
 * client counts as the client's. Return one of them that lies in @mod, or 0.
 */
unsigned long ants_task_func_addr(ants_fn_t fn, const void *data,
				  const struct module *mod)
{
	return fn == ants_call_run ? ants_call_func_addr(data, mod) :
				     ants_addr_in(ants_task_func(fn, data), mod);
}

static unsigned long slot_func_addr(struct list_head *entry,
				    const struct module *mod)
{
	const struct ants_slot *slot = list_entry(entry, struct ants_slot,
						  node);

	return ants_task_func_addr(slot->fn, slot->data, mod);
}

/* A task may run inside another one; both are looked at. */
static unsigned long inner_func_addr(const struct ants_worker *w,
				     const struct module *mod)
{
	const struct ants_inner *inner = w->estate->inner;
	unsigned long addr = 0;
	unsigned int i;

	for (i = 0; i < w->depth && !addr; i++)
		addr = ants_addr_in(inner[i].func_addr, mod) ?:
		       ants_addr_in((unsigned long)inner[i].release, mod);
	return addr;
}

static unsigned long worker_func_addr(struct list_head *entry,
				      const struct module *mod)
{
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);

	/* A detached work item may be gone already. */
	return inner_func_addr(w, mod) ?:
	       (w->fn == ants_call_run ? ants_call_func_addr(w->data, mod) :
					 ants_addr_in(ants_worker_func(w), mod));
}

static unsigned long delayed_func_addr(struct list_head *entry,
				       const struct module *mod)
{
	const struct ants_delayed_work *dwork;

	dwork = list_entry(entry, struct ants_delayed_work, node);
	return ants_addr_in((unsigned long)dwork->work.fn, mod);
}

/*
 * Scan a list within one hold, from where the last one stopped. A thread that
 * takes the entry at the cursor out of the list moves the cursor, see
 * ants_scan_skip(). Return false at the end, or when a function of the module
 * was found.
 */
static bool scan_round(struct ants_pool *pool, struct list_head *list,
		       func_addr_fn_t func_addr_of, unsigned long *found)
{
	unsigned long addr;
	unsigned int i;

	lockdep_assert_held(&pool->lock);
	pool->scan.at = pool->scan.at ?: list->next;
	for (i = 0; i < ANTS_HOLD_MAX && pool->scan.at != list; i++) {
		addr = func_addr_of(pool->scan.at, pool->scan_mod);
		*found = addr ?: *found;
		pool->scan.at = pool->scan.at->next;
	}
	if (!*found && pool->scan.at != list)
		return true;
	pool->scan.at = NULL;
	return false;
}

/*
 * From here on a function of @mod that is accepted is noted. So a chain of
 * tasks, each of which submits the next to some pool, is not missed.
 */
static void scan_begin(struct ants_pool *pool, const struct module *mod)
{
	raw_spin_lock_irq(&pool->lock);
	pool->scan_mod = mod;
	pool->scan.hit = 0;
	pool->pick.scanning = true;
	ants_unlock_irq(pool);
}

/* Return what was found, or was accepted meanwhile. */
static unsigned long scan_end(struct ants_pool *pool)
{
	unsigned long hit;

	raw_spin_lock_irq(&pool->lock);
	hit = pool->scan.hit;
	pool->scan_mod = NULL;
	pool->pick.scanning = false;
	ants_unlock_irq(pool);
	return hit;
}

/* Scan one list, in as many holds of the lock as it takes. */
static unsigned long scan_list(struct ants_pool *pool, struct list_head *list,
			       func_addr_fn_t func_addr_of)
{
	unsigned long found = 0;
	bool more;

	do {
		raw_spin_lock_irq(&pool->lock);
		more = scan_round(pool, list, func_addr_of, &found);
		ants_unlock_irq(pool);
	} while (more);
	return found;
}

/*
 * Return an address if the pool may call functions of a client that no list
 * shows: while it buries a dead thread, and while it gives up pending tasks,
 * whose data it hands back.
 */
static unsigned long fault_addr(struct ants_pool *pool)
{
	unsigned long addr = 0;

	raw_spin_lock_irq(&pool->lock);
	if (pool->faults.burying)
		addr = (unsigned long)ants_burial_fn;
	else if (pool->faults.queued)
		addr = (unsigned long)ants_drop_fn;
	ants_unlock_irq(pool);
	return addr;
}

/*
 * Scan the lists in the order in which a task moves through them, so that a
 * task that moves on meanwhile is found.
 */
static void scan_pool(struct ants_pool *pool)
{
	unsigned long addr;

	ants_pause(ANTS_PAUSE_SCAN, pool);
	addr = scan_list(pool, &pool->delayed.list, delayed_func_addr) ?:
	       scan_list(pool, &pool->delayed.due[ANTS_PRIO_HIGH], delayed_func_addr) ?:
	       scan_list(pool, &pool->delayed.due[ANTS_PRIO_NORMAL],
			 delayed_func_addr) ?:
	       scan_list(pool, &pool->urgent.list, slot_func_addr) ?:
	       scan_list(pool, &pool->pending, slot_func_addr) ?:
	       scan_list(pool, &pool->workers.list, worker_func_addr) ?:
	       fault_addr(pool);
	if (!addr)
		return;
	raw_spin_lock_irq(&pool->lock);
	pool->scan.hit = addr;
	ants_unlock_irq(pool);
}

/*
 * Find a function of @mod in any pool, and copy the name of the pool to @name.
 */
static unsigned long scan_all(const struct module *mod, char *name)
{
	unsigned long addr, found = 0;
	struct ants_pool *pool;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		scan_begin(pool, mod);
	list_for_each_entry(pool, &ants_pools, registered)
		scan_pool(pool);
	list_for_each_entry(pool, &ants_pools, registered) {
		addr = scan_end(pool);
		if (addr)
			strscpy(name, pool->name, ANTS_NAME_LEN);
		found = addr ?: found;
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
	unsigned long report = jiffies + REPORT;
	char name[ANTS_NAME_LEN];
	unsigned long addr;

	while ((addr = scan_all(mod, name))) {
		if (time_after_eq(jiffies, report)) {
			pr_warn("module %s goes, waiting for %ps in pool %s; loading and removing modules may wait for it\n",
				mod->name, (void *)addr, name);
			report = jiffies + REPORT;
		}
		msleep(POLL_MS);
	}
}

static struct ants_pool *pool_of(const struct module *mod, bool released)
{
	struct ants_pool *pool, *found = NULL;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		if (pool->owner == mod && ants_is_released(pool) == released)
			found = pool;
	mutex_unlock(&ants_registry_lock);
	return found;
}

/* Shards have no owner: they end with their multi. */
static struct ants_multi *multi_of(const struct module *mod, bool released)
{
	struct ants_multi *multi, *found = NULL;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(multi, &ants_multis, registered)
		if (multi->owner == mod &&
		    ants_multi_is_released(multi) == released)
			found = multi;
	mutex_unlock(&ants_registry_lock);
	return found;
}

/* Called first, so that a task that submits itself again comes to an end. */
static void close_forgotten(const struct module *mod)
{
	struct ants_multi *multi;
	struct ants_pool *pool;

	while ((multi = multi_of(mod, false)))
		ants_multi_release(multi);
	while ((pool = pool_of(mod, false)))
		ants_release(pool);
}

/* The module that made them is gone, so this is up to ants. */
static void destroy_forgotten(const struct module *mod)
{
	struct ants_multi *multi;
	struct ants_pool *pool;

	while ((multi = multi_of(mod, true))) {
		pr_err("module %s forgot multi %s\n", mod->name, multi->name);
		__ants_multi_destroy(multi);
	}
	while ((pool = pool_of(mod, true))) {
		pr_err("module %s forgot pool %s\n", mod->name, pool->name);
		__ants_pool_destroy(pool);
	}
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

int ants_unload_init(void)
{
	return register_module_notifier(&unload_nb);
}

void ants_unload_exit(void)
{
	unregister_module_notifier(&unload_nb);
}
