/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a workqueue promises, as a model: which items run, which are pending and which
 * callers wait, after each call. workqueue_diff_test.c lets it choose calls, and waits
 * until both sides have come where the model is.
 *
 * Of the items of a workqueue, in the order in which they were queued, the first @max
 * are active. An active item runs, unless another run of it has not ended.
 */
#ifndef _ANTS_KUNIT_WQ_MODEL_H
#define _ANTS_KUNIT_WQ_MODEL_H

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#define MODEL_ITEMS	4
#define MODEL_WQS	2
#define MODEL_CALLERS	2
#define MODEL_RUNS	(2 * MODEL_ITEMS)

/* The wq of a timer that is not armed, and of one whose workqueue was destroyed. */
#define NOT_ARMED	(-1)
#define ARMED_FOR_NONE	MODEL_WQS

enum call_what {
	CALL_NONE,
	CALL_QUEUE,
	CALL_QUEUE_0,
	CALL_QUEUE_SOON,
	CALL_QUEUE_FAR,
	CALL_MOD_0,
	CALL_MOD_FAR,
	CALL_CANCEL,
	CALL_INIT,
	CALL_END,
	CALL_FREE,
	CALL_CANCEL_SYNC,
	CALL_FLUSH,
	CALL_FLUSH_DELAYED,
	CALL_FLUSH_ALL,
	CALL_DRAIN,
	CALL_DESTROY,
	NR_CALL
};

static const char *const call_names[NR_CALL] = {
	[CALL_NONE] = "nothing",
	[CALL_QUEUE] = "queue_work",
	[CALL_QUEUE_0] = "queue_delayed_work(0)",
	[CALL_QUEUE_SOON] = "queue_delayed_work(1)",
	[CALL_QUEUE_FAR] = "queue_delayed_work",
	[CALL_MOD_0] = "mod_delayed_work(0)",
	[CALL_MOD_FAR] = "mod_delayed_work",
	[CALL_CANCEL] = "cancel_delayed_work",
	[CALL_INIT] = "INIT_DELAYED_WORK",
	[CALL_END] = "end of a run",
	[CALL_FREE] = "kfree",
	[CALL_CANCEL_SYNC] = "cancel_delayed_work_sync",
	[CALL_FLUSH] = "flush_work",
	[CALL_FLUSH_DELAYED] = "flush_delayed_work",
	[CALL_FLUSH_ALL] = "flush_workqueue",
	[CALL_DRAIN] = "drain_workqueue",
	[CALL_DESTROY] = "destroy_workqueue",
};

/* A call; @irq: it is made from an interrupt. */
struct call {
	enum call_what what;
	unsigned int item;
	unsigned int wq;
	bool irq;
};

/* A run that is queued, in the order in which it was. */
struct model_run {
	unsigned int item;
	unsigned int nr;
	bool runs;
};

struct model_wq {
	unsigned int max;
	unsigned int nr_runs;
	struct model_run runs[MODEL_RUNS];
};

/* @closed: so many callers of cancel_delayed_work_sync() wait. */
struct model_item {
	int armed;
	int begun;
	int ended;
	unsigned int closed;
};

/* A caller that waits for these runs, or for the workqueue to be empty. */
struct model_caller {
	bool waits;
	struct call call;
	unsigned int nr_targets;
	unsigned int targets[MODEL_RUNS];
};

struct model {
	u64 random;
	bool full;
	unsigned int last_run;
	struct call inside;
	struct model_wq wqs[MODEL_WQS];
	struct model_item items[MODEL_ITEMS];
	struct model_caller callers[MODEL_CALLERS];
};

static inline bool call_may_wait(enum call_what what)
{
	return what >= CALL_CANCEL_SYNC;
}

static inline unsigned int model_random(struct model *m, unsigned int below)
{
	m->random = m->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (m->random >> 33) % below;
}

static inline void model_init(struct model *m, u64 seed)
{
	static const unsigned int max[] = { 1, 1, 2, 16 };
	unsigned int i;

	memset(m, 0, sizeof(*m));
	m->full = seed & 1;
	/* Neighbours have the same workqueues. */
	m->random = (seed >> 5) * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < MODEL_WQS; i++)
		m->wqs[i].max = m->full ? 1 : max[model_random(m, ARRAY_SIZE(max))];
	m->random ^= seed * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < MODEL_ITEMS; i++)
		m->items[i].armed = NOT_ARMED;
}

static inline bool model_same_wqs(const struct model *a, const struct model *b)
{
	unsigned int i;

	for (i = 0; i < MODEL_WQS; i++)
		if (a->full != b->full || a->wqs[i].max != b->wqs[i].max)
			return false;
	return true;
}

/* --- where an item is ------------------------------------------------------------ */

static inline struct model_run *model_find(struct model *m, unsigned int item, bool runs,
					   unsigned int *wq)
{
	unsigned int w, i;

	for (w = 0; w < MODEL_WQS; w++) {
		for (i = 0; i < m->wqs[w].nr_runs; i++) {
			struct model_run *run = &m->wqs[w].runs[i];

			*wq = w;
			if (run->item == item && run->runs == runs)
				return run;
		}
	}
	return NULL;
}

static inline bool model_runs(struct model *m, unsigned int item)
{
	unsigned int wq;

	return model_find(m, item, true, &wq);
}

static inline bool model_is_queued(struct model *m, unsigned int item)
{
	unsigned int wq;

	return model_find(m, item, false, &wq);
}

static inline bool model_pending(struct model *m, unsigned int item)
{
	return model_is_queued(m, item) || m->items[item].armed != NOT_ARMED;
}

static inline void model_append(struct model *m, unsigned int wq, unsigned int item)
{
	m->wqs[wq].runs[m->wqs[wq].nr_runs++] = (struct model_run){
		.item = item,
		.nr = ++m->last_run,
	};
}

static inline bool model_remove(struct model *m, unsigned int item, bool runs)
{
	unsigned int w;
	struct model_run *run = model_find(m, item, runs, &w);
	struct model_wq *wq;

	if (!run)
		return false;
	wq = &m->wqs[w];
	memmove(run, run + 1, (wq->runs + --wq->nr_runs - run) * sizeof(*run));
	return true;
}

static inline bool model_exists(const struct model *m, unsigned int nr)
{
	unsigned int w, i;

	for (w = 0; w < MODEL_WQS; w++)
		for (i = 0; i < m->wqs[w].nr_runs; i++)
			if (m->wqs[w].runs[i].nr == nr)
				return true;
	return false;
}

/* What is active starts. */
static inline void model_settle(struct model *m)
{
	unsigned int w, i;

	for (w = 0; w < MODEL_WQS; w++) {
		for (i = 0; i < min(m->wqs[w].max, m->wqs[w].nr_runs); i++) {
			struct model_run *run = &m->wqs[w].runs[i];

			if (run->runs || model_runs(m, run->item))
				continue;
			run->runs = true;
			m->items[run->item].begun++;
		}
	}
}

static inline void model_end(struct model *m, unsigned int item)
{
	model_remove(m, item, true);
	m->items[item].ended++;
}

/* --- what a call does -------------------------------------------------------------- */

/* Take back a pending run. */
static inline bool model_take(struct model *m, unsigned int item)
{
	bool armed = m->items[item].armed != NOT_ARMED;

	m->items[item].armed = NOT_ARMED;
	return model_remove(m, item, false) || armed;
}

static inline void model_call(struct model *m, const struct call *call)
{
	struct model_item *item = &m->items[call->item];
	bool accepts = !item->closed && !model_pending(m, call->item);

	switch (call->what) {
	case CALL_MOD_0:
		model_take(m, call->item);
		model_append(m, call->wq, call->item);
		break;
	case CALL_QUEUE:
	case CALL_QUEUE_0:
	case CALL_QUEUE_SOON:
		if (accepts)
			model_append(m, call->wq, call->item);
		break;
	case CALL_MOD_FAR:
		model_take(m, call->item);
		item->armed = call->wq;
		break;
	case CALL_QUEUE_FAR:
		if (accepts)
			item->armed = call->wq;
		break;
	case CALL_CANCEL:
		model_take(m, call->item);
		break;
	default:
		break;
	}
}

/* A caller that does not wait; there is one if a call may wait. */
static inline unsigned int model_caller(const struct model *m)
{
	unsigned int i;

	for (i = 0; i < MODEL_CALLERS && m->callers[i].waits; i++)
		;
	return i;
}

static inline void model_wait_for(struct model_caller *caller, const struct model_run *run)
{
	if (run)
		caller->targets[caller->nr_targets++] = run->nr;
}

/* A call that may wait has been made by caller @nr. */
static inline void model_wait(struct model *m, unsigned int nr, const struct call *call)
{
	struct model_caller *caller = &m->callers[nr];
	struct model_item *item = &m->items[call->item];
	struct model_wq *wq = &m->wqs[call->wq];
	unsigned int i;

	*caller = (struct model_caller){ .waits = true, .call = *call };
	switch (call->what) {
	case CALL_CANCEL_SYNC:
		model_take(m, call->item);
		item->closed++;
		model_wait_for(caller, model_find(m, call->item, true, &i));
		break;
	case CALL_FLUSH_DELAYED:
		if (item->armed != NOT_ARMED)
			model_append(m, item->armed, call->item);
		item->armed = NOT_ARMED;
		fallthrough;
	case CALL_FLUSH:
		model_wait_for(caller, model_find(m, call->item, false, &i) ?:
				       model_find(m, call->item, true, &i));
		break;
	case CALL_FLUSH_ALL:
		for (i = 0; i < wq->nr_runs; i++)
			model_wait_for(caller, &wq->runs[i]);
		break;
	default:
		break;
	}
}

static inline bool model_closes(const struct model_caller *caller)
{
	return caller->waits && (caller->call.what == CALL_DRAIN ||
				 caller->call.what == CALL_DESTROY);
}

static inline bool model_caller_done(const struct model *m, unsigned int nr)
{
	const struct model_caller *caller = &m->callers[nr];
	unsigned int i;

	if (model_closes(caller))
		return !m->wqs[caller->call.wq].nr_runs;
	for (i = 0; i < caller->nr_targets; i++)
		if (model_exists(m, caller->targets[i]))
			return false;
	return true;
}

static inline void model_caller_end(struct model *m, unsigned int nr)
{
	struct model_caller *caller = &m->callers[nr];
	unsigned int i;

	caller->waits = false;
	if (caller->call.what == CALL_CANCEL_SYNC)
		m->items[caller->call.item].closed--;
	if (caller->call.what != CALL_DESTROY)
		return;
	for (i = 0; i < MODEL_ITEMS; i++)
		if (m->items[i].armed == caller->call.wq)
			m->items[i].armed = ARMED_FOR_NONE;
}

/* --- which calls keep the rules ------------------------------------------------------ */

static inline bool model_is_closing(const struct model *m, unsigned int wq)
{
	unsigned int i;

	for (i = 0; i < MODEL_CALLERS; i++)
		if (model_closes(&m->callers[i]) && m->callers[i].call.wq == wq)
			return true;
	return false;
}

/* Does a caller wait for the item, or for all of its workqueue? */
static inline bool model_has_caller(const struct model *m, unsigned int item)
{
	unsigned int i;

	for (i = 0; i < MODEL_CALLERS; i++)
		if (m->callers[i].waits && m->callers[i].call.what < CALL_FLUSH_ALL &&
		    m->callers[i].call.item == item)
			return true;
	return false;
}

/* While a workqueue is drained only its own items may queue there. */
static inline bool model_may_queue(struct model *m, const struct call *call, int from)
{
	unsigned int wq;

	return !model_is_closing(m, call->wq) ||
	       (from >= 0 && model_find(m, from, true, &wq) && wq == call->wq);
}

/*
 * If a run that is awaited is taken back while another run of the item has not ended, it
 * depends on the workers of a workqueue when that caller returns.
 */
static inline bool model_may_take(struct model *m, unsigned int item)
{
	return !model_has_caller(m, item) || !model_runs(m, item) || !model_is_queued(m, item);
}

static inline bool model_may_free(struct model *m, unsigned int item)
{
	return !model_pending(m, item) && !m->items[item].closed;
}

/*
 * A caller that waits for an item has put a barrier behind it. destroy_workqueue() of 6.1
 * may find that still in the workqueue, and warns.
 */
static inline bool model_is_destroying(const struct model *m)
{
	unsigned int i;

	for (i = 0; i < MODEL_CALLERS; i++)
		if (m->callers[i].waits && m->callers[i].call.what == CALL_DESTROY)
			return true;
	return false;
}

/* One caller at a time waits for all of a workqueue. */
static inline bool model_may_wait_for_all(struct model *m, const struct call *call)
{
	unsigned int i;

	for (i = 0; i < MODEL_CALLERS; i++)
		if (m->callers[i].waits &&
		    (call->what == CALL_DESTROY || m->callers[i].call.what >= CALL_FLUSH_ALL))
			return false;
	return !m->full;
}

/* May @call be made now; if @from is not negative, by the run of that item? */
static inline bool model_may(struct model *m, const struct call *call, int from)
{
	const struct model_item *item = &m->items[call->item];

	if (call_may_wait(call->what) &&
	    (from >= 0 || model_caller(m) == MODEL_CALLERS || model_is_destroying(m)))
		return false;
	switch (call->what) {
	case CALL_QUEUE_SOON:
		return from < 0 && model_may_queue(m, call, from);
	case CALL_QUEUE:
	case CALL_QUEUE_0:
	case CALL_QUEUE_FAR:
		return model_may_queue(m, call, from);
	case CALL_MOD_0:
	case CALL_MOD_FAR:
		return !item->closed && model_may_queue(m, call, from) &&
		       model_may_take(m, call->item);
	case CALL_CANCEL:
	case CALL_CANCEL_SYNC:
		return model_may_take(m, call->item);
	case CALL_INIT:
		return from < 0 && model_may_free(m, call->item) &&
		       !model_runs(m, call->item) && !model_has_caller(m, call->item);
	case CALL_END:
		return from < 0 && model_runs(m, call->item);
	case CALL_FREE:
		return from == call->item && model_may_free(m, from);
	case CALL_FLUSH_DELAYED:
		return !item->closed && (item->armed == NOT_ARMED ||
		       (item->armed != ARMED_FOR_NONE && !model_is_closing(m, item->armed)));
	case CALL_FLUSH_ALL:
	case CALL_DRAIN:
	case CALL_DESTROY:
		return model_may_wait_for_all(m, call);
	default:
		return true;
	}
}

/* --- choosing calls ------------------------------------------------------------------ */

static inline void model_choose_from(struct model *m, struct call *call, int from)
{
	do {
		call->what = model_random(m, NR_CALL + 6);
		/* More runs, of which more end. */
		if (call->what >= NR_CALL)
			call->what = call->what < NR_CALL + 2 ? CALL_QUEUE : CALL_END;
		call->item = model_random(m, MODEL_ITEMS);
		call->wq = model_random(m, MODEL_WQS);
		call->irq = from < 0 && call->what <= CALL_CANCEL && !model_random(m, 4);
		if (from >= 0 && model_random(m, 2))
			call->item = from;
	} while (!model_may(m, call, from) || (from < 0 && call->what == CALL_NONE));
}

/* The next call; if it lets a run end, the call that this run makes is in m->inside. */
static inline void model_choose(struct model *m, struct call *call)
{
	model_choose_from(m, call, -1);
	if (call->what == CALL_END)
		model_choose_from(m, &m->inside, call->item);
}

/* A call that brings the sequence to its end; false if it has come there. */
static inline bool model_last(struct model *m, struct call *call)
{
	unsigned int i;

	m->inside.what = CALL_NONE;
	for (i = 0; i < MODEL_ITEMS; i++) {
		*call = (struct call){ .what = CALL_END, .item = i };
		if (model_runs(m, i))
			return true;
		call->what = CALL_CANCEL;
		if (m->items[i].armed != NOT_ARMED)
			return true;
	}
	return false;
}

#endif /* _ANTS_KUNIT_WQ_MODEL_H */
