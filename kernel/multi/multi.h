/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the sharded pools share. The lock legend is in pool.h. */
#ifndef _ANTS_MULTI_H
#define _ANTS_MULTI_H

#include <linux/ants.h>
#include <linux/atomic.h>
#include <linux/kobject.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "../internal.h"

/**
 * struct ants_shard - one pool of a multi
 * @pool: I
 * @was: M: its bound before a change that may be undone; or its release.seq when
 *	a reboot found it drained
 * @part: M: its part of the new total
 * @affinity: M: what its workers are to apply, once all shards have one
 */
struct ants_shard {
	struct ants_pool *pool;
	unsigned int was;
	unsigned int part;
	struct ants_affinity *affinity;
};

/**
 * struct ants_multi - pools behind one handle
 * @name: I
 * @strategy: I
 * @nr_shards: I: length of @shards
 * @congested: O: 1 from the moment when all shards have refused a caller until
 *	one of them calls back
 * @choice: of each CPU: %ANTS_ROUND_ROBIN: O: number of choices made on it;
 *	%ANTS_LOCAL: I: its shard
 * @config: serialises reboot and every change of the whole
 * @kobj: /sys/kernel/ants/<name>
 * @registered: R: in ants_multis
 * @shards: I
 */
struct ants_multi {
	char name[ANTS_NAME_LEN];
	enum ants_strategy strategy;
	unsigned int nr_shards;
	atomic_t congested;
	unsigned int __percpu *choice;
	/* Serialises what is done to all shards, except their end. */
	struct mutex config;
	struct kobject kobj;
	struct list_head registered;
	struct ants_shard shards[];
};

/* NULL after the last shard, or after the last one that was made. */
static inline struct ants_pool *ants_shard(const struct ants_multi *multi,
					   unsigned int nr)
{
	return nr < multi->nr_shards ? multi->shards[nr].pool : NULL;
}

/* Walk the shards of a multi, or those that were made, in order. */
#define for_each_shard(pool, multi)					\
	for (unsigned int __i = 0; ((pool) = ants_shard(multi, __i)); __i++)

/* The most CPUs of a shard if ants chooses the number of shards. */
#define ANTS_SHARD_CPUS		8

/* The cache of a CPU of which only the node is known; packages follow it. */
#define ANTS_NO_CACHE		INT_MIN

/**
 * struct ants_cpu - a CPU, where it is, and the shard that it gets
 * @node: NUMA node
 * @cache: last-level cache, or what stands in for it; one number on one node
 * @core: the first CPU of the core; one number in one cache
 * @cpu: its number
 * @where: all of these
 * @shard: what it belongs to once the CPUs are fitted
 */
struct ants_cpu {
	union {
		struct {
			int node;
			int cache;
			unsigned int core;
			unsigned int cpu;
		};
		int where[4];
	};
	unsigned int shard;
};

/* multi.c: which CPUs belong to which shard; and the rest */
unsigned int ants_fit(struct ants_cpu *cpus, unsigned int nr, unsigned int asked,
		      unsigned int most);
unsigned int ants_fit_near(const struct ants_cpu *cpus, unsigned int nr,
			   const struct ants_cpu *other, unsigned int *turn);
extern const struct kobj_type ants_multi_ktype;
int ants_multi_set(struct ants_multi *multi, const struct ants_change *change);

#endif /* _ANTS_MULTI_H */
