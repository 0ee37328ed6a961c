// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arbitrary sequences of calls: each two bytes of the input are a call and its
 * argument. Two callers take turns with them. The threads are those of
 * explore.c, and the input determines which one continues. Invariants are
 * checked at each unlock, and at the end the runs are compared with what was
 * accepted.
 *
 * For libFuzzer, or for fuzz_main.c if there is none.
 */
#include <linux/slab.h>

#include "internal.h"
#include "explore.h"
#include "fuzz.h"

#define NR_ITEMS	4
#define NR_MEMBERS	6
#define NR_RUNS		256
#define HELD_ROUNDS	20

static const struct ants_attrs kinds[] = {
	{ .capacity = 1 },
	{ .capacity = 2, .queue_depth = 2 },
	{ .capacity = 2, .flags = ANTS_PREALLOC },
	{ .capacity = 1, .queue_depth = 4, .flags = ANTS_NONBLOCKING },
	{ .capacity = 2, .flags = ANTS_CALLER_RUNS },
	{ .capacity = 3, .min_workers = 1, .expiry = 1,
	  .flags = ANTS_MEM_RECLAIM },
	{ .capacity = 2, .queue_depth = 1, .spare_slots = 1, .max_blocking = 1,
	  .flags = ANTS_NO_PURGE },
};

/**
 * struct fuzz - one input
 * @pool: the pool for all calls
 * @held: held tasks run until this is false, or for HELD_ROUNDS
 * @runs: how often each plain task ran
 * @accepted: how often it was accepted
 * @next: the plain task that comes next
 * @items: work items, with a timer
 * @group: a group
 * @members: work items that may become its members
 */
struct fuzz {
	struct ants_pool *pool;
	bool held;
	unsigned int runs[NR_RUNS];
	unsigned int accepted[NR_RUNS];
	unsigned int next;
	struct ants_delayed_work items[NR_ITEMS];
	struct ants_group group;
	struct ants_work members[NR_MEMBERS];
};

static struct fuzz *fuzz;
static const u8 *input;
static size_t input_size;

static void run_fn(void *data)
{
	(*(unsigned int *)data)++;
}

static void schedule_timeout_one(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(1);
}

static void held_fn(void *data)
{
	unsigned int i;

	for (i = 0; i < HELD_ROUNDS && fuzz->held; i++)
		schedule_timeout_one();
	run_fn(data);
}

static int item_fn(struct ants_work *work)
{
	return 7;
}

static int failing_fn(struct ants_work *work)
{
	return -EIO;
}

static void submitted(unsigned int i, int err)
{
	fuzz->accepted[i] += !err;
}

static void call_submit(u8 arg)
{
	struct ants_pool *pool = fuzz->pool;
	unsigned int i = fuzz->next++ % NR_RUNS;
	ants_fn_t fn = arg & 1 ? run_fn : held_fn;
	unsigned int *data = &fuzz->runs[i];

	switch (arg >> 1 & 3) {
	case 0:
		submitted(i, ants_try_submit(pool, fn, data));
		break;
	case 1:
		submitted(i, ants_submit_timeout(pool, fn, data, arg >> 6));
		break;
	case 2:
		submitted(i, ants_submit_prio(pool, fn, data, ANTS_PRIO_HIGH,
					      arg >> 6));
		break;
	default:
		submitted(i, ants_submit(pool, fn, data));
	}
}

static void call_batch(u8 arg)
{
	struct ants_task tasks[20];
	unsigned int i, first = fuzz->next, nr = 1 + arg % 20;
	int ret;

	for (i = 0; i < nr; i++)
		tasks[i] = (struct ants_task) {
			run_fn, &fuzz->runs[(first + i) % NR_RUNS], arg >> 7,
		};
	fuzz->next += nr;
	ret = ants_submit_batch(fuzz->pool, tasks, nr);
	for (i = 0; (int)i < ret; i++)
		fuzz->accepted[(first + i) % NR_RUNS]++;
}

static void call_item(u8 arg)
{
	struct ants_delayed_work *dwork = &fuzz->items[arg % NR_ITEMS];
	struct ants_pool *pool = fuzz->pool;

	switch (arg >> 2 & 7) {
	case 0:
		ants_queue_work(pool, &dwork->work);
		break;
	case 1:
		ants_queue_delayed_work(pool, dwork, arg >> 5);
		break;
	case 2:
		ants_mod_delayed_work(pool, dwork, arg >> 5);
		break;
	case 3:
		ants_work_cancel(&dwork->work);
		break;
	case 4:
		ants_work_cancel_sync(&dwork->work);
		break;
	case 5:
		WARN(ants_work_wait_timeout(&dwork->work, arg >> 6, NULL) ==
		     -EDEADLK, "a wait from outside can end");
		break;
	case 6:
		ants_queue_work_timeout(pool, &dwork->work, arg >> 6);
		break;
	default:
		WARN_ON(ants_work_flush(&dwork->work));
	}
}

static void call_group(u8 arg)
{
	struct ants_group *group = &fuzz->group;

	switch (arg & 7) {
	case 0:
	case 1:
	case 2:
		ants_group_submit(group, &fuzz->members[(arg >> 3) % NR_MEMBERS]);
		break;
	case 3:
		ants_group_seal(group);
		break;
	case 4:
		ants_group_cancel(group);
		break;
	case 5:
		WARN(ants_group_next(group, arg >> 6) == ERR_PTR(-EDEADLK),
		     "a wait from outside can end");
		break;
	case 6:
		WARN(ants_group_wait_timeout(group, arg >> 6, NULL) == -EDEADLK,
		     "a wait from outside can end");
		break;
	default:
		ants_group_reset(group);
	}
}

static void call_config(u8 arg)
{
	struct ants_pool *pool = fuzz->pool;

	switch (arg & 7) {
	case 0:
		ants_tune(pool, arg >> 3);
		break;
	case 1:
		ants_set_nice(pool, (arg >> 3) - 16);
		break;
	case 2:
		ants_release(pool);
		break;
	case 3:
		ants_release_timeout(pool, arg >> 6);
		break;
	case 4:
	case 5:
		ants_reboot(pool);
		break;
	case 6:
		WARN_ON(ants_set_cpumask(pool, arg & 8 ? cpu_possible_mask : NULL));
		break;
	default:
		mutex_lock(&pool->config.lock);
		ants_set(pool, &(struct ants_change) {
				.what = ANTS_SET_QUEUE_DEPTH,
				.value = pool->ordered ? 0 : arg >> 4 });
		mutex_unlock(&pool->config.lock);
	}
}

static bool match_held(ants_fn_t fn, void *data, void *arg)
{
	unsigned int *runs = data;

	if (fn != held_fn)
		return false;
	/* As if it had run. */
	(*runs)++;
	return true;
}

static int called_fn(void *data)
{
	return 3;
}

static void release_fn(void *data)
{
}

static int each_fn(unsigned long i, void *ctx)
{
	return i == (unsigned long)ctx;
}

static void call_other(u8 arg)
{
	struct ants_pool *pool = fuzz->pool;

	switch (arg & 7) {
	case 0:
		fuzz->held = arg & 8;
		break;
	case 1:
		ants_flush_timeout(pool, arg >> 6);
		break;
	case 2:
		WARN(ants_drain_timeout(pool, arg >> 6) == -EDEADLK,
		     "a wait from outside can end");
		break;
	case 3:
		ants_cancel_pending(pool, match_held, NULL);
		break;
	case 4:
		ants_call(pool, called_fn, NULL, arg >> 6);
		break;
	case 5:
		ants_call_release(pool, called_fn, NULL, arg >> 6, release_fn);
		break;
	case 6:
		ants_for_each(pool, arg >> 3, each_fn, (void *)(long)(arg >> 5));
		break;
	default:
		ants_fail_arm_after(arg & 8 ? ANTS_FAIL_THREAD : ANTS_FAIL_SLOT,
				    arg >> 6, arg >> 4 & 3);
	}
}

static void (*const calls[])(u8 arg) = {
	call_submit, call_submit, call_batch, call_item, call_item, call_group,
	call_config, call_other,
};

static void fuzz_begin(u8 kind)
{
	unsigned int i;

	fuzz = kzalloc(sizeof(*fuzz), GFP_KERNEL);
	kind %= ARRAY_SIZE(kinds) + 1;
	if (kind < ARRAY_SIZE(kinds))
		fuzz->pool = ants_pool_create(&kinds[kind], "fuzz");
	else
		fuzz->pool = ants_pool_create_ordered(NULL, "fuzz");
	WARN_ON(IS_ERR(fuzz->pool));
	for (i = 0; i < NR_ITEMS; i++)
		INIT_ANTS_DELAYED_WORK(&fuzz->items[i], item_fn);
	WARN_ON(ants_group_init(&fuzz->group, fuzz->pool,
				kind & 1 ? ANTS_GROUP_CANCEL_ON_ERROR : 0));
	for (i = 0; i < NR_MEMBERS; i++)
		INIT_ANTS_WORK(&fuzz->members[i], i ? item_fn : failing_fn);
}

static void fuzz_end(void)
{
	unsigned int i;

	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	fuzz->held = false;
	WARN_ON(ants_pool_destroy(fuzz->pool));
	for (i = 0; i < NR_RUNS; i++)
		WARN(fuzz->runs[i] != fuzz->accepted[i],
		     "task %u ran %u times, not %u", i, fuzz->runs[i],
		     fuzz->accepted[i]);
	for (i = 0; i < NR_ITEMS; i++)
		WARN(ants_work_busy(&fuzz->items[i].work), "item %u is left", i);
	kfree(fuzz);
}

/*
 * One of two callers: it makes the calls with even numbers, or those with odd
 * ones.
 */
static int caller_fn(void *first)
{
	size_t i;

	for (i = 1 + (size_t)first; i + 1 < input_size; i += 4)
		calls[input[i] % ARRAY_SIZE(calls)](input[i + 1]);
	return 0;
}

static void fuzz_run(void)
{
	core_begin();
	fuzz_begin(input[0]);
	explore_begin();
	explore_call(caller_fn, (void *)0, "a");
	explore_call(caller_fn, (void *)2, "b");
	explore_join();
	explore_end();
	fuzz_end();
	core_end();
}

int FUZZ_ENTRY(const u8 *data, size_t size)
{
	static const struct scenario scenario = { "fuzz", fuzz_run };
	size_t i;

	if (!size)
		return 0;
	input = data;
	input_size = size;
	explore_run.bound = MAX_STEPS;
	explore_run.seed = 1;
	for (i = 0; i < size; i++)
		explore_run.seed = explore_run.seed * 31 + data[i];
	explore_once(&scenario);
	return 0;
}
