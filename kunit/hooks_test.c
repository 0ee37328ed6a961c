// SPDX-License-Identifier: GPL-2.0-only
/* worker_init() and worker_exit(), which a client has called in each thread. */
#include "async.h"

#define MARK	0x616e7473

/* What worker_init() makes for each thread, and the tasks find. */
struct mine {
	unsigned int mark;
	struct task_struct *thread;
	int tasks;
};

static struct ants_pool *seen_pool;
static atomic_t nr_init, nr_exit, nr_wrong, fails, ran;

static void *make_mine(struct ants_pool *pool)
{
	struct mine *mine;

	if (atomic_dec_if_positive(&fails) >= 0)
		return ERR_PTR(-EIO);
	mine = kzalloc(sizeof(*mine), GFP_KERNEL);
	if (!mine)
		return ERR_PTR(-ENOMEM);
	mine->mark = MARK;
	mine->thread = current;
	seen_pool = pool;
	atomic_inc(&nr_init);
	return mine;
}

static void free_mine(struct ants_pool *pool, void *data)
{
	struct mine *mine = data;

	if (mine->mark != MARK || mine->thread != current)
		atomic_inc(&nr_wrong);
	mine->mark = 0;
	atomic_inc(&nr_exit);
	kfree(mine);
}

static void use_mine(void *data)
{
	struct mine *mine = ants_worker_data(data);

	if (!mine || mine->mark != MARK || mine->thread != current)
		atomic_inc(&nr_wrong);
	else
		mine->tasks++;
	atomic_inc(&ran);
}

static int hooks_init(struct kunit *test)
{
	atomic_set(&nr_init, 0);
	atomic_set(&nr_exit, 0);
	atomic_set(&nr_wrong, 0);
	atomic_set(&fails, 0);
	atomic_set(&ran, 0);
	return 0;
}

static const struct ants_attrs hooked = {
	.capacity = 4, .expiry = HZ / 50,
	.worker_init = make_mine, .worker_exit = free_mine,
};

static void submit_some(struct kunit *test, struct ants_pool *pool, int nr)
{
	while (nr--)
		KUNIT_ASSERT_EQ(test, ants_submit(pool, use_mine, pool), 0);
}

static void task_finds_the_data_of_its_thread(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "hooked");

	submit_some(test, pool, 200);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_wrong), 0);
	KUNIT_EXPECT_PTR_EQ(test, seen_pool, pool);
	/* A thread that was too late for a task may still be on its way. */
	EXPECT_SOON(test, atomic_read(&nr_init) == stats_of(pool).spawned);
}

static void each_thread_that_expires_says_so(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "expires");

	submit_some(test, pool, 20);
	EXPECT_SOON(test, !ants_nr_running(pool));
	EXPECT_SOON(test, atomic_read(&nr_exit) == atomic_read(&nr_init));
	KUNIT_EXPECT_GE(test, atomic_read(&nr_init), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_wrong), 0);
}

static void release_waits_for_the_last_exit(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "release");

	submit_some(test, pool, 20);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&ran), 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_exit), atomic_read(&nr_init));
}

static void *wait_at_gate(struct ants_pool *pool)
{
	gate_task(ants_pool_private(pool));
	return NULL;
}

/* No thread waits for another one to be initialised. */
static void threads_get_ready_side_by_side(struct kunit *test)
{
	struct gate *gate = test_gate(test);
	struct ants_attrs attrs = {
		.capacity = 4, .worker_init = wait_at_gate, .private = gate,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "ready");
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &ran), 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 4);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->workers.nr_starting), 0U);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
}

static void tune_up_makes_data_for_the_new(struct kunit *test)
{
	struct ants_attrs attrs = hooked;
	struct ants_pool *pool;

	attrs.flags = ANTS_PREALLOC;
	pool = test_pool(test, &attrs, "grows");
	EXPECT_SOON(test, atomic_read(&nr_init) == 4);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 6), 0);
	EXPECT_SOON(test, atomic_read(&nr_init) == 6);
	KUNIT_EXPECT_EQ(test, ants_tune(pool, 1), 0);
	EXPECT_SOON(test, atomic_read(&nr_exit) == 5);
}

/*
 * No task runs without its thread's data; the pool tries again, and no task is
 * lost.
 */
static void failing_init_is_tried_again(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "fails");

	atomic_set(&fails, 3);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, use_mine, pool), 0);
	EXPECT_SOON(test, atomic_read(&ran) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_wrong), 0);
	KUNIT_EXPECT_LE(test, atomic_read(&fails), 0);
}

/*
 * A thread whose initialisation keeps failing is not made a hundred times a
 * second.
 */
static void failing_init_backs_off(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "backs_off");

	atomic_set(&fails, INT_MAX);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, use_mine, pool), 0);
	EXPECT_SOON(test, ants_peek(pool->upkeep.backoff) >= 8 * ANTS_BACKOFF_MIN);
	atomic_set(&fails, 0);
	EXPECT_SOON(test, atomic_read(&ran) == 1);
	KUNIT_EXPECT_EQ(test, ants_peek(pool->upkeep.backoff), 0UL);
}

static atomic_t tries;
static unsigned long last_backoff;

/* The first four threads fail at the same time. The next one ends the pause. */
static void *fail_side_by_side(struct ants_pool *pool)
{
	unsigned long end = jiffies + TEST_DEADLINE;
	int try = atomic_inc_return(&tries);

	if (try == 5)
		WRITE_ONCE(last_backoff, ants_peek(pool->upkeep.backoff));
	if (try > 4)
		return NULL;
	while (atomic_read(&tries) < 4 && time_before(jiffies, end))
		usleep_range(100, 200);
	return ERR_PTR(-EIO);
}

/*
 * Failures at the same time cause one pause. Now and then they may be further
 * apart, but not always.
 */
static void failures_side_by_side_are_one_try(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4, .worker_init = fail_side_by_side,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "one_try");
	int i, n;

	for (i = 0; i < 100; i++) {
		atomic_set(&tries, 0);
		for (n = 0; n < 4; n++)
			KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task,
							  &ran), 0);
		KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE),
				0);
		if (last_backoff == ANTS_BACKOFF_MIN)
			break;
		KUNIT_EXPECT_EQ(test, ants_reboot(pool), 0);
	}
	KUNIT_EXPECT_EQ(test, last_backoff, ANTS_BACKOFF_MIN);
}

static void flush_waits_for_a_thread_with_data(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "flush");

	atomic_set(&fails, 2);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, use_mine, pool), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&ran), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_wrong), 0);
}

/* A thread that failed has no data, and worker_exit() is not called. */
static void failed_thread_has_no_exit(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "noexit");

	atomic_set(&fails, 1);
	submit_some(test, pool, 1);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_exit), atomic_read(&nr_init));
	KUNIT_EXPECT_EQ(test, atomic_read(&ran), 1);
}

/* What a task found out about two pools, one of which has worker_init(). */
struct view {
	struct ants_pool *pool;
	struct ants_pool *other;
	void *data;
	void *other_data;
	bool inside;
	bool other_inside;
	struct ants_pool *current_pool;
};

static void look(void *data)
{
	struct view *view = data;

	view->data = ants_worker_data(view->pool);
	view->other_data = ants_worker_data(view->other);
	view->inside = ants_in_pool(view->pool);
	view->other_inside = ants_in_pool(view->other);
	view->current_pool = ants_current_pool();
}

static void no_hooks_no_data(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "none");
	struct view view = { .pool = pool, .other = ants_system_pool };

	view.data = &view;
	KUNIT_EXPECT_EQ(test, ants_submit(pool, look, &view), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_NULL(test, view.data);
	KUNIT_EXPECT_NULL(test, ants_worker_data(pool));
}

/* The data of one pool is never taken for that of another one. */
static void task_has_no_data_of_another_pool(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "mine");
	struct view view = {
		.pool = pool, .other = test_pool(test, &hooked, "others"),
	};

	view.other_data = &view;
	KUNIT_EXPECT_EQ(test, ants_submit(pool, look, &view), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_NOT_NULL(test, view.data);
	KUNIT_EXPECT_NULL(test, view.other_data);
}

/* A loop in @other whose caller, a task of @pool, runs all numbers. */
static int look_each(unsigned long i, void *ctx)
{
	look(ctx);
	return 0;
}

static void loop_in_the_other(void *data)
{
	struct view *view = data;

	ants_for_each(view->other, 1, look_each, view);
}

static void caller_of_a_loop_has_no_data_of_the_pool(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, &hooked, "outer");
	struct view view = {
		.pool = pool, .other = test_pool(test, &hooked, "loop"),
	};

	view.other_data = &view;
	KUNIT_EXPECT_EQ(test, ants_submit(pool, loop_in_the_other, &view), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_NOT_NULL(test, view.data);
	KUNIT_EXPECT_NULL(test, view.other_data);
	KUNIT_EXPECT_TRUE(test, view.inside);
	KUNIT_EXPECT_FALSE(test, view.other_inside);
}

static void task_knows_its_pool(struct kunit *test)
{
	struct ants_pool *pool = test_pool(test, NULL, "inside");
	struct view view = { .pool = pool, .other = ants_system_pool };

	look(&view);
	KUNIT_EXPECT_FALSE(test, view.inside);
	KUNIT_EXPECT_FALSE(test, view.other_inside);
	KUNIT_EXPECT_NULL(test, view.current_pool);
	KUNIT_EXPECT_EQ(test, ants_submit(pool, look, &view), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_TRUE(test, view.inside);
	KUNIT_EXPECT_FALSE(test, view.other_inside);
	KUNIT_EXPECT_PTR_EQ(test, view.current_pool, pool);
}

static void private_is_what_it_was(struct kunit *test)
{
	struct ants_attrs attrs = { .private = test };

	KUNIT_EXPECT_PTR_EQ(test, ants_pool_private(test_pool(test, &attrs,
							      "private")),
			    (void *)test);
}

static struct kunit_case hooks_cases[] = {
	KUNIT_CASE(task_finds_the_data_of_its_thread),
	KUNIT_CASE(each_thread_that_expires_says_so),
	KUNIT_CASE(release_waits_for_the_last_exit),
	KUNIT_CASE(threads_get_ready_side_by_side),
	KUNIT_CASE(tune_up_makes_data_for_the_new),
	KUNIT_CASE(failing_init_is_tried_again),
	KUNIT_CASE(failing_init_backs_off),
	KUNIT_CASE(failures_side_by_side_are_one_try),
	KUNIT_CASE(flush_waits_for_a_thread_with_data),
	KUNIT_CASE(failed_thread_has_no_exit),
	KUNIT_CASE(no_hooks_no_data),
	KUNIT_CASE(task_has_no_data_of_another_pool),
	KUNIT_CASE(caller_of_a_loop_has_no_data_of_the_pool),
	KUNIT_CASE(task_knows_its_pool),
	KUNIT_CASE(private_is_what_it_was),
	{}
};

static struct kunit_suite hooks_suite = {
	.name = "ants_hooks",
	.init = hooks_init,
	.test_cases = hooks_cases,
};

kunit_test_suite(hooks_suite);

MODULE_DESCRIPTION("ants: KUnit tests of the functions around each thread");
MODULE_LICENSE("GPL");
