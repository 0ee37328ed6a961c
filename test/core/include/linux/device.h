/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_DEVICE_H
#define _SHIM_DEVICE_H

struct device;

#endif
