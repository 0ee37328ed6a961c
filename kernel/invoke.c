// SPDX-License-Identifier: GPL-2.0-only
/* Submitting to a pool that was made for one function. */
#include <linux/export.h>

#include "internal.h"

/**
 * ants_invoke() - submit a task to a pool that was made for one function
 * @pool: the pool, made by ants_pool_create_func()
 * @data: the argument of the function; any value
 *
 * Context: Process context. May sleep.
 * Return: as ants_submit(). -EINVAL: the pool has no function.
 */
int ants_invoke(struct ants_pool *pool, void *data)
{
	return ants_submit(pool, pool->fn, data);
}
EXPORT_SYMBOL_GPL(ants_invoke);

/**
 * ants_invoke_timeout() - ants_submit_timeout() for such a pool
 * @pool: the pool, made by ants_pool_create_func()
 * @data: the argument of the function; any value
 * @timeout: the longest time to wait, in jiffies
 *
 * Context: Process context. May sleep.
 * Return: as ants_submit_timeout(). -EINVAL: the pool has no function.
 */
int ants_invoke_timeout(struct ants_pool *pool, void *data,
			unsigned long timeout)
{
	return ants_submit_timeout(pool, pool->fn, data, timeout);
}
EXPORT_SYMBOL_GPL(ants_invoke_timeout);

/**
 * ants_try_invoke() - ants_try_submit() for such a pool
 * @pool: the pool, made by ants_pool_create_func()
 * @data: the argument of the function; any value
 *
 * Context: as ants_try_submit().
 * Return: as ants_try_submit(). -EINVAL: the pool has no function.
 */
int ants_try_invoke(struct ants_pool *pool, void *data)
{
	return ants_try_submit(pool, pool->fn, data);
}
EXPORT_SYMBOL_GPL(ants_try_invoke);
