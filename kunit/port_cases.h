/* SPDX-License-Identifier: GPL-2.0-only */
/* What workqueues and kthread_workers have in common; see port.h. */
#ifndef _ANTS_KUNIT_PORT_CASES_H
#define _ANTS_KUNIT_PORT_CASES_H

#include "port.h"

/* A job that is queued again while it runs, runs once more, and not beside itself. */
static void queue_while_it_runs(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];

	job_start(job);
	KUNIT_EXPECT_TRUE(test, port_queue(job));
	KUNIT_EXPECT_FALSE(test, port_queue(job));
	gate_open(&port->gate);
	port_flush(job);
	expect_runs(job, 2);
}

/*
 * Where there is one thread the second run has its place from the moment it was
 * queued. A pool gives it one when the first run has ended, unless the item is
 * detached.
 */
static void place_of_the_second_run(struct kunit *test)
{
	struct port *port = port_make(test, 1);

	job_start(&port->jobs[0]);
	port_queue(&port->jobs[0]);
	port_queue(&port->jobs[1]);
	gate_open(&port->gate);
	expect_runs(&port->jobs[0], 2);
	expect_runs(&port->jobs[1], 1);
	KUNIT_EXPECT_STREQ(test, port->turns,
			   port->kind == ORDERED_POOL ? "010" : "001");
}

/* A flush of an item waits for the run in progress and for the one that is queued. */
static void flush_of_one(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];
	struct async_call *flush;

	port_flush(job);
	job_start(job);
	port_queue(job);
	flush = async_start(test, do_port_flush, job);
	expect_blocked(test, flush);
	gate_let_one(&port->gate);
	EXPECT_SOON(test, atomic_read(&port->gate.entered) == 2);
	expect_blocked(test, flush);
	gate_open(&port->gate);
	expect_result(test, flush, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&job->runs), 2);
}

/* A flush of all waits for second runs as well, but for no timer. */
static void flush_of_all(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct async_call *flush;

	KUNIT_EXPECT_TRUE(test, port_queue_delayed(&port->jobs[2], FAR_OFF));
	job_start(&port->jobs[0]);
	port_queue(&port->jobs[0]);
	port_queue(&port->jobs[1]);
	flush = async_start(test, do_port_flush_all, port);
	expect_blocked(test, flush);
	gate_open(&port->gate);
	expect_result(test, flush, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->jobs[0].runs), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->jobs[1].runs), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->jobs[2].runs), 0);
}

static void delays(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];
	unsigned long start = jiffies;

	KUNIT_EXPECT_TRUE(test, port_queue_delayed(job, 3));
	expect_runs(job, 1);
	KUNIT_EXPECT_GE(test, jiffies - start, 3UL);
	KUNIT_EXPECT_TRUE(test, port_queue_delayed(job, FAR_OFF));
	KUNIT_EXPECT_FALSE(test, port_queue_delayed(job, 0));
	KUNIT_EXPECT_FALSE(test, port_queue(job));
	KUNIT_EXPECT_TRUE(test, port_mod(job, 1));
	expect_runs(job, 2);
	port_flush(job);
	KUNIT_EXPECT_FALSE(test, port_mod(job, FAR_OFF));
	KUNIT_EXPECT_TRUE(test, port_cancel_delayed_sync(job));
	KUNIT_EXPECT_FALSE(test, port_cancel_delayed_sync(job));
	expect_runs(job, 2);
}

/* The run in progress is none that is put off. */
static void mod_while_it_runs(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];

	job_start(job);
	KUNIT_EXPECT_FALSE(test, port_mod(job, FAR_OFF));
	KUNIT_EXPECT_TRUE(test, port_mod(job, 0));
	gate_open(&port->gate);
	expect_runs(job, 2);
}

/* It waits for the run in progress; nobody can queue the item meanwhile. */
static void cancel_sync(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];
	struct async_call *cancel;

	job_start(job);
	port_queue(job);
	cancel = async_start(test, do_port_cancel_sync, job);
	expect_blocked(test, cancel);
	KUNIT_EXPECT_FALSE(test, port_queue(job));
	KUNIT_EXPECT_FALSE(test, port_queue_delayed(job, 0));
	gate_open(&port->gate);
	expect_result(test, cancel, true);
	expect_runs(job, 1);
	KUNIT_EXPECT_TRUE(test, port_queue(job));
	expect_runs(job, 2);
}

static void cancel_sync_ends_what_goes_on(struct kunit *test)
{
	struct port *port = port_make(test, 4);
	struct job *job = &port->jobs[0];
	int runs;

	job->more = INT_MAX;
	port_queue(job);
	EXPECT_SOON(test, atomic_read(&job->runs) > 20);
	port_cancel_sync(job);
	runs = atomic_read(&job->runs);
	port_flush_all(port);
	expect_runs(job, runs);
	job->more = 0;
}

/* What is queued runs before the end. */
static void end_runs_what_is_queued(struct kunit *test)
{
	struct port *port = port_make(test, 1);
	int i;

	for (i = 0; i < 8; i++)
		port_queue(&port->jobs[i]);
	port_destroy(port);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&port->jobs[i].runs), 1);
}

#endif /* _ANTS_KUNIT_PORT_CASES_H */
