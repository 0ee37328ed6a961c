// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters of ants_torture. This is the only place that declares and
 * documents each one, with its default and its range.
 */
#define pr_fmt(fmt) "ants_torture: " fmt

#include <linux/kernel.h>
#include <linux/module.h>

#include "torture.h"

static int knob_set(const char *text, const struct kernel_param *param)
{
	struct knob *knob = param->arg;
	unsigned int value;

	if (kstrtouint(text, 0, &value) || value < knob->least ||
	    value > knob->most) {
		pr_err("%s=%s: a number from %u to %u is expected\n",
		       knob->name, text, knob->least, knob->most);
		return -EINVAL;
	}
	knob->value = value;
	return 0;
}

static int knob_get(char *buffer, const struct kernel_param *param)
{
	const struct knob *knob = param->arg;

	return sprintf(buffer, "%u\n", knob->value);
}

static const struct kernel_param_ops knob_ops = {
	.set = knob_set,
	.get = knob_get,
};

#define DEFKNOB(_name, _default, _least, _most, _text)			\
	struct knob knob_##_name = {					\
		.name = #_name,						\
		.value = _default,					\
		.least = _least,					\
		.most = _most,						\
	};								\
	module_param_cb(_name, &knob_ops, &knob_##_name, 0444);		\
	MODULE_INFO(parm, #_name ":" _text " (default " #_default ", "	\
		    #_least " to " #_most ")")

DEFKNOB(seed, 0, 0, 4294967295,
	"where the random numbers begin; 0 takes one by chance");
DEFKNOB(seconds, 60, 1, 86400,
	"how long the torture lasts");
DEFKNOB(unloads, 0, 0, 1000,
	"how often a client has to have been unloaded; until then the torture goes on, for at most spare_s");
DEFKNOB(spare_s, 300, 1, 86400,
	"seconds that it may take longer for that");
DEFKNOB(threads, 6, 1, 64,
	"threads that make calls");
DEFKNOB(targets, 6, 1, 32,
	"pools and multis that exist at a time");
DEFKNOB(kickers, 2, 0, 8,
	"threads that send interrupts, from which calls are made");
DEFKNOB(kick_us, 500, 50, 1000000,
	"microseconds between two of these interrupts");
DEFKNOB(fail_percent, 4, 0, 100,
	"percentage of calls in which one allocation fails");
DEFKNOB(nest_percent, 10, 0, 50,
	"percentage of tasks that make calls themselves");
DEFKNOB(fault_permille, 0, 0, 100,
	"of a thousand tasks so many die, and so many leave their thread dirty; the kernel must survive an oops, see FAULTS of test/torture/run");
DEFKNOB(restart_s, 7, 1, 3600,
	"seconds until one of the threads is stopped and replaced");
DEFKNOB(max_wait, 60, 1, 3600,
	"seconds after which a call, or a task, counts as stuck");
