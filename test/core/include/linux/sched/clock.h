/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_LINUX_SCHED_CLOCK_H
#define _SHIM_LINUX_SCHED_CLOCK_H

#include <linux/ktime.h>

#define local_clock()		ktime_get_ns()

#endif /* _SHIM_LINUX_SCHED_CLOCK_H */
