// SPDX-License-Identifier: GPL-2.0-only
/* Threads, their sleep, and kthreads. */
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "shim.h"

__thread struct task_struct *shim_self;

static LIST_HEAD(tasks);
static DEFINE_RAW_SPINLOCK(tasks_lock);
/* Threads that have died, whose task_struct is never freed in the kernel. */
static struct task_struct *kept;
static unsigned int nr_tasks;
/* Including threads that have ended and are not freed. */
static unsigned int nr_live;
static int last_pid;

static void task_list(struct task_struct *task)
{
	shim_lock(&tasks_lock.lock);
	task->pid = ++last_pid;
	task->cpu = task->pid % nr_cpu_ids;
	list_add_tail(&task->all, &tasks);
	nr_tasks++;
	shim_unlock(&tasks_lock.lock);
}

static void task_unlist(struct task_struct *task)
{
	shim_lock(&tasks_lock.lock);
	list_del(&task->all);
	nr_tasks--;
	shim_unlock(&tasks_lock.lock);
}

bool shim_has_task(const char *name)
{
	const struct task_struct *task;
	bool found = false;

	shim_lock(&tasks_lock.lock);
	list_for_each_entry(task, &tasks, all)
		found |= !strcmp(task->comm, name);
	shim_unlock(&tasks_lock.lock);
	return found;
}

static struct pid *pid_alloc(void)
{
	struct pid *pid = shim_alloc(sizeof(*pid));

	init_waitqueue_head(&pid->wait_pidfd);
	refcount_set(&pid->users, 1);
	return pid;
}

void put_pid(struct pid *pid)
{
	if (refcount_dec_and_test(&pid->users))
		kfree(pid);
}

struct task_struct *shim_task_alloc(int (*fn)(void *data), void *data,
				    unsigned int flags, const char *name)
{
	struct task_struct *task = shim_alloc(sizeof(*task));

	strscpy(task->comm, name, sizeof(task->comm));
	task->flags = flags;
	task->fn = fn;
	task->data = data;
	task->parent = shim_self;
	task->__state = TASK_NEW;
	init_completion(&task->exited);
	task->thread_pid = pid_alloc();
	refcount_set(&task->users, 1);
	__atomic_fetch_add(&nr_live, 1, __ATOMIC_RELAXED);
	task_list(task);
	return task;
}

void put_task_struct(struct task_struct *task)
{
	if (!refcount_dec_and_test(&task->users))
		return;
	shim_thread_free(task);
	put_pid(task->thread_pid);
	kfree(task);
	__atomic_fetch_sub(&nr_live, 1, __ATOMIC_RELEASE);
}

void kmemleak_not_leak(const void *dead)
{
	struct task_struct *task = (struct task_struct *)dead;

	shim_lock(&tasks_lock.lock);
	task->next_kept = kept;
	kept = task;
	shim_unlock(&tasks_lock.lock);
}

static void put_kept(void)
{
	struct task_struct *task;

	while (kept) {
		task = kept;
		kept = task->next_kept;
		put_task_struct(task);
	}
}

/*
 * Waking a task that may have ended needs an RCU section, or a reference. As in
 * the kernel a thread can be joined before its pid says that it has ended.
 */
static void task_end(struct task_struct *task)
{
	might_sleep();
	task_unlist(task);
	complete(&task->exited);
	wake_up_all(&task->thread_pid->wait_pidfd);
	synchronize_rcu();
	put_task_struct(task);
}

void shim_task_main(struct task_struct *task)
{
	shim_self = task;
	shim_park();
	if (!kthread_should_stop())
		task->fn(task->data);
	task_end(task);
}

void kthread_exit(long result)
{
	/* A thread that dies does not stay a reader. */
	while (current->rcu & SHIM_RCU_NEST)
		rcu_read_unlock();
	task_end(current);
	shim_thread_exit();
}

void kthread_complete_and_exit(struct completion *done, long result)
{
	complete(done);
	kthread_exit(result);
}

void set_current_state(unsigned int state)
{
	shim_soft_point();
	__atomic_store_n(&current->__state, state, __ATOMIC_SEQ_CST);
	shim_wrote(&current->__state);
}

void might_sleep(void)
{
	WARN(current->irqs_off, "sleeps with interrupts off");
	WARN(current->rcu & SHIM_RCU_NEST, "sleeps in an atomic section");
}

void (*shim_on_resched)(void);

void cond_resched(void)
{
	might_sleep();
	if (!test_thread_flag(TIF_NEED_RESCHED))
		return;
	current->thread_info.flags = 0;
	if (shim_on_resched)
		shim_on_resched();
	shim_yield();
}

void schedule(void)
{
	might_sleep();
	current->thread_info.flags = 0;
	shim_soft_point();
	shim_park();
}

struct sleeper {
	struct timer_list timer;
	struct task_struct *task;
};

static void wake_sleeper(struct timer_list *timer)
{
	wake_up_process(container_of(timer, struct sleeper, timer)->task);
}

long schedule_timeout(long timeout)
{
	struct sleeper sleeper = { .task = current };
	unsigned long end = jiffies + timeout;
	long left;

	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		schedule();
		return timeout;
	}
	timer_setup_on_stack(&sleeper.timer, wake_sleeper, 0);
	mod_timer(&sleeper.timer, end);
	schedule();
	timer_delete_sync(&sleeper.timer);
	left = end - jiffies;
	return max(left, 0L);
}

int wake_up_process(struct task_struct *task)
{
	shim_point();
	WARN(refcount_read(&task->users) <= 0, "a thread that is gone is woken");
	return shim_unpark(task);
}

struct task_struct *kthread_create_on_node(int (*fn)(void *data), void *data,
					   int node, const char *fmt, ...)
{
	char name[TASK_COMM_LEN];
	struct task_struct *task;
	va_list args;

	might_sleep();
	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	task = shim_task_alloc(fn, data, PF_KTHREAD, name);
	shim_thread_make(task);
	return task;
}

int kthread_stop(struct task_struct *task)
{
	get_task_struct(task);
	WRITE_ONCE(task->should_stop, true);
	wake_up_process(task);
	wait_for_completion(&task->exited);
	put_task_struct(task);
	return 0;
}

struct task_struct *shim_run(int (*fn)(void *data), void *data,
			     const char *name)
{
	struct task_struct *task = shim_task_alloc(fn, data, 0, name);

	get_task_struct(task);
	shim_thread_make(task);
	wake_up_process(task);
	return task;
}

void shim_join(struct task_struct *task)
{
	wait_for_completion(&task->exited);
	put_task_struct(task);
}

/* Send a fatal signal. */
void shim_kill(struct task_struct *task)
{
	WRITE_ONCE(task->killed, true);
	if (READ_ONCE(task->__state) & TASK_WAKEKILL)
		wake_up_process(task);
}

void shim_tasks_begin(void)
{
	last_pid = 0;
	shim_self = shim_task_alloc(NULL, NULL, 0, "main");
	shim_self->__state = TASK_RUNNING;
	shim_thread_make(shim_self);
}

static bool all_gone(void *unused)
{
	return __atomic_load_n(&nr_live, __ATOMIC_ACQUIRE) == 1;
}

void shim_tasks_end(void)
{
	put_kept();
	shim_wait_until(all_gone, NULL);
	task_unlist(shim_self);
}

/* --- RCU ------------------------------------------------------------------------ */

void shim_rcu_enter(void)
{
	u64 word = current->rcu + 1;

	if ((word & SHIM_RCU_NEST) == 1)
		__atomic_store_n(&current->rcu, word, __ATOMIC_SEQ_CST);
	else
		WRITE_ONCE(current->rcu, word);
}

void shim_rcu_leave(void)
{
	u64 word = current->rcu;

	WARN(!(word & SHIM_RCU_NEST), "a section is left that was not entered");
	word--;
	if (!(word & SHIM_RCU_NEST))
		word += SHIM_RCU_NEST + 1;
	__atomic_store_n(&current->rcu, word, __ATOMIC_RELEASE);
}

void rcu_read_lock(void)
{
	shim_rcu_enter();
}

void rcu_read_unlock(void)
{
	shim_rcu_leave();
	shim_point();
}

/* Grace periods are not numbered: as far as is known here, none has passed. */
unsigned long get_state_synchronize_rcu(void)
{
	return 1;
}

void cond_synchronize_rcu(unsigned long state)
{
	synchronize_rcu();
}

bool rcu_read_lock_held(void)
{
	return current->rcu & SHIM_RCU_NEST;
}

/* A reader that existed when the grace period began. */
struct reader {
	struct task_struct *task;
	u64 word;
};

static bool reader_left(void *arg)
{
	struct reader *r = arg;
	u64 now = __atomic_load_n(&r->task->rcu, __ATOMIC_SEQ_CST);

	return !(now & SHIM_RCU_NEST) || now >> 32 != r->word >> 32;
}

/*
 * Not a point of explore.c, because conditions walk the list, whose lock is
 * held.
 */
static void hold_listed(struct task_struct *task)
{
	shim_wrote(&task->users);
	__atomic_fetch_add(&task->users.refs.counter, 1, __ATOMIC_RELAXED);
}

/* A task that was made since, or is about to end, is not a reader. */
static unsigned int find_readers(struct reader **readers)
{
	struct task_struct *task;
	unsigned int nr = 0;

	shim_lock(&tasks_lock.lock);
	*readers = malloc((nr_tasks + 1) * sizeof(**readers));
	list_for_each_entry(task, &tasks, all) {
		struct reader r = {
			task, __atomic_load_n(&task->rcu, __ATOMIC_SEQ_CST)
		};

		shim_saw(r.word);
		if (task == current || !(r.word & SHIM_RCU_NEST))
			continue;
		hold_listed(task);
		(*readers)[nr++] = r;
	}
	shim_unlock(&tasks_lock.lock);
	return nr;
}

void synchronize_rcu(void)
{
	struct reader *readers;
	unsigned int i, nr;

	might_sleep();
	shim_point();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	nr = find_readers(&readers);
	for (i = 0; i < nr; i++) {
		shim_wait_until(reader_left, &readers[i]);
		put_task_struct(readers[i].task);
	}
	free(readers);
}
