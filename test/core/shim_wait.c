// SPDX-License-Identifier: GPL-2.0-only
/* Wait queues, completions and mutexes. */
#include <linux/mutex.h>
#include <linux/wait.h>

#include "shim.h"

void init_waitqueue_head(wait_queue_head_t *queue)
{
	raw_spin_lock_init(&queue->lock);
	queue->lock.lock.quiet = true;
	INIT_LIST_HEAD(&queue->entries);
}

void add_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&queue->lock, flags);
	list_add(&entry->entry, &queue->entries);
	raw_spin_unlock_irqrestore(&queue->lock, flags);
}

void remove_wait_queue(wait_queue_head_t *queue,
		       struct wait_queue_entry *entry)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&queue->lock, flags);
	list_del(&entry->entry);
	raw_spin_unlock_irqrestore(&queue->lock, flags);
}

/* An entry stays in the queue, but a function may take its own out. */
void wake_up_all(wait_queue_head_t *queue)
{
	struct wait_queue_entry *entry, *next;
	unsigned long flags;

	raw_spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry_safe(entry, next, &queue->entries, entry) {
		if (entry->func)
			entry->func(entry, 0, 0, NULL);
		else
			wake_up_process(entry->task);
	}
	raw_spin_unlock_irqrestore(&queue->lock, flags);
}

void init_completion(struct completion *x)
{
	raw_spin_lock_init(&x->lock);
	x->lock.lock.quiet = true;
	INIT_LIST_HEAD(&x->waiters);
	x->done = 0;
}

static void complete_for(struct completion *x, unsigned int nr)
{
	struct wait_queue_entry *entry;
	unsigned long flags;

	raw_spin_lock_irqsave(&x->lock, flags);
	x->done += nr;
	while (nr-- && !list_empty(&x->waiters)) {
		entry = list_first_entry(&x->waiters, struct wait_queue_entry,
					 entry);
		list_del_init(&entry->entry);
		wake_up_process(entry->task);
	}
	raw_spin_unlock_irqrestore(&x->lock, flags);
}

void complete(struct completion *x)
{
	complete_for(x, 1);
}

void complete_all(struct completion *x)
{
	complete_for(x, UINT_MAX / 2);
}

/* Take the completion if it is done; else enroll the caller. */
static bool completion_take(struct completion *x,
			    struct wait_queue_entry *entry, bool enrol)
{
	unsigned long flags;
	bool done;

	raw_spin_lock_irqsave(&x->lock, flags);
	done = x->done;
	if (done)
		x->done--;
	else if (enrol && list_empty(&entry->entry))
		list_add_tail(&entry->entry, &x->waiters);
	if ((done || !enrol) && !list_empty(&entry->entry))
		list_del_init(&entry->entry);
	raw_spin_unlock_irqrestore(&x->lock, flags);
	return done;
}

unsigned long wait_for_completion_timeout(struct completion *x,
					  unsigned long timeout)
{
	DEFINE_WAIT(wait);
	bool done;

	might_sleep();
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		done = completion_take(x, &wait, timeout);
		if (done || !timeout)
			break;
		timeout = schedule_timeout(timeout);
	}
	__set_current_state(TASK_RUNNING);
	return done ? max(timeout, 1UL) : 0;
}

void wait_for_completion(struct completion *x)
{
	wait_for_completion_timeout(x, MAX_SCHEDULE_TIMEOUT);
}

bool try_wait_for_completion(struct completion *x)
{
	DEFINE_WAIT(wait);

	return completion_take(x, &wait, false);
}

void mutex_lock(struct mutex *mutex)
{
	might_sleep();
	shim_soft_point();
	shim_lock(&mutex->lock);
}

/*
 * A signal does not end this wait; one that comes too late would not, either.
 */
int mutex_lock_killable(struct mutex *mutex)
{
	if (READ_ONCE(current->killed))
		return -EINTR;
	mutex_lock(mutex);
	return 0;
}

void mutex_unlock(struct mutex *mutex)
{
	shim_unlock(&mutex->lock);
	shim_point();
}
