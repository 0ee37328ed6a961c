/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_KTHREAD_H
#define _SHIM_KTHREAD_H

#include <linux/completion.h>
#include <linux/sched.h>

__printf(4, 5)
struct task_struct *kthread_create_on_node(int (*fn)(void *data), void *data,
					   int node, const char *fmt, ...);
/* End the thread from within its function, as an oops does. */
void kthread_exit(long result) __attribute__((__noreturn__));
void kthread_complete_and_exit(struct completion *done, long result)
	__attribute__((__noreturn__));
int kthread_stop(struct task_struct *task);

static inline bool kthread_should_stop(void)
{
	return READ_ONCE(current->should_stop);
}

static inline void *kthread_func(struct task_struct *task)
{
	return task->fn;
}

static inline void *kthread_data(struct task_struct *task)
{
	return task->data;
}

/* No thread ever uses one. */
static inline void kthread_unuse_mm(void *mm)
{
}

static inline void kthread_associate_blkcg(void *css)
{
}

static inline int kthread_affine_preferred(struct task_struct *task,
					   const struct cpumask *mask)
{
	return 0;
}

#endif
