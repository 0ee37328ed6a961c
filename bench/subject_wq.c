// SPDX-License-Identifier: GPL-2.0-only
/* Subjects: workqueues. */
#define pr_fmt(fmt) "ants bench: " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/string.h>

#include "bench.h"

#define WQ_NAME		"ants_bench"
#define WQ_FILE(attr)	"/sys/devices/virtual/workqueue/" WQ_NAME "/" attr

static struct workqueue_struct *wq;

/*
 * Modules have no other way to do this. -ENOENT: the attribute does not exist.
 */
static int set_attr(const char *path, const char *value)
{
	struct file *file = filp_open(path, O_WRONLY, 0);
	loff_t pos = 0;
	ssize_t len;

	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_write(file, value, strlen(value), &pos);
	filp_close(file, NULL);
	return min_t(ssize_t, len, 0);
}

static void init_works(const struct row *row)
{
	unsigned int i;

	for (i = 0; i < row->tasks; i++)
		INIT_WORK(&row->jobs[i].work, row->body->work);
}

static void teardown(void)
{
	destroy_workqueue(wq);
}

/*
 * Workqueues with the same attributes share threads. Other workqueues allow all
 * possible CPUs; this one allows the online CPUs, and nothing else differs.
 */
static int set_own_threads(void)
{
	char mask[32];

	if (cpumask_equal(cpu_online_mask, cpu_possible_mask)) {
		pr_err("a CPU has to be possible and offline: boot with maxcpus=\n");
		return -EINVAL;
	}
	snprintf(mask, sizeof(mask), "%*pb", cpumask_pr_args(cpu_online_mask));
	return set_attr(WQ_FILE("cpumask"), mask);
}

static int unbound_setup(const struct row *row)
{
	bool scoped = row->scope && strcmp(row->scope, "default");
	bool sysfs = scoped || row->own_threads;
	int err = 0;

	init_works(row);
	wq = alloc_workqueue(WQ_NAME, WQ_UNBOUND | (sysfs ? WQ_SYSFS : 0),
			     row->max_active);
	if (!wq)
		return -ENOMEM;
	if (scoped)
		err = set_attr(WQ_FILE("affinity_scope"), row->scope);
	if (!err && row->own_threads)
		err = set_own_threads();
	if (err)
		teardown();
	return err;
}

/*
 * create_workqueue() is the only name for a bound workqueue that every kernel
 * accepts: newer ones need a flag that older ones do not know.
 */
static int bound_setup(const struct row *row)
{
	init_works(row);
	wq = create_workqueue(WQ_NAME);
	if (!wq)
		return -ENOMEM;
	workqueue_set_max_active(wq, row->max_active ?: WQ_DFL_ACTIVE);
	return 0;
}

static int ordered_setup(const struct row *row)
{
	init_works(row);
	wq = alloc_ordered_workqueue(WQ_NAME, 0);
	return wq ? 0 : -ENOMEM;
}

static int submit(struct job *jobs, unsigned int nr)
{
	struct workqueue_struct *to = wq;

	for (; nr; nr--, jobs++)
		queue_work(to, &jobs->work);
	return 0;
}

static void flush(void)
{
	flush_workqueue(wq);
}

const struct subject wq_unbound_subject = {
	.name = "wq_unbound",
	.setup = unbound_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
};

const struct subject wq_ordered_subject = {
	.name = "wq_ordered",
	.setup = ordered_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
};

const struct subject wq_bound_subject = {
	.name = "wq_bound",
	.setup = bound_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
};
