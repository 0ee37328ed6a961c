// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the rest of the kernel go on beside pools that are never idle? Streams of
 * short tasks that do not end are started one after the other, and beside each of
 * them everything is tried that waits for the CPUs, or for all threads: grace
 * periods, stop_machine(), CPU hotplug, a livepatch, the freezer, other threads. Each
 * has to end in time. What the same takes beside workqueues whose items queue
 * themselves again is measured in the same boot.
 *
 * For what only a program can do the module asks test/functional/neighbours.sh, by
 * the parameters "request" and "answer". It uses the public header only, and prints
 * TAP and a table on the console.
 */
#define pr_fmt(fmt) "ants_functional: " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_trace.h>
#include <linux/stop_machine.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <linux/ants.h>

#include "../kunit/test_compat.h"

/*
 * How long a task runs; how many streams a pool has at most: beside more threads that
 * always run others would have too small a share of the CPUs.
 */
#define TASK_US		20
#define POOL_CHAINS	16
#define MAX_CHAINS	(POOL_CHAINS * nr_cpu_ids)
/* The members of a group; how often an interrupt submits, and how many tasks. */
#define NR_MEMBERS	16
#define PERIOD_NS	NSEC_PER_MSEC
#define NR_SUBMITS	8
/*
 * A check ends in this time, or in so many times what it takes beside nothing, where the
 * machine is slow; and a stream goes on.
 */
#define BOUND_MS	30000
#define BOUND_TIMES	20

static unsigned int rounds = 1;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often each check is made beside each stream");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "the names of the streams, with commas between; all if empty");

static char *lacks = "";
module_param(lacks, charp, 0444);
MODULE_PARM_DESC(lacks, "what the program cannot do on this kernel");

static bool ended;
module_param(ended, bool, 0444);

/* --- what a program is asked for --------------------------------------------- */

static const char *request = "";
static int answer;
static DECLARE_COMPLETION(answered);

static int request_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%s\n", READ_ONCE(request));
}

static int answer_set(const char *text, const struct kernel_param *param)
{
	int err = kstrtoint(text, 0, &answer);

	WRITE_ONCE(request, "");
	complete(&answered);
	return err;
}

static const struct kernel_param_ops request_ops = { .get = request_get };
static const struct kernel_param_ops answer_ops = { .set = answer_set };

module_param_cb(request, &request_ops, NULL, 0444);
module_param_cb(answer, &answer_ops, NULL, 0200);

static int ask(const char *what)
{
	reinit_completion(&answered);
	WRITE_ONCE(request, what);
	wait_for_completion(&answered);
	return answer ? -EIO : 0;
}

/* --- streams ----------------------------------------------------------------- */

enum kind {
	KIND_NONE,
	KIND_WQ,
	KIND_TASK,
	KIND_ITEM,
	KIND_JOIN,
	KIND_LOOP,
	KIND_GROUP,
	KIND_IRQ,
};

/**
 * struct stream - tasks without an end
 * @name: short, for the table
 * @kind: what brings the tasks
 * @capacity: of the pool
 * @flags: of the pool, or of the workqueue
 * @sched: of its threads
 * @each_cpu: there is such a pool for each CPU, bound to it
 * @us: how long a task runs, if not %TASK_US; a multiple of 1000
 */
struct stream {
	const char *name;
	enum kind kind;
	unsigned int capacity;
	unsigned int flags;
	enum ants_sched sched;
	bool each_cpu;
	unsigned int us;
};

static const struct stream streams[] = {
	{ "nothing", KIND_NONE },
	{ "wq", KIND_WQ },
	{ "wq-unbound", KIND_WQ, .flags = WQ_UNBOUND },
	{ "tasks", KIND_TASK, 1 },
	{ "tasks-each-cpu", KIND_TASK, 1, .each_cpu = true },
	{ "tasks-16", KIND_TASK, 16 },
	{ "tasks-256", KIND_TASK, 256 },
	{ "throughput", KIND_TASK, 16, ANTS_THROUGHPUT },
	{ "items", KIND_ITEM, 2 },
	{ "items-each-cpu", KIND_ITEM, 1, .each_cpu = true },
	{ "join", KIND_JOIN, 2 },
	{ "loop", KIND_LOOP, 2 },
	{ "slow-loop", KIND_LOOP, 2, .us = 40000 },
	{ "group", KIND_GROUP, 16 },
	{ "freezable", KIND_TASK, 2, ANTS_FREEZABLE },
	{ "interrupts", KIND_IRQ, 16 },
	{ "fifo", KIND_TASK, 1, .sched = ANTS_SCHED_FIFO },
};

/* One that does not end by itself. */
struct chain {
	struct ants_pool *pool;
	struct workqueue_struct *wq;
	struct work_struct item;
	struct ants_work work;
	struct ants_work outer;
	struct task_struct *thread;
	struct completion finished;
	struct hrtimer timer;
	unsigned int cpu;
	unsigned int us;
	unsigned long passes;
};

static struct ants_pool *pools[NR_CPUS];
static struct workqueue_struct *queue;
static struct chain *chains;
static unsigned int nr_chains;
static bool stopping;
static atomic_t broken;

static void pass(struct chain *chain)
{
	WRITE_ONCE(chain->passes, chain->passes + 1);
	if (chain->us)
		mdelay(chain->us / USEC_PER_MSEC);
	else
		udelay(TASK_US);
}

/* A pool that is being destroyed takes no task. */
static void went_on(int err)
{
	if (err && !READ_ONCE(stopping))
		atomic_inc(&broken);
}

/* Without a workqueue of its own it runs in that of the CPU. */
static void queue_item(struct chain *chain)
{
	if (chain->wq)
		queue_work(chain->wq, &chain->item);
	else
		schedule_work_on(chain->cpu, &chain->item);
}

static void chain_item(struct work_struct *item)
{
	struct chain *chain = container_of(item, struct chain, item);

	pass(chain);
	if (!READ_ONCE(stopping))
		queue_item(chain);
}

static void chain_task(void *data)
{
	struct chain *chain = data;

	pass(chain);
	if (!READ_ONCE(stopping))
		went_on(ants_submit_timeout(chain->pool, chain_task, chain, 0));
}

static int chain_work(struct ants_work *work)
{
	struct chain *chain = container_of(work, struct chain, work);

	pass(chain);
	if (!READ_ONCE(stopping))
		went_on(ants_queue_work(chain->pool, work));
	return 0;
}

/* Joins an item that queues itself again: that runs in here most of the time. */
static int chain_join(struct ants_work *outer)
{
	struct chain *chain = container_of(outer, struct chain, outer);

	while (!READ_ONCE(stopping)) {
		went_on(ants_work_wait(&chain->work, NULL));
		if (!READ_ONCE(stopping))
			went_on(ants_queue_work(chain->pool, &chain->work));
	}
	return 0;
}

/* A thread that is told to stop does not wait for its group. */
static int chain_end(struct chain *chain)
{
	complete(&chain->finished);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static int chain_number(unsigned long i, void *data)
{
	pass(data);
	return READ_ONCE(stopping) ? -EINTR : 0;
}

static int loop_thread(void *data)
{
	struct chain *chain = data;
	int err = ants_for_each(chain->pool, LONG_MAX, chain_number, chain);

	if (err != -EINTR)
		atomic_inc(&broken);
	return chain_end(chain);
}

static int member_fn(struct ants_work *work)
{
	udelay(TASK_US);
	return 0;
}

static int group_thread(void *data)
{
	static struct ants_work members[NR_MEMBERS];
	struct chain *chain = data;
	struct ants_group group;
	int i, err;

	while (!READ_ONCE(stopping)) {
		err = ants_group_init(&group, chain->pool, 0);
		for (i = 0; i < NR_MEMBERS && !err; i++) {
			INIT_ANTS_WORK(&members[i], member_fn);
			err = ants_group_submit(&group, &members[i]);
		}
		if (ants_group_wait(&group, NULL) || err)
			atomic_inc(&broken);
		WRITE_ONCE(chain->passes, chain->passes + 1);
	}
	return chain_end(chain);
}

static void irq_task(void *data)
{
	pass(data);
}

static enum hrtimer_restart irq_timer(struct hrtimer *timer)
{
	struct chain *chain = container_of(timer, struct chain, timer);
	int i;

	for (i = 0; i < NR_SUBMITS; i++)
		ants_try_submit(chain->pool, irq_task, chain);
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS));
	return READ_ONCE(stopping) ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

static int chain_thread(struct chain *chain, int (*fn)(void *data))
{
	init_completion(&chain->finished);
	chain->thread = kthread_run(fn, chain, "ants_neighbour");
	return PTR_ERR_OR_ZERO(chain->thread);
}

static int chain_start(const struct stream *s, struct chain *chain)
{
	switch (s->kind) {
	case KIND_NONE:
		break;
	case KIND_WQ:
		INIT_WORK(&chain->item, chain_item);
		queue_item(chain);
		return 0;
	case KIND_TASK:
		return ants_submit(chain->pool, chain_task, chain);
	case KIND_JOIN:
		INIT_ANTS_WORK(&chain->work, chain_work);
		INIT_ANTS_WORK(&chain->outer, chain_join);
		return ants_queue_work(chain->pool, &chain->outer);
	case KIND_ITEM:
		INIT_ANTS_WORK(&chain->work, chain_work);
		return ants_queue_work(chain->pool, &chain->work);
	case KIND_LOOP:
		return chain_thread(chain, loop_thread);
	case KIND_GROUP:
		return chain_thread(chain, group_thread);
	case KIND_IRQ:
		hrtimer_setup(&chain->timer, irq_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL);
		hrtimer_start(&chain->timer, ns_to_ktime(PERIOD_NS),
			      HRTIMER_MODE_REL);
		return 0;
	}
	return -EINVAL;
}

static struct ants_pool *make_pool(const struct stream *s, unsigned int cpu)
{
	struct ants_attrs attrs = {
		.capacity = s->capacity,
		.queue_depth = s->kind == KIND_LOOP ? 0 : POOL_CHAINS + NR_MEMBERS,
		.flags = s->flags,
		.sched = s->sched,
		.cpumask = s->each_cpu ? cpumask_of(cpu) : NULL,
	};

	return ants_pool_create(&attrs, "neighbour%u", cpu);
}

/* How many chains a pool has: as many as threads, but for those that fill it alone. */
static unsigned int chains_of(const struct stream *s)
{
	if (s->kind != KIND_TASK && s->kind != KIND_ITEM)
		return 1;
	return min_t(unsigned int, s->capacity, POOL_CHAINS);
}

static int add_chains(const struct stream *s, unsigned int cpu)
{
	unsigned int i, nr = s->kind == KIND_WQ ? 1 : chains_of(s);
	struct chain *chain;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		chain = &chains[nr_chains++];
		chain->pool = pools[cpu];
		chain->wq = queue;
		chain->us = s->us;
		chain->cpu = cpu;
		err = chain_start(s, chain);
	}
	return err;
}

static int start_on(const struct stream *s, unsigned int cpu)
{
	struct ants_pool *pool;

	if (s->kind != KIND_WQ) {
		pool = make_pool(s, cpu);
		if (IS_ERR(pool))
			return PTR_ERR(pool);
		pools[cpu] = pool;
	}
	return add_chains(s, cpu);
}

static int stream_start(const struct stream *s)
{
	unsigned int cpu;
	int err = 0;

	memset(chains, 0, sizeof(*chains) * MAX_CHAINS);
	nr_chains = 0;
	WRITE_ONCE(stopping, false);
	atomic_set(&broken, 0);
	if (s->kind == KIND_WQ && s->flags) {
		queue = alloc_workqueue("neighbour", s->flags, 0);
		if (!queue)
			return -ENOMEM;
	}
	for_each_online_cpu(cpu) {
		if (!err && s->kind != KIND_NONE &&
		    (!nr_chains || s->each_cpu || s->kind == KIND_WQ))
			err = start_on(s, cpu);
	}
	return err;
}

/* Has each chain gone on, or does it soon? */
static bool stream_went_on(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(BOUND_MS);
	unsigned int i;

	for (i = 0; i < nr_chains; i++)
		while (READ_ONCE(chains[i].passes) < 2) {
			if (time_after(jiffies, end))
				return false;
			schedule_timeout_idle(1);
		}
	return true;
}

static int stream_stop(const struct stream *s)
{
	bool good = stream_went_on();
	unsigned int i;

	WRITE_ONCE(stopping, true);
	for (i = 0; i < nr_chains; i++) {
		if (s->kind == KIND_IRQ)
			hrtimer_cancel(&chains[i].timer);
		if (s->kind == KIND_WQ)
			cancel_work_sync(&chains[i].item);
		if (!IS_ERR_OR_NULL(chains[i].thread)) {
			wait_for_completion(&chains[i].finished);
			kthread_stop(chains[i].thread);
		}
	}
	if (queue) {
		destroy_workqueue(queue);
		queue = NULL;
	}
	for (i = 0; i < nr_cpu_ids; i++) {
		if (pools[i])
			ants_pool_destroy(pools[i]);
		pools[i] = NULL;
	}
	if (!good || atomic_read(&broken))
		pr_info("# %s: %d submits failed, %s\n", s->name, atomic_read(&broken),
			good ? "all went on" : "some did not go on");
	return good && !atomic_read(&broken) ? 0 : -EIO;
}

/* --- what is tried beside them ------------------------------------------------- */

/* A mechanism that this kernel does not have, or not for modules. */
#define LACKING	1

/* Of the stream itself; its end is checked as well. */
static int stream_goes_on(void)
{
	return stream_went_on() ? 0 : -ETIMEDOUT;
}

static int synchronize_rcu_ends(void)
{
	synchronize_rcu();
	return 0;
}

static int synchronize_rcu_expedited_ends(void)
{
	synchronize_rcu_expedited();
	return 0;
}

static int synchronize_rcu_tasks_ends(void)
{
	synchronize_rcu_tasks();
	return 0;
}

static int synchronize_rcu_tasks_rude_ends(void)
{
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
	return 0;
#else
	return LACKING;
#endif
}

static int synchronize_rcu_tasks_trace_ends(void)
{
#ifdef CONFIG_TASKS_TRACE_RCU
	synchronize_rcu_tasks_trace();
	return 0;
#else
	return LACKING;
#endif
}

static int rcu_barrier_ends(void)
{
	rcu_barrier();
	return 0;
}

static int stop_fn(void *unused)
{
	return 0;
}

static int stop_machine_ends(void)
{
	return stop_machine(stop_fn, NULL, NULL);
}

static int cpu_goes_offline_and_comes_back(void)
{
	int err;

	if (num_online_cpus() < 2)
		return LACKING;
	err = remove_cpu(1);
	return err ?: add_cpu(1);
}

static int idle_thread(void *started)
{
	complete(started);
	while (!kthread_should_stop())
		schedule_timeout_idle(HZ);
	return 0;
}

static int kthread_starts_and_stops(void)
{
	DECLARE_COMPLETION_ONSTACK(started);
	struct task_struct *thread = kthread_run(idle_thread, &started, "neighbour");

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	wait_for_completion(&started);
	return kthread_stop(thread);
}

static int busy_thread(void *finished)
{
	int i;

	for (i = 0; i < 5; i++) {
		mdelay(1);
		cond_resched();
	}
	complete(finished);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static int busy_on(unsigned int cpu)
{
	DECLARE_COMPLETION_ONSTACK(finished);
	struct task_struct *thread = kthread_create(busy_thread, &finished, "neighbour");

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	wait_for_completion(&finished);
	return kthread_stop(thread);
}

/* A thread of the normal policy, bound to each CPU, that needs it for 5 ms. */
static int normal_threads_get_the_cpus(void)
{
	unsigned int cpu;
	int err = 0;

	for_each_online_cpu(cpu)
		err = err ?: busy_on(cpu);
	return err;
}

static void item_fn(struct work_struct *item)
{
	mdelay(1);
}

static struct workqueue_struct *unbound;

static int unbound_workqueue_goes_on(void)
{
	static DECLARE_WORK(item, item_fn);

	queue_work(unbound, &item);
	flush_work(&item);
	return 0;
}

static int workqueues_of_the_cpus_go_on(void)
{
	static DECLARE_WORK(item, item_fn);
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		queue_work_on(cpu, system_highpri_wq, &item);
		flush_work(&item);
	}
	return 0;
}

static DECLARE_COMPLETION(expired);

static void timer_fn(struct timer_list *timer)
{
	complete(&expired);
}

static int timers_expire(void)
{
	static DEFINE_TIMER(timer, timer_fn);
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		reinit_completion(&expired);
		timer.expires = jiffies + 1;
		add_timer_on(&timer, cpu);
		wait_for_completion(&expired);
		timer_delete_sync(&timer);
	}
	return 0;
}

static int module_comes_and_goes(void)
{
	return ask("module");
}

static int livepatch_takes_effect(void)
{
	return ask("livepatch");
}

static int system_freezes_and_thaws(void)
{
	return ask("freezer");
}

/* --- the frame ----------------------------------------------------------------- */

/**
 * struct check - one mechanism
 * @name: what it says of the kernel
 * @run: try it; return 0, %LACKING, or an error
 * @program: what the program has to be able to do for it
 */
struct check {
	const char *name;
	int (*run)(void);
	const char *program;
};

#define CHECK(_run, ...)	{ .name = #_run, .run = _run, ##__VA_ARGS__ }

static const struct check checks[] = {
	CHECK(stream_goes_on),
	CHECK(synchronize_rcu_ends),
	CHECK(synchronize_rcu_expedited_ends),
	CHECK(synchronize_rcu_tasks_ends),
	CHECK(synchronize_rcu_tasks_rude_ends),
	CHECK(synchronize_rcu_tasks_trace_ends),
	CHECK(rcu_barrier_ends),
	CHECK(stop_machine_ends),
	CHECK(cpu_goes_offline_and_comes_back),
	CHECK(kthread_starts_and_stops),
	CHECK(normal_threads_get_the_cpus),
	CHECK(unbound_workqueue_goes_on),
	CHECK(workqueues_of_the_cpus_go_on),
	CHECK(timers_expire),
	CHECK(module_comes_and_goes),
	CHECK(livepatch_takes_effect, .program = "livepatch"),
	CHECK(system_freezes_and_thaws, .program = "freezer"),
};

/* The worst figure of a check, in microseconds, and the stream beside which it was. */
struct worst {
	long us;
	const struct stream *stream;
};

enum beside {
	BESIDE_NOTHING,
	BESIDE_WQ,
	BESIDE_POOL,
	NR_BESIDE,
};

struct result {
	struct worst worst[NR_BESIDE];
	bool late[NR_BESIDE];
	bool lacking;
	int err;
};

static struct result results[ARRAY_SIZE(checks)];

struct probe {
	const struct check *check;
	struct completion done;
	int err;
	long us;
};

static int probe_fn(void *data)
{
	struct probe *p = data;
	ktime_t begin = ktime_get();

	p->err = p->check->run();
	p->us = ktime_us_delta(ktime_get(), begin);
	complete(&p->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static long bound_us(unsigned int i)
{
	return max_t(long, BOUND_MS * USEC_PER_MSEC,
		     BOUND_TIMES * results[i].worst[BESIDE_NOTHING].us);
}

static enum beside beside(const struct stream *s)
{
	if (s->kind == KIND_NONE)
		return BESIDE_NOTHING;
	return s->kind == KIND_WQ ? BESIDE_WQ : BESIDE_POOL;
}

static void note(unsigned int i, const struct stream *s, const struct probe *p)
{
	struct result *r = &results[i];
	struct worst *worst = &r->worst[beside(s)];

	if (p->err == LACKING) {
		r->lacking = true;
		return;
	}
	if (p->err)
		pr_info("# %s beside %s: error %d\n", p->check->name, s->name, p->err);
	r->err = r->err ?: p->err;
	if (p->us > worst->us)
		*worst = (struct worst){ .us = p->us, .stream = s };
}

/* What is wrong with a stream is a failure of the first check. */
static void note_stream(const struct stream *s, int err)
{
	if (err)
		pr_info("# %s: error %d\n", s->name, err);
	results[0].err = results[0].err ?: err;
}

/* Try @i beside @s. What does not end in time, and false, ends when the stream does. */
static bool try(const struct stream *s, unsigned int i)
{
	struct probe p = { .check = &checks[i] };
	long bound = bound_us(i);
	struct task_struct *thread;

	init_completion(&p.done);
	thread = kthread_run(probe_fn, &p, "ants_probe");
	if (IS_ERR(thread)) {
		note_stream(s, PTR_ERR(thread));
		return true;
	}
	if (!wait_for_completion_timeout(&p.done, usecs_to_jiffies(bound))) {
		pr_info("# %s beside %s: not within %ld ms\n", checks[i].name, s->name,
			bound / 1000);
		note_stream(s, stream_stop(s));
		wait_for_completion(&p.done);
		p.us = max(p.us, bound + 1);
		note_stream(s, stream_start(s));
	}
	kthread_stop(thread);
	note(i, s, &p);
	return p.us <= bound;
}

/*
 * Try it once more if it was late: a machine may have become much busier than it was when
 * its figure beside nothing was taken, so that is taken again before.
 */
static void try_twice(const struct stream *s, unsigned int i)
{
	const struct stream *nothing = &streams[0];
	bool late = !try(s, i);

	if (late && beside(s) != BESIDE_NOTHING) {
		note_stream(s, stream_stop(s) ?: stream_start(nothing));
		try(nothing, i);
		note_stream(s, stream_stop(nothing) ?: stream_start(s));
		late = !try(s, i);
	}
	results[i].late[beside(s)] |= late;
}

static bool is_wanted(const struct stream *s)
{
	size_t len = strlen(s->name);
	const char *at = only;

	while (*at && (strncmp(at, s->name, len) || (at[len] && at[len] != ','))) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return !*only || *at;
}

static void try_all(const struct stream *s)
{
	unsigned int i, round;

	note_stream(s, stream_start(s));
	for (round = 0; round < rounds; round++)
		for (i = 0; i < ARRAY_SIZE(checks); i++) {
			if (checks[i].program && strstr(lacks, checks[i].program))
				results[i].lacking = true;
			else
				try_twice(s, i);
		}
	note_stream(s, stream_stop(s));
	pr_info("# beside %s: tried\n", s->name);
}

static void print_figure(char *text, size_t size, const struct result *r,
			 enum beside what)
{
	const struct worst *worst = &r->worst[what];

	if (!worst->stream)
		snprintf(text, size, "-");
	else if (r->late[what])
		snprintf(text, size, "> %ld (%s)", bound_us(r - results) / 1000,
			 worst->stream->name);
	else
		snprintf(text, size, "%ld.%ld (%s)", worst->us / 1000,
			 worst->us % 1000 / 100, worst->stream->name);
}

static void print_table(void)
{
	char text[NR_BESIDE][40];
	unsigned int i, what;

	pr_info("# | The longest, ms | beside nothing | beside a workqueue | beside a pool |\n");
	pr_info("# |---|---:|---:|---:|\n");
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		for (what = 0; what < NR_BESIDE; what++)
			print_figure(text[what], sizeof(text[what]), &results[i], what);
		pr_info("# | %s | %s | %s | %s |\n", checks[i].name,
			text[BESIDE_NOTHING], text[BESIDE_WQ], text[BESIDE_POOL]);
	}
}

static bool is_good(unsigned int i)
{
	const struct result *r = &results[i];

	return !r->err && !r->late[BESIDE_NOTHING] && !r->late[BESIDE_POOL];
}

static void print_results(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(checks); i++)
		pr_info("%sok %d - %s%s\n", is_good(i) ? "" : "not ", i + 1,
			checks[i].name,
			results[i].lacking ? " # SKIP not in this kernel" : "");
}

static struct task_struct *runner;

static int runner_fn(void *unused)
{
	unsigned int i;

	pr_info("1..%zu\n", ARRAY_SIZE(checks));
	for (i = 0; i < ARRAY_SIZE(streams); i++)
		if (is_wanted(&streams[i]))
			try_all(&streams[i]);
	print_table();
	print_results();
	WRITE_ONCE(request, "end");
	WRITE_ONCE(ended, true);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static int __init ants_neighbours_init(void)
{
	int err = -ENOMEM;

	chains = vzalloc(array_size(MAX_CHAINS, sizeof(*chains)));
	if (!chains)
		return err;
	unbound = alloc_workqueue("ants_neighbours", WQ_UNBOUND, 0);
	if (!unbound)
		goto err_chains;
	runner = kthread_run(runner_fn, NULL, "ants_neighbours");
	if (!IS_ERR(runner))
		return 0;
	err = PTR_ERR(runner);
	destroy_workqueue(unbound);
err_chains:
	vfree(chains);
	return err;
}

static void __exit ants_neighbours_exit(void)
{
	kthread_stop(runner);
	destroy_workqueue(unbound);
	vfree(chains);
}

module_init(ants_neighbours_init);
module_exit(ants_neighbours_exit);

MODULE_DESCRIPTION("ants: the rest of the kernel beside busy pools");
MODULE_AUTHOR("The ants authors");
MODULE_LICENSE("GPL");
