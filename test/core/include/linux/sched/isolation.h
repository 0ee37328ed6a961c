/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SCHED_ISOLATION_H
#define _SHIM_SCHED_ISOLATION_H

#include <linux/cpumask.h>
#include <linux/rcupdate.h>

enum hk_type {
	HK_TYPE_DOMAIN,
	HK_TYPE_KTHREAD,
};

#define housekeeping_cpumask(type)	cpu_possible_mask

#endif
