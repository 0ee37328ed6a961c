/* SPDX-License-Identifier: GPL-2.0-only */
/* libc includes this, too, for what the system's header has. */
#ifndef _SHIM_LIMITS_H
#define _SHIM_LIMITS_H

#include_next <linux/limits.h>
#include <limits.h>

#endif
