/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _EXPLORE_TRACE_H
#define _EXPLORE_TRACE_H

#include <linux/compiler.h>
#include <linux/types.h>

struct ants_pool;

#define TRACE_SET_SIZE	BIT(21)

/**
 * struct trace_set - hashes of states that were seen
 * @keys: the hashes; 0 for none
 * @digests: a digest of the state, which must be the same for the same hash
 * @used: the fewest deviations with which the state was seen
 * @nr: number of hashes
 * @sum: the same for the same hashes, in any order
 */
struct trace_set {
	u64 keys[TRACE_SET_SIZE];
	u64 digests[TRACE_SET_SIZE];
	unsigned char used[TRACE_SET_SIZE];
	unsigned int nr;
	u64 sum;
};

/* The hash of the running thread. */
extern u64 *trace_self;
/* False while other threads' conditions are evaluated. */
extern bool trace_on;

u64 trace_mix(u64 a, u64 b);
void trace_begin(void);
void trace_step(void);

/* Hash some of the state of the scenario's pool, if it has one. */
void trace_watch(const struct ants_pool *pool);
u64 trace_watched(void);

void trace_set_clear(struct trace_set *set);
/* False if the key is known with as many deviations, or fewer. */
bool trace_set_add(struct trace_set *set, u64 key, unsigned int used,
		   u64 digest);

#endif
