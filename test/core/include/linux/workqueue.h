/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_WORKQUEUE_H
#define _SHIM_WORKQUEUE_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>

#define WQ_UNBOUND		BIT(1)
#define WQ_FREEZABLE		BIT(2)
#define WQ_MEM_RECLAIM		BIT(3)
#define __WQ_LEGACY		BIT(18)

struct workqueue_struct;

/**
 * struct work_struct - a work item
 * @fn: its function, which may free the item
 * @wq: where it was queued last
 * @pending: it is in a list of @wq
 * @node: in that list
 */
struct work_struct {
	void (*fn)(struct work_struct *work);
	struct workqueue_struct *wq;
	bool pending;
	struct list_head node;
};

#define INIT_WORK(work, func) do {			\
	struct work_struct *_work = (work);		\
	memset(_work, 0, sizeof(*_work));		\
	_work->fn = (func);				\
} while (0)

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags,
					 int max_active, ...);
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);

#endif
