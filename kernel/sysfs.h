/* SPDX-License-Identifier: GPL-2.0-only */
/* What the directories of pools and of sharded pools share. */
#ifndef _ANTS_SYSFS_H
#define _ANTS_SYSFS_H

#include <linux/ants.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "pool.h"

extern struct kset *ants_kset;
extern const struct attribute_group ants_stats_group;
ssize_t ants_emit_bound(char *buf, unsigned int bound);
int ants_parse_capacity(const char *buf, unsigned int *capacity);
int ants_parse_cpulist(const char *buf, struct cpumask *mask);
ssize_t ants_emit_sched(char *buf, enum ants_sched sched);
int ants_parse_sched(const char *buf);
ssize_t ants_change_uint(struct kobject *kobj, const char *buf, size_t count,
			 int (*set)(struct ants_pool *pool, unsigned int value));

static inline struct ants_pool *to_pool(struct kobject *kobj)
{
	return container_of(kobj, struct ants_pool, kobj);
}

/* A file that holds one number. @_get reads it, and @_set changes it. */
#define ANTS_UINT_ATTR(_name, _get, _set)				\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return sysfs_emit(buf, "%u\n", _get(to_pool(kobj)));		\
}									\
									\
static ssize_t _name##_store(struct kobject *kobj,			\
			     struct kobj_attribute *attr,		\
			     const char *buf, size_t count)		\
{									\
	return ants_change_uint(kobj, buf, count, _set);			\
}									\
									\
static struct kobj_attribute _name##_attr = __ATTR_RW(_name)

#endif /* _ANTS_SYSFS_H */
