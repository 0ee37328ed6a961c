/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_BITOPS_H
#define _SHIM_BITOPS_H

#include <linux/types.h>

/* The number of the highest bit that is set; there is one. */
static inline unsigned long __fls(unsigned long word)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(word);
}

#define hweight16(word)	((unsigned int)__builtin_popcount((u16)(word)))

#endif
