/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explorer: all threads of a scenario run one at a time, and a run is
 * determined by which one continues at each point. A run in which no thread is
 * interrupted, and the next one in turn follows one that sleeps, has no
 * deviation; all runs with up to some number of deviations are tried, one after
 * the other.
 */
#ifndef _EXPLORE_H
#define _EXPLORE_H

#include <linux/ants.h>

#include "shim.h"

struct trace_set;

/**
 * struct scenario - what is run again and again
 * @name: on the command line
 * @run: makes pools, calls explore_begin(), lets threads do things at the same
 *	time, calls explore_end(), and looks what has come of it
 */
struct scenario {
	const char *name;
	void (*run)(void);
};

/* A timer that is due later than that is for the log, or a last resort. */
#define EXPLORE_FAR	(10 * HZ)

/* Threads are interrupted from here on, or no more. */
void explore_begin(void);
void explore_end(void);

/* From now on @task goes on by itself only when nobody else but a timer can. */
void explore_lag(struct task_struct *task);

/* What has come of the pool, for "explore -c". */
void explore_note(struct ants_pool *pool);

/* A step of a run at which more than one thread could go on. */
struct step {
	unsigned char nr;
	unsigned char pick;
};

#define MAX_STEPS	20000

/**
 * struct run - one run of a scenario
 * @steps: what was picked
 * @nr: how many there were
 * @given: how many of them were given; then the first thread goes on
 * @bound: most deviations
 * @used: deviations so far
 * @traced: hashes of what the threads do are wanted
 * @states: those met before, NULL if each run is to be gone on with
 * @checked: they are looked at, whether those with the same hash are the same
 * @known: this run has come to one of them
 * @end: that at its end
 * @outcome: what explore_note() found there
 * @seed: if not 0, deviations that are not given are picked by chance
 * @random: the state of that
 */
struct run {
	struct step steps[MAX_STEPS];
	unsigned int nr;
	unsigned int given;
	unsigned int bound;
	unsigned int used;
	bool traced;
	struct trace_set *states;
	bool checked;
	bool known;
	u64 end;
	u64 outcome;
	u64 seed;
	u64 random;
};

extern struct run explore_run;

/* By chance, for scenarios, too: determined by the seed. */
unsigned int explore_random(unsigned int below);

/* Once, as explore_run says. */
void explore_once(const struct scenario *s);

/* scenario_*.c; the last one of each has no name. */
extern const struct scenario scenarios_tasks[];
extern const struct scenario scenarios_wake[];
extern const struct scenario scenarios_defer[];
extern const struct scenario scenarios_items[];
extern const struct scenario scenarios_groups[];
extern const struct scenario scenarios_kinds[];
extern const struct scenario scenarios_unload[];

/* explore_scenario.c */

/* A pool whose idle threads do not help out who missed a wake-up. */
struct ants_pool *explore_pool(const struct ants_attrs *attrs);

/* Threads that a scenario joins at its end. */
#define MAX_CALLERS	4
void explore_call(int (*fn)(void *data), void *data, const char *name);
void explore_join(void);

#endif
