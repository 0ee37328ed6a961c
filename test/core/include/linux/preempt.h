/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_PREEMPT_H
#define _SHIM_PREEMPT_H

#include <linux/sched.h>
#include <linux/spinlock.h>

#endif
