/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_UAPI_SCHED_TYPES_H
#define _SHIM_UAPI_SCHED_TYPES_H

#include <linux/sched.h>

#endif
