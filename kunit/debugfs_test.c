// SPDX-License-Identifier: GPL-2.0-only
/*
 * What debugfs shows of a pool: its workers, waiters and pending tasks by the
 * client's functions; and the walks over these lists while others change them.
 */
#include <linux/module.h>

#include "show.h"

#define NAME	"shown"
/* More than two holds see. */
#define NR_LONG	(2 * ANTS_HOLD_MAX + 3)

static void workers_say_what_they_run(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 2 });
	const char *text = shown(test, rig->pool, ANTS_WORKERS);

	KUNIT_EXPECT_EQ(test, nr_lines(text), 1);
	expect_in(test, line_of(text, 0), "runs");
	seldom_late();
	post_start(rig, 0);
	post_start(rig, 1);
	gate_open(&rig->posts[1].gate);
	ASSERT_SOON(test, ants_nr_idle(rig->pool) == 1);
	text = shown(test, rig->pool, ANTS_WORKERS);
	KUNIT_EXPECT_EQ(test, nr_lines(text), 3);
	expect_in(test, line_of(text, 1), "busy");
	expect_in(test, line_of(text, 1), "  post_task" IN_SUITE);
	expect_in(test, line_of(text, 2), "idle");
	expect_in(test, line_of(text, 2), "  -");
	KUNIT_EXPECT_PTR_EQ(test, strstr(line_of(text, 2), "post_task"), NULL);
}

/* The pid is that of the thread. */
static void workers_are_known_by_their_pids(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	char pid[16];

	post_start(rig, 0);
	scnprintf(pid, sizeof(pid), "%7d ",
		  task_pid_nr(rig->posts[0].thread));
	expect_in(test, line_of(shown(test, rig->pool, ANTS_WORKERS), 1),
		  pid);
}

static int do_submit_high(struct async_call *call)
{
	return ants_submit_prio(call->pool, count_task, &call->rig->count,
				ANTS_PRIO_HIGH, MAX_SCHEDULE_TIMEOUT);
}

static void waiters_come_in_their_order(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	const char *text;

	start_waiters(rig, 1);
	rig_async(rig, do_submit_high, 0, NULL);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 2);
	text = shown(test, rig->pool, ANTS_WAITERS);
	KUNIT_EXPECT_EQ(test, nr_lines(text), 3);
	expect_in(test, line_of(text, 1), "high");
	expect_in(test, line_of(text, 1), "  count_task" IN_SUITE);
	expect_in(test, line_of(text, 1), "  (caller)");
	expect_in(test, line_of(text, 2), "normal");
	expect_in(test, line_of(text, 2), "  gate_task" IN_SUITE);
}

static int wait_for_room(struct async_call *call)
{
	return ants_queue_work_timeout(call->pool, call->data, FOREVER);
}

static void waiter_with_an_item_is_named_after_it(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });

	rig_async(rig, wait_for_room, 0, work_of(item));
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	expect_in(test, line_of(shown(test, rig->pool, ANTS_WAITERS), 1),
		  "  item_fn" IN_SUITE);
}

static void pending_tasks_come_in_their_order(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 3 });
	const char *text;

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	KUNIT_ASSERT_EQ(test, ants_submit_prio(rig->pool, gate_task,
					       &rig->gate, ANTS_PRIO_HIGH, 0),
			0);
	text = shown(test, rig->pool, ANTS_PENDING);
	KUNIT_EXPECT_EQ(test, nr_lines(text), 4);
	expect_in(test, line_of(text, 1), "high");
	expect_in(test, line_of(text, 1), "  gate_task" IN_SUITE);
	expect_in(test, line_of(text, 2), "normal");
	expect_in(test, line_of(text, 2), "  count_task" IN_SUITE);
	expect_in(test, line_of(text, 3), "  item_fn" IN_SUITE);
}

static int do_call(struct async_call *call)
{
	return ants_call(call->pool, call_arg_fn, call->data, FOREVER);
}

static int do_call_release(struct async_call *call)
{
	return ants_call_release(call->pool, call_arg_fn, call->data, FOREVER,
				 call_arg_release);
}

/* One of them runs, and another one is pending. */
static void expect_call_named(struct kunit *test,
			      int (*fn)(struct async_call *call))
{
	struct call_arg *arg = call_arg_make(test);
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });

	arg->gate = &rig->gate;
	rig_async(rig, fn, 0, arg);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	rig_async(rig, fn, 0, arg);
	ASSERT_SOON(test, ants_nr_pending(rig->pool) == 1);
	expect_in(test, line_of(shown(test, rig->pool, ANTS_WORKERS), 1),
		  "  call_arg_fn" IN_SUITE);
	expect_in(test, line_of(shown(test, rig->pool, ANTS_PENDING), 1),
		  "  call_arg_fn" IN_SUITE);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
}

static void call_has_the_name_of_its_function(struct kunit *test)
{
	expect_call_named(test, do_call);
}

static void call_that_may_be_left_has_it_as_well(struct kunit *test)
{
	expect_call_named(test, do_call_release);
}

static int each_gate(unsigned long nr, void *ctx)
{
	gate_task(ctx);
	return 0;
}

static int do_each(struct async_call *call)
{
	return ants_for_each(call->pool, 2, each_gate, &call->rig->gate);
}

static void loop_has_the_name_of_its_function(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	rig_async(rig, do_each, 0, NULL);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 2);
	expect_in(test, line_of(shown(test, rig->pool, ANTS_WORKERS), 1),
		  "  each_gate" IN_SUITE);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
}

static struct item *inner;

static void waiting_task(void *data)
{
	struct rig *rig = data;

	ants_queue_work(rig->pool, work_of(inner));
	rig->posts[0].result = ants_work_wait(work_of(inner), NULL);
}

/* The waiting task runs the item itself: there is no other thread. */
static void item_inside_a_task_is_shown_behind_it(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });

	inner = item;
	item->gate = &rig->gate;
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, waiting_task, rig), 0);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	expect_in(test, line_of(shown(test, rig->pool, ANTS_WORKERS), 1),
		  "  waiting_task" IN_SUITE " > item_fn" IN_SUITE);
	gate_open(&rig->gate);
	EXPECT_SOON(test, settled(rig->pool));
}

/* It is in no pool any more, and its function may have freed it. */
static void detached_item_is_named_while_it_runs(struct kunit *test)
{
	struct item *item = items_alloc(test, 1);
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	INIT_ANTS_WORK_DETACHED(work_of(item), item_fn);
	item->gate = &rig->gate;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	expect_in(test, line_of(shown(test, rig->pool, ANTS_WORKERS), 1),
		  "  item_fn" IN_SUITE);
	gate_open(&rig->gate);
	EXPECT_SOON(test, settled(rig->pool));
}

/* As long as tasks keep it from going. */
static void pool_is_shown_while_it_is_destroyed(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = 1 });
	struct ants_pool *pool = rig->pool;
	struct async_call *destroy;

	KUNIT_ASSERT_EQ(test, ants_submit(pool, count_task, &rig->count), 0);
	destroy = rig_async(rig, do_destroy, 0, NULL);
	rig->pool = NULL;
	ASSERT_SOON(test, ants_is_released(pool));
	expect_blocked(test, destroy);
	expect_in(test, line_of(shown(test, pool, ANTS_WORKERS), 1),
		  "  gate_task" IN_SUITE);
	expect_in(test, line_of(shown(test, pool, ANTS_PENDING), 1),
		  "  count_task" IN_SUITE);
	expect_in(test, shown(test, NULL, ANTS_SUMMARY), "draining");
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_PTR_EQ(test, strstr(shown(test, NULL, ANTS_SUMMARY),
					 NAME " "), NULL);
}

static void every_pool_has_a_line_in_the_summary(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 4 };
	struct ants_multi *multi;
	const char *text;
	int n;

	rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });
	multi = ants_multi_create(&attrs, 2, ANTS_ROUND_ROBIN, "parts");
	text = shown(test, NULL, ANTS_SUMMARY);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
	expect_in(test, line_of(text, 0), "capacity");
	expect_in(test, text, "\nsystem ");
	expect_in(test, text, "\nparts/0 ");
	expect_in(test, text, "\nparts/1 ");
	for (n = 0; !strstarts(line_of(text, n), NAME " "); n++)
		KUNIT_ASSERT_LT(test, n, 100);
	expect_in(test, line_of(text, n), "open             1       1     0     1");
}

/* The head is there once, and each row says which pool it is about. */
static void rows_name_their_pool(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .min_workers = 2 };
	struct ants_multi *multi;
	const char *text;

	rig_make_full(test, NAME, (struct ants_attrs){ .capacity = 1 });
	multi = ants_multi_create(&attrs, 2, ANTS_ROUND_ROBIN, "parts");
	text = shown(test, NULL, ANTS_WORKERS);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
	KUNIT_EXPECT_TRUE(test, strstarts(text, "pool                          pid"));
	KUNIT_EXPECT_PTR_EQ(test, strstr(text, "\npool "), NULL);
	expect_in(test, text, "\n" NAME " ");
	expect_in(test, text, "\nparts/0 ");
	expect_in(test, text, "\nparts/1 ");
}

/* What does not fit into the buffer is asked for again, with a larger one. */
static void full_buffer_ends_a_walk(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = NR_LONG });
	int i;

	for (i = 0; i < NR_LONG; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	KUNIT_EXPECT_LT(test, strlen(shown_in(test, rig->pool,
					      ANTS_PENDING, 256)), 257UL);
	KUNIT_EXPECT_EQ(test, nr_lines(shown(test, rig->pool,
					     ANTS_PENDING)), NR_LONG + 1);
}

static void long_list_is_cut_off(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
			.capacity = 1, .queue_depth = ANTS_DEBUGFS_MOST + 5 });
	const char *text;
	unsigned int i;

	for (i = 0; i < ANTS_DEBUGFS_MOST + 5; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	text = shown(test, rig->pool, ANTS_PENDING);
	KUNIT_EXPECT_EQ(test, nr_lines(text), ANTS_DEBUGFS_MOST + 2);
	text = line_of(text, ANTS_DEBUGFS_MOST + 1);
	KUNIT_EXPECT_TRUE(test, strstarts(text, NAME " "));
	expect_in(test, text, "  ... and 5 more");
}

/* A reader in a thread of its own, and what it read. */
struct reader {
	unsigned int table;
	char *text;
};

static int do_read(struct async_call *call)
{
	struct reader *reader = call->data;

	show(call->pool, reader->table, reader->text, SHOW_SIZE);
	return 0;
}

/* A reader that stands still when it has seen the entries of one lock hold. */
static struct async_call *read_first(struct rig *rig, struct reader *reader,
				     unsigned int table)
{
	struct async_call *call;

	reader->table = table;
	reader->text = kunit_kzalloc(rig->test, SHOW_SIZE + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(rig->test, reader->text);
	hold(rig, ANTS_PAUSE_WALK);
	call = rig_async(rig, do_read, 0, reader);
	held(rig, ANTS_PAUSE_WALK);
	return call;
}

/* It goes on, and has read so many lines in all. */
static void read_rest(struct rig *rig, struct async_call *call,
		      const struct reader *reader, unsigned int lines)
{
	let_go(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(rig->test, async_result(call), 0);
	KUNIT_EXPECT_EQ(rig->test, nr_lines(reader->text), lines);
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->pick.nr_cursors), 0U);
}

static struct rig *rig_pending(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
				.capacity = 1, .queue_depth = NR_LONG });
	int i;

	for (i = 0; i < NR_LONG; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	return rig;
}

/* The next one to be seen is among them. */
static void pending_tasks_start_under_a_reader(struct kunit *test)
{
	struct rig *rig = rig_pending(test);
	struct reader reader;
	struct async_call *call = read_first(rig, &reader, ANTS_PENDING);

	gate_open(&rig->gate);
	EXPECT_SOON(test, atomic_read(&rig->count) == NR_LONG);
	read_rest(rig, call, &reader, 1 + ANTS_HOLD_MAX);
}

static void pending_tasks_are_cancelled_under_a_reader(struct kunit *test)
{
	struct rig *rig = rig_pending(test);
	struct reader reader;
	struct async_call *call = read_first(rig, &reader, ANTS_PENDING);

	KUNIT_EXPECT_EQ(test, ants_cancel_pending(rig->pool, NULL, NULL),
			NR_LONG);
	read_rest(rig, call, &reader, 1 + ANTS_HOLD_MAX);
	gate_open(&rig->gate);
}

/* Those that stay are all seen. */
static void waiters_leave_under_a_reader(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct reader reader;
	struct async_call *call;
	int i;

	start_waiters(rig, NR_LONG);
	call = read_first(rig, &reader, ANTS_WAITERS);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, async_stop(&rig->calls[ANTS_HOLD_MAX + i]),
				-EINTR);
	read_rest(rig, call, &reader, 1 + NR_LONG - 3);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
}

static void all_waiters_leave_under_a_reader(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct reader reader;
	struct async_call *call;

	start_waiters(rig, NR_LONG);
	call = read_first(rig, &reader, ANTS_WAITERS);
	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	EXPECT_SOON(test, !ants_nr_waiting(rig->pool));
	read_rest(rig, call, &reader, 1 + ANTS_HOLD_MAX);
}

static void workers_leave_under_a_reader(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = NR_LONG });
	struct reader reader;
	struct async_call *call;

	park(rig, 0, NR_LONG);
	call = read_first(rig, &reader, ANTS_WORKERS);
	expire(rig->pool, NR_LONG);
	EXPECT_SOON(test, !ants_nr_running(rig->pool));
	read_rest(rig, call, &reader, 1 + ANTS_HOLD_MAX);
}

/* Whoever reads holds the lock of the registry. */
static void readers_take_turns(struct kunit *test)
{
	struct rig *rig = rig_pending(test);
	struct reader first, second = { .table = ANTS_WORKERS };
	struct async_call *call = read_first(rig, &first, ANTS_PENDING), *other;

	second.text = kunit_kzalloc(test, SHOW_SIZE + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, second.text);
	other = rig_async(rig, do_read, 0, &second);
	expect_blocked(test, other);
	read_rest(rig, call, &first, 1 + NR_LONG);
	KUNIT_EXPECT_EQ(test, async_result(other), 0);
	KUNIT_EXPECT_EQ(test, nr_lines(second.text), 2);
	gate_open(&rig->gate);
}

/* It is destroyed meanwhile, and nothing but the reader keeps it. */
static void pool_stays_until_its_reader_is_done(struct kunit *test)
{
	struct rig *rig = rig_pending(test);
	struct ants_pool *pool = rig->pool;
	struct async_call *call, *destroy;
	struct reader reader;

	call = read_first(rig, &reader, ANTS_PENDING);
	gate_open(&rig->gate);
	destroy = rig_async(rig, do_destroy, 0, NULL);
	rig->pool = NULL;
	ASSERT_SOON(test, !pool->kobj.state_in_sysfs);
	expect_blocked(test, destroy);
	let_go(rig, ANTS_PAUSE_WALK);
	KUNIT_EXPECT_EQ(test, async_result(call), 0);
	KUNIT_EXPECT_EQ(test, async_result(destroy), 0);
	KUNIT_EXPECT_EQ(test, nr_lines(reader.text), 1 + ANTS_HOLD_MAX);
}

static struct kunit_case debugfs_cases[] = {
	KUNIT_CASE(workers_say_what_they_run),
	KUNIT_CASE(workers_are_known_by_their_pids),
	KUNIT_CASE(waiters_come_in_their_order),
	KUNIT_CASE(waiter_with_an_item_is_named_after_it),
	KUNIT_CASE(pending_tasks_come_in_their_order),
	KUNIT_CASE(call_has_the_name_of_its_function),
	KUNIT_CASE(call_that_may_be_left_has_it_as_well),
	KUNIT_CASE(loop_has_the_name_of_its_function),
	KUNIT_CASE(item_inside_a_task_is_shown_behind_it),
	KUNIT_CASE(detached_item_is_named_while_it_runs),
	KUNIT_CASE(pool_is_shown_while_it_is_destroyed),
	KUNIT_CASE(every_pool_has_a_line_in_the_summary),
	KUNIT_CASE(rows_name_their_pool),
	KUNIT_CASE(full_buffer_ends_a_walk),
	KUNIT_CASE(long_list_is_cut_off),
	KUNIT_CASE(pending_tasks_start_under_a_reader),
	KUNIT_CASE(pending_tasks_are_cancelled_under_a_reader),
	KUNIT_CASE(waiters_leave_under_a_reader),
	KUNIT_CASE(all_waiters_leave_under_a_reader),
	KUNIT_CASE(workers_leave_under_a_reader),
	KUNIT_CASE(readers_take_turns),
	KUNIT_CASE(pool_stays_until_its_reader_is_done),
	{}
};

static struct kunit_suite debugfs_suite = {
	.name = "ants_debugfs",
	.test_cases = debugfs_cases,
};

kunit_test_suite(debugfs_suite);

MODULE_DESCRIPTION("ants: KUnit tests of what debugfs shows");
MODULE_LICENSE("GPL");
