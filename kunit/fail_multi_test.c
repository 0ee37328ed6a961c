// SPDX-License-Identifier: GPL-2.0-only
/* Sharded pools without memory. */
#include <linux/module.h>

#include "../kernel/multi/multi.h"
#include "fail.h"
#include "repeats.h"

#define NAME		"fail"
#define NR_SHARDS	2

struct change {
	struct ants_multi *multi;
	enum ants_strategy strategy;
	unsigned int nr_shards;
	struct ants_affinity *affinities[NR_SHARDS];
	struct ants_stats stats;
	unsigned int depths[NR_SHARDS];
	unsigned int depth;
	bool released;
	struct hidden hidden[NR_SHARDS];
	atomic_t count;
	int submitted;
};

static const struct ants_attrs attrs = {
	.capacity = 2 * NR_SHARDS, .flags = ANTS_PREALLOC,
};

static struct ants_pool *shard(struct change *c, unsigned int nr)
{
	return ants_multi_shard(c->multi, nr);
}

static int call_create(void *ctx)
{
	struct change *c = ctx;

	c->multi = ants_multi_create(&attrs, c->nr_shards, c->strategy, NAME);
	return PTR_ERR_OR_ZERO(c->multi);
}

static void nothing_is_made(struct kunit *test, void *ctx)
{
	expect_nothing(test, NAME);
	expect_nothing(test, NAME "/0");
}

static void expect_multi_works(struct kunit *test, struct ants_multi *multi)
{
	atomic_t count = ATOMIC_INIT(0);
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, ants_multi_submit(multi, count_task,
							&count), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 4);
}

static void multi_is_whole(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	KUNIT_EXPECT_TRUE(test, is_in_sysfs(NAME "/shard0"));
	expect_multi_works(test, c->multi);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(c->multi), 0);
	nothing_is_made(test, ctx);
}

/*
 * Most allocations are for the files of the shards, one like the other. A long
 * run makes each of them fail.
 */
static void create(struct kunit *test, enum ants_strategy strategy,
		   unsigned int nr_shards, unsigned int stride)
{
	struct change c = { .strategy = strategy, .nr_shards = nr_shards };
	struct fail_loop loop = {
		.name = "ants_multi_create", .call = call_create,
		.refused = nothing_is_made, .done = multi_is_whole,
		.err = -ENOMEM, .stride = repeats > 1 ? 1 : stride, .ctx = &c,
	};

	fail_each(test, &loop);
}

static void create_round_robin(struct kunit *test)
{
	create(test, ANTS_ROUND_ROBIN, 1, 37);
}

static void create_local(struct kunit *test)
{
	create(test, ANTS_LOCAL, NR_SHARDS, 97);
}

static void create_as_many_as_fit(struct kunit *test)
{
	create(test, ANTS_LOCAL, 0, 211);
}

static void multi_free(struct kunit_resource *res)
{
	ants_multi_destroy(res->data);
}

static void make_multi(struct kunit *test, struct change *c)
{
	KUNIT_ASSERT_EQ(test, call_create(c), 0);
	kunit_alloc_resource(test, test_pool_init, multi_free, GFP_KERNEL,
			     c->multi);
}

/* Before a call, nothing is about to happen in the shards. */
static void note(struct kunit *test, void *ctx)
{
	struct change *c = ctx;
	unsigned int i;

	for (i = 0; i < NR_SHARDS; i++) {
		EXPECT_SOON(test, settled(shard(c, i)));
		c->affinities[i] = shard(c, i)->target.affinity;
		c->depths[i] = shard(c, i)->config.queue_depth;
	}
	ants_multi_stats(c->multi, &c->stats);
	c->released = ants_multi_is_released(c->multi);
}

/* Threads that were made for any shard are gone again. */
static void nothing_has_changed(struct kunit *test, void *ctx)
{
	struct change *c = ctx;
	struct ants_stats now;
	unsigned int i;

	for (i = 0; i < NR_SHARDS; i++) {
		EXPECT_SOON(test, settled(shard(c, i)));
		KUNIT_EXPECT_PTR_EQ(test, shard(c, i)->target.affinity,
				    c->affinities[i]);
		KUNIT_EXPECT_EQ(test, shard(c, i)->config.queue_depth, c->depths[i]);
	}
	EXPECT_SOON(test, nr_threads(NAME "/0") + nr_threads(NAME "/1") ==
		    c->stats.running);
	ants_multi_stats(c->multi, &now);
	KUNIT_EXPECT_EQ(test, now.capacity, c->stats.capacity);
	KUNIT_EXPECT_EQ(test, now.running, c->stats.running);
	KUNIT_EXPECT_EQ(test, ants_multi_is_released(c->multi), c->released);
}

static void multi_works(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	expect_multi_works(test, c->multi);
}

static void change(struct kunit *test, struct fail_loop loop)
{
	struct change c = { .nr_shards = NR_SHARDS };

	loop.ctx = &c;
	loop.refused = loop.refused ?: nothing_has_changed;
	loop.done = loop.done ?: multi_works;
	make_multi(test, &c);
	fail_each(test, &loop);
}

/* Lengthen the queue each time, which needs more slots. */
static int lengthen(void *ctx)
{
	struct change *c = ctx;

	c->depth += 60 * NR_SHARDS;
	return ants_multi_set_queue_depth(c->multi, c->depth);
}

static void close(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(c->multi,
							 TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, lengthen(c), 0);
	note(test, c);
}

static int call_reboot(void *ctx)
{
	struct change *c = ctx;

	return ants_multi_reboot(c->multi);
}

static void reboot(struct kunit *test)
{
	change(test, (struct fail_loop){
		.name = "ants_multi_reboot", .call = call_reboot,
		.before = close, .err = -ENOMEM,
	});
}

static void shrink(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	KUNIT_EXPECT_EQ(test, ants_multi_tune(c->multi, NR_SHARDS), 0);
	note(test, c);
}

static int call_tune(void *ctx)
{
	struct change *c = ctx;

	return ants_multi_tune(c->multi, 3 * NR_SHARDS);
}

static void tune(struct kunit *test)
{
	change(test, (struct fail_loop){
		.name = "ants_multi_tune", .call = call_tune,
		.before = shrink, .err = -ENOMEM,
	});
}

static void set_queue_depth(struct kunit *test)
{
	change(test, (struct fail_loop){
		.name = "ants_multi_set_queue_depth", .call = lengthen,
		.before = note, .err = -ENOMEM,
	});
}

static int call_set_nice(void *ctx)
{
	struct change *c = ctx;

	return ants_multi_set_nice(c->multi, 5);
}

static void set_nice(struct kunit *test)
{
	change(test, (struct fail_loop){
		.name = "ants_multi_set_nice", .call = call_set_nice,
		.before = note, .err = -ENOMEM,
	});
}

static int call_set_cpumask(void *ctx)
{
	struct change *c = ctx;

	return ants_multi_set_cpumask(c->multi, cpumask_of(0));
}

static void set_cpumask(struct kunit *test)
{
	change(test, (struct fail_loop){
		.name = "ants_multi_set_cpumask", .call = call_set_cpumask,
		.before = note, .err = -ENOMEM,
	});
}

static void hide_stocks(struct kunit *test, void *ctx)
{
	struct change *c = ctx;
	unsigned int i;

	note(test, c);
	for (i = 0; i < NR_SHARDS; i++)
		hide_stock(&c->hidden[i], shard(c, i), 0);
}

static int call_submit(void *ctx)
{
	struct change *c = ctx;

	return ants_multi_submit(c->multi, count_task, &c->count) ?:
	       ants_multi_submit_timeout(c->multi, count_task, &c->count,
					 TEST_DEADLINE);
}

static void are_run(struct kunit *test, void *ctx)
{
	struct change *c = ctx;
	unsigned int i;

	for (i = 0; i < NR_SHARDS; i++)
		give_back(&c->hidden[i]);
	c->submitted += 2;
	KUNIT_EXPECT_EQ(test, ants_multi_flush(c->multi), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->count), c->submitted);
}

/* If one shard gets no memory, another one may. */
static void submit(struct kunit *test)
{
	change(test, (struct fail_loop){
		.name = "ants_multi_submit, ants_multi_submit_timeout",
		.call = call_submit, .before = hide_stocks, .done = are_run,
	});
}

static int call_needless(void *ctx)
{
	struct change *c = ctx;

	return ants_multi_try_submit(c->multi, count_task, &c->count) ?:
	       PTR_ERR_OR_ZERO(ants_multi_choose(c->multi)) ?:
	       ants_multi_flush(c->multi) ?:
	       ants_multi_flush_timeout(c->multi, TEST_DEADLINE) ?:
	       ants_multi_release(c->multi) ?:
	       ants_multi_release_timeout(c->multi, TEST_DEADLINE);
}

static void open_again(struct kunit *test, void *ctx)
{
	struct change *c = ctx;

	KUNIT_EXPECT_EQ(test, ants_multi_reboot(c->multi), 0);
}

static void release(struct kunit *test)
{
	change(test, (struct fail_loop){
		.name = "ants_multi_try_submit ... ants_multi_release_timeout",
		.call = call_needless, .done = open_again,
	});
}

static void make_to_destroy(struct kunit *test, void *ctx)
{
	KUNIT_ASSERT_EQ(test, call_create(ctx), 0);
}

static int call_destroy(void *ctx)
{
	struct change *c = ctx;

	return ants_multi_destroy(c->multi);
}

static void destroy(struct kunit *test)
{
	struct change c = { .nr_shards = NR_SHARDS };
	struct fail_loop loop = {
		.name = "ants_multi_destroy", .call = call_destroy,
		.before = make_to_destroy, .done = nothing_is_made, .ctx = &c,
	};

	fail_each(test, &loop);
}

static struct kunit_case fail_multi_cases[] = {
	KUNIT_CASE(create_round_robin),
	KUNIT_CASE(create_local),
	KUNIT_CASE(create_as_many_as_fit),
	KUNIT_CASE(reboot),
	KUNIT_CASE(tune),
	KUNIT_CASE(set_queue_depth),
	KUNIT_CASE(set_nice),
	KUNIT_CASE(set_cpumask),
	KUNIT_CASE(submit),
	KUNIT_CASE(release),
	KUNIT_CASE(destroy),
	{}
};

static struct kunit_suite fail_multi_suite = {
	.name = "ants_fail_multi",
	.init = fail_init,
	.test_cases = fail_multi_cases,
};

kunit_test_suite(fail_multi_suite);

MODULE_DESCRIPTION("ants: KUnit tests of sharded pools that get no memory");
MODULE_LICENSE("GPL");
