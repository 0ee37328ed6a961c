/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of ants_functional.c: to whom tasks are charged. */
#ifndef _ANTS_FUNCTIONAL_CHARGE_H
#define _ANTS_FUNCTIONAL_CHARGE_H

#include <linux/cgroup.h>
#include <linux/memcontrol.h>

#include "../kernel/compat.h"
#include "functional.h"

#ifdef ANTS_CHARGES_MEMORY
/* Whom the memory of the tasks was charged to; NULL is the root. */
static struct mem_cgroup *charged[3];

static inline void note_charged(void *data)
{
	*(struct mem_cgroup **)data = current->active_memcg;
}

/* NULL if that is the root. */
static inline struct mem_cgroup *own_memcg(void)
{
	struct cgroup_subsys_state *css = task_get_css(current, memory_cgrp_id);
	struct mem_cgroup *memcg = css->parent ? mem_cgroup_from_css(css) : NULL;

	css_put(css);
	return memcg;
}

static inline int note_work(struct ants_work *work)
{
	note_charged(&charged[2]);
	return 0;
}

/* The loader of this module is in a cgroup of its own, if there are any. */
static inline bool task_is_charged_to_its_submitter(struct bench *b)
{
	struct mem_cgroup *own = own_memcg(), *none = ERR_PTR(-EINVAL);
	struct ants_task twice[] = {
		{ .fn = note_charged, .data = &charged[0] },
		{ .fn = note_charged, .data = &charged[1] },
	};
	struct ants_work work;
	int result;

	if (!own)
		pr_info("# the loader is in the root cgroup\n");
	charged[0] = none;
	charged[1] = none;
	charged[2] = none;
	INIT_ANTS_WORK(&work, note_work);
	return OK(!ants_submit(b->pool, note_charged, &charged[1])) &&
	       OK(ants_submit_batch(b->pool, twice, 2) == 2) &&
	       OK(!ants_flush(b->pool)) &&
	       OK(charged[0] == own) && OK(charged[1] == own) &&
	       /* The next task of the same thread is charged to the root. */
	       OK(!ants_queue_work(b->pool, &work)) &&
	       OK(!ants_work_wait(&work, &result)) && OK(!charged[2]);
}

static inline int open_for_waiter(void *data)
{
	struct bench *b = data;

	while (!ants_nr_waiting(b->pool) && !kthread_should_stop())
		schedule_timeout_idle(1);
	open_gate(b);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

/* The thread of the pool accepts the task, on behalf of its submitter. */
static inline bool waiter_is_charged(struct bench *b)
{
	struct task_struct *opener;
	bool good;

	charged[0] = ERR_PTR(-EINVAL);
	if (!OK(!ants_submit(b->pool, gated, b)))
		return false;
	opener = kthread_run(open_for_waiter, b, "opener");
	if (!OK(!IS_ERR(opener)))
		return false;
	good = OK(!ants_submit(b->pool, note_charged, &charged[0])) &&
	       OK(!ants_flush(b->pool)) && OK(charged[0] == own_memcg());
	kthread_stop(opener);
	return good;
}

/* KASAN, or the cgroup that cannot be removed, tells whether references are left. */
static inline bool cancelled_task_is_not_charged(struct bench *b)
{
	charged[0] = ERR_PTR(-EINVAL);
	return OK(!ants_submit(b->pool, gated, b)) &&
	       SOON(atomic_read(&b->entered) == 1) &&
	       OK(!ants_submit(b->pool, note_charged, &charged[0])) &&
	       OK(ants_cancel_pending(b->pool, NULL, NULL) == 1) &&
	       OK(IS_ERR(charged[0]));
}
#else
static inline bool task_is_charged_to_its_submitter(struct bench *b)
{
	return true;
}

static inline bool waiter_is_charged(struct bench *b)
{
	return true;
}

static inline bool cancelled_task_is_not_charged(struct bench *b)
{
	return true;
}
#endif

#endif /* _ANTS_FUNCTIONAL_CHARGE_H */
