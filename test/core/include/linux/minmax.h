/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_MINMAX_H
#define _SHIM_MINMAX_H

#include <linux/types.h>

#endif
