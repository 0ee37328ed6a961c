/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_LINUX_SCHED_STAT_H
#define _SHIM_LINUX_SCHED_STAT_H

#define single_task_running()	true

#endif /* _SHIM_LINUX_SCHED_STAT_H */
