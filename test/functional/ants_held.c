// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_held: a pool "held" with a task of each kind that runs, is pending, or
 * waits for room, for as long as the module is loaded. What shows a pool is
 * tested with it, on kernels without KUnit; the functions are called held_*.
 */
#define pr_fmt(fmt) "ants_held: " fmt

#include <linux/ants.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>

#define FOREVER		MAX_SCHEDULE_TIMEOUT
#define DEADLINE	(60 * HZ)

static struct ants_pool *pool;
static bool opened;
static DECLARE_WAIT_QUEUE_HEAD(gate);

static int wait_gate(void)
{
	wait_event_idle(gate, READ_ONCE(opened));
	return 0;
}

/* --- functions --------------------------------------------------------------- */

static void held_task(void *unused)
{
	wait_gate();
}

static void held_pending(void *unused)
{
}

static void held_waiting(void *unused)
{
}

static void held_freed(void *unused)
{
}

static int held_item(struct ants_work *unused)
{
	return wait_gate();
}

static int held_urgent(struct ants_work *unused)
{
	return 0;
}

/* The item is gone while its function runs, and what is left of it is wrong. */
static int held_detached(struct ants_work *work)
{
	WRITE_ONCE(work->fn, NULL);
	kfree(work);
	return wait_gate();
}

static int held_call(void *unused)
{
	return wait_gate();
}

static int held_released(void *unused)
{
	return wait_gate();
}

static int held_each(unsigned long i, void *unused)
{
	return wait_gate();
}

static int held_inner(void *unused)
{
	return wait_gate();
}

static void held_outer(void *unused)
{
	ants_call(pool, held_inner, NULL, FOREVER);
}

static DEFINE_ANTS_WORK(item, held_item);
static DEFINE_ANTS_WORK(urgent, held_urgent);
static DEFINE_ANTS_WORK(urgent_waiting, held_urgent);

/* --- what brings them into the pool -------------------------------------------- */

static int bring_task(void)
{
	return ants_submit(pool, held_task, NULL);
}

static int bring_item(void)
{
	return ants_queue_work(pool, &item);
}

static int bring_detached(void)
{
	struct ants_work *work = kmalloc(sizeof(*work), GFP_KERNEL);
	int err;

	if (!work)
		return -ENOMEM;
	INIT_ANTS_WORK_DETACHED(work, held_detached);
	err = ants_queue_work(pool, work);
	if (err)
		kfree(work);
	return err;
}

static int bring_outer(void)
{
	return ants_submit(pool, held_outer, NULL);
}

static int bring_pending(void)
{
	return ants_submit(pool, held_pending, NULL);
}

static int bring_urgent(void)
{
	urgent.prio = ANTS_PRIO_HIGH;
	return ants_queue_work(pool, &urgent);
}

/* These wait, each in a thread of its own. */

static int bring_call(void *unused)
{
	return ants_call(pool, held_call, NULL, FOREVER);
}

static int bring_released(void *unused)
{
	return ants_call_release(pool, held_released, NULL, FOREVER,
				 held_freed);
}

static int bring_each(void *unused)
{
	return ants_for_each(pool, 2, held_each, NULL);
}

static int bring_waiting(void *unused)
{
	return ants_submit(pool, held_waiting, NULL);
}

static int bring_urgent_waiting(void *unused)
{
	urgent_waiting.prio = ANTS_PRIO_HIGH;
	return ants_queue_work_timeout(pool, &urgent_waiting, FOREVER);
}

/*
 * struct step - one more task
 * @bring: brings it, or NULL
 * @wait: does so in a thread
 * @nr: how many there are afterwards
 * @is: the number that must become @nr
 * @thread: the thread
 */
static struct step {
	int (*bring)(void);
	int (*wait)(void *unused);
	unsigned int (*is)(const struct ants_pool *pool);
	unsigned int nr;
	struct task_struct *thread;
} steps[] = {
	{ .bring = bring_task, .is = ants_nr_busy, .nr = 1 },
	{ .bring = bring_item, .is = ants_nr_busy, .nr = 2 },
	{ .bring = bring_detached, .is = ants_nr_busy, .nr = 3 },
	{ .bring = bring_outer, .is = ants_nr_busy, .nr = 4 },
	{ .wait = bring_call, .is = ants_nr_busy, .nr = 5 },
	{ .wait = bring_released, .is = ants_nr_busy, .nr = 6 },
	{ .wait = bring_each, .is = ants_nr_busy, .nr = 7 },
	{ .bring = bring_pending, .is = ants_nr_pending, .nr = 1 },
	{ .bring = bring_urgent, .is = ants_nr_pending, .nr = 2 },
	{ .wait = bring_waiting, .is = ants_nr_waiting, .nr = 1 },
	{ .wait = bring_urgent_waiting, .is = ants_nr_waiting, .nr = 2 },
};

static int thread_fn(void *data)
{
	struct step *step = data;
	int err = step->wait(NULL);

	if (err)
		pr_err("%ps: %d\n", step->wait, err);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static int start(struct step *step)
{
	struct task_struct *thread;

	if (step->bring)
		return step->bring();
	thread = kthread_run(thread_fn, step, "held_thread");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	step->thread = thread;
	return 0;
}

static int take(struct step *step)
{
	unsigned long end = jiffies + DEADLINE;
	int err = start(step);

	while (!err && step->is(pool) != step->nr) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		schedule_timeout_idle(1);
	}
	return err;
}

static void end(void)
{
	unsigned int i;

	WRITE_ONCE(opened, true);
	wake_up_all(&gate);
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i].thread)
			kthread_stop(steps[i].thread);
	ants_pool_destroy(pool);
}

static int __init ants_held_init(void)
{
	struct ants_attrs attrs = { .capacity = 7, .queue_depth = 2 };
	unsigned int i;
	int err = 0;

	pool = ants_pool_create(&attrs, "held");
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	for (i = 0; i < ARRAY_SIZE(steps) && !err; i++)
		err = take(&steps[i]);
	if (err) {
		pr_err("step %u failed: %d\n", i, err);
		end();
	}
	return err;
}

static void __exit ants_held_exit(void)
{
	end();
}

module_init(ants_held_init);
module_exit(ants_held_exit);

MODULE_DESCRIPTION("ants: a pool with tasks of each kind that stay");
MODULE_AUTHOR("The ants authors");
MODULE_LICENSE("GPL");
