// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/ants/<pool>/stats/, and that of a multi: its numbers. */
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "multi.h"
#include "sysfs.h"

static void read_stats(struct kobject *kobj, struct ants_stats *stats)
{
	if (get_ktype(kobj) == &ants_multi_ktype)
		ants_multi_stats(container_of(kobj, struct ants_multi, kobj),
				 stats);
	else
		ants_pool_stats(to_pool(kobj), stats);
}

/* A file in stats/; @_field is a member of struct ants_stats. */
#define ANTS_STAT_ATTR(_name, _field)					\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	struct ants_stats stats;					\
									\
	read_stats(kobj, &stats);					\
	return sysfs_emit(buf, "%llu\n", (u64)stats._field);		\
}									\
									\
static struct kobj_attribute _name##_attr = __ATTR_RO(_name)

ANTS_STAT_ATTR(running, running);
ANTS_STAT_ATTR(idle, idle);
ANTS_STAT_ATTR(busy, busy);
ANTS_STAT_ATTR(pending, pending);
ANTS_STAT_ATTR(waiting, waiting);
ANTS_STAT_ATTR(peak_running, peak_running);
ANTS_STAT_ATTR(peak_busy, peak_busy);
ANTS_STAT_ATTR(peak_pending, peak_pending);
ANTS_STAT_ATTR(peak_waiting, peak_waiting);
ANTS_STAT_ATTR(submitted, submitted);
ANTS_STAT_ATTR(completed, completed);
ANTS_STAT_ATTR(cancelled, cancelled);
ANTS_STAT_ATTR(caller_runs, caller_runs);
ANTS_STAT_ATTR(rejected, rejected);
ANTS_STAT_ATTR(blocked, blocked);
ANTS_STAT_ATTR(spawned, spawned);
ANTS_STAT_ATTR(reaped, reaped);
ANTS_STAT_ATTR(wakeups_in_vain, wakeups_in_vain);
ANTS_STAT_ATTR(stalled, stalled);
ANTS_STAT_ATTR(held_back, held_back);
ANTS_STAT_ATTR(faults, faults);
ANTS_STAT_ATTR(lost, lost);
ANTS_STAT_ATTR(dirty, dirty);

static ssize_t free_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	struct ants_stats stats;

	read_stats(kobj, &stats);
	return ants_emit_bound(buf, stats.free);
}

static struct kobj_attribute free_attr = __ATTR_RO(free);

static ssize_t last_fault_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	char name[ANTS_FUNC_LEN];

	ants_last_fault(to_pool(kobj), name);
	return sysfs_emit(buf, "%s\n", name);
}

static struct kobj_attribute last_fault_attr = __ATTR_RO(last_fault);

static unsigned int get_timing(const struct ants_pool *pool)
{
	return READ_ONCE(pool->times.every);
}

static int set_timing(struct ants_pool *pool, unsigned int value)
{
	if (value > ANTS_SAMPLE_MAX)
		return -EINVAL;
	ants_set_timing(pool, value);
	return 0;
}

ANTS_UINT_ATTR(timing, get_timing, set_timing);

static ssize_t emit_times(char *buf, const u64 *counts)
{
	ssize_t len = 0;
	int i;

	for (i = 0; i < ANTS_TIMES; i++)
		len += sysfs_emit_at(buf, len, "%llu%c", counts[i],
				     i < ANTS_TIMES - 1 ? ',' : '\n');
	return len;
}

static ssize_t wait_us_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	u64 wait[ANTS_TIMES], run[ANTS_TIMES];

	ants_times_read(to_pool(kobj), wait, run);
	return emit_times(buf, wait);
}

static ssize_t run_us_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	u64 wait[ANTS_TIMES], run[ANTS_TIMES];

	ants_times_read(to_pool(kobj), wait, run);
	return emit_times(buf, run);
}

static ssize_t longest_ms_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	struct ants_longest longest;

	ants_longest(to_pool(kobj), &longest);
	return sysfs_emit(buf, "%lu\n", longest.ms);
}

static struct kobj_attribute wait_us_attr = __ATTR_RO(wait_us);
static struct kobj_attribute run_us_attr = __ATTR_RO(run_us);
static struct kobj_attribute longest_ms_attr = __ATTR_RO(longest_ms);

static struct attribute *stats_attrs[] = {
	&running_attr.attr,
	&idle_attr.attr,
	&busy_attr.attr,
	&pending_attr.attr,
	&waiting_attr.attr,
	&free_attr.attr,
	&peak_running_attr.attr,
	&peak_busy_attr.attr,
	&peak_pending_attr.attr,
	&peak_waiting_attr.attr,
	&submitted_attr.attr,
	&completed_attr.attr,
	&cancelled_attr.attr,
	&caller_runs_attr.attr,
	&rejected_attr.attr,
	&blocked_attr.attr,
	&spawned_attr.attr,
	&reaped_attr.attr,
	&wakeups_in_vain_attr.attr,
	&stalled_attr.attr,
	&held_back_attr.attr,
	&faults_attr.attr,
	&lost_attr.attr,
	&dirty_attr.attr,
	&last_fault_attr.attr,
	&timing_attr.attr,
	&wait_us_attr.attr,
	&run_us_attr.attr,
	&longest_ms_attr.attr,
	NULL
};

/* What each shard knows for itself: also the times. */
static bool is_of_one_pool(const struct attribute *attr)
{
	return attr == &last_fault_attr.attr || attr == &timing_attr.attr ||
	       attr == &wait_us_attr.attr ||
	       attr == &run_us_attr.attr || attr == &longest_ms_attr.attr;
}

static umode_t stats_mode(struct kobject *kobj, struct attribute *attr, int nr)
{
	if (is_of_one_pool(attr) && get_ktype(kobj) == &ants_multi_ktype)
		return 0;
	return attr->mode;
}

const struct attribute_group ants_stats_group = {
	.name = "stats",
	.attrs = stats_attrs,
	.is_visible = stats_mode,
};
