/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reference count and the function that runs at its end; there is no sysfs.
 */
#ifndef _SHIM_KOBJECT_H
#define _SHIM_KOBJECT_H

#include <string.h>
#include <linux/refcount.h>

struct attribute_group;
struct kset;
struct sysfs_ops { };

extern const struct sysfs_ops kobj_sysfs_ops;

struct kobject {
	struct kset *kset;
	bool state_in_sysfs;
	refcount_t users;
	const struct kobj_type *type;
};

struct kobj_type {
	const struct sysfs_ops *sysfs_ops;
	void (*release)(struct kobject *kobj);
};

static inline void kobject_init(struct kobject *kobj,
				const struct kobj_type *type)
{
	refcount_set(&kobj->users, 1);
	kobj->type = type;
}

static inline void kobject_put(struct kobject *kobj)
{
	if (refcount_dec_and_test(&kobj->users))
		kobj->type->release(kobj);
}

static inline const char *kbasename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static inline int kobject_add(struct kobject *kobj, struct kobject *parent,
			      const char *fmt, ...)
{
	return 0;
}

static inline void kobject_del(struct kobject *kobj)
{
}

static inline void sysfs_remove_groups(struct kobject *kobj,
				       const struct attribute_group **groups)
{
}

#endif
