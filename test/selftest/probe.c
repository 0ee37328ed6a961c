// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that kernel/compat.h and kunit/test_compat.h define, used once. test/selftest/probe
 * compiles this against changed headers of kernels.
 */
#if __has_include("../kunit/test_compat.h")
#include "../kunit/test_compat.h"
#endif
#include "compat.h"

#include <linux/irq_work.h>
#include <linux/sched/isolation.h>

enum hrtimer_restart every_fired(struct hrtimer *hrtimer);
void every_ran(struct irq_work *work);
int every(struct task_struct *task, struct timer_list *timer, struct hrtimer *hrtimer);

struct every {
	struct timer_list timer;
	struct kobject kobj;
};

enum hrtimer_restart every_fired(struct hrtimer *hrtimer)
{
	return HRTIMER_NORESTART;
}

void every_ran(struct irq_work *work)
{
}

int every(struct task_struct *task, struct timer_list *timer, struct hrtimer *hrtimer)
{
	static const struct kobj_type type;
	struct every *e = timer_container_of(e, timer, timer);
	struct irq_work work = IRQ_WORK_INIT_HARD(every_ran);
	enum hk_type hk = HK_TYPE_DOMAIN;
	unsigned int state = TASK_IDLE | TASK_FREEZABLE | TASK_FREEZABLE_UNSAFE;

	ants_might_sleep();
	kobject_init(&e->kobj, (struct kobj_type *)&type);
	hrtimer_setup(hrtimer, every_fired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	set_current_state(ants_sleep_state(state));
	freezable_schedule();
	ants_charge_nobody();
	kthread_associate_blkcg(NULL);
	scoped_with_init_fs()
		every_ran(&work);
	ants_plug = NULL;
	if (ants_migration_disabled || current->flags & ANTS_PF_SCOPES || ants_memcg)
		every_ran(&work);
	if (task_is_running(task) || ants_state_of(task) || ants_on_cpu(task) ||
	    ants_should_stop() || in_hardirq() || module_args(THIS_MODULE))
		kthread_complete_and_exit(NULL, 0);
	timer_destroy_on_stack(timer);
	return timer_delete(timer) + timer_delete_sync(timer) + ants_llc_of(0) +
	       kthread_affine_preferred(task, housekeeping_cpumask(hk)) +
	       cpumask_weight(housekeeping_cpumask(HK_TYPE_KTHREAD)) +
	       sched_setattr_nocheck(task, NULL) + (int)ants_schedule_timeout(state, 1);
}
