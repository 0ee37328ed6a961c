// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: ants/summary has a line for each pool; ants/workers, ants/waiters and
 * ants/pending list the workers, waiters and pending tasks of all pools by their
 * functions. A reader collects as many lines as one lock hold
 * allows, and prints them after it has dropped that lock. It holds
 * ants_registry_lock, so that the pool stays; a pool that is being destroyed is
 * in these files until its last task, thread and caller is gone.
 */
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/seq_file.h>

#include "../internal.h"

/* An unknown age. */
#define NO_AGE		ULONG_MAX
static struct dentry *root;

/**
 * struct table - a file: a line for each entry of some lists of a pool, or, if there
 * are none, a line for the pool
 * @name: its name
 * @head: its columns behind the name of the pool
 * @lists: where the lists are in struct ants_pool, and what is in them
 * @nr: how long they are together
 * @see: makes a row of an entry
 */
struct table {
	const char *name;
	const char *head;
	struct {
		const char *what;
		unsigned int offset;
	} lists[2];
	unsigned int (*nr)(const struct ants_pool *pool);
	void (*see)(struct ants_walker *walker, struct list_head *entry);
};

/**
 * struct ants_row - a line about an entry of a list
 * @func: the function that it is about, or 0
 * @inner: the function of the innermost task that runs inside that one, or 0
 * @ms: for how long that has been so, or NO_AGE
 * @what: the state of a worker, or the priority of a task
 * @pid: of a thread
 * @cpu: where it runs, or ran last
 * @comm: its name
 */
struct ants_row {
	unsigned long func;
	unsigned long inner;
	unsigned long ms;
	const char *what;
	pid_t pid;
	unsigned int cpu;
	char comm[TASK_COMM_LEN];
};

/**
 * struct shown - what the reader that holds ants_registry_lock is being shown
 * @seq: where to print; its private member is the number of the table
 * @what: the priority of the tasks in the list, or NULL
 * @nr: number of @rows that are to be printed
 * @rows: those of one lock hold
 */
static struct shown {
	struct seq_file *seq;
	const char *what;
	unsigned int nr;
	struct ants_row rows[ANTS_HOLD_MAX];
} shown;

static unsigned long ms_since(unsigned long when)
{
	return div_u64(jiffies64_to_nsecs(jiffies - when), NSEC_PER_MSEC);
}

/* Each line begins with the name of a pool. A longer one moves the columns after it. */
static void print_name(const char *name)
{
	seq_printf(shown.seq, "%-24s  ", name);
}

/* For how long a function, or 0 if there is none, has been where it is. */
static void print_func(unsigned long func, unsigned long ms)
{
	if (ms == NO_AGE)
		seq_printf(shown.seq, "%12s", "-");
	else
		seq_printf(shown.seq, "%12lu", ms);
	if (func)
		seq_printf(shown.seq, "  %ps", (void *)func);
	else
		seq_puts(shown.seq, "  -");
}

/* The lock is dropped: print what was collected, unless it does not fit. */
static bool print_rows(struct ants_walker *walker)
{
	struct seq_file *seq = shown.seq;
	const struct ants_row *row;
	long table = (long)seq->private;

	for (row = shown.rows; row < shown.rows + shown.nr; row++) {
		print_name(walker->pool->name);
		if (table != ANTS_PENDING)
			seq_printf(seq, "%7d  ", row->pid);
		if (table == ANTS_WORKERS)
			seq_printf(seq, "%-7s  %3u", row->what, row->cpu);
		else
			seq_printf(seq, "%-6s", row->what);
		print_func(row->func, row->ms);
		if (row->inner)
			seq_printf(seq, " > %ps", (void *)row->inner);
		/* A program can give itself any name. */
		if (table == ANTS_WAITERS)
			seq_printf(seq, "  (%*pE)", (int)strlen(row->comm),
				   row->comm);
		seq_putc(seq, '\n');
	}
	shown.nr = 0;
	return !seq_has_overflowed(seq);
}

static void see_worker(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);
	static const char * const states[] = {
		[ANTS_NEW] = "new",
		[ANTS_IDLE] = "idle",
		[ANTS_WAKING] = "waking",
		[ANTS_BUSY] = "busy",
		[ANTS_LEAVING] = "leaving",
	};
	unsigned long func = ants_worker_func(w), ms = NO_AGE;

	if (w->state == ANTS_IDLE)
		ms = ms_since(w->idle_since);
	else if (func && w->pool->timed & ANTS_TIMED_ALL)
		ms = ants_clock_ms(ants_clock() - ants_time_started(w));
	shown.rows[shown.nr++] = (struct ants_row){
		.func = func, .ms = ms, .what = states[w->state],
		.inner = w->depth ? w->inner[w->depth - 1].func_addr : 0,
		.pid = task_pid_nr(w->task), .cpu = task_cpu(w->task),
	};
}

static void see_waiter(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_waiter *waiter = list_entry(entry, struct ants_waiter,
						      node);
	struct ants_row *row = &shown.rows[shown.nr++];
	const void *data;

	*row = (struct ants_row){
		.func = ants_waiter_func(waiter, &data), .what = shown.what,
		.ms = ms_since(waiter->since), .pid = task_pid_nr(waiter->task),
	};
	strscpy(row->comm, waiter->task->comm, sizeof(row->comm));
}

static void see_pending(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_slot *slot = list_entry(entry, struct ants_slot,
						  node);

	shown.rows[shown.nr++] = (struct ants_row){
		.func = ants_task_func(slot->fn, slot->data), .what = shown.what,
		.ms = slot->tag & ANTS_TAG_TIMED ?
		      ants_clock_ms((u32)(ants_clock() - slot->stamp)) : NO_AGE,
	};
}

/**
 * struct longest - the function that has run for the longest time of those that run now
 * @walker: the walk over the workers
 * @func: that function, or 0
 * @time: for how long, by the clock
 */
struct longest {
	struct ants_walker walker;
	unsigned long func;
	u64 time;
};

static void see_running(struct ants_walker *walker, struct list_head *entry)
{
	struct longest *longest = container_of(walker, struct longest, walker);
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);
	u64 time;

	if (!w->fn || !(w->pool->timed & ANTS_TIMED_ALL))
		return;
	time = ants_clock() - ants_time_started(w);
	if (longest->func && time <= longest->time)
		return;
	longest->time = time;
	longest->func = ants_worker_func(w);
}

/* Find that function, if times are taken. */
unsigned long ants_longest_ms(struct ants_pool *pool, unsigned long *func)
{
	struct longest longest = { .walker.see = see_running };

	if (READ_ONCE(pool->timed) & ANTS_TIMED_ALL)
		ants_walk(pool, &pool->workers.list, UINT_MAX, &longest.walker);
	*func = longest.func;
	return ants_clock_ms(longest.time);
}

/* The numbers are of the same moment. */
static void show_numbers(struct seq_file *seq, struct ants_pool *pool)
{
	unsigned long func, ms = ants_longest_ms(pool, &func);
	struct ants_stats s;

	ants_pool_stats(pool, &s);
	seq_printf(seq, "%-8s", ants_state(pool));
	if (s.capacity == ANTS_UNLIMITED)
		seq_puts(seq, "       max");
	else
		seq_printf(seq, "%10u", s.capacity);
	seq_printf(seq, "%8u%6u%6u%9u%9u%13llu%10llu", s.running, s.idle,
		   s.busy, s.pending, s.waiting, s.completed, s.rejected);
	print_func(func, func ? ms : NO_AGE);
	seq_putc(seq, '\n');
}

#define LIST(_what, _field)						\
	{ .what = _what, .offset = offsetof(struct ants_pool, _field) }

static const struct table tables[] = {
	[ANTS_SUMMARY] = {
		.name = "summary",
		.head =
			"state     capacity running  idle  busy  pending  waiting    completed  rejected  longest ms  runs longest",
	},
	[ANTS_WORKERS] = {
		.name = "workers",
		.head = "    pid  state    cpu          ms  runs",
		.lists = { LIST(NULL, workers.list) },
		.nr = ants_nr_running,
		.see = see_worker,
	},
	[ANTS_WAITERS] = {
		.name = "waiters",
		.head = "    pid  prio            ms  waits to submit  (caller)",
		.lists = {
			LIST("high", waiters.fifo[ANTS_PRIO_HIGH]),
			LIST("normal", waiters.fifo[ANTS_PRIO_NORMAL]),
		},
		.nr = ants_nr_waiting,
		.see = see_waiter,
	},
	[ANTS_PENDING] = {
		.name = "pending",
		.head = "prio            ms  is pending",
		.lists = {
			LIST("high", urgent.list), LIST("normal", pending),
		},
		.nr = ants_nr_pending,
		.see = see_pending,
	},
};

static void *tables_start(struct seq_file *seq, loff_t *pos)
{
	mutex_lock(&ants_registry_lock);
	return seq_list_start_head(&ants_pools, *pos);
}

static void *tables_next(struct seq_file *seq, void *entry, loff_t *pos)
{
	return seq_list_next(entry, &ants_pools, pos);
}

static void tables_stop(struct seq_file *seq, void *entry)
{
	mutex_unlock(&ants_registry_lock);
}

/* Print what a table says about one pool; and its head, in front of the first one. */
static int tables_show(struct seq_file *seq, void *entry)
{
	const struct table *table = &tables[(long)seq->private];
	struct ants_pool *pool = list_entry(entry, struct ants_pool, registered);
	struct ants_walker walker = { .see = table->see, .rest = print_rows };
	unsigned int i, nr, seen = 0;

	shown.seq = seq;
	if (entry == &ants_pools) {
		print_name("pool");
		seq_printf(seq, "%s\n", table->head);
		return 0;
	}
	if (!table->see) {
		print_name(pool->name);
		show_numbers(seq, pool);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(table->lists) && table->lists[i].offset; i++) {
		shown.what = table->lists[i].what;
		seen += ants_walk(pool, (void *)((u8 *)pool + table->lists[i].offset),
				  ANTS_DEBUGFS_MOST - seen, &walker);
	}
	/* The lists may have become longer or shorter meanwhile. */
	nr = table->nr(pool);
	if (seen == ANTS_DEBUGFS_MOST && nr > ANTS_DEBUGFS_MOST) {
		print_name(pool->name);
		seq_printf(seq, "... and %u more\n", nr - ANTS_DEBUGFS_MOST);
	}
	return 0;
}

const struct seq_operations ants_tables_sops = {
	.start = tables_start,
	.next = tables_next,
	.stop = tables_stop,
	.show = tables_show,
};
EXPORT_SYMBOL_FOR_TESTS(ants_tables_sops);

DEFINE_SEQ_ATTRIBUTE(ants_tables);

/* Without debugfs, or without memory, there are no files; all else works. */
void ants_debugfs_init(void)
{
	long i;

	root = debugfs_create_dir("ants", NULL);
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		debugfs_create_file(tables[i].name, 0400, root, (void *)i,
				    &ants_tables_fops);
}

void ants_debugfs_exit(void)
{
	debugfs_remove(root);
}
