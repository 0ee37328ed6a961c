// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/ants/<multi>/: its own files; those of the shards are in
 * shard<i>/, as those of any pool.
 */
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "multi.h"
#include "sysfs.h"

static struct ants_multi *to_multi(struct kobject *kobj)
{
	return container_of(kobj, struct ants_multi, kobj);
}

static ssize_t capacity_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return ants_emit_bound(buf, ants_multi_capacity(to_multi(kobj)));
}

/* The shards of a multi have the same flags. */
static bool is_fixed(const struct ants_multi *multi)
{
	return READ_ONCE(ants_shard(multi, 0)->flags) & ANTS_FIXED;
}

static ssize_t capacity_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	struct ants_multi *multi = to_multi(kobj);
	unsigned int capacity;
	int err;

	err = ants_parse_capacity(buf, &capacity);
	if (err)
		return err;
	if (is_fixed(multi))
		return -EPERM;
	err = mutex_lock_interruptible(&multi->config);
	if (err)
		return err;
	err = __ants_multi_tune(multi, capacity);
	mutex_unlock(&multi->config);
	return err ?: count;
}

static ssize_t nr_shards_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%u\n", to_multi(kobj)->nr_shards);
}

static ssize_t strategy_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	static const char * const names[] = {
		[ANTS_ROUND_ROBIN] = "round_robin",
		[ANTS_LEAST_TASKS] = "least_tasks",
		[ANTS_LOCAL] = "local",
	};

	return sysfs_emit(buf, "%s\n", names[to_multi(kobj)->strategy]);
}

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	const struct ants_multi *multi = to_multi(kobj);
	const char *state = "open";

	if (ants_multi_is_released(multi))
		state = ants_multi_is_drained(multi) ? "released" : "draining";
	return sysfs_emit(buf, "%s\n", state);
}

static struct kobj_attribute capacity_attr = __ATTR_RW(capacity);
static struct kobj_attribute nr_shards_attr = __ATTR_RO(nr_shards);
static struct kobj_attribute strategy_attr = __ATTR_RO(strategy);
static struct kobj_attribute state_attr = __ATTR_RO(state);

static struct attribute *multi_attrs[] = {
	&capacity_attr.attr,
	&nr_shards_attr.attr,
	&strategy_attr.attr,
	&state_attr.attr,
	NULL
};

static umode_t multi_mode(struct kobject *kobj, struct attribute *attr, int nr)
{
	if (attr == &capacity_attr.attr && is_fixed(to_multi(kobj)))
		return 0444;
	return attr->mode;
}

static const struct attribute_group multi_group = {
	.attrs = multi_attrs,
	.is_visible = multi_mode,
};

static const struct attribute_group *multi_groups[] = {
	&multi_group,
	&ants_stats_group,
	NULL
};

/* No default groups: the files are about shards, which are there later. */
const struct kobj_type ants_multi_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = ants_multi_free,
};

/* The directory. On error the caller still has the kobject to put. */
int ants_multi_sysfs_add(struct ants_multi *multi)
{
	multi->kobj.kset = ants_kset;
	return kobject_add(&multi->kobj, NULL, "%s", multi->name);
}

/* Its files, when there is something to show. */
int ants_multi_sysfs_show(struct ants_multi *multi)
{
	int err = sysfs_create_groups(&multi->kobj, multi_groups);

	if (!err)
		kobject_uevent(&multi->kobj, KOBJ_ADD);
	return err;
}

/* From here on nobody comes to the shards through them. */
void ants_multi_sysfs_hide(struct ants_multi *multi)
{
	sysfs_remove_groups(&multi->kobj, multi_groups);
}
