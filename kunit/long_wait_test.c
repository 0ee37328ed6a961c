// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wait of more than two minutes for tasks to end is logged, once. A short wait is
 * declared a long one. The suite registers a console to count what is logged.
 */
#include <linux/console.h>
#include <linux/module.h>
#include <linux/ratelimit.h>

#include "group.h"

#define NAME	"long_wait"

static atomic_t nr_logged = ATOMIC_INIT(0);
/* Those of a caller with a line break in its name. */
static atomic_t nr_escaped = ATOMIC_INIT(0);

static void count_logged(struct console *console, const char *text,
			 unsigned int len)
{
	if (!strnstr(text, "ants: pool " NAME ": ", len) ||
	    !strnstr(text, "has waited for more than 120 s", len))
		return;
	if (strnstr(text, NAME ": odd\\nname[", len))
		atomic_inc(&nr_escaped);
	atomic_inc(&nr_logged);
}

static struct console log_console = {
	.name = "ants",
	.write = count_logged,
	.flags = CON_ENABLED,
	.index = -1,
};

/*
 * A work item, and a group with one member, that end when the rig's gate is
 * open.
 */
struct waited {
	struct rig *rig;
	struct item item;
	struct member member;
	struct ants_group group;
};

static int do_work_flush(struct async_call *call)
{
	struct waited *w = call->data;

	return ants_work_flush(work_of(&w->item));
}

static int do_work_wait_item(struct async_call *call)
{
	struct waited *w = call->data;

	return ants_work_wait(work_of(&w->item), NULL);
}

static int do_cancel_item(struct async_call *call)
{
	struct waited *w = call->data;

	return ants_work_cancel_sync(work_of(&w->item));
}

static int do_wait_group(struct async_call *call)
{
	struct waited *w = call->data;

	return ants_group_wait(&w->group, NULL);
}

static int do_next(struct async_call *call)
{
	struct waited *w = call->data;

	return PTR_ERR_OR_ZERO(ants_group_next(&w->group, FOREVER));
}

static int pass_gate(void *gate)
{
	gate_task(gate);
	return 0;
}

static void no_release(void *unused)
{
}

static int do_call(struct async_call *call)
{
	return ants_call(call->pool, pass_gate, &call->rig->gate, FOREVER);
}

static int do_call_release(struct async_call *call)
{
	return ants_call_release(call->pool, pass_gate, &call->rig->gate,
				 FOREVER, no_release);
}

static const struct long_call {
	const char *name;
	int (*call)(struct async_call *call);
} long_calls[] = {
	{ "ants_flush()", do_flush },
	{ "ants_drain()", do_drain },
	{ "ants_release_timeout()", do_release_timeout },
	{ "ants_work_wait()", do_work_wait_item },
	{ "ants_work_flush()", do_work_flush },
	{ "ants_work_cancel_sync()", do_cancel_item },
	{ "ants_group_wait()", do_wait_group },
	{ "ants_group_next()", do_next },
	{ "ants_call()", do_call },
	{ "ants_call_release()", do_call_release },
};

static void long_call_desc(const struct long_call *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(long_call, long_calls, long_call_desc);

static struct waited *make_waited(struct kunit *test)
{
	struct waited *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	atomic_set(&nr_logged, 0);
	item_init(&w->item);
	w->rig = rig_make(test, NAME, (struct ants_attrs){ .capacity = 4 });
	item_start(w->rig, &w->item, &w->rig->gate);
	INIT_ANTS_WORK(&w->member.work, member_fn);
	w->member.gate = &w->rig->gate;
	KUNIT_ASSERT_EQ(test, ants_group_init(&w->group, w->rig->pool, 0), 0);
	KUNIT_ASSERT_EQ(test, ants_group_submit(&w->group, &w->member.work), 0);
	return w;
}

/*
 * True if the thread waits, and not in the loop after a call that has returned.
 */
static bool waits(struct async_call *call)
{
	unsigned int state = READ_ONCE(call->task->__state);

	return state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD);
}

/* Make the caller check whether it has waited for long, as after each slice. */
static void look_up(struct kunit *test, struct async_call *call)
{
	wake_up_process(call->task);
	EXPECT_SOON(test, waits(call));
	KUNIT_EXPECT_FALSE(test, async_returned(call));
}

static void each_kind_of_wait_is_logged_once(struct kunit *test)
{
	const struct long_call *c = test->param_value;
	struct waited *w = make_waited(test);
	struct async_call *call = rig_async(w->rig, c->call, FOREVER, w);

	EXPECT_SOON(test, waits(call));
	look_up(test, call);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_logged), 0);
	ants_long_wait_arm(0);
	look_up(test, call);
	EXPECT_SOON(test, atomic_read(&nr_logged) == 1);
	look_up(test, call);
	ants_long_wait_arm(ANTS_LONG_WAIT);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_logged), 1);
	gate_open(&w->rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
}

/* A task that waits for an item of its pool, which another thread runs. */
static void wait_of_a_task(void *data)
{
	struct waited *w = data;

	w->rig->posts[0].thread = current;
	w->rig->posts[0].result = ants_work_wait(work_of(&w->item), NULL);
}

static void wait_inside_the_pool_is_logged_once(struct kunit *test)
{
	struct waited *w = make_waited(test);
	struct async_call task = {};

	KUNIT_EXPECT_EQ(test, ants_submit(w->rig->pool, wait_of_a_task, w), 0);
	EXPECT_SOON(test, ants_peek(w->rig->pool->nr_joining) == 1);
	task.task = READ_ONCE(w->rig->posts[0].thread);
	EXPECT_SOON(test, waits(&task));
	ants_long_wait_arm(0);
	wake_up_process(task.task);
	EXPECT_SOON(test, atomic_read(&nr_logged) == 1);
	EXPECT_SOON(test, waits(&task));
	wake_up_process(task.task);
	EXPECT_SOON(test, waits(&task));
	ants_long_wait_arm(ANTS_LONG_WAIT);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_logged), 1);
	gate_open(&w->rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush(w->rig->pool), 0);
	KUNIT_EXPECT_EQ(test, w->rig->posts[0].result, 0);
}

/* @nr callers wait for the item. */
static struct waited *make_waiting(struct kunit *test, unsigned int nr)
{
	struct waited *w = make_waited(test);
	struct async_call *call;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		call = rig_async(w->rig, do_work_wait_item, 0, w);
		EXPECT_SOON(test, waits(call));
	}
	return w;
}

/* Each of them checks whether it has waited for long; then all waits end. */
static void look_up_all(struct kunit *test, struct waited *w)
{
	unsigned int i;

	ants_long_wait_arm(0);
	for (i = 0; i < w->rig->nr_calls; i++)
		look_up(test, &w->rig->calls[i]);
	ants_long_wait_arm(ANTS_LONG_WAIT);
	gate_open(&w->rig->gate);
	expect_results(w->rig, 0, 0);
}

/* A program that makes many callers wait does not fill the log. */
static void flood_of_long_waits_is_cut_off(struct kunit *test)
{
	struct waited *w = make_waiting(test, 5);

	ratelimit_state_init(&ants_long_wait_limit, 3600 * HZ, 2);
	look_up_all(test, w);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_logged), 2);
}

/* A program can give itself any name, but not a line of the log. */
static void name_of_a_caller_is_escaped(struct kunit *test)
{
	struct waited *w = make_waiting(test, 1);

	strscpy(w->rig->calls[0].task->comm, "odd\nname", TASK_COMM_LEN);
	look_up_all(test, w);
	EXPECT_SOON(test, atomic_read(&nr_logged) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_escaped), 1);
}

/* All waits are logged, but where a case says otherwise. */
static void limit_nothing(void)
{
	ratelimit_state_init(&ants_long_wait_limit, 0, 0);
}

static void long_wait_end(struct kunit *test)
{
	ants_long_wait_arm(ANTS_LONG_WAIT);
	limit_nothing();
}

static int long_wait_init(struct kunit_suite *suite)
{
	limit_nothing();
	register_console(&log_console);
	return 0;
}

static void long_wait_exit(struct kunit_suite *suite)
{
	unregister_console(&log_console);
	ratelimit_state_init(&ants_long_wait_limit, DEFAULT_RATELIMIT_INTERVAL,
			     DEFAULT_RATELIMIT_BURST);
}

static struct kunit_case long_wait_cases[] = {
	KUNIT_CASE_PARAM(each_kind_of_wait_is_logged_once,
			 long_call_gen_params),
	KUNIT_CASE(wait_inside_the_pool_is_logged_once),
	KUNIT_CASE(flood_of_long_waits_is_cut_off),
	KUNIT_CASE(name_of_a_caller_is_escaped),
	{}
};

static struct kunit_suite long_wait_suite = {
	.name = "ants_long_wait",
	.suite_init = long_wait_init,
	.suite_exit = long_wait_exit,
	.exit = long_wait_end,
	.test_cases = long_wait_cases,
};

kunit_test_suite(long_wait_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the log of long waits");
MODULE_LICENSE("GPL");
