/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Promela model of the core of an ants pool.  README.rst says what is modelled and how to run it.
 *
 * One d_step is one lock hold of pool->lock, named after the C function that it stands for.  It ends with check(), the
 * invariants.  A wake-up is part of the hold that decides it: sending it later cannot be told from a thread that is
 * scheduled late.  Every process that is not a server (end label) must come to its end; final() looks at what is left.
 */

/* ---- configuration: run passes -DNAME=value ---- */
#ifndef NS
#define NS	2	/* submitters */
#endif
#ifndef NT
#define NT	2	/* tasks of each; NS * NT < 15 */
#endif
#ifndef CAP
#define CAP	2	/* capacity at the start */
#endif
#ifndef NW
#define NW	CAP	/* workers: the largest capacity of the run */
#endif
#ifndef QD
#define QD	0	/* queue_depth */
#endif
#ifndef MINW
#define MINW	0	/* min_workers */
#endif
#ifndef BATCH0
#define BATCH0	1	/* batch of the waiters with an even number, 99: only when pending has run dry */
#endif
#ifndef BATCH1
#define BATCH1	BATCH0	/* the same, odd number */
#endif
#ifndef GMAX
#define GMAX	99	/* grants in one lock hold (the code: 16) */
#endif
#ifndef TRY
#define TRY	0	/* the last TRY submitters use ants_try_submit() */
#endif
#ifndef KILL
#define KILL	0	/* the first KILL submitters may be killed or time out while they wait */
#endif
#ifndef MAXB
#define MAXB	99	/* max_blocking */
#endif
#ifndef REAP
#define REAP	0	/* idle workers expire */
#endif
#ifndef LATE
#define LATE	0	/* wake-ups may be overdue */
#endif
#ifndef HERES
#define HERES	0	/* wake-ups beside the one in flight, for callers on other CPUs */
#endif
#ifndef DEFER
#define DEFER	0	/* a worker that takes a task may defer the wake-up for the others */
#endif
#ifndef MAXFAIL
#define MAXFAIL	0	/* creations that fail */
#endif
#ifndef FAILEVER
#define FAILEVER 0	/* after MAXFAIL failures creation never works again (else: always) */
#endif
#ifndef KEPT
#define KEPT	0	/* but the first KEPT ones do: those of a pool with ANTS_MEM_RECLAIM */
#endif
#ifndef FAULTS
#define FAULTS	0	/* threads that die in a function of the client */
#endif
#ifndef INITFAILS
#define INITFAILS 0	/* threads whose worker_init fails; with WINIT */
#endif
#ifndef MAXF
#define MAXF	99	/* faults in a row that are too many, 99: no number is */
#endif
#ifndef CANCELS
#define CANCELS	0	/* pending tasks that are cancelled */
#endif
#ifndef TUNES
#define TUNES	0	/* calls of ants_tune(), to any capacity in TMIN..NW */
#endif
#ifndef TMIN
#define TMIN	1
#endif
#ifndef CLOSERS
#define CLOSERS	0	/* callers of ants_release_timeout() */
#endif
#ifndef REBOOTS
#define REBOOTS	0	/* calls of ants_reboot() */
#endif
#ifndef DESTROY
#define DESTROY	0	/* the closer frees the pool (callers may still be waiting when it starts) */
#endif
#ifndef FLUSHERS
#define FLUSHERS 0	/* callers of ants_flush_timeout() */
#endif
#ifndef NESTED
#define NESTED	0	/* the first NESTED tasks of each submitter submit a task themselves */
#endif
#ifndef NTIMED
#define NTIMED	0	/* nested submits of workers with a number < NTIMED have a timeout */
#endif
#ifndef JOINS
#define JOINS	0	/* the first JOINS tasks of each submitter fork a work item and wait for it */
#endif
#ifndef FORKS
#define FORKS	0	/* and run it at once if there is no room for it */
#endif
#ifndef CYCLE
#define CYCLE	0	/* those tasks are work items and wait for each other instead; NS * NT = 2 */
#endif
#ifndef DELAYS
#define DELAYS	0	/* such items that may be queued with a delay */
#endif
#ifndef JTIMED
#define JTIMED	0	/* tasks on workers with a number < JTIMED may give up waiting for their items */
#endif
#ifndef REQUEUES
#define REQUEUES 0	/* times that an item is queued again while it runs; not with FLUSHERS */
#endif
#ifndef CANCELI
#define CANCELI	0	/* items that are cancelled, one after another */
#endif
#ifndef SYNC
#define SYNC	0	/* and the caller waits for their ends: ants_work_cancel_sync() */
#endif
#ifndef LATES
#define LATES	0	/* work items that are due at any moment and that no task waits for; not with IDS */
#endif
#ifndef LRUN
#define LRUN	2	/* most due items that go first in a row (the code: 8) */
#endif
#ifndef HIGHS
#define HIGHS	0	/* the tasks of the first HIGHS submitters have high priority; not with BATCH1 */
#endif
#ifndef HRUN
#define HRUN	2	/* most tasks of high priority that go first in a row (the code: 8) */
#endif
#ifndef EXITS
#define EXITS	0	/* the pool has a worker_exit */
#endif
#ifndef WINIT
#define WINIT	0	/* the pool has a worker_init */
#endif
#ifndef IDS
#define IDS	(FLUSHERS > 0 || JOINS > 0)	/* tasks have an identity */
#endif
#ifndef STOCK
#define STOCK	99	/* slots in the stock at the start, 99: not modelled */
#endif

#define NONE	99
#define PMAX	(NW + QD)		/* most tasks pending */
#define NQ	(NS + NW)		/* waiters: submitter i is i, the task on worker w is NS + w */
#if JOINS && !CYCLE
#define NI	(2 * NS * NT)		/* identities: tasks of submitters, then the items that they fork */
#else
#define NI	(NS * NT)
#endif

/* state of a worker */
#define FREE	0
#define NEW	1	/* reserved; while mk names it, the thread does not exist yet */
#define IDLE	2	/* parked, on the idle LIFO */
#define WAKING	3	/* woken, lock not taken yet */
#define BUSY	4
#define LEAVING	5	/* told to retire, lock not taken yet */
#define EXITING	6	/* in worker_exit; counts as leaving */

/* a thread that has died; its worker stays in its state until worker_abort() */
#define D_NO	0
#define D_DIED	1	/* counted in aborting; nothing looks at that before worker_abort() */
#define D_INNER	2	/* what ran inside its task has ended */

#define FLIES		1
#define GIVEN_UP	2

/* what became of a submit */
#define WAIT	1
#define OK	2
#define SHUT	3	/* -ESHUTDOWN */
#define AGAIN	4	/* -EAGAIN, -EBUSY, -ENOMEM of a try */
#define INTR	5	/* -EINTR, -ETIMEDOUT */
#define DEADLK	6	/* -EDEADLK */
#define RETRY	7	/* no slot: top the stock up and come again */
#define FAULTED	8	/* -EIO */

/* state of a work item that a task may wait for */
#define I_IDLE		0	/* in no pool: never queued, or ended */
#define I_DELAYED	1
#define I_LATE		2	/* due, but the pool has no room */
#define I_PENDING	3
#define I_RUNNING	4
#define I_AGAIN		5	/* runs, and is queued again */
#define I_DROPPED	6	/* cancelled while its timer function was about to run */

/* what the task on a worker does about its item */
#define J_NO	0
#define J_ENTER	1	/* about to enrol */
#define J_HELP	2	/* enrolled, or woken: about to look */
#define J_SLEEP	3
#define J_RUN	4	/* runs the item itself */

/* a task is a byte: bit 0 its epoch, bit 1 "submits another one", bit 2 "waits for an item", the rest its identity */
#define EPOCH(t)	((t) & 1)
#define NESTS(t)	((t) & 2)
#define WAITS(t)	((t) & 4)
#define IDOF(t)		((t) >> 3)
#define ITEM(id)	((id) << 3 | CYCLE << 2)
#if IDS
#define HIGH(t)		(IDOF(t) % (NS * NT) < HIGHS * NT)
#else
#define HIGH(t)		(IDOF(t) == 1)
#endif
/* the item that a task waits for */
#define TARGET(t)	(CYCLE -> 1 - IDOF(t) : NS * NT + IDOF(t))

/* ---- the pool; everything here is under pool->lock ---- */
byte cap = CAP;
byte busy, workers, leaving, nnew;	/* workers counts every reserved one; leaving and nnew are in it */
byte joined;				/* nr_joined: items that run inside tasks that wait for them */
byte st[NW], task[NW];
chan pend = [PMAX] of { byte };		/* FIFO of accepted tasks */
byte idle[NW], nidle;			/* LIFO; idle[0] is the oldest */
byte nexp;				/* the oldest nexp idle ones have expired */
byte fl[NW];				/* in flight: FLIES, or GIVEN_UP as late */
byte nwaking, nstarting, nslow;		/* WAKING and NEW ones that fly, NEW ones that were given up: nr_late */
bool deferred;				/* a wake-up is deferred, and counts in nwaking */
byte wq[NQ], nwait;			/* FIFO of waiters; wq[0] is the next */
byte res[NQ];				/* waiter.result */
byte wtask[NQ];				/* waiter.fn, data */
byte nuntimed;				/* nested untimed waiters among them */
bool armed;				/* pool timer */
bool soon;				/* it may not be taken back: something besides wake-ups in flight relies on it */
bool upkeep = (MINW > 0);			/* the work item is queued or runs; the next one alike */
byte backoff;				/* 2: a pause after a creation that failed; 1: it is over, and none has succeeded since */
bool released, releasing, tuning;	/* -ing: between the rounds */
byte gen;				/* reboots */
byte cur, cnt[2];			/* epoch, accepted and unfinished tasks of each */
#if FAULTS
byte dead[NW];				/* D_... */
byte aborting;				/* threads that have died and are being cleaned up after */
byte completing;				/* those after worker_abort(): the client is told */
#endif
#if MAXF < 99
bool tripped, dropping;			/* the breaker; faults.work is queued or runs */
byte row, rowinit;			/* faults in a row; threads in a row that did not get so far */
bool well;				/* a task has ended well since the last fault */
#endif
#if HIGHS
chan urg = [PMAX] of { byte };		/* FIFO of accepted tasks of high priority */
byte hrun, hgrants;			/* of those started, and of such callers granted, in a row while others waited */
byte passed, gpassed;			/* ghosts: the same, but counted anew when no other is there */
#endif
#if STOCK < 99
byte stock = STOCK;
#endif
#if STOCK < 99 && !defined(MUT_SLOT_UNSEEN)
#define HAS_SLOT	(stock > 0)
#else
#define HAS_SLOT	true
#endif
#if JOINS
byte ist[NI];				/* work->state, by identity */
byte jst[NW], inner[NW];		/* what the task on a worker waits for, and the item that it runs itself */
#if REQUEUES
byte ep[NI];				/* epoch of the run that comes after the one in progress */
byte nagain;				/* items in I_AGAIN */
#endif
byte sync = NONE;			/* the item that a caller of ants_work_cancel_sync() waits for */
#endif
#if JOINS || LATES
chan late = [NI + LATES] of { byte };	/* FIFO of items that are due; the list of waiters is another one */
byte ndelayed;				/* items whose time has not come yet */
byte lrun;				/* due items granted in a row while callers waited */
#if HIGHS
chan lateh = [NI + LATES] of { byte };	/* the same of high priority */
byte dgrants;				/* of those granted in a row while others were due */
#define nlate	(len(late) + len(lateh))
#else
#define nlate	len(late)
#endif
#else
#define nlate	0
#define ndelayed	0
#endif
#if JOINS && DELAYS && CANCELI
byte ndropped;				/* items in I_DROPPED */
#else
#define ndropped	0
#endif

/* ---- not under it ---- */
bool cfg;				/* mutex of release, tune, reboot */
byte flips;				/* times that a flush has changed the epoch */
byte mk = NONE;				/* the worker whose thread the upkeep is about to create */
byte nfail, nkept, nfault, ninit, ncancel, ndelays, nreq;
byte dstate[3];				/* drainer: 0 awake, 1 asleep, 2 woken */
bool freed;				/* the pool is memory no more */
byte readers;				/* RCU read sections that may still look at the pool */
byte entered;				/* submits that have begun, for DESTROY */

/* ---- ghosts ---- */
short alive, ever;			/* accepted and unfinished, ever accepted, by identity */

hidden byte ix, kk, wk, tk, nr;
hidden byte maydefer;			/* this step may defer a wake-up */

#if HIGHS
#define npend		(len(pend) + len(urg))
#else
#define npend		len(pend)
#endif
#if FAULTS
#define LIVES(x)	(dead[x] == D_NO)
#else
#define LIVES(x)	true
#define aborting		0
#endif
#if MAXF < 99
#define CLOSED		(released || tripped)
#else
#define CLOSED		released
#define tripped		0
#define dropping	0
#endif
#if !JOINS || !REQUEUES
#define nagain		0
#endif
#define NFREE		(cap + QD - busy - npend - joined)
#define HEED		(nwait > 0 || nlate > 0)
#ifdef MUT_TRIPPED_ADMITS
#define HAS_ROOM	(!HEED && NFREE > 0)
#else
#define HAS_ROOM	(!HEED && NFREE > 0 && !tripped)
#endif
#define BATCH(x)	(((x) & 1) -> BATCH1 : BATCH0)
#define NESTING(x)	((x) >= NS)
#define TIMED(x)	((x) >= NS && (x) - NS < NTIMED || (x) < KILL)
#define COMING		(nwaking + nstarting)
#ifdef MUT_DEFER_NEVER_LATE
#define OVERDUE		(LATE && COMING > 0)
#else
#define OVERDUE		((LATE || deferred) && COMING > 0)	/* those in flight may be given up as late */
#endif
#define MADE_UP		(nslow < npend -> nslow : npend)	/* late threads that others are made for */
#define STAYING		(workers - leaving - (mk != NONE))
#define SPARE		(STAYING > MINW)
#define ABOVE		(STAYING > cap)
#ifdef EAGER	/* variant: does not wait for the wake-up in flight before the next thread is ordered */
#define NEED_TASKS	(!tripped && npend > nidle + nwaking + nnew - MADE_UP)
#elif defined(MUT_SLOW_ON_ITS_WAY)
#define NEED_TASKS	(!tripped && nidle == 0 && COMING == 0 && npend > nwaking + nnew)
#else
#define NEED_TASKS	(!tripped && nidle == 0 && COMING == 0 && npend > nwaking + nnew - MADE_UP)
#endif
#define NEED		(workers < cap && (NEED_TASKS || (!CLOSED && STAYING < MINW)))
#define PAUSED		(backoff == 2)
#define RETIRE_DUE	(nexp > 0 && SPARE)
#define EMPTY		(workers == 0 && npend == 0)
#ifdef MUT_DRAIN_BEFORE_CLEANUP
#define NOT_ABORTING	true
#else
#define NOT_ABORTING	(aborting == 0)
#endif
#ifdef MUT_DRAIN_BEFORE_DROP
#define NOT_DROPPING	true
#else
#define NOT_DROPPING	!dropping
#endif
#define DRAINED		(released && !releasing && EMPTY && !upkeep && \
			 nwait == 0 && nlate == 0 && ndelayed == 0 && ndropped == 0 && NOT_ABORTING && NOT_DROPPING)

/* Invariants, at every release of the lock */
inline check()
{
	assert(!freed);
	/* the counters tell the truth */
	nr = 0;
	wk = 0;
	for (ix : 0 .. NW - 1) {
		nr = nr + (st[ix] != FREE);
		wk = wk + (st[ix] == WAKING && fl[ix] != FLIES)	/* the late ones */
	}
	assert(nr == workers);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == BUSY) }
	assert(nr == busy);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == IDLE) }
	assert(nr == nidle && nexp <= nidle);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == LEAVING || st[ix] == EXITING) }
	assert(nr == leaving);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == NEW) }
	assert(nr == nnew);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == WAKING && fl[ix] == FLIES) }
	assert(nr + deferred == nwaking);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == NEW && fl[ix] == FLIES) }
	assert(nr == nstarting);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == NEW && fl[ix] == GIVEN_UP) }
	assert(nr == nslow);
	/* those that are late will be noticed */
	assert(COMING == 0 || !(LATE || deferred) || armed);
	/* a worker that defers a wake-up will take the tasks that it is for, but for those that another one takes */
	assert(!deferred || busy > 0);
	/* accepted = pending + running + running inside another one + queued again while it runs */
	nr = 0;
#if JOINS
	for (ix : 0 .. NW - 1) { nr = nr + (jst[ix] == J_RUN) }
#endif
	assert(cnt[0] + cnt[1] == npend + busy + nr + nagain);
	/* no task forgotten: an idle worker is woken even beside a thread that starts; without one a thread is made, but
	   for those that are on their way and not late */
	assert(npend == 0 || nidle == 0 || nwaking > 0 || dropping);
	assert(npend == 0 || nidle > 0 || COMING > 0 || dropping ||
	       (workers == busy + leaving + nnew + wk &&
		(workers >= cap || upkeep || npend + MADE_UP <= nnew || (backoff && armed))));
	/* no waiter forgotten; with a limit on grants a hold and waiters of different batches one is pending instead,
	   and its taker goes on granting; without a slot one is pending, too, and brings it when it starts */
	assert(!HEED || NFREE <= 0 || CLOSED || tuning ||
	       (npend > 0 && (!HAS_SLOT || NFREE < BATCH(wq[0]) || GMAX < NW + QD)));
	assert(!HEED || NFREE <= 0 || CLOSED || tuning || armed);
	/* min_workers; a leaving worker may keep the pool at its capacity, and starts the upkeep when it has left */
	assert(STAYING >= MINW || CLOSED || upkeep || (backoff && armed) || (workers >= cap && leaving > 0));
	/* no worker is parked that may not be, unless a new one will leave instead */
	assert(nidle == 0 || tuning || !ABOVE || nnew > 0);
	assert(nidle == 0 || releasing || dropping || !CLOSED);
	assert(!DRAINED || !armed);
	/* untimed nested waiters never occupy every worker */
	assert(nuntimed == 0 || nuntimed < cap || tuning || CLOSED);
#if FAULTS
	/* whoever sees the end of the pool sees that of its dead */
	nr = completing;
	for (ix : 0 .. NW - 1) { nr = nr + (dead[ix] != D_NO) }
	assert(nr <= aborting);
#endif
	/* what was accepted and will not run is given up; nothing stays behind */
	assert(!tripped || dropping || (npend == 0 && (nwait == 0 || releasing)))
}

#if HIGHS
/* ants_pick_list() in dispatch.h */
#ifdef MUT_HIGH_FIRST
#define URGENT_NEXT	(len(urg) > 0)
#else
#define URGENT_NEXT	(len(urg) > 0 && (len(pend) == 0 || hrun < HRUN))
#endif

/* worker_take(), which task it is */
inline pend_pop(x)
{
	if
	:: URGENT_NEXT ->
		hrun = (len(pend) > 0 -> hrun + 1 : hrun);
		passed = (len(pend) > 0 -> passed + 1 : 0);
		assert(passed <= HRUN);		/* a task of normal priority has its turn */
		urg?x
	:: else ->
		if
		:: len(urg) > 0 -> hrun = 0
		:: else
		fi;
		passed = 0;
		pend?x
	fi
}

inline pend_add(x)
{
	if
	:: HIGH(x) -> urg!x
	:: else -> pend!x
	fi
}

/* pick_due() */
inline late_pop(x)
{
	if
	:: len(lateh) > 0 && (len(late) == 0 || dgrants < HRUN) ->
		dgrants = (len(late) > 0 -> dgrants + 1 : dgrants);
		lateh?x
	:: else ->
		if
		:: len(lateh) > 0 -> dgrants = 0
		:: else
		fi;
		late?x
	fi
}

inline late_add(x)
{
	if
	:: HIGH(x) -> lateh!x
	:: else -> late!x
	fi
}
#else
#define pend_pop(x)	pend?x
#define pend_add(x)	pend!x
#define late_pop(x)	late?x
#define late_add(x)	late!x
#endif

/* ---- lists ---- */
inline idle_del_oldest(x)
{
	x = idle[0];
	for (ix : 1 .. NW - 1) { idle[ix - 1] = idle[ix] }
	nidle--;
	idle[nidle] = 0;
	if
	:: nexp > 0 -> nexp--
	:: else
	fi
}

inline idle_pop(x)
{
	nidle--;
	x = idle[nidle];
	idle[nidle] = 0;
	if
	:: nexp > nidle -> nexp = nidle
	:: else
	fi
}

inline wq_del_at(k)
{
	nuntimed = nuntimed - (NESTING(wq[k]) && !TIMED(wq[k]));
	for (ix : k + 1 .. NQ - 1) { wq[ix - 1] = wq[ix] }
	nwait--;
	wq[nwait] = 0
}

/* ants_timer_arm_soon() */
inline arm_soon()
{
	armed = 1;
	soon = 1
}

/* ---- dispatch.c ---- */

/* wake the tasks that wait for item `id`: it has ended, or they can take it off */
inline wake_joiners(id)
{
#if JOINS
	for (ix : 0 .. NW - 1) {
		if
		:: jst[ix] == J_SLEEP && TARGET(task[ix]) == (id) -> jst[ix] = J_HELP
		:: else
		fi
	}
#else
	skip
#endif
}

/* ants_work_offer() */
inline offer(id)
{
#ifndef MUT_JOIN_NO_OFFER
	wake_joiners(id)
#else
	skip
#endif
}

inline accept_anyway(x)
{
	tk = (x) | cur;
	cnt[cur]++;
	pend_add(tk);
	if
	:: IDS -> assert(!(ever & (1 << IDOF(tk)))); ever = ever | (1 << IDOF(tk)); alive = alive | (1 << IDOF(tk))
	:: else
	fi;
#if JOINS
	ist[IDOF(tk)] = I_PENDING;
#endif
	offer(IDOF(tk))
}

/*
 * a task becomes pending. Only here the tasks in flight grow, unless a task runs an item itself that was not admitted: one that is due,
 * or that it submits.
 */
inline accept(x)
{
	assert(cnt[0] + cnt[1] < cap + QD + nagain);
	accept_anyway(x)
}

/* a caller of ants_work_cancel_sync() is woken if item `id` has ended */
inline wake_sync(id)
{
#if JOINS && SYNC
	if
	:: sync == (id) && ist[sync] == I_IDLE -> sync = NONE
	:: else
	fi
#else
	skip
#endif
}

/* an item ends that does not run: -ESHUTDOWN, -ECANCELED, -EIO */
inline item_fail(id)
{
#if JOINS
	nr = id;
	ist[nr] = I_IDLE;
	wake_joiners(nr);
	wake_sync(nr)
#else
	skip
#endif
}

/* a task ended, wherever it ran (or was lost with its worker) */
inline task_uncount(x)
{
	cnt[EPOCH(x)]--;
	if
	:: IDS -> assert(alive & (1 << IDOF(x)))
	:: else
	fi;
#if JOINS && REQUEUES
	if
	:: ist[IDOF(x)] == I_AGAIN && !tripped ->		/* the next run takes over the admission of this one */
		nagain--;
#ifndef MUT_AGAIN_LOST
		tk = ITEM(IDOF(x)) | ep[IDOF(x)];
		pend_add(tk);
#endif
		ist[IDOF(x)] = I_PENDING;
#ifndef MUT_AGAIN_NO_OFFER
		offer(IDOF(x))
#endif
	:: else ->
		if
		:: ist[IDOF(x)] == I_AGAIN -> nagain--; cnt[ep[IDOF(x)]]--
		:: else
		fi;
		alive = alive & ~(1 << IDOF(x));
		ist[IDOF(x)] = I_IDLE;
		wake_joiners(IDOF(x));
		wake_sync(IDOF(x))
	fi;
#else
	if
	:: IDS -> alive = alive & ~(1 << IDOF(x))
	:: else
	fi;
#if JOINS
	ist[IDOF(x)] = I_IDLE;
	wake_joiners(IDOF(x));
	wake_sync(IDOF(x));
#endif
#endif
	x = 0
}

inline task_end(x)
{
	busy--;
	task_uncount(x)
}

/* the same, and it has ended well */
inline task_done(x)
{
#if MAXF < 99
	well = 1;
#endif
	task_end(x)
}

/* an item is about to run; not while a caller of ants_work_cancel_sync() waits for its end */
inline item_starts(id)
{
#if JOINS
	assert(sync != (id));
	ist[id] = I_RUNNING
#else
	skip
#endif
}

#if HIGHS
/* pick_waiter(): which of those in wq is next */
inline pick_waiter(x)
{
	x = 0;
	do
	:: x < nwait && !HIGH(wtask[wq[x]]) -> x++
	:: else -> break
	od;
	ix = 0;
	do
	:: ix < nwait && HIGH(wtask[wq[ix]]) -> ix++
	:: else -> break
	od;
	if
	:: x == nwait -> x = ix; gpassed = 0			/* only such of normal priority */
	:: x < nwait && ix == nwait -> gpassed = 0		/* only such of high priority */
#ifndef MUT_HIGH_WAITER_FIRST
	:: x < nwait && ix < nwait && hgrants == HRUN -> hgrants = 0; gpassed = 0; x = ix
#endif
	:: else -> hgrants++; gpassed++
	fi;
	assert(gpassed <= HRUN)		/* a caller with a task of normal priority has its turn */
}
#else
#define pick_waiter(x)	x = 0
#endif

/* grant(): in order, never more than there is room for; due items first, but not for ever */
inline ants_grant(most)
{
	nr = 0;
	do
#ifdef MUT_GRANT_TOO_MANY
	:: HEED && !CLOSED && npend < PMAX && nr < most ->
#else
	:: HEED && !CLOSED && NFREE > 0 && HAS_SLOT && nr < most ->
#endif
		nr++;
		if
#if JOINS || LATES
#ifdef MUT_LATE_FIRST
		:: nlate > 0 ->
#else
		:: nlate > 0 && (nwait == 0 || lrun < LRUN) ->
#endif
			lrun = (nwait > 0 -> lrun + 1 : 0);
			assert(lrun <= LRUN);	/* a caller that waits has its turn */
			late_pop(wk);
			accept(wk)
#endif
		:: else ->
			pick_waiter(kk);
			wk = wq[kk];
			wq_del_at(kk);
			accept(wtask[wk]);
#if STOCK < 99
			assert(stock > 0); stock--;
#endif
			wtask[wk] = 0;
			res[wk] = OK;
#if JOINS || LATES
			lrun = 0
#endif
		fi
	:: else -> break
	od;
	if	/* one round was not enough, or there was no slot */
	:: HEED && !CLOSED && NFREE > 0 -> arm_soon()
	:: else
	fi
}

/* ants_serve(): in batches; what a batch holds back is served at the next tick, counted from the first room */
inline ants_serve()
{
	if
	:: HEED && !CLOSED && NFREE > 0 && (npend == 0 || NFREE >= BATCH(wq[0])) -> ants_grant(GMAX)
#ifndef MUT_NO_TICK
	:: HEED && !CLOSED && NFREE == 1 && npend > 0 && NFREE < BATCH(wq[0]) -> arm_soon()
#endif
	:: else
	fi
}

/* ask_for_worker(): not during the pause after a failure; the timer ends that */
inline ask_for_worker()
{
	if
	:: NEED && PAUSED -> armed = 1
	:: NEED && !PAUSED -> upkeep = 1
	:: else
	fi
}

/* ants_set_arriving() */
inline set_coming(x)
{
	fl[x] = FLIES;
	if
	:: LATE -> armed = 1
	:: else
	fi
}

inline wake_idle()
{
	idle_pop(wk);
	st[wk] = WAKING;
	nwaking++;
	set_coming(wk)
}

#ifdef MUT_START_HOLDS_BACK
#define MAY_WAKE	(nidle > 0 && npend > 0 && COMING == 0)
#else
#define MAY_WAKE	(nidle > 0 && npend > 0 && nwaking == 0)
#endif

/* ants_wake_next(): wake an idle one, or kick the upkeep */
inline wake_next()
{
	if
	:: MAY_WAKE -> wake_idle()
	:: npend > 0 && nidle == 0 -> ask_for_worker()
	:: else
	fi
#ifdef EAGER
	;
	ask_for_worker()
#endif
}

/* forget_late(): all of them at once */
inline give_up()
{
	for (ix : 0 .. NW - 1) {
		if
		:: fl[ix] == FLIES -> fl[ix] = GIVEN_UP
		:: else
		fi
	}
	nslow = nslow + nstarting;
	nstarting = 0;
	nwaking = 0;
	deferred = 0
}

/* ants_deferred_end() */
inline deferred_end()
{
	if
	:: deferred -> deferred = 0; nwaking--
	:: else
	fi
}

inline wake_drainers()
{
	for (ix : 0 .. 2) {
		if
		:: dstate[ix] == 1 -> dstate[ix] = 2
		:: else
		fi
	}
}

/* ants_dispatch(): after everything that makes room or removes a worker */
inline ants_dispatch()
{
	ants_serve();
	deferred_end();
	wake_next()
}

/* dispatch_rest(), by a worker that has taken a task */
inline dispatch_rest()
{
	ants_serve();
	if
	:: npend == 0 -> deferred_end()
	:: else
	fi;
	if	/* ants_wake_helper(): whether it pays is not modelled */
	:: maydefer && COMING == 0 && nidle > 0 && npend > 0 ->
		deferred = 1;
		nwaking++;
#ifndef MUT_DEFER_NO_TIMER
		armed = 1
#endif
	:: else
	fi;
	wake_next()
}

/* ants_timer_quiesce() */
inline timer_quiesce()
{
	if
	:: released && EMPTY -> armed = 0
	:: else
	fi
}

/* ---- submit.c, wait.c ---- */

/* ants_wait_enrol() */
inline ants_wait_enrol(id, x)
{
	wq[nwait] = id;
	nwait++;
	wtask[id] = x;
	nuntimed = nuntimed + (NESTING(id) && !TIMED(id));
	if
	:: NFREE > 0 -> arm_soon()
	:: else
	fi;
	res[id] = WAIT
}

/* admit(): how the three submits begin */
inline admit(id, x, try)
{
	if
	:: released -> res[id] = SHUT
#if MAXF < 99
#ifndef MUT_TRIPPED_ADMITS
	:: !released && tripped -> res[id] = FAULTED
#endif
#endif
#if STOCK < 99
	:: !CLOSED && stock == 0 -> res[id] = (try -> AGAIN : RETRY)
#endif
	:: else ->
		if
		:: HAS_ROOM ->
			accept(x);
#if STOCK < 99
			stock--;
#endif
			res[id] = OK;
			wake_next()
		:: else ->
			if
			:: try || nwait >= MAXB -> res[id] = AGAIN
#ifndef MUT_NO_EDEADLK
			:: !try && nwait < MAXB && NESTING(id) && !TIMED(id) && nuntimed + 1 >= cap -> res[id] = DEADLK
#endif
			:: else ->
				ants_wait_enrol(id, x)
			fi
		fi
	fi
}

/* ants_wait_withdraw(): killed or timed out; a grant beats both */
inline ants_wait_withdraw(id)
{
	if
	:: res[id] == WAIT ->
		nr = 0;
		do
		:: wq[nr] != id -> nr++
		:: else -> break
		od;
		wq_del_at(nr);
		wtask[id] = 0;
		res[id] = INTR;
#ifndef MUT_NO_STEP_ON_WITHDRAW
		ants_dispatch()	/* the next in line may have a smaller batch */
#endif
#ifdef MUT_SIGNAL_BEATS_GRANT
	:: res[id] == OK -> res[id] = INTR
#endif
	:: else
	fi
}

/* ---- worker.c ---- */

/* worker_take(): if pending has run dry the oldest waiter's task is handed over first */
inline worker_look()
{
	if
	:: npend == 0 && HEED && (STAYING <= cap) && !tripped -> ants_grant(GMAX)
	:: else
	fi
}

/* the oldest task; its slot goes back to the stock */
inline worker_take(x)
{
	pend_pop(task[x]);
	st[x] = BUSY;
	busy++;
	item_starts(IDOF(task[x]));
#if STOCK < 99
	stock++;
#endif
}

/* worker_leave(): no longer counts; LEFT, the thread ends, and waits for nobody */
inline worker_leave(x)
{
	st[x] = FREE;
	workers--;
#ifndef MUT_LEAVE_NO_WAKE
	if
	:: released && workers == 0 -> timer_quiesce(); wake_drainers()
	:: else
	fi;
#endif
#if !defined(MUT_NO_STEP_ON_LEAVE) && !defined(MUT_NO_STEP_ON_EXIT)
	if
	:: DESTROY && released && !NEED			/* release.dying */
	:: else -> upkeep = 1
	fi
#endif
}

/* The end of worker_live(), with worker_exit() first, if there is one: still counted, and leaving for good */
inline worker_go(x)
{
	assert(npend == 0 || ABOVE || tripped);	/* no worker goes while there is a task that it may take */
#if EXITS
	st[x] = EXITING;
	leaving++
#else
	worker_leave(x)
#endif
}

/* worker_park(), or leave, where no worker may park */
inline worker_park(x)
{
	if
	:: CLOSED || ABOVE -> worker_go(x)
	:: else ->
		idle[nidle] = x;
		nidle++;
		st[x] = IDLE;
		if
		:: REAP && SPARE -> armed = 1
		:: else
		fi;
		if	/* ants_timer_take_back() */
#ifdef MUT_TAKE_BACK_EARLY
		:: (LATE || DEFER) && !soon -> armed = (REAP && SPARE) || (NEED && PAUSED)
#else
		:: (LATE || DEFER) && !soon && COMING == 0 -> armed = (REAP && SPARE) || (NEED && PAUSED)
#endif
		:: else
		fi
	fi
}

/* the end of a look: worker_serve(), and worker_leave() */
inline worker_looked(x)
{
	if
	:: st[x] == BUSY -> dispatch_rest()
#ifdef MUT_DEFERRED_KEPT
	:: st[x] == IDLE -> ants_serve(); wake_next()
#endif
	:: else -> ants_dispatch()
	fi
}

/* ants_worker_arrived() */
inline arrived(x)
{
	if
#ifdef MUT_LEAVE_KEEPS_WAKING
	:: npend == 0 && (released || ABOVE)
#endif
#ifdef MUT_LATE_COUNTED
	:: fl[x] > 0 && st[x] == NEW -> nstarting--
	:: fl[x] > 0 && st[x] != NEW -> nwaking--
#else
	:: fl[x] == FLIES && st[x] == NEW -> nstarting--
	:: fl[x] == FLIES && st[x] != NEW -> nwaking--
	:: fl[x] == GIVEN_UP && st[x] == NEW -> nslow--
#endif
	:: else
	fi;
	fl[x] = 0
}

/* worker_arrive(): after a wake-up, or of a new thread */
inline worker_arrive(x)
{
	arrived(x);
	if
	:: st[x] == NEW ->
		nnew--;
#if MAXF < 99
		rowinit = 0;
#endif
		backoff = 0
	:: else
	fi;
	worker_look();
	if
	:: st[x] == LEAVING ->
		if
#ifdef MUT_NO_RESCIND
		:: false
#else
		:: npend > 0 && STAYING < cap && !tripped -> leaving--; worker_take(x)	/* rescind */
#endif
		:: else -> leaving--; worker_go(x)
		fi
	:: else ->
		if
		:: npend > 0 && !ABOVE && !tripped -> worker_take(x)
		:: else -> worker_park(x)
		fi
	fi;
#ifdef MUT_NO_STEP_ON_LEAVE
	if
	:: st[x] != FREE -> worker_looked(x)
	:: else
	fi
#elif defined(MUT_NO_WAKE_NEXT)
	ants_serve()
#else
	worker_looked(x)
#endif
}

/* worker_finish(): the next task without sleeping; above capacity it leaves */
inline worker_finish(x)
{
	task_done(task[x]);
	worker_look();
	if
	:: ABOVE || tripped -> worker_go(x)
	:: else ->
		if
		:: npend > 0 -> worker_take(x)
		:: else -> worker_park(x)
		fi
	fi;
#ifdef MUT_NO_STEP_ON_LEAVE
	if
	:: st[x] != FREE -> worker_looked(x)
	:: else
	fi
#else
	worker_looked(x)
#endif
}

/* the oldest idle one is told to retire */
inline retire_oldest()
{
	idle_del_oldest(wk);
	st[wk] = LEAVING;
	leaving++
}

#if JOINS
/* ---- work.c: tasks that run inside others ---- */

/* work_runner(): the worker that runs item `id`, or NONE */
inline runner_of(id, x)
{
	x = NONE;
	for (ix : 0 .. NW - 1) {
		if
		:: (st[ix] == BUSY && IDOF(task[ix]) == (id)) || (jst[ix] == J_RUN && IDOF(inner[ix]) == (id)) -> x = ix
		:: else
		fi
	}
}

/* the wait is over; then the task does nothing but return */
inline join_over(x)
{
	jst[x] = J_NO;
	task[x] = task[x] & ~4
}

/* join_enter(): refused if the item runs in this task, or in a task that waits for it */
inline join_enter(x)
{
	wk = NONE;
	nr = NW;
	if
	:: ist[TARGET(task[x])] == I_RUNNING || ist[TARGET(task[x])] == I_AGAIN -> runner_of(TARGET(task[x]), wk)
	:: else
	fi;
	do
#ifdef MUT_WAITS_FOR_LATE
	:: wk != NONE && wk != x && jst[wk] == J_SLEEP && nr > 0 ->
#else
	:: wk != NONE && wk != x && (jst[wk] == J_HELP || jst[wk] == J_SLEEP) && nr > 0 ->
#endif
		nr--;
		tk = TARGET(task[wk]);
		runner_of(tk, wk)
	:: else -> break
	od;
	if
	:: ist[TARGET(task[x])] == I_IDLE || wk == x -> join_over(x)	/* it has ended; -EDEADLK */
	:: else -> jst[x] = J_HELP
	fi
}

#ifdef MUT_JOIN_NO_TAKE
#define CAN_TAKE(id)	false
#else
#define CAN_TAKE(id)	(ist[id] == I_PENDING || (ist[id] == I_LATE && !CLOSED))
#endif

/* ants_pending_del(): item `id` leaves the pending tasks as `x` */
inline take_off(id, x)
{
	x = ITEM(id);
	if
	:: pend??[eval(x)]
	:: else -> x = x | 1
	fi;
	pend??eval(x)
}

/* wait_for(): takes the item off, whether or not it is admitted yet, or goes to sleep */
inline join_help(x)
{
	nr = TARGET(task[x]);
	if
	:: ist[nr] == I_IDLE -> join_over(x)
	:: CAN_TAKE(nr) ->
		if
		:: ist[nr] == I_LATE -> late??eval(ITEM(nr)); accept_anyway(ITEM(nr))
		:: else
		fi;
		nr = TARGET(task[x]);
		take_off(nr, inner[x]);
		item_starts(nr);
#ifndef MUT_JOIN_PLACE_EARLY
		joined++;
#endif
		jst[x] = J_RUN
	:: else -> jst[x] = J_SLEEP
	fi;
	ants_dispatch()
}

/* work_queue_slow(): the task submits an item, which finds no room */
inline join_at_once(x)
{
	accept_anyway(ITEM(TARGET(task[x])));
	take_off(TARGET(task[x]), inner[x]);
	item_starts(TARGET(task[x]));
#ifndef MUT_JOIN_PLACE_EARLY
	joined++;
#endif
	jst[x] = J_RUN;
	ants_dispatch()
}

/* join_run(): the item has returned */
inline join_finish(x)
{
#ifndef MUT_JOIN_PLACE_EARLY
	joined--;
#endif
	jst[x] = J_NO;
#if MAXF < 99
	well = 1;
#endif
	task_uncount(inner[x]);
#if REQUEUES
	if	/* the item has been queued again, and the task waits on */
	:: ist[TARGET(task[x])] != I_IDLE -> jst[x] = J_HELP
	:: else -> join_over(x)
	fi;
#else
	join_over(x);
#endif
#ifndef MUT_JOIN_NO_STEP
	ants_dispatch()
#endif
}
#endif

#if JOINS
#define IN_JOIN(x)	WAITS(task[x])
#define INNER_RUNS(x)	(jst[x] == J_RUN)
#define IN_CLIENT(x)	(jst[x] == J_NO || jst[x] == J_RUN)
#else
#define IN_JOIN(x)	false
#define INNER_RUNS(x)	false
#define IN_CLIENT(x)	true
#endif

#if JOINS && REQUEUES
/* ants_work_pend() of an item that runs */
inline work_again(id)
{
	if
#ifdef MUT_SYNC_NOT_CLOSED
	:: ist[id] == I_RUNNING && !CLOSED ->
#else
	:: ist[id] == I_RUNNING && !CLOSED && sync != (id) ->
#endif
		nreq++;
		ist[id] = I_AGAIN;
		ep[id] = cur;
		cnt[cur]++;
		nagain++
	:: else
	fi
}
#endif

#if FAULTS
/* the thread runs a function of the client: a task, one inside it, worker_init or worker_exit */
#define DIES(x)		(LIVES(x) && ((st[x] == BUSY && res[NS + x] != WAIT && IN_CLIENT(x)) || st[x] == EXITING || \
			 (WINIT && st[x] == NEW && mk != x)))
#endif

/* trip() */
inline trip()
{
#if MAXF < 99
	if
	:: !tripped -> tripped = 1; dropping = 1
	:: else
	fi
#else
	skip
#endif
}

/* breaker_count() */
inline breaker_count()
{
#if MAXF < 99
	row = (well -> 1 : row + 1);
	well = 0;
	if
	:: row >= MAXF -> trip()
	:: else
	fi
#else
	skip
#endif
}

/* breaker_count(): the thread counts as ready */
inline init_failed()
{
	backoff = 2;
	armed = 1;
	wake_drainers();
#if MAXF < 99
	if
	:: workers - nnew - leaving <= 1 ->
		rowinit++;
		if
		:: rowinit >= MAXF -> trip()
		:: else
		fi
	:: else
	fi
#endif
}

#if FAULTS
/* worker_abort() */
inline worker_abort(x)
{
	/* lay_out() */
#ifndef MUT_BURIED_IN_FLIGHT
	arrived(x);
#endif
	if
	:: st[x] == EXITING -> leaving--; breaker_count()
	:: st[x] == NEW -> nnew--; init_failed()
	:: else ->
#ifdef MUT_BURIED_BUSY
		task_uncount(task[x]);
#else
		task_end(task[x]);
#endif
		breaker_count()
	fi;
	res[NS + x] = 0;
	st[x] = FREE;
#ifdef MUT_BURIED_TWICE
	dead[x] = D_DIED;
#else
	dead[x] = D_NO;
#endif
#ifndef MUT_PLACE_LOST
	workers--;
#endif
	completing++;
#ifndef MUT_NO_STEP_ON_CLEANUP
	upkeep = 1;
#endif
	wake_drainers();
#ifndef MUT_NO_DISPATCH_ON_CLEANUP
	ants_dispatch()
#endif
}
#endif

#ifdef MUT_FORK_WAITS
#define MAY_FORK	(CLOSED || HAS_ROOM)
#else
#define MAY_FORK	true
#endif
#define COMES(x)	(((st[x] == NEW && mk != x) || st[x] == WAKING || st[x] == LEAVING) && LIVES(x))
#define ENDS(x)		(st[x] == BUSY && !NESTS(task[x]) && !IN_JOIN(x) && res[NS + x] != WAIT && LIVES(x))

active [NW] proctype worker()
{
end:	do
	:: d_step {
		COMES(_pid) ->
		maydefer = 0;
		worker_arrive(_pid);
		check()
	   }
	:: d_step {
		ENDS(_pid) ->
		maydefer = 0;
		res[NS + _pid] = 0;
		worker_finish(_pid);
		check()
	   }
#if DEFER
	:: d_step { COMES(_pid) && nidle > 0 -> maydefer = 1; worker_arrive(_pid); check() }
	:: d_step {
		ENDS(_pid) && nidle > 0 ->
		maydefer = 1;
		res[NS + _pid] = 0;
		worker_finish(_pid);
		check()
	   }
#endif
#if EXITS
	:: d_step {	/* worker_exit() has returned: tasks may have come meanwhile */
		st[_pid] == EXITING && LIVES(_pid) ->
		leaving--;
		worker_leave(_pid);
#ifndef MUT_NO_STEP_ON_EXIT
		ants_dispatch();
#endif
		check()
	   }
#endif
#if JOINS
#if CYCLE
	:: st[_pid] == BUSY && LIVES(_pid) && WAITS(task[_pid]) && jst[_pid] == J_NO -> jst[_pid] = J_ENTER
#else
	:: d_step {	/* ants_queue_work(), ants_group_submit(); if that is refused the task does without the item */
		st[_pid] == BUSY && LIVES(_pid) && WAITS(task[_pid]) && jst[_pid] == J_NO && MAY_FORK ->
		if
		:: !CLOSED && HAS_ROOM -> accept(ITEM(TARGET(task[_pid]))); wake_next(); jst[_pid] = J_ENTER
#if FORKS
		:: !CLOSED && !HAS_ROOM -> join_at_once(_pid)
#endif
		:: else -> join_over(_pid)
		fi;
		check()
	   }
#endif
#if DELAYS
	:: d_step {	/* ants_queue_delayed_work() */
		st[_pid] == BUSY && LIVES(_pid) && WAITS(task[_pid]) && jst[_pid] == J_NO && !CLOSED && ndelays < DELAYS ->
		ndelays++;
		ndelayed++;
		ist[TARGET(task[_pid])] = I_DELAYED;
		jst[_pid] = J_ENTER;
		check()
	   }
#endif
	:: d_step { jst[_pid] == J_ENTER -> join_enter(_pid); check() }
	:: d_step { jst[_pid] == J_HELP -> join_help(_pid); check() }
	:: d_step { jst[_pid] == J_RUN && LIVES(_pid) -> join_finish(_pid); check() }
#if REQUEUES
	:: d_step {	/* ants_queue_work() of the item that this worker runs, by its function or any other caller */
		st[_pid] == BUSY && jst[_pid] == J_RUN && nreq < REQUEUES -> work_again(IDOF(inner[_pid])); check()
	   }
	:: d_step {
		st[_pid] == BUSY && jst[_pid] == J_NO && IDOF(task[_pid]) >= NS * NT && nreq < REQUEUES ->
		work_again(IDOF(task[_pid]));
		check()
	   }
#if DELAYS && CANCELI
	:: d_step {	/* an item that was dropped is queued again: delay_until() */
		_pid == 0 && ndropped > 0 && nreq < REQUEUES && !CLOSED ->
		nr = 0;
		do
		:: ist[nr] != I_DROPPED -> nr++
		:: else -> break
		od;
		if
		:: sync != nr -> nreq++; ist[nr] = I_DELAYED; ndropped--; ndelayed++
		:: else
		fi;
		check()
	   }
#endif
#endif
#if JTIMED
	:: d_step { _pid < JTIMED && (jst[_pid] == J_HELP || jst[_pid] == J_SLEEP) -> join_over(_pid); check() }
#endif
#endif
#if NESTED
	:: d_step {	/* the task submits another one and then ends */
		st[_pid] == BUSY && NESTS(task[_pid]) && LIVES(_pid) ->
		task[_pid] = task[_pid] & ~2;
		admit(NS + _pid, 0, false);
		check()
	   }
#endif
#if NTIMED
	:: d_step {
		_pid < NTIMED && res[NS + _pid] == WAIT ->
		ants_wait_withdraw(NS + _pid);
		check()
	   }
#endif
#if CANCELS
	:: d_step {	/* ants_work_cancel() in any context: the oldest task stands for all */
		_pid == 0 && npend > 0 && ncancel < CANCELS ->
		ncancel++;
		pend_pop(tk);
		busy++;
		task_end(tk);
#if STOCK < 99
		stock++;
#endif
#ifndef MUT_NO_STEP_ON_CANCEL
		ants_grant(GMAX);		/* ants_room_freed() */
		wake_next();
#endif
		timer_quiesce();
#ifndef MUT_NO_WAKE_ON_CANCEL
		if	/* wake_waitq(): a caller that may not wake a drainer has the upkeep do so */
		:: released && EMPTY -> upkeep = 1
		:: else
		fi;
#endif
		check()
	   }
#endif
#if INITFAILS
	:: d_step {	/* worker_fail(): as good as not made */
		st[_pid] == NEW && mk != _pid && LIVES(_pid) && ninit < INITFAILS ->
		ninit++;
		arrived(_pid);
		nnew--;
		init_failed();
		worker_leave(_pid);
		ants_dispatch();
		check()
	   }
#endif
#if FAULTS
	:: d_step { DIES(_pid) && nfault < FAULTS -> nfault++; dead[_pid] = D_DIED; aborting++ }	/* thread_ends() */
#if JOINS
	:: d_step {	/* ants_inner_abort_round(): the wait of the outer task is over, and the inner one has died */
		dead[_pid] == D_DIED && jst[_pid] == J_RUN ->
		dead[_pid] = D_INNER;
		jst[_pid] = J_NO;
#ifndef MUT_INNER_NOT_BURIED
		joined--;
		task_uncount(inner[_pid]);
#endif
		ants_dispatch();
		check()
	   }
#endif
	:: d_step {
		(dead[_pid] == D_DIED && !INNER_RUNS(_pid)) || dead[_pid] == D_INNER ->
		worker_abort(_pid);
		check()
	   }
	:: d_step {	/* the end of ants_crash_fn() */
		_pid == 0 && completing > 0 ->
		completing--;
		aborting--;
		timer_quiesce();
#ifndef MUT_CLEANUP_NO_WAKE
		if
		:: released -> wake_drainers()
		:: else
		fi;
#endif
		check()
	   }
#endif
	od
}

active [NS] proctype submitter()
{
	byte k;
#define me	(_pid - NW)

	do
	:: k < NT ->
		if
#if STOCK < 99
		:: me < NS - TRY && stock == 0 -> stock++	/* GFP_KERNEL, lock not held */
#endif
		:: else
		fi;
		d_step {
			admit(me, ((IDS * (me * NT + k) + (!IDS && me < HIGHS)) << 3) | ((k < JOINS) << 2) | ((k < NESTED) << 1), me >= NS - TRY);
#if DESTROY
			entered++;
#endif
			check()
		}
		do
		:: atomic {	/* a signal or the timeout */
			res[me] == WAIT && TIMED(me) ->
#if DESTROY && !defined(MUT_NO_RCU_WITHDRAW)
			readers++	/* rcu_read_lock(), result not set: so the pool lives until rcu_read_unlock() */
#endif
		   };
			d_step {
				ants_wait_withdraw(me);
#if DESTROY && !defined(MUT_NO_RCU_WITHDRAW)
				readers--;
#endif
				check()
			}
		:: res[me] != WAIT -> break
		od;
		atomic {
			assert(res[me] == OK || (res[me] == SHUT && CLOSERS) || (res[me] == FAULTED && MAXF < 99) ||
			       (res[me] == INTR && TIMED(me)) ||
			       (res[me] == AGAIN && (me >= NS - TRY || MAXB < 99)) || (res[me] == RETRY && STOCK < 99));
			/* success: it runs; an error: it does not */
			assert(!IDS || (res[me] == OK) == ((ever >> (me * NT + k)) & 1));
			k = k + (res[me] != RETRY);
			res[me] = 0
		}
	:: else -> break
	od
#undef me
}

/* ---- upkeep.c: ants_upkeep_fn() and ants_maker_fn(), as one work item of the pool ---- */
active proctype upkeep_fn()
{
#ifdef MUT_NO_RECHECK_MAKER
	bool again;
#endif
end:	do
	:: d_step {
		upkeep && mk == NONE ->
		if
		:: RETIRE_DUE -> retire_oldest()		/* retire_expired() */
#ifdef MUT_NO_RECHECK_MAKER
		:: !RETIRE_DUE && !PAUSED && (NEED || (!again && npend > 0)) -> again = 1;
#else
		:: !RETIRE_DUE && !PAUSED && NEED ->		/* ants_maker_fn(): reserve the worker first */
#endif
			assert(workers < cap);
			mk = 0;
			do
			:: st[mk] != FREE -> mk++
			:: else -> break
			od;
			st[mk] = NEW;
			workers++;
			nnew++
		:: else ->					/* nothing to do */
			upkeep = 0;
#ifdef MUT_NO_RECHECK_MAKER
			again = 0;
#endif
			if
			:: NEED || (REAP && !released && nidle > 0 && SPARE) -> armed = 1
			:: else
			fi;
			timer_quiesce();
#ifndef MUT_NO_DRAIN_WAKE
			if
			:: released -> wake_drainers()
			:: else
			fi
#endif
		fi;
		check()
	   }
	:: atomic {						/* ants_maker_fn(): the thread */
		mk != NONE ->
		if
		:: nfail < MAXFAIL || !FAILEVER || nkept < KEPT ->
			d_step {				/* make_done() */
				if
				:: npend > 0 && (!WINIT || backoff) ->
					nstarting++;
					set_coming(mk)
				:: else
				fi;
				nkept = nkept + (nkept < KEPT);
				mk = NONE;
				check()
			}
		:: (nfail < MAXFAIL || FAILEVER) && nkept == KEPT ->
			d_step {
				nfail = nfail + (nfail < MAXFAIL);
				st[mk] = FREE;
				mk = NONE;
				workers--;
				nnew--;
				backoff = 2;
				armed = 1;
				ants_dispatch();
				check()
			}
		fi
	   }
	:: PAUSED && (nfail < MAXFAIL || !FAILEVER || !NEED) -> backoff = 1	/* time */
	od
}

/* ---- wake.c: ants_timer_fn().  Time is abstract: what an armed timer serves may be due at any moment ---- */
active proctype timer_fn()
{
end:	do
	:: atomic {
		/* if the timer is armed only for the end of a pause it does not fire before that */
		armed && (!(NEED && PAUSED) || OVERDUE || (HEED && NFREE > 0 && !CLOSED)) ->
		armed = 0;
		soon = 0;
		if
		:: OVERDUE ->					/* give them up, wake others */
			d_step {
				give_up();
#ifndef MUT_LATE_NO_STEP
				wake_next();
#endif
			}
		:: HEED && NFREE > 0 && !CLOSED ->		/* a tick has passed: whatever the batch */
			d_step { ants_grant(GMAX); wake_next() }
		:: REAP && nidle > 0 && SPARE && (nexp == 0 || !upkeep) ->	/* only marks */
			if
			:: nexp == 0 -> nexp = 1
			:: nexp = nidle
			fi;
			upkeep = 1
#ifdef MUT_REAP_WAKING
		:: REAP && nwaking > 0 ->
			d_step {
				ix = 0;
				do
				:: st[ix] != WAKING -> ix++
				:: else -> break
				od;
				st[ix] = LEAVING;
				leaving++
			}
#endif
		:: else						/* in vain */
		fi;
		d_step {
			if
			:: NEED && !PAUSED -> upkeep = 1
			:: else
			fi;
			if
			:: HEED && NFREE > 0 && !CLOSED -> arm_soon()
			:: !(HEED && NFREE > 0 && !CLOSED) && (OVERDUE || (NEED && PAUSED)) -> armed = 1
			:: else
			fi;
			check()
		}
	   }
	od
}

/* ---- tune.c ---- */
#if TUNES
#ifdef MUT_SHRINK_NO_EDEADLK
#define TOO_NESTED	false
#else
#define TOO_NESTED	(nuntimed > 0 && nuntimed >= cap)
#endif

/* one lock hold of ants_tune(): at most one entry of each kind */
inline tune_round()
{
#ifndef MUT_TUNE_NO_GRANT
	ants_grant(1);
#endif
	if
	:: TOO_NESTED ->			/* the newest nested waiter could wait for ever */
		nr = nwait - 1;
		do
		:: !NESTING(wq[nr]) || TIMED(wq[nr]) -> nr--
		:: else -> break
		od;
		wk = wq[nr];
		wq_del_at(nr);
		wtask[wk] = 0;
		res[wk] = DEADLK
	:: else
	fi;
	if
	:: ABOVE && nidle > 0 -> retire_oldest()
	:: else
	fi;
#ifdef MUT_TUNE_NO_GRANT
	tuning = 0
#else
	wake_next();
	ask_for_worker();
	tuning = (HEED && NFREE > 0 && HAS_SLOT && !CLOSED) || TOO_NESTED || (ABOVE && nidle > 0)
#endif
}

active proctype tuner()
{
	byte k, new;

	do
	:: k < TUNES ->
		k++;
		atomic { !cfg -> cfg = 1; select (new : TMIN .. NW) }
		d_step { cap = new; new = 0; tune_round(); check() }
		do
		:: d_step { tuning -> tune_round(); check() }
		:: atomic { !tuning -> cfg = 0; break }
		od
	:: else -> break
	od
}
#endif

/* ---- pool.c ---- */
#if CLOSERS
#define me	(_pid - NW - NS - 2 - (TUNES > 0))

/* one lock hold of ants_release(): at most one waiter, one idle worker */
inline release_round()
{
	if
	:: nwait > 0 ->
		wk = wq[0];
		wq_del_at(0);
		wtask[wk] = 0;
		res[wk] = SHUT
	:: else
	fi;
	if
	:: nidle > 0 -> retire_oldest()
	:: else
	fi;
#if JOINS || LATES
	if	/* fail_waiting() */
	:: nlate > 0 -> late_pop(wk); item_fail(IDOF(wk))
	:: nlate == 0 && ndelayed > 0 ->
		ndelayed--;
#if JOINS
		for (wk : 0 .. NI - 1) {
			if
			:: ist[wk] == I_DELAYED -> break
			:: else
			fi
		};
		item_fail(wk)
#endif
	:: else
	fi;
#endif
	releasing = (nwait > 0 || nidle > 0 || nlate > 0 || ndelayed > 0);
	timer_quiesce();
	wake_drainers()			/* close_end() */
}

active [CLOSERS] proctype closer()
{
	byte mygen;

#if DESTROY
	entered == NS * NT;
#endif
	/* ants_release() */
	atomic { !cfg -> cfg = 1 }
	d_step { released = 1; mygen = gen; release_round(); check() }
	do
	:: d_step { releasing -> release_round(); check() }
	:: atomic { !releasing -> cfg = 0; break }
	od;
	/* ants_release_timeout(), or ants_pool_quiesce() */
	do
	:: atomic {
		dstate[me] != 1 -> dstate[me] = 0;
		if
#ifdef MUT_DRAIN_NO_GEN
		:: DRAINED -> break
#else
		:: DRAINED || mygen != gen -> break
#endif
		:: else -> d_step { dstate[me] = 1; check() }
		fi
	   }
	od;
#if DESTROY
	/* ants_pool_destroy(): after a grace period, free */
	atomic { readers == 0 -> assert(DRAINED); freed = 1 }
#endif
}
#undef me
#endif

/* ---- pool.c: ants_drop_fn(), one entry a hold ---- */
#if MAXF < 99
active proctype dropper()
{
end:	do
	:: d_step {
		dropping ->
		if
		:: nwait > 0 ->					/* fail_waiters() */
			wk = wq[0];
			wq_del_at(0);
			wtask[wk] = 0;
			res[wk] = FAULTED
#if JOINS || LATES
		:: nwait == 0 && nlate > 0 -> late_pop(wk); item_fail(IDOF(wk))
#endif
#if JOINS && DELAYS
		:: nwait == 0 && nlate == 0 && ndelayed > 0 ->
			ndelayed--;
			wk = 0;
			do
			:: ist[wk] != I_DELAYED -> wk++
			:: else -> break
			od;
			item_fail(wk)
#endif
#ifndef MUT_DROP_KEEPS
		:: nwait == 0 && nlate == 0 && ndelayed == 0 && npend > 0 ->	/* drop_round() */
			pend_pop(tk);
			wk = tk;
			task_uncount(wk)
#endif
		:: nwait == 0 && nlate == 0 && ndelayed == 0 && npend == 0 && nidle > 0 -> retire_oldest()
		:: else ->					/* drop_end() */
			dropping = 0;
			timer_quiesce();
#ifndef MUT_DROP_NO_WAKE
			wake_drainers()
#endif
		fi;
		check()
	   }
	od
}
#endif

/* ---- work.c ---- */
#if JOINS && CANCELI
/* cancel() */
inline work_cancel(id)
{
	if
#if REQUEUES
	:: ist[id] == I_AGAIN ->			/* cancel_running(): the run in progress ends as it will */
		nagain--;
#ifndef MUT_CANCEL_KEEPS_COUNT
		cnt[ep[id]]--;
#endif
		ist[id] = I_RUNNING
#endif
	:: ist[id] == I_PENDING ->
		take_off(id, tk);
		task_uncount(tk)
	:: ist[id] == I_LATE -> late??eval(ITEM(id)); item_fail(id)
	:: ist[id] == I_DELAYED -> ndelayed--; item_fail(id)
	:: else
	fi;
	ants_grant(GMAX);				/* ants_room_freed() */
	wake_next();
	timer_quiesce();
	if
	:: released && EMPTY -> upkeep = 1
	:: else
	fi
}

active proctype canceller()
{
	byte k, id;

	do
	:: k < CANCELI ->
		atomic {
			k++;
			select (id : NI / 2 .. NI - 1);
			if
#if DELAYS
			:: ist[id] == I_DELAYED -> ist[id] = I_DROPPED; ndelayed--; ndropped++
#endif
			:: d_step { work_cancel(id); check() }
			fi;
#if SYNC
			if
			:: ist[id] != I_IDLE -> sync = id
			:: else
			fi
#endif
		};
		sync == NONE
	:: else -> break
	od
}
#endif

#if REBOOTS
active proctype rebooter()
{
	byte k;

	do
	:: k < REBOOTS ->
		k++;
		atomic {						/* ants_reboot() */
			!cfg ->
			if
#ifdef MUT_REBOOT_EARLY
			:: released && npend == 0 && busy == 0 ->
#else
			:: DRAINED ->
#endif
				d_step {
					assert(mk == NONE && leaving == 0);
					released = 0;
					gen++;
					backoff = 0;
#if MAXF < 99
					tripped = 0;
					row = 0;
					rowinit = 0;
#endif
					ask_for_worker();		/* the code makes these threads before it opens the pool */
					check()
				}
			:: else						/* -EBUSY, or not released */
			fi
		}
	:: else -> break
	od
}
#endif

/* ---- pool.c: ants_flush_timeout() ---- */
#if FLUSHERS
active [FLUSHERS] proctype flusher()
{
	short before;
	byte begin;

	d_step { before = alive; begin = flips };	/* ghost: what this call has to wait for */
	do
#ifndef MUT_FLUSH_NO_OLD
	:: atomic { flips == begin && cnt[1 - cur] == 0 -> cur = 1 - cur; flips++ }
#else
	:: atomic { flips == begin -> cur = 1 - cur; flips++ }
#endif
	:: atomic { flips - begin > 1 || (flips != begin && cnt[1 - cur] == 0) ->
		assert(!(alive & before)); break }
	:: cnt[1 - cur] > 0 -> break			/* timed out */
	od;
	atomic { before = 0; begin = 0 }
}
#endif

/* ---- item.c: ants_delayed_timer_fn() ---- */
#if JOINS && DELAYS
active proctype delayed()
{
end:	do
	:: d_step {
		ndelayed > 0 ->
		nr = 0;
		do
		:: ist[nr] != I_DELAYED -> nr++
		:: else -> break
		od;
		ndelayed--;
		if
		:: CLOSED -> item_fail(nr)
		:: !CLOSED && HAS_ROOM -> accept(ITEM(nr)); wake_next()
		:: else ->
			late_add(ITEM(nr));
			ist[nr] = I_LATE;
			wk = nr;
			offer(wk);
			if
			:: NFREE > 0 -> arm_soon()
			:: else
			fi
		fi;
		if
		:: released -> wake_drainers()
		:: else
		fi;
		check()
	   }
#if CANCELI
	:: d_step {
		ndropped > 0 ->
		nr = 0;
		do
		:: ist[nr] != I_DROPPED -> nr++
		:: else -> break
		od;
		ndropped--;
		item_fail(nr);
#ifndef MUT_DROPPED_NO_WAKE
		if
		:: released -> wake_drainers()
		:: else
		fi;
#endif
		check()
	   }
#endif
	od
}
#endif
#if LATES
active proctype delayed()
{
	byte k;

	do
	:: k < LATES ->
		d_step {
			k++;
			if
			:: CLOSED
			:: !CLOSED && HAS_ROOM -> accept((HIGHS && k % 2) << 3); wake_next()
			:: else ->
				late_add((HIGHS && k % 2) << 3);
				if
				:: NFREE > 0 -> arm_soon()
				:: else
				fi
			fi;
			check()
		}
	:: else -> break
	od
}
#endif

#if HERES
/* ants_wake_for_submitter(), at any moment: one more for a caller on another CPU */
active proctype elsewhere()
{
	byte k;

	do
	:: d_step {
		k < HERES && !deferred && nidle > 0 && nwaking > 0 && nwaking < npend ->
		k++;
		wake_idle();
		check()
	   }
	:: break
	od
}
#endif

/* when nothing moves any more, nothing may be left */
active proctype final()
{
	atomic {
		timeout ->
		if
		:: !freed ->
			check();
			assert(npend == 0 && busy == 0 && joined == 0 && nwait == 0 && nlate == 0 && ndelayed == 0);
			assert(leaving == 0 && nnew == 0);
			assert(aborting == 0 && !dropping && nagain == 0 && ndropped == 0);
			assert(!tripped || workers == 0);
			assert(COMING == 0 && nslow == 0 && !upkeep && !armed && !cfg && !tuning && !releasing);
			assert(!released || DRAINED);
			assert(CLOSED || workers >= MINW);
			assert(!REAP || CLOSED || workers == MINW);
			assert(!ABOVE && alive == 0)
		:: else
		fi
	}
}
