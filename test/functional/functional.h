/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tools of ants_functional.c: conditions that report what they saw, tasks, and
 * callers that wait. They use nothing of ants but its public header.
 */
#ifndef _ANTS_KUNIT_FUNCTIONAL_H
#define _ANTS_KUNIT_FUNCTIONAL_H

#include <linux/ants.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>

#define DEADLINE	(60 * HZ)
#define FOREVER		MAX_SCHEDULE_TIMEOUT
#define NR_CALLERS	4

/* Report the condition if it does not hold. */
static inline bool judge(bool good, int line, const char *what)
{
	if (!good)
		pr_info("# line %d: %s\n", line, what);
	return good;
}

#define OK(cond)	judge(cond, __LINE__, #cond)

/* Wait until @cond holds, with a deadline. */
#define SOON(cond)							\
({									\
	unsigned long __end = jiffies + DEADLINE;			\
	bool __good;							\
									\
	while (!(__good = (cond)) && time_before(jiffies, __end))	\
		usleep_range(200, 1000);				\
	judge(__good, __LINE__, #cond);					\
})

struct bench;

/*
 * A submit that waits, in a thread of its own. async.h needs KUnit, and this
 * module does without.
 */
struct caller {
	struct bench *bench;
	struct task_struct *task;
	unsigned long timeout;
	struct completion done;
	int result;
};

/* The state that each check begins with; it is cleared away afterwards. */
struct bench {
	struct ants_pool *pool;
	struct completion gate;
	atomic_t entered;
	atomic_t passed;
	atomic_t inside;
	atomic_t most;
	int result;
	unsigned int nr_callers;
	struct caller callers[NR_CALLERS];
};

/* --- tasks ----------------------------------------------------------------- */

/* A task that stops until the gate is open. */
static inline void gated(void *data)
{
	struct bench *b = data;

	atomic_inc(&b->entered);
	wait_for_completion(&b->gate);
	atomic_inc(&b->passed);
}

static inline void pass(void *data)
{
	struct bench *b = data;

	atomic_inc(&b->passed);
}

/* A task that notes how many run at once. */
static inline void crowd(void *data)
{
	struct bench *b = data;
	int now = atomic_inc_return(&b->inside);
	int most = atomic_read(&b->most);

	while (now > most && !atomic_try_cmpxchg(&b->most, &most, now))
		;
	usleep_range(100, 200);
	atomic_dec(&b->inside);
	atomic_inc(&b->passed);
}

static inline void submits_into_its_pool(void *data)
{
	struct bench *b = data;

	b->result = ants_submit(b->pool, pass, b);
	atomic_inc(&b->entered);
}

static inline void flushes_its_pool(void *data)
{
	struct bench *b = data;

	b->result = ants_flush(b->pool);
	atomic_inc(&b->entered);
}

/* --- helpers --------------------------------------------------------------- */

static inline bool fill(struct bench *b, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!OK(!ants_submit(b->pool, gated, b)))
			return false;
	return SOON(atomic_read(&b->entered) == nr);
}

static inline int caller_fn(void *arg)
{
	struct caller *c = arg;

	c->result = ants_submit_timeout(c->bench->pool, gated, c->bench,
					c->timeout);
	complete(&c->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

static inline struct caller *call(struct bench *b, unsigned long timeout)
{
	struct caller *c = &b->callers[b->nr_callers++];

	c->bench = b;
	c->timeout = timeout;
	init_completion(&c->done);
	c->task = kthread_run(caller_fn, c, "ants_caller");
	if (IS_ERR(c->task)) {
		c->result = PTR_ERR(c->task);
		c->task = NULL;
		complete(&c->done);
	}
	return c;
}

/* A kthread that is told to stop stops waiting. */
static inline void stop(struct caller *c)
{
	if (c->task)
		kthread_stop(c->task);
	c->task = NULL;
}

static inline bool returns(struct caller *c, int result)
{
	return SOON(completion_done(&c->done)) && OK(c->result == result);
}

static inline void open_gate(struct bench *b)
{
	complete_all(&b->gate);
}

#endif /* _ANTS_KUNIT_FUNCTIONAL_H */
