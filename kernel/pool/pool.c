// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a pool: creating it, closing it, waiting until nothing of it is left,
 * opening it again, and destroying it; waiting for the tasks of an open pool, and giving
 * up those that have not started. Its numbers.
 */
#define pr_fmt(fmt) "ants: " fmt

#include <linux/device.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "../internal.h"

struct kmem_cache *ants_pool_cache;

/* Creating and destroying a pool. */

/*
 * A caller that runs a task can neither be refused nor has the data of a worker. The one
 * thread that must exist with ANTS_MEM_RECLAIM may not be one that can fail to get ready.
 */
int ants_check_attrs(const struct ants_attrs *attrs)
{
	bool node_exists = attrs->node >= 0 && attrs->node < MAX_NUMNODES &&
			   node_online(attrs->node);
	bool caller_runs = attrs->flags & ANTS_CALLER_RUNS;
	unsigned int flags = attrs->flags;

	if (flags & ~ANTS_ALL_FLAGS || attrs->expiry > ANTS_EXPIRY_MAX ||
	    attrs->spare_slots > ANTS_MAX_SPARE_SLOTS ||
	    attrs->max_faults > ANTS_BOUND_MAX ||
	    (caller_runs && flags & ANTS_NONBLOCKING) ||
	    (attrs->worker_init && (caller_runs || flags & ANTS_MEM_RECLAIM)) ||
	    (flags & ANTS_ON_NODE ? !node_exists : attrs->node))
		return -EINVAL;
	return ants_check_sched(attrs) ?:
	       ants_check_bounds(attrs->capacity ?: num_online_cpus(),
				 attrs->queue_depth, attrs->min_workers, flags);
}

/*
 * From here on no file gives access to the pool. A thread that has dropped the lock
 * may still queue the work that tells programs, which then does nothing.
 */
static void pool_hide(struct ants_pool *pool)
{
	/* If the work is queued after it was cancelled, it sees this. */
	WRITE_ONCE(pool->notice.gone, true);
	cancel_work_sync(&pool->notice.work);
	if (pool->kobj.state_in_sysfs)
		kobject_del(&pool->kobj);
}

/* The last reference to the kobject has been dropped. */
static void pool_free(struct kobject *kobj)
{
	struct ants_pool *pool = container_of(kobj, struct ants_pool, kobj);

	ants_stock_trim(pool, 0);
	lockdep_unregister_key(&pool->key);
	ants_affinity_put(pool->target.affinity);
	kfree(pool->times.counts);
	kmem_cache_free(ants_pool_cache, pool);
	complete(&ants_gone);
}

/*
 * There are no default groups: the kernel would remove those file by file, and
 * not as one directory; and the files of a multi are about shards, which are made
 * later.
 */
static const struct kobj_type pool_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = pool_free,
};

/* Free a pool that has ended; see ants_pool_end(). */
static void end_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(to_rcu_work(work), struct ants_pool,
					      release.end);

	/* After a grace period nothing queues it any more. */
	cancel_work_sync(&pool->notice.work);
	kobject_put(&pool->kobj);
}

/* Allocate a pool. It is not published yet; pool_free() will free it. */
static struct ants_pool *pool_alloc(struct module *owner, struct kobject *parent, bool ordered,
				    const struct ants_attrs *attrs, const char *name)
{
	struct ants_pool *pool = kmem_cache_zalloc(ants_pool_cache, GFP_KERNEL);
	unsigned long expiry = attrs->expiry ?: ANTS_EXPIRY;

	if (!pool)
		return NULL;
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
	INIT_LIST_HEAD(&pool->cancelled_groups);
	INIT_LIST_HEAD(&pool->registered);
	raw_spin_lock_init(&pool->lock);
	mutex_init(&pool->config.lock);
	init_waitqueue_head(&pool->waitq);
	timer_setup(&pool->timer.timer, ants_timer_fn, 0);
	INIT_WORK(&pool->upkeep.work, ants_upkeep_fn);
	INIT_WORK(&pool->upkeep.maker, ants_maker_fn);
	INIT_WORK(&pool->faults.work, ants_drop_fn);
	INIT_WORK(&pool->notice.work, ants_notify_fn);
	INIT_RCU_WORK(&pool->release.end, end_fn);
	lockdep_register_key(&pool->key);
	lockdep_init_map(&pool->map, "ants_pool", &pool->key, 0);
	strscpy(pool->name, name, sizeof(pool->name));
	pool->owner = owner;
	pool->parent = parent;
	pool->ordered = ordered;
	pool->ops = (struct ants_ops){
		attrs->fn, attrs->worker_init, attrs->worker_exit, attrs->space_available,
		attrs->fault, attrs->drop, attrs->private,
	};
	pool->flags = attrs->flags;
	pool->limits.spare_slots = attrs->spare_slots ?: ANTS_SPARE_SLOTS;
	pool->config.max_blocking = attrs->max_blocking;
	pool->timer.expiry = expiry;
	/* A whole tick may be more than the largest value of the file. */
	pool->config.expiry_ms = min_t(unsigned int, jiffies_to_msecs(expiry),
				       ANTS_BOUND_MAX);
	pool->faults.max = attrs->max_faults ?: ANTS_MAX_FAULTS;
	strscpy(pool->faults.last, "none", sizeof(pool->faults.last));
	pool->node = attrs->flags & ANTS_ON_NODE ? attrs->node : NUMA_NO_NODE;
	raw_spin_lock_irq(&pool->lock);
	ants_set_bounds(pool, attrs->capacity ?: num_online_cpus(),
			attrs->queue_depth, attrs->min_workers);
	pool->upkeep.held_until = jiffies - HZ;
	ants_unlock_irq(pool);
	ants_object_init(&pool->kobj, &pool_ktype);
	return pool;
}

/*
 * Giving up what has not started. A caller may cancel pending tasks of a pool, all of them
 * or those that it picks. When a pool is closed, what waits to be accepted fails. When the
 * breaker has tripped, see worker.c, what was accepted fails as well: a kernel work item
 * ends the pending work items with -EIO, and gives plain tasks back to the client. Threads
 * leave after the tasks that they run.
 */

/**
 * struct cancel_scan - one walk over the pending tasks
 * @walker: the walk
 * @match: picks tasks; NULL for all
 * @arg: the argument of @match
 * @err: the result of work items: -ECANCELED, or -EIO if the breaker has tripped
 * @cancelled: number of tasks cancelled so far
 * @dropped: slots of plain tasks that will not run, if the breaker has tripped
 */
struct cancel_scan {
	struct ants_walker walker;
	ants_match_t match;
	void *arg;
	int err;
	unsigned int cancelled;
	struct list_head dropped;
};

static void see_slot(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_slot *slot = list_entry(entry, struct ants_slot, node);
	struct cancel_scan *s = container_of(walker, struct cancel_scan, walker);
	struct ants_work *work = slot->tag & ANTS_TAG_WORK ? slot->data : NULL;
	struct ants_pool *pool = walker->pool;

	/* Calls are not cancelled: a caller waits for one, or has given its data away. */
	if (s->err == -ECANCELED &&
	    ((work && work->flags & ANTS_WORK_OWN) ||
	     (s->match && !s->match(work ? NULL : slot->fn, slot->data, s->arg))))
		return;
	s->cancelled++;
	if (work) {
		ants_work_cancel_waiting(pool, work, s->err, &walker->todo);
		return;
	}
	ants_pending_del(pool, slot);
	ants_cancelled(pool, slot->fn, slot->data);
	ants_task_uncount(pool, slot->tag & ANTS_TAG_EPOCH, &walker->todo);
	if (s->err == -ECANCELED)
		ants_stock_put(pool, slot);
	else
		list_add_tail(&slot->node, &s->dropped);
}

unsigned int ants_cancel_pending(struct ants_pool *pool, ants_match_t match,
				 void *arg)
{
	struct cancel_scan s = {
		.walker = { .see = see_slot, .end = ants_room_freed },
		.match = match, .arg = arg, .err = -ECANCELED,
	};
	unsigned int nr;

	might_sleep();
	if (pool == ants_system_pool && !match)
		return 0;
	ants_pool_get(pool);
	/* Tasks that are accepted meanwhile come after these, and keep no walk busy. */
	nr = ants_peek(pool->nr_pending);
	ants_walk(pool, &pool->urgent.list, ants_peek(pool->pick.nr_high), &s.walker);
	ants_walk(pool, &pool->pending, nr, &s.walker);
	/* A worker would not have kept more, either. */
	ants_stock_trim(pool, READ_ONCE(pool->limits.stock));
	ants_pool_put(pool);
	return s.cancelled;
}
EXPORT_SYMBOL_GPL(ants_cancel_pending);

static bool fail_round(struct ants_pool *pool, struct ants_todo *todo,
		       void *unused)
{
	struct list_head *high = &pool->waiters.fifo[ANTS_PRIO_HIGH], *fifo;

	while (pool->space.nr_waiting && !ants_todo_full(todo)) {
		fifo = list_empty(high) ? &pool->waiters.fifo[ANTS_PRIO_NORMAL] : high;
		ants_waiter_end(pool, list_first_entry(fifo, struct ants_waiter, node),
				ants_closed_error(pool), todo);
	}
	return pool->space.nr_waiting;
}

static void see_delayed(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_delayed_work *dwork = list_entry(entry, struct ants_delayed_work, node);

	ants_work_cancel_waiting(walker->pool, &dwork->work,
				 ants_closed_error(walker->pool), &walker->todo);
	walker->todo.bits |= ANTS_TODO_WAITQ;
}

/*
 * The pool accepts no task any more: fail what waits to be accepted, callers and work
 * items with a timer. No other wait can begin, no item is added or becomes due, and the
 * pool is not opened meanwhile.
 */
static void fail_waiting(struct ants_pool *pool)
{
	struct ants_walker walker = { .see = see_delayed };

	ants_rounds(pool, fail_round, NULL);
	if (!ants_peek(pool->delayed.nr))
		return;
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_HIGH], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.due[ANTS_PRIO_NORMAL], UINT_MAX, &walker);
	ants_walk(pool, &pool->delayed.list, UINT_MAX, &walker);
}

/*
 * The breaker has tripped: give up what the pool had accepted. Plain tasks are given
 * back when a walk is over: this thread may die in a function of the client. The others
 * are pending until then.
 */
void ants_drop_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool,
					      faults.work);
	struct cancel_scan s = { .walker.see = see_slot, .err = -EIO };
	unsigned int unwanted = 0, seen;
	struct ants_slot *slot, *next;
	struct ants_todo todo;

	pr_err("pool %s: too many faults in a row; it takes no tasks until it is opened again\n",
	       pool->name);
	fail_waiting(pool);
	do {
		INIT_LIST_HEAD(&s.dropped);
		seen = ants_walk(pool, &pool->urgent.list, ANTS_HOLD_MAX, &s.walker) ?:
		       ants_walk(pool, &pool->pending, ANTS_HOLD_MAX, &s.walker);
		list_for_each_entry_safe(slot, next, &s.dropped, node) {
			if (pool->ops.drop)
				pool->ops.drop(slot->fn, slot->data);
			else
				unwanted++;
			raw_spin_lock_irq(&pool->lock);
			ants_stock_put(pool, slot);
			ants_unlock_irq(pool);
		}
		cond_resched_tasks_rcu_qs();
	} while (seen);
	if (unwanted)
		pr_err("pool %s: %u tasks were dropped\n", pool->name, unwanted);
	ants_retire_idle(pool);
	ants_stock_trim(pool, READ_ONCE(pool->limits.stock));
	/* The pool may go from the end of this section on. */
	ants_lock(pool, &todo);
	pool->faults.queued = false;
	ants_timer_quiesce(pool);
	todo.bits |= ANTS_TODO_WAITQ | ANTS_TODO_NOTICE;
	ants_unlock(pool, &todo);
}

/* Closing it. */

/*
 * Close the pool, and for ever if it is @dying. This is one step: a submit comes either
 * before it, and its task runs, or after it. A reboot that is about to open the pool
 * sees that it was closed. Return the generation that ends.
 */
unsigned int ants_close_begin(struct ants_pool *pool, bool dying)
{
	struct ants_todo todo;
	unsigned int generation;

	ants_lock(pool, &todo);
	/* One that could not be created has never been open. */
	if (!pool->released && pool->kobj.state_in_sysfs)
		trace_ants_pool_release(pool, NULL, NULL, NULL, 0, 0);
	WRITE_ONCE(pool->released, true);
	WRITE_ONCE(pool->release.dying, pool->release.dying || dying);
	WRITE_ONCE(pool->release.seq, pool->release.seq + 1);
	pool->release.nr++;
	generation = pool->release.generation;
	ants_update_admit_limit(pool);
	ants_timer_quiesce(pool);
	ants_unlock(pool, &todo);
	return generation;
}

/*
 * Do what follows from ants_close_begin(), in several holds of the lock. Until
 * it is done the pool is not opened, and destroy waits. Return true if only threads are
 * left, which are about to leave.
 */
bool ants_close_end(struct ants_pool *pool)
{
	struct ants_todo todo;
	bool idle;

	ants_pause(ANTS_PAUSE_RELEASE, pool);
	fail_waiting(pool);
	ants_retire_idle(pool);
	ants_lock(pool, &todo);
	pool->release.nr--;
	idle = !pool->nr_busy && !pool->nr_pending && !pool->nr_callers &&
	       !pool->faults.aborting;
	todo.bits |= ANTS_TODO_WAITQ;
	ants_unlock(pool, &todo);
	return idle;
}

/* Close the pool, whatever else is done to it; return the generation that ends. */
unsigned int ants_close(struct ants_pool *pool)
{
	unsigned int generation = ants_close_begin(pool, false);

	ants_close_end(pool);
	return generation;
}

/* Only ants itself closes and destroys it. */
static bool is_protected(const struct ants_pool *pool)
{
	return pool->parent || pool == ants_system_pool;
}

int ants_release(struct ants_pool *pool)
{
	if (is_protected(pool))
		return -EPERM;
	ants_close(pool);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_release);

static bool pool_gone(struct ants_pool *pool, const void *unused)
{
	lockdep_assert_held(&pool->lock);
	return ants_is_drained(pool) && !pool->nr_callers;
}

/*
 * For destroy: wait until no thread, task, timer, work or caller of the pool is left.
 */
void ants_pool_quiesce(struct ants_pool *pool)
{
	ants_wait_until(pool, pool_gone, NULL, MAX_SCHEDULE_TIMEOUT,
			TASK_UNINTERRUPTIBLE);
}

/*
 * Once the pool is quiescent, since before @seen, a state of RCU, remove what finds it.
 * Readers of debugfs hold the lock of the registry, so this waits for them.
 *
 * Free the pool after an RCU grace period: there may be threads that have dropped
 * its lock in an RCU section, and that still wake others. That goes for its kernel
 * work items as well: the last thing that each of them does with the pool is such
 * a section, and without tasks and threads nothing queues them. For the client the
 * pool has ended before, except that a thread may be about to call back.
 */
void ants_pool_end(struct ants_pool *pool, unsigned long seen)
{
	pool_hide(pool);
	ants_registry_del(&pool->registered);
	/* Nothing is left that could arm it again; it may be about to call back. */
	timer_delete_sync(&pool->timer.timer);
	if (READ_ONCE(pool->release.called_back))
		cond_synchronize_rcu(seen);
	queue_rcu_work(ants_wq, &pool->release.end);
}

static void pool_destroy(struct ants_pool *pool)
{
	ants_wait_touch(pool);
	ants_close_begin(pool, true);
	/* Its files go while its threads leave. If tasks are left, that may take long. */
	if (ants_close_end(pool))
		pool_hide(pool);
	ants_pool_quiesce(pool);
	ants_pool_end(pool, get_state_synchronize_rcu());
}

int ants_pool_destroy(struct ants_pool *pool)
{
	might_sleep();
	if (IS_ERR_OR_NULL(pool))
		return 0;
	if (is_protected(pool))
		return -EPERM;
	if (WARN(ants_runs_task_of(pool),
		 "ants: pool %s destroyed by its task\n", pool->name))
		return -EDEADLK;
	pool_destroy(pool);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_pool_destroy);

/*
 * Give the pool, if it was allocated, its CPUs, threads and files, and publish its name.
 * @explicit: the CPUs were asked for; otherwise ants chose them. The threads are made first
 * and started last, so that after an error there is nothing to wait for when the pool is
 * destroyed, as any other: programs may have written to its files.
 */
static struct ants_pool *pool_publish(struct ants_pool *pool,
				      const struct ants_attrs *attrs, bool explicit)
{
	LIST_HEAD(prepared);
	int err = -ENOMEM;

	if (!pool)
		return ERR_PTR(-ENOMEM);
	pool->target.affinity = ants_affinity_alloc(pool, attrs, explicit);
	if (pool->target.affinity)
		err = ants_registry_add(pool->name, &pool->registered, &ants_pools) ?:
		      ants_stock_make(pool, ants_stock_level(pool)) ?:
		      ants_workers_prepare(pool, pool->config.floor, &prepared) ?:
		      /* The name of a shard is that of its multi, a slash and a number. */
		      kobject_add(&pool->kobj, pool->parent, "%s%s",
				  pool->parent ? "shard" : "", kbasename(pool->name)) ?:
		      ants_sysfs_show(&pool->kobj);
	/* A closed pool starts none of them. */
	if (err) {
		ants_close_begin(pool, true);
		ants_close_end(pool);
	}
	ants_workers_start(pool, &prepared);
	if (!err)
		return pool;
	pool_destroy(pool);
	return ERR_PTR(err);
}

static void destroy_with_device(void *pool)
{
	ants_pool_destroy(pool);
}

/**
 * __ants_pool_create() - create a pool of any kind, but for those of multis
 * @owner: the module that creates it, NULL if built in
 * @dev: the device with whose driver it ends, or NULL
 * @ordered: its tasks run one after another
 * @attrs: its attributes; NULL for the defaults
 * @fmt: printf format of the name
 *
 * Context: Process context. May sleep.
 * Return: the pool, or an ERR_PTR.
 */
struct ants_pool *__ants_pool_create(struct module *owner, struct device *dev,
				     bool ordered,
				     const struct ants_attrs *attrs,
				     const char *fmt, ...)
{
	struct ants_attrs all = attrs ? *attrs : (struct ants_attrs){};
	char name[ANTS_NAME_LEN];
	struct ants_pool *pool;
	va_list args;
	int err;

	if (ordered) {
		/* A caller that runs its task itself would overtake pending tasks. */
		if (all.capacity > 1 || all.flags & ANTS_CALLER_RUNS)
			return ERR_PTR(-EINVAL);
		all.capacity = 1;
		all.flags |= ANTS_FIXED;
	}
	va_start(args, fmt);
	err = ants_check_attrs(&all) ?: ants_set_name(name, fmt, args);
	va_end(args);
	if (err)
		return ERR_PTR(err);
	pool = pool_publish(pool_alloc(owner, NULL, ordered, &all, name), &all, all.cpumask);
	if (!IS_ERR(pool) && dev)
		err = devm_add_action_or_reset(dev, destroy_with_device, pool);
	return err ? ERR_PTR(err) : pool;
}
EXPORT_SYMBOL_GPL(__ants_pool_create);

/*
 * Create a pool that is part of an object with a directory and a name, which main.c
 * destroys as a whole if its owner does not. The caller has checked @attrs. @explicit:
 * their CPUs were asked for; otherwise ants chose them.
 */
struct ants_pool *ants_shard_create(struct module *owner, struct kobject *parent,
				    const char *name, unsigned int nr,
				    const struct ants_attrs *attrs, bool explicit)
{
	char full_name[ANTS_NAME_LEN];

	snprintf(full_name, sizeof(full_name), "%s/%u", name, nr);
	return pool_publish(pool_alloc(owner, parent, false, attrs, full_name), attrs, explicit);
}

/* Closing a pool, opening it again, and waiting for its tasks. */

/*
 * The pool is drained; or it was, and was opened again before this caller
 * looked.
 */
static bool pool_drained(struct ants_pool *pool, const void *generation)
{
	lockdep_assert_held(&pool->lock);
	return pool->release.generation != *(const unsigned int *)generation ||
	       ants_is_drained(pool);
}

/*
 * Wait until @over is true, for a caller that waits for all tasks of @pool. It is handed the
 * value that *@counter has now. Without one the pool is closed, and it is handed the
 * generation that ends.
 *
 * The tasks of the system pool may never end, and a task of the pool would wait for itself.
 * An item whose timer function is about to queue it is no task yet: wait until it is, for
 * a grace period of RCU, whatever the timeout is. A caller that waits for something else
 * uses ants_pool_get_locked(), in the hold that looks at released.
 */
static int wait_tasks(struct ants_pool *pool, ants_cond_t over, const unsigned int *counter,
		      unsigned long timeout)
{
	unsigned int before;
	int err;

	if (pool == ants_system_pool)
		return -EINVAL;
	might_sleep();
	if (ants_in_pool(pool))
		return -EDEADLK;
	if (timeout)
		ants_wait_touch(pool);
	ants_pool_get(pool);
	if (READ_ONCE(pool->delayed.firing))
		cond_synchronize_rcu(READ_ONCE(pool->delayed.firing));
	before = counter ? ants_peek(*counter) : ants_close(pool);
	ants_pause(ANTS_PAUSE_AWAIT, pool);
	err = ants_wait_until(pool, over, &before, timeout, TASK_KILLABLE);
	ants_pool_put(pool);
	return err;
}

int ants_release_timeout(struct ants_pool *pool, unsigned long timeout)
{
	if (is_protected(pool))
		return -EPERM;
	return wait_tasks(pool, pool_drained, NULL, timeout);
}
EXPORT_SYMBOL_GPL(ants_release_timeout);

/*
 * -EBUSY if the pool is not drained, or was closed again since @release_seq was read; else 0.
 */
static int open_error(const struct ants_pool *pool, unsigned int release_seq)
{
	lockdep_assert_held(&pool->lock);
	return ants_closed_since(pool, release_seq) || !ants_is_drained(pool) ? -EBUSY : 0;
}

/*
 * Open the pool, unless it was released after @release_seq was read. What an open
 * pool has from the beginning is made first.
 */
int __ants_reboot(struct ants_pool *pool, unsigned int release_seq)
{
	unsigned int stock = ants_peek(pool->nr_stock);
	struct ants_todo todo;
	LIST_HEAD(prepared);
	int err;

	lockdep_assert_held(&pool->config.lock);
	raw_spin_lock_irq(&pool->lock);
	err = open_error(pool, release_seq);
	ants_unlock_irq(pool);
	if (err)
		return err;
	err = ants_stock_make(pool, ants_stock_level(pool)) ?:
	      ants_workers_prepare(pool, pool->config.floor, &prepared);
	if (!err)
		ants_pause(ANTS_PAUSE_REBOOT, pool);
	/* Decide and open in one step, so that no release is overtaken. */
	ants_lock(pool, &todo);
	if (open_error(pool, release_seq))
		err = -EBUSY;
	if (!err) {
		WRITE_ONCE(pool->released, false);
		WRITE_ONCE(pool->release.generation,
			   pool->release.generation + 1);
		pool->space.congested = false;
		pool->space.congested_all = false;
		pool->upkeep.backoff = 0;
		pool->faults.row = 0;
		pool->faults.row_init = 0;
		WRITE_ONCE(pool->faults.tripped, false);
		ants_update_admit_limit(pool);
		ants_update_stay_limit(pool);
		trace_ants_pool_reboot(pool, NULL, NULL, NULL, 0, 0);
		/* Programs are told that it is open. */
		todo.bits |= ANTS_TODO_WAITQ;
	}
	ants_unlock(pool, &todo);
	if (err)
		ants_stock_trim(pool, stock);
	/* It starts none if the pool is closed. */
	ants_workers_start(pool, &prepared);
	return err;
}

int ants_reboot(struct ants_pool *pool)
{
	int err = pool->parent ? -EPERM : ants_config_lock_user(pool, &pool->config.lock);

	if (err)
		return err;
	err = __ants_reboot(pool, READ_ONCE(pool->release.seq));
	ants_config_unlock(pool, &pool->config.lock);
	return err;
}
EXPORT_SYMBOL_GPL(ants_reboot);

/*
 * Flush: wait for everything accepted so far. Each task carries one of two epochs. A flush
 * flips: it makes the other one current, once no task of that is left, and waits until no
 * task of the old one is. It ends as well when the epoch has flipped twice, whoever did
 * that, for the second flip has waited for the same tasks. So flushes share the flips; and
 * if one gives up, the next one waits for the end of what that has left draining.
 *
 * Drain: wait for a moment at which the pool has no task. Drains share the count of those
 * moments.
 */

/* Has that epoch ended which was current when there were *@flips flips? Flip, if it is time. */
static bool flush_done(struct ants_pool *pool, const void *flips)
{
	unsigned int before = *(const unsigned int *)flips;

	lockdep_assert_held(&pool->lock);
	for (; !pool->in_epoch[!pool->epoch]; pool->flips++) {
		if (pool->flips != before)
			return true;
		pool->epoch = !pool->epoch;
	}
	return pool->flips - before > 1;
}

int ants_flush_timeout(struct ants_pool *pool, unsigned long timeout)
{
	return wait_tasks(pool, flush_done, &pool->flips, timeout);
}
EXPORT_SYMBOL_GPL(ants_flush_timeout);

int ants_flush(struct ants_pool *pool)
{
	return ants_flush_timeout(pool, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_flush);

/* Has the pool been empty since @emptied was read, or is it now? */
static bool drain_done(struct ants_pool *pool, const void *arg)
{
	const unsigned int *emptied = arg;

	lockdep_assert_held(&pool->lock);
	return pool->nr_emptied != *emptied ||
	       (!pool->in_epoch[0] && !pool->in_epoch[1]);
}

int ants_drain_timeout(struct ants_pool *pool, unsigned long timeout)
{
	return wait_tasks(pool, drain_done, &pool->nr_emptied, timeout);
}
EXPORT_SYMBOL_GPL(ants_drain_timeout);

int ants_drain(struct ants_pool *pool)
{
	return ants_drain_timeout(pool, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_drain);

/* Numbers of a pool. None is ever negative; each is true for one moment. */

void ants_pool_stats(const struct ants_pool *pool, struct ants_stats *stats)
{
	/*
	 * Taking the lock does not count as changing a const pool. This changes
	 * nothing, so it drops it without ants_check().
	 */
	raw_spinlock_t *lock = &((struct ants_pool *)pool)->lock;
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	*stats = pool->counts;
	stats->capacity = pool->limits.capacity;
	stats->running = pool->workers.nr;
	stats->idle = pool->workers.nr_idle;
	stats->busy = pool->nr_busy;
	stats->pending = pool->nr_pending;
	stats->waiting = pool->space.nr_waiting;
	if (pool->limits.admit)
		stats->free = pool->limits.capacity == ANTS_UNLIMITED ? ANTS_UNLIMITED :
							ants_nr_admissible(pool);
	stats->submitted = pool->submitted;
	stats->completed = ants_nr_completed(pool);
	raw_spin_unlock_irqrestore(lock, flags);
}
EXPORT_SYMBOL_GPL(ants_pool_stats);

unsigned int ants_nr_running(const struct ants_pool *pool)
{
	return ants_peek(pool->workers.nr);
}
EXPORT_SYMBOL_GPL(ants_nr_running);

unsigned int ants_nr_idle(const struct ants_pool *pool)
{
	return ants_peek(pool->workers.nr_idle);
}
EXPORT_SYMBOL_GPL(ants_nr_idle);

unsigned int ants_nr_busy(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_busy);
}
EXPORT_SYMBOL_GPL(ants_nr_busy);

unsigned int ants_nr_pending(const struct ants_pool *pool)
{
	return ants_peek(pool->nr_pending);
}
EXPORT_SYMBOL_GPL(ants_nr_pending);

unsigned int ants_nr_waiting(const struct ants_pool *pool)
{
	return ants_peek(pool->space.nr_waiting);
}
EXPORT_SYMBOL_GPL(ants_nr_waiting);

unsigned int ants_nr_free(const struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats.free;
}
EXPORT_SYMBOL_GPL(ants_nr_free);

unsigned int ants_capacity(const struct ants_pool *pool)
{
	return READ_ONCE(pool->limits.capacity);
}
EXPORT_SYMBOL_GPL(ants_capacity);

bool ants_is_released(const struct ants_pool *pool)
{
	return READ_ONCE(pool->released);
}
EXPORT_SYMBOL_GPL(ants_is_released);

bool ants_congested(const struct ants_pool *pool)
{
	return !ants_nr_free(pool);
}
EXPORT_SYMBOL_GPL(ants_congested);

void *ants_pool_private(const struct ants_pool *pool)
{
	return pool->ops.private;
}
EXPORT_SYMBOL_GPL(ants_pool_private);
