// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thousand tasks of a pool oops, one after the other; is the pool as good as new? It
 * needs a kernel that survives an oops, but not KUnit, and uses the public header only.
 * The module runs its checks once when it is loaded, and prints TAP on the console. What
 * will be in the kernel's log is announced there for test/verdict.
 */
#include <linux/bug.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "functional.h"

#define NAME	"mortal"
#define WIDTH	4

static int oopses = 1000;
module_param(oopses, int, 0444);
MODULE_PARM_DESC(oopses, "how many tasks oops");

static struct bench bench;
static atomic_t nr_told;

/* --- tasks --------------------------------------------------------------------- */

static void writes_to_null(void *data)
{
	WRITE_ONCE(*(int *)NULL, 0);
}

static void has_a_bug(void *data)
{
	BUG();
}

static void hear(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	atomic_inc(&nr_told);
}

static void announce(const char *report, const char *function)
{
	pr_info("ants-expect: %s\n", report);
	pr_info("ants-expect: ^ants: pool " NAME ": thread .* has died in %s\n",
		function);
}

static int one_dies(int i)
{
	if (i % 2)
		announce("NULL pointer dereference", "writes_to_null");
	else
		announce("kernel BUG at", "has_a_bug");
	return ants_submit(bench.pool, i % 2 ? writes_to_null : has_a_bug, &bench);
}

/* --- checks, in the order of the pool's life -------------------------------------- */

/* One by one, or their reports would be mixed up. */
static bool each_oops_is_told(void)
{
	int i;

	for (i = 0; i < oopses; i++)
		if (!OK(!one_dies(i)) || !SOON(atomic_read(&nr_told) == i + 1))
			return false;
	return true;
}

static bool numbers_are_right(void)
{
	struct ants_stats stats;

	if (!OK(!ants_flush(bench.pool)))
		return false;
	ants_pool_stats(bench.pool, &stats);
	return OK(stats.faults == oopses) && OK(stats.lost == oopses) &&
	       OK(!stats.busy) && OK(stats.free == WIDTH) && OK(!stats.completed);
}

static bool whole_capacity_is_there(void)
{
	bool good = fill(&bench, WIDTH) &&
		    OK(ants_nr_running(bench.pool) == WIDTH) &&
		    OK(ants_try_submit(bench.pool, pass, &bench) == -EAGAIN);

	open_gate(&bench);
	return good && SOON(atomic_read(&bench.passed) == WIDTH);
}

static bool ten_thousand_tasks_run(void)
{
	int i, before = atomic_read(&bench.passed);

	for (i = 0; i < 10000; i++)
		if (!OK(!ants_submit(bench.pool, pass, &bench)))
			return false;
	return OK(!ants_flush(bench.pool)) &&
	       OK(atomic_read(&bench.passed) == before + 10000);
}

static bool capacity_changes(void)
{
	return OK(!ants_tune(bench.pool, 2 * WIDTH)) &&
	       OK(ants_capacity(bench.pool) == 2 * WIDTH) &&
	       OK(!ants_tune(bench.pool, 1)) &&
	       SOON(ants_nr_running(bench.pool) <= 1) &&
	       OK(!ants_submit(bench.pool, pass, &bench)) &&
	       OK(!ants_flush(bench.pool));
}

static bool pool_closes_and_opens(void)
{
	return OK(!ants_release_timeout(bench.pool, DEADLINE)) &&
	       OK(ants_submit(bench.pool, pass, &bench) == -ESHUTDOWN) &&
	       OK(!ants_reboot(bench.pool)) &&
	       OK(!ants_submit(bench.pool, pass, &bench));
}

static bool pool_goes(void)
{
	int err = ants_pool_destroy(bench.pool);

	bench.pool = NULL;
	return OK(!err);
}

/* --- the frame ----------------------------------------------------------------- */

#define CHECK(_run)	{ .name = #_run, .run = _run }

static const struct {
	const char *name;
	bool (*run)(void);
} checks[] = {
	CHECK(each_oops_is_told),
	CHECK(numbers_are_right),
	CHECK(whole_capacity_is_there),
	CHECK(ten_thousand_tasks_run),
	CHECK(capacity_changes),
	CHECK(pool_closes_and_opens),
	CHECK(pool_goes),
};

/* In kB: what each thread that dies takes with it. */
static unsigned long used_memory(void)
{
	return (totalram_pages() - si_mem_available()) << (PAGE_SHIFT - 10);
}

static void run_checks(void)
{
	int i;

	pr_info("1..%zu\n", ARRAY_SIZE(checks));
	for (i = 0; i < ARRAY_SIZE(checks); i++)
		pr_info("%sok %d - %s\n", checks[i].run() ? "" : "not ", i + 1,
			checks[i].name);
}

static int __init ants_mortal_init(void)
{
	struct ants_attrs attrs = { .capacity = WIDTH, .fault = hear,
				    .max_faults = INT_MAX };
	unsigned long before = used_memory();

	init_completion(&bench.gate);
	bench.pool = ants_pool_create(&attrs, NAME);
	if (IS_ERR(bench.pool))
		return PTR_ERR(bench.pool);
	run_checks();
	ants_pool_destroy(bench.pool);
	pr_info("# %d oopses; memory in use: %lu kB before, %lu after\n", oopses,
		before, used_memory());
	return 0;
}

static void __exit ants_mortal_exit(void)
{
}

module_init(ants_mortal_init);
module_exit(ants_mortal_exit);

MODULE_DESCRIPTION("ants: a pool whose tasks oops");
MODULE_LICENSE("GPL");
