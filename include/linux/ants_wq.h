/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: what <linux/ants_workqueue.h> is made of: work items that keep the rules of a
 * workqueue, on pools. Not to be used by itself.
 *
 * The function of an ants work item may not free the item, or else, if the item is
 * detached, two of its runs may overlap. The items of a workqueue have neither
 * restriction. So each of them is a detached item here, and each run has a record, in
 * which callers leave what is to happen after the run. All records of a file share one
 * lock, which is taken before that of a pool.
 *
 * A record must outlive a thread that dies in the function, so it is allocated; it is
 * on the stack only if there is no memory. An item whose function dies never ends, as
 * with a workqueue.
 */
#ifndef _LINUX_ANTS_WQ_H
#define _LINUX_ANTS_WQ_H

#include <linux/ants.h>
#include <linux/build_bug.h>
#include <linux/completion.h>
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
 * The replacement of struct work_struct. An item is @pending from when it is queued
 * until it starts, and @queued as long as the pool has it, which is until ants_wq_run()
 * sees that it has started. @restart is set if it is queued again in between.
 */
struct ants_wq_work {
	ants_wq_func_t func;
	struct ants_delayed_work item;
	struct ants_wq_file *file;
	struct ants_pool *pool;
	unsigned long when;
	unsigned int closed;
	bool pending;
	bool queued;
	bool restart;
};

/* The replacement of struct delayed_work. */
struct ants_wq_delayed {
	struct ants_wq_work work;
};

/* A run: the item may be gone before it ends. */
struct ants_wq_running {
	struct hlist_node node;
	struct ants_wq_work *work;
	ants_wq_func_t func;
	bool again;
};

/*
 * A caller that waits for an item: for as many starts, and the end of that run. The
 * item that its function becomes, with another function, is another one.
 */
struct ants_wq_waiter {
	struct hlist_node node;
	struct ants_wq_work *work;
	ants_wq_func_t func;
	unsigned int starts;
	struct completion done;
};

/* Find the run of an item. Another item may have run in the same memory before. */
static inline struct ants_wq_running *
ants_wq_running(const struct ants_wq_work *work)
{
	struct ants_wq_running *run;

	hash_for_each_possible(work->file->runs, run, node, (unsigned long)work) {
		if (run->work == work && run->func == work->func)
			return run;
	}
	return NULL;
}

/* Give an item to its pool; without room there it waits for its turn. */
static inline void ants_wq_hand_over(struct ants_wq_work *work)
{
	long delay = work->when - jiffies;
	int err = -EAGAIN;

	if (delay <= 0)
		err = ants_queue_work(work->pool, &work->item.work);
	if (err == -EAGAIN)
		err = ants_queue_delayed_work(work->pool, &work->item,
					      max(delay, 0L));
	WARN_ONCE(err, "ants: %ps is lost: %d\n", work->func, err);
	work->queued = !err;
	work->pending = !err;
}

/* An item has started, or a run has ended: end the waits that this completes. */
static inline void ants_wq_notify(struct ants_wq_file *file,
				  const struct ants_wq_work *work,
				  ants_wq_func_t func, bool start, bool end)
{
	struct ants_wq_waiter *waiter;
	struct hlist_node *tmp;

	hlist_for_each_entry_safe(waiter, tmp, &file->waiters, node) {
		if (waiter->work != work || waiter->func != func)
			continue;
		waiter->starts -= start && waiter->starts;
		if (!end || waiter->starts)
			continue;
		hlist_del(&waiter->node);
		complete(&waiter->done);
	}
}

/* From here on the item may be queued again, and its memory may go. */
static inline void ants_wq_begin(struct ants_wq_running *run)
{
	struct ants_wq_work *work = run->work;
	struct ants_wq_file *file = work->file;

	raw_spin_lock_irq(&file->lock);
	run->again = work->restart;
	work->restart = false;
	work->queued = false;
	work->pending = run->again;
	hash_add(file->runs, &run->node, (unsigned long)work);
	ants_wq_notify(file, work, run->func, true, false);
	raw_spin_unlock_irq(&file->lock);
}

static inline void ants_wq_end(struct ants_wq_file *file, struct ants_wq_running *run)
{
	raw_spin_lock_irq(&file->lock);
	hash_del(&run->node);
	if (run->again)
		ants_wq_hand_over(run->work);
	ants_wq_notify(file, run->work, run->func, false, true);
	raw_spin_unlock_irq(&file->lock);
}

/* The function that the pool runs. The client's function may free the item. */
static inline int ants_wq_run(struct ants_work *item)
{
	struct ants_wq_work *work = container_of(item, struct ants_wq_work, item.work);
	struct ants_wq_running last_resort, *run;
	struct ants_wq_file *file = work->file;

	run = kmalloc(sizeof(*run), GFP_NOWAIT | __GFP_NOWARN) ?: &last_resort;
	run->work = work;
	run->func = work->func;
	ants_wq_begin(run);
	run->func(work);
	ants_wq_end(file, run);
	if (run != &last_resort)
		kfree(run);
	return 0;
}

/*
 * Take an item out of its pool. Its owner may free it then. So this fails if the
 * timer function is about to look at the item, which the timer then runs.
 */
static inline bool ants_wq_withdraw(struct ants_wq_work *work)
{
	if (!ants_work_cancel(&work->item.work))
		return false;
	/* Pairs with smp_store_release() in ants_work_end(). */
	work->queued = smp_load_acquire(&work->item.work.pool);
	if (work->queued)
		ants_wq_hand_over(work);
	return !work->queued;
}

/* Take back the pending run. Return false if there is none, or if it is starting. */
static inline bool ants_wq_take_back(struct ants_wq_work *work)
{
	struct ants_wq_running *run = ants_wq_running(work);

	if (!work->pending)
		return false;
	if (run && run->again)
		run->again = false;
	else if (work->restart)
		work->restart = false;
	else if (!ants_wq_withdraw(work))
		return false;
	work->pending = false;
	ants_wq_notify(work->file, work, work->func, true, !run && !work->queued);
	return true;
}

static inline void ants_wq_accept(struct ants_pool *pool, struct ants_wq_work *work,
				  unsigned long delay)
{
	struct ants_wq_running *run = ants_wq_running(work);

	work->pool = pool;
	work->when = jiffies + delay;
	work->pending = true;
	if (run)
		run->again = true;
	else if (work->queued)
		work->restart = true;
	else
		ants_wq_hand_over(work);
}

static inline bool ants_wq_queue(struct ants_pool *pool, struct ants_wq_work *work,
				 unsigned long delay)
{
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	ret = !work->pending && !work->closed;
	if (ret)
		ants_wq_accept(pool, work, delay);
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

static inline bool ants_wq_mod(struct ants_pool *pool, struct ants_wq_work *work,
			       unsigned long delay)
{
	unsigned long flags;
	bool ret = true;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	if (!work->closed) {
		ret = ants_wq_take_back(work);
		ants_wq_accept(pool, work, delay);
	}
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

static inline bool ants_wq_cancel(struct ants_wq_work *work)
{
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	ret = ants_wq_take_back(work);
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

/* How many starts a caller waits for. As with a workqueue, it waits for no delay. */
static inline unsigned int ants_wq_starts(const struct ants_wq_work *work,
					  const struct ants_wq_running *run)
{
	bool due = !time_before(jiffies, work->when);

	if ((run && run->again) || work->restart)
		return work->queued + due;
	return work->queued && (due || !work->pending);
}

/* Wait for the item. The lock of the file is held on entry and on return. */
static inline bool ants_wq_wait(struct ants_wq_work *work)
{
	struct ants_wq_running *run = ants_wq_running(work);
	struct ants_wq_file *file = work->file;
	struct ants_wq_waiter waiter = {
		.work = work,
		.func = work->func,
		.starts = ants_wq_starts(work, run),
	};

	if (!run && !waiter.starts)
		return false;
	init_completion(&waiter.done);
	hlist_add_head(&waiter.node, &file->waiters);
	raw_spin_unlock_irq(&file->lock);
	wait_for_completion(&waiter.done);
	raw_spin_lock_irq(&file->lock);
	return true;
}

/* With @now a delay ends first. What is due already keeps its turn. */
static inline bool ants_wq_flush(struct ants_wq_work *work, bool now)
{
	struct ants_wq_file *file = work->file;
	bool ret;

	raw_spin_lock_irq(&file->lock);
	if (now && time_before(jiffies, work->when) && ants_wq_take_back(work))
		ants_wq_accept(work->pool, work, 0);
	ret = ants_wq_wait(work);
	raw_spin_unlock_irq(&file->lock);
	return ret;
}

static inline bool ants_wq_cancel_sync(struct ants_wq_work *work)
{
	bool ret;

	raw_spin_lock_irq(&work->file->lock);
	work->closed++;
	ret = ants_wq_take_back(work);
	ants_wq_wait(work);
	work->closed--;
	raw_spin_unlock_irq(&work->file->lock);
	return ret;
}

static inline unsigned int ants_wq_busy(const struct ants_wq_work *work)
{
	unsigned int ret = work->pending ? WORK_BUSY_PENDING : 0;
	unsigned long flags;

	raw_spin_lock_irqsave(&work->file->lock, flags);
	if (ants_wq_running(work))
		ret |= WORK_BUSY_RUNNING;
	raw_spin_unlock_irqrestore(&work->file->lock, flags);
	return ret;
}

static inline void ants_wq_init(struct ants_wq_work *work, ants_wq_func_t func,
				struct ants_wq_file *file)
{
	memset(work, 0, sizeof(*work));
	ants_delayed_work_init(&work->item, ants_wq_run, ANTS_WORK_DETACHED);
	work->func = func;
	work->file = file;
}

static inline void ants_wq_init_onstack(struct ants_wq_work *work,
					ants_wq_func_t func,
					struct ants_wq_file *file)
{
	memset(work, 0, sizeof(*work));
	ants_delayed_work_init_onstack(&work->item, ants_wq_run);
	ants_work_init(&work->item.work, ants_wq_run, ANTS_WORK_DETACHED);
	work->func = func;
	work->file = file;
}

#define ANTS_WQ_INITIALIZER(_func) {						\
	.func = (_func),							\
	.file = &ants_wq_file,							\
	.item = {								\
		.work = {							\
			.fn = ants_wq_run,					\
			.flags = ANTS_WORK_DETACHED,				\
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

/*
 * Flush twice: an item that was queued while it ran is handed to the pool only when
 * that run has ended.
 */
static inline void ants_wq_flush_all(struct ants_pool *pool)
{
	ants_wq_wait_for(pool, ants_flush);
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

#endif /* _LINUX_ANTS_WQ_H */
