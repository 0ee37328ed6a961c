/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _EXPLORE_TRACE_H
#define _EXPLORE_TRACE_H

#include <linux/compiler.h>
#include <linux/types.h>

struct ants_pool;

#define TRACE_SET_SIZE	BIT(21)

/**
 * struct trace_set - hashes that were met
 * @keys: them; 0 for none
 * @digests: what else is known of them, the same for the same hash
 * @used: with how many deviations at least
 * @nr: how many there are
 * @sum: the same for the same hashes, in whatever order they came
 */
struct trace_set {
	u64 keys[TRACE_SET_SIZE];
	u64 digests[TRACE_SET_SIZE];
	unsigned char used[TRACE_SET_SIZE];
	unsigned int nr;
	u64 sum;
};

/* That of the thread that runs. */
extern u64 *trace_self;
/* Not while conditions of others are looked at. */
extern bool trace_on;

u64 trace_mix(u64 a, u64 b);
void trace_begin(void);
void trace_step(void);

/* Some of what is in the pool of the scenario, if it has one. */
void trace_watch(const struct ants_pool *pool);
u64 trace_watched(void);

void trace_set_clear(struct trace_set *set);
/* False if it was met with as many deviations, or fewer. */
bool trace_set_add(struct trace_set *set, u64 key, unsigned int used,
		   u64 digest);

#endif
