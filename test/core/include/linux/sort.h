/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_SORT_H
#define _SHIM_SORT_H

#include <stdlib.h>

#define sort(base, num, size, compare, swap)	qsort(base, num, size, compare)

#endif
