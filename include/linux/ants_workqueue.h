/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: the calls of <linux/workqueue.h>, on pools; for a first try. A source file
 * that has
 *
 *	#include <linux/ants_workqueue.h>
 *
 * after all of its other header files needs no other change, and each workqueue that
 * it creates is a pool, with a directory in /sys/kernel/ants. No other header file
 * may follow, because structures that the kernel shares with it must not change. A
 * driver of several files has the line in its own header file, after the header
 * files of the kernel.
 *
 *	max_active		capacity; 0 is %WQ_DFL_ACTIVE, and the limits are those
 *				of a workqueue. As before, it is for each node if
 *				unbound, else for each CPU
 *	WQ_MEM_RECLAIM		%ANTS_MEM_RECLAIM
 *	WQ_FREEZABLE		%ANTS_FREEZABLE
 *	WQ_HIGHPRI		the lowest nice value
 *	ordered			ants_pool_create_ordered()
 *	system workqueues	ants_system_pool, and its bound
 *	other flags		nothing to do
 *
 * An item keeps its rules: it is in one place at a time and never runs twice at once,
 * its function may free it, and queueing it neither waits nor fails. For this the limits
 * of the pools are fixed (%ANTS_FIXED). The price is an item that is large, and a lock
 * that all items of a file share; a driver that stays should be ported, see
 * Documentation/porting.rst. What has no counterpart does not compile, and the compiler
 * says why. But it cannot see a function that relies on a bound workqueue to run it on
 * the CPU that has queued it: here it runs on any, and beside others of that CPU.
 */
#ifndef _LINUX_ANTS_WORKQUEUE_H
#define _LINUX_ANTS_WORKQUEUE_H

#include <linux/ants_wq.h>

/* --- what does not compile ------------------------------------------------------ */

#define ANTS_WQ_CHECK(condition, why)						\
	BUILD_BUG_ON_MSG(!(condition), "linux/ants_workqueue.h: " why)

/* The same for a call from which a value is expected. */
#define ANTS_WQ_NO(type, why)	({ ANTS_WQ_CHECK(0, why); (type)0; })

/* Check that an item is one of ants; for a delayed item, return the item in it. */
#define ANTS_WQ_ITEM(_work)	({						\
	typeof(_work) __work = (_work);						\
										\
	ANTS_WQ_CHECK(__same_type(__work, struct ants_wq_work *),		\
		      "this work item is declared in a header file before this one"); \
	__work;									\
})
#define ANTS_WQ_DELAYED(_dwork)	({						\
	typeof(_dwork) __dwork = (_dwork);					\
										\
	ANTS_WQ_CHECK(__same_type(__dwork, struct ants_wq_delayed *),		\
		      "this work item is declared in a header file before this one"); \
	&__dwork->work;								\
})

#define ANTS_WQ_CPU(cpu)							\
	ANTS_WQ_CHECK(__builtin_constant_p(cpu) && (cpu) == WORK_CPU_UNBOUND,	\
		      "no thread of a pool belongs to a CPU; see ants_set_cpumask()")

#define ANTS_WQ_FLAGS	(WQ_UNBOUND | WQ_FREEZABLE | WQ_MEM_RECLAIM | WQ_HIGHPRI | \
			 WQ_CPU_INTENSIVE | WQ_SYSFS | WQ_POWER_EFFICIENT |	\
			 __WQ_ORDERED | __WQ_LEGACY)

/* --- the names of <linux/workqueue.h>, from here on ------------------------------ */

#undef INIT_WORK
#undef INIT_WORK_ONSTACK
#undef INIT_DELAYED_WORK
#undef INIT_DELAYED_WORK_ONSTACK
#undef INIT_DEFERRABLE_WORK
#undef INIT_DEFERRABLE_WORK_ONSTACK
#undef INIT_RCU_WORK
#undef DECLARE_WORK
#undef DECLARE_DELAYED_WORK
#undef DECLARE_DEFERRABLE_WORK
#undef work_pending
#undef delayed_work_pending
#undef alloc_workqueue
#undef alloc_ordered_workqueue
#undef create_workqueue
#undef create_freezable_workqueue
#undef create_singlethread_workqueue
#undef flush_workqueue
#undef flush_scheduled_work

#define workqueue_struct	ants_pool
#define work_struct		ants_wq_work
#define delayed_work		ants_wq_delayed
#define work_func_t		ants_wq_func_t

#define DECLARE_WORK(name, func)						\
	struct ants_wq_work name = ANTS_WQ_INITIALIZER(func)
#define DECLARE_DELAYED_WORK(name, func)					\
	struct ants_wq_delayed name = { .work = ANTS_WQ_INITIALIZER(func) }
#define DECLARE_DEFERRABLE_WORK	DECLARE_DELAYED_WORK

#define INIT_WORK(_work, _func)							\
	ants_wq_init(ANTS_WQ_ITEM(_work), _func, &ants_wq_file)
#define INIT_WORK_ONSTACK(_work, _func)						\
	ants_wq_init_onstack(ANTS_WQ_ITEM(_work), _func, &ants_wq_file)
#define INIT_DELAYED_WORK(_dwork, _func)					\
	ants_wq_init(ANTS_WQ_DELAYED(_dwork), _func, &ants_wq_file)
#define INIT_DELAYED_WORK_ONSTACK(_dwork, _func)				\
	ants_wq_init_onstack(ANTS_WQ_DELAYED(_dwork), _func, &ants_wq_file)
#define INIT_DEFERRABLE_WORK		INIT_DELAYED_WORK
#define INIT_DEFERRABLE_WORK_ONSTACK	INIT_DELAYED_WORK_ONSTACK
#define to_delayed_work(_work)							\
	container_of(_work, struct ants_wq_delayed, work)
#define destroy_work_on_stack(_work)						\
	ants_destroy_delayed_work_on_stack(&ANTS_WQ_ITEM(_work)->item)
#define destroy_delayed_work_on_stack(_dwork)					\
	ants_destroy_delayed_work_on_stack(&ANTS_WQ_DELAYED(_dwork)->item)

#define alloc_workqueue(fmt, flags, max_active, ...)	({			\
	const unsigned int __flags = (flags);					\
										\
	ANTS_WQ_CHECK(__builtin_constant_p(__flags),				\
		      "the flags of a workqueue must be known to the compiler"); \
	ANTS_WQ_CHECK(!(__flags & ~ANTS_WQ_FLAGS),				\
		      "a flag of this workqueue has no counterpart");		\
	ants_wq_alloc(__flags, max_active, fmt, ##__VA_ARGS__);			\
})
#define alloc_ordered_workqueue(fmt, flags, ...)				\
	alloc_workqueue(fmt, WQ_UNBOUND | __WQ_ORDERED | (flags), 1, ##__VA_ARGS__)
#define create_workqueue(name)							\
	alloc_workqueue("%s", WQ_MEM_RECLAIM, 1, name)
#define create_freezable_workqueue(name)					\
	alloc_ordered_workqueue("%s", WQ_FREEZABLE | WQ_MEM_RECLAIM, name)
#define create_singlethread_workqueue(name)					\
	alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM, name)
#define destroy_workqueue	ants_wq_destroy
#define flush_workqueue		ants_wq_flush_all
#define drain_workqueue		ants_wq_drain

#define queue_work(_wq, _work)							\
	ants_wq_queue(_wq, ANTS_WQ_ITEM(_work), 0)
#define queue_delayed_work(_wq, _dwork, _delay)					\
	ants_wq_queue(_wq, ANTS_WQ_DELAYED(_dwork), _delay)
#define mod_delayed_work(_wq, _dwork, _delay)					\
	ants_wq_mod(_wq, ANTS_WQ_DELAYED(_dwork), _delay)
#define queue_work_on(_cpu, _wq, _work)						\
	({ ANTS_WQ_CPU(_cpu); queue_work(_wq, _work); })
#define queue_delayed_work_on(_cpu, _wq, _dwork, _delay)			\
	({ ANTS_WQ_CPU(_cpu); queue_delayed_work(_wq, _dwork, _delay); })
#define mod_delayed_work_on(_cpu, _wq, _dwork, _delay)				\
	({ ANTS_WQ_CPU(_cpu); mod_delayed_work(_wq, _dwork, _delay); })

#define flush_work(_work)		ants_wq_flush(ANTS_WQ_ITEM(_work), false)
#define flush_delayed_work(_dwork)	ants_wq_flush(ANTS_WQ_DELAYED(_dwork), true)
#define cancel_work(_work)		ants_wq_cancel(ANTS_WQ_ITEM(_work))
#define cancel_delayed_work(_dwork)	ants_wq_cancel(ANTS_WQ_DELAYED(_dwork))
#define cancel_work_sync(_work)		ants_wq_cancel_sync(ANTS_WQ_ITEM(_work))
#define cancel_delayed_work_sync(_dwork)					\
	ants_wq_cancel_sync(ANTS_WQ_DELAYED(_dwork))
#define work_pending(_work)		READ_ONCE(ANTS_WQ_ITEM(_work)->pending)
#define delayed_work_pending(_dwork)	READ_ONCE(ANTS_WQ_DELAYED(_dwork)->pending)
#define work_busy(_work)		ants_wq_busy(ANTS_WQ_ITEM(_work))

/* The system pool. Its bound holds here as well. */
#define schedule_work(work)		queue_work(ants_system_pool, work)
#define schedule_delayed_work(dwork, delay)					\
	queue_delayed_work(ants_system_pool, dwork, delay)
#define schedule_work_on(cpu, work)	queue_work_on(cpu, ants_system_pool, work)
#define schedule_delayed_work_on(cpu, dwork, delay)				\
	queue_delayed_work_on(cpu, ants_system_pool, dwork, delay)
#define system_wq			ants_system_pool
#define system_long_wq			ants_system_pool
#define system_unbound_wq		ants_system_pool
#define system_power_efficient_wq	ants_system_pool
#define system_highpri_wq						\
	ANTS_WQ_NO(struct ants_pool *, "the system pool has no priority; make a pool")
#define system_freezable_wq						\
	ANTS_WQ_NO(struct ants_pool *, "the system pool is not freezable; make a pool")
#define system_freezable_power_efficient_wq	system_freezable_wq
#define flush_scheduled_work()						\
	ANTS_WQ_NO(int, "the system pool has tasks of others; flush each item")

#define workqueue_set_max_active(wq, max_active)			\
	ANTS_WQ_NO(int, "the capacity is for all CPUs; see ants_tune()")
#define workqueue_congested(cpu, wq)					\
	ANTS_WQ_NO(bool, "a pool is congested or not as a whole; see ants_nr_free()")
#define queue_work_node(node, wq, work)					\
	ANTS_WQ_NO(bool, "a pool has one node, or none; see ANTS_ON_NODE")
#define apply_workqueue_attrs(wq, attrs)				\
	ANTS_WQ_NO(int, "see ants_set_nice() and ants_set_cpumask()")
#define schedule_on_each_cpu(func)					\
	ANTS_WQ_NO(int, "no thread of a pool belongs to a CPU")
#define current_work()							\
	ANTS_WQ_NO(struct ants_wq_work *, "a task does not know its work item")
#define INIT_RCU_WORK(rwork, func)					\
	ANTS_WQ_NO(int, "use call_rcu(), and queue the work item there")
#define queue_rcu_work(wq, rwork)					\
	ANTS_WQ_NO(bool, "use call_rcu(), and queue the work item there")
#define flush_rcu_work(rwork)						\
	ANTS_WQ_NO(bool, "use rcu_barrier(), and flush the work item")

#endif /* _LINUX_ANTS_WORKQUEUE_H */
