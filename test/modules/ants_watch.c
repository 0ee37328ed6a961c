// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_watch: what two pools of ants_ctl do while the system is suspended and
 * programs are frozen. A thread that does not freeze keeps the pool "warm" busy,
 * and counts what both do while all threads of the pool "cold" are frozen. In
 * /sys/kernel/debug/ants_watch/:
 *
 *	ended		how many tasks of "cold" ended meanwhile; can be reset
 *	others		how many tasks of "warm" did; can be reset
 *	peers		how often what else freezes in the kernel ran meanwhile: items of
 *			freezable workqueues, and of a kthread_worker, and a thread
 *	peers_looks	how often everything was frozen; both can be reset
 *	peers_ran	how often they ran in all
 *	wake_ms		ends a suspend when "cold" has been frozen for this long
 *	feed		1: the thread submits a task to "cold" now and then,
 *			2: as many as "cold" accepts, so that it never runs dry
 *	go		1: the following reads continue
 *	submit		a read submits short tasks to "cold", and so waits
 *	relay		a read submits tasks to "cold" that each submit another one,
 *			and so wait in a worker
 *	handed, ran	how many of these were accepted, and how many ran
 *	flush		a read waits for the tasks of "cold"
 *	sleeper		a read submits a task to "cold" that sleeps, and freezes in
 *			its sleep, while go is 1
 *	work, group, call, call_release
 *			a read submits one to "cold", and waits for its end
 *
 * A read holds no lock, unlike a write.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/power.h>

#include "ants_ctl.h"

#define FEED_TICKS	(HZ / 20 ?: 1)

static struct ants_pool *cold, *warm;
static struct task_struct *watcher;
static struct dentry *watch_dir;
static u32 ended, others, peers, peers_looks, wake_ms, feed, go;
static atomic_t handed = ATOMIC_INIT(0), ran = ATOMIC_INIT(0);

static void warm_task(void *unused)
{
	schedule_timeout_idle(1);
}

/* An uninterruptible sleep, which the freezer does not end early. */
static void short_task(void *unused)
{
	msleep(20);
	atomic_inc(&ran);
}

static int hand_over(ants_fn_t fn)
{
	int err = ants_submit(cold, fn, NULL);

	if (!err)
		atomic_inc(&handed);
	return err;
}

/* Waits that could last for ever are refused. */
static void relay_task(void *unused)
{
	hand_over(short_task);
	atomic_inc(&ran);
}

static u64 completed(struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats.completed;
}

/* --- what else freezes ---------------------------------------------------------- */

static struct {
	struct workqueue_struct *wq;
	struct delayed_work item;
	struct delayed_work system_item;
	struct kthread_worker *worker;
	struct kthread_delayed_work work;
	struct task_struct *thread;
} peer;

static atomic_t peers_ran = ATOMIC_INIT(0);

static void peer_item_fn(struct work_struct *work)
{
	atomic_inc(&peers_ran);
	queue_delayed_work(peer.wq, &peer.item, 1);
}

static void peer_system_fn(struct work_struct *work)
{
	atomic_inc(&peers_ran);
	queue_delayed_work(system_freezable_wq, &peer.system_item, 1);
}

static void peer_work_fn(struct kthread_work *work)
{
	atomic_inc(&peers_ran);
	kthread_queue_delayed_work(peer.worker, &peer.work, 1);
}

static int peer_thread(void *unused)
{
	set_freezable();
	while (!kthread_should_stop()) {
		try_to_freeze();
		atomic_inc(&peers_ran);
		schedule_timeout_interruptible(1);
	}
	return 0;
}

/*
 * The kernel says when everything is frozen, and that it is about to thaw: no time tells,
 * on a machine that may be busy, when the last of the peers has stopped.
 */
static void look_at_peers(void *unused, const char *action, int val, bool start)
{
	static int base;

	if (!strcmp(action, "freeze_processes") && !start) {
		base = atomic_read(&peers_ran);
	} else if (!strcmp(action, "thaw_processes") && start) {
		peers += atomic_read(&peers_ran) - base;
		peers_looks++;
	}
}

static int peers_start(void)
{
	int err = register_trace_suspend_resume(look_at_peers, NULL);

	if (err)
		return err;
	INIT_DELAYED_WORK(&peer.item, peer_item_fn);
	INIT_DELAYED_WORK(&peer.system_item, peer_system_fn);
	kthread_init_delayed_work(&peer.work, peer_work_fn);
	peer.wq = alloc_workqueue("ants_watch", WQ_UNBOUND | WQ_FREEZABLE, 2);
	if (!peer.wq)
		return -ENOMEM;
	peer.worker = kthread_create_worker(KTW_FREEZABLE, "ants_peer");
	if (IS_ERR(peer.worker))
		return PTR_ERR(peer.worker);
	wake_up_process(peer.worker->task);
	peer.thread = kthread_run(peer_thread, NULL, "ants_peer");
	if (IS_ERR(peer.thread))
		return PTR_ERR(peer.thread);
	queue_delayed_work(peer.wq, &peer.item, 1);
	queue_delayed_work(system_freezable_wq, &peer.system_item, 1);
	kthread_queue_delayed_work(peer.worker, &peer.work, 1);
	return 0;
}

static void peers_stop(void)
{
	unregister_trace_suspend_resume(look_at_peers, NULL);
	tracepoint_synchronize_unregister();
	if (!IS_ERR_OR_NULL(peer.thread)) {
		kthread_stop(peer.thread);
		kthread_cancel_delayed_work_sync(&peer.work);
		cancel_delayed_work_sync(&peer.system_item);
		cancel_delayed_work_sync(&peer.item);
	}
	if (!IS_ERR_OR_NULL(peer.worker))
		kthread_destroy_worker(peer.worker);
	if (peer.wq)
		destroy_workqueue(peer.wq);
}

/* The pool has threads, and all of them are frozen. */
static bool cold_is_frozen(void)
{
	struct task_struct *p;
	bool frozen = true;
	int nr = 0;

	rcu_read_lock();
	for_each_process(p) {
		if (strcmp(p->comm, "ants/cold"))
			continue;
		frozen &= !!(READ_ONCE(p->__state) & TASK_FROZEN);
		nr++;
	}
	rcu_read_unlock();
	return frozen && nr;
}

/**
 * struct look - what the thread saw when it looked last
 * @frozen: "cold" was frozen
 * @since: jiffies when "cold" was first seen frozen
 * @cold: how many tasks of "cold" had ended just after
 * @warm: how many tasks of "warm" had ended just after
 */
struct look {
	bool frozen;
	unsigned long since;
	u64 cold;
	u64 warm;
};

/* What ended between two looks, both at a frozen pool, ended meanwhile. */
static void look_again(struct look *last)
{
	u64 cold_now = completed(cold), warm_now = completed(warm);
	bool was_frozen = last->frozen;

	last->frozen = cold_is_frozen();
	if (last->frozen && was_frozen) {
		ended += cold_now - last->cold;
		others += warm_now - last->warm;
		if (wake_ms &&
		    jiffies_to_msecs(jiffies - last->since) >= wake_ms)
			pm_system_wakeup();
	} else {
		last->since = jiffies;
	}
	last->cold = completed(cold);
	last->warm = completed(warm);
}

/* Keep both pools busy, whatever other tasks do. */
static void feed_pools(unsigned long *fed)
{
	while (!ants_try_submit(warm, warm_task, NULL))
		;
	if (READ_ONCE(feed) == 1 && time_before(jiffies, *fed + FEED_TICKS))
		return;
	*fed = jiffies;
	while (READ_ONCE(feed) && !ants_try_submit(cold, short_task, NULL)) {
		atomic_inc(&handed);
		if (READ_ONCE(feed) == 1)
			return;
	}
}

static int watch(void *unused)
{
	unsigned long fed = jiffies;
	struct look last = {};

	while (!kthread_should_stop()) {
		feed_pools(&fed);
		look_again(&last);
		schedule_timeout_idle(1);
	}
	return 0;
}

static int submit_tasks(ants_fn_t fn)
{
	int err = 0;

	while (READ_ONCE(go) && !err)
		err = hand_over(fn);
	return err;
}

static ssize_t submit_read(struct file *file, char __user *buf, size_t count,
			   loff_t *pos)
{
	return submit_tasks(short_task);
}

static ssize_t relay_read(struct file *file, char __user *buf, size_t count,
			  loff_t *pos)
{
	return submit_tasks(relay_task);
}

static ssize_t flush_read(struct file *file, char __user *buf, size_t count,
			  loff_t *pos)
{
	return ants_flush(cold);
}

/*
 * Lockdep must not take what is held around each task for a lock that a device
 * needs.
 */
static void sleeper_task(void *unused)
{
	while (READ_ONCE(go)) {
		__set_current_state(TASK_IDLE | TASK_FREEZABLE_UNSAFE);
		schedule_timeout(FEED_TICKS);
	}
	atomic_inc(&ran);
}

static ssize_t sleeper_read(struct file *file, char __user *buf, size_t count,
			    loff_t *pos)
{
	return hand_over(sleeper_task);
}

static int count_ran(void *unused)
{
	atomic_inc(&ran);
	return 0;
}

static int work_fn(struct ants_work *work)
{
	return count_ran(NULL);
}

/* No signal kills the readers, so an error of a wait is a failure. */
static ssize_t work_read(struct file *file, char __user *buf, size_t count,
			 loff_t *pos)
{
	struct ants_work work;
	int err;

	INIT_ANTS_WORK(&work, work_fn);
	err = ants_queue_work(cold, &work);
	if (err)
		return err;
	atomic_inc(&handed);
	err = ants_work_wait(&work, NULL);
	ants_work_cancel_sync(&work);
	return err;
}

static ssize_t group_read(struct file *file, char __user *buf, size_t count,
			  loff_t *pos)
{
	struct ants_group group;
	struct ants_work work;
	int err;

	INIT_ANTS_WORK(&work, work_fn);
	err = ants_group_init(&group, cold, 0) ?:
	      ants_group_submit(&group, &work);
	if (err)
		return err;
	atomic_inc(&handed);
	err = ants_group_wait(&group, NULL);
	ants_work_cancel_sync(&work);
	return err;
}

static ssize_t call_read(struct file *file, char __user *buf, size_t count,
			 loff_t *pos)
{
	atomic_inc(&handed);
	return ants_call(cold, count_ran, NULL, MAX_SCHEDULE_TIMEOUT);
}

static void no_release(void *unused)
{
}

static ssize_t call_release_read(struct file *file, char __user *buf,
				 size_t count, loff_t *pos)
{
	atomic_inc(&handed);
	return ants_call_release(cold, count_ran, NULL, MAX_SCHEDULE_TIMEOUT,
				 no_release);
}

/* A file that does something when it is read. */
#define READ_FOPS(_name)						\
static const struct file_operations _name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = simple_open,						\
	.read = _name##_read,						\
}

READ_FOPS(submit);
READ_FOPS(relay);
READ_FOPS(flush);
READ_FOPS(sleeper);
READ_FOPS(work);
READ_FOPS(group);
READ_FOPS(call);
READ_FOPS(call_release);

static void make_file(const char *name, const struct file_operations *fops)
{
	debugfs_create_file(name, 0400, watch_dir, NULL, fops);
}

static void make_files(void)
{
	watch_dir = debugfs_create_dir("ants_watch", NULL);
	debugfs_create_u32("ended", 0600, watch_dir, &ended);
	debugfs_create_u32("others", 0600, watch_dir, &others);
	debugfs_create_u32("peers", 0600, watch_dir, &peers);
	debugfs_create_u32("peers_looks", 0600, watch_dir, &peers_looks);
	debugfs_create_atomic_t("peers_ran", 0400, watch_dir, &peers_ran);
	debugfs_create_u32("wake_ms", 0600, watch_dir, &wake_ms);
	debugfs_create_u32("feed", 0600, watch_dir, &feed);
	debugfs_create_u32("go", 0600, watch_dir, &go);
	debugfs_create_atomic_t("handed", 0400, watch_dir, &handed);
	debugfs_create_atomic_t("ran", 0400, watch_dir, &ran);
	make_file("submit", &submit_fops);
	make_file("relay", &relay_fops);
	make_file("flush", &flush_fops);
	make_file("sleeper", &sleeper_fops);
	make_file("work", &work_fops);
	make_file("group", &group_fops);
	make_file("call", &call_fops);
	make_file("call_release", &call_release_fops);
}

/* Without the two pools there is nothing to do. */
static int __init ants_watch_init(void)
{
	int err;

	cold = ants_ctl_pool("cold");
	warm = ants_ctl_pool("warm");
	if (!cold || !warm)
		return 0;
	err = peers_start();
	if (!err) {
		watcher = kthread_run(watch, NULL, "ants_watch");
		err = PTR_ERR_OR_ZERO(watcher);
	}
	if (err)
		peers_stop();
	else
		make_files();
	return err;
}
module_init(ants_watch_init);

static void __exit ants_watch_exit(void)
{
	debugfs_remove(watch_dir);
	if (!watcher)
		return;
	kthread_stop(watcher);
	peers_stop();
}
module_exit(ants_watch_exit);

MODULE_DESCRIPTION("ants: two pools watched over a suspend");
MODULE_LICENSE("GPL");
