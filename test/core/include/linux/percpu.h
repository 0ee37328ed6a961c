/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_PERCPU_H
#define _SHIM_PERCPU_H

#include <linux/sched.h>
#include <linux/slab.h>

#define alloc_percpu(type)	((type *)shim_alloc(NR_CPUS * sizeof(type)))
#define free_percpu(p)		kfree(p)
#define per_cpu_ptr(p, cpu)	(&(p)[cpu])
#define this_cpu_ptr(p)		per_cpu_ptr(p, raw_smp_processor_id())
#define this_cpu_read(var)	(*this_cpu_ptr(&(var)))
#define this_cpu_inc_return(var)					\
	(shim_wrote(this_cpu_ptr(&(var))),				\
	 __atomic_add_fetch(this_cpu_ptr(&(var)), 1, __ATOMIC_RELAXED))

#endif
