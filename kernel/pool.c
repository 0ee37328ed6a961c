// SPDX-License-Identifier: GPL-2.0-only
/* Creating and destroying a pool. */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/completion.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"

/* Number of pools and multis not freed yet, plus one while the module is loaded. */
static atomic_t nr_live = ATOMIC_INIT(1);
static DECLARE_COMPLETION(all_freed);

static int check_node(const struct ants_attrs *attrs)
{
	if (!(attrs->flags & ANTS_ON_NODE))
		return attrs->node ? -EINVAL : 0;
	if (attrs->node < 0 || attrs->node >= MAX_NUMNODES ||
	    !node_online(attrs->node))
		return -EINVAL;
	return 0;
}

static unsigned int capacity_of(const struct ants_attrs *attrs)
{
	return attrs->capacity ?: num_online_cpus();
}

int ants_check_attrs(const struct ants_attrs *attrs)
{
	if (attrs->flags & ~ANTS_ALL_FLAGS)
		return -EINVAL;
	/*
	 * A caller that runs a task can neither be refused nor has the data of
	 * a worker.
	 */
	if (attrs->flags & ANTS_CALLER_RUNS &&
	    (attrs->flags & ANTS_NONBLOCKING || attrs->worker_init))
		return -EINVAL;
	/*
	 * The one thread that must exist may not be one that can fail to get
	 * ready.
	 */
	if (attrs->flags & ANTS_MEM_RECLAIM && attrs->worker_init)
		return -EINVAL;
	if (attrs->expiry > ANTS_EXPIRY_MAX)
		return -EINVAL;
	if (attrs->spare_slots > ANTS_MAX_SPARE_SLOTS ||
	    attrs->max_faults > ANTS_BOUND_MAX)
		return -EINVAL;
	if (attrs->cpumask &&
	    !cpumask_intersects(attrs->cpumask, cpu_possible_mask))
		return -EINVAL;
	return check_node(attrs) ?:
	       ants_check_sched(attrs->nice, attrs->sched, attrs->flags) ?:
	       ants_check_bounds(capacity_of(attrs), attrs->queue_depth,
				 attrs->min_workers, attrs->flags);
}

static void init_lists(struct ants_pool *pool)
{
	INIT_LIST_HEAD(&pool->pending);
	INIT_LIST_HEAD(&pool->urgent.list);
	INIT_LIST_HEAD(&pool->delayed.list);
	INIT_LIST_HEAD(&pool->delayed.due[ANTS_PRIO_NORMAL]);
	INIT_LIST_HEAD(&pool->delayed.due[ANTS_PRIO_HIGH]);
	INIT_LIST_HEAD(&pool->workers.idle);
	INIT_LIST_HEAD(&pool->waiters.fifo[ANTS_PRIO_NORMAL]);
	INIT_LIST_HEAD(&pool->waiters.fifo[ANTS_PRIO_HIGH]);
	INIT_LIST_HEAD(&pool->waiters.nested);
	INIT_LIST_HEAD(&pool->workers.list);
	INIT_LIST_HEAD(&pool->workers.left);
	INIT_LIST_HEAD(&pool->cancelled_groups);
	INIT_LIST_HEAD(&pool->upkeep.held_node);
	INIT_LIST_HEAD(&pool->registered);
}

static void init_makers(struct ants_pool *pool)
{
	unsigned int i;

	for (i = 0; i < ANTS_MAKERS; i++) {
		INIT_WORK(&pool->upkeep.makers[i].work, ants_maker_fn);
		pool->upkeep.makers[i].pool = pool;
	}
}

/* Free a pool that has ended; see ants_pool_end(). */
static void end_fn(struct work_struct *work)
{
	ants_sysfs_put(container_of(to_rcu_work(work), struct ants_pool,
				    release.end));
}

static void init_locks(struct ants_pool *pool)
{
	raw_spin_lock_init(&pool->lock);
	mutex_init(&pool->config.lock);
	init_waitqueue_head(&pool->waitq);
	timer_setup(&pool->timer.timer, ants_timer_fn, 0);
	INIT_WORK(&pool->upkeep.work, ants_upkeep_fn);
	init_makers(pool);
	INIT_WORK(&pool->upkeep.joiner, ants_join_fn);
	INIT_WORK(&pool->faults.work, ants_drop_fn);
	INIT_RCU_WORK(&pool->release.end, end_fn);
#ifdef CONFIG_LOCKDEP
	lockdep_register_key(&pool->key);
	lockdep_init_map(&pool->map, "ants_pool", &pool->key, 0);
#endif
}

static void init_config(struct ants_pool *pool, const struct ants_attrs *attrs)
{
	pool->flags = attrs->flags;
	pool->timed = attrs->flags & ANTS_CHARGE ? ANTS_TIMED_CHARGE : 0;
	pool->limits.spare_slots = attrs->spare_slots ?: ANTS_SPARE_SLOTS;
	pool->config.max_blocking = attrs->max_blocking;
	pool->faults.max = attrs->max_faults ?: ANTS_MAX_FAULTS;
	pool->node = attrs->flags & ANTS_ON_NODE ? attrs->node : NUMA_NO_NODE;
	raw_spin_lock_irq(&pool->lock);
	pool->wakes.limit = 1;
	ants_set_expiry(pool, attrs->expiry ?: ANTS_EXPIRY);
	ants_set_bounds(pool, capacity_of(attrs), attrs->queue_depth,
			attrs->min_workers);
	ants_unlock_irq(pool);
}

/* Count an object whose release function is yet to run. */
void ants_live_get(void)
{
	atomic_inc(&nr_live);
}

/* The last step of such a release function. */
void ants_live_put(void)
{
	if (atomic_dec_and_test(&nr_live))
		complete(&all_freed);
}

/* Allocate a pool. It is not published yet; ants_pool_free() will free it. */
static struct ants_pool *pool_alloc(struct module *owner,
				    const struct ants_attrs *attrs)
{
	struct ants_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);

	if (!pool)
		return NULL;
	ants_live_get();
	init_lists(pool);
	init_locks(pool);
	init_config(pool, attrs);
	pool->owner = owner;
	pool->ops.worker_init = attrs->worker_init;
	pool->ops.worker_exit = attrs->worker_exit;
	pool->ops.space_available = attrs->space_available;
	pool->ops.fault = attrs->fault;
	pool->ops.drop = attrs->drop;
	pool->ops.private = attrs->private;
	ants_kobject_init(&pool->kobj, &ants_pool_ktype);
	return pool;
}

static int init_affinity(struct ants_pool *pool, const struct ants_attrs *attrs,
			 bool given)
{
	pool->target.affinity = ants_affinity_alloc(attrs->nice, attrs->sched,
						    attrs->cpumask, given,
						    pool->node);
	return pool->target.affinity ? 0 : -ENOMEM;
}

/*
 * The threads are made first and started last, so that after an error there is
 * nothing to wait for.
 */
static int pool_populate(struct ants_pool *pool)
{
	LIST_HEAD(prepared);
	int err;

	err = ants_stock_make(pool, ants_stock_level(pool), 0) ?:
	      ants_workers_prepare(pool, pool->config.floor, 0, &prepared);
	if (err)
		return err;
	err = ants_sysfs_add(pool);
	if (!err)
		ants_workers_start(pool, &prepared);
	ants_workers_discard(&prepared);
	return err;
}

static int pool_publish(struct ants_pool *pool)
{
	int err = ants_registry_add(pool->name, &pool->registered,
				    &ants_pools);

	if (err)
		return err;
	err = pool_populate(pool);
	if (err)
		ants_registry_del(&pool->registered);
	return err;
}

/* Create a pool of any kind; see the functions below, and devres.c. */
struct ants_pool *ants_pool_make(struct module *owner,
				 const struct ants_attrs *attrs, ants_fn_t fn,
				 bool ordered, const char *fmt, va_list args)
{
	static const struct ants_attrs defaults;
	struct ants_pool *pool;
	int err;

	attrs = attrs ?: &defaults;
	err = ants_check_attrs(attrs);
	if (err)
		return ERR_PTR(err);
	pool = pool_alloc(owner, attrs);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	pool->ops.fn = fn;
	pool->ordered = ordered;
	err = ants_set_name(pool->name, fmt, args) ?:
	      init_affinity(pool, attrs, attrs->cpumask) ?: pool_publish(pool);
	if (err) {
		kobject_put(&pool->kobj);
		return ERR_PTR(err);
	}
	return pool;
}

/**
 * __ants_pool_create() - create a pool; see ants_pool_create()
 * @owner: the module that creates it, NULL if built in
 * @attrs: its attributes; NULL for the defaults
 * @fmt: printf format of the name
 *
 * Context: Process context. May sleep.
 * Return: the pool, or an ERR_PTR.
 */
struct ants_pool *__ants_pool_create(struct module *owner,
				     const struct ants_attrs *attrs,
				     const char *fmt, ...)
{
	struct ants_pool *pool;
	va_list args;

	va_start(args, fmt);
	pool = ants_pool_make(owner, attrs, NULL, false, fmt, args);
	va_end(args);
	return pool;
}
EXPORT_SYMBOL_GPL(__ants_pool_create);

/**
 * __ants_pool_create_func() - create a pool; see ants_pool_create_func()
 * @owner: the module that creates it, NULL if built in
 * @attrs: its attributes; NULL for the defaults
 * @fn: what ants_invoke() runs
 * @fmt: printf format of the name
 *
 * Context: Process context. May sleep.
 * Return: the pool, or an ERR_PTR.
 */
struct ants_pool *__ants_pool_create_func(struct module *owner,
					  const struct ants_attrs *attrs,
					  ants_fn_t fn, const char *fmt, ...)
{
	struct ants_pool *pool;
	va_list args;

	if (!fn)
		return ERR_PTR(-EINVAL);
	va_start(args, fmt);
	pool = ants_pool_make(owner, attrs, fn, false, fmt, args);
	va_end(args);
	return pool;
}
EXPORT_SYMBOL_GPL(__ants_pool_create_func);

/**
 * __ants_pool_create_ordered() - create a pool; see ants_pool_create_ordered()
 * @owner: the module that creates it, NULL if built in
 * @attrs: its attributes; NULL for the defaults
 * @fmt: printf format of the name
 *
 * Context: Process context. May sleep.
 * Return: the pool, or an ERR_PTR.
 */
struct ants_pool *__ants_pool_create_ordered(struct module *owner,
					     const struct ants_attrs *attrs,
					     const char *fmt, ...)
{
	struct ants_attrs one = {};
	struct ants_pool *pool;
	va_list args;

	if (attrs)
		one = *attrs;
	/* A caller that runs its task itself would overtake pending tasks. */
	if (one.capacity > 1 || one.flags & ANTS_CALLER_RUNS)
		return ERR_PTR(-EINVAL);
	one.capacity = 1;
	one.flags |= ANTS_FIXED;
	va_start(args, fmt);
	pool = ants_pool_make(owner, &one, NULL, true, fmt, args);
	va_end(args);
	return pool;
}
EXPORT_SYMBOL_GPL(__ants_pool_create_ordered);

/*
 * Create a pool that is part of an object with a directory and a name. It has no
 * owner, because unload.c destroys that object as a whole. The caller has checked
 * @attrs. @given: their CPUs were asked for; otherwise ants chose them.
 */
struct ants_pool *ants_shard_create(struct kobject *parent, const char *name,
				    unsigned int nr,
				    const struct ants_attrs *attrs, bool given)
{
	struct ants_pool *pool = pool_alloc(NULL, attrs);
	int err;

	if (!pool)
		return ERR_PTR(-ENOMEM);
	pool->parent = parent;
	pool->protected = true;
	snprintf(pool->name, sizeof(pool->name), "%s/%u", name, nr);
	err = init_affinity(pool, attrs, given) ?: pool_publish(pool);
	if (err) {
		kobject_put(&pool->kobj);
		return ERR_PTR(err);
	}
	return pool;
}

static bool callers_gone(struct ants_pool *pool, const void *unused)
{
	lockdep_assert_held(&pool->lock);
	return !pool->nr_callers;
}

/*
 * Wait until no thread, task, timer or work is left, and then until no caller
 * is.
 */
void ants_pool_quiesce(struct ants_pool *pool)
{
	ants_drain_for_good(pool);
	ants_wait_until(pool, callers_gone, NULL, MAX_SCHEDULE_TIMEOUT,
			TASK_UNINTERRUPTIBLE);
}

/*
 * Next, remove the files in sysfs, and what else finds the pool. Readers of debugfs
 * hold the lock of the registry, so this waits for them.
 */
void ants_pool_hide(struct ants_pool *pool)
{
	ants_sysfs_del(pool);
	ants_registry_del(&pool->registered);
	ants_threads_forget(pool);
	/* Nothing is left that could arm it again; it may be about to call back. */
	timer_delete_sync(&pool->timer.timer);
}

/*
 * Free the pool after an RCU grace period: there may be threads that have dropped
 * its lock in an RCU section, and that still wake others. That goes for its kernel
 * work items as well: the last thing that each of them does with the pool is such
 * a section, and without tasks and threads nothing queues them. For the client the
 * pool has ended before, except that a thread that is not one of the pool may be
 * about to call back.
 */
void ants_pool_end(struct ants_pool *pool)
{
	queue_rcu_work(ants_wq, &pool->release.end);
}

void __ants_pool_destroy(struct ants_pool *pool)
{
	ants_wait_touch(pool);
	ants_pool_quiesce(pool);
	ants_pool_hide(pool);
	if (READ_ONCE(pool->release.called_back))
		synchronize_rcu();
	ants_pool_end(pool);
}

int ants_pool_destroy(struct ants_pool *pool)
{
	might_sleep();
	if (IS_ERR_OR_NULL(pool))
		return 0;
	if (pool->protected)
		return -EPERM;
	if (WARN(ants_runs_task_of(pool),
		 "ants: pool %s destroyed by its task\n", pool->name))
		return -EDEADLK;
	__ants_pool_destroy(pool);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_pool_destroy);

/* The last reference to the kobject has been dropped. */
void ants_pool_free(struct kobject *kobj)
{
	struct ants_pool *pool = container_of(kobj, struct ants_pool, kobj);

	ants_stock_trim(pool, 0);
#ifdef CONFIG_LOCKDEP
	lockdep_unregister_key(&pool->key);
#endif
	ants_affinity_put(pool->target.affinity);
	kfree(pool);
	ants_live_put();
}

/*
 * Wait for kobjects that are released late: their release function is in this
 * module.
 */
void ants_pools_wait_freed(void)
{
	if (!atomic_dec_and_test(&nr_live))
		wait_for_completion(&all_freed);
	/* Lets the last release function return from complete(). */
	synchronize_rcu();
}
