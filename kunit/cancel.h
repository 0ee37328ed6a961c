/* SPDX-License-Identifier: GPL-2.0-only */
/* Helpers for the suites about cancelling pending tasks. */
#ifndef _ANTS_KUNIT_CANCEL_H
#define _ANTS_KUNIT_CANCEL_H

#include "work.h"

#define NR_TASKS	(3 * ANTS_HOLD_MAX)

/* What a match function was asked about, and what it is to pick. */
struct picker {
	ants_fn_t fn;
	void *data;
	bool works;
	bool all;
	bool held;
	unsigned int asked;
	void *seen[ANTS_HOLD_MAX + 1];
};

static inline bool pick(ants_fn_t fn, void *data, void *arg)
{
	struct picker *p = arg;

	p->held = irqs_disabled();
	if (p->asked < ARRAY_SIZE(p->seen))
		p->seen[p->asked] = data;
	p->asked++;
	if (p->all)
		return true;
	if (p->works)
		return !fn;
	return fn == p->fn && data == p->data;
}

static inline struct rig *rig_busy(struct kunit *test, const char *name,
				   unsigned int queue_depth)
{
	return rig_make_full(test, name, (struct ants_attrs){
			.capacity = 1, .queue_depth = queue_depth });
}

static inline void submit_counts(struct rig *rig, atomic_t *count, int nr)
{
	while (nr--)
		KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task,
						       count), 0);
}

static inline void submit_high(struct rig *rig, atomic_t *count)
{
	KUNIT_ASSERT_EQ(rig->test,
			ants_submit_prio(rig->pool, count_task, count,
					 ANTS_PRIO_HIGH, 0), 0);
}

/* Cancel in a thread of its own; @data is the picker. */
static inline int do_cancel_pending(struct async_call *call)
{
	return ants_cancel_pending(call->pool, call->data ? pick : NULL,
				   call->data);
}

#endif /* _ANTS_KUNIT_CANCEL_H */
