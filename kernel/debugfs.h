/* SPDX-License-Identifier: GPL-2.0-only */
/* The files in debugfs. */
#ifndef _ANTS_DEBUGFS_H
#define _ANTS_DEBUGFS_H

struct ants_multi;
struct ants_pool;
struct seq_file;

/* A file shows at most so many lines, and then how many are left. */
#define ANTS_DEBUGFS_MOST	1024U
/* The table of all pools; it stands among the directories of the pools. */
#define ANTS_DEBUGFS_SUMMARY	"summary"

void ants_debugfs_init(void);
void ants_debugfs_exit(void);
void ants_debugfs_add(struct ants_pool *pool);
void ants_debugfs_del(struct ants_pool *pool);
void ants_multi_debugfs_add(struct ants_multi *multi);
void ants_multi_debugfs_del(struct ants_multi *multi);

/* What the files show; for tests, too. */
int ants_workers_show(struct seq_file *seq, void *unused);
int ants_waiters_show(struct seq_file *seq, void *unused);
int ants_pending_show(struct seq_file *seq, void *unused);
int ants_summary_show(struct seq_file *seq, void *unused);

#endif /* _ANTS_DEBUGFS_H */
