/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that differs between kernel versions is here. Features are
 * detected by the preprocessor where possible, because stable kernels backport
 * newer names.
 */
#ifndef _ANTS_COMPAT_H
#define _ANTS_COMPAT_H

#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/freezer.h>
#include <linux/fs_struct.h>
#include <linux/hrtimer.h>
#include <linux/kobject.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/timer.h>
#include <linux/topology.h>
#include <linux/version.h>

#if defined(CONFIG_X86) && !defined(topology_llc_cpumask)
#include <asm/apicdef.h>
#include <asm/processor.h>
#endif

/*
 * Where kthreads have their own root, a kthread that opens files borrows that
 * of init.
 */
#ifndef scoped_with_init_fs
#define scoped_with_init_fs()
#endif

/* Renamed in 6.16. */
#ifndef timer_container_of
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

/* The old names are gone since 6.15. */
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define timer_delete(timer)		del_timer(timer)
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

#if KERNEL_VERSION(6, 16, 0) > LINUX_VERSION_CODE
static inline void timer_destroy_on_stack(struct timer_list *timer)
{
	destroy_timer_on_stack(timer);
}
#endif

#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/*
 * Since 6.1 the state in which a task sleeps says whether it may be frozen
 * there. Before, the task itself says so while it sleeps, and freezes when it is
 * woken. The bits that stand for it here are in no state that a task has.
 */
#ifdef TASK_FREEZABLE
#define ants_sleep_state(state)	(state)
#define freezable_schedule()	schedule()

static inline long ants_schedule_timeout(unsigned int state, long timeout)
{
	return schedule_timeout(timeout);
}
#else
#define TASK_FREEZABLE		0x10000000
#define TASK_FREEZABLE_UNSAFE	0x30000000
#define ants_sleep_state(state)	((state) & ~TASK_FREEZABLE_UNSAFE)

#ifndef CONFIG_FREEZER
static inline void freezer_count_unsafe(void)
{
}
#endif

static inline long ants_schedule_timeout(unsigned int state, long timeout)
{
	if (!(state & TASK_FREEZABLE))
		return schedule_timeout(timeout);
	freezer_do_not_count();
	timeout = schedule_timeout(timeout);
	if (state & TASK_FREEZABLE_UNSAFE & ~TASK_FREEZABLE)
		freezer_count_unsafe();
	else
		freezer_count();
	return timeout;
}
#endif

/* 5.14 introduced this, and renamed the field. */
#ifndef task_is_running
#define task_is_running(task)	(READ_ONCE((task)->state) == TASK_RUNNING)
#endif

#if KERNEL_VERSION(5, 14, 0) <= LINUX_VERSION_CODE
/* The state of the caller itself, which other threads only set to running. */
#define ants_state_of(task)	data_race((task)->__state)
#else
/* The same. */
#define ants_state_of(task)	data_race((task)->state)
#endif

/* Does the other thread have a CPU? Older kernels for one CPU do not record it. */
#ifdef CONFIG_SMP
#define ants_on_cpu(task)	READ_ONCE((task)->on_cpu)
#else
#define ants_on_cpu(task)	true
#endif

/* might_sleep() without its preemption point. */
#if KERNEL_VERSION(5, 16, 0) <= LINUX_VERSION_CODE
#define ants_might_sleep()	__might_sleep(__FILE__, __LINE__)
#else
#define ants_might_sleep()	__might_sleep(__FILE__, __LINE__, 0)
#endif

/* Before 5.18 the type was a mask, of which several bits could be set. */
#if KERNEL_VERSION(5, 18, 0) > LINUX_VERSION_CODE
#define hk_type			hk_flags
#define HK_TYPE_DOMAIN		HK_FLAG_DOMAIN
#define HK_TYPE_KTHREAD		HK_FLAG_KTHREAD
#endif

/* Before 5.14 modules can set only the policies for real time. */
#if KERNEL_VERSION(5, 14, 0) <= LINUX_VERSION_CODE
#define ants_setattr		sched_setattr_nocheck
#else
static inline int ants_setattr(struct task_struct *task,
			       const struct sched_attr *attr)
{
	return -EOPNOTSUPP;
}
#endif

/* The type became const in 6.2; the kernel has never written to it. */
static inline void ants_kobject_init(struct kobject *kobj,
				     const struct kobj_type *type)
{
	kobject_init(kobj, (struct kobj_type *)type);
}

/* For the tests. */
#ifndef in_hardirq
#define in_hardirq()		in_irq()
#endif

#if KERNEL_VERSION(5, 17, 0) > LINUX_VERSION_CODE
#define kthread_complete_and_exit(done, code)	complete_and_exit(done, code)
/*
 * Threads of the kernel that kthread_create() has not made had no flag to be read:
 * the one that runs the initcalls, and one that is about to start a program.
 */
#define ants_is_kthread()	((current->flags & PF_KTHREAD) && kthread_func(current))
#else
#define ants_is_kthread()	(current->flags & PF_KTHREAD)
#endif

/* Has the caller, if it is a kthread, been told to stop? */
static inline bool ants_should_stop(void)
{
	return ants_is_kthread() && kthread_should_stop();
}

#if KERNEL_VERSION(5, 11, 0) > LINUX_VERSION_CODE
#define IRQ_WORK_INIT_HARD(fn) \
	{ .flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ), .func = (fn) }
#endif

/*
 * Since 6.14 the kernel rebinds kthreads; since 6.17 modules can say to which
 * CPUs.
 */
#if KERNEL_VERSION(6, 17, 0) <= LINUX_VERSION_CODE
#define ants_affine_preferred	kthread_affine_preferred
#else
static inline int ants_affine_preferred(struct task_struct *task,
					const struct cpumask *mask)
{
	return -EOPNOTSUPP;
}
#endif

/*
 * The last-level cache of @cpu, which is online: a number that all CPUs sharing
 * it have in common; negative if modules cannot know it. x86 exports numbers.
 * The architectures with a generic topology export masks; if a cache is not
 * known, its mask has the CPU alone.
 */
static inline int ants_llc_of(unsigned int cpu)
{
#if defined(topology_llc_cpumask)
	const struct cpumask *sharing = topology_llc_cpumask(cpu);

	return cpumask_weight(sharing) > 1 ? (int)cpumask_first(sharing) : -1;
#elif defined(CONFIG_X86) && KERNEL_VERSION(5, 15, 0) <= LINUX_VERSION_CODE
#if KERNEL_VERSION(6, 7, 0) <= LINUX_VERSION_CODE
	unsigned int llc = per_cpu_llc_id(cpu);
#else
	unsigned int llc = get_llc_id(cpu);
#endif

	return llc == BAD_APICID ? -1 : (int)llc;
#else
	return -1;
#endif
}

/*
 * The controllers of a task's cgroup, with a reference; NULL for those of the root,
 * to which kthreads are charged anyway, and where there is no such controller.
 */
#if defined(CONFIG_BLK_CGROUP) || defined(CONFIG_MEMCG)
static inline struct cgroup_subsys_state *ants_css_of(struct task_struct *task,
						      int id)
{
	struct cgroup_subsys_state *css = task_get_css(task, id);

	if (css->parent)
		return css;
	css_put(css);
	return NULL;
}

static inline void ants_css_put(struct cgroup_subsys_state *css)
{
	if (css)
		css_put(css);
}
#else
struct cgroup_subsys_state;
static inline void ants_css_put(struct cgroup_subsys_state *css)
{
}
#endif

#ifdef CONFIG_BLK_CGROUP
static inline struct cgroup_subsys_state *
ants_css_blocks(struct task_struct *task)
{
	return ants_css_of(task, io_cgrp_id);
}

static inline void ants_charge_blocks(struct cgroup_subsys_state *css)
{
	kthread_associate_blkcg(css);
}
#else
static inline struct cgroup_subsys_state *
ants_css_blocks(struct task_struct *task)
{
	return NULL;
}

static inline void ants_charge_blocks(struct cgroup_subsys_state *css)
{
}
#endif

/* Before 5.14 modules may not set it. */
#if defined(CONFIG_MEMCG) && KERNEL_VERSION(5, 14, 0) <= LINUX_VERSION_CODE
#define ANTS_CHARGES_MEMORY

static inline struct cgroup_subsys_state *
ants_css_memory(struct task_struct *task)
{
	return ants_css_of(task, memory_cgrp_id);
}

static inline void ants_charge_memory(struct cgroup_subsys_state *css)
{
	set_active_memcg(css ? mem_cgroup_from_css(css) : NULL);
}
#else
static inline struct cgroup_subsys_state *
ants_css_memory(struct task_struct *task)
{
	return NULL;
}

static inline void ants_charge_memory(struct cgroup_subsys_state *css)
{
}
#endif

#endif /* _ANTS_COMPAT_H */
