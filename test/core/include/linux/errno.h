/* SPDX-License-Identifier: GPL-2.0-only */
/* libc includes this header, too. */
#ifndef _SHIM_ERRNO_H
#define _SHIM_ERRNO_H

#include <asm/errno.h>

#endif
