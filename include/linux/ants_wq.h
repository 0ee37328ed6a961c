/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: what <linux/ants_workqueue.h> is made of: work items that keep the rules of a
 * workqueue, on pools. Not to be used by itself.
 *
 * Such an item is a detached one here: from its start on the pool does not know it, so
 * its function may free it, or queue it again. Where an item is before it starts, the
 * pool alone says; here is noted only what the pool does not know, the runs. All runs of
 * a file share one lock, which is taken before that of a pool. An item starts under that
 * lock, in ants_wq_begin(): a caller that holds the lock finds it in its pool, or its run
 * here.
 *
 * Two runs of an item may not overlap, so one that comes to its start too early waits
 * there, and occupies a thread as it would occupy max_active.
 *
 * The record of a run must outlive a thread that dies in the function, so it is
 * allocated; it is on the stack only if there is no memory. An item whose function dies
 * never ends, as with a workqueue.
 */
#ifndef _LINUX_ANTS_WQ_H
#define _LINUX_ANTS_WQ_H

#include <linux/ants.h>
#include <linux/build_bug.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/nodemask.h>
#include <linux/sched/prio.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

/* The runs of the items of a file, and the callers that wait for them. */
struct ants_wq_file {
	raw_spinlock_t lock;
	DECLARE_HASHTABLE(runs, 6);
	struct hlist_head waiters;
};

static __maybe_unused struct ants_wq_file ants_wq_file = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(ants_wq_file.lock),
};

struct ants_wq_work;
typedef void (*ants_wq_func_t)(struct ants_wq_work *work);

/*
 * The replacement of struct work_struct. @file is that of the source that has
 * initialised it. While @closed is not zero it cannot be queued.
 */
struct ants_wq_work {
	ants_wq_func_t func;
	struct ants_delayed_work item;
	struct ants_wq_file *file;
	unsigned int closed;
};

/* The replacement of struct delayed_work. */
struct ants_wq_delayed {
	struct ants_wq_work work;
};

/* A run: the item may be gone before it ends. @waits: for the end of another one. */
struct ants_wq_running {
	struct hlist_node node;
	struct ants_wq_work *work;
	ants_wq_func_t func;
	bool waits;
	struct completion turn;
};

/*
 * A caller that waits for an item: for its start, if @start, and the end of that run.
 * The item that its function becomes, with another function, is another one.
 */
struct ants_wq_waiter {
	struct hlist_node node;
	struct ants_wq_work *work;
	ants_wq_func_t func;
	bool start;
	struct completion done;
};

/*
 * Find the run of an item, or one that waits for its turn. Another item may have run in
 * the same memory before, and the item may be gone.
 */
static inline struct ants_wq_running *
ants_wq_find(struct ants_wq_file *file, const struct ants_wq_work *work,
	     ants_wq_func_t func, bool waits)
{
	struct ants_wq_running *run;

	hash_for_each_possible(file->runs, run, node, (unsigned long)work) {
		if (run->work == work && run->func == func && run->waits == waits)
			return run;
	}
	return NULL;
}

static inline struct ants_wq_running *
ants_wq_running(const struct ants_wq_work *work, bool waits)
{
	return ants_wq_find(work->file, work, work->func, waits);
}

/* The pool that has got the item, or NULL. */
static inline struct ants_pool *ants_wq_in_pool(struct ants_wq_work *work)
{
	/* Pairs with smp_store_release() in kernel/core/item.h. */
	return smp_load_acquire(&work->item.work.pool);
}

/* Was its pool closed before it was due? As with a workqueue, it stays pending. */
static inline bool ants_wq_given_up(const struct ants_wq_work *work)
{
	return READ_ONCE(work->item.work.result) == -ESHUTDOWN;
}

static inline bool ants_wq_pending(struct ants_wq_work *work)
{
	return ants_wq_in_pool(work) || ants_wq_given_up(work) ||
	       ants_wq_running(work, true);
}

/* Give an item to its pool; without room there it waits for its turn. */
static inline void ants_wq_hand_over(struct ants_pool *pool, struct ants_wq_work *work,
				     unsigned long delay)
{
	int err = -EAGAIN;

	if (!delay)
		err = ants_queue_work(pool, &work->item.work);
	if (err == -EAGAIN)
		err = ants_queue_delayed_work(pool, &work->item, delay);
	if (WARN_ONCE(err, "ants: %ps is lost: %d\n", work->func, err))
		work->item.work.result = err;
}

/* A run has started, or has ended: end the waits that this completes. */
static inline void ants_wq_notify(struct ants_wq_file *file,
				  const struct ants_wq_work *work,
				  ants_wq_func_t func, bool start, bool end)
{
	struct ants_wq_waiter *waiter;
	struct hlist_node *tmp;

	hlist_for_each_entry_safe(waiter, tmp, &file->waiters, node) {
		if (waiter->work != work || waiter->func != func)
			continue;
		waiter->start &= !start;
		if (!end || waiter->start)
			continue;
		hlist_del_init(&waiter->node);
		complete(&waiter->done);
	}
}

/*
 * From here on the item may be queued again, and its memory may go. Return false if the
 * run was taken back: before this, when the item may be gone already, or while it waited
 * for another one.
 */
static inline bool ants_wq_begin(struct ants_wq_file *file, struct ants_wq_running *run)
{
	struct ants_wq_work *work = run->work;
	bool taken;

	raw_spin_lock_irq(&file->lock);
	if (!ants_work_begin()) {
		raw_spin_unlock_irq(&file->lock);
		return false;
	}
	run->func = work->func;
	run->waits = ants_wq_running(work, false);
	hash_add(file->runs, &run->node, (unsigned long)work);
	while (run->waits) {
		raw_spin_unlock_irq(&file->lock);
		wait_for_completion(&run->turn);
		raw_spin_lock_irq(&file->lock);
	}
	taken = !run->work;
	if (!taken)
		ants_wq_notify(file, work, run->func, true, false);
	raw_spin_unlock_irq(&file->lock);
	return !taken;
}

static inline void ants_wq_let_go(struct ants_wq_running *run)
{
	run->waits = false;
	complete(&run->turn);
}

static inline void ants_wq_end(struct ants_wq_file *file, struct ants_wq_running *run)
{
	struct ants_wq_running *next;

	raw_spin_lock_irq(&file->lock);
	hash_del(&run->node);
	next = ants_wq_find(file, run->work, run->func, true);
	if (next)
		ants_wq_let_go(next);
	ants_wq_notify(file, run->work, run->func, false, true);
	raw_spin_unlock_irq(&file->lock);
}

/*
 * The function that the pool runs. The item may be gone before it begins, and the
 * client's function may free it. Its file is this one.
 */
static inline void ants_wq_run(void *item)
{
	struct ants_wq_work *work = container_of(item, struct ants_wq_work, item.work);
	struct ants_wq_running last_resort, *run;

	run = kmalloc(sizeof(*run), GFP_NOWAIT | __GFP_NOWARN) ?: &last_resort;
	run->work = work;
	init_completion(&run->turn);
	if (ants_wq_begin(&ants_wq_file, run)) {
		run->func(work);
		ants_wq_end(&ants_wq_file, run);
	}
	if (run != &last_resort)
		kfree(run);
}

/*
 * Take an item out of its pool. Its owner may free it then. So this returns -EAGAIN if
 * the timer function is about to look at the item: then the item stays, and is due
 * after @delay.
 */
static inline int ants_wq_withdraw(struct ants_wq_work *work, unsigned long delay)
{
	struct ants_pool *pool;

	if (!ants_work_cancel(&work->item.work))
		return 0;
	/* Pairs with smp_store_release() in ants_work_end(). */
	pool = smp_load_acquire(&work->item.work.pool);
	if (!pool)
		return 1;
	ants_queue_delayed_work(pool, &work->item, delay);
	return -EAGAIN;
}

/* Take back a pending run. Return 1, 0 if there is none, or as ants_wq_withdraw(). */
static inline int ants_wq_take_back(struct ants_wq_work *work, unsigned long delay)
{
	struct ants_wq_running *run = ants_wq_running(work, true);
	int ret = 1;

	if (run) {
		hash_del(&run->node);
		run->work = NULL;
		ants_wq_let_go(run);
	} else {
		ret = ants_wq_withdraw(work, delay);
	}
	if (!ret && ants_wq_given_up(work)) {
		work->item.work.result = -ECANCELED;
		ret = 1;
	}
	if (ret > 0)
		ants_wq_notify(work->file, work, work->func, true,
			       !ants_wq_running(work, false));
	return ret;
}

static inline bool ants_wq_queue(struct ants_pool *pool, struct ants_wq_work *work,
				 unsigned long delay)
{
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	ret = !work->closed && !ants_wq_pending(work);
	if (ret)
		ants_wq_hand_over(pool, work, delay);
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

static inline bool ants_wq_mod(struct ants_pool *pool, struct ants_wq_work *work,
			       unsigned long delay)
{
	unsigned long flags;
	int ret = 0;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	if (!work->closed) {
		ret = ants_wq_take_back(work, delay);
		if (ret >= 0)
			ants_wq_hand_over(pool, work, delay);
	}
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

/* @close: nor can it be queued until ants_wq_enable(). */
static inline bool ants_wq_cancel(struct ants_wq_work *work, bool close)
{
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	work->closed += close;
	ret = ants_wq_take_back(work, 0) > 0;
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

/* Return true if it can be queued. */
static inline bool ants_wq_enable(struct ants_wq_work *work)
{
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	if (!WARN_ON_ONCE(!work->closed))
		work->closed--;
	ret = !work->closed;
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

static inline bool ants_wq_enable_and_queue(struct ants_pool *pool,
					    struct ants_wq_work *work)
{
	bool ret = ants_wq_enable(work);

	if (ret)
		ants_wq_queue(pool, work, 0);
	return ret;
}

/* Does a caller wait for a start? As with a workqueue, it waits for no delay. */
static inline bool ants_wq_starts(struct ants_wq_work *work)
{
	return ants_wq_running(work, true) ||
	       (ants_wq_in_pool(work) && !timer_pending(&work->item.timer));
}

/* Will the start for which the caller waits not come? The item is there until it has. */
static inline bool ants_wq_is_lost(struct ants_wq_file *file,
				   const struct ants_wq_waiter *waiter)
{
	return waiter->start && !ants_wq_find(file, waiter->work, waiter->func, false) &&
	       !ants_wq_starts(waiter->work);
}

/* Wait for the item. The lock of the file is held on entry and on return. */
static inline bool ants_wq_wait(struct ants_wq_work *work)
{
	struct ants_wq_file *file = work->file;
	struct ants_wq_waiter waiter = {
		.work = work,
		.func = work->func,
		.start = ants_wq_starts(work),
	};

	if (!ants_wq_running(work, false) && !waiter.start)
		return false;
	init_completion(&waiter.done);
	hlist_add_head(&waiter.node, &file->waiters);
	while (!hlist_unhashed(&waiter.node)) {
		raw_spin_unlock_irq(&file->lock);
		/* A pool tells nobody that it has ended an item, as ants_cancel_pending() does. */
		wait_for_completion_timeout(&waiter.done, HZ);
		raw_spin_lock_irq(&file->lock);
		if (!hlist_unhashed(&waiter.node) && ants_wq_is_lost(file, &waiter))
			hlist_del_init(&waiter.node);
	}
	return true;
}

/* With @now a delay ends first. What is due already keeps its turn. */
static inline bool ants_wq_flush(struct ants_wq_work *work, bool now)
{
	struct ants_wq_file *file = work->file;
	struct ants_pool *pool;
	bool ret;

	raw_spin_lock_irq(&file->lock);
	pool = ants_wq_in_pool(work);
	if (now && pool && timer_pending(&work->item.timer) &&
	    ants_wq_take_back(work, 0) > 0)
		ants_wq_hand_over(pool, work, 0);
	ret = ants_wq_wait(work);
	raw_spin_unlock_irq(&file->lock);
	return ret;
}

static inline bool ants_wq_cancel_sync(struct ants_wq_work *work, bool close)
{
	bool ret;

	raw_spin_lock_irq(&work->file->lock);
	work->closed++;
	ret = ants_wq_take_back(work, 0) > 0;
	ants_wq_wait(work);
	work->closed -= !close;
	raw_spin_unlock_irq(&work->file->lock);
	return ret;
}

static inline unsigned int ants_wq_busy(struct ants_wq_work *work)
{
	unsigned long flags;
	unsigned int ret;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	ret = ants_wq_pending(work) ? WORK_BUSY_PENDING : 0;
	if (ants_wq_running(work, false))
		ret |= WORK_BUSY_RUNNING;
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

#define ANTS_WQ_KIND	(ANTS_WORK_DETACHED | ANTS_WORK_LATE)

static inline void ants_wq_init(struct ants_wq_work *work, ants_wq_func_t func)
{
	memset(work, 0, sizeof(*work));
	ants_delayed_work_init(&work->item, NULL, ANTS_WQ_KIND);
	work->item.work.late_fn = ants_wq_run;
	work->func = func;
	work->file = &ants_wq_file;
}

static inline void ants_wq_init_onstack(struct ants_wq_work *work, ants_wq_func_t func)
{
	memset(work, 0, sizeof(*work));
	ants_delayed_work_init_onstack(&work->item, NULL);
	ants_work_init(&work->item.work, NULL, ANTS_WQ_KIND);
	work->item.work.late_fn = ants_wq_run;
	work->func = func;
	work->file = &ants_wq_file;
}

#define ANTS_WQ_INITIALIZER(_func) {						\
	.func = (_func),							\
	.file = &ants_wq_file,							\
	.item = {								\
		.work = {							\
			.late_fn = ants_wq_run,					\
			.flags = ANTS_WQ_KIND,					\
			.result = -EINVAL,					\
		},								\
		.timer = __TIMER_INITIALIZER(ants_delayed_timer_fn, 0),		\
	},									\
}

/* --- pools ------------------------------------------------------------------- */

static inline unsigned int ants_wq_capacity(unsigned int flags, int max_active)
{
	int most = flags & WQ_UNBOUND ? WQ_UNBOUND_MAX_ACTIVE : WQ_MAX_ACTIVE;
	unsigned int nr = clamp(max_active ?: WQ_DFL_ACTIVE, 1, most);

	if (flags & __WQ_ORDERED)
		return 1;
	return nr * (flags & WQ_UNBOUND ? num_online_nodes() : num_online_cpus());
}

static inline struct ants_pool *ants_wq_create(const struct ants_attrs *attrs,
					       bool ordered, const char *name)
{
	if (ordered)
		return ants_pool_create_ordered(attrs, "%s", name);
	return ants_pool_create(attrs, "%s", name);
}

/*
 * The name of a workqueue may have any character, and need not be unique. The limits
 * are fixed, because flush_workqueue() does not wait for an item that finds no room.
 */
static inline __printf(3, 4) struct ants_pool *
ants_wq_alloc(unsigned int flags, int max_active, const char *fmt, ...)
{
	struct ants_attrs attrs = {
		.queue_depth = INT_MAX,
		/* A workqueue refuses nothing. */
		.max_faults = INT_MAX,
		.nice = flags & WQ_HIGHPRI ? MIN_NICE : 0,
		.flags = ANTS_FIXED |
			 (flags & WQ_MEM_RECLAIM ? ANTS_MEM_RECLAIM : 0) |
			 (flags & WQ_FREEZABLE ? ANTS_FREEZABLE : 0),
	};
	char name[ANTS_NAME_LEN - 4];
	char full[ANTS_NAME_LEN], *c;
	struct ants_pool *pool;
	unsigned int nr = 1;
	va_list args;

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	for (c = name; *c; c++)
		if (*c == '/' || *c < ' ' || *c > '~')
			*c = '!';
	/* Old kernels have no other way to ask for an ordered workqueue. */
	if (flags & WQ_UNBOUND && max_active == 1)
		flags |= __WQ_ORDERED;
	attrs.capacity = ants_wq_capacity(flags, max_active);
	snprintf(full, sizeof(full), "%s", name);
	do {
		pool = ants_wq_create(&attrs, flags & __WQ_ORDERED, full);
		snprintf(full, sizeof(full), "%s~%u", name, ++nr);
	} while (pool == ERR_PTR(-EEXIST) && nr < 100);
	return IS_ERR(pool) ? NULL : pool;
}

/* If the caller is being killed, a kernel worker waits in its place. */
struct ants_wq_proxy {
	struct work_struct work;
	struct ants_pool *pool;
	int (*wait)(struct ants_pool *pool);
};

static inline void ants_wq_proxy_fn(struct work_struct *work)
{
	struct ants_wq_proxy *proxy = container_of(work, struct ants_wq_proxy, work);

	WARN_ON_ONCE(proxy->wait(proxy->pool));
}

static inline void ants_wq_wait_for(struct ants_pool *pool,
				    int (*wait)(struct ants_pool *pool))
{
	struct ants_wq_proxy proxy = { .pool = pool, .wait = wait };
	int err = wait(pool);

	WARN_ON_ONCE(err && err != -EINTR);
	if (err != -EINTR)
		return;
	INIT_WORK_ONSTACK(&proxy.work, ants_wq_proxy_fn);
	schedule_work(&proxy.work);
	flush_work(&proxy.work);
	destroy_work_on_stack(&proxy.work);
}

static inline void ants_wq_flush_all(struct ants_pool *pool)
{
	ants_wq_wait_for(pool, ants_flush);
}

static inline void ants_wq_drain(struct ants_pool *pool)
{
	ants_wq_wait_for(pool, ants_drain);
}

static inline void ants_wq_destroy(struct ants_pool *pool)
{
	ants_wq_drain(pool);
	ants_pool_destroy(pool);
}

static inline void ants_wq_destroy_action(void *pool)
{
	ants_wq_destroy(pool);
}

static inline struct ants_pool *ants_wq_devm(struct device *dev, struct ants_pool *pool)
{
	if (!pool || devm_add_action_or_reset(dev, ants_wq_destroy_action, pool))
		return NULL;
	return pool;
}

#endif /* _LINUX_ANTS_WQ_H */
