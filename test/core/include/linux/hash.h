/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_HASH_H
#define _SHIM_HASH_H

#include <linux/types.h>

static inline u32 hash_64(u64 value, unsigned int bits)
{
	return value * 0x9e3779b97f4a7c15ULL >> (64 - bits);
}

static inline u32 hash_ptr(const void *p, unsigned int bits)
{
	return hash_64(shim_name((uintptr_t)p) >> 6, bits);
}

#endif
