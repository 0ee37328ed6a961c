// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_kinds: when it is loaded, a task of each kind comes to each end that it
 * can have, in a pool called "kinds", one after the other. The functions are
 * called kinds_*, so that a test of what shows tasks knows each by its name.
 */
#define pr_fmt(fmt) "ants_kinds: " fmt

#include <linux/ants.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>

#define DEADLINE	(60 * HZ)

static int cookie;
static struct ants_pool *pool;
static struct completion gate;
static atomic_t inside;

/* --- functions --------------------------------------------------------------- */

static void kinds_task(void *data)
{
}

static void kinds_held(void *data)
{
	atomic_inc(&inside);
	wait_for_completion(&gate);
}

static void kinds_cancelled(void *data)
{
}

static void kinds_refused(void *data)
{
}

static void kinds_late(void *data)
{
}

static void kinds_here(void *data)
{
}

static void kinds_released(void *data)
{
}

static int kinds_called(void *data)
{
	return 0;
}

static int kinds_call(void *data)
{
	return 0;
}

/* It ends when the caller and a helper are in it. */
static int kinds_each(unsigned long i, void *data)
{
	unsigned long end = jiffies + DEADLINE;

	atomic_inc(&inside);
	while (atomic_read(&inside) < 2) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		schedule_timeout_idle(1);
	}
	return 0;
}

static int kinds_item(struct ants_work *work)
{
	return 0;
}

static int kinds_delayed(struct ants_work *work)
{
	return 0;
}

static int kinds_dropped(struct ants_work *work)
{
	return 0;
}

static int kinds_refused_item(struct ants_work *work)
{
	return 0;
}

static int kinds_inner(struct ants_work *work)
{
	return 0;
}

static int kinds_skipped(struct ants_work *work)
{
	return 0;
}

static int kinds_failing(struct ants_work *work)
{
	atomic_inc(&inside);
	wait_for_completion(&gate);
	return -EIO;
}

static int kinds_detached(struct ants_work *work)
{
	kfree(work);
	return 0;
}

/* It is queued once more while it runs. */
static int kinds_again(struct ants_work *work)
{
	return atomic_inc_return(&inside) > 1 ? 0 : ants_queue_work(pool, work);
}

static void kinds_outer(void *inner)
{
	int err = ants_queue_work(pool, inner) ?: ants_work_wait(inner, NULL);

	if (err)
		pr_err("the inner item failed: %d\n", err);
}

/* --- scenarios ---------------------------------------------------------------- */

static int wait_inside(int nr)
{
	unsigned long end = jiffies + DEADLINE;

	while (atomic_read(&inside) < nr) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		schedule_timeout_idle(1);
	}
	return 0;
}

static int hold_worker(void)
{
	return ants_submit(pool, kinds_held, NULL) ?: wait_inside(1);
}

static int run_tasks(void)
{
	return ants_submit(pool, kinds_task, &cookie) ?: ants_flush(pool);
}

static int run_item(void)
{
	struct ants_work work;

	INIT_ANTS_WORK(&work, kinds_item);
	return ants_queue_work(pool, &work) ?: ants_work_wait(&work, NULL);
}

static int run_again(void)
{
	static DEFINE_ANTS_WORK(work, kinds_again);

	return ants_queue_work(pool, &work) ?: wait_inside(2) ?:
	       ants_flush(pool);
}

static int run_detached(void)
{
	struct ants_work *work = kmalloc(sizeof(*work), GFP_KERNEL);
	int err;

	if (!work)
		return -ENOMEM;
	INIT_ANTS_WORK_DETACHED(work, kinds_detached);
	err = ants_queue_work(pool, work);
	if (err)
		kfree(work);
	return err ?: ants_flush(pool);
}

static int run_delayed(void)
{
	static DEFINE_ANTS_DELAYED_WORK(dwork, kinds_delayed);

	return ants_queue_delayed_work(pool, &dwork, 1) ?:
	       ants_work_wait(&dwork.work, NULL);
}

static int run_calls(void)
{
	return ants_call(pool, kinds_call, &cookie, DEADLINE) ?:
	       ants_call_release(pool, kinds_called, &cookie, DEADLINE,
				 kinds_released) ?:
	       ants_flush(pool);
}

static int run_each(void)
{
	return ants_for_each(pool, 2, kinds_each, &cookie);
}

static int run_inside(void)
{
	struct ants_work inner;

	INIT_ANTS_WORK(&inner, kinds_inner);
	return ants_submit(pool, kinds_outer, &inner) ?: ants_flush(pool);
}

/* The second member of a group is pending when the first one fails. */
static int skip_member(void)
{
	struct ants_work failing, skipped;
	struct ants_group group;
	int err, error = 0;

	INIT_ANTS_WORK(&failing, kinds_failing);
	INIT_ANTS_WORK(&skipped, kinds_skipped);
	err = ants_group_init(&group, pool, ANTS_GROUP_CANCEL_ON_ERROR) ?:
	      ants_group_submit(&group, &failing) ?: wait_inside(1) ?:
	      ants_group_submit(&group, &skipped);
	complete_all(&gate);
	return ants_group_wait(&group, &error) ?: err ?:
	       error == -EIO ? 0 : -EPROTO;
}

static int cancel_pending(void)
{
	struct ants_work work;
	int err;

	INIT_ANTS_WORK(&work, kinds_dropped);
	err = hold_worker() ?: ants_submit(pool, kinds_cancelled, &cookie);
	if (!err && ants_cancel_pending(pool, NULL, NULL) != 1)
		err = -EPROTO;
	err = err ?: ants_queue_work(pool, &work);
	if (!err && !ants_work_cancel_sync(&work))
		err = -EPROTO;
	return err;
}

static int refuse(void)
{
	struct ants_work work;
	int err;

	INIT_ANTS_WORK(&work, kinds_refused_item);
	err = hold_worker();
	if (err)
		return err;
	if (ants_try_submit(pool, kinds_refused, &cookie) != -EAGAIN ||
	    ants_queue_work(pool, &work) != -EAGAIN ||
	    ants_submit_timeout(pool, kinds_late, &cookie, 1) != -ETIMEDOUT)
		return -EPROTO;
	return 0;
}

static int run_here(void)
{
	return hold_worker() ?: ants_submit(pool, kinds_here, &cookie);
}

static const struct scenario {
	int (*run)(void);
	struct ants_attrs attrs;
} scenarios[] = {
	{ run_tasks, { .capacity = 1 } },
	{ run_item, { .capacity = 1 } },
	{ run_again, { .capacity = 1 } },
	{ run_detached, { .capacity = 1 } },
	{ run_delayed, { .capacity = 1 } },
	{ run_calls, { .capacity = 1 } },
	{ run_each, { .capacity = 2 } },
	{ run_inside, { .capacity = 1, .queue_depth = 1 } },
	{ skip_member, { .capacity = 1, .queue_depth = 1 } },
	{ cancel_pending, { .capacity = 1, .queue_depth = 1 } },
	{ refuse, { .capacity = 1 } },
	{ run_here, { .capacity = 1, .flags = ANTS_CALLER_RUNS } },
};

static int run_scenario(const struct scenario *s)
{
	int err;

	init_completion(&gate);
	atomic_set(&inside, 0);
	pool = ants_pool_create(&s->attrs, "kinds");
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	err = s->run();
	complete_all(&gate);
	ants_pool_destroy(pool);
	return err;
}

static int __init ants_kinds_init(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(scenarios) && !err; i++)
		err = run_scenario(&scenarios[i]);
	if (err)
		pr_err("%ps failed: %d\n", scenarios[i - 1].run, err);
	return err;
}
module_init(ants_kinds_init);

static void __exit ants_kinds_exit(void)
{
}
module_exit(ants_kinds_exit);

MODULE_DESCRIPTION("ants: a task of each kind");
MODULE_LICENSE("GPL");
