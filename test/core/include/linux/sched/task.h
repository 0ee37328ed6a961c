/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SCHED_TASK_H
#define _SHIM_SCHED_TASK_H

#include <linux/sched.h>

#endif
