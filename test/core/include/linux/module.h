/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of one client is distinct: functions that are SHIM_CLIENT. Its
 * module goes when a scenario calls shim_module_going().
 */
#ifndef _SHIM_MODULE_H
#define _SHIM_MODULE_H

#include <linux/export.h>

/* Parameters keep their defaults. */
#define module_param(name, type, perm)
#define module_param_named(name, variable, type, perm)
#define MODULE_PARM_DESC(name, text)
#define MODULE_DESCRIPTION(text)
#define MODULE_AUTHOR(text)
#define MODULE_VERSION(text)
#define MODULE_LICENSE(text)

/* core.c begins and ends the module. */
#define module_init(fn)
#define module_exit(fn)

#define MODULE_STATE_GOING	2
#define NOTIFY_DONE		0

#define SHIM_CLIENT	noinline __attribute__((__section__("client_text")))

struct module {
	const char *name;
};

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long state,
			     void *data);
	int priority;
};

extern struct module shim_client;
/* The linker defines these for the section. */
extern const char __start_client_text[];
extern const char __stop_client_text[];

bool within_module(unsigned long addr, const struct module *mod);
int register_module_notifier(struct notifier_block *nb);
int unregister_module_notifier(struct notifier_block *nb);
/* Called after the module's exit function, before its text goes. */
void shim_module_going(struct module *mod);

#endif
