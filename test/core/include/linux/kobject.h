/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reference count and the function that runs at its end; there is no sysfs.
 */
#ifndef _SHIM_KOBJECT_H
#define _SHIM_KOBJECT_H

#include <linux/refcount.h>

struct kset;

struct kobject {
	struct kset *kset;
	refcount_t users;
	const struct kobj_type *type;
};

struct kobj_type {
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

static inline void kobject_del(struct kobject *kobj)
{
}

#endif
