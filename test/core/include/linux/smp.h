/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SMP_H
#define _SHIM_SMP_H

#include <linux/sched.h>

#endif
