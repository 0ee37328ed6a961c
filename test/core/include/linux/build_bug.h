/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_BUILD_BUG_H
#define _SHIM_BUILD_BUG_H

#include <linux/types.h>

#endif
