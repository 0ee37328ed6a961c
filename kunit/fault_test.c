// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that take their thread along, in each of the ways in which that happens,
 * and what the pool does then. What else may die is in the suite fault_item.
 */
#include <linux/ants_wq.h>
#include <linux/ctype.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "fault.h"
#include "repeats.h"

static DEFINE_RAW_SPINLOCK(lost_lock);
static DEFINE_MUTEX(lost_mutex);

static void exit_task(void *data)
{
	end_thread();
}

static void bug_task(void *data)
{
	run_bug();
}

/* From here on nobody can take that lock any more. */
static void spinlock_task(void *data)
{
	raw_spin_lock(&lost_lock);
	/* For sparse: it is never released. */
	__release(&lost_lock);
	write_null();
}

static void mutex_task(void *data)
{
	mutex_lock(&lost_mutex);
	write_null();
}

static void irq_task(void *data)
{
	local_irq_disable();
	write_null();
}

/* The kernel says that an exit in such a section sleeps. */
static void rcu_task(void *data)
{
	rcu_read_lock();
	__release(RCU);
	announce("BUG: sleeping function called from invalid context");
	write_null();
}

static void preempt_task(void *data)
{
	preempt_disable();
	write_null();
}

/* One task dies; the pool says so, tells its client, and goes on. */
static void die_once(struct kunit *test, ants_fn_t fn, const char *name)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 2 });

	announce_death(name);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, fn, rig), 0);
	expect_told(rig, 1, fn, rig);
	expect_well(rig, 1, 1);
}

static void task_ends_its_thread(struct kunit *test)
{
	die_once(test, exit_task, "exit_task");
}

static void task_writes_to_null(struct kunit *test)
{
	die_once(test, null_task, "null_task");
}

static void task_has_a_bug(struct kunit *test)
{
	die_once(test, bug_task, "bug_task");
}

/* Whether all tasks are timed or some, the time of one that dies ends. */
static void time_of_a_task_that_dies_ends(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	static struct ants_histograms counts;
	u64 i, nr = 0;

	for (i = 1; i <= 2; i++) {
		KUNIT_ASSERT_EQ(test, set_attr(rig->pool, "timing", i), 0);
		announce_death("null_task");
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, null_task, rig), 0);
		expect_told(rig, i, null_task, rig);
	}
	ants_times_read(rig->pool, &counts);
	for (i = 0; i < ANTS_TIMES; i++)
		nr += counts.run[i];
	KUNIT_EXPECT_EQ(test, nr, 2ULL);
}

static void task_holds_a_spinlock(struct kunit *test)
{
	die_once(test, spinlock_task, "spinlock_task");
	KUNIT_EXPECT_TRUE(test, raw_spin_is_locked(&lost_lock));
}

static void task_holds_a_mutex(struct kunit *test)
{
	die_once(test, mutex_task, "mutex_task");
	KUNIT_EXPECT_FALSE(test, mutex_trylock(&lost_mutex));
}

static void task_has_interrupts_off(struct kunit *test)
{
	die_once(test, irq_task, "irq_task");
}

static void task_is_a_reader(struct kunit *test)
{
	/* The kernel says it once a second at most. */
	msleep(1100);
	die_once(test, rcu_task, "rcu_task");
	synchronize_rcu();
}

static void task_cannot_be_preempted(struct kunit *test)
{
	die_once(test, preempt_task, "preempt_task");
}

/* The next task, and callers that wait, need the place of the dead one. */
static void waiters_are_served(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
					.capacity = 1, .queue_depth = 1 });
	int i;

	fill_pool(test, rig->pool, &rig->gate, 1);
	announce_death("null_task");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, null_task, NULL), 0);
	for (i = 0; i < 4; i++)
		rig_async(rig, do_submit_count, FOREVER, NULL);
	EXPECT_SOON(test, ants_nr_waiting(rig->pool) == 4);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 4);
	expect_told(rig, 1, null_task, NULL);
	expect_well(rig, 1, 1);
}

/* It is made even if no task wants it, as soon as that can be done. */
static void reclaim_pool_gets_another_thread(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 1, .queue_depth = 4, .flags = ANTS_MEM_RECLAIM });

	announce_death("null_task");
	ants_fail_arm(ANTS_FAIL_THREAD, 3);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, null_task, NULL), 0);
	expect_told(rig, 1, null_task, NULL);
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2ULL);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 1);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	expect_well(rig, 1, 1);
}

/*
 * B13: all of them are replaced at once, also in a pool that has no timer to
 * look after them.
 */
static void all_threads_die(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 4, .queue_depth = 60 });
	int i;

	for (i = 0; i < 12; i++) {
		announce_death("exit_task");
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, exit_task, rig), 0);
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	}
	expect_told(rig, 12, exit_task, rig);
	EXPECT_SOON(test, atomic_read(&rig->count) == 12);
	expect_well(rig, 12, 12);
}

/* A hundred for each repetition, and then as many tasks as ever. */
static void many_die(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 4, .queue_depth = 60,
			.max_faults = INT_MAX });
	int i, nr = 100 * repeats;

	/* One by one, or their reports would be mixed up. */
	for (i = 1; i <= nr; i++) {
		announce_death("bug_task");
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, bug_task, rig), 0);
		ASSERT_SOON(test, atomic_read(&told.nr) == i);
	}
	expect_told(rig, nr, bug_task, rig);
	expect_well(rig, nr, nr);
	for (i = 0; i < 10 * nr; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task,
						  &rig->count), 0);
	EXPECT_SOON(test, atomic_read(&rig->count) == 10 * nr);
	KUNIT_EXPECT_EQ(test, ants_release_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_LE(test, ants_peek(rig->pool->nr_stock),
			ants_peek(rig->pool->limits.stock));
}

/* O4: also beside tasks that run, and with min_workers. */
static void numbers_stay_true(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 3, .min_workers = 3 });
	struct ants_stats stats;

	fill_pool(test, rig->pool, &rig->gate, 2);
	announce_death("bug_task");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, bug_task, NULL), 0);
	expect_told(rig, 1, bug_task, NULL);
	/* A thread is made in its place, though no task wants one. */
	EXPECT_SOON(test, ants_nr_idle(rig->pool) == 1);
	stats = stats_of(rig->pool);
	KUNIT_EXPECT_EQ(test, stats.running, 3U);
	KUNIT_EXPECT_EQ(test, stats.busy, 2U);
	KUNIT_EXPECT_EQ(test, stats.free, 1U);
	KUNIT_EXPECT_EQ(test, stats.lost, 1ULL);
	KUNIT_EXPECT_EQ(test, stats.completed, 0ULL);
	gate_open(&rig->gate);
	expect_well(rig, 1, 1);
}

static void gate_then_die(void *data)
{
	gate_task(data);
	write_null();
}

/* Tasks that are about to die do not keep anyone waiting. */
static void everyone_who_waits_is_told(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 2 });

	announce_death("gate_then_die");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_then_die, &rig->gate),
			0);
	rig_async(rig, do_flush, FOREVER, NULL);
	rig_async(rig, do_drain, FOREVER, NULL);
	expect_blocked(test, &rig->calls[0]);
	expect_blocked(test, &rig->calls[1]);
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	expect_well(rig, 1, 1);
}

static void closed_pool_drains(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });

	announce_death("gate_then_die");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_then_die, &rig->gate),
			0);
	rig_async(rig, do_release_timeout, FOREVER, NULL);
	EXPECT_SOON(test, ants_is_released(rig->pool));
	gate_open(&rig->gate);
	expect_results(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&told.nr), 1);
	KUNIT_EXPECT_EQ(test, ants_reboot(rig->pool), 0);
	expect_well(rig, 1, 1);
}

static void shrinking_pool_counts_the_dead(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 3 });
	struct gate *gate = test_gate(test);

	announce_death("gate_then_die");
	fill_pool(test, rig->pool, &rig->gate, 2);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, gate_then_die, gate), 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	KUNIT_EXPECT_EQ(test, ants_tune(rig->pool, 1), 0);
	gate_open(gate);
	expect_told(rig, 1, gate_then_die, gate);
	EXPECT_SOON(test, ants_nr_running(rig->pool) == 2);
	gate_open(&rig->gate);
	expect_well(rig, 1, 1);
}

/* Destroy waits until the client was told. */
static void hear_at_gate(struct ants_pool *pool, ants_fn_t fn, void *data)
{
	gate_task(ants_pool_private(pool));
	hear(pool, fn, data);
}

static void destroy_waits_for_the_client(struct kunit *test)
{
	struct gate *gate = test_gate(test);
	struct ants_attrs attrs = { .capacity = 1, .fault = hear_at_gate,
				    .private = gate };
	struct ants_pool *pool = ants_pool_create(&attrs, NAME);
	struct async_call *call;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
	memset(&told, 0, sizeof(told));
	announce_death("null_task");
	KUNIT_ASSERT_EQ(test, ants_submit(pool, null_task, NULL), 0);
	EXPECT_SOON(test, atomic_read(&gate->entered) == 1);
	/* The place of the task is free by then. */
	KUNIT_EXPECT_EQ(test, ants_submit_timeout(pool, count_task, &gate->passed,
						  TEST_DEADLINE), 0);
	call = async_start_on(test, do_destroy, pool, 0);
	expect_blocked(test, call);
	gate_open(gate);
	expect_result(test, call, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&told.nr), 1);
}

/* Nobody has to be told. */
static void client_need_not_listen(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	announce_death("null_task");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, null_task, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).faults, 1ULL);
}

static void administrator_sees_it(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct ants_pool *pool = rig->pool;

	KUNIT_EXPECT_STREQ(test, show(test, pool, "last_fault"), "none\n");
	announce_death("bug_task");
	KUNIT_ASSERT_EQ(test, ants_submit(pool, bug_task, NULL), 0);
	expect_told(rig, 1, bug_task, NULL);
	KUNIT_EXPECT_STREQ(test, show(test, pool, "faults"), "1\n");
	KUNIT_EXPECT_STREQ(test, show(test, pool, "lost"), "1\n");
	KUNIT_EXPECT_STREQ(test, show(test, pool, "last_fault"),
			   "bug_task" IN_SUITE "\n");
	EXPECT_SOON(test, READ_ONCE(pool->notice.faults) == 1);
}

/* As if its function were in no module and not in the kernel. */
static void nameless_task(void *data)
{
	struct ants_pool *pool = data;
	struct ants_worker *w = list_first_entry(&pool->workers.list,
						 struct ants_worker, member);

	w->fn = (ants_fn_t)(void *)pool;
	end_thread();
}

/* As many digits as an address has. */
static bool has_address(const char *text)
{
	unsigned int run = 0;

	for (; *text; text++) {
		run = isxdigit(*text) ? run + 1 : 0;
		if (run == 2 * sizeof(long) || strstarts(text, "0x"))
			return true;
	}
	return false;
}

/* Everybody may read these files. */
static void expect_no_address(struct kunit *test, struct ants_pool *pool)
{
	const struct attribute_group **group = ants_pool_groups;
	struct attribute **attr;
	const char *text;

	for (; *group; group++) {
		for (attr = (*group)->attrs; *attr; attr++) {
			if (!(*group)->is_visible(&pool->kobj, *attr, 0))
				continue;
			text = show(test, pool, (*attr)->name);
			KUNIT_EXPECT_FALSE_MSG(test, has_address(text), "%s: %s",
					       (*attr)->name, text);
		}
	}
}

static void function_without_a_name_shows_no_address(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){ .capacity = 1 });
	struct ants_pool *pool = rig->pool;

	announce_death("0x");
	KUNIT_ASSERT_EQ(test, ants_submit(pool, nameless_task, pool), 0);
	expect_told(rig, 1, (ants_fn_t)(void *)pool, pool);
	KUNIT_EXPECT_STREQ(test, show(test, pool, "last_fault"), "unknown\n");
	expect_no_address(test, pool);
}

static void die_in_callback(struct ants_pool *pool)
{
	announce("BUG: sleeping function called from invalid context");
	announce("WARNING: .* __might_sleep");
	write_null();
}

/* Between two tasks, when the thread is about to park. */
static void callback_for_room_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 1, .flags = ANTS_NONBLOCKING,
			.space_available = die_in_callback });

	/* The kernel says it once a second at most. */
	msleep(1100);
	fill_pool(test, rig->pool, &rig->gate, 1);
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			-EAGAIN);
	announce_death("die_in_callback");
	gate_open(&rig->gate);
	expect_told(rig, 1, NULL, NULL);
	expect_well(rig, 1, 0);
}

/* A thread that comes back from its sleep in the pool, and ends. */
static struct task_struct *victim;

static int end_victim(struct kprobe *probe, struct pt_regs *regs)
{
	if (current != victim)
		return 0;
	instruction_pointer_set(regs, (unsigned long)end_thread);
	return 1;
}

/* With this the kernel does not turn the probe into a jump, which could not go there. */
static void no_jump(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe after_sleep = {
	.symbol_name = "ants_pause",
	.pre_handler = end_victim,
	.post_handler = no_jump,
};

static void ignore_room(struct ants_pool *pool)
{
}

/* No function of a client is to blame: none ran. */
static void parked_thread_dies(struct kunit *test)
{
	struct rig *rig = fault_rig(test, (struct ants_attrs){
			.capacity = 1, .space_available = ignore_room });

	park(rig, 0, 1);
	victim = rig->posts[0].thread;
	KUNIT_ASSERT_EQ(test, register_kprobe(&after_sleep), 0);
	announce_death("ants_worker_fn");
	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	expect_told(rig, 1, NULL, NULL);
	EXPECT_SOON(test, atomic_read(&rig->count) == 1);
	unregister_kprobe(&after_sleep);
	KUNIT_EXPECT_NOT_NULL(test, strstr(show(test, rig->pool, "last_fault"),
					   "ants_worker_fn"));
	expect_well(rig, 1, 0);
}

#define NR_WORKS	(ANTS_MAX_FAULTS + 1)

static struct ants_wq_work works[NR_WORKS + 1];
static atomic_t nr_worked;

static void die_work(struct ants_wq_work *work)
{
	end_thread();
}

static void count_work(struct ants_wq_work *work)
{
	atomic_inc(&nr_worked);
}

/* As after an oops in a workqueue the other items go on, however many have died. */
static void items_of_a_workqueue_die(struct kunit *test)
{
	struct ants_pool *wq = ants_wq_alloc(WQ_UNBOUND, 2, NAME);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, wq);
	atomic_set(&nr_worked, 0);
	for (i = 0; i < NR_WORKS; i++) {
		ants_wq_init(&works[i], die_work);
		announce_death("ants_wq_run");
		KUNIT_EXPECT_TRUE(test, ants_wq_queue(wq, &works[i], 0));
		EXPECT_SOON(test, stats_of(wq).faults == i + 1 && settled(wq));
	}
	/* It counts as one that runs, wherever the stack of its thread is. */
	for (i = 0; i < NR_WORKS; i++)
		KUNIT_EXPECT_EQ(test, ants_wq_busy(&works[i]),
				(unsigned int)WORK_BUSY_RUNNING);
	ants_wq_init(&works[i], count_work);
	KUNIT_EXPECT_TRUE(test, ants_wq_queue(wq, &works[i], 0));
	KUNIT_EXPECT_TRUE(test, ants_wq_flush(&works[i], false) ||
			  atomic_read(&nr_worked));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_worked), 1);
	ants_wq_destroy(wq);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(task_ends_its_thread),
	KUNIT_CASE(task_writes_to_null),
	KUNIT_CASE(task_has_a_bug),
	KUNIT_CASE(time_of_a_task_that_dies_ends),
	KUNIT_CASE(task_holds_a_spinlock),
	KUNIT_CASE(task_holds_a_mutex),
	KUNIT_CASE(task_has_interrupts_off),
	KUNIT_CASE(task_is_a_reader),
	KUNIT_CASE(task_cannot_be_preempted),
	KUNIT_CASE(waiters_are_served),
	KUNIT_CASE(all_threads_die),
	KUNIT_CASE(many_die),
	KUNIT_CASE(numbers_stay_true),
	KUNIT_CASE(everyone_who_waits_is_told),
	KUNIT_CASE(closed_pool_drains),
	KUNIT_CASE(reclaim_pool_gets_another_thread),
	KUNIT_CASE(shrinking_pool_counts_the_dead),
	KUNIT_CASE(destroy_waits_for_the_client),
	KUNIT_CASE(client_need_not_listen),
	KUNIT_CASE(administrator_sees_it),
	KUNIT_CASE(function_without_a_name_shows_no_address),
	KUNIT_CASE(callback_for_room_dies),
	KUNIT_CASE(parked_thread_dies),
	KUNIT_CASE(items_of_a_workqueue_die),
	{}
};

static int fault_init(struct kunit *test)
{
	need_module(test);
	return 0;
}

static struct kunit_suite fault_suite = {
	.name = "ants_fault",
	.init = fault_init,
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that die");
MODULE_LICENSE("GPL");
