// SPDX-License-Identifier: GPL-2.0-only
/*
 * A batch against the destroy of its pool. Each lane makes a pool, has a thread
 * of its own submit a batch to it, and destroys the pool as soon as the batch
 * is known to be inside, with some of its tasks still to come.
 */
#include <linux/module.h>

#include "repeats.h"
#include "util.h"

#define NR_LANES	8
#define NR_TASKS	40

/* Rounds of all lanes together. */
#define NR_ROUNDS	((int)(32 * repeats))

struct lane {
	struct work_struct work;
	int nr;
	int rounds;
	struct ants_pool *pool;
	struct ants_task tasks[NR_TASKS];
	struct completion go;
	struct completion inside;
	struct completion back;
	atomic_t ran;
	int accepted;
	int failed;
	bool stop;
};

static void lane_task(void *data)
{
	struct lane *lane = data;

	atomic_inc(&lane->ran);
	complete(&lane->inside);
}

static int lane_submitter(void *arg)
{
	struct lane *lane = arg;

	for (;;) {
		wait_for_completion(&lane->go);
		if (lane->stop)
			break;
		lane->accepted = ants_submit_batch(lane->pool, lane->tasks,
						   NR_TASKS);
		complete(&lane->back);
	}
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

/* One round: every accepted task has run when the pool is gone. */
static bool lane_round(struct lane *lane, int i)
{
	struct ants_attrs attrs = {
		.capacity = 1 + i % 2,
		.flags = i % 4 < 2 ? ANTS_CALLER_RUNS : 0,
	};

	lane->pool = ants_pool_create(&attrs, "lane%d", lane->nr);
	if (IS_ERR(lane->pool))
		return false;
	atomic_set(&lane->ran, 0);
	reinit_completion(&lane->inside);
	complete(&lane->go);
	wait_for_completion(&lane->inside);
	ants_pool_destroy(lane->pool);
	wait_for_completion(&lane->back);
	return lane->accepted > 0 && lane->accepted == atomic_read(&lane->ran);
}

static void lane_run(struct work_struct *work)
{
	struct lane *lane = container_of(work, struct lane, work);
	struct task_struct *task;
	int i;

	task = kthread_run(lane_submitter, lane, "lane");
	if (IS_ERR(task)) {
		lane->failed = lane->rounds;
		return;
	}
	for (i = 0; i < lane->rounds; i++)
		lane->failed += !lane_round(lane, i);
	lane->stop = true;
	complete(&lane->go);
	kthread_stop(task);
}

static void lane_init(struct lane *lane, int nr)
{
	int i;

	lane->nr = nr;
	lane->rounds = NR_ROUNDS / NR_LANES;
	init_completion(&lane->go);
	init_completion(&lane->inside);
	init_completion(&lane->back);
	for (i = 0; i < NR_TASKS; i++) {
		lane->tasks[i].fn = lane_task;
		lane->tasks[i].data = lane;
	}
	INIT_WORK(&lane->work, lane_run);
}

static void destroy_against_a_batch(struct kunit *test)
{
	struct lane *lanes = kunit_kcalloc(test, NR_LANES, sizeof(*lanes),
					   GFP_KERNEL);
	struct workqueue_struct *wq;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, lanes);
	/* Since 7.2 the kernel warns about system_unbound_wq. */
	wq = alloc_workqueue("ants_race_batch", WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, wq);
	for (i = 0; i < NR_LANES; i++) {
		lane_init(&lanes[i], i);
		queue_work(wq, &lanes[i].work);
	}
	for (i = 0; i < NR_LANES; i++) {
		flush_work(&lanes[i].work);
		KUNIT_EXPECT_EQ(test, lanes[i].failed, 0);
	}
	destroy_workqueue(wq);
}

static struct kunit_case race_batch_cases[] = {
	KUNIT_CASE(destroy_against_a_batch),
	{}
};

static struct kunit_suite race_batch_suite = {
	.name = "ants_race_batch",
	.test_cases = race_batch_cases,
};

kunit_test_suite(race_batch_suite);

MODULE_DESCRIPTION("ants: KUnit test of batches against destroy");
MODULE_LICENSE("GPL");
