// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a task costs, compared with the kernel's own ways to run something
 * elsewhere.
 *
 * To be loaded in a guest where one instruction takes one virtual nanosecond,
 * so that the clock counts instructions, except for the benches that need
 * several CPUs. The benches run one after the other while the module is being
 * loaded.
 */
#define pr_fmt(fmt) "ants bench: " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "bench.h"

static char *bench = "";
module_param(bench, charp, 0444);
MODULE_PARM_DESC(bench, "benches to run, with commas between (default: all for one CPU)");

static char *subjects = "";
module_param(subjects, charp, 0444);
MODULE_PARM_DESC(subjects, "subjects to run, with commas between (default: all)");

static unsigned int rounds;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "measured rounds of each row (default: each bench's own number)");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "order in which the rows of a round run (default: 0, as they are listed)");

static const struct bench *const benches[] = {
	&tiny_task_bench,
	&round_trip_bench,
	&for_each_bench,
	&cold_burst_bench,
	&idle_cost_bench,
	&scale_workers_bench,
	&reap_bench,
	&tune_bench,
	&sized_task_bench,
	&from_irq_bench,
	&blocking_bench,
	&latency_loaded_bench,
	&memory_bench,
	&lines_bench,
	&ramp_bench,
	&tiny_task_smp_bench,
	&ramp_smp_bench,
	&late_wake_bench,
	&contention_bench,
	&life_bench,
};

unsigned int bench_rounds(const struct bench *b)
{
	return rounds ?: b->rounds;
}

unsigned int bench_seed(void)
{
	return seed;
}

/* True if @name is the first one in a list separated by commas. */
static bool is_first(const char *list, const char *name)
{
	size_t len = strcspn(list, ",");

	return len == strlen(name) && !strncmp(list, name, len);
}

static const char *next_in(const char *list)
{
	list += strcspn(list, ",");
	return *list ? list + 1 : list;
}

bool bench_wants(const char *subject)
{
	const char *list;

	for (list = subjects; *list; list = next_in(list))
		if (is_first(list, subject))
			return true;
	return !*subjects;
}

static const struct bench *find_bench(const char *list)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(benches); i++)
		if (is_first(list, benches[i]->name))
			return benches[i];
	return NULL;
}

static int complain(const char *list)
{
	unsigned int i;

	pr_err("no bench '%.*s'; there are:\n", (int)strcspn(list, ","), list);
	for (i = 0; i < ARRAY_SIZE(benches); i++)
		pr_err("  %s%s\n", benches[i]->name,
		       benches[i]->parallel ? " (several CPUs)" : "");
	return -EINVAL;
}

static int run(const struct bench *b)
{
	int err = b->run(b);

	if (err)
		pr_err("%s failed: %pe\n", b->name, ERR_PTR(err));
	return err;
}

static int run_default(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(benches) && !err; i++)
		if (!benches[i]->parallel)
			err = run(benches[i]);
	return err;
}

/* Check all names before the first bench takes its time. */
static int run_named(void)
{
	const char *list;
	int err = 0;

	for (list = bench; *list; list = next_in(list))
		if (!find_bench(list))
			return complain(list);
	for (list = bench; *list && !err; list = next_in(list))
		err = run(find_bench(list));
	return err;
}

/* Early after boot x86 changes its clock once more, and idle time jumps. */
static void wait_for_clock(void)
{
	while (ktime_get_seconds() < 5)
		msleep(100);
}

static int __init ants_bench_init(void)
{
	wait_for_clock();
	return *bench ? run_named() : run_default();
}

static void __exit ants_bench_exit(void)
{
}

module_init(ants_bench_init);
module_exit(ants_bench_exit);

MODULE_DESCRIPTION("ants: what a task costs");
MODULE_LICENSE("GPL");
