// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a workqueue does after one oops, beside ants_mortal.c: the module prints whether
 * the next item has run, and whether a flush has ended, within LIMIT. The workqueue
 * cannot be destroyed afterwards, so the module has no exit and stays.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#define LIMIT	(5 * HZ)

static struct workqueue_struct *wq;
static DECLARE_COMPLETION(next_ran);
static DECLARE_COMPLETION(flushed);

static void writes_to_null(struct work_struct *work)
{
	WRITE_ONCE(*(int *)NULL, 0);
}

static void next(struct work_struct *work)
{
	complete(&next_ran);
}

static DECLARE_WORK(mortal_work, writes_to_null);
static DECLARE_WORK(next_work, next);

static int flush(void *unused)
{
	flush_workqueue(wq);
	complete(&flushed);
	return 0;
}

static const char *within_limit(struct completion *done)
{
	return wait_for_completion_timeout(done, LIMIT) ? "yes" : "no";
}

static int __init wq_mortal_init(void)
{
	struct task_struct *task;

	wq = alloc_workqueue("wq_mortal", WQ_UNBOUND, 1);
	if (!wq)
		return -ENOMEM;
	pr_info("ants-expect: NULL pointer dereference\n");
	queue_work(wq, &mortal_work);
	queue_work(wq, &next_work);
	pr_info("# workqueue of one, after one oops: the next item has run: %s\n",
		within_limit(&next_ran));
	task = kthread_run(flush, NULL, "wq_mortal_flush");
	if (!IS_ERR(task))
		pr_info("# workqueue of one, after one oops: a flush has ended: %s\n",
			within_limit(&flushed));
	return 0;
}

module_init(wq_mortal_init);

MODULE_DESCRIPTION("ants: a workqueue whose item oopses");
MODULE_LICENSE("GPL");
