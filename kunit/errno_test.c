// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that differ little and fail with the same errors for the same reasons:
 * each case runs once for each call. test/errno-cases names the cases for the
 * other errors.
 */
#include <linux/device.h>
#include <linux/module.h>

#include "multi.h"

#define NAME	"errno"

struct job;

/* A call and its name. */
struct way {
	const char *name;
	int (*call)(struct job *job);
	bool multi;
};

static void way_desc(const struct way *way, char *desc)
{
	strscpy(desc, way->name, KUNIT_PARAM_DESC_SIZE);
}

/* A call to make, and its object: a pool, or a multi of one shard. */
struct job {
	const struct way *way;
	struct ants_pool *pool;
	struct ants_multi *multi;
	struct gate *gate;
	struct ants_group group;
	struct ants_work work;
	struct completion done;
	bool inside;
	bool entered;
	int result;
};

#define WAY(_name)	{ #_name, do_##_name, false }
#define MULTI_WAY(_name) { #_name, do_##_name, true }

/* Calls that submit a task, which stops at the gate; they wait for room. */

static int do_ants_submit(struct job *job)
{
	return ants_submit(job->pool, gate_task, job->gate);
}

static int do_ants_submit_timeout(struct job *job)
{
	return ants_submit_timeout(job->pool, gate_task, job->gate, FOREVER);
}

static int do_ants_submit_prio(struct job *job)
{
	return ants_submit_prio(job->pool, gate_task, job->gate,
				ANTS_PRIO_HIGH, FOREVER);
}

static int do_ants_submit_batch(struct job *job)
{
	struct ants_task task = { .fn = gate_task, .data = job->gate };
	int ret = ants_submit_batch(job->pool, &task, 1);

	return ret == 1 ? 0 : ret;
}

static int do_ants_invoke(struct job *job)
{
	return ants_invoke(job->pool, job->gate);
}

static int do_ants_invoke_timeout(struct job *job)
{
	return ants_invoke_timeout(job->pool, job->gate, FOREVER);
}

static int do_ants_multi_submit(struct job *job)
{
	return ants_multi_submit(job->multi, gate_task, job->gate);
}

static int do_ants_multi_submit_timeout(struct job *job)
{
	return ants_multi_submit_timeout(job->multi, gate_task, job->gate,
					 FOREVER);
}

static const struct way submits[] = {
	WAY(ants_submit),
	WAY(ants_submit_timeout),
	WAY(ants_submit_prio),
	WAY(ants_submit_batch),
	WAY(ants_invoke),
	WAY(ants_invoke_timeout),
	MULTI_WAY(ants_multi_submit),
	MULTI_WAY(ants_multi_submit_timeout),
};

KUNIT_ARRAY_PARAM(submit, submits, way_desc);

/* Calls that submit a task and do not wait. */

static int do_ants_try_submit(struct job *job)
{
	return ants_try_submit(job->pool, gate_task, job->gate);
}

static int do_ants_try_invoke(struct job *job)
{
	return ants_try_invoke(job->pool, job->gate);
}

static int do_ants_multi_try_submit(struct job *job)
{
	return ants_multi_try_submit(job->multi, gate_task, job->gate);
}

static const struct way tries[] = {
	WAY(ants_try_submit),
	WAY(ants_try_invoke),
	MULTI_WAY(ants_multi_try_submit),
};

KUNIT_ARRAY_PARAM(try, tries, way_desc);

/* Calls that wait for the pool's tasks, or for its work item. */

static int do_ants_flush(struct job *job)
{
	return ants_flush(job->pool);
}

static int do_ants_flush_timeout(struct job *job)
{
	return ants_flush_timeout(job->pool, FOREVER);
}

static int do_ants_drain(struct job *job)
{
	return ants_drain(job->pool);
}

static int do_ants_drain_timeout(struct job *job)
{
	return ants_drain_timeout(job->pool, FOREVER);
}

static int do_ants_release_timeout(struct job *job)
{
	return ants_release_timeout(job->pool, FOREVER);
}

static int do_ants_work_wait(struct job *job)
{
	return ants_work_wait(&job->work, NULL);
}

static int do_ants_work_wait_timeout(struct job *job)
{
	return ants_work_wait_timeout(&job->work, FOREVER, NULL);
}

static int do_ants_work_flush(struct job *job)
{
	return ants_work_flush(&job->work);
}

static int do_ants_group_wait(struct job *job)
{
	return ants_group_wait(&job->group, NULL);
}

static int do_ants_group_wait_timeout(struct job *job)
{
	return ants_group_wait_timeout(&job->group, FOREVER, NULL);
}

static int do_ants_group_next(struct job *job)
{
	return PTR_ERR_OR_ZERO(ants_group_next(&job->group, FOREVER));
}

static int do_ants_multi_flush(struct job *job)
{
	return ants_multi_flush(job->multi);
}

static int do_ants_multi_flush_timeout(struct job *job)
{
	return ants_multi_flush_timeout(job->multi, FOREVER);
}

static int do_ants_multi_release_timeout(struct job *job)
{
	return ants_multi_release_timeout(job->multi, FOREVER);
}

static const struct way waits[] = {
	WAY(ants_flush),
	WAY(ants_flush_timeout),
	WAY(ants_drain),
	WAY(ants_drain_timeout),
	WAY(ants_release_timeout),
	WAY(ants_work_wait),
	WAY(ants_work_wait_timeout),
	WAY(ants_work_flush),
	WAY(ants_group_wait),
	WAY(ants_group_wait_timeout),
	WAY(ants_group_next),
	MULTI_WAY(ants_multi_flush),
	MULTI_WAY(ants_multi_flush_timeout),
	MULTI_WAY(ants_multi_release_timeout),
};

KUNIT_ARRAY_PARAM(wait, waits, way_desc);

/* The work item makes its call from inside, or stops at the gate. */
static int job_fn(struct ants_work *work)
{
	struct job *job = container_of(work, struct job, work);

	if (job->inside)
		job->result = job->way->call(job);
	else
		gate_task(job->gate);
	return 0;
}

static struct job *job_make(struct kunit *test, unsigned int max_blocking)
{
	struct ants_attrs attrs = {
		.capacity = 1, .max_blocking = max_blocking,
	};
	struct job *job = kunit_kzalloc(test, sizeof(*job), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, job);
	job->way = test->param_value;
	init_completion(&job->done);
	if (job->way->multi) {
		job->multi = test_multi(test, &attrs, 1, ANTS_LEAST_TASKS, NAME);
		job->pool = ants_multi_shard(job->multi, 0);
	} else {
		job->pool = test_func_pool(test, &attrs, gate_task, NAME);
	}
	job->gate = test_gate(test);
	INIT_ANTS_WORK(&job->work, job_fn);
	KUNIT_ASSERT_EQ(test, ants_group_init(&job->group, job->pool, 0), 0);
	return job;
}

/* The pool's only thread is at the gate. */
static struct job *job_make_full(struct kunit *test, unsigned int max_blocking)
{
	struct job *job = job_make(test, max_blocking);

	fill_pool(test, job->pool, job->gate, 1);
	return job;
}

static int do_job(struct async_call *call)
{
	struct job *job = call->data;

	WRITE_ONCE(job->entered, true);
	return job->way->call(job);
}

static bool is_blocked(struct job *job, struct async_call *caller)
{
	return READ_ONCE(job->entered) && sleeps(caller->task);
}

/* A task that makes the call. */
static void job_task(void *data)
{
	struct job *job = data;

	job->result = job->way->call(job);
	complete(&job->done);
}

static void stopped_submitter_gives_up(struct kunit *test)
{
	struct job *job = job_make_full(test, 0);
	struct async_call *caller = async_start(test, do_job, job);

	EXPECT_SOON(test, ants_nr_waiting(job->pool) == 1);
	KUNIT_EXPECT_EQ(test, async_stop(caller), -EINTR);
	KUNIT_EXPECT_EQ(test, ants_nr_waiting(job->pool), 0);
}

static void one_waiter_too_many(struct kunit *test)
{
	struct job *job = job_make_full(test, 1);
	struct async_call *caller = async_start(test, do_job, job);

	EXPECT_SOON(test, ants_nr_waiting(job->pool) == 1);
	KUNIT_EXPECT_EQ(test, job->way->call(job), -EBUSY);
	gate_open(job->gate);
	KUNIT_EXPECT_EQ(test, async_result(caller), 0);
}

static void only_task_cannot_wait_for_itself(struct kunit *test)
{
	struct job *job = job_make(test, 0);

	KUNIT_EXPECT_EQ(test, ants_submit(job->pool, job_task, job), 0);
	EXPECT_SOON(test, completion_done(&job->done));
	KUNIT_EXPECT_EQ(test, job->result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, stats_of(job->pool).submitted, 1);
}

static void expect_shutdown(struct kunit *test)
{
	struct job *job = job_make(test, 0);

	KUNIT_EXPECT_EQ(test, job->multi ? ants_multi_release(job->multi) :
					   ants_release(job->pool), 0);
	KUNIT_EXPECT_EQ(test, job->way->call(job), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, stats_of(job->pool).submitted, 0);
}

static void closed_pool_takes_nothing(struct kunit *test)
{
	expect_shutdown(test);
}

static void closed_pool_is_tried(struct kunit *test)
{
	expect_shutdown(test);
}

static void full_pool_is_tried(struct kunit *test)
{
	struct job *job = job_make_full(test, 0);

	KUNIT_EXPECT_EQ(test, job->way->call(job), -EAGAIN);
	gate_open(job->gate);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(job->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, job->way->call(job), 0);
}

/* The call waits for a work item that stays at the gate. */
static void stopped_waiter_gives_up(struct kunit *test)
{
	struct job *job = job_make(test, 0);
	struct async_call *caller;

	KUNIT_ASSERT_EQ(test, ants_group_submit(&job->group, &job->work), 0);
	EXPECT_SOON(test, atomic_read(&job->gate->entered) == 1);
	caller = async_start(test, do_job, job);
	EXPECT_SOON(test, is_blocked(job, caller));
	KUNIT_EXPECT_EQ(test, async_stop(caller), -EINTR);
	gate_open(job->gate);
	KUNIT_EXPECT_EQ(test, ants_work_wait(&job->work, NULL), 0);
}

static void work_item_cannot_wait_for_its_end(struct kunit *test)
{
	struct job *job = job_make(test, 0);

	job->inside = true;
	KUNIT_ASSERT_EQ(test, ants_group_submit(&job->group, &job->work), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&job->work, TEST_DEADLINE,
						     NULL), 0);
	KUNIT_EXPECT_EQ(test, job->result, -EDEADLK);
	KUNIT_EXPECT_FALSE(test, ants_is_released(job->pool));
}

/* Calls that make a pool. The pool, if there is one, is destroyed at once. */
struct maker {
	const char *name;
	int (*make)(const struct ants_attrs *attrs);
};

static void maker_desc(const struct maker *maker, char *desc)
{
	strscpy(desc, maker->name, KUNIT_PARAM_DESC_SIZE);
}

static int end_pool(struct ants_pool *pool)
{
	return IS_ERR(pool) ? PTR_ERR(pool) : ants_pool_destroy(pool);
}

static int make_pool(const struct ants_attrs *attrs)
{
	return end_pool(ants_pool_create(attrs, NAME));
}

static int make_ordered(const struct ants_attrs *attrs)
{
	return end_pool(ants_pool_create_ordered(attrs, NAME));
}

static int make_devm(const struct ants_attrs *attrs)
{
	struct device *dev = __root_device_register(NAME, NULL);
	void *group = devres_open_group(dev, NULL, GFP_KERNEL);
	int err;

	err = PTR_ERR_OR_ZERO(devm_ants_pool_create(dev, attrs, NAME));
	devres_release_group(dev, group);
	root_device_unregister(dev);
	return err;
}

static int make_multi(const struct ants_attrs *attrs)
{
	struct ants_multi *multi = ants_multi_create(attrs, 1, ANTS_LEAST_TASKS,
						     NAME);

	return IS_ERR(multi) ? PTR_ERR(multi) : ants_multi_destroy(multi);
}

static const struct maker makers[] = {
	{ "ants_pool_create", make_pool },
	{ "ants_pool_create_ordered", make_ordered },
	{ "devm_ants_pool_create", make_devm },
	{ "ants_multi_create", make_multi },
};

KUNIT_ARRAY_PARAM(maker, makers, maker_desc);

/* The thread may exist before the wait for it notices the signal. */
static int do_make_killed(struct async_call *call)
{
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_PREALLOC };
	const struct maker *maker = call->data;
	int err, tries = 0;

	do {
		send_sig(SIGKILL, current, 1);
		err = maker->make(&attrs);
	} while (!err && ++tries < 100);
	return err;
}

static void killed_maker_has_nothing(struct kunit *test)
{
	const struct maker *maker = test->param_value;
	struct async_call *caller;

	caller = async_start(test, do_make_killed, (void *)maker);
	KUNIT_EXPECT_EQ(test, async_result(caller), -EINTR);
	KUNIT_EXPECT_EQ(test, maker->make(NULL), 0);
}

static void bad_pool_is_not_made(struct kunit *test)
{
	const struct ants_attrs wrong = { .nice = 20 };
	const struct maker *maker = test->param_value;

	KUNIT_EXPECT_EQ(test, maker->make(&wrong), -EINVAL);
	test_pool(test, NULL, NAME);
	KUNIT_EXPECT_EQ(test, maker->make(NULL), -EEXIST);
}

static struct kunit_case errno_cases[] = {
	KUNIT_CASE_PARAM(stopped_submitter_gives_up, submit_gen_params),
	KUNIT_CASE_PARAM(one_waiter_too_many, submit_gen_params),
	KUNIT_CASE_PARAM(only_task_cannot_wait_for_itself,
			 submit_gen_params),
	KUNIT_CASE_PARAM(closed_pool_takes_nothing, submit_gen_params),
	KUNIT_CASE_PARAM(closed_pool_is_tried, try_gen_params),
	KUNIT_CASE_PARAM(full_pool_is_tried, try_gen_params),
	KUNIT_CASE_PARAM(stopped_waiter_gives_up, wait_gen_params),
	KUNIT_CASE_PARAM(work_item_cannot_wait_for_its_end, wait_gen_params),
	KUNIT_CASE_PARAM(killed_maker_has_nothing, maker_gen_params),
	KUNIT_CASE_PARAM(bad_pool_is_not_made, maker_gen_params),
	{}
};

static struct kunit_suite errno_suite = {
	.name = "ants_errno",
	.test_cases = errno_cases,
};

kunit_test_suite(errno_suite);

MODULE_DESCRIPTION("ants: KUnit tests of errors that many calls share");
MODULE_LICENSE("GPL");
