// SPDX-License-Identifier: GPL-2.0-only
/* What tasks do, and the calls that submit plain tasks. */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "torture.h"

#define MOST_BATCH	24

/* The result that tasks of ants_call() return: not an error of ants. */
#define OWN_RESULT	4711

/* Number of data passed to ants_call_release() and not released. */
static atomic_long_t nr_given;

/* Make a few calls from inside a task. */
static void nest(const struct deed *deed)
{
	struct target *own = target_of_caller();
	struct actor *actor;
	struct target *other;

	if (!own)
		return;
	actor = actor_claim(deed->seed, deed->depth);
	if (!actor)
		return;
	actor->deed = deed;
	if (chance(actor, 70)) {
		act(actor, own, ants_current_pool(), true);
	} else {
		other = target_get(actor);
		actor->held = other;
		if (other) {
			act(actor, other, target_pool(other),
			    other->index > own->index);
			actor->held = NULL;
			target_put(other);
		}
	}
	actor_drop(actor);
}

/* What the seed of @deed says. */
static void do_deed(const struct deed *deed)
{
	u32 seed = deed->seed, what = seed % 100;

	if (deed->depth < MAX_DEPTH && what < knob_nest_percent.value)
		nest(deed);
	else if (what < 55)
		return;
	else if (what < 65)
		cond_resched();
	else if (what < 75)
		udelay(seed / 100 % 50);
	else if (what < 95)
		usleep_range(50, 50 + seed / 100 % 800);
	else
		schedule_timeout_uninterruptible(1 + seed / 100 % 3);
}

/* A task, or a work item, runs. It may not return. */
void behave(const struct deed *deed)
{
	if (!knob_fault_permille.value) {
		do_deed(deed);
		return;
	}
	check_clean(deed->target);
	do_deed(deed);
	die_if_due(deed);
}

static void check_pool(const struct target *target)
{
	struct ants_pool *pool = ants_current_pool();

	if (pool && !ants_in_pool(pool))
		broken("a task is not in its own pool");
	if (!pool || ants_pool_private(pool) != target)
		return;
	if (target->flavour->attrs.worker_init && !ants_worker_data(pool))
		broken("a task has no data of its thread");
}

static struct deed deed_of(unsigned long number, const struct ticket_info *info)
{
	return (struct deed){
		.seed = info->rnd,
		.fate = info->rnd,
		.depth = info->depth,
		.target = info->target,
		.dies = ticket_die,
		.arg = (void *)number,
	};
}

/* The task of that number, of which its pool knows @fn and @data, runs. */
void task_run(unsigned long number, ants_fn_t fn, const void *data)
{
	struct ticket_info info;
	struct deed deed;

	if (!ticket_begin(number, &info))
		return;
	deed = deed_of(number, &info);
	deed.fn = fn;
	deed.data = data;
	check_pool(info.target);
	behave(&deed);
	ticket_done(number);
	if (knob_fault_permille.value)
		leave_dirt(&deed);
}

void torture_task(void *number)
{
	task_run((unsigned long)number, torture_task, number);
}

unsigned long random_timeout(struct actor *actor)
{
	static const unsigned long timeouts[] = {
		0, 1, 2, 5, 20, HZ, MAX_SCHEDULE_TIMEOUT,
	};

	return timeouts[rnd(actor, ARRAY_SIZE(timeouts))];
}

static unsigned long open_for(struct actor *actor)
{
	return ticket_open(actor->target, rnd(actor, U32_MAX),
			   actor->depth + 1);
}

void op_submit(struct actor *actor)
{
	unsigned long number = open_for(actor);
	struct ants_pool *pool = actor->pool;
	void *data = (void *)number;
	int err;

	if (!number)
		return;
	switch (rnd(actor, 3)) {
	case 0:
		err = CALL(actor, SUBMIT, ants_submit(pool, torture_task, data));
		break;
	case 1:
		err = CALL(actor, SUBMIT_TIMEOUT,
			   ants_submit_timeout(pool, torture_task, data,
					       random_timeout(actor)));
		break;
	default:
		err = CALL(actor, SUBMIT_PRIO,
			   ants_submit_prio(pool, torture_task, data,
					    rnd(actor, 2) ? ANTS_PRIO_HIGH :
							    ANTS_PRIO_NORMAL,
					    random_timeout(actor)));
	}
	ticket_close(number, err);
}

void op_try_submit(struct actor *actor)
{
	unsigned int i, nr = 1 + rnd(actor, 4);

	for (i = 0; i < nr; i++) {
		unsigned long number = open_for(actor);

		if (!number)
			return;
		ticket_close(number,
			     CALL(actor, TRY_SUBMIT,
				  ants_try_submit(actor->pool, torture_task,
						  (void *)number)));
	}
}

void op_batch(struct actor *actor)
{
	unsigned int i, nr = 1 + rnd(actor, MOST_BATCH);
	struct ants_task *tasks;
	int taken;

	tasks = kcalloc(nr, sizeof(*tasks), GFP_KERNEL);
	if (!tasks)
		return;
	for (i = 0; i < nr; i++) {
		unsigned long number = open_for(actor);

		if (!number)
			break;
		tasks[i].fn = torture_task;
		tasks[i].data = (void *)number;
		tasks[i].prio = rnd(actor, 4) ? ANTS_PRIO_NORMAL :
						ANTS_PRIO_HIGH;
	}
	nr = i;
	taken = nr ? CALL(actor, SUBMIT_BATCH,
			  ants_submit_batch(actor->pool, tasks, nr)) : 0;
	for (i = 0; i < nr; i++)
		ticket_close((unsigned long)tasks[i].data,
			     (int)i < taken ? 0 : -EAGAIN);
	kfree(tasks);
}

static int invoke(struct actor *actor, void *data)
{
	struct ants_pool *pool = actor->pool;

	switch (rnd(actor, actor->waits ? 3 : 1)) {
	case 0:
		return CALL(actor, TRY_INVOKE, ants_try_invoke(pool, data));
	case 1:
		return CALL(actor, INVOKE_TIMEOUT,
			    ants_invoke_timeout(pool, data,
						random_timeout(actor)));
	default:
		return CALL(actor, INVOKE, ants_invoke(pool, data));
	}
}

void op_invoke(struct actor *actor)
{
	unsigned long number = open_for(actor);
	void *data = (void *)number;

	if (!number)
		return;
	if (actor->target->flavour->attrs.fn)
		ticket_close(number, invoke(actor, data));
	else
		ticket_close(number, CALL(actor, INVOKE_NO_FUNC,
					  ants_try_invoke(actor->pool, data)));
}

/* --- calls -------------------------------------------------------------------- */

/* The call of that number, of which its pool knows @data, runs. */
static int call_run(unsigned long number, const void *data)
{
	struct ticket_info info;
	struct deed deed;

	if (!ticket_begin(number, &info))
		return -EREMOTEIO;
	deed = deed_of(number, &info);
	deed.is_call = true;
	deed.data = data;
	behave(&deed);
	ticket_done(number);
	return OWN_RESULT;
}

static int called(void *number)
{
	return call_run((unsigned long)number, number);
}

/* The call has returned @err. */
static void call_close(unsigned long number, int err)
{
	bool died = ticket_has_died(number);

	if (err == -EFAULT ? !died : died && err != -EINPROGRESS)
		broken("a call that %s returned %d",
		       died ? "died" : "did not die", err);
	if (err == OWN_RESULT || err == -EINPROGRESS || err == -EFAULT)
		err = 0;
	else if (!err)
		err = -EAGAIN;
	ticket_close(number, err);
}

void op_call(struct actor *actor)
{
	unsigned long number = open_for(actor);
	int err;

	if (!number)
		return;
	actor->number = number;
	err = CALL(actor, CALL, ants_call(actor->pool, called, (void *)number,
					  random_timeout(actor)));
	actor->number = 0;
	call_close(number, err);
}

/* The data of ants_call_release(). */
struct given {
	unsigned long number;
};

static int called_given(void *data)
{
	const struct given *given = data;

	return call_run(given->number, data);
}

static void take_given(void *data)
{
	kfree(data);
	atomic_long_dec(&nr_given);
}

void op_call_release(struct actor *actor)
{
	struct given *given = kmalloc(sizeof(*given), GFP_KERNEL);
	unsigned long number;
	int err;

	if (!given)
		return;
	number = open_for(actor);
	if (!number) {
		kfree(given);
		return;
	}
	given->number = number;
	atomic_long_inc(&nr_given);
	actor->number = number;
	err = CALL(actor, CALL_RELEASE,
		   ants_call_release(actor->pool, called_given, given,
				     random_timeout(actor), take_given));
	actor->number = 0;
	call_close(number, err);
}

/* The number of calls that have not released their data. */
long calls_left(void)
{
	return atomic_long_read(&nr_given);
}

/**
 * struct loop - a loop on the stack of its caller
 * @seen: one bit for each number
 * @n: number of numbers
 * @fails_at: this number returns an error; @n for none
 * @seed: decides what the numbers do
 * @target: the target whose pool takes part
 * @caller: the caller, who does not die: others use its stack
 * @died: a helper has died
 */
struct loop {
	unsigned long seen;
	unsigned int n;
	unsigned int fails_at;
	u32 seed;
	struct target *target;
	const struct task_struct *caller;
	bool died;
};

static void helper_dies(void *loop)
{
	WRITE_ONCE(((struct loop *)loop)->died, true);
}

static int each(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;
	const struct deed deed = {
		.seed = loop->seed + i * 7,
		.fate = loop->seed + i * 7,
		.depth = MAX_DEPTH,
		.target = loop->target,
		.data = loop,
		.dies = helper_dies,
		.arg = loop,
	};

	if (i >= loop->n || test_and_set_bit(i, &loop->seen))
		broken("a loop of %u runs number %lu a second time", loop->n, i);
	if (current == loop->caller)
		do_deed(&deed);
	else
		behave(&deed);
	return i == loop->fails_at ? -EREMOTEIO : 0;
}

void op_for_each(struct actor *actor)
{
	struct loop loop = {
		.n = 1 + rnd(actor, BITS_PER_LONG - 1),
		.seed = rnd(actor, U32_MAX),
		.target = actor->target,
		.caller = current,
	};
	unsigned long all = (1UL << loop.n) - 1;
	int err;

	loop.fails_at = rnd(actor, 4) ? loop.n : rnd(actor, loop.n);
	err = CALL(actor, FOR_EACH,
		   ants_for_each(actor->pool, loop.n, each, &loop));
	if (!err && (loop.seen != all || loop.fails_at < loop.n))
		broken("a loop of %u left out some: 0x%lx", loop.n,
		       loop.seen);
	if (err == -EREMOTEIO && loop.fails_at >= loop.n)
		broken("a loop failed that has no error");
	if (loop.died ? !err : err == -EFAULT)
		broken("a helper of a loop has%s died, it returned %d",
		       loop.died ? "" : " not", err);
	if ((err == -ESHUTDOWN || err == -EIO) && loop.seen)
		broken("a loop was refused and ran: 0x%lx", loop.seen);
}
