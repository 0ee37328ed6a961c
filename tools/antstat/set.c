// SPDX-License-Identifier: GPL-2.0-only
/* Changes a file of a pool, and says what the kernel answered. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "antstat.h"

/* What an error of a write means, as the ABI document says; "" is any file. */
static const struct {
	const char *file;
	int err;
	const char *meaning;
} meanings[] = {
	{ "capacity", EINVAL,
	  "it takes 1 to 2147483647, or max if not preallocated, and not below min_workers or nr_shards"
	},
	{ "capacity", ERANGE, "it takes 1 to 2147483647, or max" },
	{ "capacity", ENOMEM,
	  "the threads of a preallocated pool cannot be made" },
	{ "queue_depth", EINVAL,
	  "it takes 0 to 2147483647, in a preallocated pool together with capacity" },
	{ "queue_depth", ENOMEM,
	  "the slots of a preallocated pool cannot be made" },
	{ "min_workers", EINVAL, "it takes 0 to capacity" },
	{ "expiry_ms", EINVAL, "it takes 1 to 2147483647" },
	{ "nonblocking", EINVAL,
	  "it takes 0 or 1; not 1 if callers run tasks of a full pool themselves" },
	{ "nice", EINVAL, "it takes -20 to 19, or 0 alone while sched is not normal" },
	{ "sched", EINVAL,
	  "it takes normal, fifo_low or fifo, and normal alone while nice is not 0" },
	{ "stall_ms", EINVAL, "it takes 0 to 2147483647" },
	{ "max_faults", EINVAL, "it takes 1 to 2147483647" },
	{ "cpulist", EINVAL,
	  "it takes a list like 0-3,6 with at least one CPU that is possible" },
	{ "cpulist", ERANGE, "no CPU has such a number" },
	{ "", EPERM,
	  "the module that made the pool relies on this limit (ANTS_FIXED)" },
	{ "", EINVAL, "the file does not take that" },
	{ "", ERANGE, "the number does not fit" },
	{ "", ENODEV, "the pool has gone in the meantime" },
	{ "", EINTR, "interrupted by a signal while waiting to write" },
};

static const char *meaning(const char *file, int err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(meanings); i++)
		if (meanings[i].err == err &&
		    (!*meanings[i].file || !strcmp(meanings[i].file, file)))
			return meanings[i].meaning;
	return NULL;
}

/* The value that a file has, on one line; "?" if it cannot be read. */
static char *value_of(int dir, const char *file)
{
	size_t len = 0;
	char *text = read_text(dir, file, &len);

	if (text && len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	text = strdup(text ? text : "?");
	if (!text)
		die(STATUS_ERROR, "out of memory");
	return text;
}

static int is_settable(int dir, const char *file)
{
	struct stat st;

	return !fstatat(dir, file, &st, 0) && S_ISREG(st.st_mode) &&
	       st.st_mode & 0222;
}

static void say_settable(int dir, const char *pool, const char *file)
{
	char list[256] = "";
	struct dirent **names;
	int i, nr, len = 0;

	nr = scandirat(dir, ".", &names, NULL, alphasort);
	for (i = 0; i < nr; i++) {
		if (is_settable(dir, names[i]->d_name) &&
		    len < (int)sizeof(list))
			len += snprintf(list + len, sizeof(list) - len, " %s",
					safe(names[i]->d_name));
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	say("pool %s has no file %s; these can be set:%s", safe(pool),
	    safe(file), list);
}

/* Is there no pool of that name any more, or another one? */
static bool is_gone(int root, int dir, const char *pool)
{
	struct stat st;

	return fstat(dir, &st) || !is_there(root, pool, st.st_ino);
}

/* Sysfs refuses to open a file without a write bit even to root. */
static enum status say_no_open(int root, int dir, const char *pool,
			       const char *file, int err)
{
	if (err == ENODEV || (err == ENOENT && is_gone(root, dir, pool))) {
		say("pool %s is gone", safe(pool));
		return STATUS_NO_POOL;
	}
	if (err == ENOENT) {
		say_settable(dir, pool, file);
		return STATUS_USAGE;
	}
	if (err == EACCES && !is_settable(dir, file))
		say("%s of pool %s is read-only (%s): not a setting, or fixed by the module",
		    safe(file), safe(pool), error_words(err));
	else if (err == EACCES)
		say("you may not write %s of pool %s: %s; root may",
		    safe(file), safe(pool), error_words(err));
	else
		say("cannot open %s of pool %s: %s", safe(file), safe(pool),
		    error_words(err));
	return err == EACCES ? STATUS_NO_PERMISSION : STATUS_ERROR;
}

/* One write with a newline, as the shell's echo does it. */
static int write_text(int fd, const char *text)
{
	ssize_t len, ret;
	char *line;
	int err;

	len = asprintf(&line, "%s\n", text);
	if (len < 0)
		die(STATUS_ERROR, "out of memory");
	ret = write(fd, line, len);
	err = ret < 0 ? errno : ret != len ? EIO : 0;
	free(line);
	return err;
}

static enum status report(const char *pool, const char *file, const char *text,
			  const char *old, const char *new, int err)
{
	const char *why = meaning(file, err);

	if (!err) {
		printf("%s: %s %s -> %s\n", safe(pool), safe(file), safe(old),
		       safe(new));
		write_out();
		return STATUS_OK;
	}
	say("%s: %s stays %s: the kernel refused \"%s\": %s%s%s", safe(pool),
	    safe(file), safe(new), safe(text), error_words(err),
	    why ? ": " : "", why ? why : "");
	if (err == ENODEV)
		return STATUS_NO_POOL;
	return err == EPERM ? STATUS_NO_PERMISSION : STATUS_ERROR;
}

static enum status change(int root, int dir, const char *pool,
			  const char *file, const char *text)
{
	int err, fd = openat(dir, file, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	enum status status;
	char *old, *new;

	if (fd < 0)
		return say_no_open(root, dir, pool, file, errno);
	old = value_of(dir, file);
	err = write_text(fd, text);
	close(fd);
	new = value_of(dir, file);
	status = report(pool, file, text, old, new, err);
	free(old);
	free(new);
	return status;
}

int set_file(const char *pool, const char *file, const char *text)
{
	int status, root = ants_dir(), dir = pool_dir(root, pool);

	if (dir == -EACCES)
		die(STATUS_NO_PERMISSION, "you may not look at pool %s: %s",
		    safe(pool), error_words(-dir));
	if (dir < 0 && !is_no_pool(-dir))
		die(STATUS_ERROR, "cannot open pool %s: %s", safe(pool),
		    error_words(-dir));
	if (dir < 0)
		die(STATUS_NO_POOL, "there is no pool %s", safe(pool));
	status = change(root, dir, pool, file, text);
	close(dir);
	close(root);
	return status;
}
