// SPDX-License-Identifier: GPL-2.0-only
/*
 * Porting from OpenZFS's taskq. There is none here, so the comment at a case says what
 * its manual and its source promise, and the case shows that a pool keeps it, by the
 * recipe in Documentation/porting.rst.
 */
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/xarray.h>

#include "work.h"

static void end(struct kunit *test)
{
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
}

/*
 * taskq_create(): all nthreads threads exist from the beginning and stay, unless
 * TASKQ_DYNAMIC is given; maxalloc is usually INT_MAX. ANTS_PREALLOC would make a slot
 * for each entry as well, and cannot.
 */
static void threads_that_stay(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 3, .min_workers = 3, .queue_depth = INT_MAX,
		.spare_slots = 50, .nice = 1, .expiry = 1,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "taskq");
	struct gate *gate = test_gate(test);

	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 3);
	fill_pool(test, pool, gate, 3);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_drain(pool), 0);
	EXPECT_SOON(test, ants_nr_idle(pool) == 3);
	KUNIT_EXPECT_EQ(test, stats_of(pool).reaped, 0);
	attrs.flags = ANTS_PREALLOC;
	KUNIT_EXPECT_PTR_EQ(test, ants_pool_create(&attrs, "prealloc"),
			    (struct ants_pool *)ERR_PTR(-EINVAL));
}

/*
 * TASKQ_DYNAMIC: there is one thread at first, others come when they are wanted and go
 * when they are idle, and one stays.
 */
static void threads_that_come_and_go(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 4, .min_workers = 1, .queue_depth = INT_MAX, .expiry = 1,
	};
	struct ants_pool *pool = test_pool(test, &attrs, "taskq");
	struct gate *gate = test_gate(test);

	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 1);
	fill_pool(test, pool, gate, 4);
	KUNIT_EXPECT_EQ(test, ants_nr_running(pool), 4);
	gate_open(gate);
	EXPECT_SOON(test, ants_nr_running(pool) == 1);
}

/* TASKQ_THREADS_CPU_PCT: so many of the CPUs that are online, and at least one. */
static void threads_by_cpus(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = max(num_online_cpus() * 50 / 100, 1U) };
	struct ants_pool *pool = test_pool(test, &attrs, "taskq");

	KUNIT_EXPECT_EQ(test, ants_capacity(pool), max(num_online_cpus() / 2, 1U));
	KUNIT_EXPECT_EQ(test, ants_tune(pool, max(2 * num_online_cpus() * 50 / 100, 1U)), 0);
	KUNIT_EXPECT_EQ(test, ants_capacity(pool), num_online_cpus());
}

struct burst {
	struct ants_pool *pool;
	struct irq_work irq;
	atomic_t ran;
	int nr;
	int accepted;
};

static void burst_irq(struct irq_work *irq)
{
	struct burst *burst = container_of(irq, struct burst, irq);
	int i;

	for (i = 0; i < burst->nr; i++)
		burst->accepted += !ants_try_submit(burst->pool, count_task, &burst->ran);
}

/*
 * TASKQ_PREPOPULATE: minalloc entries exist from the beginning, so that many dispatches
 * with TQ_NOALLOC or TQ_NOSLEEP succeed without memory, in an interrupt as well.
 */
static void entries_in_advance(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 1, .min_workers = 1, .queue_depth = INT_MAX, .spare_slots = 50,
	};
	struct burst burst = {
		.pool = test_pool(test, &attrs, "taskq"), .nr = 50,
		.irq = IRQ_WORK_INIT_HARD(burst_irq),
	};

	ants_fail_arm(ANTS_FAIL_SLOT, -1);
	irq_work_queue(&burst.irq);
	irq_work_sync(&burst.irq);
	KUNIT_EXPECT_EQ(test, burst.accepted, 50);
	KUNIT_EXPECT_EQ(test, ants_drain(burst.pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&burst.ran), 50);
}

/* taskq_dispatch() with TQ_SLEEP: tasks begin in the order in which they came. */
static void order_of_dispatch(struct kunit *test)
{
	struct item *items = items_alloc(test, 8);
	struct rig *rig = rig_make(test, "taskq", (struct ants_attrs){
				.capacity = 1, .queue_depth = INT_MAX });
	int i;

	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, gate_task, &rig->gate), 0);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[i])), 0);
	gate_open(&rig->gate);
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[i]), NULL), 0);
		KUNIT_EXPECT_EQ(test, items[i].turn, i + 1);
	}
}

/*
 * TQ_NOQUEUE: refused if no thread is idle. Beside a queue a pool cannot say that: this
 * takes a pool without one.
 */
static void refused_without_a_thread(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2, .queue_depth = 0 };
	struct ants_pool *pool = test_pool(test, &attrs, "taskq");
	struct gate *gate = test_gate(test);

	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(pool, gate_task, gate), -EAGAIN);
	gate_open(gate);
	KUNIT_EXPECT_EQ(test, ants_drain(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate->passed), 2);
}

/* TQ_FRONT: before all that were dispatched without it, in order among themselves. */
static void front_goes_first(struct kunit *test)
{
	struct item *items = items_alloc(test, 4);
	struct rig *rig = rig_make_full(test, "taskq", (struct ants_attrs){
				.capacity = 1, .queue_depth = INT_MAX });
	int i;

	for (i = 0; i < 4; i++) {
		work_of(&items[i])->prio = i < 2 ? ANTS_PRIO_NORMAL : ANTS_PRIO_HIGH;
		KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[i])), 0);
	}
	gate_open(&rig->gate);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[i]), NULL), 0);
		KUNIT_EXPECT_EQ(test, items[i].turn, (i + 2) % 4 + 1);
	}
}

static void nofs_task(void *data)
{
	unsigned int flags = memalloc_nofs_save();

	*(int *)data = !!(current->flags & PF_MEMALLOC_NOFS);
	memalloc_nofs_restore(flags);
}

/*
 * All threads are marked so that their allocations do not enter file systems, and with
 * TQ_PUSHPAGE the dispatch does not either. A task does that for itself.
 */
static void tasks_of_file_systems(struct kunit *test)
{
	struct ants_attrs attrs = { .flags = ANTS_MEM_RECLAIM };
	struct ants_pool *pool = test_pool(test, &attrs, "taskq");
	int marked = 0;

	KUNIT_EXPECT_EQ(test, ants_submit(pool, nofs_task, &marked), 0);
	KUNIT_EXPECT_EQ(test, ants_drain(pool), 0);
	KUNIT_EXPECT_EQ(test, marked, 1);
}

/* --- entries of the caller's ----------------------------------------------------- */

struct ent {
	struct ants_delayed_work dwork;
	struct ants_pool *pool;
	struct gate *gate;
	int more;
	bool was_empty;
	int *turns;
	atomic_t *nr;
	int number;
};

/* What cannot be refused: an entry that finds no room waits for it by itself. */
static void ent_dispatch(struct ent *ent)
{
	int err = ants_queue_work(ent->pool, &ent->dwork.work);

	if (err == -EAGAIN)
		err = ants_queue_delayed_work(ent->pool, &ent->dwork, 0);
	WARN_ON(err);
}

static int ent_fn(struct ants_work *work)
{
	struct ent *ent = container_of(work, struct ent, dwork.work);
	int turn = atomic_read(ent->nr);

	ent->was_empty = !ants_work_pending(work);
	ent->turns[turn] = ent->number;
	if (ent->gate)
		gate_task(ent->gate);
	atomic_inc(ent->nr);
	if (ent->more && ent->more--)
		ent_dispatch(ent);
	return 0;
}

#define NR_ENTS	8

static struct ent *ents_make(struct kunit *test, struct ants_pool *pool, int **turns,
			     atomic_t *nr)
{
	struct ent *ents = kunit_kcalloc(test, NR_ENTS, sizeof(*ents), GFP_KERNEL);
	int i;

	*turns = kunit_kcalloc(test, 4 * NR_ENTS, sizeof(**turns), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ents);
	KUNIT_ASSERT_NOT_NULL(test, *turns);
	for (i = 0; i < NR_ENTS; i++) {
		INIT_ANTS_DELAYED_WORK_DETACHED(&ents[i].dwork, ent_fn);
		ents[i].pool = pool;
		ents[i].turns = *turns;
		ents[i].nr = nr;
		ents[i].number = i;
	}
	return ents;
}

/*
 * taskq_init_ent(), taskq_dispatch_ent(): the entry is the caller's, its function may
 * free it or dispatch it again, and the dispatch never fails. taskq_empty_ent() is true
 * once the function has begun.
 */
static void entry_is_never_refused(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1, .max_faults = INT_MAX };
	struct ants_pool *pool = ants_pool_create(&attrs, "taskq");
	atomic_t nr = ATOMIC_INIT(0);
	struct ent *ents;
	struct gate gate;
	int i, *turns;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	ents = ents_make(test, pool, &turns, &nr);
	gate_init(&gate);
	ents[0].gate = &gate;
	ents[0].more = 1;
	for (i = 0; i < NR_ENTS; i++) {
		ent_dispatch(&ents[i]);
		KUNIT_EXPECT_EQ(test, !ants_work_pending(&ents[NR_ENTS - 1].dwork.work),
				i < NR_ENTS - 1);
	}
	gate_open(&gate);
	EXPECT_SOON(test, atomic_read(&nr) == NR_ENTS + 1);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	for (i = 0; i < NR_ENTS; i++) {
		KUNIT_EXPECT_TRUE(test, ents[i].was_empty);
		KUNIT_EXPECT_EQ(test, turns[i], i);
	}
}

/* --- times ------------------------------------------------------------------------ */

/* What is late is due at once. */
static int dispatch_at(struct ants_pool *pool, struct item *item, unsigned long when)
{
	long delay = when - jiffies;

	return ants_queue_delayed_work(pool, &item->dwork, max(delay, 0L));
}

/*
 * taskq_dispatch_delay(): not before that time. The waits for outstanding tasks, and the
 * end of the taskq, wait for it as well; those of a pool do not, so they begin with a
 * wait for each item that is delayed.
 */
static void delayed_task_is_waited_for(struct kunit *test)
{
	struct item *items = items_alloc(test, 3);
	struct rig *rig = rig_make(test, "taskq", (struct ants_attrs){
				.capacity = 2, .queue_depth = INT_MAX });
	unsigned long when = jiffies + HZ / 5;

	KUNIT_EXPECT_EQ(test, dispatch_at(rig->pool, &items[0], jiffies - 100), 0);
	KUNIT_EXPECT_EQ(test, dispatch_at(rig->pool, &items[1], when), 0);
	KUNIT_EXPECT_EQ(test, dispatch_at(rig->pool, &items[2], jiffies + NEVER), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[0]), NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_TRUE(test, ants_work_pending(work_of(&items[2])));
	KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[1]), NULL), 0);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, when));
	KUNIT_EXPECT_EQ(test, ants_drain(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[0].ran) + atomic_read(&items[1].ran), 2);
	KUNIT_EXPECT_TRUE(test, ants_work_cancel_sync(work_of(&items[2])));
}

/* taskq_destroy(): a task that is delayed runs before the end. */
static void end_waits_for_delayed_tasks(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = INT_MAX };
	struct ants_pool *pool = ants_pool_create(&attrs, "taskq");
	int result;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(pool, &items[0].dwork, HZ / 5), 0);
	KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[0]), &result), 0);
	KUNIT_EXPECT_EQ(test, result, RESULT(1));
	KUNIT_EXPECT_EQ(test, ants_drain(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(pool, &items[1].dwork, HZ / 5), 0);
	KUNIT_EXPECT_EQ(test, ants_drain(pool), 0);
	KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	/* Without the wait it is lost. */
	KUNIT_EXPECT_EQ(test, ants_work_result(work_of(&items[1])), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[1].ran), 0);
}

/* --- waits ------------------------------------------------------------------------ */

/*
 * taskq_wait_id(): for that task. taskq_wait_outstanding(id): for all up to it, and not
 * for later ones; so the caller waits for one item after the other.
 */
static void wait_for_all_up_to_one(struct kunit *test)
{
	struct item *items = items_alloc(test, 8);
	struct rig *rig = rig_make(test, "taskq", (struct ants_attrs){
				.capacity = 8, .queue_depth = INT_MAX });
	int i, result;

	for (i = 0; i < 8; i++) {
		items[i].gate = i < 4 ? NULL : &rig->gate;
		KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[i])), 0);
	}
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, ants_work_wait(work_of(&items[i]), &result), 0);
		KUNIT_EXPECT_EQ(test, result, RESULT(1));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->gate.passed), 0);
}

/* taskq_wait_outstanding(0) is for all so far, taskq_wait() until it is empty. */
static void wait_for_all(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);
	struct rig *rig = rig_make(test, "taskq", (struct ants_attrs){
				.capacity = 2, .queue_depth = INT_MAX });

	items[0].pool = rig->pool;
	items[0].more = 5;
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[0])), 0);
	KUNIT_EXPECT_EQ(test, ants_drain(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[0].ran), 6);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(&items[1])), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&items[1].ran), 1);
}

/* --- a number for each task -------------------------------------------------------- */

/*
 * A task that is found by its number: it counts those that use it, and tells them when it
 * has ended.
 */
struct task {
	struct ants_work work;
	struct xarray *tasks;
	refcount_t users;
	struct completion ended;
	struct gate *gate;
	u32 id;
};

static void task_put(struct task *task)
{
	if (refcount_dec_and_test(&task->users))
		kfree(task);
}

static void task_end(struct task *task)
{
	xa_erase(task->tasks, task->id);
	complete_all(&task->ended);
	task_put(task);
}

static int task_fn(struct ants_work *work)
{
	struct task *task = container_of(work, struct task, work);

	if (task->gate)
		gate_task(task->gate);
	task_end(task);
	return 0;
}

static u32 task_dispatch(struct kunit *test, struct ants_pool *pool, struct xarray *tasks,
			 struct gate *gate)
{
	struct task *task = kzalloc(sizeof(*task), GFP_KERNEL);
	u32 id;

	KUNIT_ASSERT_NOT_NULL(test, task);
	INIT_ANTS_WORK_DETACHED(&task->work, task_fn);
	refcount_set(&task->users, 1);
	init_completion(&task->ended);
	task->tasks = tasks;
	task->gate = gate;
	KUNIT_ASSERT_EQ(test, xa_alloc(tasks, &task->id, task, xa_limit_31b, GFP_KERNEL), 0);
	id = task->id;
	KUNIT_EXPECT_EQ(test, ants_queue_work(pool, &task->work), 0);
	return id;
}

static int task_cancel(struct xarray *tasks, u32 id)
{
	struct task *task;
	int ret = ENOENT;

	xa_lock(tasks);
	task = xa_load(tasks, id);
	if (task)
		refcount_inc(&task->users);
	xa_unlock(tasks);
	if (!task)
		return ret;
	if (ants_work_cancel_sync(&task->work)) {
		task_end(task);
		ret = 0;
	} else {
		wait_for_completion(&task->ended);
		ret = EBUSY;
	}
	task_put(task);
	return ret;
}

struct task_call {
	struct xarray tasks;
	u32 id;
};

static int do_task_cancel(struct async_call *call)
{
	struct task_call *c = call->data;

	return task_cancel(&c->tasks, c->id);
}

/*
 * taskq_cancel_id(): 0 if it will not run; EBUSY if it ran, and it has ended then; ENOENT
 * if there is none of that number. The task may end, and its memory go, meanwhile.
 */
static void cancel_by_number(struct kunit *test)
{
	struct task_call *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = INT_MAX };
	struct ants_pool *pool = test_pool(test, &attrs, "taskq");
	struct gate *gate = test_gate(test);
	struct async_call *cancel;
	u32 second;

	KUNIT_ASSERT_NOT_NULL(test, c);
	xa_init_flags(&c->tasks, XA_FLAGS_ALLOC1);
	c->id = task_dispatch(test, pool, &c->tasks, gate);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	second = task_dispatch(test, pool, &c->tasks, NULL);
	KUNIT_EXPECT_EQ(test, task_cancel(&c->tasks, second), 0);
	KUNIT_EXPECT_EQ(test, task_cancel(&c->tasks, second), ENOENT);
	cancel = async_start(test, do_task_cancel, c);
	expect_blocked(test, cancel);
	gate_open(gate);
	expect_result(test, cancel, EBUSY);
	KUNIT_EXPECT_EQ(test, task_cancel(&c->tasks, c->id), ENOENT);
	KUNIT_EXPECT_EQ(test, ants_drain(pool), 0);
	xa_destroy(&c->tasks);
}

struct where {
	struct ants_pool *pool;
	bool right;
};

static void where_task(void *data)
{
	struct where *where = data;

	where->right = ants_in_pool(where->pool) && ants_current_pool() == where->pool;
}

/* taskq_member(), taskq_of_curthread(): is this thread one of it, and of which is it? */
static void member(struct kunit *test)
{
	struct where where = { .pool = test_pool(test, NULL, "taskq") };

	KUNIT_EXPECT_FALSE(test, ants_in_pool(where.pool));
	KUNIT_EXPECT_PTR_EQ(test, ants_current_pool(), (struct ants_pool *)NULL);
	KUNIT_EXPECT_EQ(test, ants_submit(where.pool, where_task, &where), 0);
	KUNIT_EXPECT_EQ(test, ants_drain(where.pool), 0);
	KUNIT_EXPECT_TRUE(test, where.right);
}

/* system_taskq, system_delay_taskq: there is always one for short tasks of anybody. */
static void taskq_of_the_system(struct kunit *test)
{
	struct item *items = items_alloc(test, 2);

	KUNIT_EXPECT_EQ(test, ants_queue_work(ants_system_pool, work_of(&items[0])), 0);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(ants_system_pool, &items[1].dwork, 2), 0);
	expect_ended(test, &items[0], 1, RESULT(1));
	expect_ended(test, &items[1], 1, RESULT(1));
}

static struct kunit_case port_taskq_cases[] = {
	KUNIT_CASE(threads_that_stay),
	KUNIT_CASE(threads_that_come_and_go),
	KUNIT_CASE(threads_by_cpus),
	KUNIT_CASE(entries_in_advance),
	KUNIT_CASE(order_of_dispatch),
	KUNIT_CASE(refused_without_a_thread),
	KUNIT_CASE(front_goes_first),
	KUNIT_CASE(tasks_of_file_systems),
	KUNIT_CASE(entry_is_never_refused),
	KUNIT_CASE(delayed_task_is_waited_for),
	KUNIT_CASE(end_waits_for_delayed_tasks),
	KUNIT_CASE(wait_for_all_up_to_one),
	KUNIT_CASE(wait_for_all),
	KUNIT_CASE(cancel_by_number),
	KUNIT_CASE(member),
	KUNIT_CASE(taskq_of_the_system),
	{}
};

static struct kunit_suite port_taskq_suite = {
	.name = "ants_port_taskq",
	.exit = end,
	.test_cases = port_taskq_cases,
};

kunit_test_suite(port_taskq_suite);

MODULE_DESCRIPTION("ants: KUnit tests of ports from OpenZFS's taskq");
MODULE_LICENSE("GPL");
