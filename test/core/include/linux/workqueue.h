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
 * @after_rcu: its function runs after a grace period
 * @node: in that list
 */
struct work_struct {
	void (*fn)(struct work_struct *work);
	struct workqueue_struct *wq;
	bool pending;
	bool after_rcu;
	struct list_head node;
};

struct rcu_work {
	struct work_struct work;
};

#define INIT_WORK(work, func) do {			\
	struct work_struct *_work = (work);		\
	memset(_work, 0, sizeof(*_work));		\
	_work->fn = (func);				\
} while (0)

#define INIT_RCU_WORK(rwork, func) do {			\
	struct work_struct *_rwork = &(rwork)->work;	\
	INIT_WORK(_rwork, func);			\
	_rwork->after_rcu = true;			\
} while (0)

static inline struct rcu_work *to_rcu_work(struct work_struct *work)
{
	return container_of(work, struct rcu_work, work);
}

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags,
					 int max_active, ...);
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork);
bool cancel_work_sync(struct work_struct *work);

#endif
