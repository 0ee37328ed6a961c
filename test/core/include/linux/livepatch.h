/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_LIVEPATCH_H
#define _SHIM_LIVEPATCH_H

#include <linux/sched.h>

#define klp_patch_pending(task)	false
#define schedule_timeout_idle(timeout)	schedule_timeout(timeout)

#endif
