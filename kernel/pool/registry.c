// SPDX-License-Identifier: GPL-2.0-only
/*
 * What pools and multis have in common: they are in lists, their names differ, and this
 * module stays until the last of them is freed, and the last thread has ended.
 */
#include <linux/list.h>
#include <linux/mutex.h>

#include "../internal.h"
#include "../multi/multi.h"

/*
 * All pools, by name: from the reservation of the name until it is free again.
 */
LIST_HEAD(ants_pools);
/* All multis, for their names: those differ from each other and from those of pools. */
LIST_HEAD(ants_multis);
/* Guards both lists, and so the names. */
DEFINE_MUTEX(ants_registry_lock);

/*
 * A name is a file name, and a part of tables, of lines of the log and of
 * uevents. So no character of it ends a line, or means anything to a terminal.
 */
int ants_set_name(char name[ANTS_NAME_LEN], const char *fmt, va_list args)
{
	int len = vsnprintf(name, ANTS_NAME_LEN, fmt, args);
	/* If its length is another one, it was cut off, or has a NUL inside. */
	bool good = len && len == (int)strlen(name) && strcmp(name, ".") && strcmp(name, "..");
	const char *c;

	for (c = name; *c; c++)
		good &= *c >= ' ' && *c <= '~' && *c != '/';
	return good ? 0 : -EINVAL;
}

/*
 * Reserve the name, so that sysfs is never asked for one that exists. @list is
 * ants_pools or ants_multis, and @node is the entry.
 */
int ants_registry_add(const char *name, struct list_head *node,
		      struct list_head *list)
{
	const struct ants_multi *multi;
	const struct ants_pool *pool;
	int err = 0;

	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		if (!strcmp(pool->name, name))
			err = -EEXIST;
	list_for_each_entry(multi, &ants_multis, registered)
		if (!strcmp(multi->name, name))
			err = -EEXIST;
	if (!err)
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

/*
 * Each pool and each multi completes this as the last step of its release function, and
 * each thread when it has left the code of this module.
 */
DECLARE_COMPLETION(ants_gone);
/* How many of them nobody has seen complete it. */
static atomic_t nr_unseen;

/* One more will. If one is seen that has ended, it takes its place: they do not add up. */
void ants_gone_later(void)
{
	if (!try_wait_for_completion(&ants_gone))
		atomic_inc(&nr_unseen);
}

/* Begin a pool or a multi, whose release function of @type is yet to run. */
void ants_object_init(struct kobject *kobj, const struct kobj_type *type)
{
	ants_gone_later();
	/* The type became const in 6.2; the kernel has never written to it. */
	kobject_init(kobj, (struct kobj_type *)type);
	kobj->kset = ants_kset;
}

/*
 * For this module's exit: wait for threads that end, and kobjects that are released
 * late.
 */
void ants_wait_gone(void)
{
	while (atomic_dec_if_positive(&nr_unseen) >= 0)
		wait_for_completion(&ants_gone);
	/* Lets the last release function return from complete(). */
	synchronize_rcu();
}
