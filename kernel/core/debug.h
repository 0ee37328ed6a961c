/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Debug builds check every invariant when the lock is dropped. They can stop or
 * delay a thread at a named point of each handshake, make an allocation or the
 * creation of a thread fail, take a short wait for a long one, and tolerate late
 * wake-ups. Other builds contain none of this.
 */
#ifndef _ANTS_DEBUG_H
#define _ANTS_DEBUG_H

#include <linux/export.h>
#include <linux/types.h>

#include "pool.h"

/**
 * enum ants_pause_point - where a thread can be stopped; it holds no lock there
 * @ANTS_PAUSE_SUBMIT: ants_submit() is about to take the lock, or ants_call_release()
 *	to queue its call
 * @ANTS_PAUSE_ENROLLED: a waiter is in the FIFO and has not gone to sleep yet
 * @ANTS_PAUSE_WITHDRAW: a waiter has decided to give up
 * @ANTS_PAUSE_NEW: a new worker has not arrived yet
 * @ANTS_PAUSE_ARRIVE: a worker has come back from its sleep
 * @ANTS_PAUSE_RUN: a worker has taken a task and not started it yet
 * @ANTS_PAUSE_FINISH: a task has returned, and its worker has not taken the
 *	lock yet
 * @ANTS_PAUSE_MAKE: a worker is reserved, and its thread is not made yet
 * @ANTS_PAUSE_MADE: a thread is made and not started yet
 * @ANTS_PAUSE_LEFT: a worker has left, and its thread has not ended yet
 * @ANTS_PAUSE_RELEASE: the pool is closed, the rounds have not begun
 * @ANTS_PAUSE_TUNE: the capacity is set, the rounds have not begun
 * @ANTS_PAUSE_AWAIT: a flush, a drain or the wait for the end of what was closed has
 *	begun, and has not looked yet
 * @ANTS_PAUSE_WALK: between two holds of a walk over a list
 * @ANTS_PAUSE_SCAN: main.c is about to scan the pool
 * @ANTS_PAUSE_REFUSED: all shards of a multi have refused a task; @pool is the
 *	first choice, and no shard is marked congested yet
 * @ANTS_PAUSE_REBOOT: a reboot has made what the pool needs, and is about to
 *	open it
 * @ANTS_PAUSE_PREPARE: a thread is made in advance, and others may follow
 * @ANTS_PAUSE_STOCK: the same of slots
 * @ANTS_PAUSE_REBIND: the parked workers were woken to rebind
 * @ANTS_PAUSE_DUE: the timer of a delayed work item has fired, in a softirq
 * @ANTS_PAUSE_EACH: a loop has memory for its helpers and has queued none yet
 * @ANTS_NR_PAUSE: the number of pause points
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
	ANTS_PAUSE_LEFT,
	ANTS_PAUSE_RELEASE,
	ANTS_PAUSE_TUNE,
	ANTS_PAUSE_AWAIT,
	ANTS_PAUSE_WALK,
	ANTS_PAUSE_SCAN,
	ANTS_PAUSE_REFUSED,
	ANTS_PAUSE_REBOOT,
	ANTS_PAUSE_PREPARE,
	ANTS_PAUSE_STOCK,
	ANTS_PAUSE_REBIND,
	ANTS_PAUSE_DUE,
	ANTS_PAUSE_EACH,
	ANTS_NR_PAUSE,
};

/**
 * enum ants_fail_point - what can be made to fail
 * @ANTS_FAIL_SLOT: a slot's allocation
 * @ANTS_FAIL_WORKER: allocating a worker
 * @ANTS_FAIL_TIMES: allocating what counts the times of tasks
 * @ANTS_FAIL_THREAD: making its thread
 * @ANTS_FAIL_AFFINITY: allocating the affinity of a shard, for a change of all
 *	shards
 * @ANTS_FAIL_INLINE: allocating the record of a caller that is to run a task
 * @ANTS_NR_FAIL: the number of fail points
 */
enum ants_fail_point {
	ANTS_FAIL_SLOT,
	ANTS_FAIL_WORKER,
	ANTS_FAIL_TIMES,
	ANTS_FAIL_THREAD,
	ANTS_FAIL_AFFINITY,
	ANTS_FAIL_INLINE,
	ANTS_NR_FAIL,
};

#ifdef ANTS_DEBUG
/* Of functions that tests call with what they make up. */
#define EXPORT_SYMBOL_FOR_TESTS(symbol)	EXPORT_SYMBOL_GPL(symbol)

void ants_pause(enum ants_pause_point point, struct ants_pool *pool);
bool ants_inject(enum ants_fail_point point);
/* An interrupt asks which worker it is in, whose thread may have freed that. */
#define ants_check_task()	WARN(!in_task(), "ants: an interrupt asks for its worker\n")
void ants_check(struct ants_pool *pool);
/* A task is about to be admitted although there may be no room. */
#define ants_check_over(pool)	((pool)->seen_in_flight++)
void ants_check_move(const struct ants_worker *w, enum ants_worker_state to);
void ants_check_work_move(const struct ants_work *work, unsigned int to);

/* For tests. */
/* Instead of a pool. */
#define ANTS_ALL_POOLS	((struct ants_pool *)1)

void ants_pause_arm(enum ants_pause_point point, struct ants_pool *pool);
bool ants_pause_reached(enum ants_pause_point point, unsigned long timeout);
void ants_pause_resume(enum ants_pause_point point);
void ants_fail_arm_after(enum ants_fail_point point, int skip, int times);
#define ants_fail_arm(point, times)	ants_fail_arm_after(point, 0, times)
/* The number of ticks without an arrival after which wake-ups in flight are late. */
extern unsigned long ants_late;
#define ants_late_ticks()	READ_ONCE(ants_late)
#define ants_late_arm(ticks)	WRITE_ONCE(ants_late, ticks)
#else
#define EXPORT_SYMBOL_FOR_TESTS(symbol)

static inline void ants_pause(enum ants_pause_point point, struct ants_pool *pool) { }
static inline bool ants_inject(enum ants_fail_point point) { return false; }
#define ants_check_task()	do { } while (0)
static inline void ants_check(struct ants_pool *pool) { }
#define ants_check_over(pool)	do { } while (0)
static inline void ants_check_move(const struct ants_worker *w, enum ants_worker_state to) { }
static inline void ants_check_work_move(const struct ants_work *work, unsigned int to) { }
#define ants_late_ticks()	ANTS_LATE_TICKS
#endif

#endif /* _ANTS_DEBUG_H */
