// SPDX-License-Identifier: GPL-2.0-only
/* The threads of a pool, and what they run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "antstat.h"

static const struct column columns[] = {
	{ "pid", false }, { "state", true }, { "cpu", false },
	{ "time", false }, { "runs", true }, { "sleeps in", true }, {},
};

static const char *state_name(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "blocked";
	case 'I':
		return "idle";
	case 'T':
	case 't':
		return "stopped";
	default:
		return "?";
	}
}

/*
 * A thread without a function on its stack is one that waits for a task, or one
 * that is on a CPU right now: then nobody can see its stack.
 */
static const char *runs(const struct thread *thread)
{
	if (thread->runs)
		return safe(thread->runs);
	if (thread->stack || thread->state == 'R')
		return "?";
	return "-";
}

static void print_threads(const struct thread *threads, size_t nr)
{
	struct table table = { .columns = columns };
	const struct thread *t;

	for (t = threads; t < threads + nr; t++) {
		table_cell(&table, "%lu", t->pid);
		table_cell(&table, "%s", state_name(t->state));
		table_cell(&table, "%lu", t->cpu);
		table_cell(&table, "%.2f", t->seconds);
		table_cell(&table, "%s", runs(t));
		table_cell(&table, "%s", t->sleeps ? safe(t->sleeps) : "-");
	}
	table_print(&table, true);
	table_free(&table);
}

static void print_json_or_null(const char *key, const char *text)
{
	printf(",\"%s\":", key);
	if (text)
		print_json_string(text);
	else
		fputs("null", stdout);
}

static void print_threads_json(const struct pool *pool,
			       const struct thread *threads, size_t nr)
{
	const struct thread *t;

	fputs("{\"name\":", stdout);
	print_json_string(pool->name);
	fputs(",\"workers\":[", stdout);
	for (t = threads; t < threads + nr; t++) {
		printf("%s{\"pid\":%lu,\"state\":\"%s\",\"cpu\":%lu,\"time\":%.2f",
		       t == threads ? "" : ",", t->pid, state_name(t->state),
		       t->cpu, t->seconds);
		print_json_or_null("runs", t->runs);
		print_json_or_null("sleeps_in", t->sleeps);
		putchar('}');
	}
	puts("]}");
}

/* What cannot be seen is said, so that nobody takes it for nothing. */
static void say_unseen(const struct pool *pool, const struct thread *threads,
		       size_t nr)
{
	const struct value *running = &pool->value[F_RUNNING];

	if (!nr && running->type == VALUE_NUMBER && running->number)
		say("pool %s has %llu threads, and /proc shows none of them; "
		    "it shows kernel threads to the initial PID namespace alone",
		    safe(pool->name), running->number);
	if (nr && (threads->stack == EACCES || threads->stack == EPERM))
		say("what the threads run is for root to see: /proc/%lu/stack: %s",
		    threads->pid, error_words(threads->stack));
	else if (nr && threads->stack == ENOENT)
		say("this kernel shows no stacks (CONFIG_STACKTRACE), nor what the threads run");
}

/* What ants itself tells, if it does. */
static bool print_debugfs(const struct pool *pool)
{
	char path[4096], *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/sys/kernel/debug/ants/%s/workers",
		 opt.root, pool->name);
	file = fopen(path, "re");
	if (!file) {
		say("there is no %s that could be read: the threads are from /proc",
		    safe(path));
		return false;
	}
	while ((len = getline(&line, &size, file)) > 0) {
		line[len - (line[len - 1] == '\n')] = '\0';
		puts(safe(line));
	}
	free(line);
	fclose(file);
	return true;
}

int show_workers(void)
{
	struct thread *threads;
	struct snapshot snap;
	size_t nr;

	opt.pools[0] = opt.workers;
	opt.nr_pools = 1;
	snapshot_read(&snap);
	if (opt.json || !print_debugfs(snap.pools)) {
		threads = threads_read(snap.pools, &nr);
		if (opt.json)
			print_threads_json(snap.pools, threads, nr);
		else
			print_threads(threads, nr);
		say_unseen(snap.pools, threads, nr);
		threads_free(threads, nr);
	}
	write_out();
	snapshot_free(&snap);
	return STATUS_OK;
}
