// SPDX-License-Identifier: GPL-2.0-only
/* Threads that keep CPUs busy. */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "load.h"

#define NR_NORMAL	2
/* Until the scheduler has adapted to the load. */
#define SETTLE_MS	40

static struct task_struct *hogs[NR_NORMAL];
static unsigned int nr_hogs;

static int hog(void *unused)
{
	while (!kthread_should_stop())
		cond_resched();
	return 0;
}

static struct task_struct *add_hog(void)
{
	struct task_struct *task = kthread_create(hog, NULL, "ants_hog");

	if (!IS_ERR(task))
		hogs[nr_hogs++] = task;
	return task;
}

static int start_normal(void)
{
	struct task_struct *task;

	while (nr_hogs < NR_NORMAL) {
		task = add_hog();
		if (IS_ERR(task))
			return PTR_ERR(task);
		wake_up_process(task);
	}
	return 0;
}

static int start_fifo(void)
{
	struct task_struct *task = add_hog();

	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpumask_last(cpu_online_mask));
	sched_set_fifo(task);
	wake_up_process(task);
	return 0;
}

void load_stop(void)
{
	while (nr_hogs)
		kthread_stop(hogs[--nr_hogs]);
}

/* Returns 0, or -errno without any load. */
int load_start(enum load load)
{
	int err = 0;

	if (load == LOAD_NONE)
		return 0;
	err = load == LOAD_FIFO ? start_fifo() : start_normal();
	if (err)
		load_stop();
	else
		msleep(SETTLE_MS);
	return err;
}
