// SPDX-License-Identifier: GPL-2.0-only
/*
 * Partial-order reduction: of two runs that lead to the same state only one is
 * continued.
 *
 * What a thread will do depends on what it has done and seen, and each thread
 * has a hash of that: how many points it has passed, the values that it has
 * read without a lock, and, whenever it takes a lock or changes a word that
 * other threads may change, the hash of the thread that did so last. So threads
 * that did the same, and met one another in the same order wherever that
 * matters, have the same hashes, whatever the order of their other steps was.
 * Memory is a function of these hashes as well: it is changed under locks, or
 * by marked writes, and those order plain reads and writes, or ThreadSanitizer
 * would find a race in load-tsan.
 *
 * A state is identified by the hashes of all threads there have been, including
 * those that have ended, in the order in which explore.c offers them, the
 * running thread first. If a state was seen before, with at least as many
 * deviations left, everything that can follow is tried from there, and no
 * choice is left in the rest of this run. So nothing is lost within the bound.
 * Sleep sets would lose some runs: the run that they leave out may need fewer
 * deviations than the one that they keep.
 *
 * It is harmless if hashes differ although the states are the same: then both
 * runs are tried. That happens if a dependency is recorded that is none, as
 * when two locks have the same address one after the other. "explore -c"
 * compares what is reached with and without the reduction.
 */
#include "internal.h"
#include "explore.h"
#include "explore_trace.h"

#define NR_WORDS	BIT(14)
#define NR_PIECES	4096

/* A word that was written in this run, or a lock that was taken. */
static struct {
	const void *addr;
	u64 run;
	u64 last;
} words[NR_WORDS];

/*
 * Memory that was allocated in this run, and a name for it that is the same in
 * all runs, unlike its address.
 */
static struct {
	u64 addr;
	u64 size;
	u64 name;
} pieces[NR_PIECES];

static unsigned int nr_pieces;
static u64 run_nr;
u64 *trace_self;
bool trace_on;

u64 trace_mix(u64 a, u64 b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ULL;
	a ^= a >> 29;
	a *= 0xbf58476d1ce4e5b9ULL;
	return a ^ a >> 32;
}

void trace_begin(void)
{
	run_nr++;
	nr_pieces = 0;
}

/* The calling thread has passed a point. */
void trace_step(void)
{
	if (trace_on)
		*trace_self = trace_mix(*trace_self, 1);
}

static u64 name_of(u64 value)
{
	unsigned int i = nr_pieces;

	while (i--)
		if (value - pieces[i].addr < pieces[i].size)
			return trace_mix(pieces[i].name, value - pieces[i].addr);
	return value;
}

unsigned long long shim_name(unsigned long long addr)
{
	return trace_on ? name_of(addr) : addr;
}

void shim_saw(unsigned long long value)
{
	shim_has_read = true;
	if (!trace_on)
		return;
	/* Smaller values are no addresses. */
	if (value > 1UL << 32)
		value = name_of(value);
	*trace_self = trace_mix(trace_mix(*trace_self, 2), value);
}

void shim_wrote(const void *addr)
{
	unsigned int i;

	if (!trace_on)
		return;
	i = trace_mix((unsigned long)addr, 0) % NR_WORDS;
	while (words[i].run == run_nr && words[i].addr != addr)
		i = (i + 1) % NR_WORDS;
	if (words[i].run != run_nr) {
		words[i].run = run_nr;
		words[i].addr = addr;
		words[i].last = 0;
	}
	*trace_self = trace_mix(trace_mix(*trace_self, 3), words[i].last);
	words[i].last = *trace_self;
}

void shim_allocated(const void *p, size_t size)
{
	if (!trace_on)
		return;
	if (nr_pieces == NR_PIECES)
		shim_fail("too many allocations in a run");
	*trace_self = trace_mix(*trace_self, 4);
	pieces[nr_pieces].addr = (unsigned long)p;
	pieces[nr_pieces].size = size;
	pieces[nr_pieces++].name = *trace_self;
}

/* --- what else is known ----------------------------------------------------------------- */

/* The pool of the scenario; NULL if it has none or the pool is gone. */
static const struct ants_pool *watched;

void trace_watch(const struct ants_pool *pool)
{
	watched = pool;
}

void shim_freed(const void *p)
{
	if (p == watched)
		watched = NULL;
}

static u64 pool_digest(const struct ants_pool *p)
{
	const u64 values[] = {
		p->nr_busy, p->nr_pending, p->nr_stock, p->workers.nr_idle,
		p->workers.nr, p->workers.nr_leaving, p->workers.nr_new, p->space.nr_waiting,
		p->nr_callers, p->epoch, p->released, p->upkeep.queued,
		p->submitted, p->counts.spawned, p->counts.reaped,
		p->counts.blocked, p->counts.rejected,
		p->counts.cancelled, p->wakes.nr, p->workers.nr_starting, p->workers.nr_late,
		p->wakes.seq, p->wakes.since, p->wakes.late, p->wakes.deferred,
		p->wakes.nr_spurious, p->wakes.nr_deferred, p->workers.nr_making, p->upkeep.making,
		p->wakes.arrived ? p->wakes.arrived->state : ~0ULL, p->timer.waking,
		p->wakes.waking_cpus, p->wakes.cpu, p->fast_submits, p->fast_cpu,
		p->fast_above,
	};
	u64 digest = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		digest = trace_mix(digest, values[i]);
	return digest;
}

u64 trace_watched(void)
{
	return watched ? pool_digest(watched) : 1;
}

void explore_note(struct ants_pool *p)
{
	struct ants_stats stats;
	unsigned int i;

	memset(&stats, 0, sizeof(stats));
	ants_pool_stats(p, &stats);
	for (i = 0; i < sizeof(stats) / sizeof(u32); i++)
		explore_run.outcome = trace_mix(explore_run.outcome,
						((u32 *)&stats)[i]);
}

/* --- sets of hashes ----------------------------------------------------------------- */

void trace_set_clear(struct trace_set *set)
{
	memset(set, 0, sizeof(*set));
}

bool trace_set_add(struct trace_set *set, u64 key, unsigned int used,
		   u64 digest)
{
	unsigned int i = key % TRACE_SET_SIZE;

	for (; set->keys[i]; i = (i + 1) % TRACE_SET_SIZE) {
		if (set->keys[i] != key)
			continue;
		if (set->digests[i] != digest)
			shim_fail("two states are taken for one");
		if (set->used[i] <= used)
			return false;
		set->used[i] = used;
		return true;
	}
	/* A hash that is not recorded is tried again. */
	if (set->nr > TRACE_SET_SIZE / 4 * 3)
		return true;
	set->keys[i] = key;
	set->used[i] = used;
	set->digests[i] = digest;
	set->nr++;
	set->sum += trace_mix(key, 5);
	return true;
}
