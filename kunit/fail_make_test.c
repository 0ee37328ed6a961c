// SPDX-License-Identifier: GPL-2.0-only
/* Making, changing and ending a pool without memory. */
#include <linux/device.h>
#include <linux/module.h>

#include "fail.h"
#include "file.h"
#include "repeats.h"

#define NAME	"fail"

/* A way to make a pool. */
struct kind {
	const char *name;
	struct ants_attrs attrs;
	struct ants_pool *(*make)(const struct ants_attrs *attrs);
};

static struct ants_pool *make(const struct ants_attrs *attrs)
{
	return ants_pool_create(attrs, NAME);
}

static struct ants_pool *make_ordered(const struct ants_attrs *attrs)
{
	return ants_pool_create_ordered(attrs, NAME);
}

static struct device *device;

static struct ants_pool *make_managed(const struct ants_attrs *attrs)
{
	return devm_ants_pool_create(device, attrs, NAME);
}

static const struct cpumask first_cpu = { CPU_BITS_CPU0 };

static const struct kind kinds[] = {
	{ "plain", {}, make },
	{ "prealloc",
	  { .capacity = 3, .queue_depth = 60, .spare_slots = 120,
	    .flags = ANTS_PREALLOC | ANTS_FIXED | ANTS_ON_NODE }, make },
	{ "mem_reclaim",
	  { .capacity = 4, .min_workers = 2, .cpumask = &first_cpu,
	    .flags = ANTS_MEM_RECLAIM | ANTS_THROUGHPUT | ANTS_FREEZABLE },
	  make },
	{ "ordered", { .min_workers = 1 }, make_ordered },
	{ "func", { .flags = ANTS_NONBLOCKING | ANTS_NO_PURGE, .fn = count_task }, make },
};

static void kind_name(const struct kind *kind, char *desc)
{
	strscpy(desc, kind->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_name);

/* What the runs of a loop share. */
struct making {
	const struct kind *kind;
	struct ants_pool *pool;
};

static int call_make(void *ctx)
{
	struct making *m = ctx;

	m->pool = m->kind->make(&m->kind->attrs);
	return PTR_ERR_OR_ZERO(m->pool);
}

static void nothing_is_made(struct kunit *test, void *ctx)
{
	expect_nothing(test, NAME);
}

static void pool_is_whole(struct kunit *test, void *ctx)
{
	struct making *m = ctx;

	KUNIT_EXPECT_TRUE(test, is_in_sysfs(NAME));
	expect_works(test, m->pool);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(m->pool), 0);
	expect_nothing(test, NAME);
}

static void fail_create(struct kunit *test, const struct kind *kind,
			unsigned int stride)
{
	struct making m = { .kind = kind };
	struct fail_loop loop = {
		.name = "ants_pool_create",
		.call = call_make,
		.refused = nothing_is_made,
		.done = pool_is_whole,
		.err = -ENOMEM,
		.stride = repeats > 1 ? 1 : stride,
		.ctx = &m,
	};

	fail_each(test, &loop);
}

static void create(struct kunit *test)
{
	fail_create(test, test->param_value, 19);
}

/* Write to files of the pool whenever they are there. */
static int do_write(struct async_call *call)
{
	while (!signal_pending(current)) {
		call->accepted += !sys_write("/sys/kernel/ants/" NAME "/min_workers", "1");
		call->accepted += !sys_write("/sys/kernel/ants/" NAME "/nice", "1");
	}
	return 0;
}

/* The pool is changed through its files while some of them cannot be made. */
static void files_are_written_meanwhile(struct kunit *test)
{
	static const struct kind kind = { "written", {}, make };
	struct async_call *writer = async_start(test, do_write, NULL);

	fail_create(test, &kind, 3);
	send_sig(SIGKILL, writer->task, 1);
	KUNIT_EXPECT_EQ(test, async_result(writer), 0);
	KUNIT_EXPECT_GT(test, writer->accepted, 0);
}

static void open_group(struct kunit *test, void *ctx)
{
	KUNIT_EXPECT_NOT_NULL(test, devres_open_group(device, device,
						      GFP_KERNEL));
}

static void managed_pool_is_whole(struct kunit *test, void *ctx)
{
	struct making *m = ctx;

	expect_works(test, m->pool);
	devres_release_group(device, device);
	expect_nothing(test, NAME);
}

/* A pool that cannot be attached to the device is destroyed. */
static void managed_pool_is_not_made(struct kunit *test, void *ctx)
{
	devres_release_group(device, device);
	expect_nothing(test, NAME);
}

static void create_managed(struct kunit *test)
{
	static const struct kind kind = {
		"managed", { .min_workers = 1 }, make_managed,
	};
	struct making m = { .kind = &kind };
	struct fail_loop loop = {
		.name = "devm_ants_pool_create",
		.call = call_make,
		.before = open_group,
		.refused = managed_pool_is_not_made,
		.done = managed_pool_is_whole,
		.err = -ENOMEM,
		.stride = repeats > 1 ? 1 : 19,
		.ctx = &m,
	};

	device = __root_device_register("ants_fail", NULL);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(device), 0);
	fail_each(test, &loop);
	root_device_unregister(device);
}

/* A pool to change, and what it was before. */
struct change {
	struct ants_pool *pool;
	struct ants_affinity *affinity;
	struct ants_stats stats;
	unsigned int depth;
	unsigned int stock;
	bool released;
	const struct cpumask *mask;
};

static struct ants_pool *prealloc_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .flags = ANTS_PREALLOC };

	return test_pool(test, &attrs, NAME);
}

/* Before a call, nothing is about to happen in the pool. */
static void note(struct kunit *test, struct change *c)
{
	/* A worker that was woken late, and in vain, has parked as well. */
	EXPECT_SOON(test, settled(c->pool) &&
		    ants_nr_idle(c->pool) == ants_nr_running(c->pool));
	c->stats = stats_of(c->pool);
	c->affinity = c->pool->target.affinity;
	c->depth = c->pool->config.queue_depth;
	c->stock = ants_peek(c->pool->nr_stock);
	c->released = ants_is_released(c->pool);
}

static void nothing_has_changed(struct kunit *test, void *ctx)
{
	struct change *c = ctx;
	struct ants_stats now;

	EXPECT_SOON(test, nr_threads(NAME) == c->stats.running);
	now = stats_of(c->pool);
	KUNIT_EXPECT_EQ(test, memcmp(&now, &c->stats, sizeof(now)), 0);
	KUNIT_EXPECT_PTR_EQ(test, c->pool->target.affinity, c->affinity);
	KUNIT_EXPECT_EQ(test, c->pool->config.queue_depth, c->depth);
	KUNIT_EXPECT_EQ(test, ants_is_released(c->pool), c->released);
}

static void pool_works(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	expect_works(test, c->pool);
}

/* Lengthen the queue each time, which needs more slots. */
static void lengthen(struct kunit *test, struct ants_pool *pool)
{
	KUNIT_EXPECT_EQ(test, set_attr(pool, "queue_depth",
				       pool->config.queue_depth + 60), 0);
}

static void close(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	KUNIT_EXPECT_EQ(test, ants_release_timeout(c->pool, TEST_DEADLINE), 0);
	lengthen(test, c->pool);
	note(test, c);
}

static int call_reboot(void *ctx)
{
	struct change *c = ctx;

	return ants_reboot(c->pool);
}

/* The slots that it made for nothing may be many. */
static void nothing_was_opened(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	nothing_has_changed(test, c);
	KUNIT_EXPECT_LE(test, ants_peek(c->pool->nr_stock), c->stock);
}

static void reboot(struct kunit *test)
{
	struct change c = { .pool = prealloc_pool(test) };
	struct fail_loop loop = {
		.name = "ants_reboot",
		.call = call_reboot,
		.before = close,
		.refused = nothing_was_opened,
		.done = pool_works,
		.err = -ENOMEM,
		.ctx = &c,
	};

	fail_each(test, &loop);
}

static void shrink(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	KUNIT_EXPECT_EQ(test, ants_tune(c->pool, 1), 0);
	note(test, c);
}

static int call_tune(void *ctx)
{
	struct change *c = ctx;

	return ants_tune(c->pool, 4);
}

static void has_grown(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	EXPECT_SOON(test, ants_nr_idle(c->pool) == 4);
	expect_works(test, c->pool);
}

static void tune(struct kunit *test)
{
	struct change c = { .pool = prealloc_pool(test) };
	struct fail_loop loop = {
		.name = "ants_tune",
		.call = call_tune,
		.before = shrink,
		.refused = nothing_has_changed,
		.done = has_grown,
		.err = -ENOMEM,
		.ctx = &c,
	};

	fail_each(test, &loop);
}

static void take_note(struct kunit *test, void *ctx)
{
	note(test, ctx);
}

static int call_lengthen(void *ctx)
{
	struct change *c = ctx;

	return set_attr(c->pool, "queue_depth", c->pool->config.queue_depth + 60);
}

static void queue_depth(struct kunit *test)
{
	struct change c = { .pool = prealloc_pool(test) };
	struct fail_loop loop = {
		.name = "queue_depth",
		.call = call_lengthen,
		.before = take_note,
		.refused = nothing_has_changed,
		.done = pool_works,
		.err = -ENOMEM,
		.ctx = &c,
	};

	fail_each(test, &loop);
}

static int call_set_nice(void *ctx)
{
	struct change *c = ctx;

	return ants_set_nice(c->pool, 5);
}

static int call_set_sched(void *ctx)
{
	struct change *c = ctx;

	return ants_set_sched(c->pool, ANTS_SCHED_FIFO_LOW);
}

static int call_set_cpumask(void *ctx)
{
	struct change *c = ctx;

	return ants_set_cpumask(c->pool, c->mask);
}

static void change_affinity(struct kunit *test, const char *name,
			    int (*call)(void *ctx), const struct cpumask *mask)
{
	struct change c = { .pool = prealloc_pool(test), .mask = mask };
	struct fail_loop loop = {
		.name = name,
		.call = call,
		.before = take_note,
		.refused = nothing_has_changed,
		.done = pool_works,
		.err = -ENOMEM,
		.ctx = &c,
	};

	fail_each(test, &loop);
}

static void set_nice(struct kunit *test)
{
	change_affinity(test, "ants_set_nice", call_set_nice, NULL);
}

static void set_sched(struct kunit *test)
{
	change_affinity(test, "ants_set_sched", call_set_sched, NULL);
}

static void set_cpumask(struct kunit *test)
{
	change_affinity(test, "ants_set_cpumask", call_set_cpumask, cpumask_of(0));
}

static void set_no_cpumask(struct kunit *test)
{
	change_affinity(test, "ants_set_cpumask", call_set_cpumask, NULL);
}

/* Ending a pool needs no memory. */

static int call_release(void *ctx)
{
	struct change *c = ctx;

	return ants_release(c->pool) ?:
	       ants_release_timeout(c->pool, TEST_DEADLINE);
}

static void open_again(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	KUNIT_EXPECT_EQ(test, ants_reboot(c->pool), 0);
}

static void release(struct kunit *test)
{
	struct change c = { .pool = prealloc_pool(test) };
	struct fail_loop loop = {
		.name = "ants_release, ants_release_timeout",
		.call = call_release,
		.done = open_again,
		.ctx = &c,
	};

	fail_each(test, &loop);
}

static void make_to_destroy(struct kunit *test, void *ctx)
{
	struct making *m = ctx;

	KUNIT_ASSERT_EQ(test, call_make(m), 0);
}

static int call_destroy(void *ctx)
{
	struct making *m = ctx;

	return ants_pool_destroy(m->pool);
}

static void destroy(struct kunit *test)
{
	struct making m = { .kind = &kinds[1] };
	struct fail_loop loop = {
		.name = "ants_pool_destroy",
		.call = call_destroy,
		.before = make_to_destroy,
		.done = nothing_is_made,
		.ctx = &m,
	};

	fail_each(test, &loop);
}

static struct kunit_case fail_make_cases[] = {
	KUNIT_CASE_PARAM(create, kind_gen_params),
	KUNIT_CASE(files_are_written_meanwhile),
	KUNIT_CASE(create_managed),
	KUNIT_CASE(reboot),
	KUNIT_CASE(tune),
	KUNIT_CASE(queue_depth),
	KUNIT_CASE(set_nice),
	KUNIT_CASE(set_sched),
	KUNIT_CASE(set_cpumask),
	KUNIT_CASE(set_no_cpumask),
	KUNIT_CASE(release),
	KUNIT_CASE(destroy),
	{}
};

static struct kunit_suite fail_make_suite = {
	.name = "ants_fail_make",
	.init = fail_init,
	.test_cases = fail_make_cases,
};

kunit_test_suite(fail_make_suite);

MODULE_DESCRIPTION("ants: KUnit tests of pools that get no memory");
MODULE_LICENSE("GPL");
