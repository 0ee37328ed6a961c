// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers, in a list by the time when they are due, and the thread that runs
 * them.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/spinlock.h>

#include "shim.h"

static LIST_HEAD(timers);
static DEFINE_RAW_SPINLOCK(timers_lock);
/* The timer whose function runs; it may be freed. */
static struct timer_list *running;
static struct task_struct *softirq;

static void unlink_timer(struct timer_list *timer)
{
	list_del(&timer->node);
	WRITE_ONCE(timer->pending, false);
}

/*
 * Link the timer behind those that are due at the same time. Returns true if it
 * is the first.
 */
static bool link_timer(struct timer_list *timer)
{
	struct timer_list *other;

	list_for_each_entry_reverse(other, &timers, node)
		if (!time_before(timer->expires, other->expires))
			break;
	list_add(&timer->node, &other->node);
	WRITE_ONCE(timer->pending, true);
	return timers.next == &timer->node;
}

int mod_timer(struct timer_list *timer, unsigned long when)
{
	bool first = false;
	int was;

	shim_lock(&timers_lock.lock);
	was = timer->pending;
	if (was)
		unlink_timer(timer);
	timer->expires = when;
	first = link_timer(timer);
	shim_unlock(&timers_lock.lock);
	if (first)
		shim_timer_kick();
	return was;
}

int timer_delete(struct timer_list *timer)
{
	int was;

	shim_lock(&timers_lock.lock);
	was = timer->pending;
	if (was)
		unlink_timer(timer);
	shim_unlock(&timers_lock.lock);
	return was;
}

static bool not_running(void *timer)
{
	return __atomic_load_n(&running, __ATOMIC_ACQUIRE) != timer;
}

int timer_delete_sync(struct timer_list *timer)
{
	int was = 0;

	might_sleep();
	/* Its function may arm it again. */
	do {
		was |= timer_delete(timer);
		shim_wait_until(not_running, timer);
	} while (timer_pending(timer));
	return was;
}

bool shim_timer_next(unsigned long *when)
{
	bool any;

	shim_lock(&timers_lock.lock);
	any = !list_empty(&timers);
	if (any)
		*when = list_first_entry(&timers, struct timer_list,
					 node)->expires;
	shim_unlock(&timers_lock.lock);
	return any;
}

static struct timer_list *take_due(void)
{
	struct timer_list *timer;

	shim_lock(&timers_lock.lock);
	timer = list_first_entry_or_null(&timers, struct timer_list, node);
	if (timer && time_before(jiffies, timer->expires))
		timer = NULL;
	if (timer)
		unlink_timer(timer);
	__atomic_store_n(&running, timer, __ATOMIC_RELEASE);
	shim_unlock(&timers_lock.lock);
	return timer;
}

static int softirq_fn(void *unused)
{
	struct timer_list *timer;

	current->softirq = true;
	while (!kthread_should_stop()) {
		shim_rcu_enter();
		timer = take_due();
		if (timer)
			timer->function(timer);
		shim_rcu_leave();
		if (!timer) {
			shim_timer_rest();
			continue;
		}
		__atomic_store_n(&running, NULL, __ATOMIC_RELEASE);
	}
	return 0;
}

void shim_timers_begin(void)
{
	softirq = kthread_create_on_node(softirq_fn, NULL, NUMA_NO_NODE,
					 "softirq");
	get_task_struct(softirq);
	wake_up_process(softirq);
}

bool shim_timers_stopping(void)
{
	return softirq && READ_ONCE(softirq->should_stop);
}

void shim_timers_end(void)
{
	WRITE_ONCE(softirq->should_stop, true);
	shim_timer_kick();
	kthread_stop(softirq);
	put_task_struct(softirq);
	softirq = NULL;
	WARN(!list_empty(&timers), "a timer is left");
}

void msleep(unsigned int ms)
{
	unsigned long left = msecs_to_jiffies(ms) + 1;

	while (left) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		left = schedule_timeout(left);
	}
}
