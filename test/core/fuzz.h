/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <linux/types.h>

/* What libFuzzer calls; its name comes from the Makefile. */
int FUZZ_ENTRY(const u8 *data, size_t size);

#endif
