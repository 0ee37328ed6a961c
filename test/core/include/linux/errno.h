/* SPDX-License-Identifier: GPL-2.0-only */
/* libc includes this, too. */
#ifndef _SHIM_ERRNO_H
#define _SHIM_ERRNO_H

#include <asm/errno.h>

#endif
