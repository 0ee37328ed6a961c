/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shim: what kernel/ needs of a kernel, in an ordinary program. shim_*.c
 * build on functions of one of two files: native.c, where each thread is one of
 * the system's, or explore.c, which runs one thread at a time and chooses it.
 */
#ifndef _SHIM_H
#define _SHIM_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/timer.h>

/* native.c or explore.c */

void shim_thread_make(struct task_struct *task);
void shim_thread_free(struct task_struct *task);
/* Leave the stack of the calling thread, whose task has ended. */
void __noreturn shim_thread_exit(void);
/* Sleep until the state is TASK_RUNNING, which shim_unpark() sets. */
void shim_park(void);
bool shim_unpark(struct task_struct *task);
/* Wait for a condition without a wake-up. */
void shim_wait_until(bool (*met)(void *arg), void *arg);
/* Sleep until a timer is due, or shim_timer_kick(). */
void shim_timer_rest(void);
void shim_timer_kick(void);

/* shim_task.c */

void shim_task_main(struct task_struct *task);
struct task_struct *shim_task_alloc(int (*fn)(void *data), void *data,
				    unsigned int flags, const char *name);
/* True if a thread of this name has not ended. */
bool shim_has_task(const char *name);
/* Start a thread that is not one of the kernel's; it is joined once. */
struct task_struct *shim_run(int (*fn)(void *data), void *data,
			     const char *name);
void shim_join(struct task_struct *task);
void shim_kill(struct task_struct *task);
/* The calling thread becomes a task, and is the last one. */
void shim_tasks_begin(void);
void shim_tasks_end(void);

/* shim_rcu.c */
#define SHIM_RCU_NEST	0xffffffffULL
void shim_rcu_enter(void);
void shim_rcu_leave(void);

/* shim_timer.c */
void shim_timers_begin(void);
void shim_timers_end(void);
bool shim_timer_next(unsigned long *when);
bool shim_timers_stopping(void);

/* shim_misc.c */
long shim_nr_allocated(void);
/* For programs that print what led to the failure. */
extern void (*shim_on_fail)(void);
extern bool shim_verbose;

/* core.c: the module, without its files in sysfs */
/* Tasks may leave their thread in another state than they found it. */
extern bool shim_dirt_expected;
void core_begin(void);
void core_end(void);

#endif
