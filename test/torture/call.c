// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all calls have in common: each is counted and watched while it lasts,
 * one of its allocations may fail, and its error must be one that the headers
 * allow.
 */
#define pr_fmt(fmt) "ants_torture: " fmt

#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#include "torture.h"

/* More than any call allocates before it is done. */
#define MOST_ALLOCATIONS	24

/* Tasks that make calls at the same time; any further task makes none. */
#define NR_SHARED_ACTORS	64

#define NR_WATCHED		160

static struct actor shared_actors[NR_SHARED_ACTORS];

/* Threads and interrupts; entries are never removed. */
static struct actor *watched[NR_WATCHED];
static atomic_t nr_watched;

/* A bit for each error of ants. */
enum errbit {
	SHUTDOWN = BIT(0),
	AGAIN = BIT(1),
	BUSY = BIT(2),
	TIMEDOUT = BIT(3),
	INTR = BIT(4),
	DEADLK = BIT(5),
	INVAL = BIT(6),
	PERM = BIT(8),
	NOMEM = BIT(9),
	ALREADY = BIT(10),
	CANCELED = BIT(11),
	INPROGRESS = BIT(12),
	/* the result of a function of this test */
	OWN = BIT(13),
	/* these two only if tasks die */
	IO = BIT(15),
	FAULT = BIT(16),
	/* the call never succeeds */
	FAILS = BIT(14),
};

/**
 * struct contract - what the headers say about a call
 * @name: the name of the function
 * @errors: bits of enum errbit that it may return
 */
struct contract {
	const char *name;
	unsigned int errors;
};

#define CLOSED		(SHUTDOWN | IO)
#define SUBMITS		(CLOSED | BUSY | INTR | DEADLK)

static const struct contract contracts[NR_CALLS] = {
	[CALL_NONE] = { "no call", 0 },
	[CALL_SUBMIT] = { "ants_submit", SUBMITS | AGAIN | NOMEM },
	[CALL_SUBMIT_TIMEOUT] = { "ants_submit_timeout", SUBMITS | TIMEDOUT },
	[CALL_SUBMIT_PRIO] = { "ants_submit_prio", SUBMITS | TIMEDOUT },
	[CALL_SUBMIT_BATCH] = { "ants_submit_batch", SUBMITS | AGAIN | NOMEM },
	[CALL_TRY_SUBMIT] = { "ants_try_submit", CLOSED | AGAIN | NOMEM },
	[CALL_INVOKE] = { "ants_invoke", SUBMITS | AGAIN | NOMEM },
	[CALL_INVOKE_TIMEOUT] = { "ants_invoke_timeout", SUBMITS | TIMEDOUT },
	[CALL_TRY_INVOKE] = { "ants_try_invoke", CLOSED | AGAIN | NOMEM },
	[CALL_INVOKE_NO_FUNC] = { "ants_invoke without a function",
				  INVAL | FAILS },
	[CALL_CALL] = { "ants_call", SUBMITS | TIMEDOUT | OWN | FAULT },
	[CALL_CALL_RELEASE] = { "ants_call_release", SUBMITS | TIMEDOUT |
				NOMEM | INPROGRESS | OWN |
				FAULT },
	[CALL_FOR_EACH] = { "ants_for_each", CLOSED | OWN | FAULT },
	[CALL_QUEUE_WORK] = { "ants_queue_work", CLOSED | AGAIN | ALREADY |
			      CANCELED },
	[CALL_QUEUE_WORK_TIMEOUT] = { "ants_queue_work_timeout", SUBMITS |
				      TIMEDOUT | ALREADY | CANCELED },
	[CALL_QUEUE_DELAYED] = { "ants_queue_delayed_work", CLOSED | ALREADY |
				 CANCELED },
	[CALL_MOD_DELAYED] = { "ants_mod_delayed_work", CLOSED | ALREADY |
			       CANCELED },
	[CALL_WORK_WAIT] = { "ants_work_wait", INTR | DEADLK },
	[CALL_WORK_WAIT_TIMEOUT] = { "ants_work_wait_timeout", INTR | DEADLK |
				     TIMEDOUT },
	[CALL_WORK_WAIT_DETACHED] = { "ants_work_wait of a detached item",
				      INVAL | FAILS },
	[CALL_WORK_FLUSH] = { "ants_work_flush", INTR | DEADLK },
	[CALL_WORK_CANCEL] = { "ants_work_cancel", 0 },
	[CALL_WORK_CANCEL_SYNC] = { "ants_work_cancel_sync", 0 },
	[CALL_GROUP_SUBMIT] = { "ants_group_submit", SUBMITS | AGAIN |
				CANCELED },
	[CALL_GROUP_SUBMIT_SEALED] = { "ants_group_submit to a sealed group",
				       CLOSED | CANCELED | ALREADY | FAILS },
	[CALL_GROUP_WAIT] = { "ants_group_wait", INTR | DEADLK },
	[CALL_GROUP_WAIT_TIMEOUT] = { "ants_group_wait_timeout", INTR | DEADLK |
				      TIMEDOUT },
	[CALL_GROUP_NEXT] = { "ants_group_next", INTR | DEADLK | TIMEDOUT },
	[CALL_GROUP_CANCEL] = { "ants_group_cancel", 0 },
	[CALL_GROUP_RESET] = { "ants_group_reset", BUSY },
	[CALL_CANCEL_PENDING] = { "ants_cancel_pending", 0 },
	[CALL_FLUSH] = { "ants_flush", INTR },
	[CALL_FLUSH_TIMEOUT] = { "ants_flush_timeout", INTR | TIMEDOUT },
	[CALL_DRAIN] = { "ants_drain", INTR },
	[CALL_DRAIN_TIMEOUT] = { "ants_drain_timeout", INTR | TIMEDOUT },
	[CALL_WAIT_FOR_ITSELF] = { "a flush by a task", DEADLK | FAILS },
	[CALL_TUNE] = { "ants_tune", NOMEM | INTR },
	[CALL_SET_NICE] = { "ants_set_nice", NOMEM | INTR },
	[CALL_SET_CPUMASK] = { "ants_set_cpumask", NOMEM | INTR },
	[CALL_RELEASE] = { "ants_release", 0 },
	[CALL_RELEASE_TIMEOUT] = { "ants_release_timeout", INTR | TIMEDOUT },
	[CALL_REBOOT] = { "ants_reboot", BUSY | NOMEM | INTR },
	[CALL_CREATE] = { "ants_pool_create", NOMEM | INTR },
	[CALL_DESTROY] = { "ants_pool_destroy", 0 },
	[CALL_STATS] = { "ants_pool_stats", 0 },
	[CALL_SYSTEM_FORBIDDEN] = { "a change of the system pool",
				    PERM | FAILS },
	[CALL_SYSTEM_FLUSH] = { "a flush of the system pool", INVAL | FAILS },
	[CALL_SHARD_FORBIDDEN] = { "the release of a shard", PERM | FAILS },
	[CALL_MULTI_CREATE] = { "ants_multi_create", NOMEM | INTR },
	[CALL_MULTI_DESTROY] = { "ants_multi_destroy", 0 },
	[CALL_MULTI_SUBMIT] = { "ants_multi_submit", SUBMITS | AGAIN | NOMEM },
	[CALL_MULTI_SUBMIT_TIMEOUT] = { "ants_multi_submit_timeout",
					SUBMITS | TIMEDOUT },
	[CALL_MULTI_TRY_SUBMIT] = { "ants_multi_try_submit",
				    CLOSED | AGAIN | NOMEM },
	[CALL_MULTI_FLUSH] = { "ants_multi_flush", INTR },
	[CALL_MULTI_FLUSH_TIMEOUT] = { "ants_multi_flush_timeout",
				       INTR | TIMEDOUT },
	[CALL_MULTI_TUNE] = { "ants_multi_tune", NOMEM | INTR },
	[CALL_MULTI_SET] = { "ants_multi_set_*", NOMEM | INTR },
	[CALL_MULTI_LOCAL_CPUMASK] = { "ants_multi_set_cpumask of ANTS_LOCAL",
				       INVAL | FAILS },
	[CALL_MULTI_RELEASE] = { "ants_multi_release", 0 },
	[CALL_MULTI_RELEASE_TIMEOUT] = { "ants_multi_release_timeout",
					 INTR | TIMEDOUT },
	[CALL_MULTI_REBOOT] = { "ants_multi_reboot", BUSY | NOMEM | INTR },
};

static atomic_long_t made[NR_CALLS];
static atomic_long_t refused[NR_CALLS];

static unsigned int bit_of(int err)
{
	switch (err) {
	case -ESHUTDOWN:	return SHUTDOWN;
	case -EAGAIN:		return AGAIN;
	case -EBUSY:		return BUSY;
	case -ETIMEDOUT:	return TIMEDOUT;
	case -EINTR:		return INTR;
	case -EDEADLK:		return DEADLK;
	case -EINVAL:		return INVAL;
	case -EPERM:		return PERM;
	case -ENOMEM:		return NOMEM;
	case -EALREADY:		return ALREADY;
	case -ECANCELED:	return CANCELED;
	case -EINPROGRESS:	return INPROGRESS;
	case -EREMOTEIO:	return OWN;
	case -EIO:		return IO;
	case -EFAULT:		return FAULT;
	default:		return 0;
	}
}

static bool allowed(enum call call, int err)
{
	if (err >= 0)
		return !(contracts[call].errors & FAILS);
	if ((err == -EIO || err == -EFAULT) && !knob_fault_permille.value)
		return false;
	return contracts[call].errors & bit_of(err);
}

/* Make the n-th allocation from here on fail, for a random n. */
static void fault_arm(struct actor *actor)
{
#ifdef CONFIG_FAULT_INJECTION
	if (!actor->atomic && chance(actor, knob_fail_percent.value))
		WRITE_ONCE(current->fail_nth, 1 + rnd(actor, MOST_ALLOCATIONS));
#endif
}

static void fault_disarm(struct actor *actor)
{
#ifdef CONFIG_FAULT_INJECTION
	if (!actor->atomic && current->fail_nth)
		WRITE_ONCE(current->fail_nth, 0);
#endif
}

struct actor *call_enter(struct actor *actor, enum call call)
{
	count(COUNT_CALLS);
	atomic_long_inc(&made[call]);
	WRITE_ONCE(actor->since, jiffies);
	WRITE_ONCE(actor->reported, false);
	WRITE_ONCE(actor->call, call);
	fault_arm(actor);
	return actor;
}

int call_leave(struct actor *actor, int err)
{
	enum call call = actor->call;

	fault_disarm(actor);
	WRITE_ONCE(actor->call, CALL_NONE);
	if (!allowed(call, err))
		broken("%s returned %d", contracts[call].name, err);
	if (err < 0)
		atomic_long_inc(&refused[call]);
	if (err == -ETIMEDOUT)
		count(COUNT_TIMEOUTS);
	if (err == -ENOMEM)
		count(COUNT_FAULTS);
	if (err == -EIO && !atomic_xchg(&actor->target->tripped, 1))
		count(COUNT_TRIPS);
	return err;
}

/* Print how often each call was made, and how often it was refused. */
void calls_print(void)
{
	unsigned int i;

	for (i = CALL_NONE + 1; i < NR_CALLS; i++)
		pr_notice("%8ld made, %8ld refused: %s\n",
			  atomic_long_read(&made[i]),
			  atomic_long_read(&refused[i]), contracts[i].name);
}

/* Report calls that were never made. Returns their number. */
unsigned int calls_missing(void)
{
	unsigned int i, missing = 0;

	for (i = CALL_NONE + 1; i < NR_CALLS; i++) {
		if (atomic_long_read(&made[i]))
			continue;
		pr_notice("never made: %s\n", contracts[i].name);
		missing++;
	}
	return missing;
}

/* --- callers ------------------------------------------------------------------ */

/* The decisions of @actor from here on follow from @seed. */
void actor_seed(struct actor *actor, u32 seed, unsigned int depth)
{
	prandom_seed_state(&actor->rnd, (u64)seed << 32 | ~seed);
	actor->depth = depth;
}

/* An actor for a task, or NULL if none is left. */
struct actor *actor_claim(u32 seed, unsigned int depth)
{
	unsigned int i;

	for (i = 0; i < NR_SHARED_ACTORS; i++) {
		struct actor *actor = &shared_actors[i];

		if (atomic_cmpxchg(&actor->in_use, 0, 1))
			continue;
		actor_seed(actor, seed, depth);
		actor->deed = NULL;
		actor->mortal = false;
		actor->held = NULL;
		actor->orphan = NULL;
		actor->number = 0;
		get_task_struct(current);
		WRITE_ONCE(actor->task, current);
		return actor;
	}
	return NULL;
}

void actor_drop(struct actor *actor)
{
	struct task_struct *task = actor->task;

	WRITE_ONCE(actor->task, NULL);
	atomic_set_release(&actor->in_use, 0);
	put_task_struct(task);
}

/* The next actor behind @after that acts in the current thread, or NULL. */
struct actor *actor_of_caller(struct actor *after)
{
	struct actor *actor = after ? after + 1 : shared_actors;

	for (; actor < shared_actors + NR_SHARED_ACTORS; actor++)
		if (READ_ONCE(actor->task) == current)
			return actor;
	return NULL;
}

/* The thread of @actor is about to die in its call. */
static void actor_abort(struct actor *actor)
{
	fault_disarm(actor);
	WRITE_ONCE(actor->call, CALL_NONE);
	/* The call was made, and has begun. */
	if (actor->number)
		ticket_close(actor->number, 0);
	if (actor->orphan)
		llist_add(&actor->orphan->node, &actor->target->orphans);
	if (actor->held)
		target_put(actor->held);
	actor_drop(actor);
}

void actors_abort(void)
{
	struct actor *actor = NULL;

	while ((actor = actor_of_caller(actor)))
		actor_abort(actor);
}

void actor_watch(struct actor *actor)
{
	int i = atomic_inc_return(&nr_watched) - 1;

	if (i < NR_WATCHED)
		WRITE_ONCE(watched[i], actor);
}

/* Report, once, that an actor has been in a call for too long. */
static bool actor_stuck(struct actor *actor)
{
	enum call call = READ_ONCE(actor->call);
	struct task_struct *task = READ_ONCE(actor->task);

	if (call == CALL_NONE ||
	    time_before(jiffies, READ_ONCE(actor->since) +
				 knob_max_wait.value * HZ))
		return false;
	if (READ_ONCE(actor->reported))
		return true;
	WRITE_ONCE(actor->reported, true);
	broken("stuck for %u s in %s of target %u (%s)", knob_max_wait.value,
	       contracts[call].name, actor->target->index,
	       actor->target->flavour->name);
	/* The memory of a stuck caller must stay. */
	if (task)
		sched_show_task(task);
	return true;
}

bool actors_stuck(void)
{
	bool stuck = false;
	int i;

	for (i = 0; i < NR_WATCHED && READ_ONCE(watched[i]); i++)
		stuck |= actor_stuck(watched[i]);
	for (i = 0; i < NR_SHARED_ACTORS; i++)
		if (atomic_read(&shared_actors[i].in_use))
			stuck |= actor_stuck(&shared_actors[i]);
	return stuck;
}
