// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_user: a loop that copies to the memory of the process that calls it. A
 * read() of two bytes from /sys/kernel/debug/ants_user/plain or borrows runs two
 * numbers side by side: the reader writes "c" to the first byte, a thread of a
 * pool "t" to the second one, unless it has no address space. With "borrows" it
 * borrows that of the reader. The result is that of ants_for_each(), or 2.
 */
#include <linux/ants.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>

#define DEADLINE	(60 * HZ)

/* What both share. @mm: to be borrowed, or NULL. */
struct copy {
	char __user *buf;
	struct mm_struct *mm;
	atomic_t inside;
};

/* Both are inside, so that neither runs the other's number. */
static bool meet(struct copy *copy)
{
	unsigned long end = jiffies + DEADLINE;

	atomic_inc(&copy->inside);
	while (atomic_read(&copy->inside) < 2) {
		if (time_after(jiffies, end))
			return false;
		schedule_timeout_idle(1);
	}
	return true;
}

/*
 * Without an address space a copy may fail, or reach that of the process which
 * the CPU has run before.
 */
static int copy_one(struct copy *copy, bool in_pool)
{
	if (!current->mm ||
	    copy_to_user(copy->buf + in_pool, in_pool ? "t" : "c", 1))
		return -EFAULT;
	return 0;
}

static int copy_fn(unsigned long i, void *ctx)
{
	struct copy *copy = ctx;
	bool in_pool = current->flags & PF_KTHREAD;
	int err;

	if (!meet(copy))
		return -ETIMEDOUT;
	if (!in_pool || !copy->mm)
		return copy_one(copy, in_pool);
	kthread_use_mm(copy->mm);
	err = copy_one(copy, true);
	kthread_unuse_mm(copy->mm);
	return err;
}

/* The file is "borrows" if @file has private data. */
static ssize_t user_read(struct file *file, char __user *buf, size_t count,
			 loff_t *pos)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct copy copy = { .buf = buf };
	struct ants_pool *pool;
	int err;

	if (count < 2)
		return -EINVAL;
	pool = ants_pool_create(&attrs, "user");
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	if (file->private_data) {
		copy.mm = current->mm;
		mmget(copy.mm);
	}
	err = ants_for_each(pool, 2, copy_fn, &copy);
	if (copy.mm)
		mmput(copy.mm);
	ants_pool_destroy(pool);
	return err ?: 2;
}

static const struct file_operations user_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = user_read,
};

static struct dentry *user_dir;

static int __init ants_user_init(void)
{
	user_dir = debugfs_create_dir("ants_user", NULL);
	debugfs_create_file("plain", 0400, user_dir, NULL, &user_fops);
	debugfs_create_file("borrows", 0400, user_dir, &user_dir, &user_fops);
	return 0;
}
module_init(ants_user_init);

static void __exit ants_user_exit(void)
{
	debugfs_remove(user_dir);
}
module_exit(ants_user_exit);

MODULE_DESCRIPTION("ants: loops that use memory of their caller");
MODULE_LICENSE("GPL");
