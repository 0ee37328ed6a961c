// SPDX-License-Identifier: GPL-2.0-only
/* The command line. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "antstat.h"

#define SHORTEST_INTERVAL	0.01
#define LONGEST_INTERVAL	86400

struct options opt = { .root = "", .interval = 1 };

static const char help[] =
	"Usage: antstat [OPTION...]                     a table of all pools\n"
	"       antstat [OPTION...] INTERVAL [COUNT]    a report each INTERVAL seconds\n"
	"       antstat [OPTION...] -w POOL             its threads, and what they run\n"
	"       antstat [OPTION...] top [INTERVAL [COUNT]]\n"
	"                                               a screen, the busiest pool first\n"
	"       antstat [OPTION...] set POOL FILE VALUE\n"
	"                                               e.g. set echo capacity 64\n"
	"\n"
	"What the pools of the kernel module ants are doing. The columns are the files\n"
	"of /sys/kernel/ants/POOL/; a shard of a sharded pool is POOL/shard0.\n"
	"\n"
	"  -j, --json          JSON, one document a line\n"
	"  -p, --pool=POOL     only this pool; may be given more than once\n"
	"  -r, --root=DIR      read DIR/sys and DIR/proc instead of /sys and /proc\n"
	"  -s, --shards        shards of sharded pools, too\n"
	"  -t, --time          with INTERVAL: the time of day before each row\n"
	"  -w, --workers=POOL  the threads of a pool\n"
	"  -h, --help\n"
	"  -V, --version\n"
	"\n"
	"Exit status: 0; 1 the kernel refused, or another error; 2 wrong usage; 3 ants is\n"
	"not loaded; 4 no such pool, or it is gone; 5 no permission. See antstat(8).\n";

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "pool", required_argument, NULL, 'p' },
	{ "root", required_argument, NULL, 'r' },
	{ "shards", no_argument, NULL, 's' },
	{ "time", no_argument, NULL, 't' },
	{ "workers", required_argument, NULL, 'w' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{}
};

#define wrong(fmt, what) \
	die(STATUS_USAGE, fmt "; see antstat --help", safe(what))

/* A pool is a directory below /sys/kernel/ants, and nothing else. */
static const char *pool_name(const char *name)
{
	const char *shard = strchr(name, '/');
	const char *rest = shard ? shard + 1 : "x";

	if (!*name || name == shard || !strcmp(name, ".") ||
	    !strcmp(name, "..") || !strncmp(name, "../", 3) ||
	    !strncmp(name, "./", 2) || (shard && strncmp(rest, "shard", 5)) ||
	    strchr(rest, '/'))
		wrong("\"%s\" is not a valid pool name", name);
	return name;
}

static const char *file_name(const char *name)
{
	if (!*name || strchr(name, '/') || name[0] == '.')
		wrong("\"%s\" is not a valid file name", name);
	return name;
}

static int print_and_exit(const char *text)
{
	fputs(text, stdout);
	write_out();
	exit(STATUS_OK);
}

static void option(int c)
{
	switch (c) {
	case 'j':
		opt.json = true;
		break;
	case 'p':
		opt.pools[opt.nr_pools++] = pool_name(optarg);
		break;
	case 'r':
		opt.root = optarg;
		break;
	case 's':
		opt.shards = true;
		break;
	case 't':
		opt.time = true;
		break;
	case 'w':
		opt.workers = pool_name(optarg);
		break;
	case 'h':
		print_and_exit(help);
		break;
	case 'V':
		print_and_exit("antstat " ANTS_VERSION "\n");
		break;
	default:
		/* getopt has said what is wrong */
		exit(STATUS_USAGE);
	}
}

/* No sign, no exponent, no "inf": what strtod() takes beyond that is no number. */
static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789.")];
}

static void parse_interval(const char *text)
{
	char *end;

	opt.interval = strtod(text, &end);
	if (!is_number(text) || *end || opt.interval < SHORTEST_INTERVAL ||
	    opt.interval > LONGEST_INTERVAL)
		wrong("the interval \"%s\" must be 0.01 to 86400 seconds",
		      text);
}

static void parse_count(const char *text)
{
	char *end;

	errno = 0;
	opt.count = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || !opt.count)
		wrong("\"%s\" is not a valid count", text);
}

/* INTERVAL and COUNT, which may be missing. */
static void times(char **args)
{
	if (!args[0])
		return;
	parse_interval(args[0]);
	if (!args[1])
		return;
	parse_count(args[1]);
	if (args[2])
		wrong("unexpected argument \"%s\"", args[2]);
}

static int run_top(char **args)
{
	times(args);
	if (opt.json || opt.workers)
		wrong("%s cannot be used with --json or --workers", "top");
	return show_top();
}

static int run_set(char **args)
{
	if (!args[0] || !args[1] || !args[2] || args[3])
		wrong("%s needs a pool, a file and a value", "set");
	if (opt.json || opt.workers || opt.nr_pools || opt.shards || opt.time)
		wrong("%s cannot be used with --json, --workers, --pool, --shards or --time",
		      "set");
	if (strlen(args[2]) >= FILE_MAX)
		wrong("the value for %s is too long", args[1]);
	return set_file(pool_name(args[0]), file_name(args[1]), args[2]);
}

static int run(char **args)
{
	if (args[0] && !strcmp(args[0], "top"))
		return run_top(args + 1);
	if (args[0] && !strcmp(args[0], "set"))
		return run_set(args + 1);
	if (opt.workers &&
	    (args[0] || opt.nr_pools || opt.shards || opt.time))
		wrong("%s cannot be used with an interval, --pool, --shards or --time",
		      "--workers");
	if (args[0] && !is_number(args[0]))
		wrong("\"%s\" is not a command; --pool names a pool", args[0]);
	times(args);
	if (args[0])
		return show_reports();
	if (opt.workers)
		return show_workers();
	return opt.json ? show_json() : show_table();
}

/*
 * Takes the options, and returns the operands. Options may be anywhere but behind
 * set, for a nice value may be negative.
 */
static char **operands(int argc, char **argv)
{
	char **args = xrealloc(NULL, argc + 1, sizeof(*args));
	int c, nr = 0;

	while (!nr || strcmp(args[0], "set")) {
		c = getopt_long(argc, argv, "-jp:r:stw:hV", long_options, NULL);
		if (c == -1)
			break;
		if (c == 1)
			args[nr++] = optarg;
		else
			option(c);
	}
	while (optind < argc)
		args[nr++] = argv[optind++];
	args[nr] = NULL;
	return args;
}

int main(int argc, char **argv)
{
	char **args;
	int status;

	opt.pools = xrealloc(NULL, argc, sizeof(*opt.pools));
	args = operands(argc, argv);
	status = run(args);
	free(args);
	free(opt.pools);
	return status;
}
