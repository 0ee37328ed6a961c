/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For suites that try a race many times: the module parameter "repeats"
 * multiplies the usual number. "make test LONG=1" passes 10.
 */
#ifndef _ANTS_KUNIT_REPEATS_H
#define _ANTS_KUNIT_REPEATS_H

#include <linux/moduleparam.h>

static unsigned int repeats = 1;
module_param(repeats, uint, 0444);

#endif /* _ANTS_KUNIT_REPEATS_H */
