// SPDX-License-Identifier: GPL-2.0-only
/* Reports that are made once, or again and again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "antstat.h"

#define LINES_PER_HEAD	22

static const struct column columns[] = {
	{ "pool", true }, { "state", true }, { "capacity", false },
	{ "running", false }, { "idle", false }, { "busy", false },
	{ "pending", false }, { "waiting", false }, { "completed", false },
	{ "rejected", false }, {},
};

static const enum field column_fields[] = {
	F_STATE, F_CAPACITY, F_RUNNING, F_IDLE, F_BUSY, F_PENDING, F_WAITING,
	F_COMPLETED, F_REJECTED,
};

static const struct column rate_columns[] = {
	{ "pool", true }, { "capacity", false }, { "running", false },
	{ "idle", false }, { "busy", false }, { "pending", false },
	{ "waiting", false }, { "done/s", false }, { "block/s", false },
	{ "rej/s", false }, { "spawn/s", false }, {},
};

static const struct column time_columns[] = {
	{ "time", true },
	{ "pool", true }, { "capacity", false }, { "running", false },
	{ "idle", false }, { "busy", false }, { "pending", false },
	{ "waiting", false }, { "done/s", false }, { "block/s", false },
	{ "rej/s", false }, { "spawn/s", false }, {},
};

static const enum field gauge_fields[] = {
	F_CAPACITY, F_RUNNING, F_IDLE, F_BUSY, F_PENDING, F_WAITING,
};

static const enum field rate_fields[] = {
	F_COMPLETED, F_BLOCKED, F_REJECTED, F_SPAWNED,
};

static void add_values(struct table *table, const struct pool *pool,
		       const enum field *fields, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		table_value(table, pool, fields[i]);
}

static int status_of(const struct snapshot *snap)
{
	return snap->denied ? STATUS_NO_PERMISSION : STATUS_OK;
}

int show_table(void)
{
	struct table table = { .columns = columns };
	const struct pool **rows;
	struct snapshot snap;
	size_t i, nr;
	int status;

	snapshot_read(&snap);
	rows = snapshot_rows(&snap, &nr);
	for (i = 0; i < nr; i++) {
		table_cell(&table, "%s", safe(rows[i]->name));
		add_values(&table, rows[i], column_fields, ARRAY_SIZE(column_fields));
	}
	table_print(&table, true);
	write_out();
	status = status_of(&snap);
	table_free(&table);
	free(rows);
	snapshot_free(&snap);
	return status;
}

int show_json(void)
{
	struct snapshot snap;
	int status;

	snapshot_read(&snap);
	print_json(&snap);
	write_out();
	status = status_of(&snap);
	snapshot_free(&snap);
	return status;
}

static void add_time(struct table *table)
{
	time_t seconds = time(NULL);
	char text[32];

	strftime(text, sizeof(text), "%H:%M:%S", localtime(&seconds));
	table_cell(table, "%s", text);
}

static void add_row(struct table *table, const struct snapshot *then,
		    const struct pool *pool)
{
	size_t i;

	if (opt.time)
		add_time(table);
	table_cell(table, "%s", safe(pool->name));
	add_values(table, pool, gauge_fields, ARRAY_SIZE(gauge_fields));
	for (i = 0; i < ARRAY_SIZE(rate_fields); i++)
		table_cell(table, "%s", rate_text(then, pool, rate_fields[i]));
}

/* The names of the columns come again before they are out of sight. */
static void report(struct table *table, const struct snapshot *then,
		   const struct snapshot *snap)
{
	static size_t lines = LINES_PER_HEAD + 1;
	const struct pool **rows;
	size_t i, nr;

	rows = snapshot_rows(snap, &nr);
	for (i = 0; i < nr; i++)
		add_row(table, then, rows[i]);
	lines += nr;
	table_print(table, lines > LINES_PER_HEAD);
	if (lines > LINES_PER_HEAD)
		lines = nr;
	free(rows);
}

/* The next report does not come late for the time that this one took. */
static double sleep_from(double last)
{
	double due = last + opt.interval;
	struct timespec ts = { .tv_sec = due };

	ts.tv_nsec = (due - ts.tv_sec) * 1e9;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
	/* What is very late is not caught up with. */
	return now() - due < opt.interval ? due : now();
}

/* Each report says what changed since the one before. */
int show_reports(void)
{
	struct table table = { .columns = opt.time ? time_columns :
						     rate_columns };
	struct snapshot then = {}, snap;
	double last = now();
	bool denied = false;
	unsigned long i;

	for (i = 0; !opt.count || i < opt.count; i++) {
		if (i)
			last = sleep_from(last);
		snapshot_read(&snap);
		denied |= snap.denied;
		say_gone(&then, &snap);
		if (opt.json)
			print_json(&snap);
		else
			report(&table, &then, &snap);
		write_out();
		snapshot_free(&then);
		then = snap;
	}
	snapshot_free(&then);
	table_free(&table);
	return denied ? STATUS_NO_PERMISSION : STATUS_OK;
}
