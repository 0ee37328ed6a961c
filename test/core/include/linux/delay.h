/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_DELAY_H
#define _SHIM_DELAY_H

void msleep(unsigned int ms);

#endif
