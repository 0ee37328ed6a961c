/* SPDX-License-Identifier: GPL-2.0-only */
/* libc includes this header, too, for what the system's header defines. */
#ifndef _SHIM_LIMITS_H
#define _SHIM_LIMITS_H

#include_next <linux/limits.h>
#include <limits.h>

#endif
