// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count what ants does while it should do nothing, through the kernel's
 * tracepoints.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "meter.h"
#include "probe.h"

/* More different functions than an idle system has. */
#define MAX_FUNCTIONS	64

/*
 * How often a function ran. Finding the module of a function takes longer than
 * counting, so that is done later.
 */
struct tally {
	void *fn;
	unsigned int hits;
};

static struct tally timers[MAX_FUNCTIONS], works[MAX_FUNCTIONS];
static unsigned int wakeups;

static void count(struct tally *tally, void *fn)
{
	struct tally *end = tally + MAX_FUNCTIONS;

	while (tally < end && tally->fn && tally->fn != fn)
		tally++;
	if (tally == end)
		return;
	tally->fn = fn;
	tally->hits++;
}

static void on_waking(void *data, struct task_struct *task)
{
	wakeups += !strncmp(task->comm, "ants/", 5);
}

static void on_timer(void *data, struct timer_list *timer, unsigned long base)
{
	count(timers, timer->function);
}

static void on_work(void *data, struct work_struct *work)
{
	count(works, work->func);
}

static struct probe probes[] = {
	{ "sched_waking", on_waking },
	{ "timer_expire_entry", on_timer },
	{ "workqueue_execute_start", on_work },
};

int watch_start(void)
{
	memset(timers, 0, sizeof(timers));
	memset(works, 0, sizeof(works));
	wakeups = 0;
	return probes_attach(probes, ARRAY_SIZE(probes));
}

/* The kernel's own name for a function includes its module. */
static unsigned int hits_of_ants(const struct tally *tally)
{
	const struct tally *end = tally + MAX_FUNCTIONS;
	unsigned int hits = 0;
	char name[128];

	for (; tally < end && tally->fn; tally++) {
		snprintf(name, sizeof(name), "%ps", tally->fn);
		if (strstr(name, "[ants]"))
			hits += tally->hits;
	}
	return hits;
}

void watch_stop(struct watched *watched)
{
	probes_detach(probes, ARRAY_SIZE(probes));
	watched->wakeups = wakeups + hits_of_ants(works);
	watched->timers = hits_of_ants(timers);
}
