/* SPDX-License-Identifier: GPL-2.0-only */
/* What the directories of pools and of sharded pools share. */
#ifndef _ANTS_SYSFS_H
#define _ANTS_SYSFS_H

#include <linux/ants.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

extern struct kset *ants_kset;
extern const struct attribute_group ants_stats_group;
ssize_t ants_emit_bound(char *buf, unsigned int bound);
int ants_parse_capacity(const char *buf, unsigned int *capacity);
int ants_parse_cpulist(const char *buf, struct cpumask *mask);

#endif /* _ANTS_SYSFS_H */
