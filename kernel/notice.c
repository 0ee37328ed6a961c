// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs are told when a pool changes its state and when a task has run for
 * too long: by poll() on the file that says so, and by a uevent. That may sleep,
 * and a state changes in sections that must not, so it is left to a kernel work
 * item, which compares what it finds with what it has told before. Nothing waits
 * for it but the removal of the files.
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
 * @closed is set before the state is read: then a reboot that comes after that
 * queues the work once more.
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

static void tell_stalls(struct ants_pool *pool)
{
	u64 stalled;

	raw_spin_lock_irq(&pool->lock);
	stalled = pool->counts.stalled;
	ants_unlock_irq(pool);
	if (stalled == pool->notice.stalled)
		return;
	pool->notice.stalled = stalled;
	sysfs_notify(&pool->kobj, "stats", "stalled");
	if (pool->parent)
		sysfs_notify(pool->parent, "stats", "stalled");
	send_uevent(pool, "STALLED=%llu", stalled);
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
	tell_stalls(pool);
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
