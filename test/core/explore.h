/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explorer: the threads of a scenario run one at a time, and a run is
 * determined by which one continues at each point. A run has no deviation if no
 * thread is interrupted, and if the next thread in turn follows one that
 * sleeps. All runs with up to some number of deviations are tried, one after
 * the other.
 */
#ifndef _EXPLORE_H
#define _EXPLORE_H

#include <linux/ants.h>

#include "shim.h"

struct trace_set;

/**
 * struct scenario - what is run again and again
 * @name: its name on the command line
 * @run: makes pools, calls explore_begin(), lets threads act at the same time,
 *	calls explore_end(), and checks the outcome
 */
struct scenario {
	const char *name;
	void (*run)(void);
};

/* A timer that is due later than this is for the log, or a last resort. */
#define EXPLORE_FAR	(10 * HZ)

/* Between these two, threads are interrupted. */
void explore_begin(void);
void explore_end(void);

/* From now on @task continues only when no other thread but a timer can. */
void explore_lag(struct task_struct *task);

/* Record the outcome, the state of the pool, for "explore -c". */
void explore_note(struct ants_pool *pool);

/* A step of a run at which more than one thread could continue. */
struct step {
	unsigned char nr;
	unsigned char pick;
};

#define MAX_STEPS	20000

/**
 * struct run - one run of a scenario
 * @steps: the choices made
 * @nr: number of steps
 * @given: number of steps that were given; after these the first thread continues
 * @bound: the most deviations
 * @used: deviations so far
 * @traced: hashes of what the threads do are wanted
 * @states: states seen before, or NULL if no run is to be cut short
 * @checked: verify that states with the same hash are the same
 * @known: this run has come to one of @states
 * @end: the state at its end
 * @outcome: what explore_note() found there
 * @seed: if not 0, deviations that are not given are random
 * @random: the state of the random numbers
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

/* A random number, for scenarios as well; determined by the seed. */
unsigned int explore_random(unsigned int below);

/* Run the scenario once, as explore_run says. */
void explore_once(const struct scenario *s);

/* scenario_*.c; the last entry of each array has no name. */
extern const struct scenario scenarios_tasks[];
extern const struct scenario scenarios_wake[];
extern const struct scenario scenarios_yield[];
extern const struct scenario scenarios_defer[];
extern const struct scenario scenarios_items[];
extern const struct scenario scenarios_groups[];
extern const struct scenario scenarios_join[];
extern const struct scenario scenarios_kinds[];
extern const struct scenario scenarios_unload[];
extern const struct scenario scenarios_fault[];
extern const struct scenario scenarios_death[];
extern const struct scenario scenarios_breaker[];
extern const struct scenario scenarios_client[];

/* explore_scenario.c */

/* A pool whose idle threads do not hide a missed wake-up. */
struct ants_pool *explore_pool(const struct ants_attrs *attrs);

/* Threads that a scenario joins at its end. */
#define MAX_CALLERS	4
void explore_call(int (*fn)(void *data), void *data, const char *name);
void explore_join(void);

#endif
