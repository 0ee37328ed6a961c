// SPDX-License-Identifier: GPL-2.0-only
/* Submitting to a pool that was made for one function. */
#include <linux/export.h>

#include "internal.h"

int ants_invoke(struct ants_pool *pool, void *data)
{
	return ants_submit(pool, pool->ops.fn, data);
}
EXPORT_SYMBOL_GPL(ants_invoke);

int ants_invoke_timeout(struct ants_pool *pool, void *data,
			unsigned long timeout)
{
	return ants_submit_timeout(pool, pool->ops.fn, data, timeout);
}
EXPORT_SYMBOL_GPL(ants_invoke_timeout);

int ants_try_invoke(struct ants_pool *pool, void *data)
{
	return ants_try_submit(pool, pool->ops.fn, data);
}
EXPORT_SYMBOL_GPL(ants_try_invoke);
