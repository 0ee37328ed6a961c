/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SCHED_SIGNAL_H
#define _SHIM_SCHED_SIGNAL_H

#include <linux/sched.h>

#endif
