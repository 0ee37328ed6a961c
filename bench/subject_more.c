// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subjects: ants, in the ways that do more than submit one task to one pool:
 * work items, batches, groups, and sharded pools.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/preempt.h>

#include "bench.h"

/* Work items of a group, and shards of a multi. */
#define GROUP_SIZE	1000U
#define SHARDS		4

static struct ants_pool *pool;
static struct ants_multi *multi;
static struct completion let_go;
static const struct body *body;

static struct ants_attrs attrs_of(const struct row *row)
{
	return (struct ants_attrs){
		.capacity = row->capacity,
		.queue_depth = row->queue_depth,
		.expiry = msecs_to_jiffies(row->expiry_ms),
	};
}

static int pool_setup(const struct row *row)
{
	struct ants_attrs attrs = attrs_of(row);

	body = row->body;
	pool = ants_pool_create(&attrs, "bench");
	bench_pool = pool;
	return PTR_ERR_OR_ZERO(pool);
}

static int works_setup(const struct row *row)
{
	unsigned int i;

	for (i = 0; i < row->tasks; i++)
		INIT_ANTS_WORK(&row->jobs[i].ants_work, row->body->ants_work);
	return pool_setup(row);
}

static void pool_flush(void)
{
	ants_flush(pool);
}

static void pool_teardown(void)
{
	ants_pool_destroy(pool);
}

/* A caller that may not wait, and finds no room, tries again later. */
static int queue_one(struct ants_work *work)
{
	int err;

	while ((err = ants_queue_work(pool, work)) == -EAGAIN && !in_hardirq())
		ants_flush(pool);
	return err;
}

static int queue_work_submit(struct job *jobs, unsigned int nr)
{
	int err = 0;

	for (; nr; nr--, jobs++)
		err = queue_one(&jobs->ants_work) ?: err;
	return err;
}

static int batch_submit(struct job *jobs, unsigned int nr)
{
	struct ants_task tasks[16] = { };
	unsigned int n, i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		tasks[i].fn = body->call;
	for (; nr; nr -= n, jobs += n) {
		n = min_t(unsigned int, nr, ARRAY_SIZE(tasks));
		for (i = 0; i < n; i++)
			tasks[i].data = jobs + i;
		ret = ants_submit_batch(pool, tasks, n);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int group_one(struct job *jobs, unsigned int nr)
{
	struct ants_group group;
	int err = ants_group_init(&group, pool, 0);

	for (; nr && !err; nr--, jobs++)
		err = ants_group_submit(&group, &jobs->ants_work);
	return ants_group_wait(&group, NULL) ?: err;
}

static int group_submit(struct job *jobs, unsigned int nr)
{
	unsigned int n;
	int err = 0;

	for (; nr && !err; nr -= n, jobs += n) {
		n = min(nr, GROUP_SIZE);
		err = group_one(jobs, n);
	}
	return err;
}

static void wait_body(void *completion)
{
	wait_for_completion(completion);
}

static int multi_setup(const struct row *row, unsigned int nr,
		       enum ants_strategy strategy)
{
	struct ants_attrs attrs = attrs_of(row);

	body = row->body;
	multi = ants_multi_create(&attrs, nr, strategy, "bench");
	return PTR_ERR_OR_ZERO(multi);
}

static int shards_setup(const struct row *row)
{
	return multi_setup(row, SHARDS, ANTS_ROUND_ROBIN);
}

static int local_setup(const struct row *row)
{
	return multi_setup(row, num_online_cpus(), ANTS_LOCAL);
}

static int multi_submit(struct job *jobs, unsigned int nr)
{
	int err = 0;

	for (; nr; nr--, jobs++)
		err = ants_multi_submit(multi, body->call, jobs) ?: err;
	return err;
}

/* As many shards as @row->capacity, all of them full. */
static int full_setup(const struct row *row)
{
	int err = multi_setup(row, row->capacity, ANTS_ROUND_ROBIN);
	unsigned int i;

	init_completion(&let_go);
	for (i = 0; i < row->capacity && !err; i++)
		err = ants_multi_submit(multi, wait_body, &let_go);
	return err;
}

/* No task is accepted: this is the cost of trying each shard in vain. */
static int full_submit(struct job *jobs, unsigned int nr)
{
	int err = 0;

	for (; nr; nr--, jobs++)
		if (ants_multi_try_submit(multi, body->call, jobs) != -EAGAIN)
			err = -EIO;
	return err;
}

static void full_flush(void)
{
}

static void full_teardown(void)
{
	complete_all(&let_go);
	ants_multi_destroy(multi);
}

static void multi_flush(void)
{
	ants_multi_flush(multi);
}

static void multi_teardown(void)
{
	ants_multi_destroy(multi);
}

const struct subject ants_queue_work_subject = {
	.name = "ants_queue_work",
	.bounded = true,
	.setup = works_setup,
	.submit = queue_work_submit,
	.flush = pool_flush,
	.teardown = pool_teardown,
};

const struct subject ants_batch_subject = {
	.name = "ants_submit_batch",
	.bounded = true,
	.setup = pool_setup,
	.submit = batch_submit,
	.flush = pool_flush,
	.teardown = pool_teardown,
};

const struct subject ants_group_subject = {
	.name = "ants_group_1000",
	.bounded = true,
	.setup = works_setup,
	.submit = group_submit,
	.flush = pool_flush,
	.teardown = pool_teardown,
};

const struct subject ants_multi_subject = {
	.name = "ants_multi_4",
	.bounded = true,
	.setup = shards_setup,
	.submit = multi_submit,
	.flush = multi_flush,
	.teardown = multi_teardown,
};

const struct subject ants_full_subject = {
	.name = "ants_multi_full",
	.bounded = true,
	.setup = full_setup,
	.submit = full_submit,
	.flush = full_flush,
	.teardown = full_teardown,
};

const struct subject ants_local_subject = {
	.name = "ants_multi_local",
	.bounded = true,
	.setup = local_setup,
	.submit = multi_submit,
	.flush = multi_flush,
	.teardown = multi_teardown,
};
