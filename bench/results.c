// SPDX-License-Identifier: GPL-2.0-only
/*
 * The results: lines "ants_bench: <bench> <subject> <param> <value> <unit>",
 * with a tab between the columns. No other line begins like this.
 */
#define pr_fmt(fmt) "ants_bench: " fmt

#include <linux/sort.h>
#include <linux/kernel.h>

#include "bench.h"

#define PARAM_LEN	160

void result(const struct bench *bench, const char *subject, const char *param,
	    unsigned int round, s64 value, const char *unit)
{
	pr_info("%s\t%s\t%s%sround=%u\t%lld\t%s\n", bench->name, subject, param,
		*param ? " " : "", round, value, unit);
}

/* Append a setting, with a space before all but the first. */
static __printf(3, 4) int put(char *param, int len, const char *fmt, ...)
{
	va_list args;

	if (len)
		len += scnprintf(param + len, PARAM_LEN - len, " ");
	va_start(args, fmt);
	len += vscnprintf(param + len, PARAM_LEN - len, fmt, args);
	va_end(args);
	return len;
}

static int put_bounds(char *param, const struct row *row)
{
	int len;

	if (row->capacity == ANTS_UNLIMITED)
		len = put(param, 0, "capacity=max");
	else
		len = put(param, 0, "capacity=%u", row->capacity);
	return put(param, len, "queue_depth=%u", row->queue_depth);
}

static int put_row(char *param, const struct row *row)
{
	int len = 0;

	*param = '\0';
	if (row->subject->bounded)
		len = put_bounds(param, row);
	if (row->max_active)
		len = put(param, len, "max_active=%u", row->max_active);
	if (row->scope)
		len = put(param, len, "scope=%s", row->scope);
	if (*row->extra)
		len = put(param, len, "%s", row->extra);
	return len;
}

void row_result(const struct bench *bench, const struct row *row,
		unsigned int round, s64 value, const char *unit)
{
	char param[PARAM_LEN];

	put_row(param, row);
	result(bench, row->subject->name, param, round, value, unit);
}

static int compare(const void *a, const void *b)
{
	u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return left < right ? -1 : left > right;
}

/* Sort @values, which are times in nanoseconds, and print percentiles. */
void row_percentiles(const struct bench *bench, const struct row *row,
		     unsigned int round, u64 *values, unsigned int nr)
{
	static const unsigned int shares[] = { 50, 90, 95, 99, 100 };
	char param[PARAM_LEN];
	unsigned int i;
	int len = put_row(param, row);

	sort(values, nr, sizeof(*values), compare, NULL);
	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		put(param, len, "percentile=%u", shares[i]);
		result(bench, row->subject->name, param, round,
		       values[(u64)(nr - 1) * shares[i] / 100], "ns");
	}
}
