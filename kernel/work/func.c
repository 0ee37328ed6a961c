// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose function does a task run? What ants runs on behalf of a client has the
 * name of the client's function. This is asked with the lock of the pool held,
 * or by the task itself: until the task has ended, what it refers to exists.
 */
#include <linux/module.h>

#include "../internal.h"
#include "../core/walk.h"

/*
 * Return the address of the client's function in a task @fn(*@data), and set
 * *@data to the argument of that function.
 */
unsigned long ants_client_func(ants_fn_t fn, const void **data)
{
	const struct ants_work *work = *data;

	if (fn == ants_call_run)
		return ants_call_func(data);
	if (fn != ants_work_run)
		return (unsigned long)fn;
	if (ants_is_call(work))
		return ants_stack_call_func(data);
	if (ants_is_helper(work))
		return ants_helper_func(data);
	return (unsigned long)work->fn;
}

/* The function of a task that waits, is pending, or runs. */
unsigned long ants_task_func(ants_fn_t fn, const void *data)
{
	return ants_client_func(fn, &data);
}

/* Return @addr if it lies in @mod, else 0. */
unsigned long ants_addr_in(unsigned long addr, const struct module *mod)
{
	return within_module(addr, mod) ? addr : 0;
}

/*
 * A task may run more than one function: one that ants runs on behalf of a
 * client counts as the client's. Return one of them that lies in @mod, or 0.
 */
unsigned long ants_task_func_addr(ants_fn_t fn, const void *data,
				  const struct module *mod)
{
	return fn == ants_call_run ? ants_call_func_addr(data, mod) :
				     ants_addr_in(ants_task_func(fn, data), mod);
}

/* The function that a submitter waits to hand over, and its argument. */
unsigned long ants_waiter_func(const struct ants_waiter *waiter,
			       const void **data)
{
	*data = waiter->work ?: waiter->data;
	return ants_client_func(waiter->work ? ants_work_run : waiter->fn, data);
}

/* The function that a worker runs, or 0. A detached work item may be gone. */
unsigned long ants_worker_func(const struct ants_worker *w)
{
	return w->tag & ANTS_TAG_DETACHED && w->fn ? w->func_addr :
						     ants_task_func(w->fn, w->data);
}

struct search {
	struct ants_walker walker;
	struct ants_longest *found;
	u64 time;
};

static void see_worker(struct ants_walker *walker, struct list_head *entry)
{
	struct search *search = container_of(walker, struct search, walker);
	const struct ants_worker *w = list_entry(entry, struct ants_worker,
						 member);
	u64 time;

	if (!w->fn || !(w->pool->timed & ANTS_TIMED_COUNT))
		return;
	time = ants_clock() - ants_time_started(w);
	if (search->found->func && time <= search->time)
		return;
	search->time = time;
	search->found->func = ants_worker_func(w);
}

/*
 * Find the function that has run for the longest time of those that run now, if
 * times are taken.
 */
void ants_longest(struct ants_pool *pool, struct ants_longest *found)
{
	struct search search = {
		.walker.see = see_worker, .found = found,
	};

	*found = (struct ants_longest){};
	if (READ_ONCE(pool->timed) & ANTS_TIMED_COUNT)
		ants_walk(pool, &pool->workers.list, UINT_MAX, &search.walker);
	found->ms = ants_clock_ms(search.time);
}
