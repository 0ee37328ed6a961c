// SPDX-License-Identifier: GPL-2.0-only
/*
 * Partial-order reduction: two runs that lead to the same state are gone on with
 * once.
 *
 * What a thread will do depends on what it has done and seen, and each thread
 * has a hash of that: how many points it has passed, the values that it read
 * without a lock, and, whenever it takes a lock or changes a word that others
 * may change, the hash of the thread that did so last. So hashes of threads
 * that did the same, and met one another in the same order wherever that
 * matters, are the same, in whatever order their steps were made otherwise.
 * Memory is a function of that, too: it is changed under locks, or by marked
 * writes, and plain reads and writes are ordered by those, or ThreadSanitizer
 * would find a race in load-tsan.
 *
 * A state is known by the hashes of all threads that there were, those that have
 * ended included, in the order in which explore.c offers them, the one that runs
 * first. If it was met before, with as many deviations left or more, all that can
 * follow is tried from there, and no choice is left in the rest of this run. So
 * nothing is lost within the bound. Sleep sets would lose some: the run that they
 * leave out may need fewer deviations than the one that they keep.
 *
 * More than that may differ is harmless: then both are tried. That goes for a
 * dependency too many, as when two locks have an address in turn. "explore -c"
 * compares what is reached with and without all this.
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
 * A piece of memory that was allocated in this run, and a name that is the same in
 * runs in which its address is another.
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
	/* Whatever is less is no address. */
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

/* The pool of the scenario, NULL if it has none or it is gone. */
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
		p->nr_busy, p->nr_pending, p->nr_stock, p->nr_idle,
		p->nr_workers, p->nr_leaving, p->nr_new, p->nr_waiting,
		p->nr_callers, p->epoch, p->released, p->upkeep_queued,
		p->submitted, p->spawned, p->reaped, p->blocked, p->rejected,
		p->cancelled, p->nr_waking, p->nr_starting, p->nr_late,
		p->wake_limit, p->wake_seq, p->waking_since, p->wake_late, p->wake_deferred,
		p->nr_vain, p->nr_deferred, p->nr_makers, p->nr_making,
		p->arrived ? p->arrived->state : ~0ULL, p->timer_waking,
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
	/* What is not noted is tried again. */
	if (set->nr > TRACE_SET_SIZE / 4 * 3)
		return true;
	set->keys[i] = key;
	set->used[i] = used;
	set->digests[i] = digest;
	set->nr++;
	set->sum += trace_mix(key, 5);
	return true;
}
