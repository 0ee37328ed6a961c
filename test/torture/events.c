// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count what happens to the machine meanwhile: CPU hotplug, suspends, and a
 * client that is unloaded.
 */
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/suspend.h>

#include "torture.h"

static int hotplug_state;

static int cpu_came(unsigned int cpu)
{
	count(COUNT_HOTPLUG);
	return 0;
}

static int module_event(struct notifier_block *block, unsigned long state,
			void *data)
{
	const struct module *module = data;

	if (state == MODULE_STATE_GOING &&
	    !strcmp(module->name, "ants_torture_client"))
		count(COUNT_UNLOADS);
	return NOTIFY_OK;
}

static struct notifier_block module_block = { .notifier_call = module_event };

static int pm_event(struct notifier_block *block, unsigned long event,
		    void *unused)
{
	if (event == PM_POST_SUSPEND)
		count(COUNT_SUSPENDS);
	return NOTIFY_OK;
}

static struct notifier_block pm_block = { .notifier_call = pm_event };

int events_init(void)
{
	int err;

	err = register_module_notifier(&module_block);
	if (err)
		return err;
	err = register_pm_notifier(&pm_block);
	if (err)
		goto err_module;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "ants:torture",
					cpu_came, NULL);
	if (err < 0)
		goto err_pm;
	hotplug_state = err;
	return 0;

err_pm:
	unregister_pm_notifier(&pm_block);
err_module:
	unregister_module_notifier(&module_block);
	return err;
}

void events_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	unregister_pm_notifier(&pm_block);
	unregister_module_notifier(&module_block);
}
