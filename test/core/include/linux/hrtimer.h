/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_HRTIMER_H
#define _SHIM_HRTIMER_H

#include <linux/types.h>

#endif
