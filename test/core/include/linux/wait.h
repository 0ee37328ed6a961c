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

struct wait_queue_entry {
	struct list_head node;
	struct task_struct *task;
};

/* The entry leaves the queue when it is woken. */
#define DEFINE_WAIT(name)						\
	struct wait_queue_entry name = {				\
		.node = LIST_HEAD_INIT(name.node),			\
		.task = current,					\
	}

void init_waitqueue_head(wait_queue_head_t *queue);
void prepare_to_wait(wait_queue_head_t *queue, struct wait_queue_entry *entry,
		     unsigned int state);
void finish_wait(wait_queue_head_t *queue, struct wait_queue_entry *entry);
void wake_up_all(wait_queue_head_t *queue);

#endif
