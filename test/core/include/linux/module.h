/* SPDX-License-Identifier: GPL-2.0-only */
/* No module ever goes. */
#ifndef _SHIM_MODULE_H
#define _SHIM_MODULE_H

#include <linux/export.h>

#define MODULE_STATE_GOING	2
#define NOTIFY_DONE		0

struct module {
	const char *name;
};

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long state,
			     void *data);
	int priority;
};

static inline bool within_module(unsigned long addr, const struct module *mod)
{
	return false;
}

static inline int register_module_notifier(struct notifier_block *nb)
{
	return 0;
}

static inline int unregister_module_notifier(struct notifier_block *nb)
{
	return 0;
}

#endif
