/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_IRQFLAGS_H
#define _SHIM_IRQFLAGS_H

#include <linux/sched.h>

#define irqs_disabled()		(current->irqs_off)

#endif
