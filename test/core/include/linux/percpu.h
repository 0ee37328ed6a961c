/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_PERCPU_H
#define _SHIM_PERCPU_H

#include <linux/sched.h>
#include <linux/slab.h>

#define alloc_percpu(type)	((type *)shim_alloc(NR_CPUS * sizeof(type)))
#define free_percpu(p)		kfree(p)
#define per_cpu(var, cpu)	((&(var))[cpu])
#define this_cpu_read(var)	per_cpu(var, raw_smp_processor_id())
#define this_cpu_inc_return(var)					\
	(shim_wrote(&per_cpu(var, raw_smp_processor_id())),		\
	 __atomic_add_fetch(&per_cpu(var, raw_smp_processor_id()), 1,	\
			    __ATOMIC_RELAXED))

#endif
