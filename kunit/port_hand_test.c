// SPDX-License-Identifier: GPL-2.0-only
/* Porting from threads by hand, on both sides: a list, a lock, a wait queue. */
#include <linux/freezer.h>
#include <linux/module.h>
#include <linux/semaphore.h>

#include "rig.h"

#define HAND_MAX	16

struct side {
	const char *name;
	bool pool;
};

static const struct side sides[] = { { "by hand", false }, { "ants", true } };

static void side_desc(const struct side *side, char *desc)
{
	strscpy(desc, side->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(side, sides, side_desc);

/* Threads by hand, or the pool in their place; and the requests of the case. */
struct hand {
	struct kunit *test;
	struct ants_pool *pool;
	/* of @list */
	spinlock_t lock;
	struct list_head list;
	wait_queue_head_t wait;
	struct task_struct *threads[HAND_MAX];
	int nr_threads;
	struct gate gate;
	atomic_t ran;
	atomic_t inside;
	atomic_t most;
	/* Threads that have a state of their own, and requests that found it. */
	atomic_t states;
	atomic_t found;
	struct request {
		struct hand *hand;
		struct list_head node;
		struct ants_work work;
		struct completion done;
		bool gated;
		int nice;
		int cpu;
	} requests[HAND_MAX];
};

static void request_run(struct request *request, void *state)
{
	struct hand *hand = request->hand;
	int now = atomic_inc_return(&hand->inside), most = atomic_read(&hand->most);

	while (now > most && !atomic_try_cmpxchg(&hand->most, &most, now))
		;
	request->nice = task_nice(current);
	request->cpu = raw_smp_processor_id();
	if (state == current)
		atomic_inc(&hand->found);
	if (request->gated)
		gate_task(&hand->gate);
	atomic_dec(&hand->inside);
	atomic_inc(&hand->ran);
}

static struct request *hand_next(struct hand *hand)
{
	struct request *request;

	spin_lock(&hand->lock);
	request = list_first_entry_or_null(&hand->list, struct request, node);
	if (request)
		list_del(&request->node);
	spin_unlock(&hand->lock);
	return request;
}

/* A thread goes when it was told to and nothing is left. */
static int hand_thread(void *data)
{
	struct hand *hand = data;
	struct request *request;

	set_freezable();
	atomic_inc(&hand->states);
	for (;;) {
		wait_event_interruptible(hand->wait, !list_empty_careful(&hand->list) ||
					 kthread_should_stop());
		try_to_freeze();
		request = hand_next(hand);
		if (request) {
			request_run(request, current);
			complete(&request->done);
		} else if (kthread_should_stop()) {
			break;
		}
	}
	atomic_dec(&hand->states);
	return 0;
}

static int request_fn(struct ants_work *work)
{
	struct request *request = container_of(work, struct request, work);

	request_run(request, ants_worker_data(request->hand->pool));
	return 0;
}

static void *state_init(struct ants_pool *pool)
{
	struct hand *hand = ants_pool_private(pool);

	atomic_inc(&hand->states);
	return current;
}

static void state_exit(struct ants_pool *pool, void *state)
{
	struct hand *hand = ants_pool_private(pool);

	atomic_dec(&hand->states);
}

static void hand_end(struct hand *hand)
{
	while (hand->nr_threads)
		kthread_stop(hand->threads[--hand->nr_threads]);
	if (hand->pool)
		KUNIT_EXPECT_EQ(hand->test, ants_pool_destroy(hand->pool), 0);
	hand->pool = NULL;
}

static void hand_free(struct kunit_resource *res)
{
	struct hand *hand = res->data;

	gate_open(&hand->gate);
	hand_end(hand);
}

static void hand_more(struct hand *hand, int nr, int nice, int cpu)
{
	struct task_struct *thread;

	while (nr--) {
		thread = kthread_create(hand_thread, hand, "hand");
		KUNIT_ASSERT_FALSE(hand->test, IS_ERR(thread));
		set_user_nice(thread, nice);
		if (cpu >= 0)
			kthread_bind(thread, cpu);
		hand->threads[hand->nr_threads++] = thread;
		wake_up_process(thread);
	}
}

static struct hand *hand_alloc(struct kunit *test)
{
	struct hand *hand = kunit_kzalloc(test, sizeof(*hand), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, hand);
	hand->test = test;
	spin_lock_init(&hand->lock);
	INIT_LIST_HEAD(&hand->list);
	init_waitqueue_head(&hand->wait);
	gate_init(&hand->gate);
	for (i = 0; i < HAND_MAX; i++) {
		hand->requests[i].hand = hand;
		init_completion(&hand->requests[i].done);
		INIT_ANTS_WORK(&hand->requests[i].work, request_fn);
	}
	kunit_alloc_resource(test, test_pool_init, hand_free, GFP_KERNEL, hand);
	return hand;
}

static bool is_pool(struct kunit *test)
{
	return ((const struct side *)test->param_value)->pool;
}

/* The side of the case, with @nr threads. */
static struct hand *hand_make(struct kunit *test, int nr, struct ants_attrs attrs)
{
	int cpu = attrs.cpumask ? cpumask_first(attrs.cpumask) : -1;
	struct hand *hand = hand_alloc(test);
	struct ants_pool *pool;

	if (!is_pool(test)) {
		hand_more(hand, nr, attrs.nice, cpu);
		return hand;
	}
	attrs.capacity = nr;
	attrs.queue_depth = HAND_MAX;
	attrs.private = hand;
	pool = ants_pool_create(&attrs, "hand");
	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	hand->pool = pool;
	return hand;
}

static void hand_queue(struct hand *hand, int nr)
{
	struct request *request = &hand->requests[nr];

	if (hand->pool) {
		KUNIT_EXPECT_EQ(hand->test, ants_queue_work(hand->pool, &request->work), 0);
		return;
	}
	spin_lock(&hand->lock);
	list_add_tail(&request->node, &hand->list);
	spin_unlock(&hand->lock);
	wake_up(&hand->wait);
}

static void hand_wait(struct hand *hand, int nr)
{
	if (hand->pool)
		KUNIT_EXPECT_EQ(hand->test,
				ants_work_wait(&hand->requests[nr].work, NULL), 0);
	else
		wait_for_completion(&hand->requests[nr].done);
}

/* The threads are there, and no request is on more of them. */
static void threads_in_a_loop(struct kunit *test)
{
	struct hand *hand = hand_make(test, 2, (struct ants_attrs){ .flags = ANTS_PREALLOC });
	int i;

	if (is_pool(test))
		KUNIT_EXPECT_EQ(test, ants_nr_running(hand->pool), 2);
	for (i = 0; i < HAND_MAX; i++) {
		hand->requests[i].gated = true;
		hand_queue(hand, i);
	}
	EXPECT_SOON(test, atomic_read(&hand->gate.entered) == 2);
	gate_open(&hand->gate);
	for (i = 0; i < HAND_MAX; i++)
		hand_wait(hand, i);
	KUNIT_EXPECT_EQ(test, atomic_read(&hand->ran), HAND_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&hand->most), 2);
}

static int request_thread(void *data)
{
	struct request *request = data;

	request_run(request, NULL);
	kthread_complete_and_exit(&request->done, 0);
	return 0;
}

static void request_task(void *data)
{
	struct request *request = data;

	request_run(request, NULL);
	complete(&request->done);
}

/* Nothing bounds the threads; the pool does, and the submitter waits. */
static void each_request_has_a_thread(struct kunit *test)
{
	struct hand *hand = hand_alloc(test);
	struct ants_attrs attrs = { .capacity = 4 };
	int i;

	if (is_pool(test))
		hand->pool = ants_pool_create(&attrs, "hand");
	KUNIT_ASSERT_FALSE(test, IS_ERR(hand->pool));
	for (i = 0; i < HAND_MAX; i++) {
		struct request *request = &hand->requests[i];

		request->gated = !is_pool(test);
		if (is_pool(test))
			KUNIT_EXPECT_EQ(test, ants_submit(hand->pool, request_task, request),
					0);
		else
			KUNIT_EXPECT_FALSE(test, IS_ERR(kthread_run(request_thread, request,
								    "hand")));
	}
	if (!is_pool(test))
		EXPECT_SOON(test, atomic_read(&hand->gate.entered) == HAND_MAX);
	gate_open(&hand->gate);
	for (i = 0; i < HAND_MAX; i++)
		wait_for_completion(&hand->requests[i].done);
	KUNIT_EXPECT_LE(test, atomic_read(&hand->most), is_pool(test) ? 4 : HAND_MAX);
}

/* A semaphore with the room of the list, or the bound of a pool. */
struct room {
	struct semaphore sem;
	struct ants_pool *pool;
	struct gate *gate;
};

static int do_enter(struct async_call *call)
{
	struct room *room = call->data;

	if (room->pool)
		return ants_submit(room->pool, gate_task, room->gate);
	return down_interruptible(&room->sem);
}

static void submitter_waits_for_room(struct kunit *test)
{
	struct room room = { .gate = test_gate(test) };
	struct ants_attrs attrs = { .capacity = 1, .queue_depth = 1 };
	struct async_call *enter;

	sema_init(&room.sem, 1);
	if (is_pool(test)) {
		room.pool = test_pool(test, &attrs, "hand");
		fill_pool(test, room.pool, room.gate, 1);
		KUNIT_EXPECT_EQ(test, ants_submit(room.pool, gate_task, room.gate), 0);
		KUNIT_EXPECT_EQ(test, ants_submit_timeout(room.pool, gate_task, room.gate, 1),
				-ETIMEDOUT);
		attrs.flags = ANTS_NONBLOCKING;
		attrs.queue_depth = 0;
	} else {
		down(&room.sem);
		KUNIT_EXPECT_EQ(test, down_timeout(&room.sem, 1), -ETIME);
		KUNIT_EXPECT_EQ(test, down_trylock(&room.sem), 1);
	}
	enter = async_start(test, do_enter, &room);
	expect_blocked(test, enter);
	if (is_pool(test))
		gate_let_one(room.gate);
	else
		up(&room.sem);
	expect_result(test, enter, 0);
	if (is_pool(test)) {
		struct ants_pool *pool = test_pool(test, &attrs, "refuses");

		fill_pool(test, pool, room.gate, 1);
		KUNIT_EXPECT_EQ(test, ants_submit(pool, gate_task, room.gate), -EAGAIN);
		gate_open(room.gate);
	}
}

/* kthread_should_stop(), kthread_stop(): what the list has still runs. */
static void end_runs_what_is_left(struct kunit *test)
{
	struct hand *hand = hand_make(test, 1, (struct ants_attrs){});
	int i;

	/* A kthread that is stopped before it has begun does not run at all. */
	if (!is_pool(test))
		EXPECT_SOON(test, atomic_read(&hand->states) == 1);
	for (i = 0; i < HAND_MAX; i++)
		hand_queue(hand, i);
	hand_end(hand);
	KUNIT_EXPECT_EQ(test, atomic_read(&hand->ran), HAND_MAX);
}

/* complete(), wait_for_completion(): of one; many have a group. */
static void requests_are_waited_for(struct kunit *test)
{
	struct hand *hand = hand_make(test, 2, (struct ants_attrs){});
	struct ants_group group;
	int i;

	hand_queue(hand, 0);
	hand_wait(hand, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hand->ran), 1);
	if (!is_pool(test)) {
		for (i = 1; i < HAND_MAX; i++)
			hand_queue(hand, i);
		for (i = 1; i < HAND_MAX; i++)
			hand_wait(hand, i);
	} else {
		ants_group_init(&group, hand->pool, 0);
		for (i = 1; i < HAND_MAX; i++)
			KUNIT_EXPECT_EQ(test, ants_group_submit(&group,
								&hand->requests[i].work), 0);
		KUNIT_EXPECT_EQ(test, ants_group_wait(&group, NULL), 0);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&hand->ran), HAND_MAX);
}

/* Each request finds what its thread has made for itself; the thread takes it along. */
static void state_of_a_thread(struct kunit *test)
{
	struct hand *hand = hand_make(test, 2, (struct ants_attrs){
				.worker_init = state_init, .worker_exit = state_exit });
	int i;

	for (i = 0; i < HAND_MAX; i++)
		hand_queue(hand, i);
	for (i = 0; i < HAND_MAX; i++)
		hand_wait(hand, i);
	KUNIT_EXPECT_EQ(test, atomic_read(&hand->found), HAND_MAX);
	KUNIT_EXPECT_LE(test, atomic_read(&hand->states), 2);
	hand_end(hand);
	KUNIT_EXPECT_EQ(test, atomic_read(&hand->states), 0);
}

/* set_user_nice(), kthread_bind() */
static void nice_and_cpu(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask), i;
	struct hand *hand = hand_make(test, 2, (struct ants_attrs){
				.nice = 3, .cpumask = cpumask_of(cpu) });

	for (i = 0; i < HAND_MAX; i++)
		hand_queue(hand, i);
	for (i = 0; i < HAND_MAX; i++) {
		hand_wait(hand, i);
		KUNIT_EXPECT_EQ(test, hand->requests[i].nice, 3);
		KUNIT_EXPECT_EQ(test, hand->requests[i].cpu, cpu);
	}
}

/* More threads, while requests wait for one. */
static void more_threads(struct kunit *test)
{
	struct hand *hand = hand_make(test, 2, (struct ants_attrs){});
	int i;

	for (i = 0; i < 4; i++) {
		hand->requests[i].gated = true;
		hand_queue(hand, i);
	}
	EXPECT_SOON(test, atomic_read(&hand->gate.entered) == 2);
	if (is_pool(test))
		KUNIT_EXPECT_EQ(test, set_attr(hand->pool, "capacity", 4), 0);
	else
		hand_more(hand, 2, 0, -1);
	EXPECT_SOON(test, atomic_read(&hand->gate.entered) == 4);
}

static struct kunit_case port_hand_cases[] = {
	KUNIT_CASE_PARAM(threads_in_a_loop, side_gen_params),
	KUNIT_CASE_PARAM(each_request_has_a_thread, side_gen_params),
	KUNIT_CASE_PARAM(submitter_waits_for_room, side_gen_params),
	KUNIT_CASE_PARAM(end_runs_what_is_left, side_gen_params),
	KUNIT_CASE_PARAM(requests_are_waited_for, side_gen_params),
	KUNIT_CASE_PARAM(state_of_a_thread, side_gen_params),
	KUNIT_CASE_PARAM(nice_and_cpu, side_gen_params),
	KUNIT_CASE_PARAM(more_threads, side_gen_params),
	{}
};

static struct kunit_suite port_hand_suite = {
	.name = "ants_port_hand",
	.test_cases = port_hand_cases,
};

kunit_test_suite(port_hand_suite);

MODULE_DESCRIPTION("ants: KUnit tests of ports from threads by hand");
MODULE_LICENSE("GPL");
