// SPDX-License-Identifier: GPL-2.0-only
/* A client's module, and the only notifier that is called at its end. */
#include <linux/module.h>

#include "shim.h"

struct module shim_client = { .name = "client" };

static struct notifier_block *notifier;

/* The section does not exist if nothing is in it. */
#pragma weak __start_client_text
#pragma weak __stop_client_text

bool within_module(unsigned long addr, const struct module *mod)
{
	return mod == &shim_client &&
	       addr >= (unsigned long)__start_client_text &&
	       addr < (unsigned long)__stop_client_text;
}

int register_module_notifier(struct notifier_block *nb)
{
	notifier = nb;
	return 0;
}

int unregister_module_notifier(struct notifier_block *nb)
{
	WARN_ON(notifier != nb);
	notifier = NULL;
	return 0;
}

void shim_module_going(struct module *mod)
{
	notifier->notifier_call(notifier, MODULE_STATE_GOING, mod);
}
