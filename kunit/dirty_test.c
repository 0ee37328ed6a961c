// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that leave their thread in another state than they found it. The next
 * task must not notice: it runs in another thread, or in one that was put in order.
 */
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>

#include "rig.h"

#define NAME	"dirty"
#define SCOPES	(PF_MEMALLOC | PF_MEMALLOC_NOFS | PF_MEMALLOC_NOIO |	\
		 PF_MEMALLOC_PIN | PF_LOCAL_THROTTLE)

/* What a task finds in its thread. */
struct found {
	int preempt;
	int rcu;
	bool irqs_off;
	bool signal;
	bool mm;
	bool rights;
	unsigned int state;
	unsigned int scopes;
	unsigned int migration;
	bool pagefault;
	bool plug;
	bool journal;
	pid_t pid;
};

static struct found found;

static void look_task(void *data)
{
	found.preempt = preempt_count();
	found.rcu = rcu_preempt_depth();
	found.irqs_off = irqs_disabled();
	found.signal = signal_pending(current);
	found.mm = current->mm;
	found.rights = current_cred() != current_real_cred();
	found.state = ants_state_of(current);
	found.scopes = current->flags & SCOPES;
	found.migration = current->migration_disabled;
	found.pagefault = pagefault_disabled();
	found.plug = current->plug;
	found.journal = current->journal_info;
	found.pid = current->pid;
	atomic_inc(data);
}

static void good_task(void *data)
{
	rcu_read_lock();
	local_bh_disable();
	local_bh_enable();
	rcu_read_unlock();
}

static void preempt_task(void *data)
{
	preempt_disable();
}

static void preempt_again_task(void *data)
{
	preempt_disable();
	preempt_disable();
}

static void bh_task(void *data)
{
	local_bh_disable();
}

static void rcu_task(void *data)
{
	rcu_read_lock();
	rcu_read_lock();
	/* For sparse: what stays is meant to. */
	__release(RCU);
	__release(RCU);
}

static void irq_task(void *data)
{
	local_irq_disable();
}

static void state_task(void *data)
{
	__set_current_state(TASK_INTERRUPTIBLE);
}

static void signal_task(void *data)
{
	allow_signal(SIGUSR1);
	send_sig(SIGUSR1, current, 1);
}

static struct mm_struct *test_mm;

static void mm_task(void *data)
{
	kthread_use_mm(test_mm);
}

static const struct cred *test_cred;

static void cred_task(void *data)
{
	override_creds(test_cred);
}

static void noio_task(void *data)
{
	memalloc_noio_save();
}

/* The same under other names: each function is reported once. */
static void replaced_task(void *data)
{
	memalloc_noio_save();
}

static void resident_task(void *data)
{
	memalloc_noreclaim_save();
}

static void leaver_task(void *data)
{
	memalloc_pin_save();
}

static void storm_task(void *data)
{
	atomic_inc(data);
	memalloc_noio_save();
}

static void forgotten_task(void *data)
{
	WRITE_ONCE(current->flags, current->flags | PF_MEMALLOC_NOIO);
}

static void nofs_task(void *data)
{
	memalloc_nofs_save();
}

static void noreclaim_task(void *data)
{
	memalloc_noreclaim_save();
}

static void pin_task(void *data)
{
	memalloc_pin_save();
}

static void throttle_task(void *data)
{
	current->flags |= PF_LOCAL_THROTTLE;
}

static void migrate_task(void *data)
{
	migrate_disable();
	migrate_disable();
}

static void pagefault_task(void *data)
{
	pagefault_disable();
}

/* As blk_start_plug() does, which is empty in a kernel without block devices. */
static void plug_task(void *data)
{
	unsigned long plug[8];

	current->plug = (void *)plug;
}

/* As a file system does when it begins a transaction. */
static void journal_task(void *data)
{
	current->journal_info = &found;
}

static void all_task(void *data)
{
	memalloc_noio_save();
	migrate_disable();
	pagefault_disable();
	rcu_read_lock();
	__release(RCU);
	local_bh_disable();
	preempt_disable();
	local_irq_disable();
}

/* A report of @function, which has left @what behind, will be in the log. */
static void announce(const char *function, const char *what)
{
	pr_info("ants-expect: ^ants: pool " NAME ": %s .* has returned with %s\n",
		function, what);
}

static void expect_clean(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, found.preempt, 0);
	KUNIT_EXPECT_EQ(test, found.rcu, 0);
	KUNIT_EXPECT_FALSE(test, found.irqs_off);
	KUNIT_EXPECT_FALSE(test, found.signal);
	KUNIT_EXPECT_FALSE(test, found.mm);
	KUNIT_EXPECT_FALSE(test, found.rights);
	KUNIT_EXPECT_EQ(test, found.state, 0U);
	KUNIT_EXPECT_EQ(test, found.scopes, 0U);
	KUNIT_EXPECT_EQ(test, found.migration, 0U);
	KUNIT_EXPECT_FALSE(test, found.pagefault);
	KUNIT_EXPECT_FALSE(test, found.plug);
	KUNIT_EXPECT_FALSE(test, found.journal);
}

/* Run @fn, and then a task that looks, and expect it to find nothing. */
static void run_and_look(struct kunit *test, struct rig *rig, ants_fn_t fn)
{
	memset(&found, 0xff, sizeof(found));
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, fn, NULL), 0);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, look_task, &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	expect_clean(test);
}

/*
 * The task leaves something behind, twice, which counts and is reported once. Each
 * time another thread comes.
 */
static void leave(struct kunit *test, ants_fn_t fn)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	u64 dirty;

	for (dirty = 1; dirty <= 2; dirty++) {
		run_and_look(test, rig, fn);
		KUNIT_EXPECT_EQ(test, stats_of(rig->pool).dirty, dirty);
		KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, dirty + 1);
	}
}

static void clean_task_is_left_alone(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, good_task, NULL), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).dirty, 0ULL);
}

static void preemption_is_off(struct kunit *test)
{
	announce("preempt_task", "preemption off");
	leave(test, preempt_task);
}

/* Another function is reported, too. */
static void preemption_is_off_twice(struct kunit *test)
{
	announce("preempt_again_task", "preemption off");
	leave(test, preempt_again_task);
}

static void softirqs_are_off(struct kunit *test)
{
	announce("bh_task", "BH disabled");
	leave(test, bh_task);
}

static void reader_goes_on(struct kunit *test)
{
	announce("rcu_task", "an RCU section open");
	leave(test, rcu_task);
}

static void interrupts_are_off(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_LOCKDEP))
		kunit_skip(test, "needs lockdep");
	announce("irq_task", "interrupts off");
	leave(test, irq_task);
}

static void sleep_was_begun(struct kunit *test)
{
	announce("state_task", "state not TASK_RUNNING");
	leave(test, state_task);
}

static void signal_is_pending(struct kunit *test)
{
	announce("signal_task", "a signal pending");
	leave(test, signal_task);
}

static void address_space_is_kept(struct kunit *test)
{
	struct task_struct *init = get_pid_task(find_vpid(1), PIDTYPE_PID);

	KUNIT_ASSERT_NOT_NULL(test, init);
	test_mm = get_task_mm(init);
	put_task_struct(init);
	KUNIT_ASSERT_NOT_NULL(test, test_mm);
	announce("mm_task", "an address space in use");
	leave(test, mm_task);
	mmput(test_mm);
}

static void rights_are_kept(struct kunit *test)
{
	test_cred = prepare_kernel_cred(&init_task);
	KUNIT_ASSERT_NOT_NULL(test, test_cred);
	announce("cred_task", "overridden credentials");
	leave(test, cred_task);
	put_cred(test_cred);
}

static void allocations_do_no_io(struct kunit *test)
{
	announce("noio_task", "a scope of allocations open");
	leave(test, noio_task);
}

static void allocations_enter_no_file_system(struct kunit *test)
{
	announce("nofs_task", "a scope of allocations open");
	leave(test, nofs_task);
}

static void allocations_use_reserves(struct kunit *test)
{
	announce("noreclaim_task", "a scope of allocations open");
	leave(test, noreclaim_task);
}

static void allocations_can_be_pinned(struct kunit *test)
{
	announce("pin_task", "a scope of allocations open");
	leave(test, pin_task);
}

static void writes_are_throttled_less(struct kunit *test)
{
	announce("throttle_task", "a scope of allocations open");
	leave(test, throttle_task);
}

static void migration_is_off(struct kunit *test)
{
	announce("migrate_task", "migration off");
	leave(test, migrate_task);
}

static void page_faults_are_off(struct kunit *test)
{
	announce("pagefault_task", "page faults off");
	leave(test, pagefault_task);
}

static void transaction_goes_on(struct kunit *test)
{
	announce("journal_task", "a transaction open");
	leave(test, journal_task);
}

static void plug_is_left(struct kunit *test)
{
	announce("plug_task", "a plug of block I/O open");
	leave(test, plug_task);
}

static void pin_here_task(void *data)
{
	migrate_disable();
}

/* The thread that a task has tied to its CPU is not in the way. */
static void threads_move_afterwards(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	unsigned int cpu;

	announce("pin_here_task", "migration off");
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, pin_here_task, NULL), 0);
	for_each_online_cpu(cpu) {
		KUNIT_ASSERT_EQ(test, ants_set_cpumask(rig->pool, cpumask_of(cpu)),
				0);
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, look_task,
						  &rig->count), 0);
		KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool,
							 TEST_DEADLINE), 0);
		expect_clean(test);
	}
}

/* The tasks behind it wait until another thread can be made. */
static void no_other_thread_can_be_made(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1, .queue_depth = 2 });

	announce("replaced_task", "a scope of allocations open");
	park(rig, 0, 1);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, replaced_task, NULL), 0);
	KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, count_task, &rig->count), 0);
	EXPECT_SOON(test, ants_peek(rig->pool->upkeep.backoff));
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, 2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).dirty, 1ULL);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	run_and_look(test, rig, good_task);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), 2);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2ULL);
}

/* The pool has promised to have one. */
static void last_thread_stays(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 1, .flags = ANTS_MEM_RECLAIM });

	announce("resident_task", "a scope of allocations open");
	park(rig, 0, 1);
	ants_fail_arm(ANTS_FAIL_THREAD, -1);
	run_and_look(test, rig, resident_task);
	KUNIT_EXPECT_EQ(test, found.pid, rig->posts[0].thread->pid);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1ULL);
}

static void *init_dirty(struct ants_pool *pool)
{
	memalloc_noio_save();
	return NULL;
}

static atomic_t nr_exits;

static void count_exit(struct ants_pool *pool, void *data)
{
	atomic_inc(&nr_exits);
}

/* It is to blame, and not the first task; the thread stays. */
static void worker_init_leaves_it(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 1, .worker_init = init_dirty });

	announce("init_dirty", "a scope of allocations open");
	run_and_look(test, rig, good_task);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 1ULL);
}

/* A thread that is replaced has its data taken back, as any that leaves. */
static void worker_exit_is_called(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 1, .worker_exit = count_exit });

	atomic_set(&nr_exits, 0);
	announce("leaver_task", "a scope of allocations open");
	run_and_look(test, rig, leaver_task);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_exits), 1);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).spawned, 2ULL);
}

#define NR_STORM	100

/* Each costs a thread, and all are run; there are never more than allowed. */
static void each_task_leaves_something(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
			.capacity = 3, .queue_depth = 20 });
	int i;

	announce("storm_task", "a scope of allocations open");
	for (i = 0; i < NR_STORM; i++)
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, storm_task,
						  &rig->count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&rig->count), NR_STORM);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).dirty, (u64)NR_STORM);
	KUNIT_EXPECT_LE(test, stats_of(rig->pool).peak_running, 3U);
	run_and_look(test, rig, good_task);
}

/* Not the same text as the others, which could be shared. */
#define ONE_OF_MANY(n)							\
static void many_##n##_task(void *data)					\
{									\
	atomic_add(n, data);						\
	memalloc_noio_save();						\
}

#define NAME_OF_ONE(n)	{ many_##n##_task, "many_" #n "_task" }

/* So many that a table of a reasonable size would be full. */
ONE_OF_MANY(10) ONE_OF_MANY(11) ONE_OF_MANY(12) ONE_OF_MANY(13) ONE_OF_MANY(14)
ONE_OF_MANY(15) ONE_OF_MANY(16) ONE_OF_MANY(17) ONE_OF_MANY(18) ONE_OF_MANY(19)
ONE_OF_MANY(20) ONE_OF_MANY(21) ONE_OF_MANY(22) ONE_OF_MANY(23) ONE_OF_MANY(24)
ONE_OF_MANY(25) ONE_OF_MANY(26) ONE_OF_MANY(27) ONE_OF_MANY(28) ONE_OF_MANY(29)
ONE_OF_MANY(30) ONE_OF_MANY(31) ONE_OF_MANY(32) ONE_OF_MANY(33) ONE_OF_MANY(34)
ONE_OF_MANY(35) ONE_OF_MANY(36) ONE_OF_MANY(37) ONE_OF_MANY(38) ONE_OF_MANY(39)
ONE_OF_MANY(40) ONE_OF_MANY(41) ONE_OF_MANY(42) ONE_OF_MANY(43) ONE_OF_MANY(44)
ONE_OF_MANY(45) ONE_OF_MANY(46) ONE_OF_MANY(47) ONE_OF_MANY(48) ONE_OF_MANY(49)
ONE_OF_MANY(50) ONE_OF_MANY(51) ONE_OF_MANY(52) ONE_OF_MANY(53) ONE_OF_MANY(54)
ONE_OF_MANY(55) ONE_OF_MANY(56) ONE_OF_MANY(57) ONE_OF_MANY(58) ONE_OF_MANY(59)
ONE_OF_MANY(60) ONE_OF_MANY(61) ONE_OF_MANY(62) ONE_OF_MANY(63) ONE_OF_MANY(64)
ONE_OF_MANY(65) ONE_OF_MANY(66) ONE_OF_MANY(67) ONE_OF_MANY(68) ONE_OF_MANY(69)
ONE_OF_MANY(70) ONE_OF_MANY(71) ONE_OF_MANY(72) ONE_OF_MANY(73) ONE_OF_MANY(74)
ONE_OF_MANY(75) ONE_OF_MANY(76) ONE_OF_MANY(77) ONE_OF_MANY(78) ONE_OF_MANY(79)

static const struct {
	ants_fn_t fn;
	const char *name;
} many[] = {
	NAME_OF_ONE(10), NAME_OF_ONE(11), NAME_OF_ONE(12), NAME_OF_ONE(13), NAME_OF_ONE(14),
	NAME_OF_ONE(15), NAME_OF_ONE(16), NAME_OF_ONE(17), NAME_OF_ONE(18), NAME_OF_ONE(19),
	NAME_OF_ONE(20), NAME_OF_ONE(21), NAME_OF_ONE(22), NAME_OF_ONE(23), NAME_OF_ONE(24),
	NAME_OF_ONE(25), NAME_OF_ONE(26), NAME_OF_ONE(27), NAME_OF_ONE(28), NAME_OF_ONE(29),
	NAME_OF_ONE(30), NAME_OF_ONE(31), NAME_OF_ONE(32), NAME_OF_ONE(33), NAME_OF_ONE(34),
	NAME_OF_ONE(35), NAME_OF_ONE(36), NAME_OF_ONE(37), NAME_OF_ONE(38), NAME_OF_ONE(39),
	NAME_OF_ONE(40), NAME_OF_ONE(41), NAME_OF_ONE(42), NAME_OF_ONE(43), NAME_OF_ONE(44),
	NAME_OF_ONE(45), NAME_OF_ONE(46), NAME_OF_ONE(47), NAME_OF_ONE(48), NAME_OF_ONE(49),
	NAME_OF_ONE(50), NAME_OF_ONE(51), NAME_OF_ONE(52), NAME_OF_ONE(53), NAME_OF_ONE(54),
	NAME_OF_ONE(55), NAME_OF_ONE(56), NAME_OF_ONE(57), NAME_OF_ONE(58), NAME_OF_ONE(59),
	NAME_OF_ONE(60), NAME_OF_ONE(61), NAME_OF_ONE(62), NAME_OF_ONE(63), NAME_OF_ONE(64),
	NAME_OF_ONE(65), NAME_OF_ONE(66), NAME_OF_ONE(67), NAME_OF_ONE(68), NAME_OF_ONE(69),
	NAME_OF_ONE(70), NAME_OF_ONE(71), NAME_OF_ONE(72), NAME_OF_ONE(73), NAME_OF_ONE(74),
	NAME_OF_ONE(75), NAME_OF_ONE(76), NAME_OF_ONE(77), NAME_OF_ONE(78), NAME_OF_ONE(79),
};

static void many_functions_are_reported(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(many); i++) {
		announce(many[i].name, "a scope of allocations open");
		KUNIT_ASSERT_EQ(test, ants_submit(rig->pool, many[i].fn,
						  &rig->count), 0);
	}
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).dirty, (u64)ARRAY_SIZE(many));
}

/* What is loaded at the same address when the module has gone is reported anew. */
static void module_is_forgotten(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });

	announce("forgotten_task", "a scope of allocations open");
	run_and_look(test, rig, forgotten_task);
	run_and_look(test, rig, forgotten_task);
	ants_dirt_forget();
	announce("forgotten_task", "a scope of allocations open");
	run_and_look(test, rig, forgotten_task);
}

static void everything_is_left(struct kunit *test)
{
	announce("all_task", "a scope of allocations open");
	announce("all_task", "migration off");
	announce("all_task", "page faults off");
	announce("all_task", "interrupts off");
	announce("all_task", "BH disabled");
	announce("all_task", "an RCU section open");
	announce("all_task", "preemption off");
	leave(test, all_task);
}

static struct kunit_case dirty_cases[] = {
	KUNIT_CASE(clean_task_is_left_alone),
	KUNIT_CASE(preemption_is_off),
	KUNIT_CASE(preemption_is_off_twice),
	KUNIT_CASE(softirqs_are_off),
	KUNIT_CASE(reader_goes_on),
	KUNIT_CASE(interrupts_are_off),
	KUNIT_CASE(sleep_was_begun),
	KUNIT_CASE(signal_is_pending),
	KUNIT_CASE(address_space_is_kept),
	KUNIT_CASE(rights_are_kept),
	KUNIT_CASE(allocations_do_no_io),
	KUNIT_CASE(allocations_enter_no_file_system),
	KUNIT_CASE(allocations_use_reserves),
	KUNIT_CASE(allocations_can_be_pinned),
	KUNIT_CASE(writes_are_throttled_less),
	KUNIT_CASE(page_faults_are_off),
	KUNIT_CASE(transaction_goes_on),
	KUNIT_CASE(everything_is_left),
	KUNIT_CASE(no_other_thread_can_be_made),
	KUNIT_CASE(last_thread_stays),
	KUNIT_CASE(worker_init_leaves_it),
	KUNIT_CASE(worker_exit_is_called),
	KUNIT_CASE(each_task_leaves_something),
	KUNIT_CASE(many_functions_are_reported),
	KUNIT_CASE(module_is_forgotten),
	KUNIT_CASE(migration_is_off),
	KUNIT_CASE(threads_move_afterwards),
	KUNIT_CASE(plug_is_left),
	{}
};

static int dirty_init(struct kunit *test)
{
	need_module(test);
	return 0;
}

static struct kunit_suite dirty_suite = {
	.name = "ants_dirty",
	.init = dirty_init,
	.test_cases = dirty_cases,
};

kunit_test_suite(dirty_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that leave something behind");
MODULE_LICENSE("GPL");
