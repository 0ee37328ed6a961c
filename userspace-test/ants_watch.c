// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_watch: what two pools of ants_ctl do while the system is suspended and
 * no program can look. A thread that does not freeze measures the longest time
 * in which no task of the pool "cold" ended although some were pending, and how
 * many of the pool "warm" ended in it. In /sys/kernel/debug/ants_watch/:
 *
 *	pause_ms	that time, in milliseconds; can be reset
 *	others		how many
 *	feed		1: the thread itself hands tasks to "cold" now and then
 *	submit		a read hands 1000 short tasks to "cold", and so waits
 *	relay		a read hands 500 tasks to "cold" that each try to hand over
 *			one, and so wait with a worker
 *	flush		a read waits for the tasks of "cold"
 *
 * Who reads holds no lock, unlike who writes.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "ants_ctl.h"

#define TASKS		1000
#define RELAYS		500
#define FEED_TICKS	(HZ / 20 ?: 1)

static struct ants_pool *cold, *warm;
static struct task_struct *watcher;
static struct dentry *watch_dir;
static u32 pause_ms, others, feed;

static void short_task(void *unused)
{
	schedule_timeout_idle(1);
}

/* Those that could wait for ever are refused. */
static void relay_task(void *unused)
{
	ants_submit(cold, short_task, NULL);
}

static u64 completed(struct ants_pool *pool, unsigned int *pending)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	*pending = stats.pending;
	return stats.completed;
}

/* The time since the last task of "cold" ended, if it is the longest. */
static void note_pause(unsigned long since, u64 warm_then)
{
	unsigned int ms = jiffies_to_msecs(jiffies - since);
	unsigned int unused;

	if (ms <= pause_ms)
		return;
	pause_ms = ms;
	others = completed(warm, &unused) - warm_then;
}

static int watch(void *unused)
{
	unsigned long since = jiffies, fed = jiffies;
	u64 now, last = 0, warm_then = 0;
	unsigned int pending, ignored;

	while (!kthread_should_stop()) {
		if (feed && time_after(jiffies, fed + FEED_TICKS)) {
			ants_try_submit(cold, short_task, NULL);
			fed = jiffies;
		}
		now = completed(cold, &pending);
		if (now == last && pending) {
			note_pause(since, warm_then);
		} else {
			last = now;
			since = jiffies;
			warm_then = completed(warm, &ignored);
		}
		schedule_timeout_idle(1);
	}
	return 0;
}

static int submit_tasks(ants_fn_t fn, unsigned int nr)
{
	int err = 0;

	while (nr-- && !err)
		err = ants_submit(cold, fn, NULL);
	return err;
}

static ssize_t submit_read(struct file *file, char __user *buf, size_t count,
			   loff_t *pos)
{
	return submit_tasks(short_task, TASKS);
}

static ssize_t relay_read(struct file *file, char __user *buf, size_t count,
			  loff_t *pos)
{
	return submit_tasks(relay_task, RELAYS);
}

static ssize_t flush_read(struct file *file, char __user *buf, size_t count,
			  loff_t *pos)
{
	return ants_flush(cold);
}

static const struct file_operations submit_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = submit_read,
};

static const struct file_operations relay_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = relay_read,
};

static const struct file_operations flush_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = flush_read,
};

static void make_files(void)
{
	watch_dir = debugfs_create_dir("ants_watch", NULL);
	debugfs_create_u32("pause_ms", 0600, watch_dir, &pause_ms);
	debugfs_create_u32("others", 0400, watch_dir, &others);
	debugfs_create_u32("feed", 0600, watch_dir, &feed);
	debugfs_create_file("submit", 0400, watch_dir, NULL, &submit_fops);
	debugfs_create_file("relay", 0400, watch_dir, NULL, &relay_fops);
	debugfs_create_file("flush", 0400, watch_dir, NULL, &flush_fops);
}

/* Without the two pools there is nothing to do. */
static int __init ants_watch_init(void)
{
	cold = ants_ctl_pool("cold");
	warm = ants_ctl_pool("warm");
	if (!cold || !warm)
		return 0;
	watcher = kthread_run(watch, NULL, "ants_watch");
	if (IS_ERR(watcher))
		return PTR_ERR(watcher);
	make_files();
	return 0;
}
module_init(ants_watch_init);

static void __exit ants_watch_exit(void)
{
	debugfs_remove(watch_dir);
	if (watcher)
		kthread_stop(watcher);
}
module_exit(ants_watch_exit);

MODULE_DESCRIPTION("ants: two pools watched over a suspend");
MODULE_LICENSE("GPL");
