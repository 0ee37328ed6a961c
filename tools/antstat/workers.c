// SPDX-License-Identifier: GPL-2.0-only
/* The threads of a pool, and what they run. */
#include <errno.h>
#include <stdio.h>

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
 * A thread with nothing but ants on its stack is one that waits for a task. The
 * stack of a thread that is on a CPU right now cannot be seen.
 */
static bool is_known(const struct thread *thread)
{
	return thread->known && thread->state != 'R';
}

/* @text is a function of @thread, or NULL. */
static const char *function(const struct thread *thread, const char *text)
{
	if (text)
		return safe(text);
	return is_known(thread) ? "-" : "?";
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
		table_cell(&table, "%s", function(t, t->runs));
		table_cell(&table, "%s", function(t, t->sleeps));
	}
	table_print(&table, true);
	table_free(&table);
}

/* Null is what is not known, and "" no function. */
static void print_function_json(const struct thread *thread, const char *key,
				const char *text)
{
	printf(",\"%s\":", key);
	if (text || is_known(thread))
		print_json_string(text ? text : "");
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
		print_function_json(t, "runs", t->runs);
		print_function_json(t, "sleeps_in", t->sleeps);
		putchar('}');
	}
	puts("]}");
}

static const struct thread *first_denied(const struct thread *threads, size_t nr)
{
	const struct thread *t;

	for (t = threads; t < threads + nr; t++)
		if (t->stack == EACCES || t->stack == EPERM)
			return t;
	return NULL;
}

/* A thread that has just ended has no stack either: one alone says nothing. */
static bool all_without_stack(const struct thread *threads, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (threads[i].stack != ENOENT)
			return false;
	return nr;
}

/* Say what cannot be seen, so that it is not taken for nothing. */
static void say_unseen(const struct pool *pool, const struct thread *threads,
		       size_t nr)
{
	const struct value *running = &pool->value[F_RUNNING];
	const struct thread *denied = first_denied(threads, nr);

	if (!nr && running->type == VALUE_NUMBER && running->number)
		say("pool %s has %llu threads, and /proc shows none of them; "
		    "it shows kernel threads to the initial PID namespace alone",
		    safe(pool->name), running->number);
	if (denied)
		say("what the threads run is for root to see: /proc/%lu/stack: %s",
		    denied->pid, error_words(denied->stack));
	else if (all_without_stack(threads, nr))
		say("this kernel shows no stacks (CONFIG_STACKTRACE), nor what the threads run");
}

int show_workers(void)
{
	struct thread *threads;
	struct snapshot snap;
	size_t nr;

	opt.pools[0] = opt.workers;
	opt.nr_pools = 1;
	snapshot_read(&snap);
	threads = threads_read(snap.pools, &nr);
	if (opt.json)
		print_threads_json(snap.pools, threads, nr);
	else
		print_threads(threads, nr);
	say_unseen(snap.pools, threads, nr);
	threads_free(threads, nr);
	write_out();
	snapshot_free(&snap);
	return STATUS_OK;
}
