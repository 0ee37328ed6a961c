/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What fuzz_files writes to each file, and what may come of an operation.
 */
#ifndef _ANTS_USERSPACE_TEST_FUZZ_RULES_H
#define _ANTS_USERSPACE_TEST_FUZZ_RULES_H

#include "fuzz_load.h"

#define PAGE		4096

enum root { POOLS, TABLES, PARAMETERS, NR_ROOTS };

static const char * const roots[] = {
	[POOLS] = ANTS_DIR,
	[TABLES] = "/sys/kernel/debug/ants",
	[PARAMETERS] = "/sys/module/ants/parameters",
};

/* A file of Documentation/ABI; its name has no pool in it. */
struct file {
	enum root root;
	char name[48];
	bool writable;
};

/* A file that was there. */
struct entry {
	const struct file *file;
	char path[104];
};

/*
 * What is written, and why it is refused: by each file that has @by in its path, and
 * by no other. SOMETIMES: by any file, because of what was written to others.
 */
struct text {
	const char *text;
	int err;
	const char *by;
};

#define SOMETIMES	""
#define TAKEN(text)	{ text, 0, "" }
#define REFUSED(text, err)	{ text, err, "/" }

/*
 * What can be written to a file. Nothing is in these texts that would make a
 * million threads, or report tasks that take a moment longer than others.
 */
static const struct rule {
	const char *name;
	struct text texts[10];
} rules[] = {
	{ "capacity", {
		{ "2", EINVAL, SOMETIMES }, { "4\n", EINVAL, SOMETIMES },
		{ "0x8", EINVAL, SOMETIMES }, { "max", EINVAL, "-prealloc" },
		TAKEN(""), REFUSED("0", EINVAL), REFUSED("-1", EINVAL),
		REFUSED("2147483648", ERANGE),
	} },
	{ "max_blocking", {
		TAKEN("0"), TAKEN("1"), TAKEN("3\n"), TAKEN("4294967295"),
		REFUSED("max", EINVAL), REFUSED("4294967296", ERANGE),
	} },
	{ "queue_depth", {
		TAKEN("0"), TAKEN("1\n"), TAKEN("010"),
		{ "2147483647", EINVAL, "-prealloc" },
		REFUSED("2147483648", EINVAL), REFUSED("4294967296", ERANGE),
	} },
	{ "min_workers", {
		TAKEN("0"), TAKEN("1"), { "2\n", EINVAL, SOMETIMES },
		{ "4", EINVAL, SOMETIMES }, REFUSED("4294967295", EINVAL),
	} },
	{ "expiry_ms", {
		TAKEN("1"), TAKEN("10\n"), TAKEN("0x3e8"), TAKEN("2147483647"),
		REFUSED("0", EINVAL), REFUSED("2147483648", EINVAL),
	} },
	{ "nonblocking", {
		TAKEN("0"), TAKEN("0\n"), { "1", EINVAL, "-caller" },
		REFUSED("2", EINVAL),
	} },
	{ "nice", {
		TAKEN("0"), { "-5\n", EINVAL, SOMETIMES },
		{ "10", EINVAL, SOMETIMES }, REFUSED("20", EINVAL),
		REFUSED("-21", EINVAL), REFUSED("2147483648", ERANGE),
	} },
	{ "sched", {
		TAKEN("normal"), { "fifo_low\n", EINVAL, SOMETIMES },
		{ "fifo", EINVAL, SOMETIMES }, REFUSED("rr", EINVAL),
		REFUSED("0", EINVAL),
	} },
	{ "max_faults", {
		TAKEN("1"), TAKEN("16\n"), TAKEN("2147483647"),
		REFUSED("0", EINVAL), REFUSED("-1", EINVAL),
		REFUSED("2147483648", EINVAL),
	} },
	{ "max_threads", {
		TAKEN("0"), TAKEN("100000\n"), TAKEN("4294967295"),
		REFUSED("-1", EINVAL), REFUSED("max", EINVAL),
		REFUSED("4294967296", ERANGE),
	} },
	{ "cpulist", {
		TAKEN("0"), TAKEN("1"), TAKEN("0-1\n"), TAKEN("all"),
		REFUSED("1-0", EINVAL), REFUSED("\n", EINVAL),
		REFUSED("4096", ERANGE),
	} },
	{ "stall_ms", {
		TAKEN("0"), TAKEN("600000\n"), TAKEN("2147483647"),
		REFUSED("2147483648", EINVAL), REFUSED("-1", EINVAL),
	} },
	{ "stats/timing", {
		TAKEN("0"), TAKEN("1\n"), TAKEN("3"), TAKEN("1000000"),
		REFUSED("1000001", EINVAL), REFUSED("on", EINVAL),
	} },
};

static const struct rule *find_rule(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (!strcmp(rules[i].name, name))
			return &rules[i];
	return NULL;
}

/* Letters that are in no word of a rule, and in no number. */
static const char *junk(void)
{
	static char text[32];
	int i, len = 1 + rnd(sizeof(text) - 1);

	for (i = 0; i < len; i++)
		text[i] = "ghijkpqrstuvwyz_#!?"[rnd(19)];
	text[len] = '\0';
	return text;
}

static const char *page_of_digits(void)
{
	static char text[PAGE + 1];

	memset(text, '9', PAGE);
	return text;
}

static struct text pick_text(const struct file *file)
{
	const struct rule *rule = find_rule(file->name);
	unsigned int nr = 0;

	if (!file->writable || !rule)
		return (struct text)REFUSED("1", EINVAL);
	if (!rnd(16))
		return (struct text)REFUSED(junk(), EINVAL);
	if (!rnd(16) && strcmp(rule->name, "sched"))
		return (struct text)REFUSED(page_of_digits(), ERANGE);
	while (nr < ARRAY_SIZE(rule->texts) && rule->texts[nr].text)
		nr++;
	return rule->texts[rnd(nr)];
}

static bool is_limit(const char *name)
{
	return !strcmp(name, "capacity") || !strcmp(name, "queue_depth") ||
	       !strcmp(name, "nonblocking");
}

/* Its mode allows no write. The client's multi may be of either kind. */
static bool is_read_only(const struct entry *e)
{
	if (!e->file->writable)
		return e->file->root != TABLES;
	return strstr(e->path, "/fuzz-local/cpulist") ||
	       (strstr(e->path, "/fuzz-fixed/") && is_limit(e->file->name));
}

static bool may_be_read_only(const struct entry *e)
{
	return strstr(e->path, "/client/cpulist");
}

/* Is it a file of what comes and goes? */
static bool may_go(const struct entry *e)
{
	return e->file->root == POOLS &&
	       !strstr(e->path, "/" STAY "/") && !strstr(e->path, "/system/");
}

static bool is_gone(const struct entry *e, int err)
{
	return may_go(e) && (err == -ENOENT || err == -ENODEV);
}

static bool open_fits(const struct entry *e, bool write, int err)
{
	if (write && is_read_only(e))
		return err == -EACCES;
	return !err || (write && may_be_read_only(e) && err == -EACCES);
}

static bool write_fits(const struct entry *e, const struct text *t, int err)
{
	if (!t->err || !strstr(e->path, t->by))
		return !err;
	return err == -t->err || (!err && !strcmp(t->by, SOMETIMES));
}

/* One line with a value, or a table with a head. */
static bool read_fits(const struct entry *e, const char *text, int len)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz0123456789_,-";

	if (len < 2 || text[len - 1] != '\n')
		return false;
	return e->file->root == TABLES ? strspn(text, " ") < (size_t)len :
					 strspn(text, good) == (size_t)len - 1;
}

#endif /* _ANTS_USERSPACE_TEST_FUZZ_RULES_H */
