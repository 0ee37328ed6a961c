/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_WAIT_H
#define _SHIM_WAIT_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

typedef struct {
	raw_spinlock_t lock;
	struct list_head entries;
} wait_queue_head_t;

struct wait_queue_entry;

typedef int (*wait_queue_func_t)(struct wait_queue_entry *entry,
				 unsigned int mode, int flags, void *key);

/**
 * struct wait_queue_entry - a thread that waits, or a function to be called
 * @entry: in a queue
 * @task: the thread
 * @func: the function, or NULL
 */
struct wait_queue_entry {
	struct list_head entry;
	struct task_struct *task;
	wait_queue_func_t func;
};

static inline void init_waitqueue_func_entry(struct wait_queue_entry *entry,
					     wait_queue_func_t func)
{
	entry->task = NULL;
	entry->func = func;
}

#define DECLARE_WAITQUEUE(name, thread)					\
	struct wait_queue_entry name = { .task = (thread) }

/* For completions, which take an entry out of their queue. */
#define DEFINE_WAIT(name)						\
	struct wait_queue_entry name = {				\
		.entry = LIST_HEAD_INIT(name.entry),		\
		.task = current,					\
	}

void init_waitqueue_head(wait_queue_head_t *queue);
void add_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry);
void remove_wait_queue(wait_queue_head_t *queue,
		       struct wait_queue_entry *entry);
void wake_up_all(wait_queue_head_t *queue);

#endif
