/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SCHED_SIGNAL_H
#define _SHIM_SCHED_SIGNAL_H

#include <linux/sched.h>

/* No thread of a pool ever gets a signal. */
static inline void flush_signals(struct task_struct *task)
{
}

#endif
