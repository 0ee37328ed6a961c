/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_DELAY_H
#define _SHIM_DELAY_H

void msleep(unsigned int ms);

/* For a jitter that nobody asks for. */
static inline void usleep_range(unsigned long min, unsigned long max)
{
}

static inline void udelay(unsigned long us)
{
}

#endif
