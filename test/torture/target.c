// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools of all kinds, which are replaced again and again while they are in use.
 */
#define pr_fmt(fmt) "ants_torture: " fmt

#include <linux/device.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/nodemask.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "torture.h"

#define MOST_TARGETS	32
#define MOST_EXPIRY	20

/* Added to the users of a target that may not be called any more. */
#define NO_USERS	(INT_MIN / 2)

static void *prepare_thread(struct ants_pool *pool);
static void clear_thread(struct ants_pool *pool, void *data);
static void have_room(struct ants_pool *pool);

#define THREAD_DATA	.worker_init = prepare_thread, .worker_exit = clear_thread

static const struct flavour flavours[] = {
	{ "plain", KIND_POOL, 0, { .capacity = 4 } },
	{ "single", KIND_POOL, 0, { .capacity = 1 } },
	{ "queue", KIND_POOL, 0, { .capacity = 2, .queue_depth = 16 } },
	{ "blocking", KIND_POOL, 0, { .capacity = 2, .max_blocking = 2 } },
	{ "nonblocking", KIND_POOL, 0,
	 { .capacity = 3, .space_available = have_room,
	   .flags = ANTS_NONBLOCKING } },
	{ "caller", KIND_POOL, 0, { .capacity = 2,
				    .flags = ANTS_CALLER_RUNS } },
	{ "prealloc", KIND_POOL, 0, { .capacity = 4, .queue_depth = 4,
				      .flags = ANTS_PREALLOC } },
	{ "no-purge", KIND_POOL, 0, { .capacity = 4,
				      .flags = ANTS_NO_PURGE } },
	{ "throughput", KIND_POOL, 0, { .capacity = 8, .queue_depth = 64,
					.flags = ANTS_THROUGHPUT } },
	{ "reclaim", KIND_POOL, 0, { .capacity = 2, .queue_depth = 2,
				     .flags = ANTS_MEM_RECLAIM } },
	{ "freezable", KIND_POOL, 0, { .capacity = 4, .queue_depth = 4,
				       .flags = ANTS_FREEZABLE } },
	{ "node", KIND_POOL, 0, { .capacity = 3, .min_workers = 1,
				  .flags = ANTS_ON_NODE } },
	{ "fixed", KIND_POOL, 0, { .capacity = 3, .queue_depth = 3,
				   .spare_slots = 2, .flags = ANTS_FIXED } },
	{ "data", KIND_POOL, 0, { .capacity = 4, .queue_depth = 8,
				  THREAD_DATA } },
	{ "func", KIND_POOL, 0, { .capacity = 3, .queue_depth = 4,
				  .fn = torture_task } },
	{ "device", KIND_DEVM, 0, { .capacity = 3, .queue_depth = 4 } },
	{ "ordered", KIND_ORDERED, 0, { .queue_depth = 8 } },
	{ "round-robin", KIND_MULTI, ANTS_ROUND_ROBIN,
	  { .capacity = 6, .queue_depth = 6, THREAD_DATA } },
	{ "least-tasks", KIND_MULTI, ANTS_LEAST_TASKS,
	  { .capacity = 6, .max_blocking = 6, .space_available = have_room,
	    .flags = ANTS_NONBLOCKING } },
	{ "local", KIND_MULTI, ANTS_LOCAL, { .capacity = 8 } },
	{ "cold", KIND_MULTI, ANTS_ROUND_ROBIN,
	  { .capacity = 4, .flags = ANTS_FREEZABLE | ANTS_THROUGHPUT } },
};

static const struct flavour system_flavour = { .name = "system" };

struct target system_target = { .flavour = &system_flavour };

static struct target targets[MOST_TARGETS];
static atomic_t nr_made;

/*
 * Preparing every seventh thread fails, so it leaves. If threads die, one dies
 * here now and then, and at times it fails so often that the pool gives up.
 */
static void *prepare_thread(struct ants_pool *pool)
{
	struct target *target = ants_pool_private(pool);
	int nr = atomic_inc_return(&target->inits);
	bool faults = knob_fault_permille.value;
	void *data;

	if (faults && nr % 23 == 11)
		die_in_hook(target);
	if (nr % 7 == 0 || (faults && nr % 31 < 4))
		return ERR_PTR(-ENOMEM);
	data = kmalloc(16, GFP_KERNEL);
	if (!data)
		return ERR_PTR(-ENOMEM);
	atomic_inc(&target->exits);
	return data;
}

static void data_free(struct target *target, void *data)
{
	atomic_dec(&target->exits);
	kfree(data);
}

static void clear_thread(struct ants_pool *pool, void *data)
{
	struct target *target = ants_pool_private(pool);

	data_free(target, data);
	if (knob_fault_permille.value && atomic_read(&target->inits) % 13 == 6)
		die_in_hook(target);
}

/* The current thread is about to die in a task, so it will not be cleared. */
void thread_data_drop(struct target *target)
{
	if (target->flavour->attrs.worker_init)
		data_free(target, ants_worker_data(ants_current_pool()));
}

static void have_room(struct ants_pool *pool)
{
	unsigned long number;

	number = ticket_open(ants_pool_private(pool), 0, MAX_DEPTH);
	count(COUNT_CALLS);
	if (number)
		ticket_close(number, ants_try_submit(pool, torture_task,
						     (void *)number));
}

/* --- which actors may call ------------------------------------------------ */

static bool get(struct target *target)
{
	return atomic_inc_unless_negative(&target->users);
}

/* Any target, the system pool included; NULL while it is being replaced. */
struct target *target_get(struct actor *actor)
{
	unsigned int i = rnd(actor, knob_targets.value + 1);
	struct target *target = i ? &targets[i - 1] : &system_target;

	return get(target) ? target : NULL;
}

void target_put(struct target *target)
{
	atomic_dec(&target->users);
}

/* The object of the call: the pool, or the shard for the caller. */
struct ants_pool *target_pool(struct target *target)
{
	return target->multi ? ants_multi_choose(target->multi) : target->pool;
}

/* The target whose task the caller is; NULL for no target, wherever it runs. */
struct target *target_of_caller(void)
{
	struct ants_pool *pool = ants_current_pool();

	if (!pool)
		return NULL;
	return pool == ants_system_pool ? &system_target :
					  ants_pool_private(pool);
}

/* --- making and ending one ---------------------------------------------------- */

/* A device with a group of resources, as a bound driver has them. */
static int make_device(struct target *target, int nr)
{
	struct device *dev;
	char name[24];

	scnprintf(name, sizeof(name), "torture-%d", nr);
	dev = root_device_register(name);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if (!devres_open_group(dev, NULL, GFP_KERNEL)) {
		root_device_unregister(dev);
		return -ENOMEM;
	}
	target->dev = dev;
	return 0;
}

/* Ends the pool, too, as when the driver is unbound. */
static int end_device(struct target *target)
{
	devres_release_group(target->dev, NULL);
	root_device_unregister(target->dev);
	target->dev = NULL;
	return 0;
}

static struct ants_pool *make_pool(const struct target *target,
				   const struct ants_attrs *attrs, int nr)
{
	const struct flavour *flavour = target->flavour;

	switch (flavour->kind) {
	case KIND_DEVM:
		return devm_ants_pool_create(target->dev, attrs,
					     "torture-%s-%d", flavour->name, nr);
	case KIND_ORDERED:
		return ants_pool_create_ordered(attrs, "torture-%s-%d",
						flavour->name, nr);
	default:
		return ants_pool_create(attrs, "torture-%s-%d", flavour->name,
					nr);
	}
}

static int make_single(struct target *target, struct actor *actor,
		       const struct ants_attrs *attrs, int nr)
{
	bool has_device = target->flavour->kind == KIND_DEVM;
	struct ants_pool *pool;
	int err;

	err = has_device ? make_device(target, nr) : 0;
	if (err)
		return err;
	call_enter(actor, CALL_CREATE);
	pool = make_pool(target, attrs, nr);
	target->pool = IS_ERR(pool) ? NULL : pool;
	err = call_leave(actor, PTR_ERR_OR_ZERO(pool));
	if (err && has_device)
		end_device(target);
	return err;
}

static int make(struct target *target, struct actor *actor)
{
	const struct flavour *flavour = target->flavour;
	struct ants_attrs attrs = flavour->attrs;
	int nr = atomic_inc_return(&nr_made);
	struct ants_multi *multi;

	attrs.private = target;
	attrs.expiry = 1 + rnd(actor, MOST_EXPIRY);
	attrs.node = first_online_node;
	death_attrs(target, actor, &attrs);
	if (flavour->kind != KIND_MULTI)
		return make_single(target, actor, &attrs, nr);
	call_enter(actor, CALL_MULTI_CREATE);
	multi = ants_multi_create(&attrs, 1 + rnd(actor, 4), flavour->strategy,
				  "torture-%s-%d", flavour->name, nr);
	target->multi = IS_ERR(multi) ? NULL : multi;
	return call_leave(actor, PTR_ERR_OR_ZERO(multi));
}

static void reset(struct target *target, struct actor *actor)
{
	unsigned int i;

	target->pool = NULL;
	target->multi = NULL;
	target->dev = NULL;
	atomic_set(&target->tickets, 0);
	atomic_set(&target->inits, 0);
	atomic_set(&target->exits, 0);
	atomic_set(&target->closed, 0);
	target->may_trip = false;
	atomic_set(&target->tripped, 0);
	atomic_set(&target->deaths, 0);
	atomic_set(&target->told, 0);
	atomic_set(&target->lost, 0);
	atomic_set(&target->dirty, 0);
	init_llist_head(&target->orphans);
	for (i = 0; i < NR_SHARED; i++) {
		item_init(&target->shared[i], actor);
		/* No nested calls: the item must not wait for itself. */
		target->shared[i].depth = MAX_DEPTH;
	}
}

/*
 * Make a pool of some flavour, or of the one that is set, for a target without
 * users. Returns 0 or -errno.
 */
int target_make(struct target *target, struct actor *actor)
{
	int err;

	reset(target, actor);
	if (!target->flavour)
		target->flavour = &flavours[rnd(actor, ARRAY_SIZE(flavours))];
	actor->target = target;
	err = make(target, actor);
	if (!err)
		count(COUNT_POOLS);
	return err;
}

/* All tasks of a closed and empty pool have ended. */
static void judge_stats(const struct target *target,
			const struct ants_stats *stats)
{
	judge_fault_stats(target, stats);
	if (stats->submitted ==
	    stats->completed + stats->cancelled + stats->lost &&
	    !stats->running && !stats->idle && !stats->busy &&
	    !stats->pending && !stats->waiting)
		return;
	broken("%s is empty: %llu submitted, %llu completed, %llu cancelled, %llu lost",
	       target->flavour->name, stats->submitted, stats->completed,
	       stats->cancelled, stats->lost);
	broken("%s is empty: %u threads, %u idle, %u busy, %u pending, %u waiting",
	       target->flavour->name, stats->running, stats->idle, stats->busy,
	       stats->pending, stats->waiting);
}

static void drain_and_judge(struct target *target, struct actor *actor)
{
	struct ants_stats stats;
	int err;

	if (target->pool)
		err = CALL(actor, RELEASE_TIMEOUT,
			   ants_release_timeout(target->pool,
						MAX_SCHEDULE_TIMEOUT));
	else
		err = CALL(actor, MULTI_RELEASE_TIMEOUT,
			   ants_multi_release_timeout(target->multi,
						      MAX_SCHEDULE_TIMEOUT));
	if (err)
		return;
	if (target->pool)
		ants_pool_stats(target->pool, &stats);
	else
		ants_multi_stats(target->multi, &stats);
	judge_stats(target, &stats);
}

/*
 * End the pool, which only its own tasks still call. If @drained, empty it
 * before; then it must be empty.
 */
void target_end(struct target *target, struct actor *actor, bool drained)
{
	actor->target = target;
	atomic_inc(&target->closed);
	if (drained)
		drain_and_judge(target, actor);
	if (target->dev)
		(void)CALL(actor, DESTROY, end_device(target));
	else if (target->pool)
		(void)CALL(actor, DESTROY, ants_pool_destroy(target->pool));
	else
		(void)CALL(actor, MULTI_DESTROY,
			   ants_multi_destroy(target->multi));
	target->pool = NULL;
	target->multi = NULL;
}

/* The pool is gone, and everything in it must be gone as well. */
void target_judge(struct target *target)
{
	struct orphan *orphan, *next;
	unsigned int i;

	judge_deaths(target);
	llist_for_each_entry_safe(orphan, next, llist_del_all(&target->orphans),
				  node)
		orphan->end(orphan, target);
	for (i = 0; i < NR_SHARED; i++)
		item_judge(&target->shared[i], target, true, "shared");
	if (atomic_read(&target->exits))
		broken("%d threads have not taken leave",
		       atomic_read(&target->exits));
	if (atomic_read(&target->tickets))
		tickets_left(target);
}

/* Memory may be short now, and available a moment later. */
static void make_patiently(struct target *target, struct actor *actor)
{
	int tries = 0;

	while (target_make(target, actor)) {
		target->flavour = NULL;
		if (++tries == 1000)
			broken("no pool can be made");
		schedule_timeout_uninterruptible(1);
	}
}

static void wait_for_users(const struct target *target, int left)
{
	unsigned long end = jiffies + 2 * knob_max_wait.value * HZ;

	while (atomic_read(&target->users) != NO_USERS + left) {
		if (time_after(jiffies, end)) {
			broken("%d callers of target %u (%s) do not return",
			       atomic_read(&target->users) - NO_USERS,
			       target->index, target->flavour->name);
			end = jiffies + MAX_JIFFY_OFFSET;
		}
		schedule_timeout_uninterruptible(1);
	}
}

/* Replace the pool by another one. The caller is one of the target's users. */
void target_renew(struct target *target, struct actor *actor)
{
	if (target == &system_target || atomic_xchg(&target->renewing, 1))
		return;
	atomic_add(NO_USERS, &target->users);
	if (target->pool && rnd(actor, 2)) {
		atomic_inc(&target->closed);
		(void)CALL(actor, RELEASE, ants_release(target->pool));
	}
	wait_for_users(target, 1);
	target_end(target, actor, rnd(actor, 2));
	target_judge(target);
	target->flavour = NULL;
	make_patiently(target, actor);
	atomic_sub(NO_USERS, &target->users);
	atomic_set(&target->renewing, 0);
}

int targets_init(struct actor *actor)
{
	unsigned int i;

	system_target.pool = ants_system_pool;
	reset(&system_target, actor);
	system_target.pool = ants_system_pool;
	for (i = 0; i < NR_SHARED; i++) {
		item_init(&wanderers[i], actor);
		wanderers[i].depth = MAX_DEPTH;
	}
	for (i = 0; i < knob_targets.value; i++) {
		targets[i].index = i + 1;
		make_patiently(&targets[i], actor);
	}
	return 0;
}

/* No more calls: end all targets, and judge them. */
void targets_exit(struct actor *actor)
{
	unsigned int i;

	/* Tasks that are left may still call other targets. */
	for (i = 0; i < knob_targets.value; i++)
		atomic_add(NO_USERS, &targets[i].users);
	for (i = 0; i < knob_targets.value; i++)
		wait_for_users(&targets[i], 0);
	for (i = 0; i < knob_targets.value; i++) {
		target_end(&targets[i], actor, true);
		target_judge(&targets[i]);
	}
	for (i = 0; i < NR_SHARED; i++) {
		struct item *item = &system_target.shared[i];

		if (ants_work_cancel_sync(&item->dwork.work)) {
			atomic_inc(&item->cancels);
			count(COUNT_CANCELLED);
		}
		item_judge(item, &system_target, false, "system's");
		if (ants_work_cancel_sync(&wanderers[i].dwork.work)) {
			atomic_inc(&wanderers[i].cancels);
			count(COUNT_CANCELLED);
		}
	}
	while (atomic_read(&system_target.tickets))
		schedule_timeout_uninterruptible(1);
	for (i = 0; i < NR_SHARED; i++)
		item_judge(&wanderers[i], NULL, true, "wandering");
}
