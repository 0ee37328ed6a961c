/* SPDX-License-Identifier: GPL-2.0-only */
/* No CPU comes or goes. */
#ifndef _SHIM_CPUHOTPLUG_H
#define _SHIM_CPUHOTPLUG_H

#define CPUHP_BP_PREPARE_DYN	1
#define CPUHP_AP_ONLINE_DYN	2

static inline int cpuhp_setup_state_nocalls(int state, const char *name,
					    int (*comes)(unsigned int cpu),
					    int (*goes)(unsigned int cpu))
{
	return state;
}

static inline void cpuhp_remove_state_nocalls(int state)
{
}

#endif
