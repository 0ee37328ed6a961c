/* SPDX-License-Identifier: GPL-2.0-only */
/* One package, whose caches are unknown; no core has two threads. */
#ifndef _SHIM_TOPOLOGY_H
#define _SHIM_TOPOLOGY_H

#include <linux/cpumask.h>

#define topology_core_cpumask(cpu)	((void)(cpu), cpu_possible_mask)
#define topology_sibling_cpumask(cpu)	(&(const struct cpumask){ BIT(cpu) })

#endif
