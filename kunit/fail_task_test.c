// SPDX-License-Identifier: GPL-2.0-only
/* Tasks, calls, loops and work items without memory. */
#include <linux/module.h>

#include "call.h"
#include "fail.h"

#define NAME	"fail"
/* Leave the stock alone. */
#define ALL	UINT_MAX

/* A way to submit, to a pool with @left slots, and its error. */
struct form {
	const char *name;
	int (*submit)(struct ants_pool *pool, struct gate *gate);
	unsigned int left;
	int err;
	unsigned int nr;
};

static int submit(struct ants_pool *pool, struct gate *gate)
{
	return ants_submit(pool, gate_task, gate);
}

static int submit_timeout(struct ants_pool *pool, struct gate *gate)
{
	return ants_submit_timeout(pool, gate_task, gate, 0);
}

static int submit_high(struct ants_pool *pool, struct gate *gate)
{
	return ants_submit_prio(pool, gate_task, gate, ANTS_PRIO_HIGH, 0);
}

static int submit_batch(struct ants_pool *pool, struct gate *gate)
{
	const struct ants_task tasks[] = {
		{ gate_task, gate },
		{ gate_task, gate, ANTS_PRIO_HIGH },
		{ gate_task, gate },
	};
	int ret = ants_submit_batch(pool, tasks, ARRAY_SIZE(tasks));

	return ret < 0 ? ret : ret - (int)ARRAY_SIZE(tasks);
}

static int invoke(struct ants_pool *pool, struct gate *gate)
{
	return ants_invoke(pool, gate);
}

static int invoke_timeout(struct ants_pool *pool, struct gate *gate)
{
	return ants_invoke_timeout(pool, gate, 0);
}

static int try_submit(struct ants_pool *pool, struct gate *gate)
{
	return ants_try_submit(pool, gate_task, gate) ?:
	       ants_try_invoke(pool, gate);
}

static const struct form forms[] = {
	{ "ants_submit", submit, 0, -ENOMEM, 1 },
	{ "ants_submit, some slots left", submit, 4, 0, 1 },
	{ "ants_submit_timeout", submit_timeout, 0, -ETIMEDOUT, 1 },
	{ "ants_submit_prio", submit_high, 0, -ETIMEDOUT, 1 },
	{ "ants_submit_batch", submit_batch, 0, -ENOMEM, 3 },
	{ "ants_invoke", invoke, 0, -ENOMEM, 1 },
	{ "ants_invoke_timeout", invoke_timeout, 0, -ETIMEDOUT, 1 },
	{ "ants_try_submit, ants_try_invoke", try_submit, ALL, 0, 2 },
};

static void form_name(const struct form *form, char *desc)
{
	strscpy(desc, form->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(form, forms, form_name);

/* Submits to a pool whose only thread is at a gate. */
struct submits {
	const struct form *form;
	struct ants_pool *pool;
	struct gate *gate;
	struct hidden hidden;
	struct ants_stats stats;
	int accepted;
};

static void take_stock(struct kunit *test, void *ctx)
{
	struct submits *s = ctx;

	/* It may not be queued any more, and still fill the stock. */
	flush_work(&s->pool->upkeep.work);
	s->stats = stats_of(s->pool);
	hide_stock(&s->hidden, s->pool, s->form->left);
}

static int call_submit(void *ctx)
{
	struct submits *s = ctx;

	return s->form->submit(s->pool, s->gate);
}

/* The refusal counts as rejected, and nothing else has changed. */
static void is_rejected(struct kunit *test, void *ctx)
{
	struct submits *s = ctx;
	struct ants_stats now = stats_of(s->pool);

	give_back(&s->hidden);
	s->stats.rejected++;
	KUNIT_EXPECT_EQ(test, memcmp(&now, &s->stats, sizeof(now)), 0);
}

static void is_pending(struct kunit *test, void *ctx)
{
	struct submits *s = ctx;

	give_back(&s->hidden);
	s->accepted += s->form->nr;
	KUNIT_EXPECT_EQ(test, ants_nr_pending(s->pool),
			s->stats.pending + s->form->nr);
}

static void submits(struct kunit *test)
{
	const struct ants_attrs attrs = {
		.capacity = 1, .queue_depth = 400, .flags = ANTS_NONBLOCKING,
	};
	struct submits s = { .form = test->param_value };
	struct fail_loop loop = {
		.name = s.form->name, .call = call_submit,
		.before = take_stock, .refused = is_rejected,
		.done = is_pending, .err = s.form->err, .ctx = &s,
	};

	s.pool = test_func_pool(test, &attrs, gate_task, NAME);
	s.gate = test_gate(test);
	fill_pool(test, s.pool, s.gate, 1);
	/* The upkeep work has made the worker, and then fills the stock. */
	ASSERT_SOON(test, !ants_peek(s.pool->upkeep.queued));
	fail_each(test, &loop);
	gate_open(s.gate);
	KUNIT_EXPECT_EQ(test, ants_flush(s.pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s.gate->passed), 1 + s.accepted);
}

/* Calls to start, in a pool at whose gate they wait. */

static int do_submit(struct async_call *call)
{
	return submit(call->pool, call->gate);
}

static int do_submit_batch(struct async_call *call)
{
	return submit_batch(call->pool, call->gate);
}

static struct async_call *start_at(struct kunit *test, struct ants_pool *pool,
				   int (*fn)(struct async_call *call),
				   struct gate *gate)
{
	struct async_call *call = async_alloc(test, fn);

	call->pool = pool;
	call->gate = gate;
	return async_begin(test, call);
}

/*
 * Nothing could tell that the caller runs a task, which could then run another one
 * inside itself. So the caller waits.
 */
static void callers_that_could_run_it(struct kunit *test)
{
	const struct ants_attrs attrs = {
		.capacity = 1, .flags = ANTS_CALLER_RUNS,
	};
	struct ants_pool *pool = test_pool(test, &attrs, NAME);
	struct gate *gate = test_gate(test);
	struct async_call *one, *batch;

	fill_pool(test, pool, gate, 1);
	ants_fail_arm(ANTS_FAIL_INLINE, -1);
	one = start_at(test, pool, do_submit, gate);
	batch = start_at(test, pool, do_submit_batch, gate);
	EXPECT_SOON(test, ants_nr_waiting(pool) == 2);
	gate_open(gate);
	expect_result(test, one, 0);
	expect_result(test, batch, 0);
	ants_fail_arm(ANTS_FAIL_INLINE, 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 5);
	KUNIT_EXPECT_EQ(test, stats_of(pool).caller_runs, 0ULL);
}

static struct ants_pool *small_pool(struct kunit *test)
{
	const struct ants_attrs attrs = {
		.capacity = 4, .min_workers = 2, .flags = ANTS_NO_PURGE,
	};

	return test_pool(test, &attrs, NAME);
}

/* A call, and its argument. */
struct giving {
	struct ants_pool *pool;
	struct call_arg *call_arg;
	int ran;
	int released;
};

static int call_call(void *ctx)
{
	struct giving *g = ctx;

	return ants_call(g->pool, call_arg_fn, g->call_arg, FOREVER);
}

static int call_call_release(void *ctx)
{
	struct giving *g = ctx;

	return ants_call_release(g->pool, call_arg_fn, g->call_arg, FOREVER,
				 call_arg_release);
}

static void has_run(struct kunit *test, void *ctx)
{
	struct giving *g = ctx;

	KUNIT_EXPECT_EQ(test, atomic_read(&g->call_arg->ran), ++g->ran);
}

/* The task may be the last one to leave. */
static void has_run_and_released(struct kunit *test, void *ctx)
{
	struct giving *g = ctx;

	has_run(test, ctx);
	g->released++;
	EXPECT_SOON(test, atomic_read(&g->call_arg->released) == g->released);
}

/* The call did not run, and its data was released once. */
static void has_released(struct kunit *test, void *ctx)
{
	struct giving *g = ctx;

	expect_call_arg(test, g->call_arg, g->ran, ++g->released);
}

static void call(struct kunit *test)
{
	struct giving g = {
		.call_arg = call_arg_make(test), .pool = small_pool(test),
	};
	struct fail_loop loop = {
		.name = "ants_call", .call = call_call,
		.done = has_run, .ctx = &g,
	};

	fail_each(test, &loop);
	KUNIT_EXPECT_EQ(test, atomic_read(&g.call_arg->released), 0);
}

static void call_release(struct kunit *test)
{
	struct giving g = {
		.call_arg = call_arg_make(test), .pool = small_pool(test),
	};
	struct fail_loop loop = {
		.name = "ants_call_release", .call = call_call_release,
		.refused = has_released, .done = has_run_and_released,
		.err = -ENOMEM, .ctx = &g,
	};

	fail_each(test, &loop);
}

/* A loop over numbers. */
struct counting {
	struct ants_pool *pool;
	atomic_t seen[100];
};

static int count_one(unsigned long i, void *ctx)
{
	struct counting *c = ctx;

	atomic_inc(&c->seen[i]);
	return 0;
}

static int call_for_each(void *ctx)
{
	struct counting *c = ctx;

	return ants_for_each(c->pool, ARRAY_SIZE(c->seen), count_one, c);
}

static void each_was_seen(struct kunit *test, void *ctx)
{
	struct counting *c = ctx;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c->seen); i++)
		KUNIT_EXPECT_EQ(test, atomic_xchg(&c->seen[i], 0), 1);
}

/* Without memory for helpers the caller runs all numbers. */
static void for_each(struct kunit *test)
{
	struct counting c = { .pool = small_pool(test) };
	struct fail_loop loop = {
		.name = "ants_for_each", .call = call_for_each,
		.done = each_was_seen, .ctx = &c,
	};

	fail_each(test, &loop);
}

#define NR_ITEMS	3

/* Calls that need no memory. */
struct needless {
	struct ants_pool *pool;
	struct ants_group group;
	struct item *items;
	unsigned int nth;
	int left;
};

static int call_works(void *ctx)
{
	struct needless *n = ctx;
	struct ants_delayed_work *dwork = &n->items[0].dwork;
	struct ants_work *work = &dwork->work;
	int result;

	return ants_queue_work(n->pool, work) ?: ants_work_flush(work) ?:
	       ants_work_wait(work, &result) ?:
	       ants_queue_work_timeout(n->pool, work, FOREVER) ?:
	       ants_work_wait_timeout(work, FOREVER, &result) ?:
	       ants_queue_delayed_work(n->pool, dwork, NEVER) ?:
	       ants_mod_delayed_work(n->pool, dwork, NEVER) - 1 ?:
	       (ants_work_cancel(work) ? 0 : -ENOENT) ?:
	       ants_queue_delayed_work(n->pool, dwork, 1) ?:
	       ants_work_wait(work, &result) ?:
	       ants_work_cancel_sync(work);
}

static int submit_members(struct needless *n)
{
	int i, err = 0;

	for (i = 0; i < NR_ITEMS && !err; i++)
		err = ants_group_submit(&n->group, work_of(&n->items[i]));
	ants_group_seal(&n->group);
	return err;
}

static int call_group(void *ctx)
{
	struct needless *n = ctx;
	int err, error;

	err = ants_group_init(&n->group, n->pool, 0) ?: submit_members(n) ?:
	      ants_group_wait(&n->group, &error) ?:
	      ants_group_reset(&n->group) ?: submit_members(n);
	ants_group_cancel(&n->group);
	while (ants_group_next(&n->group, FOREVER))
		;
	return err;
}

static bool match_all(ants_fn_t fn, void *data, void *arg)
{
	return true;
}

static int call_waits(void *ctx)
{
	struct needless *n = ctx;

	ants_cancel_pending(n->pool, match_all, NULL);
	return ants_flush(n->pool) ?:
	       ants_flush_timeout(n->pool, FOREVER) ?:
	       ants_drain(n->pool) ?: ants_drain_timeout(n->pool, FOREVER);
}

/* The same from a task of the pool, which runs the items itself. */
static int work_inside(void *ctx)
{
	struct needless *n = ctx;
	int err;

	fail_nth(n->nth);
	err = call_works(n) ?: call_group(n);
	n->left = !fail_came();
	return err;
}

static int call_inside(void *ctx)
{
	struct needless *n = ctx;
	int err;

	n->nth++;
	fail_came();
	err = ants_call(n->pool, work_inside, n, FOREVER);
	/* Pass the fault that was meant for this thread on to the task. */
	fail_nth(n->left);
	return err;
}

static void run_needless(struct kunit *test, const char *name,
			 int (*call)(void *ctx))
{
	struct needless n = { .items = items_alloc(test, NR_ITEMS) };
	struct fail_loop loop = { .name = name, .call = call, .ctx = &n };

	n.pool = small_pool(test);
	fail_each(test, &loop);
}

static void works(struct kunit *test)
{
	run_needless(test, "ants_queue_work ... ants_work_cancel_sync",
		     call_works);
}

static void groups(struct kunit *test)
{
	run_needless(test, "ants_group_init ... ants_group_next", call_group);
}

static void joins(struct kunit *test)
{
	run_needless(test, "the same in a task of the pool", call_inside);
}

static void waits(struct kunit *test)
{
	run_needless(test, "ants_cancel_pending ... ants_drain_timeout",
		     call_waits);
}

static struct kunit_case fail_task_cases[] = {
	KUNIT_CASE_PARAM(submits, form_gen_params),
	KUNIT_CASE(callers_that_could_run_it),
	KUNIT_CASE(call),
	KUNIT_CASE(call_release),
	KUNIT_CASE(for_each),
	KUNIT_CASE(works),
	KUNIT_CASE(groups),
	KUNIT_CASE(joins),
	KUNIT_CASE(waits),
	{}
};

static struct kunit_suite fail_task_suite = {
	.name = "ants_fail_task",
	.init = fail_init,
	.test_cases = fail_task_cases,
};

kunit_test_suite(fail_task_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that get no memory");
MODULE_LICENSE("GPL");
