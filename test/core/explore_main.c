// SPDX-License-Identifier: GPL-2.0-only
/*
 * explore [-b BOUND] [-t SECONDS] [-n RUNS] [-x] [-c] [-r] [-s SEED]
 *	   [SCENARIO [STEPS]]
 *
 * Try all runs of each scenario with 0 deviations, with up to 1, and so on up
 * to BOUND, for at most SECONDS or RUNS; with -x without reduction, with -c
 * both with and without it, to compare what they reach; with -r make random
 * runs, the first one with SEED. SEED alone, or STEPS, which are the deviations of
 * one run, STEP:THREAD,..., repeat a run; they are printed after a failure.
 */
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include "explore.h"
#include "explore_trace.h"

/* SCENARIOS= may leave some out. */
#pragma weak scenarios_tasks
#pragma weak scenarios_wake
#pragma weak scenarios_yield
#pragma weak scenarios_defer
#pragma weak scenarios_items
#pragma weak scenarios_groups
#pragma weak scenarios_join
#pragma weak scenarios_kinds
#pragma weak scenarios_unload
#pragma weak scenarios_fault
#pragma weak scenarios_death
#pragma weak scenarios_breaker
#pragma weak scenarios_client

static const struct scenario *const lists[] = {
	scenarios_tasks, scenarios_wake, scenarios_yield, scenarios_defer,
	scenarios_items, scenarios_groups, scenarios_join, scenarios_kinds,
	scenarios_unload, scenarios_fault, scenarios_death, scenarios_breaker,
	scenarios_client,
};

static const struct scenario *current_scenario;
static unsigned int max_bound = 3;
static unsigned int seconds = 5;
static unsigned long max_runs = ULONG_MAX;
/* Of the current scenario, including the run in progress. */
static unsigned long nr_runs;
static bool by_chance;
static unsigned long only_seed;
static bool all_ways, compares;
/* States at choices, states at the ends of runs, and outcomes. */
static struct trace_set states, ends, outcomes;
static bool failed;
static struct timespec begin;

/*
 * The stacks of threads that have ended are out of bounds anyway, and checking
 * the frames of functions that have returned takes seven times as long:
 * ASAN_OPTIONS=detect_stack_use_after_return=1.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_stack_use_after_return=0:quarantine_size_mb=8:detect_leaks=0";
}

/* --- what failed ------------------------------------------------------------------ */

static void print_replay(void)
{
	const char *sep = " ";
	unsigned int i;

	if (failed)
		return;
	failed = true;
	fprintf(stderr, "found in %s after %lu runs\n", current_scenario->name,
		nr_runs);
	if (explore_run.seed) {
		fprintf(stderr, "replay: explore -s %llu %s\n",
			(unsigned long long)explore_run.seed,
			current_scenario->name);
		return;
	}
	fprintf(stderr, "replay: explore %s", current_scenario->name);
	for (i = 0; i < explore_run.nr; i++) {
		if (!explore_run.steps[i].pick)
			continue;
		fprintf(stderr, "%s%u:%u", sep, i, explore_run.steps[i].pick);
		sep = ",";
	}
	fputs(*sep == ' ' ? " -\n" : "\n", stderr);
}

/* --- one after the other ----------------------------------------------------------- */

static double elapsed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) / 1e9;
}

/* The next run in order; false if that was the last one. */
static bool advance(void)
{
	unsigned int i = explore_run.nr;

	while (i--) {
		if (explore_run.steps[i].pick + 1 >= explore_run.steps[i].nr)
			continue;
		explore_run.steps[i].pick++;
		explore_run.given = i + 1;
		return true;
	}
	return false;
}

static bool is_over(void)
{
	return elapsed() > seconds || nr_runs >= max_runs;
}

static void run_once(void)
{
	nr_runs++;
	explore_once(current_scenario);
	if (explore_run.traced) {
		trace_set_add(&ends, explore_run.end ?: 1, 0, 0);
		trace_set_add(&outcomes, explore_run.outcome, 0, 0);
	}
}

/* Returns true if all runs were made. */
static bool explore_bound(unsigned int bound, unsigned int *longest)
{
	explore_run.bound = bound;
	explore_run.given = 0;
	trace_set_clear(&states);
	do {
		run_once();
		*longest = max(*longest, explore_run.nr);
		if (is_over())
			return false;
	} while (advance());
	return true;
}

static void explore_all(void)
{
	unsigned int bound, longest = 0;
	int complete = -1;

	explore_run.traced = !all_ways || compares;
	explore_run.states = all_ways ? NULL : &states;
	explore_run.checked = compares;
	trace_set_clear(&ends);
	trace_set_clear(&outcomes);
	for (bound = 0; bound <= max_bound; bound++) {
		if (!explore_bound(bound, &longest))
			break;
		complete = bound;
	}
	printf("ok %-20s %8lu runs, %7u states, up to %4u steps, ",
	       current_scenario->name, nr_runs, states.nr, longest);
	printf("all with up to %d deviations, %.1f s\n", complete, elapsed());
}

static void compare(void)
{
	unsigned int nr_ends, nr_outcomes;
	bool over;
	u64 sum;

	all_ways = true;
	explore_all();
	over = is_over();
	nr_ends = ends.nr;
	nr_outcomes = outcomes.nr;
	sum = ends.sum ^ outcomes.sum;
	all_ways = false;
	nr_runs = 0;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	explore_all();
	printf("   reached: %u ends, %u outcomes, and %u, %u\n", nr_ends,
	       nr_outcomes, ends.nr, outcomes.nr);
	fflush(stdout);
	if (over || is_over())
		shim_fail("no time for both ways");
	if (sum != (ends.sum ^ outcomes.sum))
		shim_fail("the reduction loses what can be reached");
}

static void one_by_chance(u64 seed)
{
	explore_run.seed = seed;
	explore_run.bound = MAX_STEPS;
	explore_run.given = 0;
	run_once();
}

static void explore_chance(void)
{
	u64 seed = only_seed ?: 1;

	while (!is_over())
		one_by_chance(seed++);
	printf("ok %-20s %8lu runs by chance, %.1f s\n",
	       current_scenario->name, nr_runs, elapsed());
}

static void explore_replay(const char *steps)
{
	unsigned int step, pick;
	int len;

	for (; sscanf(steps, "%u:%u%n", &step, &pick, &len) == 2;
	     steps += len + (steps[len] == ',')) {
		if (step >= MAX_STEPS)
			shim_fail("no such step");
		explore_run.steps[step].pick = pick;
		explore_run.given = step + 1;
	}
	explore_run.bound = MAX_STEPS;
	shim_verbose = true;
	run_once();
	printf("ok %s, %u steps\n", current_scenario->name, explore_run.nr);
}

static bool explore_one(const struct scenario *s, const char *steps)
{
	current_scenario = s;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	memset(&explore_run, 0, sizeof(explore_run));
	nr_runs = 0;
	if (steps)
		explore_replay(steps);
	else if (by_chance)
		explore_chance();
	else if (only_seed)
		one_by_chance(only_seed);
	else if (compares)
		compare();
	else
		explore_all();
	fflush(stdout);
	return true;
}

static int explore_lists(const char *name, const char *steps)
{
	const struct scenario *s;
	bool found = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (s = lists[i]; s && s->name; s++)
			if (!name || !strcmp(s->name, name))
				found |= explore_one(s, steps);
	if (!found)
		fprintf(stderr, "no such scenario\n");
	return !found;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "b:t:n:xcrs:")) != -1) {
		if (c == 'b')
			max_bound = atoi(optarg);
		else if (c == 't')
			seconds = atoi(optarg);
		else if (c == 'n')
			max_runs = strtoul(optarg, NULL, 0);
		else if (c == 'x')
			all_ways = true;
		else if (c == 'c')
			compares = true;
		else if (c == 'r')
			by_chance = true;
		else if (c == 's')
			only_seed = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	shim_on_fail = print_replay;
	__sanitizer_set_death_callback(print_replay);
	return explore_lists(argv[optind], argv[optind] ? argv[optind + 1] :
							  NULL);
}
