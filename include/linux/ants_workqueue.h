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
 *	other flags		nothing to do; %WQ_BH does not compile
 *
 * An item keeps its rules: it is in one place at a time and never runs twice at once,
 * its function may free it, and queueing it neither waits nor fails. For this the limits
 * of the pools are fixed (%ANTS_FIXED). The price is an item that is large, and a lock
 * that all items of a file share; a driver that stays should be ported, see
 * Documentation/porting.rst. What has no counterpart does not compile, and the compiler
 * says why. But it cannot see a function that relies on a bound workqueue to run it on
 * the CPU that has queued it: here it runs on any, and beside others of that CPU.
 *
 * The names are those of 7.3, whatever the kernel. What else differs from a workqueue:
 *
 * - An item whose timer has fired cannot be taken back until the timer function has
 *   looked at it: cancel_delayed_work() returns false then, and the item runs. If
 *   mod_delayed_work() comes then, the item stays in the workqueue that it was in.
 * - While a caller of cancel_work_sync() waits, mod_delayed_work() and work_pending()
 *   return false, as from 6.10 on.
 * - destroy_workqueue() disarms the timers of its items. As before, such an item is
 *   pending until it is cancelled, and its timer is not to be relied on.
 * - A second caller of flush_workqueue() also waits for what is queued while it waits for
 *   the first one.
 * - If a run is taken back for which flush_work() waits, the caller also waits for the run
 *   of that item that has not ended. With a workqueue that depends on its workers.
 * - While the system pool is full, flush_work() waits for what waits for room there.
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
			 WQ_PERCPU | __WQ_ORDERED | __WQ_LEGACY)

/* --- the names of <linux/workqueue.h>, from here on ------------------------------ */

#undef INIT_WORK
#undef INIT_WORK_ONSTACK
#undef INIT_DELAYED_WORK
#undef INIT_DELAYED_WORK_ONSTACK
#undef INIT_DEFERRABLE_WORK
#undef INIT_DEFERRABLE_WORK_ONSTACK
#undef INIT_RCU_WORK
#undef INIT_RCU_WORK_ONSTACK
#undef INIT_WORK_ONSTACK_KEY
#undef __INIT_WORK
#undef __INIT_DELAYED_WORK
#undef __INIT_DELAYED_WORK_ONSTACK
#undef __WORK_INITIALIZER
#undef __DELAYED_WORK_INITIALIZER
#undef DECLARE_WORK
#undef DECLARE_DELAYED_WORK
#undef DECLARE_DEFERRABLE_WORK
#undef work_pending
#undef delayed_work_pending
#undef work_data_bits
#undef from_work
#undef alloc_workqueue
#undef alloc_workqueue_attrs
#undef alloc_ordered_workqueue
#undef alloc_ordered_workqueue_lockdep_map
#undef devm_alloc_workqueue
#undef devm_alloc_ordered_workqueue
#undef create_workqueue
#undef create_freezable_workqueue
#undef create_singlethread_workqueue
#undef flush_workqueue
#undef flush_scheduled_work

#define workqueue_struct	ants_pool
#define work_struct		ants_wq_work
#define delayed_work		ants_wq_delayed
#define work_func_t		ants_wq_func_t

#define __WORK_INITIALIZER(name, func)			ANTS_WQ_INITIALIZER(func)
#define __DELAYED_WORK_INITIALIZER(name, func, flags)				\
	{ .work = ANTS_WQ_INITIALIZER(func) }
#define DECLARE_WORK(name, func)						\
	struct ants_wq_work name = ANTS_WQ_INITIALIZER(func)
#define DECLARE_DELAYED_WORK(name, func)					\
	struct ants_wq_delayed name = { .work = ANTS_WQ_INITIALIZER(func) }
#define DECLARE_DEFERRABLE_WORK	DECLARE_DELAYED_WORK

#define INIT_WORK(_work, _func)							\
	ants_wq_init(ANTS_WQ_ITEM(_work), _func)
#define INIT_WORK_ONSTACK(_work, _func)						\
	ants_wq_init_onstack(ANTS_WQ_ITEM(_work), _func)
#define INIT_WORK_ONSTACK_KEY(_work, _func, _key)	INIT_WORK_ONSTACK(_work, _func)
#define INIT_DELAYED_WORK(_dwork, _func)					\
	ants_wq_init(ANTS_WQ_DELAYED(_dwork), _func)
#define INIT_DELAYED_WORK_ONSTACK(_dwork, _func)				\
	ants_wq_init_onstack(ANTS_WQ_DELAYED(_dwork), _func)
#define __INIT_WORK(_work, _func, _onstack)		INIT_WORK(_work, _func)
#define __INIT_DELAYED_WORK(_dwork, _func, _flags)	INIT_DELAYED_WORK(_dwork, _func)
#define __INIT_DELAYED_WORK_ONSTACK(_dwork, _func, _flags)			\
	INIT_DELAYED_WORK_ONSTACK(_dwork, _func)
#define INIT_DEFERRABLE_WORK		INIT_DELAYED_WORK
#define INIT_DEFERRABLE_WORK_ONSTACK	INIT_DELAYED_WORK_ONSTACK
#define to_delayed_work(_work)							\
	container_of(_work, struct ants_wq_delayed, work)
#define from_work(_var, _work, _field)						\
	container_of(_work, typeof(*(_var)), _field)
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
#define alloc_workqueue_noprof		alloc_workqueue
#define devm_alloc_workqueue_noprof	devm_alloc_workqueue
#define alloc_ordered_workqueue(fmt, flags, ...)				\
	alloc_workqueue(fmt, WQ_UNBOUND | __WQ_ORDERED | (flags), 1, ##__VA_ARGS__)
/* A pool has a map of its own. */
#define alloc_workqueue_lockdep_map(fmt, flags, max_active, map, ...)		\
	alloc_workqueue(fmt, flags, max_active, ##__VA_ARGS__)
#define alloc_ordered_workqueue_lockdep_map(fmt, flags, map, ...)		\
	alloc_ordered_workqueue(fmt, flags, ##__VA_ARGS__)
#define devm_alloc_workqueue(dev, ...)						\
	ants_wq_devm(dev, alloc_workqueue(__VA_ARGS__))
#define devm_alloc_ordered_workqueue(dev, ...)					\
	ants_wq_devm(dev, alloc_ordered_workqueue(__VA_ARGS__))
#define create_workqueue(name)							\
	alloc_workqueue("%s", WQ_MEM_RECLAIM, 1, name)
#define create_freezable_workqueue(name)					\
	alloc_ordered_workqueue("%s", WQ_FREEZABLE | WQ_MEM_RECLAIM, name)
#define create_singlethread_workqueue(name)					\
	alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM, name)
#define destroy_workqueue	ants_wq_destroy
#define flush_workqueue		ants_wq_flush_all
#define __flush_workqueue	ants_wq_flush_all
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
#define cancel_work(_work)		ants_wq_cancel(ANTS_WQ_ITEM(_work), false)
#define cancel_delayed_work(_dwork)	ants_wq_cancel(ANTS_WQ_DELAYED(_dwork), false)
#define cancel_work_sync(_work)		ants_wq_cancel_sync(ANTS_WQ_ITEM(_work), false)
#define cancel_delayed_work_sync(_dwork)					\
	ants_wq_cancel_sync(ANTS_WQ_DELAYED(_dwork), false)
#define disable_work(_work)		ants_wq_cancel(ANTS_WQ_ITEM(_work), true)
#define disable_work_sync(_work)	ants_wq_cancel_sync(ANTS_WQ_ITEM(_work), true)
#define disable_delayed_work(_dwork)	ants_wq_cancel(ANTS_WQ_DELAYED(_dwork), true)
#define disable_delayed_work_sync(_dwork)					\
	ants_wq_cancel_sync(ANTS_WQ_DELAYED(_dwork), true)
#define enable_work(_work)		ants_wq_enable(ANTS_WQ_ITEM(_work))
#define enable_delayed_work(_dwork)	ants_wq_enable(ANTS_WQ_DELAYED(_dwork))
#define enable_and_queue_work(_wq, _work)					\
	ants_wq_enable_and_queue(_wq, ANTS_WQ_ITEM(_work))
#define work_pending(_work)		(work_busy(_work) & WORK_BUSY_PENDING)
#define delayed_work_pending(_dwork)	work_pending(&(_dwork)->work)
#define work_busy(_work)		ants_wq_busy(ANTS_WQ_ITEM(_work))

/* The system pool. Its bound holds here as well. */
#define schedule_work(work)		queue_work(ants_system_pool, work)
#define schedule_delayed_work(dwork, delay)					\
	queue_delayed_work(ants_system_pool, dwork, delay)
#define schedule_work_on(cpu, work)	queue_work_on(cpu, ants_system_pool, work)
#define schedule_delayed_work_on(cpu, dwork, delay)				\
	queue_delayed_work_on(cpu, ants_system_pool, dwork, delay)
#define system_wq			ants_system_pool
#define system_percpu_wq		ants_system_pool
#define system_dfl_wq			ants_system_pool
#define system_dfl_long_wq		ants_system_pool
#define system_long_wq			ants_system_pool
#define system_unbound_wq		ants_system_pool
#define system_power_efficient_wq	ants_system_pool
#define system_highpri_wq						\
	ANTS_WQ_NO(struct ants_pool *, "the system pool has no priority; make a pool")
#define system_freezable_wq						\
	ANTS_WQ_NO(struct ants_pool *, "the system pool is not freezable; make a pool")
#define system_freezable_power_efficient_wq	system_freezable_wq
#define system_bh_wq							\
	ANTS_WQ_NO(struct ants_pool *, "a pool has threads; use a tasklet, or no softirq")
#define system_bh_highpri_wq		system_bh_wq
#define flush_scheduled_work()						\
	ANTS_WQ_NO(int, "the system pool has tasks of others; flush each item")

/* Flags that an older kernel does not have. */
#define WQ_PERCPU	BIT(8)
#define WQ_BH								\
	ANTS_WQ_NO(unsigned int, "a pool has threads; use a tasklet, or no softirq")

/* A pool has its directory in sysfs, and runs as many items as it has capacity. */
#define workqueue_sysfs_register(wq)		({ (void)(wq); 0; })
#define workqueue_set_min_active(wq, nr)	({ (void)(wq); (void)(nr); })
#define current_is_workqueue_rescuer()		false

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
#define current_is_workqueue_mem_reclaim()				\
	ANTS_WQ_NO(bool, "see ants_current_pool()")
#define execute_in_process_context(func, ew)				\
	ANTS_WQ_NO(int, "use in_interrupt() and queue_work()")
#define alloc_workqueue_attrs()						\
	ANTS_WQ_NO(struct workqueue_attrs *, "see ants_set_nice() and ants_set_cpumask()")
#define free_workqueue_attrs(attrs)					\
	ANTS_WQ_NO(int, "see ants_set_nice() and ants_set_cpumask()")
#define work_data_bits(work)						\
	ANTS_WQ_NO(unsigned long *, "see work_busy()")
#define INIT_RCU_WORK(rwork, func)					\
	ANTS_WQ_NO(int, "use call_rcu(), and queue the work item there")
#define INIT_RCU_WORK_ONSTACK		INIT_RCU_WORK
#define to_rcu_work(work)						\
	ANTS_WQ_NO(struct rcu_work *, "use call_rcu(), and queue the work item there")
#define queue_rcu_work(wq, rwork)					\
	ANTS_WQ_NO(bool, "use call_rcu(), and queue the work item there")
#define flush_rcu_work(rwork)						\
	ANTS_WQ_NO(bool, "use rcu_barrier(), and flush the work item")

#endif /* _LINUX_ANTS_WORKQUEUE_H */
