/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Debug builds check every invariant at every unlock, can stop a thread at a
 * named point of each handshake, and can make an allocation or the creation of
 * a thread fail. Other builds contain none of this.
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
	ANTS_NR_PAUSE,
};

/**
 * enum ants_fail_point - what can be made to fail
 * @ANTS_FAIL_SLOT: a slot's allocation
 * @ANTS_FAIL_THREAD: making a thread
 * @ANTS_NR_FAIL: how many there are
 */
enum ants_fail_point {
	ANTS_FAIL_SLOT,
	ANTS_FAIL_THREAD,
	ANTS_NR_FAIL,
};

#ifdef ANTS_DEBUG
void ants_pause(enum ants_pause_point point, struct ants_pool *pool);
bool ants_inject(enum ants_fail_point point);
void ants_check(struct ants_pool *pool);

/* For tests. */
void ants_pause_arm(enum ants_pause_point point, struct ants_pool *pool);
bool ants_pause_reached(enum ants_pause_point point, unsigned long timeout);
void ants_pause_resume(enum ants_pause_point point);
void ants_fail_arm(enum ants_fail_point point, int times);
void ants_fail_arm_after(enum ants_fail_point point, int skip, int times);
#else
static inline void ants_pause(enum ants_pause_point point,
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
#endif

#endif /* _ANTS_DEBUG_H */
