// SPDX-License-Identifier: GPL-2.0-only
/* The kernel does not make a thread, or not as it should be. */
#include <linux/module.h>
#include <linux/sched.h>

#include "fail_at.h"
#include "rig.h"

#define NAME	"fail"

static struct task_struct *tester;
static struct fail_at at;

static bool by_tester(void)
{
	return current == tester;
}

static bool by_worker(void)
{
	return !strncmp(current->comm, "ants/" NAME, TASK_COMM_LEN);
}

static int begin(const char *function, bool (*wanted)(void), long ret)
{
	at = (struct fail_at){
		.probe.symbol_name = function, .wanted = wanted, .ret = ret,
	};
	tester = current;
	return fail_at_begin(&at);
}

static int init(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "no kprobes");
	return 0;
}

/* What making the thread returned, and what making the pool returns. */
static void expect_refused(struct kunit *test, int err, int answer)
{
	const struct ants_attrs attrs = { .capacity = 2, .min_workers = 1 };
	struct ants_pool *pool;

	KUNIT_ASSERT_EQ(test, begin("kthread_create_on_node", by_tester, err),
			0);
	pool = ants_pool_create(&attrs, NAME);
	unregister_kprobe(&at.probe);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), answer);
	ants_pool_destroy(pool);
}

/* A limit on threads is not reported as a full pool. */
static void thread_is_refused(struct kunit *test)
{
	expect_refused(test, -ENOMEM, -ENOMEM);
	expect_refused(test, -EAGAIN, -ENOMEM);
	expect_refused(test, -EINTR, -EINTR);
}

static void note_policy(void *data)
{
	*(unsigned int *)data = current->policy;
}

static unsigned int policy_of_worker(struct kunit *test)
{
	const struct ants_attrs attrs = {
		.capacity = 1, .flags = ANTS_THROUGHPUT,
	};
	struct ants_pool *pool = ants_pool_create(&attrs, NAME);
	unsigned int policy = UINT_MAX;

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), 0);
	if (!IS_ERR(pool))
		KUNIT_EXPECT_EQ(test, ants_submit(pool, note_policy, &policy),
				0);
	ants_pool_destroy(pool);
	return policy;
}

/* The pool works without the policy. */
static void policy_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, policy_of_worker(test), SCHED_BATCH);
	KUNIT_ASSERT_EQ(test, begin("sched_setattr_nocheck", by_worker,
				    -EINVAL), 0);
	KUNIT_EXPECT_EQ(test, policy_of_worker(test), SCHED_NORMAL);
	unregister_kprobe(&at.probe);
}

static void note_cpus(void *data)
{
	cpumask_copy(data, current->cpus_ptr);
}

static void expect_cpus(struct kunit *test, struct ants_pool *pool,
			const struct cpumask *mask, unsigned int nr)
{
	static struct cpumask cpus;

	KUNIT_EXPECT_EQ(test, ants_set_cpumask(pool, mask), 0);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, note_cpus, &cpus), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, cpumask_weight(&cpus), nr);
}

/*
 * A thread that cannot be bound stays where it is; the next change tries again.
 */
static void cpus_are_refused(struct kunit *test)
{
	const struct ants_attrs attrs = { .capacity = 1, .min_workers = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, NAME);

	ASSERT_SOON(test, ants_nr_idle(pool) == 1);
	KUNIT_ASSERT_EQ(test, begin("set_cpus_allowed_ptr", by_worker,
				    -EINVAL), 0);
	expect_cpus(test, pool, cpumask_of(0), num_possible_cpus());
	unregister_kprobe(&at.probe);
	expect_cpus(test, pool, cpumask_of(0), 1);
}

/*
 * A thread that may run anywhere again, isolated CPUs excepted, and gets no
 * memory to exclude these: it does not stay where it was bound.
 */
static void memory_for_cpus_is_refused(struct kunit *test)
{
	const struct ants_attrs attrs = { .capacity = 1, .min_workers = 1 };
	struct ants_pool *pool = test_pool(test, &attrs, NAME);

	if (!IS_ENABLED(CONFIG_CPUMASK_OFFSTACK))
		kunit_skip(test, "needs no memory");
	ASSERT_SOON(test, ants_nr_idle(pool) == 1);
	expect_cpus(test, pool, cpumask_of(0), 1);
	KUNIT_ASSERT_EQ(test, begin("alloc_cpumask_var_node", by_worker, false),
			0);
	expect_cpus(test, pool, NULL, num_possible_cpus());
	unregister_kprobe(&at.probe);
}

static struct kunit_case fail_thread_cases[] = {
	KUNIT_CASE(thread_is_refused),
	KUNIT_CASE(policy_is_refused),
	KUNIT_CASE(cpus_are_refused),
	KUNIT_CASE(memory_for_cpus_is_refused),
	{}
};

static struct kunit_suite fail_thread_suite = {
	.name = "ants_fail_thread",
	.init = init,
	.test_cases = fail_thread_cases,
};

kunit_test_suite(fail_thread_suite);

MODULE_DESCRIPTION("ants: KUnit tests of threads that the kernel refuses");
MODULE_LICENSE("GPL");
