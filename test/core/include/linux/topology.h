/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_TOPOLOGY_H
#define _SHIM_TOPOLOGY_H

#include <linux/cpumask.h>

#endif
