/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that differs between kernel versions is here. Features are
 * detected by the preprocessor where possible, because stable kernels backport
 * newer names.
 */
#ifndef _ANTS_COMPAT_H
#define _ANTS_COMPAT_H

#include <linux/errno.h>
#include <linux/fs_struct.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
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
#elif defined(CONFIG_X86)
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

#endif /* _ANTS_COMPAT_H */
