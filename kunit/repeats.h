/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For suites that try a race again and again: the module parameter "repeats"
 * says how many times as often as usual. "make test LONG=1" says 10.
 */
#ifndef _ANTS_KUNIT_REPEATS_H
#define _ANTS_KUNIT_REPEATS_H

#include <linux/moduleparam.h>

static unsigned int repeats = 1;
module_param(repeats, uint, 0444);

#endif /* _ANTS_KUNIT_REPEATS_H */
