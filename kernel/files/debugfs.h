/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables in debugfs. */
#ifndef _ANTS_DEBUGFS_H
#define _ANTS_DEBUGFS_H

struct ants_pool;
struct ants_row;
struct ants_walker;
struct list_head;
struct seq_file;

/* A list shows at most so many entries of a pool, and then how many are left. */
#define ANTS_DEBUGFS_MOST	1024U

/**
 * struct ants_table - a file
 * @name: its name
 * @head: its columns behind the name of the pool
 * @show: prints what it says about a pool
 * @nr: how long the lists are of which it shows the entries; else NULL
 * @see: makes a row of an entry
 * @print: prints a row
 */
struct ants_table {
	const char *name;
	const char *head;
	void (*show)(struct ants_pool *pool);
	unsigned int (*nr)(const struct ants_pool *pool);
	void (*see)(struct ants_walker *walker, struct list_head *entry);
	void (*print)(struct seq_file *seq, const struct ants_row *row);
};

enum {
	ANTS_SUMMARY,
	ANTS_WORKERS,
	ANTS_WAITERS,
	ANTS_PENDING,
	ANTS_NR_TABLES
};

void ants_debugfs_init(void);
void ants_debugfs_exit(void);

/* For tests, too. */
extern const struct ants_table ants_tables[ANTS_NR_TABLES];
extern const struct seq_operations ants_tables_sops;

#endif /* _ANTS_DEBUGFS_H */
