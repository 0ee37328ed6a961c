// SPDX-License-Identifier: GPL-2.0-only
/* What antstat tells its user beside what it was asked for. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "antstat.h"

char held_message[HELD_LEN];

/* Behind what was printed so far. */
static void vsay(const char *fmt, va_list args)
{
	fflush(stdout);
	fputs("antstat: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

/* While there is a full screen, the last message is held for its bottom line. */
void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (term_entered())
		vsnprintf(held_message, sizeof(held_message), fmt, args);
	else
		vsay(fmt, args);
	va_end(args);
}

/* The last words are not on a screen that goes away. */
void die(enum status status, const char *fmt, ...)
{
	va_list args;

	term_leave();
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
	{ ELOOP, "ELOOP" },
	{ EMFILE, "EMFILE" },
	{ ENAMETOOLONG, "ENAMETOOLONG" },
	{ ENFILE, "ENFILE" },
	{ ENODEV, "ENODEV" },
	{ ENOENT, "ENOENT" },
	{ ENOMEM, "ENOMEM" },
	{ ENOSPC, "ENOSPC" },
	{ ENOTDIR, "ENOTDIR" },
	{ EPERM, "EPERM" },
	{ EPIPE, "EPIPE" },
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
