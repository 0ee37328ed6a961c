/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables in debugfs. */
#ifndef _ANTS_DEBUGFS_H
#define _ANTS_DEBUGFS_H

struct ants_pool;
struct ants_walker;
struct list_head;
struct seq_file;

/* A list shows at most so many entries of a pool, and then how many are left. */
#define ANTS_DEBUGFS_MOST	1024U

/**
 * struct ants_table - a file: a line for each entry of some lists of a pool, or, if
 * there are none, a line for the pool
 * @name: its name
 * @head: its columns behind the name of the pool
 * @lists: where the lists are in struct ants_pool, and what is in them
 * @nr_lists: their number
 * @nr: how long they are together
 * @see: makes a row of an entry
 */
struct ants_table {
	const char *name;
	const char *head;
	struct {
		const char *what;
		unsigned int offset;
	} lists[2];
	unsigned int nr_lists;
	unsigned int (*nr)(const struct ants_pool *pool);
	void (*see)(struct ants_walker *walker, struct list_head *entry);
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
