/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_KTIME_H
#define _SHIM_KTIME_H

#include <linux/timer.h>

#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L

static inline u64 ktime_get_ns(void)
{
	return (u64)jiffies * (1000000000 / HZ);
}

#endif
