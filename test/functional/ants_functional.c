// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what a client sees of ants from a plain module, for kernels without
 * KUnit, PREEMPT_RT kernels among them. The module uses the public header only,
 * runs its checks once when it is loaded, and prints TAP on the console.
 */
#define pr_fmt(fmt) "ants_functional: " fmt

#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../kunit/test_compat.h"
#include "functional.h"

#define NR_ORDER	64

struct check {
	const char *name;
	bool (*run)(struct bench *b);
	struct ants_attrs attrs;
};

/* --- checks: submitting ---------------------------------------------------- */

static bool default_pool_has_a_thread_per_cpu_at_most(struct bench *b)
{
	return OK(ants_capacity(b->pool) == num_online_cpus()) &&
	       OK(!ants_nr_running(b->pool)) && OK(!ants_is_released(b->pool));
}

static bool every_task_runs_once(struct bench *b)
{
	struct ants_stats stats;
	int i;

	for (i = 0; i < 1000; i++)
		if (!OK(!ants_submit(b->pool, pass, b)))
			return false;
	if (!OK(!ants_flush(b->pool)))
		return false;
	ants_pool_stats(b->pool, &stats);
	return OK(atomic_read(&b->passed) == 1000) &&
	       OK(stats.submitted == 1000) && OK(stats.completed == 1000);
}

static bool never_more_than_the_capacity_run(struct bench *b)
{
	struct ants_stats stats;
	int i;

	for (i = 0; i < 200; i++)
		if (!OK(!ants_submit(b->pool, crowd, b)))
			return false;
	if (!OK(!ants_flush(b->pool)))
		return false;
	ants_pool_stats(b->pool, &stats);
	return OK(atomic_read(&b->passed) == 200) &&
	       OK(atomic_read(&b->most) <= 3) && OK(stats.peak_running <= 3) &&
	       OK(stats.peak_busy <= 3);
}

struct turn {
	struct bench *bench;
	int number;
};

/* A task that checks whether it runs in its turn. */
static void in_turn(void *data)
{
	struct turn *t = data;

	if (atomic_inc_return(&t->bench->inside) != t->number)
		t->bench->result = -EILSEQ;
}

static bool tasks_start_in_order(struct bench *b)
{
	static struct turn turns[NR_ORDER];
	int i;

	for (i = 0; i < NR_ORDER; i++) {
		turns[i] = (struct turn){ .bench = b, .number = i + 1 };
		if (!OK(!ants_submit(b->pool, in_turn, &turns[i])))
			return false;
	}
	return OK(!ants_flush(b->pool)) && OK(!b->result) &&
	       OK(atomic_read(&b->inside) == NR_ORDER);
}

static bool non_blocking_pool_refuses_when_full(struct bench *b)
{
	return fill(b, 2) && OK(ants_submit(b->pool, pass, b) == -EAGAIN);
}

static bool submitter_waits_while_the_pool_is_full(struct bench *b)
{
	struct caller *c;

	if (!fill(b, 1))
		return false;
	c = call(b, FOREVER);
	if (!SOON(ants_nr_waiting(b->pool) == 1) ||
	    !OK(!completion_done(&c->done)))
		return false;
	open_gate(b);
	return returns(c, 0) && SOON(atomic_read(&b->passed) == 2);
}

static bool max_blocking_bounds_the_waiters(struct bench *b)
{
	if (!fill(b, 1))
		return false;
	call(b, FOREVER);
	return SOON(ants_nr_waiting(b->pool) == 1) &&
	       OK(ants_submit(b->pool, pass, b) == -EBUSY);
}

static bool timed_submit_gives_up(struct bench *b)
{
	return fill(b, 1) &&
	       OK(ants_submit_timeout(b->pool, pass, b, 2) == -ETIMEDOUT) &&
	       OK(ants_submit_timeout(b->pool, pass, b, 0) == -ETIMEDOUT) &&
	       OK(!ants_nr_waiting(b->pool)) && OK(!ants_nr_pending(b->pool));
}

static bool queue_depth_takes_tasks_without_waiting(struct bench *b)
{
	return fill(b, 1) && OK(!ants_try_submit(b->pool, pass, b)) &&
	       OK(!ants_try_submit(b->pool, pass, b)) &&
	       OK(ants_try_submit(b->pool, pass, b) == -EAGAIN) &&
	       OK(ants_nr_pending(b->pool) == 2);
}

static bool stopped_kthread_gives_up_waiting(struct bench *b)
{
	struct caller *c;

	if (!fill(b, 1))
		return false;
	c = call(b, FOREVER);
	if (!SOON(ants_nr_waiting(b->pool) == 1))
		return false;
	stop(c);
	return OK(c->result == -EINTR) && OK(!ants_nr_waiting(b->pool));
}

/* --- checks: where no other pool can be used -------------------------------- */

struct irq_submit {
	struct irq_work work;
	struct bench *bench;
};

static void submit_in_irq(struct irq_work *work)
{
	struct bench *b = container_of(work, struct irq_submit, work)->bench;

	b->result = in_hardirq() ? ants_try_submit(b->pool, pass, b) : -EPROTO;
}

static bool try_submit_works_in_a_hard_interrupt(struct bench *b)
{
	struct irq_submit is = {
		.work = IRQ_WORK_INIT_HARD(submit_in_irq),
		.bench = b,
	};

	irq_work_queue(&is.work);
	irq_work_sync(&is.work);
	return OK(!b->result) && SOON(atomic_read(&b->passed) == 1);
}

static bool try_submit_works_under_a_raw_lock(struct bench *b)
{
	static DEFINE_RAW_SPINLOCK(lock);
	unsigned long flags;
	int err;

	raw_spin_lock_irqsave(&lock, flags);
	err = ants_try_submit(b->pool, pass, b);
	raw_spin_unlock_irqrestore(&lock, flags);
	return OK(!err) && SOON(atomic_read(&b->passed) == 1);
}

static bool nested_submit_that_would_hang_is_refused(struct bench *b)
{
	return OK(!ants_submit(b->pool, submits_into_its_pool, b)) &&
	       SOON(atomic_read(&b->entered) == 1) &&
	       OK(b->result == -EDEADLK);
}

static bool task_cannot_flush_its_own_pool(struct bench *b)
{
	return OK(!ants_submit(b->pool, flushes_its_pool, b)) &&
	       SOON(atomic_read(&b->entered) == 1) &&
	       OK(b->result == -EDEADLK);
}

/* --- checks: a live pool ----------------------------------------------------- */

static bool growing_serves_a_waiter(struct bench *b)
{
	struct caller *c;

	if (!fill(b, 1))
		return false;
	c = call(b, FOREVER);
	return SOON(ants_nr_waiting(b->pool) == 1) &&
	       OK(!ants_tune(b->pool, 2)) && returns(c, 0) &&
	       SOON(atomic_read(&b->entered) == 2);
}

static bool shrinking_sends_threads_away(struct bench *b)
{
	if (!fill(b, 4) || !OK(!ants_tune(b->pool, 1)) ||
	    !OK(ants_nr_running(b->pool) == 4))
		return false;
	open_gate(b);
	return SOON(atomic_read(&b->passed) == 4) &&
	       SOON(ants_nr_running(b->pool) == 1) &&
	       OK(ants_tune(b->pool, 0) == -EINVAL);
}

static bool flush_waits_for_what_was_accepted(struct bench *b)
{
	if (!fill(b, 1) || !OK(ants_flush_timeout(b->pool, 2) == -ETIMEDOUT))
		return false;
	open_gate(b);
	return OK(!ants_flush(b->pool)) && OK(atomic_read(&b->passed) == 1);
}

static bool idle_threads_go_away(struct bench *b)
{
	struct ants_stats stats;

	if (!fill(b, 4))
		return false;
	open_gate(b);
	if (!SOON(ants_nr_running(b->pool) == 1))
		return false;
	ants_pool_stats(b->pool, &stats);
	return OK(stats.reaped >= 3) && OK(!ants_submit(b->pool, pass, b)) &&
	       SOON(atomic_read(&b->passed) == 5);
}

/* --- checks: the end ---------------------------------------------------------- */

static bool release_fails_every_waiter(struct bench *b)
{
	struct caller *one, *two;

	if (!fill(b, 1))
		return false;
	one = call(b, FOREVER);
	two = call(b, FOREVER);
	return SOON(ants_nr_waiting(b->pool) == 2) &&
	       OK(!ants_release(b->pool)) && returns(one, -ESHUTDOWN) &&
	       returns(two, -ESHUTDOWN) &&
	       OK(ants_submit(b->pool, pass, b) == -ESHUTDOWN) &&
	       OK(ants_try_submit(b->pool, pass, b) == -ESHUTDOWN);
}

static bool release_runs_what_was_accepted(struct bench *b)
{
	if (!fill(b, 1) || !OK(!ants_submit(b->pool, gated, b)) ||
	    !OK(ants_release_timeout(b->pool, 2) == -ETIMEDOUT) ||
	    !OK(ants_reboot(b->pool) == -EBUSY))
		return false;
	open_gate(b);
	return OK(!ants_release_timeout(b->pool, DEADLINE)) &&
	       OK(atomic_read(&b->passed) == 2) &&
	       OK(!ants_nr_running(b->pool));
}

static bool reboot_opens_a_drained_pool(struct bench *b)
{
	return OK(ants_reboot(b->pool) == -EBUSY) &&
	       OK(!ants_release_timeout(b->pool, DEADLINE)) &&
	       OK(!ants_reboot(b->pool)) && OK(!ants_is_released(b->pool)) &&
	       OK(!ants_submit(b->pool, pass, b)) && OK(!ants_flush(b->pool)) &&
	       OK(atomic_read(&b->passed) == 1);
}

static bool destroy_waits_for_every_task(struct bench *b)
{
	int i;

	for (i = 0; i < 50; i++)
		if (!OK(!ants_submit(b->pool, crowd, b)))
			return false;
	i = ants_pool_destroy(b->pool);
	b->pool = NULL;
	return OK(!i) && OK(atomic_read(&b->passed) == 50);
}

static bool names_are_unique(struct bench *b)
{
	struct ants_pool *twin = ants_pool_create(NULL, "functional");
	bool good = OK(twin == ERR_PTR(-EEXIST));

	ants_pool_destroy(twin);
	return good;
}

static bool system_pool_is_there_for_everybody(struct bench *b)
{
	return OK(!ants_submit(ants_system_pool, pass, b)) &&
	       SOON(atomic_read(&b->passed) == 1) &&
	       OK(ants_release(ants_system_pool) == -EPERM) &&
	       OK(ants_pool_destroy(ants_system_pool) == -EPERM) &&
	       OK(ants_flush(ants_system_pool) == -EINVAL);
}

/* --- the frame ----------------------------------------------------------------- */

#define CHECK(_run, ...)						\
	{ .name = #_run, .run = _run, .attrs = { __VA_ARGS__ } }

static const struct check checks[] = {
	CHECK(default_pool_has_a_thread_per_cpu_at_most, .capacity = 0),
	CHECK(every_task_runs_once, .capacity = 4),
	CHECK(never_more_than_the_capacity_run, .capacity = 3),
	CHECK(tasks_start_in_order, .capacity = 1, .queue_depth = NR_ORDER),
	CHECK(non_blocking_pool_refuses_when_full, .capacity = 2,
	      .flags = ANTS_NONBLOCKING),
	CHECK(submitter_waits_while_the_pool_is_full, .capacity = 1),
	CHECK(max_blocking_bounds_the_waiters, .capacity = 1,
	      .max_blocking = 1),
	CHECK(timed_submit_gives_up, .capacity = 1),
	CHECK(queue_depth_takes_tasks_without_waiting, .capacity = 1,
	      .queue_depth = 2),
	CHECK(stopped_kthread_gives_up_waiting, .capacity = 1),
	CHECK(try_submit_works_in_a_hard_interrupt, .capacity = 1),
	CHECK(try_submit_works_under_a_raw_lock, .capacity = 1),
	CHECK(nested_submit_that_would_hang_is_refused, .capacity = 1),
	CHECK(task_cannot_flush_its_own_pool, .capacity = 1),
	CHECK(growing_serves_a_waiter, .capacity = 1),
	CHECK(shrinking_sends_threads_away, .capacity = 4,
	      .flags = ANTS_NO_PURGE),
	CHECK(flush_waits_for_what_was_accepted, .capacity = 1),
	CHECK(idle_threads_go_away, .capacity = 4, .min_workers = 1,
	      .expiry = HZ / 100),
	CHECK(release_fails_every_waiter, .capacity = 1),
	CHECK(release_runs_what_was_accepted, .capacity = 1, .queue_depth = 1),
	CHECK(reboot_opens_a_drained_pool, .capacity = 2, .min_workers = 1),
	CHECK(destroy_waits_for_every_task, .capacity = 2),
	CHECK(names_are_unique, .capacity = 1),
	CHECK(system_pool_is_there_for_everybody, .capacity = 1),
};

static bool run(const struct check *check)
{
	struct bench *b = kzalloc(sizeof(*b), GFP_KERNEL);
	bool good;

	if (!b)
		return false;
	init_completion(&b->gate);
	b->pool = ants_pool_create(&check->attrs, "functional");
	good = OK(!IS_ERR(b->pool)) && check->run(b);
	open_gate(b);
	while (b->nr_callers)
		stop(&b->callers[--b->nr_callers]);
	ants_pool_destroy(b->pool);
	kfree(b);
	return good;
}

static int __init ants_functional_init(void)
{
	int i, failed = 0;

	pr_info("1..%zu\n", ARRAY_SIZE(checks));
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		bool good = run(&checks[i]);

		pr_info("%sok %d - %s\n", good ? "" : "not ", i + 1,
			checks[i].name);
		failed += !good;
	}
	pr_info("# %d of %zu failed\n", failed, ARRAY_SIZE(checks));
	return 0;
}

static void __exit ants_functional_exit(void)
{
}

module_init(ants_functional_init);
module_exit(ants_functional_exit);

MODULE_DESCRIPTION("ants: functional test without KUnit");
MODULE_LICENSE("GPL");
