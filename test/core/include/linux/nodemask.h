/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_NODEMASK_H
#define _SHIM_NODEMASK_H

#include <linux/cpumask.h>

#endif
