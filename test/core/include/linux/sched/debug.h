/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SCHED_DEBUG_H
#define _SHIM_SCHED_DEBUG_H

#include <linux/sched.h>

static inline void sched_show_task(struct task_struct *task)
{
}

#endif
