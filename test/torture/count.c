// SPDX-License-Identifier: GPL-2.0-only
/* Sums for the verdict. */
#define pr_fmt(fmt) "ants_torture: " fmt

#include <linux/kernel.h>
#include <linux/printk.h>

#include "torture.h"

/* Further reports would say nothing new and fill the log. */
#define MOST_REPORTS	20

static atomic_long_t counts[NR_COUNTS];

void count_add(enum count what, long by)
{
	atomic_long_add(by, &counts[what]);
}

long count_read(enum count what)
{
	return atomic_long_read(&counts[what]);
}

void broken(const char *fmt, ...)
{
	struct va_format text = { .fmt = fmt };
	va_list args;

	if (atomic_long_inc_return(&counts[COUNT_VIOLATIONS]) > MOST_REPORTS)
		return;
	va_start(args, fmt);
	text.va = &args;
	pr_err("violation: %pV\n", &text);
	va_end(args);
}
