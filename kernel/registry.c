// SPDX-License-Identifier: GPL-2.0-only
/* The lists of all pools and multis, and their names. */
#include <linux/list.h>
#include <linux/mutex.h>

#include "internal.h"
#include "multi.h"

/*
 * All pools, by name: from the reservation of the name until it is free again.
 */
LIST_HEAD(ants_pools);
/* All multis. Their names differ from each other and from those of pools. */
LIST_HEAD(ants_multis);
/* Guards both lists, and so the names. */
DEFINE_MUTEX(ants_registry_lock);

/*
 * A name is a file name, and a part of tables, of lines of the log and of
 * uevents. So no character of it ends a line, or means anything to a terminal.
 */
static bool is_good_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '/')
			return false;
	return strcmp(name, "") && strcmp(name, ".") && strcmp(name, "..");
}

int ants_set_name(char name[ANTS_NAME_LEN], const char *fmt, va_list args)
{
	int len = vsnprintf(name, ANTS_NAME_LEN, fmt, args);

	/* It was cut off, or has a NUL inside. */
	if (len != (int)strlen(name))
		return -EINVAL;
	return is_good_name(name) ? 0 : -EINVAL;
}

static bool name_is_taken(const char *name)
{
	const struct ants_multi *multi;
	const struct ants_pool *pool;

	lockdep_assert_held(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		if (!strcmp(pool->name, name))
			return true;
	list_for_each_entry(multi, &ants_multis, registered)
		if (!strcmp(multi->name, name))
			return true;
	return false;
}

/*
 * Reserve the name, so that sysfs is never asked for one that exists. @list is
 * ants_pools or ants_multis, and @node is the entry.
 */
int ants_registry_add(const char *name, struct list_head *node,
		      struct list_head *list)
{
	int err = 0;

	mutex_lock(&ants_registry_lock);
	if (name_is_taken(name))
		err = -EEXIST;
	else
		list_add_tail(node, list);
	mutex_unlock(&ants_registry_lock);
	return err;
}

void ants_registry_del(struct list_head *node)
{
	mutex_lock(&ants_registry_lock);
	list_del_init(node);
	mutex_unlock(&ants_registry_lock);
}
