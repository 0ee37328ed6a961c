/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads. A wake-up between set_current_state() and schedule() is not lost: it
 * sets the state to running, and schedule() returns at once.
 */
#ifndef _SHIM_SCHED_H
#define _SHIM_SCHED_H

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/refcount.h>
#include <linux/types.h>

#define TASK_RUNNING		0x0000
#define TASK_INTERRUPTIBLE	0x0001
#define TASK_UNINTERRUPTIBLE	0x0002
#define TASK_WAKEKILL		0x0100
#define TASK_NOLOAD		0x0400
#define TASK_NEW		0x0800
#define TASK_FREEZABLE		0x2000
#define TASK_FREEZABLE_UNSAFE	0x4000
#define TASK_KILLABLE		(TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_IDLE		(TASK_UNINTERRUPTIBLE | TASK_NOLOAD)

#define PF_WQ_WORKER		0x00000020
#define PF_MEMALLOC		0x00000800
#define PF_MEMALLOC_NOFS	0x00040000
#define PF_MEMALLOC_NOIO	0x00080000
#define PF_LOCAL_THROTTLE	0x00100000
#define PF_KTHREAD		0x00200000
#define PF_MEMALLOC_PIN		0x10000000

#define TASK_COMM_LEN		16
#define MIN_NICE		(-20)
#define MAX_NICE		19
#define SCHED_NORMAL		0
#ifndef SCHED_FIFO
#define SCHED_FIFO		1
#endif
#define SCHED_BATCH		3

#define MAX_SCHEDULE_TIMEOUT	LONG_MAX

struct pid;
struct shim_thread;

/* What is wanted of a thread; nobody but itself asks. */
struct thread_info {
	unsigned long flags;
};

/**
 * struct task_struct - a thread
 * @thread_info: see above
 * @flags: PF_*
 * @pid: numbers from 1 on
 * @comm: its name
 * @__state: TASK_*
 * @cpu: the CPU on which it claims to run
 * @irqs_off: it has turned interrupts off
 * @softirq: it stands for a softirq: the timers
 * @policy: SCHED_*
 * @rcu: in the lower half the number of nested sections that may not sleep, in
 *	the upper half how often it left the outermost one
 * @mm: NULL
 * @plug: NULL, unless a task leaves it
 * @journal_info: likewise
 * @pagefault_disabled: how often it has switched page faults off
 * @killed: it has a fatal signal
 * @should_stop: kthread_stop() was called
 * @fn: the function that it runs
 * @data: the argument of @fn
 * @parent: the task that made it, or NULL; may be freed
 * @lags: see explore_lag()
 * @exited: it has ended
 * @thread_pid: its identity
 * @users: references; one is its own, until a grace period after its end
 * @all: in the list of all tasks
 * @thread: runs the task: native.c, explore.c
 */
struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	int pid;
	char comm[TASK_COMM_LEN];
	unsigned int __state;
	unsigned int cpu;
	bool irqs_off;
	bool softirq;
	unsigned int policy;
	u64 rcu;
	void *mm;
	void *plug;
	void *journal_info;
	int pagefault_disabled;
	bool killed;
	bool should_stop;
	int (*fn)(void *data);
	void *data;
	struct task_struct *parent;
	bool lags;
	struct completion exited;
	struct pid *thread_pid;
	refcount_t users;
	struct list_head all;
	struct task_struct *next_kept;
	struct shim_thread *thread;
};

extern __thread struct task_struct *shim_self;
#define current			shim_self

void set_current_state(unsigned int state);
#define __set_current_state(to)	WRITE_ONCE(current->__state, to)

void schedule(void);
long schedule_timeout(long timeout);
int wake_up_process(struct task_struct *task);
void might_sleep(void);
#define __might_sleep(file, line)	might_sleep()

static inline struct task_struct *get_task_struct(struct task_struct *task)
{
	refcount_inc(&task->users);
	return task;
}

void put_task_struct(struct task_struct *task);

static inline bool signal_pending_state(unsigned int state,
					struct task_struct *task)
{
	return state & (TASK_INTERRUPTIBLE | TASK_WAKEKILL) &&
	       READ_ONCE(task->killed);
}

static inline int task_pid_nr(const struct task_struct *task)
{
	return task->pid;
}

static inline unsigned int task_cpu(const struct task_struct *task)
{
	return task->cpu;
}

#define task_is_running(task)	(READ_ONCE((task)->__state) == TASK_RUNNING)
#define raw_smp_processor_id()	(current->cpu)
#define signal_pending(task)	READ_ONCE((task)->killed)
#define fatal_signal_pending(task)	signal_pending(task)
#define in_task()		(!current->softirq)

#define TIF_SIGPENDING		2
#define TIF_NEED_RESCHED	3

#define current_thread_info()	(&current->thread_info)
#define test_thread_flag(flag)	(current->thread_info.flags >> (flag) & 1)
#define set_tsk_need_resched(task)	\
	((task)->thread_info.flags |= BIT(TIF_NEED_RESCHED))

/* What a scenario does when a thread yields that was asked to. */
extern void (*shim_on_resched)(void);
void cond_resched(void);

#define cpu_relax()		shim_yield()
/* Nothing spins for long: only what others do then is of interest. */
#define need_resched()		true

void shim_yield(void);

struct sched_attr {
	u32 size;
	u32 sched_policy;
	s32 sched_nice;
};

static inline int sched_setattr_nocheck(struct task_struct *task,
					const struct sched_attr *attr)
{
	WRITE_ONCE(task->policy, attr->sched_policy);
	return 0;
}

static inline int task_nice(const struct task_struct *task)
{
	return 0;
}

static inline void set_user_nice(struct task_struct *task, long nice)
{
}

static inline void sched_set_fifo(struct task_struct *task)
{
	WRITE_ONCE(task->policy, SCHED_FIFO);
}

static inline void sched_set_fifo_low(struct task_struct *task)
{
	WRITE_ONCE(task->policy, SCHED_FIFO);
}

static inline void sched_set_normal(struct task_struct *task, int nice)
{
	WRITE_ONCE(task->policy, SCHED_NORMAL);
}

static inline int set_cpus_allowed_ptr(struct task_struct *task,
				       const struct cpumask *mask)
{
	return cpumask_intersects(mask, cpu_online_mask) ? 0 : -EINVAL;
}

#endif
