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
	"  -p, --pool=POOL     this pool alone; can be given again\n"
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
		wrong("\"%s\" is no name of a pool", name);
	return name;
}

static const char *file_name(const char *name)
{
	if (!*name || strchr(name, '/') || name[0] == '.')
		wrong("\"%s\" is no file of a pool", name);
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
	return isdigit((unsigned char)*text) &&
	       !text[strspn(text, "0123456789.")];
}

static void parse_interval(const char *text)
{
	char *end;

	opt.interval = strtod(text, &end);
	if (!is_number(text) || *end || opt.interval < SHORTEST_INTERVAL ||
	    opt.interval > LONGEST_INTERVAL)
		wrong("\"%s\" is no number of seconds from 0.01 to 86400",
		      text);
}

static void parse_count(const char *text)
{
	char *end;

	errno = 0;
	opt.count = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || !opt.count)
		wrong("\"%s\" is no count of reports", text);
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
		wrong("\"%s\" is one argument too many", args[2]);
}

static int run_top(char **args)
{
	times(args);
	if (opt.json || opt.workers)
		wrong("%s goes without --json and --workers", "top");
	return show_top();
}

static int run_set(char **args)
{
	if (!args[0] || !args[1] || !args[2] || args[3])
		wrong("%s needs a pool, a file and a value", "set");
	if (opt.json || opt.workers || opt.nr_pools)
		wrong("%s goes without --json, --workers and --pool", "set");
	return set_file(pool_name(args[0]), file_name(args[1]), args[2]);
}

static int run(char **args)
{
	if (args[0] && !strcmp(args[0], "top"))
		return run_top(args + 1);
	if (args[0] && !strcmp(args[0], "set"))
		return run_set(args + 1);
	if (opt.workers && (args[0] || opt.nr_pools))
		wrong("%s goes without an interval and --pool", "--workers");
	if (args[0] && !is_number(args[0]))
		wrong("\"%s\" is no command; --pool names a pool", args[0]);
	times(args);
	if (args[0])
		return show_reports();
	if (opt.workers)
		return show_workers();
	return opt.json ? show_json() : show_table();
}

int main(int argc, char **argv)
{
	int c;

	opt.pools = xrealloc(NULL, argc, sizeof(*opt.pools));
	/* nothing behind a command is an option: a nice value may be negative */
	while ((c = getopt_long(argc, argv, "+jp:r:stw:hV", long_options,
				NULL)) != -1)
		option(c);
	c = run(argv + optind);
	free(opt.pools);
	return c;
}
