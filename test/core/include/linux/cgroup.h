/* SPDX-License-Identifier: GPL-2.0-only */
/* One controller with two cgroups: that of the kthreads, and that of all others. */
#ifndef _SHIM_CGROUP_H
#define _SHIM_CGROUP_H

#include <linux/sched.h>

#define CONFIG_CGROUPS
#define CONFIG_BLK_CGROUP

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
	long refs;
};

enum {
	io_cgrp_id,
};

/* The cgroup of a task, with a reference. */
struct cgroup_subsys_state *task_get_css(struct task_struct *task, int id);
void css_put(struct cgroup_subsys_state *css);

static inline void kthread_associate_blkcg(struct cgroup_subsys_state *css)
{
}

#endif
