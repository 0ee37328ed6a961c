// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cancelling pending tasks of a pool, all of them or those that the caller
 * picks. The lists are walked in several holds of the lock, with a cursor in
 * the pool, as unload.c does. There is one cursor, so the calls take turns.
 */
#include <linux/export.h>

#include "internal.h"

/**
 * struct sieve - one walk over the pending tasks
 * @pool: the pool
 * @match: picks tasks; NULL for all
 * @arg: the argument of @match
 * @left: number of entries of the list that have not been looked at
 * @cancelled: number of tasks cancelled so far
 * @charges: to whom those of this hold were charged
 * @nr_charges: their number
 */
struct sieve {
	struct ants_pool *pool;
	ants_match_t match;
	void *arg;
	unsigned int left;
	unsigned int cancelled;
	struct ants_charge charges[ANTS_HOLD_MAX];
	unsigned int nr_charges;
};

/*
 * Calls are not cancelled: a caller waits for one, or has given its data away.
 */
static bool is_call(const struct ants_slot *slot)
{
	if (!(slot->tag & ANTS_TAG_WORK))
		return slot->fn == ants_call_run;
	return ants_is_call(slot->data) || ants_is_helper(slot->data);
}

static bool sieve_matches(const struct sieve *s, const struct ants_slot *slot)
{
	if (is_call(slot))
		return false;
	if (!s->match)
		return true;
	return s->match(slot->tag & ANTS_TAG_WORK ? NULL : slot->fn, slot->data,
			s->arg);
}

static void cancel_one(struct sieve *s, struct ants_slot *slot,
		       struct ants_todo *todo)
{
	struct ants_pool *pool = s->pool;

	if (slot->tag & ANTS_TAG_WORK) {
		ants_work_cancel_waiting(pool, slot->data, todo);
		return;
	}
	ants_pending_del(pool, slot);
	ants_trace(task_cancel, pool, slot->fn, slot->data);
	pool->counts.cancelled++;
	if (ants_task_uncount(pool, slot->tag & ANTS_TAG_EPOCH))
		todo->bits |= ANTS_TODO_WAITQ;
	if (unlikely(slot->tag & ANTS_TAG_CHARGED))
		s->charges[s->nr_charges++] = *ants_slot_charge(slot);
	ants_stock_put(pool, slot);
}

/* From here on a thread that takes an entry out of @list moves the cursor. */
static void sift_begin(struct sieve *s, struct list_head *list)
{
	struct ants_pool *pool = s->pool;

	raw_spin_lock_irq(&pool->lock);
	pool->cancel.at = list->next;
	pool->pick.cancel_scan = true;
	s->left = list == &pool->urgent.list ? pool->pick.nr_high :
					  pool->nr_pending - pool->pick.nr_high;
	ants_unlock_irq(pool);
}

/*
 * Walk over @list within one hold, from where the last one stopped. Return
 * false at the end, or when as many entries were seen as there were at the
 * beginning: those accepted meanwhile come after them.
 */
static bool sift_round(struct sieve *s, struct list_head *list)
{
	struct ants_pool *pool = s->pool;
	struct ants_slot *slot;
	struct ants_wake_batch batch;
	struct ants_todo todo;
	unsigned int i;
	bool more;

	ants_lock_batch(pool, &todo, &batch);
	for (i = 0; i < ANTS_HOLD_MAX && s->left &&
	     !ants_todo_full(&todo); i++) {
		if (pool->cancel.at == list)
			break;
		slot = list_entry(pool->cancel.at, struct ants_slot, node);
		pool->cancel.at = slot->node.next;
		s->left--;
		if (!sieve_matches(s, slot))
			continue;
		cancel_one(s, slot, &todo);
		s->cancelled++;
	}
	more = s->left && pool->cancel.at != list;
	pool->pick.cancel_scan = more;
	ants_room_freed(pool, &todo);
	ants_unlock(pool, &todo);
	while (s->nr_charges)
		ants_charge_put(&s->charges[--s->nr_charges]);
	return more;
}

static void sieve_list(struct sieve *s, struct list_head *list)
{
	sift_begin(s, list);
	while (sift_round(s, list)) {
		ants_pause(ANTS_PAUSE_CANCEL, s->pool);
		cond_resched_tasks_rcu_qs();
	}
}

static unsigned int cancel_pending(struct ants_pool *pool, ants_match_t match,
				   void *arg)
{
	struct sieve s = { .pool = pool, .match = match, .arg = arg };

	mutex_lock(&pool->cancel.lock);
	sieve_list(&s, &pool->urgent.list);
	sieve_list(&s, &pool->pending);
	mutex_unlock(&pool->cancel.lock);
	/* A worker would not have kept more, either. */
	ants_stock_trim(pool, READ_ONCE(pool->limits.stock));
	return s.cancelled;
}

unsigned int ants_cancel_pending(struct ants_pool *pool, ants_match_t match,
				 void *arg)
{
	unsigned int nr;

	might_sleep();
	if (pool == ants_system_pool && !match)
		return 0;
	ants_caller_enter(pool);
	nr = cancel_pending(pool, match, arg);
	ants_caller_leave(pool);
	return nr;
}
EXPORT_SYMBOL_GPL(ants_cancel_pending);
