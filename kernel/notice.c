// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tell programs when a pool changes its state, when a task has run for too
 * long, and when a thread has died: by poll() on the file that shows it, and by
 * a uevent. Both may sleep, but the state changes in sections that must not. So
 * a kernel work item tells the programs: it compares what it finds with what it
 * has told before. Only the removal of the files waits for this work item.
 */
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "internal.h"
#include "notice.h"

#define ENV_LEN		128

static struct workqueue_struct *notice_wq;

/* The state may have changed, or it is time to look for tasks that stall. */
void ants_notice(struct ants_pool *pool)
{
	queue_work(notice_wq, &pool->notice.work);
}

__printf(2, 3)
static void send_uevent(struct ants_pool *pool, const char *fmt, ...)
{
	char env[ENV_LEN], *envp[2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(env, sizeof(env), fmt, args);
	va_end(args);
	envp[0] = env;
	envp[1] = NULL;
	kobject_uevent_env(&pool->kobj, KOBJ_CHANGE, envp);
}

/*
 * Tell of the state if it has changed. @closed is set before the state is read,
 * so a reboot that opens the pool after that queues the work once more.
 */
static void tell_state(struct ants_pool *pool)
{
	const char *state;

	WRITE_ONCE(pool->notice.closed, true);
	state = ants_state(pool);
	if (!strcmp(state, "open"))
		WRITE_ONCE(pool->notice.closed, false);
	if (!strcmp(state, pool->notice.state ?: "open"))
		return;
	pool->notice.state = state;
	sysfs_notify(&pool->kobj, NULL, "state");
	if (pool->parent)
		sysfs_notify(pool->parent, NULL, "state");
	send_uevent(pool, "STATE=%s", state);
}

/* Tell the value of @counter, unless it is *@last, which was told last. */
static void tell_count(struct ants_pool *pool, const u64 *counter, u64 *last,
		       const char *file, const char *variable)
{
	u64 count;

	raw_spin_lock_irq(&pool->lock);
	count = *counter;
	ants_unlock_irq(pool);
	if (count == *last)
		return;
	*last = count;
	sysfs_notify(&pool->kobj, "stats", file);
	if (pool->parent)
		sysfs_notify(pool->parent, "stats", file);
	send_uevent(pool, "%s=%llu", variable, count);
}

static bool files_gone(struct ants_pool *pool)
{
	bool gone;

	raw_spin_lock_irq(&pool->lock);
	gone = pool->notice.gone;
	ants_unlock_irq(pool);
	return gone;
}

static void notice_fn(struct work_struct *work)
{
	struct ants_pool *pool = container_of(work, struct ants_pool,
					      notice.work);

	if (files_gone(pool))
		return;
	ants_stall_look(pool);
	tell_state(pool);
	tell_count(pool, &pool->counts.stalled, &pool->notice.stalled,
		   "stalled", "STALLED");
	tell_count(pool, &pool->counts.faults, &pool->notice.faults, "faults",
		   "FAULTS");
}

void ants_notice_begin(struct ants_pool *pool)
{
	INIT_WORK(&pool->notice.work, notice_fn);
}

/*
 * The files are about to be removed. A thread that has dropped the lock may
 * still queue the work, which then does nothing.
 */
void ants_notice_end(struct ants_pool *pool)
{
	raw_spin_lock_irq(&pool->lock);
	pool->notice.gone = true;
	ants_unlock_irq(pool);
	cancel_work_sync(&pool->notice.work);
}

int ants_notice_init(void)
{
	notice_wq = alloc_workqueue("ants_notice", WQ_UNBOUND, 0);
	return notice_wq ? 0 : -ENOMEM;
}

void ants_notice_exit(void)
{
	destroy_workqueue(notice_wq);
}
