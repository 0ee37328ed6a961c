/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_BITS_H
#define _SHIM_BITS_H

#include <linux/types.h>

#endif
