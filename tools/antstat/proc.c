// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of a pool, from /proc: kernel threads with the name ants/<pool>.
 * What a thread runs is on its kernel stack: the functions of ants that every
 * thread has, above them the one that the pool called, and on top the one that
 * the thread sleeps in.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "antstat.h"

#define COMM_MAX	63		/* the kernel cuts a thread's name here */
#define PF_KTHREAD	0x00200000
#define STACK_FRAMES	64		/* the kernel shows no more */

/* Where to find in /proc/<pid>/stat what is behind the name; proc(5) counts alike. */
enum { STAT_STATE = 3, STAT_FLAGS = 9, STAT_UTIME = 14, STAT_STIME, STAT_CPU = 39 };

/* The start of that word of the line, or a word that is empty. */
static const char *stat_word(const char *line, int nr)
{
	const char *p = strrchr(line, ')');
	int i;

	for (i = STAT_STATE - 1; p && i < nr; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? p : "";
}

static unsigned long long stat_number(const char *line, int nr)
{
	return strtoull(stat_word(line, nr), NULL, 10);
}

/* "client/shard1" has threads of the name "ants/client/1". */
static void thread_name(const struct pool *pool, char *name, size_t size)
{
	const char *shard = strchr(pool->name, '/');

	if (shard)
		snprintf(name, size, "ants/%.*s/%s",
			 (int)(shard - pool->name), pool->name,
			 shard + strcspn(shard, "0123456789"));
	else
		snprintf(name, size, "ants/%s", pool->name);
}

/* Is @comm the name of a thread of @pool, or of one of its shards? */
static bool is_thread_of(const struct pool *pool, const char *comm)
{
	char name[300];
	size_t len;

	thread_name(pool, name, sizeof(name));
	if (pool->value[F_NR_SHARDS].type == VALUE_ABSENT) {
		name[COMM_MAX] = '\0';
		return !strcmp(comm, name);
	}
	len = strlen(name);
	if (len >= COMM_MAX)
		return !strncmp(comm, name, COMM_MAX);
	return !strncmp(comm, name, len) && comm[len] == '/';
}

/* The function of "[<0>] function+0x1/0x2 [module]", with its module. */
static char *frame_name(const char *line)
{
	const char *name = strstr(line, "] "), *module;
	int len, module_len;
	char *text;

	name = name ? name + 2 : line;
	len = strcspn(name, "+\n");
	module = strpbrk(name, "[\n");
	module_len = module && *module == '[' ? strcspn(module, "\n") : 0;
	if (asprintf(&text, "%.*s%s%.*s", len, name, module_len ? " " : "",
		     module_len, module_len ? module : "") < 0)
		die(STATUS_ERROR, "out of memory");
	return text;
}

static bool is_of_ants(const char *line)
{
	size_t len = strcspn(line, "\n");

	while (len && line[len - 1] == ' ')
		len--;
	return len >= 6 && !memcmp(line + len - 6, "[ants]", 6);
}

static size_t split_lines(const char *text, const char **lines)
{
	size_t nr = 0;

	while (*text && nr < STACK_FRAMES) {
		lines[nr++] = text;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return nr;
}

/*
 * The top comes first, the bottom is that of every kernel thread. Without a frame
 * of ants, or with more frames than the kernel shows, the bottom is missing, and
 * with it the function that the pool called.
 */
static void parse_stack(struct thread *thread, const char *text)
{
	const char *lines[STACK_FRAMES];
	size_t i = split_lines(text, lines);

	if (i == STACK_FRAMES)
		return;
	while (i && !is_of_ants(lines[i - 1]))
		i--;
	thread->known = i;
	while (i && is_of_ants(lines[i - 1]))
		i--;
	if (!i)
		return;
	thread->runs = frame_name(lines[i - 1]);
	if (i > 1)
		thread->sleeps = frame_name(lines[0]);
}

static void read_stack(struct thread *thread, int dir)
{
	size_t len = 0;
	char *text = read_text(dir, "stack", &len);

	if (!text)
		thread->stack = errno;
	else if (len <= FILE_MAX)
		parse_stack(thread, text);
}

/* Any program may call itself what it likes: only kernel threads count. */
static bool read_stat(struct thread *thread, int dir)
{
	long hz = sysconf(_SC_CLK_TCK);
	size_t len = 0;
	char *line = read_text(dir, "stat", &len);

	if (!line || !(stat_number(line, STAT_FLAGS) & PF_KTHREAD))
		return false;
	thread->pid = strtoul(line, NULL, 10);
	thread->state = *stat_word(line, STAT_STATE);
	thread->cpu = stat_number(line, STAT_CPU);
	thread->seconds = (stat_number(line, STAT_UTIME) +
			   stat_number(line, STAT_STIME)) / (double)hz;
	return true;
}

/* False for what is no thread of @pool, or is gone. */
static bool thread_read(struct thread *thread, int dir,
			const struct pool *pool)
{
	size_t len = 0;
	char *comm = read_text(dir, "comm", &len);

	memset(thread, 0, sizeof(*thread));
	if (!comm || !len)
		return false;
	comm[len - 1] = '\0';
	if (!is_thread_of(pool, comm) || !read_stat(thread, dir))
		return false;
	read_stack(thread, dir);
	return true;
}

static void thread_add(struct thread **threads, size_t *nr, int proc,
		       const char *name, const struct pool *pool)
{
	int dir = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct thread thread;

	if (dir < 0)
		return;
	if (thread_read(&thread, dir, pool)) {
		*threads = xrealloc(*threads, *nr + 1, sizeof(thread));
		(*threads)[(*nr)++] = thread;
	}
	close(dir);
}

static int is_pid(const struct dirent *entry)
{
	return isdigit((unsigned char)entry->d_name[0]);
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

struct thread *threads_read(const struct pool *pool, size_t *nr)
{
	struct thread *threads = NULL;
	struct dirent **names;
	int i, proc, nr_names;
	char path[4096];

	snprintf(path, sizeof(path), "%s/proc", opt.root);
	proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	nr_names = proc < 0 ? -1 :
		   scandirat(proc, ".", &names, is_pid, by_number);
	if (nr_names < 0)
		die(STATUS_ERROR, "cannot read %s: %s", safe(path),
		    error_words(errno));
	*nr = 0;
	for (i = 0; i < nr_names; i++) {
		thread_add(&threads, nr, proc, names[i]->d_name, pool);
		free(names[i]);
	}
	free(names);
	close(proc);
	return threads;
}

void threads_free(struct thread *threads, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		free(threads[i].runs);
		free(threads[i].sleeps);
	}
	free(threads);
}
