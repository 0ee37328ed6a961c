// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot as one line of JSON. The keys are the names of the files. */
#include <stdio.h>
#include <time.h>

#include "antstat.h"

/* "max" stays what it is in sysfs; null is a file that makes no sense. */
static void print_value(const struct value *value)
{
	switch (value->type) {
	case VALUE_NUMBER:
		printf("%s%llu", value->negative ? "-" : "", value->number);
		break;
	case VALUE_MAX:
		print_json_string("max");
		break;
	case VALUE_TEXT:
		print_json_string(value->text);
		break;
	default:
		fputs("null", stdout);
	}
}

/* Files that the pool does not have are left out. */
static void print_fields(const struct pool *pool, int from, int to, bool first)
{
	int i;

	for (i = from; i < to; i++) {
		if (pool->value[i].type == VALUE_ABSENT)
			continue;
		printf("%s\"%s\":", first ? "" : ",", field_key(i));
		print_value(&pool->value[i]);
		first = false;
	}
}

static void print_pools(const struct pool *pools, size_t nr)
{
	size_t i;

	putchar('[');
	for (i = 0; i < nr; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
		print_json_string(pools[i].name);
		print_fields(&pools[i], 0, F_FIRST_STAT, false);
		fputs(",\"stats\":{", stdout);
		print_fields(&pools[i], F_FIRST_STAT, F_NR, true);
		putchar('}');
		if (pools[i].value[F_NR_SHARDS].type != VALUE_ABSENT) {
			fputs(",\"shards\":", stdout);
			print_pools(pools[i].shards, pools[i].nr_shards);
		}
		putchar('}');
	}
	putchar(']');
}

void print_json(const struct snapshot *snap)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	printf("{\"time\":%lld.%03ld,\"pools\":", (long long)ts.tv_sec,
	       ts.tv_nsec / 1000000);
	print_pools(snap->pools, snap->nr);
	puts("}");
}
