// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/ants/<pool>/ and /sys/kernel/ants/<multi>/: one value per file. A
 * store either changes the value, or returns an error and changes nothing. What
 * is no single value is in debugfs. The shards of a multi have the files of any
 * pool; the multi has those of them that say something of the whole, and two of
 * its own.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/kobject.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "multi/multi.h"

/* Where a value is. */
enum where {
	IN_POOL,
	/* the same, and a multi has such a file as well */
	IN_SHARDS,
	IN_STATS,
	/* in struct ants_affinity */
	IN_PLACE,
	/* only a multi has such a file */
	IN_MULTI,
};

/**
 * struct row - a file
 * @file: its name and mode, and the functions that show and store it
 * @in: which structure the value is in
 * @offset: where it is there; of the times of tasks, in struct ants_histograms
 * @get: if it is in no structure, returns the value of a pool
 * @set: what can be changed
 * @fixed: an administrator may not change it if the owner has set ANTS_FIXED
 * @bound: it is "max" instead of ANTS_UNLIMITED
 * @names: what the values are called, NULL for numbers
 */
struct row {
	struct kobj_attribute file;
	enum where in;
	unsigned int offset;
	s64 (*get)(struct ants_pool *pool);
	enum ants_setting set;
	bool fixed;
	bool bound;
	const char * const *names;
};

static const struct row *row_of(const struct attribute *attr)
{
	return container_of(attr, struct row, file.attr);
}

/* NULL if the directory is that of a pool. */
static struct ants_multi *multi_of(struct kobject *kobj)
{
	return get_ktype(kobj) == &ants_multi_ktype ?
	       container_of(kobj, struct ants_multi, kobj) : NULL;
}

/* The pools whose values a directory shows, in order; after the last one NULL. */
static struct ants_pool *pool_of(struct kobject *kobj, unsigned int nr)
{
	if (multi_of(kobj))
		return ants_shard(multi_of(kobj), nr);
	return nr ? NULL : container_of(kobj, struct ants_pool, kobj);
}

/* The shards of a multi have the same flags. */
static bool is_fixed(const struct row *row, struct kobject *kobj)
{
	return row->fixed && READ_ONCE(pool_of(kobj, 0)->flags) & ANTS_FIXED;
}

/* The value of a pool. In struct ants_stats those that are u64 come last. */
static s64 value_of(const struct row *row, struct ants_pool *pool)
{
	struct ants_stats stats;
	void *at = (char *)&stats + row->offset;
	s64 value;

	switch (row->in) {
	case IN_STATS:
		ants_pool_stats(pool, &stats);
		return row->offset >= offsetof(struct ants_stats, submitted) ?
		       *(u64 *)at : *(unsigned int *)at;
	case IN_PLACE:
		raw_spin_lock_irq(&pool->lock);
		value = *(int *)((char *)pool->target.affinity + row->offset);
		ants_unlock_irq(pool);
		return value;
	default:
		return row->get ? row->get(pool) :
		       READ_ONCE(*(unsigned int *)((char *)pool + row->offset));
	}
}

/*
 * A multi has the sum over its shards, or a place that the first one has; others differ
 * if they were changed one by one.
 */
static ssize_t value_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	const struct row *row = row_of(&attr->attr);
	struct ants_pool *pool;
	unsigned int nr;
	s64 value = 0;

	if (row->in == IN_MULTI)
		value = *(unsigned int *)((char *)multi_of(kobj) + row->offset);
	else
		for (nr = 0; (pool = pool_of(kobj, nr)) && !(nr && row->in == IN_PLACE); nr++)
			value += value_of(row, pool);
	if (row->names)
		return sysfs_emit(buf, "%s\n", row->names[value]);
	if (row->bound && value >= ANTS_UNLIMITED)
		return sysfs_emit(buf, "max\n");
	return sysfs_emit(buf, "%lld\n", value);
}

/*
 * Make one change after the earlier ones; a signal ends the wait for those. Root
 * can change the mode of a file, but not what the owner has fixed.
 */
static int store(struct kobject *kobj, const struct row *row,
		 unsigned int value, const struct cpumask *cpus)
{
	struct ants_change change = { row->set, value, cpus };
	struct ants_multi *multi = multi_of(kobj);
	struct ants_pool *pool = pool_of(kobj, 0);
	struct mutex *lock = multi ? &multi->config : &pool->config.lock;
	int err = is_fixed(row, kobj) ? -EPERM : mutex_lock_interruptible(lock);

	if (err)
		return err;
	err = multi ? ants_multi_set(multi, &change) : ants_set(pool, &change);
	mutex_unlock(lock);
	return err;
}

static ssize_t value_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t len)
{
	const struct row *row = row_of(&attr->attr);
	unsigned int value;
	int err = 0;

	if (row->names) {
		err = __sysfs_match_string(row->names, -1, buf);
		value = err;
	} else if (row->bound && sysfs_streq(buf, "max")) {
		value = ANTS_UNLIMITED;
	} else if (row->set == ANTS_SET_NICE) {
		err = kstrtoint(buf, 0, (int *)&value);
	} else {
		err = kstrtouint(buf, 0, &value);
		if (!err && row->bound && value > ANTS_BOUND_MAX)
			err = -ERANGE;
	}
	if (err >= 0)
		err = store(kobj, row, value, NULL);
	return err ?: len;
}

static s64 get_nonblocking(struct ants_pool *pool)
{
	return !!(READ_ONCE(pool->flags) & ANTS_NONBLOCKING);
}

static s64 get_longest_ms(struct ants_pool *pool)
{
	unsigned long func;

	return ants_longest_ms(pool, &func);
}

/* The CPUs on which threads of the pool, or of any shard, may run. */
static ssize_t cpulist_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	struct ants_pool *pool;
	cpumask_var_t mask;
	unsigned int nr;
	ssize_t len;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for (nr = 0; (pool = pool_of(kobj, nr)); nr++) {
		raw_spin_lock_irq(&pool->lock);
		cpumask_or(mask, mask, to_cpumask(pool->target.affinity->cpus));
		ants_unlock_irq(pool);
	}
	len = sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(mask));
	free_cpumask_var(mask);
	return len;
}

static ssize_t cpulist_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t len)
{
	cpumask_var_t mask;
	int err;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	err = cpulist_parse(buf, mask);
	/* A number that does not fit in the mask, like a CPU that cannot exist. */
	if (err == -EOVERFLOW)
		err = -ERANGE;
	err = err ?: store(kobj, row_of(&attr->attr), 0, mask);
	free_cpumask_var(mask);
	return err ?: len;
}

/* The state of a pool, as an administrator reads it. */
static const char *state_of(struct ants_pool *pool)
{
	const char *state = "open";

	raw_spin_lock_irq(&pool->lock);
	if (pool->released)
		state = ants_is_drained(pool) ? "released" : "draining";
	else if (pool->faults.tripped)
		state = "faulted";
	ants_unlock_irq(pool);
	return state;
}

/* A multi is open or draining as long as its shards differ. */
static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	const char *state = state_of(pool_of(kobj, 0));
	struct ants_pool *pool;
	unsigned int nr;

	for (nr = 1; (pool = pool_of(kobj, nr)); nr++)
		if (strcmp(state_of(pool), state))
			state = ants_multi_is_released(multi_of(kobj)) ? "draining" : "open";
	return sysfs_emit(buf, "%s\n", state);
}

static ssize_t last_fault_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	struct ants_pool *pool = pool_of(kobj, 0);
	ssize_t len;

	raw_spin_lock_irq(&pool->lock);
	len = sysfs_emit(buf, "%s\n", pool->faults.last);
	ants_unlock_irq(pool);
	return len;
}

static ssize_t times_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	struct ants_histograms counts;
	const u64 *shown = (u64 *)((char *)&counts + row_of(&attr->attr)->offset);
	ssize_t len = 0;
	int i;

	ants_times_read(pool_of(kobj, 0), &counts);
	for (i = 0; i < ANTS_TIMES; i++)
		len += sysfs_emit_at(buf, len, "%llu%c", shown[i],
				     i < ANTS_TIMES - 1 ? ',' : '\n');
	return len;
}

static const char * const sched_names[] = {
	[ANTS_SCHED_NORMAL] = "normal",
	[ANTS_SCHED_FIFO_LOW] = "fifo_low",
	[ANTS_SCHED_FIFO] = "fifo",
	NULL
};

static const char * const strategy_names[] = {
	[ANTS_ROUND_ROBIN] = "round_robin",
	[ANTS_LEAST_TASKS] = "least_tasks",
	[ANTS_LOCAL] = "local",
};

#define ROW(_name, _mode, _show, _store, ...)				\
	(&((struct row) {						\
		.file.attr = { .name = _name, .mode = _mode },		\
		.file.show = _show, .file.store = _store,		\
		##__VA_ARGS__						\
	}).file.attr)

/* A value that can only be read, or that can be changed. */
#define VALUE(_name, ...)						\
	ROW(_name, 0444, value_show, NULL, __VA_ARGS__)
#define SETTING(_name, _set, ...)					\
	ROW(_name, 0644, value_show, value_store, .set = _set, __VA_ARGS__)

/* In struct ants_pool it is an unsigned int that can be read without the lock. */
#define FIELD(_field)	.offset = offsetof(struct ants_pool, _field)
#define PLACE(_field)	.in = IN_PLACE, .offset = offsetof(struct ants_affinity, _field)
#define WHOLE(_field)	.in = IN_MULTI, .offset = offsetof(struct ants_multi, _field)
#define TIMES(_field)	.offset = offsetof(struct ants_histograms, _field)
#define STAT(_name, ...)						\
	VALUE(#_name, .in = IN_STATS,					\
	      .offset = offsetof(struct ants_stats, _name), ##__VA_ARGS__)

static struct attribute *pool_attrs[] = {
	SETTING("capacity", ANTS_SET_CAPACITY, FIELD(limits.capacity), .in = IN_SHARDS,
		.fixed = true, .bound = true),
	SETTING("queue_depth", ANTS_SET_QUEUE_DEPTH, FIELD(config.queue_depth),
		.in = IN_SHARDS, .fixed = true),
	SETTING("nonblocking", ANTS_SET_NONBLOCKING, .get = get_nonblocking,
		.fixed = true),
	SETTING("max_blocking", ANTS_SET_MAX_BLOCKING, FIELD(config.max_blocking)),
	SETTING("min_workers", ANTS_SET_MIN_WORKERS, FIELD(config.min_workers)),
	SETTING("expiry_ms", ANTS_SET_EXPIRY_MS, FIELD(config.expiry_ms)),
	SETTING("stall_ms", ANTS_SET_STALL_MS, FIELD(stall.ms)),
	SETTING("max_faults", ANTS_SET_MAX_FAULTS, FIELD(faults.max)),
	SETTING("nice", ANTS_SET_NICE, PLACE(nice)),
	SETTING("sched", ANTS_SET_SCHED, PLACE(sched), .names = sched_names),
	ROW("cpulist", 0644, cpulist_show, cpulist_store, .set = ANTS_SET_CPUS,
	    .in = IN_PLACE),
	ROW("state", 0444, state_show, NULL, .in = IN_SHARDS),
	VALUE("nr_shards", WHOLE(nr_shards)),
	VALUE("strategy", WHOLE(strategy), .names = strategy_names),
	NULL
};

/*
 * A new file is also in Documentation/ABI, there once more if a multi has it, in
 * admin-guide.rst, tools/syzkaller/ants.txt and userspace-test/sysfs_files.c. If a multi
 * or antstat does not have it: in test/guest/tests/multi_client.sh and antstat_live.judge.
 * For a number see ants_stats.h.
 */
static struct attribute *stats_attrs[] = {
	STAT(running),
	STAT(idle),
	STAT(busy),
	STAT(pending),
	STAT(waiting),
	STAT(free, .bound = true),
	STAT(peak_running),
	STAT(peak_busy),
	STAT(peak_pending),
	STAT(peak_waiting),
	STAT(submitted),
	STAT(completed),
	STAT(cancelled),
	STAT(caller_runs),
	STAT(rejected),
	STAT(blocked),
	STAT(spawned),
	STAT(reaped),
	STAT(spurious_wakeups),
	STAT(stalled),
	STAT(held_back),
	STAT(faults),
	STAT(lost),
	STAT(dirty),
	ROW("last_fault", 0444, last_fault_show, NULL),
	SETTING("timing", ANTS_SET_TIMING, FIELD(times.every)),
	ROW("wait_us", 0444, times_show, NULL, TIMES(wait)),
	ROW("run_us", 0444, times_show, NULL, TIMES(run)),
	VALUE("longest_ms", .get = get_longest_ms),
	NULL
};

/* The CPUs of local shards are decided when the multi is created. */
static umode_t mode_of(struct kobject *kobj, struct attribute *attr, int nr)
{
	const struct row *row = row_of(attr);
	const struct ants_multi *multi = multi_of(kobj);

	if (row->in == (multi ? IN_POOL : IN_MULTI))
		return 0;
	if (is_fixed(row, kobj) ||
	    (multi && multi->strategy == ANTS_LOCAL &&
	     row->set == ANTS_SET_CPUS))
		return 0444;
	return attr->mode;
}

const struct attribute_group *ants_pool_groups[] = {
	&(const struct attribute_group){
		.attrs = pool_attrs, .is_visible = mode_of,
	},
	&(const struct attribute_group){
		.name = "stats", .attrs = stats_attrs, .is_visible = mode_of,
	},
	NULL
};
EXPORT_SYMBOL_FOR_TESTS(ants_pool_groups);

/*
 * Tell programs when a pool changes its state, when a task has run for too
 * long, and when a thread has died: by poll() on the file that shows it, and by
 * a uevent. Both may sleep, but the state changes in sections that must not. So
 * a kernel work item tells the programs: it compares what it finds with what it
 * has told before. Only the removal of the files waits for this work item.
 */

/* What a file of the pool shows has changed; and what its parent's shows. */
__printf(4, 5)
static void notify_programs(struct ants_pool *pool, const char *dir, const char *file,
			    const char *fmt, ...)
{
	char env[128], *envp[] = { env, NULL };
	va_list args;

	sysfs_notify(&pool->kobj, dir, file);
	if (pool->parent)
		sysfs_notify(pool->parent, dir, file);
	va_start(args, fmt);
	vsnprintf(env, sizeof(env), fmt, args);
	va_end(args);
	kobject_uevent_env(&pool->kobj, KOBJ_CHANGE, envp);
}

void ants_notify_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool,
					      notice.work);
	const char *state, *told = pool->notice.state ?: "open";
	struct ants_stats stats;

	if (READ_ONCE(pool->notice.gone))
		return;
	ants_stall_look(pool);
	/*
	 * It is not NULL before the state is read, so a reboot that opens the pool after that
	 * queues the work once more.
	 */
	WRITE_ONCE(pool->notice.state, told);
	state = state_of(pool);
	if (strcmp(state, told))
		notify_programs(pool, NULL, "state", "STATE=%s", state);
	WRITE_ONCE(pool->notice.state, strcmp(state, "open") ? state : NULL);
	ants_pool_stats(pool, &stats);
	if (stats.stalled != pool->notice.stalled)
		notify_programs(pool, "stats", "stalled", "STALLED=%llu", stats.stalled);
	if (stats.faults != pool->notice.faults)
		notify_programs(pool, "stats", "faults", "FAULTS=%llu", stats.faults);
	pool->notice.stalled = stats.stalled;
	pool->notice.faults = stats.faults;
}

struct kset *ants_kset;

/* Add the files of a pool or a multi to its directory. */
int ants_sysfs_show(struct kobject *kobj)
{
	int err = sysfs_create_groups(kobj, ants_pool_groups);

	if (!err)
		kobject_uevent(kobj, KOBJ_ADD);
	return err;
}

/*
 * debugfs: ants/summary has a line for each pool; ants/workers, ants/waiters and
 * ants/pending list the workers, waiters and pending tasks of all pools by their
 * functions. A reader collects as many lines as one lock hold
 * allows, and prints them after it has dropped that lock. It holds
 * ants_registry_lock, so that the pool stays; a pool that is being destroyed is
 * in these files until its last task, thread and caller is gone.
 */

/* An unknown age. */
#define NO_AGE		ULONG_MAX

/**
 * struct table - a file: a line for each entry of some lists of a pool, or, if there
 * are none, a line for the pool
 * @name: its name
 * @head: its columns behind the name of the pool
 * @lists: where the lists are in struct ants_pool
 * @nr: how long they are together
 * @see: makes a row of an entry
 */
struct table {
	const char *name;
	const char *head;
	unsigned int lists[2];
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
 * @nr: number of @rows that are to be printed
 * @rows: those of one lock hold
 */
static struct shown {
	struct seq_file *seq;
	unsigned int nr;
	struct ants_row rows[ANTS_HOLD_MAX];
} shown;

/* Each line begins with the name of a pool. A longer one moves the columns after it. */
#define NAME	"%-24s  "

static const char * const prio_names[] = { "normal", "high" };

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
		seq_printf(seq, NAME, walker->pool->name);
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
		ms = jiffies64_to_msecs(jiffies - w->idle_since);
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
	const void *data = waiter->data;

	*row = (struct ants_row){
		.func = ants_client_func(waiter->fn, &data), .what = prio_names[waiter->prio],
		.ms = jiffies64_to_msecs(jiffies - waiter->since),
		.pid = task_pid_nr(waiter->task),
	};
	strscpy(row->comm, waiter->task->comm, sizeof(row->comm));
}

static void see_pending(struct ants_walker *walker, struct list_head *entry)
{
	const struct ants_slot *slot = list_entry(entry, struct ants_slot, node);
	const void *data = slot->data;

	shown.rows[shown.nr++] = (struct ants_row){
		.func = ants_client_func(slot->fn, &data),
		.what = prio_names[!!(slot->tag & ANTS_TAG_HIGH)],
		.ms = slot->tag & ANTS_TAG_TIMED ?
		      ants_clock_ms((u32)(ants_clock() - slot->stamp)) : NO_AGE,
	};
}

/* The numbers are of the same moment. */
static void show_numbers(struct seq_file *seq, struct ants_pool *pool)
{
	unsigned long func, ms = ants_longest_ms(pool, &func);
	struct ants_stats s;

	ants_pool_stats(pool, &s);
	seq_printf(seq, NAME "%-8s", pool->name, state_of(pool));
	if (s.capacity == ANTS_UNLIMITED)
		seq_puts(seq, "       max");
	else
		seq_printf(seq, "%10u", s.capacity);
	seq_printf(seq, "%8u%6u%6u%9u%9u%13llu%10llu", s.running, s.idle,
		   s.busy, s.pending, s.waiting, s.completed, s.rejected);
	print_func(func, func ? ms : NO_AGE);
	seq_putc(seq, '\n');
}

#define LIST(_field)	offsetof(struct ants_pool, _field)

static const struct table tables[] = {
	[ANTS_SUMMARY] = {
		.name = "summary",
		.head =
			"state     capacity running  idle  busy  pending  waiting    completed  rejected  longest ms  runs longest",
	},
	[ANTS_WORKERS] = {
		.name = "workers",
		.head = "    pid  state    cpu          ms  runs",
		.lists = { LIST(workers.list) },
		.nr = ants_nr_running,
		.see = see_worker,
	},
	[ANTS_WAITERS] = {
		.name = "waiters",
		.head = "    pid  prio            ms  waits to submit  (caller)",
		.lists = {
			LIST(waiters.fifo[ANTS_PRIO_HIGH]),
			LIST(waiters.fifo[ANTS_PRIO_NORMAL]),
		},
		.nr = ants_nr_waiting,
		.see = see_waiter,
	},
	[ANTS_PENDING] = {
		.name = "pending",
		.head = "prio            ms  is pending",
		.lists = { LIST(urgent.list), LIST(pending) },
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
		seq_printf(seq, NAME "%s\n", "pool", table->head);
		return 0;
	}
	if (!table->see) {
		show_numbers(seq, pool);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(table->lists) && table->lists[i]; i++)
		seen += ants_walk(pool, (void *)((u8 *)pool + table->lists[i]),
				  ANTS_DEBUGFS_MOST - seen, &walker);
	/* The lists may have become longer or shorter meanwhile. */
	nr = table->nr(pool);
	if (seen == ANTS_DEBUGFS_MOST && nr > ANTS_DEBUGFS_MOST)
		seq_printf(seq, NAME "... and %u more\n", pool->name, nr - ANTS_DEBUGFS_MOST);
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

static struct dentry *root;

/* Without debugfs, or without memory, that has no files; all else works. */
int ants_files_init(void)
{
	long i;

	ants_kset = kset_create_and_add("ants", NULL, kernel_kobj);
	if (!ants_kset)
		return -ENOMEM;
	root = debugfs_create_dir("ants", NULL);
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		debugfs_create_file(tables[i].name, 0400, root, (void *)i,
				    &ants_tables_fops);
	return 0;
}

void ants_files_exit(void)
{
	debugfs_remove(root);
	kset_unregister(ants_kset);
}
