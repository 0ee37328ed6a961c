// SPDX-License-Identifier: GPL-2.0-only
/*
 * What scenarios use besides calls of ants: pools, and threads that make calls.
 */
#include "explore.h"
#include "explore_trace.h"

struct ants_pool *explore_pool(const struct ants_attrs *attrs)
{
	struct ants_attrs patient = *attrs;
	struct ants_pool *pool;

	if (!patient.expiry)
		patient.expiry = 2 * EXPLORE_FAR;
	pool = ants_pool_create(&patient, "pool");
	WARN_ON(IS_ERR(pool));
	trace_watch(pool);
	return pool;
}

static struct task_struct *callers[MAX_CALLERS];
static unsigned int nr_callers;

void explore_call(int (*fn)(void *data), void *data, const char *name)
{
	if (nr_callers == MAX_CALLERS)
		shim_fail("too many callers");
	callers[nr_callers++] = shim_run(fn, data, name);
}

void explore_join(void)
{
	while (nr_callers)
		shim_join(callers[--nr_callers]);
}
