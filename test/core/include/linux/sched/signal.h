/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SCHED_SIGNAL_H
#define _SHIM_SCHED_SIGNAL_H

#include <linux/sched.h>

/* Tasks may leave their thread in another state than they found it: see shim.h. */
extern bool shim_dirt_expected;

/*
 * No thread of a pool ever gets a signal. This is only called for one that a task has left
 * in another state.
 */
static inline void flush_signals(struct task_struct *task)
{
	WARN(!shim_dirt_expected, "a task has left its thread in another state");
}

#endif
