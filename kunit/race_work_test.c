// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of work items: cancel against start, finish, timers, release and
 * reboot, and memory that is freed as soon as possible. Each race is tried many
 * times; outcomes are counted, never timed.
 */
#include <linux/module.h>

#include "repeats.h"
#include "work.h"

/* In five parts, since KUnit gives a case no more than five minutes. */
#define NR_CANCELLED	((int)(200 * repeats))
/* How often that is made longer. */
#define NR_CLOSED	((int)(300 * repeats))
#define NR_FREED	((int)(500 * repeats))
#define NR_FIRED	200
/* A guest that prints nothing for long is taken for dead. */
#define PROGRESS	5000

static const int parts[] = { 1, 2, 3, 4, 5 };

static void part_desc(const int *part, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "part %d of 5", *part);
}

KUNIT_ARRAY_PARAM(part, parts, part_desc);

/* One item that several threads use at the same time. */
struct fight {
	struct item *item;
	unsigned long until;
	atomic_t accepted;
	atomic_t cancelled;
	atomic_t waits;
	atomic_t wrong;
};

static struct fight *fight_make(struct kunit *test)
{
	struct fight *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->item = items_alloc(test, 1);
	f->until = jiffies + TEST_DEADLINE;
	return f;
}

static void count_accepted(struct fight *f)
{
	int nr = atomic_inc_return(&f->accepted);

	if (nr % PROGRESS == 0)
		pr_info("race_work: %d\n", nr);
}

static bool stopped(struct async_call *call)
{
	cond_resched();
	return atomic_read(&call->rig->stop);
}

/*
 * Was the item accepted @nr times, and did each of run and cancel come first now
 * and then? By chance one of them may not for long, and mostly where nothing takes long.
 */
static bool fought(struct fight *f, int nr)
{
	if (atomic_read(&f->accepted) < nr)
		return false;
	return time_after(jiffies, f->until) ||
	       (atomic_read(&f->cancelled) && atomic_read(&f->item->ran));
}

/* Queue the item until the pool has accepted it often, at least @arg times. */
static int do_queue_many(struct async_call *call)
{
	struct fight *f = call->data;
	int err;

	while (!stopped(call) && !fought(f, call->arg)) {
		err = ants_queue_work(call->pool, work_of(f->item));
		if (!err)
			count_accepted(f);
		else if (err != -EALREADY && err != -ECANCELED)
			return err;
	}
	return 0;
}

/* Wait for up to three more runs, so that some of them happen. */
static bool turn(struct async_call *call, struct fight *f)
{
	if (stopped(call) ||
	    atomic_read(&f->accepted) - call->accepted < call->value % 4)
		return false;
	call->accepted = atomic_read(&f->accepted);
	call->value++;
	return true;
}

static int do_cancel_many(struct async_call *call)
{
	struct fight *f = call->data;

	while (!stopped(call))
		if (turn(call, f) && ants_work_cancel(work_of(f->item)))
			atomic_inc(&f->cancelled);
	return 0;
}

/* Each wait ends, with a result that the item can have. */
static int do_wait_many(struct async_call *call)
{
	struct fight *f = call->data;
	int err, result;

	while (!stopped(call)) {
		err = ants_work_wait(work_of(f->item), &result);
		if (err || (result < RESULT(1) && result != -ECANCELED &&
			    result != -EINVAL && result != -ESHUTDOWN))
			atomic_inc(&f->wrong);
		atomic_inc(&f->waits);
	}
	return 0;
}

static int do_cancel_sync_many(struct async_call *call)
{
	struct fight *f = call->data;

	while (!stopped(call))
		if (turn(call, f))
			atomic_add(ants_work_cancel_sync(work_of(f->item)),
				   &f->cancelled);
	return 0;
}

/* Each accepted run has happened or was cancelled, once. */
static void expect_none_lost(struct rig *rig, struct fight *f)
{
	struct kunit *test = rig->test;
	struct ants_stats stats;

	atomic_set(&rig->stop, 1);
	expect_results(rig, 0, 0);
	ants_work_cancel_sync(work_of(f->item));
	ants_pool_stats(rig->pool, &stats);
	KUNIT_EXPECT_EQ(test, stats.submitted, atomic_read(&f->accepted));
	KUNIT_EXPECT_EQ(test, stats.completed, atomic_read(&f->item->ran));
	KUNIT_EXPECT_EQ(test, stats.completed + stats.cancelled,
			stats.submitted);
	KUNIT_EXPECT_GE(test, stats.cancelled, atomic_read(&f->cancelled));
	/* Now and then each of the two came first. */
	KUNIT_EXPECT_GT(test, stats.completed, 0ULL);
	KUNIT_EXPECT_GT(test, stats.cancelled, 0ULL);
	KUNIT_EXPECT_FALSE(test, f->item->twice);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->wrong), 0);
	kunit_info(test, "%d accepted, %d ran, %llu cancelled, %d waits\n",
		   atomic_read(&f->accepted), atomic_read(&f->item->ran),
		   stats.cancelled, atomic_read(&f->waits));
}

static void fight_over(struct kunit *test,
		       int (*cancel)(struct async_call *call),
		       bool wait)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 2 };
	struct fight *f = fight_make(test);
	struct rig *rig = rig_make(test, "fight", attrs);
	struct async_call *queue;

	rig_async(rig, cancel, 0, f);
	if (wait) {
		rig_async(rig, do_wait_many, 0, f);
		EXPECT_SOON(rig->test, atomic_read(&f->waits) > 0);
	}
	queue = rig_async(rig, do_queue_many, NR_CANCELLED, f);
	wait_for_completion(&queue->done);
	expect_none_lost(rig, f);
	KUNIT_EXPECT_GE(test, atomic_read(&f->accepted), NR_CANCELLED);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->waits) > 0, wait);
}

static void cancel_against_start_and_finish(struct kunit *test)
{
	fight_over(test, do_cancel_many, false);
}

static void cancel_sync_against_start_and_finish(struct kunit *test)
{
	fight_over(test, do_cancel_sync_many, false);
}

static void waits_against_all(struct kunit *test)
{
	fight_over(test, do_cancel_many, true);
}

/* --- release and reboot ---------------------------------------------------------- */

/*
 * Close the pool and open it again after some items were accepted: sometimes
 * few, so that it closes while they start, sometimes many.
 */
static int do_close_many(struct async_call *call)
{
	struct fight *f = call->data;
	int seen, err = 0;

	while (!stopped(call) && !err) {
		seen = atomic_read(&f->accepted) + call->value * 31 % 512;
		call->value++;
		while (!stopped(call) && atomic_read(&f->accepted) < seen)
			;
		err = ants_release_timeout(call->pool, PROMPT) ?:
		      ants_reboot(call->pool);
	}
	return err;
}

/* Queue the item in several ways, one after the other. */
static int do_try_many(struct async_call *call)
{
	struct fight *f = call->data;
	int i = 0, err;

	while (!stopped(call) && atomic_read(&f->accepted) < NR_CLOSED) {
		err = i & 63 ? ants_queue_work(call->pool, work_of(f->item)) :
			       ants_queue_delayed_work(call->pool,
						       &f->item->dwork,
						       !!(i & 64));
		i += !err;
		if (!err)
			count_accepted(f);
		if (err && err != -EALREADY && err != -ESHUTDOWN &&
		    err != -ECANCELED)
			return err;
	}
	return 0;
}

static void release_and_reboot_against_items(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 2 };
	struct fight *f = fight_make(test);
	struct rig *rig = rig_make(test, "fight", attrs);
	struct async_call *close, *try;
	struct ants_stats stats;

	close = rig_async(rig, do_close_many, 0, f);
	EXPECT_SOON(test, READ_ONCE(close->value) > 1);
	rig_async(rig, do_cancel_many, 0, f);
	rig_async(rig, do_wait_many, 0, f);
	try = rig_async(rig, do_try_many, 0, f);
	wait_for_completion(&try->done);
	atomic_set(&rig->stop, 1);
	expect_results(rig, 0, 0);
	ants_work_cancel_sync(work_of(f->item));
	ants_pool_stats(rig->pool, &stats);
	KUNIT_EXPECT_EQ(test, stats.completed, atomic_read(&f->item->ran));
	KUNIT_EXPECT_EQ(test, stats.completed + stats.cancelled,
			stats.submitted);
	/* Delayed runs that never became due were not submitted. */
	KUNIT_EXPECT_LE(test, stats.submitted, atomic_read(&f->accepted));
	KUNIT_EXPECT_GT(test, stats.completed, 0ULL);
	KUNIT_EXPECT_GT(test, close->value, 1);
	KUNIT_EXPECT_FALSE(test, f->item->twice);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->wrong), 0);
	kunit_info(test, "%d closed, %d accepted, %d ran\n", close->value,
		   atomic_read(&f->accepted), atomic_read(&f->item->ran));
}

/* --- memory ------------------------------------------------------------------------ */

static struct item *item_new(void)
{
	struct item *item = kmalloc(sizeof(*item), GFP_KERNEL);

	if (item)
		item_init(item);
	return item;
}

/* Keep @data, a thread that waits, from sleeping. */
static int do_prod(struct async_call *call)
{
	while (!stopped(call))
		wake_up_process(call->data);
	return 0;
}

static struct async_call *prod_start(struct rig *rig)
{
	return rig_async(rig, do_prod, 0, current);
}

static void prod_stop(struct rig *rig, struct async_call *prod)
{
	atomic_set(&rig->stop, 1);
	async_result(prod);
}

/* The waiter is awake when the item ends, and frees it at once. */
static void waiter_frees_the_item(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct rig *rig = rig_make(test, "freed", attrs);
	struct async_call *prod = prod_start(rig);
	int i, err = 0, result = 0;
	struct item *item;

	for (i = 0; i < NR_FREED && !err; i++) {
		item = item_new();
		if (!item)
			break;
		err = ants_queue_work(rig->pool, work_of(item)) ?:
		      ants_work_wait(work_of(item), &result);
		if (!err && result != RESULT(1))
			err = result;
		kfree(item);
	}
	prod_stop(rig, prod);
	KUNIT_EXPECT_EQ(test, err, 0);
	expect_counted(test, rig->pool, NR_FREED, 0);
}

static void canceller_frees_the_item(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 2 };
	struct rig *rig = rig_make(test, "freed", attrs);
	struct async_call *prod = prod_start(rig);
	struct item *item;
	int i, nr = 0;

	for (i = 0; i < NR_FREED; i++) {
		item = item_new();
		if (!item)
			break;
		KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)),
				0);
		ndelay(i % 64 * 500);
		nr += ants_work_cancel_sync(work_of(item));
		kfree(item);
	}
	prod_stop(rig, prod);
	KUNIT_EXPECT_EQ(test, i, NR_FREED);
	expect_counted(test, rig->pool, NR_FREED, nr);
}

/* The submitter, which still waits, must not touch the freed item. */
static void submitter_outlives_the_item(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct rig *rig = rig_make(test, "freed", attrs);
	struct async_call *submitter;
	struct item *item;
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	for (i = 0; i < 60; i++) {
		item = item_new();
		KUNIT_ASSERT_NOT_NULL(test, item);
		rig->nr_calls = 0;
		submitter = start_queue(rig, item, FOREVER);
		KUNIT_EXPECT_EQ(test, ants_work_cancel_sync(work_of(item)), 1);
		kfree(item);
		expect_prompt(test, submitter);
		KUNIT_EXPECT_EQ(test, async_stop(submitter), -ECANCELED);
	}
}

/* --- timers ------------------------------------------------------------------------ */

/*
 * How far a cancel is moved from one round to the next; twice as far each time that the
 * same side has come first, for on a busy machine they may be a millisecond apart.
 */
#define STEP_NS		2000U
#define STEP_MAX_NS	1000000U

/* Items are armed on one CPU and cancelled on the other. */
struct arming {
	struct ants_pool *pool;
	struct item *item;
	int nr;
	int result;
};

static int do_arm(struct async_call *call)
{
	struct arming *a = call->data;
	struct item *item;

	while (!stopped(call)) {
		/* Pairs with the release in wait_armed(). */
		item = smp_load_acquire(&a->item);
		if (!item)
			continue;
		a->result = ants_queue_delayed_work(a->pool, &item->dwork,
						    1 + (a->nr++ & 1));
		/* Pairs with the acquire in wait_armed(). */
		smp_store_release(&a->item, NULL);
	}
	return 0;
}

/*
 * Pass on an item, wait until its timer is armed and about to fire, and @ns
 * nanoseconds more.
 */
static void wait_armed(struct arming *a, struct item *item, unsigned int ns)
{
	unsigned long end;

	/* Pairs with the acquire in do_arm(). */
	smp_store_release(&a->item, item);
	/* Pairs with the release in do_arm(). */
	while (smp_load_acquire(&a->item))
		cond_resched();
	end = jiffies + 2;
	while (state_of(item) == ANTS_WORK_DELAYED &&
	       timer_pending(&item->dwork.timer) && time_before(jiffies, end))
		cpu_relax();
	udelay(ns / NSEC_PER_USEC);
	ndelay(ns % NSEC_PER_USEC);
}

static void cancel_against_the_timer(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct arming *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	unsigned int late = 0, step = STEP_NS;
	int i, ret = 0, last, cancelled = 0;
	struct item *item;
	struct rig *rig;
	struct async_call *call;

	KUNIT_ASSERT_NOT_NULL(test, a);
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	rig = rig_make(test, "armed", attrs);
	a->pool = rig->pool;
	call = rig_async(rig, do_arm, 0, a);
	set_cpus_allowed_ptr(call->task, cpumask_of(1));
	set_cpus_allowed_ptr(current, cpumask_of(0));
	for (i = 0; i < NR_FIRED && ret >= 0; i++) {
		item = item_new();
		if (!item)
			break;
		wait_armed(a, item, late + i % 32 * 100);
		last = ret;
		ret = a->result ?: ants_work_cancel_sync(work_of(item));
		cancelled += ret > 0;
		/* So each side comes first at times, however fast the machine is. */
		step = ret == last ? min(2 * step, STEP_MAX_NS) : STEP_NS;
		late = ret > 0 ? late + step : late - min(late, step);
		kfree(item);
		cond_resched();
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	KUNIT_EXPECT_GE(test, ret, 0);
	KUNIT_EXPECT_EQ(test, i, NR_FIRED);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->delayed.nr), 0);
	/* Now and then each of the two came first. */
	KUNIT_EXPECT_GT(test, cancelled, 0);
	KUNIT_EXPECT_LT(test, cancelled, NR_FIRED);
	kunit_info(test, "%d of %d cancelled\n", cancelled, i);
}

static struct kunit_case race_work_cases[] = {
	KUNIT_CASE_PARAM(cancel_against_start_and_finish, part_gen_params),
	KUNIT_CASE_PARAM(cancel_sync_against_start_and_finish, part_gen_params),
	KUNIT_CASE_PARAM(waits_against_all, part_gen_params),
	KUNIT_CASE_PARAM(release_and_reboot_against_items, part_gen_params),
	KUNIT_CASE(waiter_frees_the_item),
	KUNIT_CASE(canceller_frees_the_item),
	KUNIT_CASE(submitter_outlives_the_item),
	KUNIT_CASE(cancel_against_the_timer),
	{}
};

static struct kunit_suite race_work_suite = {
	.name = "ants_race_work",
	.test_cases = race_work_cases,
};

kunit_test_suite(race_work_suite);

MODULE_DESCRIPTION("ants: KUnit tests of races of work items");
MODULE_LICENSE("GPL");
