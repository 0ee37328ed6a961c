/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens while fuzz_files uses the files of ants: tasks, pools and clients that
 * come and go. And what its processes share.
 */
#ifndef _ANTS_USERSPACE_TEST_FUZZ_LOAD_H
#define _ANTS_USERSPACE_TEST_FUZZ_LOAD_H

#include "util.h"

#define MOST_FILES	64
#define MOST_ERRNO	134
#define MOST_COMPLAINTS	10

#define CTL_DIR		"/sys/kernel/debug/ants_ctl"

/* What the processes share: counts, and what was wrong. */
static struct shared {
	unsigned int results[MOST_ERRNO];
	unsigned int read[MOST_FILES], written[MOST_FILES];
	unsigned int accepted, refused, made, clients;
	unsigned int nr_complaints;
	char complaints[MOST_COMPLAINTS][200];
	bool over;
} *shared;

/* Each process has its own. */
static unsigned long long state;

/* splitmix64 */
static unsigned int rnd(unsigned int below)
{
	unsigned long long x = state += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return (x ^ (x >> 31)) % below;
}

static void count(unsigned int *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

static bool over(void)
{
	return __atomic_load_n(&shared->over, __ATOMIC_RELAXED);
}

static void complain(const char *fmt, ...)
{
	unsigned int nr = __atomic_fetch_add(&shared->nr_complaints, 1,
					     __ATOMIC_RELAXED);
	va_list args;

	if (nr >= MOST_COMPLAINTS)
		return;
	va_start(args, fmt);
	vsnprintf(shared->complaints[nr], sizeof(shared->complaints[0]), fmt,
		  args);
	va_end(args);
}

/* The pool that is always there. */
#define STAY		"fuzz-stay"

/* Pools that come and go, and how they are made; one process does both. */
static const struct comer {
	const char *name;
	const char *create;
} comers[] = {
	{ "fuzz-plain", "create fuzz-plain 2" },
	{ "fuzz-fixed", "create fuzz-fixed 2 0 256" },
	{ "fuzz-prealloc", "create fuzz-prealloc 2 0 2" },
	{ "fuzz-caller", "create fuzz-caller 1 0 128" },
	{ "fuzz-multi", "create_multi fuzz-multi 4 2 1" },
	{ "fuzz-local", "create_multi fuzz-local 4 2 2" },
};

/* There was no such pool, or it was released, or an operation made it refuse. */
static bool is_refusal(int err, bool stays)
{
	return err == -EAGAIN || err == -EBUSY ||
	       (!stays && (err == -ENOENT || err == -ESHUTDOWN));
}

/*
 * A queue may have no bound, and then as many threads as there are tasks in it. So
 * each burst of tasks ends before the next one begins.
 */
static void submit_burst(const char *name, bool stays)
{
	unsigned int nr = 1 + rnd(16);
	int err = 0;

	while (nr-- && !err) {
		err = ctl("submit %s 1 %u", name, rnd(4));
		count(err ? &shared->refused : &shared->accepted);
		if (err && !is_refusal(err, stays))
			complain("a task for %s: %d", name, err);
	}
	err = ctl("flush %s", name);
	if (err && (stays || err != -ENOENT))
		complain("flush %s: %d", name, err);
}

/* The operations get most of the time. */
static void submit_tasks(void)
{
	while (!over()) {
		if (rnd(3))
			submit_burst(comers[rnd(ARRAY_SIZE(comers))].name,
				     false);
		else
			submit_burst(STAY, true);
		usleep(rnd(20000));
	}
}

static void expect_done(const char *verb, const char *name)
{
	int err = ctl("%s %s", verb, name);

	if (err)
		complain("%s %s: %d", verb, name, err);
}

static void come_and_go(void)
{
	bool is_there[ARRAY_SIZE(comers)] = {};
	unsigned int i;

	while (!over()) {
		i = rnd(ARRAY_SIZE(comers));
		if (!is_there[i]) {
			if (ctl("%s", comers[i].create))
				complain("cannot make %s", comers[i].name);
			count(&shared->made);
			is_there[i] = true;
		} else if (rnd(2)) {
			expect_done("drain", comers[i].name);
			expect_done("reboot", comers[i].name);
		} else {
			expect_done("destroy", comers[i].name);
			is_there[i] = false;
		}
		usleep(rnd(60000));
	}
	for (i = 0; i < ARRAY_SIZE(comers); i++)
		if (is_there[i])
			expect_done("destroy", comers[i].name);
}

/* How the client behaves, and how many tasks it submits. */
static const struct act {
	const char *args;
	unsigned int nr_tasks;
} acts[] = {
	{ "act=idle", 0 },
	{ "act=busy", 6 },
	{ "act=forget", 0 },
	{ "act=forget_busy", 6 },
	{ "act=system", 6 },
	{ "act=multi", 6 },
	{ "act=multi_local", 0 },
	{ "act=multi_forget_busy", 6 },
};

static unsigned int ctl_count(const char *file)
{
	char path[64], text[16] = "";

	snprintf(path, sizeof(path), CTL_DIR "/%s", file);
	read_file(path, text, sizeof(text));
	return strtoul(text, NULL, 10);
}

/* A client whose pool refuses a task does not load. */
static void load_and_unload(const struct act *act)
{
	unsigned int before = ctl_count("progress"), nr;
	int err = load_module("ants_client", act->args), gone = 0;

	if (err && !(act->nr_tasks && is_refusal(err, true)))
		complain("loading with %s: %d", act->args, err);
	if (!err) {
		usleep(rnd(20000));
		gone = unload_module("ants_client");
	}
	nr = ctl_count("progress") - before;
	if (gone || nr > act->nr_tasks || (!err && nr != act->nr_tasks))
		complain("%s: %d, %u tasks have run", act->args, gone, nr);
	count(&shared->clients);
}

static void use_clients(void)
{
	while (!over()) {
		load_and_unload(&acts[rnd(ARRAY_SIZE(acts))]);
		usleep(rnd(200000));
	}
}

#endif /* _ANTS_USERSPACE_TEST_FUZZ_LOAD_H */
