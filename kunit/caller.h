/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For suites of callers and workers on certain CPUs: a rig with a worker parked on each
 * CPU that the case names, and a worker that does not arrive.
 */
#ifndef _ANTS_KUNIT_CALLER_H
#define _ANTS_KUNIT_CALLER_H

#include "rig.h"

static inline void park_one(struct rig *rig, int nr)
{
	unsigned int idle = ants_nr_idle(rig->pool);

	gate_open(&rig->posts[nr].gate);
	ASSERT_SOON(rig->test, ants_nr_idle(rig->pool) == idle + 1);
}

/*
 * A rig with a worker on each CPU of @cpus, a string of digits: posts[0] ran on the
 * first one to park, and so on. No wake-up is late.
 */
static inline struct rig *rig_make_on(struct kunit *test, const char *cpus)
{
	int i, nr = strlen(cpus);
	struct rig *rig;

	if (!cpu_online(0) || !cpu_online(1))
		kunit_skip(test, "needs the CPUs 0 and 1");
	rig = rig_make(test, "caller", (struct ants_attrs){
				.capacity = nr, .queue_depth = 8 });
	never_late();
	for (i = 0; i < nr; i++) {
		post_start(rig, i);
		KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(rig->posts[i].thread,
							   cpumask_of(cpus[i] - '0')), 0);
	}
	for (i = 0; i < nr; i++)
		park_one(rig, i);
	forget_vain(rig->pool);
	return rig;
}

/* Submit a task on CPU 0. Which post had the worker that runs it? */
static inline int worker_of_task(struct rig *rig)
{
	struct post *post = &rig->posts[RIG_MAX - 1];
	int i;

	stay_on(rig->test, 0);
	post_start(rig, RIG_MAX - 1);
	for (i = 0; i < RIG_MAX - 1; i++)
		if (rig->posts[i].thread == post->thread)
			break;
	park_one(rig, RIG_MAX - 1);
	return i;
}

/* A caller on CPU 0 has woken a worker that does not arrive. */
static inline void wake_one(struct rig *rig)
{
	stay_on(rig->test, 0);
	set_last_caller(rig->pool, 0);
	hold(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task, &rig->count), 0);
	held(rig, ANTS_PAUSE_ARRIVE);
	KUNIT_ASSERT_EQ(rig->test, ants_peek(rig->pool->wakes.nr), 1);
}

static inline void expect_end(struct rig *rig)
{
	let_go(rig, ANTS_PAUSE_ARRIVE);
	EXPECT_SOON(rig->test, settled(rig->pool));
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->wakes.waking_cpus), 0);
	KUNIT_EXPECT_EQ(rig->test, stats_of(rig->pool).pending, 0);
}

#endif /* _ANTS_KUNIT_CALLER_H */
