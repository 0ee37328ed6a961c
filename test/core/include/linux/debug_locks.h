/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_DEBUG_LOCKS_H
#define _SHIM_DEBUG_LOCKS_H

#include <linux/sched.h>

static inline void debug_show_held_locks(struct task_struct *task)
{
}

#endif
