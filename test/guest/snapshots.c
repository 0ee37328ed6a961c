// SPDX-License-Identifier: GPL-2.0-only
/*
 * snapshots: compare what the files of a pool say, again and again, with what must be
 * true of a pool without a queue whose tasks are not cancelled.
 *
 *	snapshots POOL NUMBER FILE	at least NUMBER times, until FILE is there
 *
 * The numbers in a line of debugfs' summary are of the same moment. The counters in
 * stats/ never fall: what is read before that moment is not larger than it was then,
 * what is read behind it not smaller. If two lines are equal, and no task was accepted
 * and no thread made or woken in vain from before the first one until behind the second
 * one, then nothing has changed, and the list of threads that was read between them has
 * to agree with them.
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum counter { SUBMITTED, CANCELLED, SPAWNED, SPURIOUS, NR_COUNTERS };

static const char * const counter_files[] = {
	[SUBMITTED] = "submitted",
	[CANCELLED] = "cancelled",
	[SPAWNED] = "spawned",
	[SPURIOUS] = "spurious_wakeups",
};

/* The pool's line of summary. */
struct line {
	char text[200];
	unsigned int capacity, running, idle, busy, pending, waiting;
	unsigned long long completed;
};

/* The threads that are listed. */
struct threads {
	unsigned int nr, idle, busy;
};

static const char *pool;
static int counters[NR_COUNTERS], summary, workers;

static unsigned int nr, nr_changed, nr_unchanged, nr_arriving, nr_waiting;
static unsigned int nr_wrong;

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void open_files(void)
{
	char path[300];
	int i;

	for (i = 0; i < NR_COUNTERS; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/ants/%s/stats/%s",
			 pool, counter_files[i]);
		counters[i] = open_file(path);
	}
	workers = open_file("/sys/kernel/debug/ants/workers");
	summary = open_file("/sys/kernel/debug/ants/summary");
}

/* The whole text as it is now. */
static const char *read_text(int fd)
{
	static char text[16384];
	size_t len = 0;
	ssize_t ret;

	while (len < sizeof(text) - 1 &&
	       (ret = pread(fd, text + len, sizeof(text) - 1 - len, len)) > 0)
		len += ret;
	if (!len)
		err(1, "a file of pool %s is empty", pool);
	text[len] = '\0';
	return text;
}

static void read_counters(unsigned long long *values)
{
	int i;

	for (i = 0; i < NR_COUNTERS; i++)
		values[i] = strtoull(read_text(counters[i]), NULL, 10);
}

/* The first line at @text or below that is about the pool, or NULL. */
static const char *find_row(const char *text)
{
	size_t len = strlen(pool);

	while (text && (strncmp(text, pool, len) || text[len] != ' ')) {
		text = strchr(text, '\n');
		text += !!text;
	}
	return text;
}

static void read_line(struct line *line)
{
	const char *text = find_row(read_text(summary));

	if (!text)
		errx(1, "no pool %s in summary", pool);
	snprintf(line->text, sizeof(line->text), "%.*s",
		 (int)strcspn(text, "\n"), text);
	if (sscanf(text, "%*s open %u %u %u %u %u %u %llu", &line->capacity,
		   &line->running, &line->idle, &line->busy, &line->pending,
		   &line->waiting, &line->completed) != 7)
		errx(1, "unknown line: %s", line->text);
}

static void must(bool holds, const char *what, const struct line *line)
{
	if (holds)
		return;
	nr_wrong++;
	printf("snapshot %u: not so: %s: %s\n", nr, what, line->text);
}

/* A thread has a function if, and only if, it is busy. */
static void read_threads(struct threads *threads, const struct line *line)
{
	const char *text = find_row(read_text(workers));
	char state[16], function[2];

	memset(threads, 0, sizeof(*threads));
	for (; text; text = find_row(strchr(text, '\n'))) {
		if (sscanf(text, "%*s %*d %15s %*u %*s %1s", state, function) != 2)
			errx(1, "unknown thread: %s", text);
		threads->nr++;
		threads->idle += !strcmp(state, "idle");
		threads->busy += !strcmp(state, "busy");
		must(!strcmp(state, "busy") == (*function != '-'),
		     "who has a function is busy", line);
	}
}

/* The capacity, or the threads that there were when it was lowered. */
static unsigned int most_threads(const struct line *line, const struct line *last)
{
	unsigned int most = line->capacity == last->capacity ? last->running :
							      last->capacity;

	return most > line->capacity ? most : line->capacity;
}

static void judge_line(const struct line *line)
{
	static struct line last;

	must(line->idle + line->busy <= line->running,
	     "running = idle + busy + arriving", line);
	must(line->running <= most_threads(line, &last),
	     "there are no more threads than the capacity", line);
	must(line->completed >= last.completed, "completed never falls", line);
	must(!line->waiting || line->pending || line->busy >= line->capacity,
	     "nobody waits while there is room", line);
	nr_arriving += line->idle + line->busy < line->running;
	nr_waiting += line->waiting > 0;
	nr_changed += !!strcmp(line->text, last.text);
	last = *line;
}

static void judge_threads(const struct threads *threads, const struct line *line)
{
	nr_unchanged++;
	must(threads->idle == line->idle, "the idle threads are listed", line);
	must(threads->busy == line->busy, "the busy threads are listed", line);
	/* One that is being made is not in the list yet. */
	must(threads->nr <= line->running, "all listed threads are running", line);
}

static unsigned long long sum(const struct line *line)
{
	return line->completed + line->busy + line->pending;
}

static void take_snapshot(void)
{
	unsigned long long before[NR_COUNTERS], behind[NR_COUNTERS];
	struct line first, second;
	struct threads threads;

	nr++;
	read_counters(before);
	read_line(&first);
	read_threads(&threads, &first);
	read_line(&second);
	read_counters(behind);
	judge_line(&first);
	judge_line(&second);
	must(!behind[CANCELLED], "no task is cancelled", &second);
	must(before[SUBMITTED] <= sum(&first) && sum(&second) <= behind[SUBMITTED],
	     "submitted = completed + busy + pending", &second);
	if (!strcmp(first.text, second.text) &&
	    !memcmp(before, behind, sizeof(before)))
		judge_threads(&threads, &second);
}

int main(int argc, char **argv)
{
	unsigned int wanted;

	if (argc != 4)
		errx(2, "usage: snapshots POOL NUMBER FILE");
	pool = argv[1];
	wanted = atoi(argv[2]);
	open_files();
	while (!nr_wrong && (nr < wanted || access(argv[3], F_OK)))
		take_snapshot();
	printf("%u snapshots, %u different from the one before, %u while nothing changed\n",
	       nr, nr_changed, nr_unchanged);
	printf("%u with arriving threads, %u with waiters, %u wrong\n",
	       nr_arriving, nr_waiting, nr_wrong);
	return nr_wrong || nr_changed < wanted / 50 ||
	       nr_unchanged < wanted / 10 || !nr_arriving || !nr_waiting;
}
