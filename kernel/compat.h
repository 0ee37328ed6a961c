/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that differs between kernels is here. Their version does not tell,
 * because distributions take over features of newer ones. What is a macro says
 * itself whether it is there; probe.sh knows the rest, as ANTS_HAVE_*. The
 * versions named here are those of the kernel's own releases.
 */
#ifndef _ANTS_COMPAT_H
#define _ANTS_COMPAT_H

#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/timer.h>
#include <linux/topology.h>
#include <generated/ants_probed.h>

#if defined(CONFIG_X86) && !defined(topology_llc_cpumask)
#include <asm/apicdef.h>
#include <asm/processor.h>
#endif

/* Renamed in 6.16. */
#ifndef timer_container_of
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

/* New names in 6.2; the old ones are gone since 6.15. */
#ifndef ANTS_HAVE_TIMER_DELETE
#define timer_delete(timer)		del_timer(timer)
#endif
#ifndef ANTS_HAVE_TIMER_DELETE_SYNC
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

/* Renamed in 5.17. */
#ifndef ANTS_HAVE_KTHREAD_COMPLETE_AND_EXIT
#define kthread_complete_and_exit(done, code)	complete_and_exit(done, code)
#endif

/* Renamed in 6.16. */
#ifndef ANTS_HAVE_TIMER_DESTROY_ON_STACK
#define timer_destroy_on_stack(timer)	destroy_timer_on_stack(timer)
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
static inline void freezer_count_unsafe(void) { }
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

/* Renamed in 5.14. */
#ifdef ANTS_HAVE_TASK___STATE
#define ants_task_state		__state
#else
#define ants_task_state		state
#endif

#ifndef task_is_running
#define task_is_running(task)	(READ_ONCE((task)->ants_task_state) == TASK_RUNNING)
#endif

/* The state of the caller itself, which other threads only set to running. */
#define ants_state_of(task)	data_race((task)->ants_task_state)

/*
 * What the caller may be in the middle of, beside what every kernel has a name for: flags
 * that change its allocations and its writes; being tied to a CPU, which before 5.11 was
 * to switch preemption off; block I/O that is gathered.
 */
#ifndef PF_MEMALLOC_PIN
#define PF_MEMALLOC_PIN		PF_MEMALLOC_NOCMA
#endif
#define ANTS_PF_SCOPES		(PF_MEMALLOC | PF_MEMALLOC_NOFS | PF_MEMALLOC_NOIO | \
				 PF_MEMALLOC_PIN | PF_LOCAL_THROTTLE)

#ifdef ANTS_HAVE_TASK_MIGRATION_DISABLED
#define ants_migration_disabled	(current->migration_disabled)
#else
#define ants_migration_disabled	0
#endif

#ifdef ANTS_HAVE_TASK_PLUG
#define ants_plug		(current->plug)
#else
#define ants_plug		((struct blk_plug *){ NULL })
#endif

/* Not every architecture has livepatches. */
#ifndef TIF_PATCH_PENDING
#define TIF_PATCH_PENDING	TIF_NEED_RESCHED
#endif

/* Does the other thread have a CPU? Older kernels for one CPU do not record it. */
#ifdef CONFIG_SMP
#define ants_on_cpu(task)	READ_ONCE((task)->on_cpu)
#else
#define ants_on_cpu(task)	true
#endif

/* might_sleep() without its preemption point; of two arguments since 5.16. */
#ifdef ANTS_HAVE_MIGHT_SLEEP_OF_TWO
#define ants_might_sleep()	__might_sleep(__FILE__, __LINE__)
#else
#define ants_might_sleep()	__might_sleep(__FILE__, __LINE__, 0)
#endif

/* Before 5.18 the type was a mask, of which several bits could be set. */
#ifndef ANTS_HAVE_HK_TYPE
#define hk_type			hk_flags
#define HK_TYPE_DOMAIN		HK_FLAG_DOMAIN
#define HK_TYPE_KTHREAD		HK_FLAG_KTHREAD
#endif

/* Before 5.14 modules can set only the policies for real time. */
#ifndef ANTS_HAVE_SCHED_SETATTR
#define sched_setattr_nocheck(task, attr)	((void)(attr), -EOPNOTSUPP)
#endif

/*
 * Has the caller, if it is a kthread, been told to stop? Before 5.17 threads of the
 * kernel that kthread_create() has not made had no flag to be read: the one that
 * runs the initcalls, and one that is about to start a program.
 */
static inline bool ants_should_stop(void)
{
	return (current->flags & PF_KTHREAD) && kthread_func(current) &&
	       kthread_should_stop();
}

/*
 * Since 6.14 the kernel rebinds kthreads; since 6.17 modules can say to which
 * CPUs.
 */
#ifndef ANTS_HAVE_AFFINE_PREFERRED
#define kthread_affine_preferred(task, mask)	((void)(mask), -EOPNOTSUPP)
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
#elif defined(ANTS_HAVE_PER_CPU_LLC_ID) || defined(ANTS_HAVE_GET_LLC_ID)
#ifdef ANTS_HAVE_PER_CPU_LLC_ID
	unsigned int llc = per_cpu_llc_id(cpu);
#else
	unsigned int llc = get_llc_id(cpu);
#endif

	return llc == BAD_APICID ? -1 : (int)llc;
#else
	return -1;
#endif
}

/* Before 5.14 modules may not set to which cgroup memory is charged. */
#if defined(CONFIG_MEMCG) && defined(ANTS_HAVE_ACTIVE_MEMCG)
#define ants_memcg		((void *)current->active_memcg)
#define ants_charge_nobody()	((void)set_active_memcg(NULL))
#else
#define ants_memcg		NULL
#define ants_charge_nobody()	((void)0)
#endif

#endif /* _ANTS_COMPAT_H */
