/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Debug builds check every invariant at every unlock, check that a call that
 * sleeps keeps its pool, can stop a thread at a named point of each handshake,
 * can make an allocation or the creation of a thread fail, can take a short wait
 * for a long one, and can put up with late wake-ups. Other builds contain none of
 * this.
 */
#ifndef _ANTS_DEBUG_H
#define _ANTS_DEBUG_H

#include <linux/types.h>

struct ants_pool;

/**
 * enum ants_pause_point - where a thread can be made to stop, no lock held
 * @ANTS_PAUSE_SUBMIT: ants_submit() is about to take the lock
 * @ANTS_PAUSE_ENROLLED: a waiter is in the FIFO, has not gone to sleep
 * @ANTS_PAUSE_WITHDRAW: a waiter decided to give up
 * @ANTS_PAUSE_NEW: a new worker, before it arrives
 * @ANTS_PAUSE_ARRIVE: a worker came back from its sleep
 * @ANTS_PAUSE_RUN: a worker took a task, has not started it
 * @ANTS_PAUSE_FINISH: a task returned, its worker has not said so
 * @ANTS_PAUSE_MAKE: a place is taken, its thread is not made yet
 * @ANTS_PAUSE_MADE: a thread is made and not started
 * @ANTS_PAUSE_JOIN: workers that left are about to be joined
 * @ANTS_PAUSE_RELEASE: the pool is closed, the rounds have not begun
 * @ANTS_PAUSE_TUNE: the capacity is set, the rounds have not begun
 * @ANTS_PAUSE_FLUSH: the epoch is flipped, the flush does not wait yet
 * @ANTS_PAUSE_DRAIN: a drain has begun, it does not look yet
 * @ANTS_PAUSE_CANCEL: a walk over pending tasks, between two rounds
 * @ANTS_PAUSE_SCAN: unload is about to look through the pool
 * @ANTS_PAUSE_GROUP_CANCEL: ants_group_cancel() between two rounds, inside an RCU section
 * @ANTS_PAUSE_REFUSED: all shards of a multi refused a task, the first choice
 *	is @pool, and none is marked yet
 * @ANTS_PAUSE_CLOSED: all is closed, the wait for it has not begun
 * @ANTS_PAUSE_REBOOT: a reboot has what the pool needs, and is about to open it
 * @ANTS_PAUSE_PREPARE: a thread is made in advance, others may follow
 * @ANTS_PAUSE_POKE: parked workers hear of a new placement, between two rounds
 * @ANTS_PAUSE_DUE: the timer of a delayed work item has fired, in a softirq
 * @ANTS_PAUSE_EACH: a loop has memory for its helpers and has queued none
 * @ANTS_NR_PAUSE: how many there are
 */
enum ants_pause_point {
	ANTS_PAUSE_SUBMIT,
	ANTS_PAUSE_ENROLLED,
	ANTS_PAUSE_WITHDRAW,
	ANTS_PAUSE_NEW,
	ANTS_PAUSE_ARRIVE,
	ANTS_PAUSE_RUN,
	ANTS_PAUSE_FINISH,
	ANTS_PAUSE_MAKE,
	ANTS_PAUSE_MADE,
	ANTS_PAUSE_JOIN,
	ANTS_PAUSE_RELEASE,
	ANTS_PAUSE_TUNE,
	ANTS_PAUSE_FLUSH,
	ANTS_PAUSE_DRAIN,
	ANTS_PAUSE_CANCEL,
	ANTS_PAUSE_SCAN,
	ANTS_PAUSE_GROUP_CANCEL,
	ANTS_PAUSE_REFUSED,
	ANTS_PAUSE_CLOSED,
	ANTS_PAUSE_REBOOT,
	ANTS_PAUSE_PREPARE,
	ANTS_PAUSE_POKE,
	ANTS_PAUSE_DUE,
	ANTS_PAUSE_EACH,
	ANTS_NR_PAUSE,
};

/**
 * enum ants_fail_point - what can be made to fail
 * @ANTS_FAIL_SLOT: a slot's allocation
 * @ANTS_FAIL_THREAD: making a thread
 * @ANTS_FAIL_PLACE: allocating the place of a shard, for a change of all shards
 * @ANTS_NR_FAIL: how many there are
 */
enum ants_fail_point {
	ANTS_FAIL_SLOT,
	ANTS_FAIL_THREAD,
	ANTS_FAIL_PLACE,
	ANTS_NR_FAIL,
};

#ifdef ANTS_DEBUG
/**
 * struct ants_visit - a call of a function that may sleep, on its stack
 * @node: in a bucket of visits
 * @task: the caller
 * @pool: the pool that was called; may be gone when the call returns
 * @sections: locked sections of @pool that the caller has opened
 * @kept: how often the caller is counted in, or stands in @pool as a waiter
 *
 * A caller that has left a section of the pool and opens another one must have
 * kept the pool in between. Visits of one caller may be nested.
 */
struct ants_visit {
	struct hlist_node node;
	struct task_struct *task;
	struct ants_pool *pool;
	unsigned int sections;
	int kept;
};

/* Declares @name, which ends when its block is left. */
#define DEFINE_ANTS_VISIT(name)						\
	struct ants_visit name __attribute__((__cleanup__(ants_visit_end)))

void ants_visit_begin(struct ants_visit *visit, struct ants_pool *pool);
void ants_visit_end(struct ants_visit *visit);
void ants_visit_section(struct ants_pool *pool);
void ants_visit_keep(const struct ants_pool *pool, int by);

void ants_pause(enum ants_pause_point point, struct ants_pool *pool);
void ants_pause_atomic(enum ants_pause_point point, struct ants_pool *pool);
bool ants_inject(enum ants_fail_point point);
void ants_check(struct ants_pool *pool);

/* jitter.c: what a pause point costs when nobody stops there. */
void ants_jitter(bool may_sleep);

/* For tests. */
void ants_pause_arm(enum ants_pause_point point, struct ants_pool *pool);
bool ants_pause_reached(enum ants_pause_point point, unsigned long timeout);
void ants_pause_resume(enum ants_pause_point point);
void ants_fail_arm(enum ants_fail_point point, int times);
void ants_fail_arm_after(enum ants_fail_point point, int skip, int times);
unsigned long ants_long_wait(void);
void ants_long_wait_arm(unsigned long after);
unsigned long ants_late_ticks(void);
void ants_late_arm(unsigned long ticks);
#else
struct ants_visit {
};

#define DEFINE_ANTS_VISIT(name)	struct ants_visit name

static inline void ants_visit_begin(struct ants_visit *visit,
				    struct ants_pool *pool)
{
}

static inline void ants_visit_section(struct ants_pool *pool)
{
}

static inline void ants_visit_keep(const struct ants_pool *pool, int by)
{
}

static inline void ants_pause(enum ants_pause_point point,
			      struct ants_pool *pool)
{
}

static inline void ants_pause_atomic(enum ants_pause_point point,
				     struct ants_pool *pool)
{
}

static inline bool ants_inject(enum ants_fail_point point)
{
	return false;
}

static inline void ants_check(struct ants_pool *pool)
{
}

static inline unsigned long ants_long_wait(void)
{
	return ANTS_LONG_WAIT;
}

static inline unsigned long ants_late_ticks(void)
{
	return ANTS_LATE_TICKS;
}
#endif

#endif /* _ANTS_DEBUG_H */
