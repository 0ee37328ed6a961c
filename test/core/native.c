// SPDX-License-Identifier: GPL-2.0-only
/* Threads are the system's, and so is the time. */
#include <linux/spinlock.h>

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

#define STACK_SIZE	(512 * 1024)

struct shim_thread {
	pthread_mutex_t mutex;
	pthread_cond_t wake;
};

static void *thread_main(void *task)
{
	shim_task_main(task);
	return NULL;
}

static void thread_start(struct task_struct *task)
{
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id, &attr, thread_main, task))
		shim_fail("no thread to be had");
	pthread_attr_destroy(&attr);
}

void shim_thread_make(struct task_struct *task)
{
	struct shim_thread *thread = calloc(1, sizeof(*thread));

	pthread_mutex_init(&thread->mutex, NULL);
	pthread_cond_init(&thread->wake, NULL);
	task->thread = thread;
	if (task->fn)
		thread_start(task);
}

void shim_thread_free(struct task_struct *task)
{
	pthread_cond_destroy(&task->thread->wake);
	pthread_mutex_destroy(&task->thread->mutex);
	free(task->thread);
}

void shim_thread_exit(void)
{
	pthread_exit(NULL);
}

void shim_park(void)
{
	struct shim_thread *thread = current->thread;

	if (__atomic_load_n(&current->__state, __ATOMIC_SEQ_CST) == TASK_RUNNING)
		return;
	pthread_mutex_lock(&thread->mutex);
	while (__atomic_load_n(&current->__state, __ATOMIC_SEQ_CST))
		pthread_cond_wait(&thread->wake, &thread->mutex);
	pthread_mutex_unlock(&thread->mutex);
}

/*
 * A thread that sets its state later, and then looks, sees everything before
 * the wake-up: the exchange is fully ordered even if the thread runs.
 */
bool shim_unpark(struct task_struct *task)
{
	struct shim_thread *thread = task->thread;
	bool slept;

	pthread_mutex_lock(&thread->mutex);
	slept = __atomic_exchange_n(&task->__state, TASK_RUNNING,
				    __ATOMIC_SEQ_CST) != TASK_RUNNING;
	if (slept)
		pthread_cond_signal(&thread->wake);
	pthread_mutex_unlock(&thread->mutex);
	return slept;
}

void shim_yield(void)
{
	sched_yield();
}

void shim_wait_until(bool (*met)(void *arg), void *arg)
{
	unsigned int tries;

	for (tries = 0; !met(arg); tries++) {
		if (tries < 20)
			sched_yield();
		else
			usleep(100);
	}
}

/* --- locks ---------------------------------------------------------------------- */

void shim_lock_init(struct shim_lock *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
	lock->owner = NULL;
}

void shim_lock(struct shim_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	WRITE_ONCE(lock->owner, current);
}

void shim_unlock(struct shim_lock *lock)
{
	WARN(lock->owner != current, "another thread's lock is dropped");
	WRITE_ONCE(lock->owner, NULL);
	pthread_mutex_unlock(&lock->mutex);
}

bool shim_lock_held(const struct shim_lock *l)
{
	return READ_ONCE(l->owner) == current;
}

/* --- time ----------------------------------------------------------------------- */

static pthread_mutex_t nap_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nap_over = PTHREAD_COND_INITIALIZER;
static bool kicked;

unsigned long shim_jiffies(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * HZ + now.tv_nsec / (1000000000 / HZ);
}

void shim_timer_kick(void)
{
	pthread_mutex_lock(&nap_mutex);
	kicked = true;
	pthread_cond_signal(&nap_over);
	pthread_mutex_unlock(&nap_mutex);
}

void shim_timer_rest(void)
{
	unsigned long when = jiffies + 60 * HZ;
	struct timespec end;
	int err = 0;

	shim_timer_next(&when);
	end.tv_sec = when / HZ;
	end.tv_nsec = when % HZ * (1000000000 / HZ);
	pthread_mutex_lock(&nap_mutex);
	while (!kicked && !err)
		err = pthread_cond_timedwait(&nap_over, &nap_mutex, &end);
	kicked = false;
	pthread_mutex_unlock(&nap_mutex);
}
