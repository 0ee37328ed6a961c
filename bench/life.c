// SPDX-License-Identifier: GPL-2.0-only
/*
 * life: how long does it take to make a pool, to end one that has done nothing,
 * and to make one, run a task and end it? Beside it, a workqueue that has a
 * directory in sysfs as well, and a sharded pool.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/sort.h>

#include "bench.h"

/* Lives in a round, whose median counts. */
#define NR_LIVES	21U
#define NR_SHARDS	4U

/**
 * struct life - something that is made, used and ended
 * @subject: its name in the results
 * @make: makes one; NULL or an ERR_PTR after an error
 * @run: runs a task and returns when it has ended; 0 or -errno
 * @end: ends it
 */
struct life {
	const char *subject;
	void *(*make)(void);
	int (*run)(void *what);
	void (*end)(void *what);
};

struct task {
	struct work_struct work;
	struct completion done;
};

static void task_call(void *data)
{
	complete(data);
}

static void task_work(struct work_struct *work)
{
	complete(&container_of(work, struct task, work)->done);
}

static void *make_pool(void)
{
	return ants_pool_create(NULL, "life");
}

static int run_in_pool(void *what)
{
	DECLARE_COMPLETION_ONSTACK(done);
	int err = ants_submit(what, task_call, &done);

	if (!err)
		wait_for_completion(&done);
	return err;
}

static void end_pool(void *what)
{
	ants_pool_destroy(what);
}

static void *make_multi(void)
{
	struct ants_attrs attrs = { .capacity = NR_SHARDS };

	return ants_multi_create(&attrs, NR_SHARDS, ANTS_ROUND_ROBIN, "life");
}

static int run_in_multi(void *what)
{
	DECLARE_COMPLETION_ONSTACK(done);
	int err = ants_multi_submit(what, task_call, &done);

	if (!err)
		wait_for_completion(&done);
	return err;
}

static void end_multi(void *what)
{
	ants_multi_destroy(what);
}

static void *make_wq(void)
{
	return alloc_workqueue("life", WQ_UNBOUND | WQ_SYSFS, 0);
}

static int run_in_wq(void *what)
{
	struct task task;

	INIT_WORK_ONSTACK(&task.work, task_work);
	init_completion(&task.done);
	queue_work(what, &task.work);
	wait_for_completion(&task.done);
	destroy_work_on_stack(&task.work);
	return 0;
}

static void end_wq(void *what)
{
	destroy_workqueue(what);
}

static const struct life lives[] = {
	{ "wq_sysfs", make_wq, run_in_wq, end_wq },
	{ "ants_pool", make_pool, run_in_pool, end_pool },
	{ "ants_multi", make_multi, run_in_multi, end_multi },
};

/* What is measured. */
enum {
	CREATE,
	DESTROY,
	WHOLE,
	NR_PHASES,
};

static const char * const phases[] = {
	[CREATE] = "phase=create",
	[DESTROY] = "phase=destroy",
	[WHOLE] = "phase=whole",
};

static u64 times[NR_PHASES][NR_LIVES];

static int live(const struct life *life, bool task, u64 *create, u64 *destroy)
{
	u64 start = ktime_get_ns(), made;
	void *what = life->make();
	int err = 0;

	if (IS_ERR_OR_NULL(what))
		return what ? PTR_ERR(what) : -ENOMEM;
	made = ktime_get_ns();
	*create = made - start;
	if (task)
		err = life->run(what);
	life->end(what);
	*destroy = ktime_get_ns() - made;
	return err;
}

static int live_twice(const struct life *life, unsigned int i)
{
	u64 create, rest;
	int err;

	err = live(life, false, &times[CREATE][i], &times[DESTROY][i]);
	if (err)
		return err;
	err = live(life, true, &create, &rest);
	times[WHOLE][i] = create + rest;
	return err;
}

static int compare(const void *a, const void *b)
{
	u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return left < right ? -1 : left > right;
}

static int measure(const struct bench *bench, const struct life *life,
		   unsigned int round)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < NR_LIVES && !err; i++)
		err = live_twice(life, i);
	for (i = 0; i < NR_PHASES && !err; i++) {
		sort(times[i], NR_LIVES, sizeof(u64), compare, NULL);
		result(bench, life->subject, phases[i], round,
		       times[i][NR_LIVES / 2], "ns");
	}
	return err;
}

/* Every other round has the opposite order. */
static int run(const struct bench *bench)
{
	unsigned int nr = ARRAY_SIZE(lives), round, i;
	int err = 0;

	for (round = 1; round <= bench_rounds(bench) && !err; round++)
		for (i = 0; i < nr && !err; i++)
			err = measure(bench, &lives[round & 1 ? i : nr - 1 - i],
				      round);
	return err;
}

const struct bench life_bench = {
	.name = "life",
	.rounds = 10,
	.parallel = true,
	.run = run,
};
