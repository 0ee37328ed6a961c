// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes and names that a pool may have, and what a failed create leaves.
 */
#include <linux/module.h>

#include "async.h"

#define TOO_MUCH	((unsigned int)INT_MAX + 1)

static const struct cpumask no_cpus;

struct attrs_case {
	const char *desc;
	struct ants_attrs attrs;
};

static void attrs_desc(const struct attrs_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

static void *no_data(struct ants_pool *pool)
{
	return NULL;
}

static const struct attrs_case wrong[] = {
	{ "lowest unknown flag", { .flags = ANTS_ALL_FLAGS + 1 } },
	{ "highest unknown flag", { .flags = BIT(31) } },
	{ "callers fail and run",
	  { .flags = ANTS_NONBLOCKING | ANTS_CALLER_RUNS } },
	{ "unknown beside known", { .flags = BIT(31) | ANTS_NO_PURGE } },
	{ "nice below -20", { .nice = MIN_NICE - 1 } },
	{ "nice above 19", { .nice = MAX_NICE + 1 } },
	{ "lowest nice", { .nice = INT_MIN } },
	{ "highest nice", { .nice = INT_MAX } },
	{ "unknown sched", { .sched = ANTS_SCHED_FIFO + 1 } },
	{ "highest sched", { .sched = UINT_MAX } },
	{ "real time with a nice value",
	  { .sched = ANTS_SCHED_FIFO_LOW, .nice = -1 } },
	{ "real time for throughput",
	  { .sched = ANTS_SCHED_FIFO, .flags = ANTS_THROUGHPUT } },
	{ "capacity above INT_MAX", { .capacity = TOO_MUCH } },
	{ "capacity below unlimited", { .capacity = ANTS_UNLIMITED - 1 } },
	{ "queue_depth above INT_MAX", { .queue_depth = TOO_MUCH } },
	{ "queue_depth unlimited", { .queue_depth = UINT_MAX } },
	{ "queue_depth of unlimited pool",
	  { .capacity = ANTS_UNLIMITED, .queue_depth = TOO_MUCH } },
	{ "min_workers above capacity", { .capacity = 4, .min_workers = 5 } },
	{ "min_workers above default", { .min_workers = INT_MAX } },
	{ "min_workers unlimited",
	  { .capacity = ANTS_UNLIMITED, .min_workers = UINT_MAX } },
	{ "preallocated without bound",
	  { .capacity = ANTS_UNLIMITED, .flags = ANTS_PREALLOC } },
	{ "node without its flag", { .node = 1 } },
	{ "negative node without its flag", { .node = -1 } },
	{ "negative node", { .node = -1, .flags = ANTS_ON_NODE } },
	{ "first node too many", { .node = MAX_NUMNODES, .flags = ANTS_ON_NODE } },
	{ "highest node", { .node = INT_MAX, .flags = ANTS_ON_NODE } },
	{ "no possible CPU", { .cpumask = &no_cpus } },
	{ "reclaim needs a thread that fails",
	  { .flags = ANTS_MEM_RECLAIM, .worker_init = no_data } },
	{ "callers run, and have not what a thread has",
	  { .flags = ANTS_CALLER_RUNS, .worker_init = no_data } },
	{ "preallocated, with a sum above INT_MAX",
	  { .capacity = 2, .queue_depth = INT_MAX - 1,
	    .flags = ANTS_PREALLOC } },
	{ "expiry above INT_MAX", { .expiry = TOO_MUCH } },
	{ "too many spare slots",
	  { .spare_slots = ANTS_MAX_SPARE_SLOTS + 1 } },
	{ "most spare slots", { .spare_slots = UINT_MAX } },
	{ "highest expiry", { .expiry = ULONG_MAX } },
	{ "max_faults above INT_MAX", { .max_faults = TOO_MUCH } },
	{ "highest max_faults", { .max_faults = UINT_MAX } },
};

KUNIT_ARRAY_PARAM(wrong, wrong, attrs_desc);

/*
 * ants 38 (RestCodeCoverage): a table of wrong arguments, none of which leaves
 * anything behind.
 */
static void wrong_attributes_are_refused(struct kunit *test)
{
	const struct attrs_case *c = test->param_value;
	struct ants_pool *pool = ants_pool_create(&c->attrs, "wrong");

	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
	test_pool(test, NULL, "wrong");
}

static const struct attrs_case extreme[] = {
	{ "highest capacity", { .capacity = INT_MAX } },
	{ "unlimited", { .capacity = ANTS_UNLIMITED } },
	{ "highest capacity and queue_depth",
	  { .capacity = INT_MAX, .queue_depth = INT_MAX } },
	{ "unlimited with queue_depth",
	  { .capacity = ANTS_UNLIMITED, .queue_depth = INT_MAX } },
	{ "capacity of one", { .capacity = 1 } },
	{ "highest max_blocking", { .max_blocking = UINT_MAX } },
	{ "min_workers as capacity", { .capacity = 3, .min_workers = 3 } },
	{ "lowest nice allowed", { .nice = MIN_NICE } },
	{ "highest nice allowed", { .nice = MAX_NICE } },
	{ "first node", { .node = 0, .flags = ANTS_ON_NODE } },
	{ "all CPUs", { .cpumask = cpu_possible_mask } },
	{ "one spare slot", { .spare_slots = 1 } },
	{ "most spare slots", { .spare_slots = ANTS_MAX_SPARE_SLOTS } },
	{ "most preallocated",
	  { .capacity = 2, .queue_depth = 30, .flags = ANTS_PREALLOC,
	    .spare_slots = 100 } },
	{ "longest expiry", { .expiry = INT_MAX / MSEC_PER_SEC * HZ } },
	{ "shortest expiry", { .expiry = 1 } },
	{ "highest max_faults", { .max_faults = INT_MAX } },
	{ "real time, lowest", { .sched = ANTS_SCHED_FIFO_LOW } },
	{ "every flag but one at once",
	  { .capacity = 2, .flags = ANTS_ALL_FLAGS & ~ANTS_CALLER_RUNS } },
	{ "every flag but another",
	  { .capacity = 2, .flags = ANTS_ALL_FLAGS & ~ANTS_NONBLOCKING } },
};

KUNIT_ARRAY_PARAM(extreme, extreme, attrs_desc);

static void extreme_attributes_work(struct kunit *test)
{
	const struct attrs_case *c = test->param_value;
	struct ants_pool *pool = test_pool(test, &c->attrs, "extreme");
	atomic_t count = ATOMIC_INIT(0);

	KUNIT_EXPECT_EQ(test, ants_capacity(pool),
			c->attrs.capacity ?: num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

/*
 * The sum of the two largest bounds does not overflow, and "free" is that sum.
 */
static void largest_bounds_do_not_wrap(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = INT_MAX, .queue_depth = INT_MAX,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "largest");
	struct gate *gate = test_gate(test);

	fill_pool(test, pool, gate, 1);
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), 2 * (unsigned int)INT_MAX - 1);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

static void zero_means_the_default(struct kunit *test)
{
	static const struct ants_attrs zero;
	struct ants_pool *null = test_pool(test, NULL, "null");
	struct ants_pool *pool = test_pool(test, &zero, "zero");

	KUNIT_EXPECT_EQ(test, ants_capacity(null), num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_nr_free(pool), num_online_cpus());
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 0);
	KUNIT_EXPECT_EQ(test, pool->config.max_blocking, 0);
	KUNIT_EXPECT_EQ(test, pool->limits.spare_slots, ANTS_SPARE_SLOTS);
	KUNIT_EXPECT_EQ(test, pool->timer.expiry, msecs_to_jiffies(1000));
	KUNIT_EXPECT_EQ(test, null->timer.expiry, msecs_to_jiffies(1000));
	KUNIT_EXPECT_EQ(test, pool->target.affinity->nice, 0);
	KUNIT_EXPECT_EQ(test, pool->target.affinity->sched, ANTS_SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, pool->node, NUMA_NO_NODE);
	KUNIT_EXPECT_TRUE(test, pool->target.affinity->unbound);
	KUNIT_EXPECT_FALSE(test, ants_is_released(pool));
}

/*
 * Attributes have jiffies; sysfs shows milliseconds, never more than can be
 * written.
 */
static void expiry_is_in_jiffies(struct kunit *test)
{
	struct ants_attrs attrs = { .expiry = 2 * HZ };
	struct ants_pool *pool = test_pool(test, &attrs, "two");

	KUNIT_EXPECT_EQ(test, pool->timer.expiry, 2 * HZ);
	KUNIT_EXPECT_EQ(test, pool->config.expiry_ms, 2000);
	attrs.expiry = msecs_to_jiffies(INT_MAX);
	pool = test_pool(test, &attrs, "longest");
	KUNIT_EXPECT_EQ(test, pool->timer.expiry, msecs_to_jiffies(INT_MAX));
	KUNIT_EXPECT_LE(test, pool->config.expiry_ms, (unsigned int)INT_MAX);
	attrs.expiry++;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ants_pool_create(&attrs, "more")),
			-EINVAL);
}

struct name_case {
	const char *desc;
	const char *name;
};

static void name_desc(const struct name_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

static const struct name_case wrong_names[] = {
	{ "empty", "" },
	{ "slash", "/" },
	{ "slash inside", "a/b" },
	{ "dot", "." },
	{ "two dots", ".." },
	{ "64 characters",
	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
	{ "line break", "a\nb" },
	{ "line break at the end", "a\n" },
	{ "tabulator", "a\tb" },
	{ "escape", "\033[2J" },
	{ "delete", "a\177" },
	{ "UTF-8", "caf\303\251" },
	{ "highest byte", "\377" },
	{ "much too long",
	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01234567" },
};

KUNIT_ARRAY_PARAM(wrong_names, wrong_names, name_desc);

static void wrong_names_are_refused(struct kunit *test)
{
	const struct name_case *c = test->param_value;
	struct ants_pool *pool = ants_pool_create(NULL, "%s", c->name);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
	ants_pool_destroy(pool);
}

static const struct name_case good_names[] = {
	{ "one character", "x" },
	{ "63 characters",
	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde" },
	{ "three dots", "..." },
	{ "hidden", ".x" },
	{ "space", "a b" },
	{ "percent", "%s%n" },
	{ "first half of what is printable", " !\"#$%&'()*+,-.0123456789:;<=>?@" },
	{ "second half", "AZ[\\]^_`az{|}~" },
};

KUNIT_ARRAY_PARAM(good_names, good_names, name_desc);

static void good_names_are_taken(struct kunit *test)
{
	const struct name_case *c = test->param_value;
	struct ants_pool *pool = test_pool(test, NULL, c->name);
	atomic_t count = ATOMIC_INIT(0);

	KUNIT_EXPECT_STREQ(test, pool->name, c->name);
	KUNIT_EXPECT_STREQ(test, kobject_name(&pool->kobj), c->name);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

/* That it ends there is not what the owner has asked for. */
static void name_with_a_nul_is_refused(struct kunit *test)
{
	struct ants_pool *pool = ants_pool_create(NULL, "%c", '\0');

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
	ants_pool_destroy(pool);
	pool = ants_pool_create(NULL, "disk%cb", '\0');
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -EINVAL);
	ants_pool_destroy(pool);
}

static void name_is_formatted(struct kunit *test)
{
	struct ants_pool *pool = ants_pool_create(NULL, "%s-%d%c", "disk", 7, 'b');

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_STREQ(test, pool->name, "disk-7b");
	KUNIT_EXPECT_STREQ(test, kobject_name(&pool->kobj), "disk-7b");
	ants_pool_destroy(pool);
}

/*
 * The name is checked in ants' own registry: if sysfs refused it, the stack
 * dump would end this guest.
 */
static void taken_name_is_refused(struct kunit *test)
{
	struct ants_pool *first = test_pool(test, NULL, "twin");
	struct ants_pool *second = ants_pool_create(NULL, "twin");
	atomic_t count = ATOMIC_INIT(0);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(second), -EEXIST);
	ants_pool_destroy(second);
	second = ants_pool_create(NULL, "twin");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(second), -EEXIST);
	ants_pool_destroy(second);
	KUNIT_EXPECT_EQ(test, ants_submit(first, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(first), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

static void name_of_a_released_pool_stays_taken(struct kunit *test)
{
	struct ants_pool *first = test_pool(test, NULL, "closed");
	struct ants_pool *second;

	KUNIT_ASSERT_EQ(test, ants_release_timeout(first, TEST_DEADLINE), 0);
	second = ants_pool_create(NULL, "closed");
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(second), -EEXIST);
	ants_pool_destroy(second);
}

static void name_is_free_after_destroy(struct kunit *test)
{
	struct ants_pool *pool;
	int i;

	for (i = 0; i < 5; i++) {
		pool = ants_pool_create(NULL, "again");
		KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(pool), 0);
		KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	}
}

/* Slots fail before threads do; either way the name is free again. */
static void failing_memory_leaves_nothing(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 8, .min_workers = 3 };
	struct ants_pool *pool;

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	pool = ants_pool_create(&attrs, "poor");
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -ENOMEM);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	pool = ants_pool_create(&attrs, "poor");
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(pool), -ENOMEM);
	pool = test_pool(test, &attrs, "poor");
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 3);
}

/*
 * The caller is being killed, and makes so many threads that the kill comes in
 * between.
 */
static int do_create_killed(struct async_call *call)
{
	struct ants_attrs attrs = { .capacity = 32, .flags = ANTS_PREALLOC };
	struct ants_pool *pool;

	send_sig(SIGKILL, current, 1);
	pool = ants_pool_create(&attrs, "killed");
	ants_pool_destroy(pool);
	return PTR_ERR_OR_ZERO(pool);
}

static void killed_maker_leaves_nothing(struct kunit *test)
{
	struct async_call *maker = async_start(test, do_create_killed, NULL);

	KUNIT_EXPECT_EQ(test, async_result(maker), -EINTR);
	test_pool(test, NULL, "killed");
}

static struct kunit_case attrs_cases[] = {
	KUNIT_CASE_PARAM(wrong_attributes_are_refused, wrong_gen_params),
	KUNIT_CASE_PARAM(extreme_attributes_work, extreme_gen_params),
	KUNIT_CASE(largest_bounds_do_not_wrap),
	KUNIT_CASE(zero_means_the_default),
	KUNIT_CASE(expiry_is_in_jiffies),
	KUNIT_CASE_PARAM(wrong_names_are_refused, wrong_names_gen_params),
	KUNIT_CASE_PARAM(good_names_are_taken, good_names_gen_params),
	KUNIT_CASE(name_with_a_nul_is_refused),
	KUNIT_CASE(name_is_formatted),
	KUNIT_CASE(taken_name_is_refused),
	KUNIT_CASE(name_of_a_released_pool_stays_taken),
	KUNIT_CASE(name_is_free_after_destroy),
	KUNIT_CASE(failing_memory_leaves_nothing),
	KUNIT_CASE(killed_maker_leaves_nothing),
	{}
};

static struct kunit_suite attrs_suite = {
	.name = "ants_attrs",
	.test_cases = attrs_cases,
};

kunit_test_suite(attrs_suite);

MODULE_DESCRIPTION("ants: KUnit tests of attributes and names");
MODULE_LICENSE("GPL");
