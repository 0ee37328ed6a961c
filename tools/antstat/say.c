// SPDX-License-Identifier: GPL-2.0-only
/* What antstat tells its user beside what it was asked for. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "antstat.h"

/* Behind what was printed so far, and not on a screen that goes away. */
static void vsay(const char *fmt, va_list args)
{
	term_leave();
	fflush(stdout);
	fputs("antstat: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
}

void die(enum status status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
	exit(status);
}

/* Those that ants and sysfs answer with. */
static const struct {
	int err;
	const char *name;
} error_names[] = {
	{ EACCES, "EACCES" },
	{ EBUSY, "EBUSY" },
	{ EEXIST, "EEXIST" },
	{ EINTR, "EINTR" },
	{ EINVAL, "EINVAL" },
	{ EIO, "EIO" },
	{ EISDIR, "EISDIR" },
	{ ENODEV, "ENODEV" },
	{ ENOENT, "ENOENT" },
	{ ENOMEM, "ENOMEM" },
	{ EPERM, "EPERM" },
	{ ERANGE, "ERANGE" },
	{ EROFS, "EROFS" },
};

/* "Invalid argument (EINVAL)", good until the next call. */
const char *error_words(int err)
{
	static char words[128];
	char name[32];
	size_t i;

	snprintf(name, sizeof(name), "errno %d", err);
	for (i = 0; i < ARRAY_SIZE(error_names); i++)
		if (error_names[i].err == err)
			snprintf(name, sizeof(name), "%s", error_names[i].name);
	snprintf(words, sizeof(words), "%s (%s)", strerror(err), name);
	return words;
}

/* What was printed is out, or antstat ends. */
void write_out(void)
{
	if (fflush(stdout) || ferror(stdout))
		die(STATUS_ERROR, "cannot write the output: %s",
		    error_words(errno));
}
