/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * antstat: what the pools of ants are doing, and how to change them. What its
 * files share; antstat(8) describes the program.
 */
#ifndef _ANTSTAT_H
#define _ANTSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef unsigned long long u64;

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define __attribute(x)		__attribute__((x))
#define __printf(fmt, args)	__attribute(format(printf, fmt, args))
#define __noreturn		__attribute(noreturn)

/* Exit statuses, which antstat(8) promises. */
enum status {
	STATUS_OK,
	STATUS_ERROR,		/* the kernel refused, or something else failed */
	STATUS_USAGE,		/* the command line is wrong */
	STATUS_NOT_LOADED,	/* there is no /sys/kernel/ants */
	STATUS_NO_POOL,		/* no such pool, or it is gone */
	STATUS_NO_PERMISSION,
};

/**
 * struct options - what the command line says
 * @root: what stands before /sys and /proc, "" for the machine's own
 * @pools: the pools that are asked for, by name
 * @nr_pools: how many they are; 0 for all
 * @workers: the pool whose threads are asked for, or NULL
 * @interval: seconds between two reports
 * @count: how many reports, 0 for no end
 * @json: JSON instead of a table
 * @shards: a row for each shard of a sharded pool, too
 * @time: a column with the time of day
 */
struct options {
	const char *root;
	const char **pools;
	size_t nr_pools;
	const char *workers;
	double interval;
	unsigned long count;
	bool json;
	bool shards;
	bool time;
};

extern struct options opt;

/* --- say.c: messages ---------------------------------------------------------- */

#define HELD_LEN	512

extern char held_message[HELD_LEN];

void __printf(1, 2) say(const char *fmt, ...);
void __printf(2, 3) __noreturn die(enum status status, const char *fmt, ...);
const char *error_words(int err);
void write_out(void);

/* --- text.c: text of unknown origin -------------------------------------------- */

const char *safe(const char *text);
void print_json_string(const char *text);

/* --- tree.c: the files of the pools --------------------------------------------- */

/* In the order in which they are read: what ended never exceeds what was submitted. */
enum field {
	F_STATE, F_CAPACITY, F_QUEUE_DEPTH, F_MAX_BLOCKING, F_MIN_WORKERS,
	F_EXPIRY_MS, F_NONBLOCKING, F_NICE, F_SCHED, F_STALL_MS, F_MAX_FAULTS, F_CPULIST,
	F_NR_SHARDS, F_STRATEGY,
	F_RUNNING, F_IDLE, F_BUSY, F_PENDING, F_WAITING, F_FREE,
	F_PEAK_RUNNING, F_PEAK_BUSY, F_PEAK_PENDING, F_PEAK_WAITING,
	F_COMPLETED, F_CANCELLED, F_SUBMITTED, F_CALLER_RUNS, F_REJECTED,
	F_BLOCKED, F_SPAWNED, F_REAPED, F_SPURIOUS_WAKEUPS, F_STALLED, F_HELD_BACK,
	F_FAULTS, F_LOST, F_DIRTY, F_LAST_FAULT,
	F_NR
};

#define F_FIRST_STAT	F_RUNNING

#define FILE_MAX	4096	/* no file of sysfs is longer */

enum value_type {
	VALUE_ABSENT,		/* there is no such file */
	VALUE_BAD,		/* it cannot be read, or is not what it should be */
	VALUE_NUMBER,
	VALUE_MAX,		/* "max": no bound */
	VALUE_TEXT,
};

struct value {
	enum value_type type;
	bool negative;
	u64 number;
	char *text;
};

/**
 * struct pool - what was read about a pool, or a sharded pool
 * @name: its directory below /sys/kernel/ants
 * @ino: the directory's inode, another one if the pool was made again
 * @when: when it was read, in seconds of a clock that never goes back
 * @value: its files
 * @shards: those of a sharded pool
 * @nr_shards: how many were found
 */
struct pool {
	char *name;
	ino_t ino;
	double when;
	struct value value[F_NR];
	struct pool *shards;
	size_t nr_shards;
};

/* All pools that were asked for, each read at its own moment. */
struct snapshot {
	struct pool *pools;
	size_t nr;
	bool denied;
};

const char *field_key(enum field field);
int ants_dir(void);
int pool_dir(int dir, const char *name);
bool is_no_pool(int err);
bool is_there(int dir, const char *name, ino_t ino);
char *read_text(int dir, const char *file, size_t *len);
void snapshot_read(struct snapshot *snap);
void snapshot_free(struct snapshot *snap);
const struct pool **snapshot_rows(const struct snapshot *snap, size_t *nr);
const struct pool *find_pool(const struct snapshot *snap, const char *name);
void *xrealloc(void *p, size_t nr, size_t size);
double now(void);

/* --- table.c: columns -------------------------------------------------------------- */

struct column {
	const char *head;
	bool left;
};

/**
 * struct table - rows of text, in columns as wide as their widest text so far
 * @columns: the last one has no head
 * @width: of each column
 * @cells: of all rows that were not printed yet, one row after another
 * @nr: how many cells
 */
struct table {
	const struct column *columns;
	int *width;
	char **cells;
	size_t nr;
};

void __printf(2, 3) table_cell(struct table *table, const char *fmt, ...);
void table_value(struct table *table, const struct pool *pool,
		 enum field field);
void table_print(struct table *table, bool heads);
void table_free(struct table *table);

/* --- rate.c: two snapshots ------------------------------------------------------------ */

bool rate_of(const struct snapshot *then, const struct pool *pool,
	     enum field field, double *rate);
const char *rate_text(const struct snapshot *then, const struct pool *pool,
		      enum field field);
void say_gone(const struct snapshot *then, const struct snapshot *snap);

/* --- term.c: the full screen ------------------------------------------------------------ */

struct screen {
	int rows;
	int columns;
};

bool term_enter(void);
void term_leave(void);
bool term_entered(void);
void term_size(struct screen *screen);
bool term_wait(double until);

/* --- commands: each returns the exit status ---------------------------------------------- */

int show_table(void);
int show_json(void);
int show_workers(void);
int show_reports(void);
int show_top(void);
int set_file(const char *pool, const char *file, const char *text);

/* json.c */
void print_json(const struct snapshot *snap);

/* proc.c: the threads of a pool */

/**
 * struct thread - a thread of a pool, as /proc shows it
 * @pid: its process ID
 * @state: the letter of its state
 * @cpu: where it runs, or ran last
 * @seconds: of a CPU that it has used
 * @stack: an errno if the kernel stack cannot be read
 * @known: its stack was there and whole, so that no function means that it runs none
 * @runs: the function that the pool called, or NULL
 * @sleeps: the function that it waits in, or NULL
 */
struct thread {
	unsigned long pid;
	char state;
	unsigned long cpu;
	double seconds;
	int stack;
	bool known;
	char *runs;
	char *sleeps;
};

struct thread *threads_read(const struct pool *pool, size_t *nr);
void threads_free(struct thread *threads, size_t nr);

#endif /* _ANTSTAT_H */
