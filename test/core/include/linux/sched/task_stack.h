/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SCHED_TASK_STACK_H
#define _SHIM_SCHED_TASK_STACK_H

#endif
