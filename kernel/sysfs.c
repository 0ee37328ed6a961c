// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/ants/<pool>/: one value per file. A store either changes the
 * value, or returns an error and changes nothing. What is no single value is in
 * debugfs.
 */
#include <linux/kobject.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "debugfs.h"
#include "multi.h"
#include "notice.h"
#include "sysfs.h"

struct kset *ants_kset;

/* Make one change after the earlier ones; a signal ends the wait for those. */
static ssize_t change_pool(struct kobject *kobj, size_t count,
			   unsigned int value,
			   int (*set)(struct ants_pool *pool,
				      unsigned int value))
{
	struct ants_pool *pool = to_pool(kobj);
	int err;

	err = mutex_lock_interruptible(&pool->config.lock);
	if (err)
		return err;
	err = set(pool, value);
	mutex_unlock(&pool->config.lock);
	return err ?: count;
}

ssize_t ants_change_uint(struct kobject *kobj, const char *buf, size_t count,
			 int (*set)(struct ants_pool *pool, unsigned int value))
{
	unsigned int value;
	int err;

	err = kstrtouint(buf, 0, &value);
	return err ?: change_pool(kobj, count, value, set);
}

/* A capacity is a number, or "max". */
ssize_t ants_emit_bound(char *buf, unsigned int bound)
{
	if (bound == ANTS_UNLIMITED)
		return sysfs_emit(buf, "max\n");
	return sysfs_emit(buf, "%u\n", bound);
}

int ants_parse_capacity(const char *buf, unsigned int *capacity)
{
	int err;

	*capacity = ANTS_UNLIMITED;
	if (sysfs_streq(buf, "max"))
		return 0;
	err = kstrtouint(buf, 0, capacity);
	return err ?: *capacity > ANTS_BOUND_MAX ? -ERANGE : 0;
}

/*
 * A number that does not fit in the mask is out of range, like a CPU that
 * cannot exist.
 */
int ants_parse_cpulist(const char *buf, struct cpumask *mask)
{
	int err = cpulist_parse(buf, mask);

	return err == -EOVERFLOW ? -ERANGE : err;
}

static ssize_t capacity_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	return ants_emit_bound(buf, ants_capacity(to_pool(kobj)));
}

/* Root can change the mode of a file, but not what the owner has fixed. */
static int check_fixed(const struct ants_pool *pool)
{
	return pool->flags & ANTS_FIXED ? -EPERM : 0;
}

static int set_pool_capacity(struct ants_pool *pool, unsigned int value)
{
	return check_fixed(pool) ?: __ants_tune(pool, value);
}

static ssize_t capacity_store(struct kobject *kobj, struct kobj_attribute *attr,
			      const char *buf, size_t count)
{
	unsigned int capacity;
	int err;

	err = ants_parse_capacity(buf, &capacity);
	return err ?: change_pool(kobj, count, capacity, set_pool_capacity);
}

static struct kobj_attribute capacity_attr = __ATTR_RW(capacity);

static unsigned int get_max_blocking(const struct ants_pool *pool)
{
	return READ_ONCE(pool->config.max_blocking);
}

static unsigned int get_queue_depth(const struct ants_pool *pool)
{
	return READ_ONCE(pool->config.queue_depth);
}

static int set_queue_depth(struct ants_pool *pool, unsigned int value)
{
	return check_fixed(pool) ?: ants_set_queue_depth(pool, value);
}

static unsigned int get_min_workers(const struct ants_pool *pool)
{
	return READ_ONCE(pool->config.min_workers);
}

static unsigned int get_expiry_ms(const struct ants_pool *pool)
{
	return READ_ONCE(pool->config.expiry_ms);
}

static unsigned int get_nonblocking(const struct ants_pool *pool)
{
	return !!(READ_ONCE(pool->flags) & ANTS_NONBLOCKING);
}

static int set_nonblocking(struct ants_pool *pool, unsigned int value)
{
	if (value > 1)
		return -EINVAL;
	return check_fixed(pool) ?: ants_set_nonblocking(pool, value);
}

static unsigned int get_stall_ms(const struct ants_pool *pool)
{
	return READ_ONCE(pool->stall.ms);
}

ANTS_UINT_ATTR(max_blocking, get_max_blocking, ants_set_max_blocking);
ANTS_UINT_ATTR(queue_depth, get_queue_depth, set_queue_depth);
ANTS_UINT_ATTR(min_workers, get_min_workers, ants_set_min_workers);
ANTS_UINT_ATTR(expiry_ms, get_expiry_ms, ants_set_expiry_ms);
ANTS_UINT_ATTR(nonblocking, get_nonblocking, set_nonblocking);
ANTS_UINT_ATTR(stall_ms, get_stall_ms, ants_set_stall_ms);

static unsigned int get_max_faults(const struct ants_pool *pool)
{
	return READ_ONCE(pool->faults.max);
}

ANTS_UINT_ATTR(max_faults, get_max_faults, ants_set_max_faults);

static struct ants_affinity *affinity_of(struct kobject *kobj)
{
	struct ants_pool *pool = to_pool(kobj);
	struct ants_affinity *affinity;

	raw_spin_lock_irq(&pool->lock);
	affinity = ants_affinity_get(pool);
	ants_unlock_irq(pool);
	return affinity;
}

static ssize_t nice_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct ants_affinity *affinity = affinity_of(kobj);
	int nice = affinity->nice;

	ants_affinity_put(affinity);
	return sysfs_emit(buf, "%d\n", nice);
}

static int set_nice(struct ants_pool *pool, unsigned int value)
{
	return __ants_set_nice(pool, value);
}

static ssize_t nice_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	int nice, err;

	err = kstrtoint(buf, 0, &nice);
	return err ?: change_pool(kobj, count, nice, set_nice);
}

static struct kobj_attribute nice_attr = __ATTR_RW(nice);

static const char * const sched_names[] = {
	[ANTS_SCHED_NORMAL] = "normal",
	[ANTS_SCHED_FIFO_LOW] = "fifo_low",
	[ANTS_SCHED_FIFO] = "fifo",
};

ssize_t ants_emit_sched(char *buf, enum ants_sched sched)
{
	return sysfs_emit(buf, "%s\n", sched_names[sched]);
}

/* Return one of enum ants_sched, or -EINVAL. */
int ants_parse_sched(const char *buf)
{
	return sysfs_match_string(sched_names, buf);
}

static ssize_t sched_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	struct ants_affinity *affinity = affinity_of(kobj);
	enum ants_sched sched = affinity->sched;

	ants_affinity_put(affinity);
	return ants_emit_sched(buf, sched);
}

static int set_sched(struct ants_pool *pool, unsigned int value)
{
	return __ants_set_sched(pool, value);
}

static ssize_t sched_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	int sched = ants_parse_sched(buf);

	return sched < 0 ? sched : change_pool(kobj, count, sched, set_sched);
}

static struct kobj_attribute sched_attr = __ATTR_RW(sched);

static ssize_t cpulist_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct ants_affinity *affinity = affinity_of(kobj);
	const struct cpumask *cpus = ants_affinity_cpus(affinity);
	ssize_t len = sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(cpus));

	ants_affinity_put(affinity);
	return len;
}

static int set_cpumask(struct ants_pool *pool, const struct cpumask *mask)
{
	int err;

	err = mutex_lock_interruptible(&pool->config.lock);
	if (err)
		return err;
	err = __ants_set_cpumask(pool, mask);
	mutex_unlock(&pool->config.lock);
	return err;
}

static ssize_t cpulist_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	cpumask_var_t mask;
	int err;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	err = ants_parse_cpulist(buf, mask) ?: set_cpumask(to_pool(kobj), mask);
	free_cpumask_var(mask);
	return err ?: count;
}

static struct kobj_attribute cpulist_attr = __ATTR_RW(cpulist);

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n", ants_state(to_pool(kobj)));
}

static struct kobj_attribute state_attr = __ATTR_RO(state);

static struct attribute *pool_attrs[] = {
	&capacity_attr.attr,
	&max_blocking_attr.attr,
	&queue_depth_attr.attr,
	&min_workers_attr.attr,
	&expiry_ms_attr.attr,
	&nonblocking_attr.attr,
	&nice_attr.attr,
	&sched_attr.attr,
	&cpulist_attr.attr,
	&stall_ms_attr.attr,
	&max_faults_attr.attr,
	&state_attr.attr,
	NULL
};

/* The values that an administrator may not change in a pool with ANTS_FIXED. */
static bool is_limit(const struct attribute *attr)
{
	return attr == &capacity_attr.attr || attr == &queue_depth_attr.attr ||
	       attr == &nonblocking_attr.attr;
}

static umode_t pool_mode(struct kobject *kobj, struct attribute *attr, int nr)
{
	if (to_pool(kobj)->flags & ANTS_FIXED && is_limit(attr))
		return 0444;
	return attr->mode;
}

static const struct attribute_group pool_group = {
	.attrs = pool_attrs,
	.is_visible = pool_mode,
};

const struct attribute_group *ants_pool_groups[] = {
	&pool_group,
	&ants_stats_group,
	NULL
};
EXPORT_SYMBOL_FOR_TESTS(ants_pool_groups);

/* The kernel would remove default groups file by file, and not as one directory. */
const struct kobj_type ants_pool_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = ants_pool_free,
};

/*
 * Show @pool in sysfs. After an error the caller still has to put the kobject.
 */
int ants_sysfs_add(struct ants_pool *pool)
{
	int err;

	ants_notice_begin(pool);
	pool->kobj.kset = ants_kset;
	if (pool->parent)
		err = kobject_add(&pool->kobj, pool->parent, "shard%s",
				  strchr(pool->name, '/') + 1);
	else
		err = kobject_add(&pool->kobj, NULL, "%s", pool->name);
	if (err)
		return err;
	err = sysfs_create_groups(&pool->kobj, ants_pool_groups);
	if (err) {
		kobject_del(&pool->kobj);
		return err;
	}
	kobject_uevent(&pool->kobj, KOBJ_ADD);
	return 0;
}

/* From here on no file gives access to the pool. */
void ants_sysfs_del(struct ants_pool *pool)
{
	ants_notice_end(pool);
	kobject_del(&pool->kobj);
}

/* After an RCU grace period nothing queues the work any more. */
void ants_sysfs_put(struct ants_pool *pool)
{
	cancel_work_sync(&pool->notice.work);
	kobject_put(&pool->kobj);
}

int ants_sysfs_init(void)
{
	int err = ants_notice_init();

	if (err)
		return err;
	ants_kset = kset_create_and_add("ants", NULL, kernel_kobj);
	if (!ants_kset) {
		ants_notice_exit();
		return -ENOMEM;
	}
	ants_debugfs_init();
	return 0;
}

void ants_sysfs_exit(void)
{
	ants_debugfs_exit();
	kset_unregister(ants_kset);
	ants_notice_exit();
}
