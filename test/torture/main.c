// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_torture: all calls at once, for some time; then the verdict. See
 * README.rst.
 */
#define pr_fmt(fmt) "ants_torture: " fmt

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "torture.h"

#define MOST_THREADS	64
/* Seconds between two lines of figures. */
#define BEAT		10

/* A run of so many calls must have made each kind; a shorter one need not. */
#define CALLS_FOR_ALL	500000

/**
 * struct thread - a thread that makes calls
 * @actor: the caller
 * @stream: the random numbers that seed its steps
 * @task: the thread
 */
static struct thread {
	struct actor actor;
	struct rnd_state stream;
	struct task_struct *task;
} threads[MOST_THREADS];

/* The time is over: no thread begins anything new. */
static bool ending;

static struct actor director;
static struct task_struct *direction;
static struct task_struct *lookout;
/* Held while the lookout may show the stack of a thread. */
static DEFINE_MUTEX(watching);

static char verdict[8] = "running";
module_param_string(verdict, verdict, sizeof(verdict), 0444);
MODULE_PARM_DESC(verdict, "what came of it: running, SUCCESS or FAILURE; to be read");

static int thread_run(void *arg)
{
	struct thread *thread = arg;
	struct actor *actor = &thread->actor;

	while (!kthread_should_stop() && !READ_ONCE(ending)) {
		struct target *target;

		actor_seed(actor, prandom_u32_state(&thread->stream), 0);
		target = target_get(actor);
		if (!target) {
			cond_resched();
			continue;
		}
		act(actor, target, target_pool(target), true);
		target_put(target);
	}
	return 0;
}

static int thread_start(unsigned int nr)
{
	struct thread *thread = &threads[nr];
	struct task_struct *task;

	task = kthread_create(thread_run, thread, "torture/%u", nr);
	if (IS_ERR(task))
		return PTR_ERR(task);
	get_task_struct(task);
	thread->task = task;
	WRITE_ONCE(thread->actor.task, task);
	wake_up_process(task);
	return 0;
}

/* Waits of the thread end with -EINTR. */
static void thread_stop(unsigned int nr)
{
	struct task_struct *task = threads[nr].task;

	if (!task)
		return;
	kthread_stop(task);
	mutex_lock(&watching);
	WRITE_ONCE(threads[nr].actor.task, NULL);
	mutex_unlock(&watching);
	threads[nr].task = NULL;
	put_task_struct(task);
}

static int threads_start(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < knob_threads.value; i++) {
		prandom_seed_state(&threads[i].stream,
				   (u64)knob_seed.value << 32 | i);
		actor_watch(&threads[i].actor);
		err = thread_start(i);
		if (err)
			return err;
	}
	return 0;
}

static void threads_stop(void)
{
	unsigned int i;

	WRITE_ONCE(ending, true);
	for (i = 0; i < MOST_THREADS; i++)
		thread_stop(i);
}

/* --- the verdict -------------------------------------------------------------- */

static void print_sums(const char *head)
{
	pr_notice("%s seed=%u calls=%ld tasks=%ld run=%ld refused=%ld cancelled=%ld timeouts=%ld alloc_failures=%ld deaths=%ld dirty=%ld trips=%ld dropped=%ld pools=%ld unloads=%ld hotplug=%ld suspends=%ld\n",
		  head, knob_seed.value, count_read(COUNT_CALLS),
		  count_read(COUNT_TASKS), count_read(COUNT_RUN),
		  count_read(COUNT_REFUSED), count_read(COUNT_CANCELLED),
		  count_read(COUNT_TIMEOUTS), count_read(COUNT_FAULTS),
		  count_read(COUNT_DEATHS), count_read(COUNT_DIRTY),
		  count_read(COUNT_TRIPS), count_read(COUNT_DROPPED),
		  count_read(COUNT_POOLS), count_read(COUNT_UNLOADS),
		  count_read(COUNT_HOTPLUG), count_read(COUNT_SUSPENDS));
}

static void print_verdict(void)
{
	bool good = !count_read(COUNT_VIOLATIONS);

	print_sums(good ? "SUCCESS" : "FAILURE");
	strscpy(verdict, good ? "SUCCESS" : "FAILURE", sizeof(verdict));
}

/* Has something happened less often than the run is to show? */
static bool too_little(void)
{
	return count_read(COUNT_UNLOADS) < knob_unloads.value;
}

/* Everything is over: each accepted task has run or was cancelled. */
static void judge_sums(void)
{
	long tasks = count_read(COUNT_TASKS);
	long ended = count_read(COUNT_RUN) + count_read(COUNT_CANCELLED);

	if (tasks != ended)
		broken("%ld tasks were accepted, %ld ran or were cancelled",
		       tasks, ended);
	if (!tasks)
		broken("nothing ran");
	if (too_little())
		broken("a client was unloaded %ld times, not %u, in %u s",
		       count_read(COUNT_UNLOADS), knob_unloads.value,
		       knob_seconds.value + knob_spare_s.value);
	if (calls_left())
		broken("%ld calls have not released their data",
		       calls_left());
	if (count_read(COUNT_CALLS) >= CALLS_FOR_ALL && calls_missing())
		broken("not every call was made");
	if (count_read(COUNT_CALLS) >= CALLS_FOR_ALL &&
	    knob_fault_permille.value && !count_read(COUNT_DEATHS))
		broken("nothing has died");
	tickets_left(NULL);
}

/* --- the course of a run ------------------------------------------------------ */

/*
 * True if nothing ends any more, or something that was begun has not ended. To be
 * called by one thread only.
 */
static bool stuck(void)
{
	static unsigned long since;
	static long before = -1;
	long now = count_read(COUNT_RUN);
	bool stands = false;

	if (now != before) {
		before = now;
		since = jiffies;
	} else if (time_after(jiffies, since + knob_max_wait.value * HZ)) {
		broken("no task has run for %u s", knob_max_wait.value);
		stands = true;
	}
	/* each of them reports what it finds */
	stands |= actors_stuck();
	stands |= tickets_stuck();
	return stands;
}

/*
 * Replace one thread after the other until the time is over. A busy machine may not get
 * everything done by then, so there is spare time. Waits are measured in jiffies, because
 * a busy guest may lose most of them; the total time is not.
 */
static void replace_threads(void)
{
	time64_t start = ktime_get_seconds(), end = start + knob_seconds.value;
	time64_t restart = start + knob_restart_s.value;
	unsigned int nr = 0;

	while (ktime_get_seconds() < end + (too_little() ? knob_spare_s.value : 0) &&
	       !kthread_should_stop()) {
		schedule_timeout_idle(HZ / 10);
		if (ktime_get_seconds() < restart)
			continue;
		restart += knob_restart_s.value;
		thread_stop(nr);
		if (thread_start(nr))
			pr_notice("one thread less\n");
		nr = (nr + 1) % knob_threads.value;
	}
}

static void wait_for_exit(void)
{
	while (!kthread_should_stop())
		schedule_timeout_idle(HZ / 10);
}

/*
 * Watch everything else, the director as well, which waits for the threads that
 * it replaces. Something stuck cannot be ended here: the guest's script has to.
 */
static int look_out(void *unused)
{
	time64_t beat = ktime_get_seconds() + BEAT;
	bool stands = false;

	while (!kthread_should_stop() && !stands) {
		schedule_timeout_idle(HZ / 10);
		mutex_lock(&watching);
		stands = stuck();
		mutex_unlock(&watching);
		if (ktime_get_seconds() < beat)
			continue;
		beat += BEAT;
		print_sums("running");
	}
	if (stands) {
		sched_show_task(direction);
		print_verdict();
	}
	wait_for_exit();
	return 0;
}

static int direct(void *unused)
{
	replace_threads();
	kickers_stop();
	threads_stop();
	targets_exit(&director);
	kthread_stop(lookout);
	tickets_foreign_end();
	judge_sums();
	calls_print();
	print_verdict();
	wait_for_exit();
	return 0;
}

/* Start the two threads that rule the others. */
static int rulers_start(void)
{
	direction = kthread_create(direct, NULL, "torture/main");
	if (IS_ERR(direction))
		return PTR_ERR(direction);
	get_task_struct(direction);
	lookout = kthread_run(look_out, NULL, "torture/watch");
	if (IS_ERR(lookout)) {
		kthread_stop(direction);
		put_task_struct(direction);
		return PTR_ERR(lookout);
	}
	wake_up_process(direction);
	return 0;
}

static int __init torture_init(void)
{
	int err;

	if (!knob_seed.value)
		knob_seed.value = get_random_u32();
	actor_seed(&director, knob_seed.value, 0);
	err = tickets_init();
	if (err)
		return err;
	err = events_init();
	if (err)
		goto err_tickets;
	actor_watch(&director);
	deaths_begin();
	targets_init(&director);
	err = threads_start();
	if (!err)
		err = kickers_start();
	if (err)
		goto err_threads;
	err = rulers_start();
	if (err)
		goto err_threads;
	pr_notice("begin seed=%u threads=%u targets=%u seconds=%u\n",
		  knob_seed.value, knob_threads.value, knob_targets.value,
		  knob_seconds.value);
	return 0;

err_threads:
	kickers_stop();
	threads_stop();
	targets_exit(&director);
	events_exit();
err_tickets:
	tickets_exit();
	return err;
}
module_init(torture_init);

static void __exit torture_exit(void)
{
	kthread_stop(direction);
	put_task_struct(direction);
	events_exit();
	tickets_exit();
}
module_exit(torture_exit);

MODULE_DESCRIPTION("ants: torture test");
MODULE_LICENSE("GPL");
