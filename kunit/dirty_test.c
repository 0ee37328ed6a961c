// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that leave their thread in another state than they found it. The next
 * task in the same thread must not notice.
 */
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "rig.h"

#define NAME	"dirty"

/* What a task finds in its thread. */
struct found {
	int preempt;
	int rcu;
	bool irqs_off;
	bool signal;
	bool mm;
	bool rights;
	unsigned int state;
};

static struct found found;

static void look_task(void *data)
{
	found.preempt = preempt_count();
	found.rcu = rcu_preempt_depth();
	found.irqs_off = irqs_disabled();
	found.signal = signal_pending(current);
	found.mm = current->mm;
	found.rights = current_cred() != current_real_cred();
	found.state = ants_state_of(current);
	atomic_inc(data);
}

static void good_task(void *data)
{
	rcu_read_lock();
	local_bh_disable();
	local_bh_enable();
	rcu_read_unlock();
}

static void preempt_task(void *data)
{
	preempt_disable();
}

static void preempt_again_task(void *data)
{
	preempt_disable();
	preempt_disable();
}

static void bh_task(void *data)
{
	local_bh_disable();
}

static void rcu_task(void *data)
{
	rcu_read_lock();
	rcu_read_lock();
	/* For sparse: what stays is meant to. */
	__release(RCU);
	__release(RCU);
}

static void irq_task(void *data)
{
	local_irq_disable();
}

static void state_task(void *data)
{
	__set_current_state(TASK_INTERRUPTIBLE);
}

static void signal_task(void *data)
{
	allow_signal(SIGUSR1);
	send_sig(SIGUSR1, current, 1);
}

static struct mm_struct *test_mm;

static void mm_task(void *data)
{
	kthread_use_mm(test_mm);
}

static const struct cred *test_cred;

static void cred_task(void *data)
{
	override_creds(test_cred);
}

static void all_task(void *data)
{
	rcu_read_lock();
	__release(RCU);
	local_bh_disable();
	preempt_disable();
	local_irq_disable();
}

/* A report of @function, which has left @what behind, will be in the log. */
static void announce(const char *function, const char *what)
{
	pr_info("ants-expect: ^ants: pool " NAME ": %s .* has returned with %s\n",
		function, what);
}

static void expect_clean(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, found.preempt, 0);
	KUNIT_EXPECT_EQ(test, found.rcu, 0);
	KUNIT_EXPECT_FALSE(test, found.irqs_off);
	KUNIT_EXPECT_FALSE(test, found.signal);
	KUNIT_EXPECT_FALSE(test, found.mm);
	KUNIT_EXPECT_FALSE(test, found.rights);
	KUNIT_EXPECT_EQ(test, found.state, 0U);
}

/* The task leaves something behind, twice, which counts and is reported once. */
static void leave(struct kunit *test, ants_fn_t fn)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	u64 dirty;

	for (dirty = 1; dirty <= 2; dirty++) {
		memset(&found, 0xff, sizeof(found));
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, fn, NULL), 0);
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, look_task,
						  &rig->count), 0);
		KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool,
							 TEST_DEADLINE), 0);
		expect_clean(test);
		KUNIT_EXPECT_EQ(test, stats_of(rig->pool).dirty, dirty);
	}
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1ULL);
}

static void clean_task_is_left_alone(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, good_task, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).dirty, 0ULL);
}

static void preemption_is_off(struct kunit *test)
{
	announce("preempt_task", "preemption off");
	leave(test, preempt_task);
}

/* Another function is reported, too. */
static void preemption_is_off_twice(struct kunit *test)
{
	announce("preempt_again_task", "preemption off");
	leave(test, preempt_again_task);
}

static void softirqs_are_off(struct kunit *test)
{
	announce("bh_task", "softirqs off");
	leave(test, bh_task);
}

static void reader_goes_on(struct kunit *test)
{
	announce("rcu_task", "an RCU section open");
	leave(test, rcu_task);
}

static void interrupts_are_off(struct kunit *test)
{
	announce("irq_task", "interrupts off");
	leave(test, irq_task);
}

static void sleep_was_begun(struct kunit *test)
{
	announce("state_task", "a sleep begun");
	leave(test, state_task);
}

static void signal_is_pending(struct kunit *test)
{
	announce("signal_task", "a signal pending");
	leave(test, signal_task);
}

static void address_space_is_kept(struct kunit *test)
{
	struct task_struct *init = get_pid_task(find_vpid(1), PIDTYPE_PID);

	KUNIT_ASSERT_NOT_NULL(test, init);
	test_mm = get_task_mm(init);
	put_task_struct(init);
	KUNIT_ASSERT_NOT_NULL(test, test_mm);
	announce("mm_task", "an address space in use");
	leave(test, mm_task);
	mmput(test_mm);
}

static void rights_are_kept(struct kunit *test)
{
	test_cred = prepare_kernel_cred(&init_task);
	KUNIT_ASSERT_NOT_NULL(test, test_cred);
	announce("cred_task", "the rights of others");
	leave(test, cred_task);
	put_cred(test_cred);
}

static void everything_is_left(struct kunit *test)
{
	announce("all_task", "interrupts off");
	announce("all_task", "softirqs off");
	announce("all_task", "an RCU section open");
	announce("all_task", "preemption off");
	leave(test, all_task);
}

static struct kunit_case dirty_cases[] = {
	KUNIT_CASE(clean_task_is_left_alone),
	KUNIT_CASE(preemption_is_off),
	KUNIT_CASE(preemption_is_off_twice),
	KUNIT_CASE(softirqs_are_off),
	KUNIT_CASE(reader_goes_on),
	KUNIT_CASE(interrupts_are_off),
	KUNIT_CASE(sleep_was_begun),
	KUNIT_CASE(signal_is_pending),
	KUNIT_CASE(address_space_is_kept),
	KUNIT_CASE(rights_are_kept),
	KUNIT_CASE(everything_is_left),
	{}
};

static int dirty_init(struct kunit *test)
{
	need_module(test);
	return 0;
}

static struct kunit_suite dirty_suite = {
	.name = "ants_dirty",
	.init = dirty_init,
	.test_cases = dirty_cases,
};

kunit_test_suite(dirty_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that leave something behind");
MODULE_LICENSE("GPL");
