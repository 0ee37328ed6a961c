/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For suites that look into a pool: a rig is a pool with the gates, tasks and
 * calling threads of one test. Whatever way the test ends, held threads go on,
 * gates open, the pool is destroyed and the threads are joined, in this order,
 * before the memory goes.
 */
#ifndef _ANTS_KUNIT_RIG_H
#define _ANTS_KUNIT_RIG_H

#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "util.h"

#define RIG_MAX		48
/* So long that a worker expires only when the test says so. */
#define RIG_EXPIRY_MS	(3600 * MSEC_PER_SEC)

/* A task with a gate of its own, and what it found. */
struct post {
	struct gate gate;
	struct ants_pool *pool;
	struct task_struct *thread;
	unsigned long started;
	bool kworker;
	bool inside;
	int result;
};

/* A call from a thread of its own, which lives until call_stop(). */
struct call {
	int (*fn)(struct call *call);
	struct rig *rig;
	struct ants_pool *pool;
	unsigned long timeout;
	void *data;
	struct task_struct *task;
	struct completion done;
	int result;
	int passed;
	int accepted;
	int value;
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
	struct call calls[RIG_MAX];
	struct post posts[RIG_MAX];
};

/* The next thread of the rig's pool that comes to @point stops there. */
static inline void hold(struct rig *rig, enum ants_pause_point point)
{
	rig->held |= BIT(point);
	ants_pause_arm(point, rig->pool);
}

/* Waits until one has stopped there. */
static inline void held(struct rig *rig, enum ants_pause_point point)
{
	KUNIT_ASSERT_TRUE(rig->test, ants_pause_reached(point, TEST_DEADLINE));
}

/*
 * Lets it go on. The same point may be held again only when the thread was seen
 * behind it.
 */
static inline void let_go(struct rig *rig, enum ants_pause_point point)
{
	rig->held &= ~BIT(point);
	ants_pause_resume(point);
}

/* The thread is joined; a call that still waits returns -EINTR. */
static inline int call_stop(struct call *call)
{
	kthread_stop(call->task);
	call->task = NULL;
	return call->result;
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
	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	ants_late_arm(ANTS_LATE_TICKS);
	atomic_set(&rig->stop, 1);
	rig_open_gates(rig);
	ants_pool_destroy(rig->pool);
	while (rig->nr_calls--)
		if (rig->calls[rig->nr_calls].task)
			call_stop(&rig->calls[rig->nr_calls]);
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

/* A rig with a pool; workers expire when the test says so. */
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

/* A task; says where it runs, then passes its gate. */
static inline void post_task(void *data)
{
	struct post *post = data;

	post->started = jiffies;
	WRITE_ONCE(post->thread, current);
	gate_task(&post->gate);
}

/* Submits posts[@nr] and waits until it is at its gate. */
static inline void post_start(struct rig *rig, int nr)
{
	struct post *post = &rig->posts[nr];

	KUNIT_ASSERT_EQ(rig->test, ants_submit(rig->pool, post_task, post), 0);
	ASSERT_SOON(rig->test, atomic_read(&post->gate.entered) == 1);
}

/*
 * Parks @nr more workers, posts[@first] first; the last one parked is on top. As
 * in fill_pool() none is late.
 */
static inline void park(struct rig *rig, int first, int nr)
{
	unsigned long late = ants_late_ticks();
	unsigned int idle;
	int i;

	ants_late_arm(100 * TEST_DEADLINE);
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

static inline int call_thread(void *arg)
{
	struct call *call = arg;

	call->result = call->fn(call);
	call->passed = atomic_read(&call->rig->gate.passed);
	complete_all(&call->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static inline struct call *call_start(struct rig *rig,
				      int (*fn)(struct call *call),
				      unsigned long timeout, void *data)
{
	struct call *call = &rig->calls[rig->nr_calls];
	struct task_struct *task;

	KUNIT_ASSERT_LT(rig->test, rig->nr_calls, (unsigned int)RIG_MAX);
	*call = (struct call){
		.fn = fn, .rig = rig, .pool = rig->pool,
		.timeout = timeout, .data = data,
	};
	init_completion(&call->done);
	task = kthread_run(call_thread, call, "caller");
	KUNIT_ASSERT_FALSE(rig->test, IS_ERR(task));
	call->task = task;
	rig->nr_calls++;
	return call;
}

static inline bool call_returned(struct call *call)
{
	return completion_done(&call->done);
}

/* It waits inside the call, and has reason to. */
static inline void expect_blocked(struct kunit *test, struct call *call)
{
	KUNIT_EXPECT_TRUE_MSG(test, stays_inside(call->task, &call->done),
			      "the call has returned, or runs");
}

/* Waits until the call has returned by itself; its result. */
static inline int call_result(struct call *call)
{
	EXPECT_SOON(call->rig->test, call_returned(call));
	return call_stop(call);
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

static inline int do_flush(struct call *call)
{
	return ants_flush_timeout(call->pool, call->timeout);
}

static inline int do_drain(struct call *call)
{
	return ants_release_timeout(call->pool, call->timeout);
}

static inline int do_destroy(struct call *call)
{
	return ants_pool_destroy(call->pool);
}

/* A task that counts. */
static inline int do_submit_count(struct call *call)
{
	return ants_submit_timeout(call->pool, count_task, &call->rig->count,
				   call->timeout);
}

/* A task that stops at the gate in @data. */
static inline int do_submit_gate(struct call *call)
{
	return ants_submit_timeout(call->pool, gate_task, call->data,
				   call->timeout);
}

/* Starts @nr submits, in this order, that have to wait. */
static inline void start_waiters(struct rig *rig, int nr)
{
	unsigned int waiting = ants_nr_waiting(rig->pool);

	while (nr--) {
		call_start(rig, do_submit_gate, MAX_SCHEDULE_TIMEOUT,
			   &rig->gate);
		waiting++;
		ASSERT_SOON(rig->test, ants_nr_waiting(rig->pool) == waiting);
	}
}

/* Joins all calls from number @first on; each has to return @result. */
static inline void expect_results(struct rig *rig, unsigned int first,
				  int result)
{
	unsigned int i;

	for (i = first; i < rig->nr_calls; i++)
		KUNIT_EXPECT_EQ(rig->test, call_result(&rig->calls[i]), result);
}

/* A submitter that goes on until it is refused or stopped. */
static inline int do_submit_many(struct call *call)
{
	int err = 0;

	while (!err && !atomic_read(&call->rig->stop)) {
		err = ants_submit(call->pool, count_task, &call->rig->count);
		call->accepted += !err;
	}
	return err;
}

static inline struct ants_stats stats_of(struct ants_pool *pool)
{
	struct ants_stats stats;

	ants_pool_stats(pool, &stats);
	return stats;
}

/* Nothing runs, nobody comes or goes, nothing is about to happen. */
static inline bool settled(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = !pool->nr_waking && !pool->nr_starting && !pool->nr_busy &&
	      !pool->nr_pending && !pool->nr_new && !pool->nr_leaving &&
	      list_empty(&pool->left) && !pool->upkeep_queued &&
	      !pool->nr_makers && !pool->join_queued && !pool->stand_in_queued;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

/* The pool has settled, and nothing will wake it any more by itself. */
static inline bool silent(struct ants_pool *pool)
{
	return settled(pool) && !timer_pending(&pool->timer) &&
	       !work_pending(&pool->upkeep) && !work_pending(&pool->joiner);
}

/* Makes the @nr workers that are idle for the longest time expire now. */
static inline void expire(struct ants_pool *pool, unsigned int nr)
{
	struct ants_worker *w;

	raw_spin_lock_irq(&pool->lock);
	list_for_each_entry_reverse(w, &pool->idle, node) {
		if (!nr--)
			break;
		w->idle_since -= pool->expiry + 1;
	}
	mod_timer(&pool->timer, jiffies);
	raw_spin_unlock_irq(&pool->lock);
}

/* Threads of pools of that name, of at most 10 characters. */
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

/* What an administrator does: writes @value into a file of the pool. */
static inline int set_attr(struct ants_pool *pool, const char *name,
			   unsigned int value)
{
	const struct kobj_type *type = get_ktype(&pool->kobj);
	struct attribute **attr = type->default_groups[0]->attrs;
	char buf[16];
	ssize_t ret;
	int len;

	while (*attr && strcmp((*attr)->name, name))
		attr++;
	if (!*attr)
		return -ENOENT;
	len = scnprintf(buf, sizeof(buf), "%u\n", value);
	ret = type->sysfs_ops->store(&pool->kobj, *attr, buf, len);
	return ret < 0 ? ret : 0;
}

#endif /* _ANTS_KUNIT_RIG_H */
