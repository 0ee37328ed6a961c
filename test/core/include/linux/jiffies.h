/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_JIFFIES_H
#define _SHIM_JIFFIES_H

#include <linux/timer.h>

#endif
