// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that die, with the knob fault_permille: they oops, or they end their
 * thread. A thread that is about to die makes its will: it settles the accounts
 * of everything that runs in it, and notes what its pool has to say of it. The
 * pool must say so once.
 *
 * Other tasks leave their thread in another state than they found it. The pool
 * must count that, and the next task must not notice.
 *
 * Each death is announced to test/verdict, so pr_fmt() is empty here.
 */
#include <linux/bug.h>
#include <linux/debug_locks.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../kunit/test_compat.h"
#include "client.h"
#include "torture.h"

/* Each costs some 12 KB for good, because its task_struct is kept. */
#define MOST_DEATHS	30000

/* Threads that have made their will and are not cleaned up after; no more die. */
#define NR_OBITUARIES	128

/* Time between two oopses, whose reports are long. */
#define OOPS_PAUSE	(HZ / 3)

/* Each choice that depends on the seed of a deed takes other bits of it. */
#define SALT_DEATH	0x1
#define SALT_OOPS	0x2
#define SALT_DIRT	0x3

/**
 * struct obituary - what a pool has to say of a thread that is about to die
 * @target: the target of the pool; NULL if the entry is free
 * @fn: the function that the pool names
 * @data: the argument that the pool names
 * @oops: the thread oopses, and no other may until this one is cleaned up after
 */
static struct obituary {
	struct target *target;
	ants_fn_t fn;
	const void *data;
	bool oops;
} obituaries[NR_OBITUARIES];

static DEFINE_SPINLOCK(obituaries_lock);

/* A report of the kernel must not be in the midst of another one. */
static atomic_t oopsing;
static unsigned long last_oops;

static u32 choice(const struct deed *deed, u32 salt, u32 n)
{
	return (hash_32(deed->fate ^ hash_32(salt, 32), 32) >> 8) % n;
}

/* --- the will ------------------------------------------------------------------ */

static struct obituary *obituary_find(const struct target *target, ants_fn_t fn,
				      const void *data)
{
	struct obituary *entry;

	for (entry = obituaries; entry < obituaries + NR_OBITUARIES; entry++)
		if (entry->target == target && entry->fn == fn &&
		    entry->data == data)
			return entry;
	return NULL;
}

/* Returns false if too many threads are about to die. */
static bool obituary_add(struct target *target, ants_fn_t fn, const void *data,
			 bool oops)
{
	struct obituary *entry;

	spin_lock(&obituaries_lock);
	entry = obituary_find(NULL, NULL, NULL);
	if (entry)
		*entry = (struct obituary){ target, fn, data, oops };
	spin_unlock(&obituaries_lock);
	return entry;
}

/* The fault() of all pools. */
static void hear(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	struct target *target = ants_pool_private(pool);
	struct obituary found = {}, *entry;

	spin_lock(&obituaries_lock);
	entry = obituary_find(target, fn, data);
	if (entry) {
		found = *entry;
		*entry = (struct obituary){};
	}
	spin_unlock(&obituaries_lock);
	if (!entry)
		broken("%s tells of a death that was none",
		       target->flavour->name);
	atomic_inc(&target->told);
	if (found.oops)
		atomic_set_release(&oopsing, 0);
}

/* The drop() of all pools: the task will not run. */
static void take_back(ants_fn_t fn, void *data)
{
	count(COUNT_DROPPED);
	if (fn == torture_task)
		ticket_cancel((unsigned long)data);
	else if (!is_filler(fn))
		broken("a task was dropped that nobody has submitted");
}

/*
 * Some pools take no more tasks after few deaths in a row, the others after more
 * than there are.
 */
void death_attrs(struct target *target, struct actor *actor,
		 struct ants_attrs *attrs)
{
	if (!knob_fault_permille.value)
		return;
	target->may_trip = rnd(actor, 2);
	attrs->max_faults = target->may_trip ? 1 + rnd(actor, 4) : INT_MAX;
	attrs->fault = hear;
	attrs->drop = take_back;
}

/* --- who dies ------------------------------------------------------------------ */

/* Is the caller in a thread of @target, with nothing of others on its stack? */
static bool is_own_thread(const struct target *target)
{
	return target && target != &system_target &&
	       current->flags & PF_KTHREAD &&
	       !(current->flags & PF_WQ_WORKER) && target_of_caller() == target;
}

/* May the thread die in all that it does? */
static bool is_mortal(const struct target *target)
{
	struct actor *actor = NULL;

	while ((actor = actor_of_caller(actor)))
		if (!actor->mortal || !actor->deed ||
		    actor->deed->target != target)
			return false;
	return count_read(COUNT_DEATHS) < MOST_DEATHS;
}

static bool may_oops(void)
{
	return time_after(jiffies, READ_ONCE(last_oops) + OOPS_PAUSE) &&
	       !atomic_xchg(&oopsing, 1);
}

/* The task in which @deed runs, maybe inside of others: what the pool knows. */
static const struct deed *outermost(const struct deed *deed)
{
	struct actor *actor = NULL;

	while ((actor = actor_of_caller(actor)))
		if (actor->deed->depth < deed->depth)
			deed = actor->deed;
	return deed;
}

/*
 * Settle the accounts of what runs in the thread: @deed, and the deeds around it,
 * each of which has an actor. To the pool a call inside of a task is no task.
 */
static void make_will(const struct deed *deed)
{
	int lost = outermost(deed)->is_call + !deed->is_call;
	struct actor *actor = NULL;

	deed->dies(deed->arg);
	while ((actor = actor_of_caller(actor))) {
		lost += !actor->deed->is_call;
		actor->deed->dies(actor->deed->arg);
	}
	count(COUNT_DEATHS);
	atomic_inc(&deed->target->deaths);
	atomic_add(lost, &deed->target->lost);
	thread_data_drop(deed->target);
	actors_abort();
}

/* --- ways to die --------------------------------------------------------------- */

static void announce_death(void)
{
	pr_notice("ants-expect: ^ants: pool torture-.*: thread %d has died in\n",
		  task_pid_nr(current));
}

static void __noreturn end_thread(void)
{
	announce_death();
	kthread_complete_and_exit(NULL, 1);
}

/* KASAN would report that, and be blind from then on. */
static noinline __no_sanitize_address void write_null(void)
{
	WRITE_ONCE(*(int *)NULL, 0);
}

static void oops(u32 how)
{
	WRITE_ONCE(last_oops, jiffies);
	announce_death();
	if (how % 4 == 0) {
		pr_notice("ants-expect: ^kernel BUG at .*death\\.c:\n");
		BUG();
	}
	pr_notice("ants-expect: ^BUG: kernel NULL pointer dereference, address: 0+$\n");
	if (how % 4 == 1)
		preempt_disable();
	else if (how % 4 == 2)
		local_irq_disable();
	write_null();
}

static void meet_fate(const struct deed *deed)
{
	bool oopses = choice(deed, SALT_OOPS, 2) && may_oops();
	const struct deed *outer = outermost(deed);

	if (!obituary_add(deed->target, outer->fn, outer->data, oopses)) {
		if (oopses)
			atomic_set_release(&oopsing, 0);
		return;
	}
	make_will(deed);
	if (oopses)
		oops(choice(deed, SALT_OOPS, 64) / 2);
	end_thread();
}

/* The thread dies if @deed is to, and may. */
void die_if_due(const struct deed *deed)
{
	if (choice(deed, SALT_DEATH, 1000) < knob_fault_permille.value &&
	    is_own_thread(deed->target) && is_mortal(deed->target))
		meet_fate(deed);
}

/* The thread dies in a function that its pool calls before or after all tasks. */
void die_in_hook(struct target *target)
{
	if (count_read(COUNT_DEATHS) >= MOST_DEATHS ||
	    !obituary_add(target, NULL, NULL, false))
		return;
	count(COUNT_DEATHS);
	atomic_inc(&target->deaths);
	end_thread();
}

/* For the client: its task, whose account is settled, may end the thread. */
void torture_end_thread(unsigned long number)
{
	const struct deed deed = { .fate = number };

	if (current->flags & PF_WQ_WORKER ||
	    choice(&deed, SALT_DEATH, 1000) >= knob_fault_permille.value)
		return;
	count(COUNT_DEATHS);
	end_thread();
}
EXPORT_SYMBOL_GPL(torture_end_thread);

/* --- what tasks leave behind ---------------------------------------------------- */

/*
 * The last thing that a function does. Not if it runs inside of another task,
 * which would go on like that.
 */
void leave_dirt(const struct deed *deed)
{
	u32 what = choice(deed, SALT_DIRT, 1000);

	if (what >= knob_fault_permille.value || !is_own_thread(deed->target) ||
	    actor_of_caller(NULL))
		return;
	count(COUNT_DIRTY);
	atomic_inc(&deed->target->dirty);
	switch (choice(deed, SALT_OOPS, 5)) {
	case 0:
		preempt_disable();
		break;
	case 1:
		local_bh_disable();
		break;
	case 2:
		rcu_read_lock();
		/* For sparse: this is on purpose. */
		__release(RCU);
		break;
	case 3:
		__set_current_state(TASK_UNINTERRUPTIBLE);
		break;
	default:
		preempt_disable();
		local_irq_disable();
	}
}

/* What the task before has left was mended. */
void check_clean(const struct target *target)
{
	if (!is_own_thread(target))
		return;
	if (irqs_disabled() || preempt_count() || rcu_preempt_depth())
		broken("a task of %s begins with interrupts %s, %x, %d",
		       target->flavour->name, irqs_disabled() ? "off" : "on",
		       preempt_count(), rcu_preempt_depth());
}

/* --- the judgement -------------------------------------------------------------- */

/* All tasks of the pool have ended. */
void judge_deaths(const struct target *target)
{
	int deaths = atomic_read(&target->deaths);
	int told = atomic_read(&target->told);

	if (deaths != told)
		broken("%d threads of %s have died, %d were reported", deaths,
		       target->flavour->name, told);
}

void judge_fault_stats(const struct target *target,
		       const struct ants_stats *stats)
{
	judge_deaths(target);
	if (stats->faults != atomic_read(&target->deaths) ||
	    stats->lost != atomic_read(&target->lost) ||
	    stats->dirty != atomic_read(&target->dirty))
		broken("%s counts %llu faults, %llu lost, %llu dirty, not %d, %d, %d",
		       target->flavour->name, stats->faults, stats->lost,
		       stats->dirty, atomic_read(&target->deaths),
		       atomic_read(&target->lost), atomic_read(&target->dirty));
}

/*
 * The kernel watches the locks only until the first oops. It is told now, because
 * its report of the first thread that ends in a task could be anywhere.
 */
void deaths_begin(void)
{
	if (knob_fault_permille.value)
		debug_locks_off();
}
