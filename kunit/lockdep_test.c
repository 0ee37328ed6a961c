// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which calls tell lockdep that they wait for tasks of a pool. Each is made
 * with a mutex of its own held. Lockdep then knows that the mutex comes before
 * the pool, and says so in /proc/lockdep; a task that takes the mutex would be
 * reported. Waits for a work item are announced inside an RCU read section and
 * so are not listed there: lockdep_wait_test.c and lockdep_cancel_test.c
 * provoke the report.
 */
#include <linux/debug_locks.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>

#include "group.h"

#define LISTING		(8 << 20)

/* Pools, and everything else that the calls need. */
struct scene {
	struct rig *rig;
	struct ants_pool *pool;
	struct ants_pool *nonblocking;
	struct ants_multi *multi;
	struct ants_group group;
	struct ants_group other;
	atomic_t count;
	/* A member that runs while the gate is closed. */
	struct item member;
	/* Items to submit. */
	struct item items[4];
};

static int no_call(void *unused)
{
	return 0;
}

static void no_release(void *unused)
{
}

static int do_submit(struct scene *s)
{
	return ants_submit(s->pool, count_task, &s->count);
}

static int do_submit_1(struct scene *s)
{
	return ants_submit_timeout(s->pool, count_task, &s->count, 1);
}

static int do_submit_0(struct scene *s)
{
	return ants_submit_timeout(s->pool, count_task, &s->count, 0);
}

static int do_try(struct scene *s)
{
	return ants_try_submit(s->pool, count_task, &s->count);
}

static int do_submit_nonblocking(struct scene *s)
{
	return ants_submit(s->nonblocking, count_task, &s->count);
}

static int submit_one(struct ants_pool *pool, atomic_t *count)
{
	struct ants_task task = { .fn = count_task, .data = count };

	return ants_submit_batch(pool, &task, 1);
}

static int do_batch(struct scene *s)
{
	return submit_one(s->pool, &s->count) - 1;
}

static int do_batch_nonblocking(struct scene *s)
{
	return submit_one(s->nonblocking, &s->count) - 1;
}

static int do_queue(struct scene *s)
{
	return ants_queue_work(s->pool, work_of(&s->items[0]));
}

static int do_queue_1(struct scene *s)
{
	return ants_queue_work_timeout(s->pool, work_of(&s->items[1]), 1);
}

static int do_queue_0(struct scene *s)
{
	return ants_queue_work_timeout(s->pool, work_of(&s->items[2]), 0);
}

static int do_group_submit_wait(struct scene *s)
{
	return ants_group_submit(&s->group, work_of(&s->member));
}

static int do_group_submit_nonblocking(struct scene *s)
{
	return ants_group_submit(&s->other, work_of(&s->items[3]));
}

static int do_wait_0(struct scene *s)
{
	return ants_work_wait_timeout(work_of(&s->member), 0, NULL);
}

static int do_wait_next_1(struct scene *s)
{
	return PTR_ERR_OR_ZERO(ants_group_next(&s->group, 1));
}

static int do_wait_next_0(struct scene *s)
{
	return PTR_ERR_OR_ZERO(ants_group_next(&s->group, 0));
}

static int do_wait_group_1(struct scene *s)
{
	return ants_group_wait_timeout(&s->group, 1, NULL);
}

static int do_wait_group_0(struct scene *s)
{
	return ants_group_wait_timeout(&s->group, 0, NULL);
}

static int do_call(struct scene *s)
{
	return ants_call(s->pool, no_call, NULL, TEST_DEADLINE);
}

static int do_call_release(struct scene *s)
{
	return ants_call_release(s->pool, no_call, NULL, TEST_DEADLINE,
				 no_release);
}

static int do_flush_1(struct scene *s)
{
	return ants_flush_timeout(s->pool, 1);
}

static int do_flush_0(struct scene *s)
{
	return ants_flush_timeout(s->pool, 0);
}

static int do_drain_1(struct scene *s)
{
	return ants_drain_timeout(s->pool, 1);
}

static int do_drain_0(struct scene *s)
{
	return ants_drain_timeout(s->pool, 0);
}

static int do_multi_submit(struct scene *s)
{
	return ants_multi_submit(s->multi, count_task, &s->count);
}

static int do_multi_submit_1(struct scene *s)
{
	return ants_multi_submit_timeout(s->multi, count_task, &s->count, 1);
}

static int do_multi_submit_0(struct scene *s)
{
	return ants_multi_submit_timeout(s->multi, count_task, &s->count, 0);
}

static int do_multi_flush_1(struct scene *s)
{
	return ants_multi_flush_timeout(s->multi, 1);
}

static int do_multi_flush_0(struct scene *s)
{
	return ants_multi_flush_timeout(s->multi, 0);
}

static int do_multi_release_0(struct scene *s)
{
	return ants_multi_release_timeout(s->multi, 0);
}

static int do_multi_release_1(struct scene *s)
{
	return ants_multi_release_timeout(s->multi, 1);
}

static int do_release_0(struct scene *s)
{
	return ants_release_timeout(s->pool, 0);
}

static int do_release_1(struct scene *s)
{
	return ants_release_timeout(s->pool, 1);
}

/*
 * In this order. @waits: the pool comes after the mutex; @result: what the call
 * returns.
 */
static const struct touch {
	const char *name;
	int (*call)(struct scene *s);
	bool waits;
	int result;
} touches[] = {
	{ "t_submit", do_submit, true },
	{ "t_submit_1", do_submit_1, true },
	{ "t_submit_0", do_submit_0 },
	{ "t_try", do_try },
	{ "t_submit_nonblocking", do_submit_nonblocking },
	{ "t_batch", do_batch, true },
	{ "t_batch_nonblocking", do_batch_nonblocking },
	{ "t_queue", do_queue },
	{ "t_queue_1", do_queue_1, true },
	{ "t_queue_0", do_queue_0 },
	{ "t_group_submit", do_group_submit_wait, true },
	{ "t_group_submit_nonblocking", do_group_submit_nonblocking },
	{ "t_wait_0", do_wait_0, false, -ETIMEDOUT },
	{ "t_next_1", do_wait_next_1, true, -ETIMEDOUT },
	{ "t_next_0", do_wait_next_0, false, -ETIMEDOUT },
	{ "t_group_1", do_wait_group_1, true, -ETIMEDOUT },
	{ "t_group_0", do_wait_group_0, false, -ETIMEDOUT },
	{ "t_call", do_call, true },
	{ "t_call_release", do_call_release, true },
	{ "t_flush_1", do_flush_1, true, -ETIMEDOUT },
	{ "t_flush_0", do_flush_0, false, -ETIMEDOUT },
	{ "t_drain_1", do_drain_1, true, -ETIMEDOUT },
	{ "t_drain_0", do_drain_0, false, -ETIMEDOUT },
	{ "t_multi_submit", do_multi_submit, true },
	{ "t_multi_submit_1", do_multi_submit_1, true },
	{ "t_multi_submit_0", do_multi_submit_0 },
	{ "t_multi_flush_1", do_multi_flush_1, true, -ETIMEDOUT },
	{ "t_multi_flush_0", do_multi_flush_0, false, -ETIMEDOUT },
	{ "t_multi_release_0", do_multi_release_0, false, -ETIMEDOUT },
	{ "t_multi_release_1", do_multi_release_1, true, -ETIMEDOUT },
	{ "t_release_0", do_release_0, false, -ETIMEDOUT },
	{ "t_release_1", do_release_1, true, -ETIMEDOUT },
};

#define NR_TOUCHES	ARRAY_SIZE(touches)

/* Each mutex has a class of its own. */
static struct mutex before[NR_TOUCHES];
static struct lock_class_key before_key[NR_TOUCHES];

static void free_multi(struct kunit_resource *res)
{
	ants_multi_destroy(res->data);
}

/* Two shards, one of which has a task until the test ends. */
static struct ants_multi *make_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 20 };
	struct ants_multi *multi;

	multi = ants_multi_create(&attrs, 2, ANTS_LEAST_TASKS, "touched_multi");
	KUNIT_ASSERT_FALSE(test, IS_ERR(multi));
	kunit_alloc_resource(test, test_pool_init, free_multi, GFP_KERNEL,
			     multi);
	KUNIT_ASSERT_EQ(test, ants_multi_submit(multi, gate_task,
						test_gate(test)), 0);
	return multi;
}

static struct scene *make_scene(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4, .queue_depth = 60 };
	struct scene *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	item_init(&s->member);
	for (i = 0; i < ARRAY_SIZE(s->items); i++)
		item_init(&s->items[i]);
	s->rig = rig_make(test, "touched", attrs);
	s->pool = s->rig->pool;
	s->member.gate = &s->rig->gate;
	attrs.flags = ANTS_NONBLOCKING;
	s->nonblocking = test_pool(test, &attrs, "nonblocking");
	s->multi = make_multi(test);
	KUNIT_EXPECT_EQ(test, ants_group_init(&s->group, s->pool, 0), 0);
	KUNIT_EXPECT_EQ(test, ants_group_init(&s->other, s->nonblocking, 0), 0);
	return s;
}

static void touch(struct kunit *test, struct scene *s, int i)
{
	const struct touch *t = &touches[i];
	int result;

	mutex_init(&before[i]);
	lockdep_set_class_and_name(&before[i], &before_key[i], t->name);
	mutex_lock(&before[i]);
	result = t->call(s);
	mutex_unlock(&before[i]);
	KUNIT_EXPECT_EQ_MSG(test, result, t->result, "%s", t->name);
}

static char *read_listing(struct kunit *test)
{
	struct file *file;
	ssize_t len, nr = 0;
	loff_t pos = 0;
	char *text;

	scoped_with_init_fs()
		file = filp_open("/proc/lockdep", O_RDONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	text = vmalloc(LISTING);
	KUNIT_ASSERT_NOT_NULL(test, text);
	do {
		len = kernel_read(file, text + nr, LISTING - 1 - nr, &pos);
		nr += max_t(ssize_t, len, 0);
	} while (len > 0);
	filp_close(file, NULL);
	text[nr] = '\0';
	KUNIT_EXPECT_EQ(test, len, (ssize_t)0);
	return text;
}

/* The class of a second pool of the same name is "ants_pool#2", and so on. */
static bool is_pool(const char *line)
{
	line = strchrnul(line, ']');
	return !strncmp(line, "] ants_pool", 11) &&
	       (line[11] == '\n' || line[11] == '#');
}

/* True if a pool's class is listed right behind the class @name. */
static bool leads_to_pool(const char *text, const char *name)
{
	char head[48];
	const char *line;

	snprintf(head, sizeof(head), ": %s\n", name);
	line = strstr(text, head);
	if (!line)
		return false;
	line += strlen(head);
	while (!strncmp(line, " -> ", 4)) {
		if (is_pool(line))
			return true;
		line = strchrnul(line, '\n');
		line += !!*line;
	}
	return false;
}

/*
 * The name of the first call that does not touch the pool as it should, or
 * NULL.
 */
static const char *wrong_touch(struct kunit *test)
{
	char *text = read_listing(test);
	const char *wrong = NULL;
	int i;

	for (i = 0; i < NR_TOUCHES && !wrong; i++)
		if (leads_to_pool(text, touches[i].name) != touches[i].waits)
			wrong = touches[i].name;
	vfree(text);
	return wrong;
}

static void calls_that_may_wait_touch_the_pool(struct kunit *test)
{
	struct scene *s = make_scene(test);
	const char *wrong = NULL;
	int i;

	KUNIT_ASSERT_TRUE(test, debug_locks);
	for (i = 0; i < NR_TOUCHES; i++)
		touch(test, s, i);
	/*
	 * The listing is read in parts, and may miss a class when another one
	 * goes.
	 */
	EXPECT_SOON(test, !(wrong = wrong_touch(test)));
	KUNIT_EXPECT_STREQ(test, wrong ?: "", "");
	gate_open(&s->rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(s->pool, TEST_DEADLINE), 0);
}

/* Destroys a pool or a multi in a thread of its own. */
struct end {
	/* Held meanwhile, with a class of its own. */
	struct mutex before;
	struct lock_class_key key;
	struct ants_pool *pool;
	struct ants_multi *multi;
};

static int do_end(struct async_call *call)
{
	struct end *end = call->data;
	int err;

	mutex_lock(&end->before);
	err = end->multi ? ants_multi_destroy(end->multi) :
			   ants_pool_destroy(end->pool);
	mutex_unlock(&end->before);
	return err;
}

/* Must be polled, since the listing is read in parts; see above. */
static bool is_listed(struct kunit *test, const char *name)
{
	char *text = read_listing(test);
	bool ret = leads_to_pool(text, name);

	vfree(text);
	return ret;
}

/* The class is there while destroy waits for the task of @pool at @gate. */
static void expect_end_touches(struct kunit *test, struct rig *rig,
			       struct end *end, const char *name,
			       struct ants_pool *pool)
{
	struct async_call *call;

	mutex_init(&end->before);
	lockdep_set_class_and_name(&end->before, &end->key, name);
	KUNIT_ASSERT_EQ(test, ants_submit(pool, gate_task, &rig->gate), 0);
	call = rig_async(rig, do_end, 0, end);
	EXPECT_SOON(test, ants_is_released(pool));
	KUNIT_EXPECT_TRUE_MSG(test, WAIT_FOR(is_listed(test, name)), "%s",
			      name);
	gate_let_one(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
}

static void destroy_touches_the_pool(struct kunit *test)
{
	static struct end ends[2];
	struct ants_attrs attrs = { .capacity = 2 };
	struct rig *rig = rig_make(test, "touched", attrs);

	KUNIT_ASSERT_TRUE(test, debug_locks);
	ends[0].pool = ants_pool_create(&attrs, "touched_end");
	KUNIT_ASSERT_FALSE(test, IS_ERR(ends[0].pool));
	expect_end_touches(test, rig, &ends[0], "t_destroy", ends[0].pool);
	ends[1].multi = ants_multi_create(&attrs, 2, ANTS_LEAST_TASKS,
					  "touched_ends");
	KUNIT_ASSERT_FALSE(test, IS_ERR(ends[1].multi));
	expect_end_touches(test, rig, &ends[1], "t_multi_destroy",
			   ants_multi_shard(ends[1].multi, 1));
}

static struct kunit_case lockdep_cases[] = {
	KUNIT_CASE(calls_that_may_wait_touch_the_pool),
	KUNIT_CASE(destroy_touches_the_pool),
	{}
};

static struct kunit_suite lockdep_suite = {
	.name = "ants_lockdep",
	.init = needs_lockdep,
	.test_cases = lockdep_cases,
};

kunit_test_suite(lockdep_suite);

MODULE_DESCRIPTION("ants: KUnit tests of what lockdep is told");
MODULE_LICENSE("GPL");
