// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: ants/summary has a line for each pool, and ants/<pool>/ lists its
 * workers, waiters and pending tasks by their functions. A reader collects as
 * many lines as one hold of the lock allows, and prints them after it has
 * dropped the lock. A pool that is being destroyed has these files until its
 * last task, thread and caller is gone.
 */
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "internal.h"
#include "debugfs.h"
#include "multi.h"
#include "walk.h"

/* An unknown age. */
#define NO_AGE		ULONG_MAX
/* A longer name moves the columns after it to the right. */
#define NAME_WIDTH	24

static struct dentry *root;

/**
 * struct row - a line of a file
 * @func: the function that it is about, or 0
 * @inner: the function of the innermost task that runs inside that one, or 0
 * @ms: for how long that has been so, or NO_AGE
 * @what: the state of a worker, or the priority of a task
 * @pid: of a thread
 * @cpu: where it runs, or ran last
 * @comm: its name
 */
struct row {
	unsigned long func;
	unsigned long inner;
	unsigned long ms;
	const char *what;
	pid_t pid;
	unsigned int cpu;
	char comm[TASK_COMM_LEN];
};

struct view;

/**
 * struct table - a file that is being read
 * @walker: the walk over a list
 * @view: what file it is
 * @seq: where to print
 * @pool: the pool
 * @what: the priority of the tasks in that list
 * @seen: number of lines of the whole file
 * @nr: number of @rows that are to be printed
 * @rows: those of one hold
 */
struct table {
	struct ants_walker walker;
	const struct view *view;
	struct seq_file *seq;
	struct ants_pool *pool;
	const char *what;
	unsigned int seen;
	unsigned int nr;
	struct row rows[ANTS_HOLD_MAX];
};

/**
 * struct view - a file
 * @head: its first line
 * @walk: walks over the lists that it is about
 * @nr: how long these are
 * @see: makes a row of an entry
 * @print: prints a row
 */
struct view {
	const char *head;
	void (*walk)(struct table *table);
	unsigned int (*nr)(const struct ants_pool *pool);
	void (*see)(struct ants_walker *walker, struct list_head *entry);
	void (*print)(struct seq_file *seq, const struct row *row);
};

static const char * const prio_names[] = {
	[ANTS_PRIO_NORMAL] = "normal",
	[ANTS_PRIO_HIGH] = "high",
};

static unsigned long ms_since(unsigned long when)
{
	return div_u64(jiffies64_to_nsecs(jiffies - when), NSEC_PER_MSEC);
}

/* Print the age of a row, or "-" if it is unknown. */
static void print_age(struct seq_file *seq, const struct row *row)
{
	if (row->ms == NO_AGE)
		seq_printf(seq, "%12s", "-");
	else
		seq_printf(seq, "%12lu", row->ms);
}

/* The functions, the outer one first. */
static void print_func(struct seq_file *seq, const struct row *row)
{
	if (!row->func)
		seq_puts(seq, "  -");
	else
		seq_printf(seq, "  %ps", (void *)row->func);
	if (row->inner)
		seq_printf(seq, " > %ps", (void *)row->inner);
}

/* The lock is dropped: print what was collected, unless it does not fit. */
static bool print_rows(struct ants_walker *walker)
{
	struct table *table = container_of(walker, struct table, walker);
	unsigned int i;

	for (i = 0; i < table->nr; i++) {
		table->view->print(table->seq, &table->rows[i]);
		seq_putc(table->seq, '\n');
	}
	table->nr = 0;
	return !seq_has_overflowed(table->seq);
}

static bool is_timed(const struct ants_walker *walker)
{
	const struct table *table = container_of(walker, struct table, walker);

	return table->pool->timed & ANTS_TIMED_COUNT;
}

static struct row *next_row(struct ants_walker *walker)
{
	struct table *table = container_of(walker, struct table, walker);
	struct row *row = &table->rows[table->nr++];

	memset(row, 0, sizeof(*row));
	row->ms = NO_AGE;
	row->what = table->what;
	return row;
}

static void row_of_task(struct row *row, const struct task_struct *task)
{
	row->pid = task_pid_nr((struct task_struct *)task);
	row->cpu = task_cpu(task);
	strscpy(row->comm, task->comm, sizeof(row->comm));
}

static void table_walk(struct table *table, struct list_head *list)
{
	table->seen += ants_walk(table->pool, list,
				 ANTS_DEBUGFS_MOST - table->seen,
				 &table->walker);
}

/* The same for the list of one priority. */
static void table_walk_prio(struct table *table, struct list_head *list,
			    enum ants_prio prio)
{
	table->what = prio_names[prio];
	table_walk(table, list);
}

/* The lists may have become longer or shorter meanwhile. */
static void print_rest(const struct table *table)
{
	unsigned int nr = table->view->nr(table->pool);

	if (table->seen == ANTS_DEBUGFS_MOST && nr > ANTS_DEBUGFS_MOST)
		seq_printf(table->seq, "... and %u more\n",
			   nr - ANTS_DEBUGFS_MOST);
}

static int show_view(struct seq_file *seq, const struct view *view)
{
	struct table *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return -ENOMEM;
	table->walker.see = view->see;
	table->walker.rest = print_rows;
	table->view = view;
	table->seq = seq;
	table->pool = seq->private;
	seq_puts(seq, view->head);
	view->walk(table);
	print_rest(table);
	kfree(table);
	return 0;
}

static const char *worker_state(const struct ants_worker *w)
{
	static const char * const names[] = {
		[ANTS_NEW] = "new",
		[ANTS_IDLE] = "idle",
		[ANTS_WAKING] = "waking",
		[ANTS_BUSY] = "busy",
		[ANTS_LEAVING] = "leaving",
	};

	return names[w->state];
}

static void see_worker(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);
	struct row *row = next_row(walker);

	row_of_task(row, w->task);
	row->what = worker_state(w);
	row->func = ants_worker_func(w);
	if (w->depth)
		row->inner = w->estate->inner[w->depth - 1].func_addr;
	if (w->state == ANTS_IDLE)
		row->ms = ms_since(w->idle_since);
	else if (row->func && is_timed(walker))
		row->ms = ants_clock_ms(ants_clock() - ants_time_started(w));
}

static void print_worker(struct seq_file *seq, const struct row *row)
{
	seq_printf(seq, "%7d  %-7s  %3u", row->pid, row->what, row->cpu);
	print_age(seq, row);
	print_func(seq, row);
}

static void walk_workers(struct table *table)
{
	table_walk(table, &table->pool->workers.list);
}

int ants_workers_show(struct seq_file *seq, void *unused)
{
	static const struct view view = {
		.head = "    pid  state    cpu          ms  runs\n",
		.walk = walk_workers,
		.nr = ants_nr_running,
		.see = see_worker,
		.print = print_worker,
	};

	return show_view(seq, &view);
}
EXPORT_SYMBOL_FOR_TESTS(ants_workers_show);

static void see_waiter(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_waiter *waiter = list_entry(entry, struct ants_waiter,
						      node);
	struct row *row = next_row(walker);
	const void *data;

	row_of_task(row, waiter->task);
	row->func = ants_waiter_func(waiter, &data);
	row->ms = ms_since(waiter->since);
}

static void print_waiter(struct seq_file *seq, const struct row *row)
{
	seq_printf(seq, "%7d  %-6s", row->pid, row->what);
	print_age(seq, row);
	print_func(seq, row);
	/* A program can give itself any name. */
	seq_printf(seq, "  (%*pE)", (int)strlen(row->comm), row->comm);
}

static void walk_waiters(struct table *table)
{
	struct list_head *fifo = table->pool->waiters.fifo;

	table_walk_prio(table, &fifo[ANTS_PRIO_HIGH], ANTS_PRIO_HIGH);
	table_walk_prio(table, &fifo[ANTS_PRIO_NORMAL], ANTS_PRIO_NORMAL);
}

int ants_waiters_show(struct seq_file *seq, void *unused)
{
	static const struct view view = {
		.head = "    pid  prio            ms  waits to submit  (caller)\n",
		.walk = walk_waiters,
		.nr = ants_nr_waiting,
		.see = see_waiter,
		.print = print_waiter,
	};

	return show_view(seq, &view);
}
EXPORT_SYMBOL_FOR_TESTS(ants_waiters_show);

static void see_pending(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_slot *slot = list_entry(entry, struct ants_slot,
						  node);
	struct row *row = next_row(walker);

	row->func = ants_task_func(slot->fn, slot->data);
	if (is_timed(walker))
		row->ms = ants_clock_ms((u32)(ants_clock() - slot->stamp));
}

static void print_pending(struct seq_file *seq, const struct row *row)
{
	seq_printf(seq, "%-6s", row->what);
	print_age(seq, row);
	print_func(seq, row);
}

static void walk_pending(struct table *table)
{
	struct ants_pool *pool = table->pool;

	table_walk_prio(table, &pool->urgent.list, ANTS_PRIO_HIGH);
	table_walk_prio(table, &pool->pending, ANTS_PRIO_NORMAL);
}

int ants_pending_show(struct seq_file *seq, void *unused)
{
	static const struct view view = {
		.head = "prio            ms  is pending\n",
		.walk = walk_pending,
		.nr = ants_nr_pending,
		.see = see_pending,
		.print = print_pending,
	};

	return show_view(seq, &view);
}
EXPORT_SYMBOL_FOR_TESTS(ants_pending_show);

static void print_bound(struct seq_file *seq, unsigned int bound)
{
	if (bound == ANTS_UNLIMITED)
		seq_puts(seq, "       max");
	else
		seq_printf(seq, "%10u", bound);
}

static void print_pool(struct seq_file *seq, struct ants_pool *pool)
{
	struct ants_longest longest;
	struct ants_stats s;

	ants_longest(pool, &longest);
	ants_pool_stats(pool, &s);
	seq_printf(seq, "%-*s  %-8s", NAME_WIDTH, pool->name,
		   ants_state(pool));
	print_bound(seq, s.capacity);
	seq_printf(seq, "%8u%6u%6u%9u%9u%13llu%10llu", s.running, s.idle,
		   s.busy, s.pending, s.waiting, s.completed, s.rejected);
	if (longest.func)
		seq_printf(seq, "%12lu  %ps\n", longest.ms,
			   (void *)longest.func);
	else
		seq_puts(seq, "           -  -\n");
}

/* The numbers of each line are of the same moment. */
int ants_summary_show(struct seq_file *seq, void *unused)
{
	struct ants_pool *pool;

	seq_printf(seq, "%-*s  %-8s  capacity running  idle  busy  pending  waiting    completed  rejected  longest ms  runs longest\n",
		   NAME_WIDTH, "pool", "state");
	mutex_lock(&ants_registry_lock);
	list_for_each_entry(pool, &ants_pools, registered)
		print_pool(seq, pool);
	mutex_unlock(&ants_registry_lock);
	return 0;
}
EXPORT_SYMBOL_FOR_TESTS(ants_summary_show);

DEFINE_SHOW_ATTRIBUTE(ants_workers);
DEFINE_SHOW_ATTRIBUTE(ants_waiters);
DEFINE_SHOW_ATTRIBUTE(ants_pending);
DEFINE_SHOW_ATTRIBUTE(ants_summary);

/* Without debugfs, or without memory, there are no files; all else works. */
void ants_debugfs_add(struct ants_pool *pool)
{
	const struct ants_multi *multi;

	if (pool->parent) {
		multi = container_of(pool->parent, struct ants_multi, kobj);
		pool->debug = debugfs_create_dir(kobject_name(&pool->kobj),
						 multi->debug);
	} else {
		pool->debug = debugfs_create_dir(pool->name, root);
	}
	debugfs_create_file("workers", 0400, pool->debug, pool,
			    &ants_workers_fops);
	debugfs_create_file("waiters", 0400, pool->debug, pool,
			    &ants_waiters_fops);
	debugfs_create_file("pending", 0400, pool->debug, pool,
			    &ants_pending_fops);
}

/* Waits for readers of the files. */
void ants_debugfs_del(struct ants_pool *pool)
{
	debugfs_remove(pool->debug);
}

/* A directory for those of the shards. */
void ants_multi_debugfs_add(struct ants_multi *multi)
{
	multi->debug = debugfs_create_dir(multi->name, root);
}

void ants_multi_debugfs_del(struct ants_multi *multi)
{
	debugfs_remove(multi->debug);
}

void ants_debugfs_init(void)
{
	root = debugfs_create_dir("ants", NULL);
	debugfs_create_file(ANTS_DEBUGFS_SUMMARY, 0400, root, NULL,
			    &ants_summary_fops);
}

void ants_debugfs_exit(void)
{
	debugfs_remove(root);
}
