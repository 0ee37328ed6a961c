// SPDX-License-Identifier: GPL-2.0-only
/*
 * ants_ctl: lets programs use pools. Each write to
 * /sys/kernel/debug/ants_ctl/control is one command; write() returns the error
 * from ants, if any.
 *
 *	create NAME CAPACITY [MIN_WORKERS [FLAGS [NODE]]]
 *	create_multi NAME CAPACITY SHARDS STRATEGY [FLAGS]
 *	destroy NAME		waits for the tasks of the pool
 *	submit NAME N MS	N tasks that sleep for MS milliseconds each
 *	hold NAME N		N tasks that wait for the gate
 *	cpus NAME N		N tasks that note their CPUs, waits for them
 *	release NAME
 *	drain NAME		release, and wait until the pool is empty
 *	reboot NAME
 *	flush NAME
 *	hold_scan NAME		stops the next unload that scans NAME
 *	scan_held NAME		waits until one has stopped
 *	let_scan NAME		lets it continue
 *	hold_tune NAME, tune_held NAME, let_tune NAME
 *				the same for the next change of a bound of NAME
 *	close			closes the gate
 *	pass			lets one task pass, now or when one comes
 *	let			opens the gate: all tasks that wait there continue
 *
 * /sys/kernel/debug/ants_ctl/progress counts for ants_client; it can be reset.
 * /sys/kernel/debug/ants_ctl/ran is how many tasks of "submit" have run.
 * /sys/kernel/debug/ants_ctl/cpus lists what the last "cpus" has noted.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "../../kernel/core/debug.h"
#include "ants_ctl.h"

#define CTL_LINE	128
#define PAUSE_DEADLINE	(40 * HZ)

/**
 * struct ctl_pool - a pool, or a multi, with the commands that use it
 * @node: in ctl_pools
 * @pool: the pool, or the first shard
 * @multi: the multi, or NULL
 * @users: number of commands that run; guarded by ctl_lock, but is_unused()
 * @name: its name
 */
struct ctl_pool {
	struct list_head node;
	struct ants_pool *pool;
	struct ants_multi *multi;
	unsigned int users;
	char name[ANTS_NAME_LEN];
};

/* A command, with up to four numbers after the name of the pool. */
struct ctl_command {
	const char *name;
	unsigned int nr_args;
	int (*run)(struct ctl_pool *p, const unsigned int *arg);
};

static LIST_HEAD(ctl_pools);
static DEFINE_MUTEX(ctl_lock);
static DECLARE_WAIT_QUEUE_HEAD(ctl_unused);

static bool gate_closed;
static atomic_t gate_passes = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(gate);

static atomic_t ran = ATOMIC_INIT(0);

atomic_t ants_ctl_progress = ATOMIC_INIT(0);
EXPORT_SYMBOL_GPL(ants_ctl_progress);

static bool may_pass(void)
{
	return !READ_ONCE(gate_closed) ||
	       atomic_dec_if_positive(&gate_passes) >= 0;
}

/* An idle wait: however slow the guest is, this is not a hung task. */
void ants_ctl_pass(void)
{
	wait_event_idle(gate, may_pass());
}
EXPORT_SYMBOL_GPL(ants_ctl_pass);

int ants_ctl_call(void *unused)
{
	ants_ctl_pass();
	return 0;
}
EXPORT_SYMBOL_GPL(ants_ctl_call);

void ants_ctl_task(void *unused)
{
}
EXPORT_SYMBOL_GPL(ants_ctl_task);

static void gate_open(void)
{
	WRITE_ONCE(gate_closed, false);
	wake_up_all(&gate);
}

static void gate_pass(void)
{
	atomic_inc(&gate_passes);
	wake_up(&gate);
}

static void hold_task(void *unused)
{
	ants_ctl_pass();
}

static void sleep_task(void *ms)
{
	if (ms)
		msleep((unsigned long)ms);
	atomic_inc(&ran);
}

static struct cpumask seen_cpus;

static void cpu_task(void *unused)
{
	cpumask_set_cpu(raw_smp_processor_id(), &seen_cpus);
	schedule_timeout_idle(1);
}

static struct ctl_pool *find(const char *name)
{
	struct ctl_pool *p;

	lockdep_assert_held(&ctl_lock);
	list_for_each_entry(p, &ctl_pools, node)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

struct ants_pool *ants_ctl_pool(const char *name)
{
	struct ctl_pool *p;

	mutex_lock(&ctl_lock);
	p = find(name);
	mutex_unlock(&ctl_lock);
	return p ? p->pool : NULL;
}
EXPORT_SYMBOL_GPL(ants_ctl_pool);

static struct ctl_pool *use(const char *name)
{
	struct ctl_pool *p;

	mutex_lock(&ctl_lock);
	p = find(name);
	if (p)
		p->users++;
	mutex_unlock(&ctl_lock);
	return p;
}

static void unuse(struct ctl_pool *p)
{
	mutex_lock(&ctl_lock);
	/* Pairs with is_unused(): the command does not use the pool any more. */
	smp_store_release(&p->users, p->users - 1);
	wake_up_all(&ctl_unused);
	mutex_unlock(&ctl_lock);
}

/* For a caller that is about to sleep, and may not take the lock. */
static bool is_unused(const struct ctl_pool *p)
{
	/* Pairs with unuse(). */
	return !smp_load_acquire(&p->users);
}

static int make_pool(struct ctl_pool *p, const unsigned int *arg)
{
	struct ants_attrs attrs = {
		.capacity = arg[0],
		.min_workers = arg[1],
		.flags = arg[2],
		.node = arg[3],
	};

	p->pool = ants_pool_create(&attrs, "%s", p->name);
	return PTR_ERR_OR_ZERO(p->pool);
}

static int make_multi(struct ctl_pool *p, const unsigned int *arg)
{
	struct ants_attrs attrs = { .capacity = arg[0], .flags = arg[3] };

	p->multi = ants_multi_create(&attrs, arg[1], arg[2], "%s", p->name);
	if (IS_ERR(p->multi))
		return PTR_ERR(p->multi);
	p->pool = ants_multi_shard(p->multi, 0);
	return 0;
}

static int create(const char *name, const unsigned int *arg,
		  int (*make)(struct ctl_pool *p, const unsigned int *arg))
{
	struct ctl_pool *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int err;

	if (!p)
		return -ENOMEM;
	strscpy(p->name, name, sizeof(p->name));
	err = make(p, arg);
	if (err) {
		kfree(p);
		return err;
	}
	mutex_lock(&ctl_lock);
	list_add(&p->node, &ctl_pools);
	mutex_unlock(&ctl_lock);
	return 0;
}

static int run_release(struct ctl_pool *p, const unsigned int *arg)
{
	return p->multi ? ants_multi_release(p->multi) : ants_release(p->pool);
}

/* The release refuses commands that wait for room. */
static int destroy(const char *name)
{
	struct ctl_pool *p;

	mutex_lock(&ctl_lock);
	p = find(name);
	if (p)
		list_del(&p->node);
	mutex_unlock(&ctl_lock);
	if (!p)
		return -ENOENT;
	run_release(p, NULL);
	wait_event_idle(ctl_unused, is_unused(p));
	if (p->multi)
		ants_multi_destroy(p->multi);
	else
		ants_pool_destroy(p->pool);
	kfree(p);
	return 0;
}

static int submit_many(struct ctl_pool *p, ants_fn_t fn, unsigned long data,
		       unsigned int nr)
{
	int err = 0;

	while (nr-- && !err)
		err = p->multi ?
		      ants_multi_submit(p->multi, fn, (void *)data) :
		      ants_submit(p->pool, fn, (void *)data);
	return err;
}

static int run_submit(struct ctl_pool *p, const unsigned int *arg)
{
	return submit_many(p, sleep_task, arg[1], arg[0]);
}

static int run_hold(struct ctl_pool *p, const unsigned int *arg)
{
	WRITE_ONCE(gate_closed, true);
	return submit_many(p, hold_task, 0, arg[0]);
}

static int run_flush(struct ctl_pool *p, const unsigned int *arg)
{
	return p->multi ? ants_multi_flush(p->multi) : ants_flush(p->pool);
}

static int run_cpus(struct ctl_pool *p, const unsigned int *arg)
{
	cpumask_clear(&seen_cpus);
	return submit_many(p, cpu_task, 0, arg[0]) ?: run_flush(p, NULL);
}

static int run_drain(struct ctl_pool *p, const unsigned int *arg)
{
	return p->multi ?
	       ants_multi_release_timeout(p->multi, MAX_SCHEDULE_TIMEOUT) :
	       ants_release_timeout(p->pool, MAX_SCHEDULE_TIMEOUT);
}

static int run_reboot(struct ctl_pool *p, const unsigned int *arg)
{
	return p->multi ? ants_multi_reboot(p->multi) : ants_reboot(p->pool);
}

static int hold(struct ctl_pool *p, enum ants_pause_point point)
{
	ants_pause_arm(point, p->pool);
	return 0;
}

static int held(enum ants_pause_point point)
{
	return ants_pause_reached(point, PAUSE_DEADLINE) ? 0 : -ETIMEDOUT;
}

static int run_hold_scan(struct ctl_pool *p, const unsigned int *arg)
{
	return hold(p, ANTS_PAUSE_SCAN);
}

static int run_scan_held(struct ctl_pool *p, const unsigned int *arg)
{
	return held(ANTS_PAUSE_SCAN);
}

static int run_let_scan(struct ctl_pool *p, const unsigned int *arg)
{
	ants_pause_resume(ANTS_PAUSE_SCAN);
	return 0;
}

static int run_hold_tune(struct ctl_pool *p, const unsigned int *arg)
{
	return hold(p, ANTS_PAUSE_TUNE);
}

static int run_tune_held(struct ctl_pool *p, const unsigned int *arg)
{
	return held(ANTS_PAUSE_TUNE);
}

static int run_let_tune(struct ctl_pool *p, const unsigned int *arg)
{
	ants_pause_resume(ANTS_PAUSE_TUNE);
	return 0;
}

static const struct ctl_command commands[] = {
	{ "submit", 2, run_submit },
	{ "hold", 1, run_hold },
	{ "cpus", 1, run_cpus },
	{ "release", 0, run_release },
	{ "drain", 0, run_drain },
	{ "reboot", 0, run_reboot },
	{ "flush", 0, run_flush },
	{ "hold_scan", 0, run_hold_scan },
	{ "scan_held", 0, run_scan_held },
	{ "let_scan", 0, run_let_scan },
	{ "hold_tune", 0, run_hold_tune },
	{ "tune_held", 0, run_tune_held },
	{ "let_tune", 0, run_let_tune },
};

static int run_on_pool(const struct ctl_command *c, const char *name,
		       const unsigned int *arg)
{
	struct ctl_pool *p = use(name);
	int err;

	if (!p)
		return -ENOENT;
	err = c->run(p, arg);
	unuse(p);
	return err;
}

/* A command about a pool; the line has @nr words. */
static int run_named(const char *verb, const char *name,
		     const unsigned int *arg, int nr)
{
	unsigned int i;

	if (nr >= 3 && !strcmp(verb, "create"))
		return create(name, arg, make_pool);
	if (nr >= 5 && !strcmp(verb, "create_multi"))
		return create(name, arg, make_multi);
	if (nr == 2 && !strcmp(verb, "destroy"))
		return destroy(name);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(verb, commands[i].name))
			return nr == commands[i].nr_args + 2 ?
			       run_on_pool(&commands[i], name, arg) : -EINVAL;
	return -EINVAL;
}

static int run_line(const char *line)
{
	unsigned int arg[4] = {};
	char verb[16], name[ANTS_NAME_LEN];
	int nr;

	nr = sscanf(line, "%15s %63s %u %u %u %u", verb, name, &arg[0],
		    &arg[1], &arg[2], &arg[3]);
	if (nr >= 2)
		return run_named(verb, name, arg, nr);
	if (nr == 1 && !strcmp(verb, "let"))
		gate_open();
	else if (nr == 1 && !strcmp(verb, "pass"))
		gate_pass();
	else if (nr == 1 && !strcmp(verb, "close"))
		WRITE_ONCE(gate_closed, true);
	else
		return -EINVAL;
	return 0;
}

static ssize_t ctl_write(struct file *file, const char __user *buf,
			 size_t count, loff_t *pos)
{
	char line[CTL_LINE];

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, count))
		return -EFAULT;
	line[count] = '\0';
	return run_line(line) ?: count;
}

static const struct file_operations ctl_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = ctl_write,
};

static int cpus_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "%*pbl\n", cpumask_pr_args(&seen_cpus));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cpus);

static struct dentry *ctl_dir;

static int __init ants_ctl_init(void)
{
	ctl_dir = debugfs_create_dir("ants_ctl", NULL);
	debugfs_create_file("control", 0200, ctl_dir, NULL, &ctl_fops);
	debugfs_create_atomic_t("progress", 0600, ctl_dir, &ants_ctl_progress);
	debugfs_create_atomic_t("ran", 0400, ctl_dir, &ran);
	debugfs_create_file("cpus", 0400, ctl_dir, NULL, &cpus_fops);
	return 0;
}
module_init(ants_ctl_init);

static void __exit ants_ctl_exit(void)
{
	struct ctl_pool *p, *next;

	gate_open();
	debugfs_remove(ctl_dir);
	list_for_each_entry_safe(p, next, &ctl_pools, node)
		destroy(p->name);
}
module_exit(ants_ctl_exit);

MODULE_DESCRIPTION("ants: pools driven from userspace");
MODULE_LICENSE("GPL");
