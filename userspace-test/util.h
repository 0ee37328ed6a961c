/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers that the programs share: short functions for files, and for pools
 * driven through the module ants_ctl. All functions return -errno on error.
 */
#ifndef _ANTS_USERSPACE_TEST_UTIL_H
#define _ANTS_USERSPACE_TEST_UTIL_H

/*
 * Before any header of the C library, so that all of its functions are
 * declared.
 */
#define _GNU_SOURCE

/* The harness does not compile cleanly with -Wextra. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "kselftest_harness.h"
#pragma GCC diagnostic pop

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a test; harnesses that have XFAIL_ADD() take the exit status instead. */
#ifdef XFAIL_ADD
#define PASSED_SO_FAR	(_metadata->exit_code == KSFT_PASS)
#else
#define PASSED_SO_FAR	(_metadata->passed)
#endif

#define ANTS_DIR	"/sys/kernel/ants"
#define CTL_FILE	"/sys/kernel/debug/ants_ctl/control"

/* Seconds for a condition that must come true; a loaded machine is slow. */
#define DEADLINE	60

/* Wait until @cond holds; the value says whether it did. */
#define soon(cond)							\
({									\
	int __tries = DEADLINE * 200;					\
									\
	while (!(cond) && --__tries)					\
		usleep(5000);						\
	__tries > 0;							\
})

#define EXPECT_SOON(cond)	EXPECT_TRUE(soon(cond))
#define ASSERT_SOON(cond)	ASSERT_TRUE(soon(cond))

/* Guests are slow; the harness would give up after 30 s. */
#define CASE(fixture, name)	TEST_F_TIMEOUT(fixture, name, 90)

static inline int read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, buf, size - 1);
	if (len < 0)
		len = -errno;
	else
		buf[len] = '\0';
	close(fd);
	return len;
}

static inline int write_file(const char *path, const void *buf, size_t len)
{
	int fd = open(path, O_WRONLY);
	ssize_t ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, buf, len);
	if (ret < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Pass a command to ants_ctl. Returns 0, or the error from ants. */
static inline int ctl(const char *fmt, ...)
{
	char line[128];
	va_list args;
	int len, ret;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	ret = write_file(CTL_FILE, line, len);
	return ret < 0 ? ret : 0;
}

/* A module of the guest; @args are its parameters. */
static inline int load_module(const char *name, const char *args)
{
	char path[80];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/ants/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, args, 0))
		err = -errno;
	close(fd);
	return err;
}

/* It must have no users, which nobody waits for. */
static inline int unload_module(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static inline const char *pool_path(const char *pool, const char *file)
{
	static char path[4][400];
	static unsigned int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), ANTS_DIR "/%s/%s", pool, file);
	return p;
}

/*
 * The text of a file without its newline, valid until the fourth call after
 * this.
 */
static inline const char *get(const char *pool, const char *file)
{
	static char text[4][4097];
	static unsigned int next;
	char *p = text[next++ % 4];
	int len = read_file(pool_path(pool, file), p, sizeof(text[0]));

	if (len < 0)
		snprintf(p, sizeof(text[0]), "error %d", -len);
	else if (len && p[len - 1] == '\n')
		p[len - 1] = '\0';
	return p;
}

/* The number in a file, or -1. */
static inline long get_number(const char *pool, const char *file)
{
	const char *text = get(pool, file);
	char *end;
	long ret = strtol(text, &end, 10);

	return *text && !*end ? ret : -1;
}

/* Returns 0 if all of @text was written. */
static inline int put(const char *pool, const char *file, const char *text)
{
	int ret = write_file(pool_path(pool, file), text, strlen(text));

	return ret < 0 ? ret : ret != (int)strlen(text);
}

/* A child that passes one command to ants_ctl; reap() returns the answer. */
static inline pid_t ctl_async(const char *command)
{
	pid_t pid = fork();

	if (!pid)
		_exit(-ctl("%s", command));
	return pid;
}

/* The child's answer, 0 or -errno; -EINTR if it was killed. */
static inline int reap(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

static inline void ignore_signal(int nr)
{
	(void)nr;
}

/*
 * Start a write that waits for another one, and interrupt it; returns its
 * error.
 */
static inline int put_interrupted(const char *pool, const char *file,
				  const char *text)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	pid_t pid;
	int status;

	/* In the parent, so that no signal comes before the handler is set. */
	sigaction(SIGUSR1, &action, NULL);
	pid = fork();
	if (!pid)
		_exit(-put(pool, file, text));
	if (!soon(kill(pid, SIGUSR1) || waitpid(pid, &status, WNOHANG) == pid)) {
		kill(pid, SIGKILL);
		return reap(pid);
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/*
 * A child that changes the capacity, and is held while it locks out all others.
 */
static inline pid_t put_and_hold(const char *pool, const char *capacity)
{
	pid_t pid;

	if (ctl("hold_tune %s", pool))
		return -1;
	pid = fork();
	if (!pid)
		_exit(-put(pool, "capacity", capacity));
	return ctl("tune_held %s", pool) ? -1 : pid;
}

#endif /* _ANTS_USERSPACE_TEST_UTIL_H */
