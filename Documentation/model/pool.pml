/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Promela model of the core of an ants pool.  README.rst says what is modelled and how to run it.
 *
 * One d_step is one hold of pool->lock, named after the C function that it stands for.  It ends with check(), the
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
#define NW	CAP	/* places for workers: the largest capacity of the run */
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
#define GMAX	99	/* grants in one hold (the code: 16) */
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
#ifndef MAXFAIL
#define MAXFAIL	0	/* creations that fail */
#endif
#ifndef FAILEVER
#define FAILEVER 0	/* after MAXFAIL failures creation never works again (else: always) */
#endif
#ifndef FAULTS
#define FAULTS	0	/* tasks that kill their worker */
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
#define CLOSERS	0	/* callers of ants_release() + ants_close_wait() */
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
#ifndef IDS
#define IDS	(FLUSHERS > 0)	/* tasks have an identity */
#endif
#ifndef STOCK
#define STOCK	99	/* slots in the stock at the start, 99: not modelled */
#endif

#define NONE	99
#define PMAX	(NW + QD)		/* most tasks pending */
#define NQ	(NS + NW)		/* waiters: submitter i is i, the task on worker w is NS + w */

/* state of a worker's place */
#define FREE	0
#define NEW	1	/* place taken; while mk names it, the thread does not exist yet */
#define IDLE	2	/* parked, on the idle LIFO */
#define WAKING	3	/* woken, lock not taken yet; late if `waking` does not name it */
#define BUSY	4
#define LEAVING	5	/* told to retire, lock not taken yet */
#define DEAD	6	/* its task killed it, not buried yet; counts as busy */

/* what became of a submit */
#define WAIT	1
#define OK	2
#define SHUT	3	/* -ESHUTDOWN */
#define AGAIN	4	/* -EAGAIN, -EBUSY, -ENOMEM of a try */
#define INTR	5	/* -EINTR, -ETIMEDOUT */
#define DEADLK	6	/* -EDEADLK */
#define RETRY	7	/* no slot: top the stock up and come again */

/* a task is a byte: bit 0 its epoch, bit 1 "submits another one", the rest its identity */
#define EPOCH(t)	((t) & 1)
#define NESTS(t)	((t) & 2)
#define IDOF(t)		((t) >> 2)

/* ---- the pool; everything here is under pool->lock ---- */
byte cap = CAP;
byte busy, workers, leaving, nnew;	/* workers counts every place taken; leaving, nnew and stand-ins are in it */
byte nstand;				/* draining callers that stand in for a worker */
byte st[NW], task[NW];
chan pend = [PMAX] of { byte };		/* FIFO of accepted tasks */
byte idle[NW], nidle;			/* LIFO; idle[0] is the oldest */
byte nexp;				/* the oldest nexp idle ones have expired */
byte waking = NONE;
byte wq[NQ], nwait;			/* FIFO of waiters; wq[0] is the next */
byte res[NQ];				/* waiter.result */
byte wtask[NQ];				/* waiter.fn, data */
byte nuntimed;				/* nested untimed waiters among them */
bool armed;				/* pool timer */
bool upkeep = (MINW > 0);			/* work item queued, running or in back-off */
bool backoff;				/* its next run is delayed, because a creation failed */
byte left;				/* LEFT workers that nobody has joined yet */
bool released, releasing, tuning;	/* -ing: between the rounds */
byte gen;				/* reboots */
byte cur, cnt[2];			/* epoch, accepted and unfinished tasks of each */
#if STOCK < 99
byte stock = STOCK;
#endif

/* ---- not under it ---- */
bool cfg;				/* mutex of release, tune, reboot */
bool flushing;				/* mutex of flush */
byte mk = NONE;				/* place of the thread that the upkeep is about to create */
byte nfail, nfault, ncancel;
byte dstate[3];				/* drainer: 0 awake, 1 asleep, 2 woken */
bool freed;				/* the pool is memory no more */
byte readers;				/* RCU read sections that may still look at the pool */
byte entered;				/* submits that have begun, for DESTROY */

/* ---- ghosts ---- */
short alive, ever;			/* accepted and unfinished, ever accepted, by identity */

hidden byte ix, wk, tk, nr;

#define npend		len(pend)
#define NFREE		(cap + QD - busy - npend)
#define BATCH(x)	(((x) & 1) -> BATCH1 : BATCH0)
#define NESTING(x)	((x) >= NS)
#define TIMED(x)	((x) >= NS && (x) - NS < NTIMED || (x) < KILL)
#define SPARE		(workers - leaving > MINW)
#define ABOVE		(workers - leaving > cap)
#ifdef EAGER	/* variant: does not wait for the wake-up in flight before the next thread is ordered */
#define NEED_TASKS	(npend > nidle + (waking != NONE && st[waking] == WAKING) + nnew)
#else
#define NEED_TASKS	(waking == NONE && npend > nidle + nnew)
#endif
#define NEED		(workers < cap && (NEED_TASKS || (!released && workers - leaving < MINW)))
#define RETIRE_DUE	(nexp > 0 && SPARE)
#define EMPTY		(workers == 0 && npend == 0)
#define DRAINED		(released && !releasing && EMPTY && left == 0 && !upkeep && !armed && nwait == 0)

/* Invariants, at every release of the lock */
inline check()
{
	assert(!freed);
	/* the counters tell the truth */
	nr = nstand;
	wk = 0;
	for (ix : 0 .. NW - 1) {
		nr = nr + (st[ix] != FREE);
		wk = wk + (st[ix] == WAKING && waking != ix)	/* the late ones */
	}
	assert(nr == workers);
	nr = nstand;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == BUSY || st[ix] == DEAD) }
	assert(nr == busy);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == IDLE) }
	assert(nr == nidle && nexp <= nidle);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == LEAVING) }
	assert(nr == leaving);
	nr = 0;
	for (ix : 0 .. NW - 1) { nr = nr + (st[ix] == NEW) }
	assert(nr == nnew);
	assert(waking == NONE || st[waking] == WAKING || st[waking] == NEW);
	/* accepted = pending + running */
	assert(cnt[0] + cnt[1] == npend + busy);
	/* no task forgotten; "late" joins the three states of the contract */
	assert(npend == 0 || waking != NONE ||
	       (workers == busy + leaving + nnew + wk && (workers >= cap || upkeep || nnew > 0)));
	/* no waiter forgotten; with a limit on grants a hold and waiters of different batches one is pending instead,
	   and its taker goes on granting */
	assert(nwait == 0 || NFREE <= 0 || released || tuning ||
	       (npend > 0 && (NFREE < BATCH(wq[0]) || GMAX < NW + QD)));
	assert(nwait == 0 || NFREE <= 0 || released || tuning || armed);
	/* min_workers; a leaving one may hold the last place, and starts the upkeep when it gives it up */
	assert(workers - leaving >= MINW || released || upkeep || (workers >= cap && leaving > 0));
	/* nobody is parked where he may not be; somebody will join whoever left */
	assert(nidle == 0 || tuning || !ABOVE);
	assert(nidle == 0 || releasing || !released);
	assert(left == 0 || upkeep);
	/* untimed nested waiters never hold every place */
	assert(nuntimed == 0 || nuntimed < cap || tuning)
}

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

/* ---- dispatch.c ---- */

/* a task becomes pending; the only place where busy + pending grows */
inline accept(x)
{
	assert(busy + npend < cap + QD);
	tk = (x) | cur;
	cnt[cur]++;
	pend!tk;
	if
	:: IDS -> assert(!(ever & (1 << IDOF(tk)))); ever = ever | (1 << IDOF(tk)); alive = alive | (1 << IDOF(tk))
	:: else
	fi
}

/* a task ended (or was lost with its worker) */
inline task_end(x)
{
	busy--;
	cnt[EPOCH(x)]--;
	if
	:: IDS -> assert(alive & (1 << IDOF(x))); alive = alive & ~(1 << IDOF(x))
	:: else
	fi;
	if	/* ants_serve(): the first free place is served at the next tick */
#ifndef MUT_NO_TICK
	:: nwait > 0 && !released && NFREE == 1 -> armed = 1
#endif
	:: else
	fi;
	x = 0
}

/* grant_waiters(): in order, in batches, never more than there are places; force: whatever the batch */
inline grant_waiters(force, most)
{
	nr = 0;
	if
	:: nwait > 0 && !released && NFREE > 0 && (force || npend == 0 || NFREE >= BATCH(wq[0])) ->
		do
#ifdef MUT_GRANT_TOO_MANY
		:: nwait > 0 && npend < PMAX && nr < most ->
#else
		:: nwait > 0 && NFREE > 0 && nr < most ->
#endif
			wk = wq[0];
			wq_del_at(0);
			accept(wtask[wk]);
#ifdef MUT_NO_SLOT_RESERVE
			assert(stock > 0); stock--;
#endif
			wtask[wk] = 0;
			res[wk] = OK;
			nr++
		:: else -> break
		od;
		if	/* one round was not enough */
		:: nwait > 0 && NFREE > 0 -> armed = 1
		:: else
		fi
	:: else
	fi
}

/* wake_next(): wake an idle one, or kick the upkeep */
inline wake_next()
{
	if
	:: npend > 0 && waking == NONE ->
		if
		:: nidle > 0 ->
			idle_pop(wk);
			st[wk] = WAKING;
			waking = wk;
			if
			:: LATE -> armed = 1
			:: else
			fi
		:: nidle == 0 && NEED -> upkeep = 1
		:: else
		fi
	:: else
	fi;
#ifdef EAGER
	if
	:: NEED -> upkeep = 1
	:: else
	fi;
#endif
	if
	:: MINW > 0 && NEED -> upkeep = 1
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

/* ants_dispatch(): after everything that frees a place or removes a worker */
inline ants_dispatch()
{
	grant_waiters(false, GMAX);
	wake_next();
	if	/* nobody left to finish the closing: the upkeep disarms the timer, a drainer stands in */
	:: released && workers == 0 ->
		if
		:: npend == 0 && armed -> upkeep = 1
		:: else
		fi;
#ifndef MUT_NO_DRAIN_WAKE
		wake_drainers()
#endif
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
	res[id] = WAIT
}

/* admit(): how the three submits begin */
inline admit(id, x, try)
{
	if
	:: released -> res[id] = SHUT
#if STOCK < 99
	:: !released && stock == 0 -> res[id] = (try -> AGAIN : RETRY)
#endif
	:: else ->
		if
		:: nwait == 0 && busy + npend < cap + QD ->
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
#if STOCK < 99 && !defined(MUT_NO_SLOT_RESERVE)
				stock--;	/* a waiter brings its slot */
#endif
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
#if STOCK < 99 && !defined(MUT_NO_SLOT_RESERVE)
		stock++;
#endif
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

/* worker_take(): the oldest task; its slot goes back to the stock */
inline worker_take(x)
{
	pend?task[x];
	st[x] = BUSY;
	busy++;
#if STOCK < 99
	stock++;
#endif
}

/* worker_leave(): give up the place, LEFT, the upkeep joins */
inline worker_leave(x)
{
	assert(npend == 0 || ABOVE);	/* nobody goes while there is work that he may take */
	st[x] = FREE;
	workers--;
	left++;
#ifndef MUT_NO_STEP_ON_LEAVE
	upkeep = 1
#endif
}

/* worker_park(): or leave, where nobody may park */
inline worker_park(x)
{
	if
	:: released || ABOVE -> worker_leave(x)
	:: else ->
		if	/* the task that a thread is made for is gone, and this one is ready */
		:: waking != NONE && st[waking] == NEW -> waking = NONE
		:: else
		fi;
		idle[nidle] = x;
		nidle++;
		st[x] = IDLE;
		if
		:: REAP && SPARE -> armed = 1
		:: else
		fi
	fi
}

/* worker_arrive(): after a wake-up, or of a new thread */
inline worker_arrive(x)
{
#ifdef MUT_LEAVE_KEEPS_WAKING
	if
	:: waking == x && (npend > 0 || !(released || ABOVE)) -> waking = NONE
	:: else
	fi;
#else
	if
	:: waking == x -> waking = NONE
	:: else
	fi;
#endif
	nnew = nnew - (st[x] == NEW);
	grant_waiters(false, GMAX);
	if
	:: st[x] == LEAVING ->
		if
#ifdef MUT_NO_RESCIND
		:: false
#else
		:: npend > 0 && workers - leaving < cap -> leaving--; worker_take(x)	/* rescind */
#endif
		:: else -> leaving--; worker_leave(x)
		fi
	:: else ->
		if
#ifdef STRICT
		:: npend > 0 && !ABOVE -> worker_take(x)	/* variant: leaves even if there is work */
#else
		:: npend > 0 -> worker_take(x)
#endif
		:: else -> worker_park(x)
		fi
	fi;
#ifdef MUT_NO_STEP_ON_LEAVE
	if
	:: st[x] != FREE -> ants_dispatch()
	:: else
	fi
#elif defined(MUT_NO_WAKE_NEXT)
	grant_waiters(false, GMAX)
#else
	ants_dispatch()
#endif
}

/* worker_finish(): the next task without sleeping; above capacity it leaves */
inline worker_finish(x)
{
	task_end(task[x]);
	grant_waiters(false, GMAX);
	if
	:: ABOVE -> worker_leave(x)
	:: else ->
		if
		:: npend > 0 -> worker_take(x)
		:: else -> worker_park(x)
		fi
	fi;
#ifdef MUT_NO_STEP_ON_LEAVE
	if
	:: st[x] != FREE -> ants_dispatch()
	:: else
	fi
#else
	ants_dispatch()
#endif
}

/* the oldest idle one is told to retire */
inline retire_oldest()
{
	idle_del_oldest(wk);
	st[wk] = LEAVING;
	leaving++
}

active [NW] proctype worker()
{
end:	do
	:: d_step {
		(st[_pid] == NEW && mk != _pid) || st[_pid] == WAKING || st[_pid] == LEAVING ->
		worker_arrive(_pid);
		check()
	   }
	:: d_step {
		st[_pid] == BUSY && !NESTS(task[_pid]) && res[NS + _pid] != WAIT ->
		res[NS + _pid] = 0;
		worker_finish(_pid);
		check()
	   }
#if NESTED
	:: d_step {	/* the task submits another one and then ends */
		st[_pid] == BUSY && NESTS(task[_pid]) ->
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
	:: d_step {	/* ants_work_cancel(), by anybody: the oldest one stands for all */
		_pid == 0 && npend > 0 && ncancel < CANCELS ->
		ncancel++;
		pend?tk;
		busy++;
		task_end(tk);
#if STOCK < 99
		stock++;
#endif
#ifndef MUT_NO_STEP_ON_CANCEL
		ants_dispatch();
#endif
		check()
	   }
#endif
#if FAULTS
	:: d_step { st[_pid] == BUSY && res[NS + _pid] != WAIT && nfault < FAULTS -> nfault++; st[_pid] = DEAD }
	:: d_step {	/* ants_bury(), by whoever notices */
		st[_pid] == DEAD ->
		st[_pid] = FREE;
		res[NS + _pid] = 0;
		task_end(task[_pid]);
		workers--;
		if
		:: waking == _pid -> waking = NONE
		:: else
		fi;
#ifndef MUT_NO_STEP_ON_BURIAL
		ants_dispatch();
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
			admit(me, (IDS * (me * NT + k) << 2) | ((k < NESTED) << 1), me >= NS - TRY);
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
			assert(res[me] == OK || (res[me] == SHUT && CLOSERS) || (res[me] == INTR && TIMED(me)) ||
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

/* ---- upkeep.c: ants_upkeep_fn(), the only work item of the pool ---- */
active proctype upkeep_fn()
{
#ifdef MUT_NO_RECHECK_MAKER
	bool again;
#endif
end:	do
	:: d_step {
		upkeep && !backoff && mk == NONE ->
		if
		:: left > 0 -> left = 0				/* join_left(), joins after the hold */
		:: left == 0 && RETIRE_DUE -> retire_oldest()	/* retire_expired() */
#ifdef MUT_NO_RECHECK_MAKER
		:: left == 0 && !RETIRE_DUE && (NEED || (!again && npend > 0)) -> again = 1;
#else
		:: left == 0 && !RETIRE_DUE && NEED ->		/* make_worker(): the place first */
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
			:: released && EMPTY -> armed = 0; wake_drainers()
			:: REAP && !released && nidle > 0 && SPARE -> armed = 1
			:: else
			fi
		fi;
		check()
	   }
	:: atomic {						/* make_worker(): the thread */
		mk != NONE ->
		if
		:: nfail < MAXFAIL || !FAILEVER ->
			d_step {				/* make_done() */
				if
				:: npend > 0 && waking == NONE ->
					waking = mk;
					if
					:: LATE -> armed = 1
					:: else
					fi
				:: else
				fi;
				mk = NONE;
				check()
			}
		:: nfail < MAXFAIL || FAILEVER ->
			d_step {
				nfail = nfail + (nfail < MAXFAIL);
				st[mk] = FREE;
				mk = NONE;
				workers--;
				nnew--;
				backoff = 1;
				ants_dispatch();
				check()
			}
		fi
	   }
	:: backoff && (nfail < MAXFAIL || !FAILEVER || !NEED || left > 0 || RETIRE_DUE) -> backoff = 0
	od
}

/* ---- timer.c: ants_timer_fn().  Time is abstract: what an armed timer serves may be due at any moment ---- */
active proctype timer_fn()
{
end:	do
	:: atomic {
		armed -> armed = 0;
		if
		:: LATE && waking != NONE ->			/* overdue: take the name off, wake the next */
			d_step {
				waking = NONE;
#ifndef MUT_LATE_NO_STEP
				wake_next();
#endif
			}
		:: nwait > 0 && NFREE > 0 && !released ->	/* a tick has passed: whatever the batch */
			d_step { grant_waiters(true, GMAX); wake_next() }
		:: REAP && nidle > 0 && SPARE && (nexp == 0 || !upkeep) ->	/* only marks */
			if
			:: nexp == 0 -> nexp = 1
			:: nexp = nidle
			fi;
			upkeep = 1
#ifdef MUT_REAP_WAKING
		:: REAP && waking != NONE -> st[waking] = LEAVING; leaving++
#endif
		:: else						/* in vain */
		fi;
		d_step {
			if
			:: (LATE && waking != NONE) || (nwait > 0 && NFREE > 0 && !released) -> armed = 1
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

/* one hold of ants_tune(): at most one entry of each kind */
inline tune_round()
{
#ifndef MUT_TUNE_NO_GRANT
	grant_waiters(true, 1);
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
	tuning = (nwait > 0 && NFREE > 0 && !released) || TOO_NESTED || (ABOVE && nidle > 0)
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

/* ---- release.c ---- */
#if CLOSERS
#define me	(_pid - NW - NS - 2 - (TUNES > 0))

/* one hold of ants_release(): at most one waiter, one idle worker */
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
	releasing = (nwait > 0 || nidle > 0);
	ants_dispatch()
}

active [CLOSERS] proctype closer()
{
	byte mygen, mytask;
	bool stand;

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
	/* ants_close_wait() */
	do
	:: atomic {
		dstate[me] != 1 -> dstate[me] = 0;
		if
#ifdef MUT_DRAIN_NO_GEN
		:: DRAINED -> break
#else
		:: DRAINED || mygen != gen -> break
#endif
		:: else ->
			d_step {
				if
				:: npend > 0 && workers == 0 && backoff ->	/* ants_stand_in() takes a worker's place */
					assert(workers < cap);
					workers++;
					nstand++;
					stand = 1;
					pend?mytask;
					busy++;
					wake_next()
				:: else -> dstate[me] = 1
				fi;
				check()
			}
		fi
	   }
	:: d_step {							/* ants_stand_in(): a task ended */
		stand ->
		task_end(mytask);
		grant_waiters(false, GMAX);
		if
		:: npend > 0 && !ABOVE -> pend?mytask; busy++
		:: else -> workers--; nstand--; stand = 0
		fi;
		ants_dispatch();
		check()
	   }
	od;
#if DESTROY
	/* ants_pool_destroy(): synchronize_rcu(), then free */
	atomic { readers == 0 -> assert(DRAINED); freed = 1 }
#endif
}
#undef me
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
					assert(mk == NONE && !backoff && leaving == 0);
					released = 0;
					gen++;
					ants_dispatch();
					check()
				}
			:: else						/* -EBUSY, or not released */
			fi
		}
	:: else -> break
	od
}
#endif

/* ---- flush.c: ants_flush_timeout() ---- */
#if FLUSHERS
active [FLUSHERS] proctype flusher()
{
	short before;

	before = alive;					/* ghost: what this call has to wait for */
	atomic { !flushing -> flushing = 1 }
#ifndef MUT_FLUSH_NO_OLD
	if
	:: cnt[1 - cur] == 0				/* an earlier one that timed out has left it draining */
	:: cnt[1 - cur] > 0 -> goto out			/* timed out */
	fi;
#endif
	cur = 1 - cur;
	if
	:: d_step { cnt[1 - cur] == 0 -> assert(!(alive & before)) }
	:: cnt[1 - cur] > 0				/* timed out */
	fi;
out:	atomic { flushing = 0; before = 0 }
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
			assert(npend == 0 && busy == 0 && nwait == 0 && leaving == 0 && nnew == 0 && left == 0);
			assert(waking == NONE && !upkeep && !armed && !cfg && !tuning && !releasing);
			assert(!released || DRAINED);
			assert(released || workers >= MINW);
			assert(!REAP || released || workers == MINW);
			assert(!ABOVE && alive == 0)
		:: else
		fi
	}
}
