/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_PID_H
#define _SHIM_PID_H

#include <linux/sched.h>
#include <linux/wait.h>

/**
 * struct pid - the identity of a thread
 * @wait_pidfd: woken when the thread has ended
 * @users: references; one is the thread's
 */
struct pid {
	wait_queue_head_t wait_pidfd;
	refcount_t users;
};

static inline struct pid *task_pid(struct task_struct *task)
{
	return task->thread_pid;
}

static inline struct pid *get_pid(struct pid *pid)
{
	refcount_inc(&pid->users);
	return pid;
}

void put_pid(struct pid *pid);

#endif
