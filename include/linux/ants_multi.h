/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants: pools behind one handle. Part of <linux/ants.h>, which explains the
 * errors.
 */
#ifndef _LINUX_ANTS_MULTI_H
#define _LINUX_ANTS_MULTI_H

#include <linux/ants.h>

/*
 * multi.c: pools behind one handle, for more submitters than one lock can serve
 */

/* The most shards of a multi. */
#define ANTS_MAX_SHARDS		1024

/**
 * enum ants_strategy - which shard is the first choice for a task
 * @ANTS_ROUND_ROBIN: the one after the last choice; each CPU takes turns by
 *	itself
 * @ANTS_LEAST_TASKS: the one with the fewest running and pending tasks; idle
 *	threads do not count
 * @ANTS_LOCAL: that of the caller's CPU. CPUs are divided among the shards in
 *	contiguous ranges, or by node if there are as many nodes as shards; or
 *	there are as many shards as fit, see ants_multi_create(). The threads of
 *	a shard run on its CPUs. Without &ants_attrs.cpumask this is a preference:
 *	isolated CPUs have no threads, and kernels from 6.17 on are told the
 *	preference
 */
enum ants_strategy {
	ANTS_ROUND_ROBIN,
	ANTS_LEAST_TASKS,
	ANTS_LOCAL,
};

struct ants_multi;

__printf(5, 6)
struct ants_multi *__ants_multi_create(struct module *owner,
				       const struct ants_attrs *attrs,
				       unsigned int nr_shards,
				       enum ants_strategy strategy,
				       const char *fmt, ...);

/**
 * ants_multi_create() - create a number of pools behind one handle
 * @attrs: their attributes; NULL for the defaults. &ants_attrs.capacity,
 *	&ants_attrs.max_blocking, &ants_attrs.queue_depth and
 *	&ants_attrs.min_workers are totals: each shard gets its part, and the
 *	first ones share the remainder. %ANTS_UNLIMITED means no bound for each
 *	shard. If max_blocking is not 0, each shard gets at least 1. The other
 *	fields apply to each shard. If all shards have refused a caller, the one
 *	that has room first calls &ants_attrs.space_available, once
 * @nr_shards: the number of pools; the most is %ANTS_MAX_SHARDS. 0, with
 *	%ANTS_LOCAL: as many as fit the CPUs that are online and that threads may
 *	run on. The CPUs of a shard share a last-level cache and a node and are at
 *	most 8; those of a core are in one shard, and the CPUs of a cache are divided
 *	evenly. Where modules cannot learn about caches, the package is taken
 *	instead. There are never more shards than capacity: if need be, neighbours
 *	share one, even across caches
 * @strategy: which of them is the first choice for a task
 * @...: printf format and arguments of the name: unique among pools and
 *	multis, without a slash; with a slash and the highest shard's number
 *	after it still shorter than %ANTS_NAME_LEN
 *
 * Context: Process context. May sleep.
 * Return: the multi, or an ERR_PTR: -EINVAL for a number of shards that is too
 * high, above the capacity, or 0 with another strategy than %ANTS_LOCAL, an
 * unknown strategy, attributes or a name out of range or in contradiction,
 * -EEXIST if the name is taken, -ENOMEM, -EINTR if the caller was killed
 * meanwhile.
 */
#define ants_multi_create(attrs, nr_shards, strategy, ...)		\
	__ants_multi_create(THIS_MODULE, attrs, nr_shards, strategy,	\
			    __VA_ARGS__)

int ants_multi_destroy(struct ants_multi *multi);
int ants_multi_release(struct ants_multi *multi);
int ants_multi_release_timeout(struct ants_multi *multi, unsigned long timeout);
int ants_multi_reboot(struct ants_multi *multi);
int ants_multi_tune(struct ants_multi *multi, unsigned int capacity);
int ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth);
int ants_multi_set_nice(struct ants_multi *multi, int nice);
int ants_multi_set_cpumask(struct ants_multi *multi,
			   const struct cpumask *mask);
struct ants_pool *ants_multi_choose(struct ants_multi *multi);
int ants_multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data);
int ants_multi_submit_timeout(struct ants_multi *multi, ants_fn_t fn,
			      void *data, unsigned long timeout);
int ants_multi_try_submit(struct ants_multi *multi, ants_fn_t fn, void *data);
int ants_multi_flush(struct ants_multi *multi);
int ants_multi_flush_timeout(struct ants_multi *multi, unsigned long timeout);
void ants_multi_stats(const struct ants_multi *multi, struct ants_stats *stats);
unsigned int ants_multi_capacity(const struct ants_multi *multi);
bool ants_multi_is_released(const struct ants_multi *multi);
unsigned int ants_multi_nr_shards(const struct ants_multi *multi);
struct ants_pool *ants_multi_shard(const struct ants_multi *multi,
				   unsigned int nr);

#endif /* _LINUX_ANTS_MULTI_H */
