// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cancelling pending tasks of a pool, all of them or those that the caller
 * picks.
 */
#include <linux/export.h>

#include "../internal.h"

/**
 * struct sieve - one walk over the pending tasks
 * @walker: the walk
 * @match: picks tasks; NULL for all
 * @arg: the argument of @match
 * @cancelled: number of tasks cancelled so far
 * @charges: to whom those of this hold were charged
 * @nr_charges: their number
 */
struct sieve {
	struct ants_walker walker;
	ants_match_t match;
	void *arg;
	unsigned int cancelled;
	struct ants_charge charges[ANTS_HOLD_MAX];
	unsigned int nr_charges;
};

/*
 * Calls are not cancelled: a caller waits for one, or has given its data away.
 */
static bool is_call(const struct ants_slot *slot)
{
	const struct ants_work *work = slot->data;

	return slot->tag & ANTS_TAG_WORK ? work->flags & ANTS_WORK_OWN :
					   slot->fn == ants_call_run;
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
	struct ants_pool *pool = s->walker.pool;

	s->cancelled++;
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

static void see_slot(struct ants_walker *walker, struct list_head *entry)
{
	struct ants_slot *slot = list_entry(entry, struct ants_slot, node);
	struct sieve *s = container_of(walker, struct sieve, walker);

	if (sieve_matches(s, slot))
		cancel_one(s, slot, &walker->todo);
}

static void room_freed(struct ants_walker *walker)
{
	ants_room_freed(walker->pool, &walker->todo);
}

static bool put_charges(struct ants_walker *walker)
{
	struct sieve *s = container_of(walker, struct sieve, walker);

	while (s->nr_charges)
		ants_charge_put(&s->charges[--s->nr_charges]);
	return true;
}

static unsigned int cancel_pending(struct ants_pool *pool, ants_match_t match,
				   void *arg)
{
	struct sieve s = {
		.walker = {
			.see = see_slot, .end = room_freed, .rest = put_charges,
		},
		.match = match,
		.arg = arg,
	};

	ants_walk_pending(pool, &s.walker);
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
