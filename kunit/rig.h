/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For suites that look into a pool. A rig is a pool with the gates, tasks and
 * async calls of one test. However the test ends, held threads go on, gates are
 * opened, the pool is destroyed and the calls are joined, in this order, before
 * the memory is freed.
 */
#ifndef _ANTS_KUNIT_RIG_H
#define _ANTS_KUNIT_RIG_H

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "async.h"

#define RIG_MAX		48
/* So long that a worker expires only when the test says so. */
#define RIG_EXPIRY_MS	(3600 * MSEC_PER_SEC)

/* A task with a gate of its own, and what it found out. */
struct post {
	struct gate gate;
	struct ants_pool *pool;
	struct task_struct *thread;
	unsigned long started;
	int result;
};

struct rig {
	struct kunit *test;
	struct ants_pool *pool;
	struct gate gate;
	struct gate late;
	atomic_t count;
	atomic_t inside;
	atomic_t most;
	atomic_t stop;
	unsigned long held;
	unsigned int nr_calls;
	struct async_call calls[RIG_MAX];
	struct post posts[RIG_MAX];
};

/* Make the next thread of the rig's pool that comes to @point stop there. */
static inline void hold(struct rig *rig, enum ants_pause_point point)
{
	rig->held |= BIT(point);
	ants_pause_arm(point, rig->pool);
}

/* Wait until a thread has stopped there. */
static inline void held(struct rig *rig, enum ants_pause_point point)
{
	KUNIT_ASSERT_TRUE(rig->test, ants_pause_reached(point, TEST_DEADLINE));
}

/*
 * Let the thread go on. The same point may be used again only after the thread
 * was seen behind it.
 */
static inline void let_go(struct rig *rig, enum ants_pause_point point)
{
	rig->held &= ~BIT(point);
	ants_pause_resume(point);
}

static inline void rig_open_gates(struct rig *rig)
{
	int i;

	gate_open(&rig->gate);
	gate_open(&rig->late);
	for (i = 0; i < RIG_MAX; i++)
		gate_open(&rig->posts[i].gate);
}

static inline void rig_free(struct kunit_resource *res)
{
	struct rig *rig = res->data;
	int point;

	for_each_set_bit(point, &rig->held, ANTS_NR_PAUSE)
		ants_pause_resume(point);
	ants_fail_arm(ANTS_FAIL_WORKER, 0);
	ants_fail_arm(ANTS_FAIL_TIMES, 0);
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	ants_late_arm(ANTS_LATE_TICKS);
	atomic_set(&rig->stop, 1);
	rig_open_gates(rig);
	ants_pool_destroy(rig->pool);
	while (rig->nr_calls--)
		if (rig->calls[rig->nr_calls].task)
			async_stop(&rig->calls[rig->nr_calls]);
}

static inline void post_init(struct rig *rig, int nr)
{
	memset(&rig->posts[nr], 0, sizeof(rig->posts[nr]));
	gate_init(&rig->posts[nr].gate);
	rig->posts[nr].pool = rig->pool;
}

static inline struct rig *rig_alloc(struct kunit *test)
{
	struct rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, rig);
	rig->test = test;
	gate_init(&rig->gate);
	gate_init(&rig->late);
	for (i = 0; i < RIG_MAX; i++)
		post_init(rig, i);
	kunit_alloc_resource(test, test_pool_init, rig_free, GFP_KERNEL, rig);
	return rig;
}

/* A rig with a pool whose workers expire only when the test says so. */
static inline struct rig *rig_make(struct kunit *test, const char *name,
				   struct ants_attrs attrs)
{
	struct rig *rig = rig_alloc(test);
	struct ants_pool *pool;
	int i;

	if (!attrs.expiry)
		attrs.expiry = msecs_to_jiffies(RIG_EXPIRY_MS);
	pool = ants_pool_create(&attrs, "%s", name);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(pool), "%ld", PTR_ERR(pool));
	rig->pool = pool;
	for (i = 0; i < RIG_MAX; i++)
		rig->posts[i].pool = pool;
	return rig;
}

/* A task that records where it runs, then passes its gate. */
static inline void post_task(void *data)
{
	struct post *post = data;

	post->started = jiffies;
	WRITE_ONCE(post->thread, current);
	gate_task(&post->gate);
}

/* Submit posts[@nr] and wait until it is at its gate. */
static inline void post_start(struct rig *rig, int nr)
{
	struct post *post = &rig->posts[nr];

	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, post_task, post), 0);
	ASSERT_SOON(rig->test, atomic_read(&post->gate.entered) == 1);
}

/*
 * Park @nr more workers, posts[@first] first; the last one parked is on top. As
 * in fill_pool(), no wake-up is late.
 */
static inline void park(struct rig *rig, int first, int nr)
{
	unsigned long late = ants_late_ticks();
	unsigned int idle;
	int i;

	never_late();
	for (i = first; i < first + nr; i++)
		post_start(rig, i);
	ants_late_arm(late);
	idle = ants_nr_idle(rig->pool);
	for (i = first; i < first + nr; i++) {
		gate_open(&rig->posts[i].gate);
		idle++;
		ASSERT_SOON(rig->test, ants_nr_idle(rig->pool) == idle);
	}
}

/* Start a call on the rig's pool; it is joined with the rig at the latest. */
static inline struct async_call *rig_async(struct rig *rig,
					   int (*fn)(struct async_call *call),
					   unsigned long arg, void *data)
{
	struct async_call *call = &rig->calls[rig->nr_calls];

	KUNIT_ASSERT_LT(rig->test, rig->nr_calls, (unsigned int)RIG_MAX);
	*call = (struct async_call){
		.fn = fn, .pool = rig->pool, .data = data, .arg = arg,
		.rig = rig, .gate = &rig->gate,
	};
	async_run(rig->test, call);
	rig->nr_calls++;
	return call;
}

/* A rig whose workers are all at the rig's gate. */
static inline struct rig *rig_make_full(struct kunit *test, const char *name,
					struct ants_attrs attrs)
{
	struct rig *rig = rig_make(test, name, attrs);

	fill_pool(test, rig->pool, &rig->gate, attrs.capacity);
	return rig;
}

/* Calls to start. */

/* Submit a task that counts. */
static inline int do_submit_count(struct async_call *call)
{
	return ants_submit_timeout(call->pool, count_task, &call->rig->count,
				   call->arg);
}

/* Submit a task that stops at the gate in @data. */
static inline int do_submit_gate(struct async_call *call)
{
	return ants_submit_timeout(call->pool, gate_task, call->data,
				   call->arg);
}

/* Start @nr submits, one after the other, that have to wait. */
static inline void start_waiters(struct rig *rig, int nr)
{
	unsigned int waiting = ants_nr_waiting(rig->pool);

	while (nr--) {
		rig_async(rig, do_submit_gate, MAX_SCHEDULE_TIMEOUT,
			  &rig->gate);
		waiting++;
		ASSERT_SOON(rig->test, ants_nr_waiting(rig->pool) == waiting);
	}
}

/* Join all calls from number @first on; each must return @result. */
static inline void expect_results(struct rig *rig, unsigned int first,
				  int result)
{
	unsigned int i;

	for (i = first; i < rig->nr_calls; i++)
		expect_result(rig->test, &rig->calls[i], result);
}

/* Submit until the pool refuses or the rig stops. */
static inline int do_submit_many(struct async_call *call)
{
	int err = 0;

	while (!err && !atomic_read(&call->rig->stop)) {
		err = ants_submit(call->pool, count_task, &call->rig->count);
		call->accepted += !err;
	}
	return err;
}

/*
 * True if no task runs, no thread comes or goes, and nothing is about to
 * happen.
 */
static inline bool settled(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = !pool->wakes.nr && !pool->workers.nr_starting && !pool->nr_busy &&
	      !pool->nr_pending && !pool->workers.nr_new && !pool->workers.nr_leaving &&
	      !pool->faults.aborting && !pool->upkeep.queued && !pool->upkeep.making;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/* The pool has settled, and nothing of its own will wake it again. */
static inline bool silent(struct ants_pool *pool)
{
	return settled(pool) && !timer_pending(&pool->timer.timer) &&
	       !work_pending(&pool->upkeep.work) && !work_pending(&pool->upkeep.maker);
}

/* Make the @nr workers that have been idle longest expire now. */
static inline void expire(struct ants_pool *pool, unsigned int nr)
{
	struct ants_worker *w;

	raw_spin_lock_irq(&pool->lock);
	list_for_each_entry_reverse(w, &pool->workers.idle, node) {
		if (!nr--)
			break;
		w->idle_since -= pool->timer.expiry + 1;
	}
	mod_timer(&pool->timer.timer, jiffies);
	raw_spin_unlock_irq(&pool->lock);
}

/* Count the threads of pools of that name, which has at most 10 characters. */
static inline unsigned int nr_threads(const char *name)
{
	char comm[TASK_COMM_LEN];
	struct task_struct *p;
	unsigned int nr = 0;

	scnprintf(comm, sizeof(comm), "ants/%s", name);
	rcu_read_lock();
	for_each_process(p)
		nr += !strncmp(p->comm, comm, sizeof(comm));
	rcu_read_unlock();
	return nr;
}

/* The file of a pool with that name, in whichever directory, or NULL. */
static inline struct attribute *find_attr(const char *name)
{
	const struct attribute_group **group;
	struct attribute **attr;

	for (group = ants_pool_groups; *group; group++)
		for (attr = (*group)->attrs; *attr; attr++)
			if (!strcmp((*attr)->name, name))
				return *attr;
	return NULL;
}

/* Write @value to a file of the pool, as an administrator does. */
static inline int set_attr(struct ants_pool *pool, const char *name,
			   unsigned int value)
{
	struct attribute *attr = find_attr(name);
	char buf[16];
	ssize_t ret;
	int len;

	if (!attr)
		return -ENOENT;
	len = scnprintf(buf, sizeof(buf), "%u\n", value);
	ret = get_ktype(&pool->kobj)->sysfs_ops->store(&pool->kobj, attr, buf,
						       len);
	return ret < 0 ? ret : 0;
}

#endif /* _ANTS_KUNIT_RIG_H */
