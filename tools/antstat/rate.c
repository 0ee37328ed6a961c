// SPDX-License-Identifier: GPL-2.0-only
/* What happened between two snapshots. */
#include <stdio.h>
#include <string.h>

#include "antstat.h"

/* Events in a second. False if there is nothing to compare with. */
bool rate_of(const struct snapshot *then, const struct pool *pool,
	     enum field field, double *rate)
{
	const struct pool *old = find_pool(then, pool->name);
	const struct value *a, *b = &pool->value[field];

	if (!old || old->ino != pool->ino || pool->when <= old->when)
		return false;
	a = &old->value[field];
	if (a->type != VALUE_NUMBER || b->type != VALUE_NUMBER)
		return false;
	/* A counter that falls is another pool's. */
	if (b->number < a->number)
		return false;
	*rate = (b->number - a->number) / (pool->when - old->when);
	return true;
}

/* The same for a table; good until the fourth call after. */
const char *rate_text(const struct snapshot *then, const struct pool *pool,
		      enum field field)
{
	static char buffers[4][32];
	static unsigned int next;
	char *text = buffers[next++ % 4];
	double rate;

	if (!rate_of(then, pool, field, &rate))
		return "-";
	snprintf(text, sizeof(buffers[0]), "%.*f", rate && rate < 9.95, rate);
	return text;
}

/* Names the pools that were there, and are not any more. */
void say_gone(const struct snapshot *then, const struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < then->nr; i++)
		if (!find_pool(snap, then->pools[i].name))
			say("pool %s is gone", safe(then->pools[i].name));
}
