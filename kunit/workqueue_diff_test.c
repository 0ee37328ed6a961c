// SPDX-License-Identifier: GPL-2.0-only
/*
 * One source file on workqueues and on pools: sequences of calls, made from a seed, do
 * the same on both sides. A model of a workqueue says after each call what runs, what is
 * pending and which callers still wait; when that has come about the next call is made,
 * so nothing depends on time. What each call has returned is compared.
 *
 * Each run of an item stops at a gate; before it ends it makes a call, too, or frees the
 * item. What include/linux/ants_workqueue.h names as different is left out here, and so
 * is what breaks the rules of a workqueue.
 */
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "repeats.h"
#include "util.h"
#include "wq_model.h"

/* What is done on one side; a workqueue and an item are what they are there. */
struct wq_side {
	void *(*item_make)(void (*fn)(void *data), void *data);
	void (*item_init)(void *item);
	void *(*make)(unsigned int max, bool full);
	void (*destroy)(void *wq);
	void (*drain)(void *wq);
	void (*flush_all)(void *wq);
	bool (*queue)(void *wq, void *item);
	bool (*queue_delayed)(void *wq, void *item, unsigned long delay);
	bool (*mod)(void *wq, void *item, unsigned long delay);
	bool (*cancel)(void *item);
	bool (*cancel_sync)(void *item);
	bool (*flush)(void *item);
	bool (*flush_delayed)(void *item);
	unsigned int (*busy)(void *item);
	struct timer_list *(*timer)(void *item);
};

#define SIDE(name)	on_wq_##name
#define SIDE_MAKE_FULL	alloc_ordered_workqueue("diff", 0)
#define SIDE_TIMER(dwork)	(&(dwork)->timer)
#include "wq_side.h"

static void nudge_fn(struct work_struct *work)
{
}

static DECLARE_WORK(nudge_work, nudge_fn);

/*
 * A workqueue of 6.1 wakes no worker for a caller of flush_work() whose item is taken
 * back before its turn: that caller returns when these workers get their next item.
 */
static void nudge_workers(void)
{
	queue_work(system_unbound_wq, &nudge_work);
}

static void nudge_end(void)
{
	flush_work(&nudge_work);
}

#include <linux/ants_workqueue.h>

/* A pool with room for one item: the others wait for room. */
static void *full_pool(void)
{
	struct ants_attrs attrs = { .capacity = 1, .max_faults = INT_MAX };
	static unsigned int nr;
	struct ants_pool *pool = ants_pool_create(&attrs, "full%u", nr++);

	return IS_ERR(pool) ? NULL : pool;
}

#define SIDE(name)	on_pool_##name
#define SIDE_MAKE_FULL	full_pool()
#define SIDE_TIMER(dwork)	(&(dwork)->work.item.timer)
#include "wq_side.h"

/* As WAIT_FOR(), for what nearly always comes about at once. */
#define COMES_ABOUT(cond)						\
({									\
	unsigned long __end = jiffies + TEST_DEADLINE;			\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && time_before(jiffies, __end))		\
		usleep_range(20, 40);					\
	__ok;								\
})

#define FAR_OFF		(100 * TEST_DEADLINE)
#define STEPS		40
#define NR_CALLS	(8 * STEPS)

/* A thread that makes the calls that wait. */
struct helper {
	struct task_struct *task;
	struct sequence *seq;
	struct call call;
	bool posted;
	bool done;
	bool ret;
};

static struct helper helpers[MODEL_CALLERS];

/* What an item hands to its function. */
struct hand {
	struct sequence *seq;
	unsigned int nr;
};

/**
 * struct sequence - a sequence of calls on one side
 * @side: that side
 * @model: what must be true there
 * @items: the items there
 * @wqs: the workqueues there
 * @hands: what each item hands to its function
 * @gates: what each run of an item waits for
 * @begun: how often each item has begun
 * @ended: and ended
 * @inside: the call that the next run of an item makes
 * @inside_ret: what that call has returned
 * @calls: what was called
 * @said: what it has returned
 * @nr: how many calls those are
 * @wrong: what did not come about, or NULL
 * @told: how often each item had begun and ended then
 */
struct sequence {
	const struct wq_side *side;
	struct model model;
	void *items[MODEL_ITEMS];
	void *wqs[MODEL_WQS];
	struct hand hands[MODEL_ITEMS];
	struct completion gates[MODEL_ITEMS];
	atomic_t begun[MODEL_ITEMS];
	atomic_t ended[MODEL_ITEMS];
	struct call inside[MODEL_ITEMS];
	bool inside_ret[MODEL_ITEMS];
	struct call calls[NR_CALLS];
	bool said[NR_CALLS];
	unsigned int nr;
	const char *wrong;
	int told[MODEL_ITEMS][2];
};

static bool make_call(struct sequence *seq, const struct call *call)
{
	const struct wq_side *side = seq->side;
	void *item = seq->items[call->item], *wq = seq->wqs[call->wq];

	switch (call->what) {
	case CALL_QUEUE:
		return side->queue(wq, item);
	case CALL_QUEUE_0:
		return side->queue_delayed(wq, item, 0);
	case CALL_QUEUE_SOON:
		return side->queue_delayed(wq, item, 1);
	case CALL_QUEUE_FAR:
		return side->queue_delayed(wq, item, FAR_OFF);
	case CALL_MOD_0:
		return side->mod(wq, item, 0);
	case CALL_MOD_FAR:
		return side->mod(wq, item, FAR_OFF);
	case CALL_CANCEL:
		return side->cancel(item);
	case CALL_CANCEL_SYNC:
		return side->cancel_sync(item);
	case CALL_FLUSH:
		return side->flush(item);
	case CALL_FLUSH_DELAYED:
		return side->flush_delayed(item);
	case CALL_FLUSH_ALL:
		side->flush_all(wq);
		return true;
	case CALL_DRAIN:
		side->drain(wq);
		return true;
	case CALL_DESTROY:
		side->destroy(wq);
		return true;
	case CALL_INIT:
		side->item_init(item);
		return true;
	default:
		return true;
	}
}

static void item_runs(void *data)
{
	struct hand *hand = data;
	struct sequence *seq = hand->seq;
	unsigned int nr = hand->nr;
	struct call *inside = &seq->inside[nr];

	atomic_inc(&seq->begun[nr]);
	wait_for_completion(&seq->gates[nr]);
	if (inside->what == CALL_FREE)
		kfree(seq->items[nr]);
	else
		seq->inside_ret[nr] = make_call(seq, inside);
	atomic_inc(&seq->ended[nr]);
}

static int helper_fn(void *data)
{
	struct helper *h = data;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		/* Pairs with smp_store_release() in helper_post(). */
		if (!smp_load_acquire(&h->posted)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		h->posted = false;
		h->ret = make_call(h->seq, &h->call);
		/* Pairs with smp_load_acquire() in helper_done(). */
		smp_store_release(&h->done, true);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void helper_post(struct helper *h, struct sequence *seq, const struct call *call)
{
	h->seq = seq;
	h->call = *call;
	h->done = false;
	/* Pairs with smp_load_acquire() in helper_fn(). */
	smp_store_release(&h->posted, true);
	wake_up_process(h->task);
}

static bool helper_done(struct helper *h)
{
	/* Pairs with smp_store_release() in helper_fn(). */
	return smp_load_acquire(&h->done);
}

static void note(struct sequence *seq, const struct call *call, bool ret)
{
	if (seq->nr == NR_CALLS) {
		seq->wrong = "it has too many calls";
		return;
	}
	seq->calls[seq->nr] = *call;
	seq->said[seq->nr++] = ret;
}

/* Is @nr in the state in which the model has it? */
static bool item_agrees(struct sequence *seq, unsigned int nr)
{
	const struct model_item *item = &seq->model.items[nr];
	unsigned int busy;

	if (atomic_read(&seq->begun[nr]) != item->begun ||
	    atomic_read(&seq->ended[nr]) != item->ended)
		return false;
	busy = seq->items[nr] ? seq->side->busy(seq->items[nr]) : 0;
	if (!(busy & WORK_BUSY_RUNNING) != !model_runs(&seq->model, nr))
		return false;
	return item->closed || !(busy & WORK_BUSY_PENDING) == !model_pending(&seq->model, nr);
}

static bool all_agree(struct sequence *seq)
{
	unsigned int i;

	for (i = 0; i < MODEL_ITEMS; i++)
		if (!item_agrees(seq, i))
			return false;
	return true;
}

static const char *what_differs(struct sequence *seq)
{
	unsigned int i;

	for (i = 0; i < MODEL_ITEMS; i++) {
		if (atomic_read(&seq->begun[i]) < seq->model.items[i].begun)
			return "an item does not start in its turn";
		if (atomic_read(&seq->begun[i]) > seq->model.items[i].begun)
			return "an item starts before its turn";
	}
	return "an item is pending or busy that is not, or the other way round";
}

/* A caller may return only when what it waits for has ended, and then it has to. */
static void settle_caller(struct sequence *seq, unsigned int nr)
{
	struct helper *h = &helpers[nr];

	if (!model_caller_done(&seq->model, nr)) {
		if (helper_done(h))
			seq->wrong = "a call returns too early";
		return;
	}
	nudge_workers();
	if (!COMES_ABOUT(helper_done(h))) {
		seq->wrong = "a call does not return";
		return;
	}
	note(seq, &h->call, h->ret);
	model_caller_end(&seq->model, nr);
	if (h->call.what == CALL_DESTROY)
		seq->wqs[h->call.wq] = seq->side->make(seq->model.wqs[h->call.wq].max,
						       seq->model.full);
}

/* Wait until all is as the model has it. */
static void settle(struct sequence *seq)
{
	unsigned int i;

	model_settle(&seq->model);
	if (!COMES_ABOUT(all_agree(seq)))
		seq->wrong = what_differs(seq);
	for (i = 0; i < MODEL_CALLERS && !seq->wrong; i++)
		if (seq->model.callers[i].waits)
			settle_caller(seq, i);
}

/* A call that may wait has returned, or sleeps. */
static bool helper_rests(struct helper *h)
{
	return helper_done(h) || (sleeps(h->task) && !READ_ONCE(h->posted));
}

static void call_waits(struct sequence *seq, const struct call *call)
{
	unsigned int nr = model_caller(&seq->model);
	struct helper *h = &helpers[nr];

	note(seq, call, false);
	model_wait(&seq->model, nr, call);
	model_settle(&seq->model);
	helper_post(h, seq, call);
	if (!COMES_ABOUT(helper_rests(h)))
		seq->wrong = "a call runs for ever";
}

struct from_irq {
	struct irq_work work;
	struct sequence *seq;
	const struct call *call;
	bool ret;
};

static void irq_fn(struct irq_work *work)
{
	struct from_irq *irq = container_of(work, struct from_irq, work);

	irq->ret = make_call(irq->seq, irq->call);
}

static bool call_from_irq(struct sequence *seq, const struct call *call)
{
	struct from_irq irq = { .seq = seq, .call = call };

	init_irq_work(&irq.work, irq_fn);
	irq_work_queue(&irq.work);
	irq_work_sync(&irq.work);
	return irq.ret;
}

/* The timer has fired, and its function has returned. */
static void wait_for_timer(struct sequence *seq, unsigned int nr)
{
	struct timer_list *timer = seq->side->timer(seq->items[nr]);

	if (!COMES_ABOUT(!timer_pending(timer)))
		seq->wrong = "a timer does not fire";
	else
		timer_delete_sync(timer);
}

static void call_now(struct sequence *seq, const struct call *call)
{
	bool ret = call->irq ? call_from_irq(seq, call) : make_call(seq, call);

	note(seq, call, ret);
	if (call->what == CALL_QUEUE_SOON && ret)
		wait_for_timer(seq, call->item);
	model_call(&seq->model, call);
}

/* Let the run of an item make its call, and end. */
static void call_end(struct sequence *seq, const struct call *call)
{
	unsigned int nr = call->item;
	struct call *inside = &seq->inside[nr];

	note(seq, call, true);
	*inside = seq->model.inside;
	complete(&seq->gates[nr]);
	if (!COMES_ABOUT(atomic_read(&seq->ended[nr]) > seq->model.items[nr].ended)) {
		seq->wrong = "a run does not end";
		return;
	}
	model_call(&seq->model, inside);
	if (inside->what == CALL_FREE)
		seq->items[nr] = seq->side->item_make(item_runs, &seq->hands[nr]);
	else if (inside->what != CALL_NONE)
		note(seq, inside, seq->inside_ret[nr]);
	model_end(&seq->model, nr);
}

static void step(struct sequence *seq, const struct call *call)
{
	if (call->what == CALL_END)
		call_end(seq, call);
	else if (call_may_wait(call->what))
		call_waits(seq, call);
	else
		call_now(seq, call);
	if (!seq->wrong)
		settle(seq);
}

static void destroy_wqs(struct sequence *seq)
{
	unsigned int i;

	for (i = 0; i < MODEL_WQS; i++)
		if (seq->wqs[i])
			seq->side->destroy(seq->wqs[i]);
	memset(seq->wqs, 0, sizeof(seq->wqs));
}

/* The workqueues stay as long as they are of the same kind. */
static bool sequence_begin(struct sequence *seq, const struct wq_side *side, u64 seed)
{
	struct model before = seq->model;
	unsigned int i;
	bool ok = true;

	model_init(&seq->model, seed);
	if (!model_same_wqs(&seq->model, &before))
		destroy_wqs(seq);
	seq->side = side;
	seq->nr = 0;
	seq->wrong = NULL;
	memset(seq->inside, 0, sizeof(seq->inside));
	for (i = 0; i < MODEL_ITEMS; i++) {
		init_completion(&seq->gates[i]);
		seq->hands[i] = (struct hand){ .seq = seq, .nr = i };
		seq->items[i] = side->item_make(item_runs, &seq->hands[i]);
		atomic_set(&seq->begun[i], 0);
		atomic_set(&seq->ended[i], 0);
		ok &= !!seq->items[i];
	}
	for (i = 0; i < MODEL_WQS; i++) {
		if (!seq->wqs[i])
			seq->wqs[i] = side->make(seq->model.wqs[i].max, seq->model.full);
		ok &= !!seq->wqs[i];
	}
	return ok;
}

/* After a fault each run may pass, and makes no call. */
static void open_all(struct sequence *seq)
{
	unsigned int i;

	for (i = 0; i < MODEL_ITEMS; i++) {
		seq->told[i][0] = atomic_read(&seq->begun[i]);
		seq->told[i][1] = atomic_read(&seq->ended[i]);
		seq->inside[i].what = CALL_NONE;
		complete_all(&seq->gates[i]);
	}
	for (i = 0; i < MODEL_CALLERS; i++)
		if (seq->model.callers[i].waits && !COMES_ABOUT(helper_done(&helpers[i])))
			seq->wrong = "a call never returns";
}

static void sequence_end(struct sequence *seq)
{
	struct call call;
	unsigned int i;

	while (!seq->wrong && model_last(&seq->model, &call))
		step(seq, &call);
	if (seq->wrong)
		open_all(seq);
	for (i = 0; i < MODEL_ITEMS; i++)
		if (seq->items[i])
			seq->side->cancel_sync(seq->items[i]);
	for (i = 0; i < MODEL_WQS; i++)
		if (model_is_closing(&seq->model, i))
			seq->wqs[i] = NULL;
	if (seq->wrong)
		destroy_wqs(seq);
	for (i = 0; i < MODEL_ITEMS; i++)
		kfree(seq->items[i]);
}

static bool sequence_run(struct sequence *seq, const struct wq_side *side, u64 seed)
{
	struct call call;
	unsigned int i;

	if (!sequence_begin(seq, side, seed))
		seq->wrong = "no memory";
	for (i = 0; i < STEPS && !seq->wrong; i++) {
		model_choose(&seq->model, &call);
		step(seq, &call);
	}
	sequence_end(seq);
	return !seq->wrong;
}

/* The calls until the first one that differs. */
static void tell(struct kunit *test, const struct sequence *seq, unsigned int nr)
{
	const struct call *call;
	unsigned int i;

	for (i = 0; i < min(nr, seq->nr); i++) {
		call = &seq->calls[i];
		kunit_info(test, "%2u: %s item %u wq %u%s = %d\n", i, call_names[call->what],
			   call->item, call->wq, call->irq ? " from an interrupt" : "",
			   seq->said[i]);
	}
}

/* How often each item has begun and ended, and should have. */
static void tell_items(struct kunit *test, const struct sequence *seq, const char *side)
{
	unsigned int i;

	for (i = 0; i < MODEL_ITEMS; i++)
		kunit_info(test, "%s: item %u began %d of %d, ended %d of %d; wq %u of %u at once\n",
			   side, i, seq->told[i][0], seq->model.items[i].begun,
			   seq->told[i][1], seq->model.items[i].ended, i % MODEL_WQS,
			   seq->model.wqs[i % MODEL_WQS].max);
}

static bool compare(struct kunit *test, const struct sequence *stock,
		    const struct sequence *ants, u64 seed)
{
	unsigned int i;

	for (i = 0; i < min(stock->nr, ants->nr); i++)
		if (stock->said[i] != ants->said[i] || stock->calls[i].what != ants->calls[i].what)
			break;
	if (!stock->wrong && !ants->wrong && i == stock->nr && i == ants->nr)
		return true;
	tell(test, ants, i + 1);
	tell_items(test, stock, "a workqueue");
	tell_items(test, ants, "a pool");
	KUNIT_FAIL(test, "seed %llu, %s: after call %u a workqueue: %s; a pool: %s", seed,
		   stock->model.full ? "no room" : "room", i, stock->wrong ?: "well",
		   ants->wrong ?: i < ants->nr ? "returns something else" : "well");
	return false;
}

static unsigned long long seed;
module_param(seed, ullong, 0444);

static unsigned int sequences;
module_param(sequences, uint, 0444);

static struct sequence on_stock, on_ants;

/* KUnit gives up on a case after 300 s, so each part of the sequences is one. */
static const char parts[50];

static void part_desc(const char *part, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "part %d", (int)(part - parts) + 1);
}

KUNIT_ARRAY_PARAM(part, parts, part_desc);

/* @full: the pool has no room for what waits. */
static void try_sequences(struct kunit *test, bool full)
{
	static u64 chosen;
	unsigned int part = (const char *)test->param_value - parts;
	unsigned int wanted = given_arg("sequences=", sequences) ?: 24 * repeats;
	unsigned int from = wanted * part / ARRAY_SIZE(parts);
	unsigned int nr = wanted * (part + 1) / ARRAY_SIZE(parts) - from;
	unsigned long end = jiffies + TEST_DEADLINE * repeats / ARRAY_SIZE(parts);
	unsigned int i, differ = 0, calls = 0;
	u64 first;

	if (!part)
		chosen = given_arg("seed=", seed) ?: get_random_u32();
	first = chosen + from;
	/* A busy machine tries fewer, unless it was told how many. */
	for (i = 0; i < nr && differ < 3; i++) {
		if (i && !given_arg("sequences=", sequences) && time_after(jiffies, end))
			break;
		u64 each = (first + i) << 1 | full;

		sequence_run(&on_stock, &on_wq_side, each);
		sequence_run(&on_ants, &on_pool_side, each);
		differ += !compare(test, &on_stock, &on_ants, first + i);
		calls += on_ants.nr;
		cond_resched();
	}
	destroy_wqs(&on_stock);
	destroy_wqs(&on_ants);
	kunit_info(test, "seeds %llu to %llu: %u sequences, %u calls, %u differ\n", first,
		   first + i - 1, i, calls, differ);
}

static void sequences_are_the_same(struct kunit *test)
{
	try_sequences(test, false);
}

static void sequences_without_room_are_the_same(struct kunit *test)
{
	try_sequences(test, true);
}

static int diff_init(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < MODEL_CALLERS; i++) {
		helpers[i].task = kthread_run(helper_fn, &helpers[i], "caller");
		KUNIT_ASSERT_FALSE(test, IS_ERR(helpers[i].task));
	}
	return 0;
}

static void diff_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < MODEL_CALLERS; i++)
		if (!IS_ERR_OR_NULL(helpers[i].task))
			kthread_stop(helpers[i].task);
	nudge_end();
}

static struct kunit_case workqueue_diff_cases[] = {
	KUNIT_CASE_PARAM(sequences_are_the_same, part_gen_params),
	KUNIT_CASE_PARAM(sequences_without_room_are_the_same, part_gen_params),
	{}
};

static struct kunit_suite workqueue_diff_suite = {
	.name = "ants_workqueue_diff",
	.init = diff_init,
	.exit = diff_exit,
	.test_cases = workqueue_diff_cases,
};

kunit_test_suite(workqueue_diff_suite);

MODULE_DESCRIPTION("ants: KUnit test of pools beside workqueues");
MODULE_LICENSE("GPL");
