// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_fail: loads of modules that fail at a chosen place of their init
 * function. Whoever writes N to the parameter nth has the Nth failure point of
 * the next init function that it runs fail, as if it had written N to
 * /proc/self/fail-nth when that function began: loading has failure points by
 * the hundred before that.
 *
 * What needs no memory fails as well: registering a notifier, or CPU hotplug
 * states. Making a slab cache is one point, for the kernel dumps its stack if a
 * part of that fails; and so is the directory of a pool, whose points are most of
 * all, and which fails in KUnit suites at each of them.
 */
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "../kunit/fail_at.h"

static struct task_struct *loader;
static unsigned int loader_nth;

static int nth_set(const char *text, const struct kernel_param *param)
{
	int err = kstrtouint(text, 0, &loader_nth);

	loader = err || !loader_nth ? NULL : current;
	return err;
}

static const struct kernel_param_ops nth_ops = { .set = nth_set };

module_param_cb(nth, &nth_ops, NULL, 0200);
MODULE_PARM_DESC(nth, "which failure point of the writer's next load fails");

/* Is this call the one that fails? It is a failure point. */
static bool is_nth(void)
{
	return current->fail_nth && !--current->fail_nth;
}

static struct fail_at points[] = {
	{ { .symbol_name = "__cpuhp_setup_state" }, is_nth, -ENOSPC },
	{ { .symbol_name = "register_module_notifier" }, is_nth, -EEXIST },
	{ { .symbol_name = "kmem_cache_create" }, is_nth, 0 },
	{ { .symbol_name = "kobject_add" }, is_nth, -ENOMEM },
};

static int init_begins(struct kprobe *probe, struct pt_regs *regs)
{
	if (current != loader)
		return 0;
	current->fail_nth = loader_nth;
	loader = NULL;
	return 0;
}

static struct kprobe init_probe = {
	.symbol_name = "do_one_initcall",
	.pre_handler = init_begins,
};

/* Between these two nothing fails: it is one point. */

static int whole_begins(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned int *left = (unsigned int *)ri->data;

	*left = current->fail_nth;
	current->fail_nth = 0;
	return !*left;
}

static int whole_ends(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	current->fail_nth = *(unsigned int *)ri->data;
	return 0;
}

#define WHOLE(name)					\
	{						\
		.kp.symbol_name = (name),		\
		.entry_handler = whole_begins,		\
		.handler = whole_ends,			\
		.data_size = sizeof(unsigned int),	\
	}

static struct kretprobe cache_probe = WHOLE("kmem_cache_create");
static struct kretprobe directory_probe = WHOLE("kobject_add");

static struct kretprobe *wholes[] = { &cache_probe, &directory_probe };

static void end_points(size_t nr)
{
	while (nr--)
		unregister_kprobe(&points[nr].probe);
}

static int begin_points(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		err = fail_at_begin(&points[i]);
		if (err) {
			end_points(i);
			return err;
		}
	}
	return 0;
}

/* Of two probes at one function the later one comes first. */
static int __init ants_fail_init(void)
{
	int err;

	err = register_kretprobes(wholes, ARRAY_SIZE(wholes));
	if (err)
		return err;
	err = begin_points();
	if (err)
		goto err_wholes;
	err = register_kprobe(&init_probe);
	if (!err)
		return 0;
	end_points(ARRAY_SIZE(points));
err_wholes:
	unregister_kretprobes(wholes, ARRAY_SIZE(wholes));
	return err;
}
module_init(ants_fail_init);

static void __exit ants_fail_exit(void)
{
	unregister_kprobe(&init_probe);
	end_points(ARRAY_SIZE(points));
	unregister_kretprobes(wholes, ARRAY_SIZE(wholes));
}
module_exit(ants_fail_exit);

MODULE_DESCRIPTION("ants: loads that fail");
MODULE_LICENSE("GPL");
