// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios in which a thread of the pool dies at a certain moment of its life,
 * or while a caller does something else to the pool.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "scenario_fault.h"

#define NR_MEMBERS	3

static void begin(unsigned int capacity, unsigned int depth)
{
	const struct ants_attrs attrs = { .capacity = capacity, .queue_depth = depth };

	faults_begin(&attrs);
}

/* --- callers that wait for something else ------------------------------------------- */

/* A caller gives up when it could have the place of the dead thread. */
static int submit_late(void *data)
{
	unsigned int i = (unsigned long)data;
	int err = ants_submit_timeout(pool, run_fn, &runs[i], 2);

	accepted[i] += !err;
	WARN(err && err != -ETIMEDOUT, "error %d", err);
	return 0;
}

static void run_timeout(void)
{
	begin(1, 0);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0));
	explore_call(submit_late, (void *)1, "a");
	explore_call(submit_one, (void *)2, "b");
	end(1, 1);
}

/* The dead thread may be the one that was above the new capacity. */
static void run_shrink(void)
{
	begin(2, 0);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0) || submit(1));
	explore_call(tune_fn, (void *)1, "tune");
	explore_call(submit_one, (void *)2, "a");
	end(1, 1);
}

static int drain_fn(void *unused)
{
	WARN_ON(ants_drain(pool));
	return 0;
}

static void run_drain(void)
{
	begin(2, 1);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0) || submit_fn(die_fn, 1));
	explore_call(drain_fn, NULL, "drain");
	explore_call(submit_one, (void *)2, "a");
	end(2, 2);
}

/* The pool is closed while a caller waits for the place of the dead thread. */
static void run_close(void)
{
	begin(1, 0);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0));
	explore_call(submit_one, (void *)1, "a");
	explore_call(release_fn, NULL, "release");
	explore_join();
	WARN_ON(ants_reboot(pool));
	end(1, 1);
}

/* --- what a thread calls on its own ------------------------------------------------- */

static void begin_hooks(const struct ants_attrs *attrs)
{
	struct ants_attrs own = *attrs;

	own.worker_init = init_fn;
	own.worker_exit = exit_fn;
	faults_begin(&own);
}

/* A thread that was idle for too long dies when it leaves, and a task comes. */
static void run_reap(void)
{
	begin_hooks(&(struct ants_attrs) { .capacity = 1, .expiry = 1 });
	WARN_ON(submit(4) || ants_flush(pool));
	doomed = 1;
	explore_begin();
	explore_call(submit_two, (void *)0, "a");
	explore_join();
	explore_end();
	WARN_ON(ants_pool_destroy(pool));
	WARN(told != 1, "told %u times", told);
	tasks_end();
}

/* A thread dies as it leaves because the pool shrinks. */
static void run_leave(void)
{
	begin_hooks(&(struct ants_attrs) { .capacity = 2, .min_workers = 1 });
	doomed = 1;
	tune_idle();
	explore_join();
	explore_end();
	WARN_ON(ants_pool_destroy(pool));
	WARN(told != 1, "told %u times", told);
	tasks_end();
}

/* Threads that die in worker_init are nothing that a flush waits for. */
static void run_init_flush(void)
{
	unsigned int nr;

	begin_hooks(&(struct ants_attrs) { .capacity = 2 });
	doomed = 2;
	explore_begin();
	WARN_ON(submit(0));
	explore_call(submit_one, (void *)1, "a");
	explore_call(flush_fn, NULL, "flush");
	explore_join();
	WARN_ON(ants_flush(pool));
	nr = 2 - doomed;
	doomed = 0;
	end(nr, 0);
}

static void run_init_destroy(void)
{
	begin_hooks(&(struct ants_attrs) { .capacity = 2, .queue_depth = 1 });
	doomed = 2;
	explore_begin();
	WARN_ON(submit(0) || submit(1));
	tasks_destroy();
}

/* --- work items and groups, whose waiters free them --------------------------------- */

static struct ants_delayed_work *item;
static unsigned int nr_runs;

static void begin_item(ants_work_fn_t fn)
{
	begin(1, 1);
	item = kzalloc(sizeof(*item), GFP_KERNEL);
	INIT_ANTS_DELAYED_WORK(item, fn);
	nr_runs = 0;
}

static int expect_death(void *unused)
{
	int result = 0;

	WARN_ON(ants_work_wait(&item->work, &result));
	WARN(result != -EFAULT, "result %d", result);
	return 0;
}

static int expect_death_and_free(void *unused)
{
	expect_death(NULL);
	kfree(item);
	return 0;
}

static void run_item_free(void)
{
	begin_item(die_item);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &item->work));
	explore_call(expect_death_and_free, NULL, "a");
	explore_call(submit_one, (void *)1, "b");
	end(1, 1);
}

static int flush_item(void *unused)
{
	WARN_ON(ants_work_flush(&item->work));
	return 0;
}

/* The timer is armed, unless the item is being cancelled; the function never returns. */
static int die_again(struct ants_work *work)
{
	int err = nr_runs++ ? 0 : ants_queue_delayed_work(pool, item, 1);

	WARN_ON(err && err != -ECANCELED);
	kthread_exit(1);
}

static void run_delayed(void)
{
	begin_item(die_again);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &item->work));
	explore_call(expect_death, NULL, "a");
	explore_call(flush_item, NULL, "b");
	explore_join();
	WARN_ON(nr_runs != 2);
	kfree(item);
	end(2, 2);
}

static int cancel_and_free(void *unused)
{
	ants_work_cancel_sync(&item->work);
	kfree(item);
	return 0;
}

/* The item may be cancelled before it can kill a thread. */
static void run_cancel_free(void)
{
	begin_item(die_again);
	explore_begin();
	WARN_ON(ants_queue_work(pool, &item->work));
	explore_call(cancel_and_free, NULL, "cancel");
	explore_call(submit_one, (void *)1, "b");
	explore_join();
	WARN_ON(ants_flush(pool));
	end(nr_faults(), nr_faults());
}

static int die_detached(struct ants_work *work)
{
	kfree(work);
	kthread_exit(1);
}

static void run_detached(void)
{
	struct ants_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	begin(1, 1);
	INIT_ANTS_WORK_DETACHED(work, die_detached);
	explore_begin();
	WARN_ON(ants_queue_work(pool, work));
	explore_call(submit_one, (void *)1, "a");
	explore_call(flush_fn, NULL, "flush");
	end(1, 1);
}

/**
 * struct party - a group with its members
 * @group: the group
 * @member: the members, the first of which dies
 */
struct party {
	struct ants_group group;
	struct ants_work member[NR_MEMBERS];
};

static struct party *party;

static int good_item(struct ants_work *work)
{
	return 0;
}

static void begin_party(unsigned int flags)
{
	unsigned int i;

	begin(2, 1);
	party = kzalloc(sizeof(*party), GFP_KERNEL);
	WARN_ON(ants_group_init(&party->group, pool, flags));
	for (i = 0; i < NR_MEMBERS; i++)
		INIT_ANTS_WORK(&party->member[i], i ? good_item : die_item);
}

static void submit_party(void)
{
	unsigned int i;

	for (i = 0; i < NR_MEMBERS; i++)
		WARN_ON(ants_group_submit(&party->group, &party->member[i]));
}

static int wait_and_free(void *unused)
{
	int error = 0;

	WARN_ON(ants_group_wait(&party->group, &error));
	WARN(error != -EFAULT && error != -ECANCELED, "error %d", error);
	kfree(party);
	return 0;
}

static void run_group_free(void)
{
	begin_party(0);
	explore_begin();
	submit_party();
	explore_call(wait_and_free, NULL, "wait");
	end(1, 1);
}

/* The death cancels what has not started, and members free themselves. */
static int take_and_free(void *unused)
{
	struct ants_work *work;
	unsigned int nr = 0;

	ants_group_seal(&party->group);
	while ((work = ants_group_next(&party->group, MAX_SCHEDULE_TIMEOUT))) {
		WARN_ON(IS_ERR(work));
		WARN_ON(work == party->member && work->result != -EFAULT);
		nr++;
	}
	WARN(nr != NR_MEMBERS, "%u members came", nr);
	kfree(party);
	return 0;
}

static void run_group_next(void)
{
	begin_party(ANTS_GROUP_CANCEL_ON_ERROR);
	submit_party();
	explore_begin();
	explore_call(take_and_free, NULL, "next");
	end(1, 1);
}

/* --- functions of the client that die, or that use the pool ------------------------- */

/* The caller of the call may be the last one to use the data. */
static void die_releasing(void *unused)
{
	released++;
	if (ants_in_pool(pool))
		kthread_exit(1);
}

static int good_call(void *unused)
{
	return 0;
}

static int call_fn(void *unused)
{
	int ret = ants_call_release(pool, good_call, NULL, 1, die_releasing);

	WARN(ret && ret != -EINPROGRESS && ret != -ETIMEDOUT, "result %d", ret);
	return 0;
}

/* In the function that takes the data of a call that its caller has left. */
static void run_release(void)
{
	begin(1, 1);
	explore_begin();
	explore_call(call_fn, NULL, "call");
	explore_call(submit_one, (void *)1, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	WARN(released != 1, "released %u times", released);
	end(nr_faults(), nr_faults());
}

static void submit_again(struct ants_pool *from, ants_fn_t fn, void *data)
{
	int err = ants_try_submit(from, run_fn, &runs[6]);

	told++;
	accepted[6] += !err;
	WARN(err && err != -ESHUTDOWN && err != -EAGAIN, "error %d", err);
}

/* The client, which is told, submits a task to a pool that is being destroyed. */
static void run_told(void)
{
	const struct ants_attrs attrs = { .capacity = 1, .fault = submit_again };

	told = 0;
	tasks_begin(&attrs);
	explore_begin();
	WARN_ON(submit_fn(die_fn, 0));
	explore_call(submit_one, (void *)1, "a");
	explore_call(release_fn, NULL, "release");
	explore_join();
	explore_end();
	WARN_ON(ants_pool_destroy(pool));
	WARN(told != 1, "told %u times", told);
	tasks_end();
}

/* --- callers that are no thread of the pool ------------------------------------------ */

/* Occupies the thread of the pool until the next task has run. */
static void wait_fn(void *data)
{
	shim_wait_until(has_run, data + sizeof(*runs));
	run_fn(data);
}

static int submit_and_die(void *unused)
{
	ants_submit(pool, die_fn, &runs[1]);
	return 0;
}

/*
 * The pool does not know that the caller has died in the task that it ran. No thread
 * that comes later may be taken for it.
 */
static void run_caller(void)
{
	const struct ants_attrs attrs = { .capacity = 1,
					  .flags = ANTS_CALLER_RUNS };
	struct task_struct *caller;

	faults_begin(&attrs);
	WARN_ON(submit_fn(wait_fn, 0));
	explore_begin();
	caller = shim_run(submit_and_die, NULL, "caller");
	get_task_struct(caller);
	shim_join(caller);
	accepted[1]++;
	WARN_ON(ants_flush(pool));
	WARN(refcount_read(&caller->users) < 2, "a record refers to nothing");
	/* As if the pool had been told. */
	ants_inline_abort(caller);
	put_task_struct(caller);
	end(0, 0);
}

/* --- threads that a task has changed ------------------------------------------------- */

/* The numbers of the threads that are to be replaced. */
static int changed[2];
static unsigned int nr_changed;
static bool replaces;

static void dirty_fn(void *data)
{
	run_fn(data);
	changed[nr_changed++] = current->pid;
	preempt_disable();
	preempt_disable();
	__set_current_state(TASK_UNINTERRUPTIBLE);
	shim_irq_disable();
	current->flags |= PF_MEMALLOC_NOIO;
	current->plug = &changed;
}

static void look_fn(void *data)
{
	unsigned int i;

	run_fn(data);
	for (i = 0; i < nr_changed; i++)
		WARN((current->pid == changed[i]) == replaces,
		     "thread %d is %sreplaced", current->pid, replaces ? "not " : "");
	WARN(current->flags & PF_MEMALLOC_NOIO, "a task may do no I/O");
	WARN(current->plug, "a task finds a plug");
	WARN(irqs_disabled(), "a task finds interrupts off");
	WARN(preempt_count(), "a task cannot be preempted");
	WARN(!task_is_running(current), "a task finds state not TASK_RUNNING");
}

/* The next task does not notice what the last one has left. */
static void run_changed(const struct ants_attrs *attrs)
{
	struct ants_stats stats;

	faults_begin(attrs);
	nr_changed = 0;
	replaces = !attrs->min_workers;
	shim_dirt_expected = true;
	explore_begin();
	WARN_ON(submit_fn(dirty_fn, 0) || submit_fn(look_fn, 1) ||
		submit_fn(dirty_fn, 2));
	explore_call(submit_one, (void *)3, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	shim_dirt_expected = false;
	ants_pool_stats(pool, &stats);
	WARN(stats.dirty != 2, "%llu dirty", stats.dirty);
	WARN(!replaces && stats.spawned != 1, "%llu spawned", stats.spawned);
	end(0, 0);
}

static void run_dirty(void)
{
	run_changed(&(struct ants_attrs) { .capacity = 1, .queue_depth = 2 });
}

/* The last thread of a pool that is to have one stays. */
static void run_dirty_stays(void)
{
	const struct ants_attrs attrs = { .capacity = 1, .queue_depth = 2,
					  .min_workers = 1 };

	run_changed(&attrs);
}

/* The pool changes its threads otherwise, too: with two of them, one is as good. */
static void run_dirty_tune(void)
{
	struct ants_stats stats;

	begin(2, 2);
	nr_changed = 0;
	replaces = true;
	shim_dirt_expected = true;
	explore_begin();
	WARN_ON(submit_fn(dirty_fn, 0) || submit_fn(look_fn, 1));
	explore_call(tune_fn, (void *)1, "tune");
	explore_call(submit_one, (void *)2, "a");
	explore_join();
	WARN_ON(ants_flush(pool));
	shim_dirt_expected = false;
	ants_pool_stats(pool, &stats);
	WARN(stats.dirty != 1, "%llu dirty", stats.dirty);
	end(0, 0);
}

static bool is_replaced(void *unused)
{
	return READ_ONCE(pool->counts.spawned) == 3 && ants_nr_running(pool) == 2;
}

/* One is made in its place, though no task asks for it, where so many are to be there. */
static void run_dirty_floor(void)
{
	faults_begin(&(struct ants_attrs) { .capacity = 2, .min_workers = 2 });
	nr_changed = 0;
	shim_dirt_expected = true;
	explore_begin();
	WARN_ON(submit_fn(dirty_fn, 0));
	shim_wait_until(is_replaced, NULL);
	shim_dirt_expected = false;
	end(0, 0);
}

static void die_back(struct ants_pool *unused)
{
	kthread_exit(0);
}

/* The thread leaves, and dies as it calls back that there is room. */
static void run_dirty_callback(void)
{
	faults_begin(&(struct ants_attrs) { .capacity = 1, .space_available = die_back });
	nr_changed = 0;
	replaces = true;
	shim_dirt_expected = true;
	explore_begin();
	WARN_ON(submit_fn(dirty_fn, 0));
	accepted[1] = !ants_try_submit(pool, look_fn, &runs[1]);
	explore_end();
	WARN_ON(ants_pool_destroy(pool));
	shim_dirt_expected = false;
	tasks_end();
}

const struct scenario scenarios_death[] = {
	{ "fault-timeout", run_timeout },
	{ "fault-shrink", run_shrink },
	{ "fault-drain", run_drain },
	{ "fault-close", run_close },
	{ "fault-reap", run_reap },
	{ "fault-leave", run_leave },
	{ "fault-init-flush", run_init_flush },
	{ "fault-init-destroy", run_init_destroy },
	{ "fault-item-free", run_item_free },
	{ "fault-delayed", run_delayed },
	{ "fault-cancel-free", run_cancel_free },
	{ "fault-detached", run_detached },
	{ "fault-group-free", run_group_free },
	{ "fault-group-next", run_group_next },
	{ "fault-release", run_release },
	{ "fault-told", run_told },
	{ "fault-caller", run_caller },
	{ "dirty", run_dirty },
	{ "dirty-stays", run_dirty_stays },
	{ "dirty-tune", run_dirty_tune },
	{ "dirty-floor", run_dirty_floor },
	{ "dirty-callback", run_dirty_callback },
	{}
};
