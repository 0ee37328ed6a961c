// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharded pools: pools behind one handle, each with a lock, threads and a
 * directory of its own. Creating and destroying them, and their numbers; submitting
 * a task to the shard that suits it best; and what is done to all shards.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/topology.h>

#include "../internal.h"
#include "multi.h"

/*
 * The part of a total that shard @nr gets; the first ones share the remainder.
 * Without a bound for the whole no shard has one.
 */
static unsigned int share_of(const struct ants_multi *multi, unsigned int total,
			     unsigned int nr)
{
	if (total == ANTS_UNLIMITED)
		return ANTS_UNLIMITED;
	return total / multi->nr_shards + (nr < total % multi->nr_shards);
}

/* Is the caller a task of a shard? */
static bool is_own_task(const struct ants_multi *multi)
{
	const struct ants_pool *pool = ants_current_pool();

	return pool && pool->parent == &multi->kobj;
}

/* The shard that the caller is a task of, or of which it runs a task by itself. */
static struct ants_pool *multi_runs(const struct ants_multi *multi)
{
	struct ants_pool *pool;

	for_each_shard(pool, multi)
		if (ants_runs_task_of(pool))
			return pool;
	return NULL;
}

/*
 * ants_wait_touch() for a caller that may have to wait for tasks of any shard.
 */
static void multi_touch(const struct ants_multi *multi)
{
	struct ants_pool *pool;

	if (!is_own_task(multi))
		for_each_shard(pool, multi)
			ants_wait_touch(pool);
}

/*
 * ANTS_LOCAL: each CPU has a shard, and the threads of a shard run on the CPUs
 * that have it. So a task stays where it was submitted. Which CPUs belong
 * together is decided once, when the shards are made: the CPUs are sorted by
 * where they are, and cut into ranges. There are as many ranges as the client
 * asks for, or as many as fit: those of one last-level cache on one node, at most
 * ANTS_SHARD_CPUS of them, and the threads of a core are never apart.
 */

/* The first functions look at nothing but their arguments. */

/* How near two CPUs are: how much of where they are they have in common. */
enum near { NEAR_NOT, NEAR_NODE, NEAR_CACHE, NEAR_CORE, NEAR_SAME };

static enum near nearness(const struct ants_cpu *a, const struct ants_cpu *b)
{
	enum near near = NEAR_NOT;

	/* If one has gone offline meanwhile the rest may look different. */
	if (a->cpu == b->cpu)
		return NEAR_SAME;
	while (near < NEAR_SAME && a->where[near] == b->where[near])
		near++;
	return near;
}

/* Compare by node, then by cache, by core, and by number. */
static int compare(const void *left, const void *right)
{
	const struct ants_cpu *a = left, *b = right;
	enum near near = nearness(a, b);

	if (near == NEAR_SAME)
		return 0;
	return a->where[near] < b->where[near] ? -1 : 1;
}

/*
 * Cut the @nr CPUs of one cache into @parts ranges of about equal length, but not
 * through a core, and number them from @shard on. Return the length of the
 * longest one.
 */
static unsigned int cut_cache(struct ants_cpu *cpus, unsigned int nr,
			      unsigned int parts, unsigned int shard)
{
	unsigned int i, part = 0, begin = 0, longest = 0;

	for (i = 0; i < nr; i++) {
		if (i * parts / nr > part && nearness(&cpus[i - 1], &cpus[i]) < NEAR_CORE) {
			part = i * parts / nr;
			begin = i;
			shard++;
		}
		cpus[i].shard = shard;
		longest = max(longest, i - begin + 1);
	}
	return longest;
}

/*
 * Sort @nr CPUs, at least one, and give each of them a shard: the shards are numbered
 * in the order of the CPUs. Return how many shards there are: as many as were @asked
 * for, or if that is 0, as many as fit, and at most @most.
 *
 * Of those that were asked for each gets a node if there are as many nodes, else a range,
 * through caches and cores if need be. With more shards than CPUs some have no CPU.
 */
unsigned int ants_fit(struct ants_cpu *cpus, unsigned int nr, unsigned int asked,
		      unsigned int most)
{
	unsigned int i, parts, node = 0, begin = 0, shards = 0;

	sort(cpus, nr, sizeof(*cpus), compare, NULL);
	if (asked) {
		for (i = 0; i < nr; i++) {
			node += i && cpus[i].node != cpus[i - 1].node;
			cpus[i].shard = node;
		}
		if (node + 1 != asked)
			for (i = 0; i < nr; i++)
				cpus[i].shard = i * asked / nr;
		return asked;
	}
	for (i = 1; i <= nr; i++) {
		if (i < nr && nearness(&cpus[begin], &cpus[i]) >= NEAR_CACHE)
			continue;
		/*
		 * Those from @begin on are the CPUs of one cache. They get as few
		 * shards as the limit allows if all cores are of the same width, else
		 * perhaps more. If a core is wider than the limit, each core is a
		 * shard.
		 */
		parts = 1;
		while (cut_cache(&cpus[begin], i - begin, parts, shards) >
		       ANTS_SHARD_CPUS && parts < i - begin)
			parts++;
		shards = cpus[i - 1].shard + 1;
		begin = i;
	}
	/* If more shards fit than are allowed, neighbours share one. */
	most = min(most, shards);
	for (i = 0; i < nr; i++)
		cpus[i].shard = cpus[i].shard * most / shards;
	return most;
}
EXPORT_SYMBOL_FOR_TESTS(ants_fit);

/*
 * Find the shard for any CPU: its own if it is among the @nr CPUs that were fitted, else
 * one that has CPUs of its core, else of its cache, else of its node, else any. @turn
 * spreads CPUs over shards that are equally near.
 */
unsigned int ants_fit_near(const struct ants_cpu *cpus, unsigned int nr,
			   const struct ants_cpu *other, unsigned int *turn)
{
	unsigned int i, first = 0, last = 0;
	enum near near, best = NEAR_NOT;

	for (i = 0; i < nr; i++) {
		near = nearness(&cpus[i], other);
		if (near > best) {
			best = near;
			first = cpus[i].shard;
		}
		if (near == best)
			last = cpus[i].shard;
	}
	if (first != last)
		first += (*turn)++ % (last - first + 1);
	/* With more shards than CPUs, that one may have none: then the next that has. */
	for (i = 0; cpus[i].shard < first; i++)
		;
	return cpus[i].shard;
}
EXPORT_SYMBOL_FOR_TESTS(ants_fit_near);

/*
 * Where is @cpu? If it is offline only the node is known: the kernel may have
 * forgotten the rest, or has never known it. Where the kernel does not tell
 * modules about caches, the package is taken instead. A package of one CPU says
 * nothing: then the node alone decides. No lock is held. If CPUs come and go
 * meanwhile, the shards only fit less well.
 */
static struct ants_cpu locate(unsigned int cpu)
{
	struct ants_cpu where = {
		.cpu = cpu, .node = cpu_to_node(cpu), .cache = ANTS_NO_CACHE,
		.core = cpu,
	};
	const struct cpumask *package = topology_core_cpumask(cpu);
	int llc;

	if (!cpu_online(cpu))
		return where;
	llc = ants_llc_of(cpu);
	if (llc >= 0)
		where.cache = llc;
	else if (cpumask_weight(package) > 1)
		where.cache = ANTS_NO_CACHE + 1 + (int)cpumask_first(package);
	where.core = cpumask_first(topology_sibling_cpumask(cpu));
	return where;
}

/*
 * The CPUs that threads may run on. @asked: those that were asked for; NULL if
 * none were.
 */
static void set_allowed(struct cpumask *mask, const struct cpumask *asked)
{
	cpumask_and(mask, asked ?: cpu_possible_mask, cpu_possible_mask);
	if (!asked)
		ants_leave_out_isolated(mask);
}

/*
 * Find the shard of each CPU. First divide the CPUs that threads may run on and that
 * are online, so that each shard gets some of them; each other one gets the nearest
 * shard, because submitters may run there, too. @asked: NULL if no CPUs were asked
 * for. If the number of shards is 0 it is set: as many as fit, at most @most. @mask is
 * for use in here.
 */
static int local_map(struct ants_multi *multi, const struct cpumask *asked,
		     unsigned int most, struct cpumask *mask)
{
	struct ants_cpu *cpus = kcalloc(nr_cpu_ids, sizeof(*cpus), GFP_KERNEL), where;
	unsigned int cpu, nr = 0, turn = 0;

	if (!cpus)
		return -ENOMEM;
	set_allowed(mask, asked);
	for_each_cpu_and(cpu, mask, cpu_online_mask)
		cpus[nr++] = locate(cpu);
	if (!nr)
		for_each_cpu(cpu, mask)
			cpus[nr++] = locate(cpu);
	multi->nr_shards = ants_fit(cpus, nr, multi->nr_shards, most);
	for_each_possible_cpu(cpu) {
		where = locate(cpu);
		per_cpu(*multi->choice, cpu) = ants_fit_near(cpus, nr, &where, &turn);
		cond_resched();
	}
	kfree(cpus);
	return 0;
}

/*
 * Set where the threads of shard @nr run; @attrs->cpumask was for all shards. A
 * shard that has no CPU is at home where the last shard before it is that has one.
 * Threads are allocated on the node that all of these CPUs have in common, if there is
 * one and the client has asked for none.
 */
static void local_attrs(const struct ants_multi *multi, unsigned int nr,
			struct ants_attrs *attrs, struct cpumask *mask)
{
	unsigned int cpu, home = 0;
	int node = NUMA_NO_NODE;

	set_allowed(mask, attrs->cpumask);
	for_each_cpu(cpu, mask)
		if (per_cpu(*multi->choice, cpu) <= nr)
			home = max(home, per_cpu(*multi->choice, cpu));
	for_each_cpu(cpu, mask)
		if (per_cpu(*multi->choice, cpu) != home)
			cpumask_clear_cpu(cpu, mask);
	attrs->cpumask = mask;
	for_each_cpu(cpu, mask) {
		if (node != NUMA_NO_NODE && node != cpu_to_node(cpu))
			return;
		node = cpu_to_node(cpu);
	}
	if (!(attrs->flags & ANTS_ON_NODE) && node != NUMA_NO_NODE && node_online(node)) {
		attrs->flags |= ANTS_ON_NODE;
		attrs->node = node;
	}
}

/* Creating and destroying a multi. */

/* The last reference to the kobject has been dropped. */
static void multi_free(struct kobject *kobj)
{
	struct ants_multi *multi = container_of(kobj, struct ants_multi, kobj);

	free_percpu(multi->choice);
	kfree(multi);
	complete(&ants_gone);
}

/* As with pools, there are no default groups. */
const struct kobj_type ants_multi_ktype = {
	.sysfs_ops = &kobj_sysfs_ops,
	.release = multi_free,
};

/*
 * Make what the strategy needs, and the shards, each with its part of the totals. If ants
 * chooses how many, they are at most @most.
 *
 * Each CPU counts its own choices, so that no submit writes what another CPU reads. CPU
 * n begins with shard n; otherwise all CPUs would choose the same shards in step.
 */
static int make_shards(struct ants_multi *multi, struct module *owner,
		       const struct ants_attrs *total, unsigned int most)
{
	struct ants_attrs attrs;
	struct ants_pool *pool;
	cpumask_var_t mask;
	unsigned int i;
	int err = 0;

	multi->choice = alloc_percpu(unsigned int);
	if (!multi->choice || !alloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_possible_cpu(i)
		per_cpu(*multi->choice, i) = i - 1;
	if (multi->strategy == ANTS_LOCAL)
		err = local_map(multi, total->cpumask, most, mask);
	/* A shard has the name of the multi, a slash and its number. */
	if (!err && snprintf(NULL, 0, "%s/%u", multi->name,
			     multi->nr_shards - 1) >= ANTS_NAME_LEN)
		err = -EINVAL;
	for (i = 0; i < multi->nr_shards && !err; i++) {
		attrs = *total;
		attrs.capacity = share_of(multi, total->capacity, i);
		attrs.queue_depth = share_of(multi, total->queue_depth, i);
		attrs.min_workers = share_of(multi, total->min_workers, i);
		/* A limit on waiters must not become 0, which is no limit. */
		if (total->max_blocking)
			attrs.max_blocking =
				max(share_of(multi, total->max_blocking, i), 1U);
		if (multi->strategy == ANTS_LOCAL)
			local_attrs(multi, i, &attrs, mask);
		pool = ants_shard_create(owner, &multi->kobj, multi->name, i, &attrs,
					 total->cpumask);
		err = PTR_ERR_OR_ZERO(pool);
		if (err)
			break;
		/* No shard is marked congested before the multi can be used. */
		pool->shared_congested = &multi->congested;
		multi->shards[i].pool = pool;
	}
	free_cpumask_var(mask);
	return err;
}

/*
 * Close all shards, for ever if @dying, before any of them is waited for. Return the
 * generation of the last one: it changes when all shards are open again.
 */
static unsigned int close_all(struct ants_multi *multi, bool dying)
{
	struct ants_pool *pool;
	unsigned int generation = 0;

	for_each_shard(pool, multi)
		generation = ants_close_begin(pool, dying);
	/* No reboot can open one of them before the last one is closed. */
	for_each_shard(pool, multi)
		ants_close_end(pool);
	return generation;
}

/*
 * End a multi with the shards that were made. @shown: it has files. They are removed
 * before the shards that they are about. All shards are empty before the first one
 * ends: a caller that holds a reference on one shard may be about to use another.
 */
static void multi_end(struct ants_multi *multi, bool shown)
{
	struct ants_pool *pool;
	unsigned long seen;

	multi_touch(multi);
	close_all(multi, true);
	for_each_shard(pool, multi)
		ants_pool_quiesce(pool);
	seen = get_state_synchronize_rcu();
	if (shown)
		sysfs_remove_groups(&multi->kobj, ants_pool_groups);
	for_each_shard(pool, multi)
		ants_pool_end(pool, seen);
	if (multi->kobj.state_in_sysfs)
		kobject_del(&multi->kobj);
	ants_registry_del(&multi->registered);
	kobject_put(&multi->kobj);
}

/**
 * __ants_multi_create() - create sharded pools; see ants_multi_create()
 * @owner: the module that creates them, NULL if built in
 * @attrs: their attributes; NULL for the defaults
 * @nr_shards: the number of pools, or 0
 * @strategy: how the pool for a task is chosen
 * @fmt: printf format of the name
 *
 * Context: Process context. May sleep.
 * Return: the multi, or an ERR_PTR.
 */
struct ants_multi *__ants_multi_create(struct module *owner,
				       const struct ants_attrs *attrs,
				       unsigned int nr_shards,
				       enum ants_strategy strategy,
				       const char *fmt, ...)
{
	struct ants_attrs total = attrs ? *attrs : (struct ants_attrs){};
	struct ants_multi *multi;
	unsigned int most;
	va_list args;
	int err;

	total.capacity = total.capacity ?: num_online_cpus();
	most = min_t(unsigned int, total.capacity, ANTS_MAX_SHARDS);
	if ((unsigned int)strategy > ANTS_LOCAL || nr_shards > most ||
	    (!nr_shards && strategy != ANTS_LOCAL))
		return ERR_PTR(-EINVAL);
	multi = kzalloc(struct_size(multi, shards, nr_shards ?: min(most, nr_cpu_ids)),
			GFP_KERNEL);
	if (!multi)
		return ERR_PTR(-ENOMEM);
	multi->strategy = strategy;
	multi->nr_shards = nr_shards;
	mutex_init(&multi->config);
	INIT_LIST_HEAD(&multi->registered);
	ants_object_init(&multi->kobj, &ants_multi_ktype);
	va_start(args, fmt);
	err = ants_set_name(multi->name, fmt, args);
	va_end(args);
	/* The files are about the shards, which come first. */
	err = err ?:
	      ants_check_attrs(&total) ?:
	      ants_registry_add(multi->name, &multi->registered, &ants_multis) ?:
	      kobject_add(&multi->kobj, NULL, "%s", multi->name) ?:
	      make_shards(multi, owner, &total, most) ?:
	      ants_sysfs_show(&multi->kobj);
	if (!err)
		return multi;
	multi_end(multi, false);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(__ants_multi_create);

int ants_multi_destroy(struct ants_multi *multi)
{
	might_sleep();
	if (IS_ERR_OR_NULL(multi))
		return 0;
	if (WARN(multi_runs(multi),
		 "ants: multi %s destroyed by its task\n", multi->name))
		return -EDEADLK;
	multi_end(multi, true);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_multi_destroy);

/* Its numbers. */

unsigned int ants_multi_nr_shards(const struct ants_multi *multi)
{
	return multi->nr_shards;
}
EXPORT_SYMBOL_GPL(ants_multi_nr_shards);

struct ants_pool *ants_multi_shard(const struct ants_multi *multi,
				   unsigned int nr)
{
	return ants_shard(multi, nr) ?: ERR_PTR(-ERANGE);
}
EXPORT_SYMBOL_GPL(ants_multi_shard);

unsigned int ants_multi_capacity(const struct ants_multi *multi)
{
	struct ants_pool *pool;
	u64 sum = 0;

	for_each_shard(pool, multi)
		sum += ants_capacity(pool);
	return min_t(u64, sum, ANTS_UNLIMITED);
}
EXPORT_SYMBOL_GPL(ants_multi_capacity);

/*
 * The members are added up as two arrays: first unsigned integers, some of which may
 * be %ANTS_UNLIMITED, and then those that are u64.
 */
void ants_multi_stats(const struct ants_multi *multi, struct ants_stats *stats)
{
	struct ants_stats one;
	struct ants_pool *pool;
	unsigned int *sum;
	size_t at;

	memset(stats, 0, sizeof(*stats));
	for_each_shard(pool, multi) {
		ants_pool_stats(pool, &one);
		for (at = 0; at < offsetofend(struct ants_stats, peak_waiting);
		     at += sizeof(*sum)) {
			sum = (unsigned int *)((char *)stats + at);
			*sum = min_t(u64, ANTS_UNLIMITED,
				     *sum + (u64)*(unsigned int *)((char *)&one + at));
		}
		for (at = offsetof(struct ants_stats, submitted); at < sizeof(one);
		     at += sizeof(u64))
			*(u64 *)((char *)stats + at) += *(u64 *)((char *)&one + at);
	}
}
EXPORT_SYMBOL_GPL(ants_multi_stats);

/*
 * Submitting a task to the shard that suits it best. If that one is full, the others
 * are tried; if all are full, the caller waits in the first choice.
 */

static unsigned int choose_shard(struct ants_multi *multi)
{
	unsigned int nr, tasks, least = UINT_MAX, best = 0;
	struct ants_pool *pool;

	if (multi->strategy == ANTS_LOCAL)
		return this_cpu_read(*multi->choice);
	if (multi->strategy == ANTS_ROUND_ROBIN)
		return this_cpu_inc_return(*multi->choice) % multi->nr_shards;
	/* A hint: the numbers are read without a lock. */
	for (nr = 0; least && (pool = ants_shard(multi, nr)); nr++) {
		tasks = ants_nr_busy(pool) + ants_nr_pending(pool);
		if (tasks < least) {
			least = tasks;
			best = nr;
		}
	}
	return best;
}

struct ants_pool *ants_multi_choose(struct ants_multi *multi)
{
	return multi->shards[choose_shard(multi)].pool;
}
EXPORT_SYMBOL_GPL(ants_multi_choose);

/*
 * The first shard has refused with @refusal; try the others in turn, each once.
 * A closed one ends this. Return why the caller is refused: what the first choice
 * lacks, unless that takes no tasks after too many faults and others do. @may_sleep:
 * the caller may.
 */
static int try_others(const struct ants_multi *multi, unsigned int first, ants_fn_t fn,
		      void *data, int refusal, bool may_sleep)
{
	struct ants_pool *pool;
	unsigned int i;
	int err;

	for (i = 1; i < multi->nr_shards; i++) {
		pool = multi->shards[(first + i) % multi->nr_shards].pool;
		err = may_sleep ? ants_submit_attempt(pool, fn, data, false) :
				  ants_try_attempt(pool, fn, data);
		if (!err || err == -ESHUTDOWN)
			return err;
		if (refusal == -EIO && err != -EIO)
			refusal = -EAGAIN;
	}
	return refusal;
}

/*
 * If @err says that all shards refused the caller, count that in @pool. The shard that
 * has room first clears the flag of the multi and calls back. The flag is set before the
 * first shard is marked. So an event that finds a mark of this refusal finds
 * the flag set, unless another shard has cleared it after the refusal and calls
 * back. A mark that is left over when the flag is clear has no effect. A shard
 * that is marked may have room by now, and then there may be no further event, so
 * its timer calls back.
 */
static int multi_refuse(struct ants_multi *multi, struct ants_pool *pool,
			ants_fn_t fn, void *data, int err)
{
	struct ants_todo todo;

	if (!err || err == -ESHUTDOWN)
		return err;
	ants_lock_any(pool, &todo);
	trace_ants_task_refuse(pool, NULL, fn, data, 0, err);
	pool->counts.rejected++;
	ants_unlock_any(pool, &todo);
	if (err != -EAGAIN || !pool->ops.space_available)
		return err;
	ants_pause(ANTS_PAUSE_REFUSED, pool);
	atomic_set(&multi->congested, 1);
	for_each_shard(pool, multi) {
		ants_lock_any(pool, &todo);
		if (!pool->released) {
			pool->space.congested_all = true;
			ants_end_fast_path(pool);
			if (ants_can_admit(pool))
				ants_timer_arm_soon(pool, 1);
		}
		ants_unlock_any(pool, &todo);
	}
	return err;
}

/*
 * A shard to wait in: @pool, unless that takes no tasks after too many faults. A
 * task of the multi waits in its own shard only. So the rule that leaves one worker
 * of each shard that does not wait covers the whole multi.
 */
static struct ants_pool *shard_to_wait_in(struct ants_multi *multi,
					  struct ants_pool *pool)
{
	struct ants_pool *other = multi_runs(multi);

	if (other)
		return other;
	if (likely(!READ_ONCE(pool->faults.tripped)))
		return pool;
	for_each_shard(other, multi)
		if (!READ_ONCE(other->faults.tripped))
			return other;
	return pool;
}

/*
 * Shard @nr is full, and the caller holds a reference on it, so no shard is freed
 * meanwhile. If all are full, the caller waits for @timeout if @timed; otherwise it
 * does what the shard that it would wait in is configured for, and has a reference on
 * that one only: it may die in the task.
 */
static noinline int submit_elsewhere(struct ants_multi *multi, unsigned int nr,
				     ants_fn_t fn, void *data, int refusal,
				     unsigned long timeout, bool timed)
{
	struct ants_pool *pool = multi->shards[nr].pool, *last = pool;
	int err = try_others(multi, nr, fn, data, refusal, true);

	if (err == -EAGAIN || err == -ENOMEM)
		last = shard_to_wait_in(multi, pool);
	if (last != pool) {
		err = ants_submit_attempt(last, fn, data, true);
		ants_pool_put(pool);
		if (!err || err == -ESHUTDOWN)
			return err;
	}
	if ((err != -EAGAIN && err != -ENOMEM) ||
	    (!timed && READ_ONCE(last->flags) & ANTS_NONBLOCKING))
		err = multi_refuse(multi, last, fn, data, err);
	else if (!timed && READ_ONCE(last->flags) & ANTS_CALLER_RUNS && !ants_runs_task_of(last))
		err = ants_run_here(last, fn, data, ANTS_PRIO_NORMAL);
	else
		err = ants_submit_timeout(last, fn, data, timeout);
	ants_pool_put(last);
	return err;
}

/*
 * If all shards are full, wait for @timeout if @timed, else as the shard that the caller
 * would wait in is configured; not at all unless the caller @may_sleep.
 */
static __always_inline int multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data,
					unsigned long timeout, bool timed, bool may_sleep)
{
	unsigned int nr = choose_shard(multi);
	struct ants_pool *pool = multi->shards[nr].pool;
	int err;

	if (unlikely(!fn))
		return -EINVAL;
	if (IS_ENABLED(CONFIG_LOCKDEP) && timeout &&
	    (timed || !(READ_ONCE(pool->flags) & ANTS_NONBLOCKING)))
		multi_touch(multi);
	err = may_sleep ? ants_submit_attempt(pool, fn, data, true) :
			  ants_try_attempt(pool, fn, data);
	if (likely(!err) || err == -ESHUTDOWN)
		return err;
	if (may_sleep)
		return submit_elsewhere(multi, nr, fn, data, err, timeout, timed);
	err = try_others(multi, nr, fn, data, err, false);
	return multi_refuse(multi, pool, fn, data, err);
}

int ants_multi_submit(struct ants_multi *multi, ants_fn_t fn, void *data)
{
	return multi_submit(multi, fn, data, MAX_SCHEDULE_TIMEOUT, false, true);
}
EXPORT_SYMBOL_GPL(ants_multi_submit);

int ants_multi_submit_timeout(struct ants_multi *multi, ants_fn_t fn,
			      void *data, unsigned long timeout)
{
	return multi_submit(multi, fn, data, timeout, true, true);
}
EXPORT_SYMBOL_GPL(ants_multi_submit_timeout);

int ants_multi_try_submit(struct ants_multi *multi, ants_fn_t fn, void *data)
{
	return multi_submit(multi, fn, data, 0, true, false);
}
EXPORT_SYMBOL_GPL(ants_multi_try_submit);

/*
 * Closing, flushing, opening again, and changing. Opening and changing are
 * serialised by multi->config. Closing waits for neither, and makes an opening in
 * progress fail. Only the functions here close and open shards, all of them and in
 * order.
 *
 * A caller that may sleep holds a reference on the first shard, so that destroy
 * waits for it.
 */

/* It is the last one to be closed, and to be opened. */
static const struct ants_pool *last_shard(const struct ants_multi *multi)
{
	return multi->shards[multi->nr_shards - 1].pool;
}

bool ants_multi_is_released(const struct ants_multi *multi)
{
	return ants_is_released(last_shard(multi));
}
EXPORT_SYMBOL_GPL(ants_multi_is_released);

int ants_multi_release(struct ants_multi *multi)
{
	struct ants_pool *first = multi->shards[0].pool;

	ants_pool_get(first);
	close_all(multi, false);
	ants_pool_put(first);
	return 0;
}
EXPORT_SYMBOL_GPL(ants_multi_release);

/*
 * Is this shard drained, or were all shards drained and opened again since the end
 * of @generation? A reboot may fail after it has opened some shards, because this
 * caller has closed another one that the reboot had found drained. Then the reboot
 * closes again what it has opened.
 */
static bool shard_drained(struct ants_pool *pool, const void *generation)
{
	const struct ants_pool *last;

	lockdep_assert_held(&pool->lock);
	last = last_shard(container_of(pool->parent, struct ants_multi, kobj));
	return READ_ONCE(last->release.generation) !=
	       *(const unsigned int *)generation || ants_is_drained(pool);
}

/*
 * Wait for what is asked of each shard. Lockdep is told of all of them at the beginning,
 * because a short timeout may be used up before the last one.
 */
static int wait_all(struct ants_multi *multi, unsigned long timeout, bool release)
{
	struct ants_pool *pool, *first = multi->shards[0].pool;
	unsigned long left, start = jiffies;
	unsigned int generation = 0, nr;
	int err = 0;

	might_sleep();
	if (is_own_task(multi))
		return -EDEADLK;
	if (timeout)
		multi_touch(multi);
	ants_pool_get(first);
	if (release) {
		generation = close_all(multi, false);
		ants_pause(ANTS_PAUSE_AWAIT, first);
	}
	for (nr = 0; !err && (pool = ants_shard(multi, nr)); nr++) {
		left = ants_time_left(start, timeout);
		err = release ? ants_wait_until(pool, shard_drained, &generation, left,
						TASK_KILLABLE) :
				ants_flush_timeout(pool, left);
	}
	ants_pool_put(first);
	return err;
}

int ants_multi_release_timeout(struct ants_multi *multi, unsigned long timeout)
{
	return wait_all(multi, timeout, true);
}
EXPORT_SYMBOL_GPL(ants_multi_release_timeout);

int ants_multi_flush_timeout(struct ants_multi *multi, unsigned long timeout)
{
	return wait_all(multi, timeout, false);
}
EXPORT_SYMBOL_GPL(ants_multi_flush_timeout);

int ants_multi_flush(struct ants_multi *multi)
{
	return ants_multi_flush_timeout(multi, MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(ants_multi_flush);

/*
 * Opening the shards of a closed multi, and changing those of a live one: all of
 * them or none. Whatever can fail is done for each shard before it takes effect in
 * any, or is undone.
 */

/* Change a bound of a shard, if it is to be another one. */
static int set_bound(struct ants_pool *pool, enum ants_setting what, unsigned int from,
		     unsigned int to)
{
	struct ants_change change = { .what = what, .value = to };

	return from == to ? 0 : ants_set(pool, &change);
}

/*
 * May shard @nr have its part of a bound, or be opened? Note what it is like before. From
 * here on a release makes a reboot fail.
 */
static int check_change(struct ants_multi *multi, unsigned int nr,
			const struct ants_change *change)
{
	struct ants_shard *shard = &multi->shards[nr];
	struct ants_pool *pool = shard->pool;
	unsigned int capacity = pool->limits.capacity, depth = pool->config.queue_depth;
	unsigned int *bound = change->what == ANTS_SET_CAPACITY ? &capacity : &depth;
	bool drained;

	switch (change->what) {
	case ANTS_SET_CAPACITY:
	case ANTS_SET_QUEUE_DEPTH:
		shard->was = *bound;
		*bound = share_of(multi, change->value, nr);
		shard->part = *bound;
		return ants_check_bounds(capacity, depth, pool->config.min_workers,
					 pool->flags);
	case ANTS_REBOOT:
		raw_spin_lock_irq(&pool->lock);
		shard->was = pool->release.seq;
		drained = ants_is_drained(pool);
		ants_unlock_irq(pool);
		return drained ? 0 : -EBUSY;
	default:
		return 0;
	}
}

/*
 * Do for a shard whatever can fail. A bound that grows is set at once. With a part
 * that was checked a shrink does not fail, so it is left to end_change().
 */
static int try_change(struct ants_shard *shard, const struct ants_change *change)
{
	switch (change->what) {
	case ANTS_SET_CAPACITY:
	case ANTS_SET_QUEUE_DEPTH:
		return set_bound(shard->pool, change->what, shard->was,
				 max(shard->was, shard->part));
	case ANTS_REBOOT:
		return __ants_reboot(shard->pool, shard->was);
	default:
		shard->affinity = ants_inject(ANTS_FAIL_AFFINITY) ?
				  ERR_PTR(-ENOMEM) :
				  ants_affinity_with(shard->pool, change);
		return PTR_ERR_OR_ZERO(shard->affinity);
	}
}

/* End what try_change() has begun; undo it if another shard has failed. */
static void end_change(struct ants_shard *shard, const struct ants_change *change,
		       bool failed)
{
	switch (change->what) {
	case ANTS_SET_CAPACITY:
	case ANTS_SET_QUEUE_DEPTH:
		WARN_ON_ONCE(set_bound(shard->pool, change->what,
				       max(shard->was, shard->part),
				       failed ? shard->was : shard->part));
		break;
	case ANTS_REBOOT:
		/*
		 * Callers that have closed the multi may not have seen that it was
		 * drained.
		 */
		if (failed)
			ants_close(shard->pool);
		else
			wake_up_all(&shard->pool->waitq);
		break;
	default:
		if (failed)
			ants_affinity_put(shard->affinity);
		else
			ants_affinity_change(shard->pool, shard->affinity);
	}
}

/* Change all shards or none; with multi->config held. */
int ants_multi_set(struct ants_multi *multi, const struct ants_change *change)
{
	struct ants_pool *pool;
	unsigned int nr;
	int err = 0;

	lockdep_assert_held(&multi->config);
	if ((change->what == ANTS_SET_QUEUE_DEPTH && change->value > ANTS_BOUND_MAX) ||
	    (change->what == ANTS_SET_CPUS && multi->strategy == ANTS_LOCAL))
		return -EINVAL;
	/* While all of these are held, a bound that was checked does not change. */
	for_each_shard(pool, multi)
		mutex_lock_nest_lock(&pool->config.lock, &multi->config);
	for (nr = 0; nr < multi->nr_shards && !err; nr++)
		err = check_change(multi, nr, change);
	/* After an error the last of these has nothing to undo. */
	for (nr = 0; nr < multi->nr_shards && !err; nr += !err)
		err = try_change(&multi->shards[nr], change);
	while (nr--)
		end_change(&multi->shards[nr], change, err);
	for_each_shard(pool, multi)
		mutex_unlock(&pool->config.lock);
	return err;
}

/* The same for a user of the multi. */
static int set_user(struct ants_multi *multi, enum ants_setting what,
		    unsigned int value, const struct cpumask *cpus)
{
	struct ants_change change = { what, value, cpus };
	struct ants_pool *first = multi->shards[0].pool;
	int err = ants_config_lock_user(first, &multi->config);

	if (err)
		return err;
	err = ants_multi_set(multi, &change);
	ants_config_unlock(first, &multi->config);
	return err;
}

int ants_multi_reboot(struct ants_multi *multi)
{
	return set_user(multi, ANTS_REBOOT, 0, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_reboot);

int ants_multi_tune(struct ants_multi *multi, unsigned int capacity)
{
	return set_user(multi, ANTS_SET_CAPACITY, capacity, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_tune);

int ants_multi_set_queue_depth(struct ants_multi *multi, unsigned int depth)
{
	return set_user(multi, ANTS_SET_QUEUE_DEPTH, depth, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_set_queue_depth);

int ants_multi_set_nice(struct ants_multi *multi, int nice)
{
	return set_user(multi, ANTS_SET_NICE, nice, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_set_nice);

int ants_multi_set_sched(struct ants_multi *multi, enum ants_sched sched)
{
	return set_user(multi, ANTS_SET_SCHED, sched, NULL);
}
EXPORT_SYMBOL_GPL(ants_multi_set_sched);

int ants_multi_set_cpumask(struct ants_multi *multi, const struct cpumask *mask)
{
	return set_user(multi, ANTS_SET_CPUS, 0, mask);
}
EXPORT_SYMBOL_GPL(ants_multi_set_cpumask);
