// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that die in a work item, a group, a call, a loop, a task that runs
 * inside another one, and in worker_init() and worker_exit(). Those that wait
 * get -EFAULT.
 */
#include <linux/module.h>

#include "fault.h"
#include "group.h"

/* A work item that dies at its gate, if it has one. */
static int die_item(struct ants_work *work)
{
	struct item *item = container_of(work, struct item, dwork.work);

	if (item->more && item->more--)
		item->queued = item_requeue(item);
	if (item->gate)
		gate_task(item->gate);
	write_null();
	return 0;
}

static int die_detached(struct ants_work *work)
{
	write_null();
	return 0;
}

static struct item *dying_item(struct kunit *test, struct rig *rig)
{
	struct item *item = items_alloc(test, 1);

	INIT_ANTS_DELAYED_WORK(&item->dwork, die_item);
	item->pool = rig->pool;
	return item;
}

static void item_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct item *item = dying_item(test, rig);

	announce_death("die_item");
	item_start(rig, item, &rig->gate);
	start_wait(rig, item, FOREVER);
	start_wait(rig, item, FOREVER);
	gate_open(&rig->gate);
	expect_waited(test, &rig->calls[0], -EFAULT);
	expect_waited(test, &rig->calls[1], -EFAULT);
	expect_ended(test, item, 0, -EFAULT);
	expect_told(rig, 1, NULL, work_of(item));
	/* It can be used again. */
	item_init(item);
	KUNIT_EXPECT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_ended(test, item, 1, RESULT(1));
	expect_well(rig, 1, 1);
}

/* A run that was accepted while the item ran is a run of its own. */
static void item_that_is_queued_again_dies_twice(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct item *item = dying_item(test, rig);

	announce_death("die_item");
	announce_death("die_item");
	item->more = 1;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_ended(test, item, 0, -EFAULT);
	KUNIT_EXPECT_EQ(test, item->queued, 0);
	expect_told(rig, 2, NULL, work_of(item));
	expect_well(rig, 2, 2);
}

/* The same with a timer, which is armed although the function did not return. */
static void item_that_is_armed_again_dies_twice(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct item *item = dying_item(test, rig);

	announce_death("die_item");
	announce_death("die_item");
	item->more = 1;
	item->delayed = true;
	item->delay = 2;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work_of(item)), 0);
	expect_ended(test, item, 0, -EFAULT);
	KUNIT_EXPECT_EQ(test, item->queued, 0);
	expect_told(rig, 2, NULL, work_of(item));
	expect_well(rig, 2, 2);
}

static void detached_item_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct ants_work *work = kunit_kzalloc(test, sizeof(*work), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, work);
	INIT_ANTS_WORK_DETACHED(work, die_detached);
	announce_death("die_detached");
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, work), 0);
	expect_told(rig, 1, NULL, work);
	expect_well(rig, 1, 1);
}

/* O6: a cancel comes while the item dies, and is told of that. */
static void cancel_races_with_a_death(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct item *item = dying_item(test, rig);

	announce_death("die_item");
	item_start(rig, item, &rig->gate);
	rig_async(rig, do_cancel_sync, 0, item);
	expect_blocked(test, &rig->calls[0]);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_ended(test, item, 0, -EFAULT);
	expect_well(rig, 1, 1);
}

static int die_member(struct ants_work *work)
{
	struct member *m = member_of(work);

	if (m->gate)
		gate_task(m->gate);
	write_null();
	return 0;
}

/* A team one of whose members dies. */
static struct team *dying_team(struct kunit *test, int nr, int dies,
			       struct ants_attrs attrs, unsigned int flags)
{
	struct team *team;

	memset(&told, 0, sizeof(told));
	attrs.fault = hear;
	team = team_make(test, nr, attrs, flags);
	INIT_ANTS_WORK(work_at(team, dies), die_member);
	pr_info("ants-expect: ^ants: pool group: thread .* has died in die_member\n");
	return team;
}

static void member_dies(struct kunit *test)
{
	struct team *team = dying_team(test, 8, 3, (struct ants_attrs){
						.capacity = 2 }, 0);

	submit_range(team, 0, 8);
	expect_wait(team, -EFAULT);
	expect_members(team, 0, 3, 1, 0);
	expect_member(team, 3, 0, -EFAULT);
	expect_members(team, 4, 8, 1, 0);
	EXPECT_SOON(test, atomic_read(&told.nr) == 1);
}

static void death_cancels_the_group(struct kunit *test)
{
	struct team *team = dying_team(test, 6, 0, (struct ants_attrs){
					.capacity = 1, .queue_depth = 8 },
				       ANTS_GROUP_CANCEL_ON_ERROR);

	start_at(team, 0, &team->rig->gate);
	submit_range(team, 1, 6);
	gate_open(&team->rig->gate);
	expect_wait(team, -EFAULT);
	expect_members(team, 1, 6, 0, -ECANCELED);
}

/* A task of the pool that waits for the group runs its members, and dies. */
struct parent {
	struct team *team;
	int first;
	int end;
};

static void parent_task(void *data)
{
	struct parent *parent = data;
	struct team *team = parent->team;
	int nr;

	for (nr = parent->first; nr < parent->end; nr++)
		team->rig->posts[nr].result = submit(team, nr);
	if (ants_group_wait(&team->group, NULL))
		pr_err("the wait has not ended\n");
}

static void parent_dies_in_a_member(struct kunit *test)
{
	struct team *team = dying_team(test, 5, 2, (struct ants_attrs){
					.capacity = 1, .queue_depth = 8 }, 0);
	struct parent parent = { .team = team, .end = 5 };
	struct ants_stats stats;

	KUNIT_ASSERT_EQ(test, ants_submit(team->rig->pool, parent_task, &parent),
			0);
	EXPECT_SOON(test, atomic_read(&told.nr) == 1);
	/* The others run in another thread, and someone else may wait. */
	expect_wait(team, -EFAULT);
	expect_member(team, 2, 0, -EFAULT);
	expect_members(team, 3, 5, 1, 0);
	KUNIT_EXPECT_TRUE(test, told.fn == parent_task);
	KUNIT_EXPECT_PTR_EQ(test, told.data, &parent);
	stats = stats_of(team->rig->pool);
	KUNIT_EXPECT_EQ(test, stats.lost, 2ULL);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(team->rig->pool, TEST_DEADLINE),
			0);
}

/* A task waits for an item of its pool, and dies in it. */
static void join_item(void *data)
{
	struct item *item = data;

	item->queued = ants_queue_work(item->pool, work_of(item));
	if (ants_work_wait(work_of(item), NULL))
		pr_err("the wait has not ended\n");
}

static void task_dies_in_what_it_waits_for(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
					.capacity = 1, .queue_depth = 4 });
	struct item *item = dying_item(test, rig);

	announce_death("die_item");
	item->gate = &rig->gate;
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, join_item, item), 0);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	/* Beside the task that dies, someone else waits. */
	start_wait(rig, item, FOREVER);
	gate_open(&rig->gate);
	expect_waited(test, &rig->calls[0], -EFAULT);
	expect_told(rig, 1, join_item, item);
	expect_well(rig, 1, 2);
}

static int die_call(void *data)
{
	if (data)
		gate_task(data);
	write_null();
	return 0;
}

static atomic_t released;

static void release_data(void *data)
{
	atomic_inc(&released);
}

static void call_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });

	gate_open(&rig->gate);
	announce_death("die_call");
	KUNIT_EXPECT_EQ(test, ants_call(rig->pool, die_call, &rig->gate, FOREVER),
			-EFAULT);
	expect_told(rig, 1, NULL, &rig->gate);
	expect_well(rig, 1, 1);
}

/* The thread dies, and the data is given away once. */
static struct rig *call_and_die(struct kunit *test, ants_call_fn_t fn, const char *name)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });

	atomic_set(&released, 0);
	announce_death(name);
	KUNIT_EXPECT_EQ(test, ants_call_release(rig->pool, fn, NULL, FOREVER, release_data),
			-EFAULT);
	expect_told(rig, 1, NULL, NULL);
	expect_well(rig, 1, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&released), 1);
	return rig;
}

static void call_that_gives_its_data_away_dies(struct kunit *test)
{
	call_and_die(test, die_call, "die_call");
}

static int leave_bad_cred(void *data)
{
	announce("NULL pointer dereference");
	rcu_assign_pointer(current->cred, (const struct cred *)sizeof(long));
	return 0;
}

/* The worker undoes what the function has left, and dies of that. */
static void call_that_has_returned_dies(struct kunit *test)
{
	struct rig *rig = call_and_die(test, leave_bad_cred, "leave_bad_cred");

	announce_death("leave_bad_cred");
	KUNIT_EXPECT_EQ(test, ants_call(rig->pool, leave_bad_cred, NULL, FOREVER), -EFAULT);
	expect_told(rig, 2, NULL, NULL);
	expect_well(rig, 2, 2);
}

static int do_call_release(struct async_call *call)
{
	return ants_call_release(call->pool, die_call, call->data, call->arg,
				 release_data);
}

/* The caller has given up by then. */
static void forgotten_call_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });

	atomic_set(&released, 0);
	announce_death("die_call");
	rig_async(rig, do_call_release, FOREVER, &rig->gate);
	ASSERT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	send_sig(SIGKILL, rig->calls[0].task, 1);
	expect_results(rig, 0, -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&released), 0);
	gate_open(&rig->gate);
	expect_told(rig, 1, NULL, &rig->gate);
	KUNIT_EXPECT_EQ(test, atomic_read(&released), 1);
	expect_well(rig, 1, 1);
}

static void call_inside(void *pool)
{
	ants_call_release(pool, die_call, NULL, FOREVER, release_data);
}

static void task_dies_in_a_call(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });

	atomic_set(&released, 0);
	announce_death("die_call");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, call_inside, rig->pool), 0);
	expect_told(rig, 1, call_inside, rig->pool);
	KUNIT_EXPECT_EQ(test, atomic_read(&released), 1);
	expect_well(rig, 1, 1);
}

/* A loop whose helpers, or whose caller, die. */
struct loop {
	struct ants_pool *pool;
	struct task_struct *caller;
	bool caller_dies;
	atomic_t helpers;
	atomic_t dying;
	int result;
};

static int loop_fn(unsigned long i, void *ctx)
{
	struct loop *loop = ctx;
	bool is_caller;

	if (current != READ_ONCE(loop->caller))
		atomic_inc(&loop->helpers);
	/* Each takes part before one of them dies, and none goes on alone. */
	if (!WAIT_FOR(atomic_read(&loop->helpers)))
		return -ETIMEDOUT;
	is_caller = current == loop->caller;
	if (is_caller == loop->caller_dies) {
		atomic_inc(&loop->dying);
		write_null();
	}
	return WAIT_FOR(atomic_read(&loop->dying)) ? 0 : -ETIMEDOUT;
}

static void helper_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct loop loop = { .caller = current };

	announce_death("loop_fn");
	KUNIT_EXPECT_EQ(test, ants_for_each(rig->pool, 64, loop_fn, &loop),
			-EFAULT);
	expect_told(rig, 1, NULL, &loop);
	expect_well(rig, 1, 1);
}

static void loop_task(void *data)
{
	struct loop *loop = data;

	WRITE_ONCE(loop->caller, current);
	loop->result = ants_for_each(loop->pool, 64, loop_fn, loop);
}

static void task_dies_in_its_loop(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 2 });
	struct loop loop = { .pool = rig->pool, .caller_dies = true,
			     .result = 1 };

	announce_death("loop_task");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, loop_task, &loop), 0);
	expect_told(rig, 1, loop_task, &loop);
	KUNIT_EXPECT_EQ(test, loop.result, 1);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->nr_callers), 0U);
	expect_well(rig, 1, 1);
}

/* The pool that takes part in the loop is told that its caller is gone. */
static void task_dies_in_its_loop_in_another_pool(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *other = test_pool(test, &attrs, "other");
	struct loop loop = { .pool = other, .caller_dies = true, .result = 1 };

	announce_death("loop_task");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, loop_task, &loop), 0);
	expect_told(rig, 1, loop_task, &loop);
	KUNIT_EXPECT_EQ(test, loop.result, 1);
	KUNIT_EXPECT_EQ(test, ants_peek(other->nr_callers), 0U);
	KUNIT_EXPECT_EQ(test, ants_nr_pending(other), 0U);
	expect_well(rig, 1, 1);
}

static atomic_t init_dies, exit_dies;

static void *start_of_thread(struct ants_pool *pool)
{
	if (atomic_dec_if_positive(&init_dies) >= 0)
		write_null();
	return NULL;
}

static void end_of_thread(struct ants_pool *pool, void *data)
{
	if (atomic_dec_if_positive(&exit_dies) >= 0)
		write_null();
}

static void worker_init_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 1, .worker_init = start_of_thread });

	atomic_set(&init_dies, 3);
	announce_death("start_of_thread");
	announce_death("start_of_thread");
	announce_death("start_of_thread");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	expect_told(rig, 3, NULL, NULL);
	expect_well(rig, 3, 0);
}

static void worker_exit_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 1, .worker_exit = end_of_thread });

	atomic_set(&exit_dies, 1);
	announce_death("end_of_thread");
	fill_pool(test, rig->pool, &rig->gate, 1);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_told(rig, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	expect_well(rig, 1, 0);
}

static void submit_dying(void *pool)
{
	ants_submit(pool, null_task, NULL);
}

static void submit_batch_dying(void *pool)
{
	const struct ants_task tasks[] = { { null_task }, { null_task } };

	ants_submit_batch(pool, tasks, ARRAY_SIZE(tasks));
}

/*
 * A thread that runs a task of another pool, which is full, dies in it. Both pools
 * go on, and callers that run tasks themselves do not find what is left of it.
 */
static void thread_dies_in_a_task_of_another_pool(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct ants_attrs attrs = { .capacity = 1, .flags = ANTS_CALLER_RUNS };
	struct ants_pool *full = test_pool(test, &attrs, "full");
	struct gate *gate = test_gate(test);

	fill_pool(test, full, gate, 1);
	announce_death("submit_dying");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, submit_dying, full), 0);
	expect_told(rig, 1, submit_dying, full);
	KUNIT_EXPECT_EQ(test, ants_peek(full->nr_callers), 0U);
	announce_death("submit_batch_dying");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, submit_batch_dying, full), 0);
	expect_told(rig, 2, submit_batch_dying, full);
	KUNIT_EXPECT_EQ(test, ants_peek(full->nr_callers), 0U);
	KUNIT_EXPECT_EQ(test, ants_submit(full, count_task, &rig->count), 0);
	KUNIT_EXPECT_EQ(test, stats_of(full).caller_runs, 3ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	gate_open(gate);
	expect_well(rig, 2, 2);
}

static struct kunit_case fault_item_cases[] = {
	KUNIT_CASE(item_dies),
	KUNIT_CASE(item_that_is_queued_again_dies_twice),
	KUNIT_CASE(item_that_is_armed_again_dies_twice),
	KUNIT_CASE(detached_item_dies),
	KUNIT_CASE(cancel_races_with_a_death),
	KUNIT_CASE(member_dies),
	KUNIT_CASE(death_cancels_the_group),
	KUNIT_CASE(parent_dies_in_a_member),
	KUNIT_CASE(task_dies_in_what_it_waits_for),
	KUNIT_CASE(call_dies),
	KUNIT_CASE(call_that_gives_its_data_away_dies),
	KUNIT_CASE(call_that_has_returned_dies),
	KUNIT_CASE(forgotten_call_dies),
	KUNIT_CASE(task_dies_in_a_call),
	KUNIT_CASE(helper_dies),
	KUNIT_CASE(task_dies_in_its_loop),
	KUNIT_CASE(task_dies_in_its_loop_in_another_pool),
	KUNIT_CASE(worker_init_dies),
	KUNIT_CASE(worker_exit_dies),
	KUNIT_CASE(thread_dies_in_a_task_of_another_pool),
	{}
};

static int fault_item_init(struct kunit *test)
{
	need_module(test);
	return 0;
}

static struct kunit_suite fault_item_suite = {
	.name = "ants_fault_item",
	.init = fault_item_init,
	.test_cases = fault_item_cases,
};

kunit_test_suite(fault_item_suite);

MODULE_DESCRIPTION("ants: KUnit tests of work items, calls and loops that die");
MODULE_LICENSE("GPL");
