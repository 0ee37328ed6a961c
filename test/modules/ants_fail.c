// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_fail: modules that fail to load at a chosen place in their init
 * function. A process that writes N to the parameter nth has the Nth allocation
 * of the next init functions that it runs fail, as if it had written N to
 * /proc/self/fail-nth at the start of each. Before that, loading makes hundreds
 * of allocations.
 *
 * A process that writes N to the parameter call has the Nth call of some
 * functions that need no memory fail: registering a notifier, or states of CPU
 * hotplug. No allocation fails while a slab cache is made, because the kernel
 * would dump its stack; nor while a directory is made, whose many allocations
 * fail one by one in KUnit suites.
 */
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "../../kunit/fail_at.h"

static struct task_struct *loader;
static unsigned int loader_nth;
static unsigned int loader_call;
static unsigned int calls_left;

static int number_set(const char *text, const struct kernel_param *param)
{
	int err = kstrtouint(text, 0, param->arg);

	loader = err ? NULL : current;
	calls_left = 0;
	return err;
}

static const struct kernel_param_ops number_ops = { .set = number_set };

module_param_cb(nth, &number_ops, &loader_nth, 0200);
MODULE_PARM_DESC(nth, "which allocation of the writer's next loads fails");
module_param_cb(call, &number_ops, &loader_call, 0200);
MODULE_PARM_DESC(call, "which call of the writer's next loads fails");

/* True if this call is the one to fail. */
static bool is_next(void)
{
	return current == loader && calls_left && !--calls_left;
}

/* The first one makes a cache; newer kernels have another name for it. */
static struct fail_at points[] = {
	{ { .symbol_name = "kmem_cache_create" }, is_next, 0 },
	{ { .symbol_name = "kobject_add" }, is_next, -ENOMEM },
	{ { .symbol_name = "__cpuhp_setup_state" }, is_next, -ENOSPC },
	{ { .symbol_name = "register_module_notifier" }, is_next, -EIO },
};

static int init_begins(struct kprobe *probe, struct pt_regs *regs)
{
	if (current == loader) {
		current->fail_nth = loader_nth;
		calls_left = loader_call;
	}
	return 0;
}

static struct kprobe init_probe = {
	.symbol_name = "do_one_initcall",
	.pre_handler = init_begins,
};

/* No allocation fails between these two. */

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

static int begin_wholes(void)
{
	static const char *newer = "__kmem_cache_create_args";
	int err = register_kretprobes(wholes, ARRAY_SIZE(wholes));

	if (err != -ENOENT)
		return err;
	cache_probe.kp.symbol_name = newer;
	points[0].probe.symbol_name = newer;
	return register_kretprobes(wholes, ARRAY_SIZE(wholes));
}

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

/* If a function has two probes, the later one runs first. */
static int __init ants_fail_init(void)
{
	int err;

	err = begin_wholes();
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
