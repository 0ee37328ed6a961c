// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each task has a number as its data, and each number has an entry in a table:
 * what was promised about the task, and what became of it. A number is never
 * used twice, so a task that runs after its entry was given to another task is
 * caught as well.
 */
#define pr_fmt(fmt) "ants_torture: " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "client.h"
#include "torture.h"

/* Entries; no more tasks than that are open. */
#define NR_TICKETS	32768UL

/* What is known about a task. */
#define TICKET_ACCEPTED		BIT(0)
#define TICKET_REFUSED		BIT(1)
#define TICKET_CANCELLED	BIT(2)
#define TICKET_BEGUN		BIT(3)
#define TICKET_DONE		BIT(4)
#define TICKET_REPORTED		BIT(5)
#define TICKET_DIED		BIT(6)

/* It has ended. */
#define TICKET_OVER	(TICKET_DONE | TICKET_CANCELLED | TICKET_DIED)

/**
 * struct ticket - an entry
 * @number: the task's number, or 0 if the entry is free
 * @state: bits TICKET_*
 * @since: jiffies when the entry was opened
 * @info: what the task learns from it
 */
struct ticket {
	atomic_long_t number;
	atomic_t state;
	unsigned long since;
	struct ticket_info info;
};

static struct ticket *tickets;
static atomic_long_t last_number;

/*
 * The target of tasks of ants_torture_client, which goes on until the verdict.
 */
static const struct flavour foreign_flavour = { .name = "client" };
static struct target foreign = { .flavour = &foreign_flavour };
static bool foreign_ended;

static struct ticket *ticket_of(unsigned long number)
{
	return &tickets[number % NR_TICKETS];
}

/* The number of a new task, or 0 if the table is full. */
unsigned long ticket_open(struct target *target, u32 rnd, unsigned int depth)
{
	unsigned long number = atomic_long_inc_return(&last_number);
	struct ticket *ticket = ticket_of(number);

	if (atomic_long_cmpxchg(&ticket->number, 0, number))
		return 0;
	WRITE_ONCE(ticket->since, jiffies);
	WRITE_ONCE(ticket->info.target, target);
	ticket->info.rnd = rnd;
	ticket->info.depth = depth;
	atomic_inc(&target->tickets);
	return number;
}

static void ticket_free(struct ticket *ticket)
{
	struct target *target = ticket->info.target;

	atomic_set(&ticket->state, 0);
	atomic_long_set_release(&ticket->number, 0);
	atomic_dec(&target->tickets);
}

/*
 * Add @bit to the state of a task, of which none of @never may be known.
 * Returns the state before, or -1 after a report.
 */
static int ticket_mark(unsigned long number, int bit, int never,
		       const char *what)
{
	struct ticket *ticket = ticket_of(number);
	int state;

	if (!number || atomic_long_read_acquire(&ticket->number) != number) {
		broken("task %lu %s, but is over already", number, what);
		return -1;
	}
	state = atomic_fetch_or(bit, &ticket->state);
	if (state & never) {
		broken("task %lu %s, but its state is 0x%x", number, what,
		       state);
		return -1;
	}
	return state;
}

/* The call that was to submit the task has returned @err. */
void ticket_close(unsigned long number, int err)
{
	int state;

	if (err) {
		state = ticket_mark(number, TICKET_REFUSED,
				    TICKET_BEGUN | TICKET_CANCELLED |
				    TICKET_ACCEPTED, "was refused");
		if (state >= 0)
			ticket_free(ticket_of(number));
		count(COUNT_REFUSED);
		return;
	}
	WRITE_ONCE(ticket_of(number)->since, jiffies);
	/* Before the task can be known to have ended. */
	count(COUNT_TASKS);
	state = ticket_mark(number, TICKET_ACCEPTED,
			    TICKET_REFUSED | TICKET_ACCEPTED, "was accepted");
	if (state > 0 && (state & TICKET_OVER))
		ticket_free(ticket_of(number));
}

/* The task begins. Returns false if it must not. */
bool ticket_begin(unsigned long number, struct ticket_info *info)
{
	if (ticket_mark(number, TICKET_BEGUN,
			TICKET_BEGUN | TICKET_CANCELLED | TICKET_REFUSED,
			"runs") < 0)
		return false;
	*info = ticket_of(number)->info;
	return true;
}

void ticket_done(unsigned long number)
{
	int state = ticket_mark(number, TICKET_DONE,
				TICKET_OVER | TICKET_REFUSED, "ends");

	count(COUNT_RUN);
	if (state > 0 && (state & TICKET_ACCEPTED))
		ticket_free(ticket_of(number));
}

/* The task is about to take its thread along: that is its run. */
void ticket_die(void *data)
{
	unsigned long number = (unsigned long)data;
	int state = ticket_mark(number, TICKET_DIED,
				TICKET_OVER | TICKET_REFUSED, "dies");

	count(COUNT_RUN);
	if (state > 0 && (state & TICKET_ACCEPTED))
		ticket_free(ticket_of(number));
}

/* For its submitter, who has not closed it. */
bool ticket_has_died(unsigned long number)
{
	return atomic_read(&ticket_of(number)->state) & TICKET_DIED;
}

/* A call has reported that the task will not run. */
void ticket_cancel(unsigned long number)
{
	int state = ticket_mark(number, TICKET_CANCELLED,
				TICKET_BEGUN | TICKET_CANCELLED |
				TICKET_REFUSED, "is cancelled");

	count(COUNT_CANCELLED);
	if (state > 0 && (state & TICKET_ACCEPTED))
		ticket_free(ticket_of(number));
}

static bool ticket_is_late(const struct ticket *ticket)
{
	return atomic_long_read(&ticket->number) &&
	       (atomic_read(&ticket->state) & TICKET_ACCEPTED) &&
	       time_after(jiffies, READ_ONCE(ticket->since) +
				   knob_max_wait.value * HZ);
}

/* Report tasks that were accepted long ago and have not ended. */
bool tickets_stuck(void)
{
	bool stuck = false;
	unsigned long i;

	for (i = 0; i < NR_TICKETS; i++) {
		struct ticket *ticket = &tickets[i];

		if (!ticket_is_late(ticket))
			continue;
		stuck = true;
		if (atomic_fetch_or(TICKET_REPORTED, &ticket->state) &
		    TICKET_REPORTED)
			continue;
		broken("task %ld of %s, accepted %u s ago, has not ended, its state is 0x%x",
		       atomic_long_read(&ticket->number),
		       READ_ONCE(ticket->info.target)->flavour->name,
		       knob_max_wait.value, atomic_read(&ticket->state));
	}
	return stuck;
}

/*
 * Report open tasks of @target, or of all targets if NULL. Returns their
 * number.
 */
unsigned int tickets_left(const struct target *target)
{
	unsigned int left = 0;
	unsigned long i;

	for (i = 0; i < NR_TICKETS; i++) {
		struct ticket *ticket = &tickets[i];
		long number = atomic_long_read(&ticket->number);

		if (!number || (target &&
				READ_ONCE(ticket->info.target) != target))
			continue;
		left++;
		broken("task %ld was lost, its state is 0x%x", number,
		       atomic_read(&ticket->state));
	}
	return left;
}

unsigned long torture_open(void)
{
	unsigned long number = 0;

	rcu_read_lock();
	if (!READ_ONCE(foreign_ended))
		number = ticket_open(&foreign, 0, 0);
	rcu_read_unlock();
	return number;
}
EXPORT_SYMBOL_GPL(torture_open);

void torture_close(unsigned long number, int err)
{
	ticket_close(number, err);
}
EXPORT_SYMBOL_GPL(torture_close);

void torture_ran(unsigned long number)
{
	struct ticket_info info;

	if (ticket_begin(number, &info))
		ticket_done(number);
}
EXPORT_SYMBOL_GPL(torture_ran);

/* The client's tasks have ended, or are stuck, and there will be no more. */
void tickets_foreign_end(void)
{
	unsigned long end = jiffies + knob_max_wait.value * HZ;

	WRITE_ONCE(foreign_ended, true);
	synchronize_rcu();
	while (atomic_read(&foreign.tickets) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
}

int tickets_init(void)
{
	tickets = vzalloc(array_size(NR_TICKETS, sizeof(*tickets)));
	return tickets ? 0 : -ENOMEM;
}

void tickets_exit(void)
{
	vfree(tickets);
}
