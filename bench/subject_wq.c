// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subjects: workqueues.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/string.h>

#include "bench.h"

#define WQ_NAME		"ants_bench"
#define SCOPE_FILE	"/sys/devices/virtual/workqueue/" WQ_NAME "/affinity_scope"

static struct workqueue_struct *wq;

/* The kernel offers no other way to a module. -ENOENT: it knows no scopes. */
static int set_scope(const char *scope)
{
	struct file *file = filp_open(SCOPE_FILE, O_WRONLY, 0);
	loff_t pos = 0;
	ssize_t len;

	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_write(file, scope, strlen(scope), &pos);
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

static int unbound_setup(const struct row *row)
{
	bool scoped = row->scope && strcmp(row->scope, "default");
	unsigned int flags = WQ_UNBOUND | (scoped ? WQ_SYSFS : 0);
	int err = 0;

	init_works(row);
	wq = alloc_workqueue(WQ_NAME, flags, row->max_active);
	if (!wq)
		return -ENOMEM;
	if (scoped)
		err = set_scope(row->scope);
	if (err)
		teardown();
	return err;
}

/*
 * create_workqueue() is the one name for a bound workqueue that each kernel
 * takes: newer ones want a flag that older ones do not know.
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

const struct subject wq_bound_subject = {
	.name = "wq_bound",
	.setup = bound_setup,
	.submit = submit,
	.flush = flush,
	.teardown = teardown,
};
