// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unload safety. Nothing pins a client, for a module that pins itself can never
 * be removed. Instead, after its exit function and before its text is freed,
 * its tasks that are pending or run in whatever pool are waited for, and pools
 * that it made and forgot are destroyed. Memory that its exit function freed is
 * beyond help.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/delay.h>
#include <linux/module.h>

#include "internal.h"
#include "multi.h"

#define POLL_MS		10
#define REPORT		(10 * HZ)

static bool is_of(ants_fn_t fn, const struct module *mod)
{
	return fn && within_module((unsigned long)fn, mod);
}

/*
 * One round over the pending tasks, from where the last one stopped. A worker
 * that takes the task at the cursor moves the cursor. Returns false at the end.
 */
static bool scan_pending_round(struct ants_pool *pool, ants_fn_t *found)
{
	unsigned int i;

	lockdep_assert_held(&pool->lock);
	if (!pool->scan_slot)
		pool->scan_slot = list_first_entry(&pool->pending,
						   struct ants_slot, node);
	for (i = 0; i < ANTS_ROUND && !*found; i++) {
		if (&pool->scan_slot->node == &pool->pending)
			return false;
		if (is_of(pool->scan_slot->fn, pool->scan_mod))
			*found = pool->scan_slot->fn;
		pool->scan_slot = list_next_entry(pool->scan_slot, node);
	}
	return !*found;
}

/* The same over the workers; one that leaves moves the cursor. */
static bool scan_running_round(struct ants_pool *pool, ants_fn_t *found)
{
	unsigned int i;

	lockdep_assert_held(&pool->lock);
	if (!pool->scan_worker)
		pool->scan_worker = list_first_entry(&pool->workers,
						     struct ants_worker,
						     member);
	for (i = 0; i < ANTS_ROUND && !*found; i++) {
		if (&pool->scan_worker->member == &pool->workers)
			return false;
		if (is_of(pool->scan_worker->fn, pool->scan_mod))
			*found = pool->scan_worker->fn;
		pool->scan_worker = list_next_entry(pool->scan_worker, member);
	}
	return !*found;
}

/*
 * From here on a function of @mod that is accepted leaves a mark, so that one
 * task that hands over to the next, in whatever pool, is not missed.
 */
static void scan_begin(struct ants_pool *pool, const struct module *mod)
{
	raw_spin_lock_irq(&pool->lock);
	pool->scan_mod = mod;
	pool->scan_hit = NULL;
	raw_spin_unlock_irq(&pool->lock);
}

/* Returns what was found, or accepted meanwhile. */
static ants_fn_t scan_end(struct ants_pool *pool)
{
	ants_fn_t hit;

	raw_spin_lock_irq(&pool->lock);
	hit = pool->scan_hit;
	pool->scan_mod = NULL;
	pool->scan_slot = NULL;
	pool->scan_worker = NULL;
	raw_spin_unlock_irq(&pool->lock);
	return hit;
}

/* All rounds of one kind, each with a hold of the lock of its own. */
static ants_fn_t scan(struct ants_pool *pool,
		      bool (*round)(struct ants_pool *pool, ants_fn_t *found))
{
	ants_fn_t found = NULL;
	bool more;

	do {
		raw_spin_lock_irq(&pool->lock);
		more = round(pool, &found);
		raw_spin_unlock_irq(&pool->lock);
	} while (more);
	return found;
}

/* Pending tasks first: one that starts meanwhile is then found running. */
static void scan_pool(struct ants_pool *pool)
{
	ants_fn_t fn;

	ants_pause(ANTS_PAUSE_SCAN, pool);
	fn = scan(pool, scan_pending_round) ?: scan(pool, scan_running_round);
	if (!fn)
		return;
	raw_spin_lock_irq(&pool->lock);
	pool->scan_hit = fn;
	raw_spin_unlock_irq(&pool->lock);
}

/* A function of @mod in any pool, and the pool's name into @name. */
static ants_fn_t scan_all(const struct module *mod, char *name)
{
	ants_fn_t fn, found = NULL;
	struct ants_pool *pool;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		scan_begin(pool, mod);
	list_for_each_entry(pool, &ants_pools, registered)
		scan_pool(pool);
	list_for_each_entry(pool, &ants_pools, registered) {
		fn = scan_end(pool);
		if (fn)
			strscpy(name, pool->name, ANTS_NAME_LEN);
		found = fn ?: found;
	}
	mutex_unlock(&ants_registry_lock);
	return found;
}

/*
 * Waits until no pool knows a function of @mod. This looks now and then rather
 * than have every task that ends look for somebody who waits.
 */
static void wait_for_tasks(const struct module *mod)
{
	unsigned long report = jiffies + REPORT;
	char name[ANTS_NAME_LEN];
	ants_fn_t fn;

	while ((fn = scan_all(mod, name))) {
		if (time_after_eq(jiffies, report)) {
			pr_warn("module %s goes, waiting for %ps in pool %s\n",
				mod->name, fn, name);
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

/* Shards have no owner: they end with the multi. */
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

/* First, so that a task that submits itself again comes to an end. */
static void close_forgotten(const struct module *mod)
{
	struct ants_multi *multi;
	struct ants_pool *pool;

	while ((multi = multi_of(mod, false)))
		ants_multi_release(multi);
	while ((pool = pool_of(mod, false)))
		ants_release(pool);
}

/* Nobody else can: who made them is gone. */
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
	}
	return NOTIFY_DONE;
}

/* First of all: the other notifiers may already take the module apart. */
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
