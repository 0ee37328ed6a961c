/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For suites that try a race many times: the module parameter "repeats"
 * multiplies the usual number. "make test LONG=1" passes 10.
 */
#ifndef _ANTS_KUNIT_REPEATS_H
#define _ANTS_KUNIT_REPEATS_H

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "test_compat.h"

static unsigned int repeats = 1;
module_param(repeats, uint, 0444);

/*
 * The value of a parameter, which is @parsed if the kernel has parsed it: KUnit of 6.1
 * runs the suites of a module before. @name_is: the name and "=".
 */
static inline unsigned long long given_arg(const char *name_is, unsigned long long parsed)
{
#ifdef MODULE
	const char *args = module_args(THIS_MODULE);
	const char *arg = args ? strstr(args, name_is) : NULL;

	if (arg && sscanf(arg + strlen(name_is), "%llu", &parsed) != 1)
		pr_err("%s is not followed by a number\n", name_is);
#endif
	return parsed;
}

#define repeats	((unsigned int)given_arg("repeats=", repeats))

#endif /* _ANTS_KUNIT_REPEATS_H */
