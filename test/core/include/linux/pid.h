/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_PID_H
#define _SHIM_PID_H

#include <linux/sched.h>

#endif
