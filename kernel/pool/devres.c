// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools that end with the driver of a device.
 */
#include <linux/device.h>
#include <linux/export.h>

#include "../internal.h"

static void pool_destroy(void *pool)
{
	ants_pool_destroy(pool);
}

/**
 * __devm_ants_pool_create() - create a pool; see devm_ants_pool_create()
 * @dev: the device
 * @owner: the module that creates it, NULL if built in
 * @attrs: its attributes; NULL for the defaults
 * @fmt: printf format of the name
 *
 * Context: Process context. May sleep.
 * Return: the pool, or an ERR_PTR.
 */
struct ants_pool *__devm_ants_pool_create(struct device *dev,
					  struct module *owner,
					  const struct ants_attrs *attrs,
					  const char *fmt, ...)
{
	struct ants_pool *pool;
	va_list args;
	int err;

	va_start(args, fmt);
	pool = ants_pool_make(owner, attrs, NULL, false, fmt, args);
	va_end(args);
	if (IS_ERR(pool))
		return pool;
	err = devm_add_action_or_reset(dev, pool_destroy, pool);
	return err ? ERR_PTR(err) : pool;
}
EXPORT_SYMBOL_GPL(__devm_ants_pool_create);
