// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/ants/<multi>/: the files of a multi. Those of its shards are in
 * shard<i>/, and are those of any pool.
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

/* Change all shards once, after the earlier changes. */
static ssize_t change_multi(struct ants_multi *multi, size_t count,
			    unsigned int value,
			    int (*set)(struct ants_multi *multi,
				       unsigned int value))
{
	int err;

	err = mutex_lock_interruptible(&multi->config);
	if (err)
		return err;
	err = set(multi, value);
	mutex_unlock(&multi->config);
	return err ?: count;
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

/* As for pools, this does not depend on the mode of the file. */
static int set_multi_capacity(struct ants_multi *multi, unsigned int value)
{
	return is_fixed(multi) ? -EPERM : __ants_multi_tune(multi, value);
}

static ssize_t capacity_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	unsigned int capacity;
	int err;

	err = ants_parse_capacity(buf, &capacity);
	return err ?: change_multi(to_multi(kobj), count, capacity,
				   set_multi_capacity);
}

static ssize_t queue_depth_show(struct kobject *kobj,
				struct kobj_attribute *attr, char *buf)
{
	const struct ants_multi *multi = to_multi(kobj);
	struct ants_pool *pool;
	u64 sum = 0;

	for_each_shard(pool, multi)
		sum += READ_ONCE(pool->config.queue_depth);
	return sysfs_emit(buf, "%llu\n", sum);
}

static int set_queue_depth(struct ants_multi *multi, unsigned int value)
{
	return is_fixed(multi) ? -EPERM :
				 __ants_multi_set_queue_depth(multi, value);
}

static ssize_t queue_depth_store(struct kobject *kobj,
				 struct kobj_attribute *attr, const char *buf,
				 size_t count)
{
	unsigned int depth;
	int err;

	err = kstrtouint(buf, 0, &depth);
	return err ?: change_multi(to_multi(kobj), count, depth,
				   set_queue_depth);
}

/*
 * The value of the first shard; others differ if they were changed one by one.
 */
static ssize_t nice_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct ants_pool *pool = to_multi(kobj)->shards[0].pool;
	int nice;

	raw_spin_lock_irq(&pool->lock);
	nice = pool->target.affinity->nice;
	ants_unlock_irq(pool);
	return sysfs_emit(buf, "%d\n", nice);
}

static int set_nice(struct ants_multi *multi, unsigned int value)
{
	return __ants_multi_set_nice(multi, value);
}

static ssize_t nice_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	int nice, err;

	err = kstrtoint(buf, 0, &nice);
	return err ?: change_multi(to_multi(kobj), count, nice, set_nice);
}

/* As for the nice value. */
static ssize_t sched_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	struct ants_pool *pool = to_multi(kobj)->shards[0].pool;
	enum ants_sched sched;

	raw_spin_lock_irq(&pool->lock);
	sched = pool->target.affinity->sched;
	ants_unlock_irq(pool);
	return ants_emit_sched(buf, sched);
}

static int set_sched(struct ants_multi *multi, unsigned int value)
{
	return __ants_multi_set_sched(multi, value);
}

static ssize_t sched_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	int sched = ants_parse_sched(buf);

	return sched < 0 ? sched :
	       change_multi(to_multi(kobj), count, sched, set_sched);
}

/* The CPUs on which threads of any shard may run. */
static ssize_t cpulist_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	const struct ants_multi *multi = to_multi(kobj);
	struct ants_pool *pool;
	cpumask_var_t mask;
	ssize_t len;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_shard(pool, multi) {
		raw_spin_lock_irq(&pool->lock);
		cpumask_or(mask, mask, ants_affinity_cpus(pool->target.affinity));
		ants_unlock_irq(pool);
	}
	len = sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(mask));
	free_cpumask_var(mask);
	return len;
}

static int set_cpumask(struct ants_multi *multi, const struct cpumask *mask)
{
	int err;

	err = mutex_lock_interruptible(&multi->config);
	if (err)
		return err;
	err = __ants_multi_set_cpumask(multi, mask);
	mutex_unlock(&multi->config);
	return err;
}

static ssize_t cpulist_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	cpumask_var_t mask;
	int err;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	err = ants_parse_cpulist(buf, mask) ?:
	      set_cpumask(to_multi(kobj), mask);
	free_cpumask_var(mask);
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
	else if (ants_multi_is_faulted(multi))
		state = "faulted";
	return sysfs_emit(buf, "%s\n", state);
}

static struct kobj_attribute capacity_attr = __ATTR_RW(capacity);
static struct kobj_attribute queue_depth_attr = __ATTR_RW(queue_depth);
static struct kobj_attribute nice_attr = __ATTR_RW(nice);
static struct kobj_attribute sched_attr = __ATTR_RW(sched);
static struct kobj_attribute cpulist_attr = __ATTR_RW(cpulist);
static struct kobj_attribute nr_shards_attr = __ATTR_RO(nr_shards);
static struct kobj_attribute strategy_attr = __ATTR_RO(strategy);
static struct kobj_attribute state_attr = __ATTR_RO(state);

static struct attribute *multi_attrs[] = {
	&capacity_attr.attr,
	&queue_depth_attr.attr,
	&nice_attr.attr,
	&sched_attr.attr,
	&cpulist_attr.attr,
	&nr_shards_attr.attr,
	&strategy_attr.attr,
	&state_attr.attr,
	NULL
};

/*
 * The CPUs of local shards are decided when the multi is created, and an
 * administrator may not change what the owner relies on.
 */
static umode_t multi_mode(struct kobject *kobj, struct attribute *attr, int nr)
{
	const struct ants_multi *multi = to_multi(kobj);

	if (attr == &cpulist_attr.attr && multi->strategy == ANTS_LOCAL)
		return 0444;
	if ((attr == &capacity_attr.attr || attr == &queue_depth_attr.attr) &&
	    is_fixed(multi))
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

/*
 * There are no default groups: the files are about shards, which are made
 * later.
 */
const struct kobj_type ants_multi_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = ants_multi_free,
};

/* Add the directory. After an error the caller still has to put the kobject. */
int ants_multi_sysfs_add(struct ants_multi *multi)
{
	multi->kobj.kset = ants_kset;
	return kobject_add(&multi->kobj, NULL, "%s", multi->name);
}

/* Add the files, once there is something to show. */
int ants_multi_sysfs_show(struct ants_multi *multi)
{
	int err = sysfs_create_groups(&multi->kobj, multi_groups);

	if (!err)
		kobject_uevent(&multi->kobj, KOBJ_ADD);
	return err;
}

/* From here on the files give no access to the shards. */
void ants_multi_sysfs_hide(struct ants_multi *multi)
{
	sysfs_remove_groups(&multi->kobj, multi_groups);
}
