// SPDX-License-Identifier: GPL-2.0-only
/*
 * A livepatch that changes nothing: every thread has to be seen outside of the
 * function before it has taken effect, as with any other.
 */
#include <linux/module.h>

#ifdef CONFIG_LIVEPATCH
#include <linux/livepatch.h>
#include <linux/seq_file.h>

static int show_patched(struct seq_file *m, void *v)
{
	seq_puts(m, "patched\n");
	return 0;
}

static struct klp_func funcs[] = {
	{ .old_name = "cmdline_proc_show", .new_func = show_patched },
	{ }
};

static struct klp_object objects[] = {
	{ .funcs = funcs },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init ants_livepatch_init(void)
{
	return klp_enable_patch(&patch);
}

MODULE_INFO(livepatch, "Y");
#else
static int __init ants_livepatch_init(void)
{
	return -EOPNOTSUPP;
}
#endif

static void __exit ants_livepatch_exit(void)
{
}

module_init(ants_livepatch_init);
module_exit(ants_livepatch_exit);

MODULE_DESCRIPTION("ants: a livepatch that changes one line of /proc");
MODULE_AUTHOR("The ants authors");
MODULE_LICENSE("GPL");
