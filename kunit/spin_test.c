// SPDX-License-Identifier: GPL-2.0-only
/* A submitter that waits spins before it sleeps, as long as that pays. */
#include <linux/kthread.h>
#include <linux/module.h>

#include "rig.h"

#define NAME	"spin"

/*
 * The worker is on CPU 1, and the case, which submits, on CPU 0. The first task runs
 * until the case waits to submit a second one; @until_asleep: until it has given up
 * spinning.
 */
struct meeting {
	struct rig *rig;
	struct task_struct *submitter;
	struct task_struct *worker;
	bool until_asleep;
};

static void meeting_task(void *data)
{
	struct meeting *m = data;
	unsigned long end = jiffies + TEST_DEADLINE;

	WRITE_ONCE(m->worker, current);
	while (!ants_nr_waiting(m->rig->pool) && time_before(jiffies, end))
		cpu_relax();
	while (m->until_asleep && task_is_running(m->submitter) && time_before(jiffies, end))
		cpu_relax();
}

static void meet(struct meeting *m, bool until_asleep)
{
	struct rig *rig = m->rig;

	m->until_asleep = until_asleep;
	m->worker = NULL;
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, meeting_task, m), 0);
	ASSERT_SOON(rig->test, READ_ONCE(m->worker));
	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, count_task, &rig->count), 0);
	ASSERT_SOON(rig->test, settled(rig->pool));
}

static struct meeting *meeting_make(struct kunit *test)
{
	struct meeting *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	m->submitter = current;
	m->rig = rig_make(test, NAME, (struct ants_attrs){
				.capacity = 1, .cpumask = cpumask_of(1) });
	return m;
}

static void set_spin(struct rig *rig, unsigned int skip, unsigned int left)
{
	struct ants_waiters *waiters = &rig->pool->waiters;

	raw_spin_lock_irq(&rig->pool->lock);
	waiters->spin_skip = skip;
	waiters->spin_left = left;
	raw_spin_unlock_irq(&rig->pool->lock);
}

static unsigned int skip_of(struct rig *rig)
{
	return ants_peek(rig->pool->waiters.spin_skip);
}

static unsigned int left_of(struct rig *rig)
{
	return ants_peek(rig->pool->waiters.spin_left);
}

/* A wait that gives up has spun in vain as well, if the CPU was free. */
static bool timeout_leads_to(struct meeting *m, unsigned int skip)
{
	struct rig *rig = m->rig;

	set_spin(rig, skip / 2, 0);
	KUNIT_EXPECT_EQ(rig->test, ants_submit_timeout(rig->pool, count_task, &rig->count, 1),
			-ETIMEDOUT);
	return skip_of(rig) == skip && left_of(rig) == skip;
}

static void spinning_task(void *data)
{
	struct meeting *m = data;
	unsigned long end = jiffies + TEST_DEADLINE;

	while (!atomic_read(&m->rig->stop) && time_before(jiffies, end))
		cpu_relax();
}

static void waits_that_give_up_count(struct kunit *test)
{
	struct meeting *m = meeting_make(test);

	KUNIT_ASSERT_EQ(test, ants_submit(m->rig->pool, spinning_task, m), 0);
	ASSERT_SOON(test, ants_nr_busy(m->rig->pool) == 1);
	EXPECT_SOON(test, timeout_leads_to(m, 3));
	atomic_set(&m->rig->stop, 1);
}

/*
 * A wait does not spin if another thread wants the CPU, as some of the kernel's own
 * may. The cases try again then.
 */
static bool wait_in_vain_leads_to(struct meeting *m, unsigned int was, unsigned int skip)
{
	set_spin(m->rig, was, 0);
	meet(m, true);
	return skip_of(m->rig) == skip && left_of(m->rig) == skip;
}

static bool wait_is_skipped(struct meeting *m)
{
	set_spin(m->rig, 7, 3);
	meet(m, true);
	return skip_of(m->rig) == 7 && left_of(m->rig) == 2;
}

static void waits_in_vain_spin_less_and_less(struct kunit *test)
{
	struct meeting *m = meeting_make(test);
	unsigned int skip;

	for (skip = 1; skip <= ANTS_SPIN_SKIP_MAX; skip = 2 * skip + 1)
		EXPECT_SOON(test, wait_in_vain_leads_to(m, skip / 2, skip));
	EXPECT_SOON(test, wait_in_vain_leads_to(m, ANTS_SPIN_SKIP_MAX, ANTS_SPIN_SKIP_MAX));
}

static void skipped_wait_changes_nothing_else(struct kunit *test)
{
	struct meeting *m = meeting_make(test);

	EXPECT_SOON(test, wait_is_skipped(m));
}

/* The grant has to come in time, which this machine may need some attempts for. */
static bool meets_in_time(struct meeting *m)
{
	set_spin(m->rig, 7, 0);
	meet(m, false);
	return !skip_of(m->rig) && !left_of(m->rig);
}

static void grant_in_time_has_all_waits_spin(struct kunit *test)
{
	struct meeting *m = meeting_make(test);

	EXPECT_SOON(test, meets_in_time(m));
}

static int hog_fn(void *unused)
{
	while (!kthread_should_stop())
		cond_resched();
	return 0;
}

/* It may be the worker that makes room. */
static void no_wait_spins_while_another_thread_wants_the_cpu(struct kunit *test)
{
	struct meeting *m = meeting_make(test);
	struct task_struct *hog = kthread_create(hog_fn, NULL, "hog");

	KUNIT_ASSERT_FALSE(test, IS_ERR(hog));
	kthread_bind(hog, 0);
	set_spin(m->rig, 7, 3);
	wake_up_process(hog);
	m->until_asleep = true;
	KUNIT_EXPECT_EQ(test, ants_submit(m->rig->pool, meeting_task, m), 0);
	EXPECT_SOON(test, READ_ONCE(m->worker));
	KUNIT_EXPECT_EQ(test, ants_submit(m->rig->pool, count_task, &m->rig->count), 0);
	kthread_stop(hog);
	KUNIT_EXPECT_EQ(test, skip_of(m->rig), 7);
	KUNIT_EXPECT_EQ(test, left_of(m->rig), 3);
}

static void sleeping_task(void *data)
{
	struct meeting *m = data;

	WRITE_ONCE(m->worker, current);
	gate_task(&m->rig->gate);
}

/* A task that sleeps is no reason to spin. */
static void nothing_runs_nothing_spins(struct kunit *test)
{
	struct meeting *m = meeting_make(test);
	struct rig *rig = m->rig;
	struct async_call *call;

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, sleeping_task, m), 0);
	ASSERT_SOON(test, READ_ONCE(m->worker) && sleeps(m->worker));
	set_spin(rig, 7, 3);
	call = submit_async(test, rig->pool, count_task, &rig->count, FOREVER);
	ASSERT_SOON(test, ants_nr_waiting(rig->pool) == 1);
	gate_open(&rig->gate);
	expect_result(test, call, 0);
	KUNIT_EXPECT_EQ(test, skip_of(rig), 7);
	KUNIT_EXPECT_EQ(test, left_of(rig), 3);
}

static struct kunit_case spin_cases[] = {
	KUNIT_CASE(waits_in_vain_spin_less_and_less),
	KUNIT_CASE(skipped_wait_changes_nothing_else),
	KUNIT_CASE(waits_that_give_up_count),
	KUNIT_CASE(grant_in_time_has_all_waits_spin),
	KUNIT_CASE(no_wait_spins_while_another_thread_wants_the_cpu),
	KUNIT_CASE(nothing_runs_nothing_spins),
	{}
};

static struct kunit_suite spin_suite = {
	.name = "ants_spin",
	.test_cases = spin_cases,
};

kunit_test_suite(spin_suite);

MODULE_DESCRIPTION("ants: KUnit tests of waits that spin");
MODULE_LICENSE("GPL");
