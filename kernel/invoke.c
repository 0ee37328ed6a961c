// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handing tasks to a pool that has a function of its own.
 */
#include <linux/export.h>

#include "internal.h"

/**
 * ants_invoke() - ants_submit() for a pool with a function of its own
 * @pool: the pool, made by ants_pool_create_func()
 * @data: what to run the function with; any value
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
 * @data: what to run the function with; any value
 * @timeout: how long to wait at most, in jiffies
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
 * @data: what to run the function with; any value
 *
 * Context: as ants_try_submit().
 * Return: as ants_try_submit(). -EINVAL: the pool has no function.
 */
int ants_try_invoke(struct ants_pool *pool, void *data)
{
	return ants_try_submit(pool, pool->fn, data);
}
EXPORT_SYMBOL_GPL(ants_try_invoke);
