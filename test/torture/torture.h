/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ants_torture: a client that makes all calls of ants at once, at random. See
 * README.rst.
 */
#ifndef _ANTS_TORTURE_H
#define _ANTS_TORTURE_H

#include <linux/ants.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/llist.h>
#include <linux/prandom.h>
#include <linux/sched.h>

/* knobs.c: the parameters of the module; their descriptions are there. */

struct knob {
	const char *name;
	unsigned int value;
	unsigned int least;
	unsigned int most;
};

extern struct knob knob_seed;
extern struct knob knob_seconds;
extern struct knob knob_threads;
extern struct knob knob_targets;
extern struct knob knob_kickers;
extern struct knob knob_kick_us;
extern struct knob knob_fail_percent;
extern struct knob knob_nest_percent;
extern struct knob knob_fault_permille;
extern struct knob knob_unloads;
extern struct knob knob_spare_s;
extern struct knob knob_restart_s;
extern struct knob knob_max_wait;

/* count.c: sums for the verdict. */

enum count {
	COUNT_CALLS,
	COUNT_TASKS,
	COUNT_RUN,
	COUNT_REFUSED,
	COUNT_CANCELLED,
	COUNT_TIMEOUTS,
	COUNT_FAULTS,
	COUNT_DEATHS,
	COUNT_DIRTY,
	COUNT_TRIPS,
	COUNT_DROPPED,
	COUNT_POOLS,
	COUNT_UNLOADS,
	COUNT_HOTPLUG,
	COUNT_SUSPENDS,
	COUNT_VIOLATIONS,
	NR_COUNTS,
};

void count_add(enum count what, long by);
long count_read(enum count what);

static inline void count(enum count what)
{
	count_add(what, 1);
}

/* Report that ants broke a promise; the verdict is FAILURE from then on. */
__printf(1, 2) void broken(const char *fmt, ...);

/* call.c: the callers, and the errors that a call may return. */

enum call {
	CALL_NONE,
	CALL_SUBMIT,
	CALL_SUBMIT_TIMEOUT,
	CALL_SUBMIT_PRIO,
	CALL_SUBMIT_BATCH,
	CALL_TRY_SUBMIT,
	CALL_INVOKE,
	CALL_INVOKE_TIMEOUT,
	CALL_TRY_INVOKE,
	CALL_INVOKE_NO_FUNC,
	CALL_CALL,
	CALL_CALL_RELEASE,
	CALL_FOR_EACH,
	CALL_QUEUE_WORK,
	CALL_QUEUE_WORK_TIMEOUT,
	CALL_QUEUE_DELAYED,
	CALL_MOD_DELAYED,
	CALL_WORK_WAIT,
	CALL_WORK_WAIT_TIMEOUT,
	CALL_WORK_WAIT_DETACHED,
	CALL_WORK_FLUSH,
	CALL_WORK_CANCEL,
	CALL_WORK_CANCEL_SYNC,
	CALL_GROUP_SUBMIT,
	CALL_GROUP_SUBMIT_SEALED,
	CALL_GROUP_WAIT,
	CALL_GROUP_WAIT_TIMEOUT,
	CALL_GROUP_NEXT,
	CALL_GROUP_CANCEL,
	CALL_GROUP_RESET,
	CALL_CANCEL_PENDING,
	CALL_FLUSH,
	CALL_FLUSH_TIMEOUT,
	CALL_DRAIN,
	CALL_DRAIN_TIMEOUT,
	CALL_WAIT_FOR_ITSELF,
	CALL_TUNE,
	CALL_SET_NICE,
	CALL_SET_CPUMASK,
	CALL_RELEASE,
	CALL_RELEASE_TIMEOUT,
	CALL_REBOOT,
	CALL_CREATE,
	CALL_DESTROY,
	CALL_STATS,
	CALL_SYSTEM_FORBIDDEN,
	CALL_SYSTEM_FLUSH,
	CALL_SHARD_FORBIDDEN,
	CALL_MULTI_CREATE,
	CALL_MULTI_DESTROY,
	CALL_MULTI_SUBMIT,
	CALL_MULTI_SUBMIT_TIMEOUT,
	CALL_MULTI_TRY_SUBMIT,
	CALL_MULTI_FLUSH,
	CALL_MULTI_FLUSH_TIMEOUT,
	CALL_MULTI_TUNE,
	CALL_MULTI_SET,
	CALL_MULTI_LOCAL_CPUMASK,
	CALL_MULTI_RELEASE,
	CALL_MULTI_RELEASE_TIMEOUT,
	CALL_MULTI_REBOOT,
	NR_CALLS,
};

struct deed;
struct target;

/**
 * struct orphan - memory that a pool still uses after the death of its owner
 * @node: in the list of the target
 * @end: the pool is gone: judge what is in it, and free it
 */
struct orphan {
	struct llist_node node;
	void (*end)(struct orphan *orphan, struct target *target);
};

/**
 * struct actor - makes calls: a thread, a task or an interrupt
 * @rnd: the stream of random numbers that decide what it does
 * @depth: 0 for a thread; for a task, one more than that of its submitter
 * @atomic: in an interrupt or under a lock
 * @waits: the call may wait
 * @in_use: a task uses this actor, one of those that tasks share
 * @task: the thread that calls
 * @target: the target of the call
 * @pool: the pool, or the shard, of the call
 * @call: the call that it is in
 * @since: jiffies when that call began
 * @reported: the watchdog has reported this call
 * @deed: what acts, if that is a task
 * @mortal: its thread may die in the operation
 * @held: another target that it uses, or NULL
 * @orphan: what belongs to @target if the thread dies, or NULL
 * @number: the ticket of a call that runs in the caller itself, or 0
 */
struct actor {
	struct rnd_state rnd;
	unsigned int depth;
	bool atomic;
	bool waits;
	atomic_t in_use;
	struct task_struct *task;
	struct target *target;
	struct ants_pool *pool;
	enum call call;
	unsigned long since;
	bool reported;
	const struct deed *deed;
	bool mortal;
	struct target *held;
	struct orphan *orphan;
	unsigned long number;
};

/*
 * CALL() - make one call of ants
 * @_actor: the caller
 * @_id: the call, CALL_@_id
 * @_expr: the call itself, an int; an error that it may not return is reported
 */
#define CALL(_actor, _id, _expr)					\
({									\
	struct actor *__actor = call_enter(_actor, CALL_##_id);		\
									\
	call_leave(__actor, _expr);					\
})

struct actor *call_enter(struct actor *actor, enum call call);
int call_leave(struct actor *actor, int err);
void calls_print(void);
unsigned int calls_missing(void);

void actor_seed(struct actor *actor, u32 seed, unsigned int depth);
struct actor *actor_claim(u32 seed, unsigned int depth);
void actor_drop(struct actor *actor);
struct actor *actor_of_caller(struct actor *after);
void actors_abort(void);
bool actors_stuck(void);
void actor_watch(struct actor *actor);

/* A number below @n from the stream of @actor. */
static inline u32 rnd(struct actor *actor, u32 n)
{
	return prandom_u32_state(&actor->rnd) % n;
}

/* True in @percent of all cases. */
static inline bool chance(struct actor *actor, unsigned int percent)
{
	return rnd(actor, 100) < percent;
}

/* ticket.c: each task has a ticket, whose number is never used again. */

#define MAX_DEPTH	3

/**
 * struct ticket_info - what a task learns from its ticket
 * @target: the target that it was submitted to
 * @rnd: decides what it does
 * @depth: how many tasks it is nested in
 */
struct ticket_info {
	struct target *target;
	u32 rnd;
	unsigned int depth;
};

void tickets_foreign_end(void);
int tickets_init(void);
void tickets_exit(void);
unsigned long ticket_open(struct target *target, u32 rnd, unsigned int depth);
void ticket_close(unsigned long number, int err);
bool ticket_begin(unsigned long number, struct ticket_info *info);
void ticket_done(unsigned long number);
void ticket_cancel(unsigned long number);
void ticket_die(void *number);
bool ticket_has_died(unsigned long number);
bool tickets_stuck(void);
unsigned int tickets_left(const struct target *target);

/* target.c: the pools to call, of all kinds. */

enum kind {
	KIND_POOL,
	KIND_ORDERED,
	KIND_DEVM,
	KIND_MULTI,
};

/**
 * struct flavour - how a target is made
 * @name: part of the pool's name
 * @kind: decides which function makes it
 * @strategy: the strategy of a multi
 * @attrs: its attributes
 */
struct flavour {
	const char *name;
	enum kind kind;
	enum ants_strategy strategy;
	struct ants_attrs attrs;
};

/**
 * struct item - a work item with its accounts
 * @dwork: the item; @dwork.work alone if it never gets a delay
 * @rnd: decides what it does
 * @depth: how many tasks it is nested in
 * @delayed: it was queued with a delay
 * @accepted: number of calls that queued it
 * @runs: how often it ran
 * @cancels: number of runs that a cancel reports as cancelled
 * @picked: number of runs that ants_cancel_pending() has cancelled
 * @unsure: number of calls that waited for room and were cancelled
 * @again: how often it queues itself again
 * @died: its last run has taken the thread along
 * @result: what it returns
 */
struct item {
	struct ants_delayed_work dwork;
	u32 rnd;
	unsigned int depth;
	bool delayed;
	atomic_t accepted;
	atomic_t runs;
	atomic_t cancels;
	atomic_t picked;
	atomic_t unsure;
	atomic_t again;
	bool died;
	int result;
};

#define NR_SHARED	4

/**
 * struct target - a pool, or a multi, to call
 * @users: number of callers that may begin a call; negative: none may any more
 * @index: a task may wait only for targets with a higher index
 * @pool: the pool, or NULL
 * @multi: the multi, or NULL
 * @dev: the device whose driver the pool ends with, or NULL
 * @flavour: how it was made
 * @tickets: number of open tickets
 * @inits: how often worker_init was called
 * @exits: number of contexts that worker_init has made and worker_exit has not
 *	taken apart
 * @closed: it was released at least once
 * @may_trip: it may refuse tasks after too many faults
 * @tripped: it does
 * @deaths: number of its threads that have died, or are about to
 * @told: number of those of which the pool has told
 * @lost: number of tasks that have died with them
 * @dirty: number of tasks that have left something behind
 * @orphans: memory of tasks that have died
 * @renewing: an actor is about to end it
 * @shared: work items that all actors queue and cancel
 */
struct target {
	atomic_t users;
	unsigned int index;
	struct ants_pool *pool;
	struct ants_multi *multi;
	struct device *dev;
	const struct flavour *flavour;
	atomic_t tickets;
	atomic_t inits;
	atomic_t exits;
	atomic_t closed;
	bool may_trip;
	atomic_t tripped;
	atomic_t deaths;
	atomic_t told;
	atomic_t lost;
	atomic_t dirty;
	struct llist_head orphans;
	atomic_t renewing;
	struct item shared[NR_SHARED];
};

extern struct target system_target;
extern struct item wanderers[NR_SHARED];

int targets_init(struct actor *actor);
void targets_exit(struct actor *actor);
struct target *target_get(struct actor *actor);
void target_put(struct target *target);
int target_make(struct target *target, struct actor *actor);
void target_end(struct target *target, struct actor *actor, bool drained);
void target_judge(struct target *target);
void target_renew(struct target *target, struct actor *actor);
struct target *target_of_caller(void);
struct ants_pool *target_pool(struct target *target);
void thread_data_drop(struct target *target);

/* task.c: what tasks do. */

/**
 * struct deed - a function of this module that runs in a pool
 * @seed: decides what it does
 * @fate: decides whether it dies
 * @depth: how many tasks it is nested in
 * @is_call: it is a call
 * @target: the target of the pool
 * @fn: the function that the pool names if the thread dies in it
 * @data: and its argument
 * @dies: called with @arg: the thread is about to die
 * @arg: what it is
 */
struct deed {
	u32 seed;
	u32 fate;
	unsigned int depth;
	bool is_call;
	struct target *target;
	ants_fn_t fn;
	const void *data;
	void (*dies)(void *arg);
	void *arg;
};

void torture_task(void *number);
void task_run(unsigned long number, ants_fn_t fn, const void *data);
void behave(const struct deed *deed);

/* death.c: tasks that die. */

void death_attrs(struct target *target, struct actor *actor,
		 struct ants_attrs *attrs);
void die_if_due(const struct deed *deed);
void die_in_hook(struct target *target);
void leave_dirt(const struct deed *deed);
void check_clean(const struct target *target);
void judge_deaths(const struct target *target);
void judge_fault_stats(const struct target *target,
		       const struct ants_stats *stats);
void deaths_begin(void);

/* The operations, by kind. */

/**
 * struct op - something that an actor may do
 * @fn: does it, to @actor->target
 * @weight: how often it is chosen, relative to the others
 * @flags: where it may be done
 */
struct op {
	void (*fn)(struct actor *actor);
	unsigned int weight;
	unsigned int flags;
};

#define OP_ATOMIC	BIT(0)	/* in an interrupt, too */
#define OP_WAITS	BIT(1)	/* not on a target that may wait for the caller */
#define OP_THREAD	BIT(2)	/* only by a thread of this module */
#define OP_SYSTEM	BIT(3)	/* on the system pool as well */
#define OP_MULTI	BIT(4)	/* only on a multi */
#define OP_DIES		BIT(5)	/* the thread may die in it */

void op_submit(struct actor *actor);
void op_try_submit(struct actor *actor);
void op_batch(struct actor *actor);
void op_invoke(struct actor *actor);
void op_call(struct actor *actor);
void op_call_release(struct actor *actor);
void op_for_each(struct actor *actor);
long calls_left(void);

void op_own_item(struct actor *actor);
void op_stack_item(struct actor *actor);
void op_fork(struct actor *actor);
void op_shared_item(struct actor *actor);
void op_shared_wait(struct actor *actor);
void op_wanderer(struct actor *actor);
void op_detached(struct actor *actor);
void op_cancel_pending(struct actor *actor);
void item_init(struct item *item, struct actor *actor);
bool item_pick(struct ants_work *work);
void item_judge(struct item *item, const struct target *target, bool closed,
		const char *what);

bool is_member(const struct ants_work *work);
void op_group(struct actor *actor);
void op_group_cancel(struct actor *actor);

void op_tune(struct actor *actor);
void op_affinity(struct actor *actor);
void op_flush(struct actor *actor);
void op_release(struct actor *actor);
void op_reboot(struct actor *actor);
void op_numbers(struct actor *actor);
void op_self_wait(struct actor *actor);
void op_forbidden(struct actor *actor);
void op_renew(struct actor *actor);
void op_short_life(struct actor *actor);
void op_destroy_waiters(struct actor *actor);
bool is_filler(ants_fn_t fn);

void op_multi_submit(struct actor *actor);
void op_multi_try(struct actor *actor);
void op_multi_change(struct actor *actor);
void op_multi_numbers(struct actor *actor);
void op_multi_release(struct actor *actor);

unsigned long random_timeout(struct actor *actor);

/* mix.c: which operation is next. */

void act(struct actor *actor, struct target *target, struct ants_pool *pool,
	 bool waits);

/* irq.c: calls from hard and soft interrupts. */

int kickers_start(void);
void kickers_stop(void);

/* events.c: what the guest's script does meanwhile. */

int events_init(void);
void events_exit(void);

#endif /* _ANTS_TORTURE_H */
