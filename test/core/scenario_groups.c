// SPDX-License-Identifier: GPL-2.0-only
/* Scenarios of groups. */
#include <linux/slab.h>

#include "internal.h"
#include "explore.h"

/* More members than one round of a cancel takes. */
#define MANY		18

struct member {
	struct ants_work work;
	unsigned int runs;
};

static struct ants_pool *pool;
static struct ants_group *group;
static struct member *members;
static bool may_end;

static int member_fn(struct ants_work *work)
{
	container_of(work, struct member, work)->runs++;
	return 0;
}

static int failing_fn(struct ants_work *work)
{
	member_fn(work);
	return -EIO;
}

/*
 * True once the member's group is being cancelled; the group exists until then.
 */
static bool is_cancelled(void *unused)
{
	return READ_ONCE(group->cancelled) || may_end;
}

static int held_fn(struct ants_work *work)
{
	shim_wait_until(is_cancelled, NULL);
	return member_fn(work);
}

static void begin_group(unsigned int flags, unsigned int nr, ants_work_fn_t first)
{
	unsigned int i;

	group = kzalloc(sizeof(*group), GFP_KERNEL);
	members = kcalloc(nr, sizeof(*members), GFP_KERNEL);
	WARN_ON(ants_group_init(group, pool, flags));
	for (i = 0; i < nr; i++) {
		INIT_ANTS_WORK(&members[i].work, i ? member_fn : first);
		WARN_ON(ants_group_submit(group, &members[i].work));
	}
}

static void begin(const struct ants_attrs *attrs, unsigned int flags,
		  unsigned int nr, ants_work_fn_t first)
{
	core_begin();
	may_end = false;
	pool = explore_pool(attrs);
	begin_group(flags, nr, first);
}

static void members_check(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		WARN(members[i].runs !=
		     (ants_work_result(&members[i].work) != -ECANCELED),
		     "member %u ran %u times, result %d", i, members[i].runs,
		     ants_work_result(&members[i].work));
}

/* Called by the waiter that was notified of the group's end. */
static void group_free(unsigned int nr)
{
	members_check(nr);
	kfree(members);
	kfree(group);
	group = NULL;
}

static void end(void)
{
	explore_join();
	explore_end();
	explore_note(pool);
	WARN_ON(ants_pool_destroy(pool));
	core_end();
}

static int cancel_fn(void *g)
{
	ants_group_cancel(g);
	return 0;
}

static int wait_fn(void *nr)
{
	WARN_ON(ants_group_wait(group, NULL));
	group_free((unsigned long)nr);
	return 0;
}

static void take_all(unsigned long nr, unsigned long timeout)
{
	unsigned long left = nr;
	struct ants_work *work;

	ants_group_seal(group);
	while ((work = ants_group_next(group, timeout))) {
		WARN_ON(IS_ERR(work) && work != ERR_PTR(-ETIMEDOUT));
		left -= !IS_ERR(work);
	}
	WARN(left, "%lu members did not come", left);
	group_free(nr);
}

static int next_fn(void *nr)
{
	take_all((unsigned long)nr, MAX_SCHEDULE_TIMEOUT);
	return 0;
}

static int next_soon_fn(void *nr)
{
	take_all((unsigned long)nr, 1);
	return 0;
}

/* The cancel may still run when the group ends: its waiter frees it at once. */
static void cancel_wait_on(unsigned int nr, int (*wait)(void *nr))
{
	begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = nr }, 0, nr,
	      held_fn);
	explore_begin();
	explore_call(wait, (void *)(unsigned long)nr, "wait");
	explore_call(cancel_fn, group, "cancel");
	end();
}

/* A member that is returned just when the time runs out is not lost. */
static void group_next_timeout(void)
{
	begin(&(struct ants_attrs) { .capacity = 1, .queue_depth = 2 }, 0, 2,
	      member_fn);
	explore_begin();
	explore_call(next_soon_fn, (void *)2UL, "next");
	end();
}

static unsigned long start;

static bool time_goes_on(void *unused)
{
	return time_after(jiffies, start);
}

static int late_fn(struct ants_work *work)
{
	shim_wait_until(time_goes_on, NULL);
	return member_fn(work);
}

/* The same, but the member does not end earlier. */
static void group_next_late(void)
{
	start = jiffies;
	begin(&(struct ants_attrs) { .capacity = 1 }, 0, 1, late_fn);
	explore_begin();
	explore_call(next_soon_fn, (void *)1UL, "next");
	end();
}

static void group_cancel_wait(void)
{
	cancel_wait_on(MANY, wait_fn);
}

static void group_cancel_next(void)
{
	cancel_wait_on(MANY, next_fn);
}

static void group_cancel_few(void)
{
	cancel_wait_on(2, next_fn);
}

static bool is_freed(void *unused)
{
	return !READ_ONCE(group);
}

static void outlast_fn(void *unused)
{
	shim_wait_until(is_freed, NULL);
}

/* No member starts, so the upkeep work ends all of them, and with the last one the group. */
static void group_cancel_pending(void)
{
	core_begin();
	pool = explore_pool(&(struct ants_attrs) { .capacity = 1, .queue_depth = 2 });
	WARN_ON(ants_submit(pool, outlast_fn, NULL));
	begin_group(0, 2, member_fn);
	explore_begin();
	explore_call(wait_fn, (void *)2UL, "wait");
	explore_call(cancel_fn, group, "cancel");
	end();
}

static void group_error(void)
{
	begin(&(struct ants_attrs) { .capacity = 2, .queue_depth = 2 },
	      ANTS_GROUP_CANCEL_ON_ERROR, 3, failing_fn);
	explore_begin();
	explore_call(wait_fn, (void *)3, "wait");
	end();
}

static void group_error_many(void)
{
	begin(&(struct ants_attrs) { .capacity = 2, .queue_depth = MANY },
	      ANTS_GROUP_CANCEL_ON_ERROR, MANY, failing_fn);
	explore_begin();
	explore_call(next_fn, (void *)MANY, "next");
	end();
}

static struct member late;

static int submit_late_fn(void *g)
{
	int err = ants_group_submit(g, &late.work);

	WARN(err && err != -ECANCELED, "error %d", err);
	return 0;
}

/* A member whose submitter waits for room, against a cancel. */
static void group_submit(void)
{
	begin(&(struct ants_attrs) { .capacity = 1 }, 0, 1, held_fn);
	late.runs = 0;
	INIT_ANTS_WORK(&late.work, member_fn);
	explore_begin();
	explore_call(submit_late_fn, group, "submit");
	explore_call(cancel_fn, group, "cancel");
	explore_join();
	WARN(late.runs, "it was cancelled and ran");
	wait_fn((void *)1);
	end();
}

const struct scenario scenarios_groups[] = {
	{ "group-cancel-wait", group_cancel_wait },
	{ "group-cancel-next", group_cancel_next },
	{ "group-cancel-few", group_cancel_few },
	{ "group-cancel-pending", group_cancel_pending },
	{ "group-next-timeout", group_next_timeout },
	{ "group-next-late", group_next_late },
	{ "group-error", group_error },
	{ "group-error-many", group_error_many },
	{ "group-submit", group_submit },
	{}
};
